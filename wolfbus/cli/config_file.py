"""What a config file says: the rules, who plays, and language models."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from wolfbus.config import GameConfig, config_from_table, read_toml_file
from wolfbus.errors import ConfigError

if TYPE_CHECKING:
    from players.llm.settings import Model

_TABLES: Final = ("players", "models", "endpoints", "agents")


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

    def brains(self, players: str | None, expand: Callable[[str, int], tuple[str, ...]]) -> tuple[str, ...]:
        """Return the brain of every seat: by `players` where somebody named them, else as the file says.

        Args:
            players: a spec; None for none.
            expand: reads a spec for so many seats.
        """
        chosen = players if players is not None else self.players if self.players is not None else "scripted"
        return expand(chosen, self.config.seats) if isinstance(chosen, str) else chosen


def load_config(path: Path | None) -> Loaded:
    """Return what a TOML file says; the default rules without a file.

    The file holds the fields of `GameConfig` at its top level, a ``[deadlines]`` table, ``players``: one spec such as
    ``"scripted*6,random*2"``, a list of one brain per seat, or a table of seat name to brain (then ``names`` must be
    given; ``default`` is for the rest), and ``[models.*]`` and ``[endpoints.*]`` tables. An ``[agents]``
    table is left alone.

    Raises:
        ConfigError: one line that names the file, the field and the reason.
    """
    if path is None:
        return Loaded(GameConfig(), None, {})
    table = read_toml_file(path)
    players = table.pop("players", None)
    if isinstance(table.get("agents"), dict):
        del table["agents"]
    tables: dict[str, Any] = {name: table.pop(name) for name in ("models", "endpoints") if name in table}
    models = models_of_tables(tables, str(path))
    for name in table:
        # a table that is not ours is most likely one of these
        if name not in GameConfig.model_fields and (
            close := difflib.get_close_matches(name, _TABLES, n=1, cutoff=0.75)
        ):
            raise ConfigError(f"{path}: {name}: no such field; did you mean {close[0]!r}?")
    config = config_from_table(table, str(path))
    return Loaded(config, None if players is None else _players(players, config, str(path)), models)


def models_of_tables(tables: Mapping[str, Any], source: str) -> Mapping[str, Model]:
    """Return the language models of ``models`` and ``endpoints`` tables by alias; raises ConfigError."""
    if not tables:
        return {}
    from players.llm.settings import models_from_tables

    return models_from_tables(tables, source)


def _players(players: Any, config: GameConfig, source: str) -> str | tuple[str, ...]:
    if isinstance(players, str):
        return players
    if isinstance(players, list | dict):
        brains = players if isinstance(players, list) else players.values()
        if all(isinstance(brain, str) for brain in brains):
            return brains_of_seats(players, config, source)
    raise ConfigError(f"{source}: players: a spec, a list of brains, or a table of seat name to brain")


def brains_of_seats(
    players: Sequence[str] | Mapping[str, str], config: GameConfig, source: str, where: str = ""
) -> tuple[str, ...]:
    """Return the brain of every seat, from a list of them or a table of seat name to brain.

    Args:
        players: the list, or the table, whose ``default`` is for whom it does not name.
        config: the rules.
        source: where they stand.
        where: what to say of the place in it where the rules have their ``names``.

    Raises:
        ConfigError: one line that names the source and the seats.
    """
    if not isinstance(players, Mapping):
        if len(players) != config.seats:
            raise ConfigError(f"{source}: players: {len(players)} brains for {config.seats} seats")
        return tuple(players)
    if config.names is None:
        raise ConfigError(f"{source}: players by name need `names`{where}, in seating order")
    rest = players.get("default")
    if stranger := next((name for name in players if name not in {*config.names, "default"}), None):
        raise ConfigError(f"{source}: players: {stranger!r} is not among the names")
    if rest is None and (nobody := [name for name in config.names if name not in players]):
        raise ConfigError(f"{source}: players: nobody plays {', '.join(nobody)}; name a brain, or a `default`")
    return tuple(players.get(name, rest or "") for name in config.names)
