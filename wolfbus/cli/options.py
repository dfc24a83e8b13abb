"""What several commands take: a config file with rules and players."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from wolfbus.config import GameConfig, config_from_table, read_toml
from wolfbus.errors import ConfigError


def load_config(path: Path | None) -> tuple[GameConfig, str | tuple[str, ...] | None]:
    """Return the rules and the players that a TOML file gives; defaults and None without a file.

    The file holds the fields of `GameConfig` at its top level, a ``[deadlines]`` table, and ``players``: one spec
    such as ``"scripted*6,random*2"``, a list of one brain per seat, or a table of seat name to brain (then ``names``
    must be given; ``default`` is for the rest).

    Raises:
        ConfigError: one line that names the file, the field and the reason.
    """
    if path is None:
        return GameConfig(), None
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "not UTF-8 text"
        raise ConfigError(f"{path}: {reason}") from None
    table = read_toml(text, str(path))
    players = table.pop("players", None)
    config = config_from_table(table, str(path))
    return config, None if players is None else _players(players, config, str(path))


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
