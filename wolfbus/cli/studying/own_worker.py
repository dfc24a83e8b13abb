"""A worker that a run starts itself: it plays games from its parent's agenda, and ends when the parent does."""

from __future__ import annotations

import signal
import socket
import time
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wolfbus.cli import FAILED
from wolfbus.cli.brains import quiet_brains
from wolfbus.cli.embedded import tune_garbage_collection
from wolfbus.cli.studying.agenda_player import AgendaPlayer, HouseOrders
from wolfbus.cli.studying.wire import ParentAgenda, Wire
from wolfbus.config import GameConfig
from wolfbus.errors import WolfError

if TYPE_CHECKING:
    from players.context import BrainContext


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
