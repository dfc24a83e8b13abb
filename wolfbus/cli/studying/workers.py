"""Who plays a study's games: this process itself, or workers that it starts; either tells all that happens to one
queue.
"""

from __future__ import annotations

import logging
import queue
import socket
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Protocol

from wolfbus.cli.studying.playing import Broken, Done, Playing, Word
from wolfbus.cli.studying.wire import Wire
from wolfbus.cli.studying.worker_process import amount_of, halt_of, planned_as_json
from wolfbus.config import GameConfig
from wolfbus.errors import WolfError
from wolfbus.study.plan import PlannedGame
from wolfbus.study.result import GameResult

if TYPE_CHECKING:
    from players.llm.shared_budget import Amount
    from players.venue import Venue

logger = logging.getLogger(__name__)

_START_S: Final = 120.0
_CLOSE_S: Final = 10.0


@dataclass(frozen=True, slots=True)
class CallWish:
    """A worker asks for leave to make a call that could take so much."""

    key: int
    amount: Amount
    what: str


@dataclass(frozen=True, slots=True)
class CallSettled:
    """A worker's call took so much."""

    key: int
    amount: Amount


@dataclass(frozen=True, slots=True)
class WorkerLost:
    """A worker is gone without a word."""


Report = tuple[int, Word | CallWish | CallSettled | WorkerLost]
"""Which worker, and what it says."""


class Worker(Protocol):
    """Somebody who plays games."""

    def play(self, planned: PlannedGame) -> None:
        """Begin a game and return at once."""

    def answer(self, key: int, refusal: str | None) -> None:
        """Answer a wish."""

    def end(self, reason: str) -> None:
        """Break off all games; each is told as broken."""

    def close(self, *, hasty: bool) -> None:
        """Be through; in haste, without waiting for the bus."""


class LocalWorker:
    """The very process that asks."""

    def __init__(
        self, url: str, config: GameConfig, folder: Path, venue: Venue | None, news: queue.SimpleQueue[Report]
    ) -> None:
        self._playing = Playing(url, config, folder, venue, lambda word: news.put((0, word)))
        self.play = self._playing.play
        self.end = self._playing.end

    def answer(self, key: int, refusal: str | None) -> None:
        """Have a budget of its own, and so no wishes."""
        raise AssertionError(f"nobody asked for call {key}, {refusal}")

    def close(self, *, hasty: bool) -> None:
        """End the house."""
        self._playing.close(hasty=hasty)


@dataclass(frozen=True, slots=True)
class Orders:
    """What every worker is told at its start.

    Attributes:
        url: the bus.
        config: the rules.
        folder: the study's.
        logs: folder for the error output of child processes.
        brains: all that will play.
        models: language models by what specs name them by.
        workers: how many workers share the endpoints' limits.
        budget: US dollars, kept by the parent.
        budget_tokens: tokens, likewise.
        cassette: folder to record replies into.
        replay_cassette: folder to play replies from.
        give_up: replies in a row that cannot be read, and none before, after which a model's games end.
        lock_fd: descriptor of the folder's lock, which a worker holds as long as it lives.
    """

    url: str = field(repr=False)
    config: GameConfig
    folder: Path
    logs: Path
    brains: Sequence[str]
    models: Mapping[str, Any]
    workers: int
    budget: float | None
    budget_tokens: int | None
    cassette: Path | None
    replay_cassette: Path | None
    give_up: int
    lock_fd: int

    def as_json(self) -> dict[str, Any]:
        """Return them as they travel."""
        return {
            "url": self.url,
            "config": self.config.model_dump_json(),
            "folder": str(self.folder),
            "logs": str(self.logs),
            "brains": list(self.brains),
            "models": {words: model.model_dump_json() for words, model in self.models.items()},
            "workers": self.workers,
            "budget": self.budget,
            "budget_tokens": self.budget_tokens,
            "cassette": None if self.cassette is None else str(self.cassette),
            "replay_cassette": None if self.replay_cassette is None else str(self.replay_cassette),
            "give_up": self.give_up,
        }


class WorkerProcess:
    """A process that plays.

    Args:
        key: what it is called in the news.
        orders: what it is told.
        news: where what it says goes.
    """

    def __init__(self, key: int, orders: Orders, news: queue.SimpleQueue[Report]) -> None:
        self._key = key
        self._news = news
        self._closing = False
        self._through = threading.Event()
        self._ready: queue.SimpleQueue[str | None] = queue.SimpleQueue()
        ours, its = socket.socketpair()
        with its:
            # a session of its own: Ctrl-C ends the parent's games first, which then ends the workers
            self._process = subprocess.Popen(  # noqa: S603 - words of our own, and no shell
                [sys.executable, "-m", "wolfbus.cli.studying.worker_process", str(its.fileno())],
                pass_fds=(its.fileno(), orders.lock_fd),
                stdin=subprocess.DEVNULL,
                start_new_session=True,
            )
        self._wire = Wire(ours)
        self._wire.say(**orders.as_json())
        threading.Thread(target=self._listen, name=f"worker {key}", daemon=True).start()

    @property
    def pid(self) -> int:
        """Its process id."""
        return self._process.pid

    def wait_ready(self) -> None:
        """Return once it can play.

        Raises:
            WolfError: it cannot; one line.
        """
        try:
            trouble = self._ready.get(timeout=_START_S)
        except queue.Empty:
            trouble = f"a worker did not start within {_START_S:g} s"
        if trouble is not None:
            raise WolfError(trouble)

    def play(self, planned: PlannedGame) -> None:
        """Begin a game; that the worker is gone is told as news."""
        self._wire.say(play=planned_as_json(planned))

    def answer(self, key: int, refusal: str | None) -> None:
        """Answer a wish."""
        self._wire.say(answer=key, refusal=refusal)

    def end(self, reason: str) -> None:
        """Break off all games."""
        self._wire.say(end=reason)

    def close(self, *, hasty: bool) -> None:
        """Have it end, and see that it does."""
        self._closing = True
        if self._wire.say(close=hasty):
            self._through.wait(1.0 if hasty else _CLOSE_S)
        # whatever it still does, it hears this
        self._wire.close()
        try:
            self._process.wait(_CLOSE_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def _listen(self) -> None:
        try:
            self._take_in()
        except (KeyError, ValueError):
            # it speaks another language than we do: it is of no use, and its games are played again
            logger.exception("a worker cannot be understood")
        self._wire.close()
        self._through.set()
        self._ready.put("a worker ended before it could play")
        if not self._closing:
            self._news.put((self._key, WorkerLost()))

    def _take_in(self) -> None:
        for word in self._wire.heard():
            if "closed" in word:
                self._through.set()
            elif "ready" in word:
                self._ready.put(None)
            elif "error" in word:
                self._ready.put(word["error"])
            else:
                self._news.put((self._key, _read(word)))


def _read(word: dict[str, Any]) -> Word | CallWish | CallSettled:
    if "done" in word:
        return Done(GameResult.model_validate(word["done"]))
    if "broken" in word:
        return Broken(word["broken"])
    if "wish" in word:
        return CallWish(word["wish"], amount_of(word), word["what"])
    if "settled" in word:
        return CallSettled(word["settled"], amount_of(word))
    return halt_of(word)
