"""A worker that a run starts itself: it plays games from its parent's agenda, and ends when the parent does.

The agenda, and the budget, travel between the two as lines of JSON over a pair of sockets. Either side's death closes
the sockets, and so is heard of at once.
"""

from __future__ import annotations

import dataclasses
import json
import os
import queue
import signal
import socket
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wolfbus.cli import FAILED
from wolfbus.cli.brains import quiet_brains
from wolfbus.cli.embedded import tune_garbage_collection
from wolfbus.cli.studying.agenda_player import AgendaPlayer, HouseOrders
from wolfbus.config import GameConfig
from wolfbus.errors import WolfError
from wolfbus.service.lifecycle import Stopping
from wolfbus.study.agenda import Taken
from wolfbus.study.journal import GameResult
from wolfbus.study.plan import PlannedGame
from wolfbus.study.scheduler import Halt

if TYPE_CHECKING:
    from players.context import BrainContext
    from players.llm.budget import Amount


class Wire:
    """One end of the line.

    Args:
        end: the socket; closed with the wire.
    """

    def __init__(self, end: socket.socket) -> None:
        self._end = end
        self._lock = threading.Lock()

    def say(self, **what: Any) -> bool:
        """Send a message, from any thread; returns whether the other side may still hear it."""
        line = json.dumps(what, ensure_ascii=False).encode() + b"\n"
        try:
            with self._lock:
                self._end.sendall(line)
        except OSError:
            return False
        return True

    def heard(self) -> Iterator[dict[str, Any]]:
        """Yield messages until the other side is gone."""
        try:
            with self._end.makefile("rb") as lines:
                for line in lines:
                    if line.endswith(b"\n"):
                        yield json.loads(line)
        except (OSError, ValueError):
            return

    def close(self) -> None:
        """Close this end, and wake whoever waits at it."""
        try:
            self._end.shutdown(socket.SHUT_RDWR)
        except OSError:
            # it is down already
            self._end.close()
            return
        self._end.close()


class ParentAgenda:
    """The agenda, and the budget, of the process that started this one; this one ends when that does.

    Args:
        wire: the line to it.
        words: what it says from now on.

    Attributes:
        stopping: asked when the parent wants no more.
        changed: called when there may be something to do; to be set before `listen`.
        hear: takes the answer to a wish (key, refusal); likewise.
    """

    def __init__(self, wire: Wire, words: Iterator[dict[str, Any]]) -> None:
        self._wire = wire
        self._words = words
        self._taken: queue.SimpleQueue[list[dict[str, Any]]] = queue.SimpleQueue()
        self._games: dict[int, PlannedGame] = {}
        self.stopping = Stopping()
        self.is_open = True
        self.changed: Callable[[], None] = lambda: None
        self.hear: Callable[[int, str | None], None] = lambda _key, _refusal: None

    def listen(self) -> None:
        """Hear the parent in a thread of its own: whatever this process is doing, it ends with its parent."""
        threading.Thread(target=self._listen, name="parent", daemon=True).start()

    def _listen(self) -> None:
        try:
            for word in self._words:
                if "taken" in word:
                    self._taken.put(word["taken"])
                elif "answer" in word:
                    self.hear(word["answer"], word["refusal"])
                elif "end" in word:
                    self.stopping.ask(word["end"])
                    self.changed()
                elif "close" in word:
                    self.is_open = False
                    self.changed()
        finally:
            # the parent is gone, or will take note that we are
            os._exit(1)

    # -- the agenda

    def take(self, house: str, at_most: int) -> list[Taken]:  # noqa: ARG002 - the parent knows who asks
        """Take games to play."""
        if not self.is_open:
            return []
        self._wire.say(take=at_most)
        found = []
        for told in self._taken.get():
            game = PlannedGame(**{**told["game"], "brains": tuple(told["game"]["brains"])})
            self._games[game.number] = game
            found.append(Taken(str(game.number), game.number, told["times"], ""))
        return found

    def planned(self, number: int) -> PlannedGame:
        """Return a game that was taken."""
        return self._games[number]

    def hold(self, house: str, entries: Sequence[str]) -> None:
        """Need to say nothing: the line stands."""

    def give_back(self, house: str, entry: str) -> None:  # noqa: ARG002
        """Leave a game to whoever takes it next."""
        self._wire.say(back=entry)

    def finish(self, taken: Taken, house: str, result: GameResult) -> bool:  # noqa: ARG002
        """Tell what came of a game; as long as the line stands, that counts."""
        del self._games[taken.number]
        return self._wire.say(done=result.model_dump(mode="json"))

    # -- the ledger

    def reserve(self, _holder: int, key: int, worst: Callable[[], Amount], what: str) -> None:
        """Ask for leave to make a call that could take so much."""
        amount = worst()
        self._wire.say(wish=key, usd=str(amount.usd), tokens=amount.tokens, what=what)

    def settle(self, _holder: int, key: int, taken: Amount) -> None:
        """Tell what a call took."""
        self._wire.say(settled=key, usd=str(taken.usd), tokens=taken.tokens)


