"""A worker of a study: a process that plays the games its parent gives it, and ends when the parent does.

It is started as ``python -m wolfbus.cli.studying.worker_process FD``, FD being its end of a pair of sockets.
"""

from __future__ import annotations

import contextlib
import dataclasses
import os
import signal
import socket
import sys
import threading
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wolfbus.cli.embedded import tune_garbage_collection
from wolfbus.cli.studying.playing import Broken, Done, Halt, Playing, Word, divided, quiet_brains
from wolfbus.cli.studying.wire import Wire
from wolfbus.config import GameConfig
from wolfbus.errors import WolfError
from wolfbus.study.plan import PlannedGame

if TYPE_CHECKING:
    from collections.abc import Callable

    from players.llm.shared_budget import Amount
    from players.venue import Venue


def main() -> None:
    """Do what the parent says, until it says close or is gone."""
    # Ctrl-C is the parent's to hear; it says what to do
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    tune_garbage_collection()
    wire = Wire(socket.socket(fileno=int(sys.argv[1])))
    words = wire.heard()
    told = next(words, None)
    if told is None:
        return
    try:
        with quiet_brains(), contextlib.ExitStack() as around:
            _Worker(wire, told, around).obey(words)
    except WolfError as error:
        wire.say(error=str(error))
    except Exception as error:
        wire.say(error=f"a worker failed: {type(error).__name__}: {error}")
        raise


class _Parent:
    """The parent as the ledger of a worker's budget: it is told every call, and says which may go out."""

    def __init__(self, wire: Wire) -> None:
        self._wire = wire

    def reserve(self, _holder: int, key: int, worst: Callable[[], Amount], what: str) -> None:
        amount = worst()
        self._wire.say(wish=key, usd=str(amount.usd), tokens=amount.tokens, what=what)

    def settle(self, _holder: int, key: int, taken: Amount) -> None:
        self._wire.say(settled=key, usd=str(taken.usd), tokens=taken.tokens)


class _Worker:
    """What the parent's words do."""

    def __init__(self, wire: Wire, told: dict[str, Any], around: contextlib.ExitStack) -> None:
        self._wire = wire
        self._budget: Any = None
        venue = around.enter_context(self._venue(told))
        config = GameConfig.model_validate_json(told["config"])
        self._playing = Playing(told["url"], config, Path(told["folder"]), venue, self._tell)

    def _venue(self, told: dict[str, Any]) -> Venue:
        from players.llm.settings import Model
        from players.spec import check
        from players.venue import Venue as Shared

        models = {words: Model.model_validate_json(model) for words, model in told["models"].items()}
        if told["budget"] is not None or told["budget_tokens"] is not None:
            from players.llm.budget import Budget

            self._budget = Budget(told["budget"], told["budget_tokens"], ledger=_Parent(self._wire))
        cassette = None
        if told["cassette"] is not None or told["replay_cassette"] is not None:
            from players.llm.cassette import Cassette

            record = told["cassette"]
            cassette = Cassette.record(Path(record)) if record else Cassette.play(Path(told["replay_cassette"]))
        models = divided(models, told["workers"])
        venue = Shared(models, self._budget, cassette, Path(told["logs"]), give_up=told["give_up"])
        check(told["brains"], venue)
        return venue

    def obey(self, words: Any) -> None:
        """Read the parent's words in a thread of its own: whatever this process is doing, it ends with its parent."""
        closing = threading.Event()
        hasty: list[bool] = []

        def listen() -> None:
            try:
                for word in words:
                    if "play" in word:
                        game = word["play"]
                        self._playing.play(PlannedGame(**{**game, "brains": tuple(game["brains"])}))
                    elif "answer" in word:
                        self._budget.hear(word["answer"], word["refusal"])
                    elif "end" in word:
                        self._playing.end(word["end"])
                    elif "close" in word:
                        hasty.append(word["close"])
                        closing.set()
            finally:
                # the parent is gone, or will take note that we are
                os._exit(1)

        threading.Thread(target=listen, name="parent", daemon=True).start()
        self._wire.say(ready=True)
        while not closing.wait(1.0):
            pass
        self._playing.close(hasty=hasty[0])
        self._wire.say(closed=True)

    def _tell(self, word: Word) -> None:
        if isinstance(word, Done):
            self._wire.say(done=word.result.model_dump(mode="json"))
        elif isinstance(word, Broken):
            self._wire.say(broken=word.number)
        else:
            self._wire.say(halt=word.why, budget=word.budget)


def planned_as_json(planned: PlannedGame) -> dict[str, Any]:
    """Return a planned game as a worker is told it."""
    return dataclasses.asdict(planned)


def halt_of(word: dict[str, Any]) -> Halt:
    """Return what a worker said that ends all."""
    return Halt(word["halt"], word["budget"])


def amount_of(word: dict[str, Any]) -> Any:
    """Return the amount that a worker's word names."""
    from players.llm.shared_budget import Amount

    return Amount(Decimal(word["usd"]), word["tokens"])


if __name__ == "__main__":
    main()
