"""What games of models will take: one is rehearsed in this process, with models that answer at once, for nothing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

import click

from wolfbus.document.formats import money
from wolfbus.printable import counted

if TYPE_CHECKING:
    from players.llm.settings import Model
    from wolfbus.config import GameConfig

_SEED: Final = "rehearsal"
_PATIENCE_S: Final = 30.0
"""Longest time that a rehearsal may take."""


def expected(config: GameConfig, brains: Sequence[str], models: Mapping[str, Model], games: int) -> str | None:
    """Return in one line what games of these players will about take, None if no model plays or models cost nothing.

    One game of the same rules and seats is played here and now by models that answer at once; its
    prompts are the real ones, its replies are short. So calls and prompt tokens are those of a
    middling game, and real replies are longer.

    Args:
        config: the rules.
        brains: brain of each seat, in seating order.
        models: models by alias.
        games: how many games are to be played.
    """
    from players.llm.settings import model_of

    asked = {brain.removeprefix("llm:") for brain in brains if brain.startswith("llm:")}
    if all(model_of(words, models).endpoint.provider == "mock" for words in asked):
        return None
    took = _rehearse(config, brains, models)
    if took is None or not took["calls"]:
        return None
    each = f"{counted(took['calls'], 'call')}, {_tokens(took['prompt_tokens'])} tokens of prompts"
    price = took["cost_usd"]
    priced = "" if price is None else f", at least {money(price)}"
    line = f"expect about {each}{priced} a game"
    if games > 1:
        whole = f"{counted(took['calls'] * games, 'call')}, {_tokens(took['prompt_tokens'] * games)} tokens"
        priced = "" if price is None else f", at least {money(price * games)}"
        line += f"; for {counted(games, 'game')} {whole}{priced}"
    return line


def tell_expected(config: GameConfig, brains: Sequence[str], models: Mapping[str, Model], games: int) -> None:
    """Tell on stderr what games will about take; nothing where no model plays. See `expected`."""
    line = expected(config, brains, models, games)
    if line is not None:
        click.echo(f"wolfbus: {line}", err=True)


def _tokens(number: int) -> str:
    return f"{number / 1e6:.1f} M" if number >= 950_000 else f"{max(1, round(number / 1000))} k"


def _rehearse(config: GameConfig, brains: Sequence[str], models: Mapping[str, Model]) -> dict[str, Any] | None:
    """Play one game with models that answer at once; returns what its calls took, None if it did not end."""
    from players.context import BrainContext
    from players.llm.settings import model_of
    from wolfbus.cli.embedded import EmbeddedHouse

    cast = [brain if brain.startswith("llm:") else "scripted" for brain in brains]
    double: dict[str, Model] = {}
    for words in {brain.removeprefix("llm:") for brain in cast if brain != "scripted"}:
        model = model_of(words, models)
        endpoint = model.endpoint.model_copy(update={"provider": "mock"})
        double[words] = model.model_copy(update={"endpoint": endpoint})
    with BrainContext(double) as brain_context, EmbeddedHouse(brain_context=brain_context) as house:
        game = house.open(config, _SEED, cast)
        if not game.finished.wait(_PATIENCE_S) or brain_context.accounts is None:
            return None
        total: dict[str, Any] = brain_context.accounts.summary()["total"]
        return total