def taken_as_json(taken: Taken, game: PlannedGame) -> dict[str, Any]:
    """Return a game that was taken, as it travels."""
    return {"times": taken.times, "game": dataclasses.asdict(game)}


def halt_of(word: dict[str, Any]) -> Halt:
    """Return what a worker said that ends all."""
    return Halt(word["halt"], word["budget"])


def amount_of(word: dict[str, Any]) -> Amount:
    """Return the amount that a worker's word names."""
    from players.llm.budget import Amount

    return Amount(Decimal(word["usd"]), word["tokens"])


def play_for(parent: int) -> int:
    """Play what a parent has to play, until it has no more or is gone; returns the exit code.

    Args:
        parent: descriptor of this process's end of a pair of sockets.
    """
    # Ctrl-C is the parent's to hear; it says what to do
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    tune_garbage_collection()
    wire = Wire(socket.socket(fileno=parent))
    words = wire.heard()
    told = next(words, None)
    if told is None:
        return 0
    try:
        with quiet_brains():
            _play(wire, told, ParentAgenda(wire, words))
    except WolfError as error:
        wire.say(error=str(error))
        return FAILED
    except Exception as error:
        wire.say(error=f"a worker failed: {type(error).__name__}: {error}")
        raise
    return 0


def _play(wire: Wire, told: dict[str, Any], agenda: ParentAgenda) -> None:
    config = GameConfig.model_validate_json(told["config"])
    orders = HouseOrders(told["url"], config, _path(told["folder"]), told["at_once"], told["threads"])
    with _brain_context(told, agenda) as brain_context:
        player = AgendaPlayer(agenda, agenda.planned, orders, brain_context)
        agenda.changed = player.wake
        agenda.listen()
        wire.say(ready=True)
        before = time.process_time()
        halt = player.play(agenda.stopping)
        if halt is not None:
            wire.say(halt=halt.why, budget=halt.budget)
        wire.say(closed=time.process_time() - before)


def _brain_context(told: dict[str, Any], agenda: ParentAgenda) -> BrainContext:
    from players.context import BrainContext as Shared
    from players.llm.settings import Model
    from players.spec import check

    models = {words: Model.model_validate_json(model) for words, model in told["models"].items()}
    budget = cassette = None
    if told["budget"] is not None or told["budget_tokens"] is not None:
        from players.llm.budget import Budget

        budget = Budget(told["budget"], told["budget_tokens"], ledger=agenda)
        agenda.hear = budget.hear
    if told["cassette"] is not None or told["replay_cassette"] is not None:
        from players.llm.cassette import Cassette

        record = told["cassette"]
        cassette = Cassette.record(Path(record)) if record else Cassette.play(Path(told["replay_cassette"]))
    models = divided(models, told["workers"])
    brain_context = Shared(models, budget, cassette, _path(told["logs"]), give_up=told["give_up"])
    check(told["brains"], brain_context)
    return brain_context


def divided(models: Mapping[str, Any], workers: int) -> dict[str, Any]:
    """Return models whose endpoints may be pressed by one of several workers as hard as its share allows."""
    return {name: _share(model, workers) for name, model in models.items()}


def _share(model: Any, workers: int) -> Any:
    endpoint = model.endpoint
    limits: dict[str, Any] = {"at_once": max(1, endpoint.at_once // workers)}
    for name in ("requests_per_minute", "tokens_per_minute"):
        if getattr(endpoint, name) is not None:
            limits[name] = getattr(endpoint, name) / workers
    return model.model_copy(update={"endpoint": endpoint.model_copy(update=limits)})


def _path(text: str | None) -> Path | None:
    return None if text is None else Path(text)
