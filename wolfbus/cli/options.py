"""What several commands take: a config file with rules, players and models; and how models are called."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from wolfbus.config import GameConfig, config_from_table, read_toml
from wolfbus.errors import ConfigError

if TYPE_CHECKING:
    from players.llm.settings import Model
    from players.venue import Venue


@dataclass(frozen=True, slots=True)
class Loaded:
    """What a config file says.

    Attributes:
        config: the rules.
        players: a spec, or a brain per seat; None where the file does not say.
        models: language models by alias.
    """

    config: GameConfig
    players: str | tuple[str, ...] | None
    models: Mapping[str, Model]


def load_config(path: Path | None) -> Loaded:
    """Return what a TOML file says; the default rules without a file.

    The file holds the fields of `GameConfig` at its top level, a ``[deadlines]`` table, ``players``: one spec such as
    ``"scripted*6,random*2"``, a list of one brain per seat, or a table of seat name to brain (then ``names`` must be
    given; ``default`` is for the rest), and ``[models.*]`` and ``[endpoints.*]`` tables.

    Raises:
        ConfigError: one line that names the file, the field and the reason.
    """
    if path is None:
        return Loaded(GameConfig(), None, {})
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "not UTF-8 text"
        raise ConfigError(f"{path}: {reason}") from None
    table = read_toml(text, str(path))
    players = table.pop("players", None)
    tables: dict[str, Any] = {name: table.pop(name) for name in ("models", "endpoints") if name in table}
    models: Mapping[str, Model] = {}
    if tables:
        from players.llm.settings import models_from_tables

        models = models_from_tables(tables, str(path))
    config = config_from_table(table, str(path))
    return Loaded(config, None if players is None else _players(players, config, str(path)), models)


def model_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options that say how language models are called; they come as keywords, fit for `open_venue`."""
    options = (
        click.option("--budget", type=click.FloatRange(0), metavar="USD", help="Stop before model calls cost more."),
        click.option("--budget-tokens", type=click.IntRange(0), metavar="N", help="Stop before calls use more tokens."),
        click.option(
            "--cassette", type=click.Path(path_type=Path), metavar="DIR", help="Keep model replies in DIR, to replay."
        ),
        click.option(
            "--replay-cassette",
            type=click.Path(path_type=Path),
            metavar="DIR",
            help="Take model replies from DIR instead of calling.",
        ),
        click.option(
            "--probe/--no-probe", default=True, help="Ask each model something small before the game. [default: probe]"
        ),
    )
    for option in reversed(options):
        command = option(command)
    return command


@contextlib.contextmanager
def open_venue(
    brains: Sequence[str],
    models: Mapping[str, Model],
    *,
    budget: float | None = None,
    budget_tokens: int | None = None,
    cassette: Path | None = None,
    replay_cassette: Path | None = None,
    probe: bool = True,
    logs: Path | None = None,
) -> Iterator[Venue]:
    """Open what the brains of this process share, with each brain checked and each model probed.

    Raises:
        ConfigError: a brain that cannot be made, or options that do not go together.
        PlayerError: a model that does not answer.
        CassetteError: a cassette that cannot be opened.
    """
    from players.spec import check
    from players.venue import Venue

    if cassette is not None and replay_cassette is not None:
        raise click.UsageError("--cassette records and --replay-cassette plays: give one of them")
    spending = tape = None
    if budget is not None or budget_tokens is not None:
        from players.llm.budget import Budget

        spending = Budget(budget, budget_tokens)
    if cassette is not None:
        from players.llm.cassette import Cassette

        tape = Cassette.record(cassette)
    elif replay_cassette is not None:
        from players.llm.cassette import Cassette

        tape = Cassette.play(replay_cassette)
    with Venue(models, spending, tape, logs) as venue:
        check(brains, venue)
        if spending is not None:
            spending.check(venue.models_of(brains))
        if probe and not (tape is not None and tape.plays):
            venue.probe(brains)
        yield venue


def _players(players: Any, config: GameConfig, source: str) -> str | tuple[str, ...]:
    if isinstance(players, str):
        return players
    if isinstance(players, list) and all(isinstance(brain, str) for brain in players):
        if len(players) != config.seats:
            raise ConfigError(f"{source}: players: {len(players)} brains for {config.seats} seats")
        return tuple(players)
    if isinstance(players, dict) and all(isinstance(brain, str) for brain in players.values()):
        if config.names is None:
            raise ConfigError(f"{source}: players by name need `names`, in seating order")
        rest: str = players.pop("default", "scripted")
        if stranger := next((name for name in players if name not in config.names), None):
            raise ConfigError(f"{source}: players: {stranger!r} is not among the names")
        return tuple(str(players.get(name, rest)) for name in config.names)
    raise ConfigError(f"{source}: players: a spec, a list of brains, or a table of seat name to brain")
