"""How language models are called: the options that several commands take, and the brains' context that they open."""

from __future__ import annotations

import contextlib
import sys
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

GIVE_UP: Final = 30
"""Replies in a row that could not be read, and none before, after which a model is given up."""

if TYPE_CHECKING:
    from players.context import BrainContext
    from players.llm.cassette import Cassette
    from players.llm.redis_budget import BudgetShare
    from players.llm.settings import Model
    from wolfbus.stage.people import People


def _not_below_zero(_context: click.Context, option: click.Parameter, value: float | None) -> float | None:
    if value is not None and not value >= 0:
        raise click.BadParameter(f"{value} is below 0", param=option)
    return value


def model_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options that say how language models are called; they come as keywords, fit for `open_brain_context`."""
    options = (
        click.option(
            "--budget", type=float, callback=_not_below_zero, metavar="USD", help="Stop before model calls cost more."
        ),
        click.option(
            "--budget-tokens",
            type=int,
            callback=_not_below_zero,
            metavar="N",
            help="Stop before calls use more tokens.",
        ),
        click.option(
            "--cassette",
            type=click.Path(path_type=Path),
            metavar="DIR",
            help="Keep model replies in DIR, and do not ask again what it answers.",
        ),
        click.option(
            "--replay-cassette",
            type=click.Path(path_type=Path),
            metavar="DIR",
            help="Take model replies from DIR instead of calling.",
        ),
        click.option(
            "--give-up",
            type=click.IntRange(0),
            default=GIVE_UP,
            show_default=True,
            metavar="N",
            help="End a game of a model whose first N replies in a row cannot be read; 0 plays on.",
        ),
        click.option(
            "--probe/--no-probe", default=True, help="Ask each model something small before the game. [default: probe]"
        ),
    )
    for option in reversed(options):
        command = option(command)
    return command


def open_cassette(record: Path | None, play: Path | None) -> Cassette | None:
    """Open the folder that replies are recorded into or played from; None where neither is told."""
    if record is None and play is None:
        return None
    from players.llm.cassette import Cassette

    return Cassette.record(record) if record is not None else Cassette.play(play or Path())


@contextlib.contextmanager
def open_brain_context(
    brains: Sequence[str],
    models: Mapping[str, Model],
    *,
    budget: float | None = None,
    budget_tokens: int | None = None,
    cassette: Path | None = None,
    replay_cassette: Path | None = None,
    give_up: int = GIVE_UP,
    probe: bool = True,
    logs: Path | None = None,
    ledger: BudgetShare | None = None,
    people: People | None = None,
) -> Iterator[BrainContext]:
    """Open what the brains of this process share, with each brain checked and each model probed.

    Raises:
        ConfigError: a brain that cannot be made, or options that do not go together.
        PlayerError: a model that does not answer.
        CassetteError: a cassette that cannot be opened.
    """
    from players.context import BrainContext
    from players.spec import check

    if cassette is not None and replay_cassette is not None:
        raise click.UsageError("--cassette records and --replay-cassette plays: give one of them")
    spending = None
    if budget is not None or budget_tokens is not None:
        from players.llm.budget import Budget

        spending = Budget(budget, budget_tokens, ledger=ledger)
        if ledger is not None:
            ledger.hear = spending.hear
    tape = open_cassette(cassette, replay_cassette)
    with BrainContext(models, spending, tape, logs, give_up=give_up, people=people) as brain_context:
        check(brains, brain_context)
        if spending is not None:
            spending.check(brain_context.models_of(brains))
        if tape is not None and cassette is not None and len(tape):
            replies = f"{len(tape)} replies"
            click.echo(f"wolfbus: {cassette} holds {replies} already; equal questions get them, not new ones", err=True)
        brain_context.check(brains)
        if probe:
            with _told_if_slow(brain_context.models_of(brains)):
                brain_context.probe(brains)
        yield brain_context


@contextlib.contextmanager
def _told_if_slow(models: Sequence[Model]) -> Iterator[None]:
    names = ", ".join(model.model for model in models)
    notice = threading.Timer(
        2.0, click.echo, (f"wolfbus: waiting for {names} to answer a first small question",), {"err": True}
    )
    notice.daemon = True
    notice.start()
    try:
        yield
    finally:
        notice.cancel()


def quiet_brains() -> contextlib.AbstractContextManager[Any]:
    """Send whatever brains print to stderr: it is not a result."""
    return contextlib.redirect_stdout(sys.stderr)
