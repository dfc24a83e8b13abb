import logging
import sys
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from pykka import ActorRef, ActorRegistry

from wolfbus.actors import ActorPool

Start = Callable[..., ActorRef[Any]]


@pytest.fixture(autouse=True)
def _nothing_outlives_a_test() -> Iterator[None]:
    before = set(threading.enumerate())
    yield
    ActorRegistry.stop_all(timeout=60)
    deadline = time.monotonic() + 10
    while left := set(threading.enumerate()) - before:
        assert time.monotonic() < deadline, left
        for thread in left:
            if thread.is_alive():  # a thread about to start is listed, but cannot be joined yet
                thread.join(60)
    assert ActorRegistry.get_all() == []


@pytest.fixture
def pool() -> Iterator[ActorPool]:
    with ActorPool(threads=3, name="test-pool") as pool:
        yield pool


@pytest.fixture
def one_thread() -> Iterator[ActorPool]:
    with ActorPool(threads=1, name="one-thread") as pool:
        yield pool


@pytest.fixture(params=["pool", "one_thread"])
def start(request: pytest.FixtureRequest) -> Start:
    """Start an actor in a pool."""
    pool = request.getfixturevalue(request.param)
    return lambda kind, *args: kind.start_in(pool, *args)


@pytest.fixture
def hasty_switches() -> Iterator[None]:
    """Switch threads as often as the interpreter can, so that a race has a chance to show itself."""
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(interval)


class LogBook(logging.Handler):
    """Keeps what is logged, and waits for what is going to be."""

    def __init__(self) -> None:
        super().__init__()
        self.records: list[logging.LogRecord] = []
        self.written = threading.Condition()

    def emit(self, record: logging.LogRecord) -> None:
        with self.written:
            self.records.append(record)
            self.written.notify_all()

    def at(self, level: int) -> list[logging.LogRecord]:
        return [record for record in self.records if record.levelno == level]

    def wait_for(self, level: int, entries: int = 1) -> list[logging.LogRecord]:
        with self.written:
            assert self.written.wait_for(lambda: len(self.at(level)) >= entries, timeout=60)
            return self.at(level)


@pytest.fixture
def log() -> Iterator[LogBook]:
    book = LogBook()
    loggers = [logging.getLogger("pykka"), logging.getLogger("wolfbus")]
    levels = [logger.level for logger in loggers]
    for logger in loggers:
        logger.setLevel(logging.DEBUG)
        logger.addHandler(book)
    yield book
    for logger, level in zip(loggers, levels, strict=True):
        logger.setLevel(level)
        logger.removeHandler(book)
