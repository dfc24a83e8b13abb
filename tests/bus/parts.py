"""Short names for what the bus tests write and read."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from typing import Generic, TypeVar

from tests.waiting import PATIENCE_S
from wolfbus.bus import Bus, Commit, Entry, Owner, Reader, streams
from wolfbus.errors import BusError

T = TypeVar("T")

HOUSE = "house"
GAME = "game-1"
RECORD = streams.record(HOUSE, GAME)
TABLE = streams.table(HOUSE, GAME)
OUT = streams.outbox(HOUSE, "ann")
IN_ANN = streams.inbox(HOUSE, "ann")
IN_BOB = streams.inbox(HOUSE, "bob")

SOON_S = PATIENCE_S
AT_ONCE_S = SOON_S / 2
"""What takes less did not wait for `SOON_S`."""
"""Far more than anything here takes; a test that waits this long has failed."""


_epochs: list[int] = []


def claim(bus: Bus, holder: str = "moderator", lease_s: float = 0.0) -> int:
    """Claim the house; returns which claim of this test that was, from 1: epochs are times, and tests count."""
    epoch = bus.claim(HOUSE, holder, lease_s)
    assert not _epochs or epoch > _epochs[-1]
    _epochs.append(epoch)
    return len(_epochs)


def epoch_of(claim: int) -> int:
    """The owner epoch of a claim of this test; of one that was never made, its number."""
    return _epochs[claim - 1] if claim <= len(_epochs) else claim


def counted(entry_id: str) -> str:
    """An id, with the number of the claim where the bus made it under an epoch."""
    first, _, second = entry_id.partition("-")
    return f"{_epochs.index(int(first)) + 1 if int(first) in _epochs else first}-{second}"


def owner_of(bus: Bus) -> Owner:
    """Who owns the house, with the number of the claim for its epoch."""
    owner = bus.owner(HOUSE)
    return replace(owner, epoch=_epochs.index(owner.epoch) + 1 if owner.epoch else 0)


def forget_claims() -> None:
    _epochs.clear()


def entry(entry_id: str = "", body: bytes = b"\x00\xffwolf\r\n", number: int = 7) -> Entry:
    return Entry(content=body, type="bid", sender="ann", game=GAME, number=number, id=entry_id)


def entries(count: int, incarnation: int = 1000, start: int = 1) -> list[Entry]:
    return [entry(f"{incarnation}-{n}", b"body %d" % n, n) for n in range(start, start + count)]


def head(number: int) -> str:
    return f"{number:064x}" if number else ""


def step(
    number: int,
    epoch: int = 1,
    *,
    posts: Sequence[tuple[str, Entry]] = ((IN_ANN, entry()), (IN_BOB, entry())),
    cursors: dict[str, str] | None = None,
    game: str = GAME,
    size: int = 1,
) -> Commit:
    """Step `number` of a game: `size` record entries, so it leads from head `number - 1` to head `number`."""
    first = (number - 1) * size + 1
    record = tuple(entry(f"{n}-0", b"record %d" % n, n) for n in range(first, first + size))
    return Commit(HOUSE, game, epoch_of(epoch), head(number - 1), head(number), record, posts, cursors)


def message(at: int, epoch: int = 1, *, posts: Sequence[tuple[str, Entry]] = ((IN_ANN, entry()),)) -> Commit:
    """A step without record entries, while the record's head is `at`."""
    return Commit(HOUSE, GAME, epoch_of(epoch), head(at), head(at), (), posts)


def ids(batch: Sequence[Entry]) -> list[str]:
    """Their ids; where the bus made one under an epoch, the number of the claim stands for that."""
    return [counted(one.id) for one in batch]


def one_landing(results: Sequence[BusError | None]) -> None:
    assert list(results) == [None] * len(results)


def following(bus: Bus, *names: str, after: str = "0-0") -> Reader:
    """A reading session that follows these streams."""
    reader = bus.reader()
    for name in names:
        reader.follow(name, after)
    return reader


def read_all(reader: Reader, count: int, limit: int = 1000) -> dict[str, list[Entry]]:
    """Read until `count` entries came."""
    by_stream: dict[str, list[Entry]] = {}
    while sum(map(len, by_stream.values())) < count:
        news = reader.read(SOON_S, limit)
        assert news, f"only {by_stream} came"
        for stream, more in news:
            by_stream.setdefault(stream, []).extend(more)
    return by_stream


def whole(bus: Bus, stream: str) -> list[Entry]:
    return bus.entries(stream, limit=1_000_000)


class InThread(Generic[T]):
    """Runs something in a thread and hands back what it returned or raised."""

    def __init__(self, work: Callable[..., T], *args: object) -> None:
        self._future = ThreadPoolExecutor(1).submit(work, *args)

    def result(self) -> T:
        return self._future.result(SOON_S)


@contextmanager
def impostor(*replies: bytes) -> Iterator[int]:
    """A server on a free port that answers whatever it is sent with `replies`, one for each packet."""
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def serve() -> None:
            client, _ = listener.accept()
            with client:
                for reply in replies:
                    client.recv(65536)
                    client.sendall(reply)

        thread = threading.Thread(target=serve)
        thread.start()
        yield listener.getsockname()[1]
        thread.join()
