"""The paper's `run_meta.json`: who played and what they were; it stands beside the log or is named by the user."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from pydantic import TypeAdapter, ValidationError

from wolfbus.errors import ConfigError
from wolfbus.vocabulary import ROLES, Role
from wolfbus.whole_file import read_whole

_ROLES: Final[TypeAdapter[dict[str, Role]]] = TypeAdapter(dict[str, Role])
_EVENTS = "-events.ndjson"
_META = "run_meta.json"
_LONGEST: Final = 16 << 20


@dataclass(frozen=True, slots=True)
class PaperMeta:
    """What a `run_meta.json` says: the run's id and model, if given, the players in seating order and their roles."""

    run: str | None
    model: str | None
    players: tuple[str, ...]
    roles: Mapping[str, Role]


def meta_beside(log: Path) -> Path | None:
    """Return the metadata file that belongs to a log by its name, None if there is none.

    It is `PREFIX-run_meta.json` for `PREFIX-events.ndjson`, else `run_meta.json` in the same folder; a `.gz` at the end
    of the log's name does not count.
    """
    name = log.name.removesuffix(".gz")
    candidates = [log.with_name(_META)]
    if name.endswith(_EVENTS):
        candidates.insert(0, log.with_name(f"{name.removesuffix(_EVENTS)}-{_META}"))
    return next((path for path in candidates if path.is_file()), None)


def read_meta(path: Path) -> PaperMeta:
    """Read a `run_meta.json`.

    Raises:
        ConfigError: one line, if it cannot be read or says nothing of roles.
    """
    try:
        value = json.loads(read_whole(path, _LONGEST))
    except (ValueError, RecursionError) as error:
        raise ConfigError(f"{path}: not JSON ({error})") from None
    if not isinstance(value, dict) or not isinstance(value.get("roles"), dict) or not value["roles"]:
        raise ConfigError(f'{path}: no "roles" in it; this is no run_meta.json of the paper')
    try:
        roles = _ROLES.validate_python(value["roles"])
    except ValidationError as error:
        name = str(error.errors(include_url=False)[0]["loc"][0])
        raise ConfigError(f"{path}: the role of {name!r} is none of {', '.join(ROLES)}") from None
    return PaperMeta(_text(value.get("run_id")), _text(value.get("model")), _players(path, value, roles), roles)


def _players(path: Path, value: dict[str, Any], roles: Mapping[str, Role]) -> tuple[str, ...]:
    players = value.get("players", list(roles))
    if not isinstance(players, list) or sorted(map(str, players)) != sorted(roles):
        raise ConfigError(f'{path}: "players" and "roles" name different players')
    return tuple(players)


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) and value else None
