"""`Manifest`: ``study.json``, what a study is, what was played of it, and what came of every game.

It is read as plain values whose members are what readers take them for, whoever wrote the file. `study_hash` is one
hash for all records of a study, which whoever publishes it can be held to.
"""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any, Final, Literal, NamedTuple

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError
from pydantic_core import from_json

from wolfbus.canonical import canonical, sha256_hex
from wolfbus.errors import ConfigError
from wolfbus.messages.base import ID_PATTERN
from wolfbus.messages.codec import first_fault
from wolfbus.printable import NOTE_SHOWN, printable
from wolfbus.study.journal import GameResult
from wolfbus.study.plan import PlannedGame
from wolfbus.whole_file import read_whole

_MOST: Final = 2**53
"""Numbers beyond which a float is no longer exact; nothing that a manifest counts comes near."""


def _instant(text: str) -> str:
    datetime.fromisoformat(text)
    return text


_Id = Annotated[str, Field(pattern=rf"^{ID_PATTERN}$")]
_Text = Annotated[str, Field(max_length=10_000)]
_Whole = Annotated[int, Field(ge=0, le=_MOST)]
_Sum = Annotated[float, Field(ge=0, le=_MOST, allow_inf_nan=False)]
_Instant = Annotated[str, Field(max_length=40), AfterValidator(_instant)]


class _Shape(BaseModel):
    # members that nobody knows here are of a later build
    model_config = ConfigDict(frozen=True, strict=True, extra="ignore")


class _Git(_Shape):
    commit: _Text | None = None
    dirty: bool | None = None


class _Playing(_Shape):
    wolfbus: _Text | None = None
    python: _Text | None = None
    git: _Git | None = None


class _Design(_Shape):
    kind: _Text | None = None
    rotation: _Whole | None = None
    cycle: _Whole | None = None
    games: _Whole | None = None
    notes: list[_Text] | None = None
    pairs: list[dict[str, Any]] | None = None


class _Game(_Shape):
    number: _Whole | None = None
    game: _Id
    seed: _Text | None = None
    block: _Text | None = None
    record: Annotated[str, Field(pattern=rf"^records/{ID_PATTERN}\.ndjson$")] | None = None
    brains: list[_Text] | None = None
    state: Literal["ended", "stopped", "failed", "pending"] | None = None
    winner: _Text | None = None
    rounds: _Whole | None = None
    digest: _Text | None = None
    head: _Text | None = None
    error: str | None = None
    seconds: _Sum | None = None


class _Manifest(_Playing):
    study: _Id | None = None
    name: _Text | None = None
    seed: _Text | None = None
    config: dict[str, Any] | None = None
    agents: list[_Text] | None = None
    seats: list[_Text] | None = None
    models: dict[str, Any] | None = None
    prompts: _Text | None = None
    house: _Text | None = None
    tickets: bool | None = None
    design: _Design | None = None
    primary: list[_Text] | None = None
    budget_usd: _Sum | None = None
    continued_with: list[_Playing] | None = None
    created: _Instant | None = None
    updated: _Instant | None = None
    complete: bool | None = None
    study_hash: _Text | None = None
    totals: dict[str, _Sum | None] | None = None
    games: list[_Game] = []


_CLASS: Final = re.compile(r" or instance of \w+")
"""What pydantic says beside, and is of no use to whoever wrote the file."""


def check_shape(manifest: dict[str, Any]) -> str | None:
    """Return what is wrong with the first member that is not of its type, as "MEMBER: reason"; None if all are.

    A member may be missing; what it must not be is of another type, or a number that JSON cannot hold.
    """
    head = {name: value for name, value in manifest.items() if name != "games"}
    for place, number in _numbers(head, ""):
        if not abs(number) <= _MOST:
            return f"{place}: not a number of ordinary size"
    try:
        _Manifest.model_validate(manifest)
    except ValidationError as error:
        return _CLASS.sub("", first_fault(error)).replace("dictionary", "object")
    return None


def _numbers(value: Any, place: str) -> Iterator[tuple[str, float]]:
    if isinstance(value, int | float):
        yield place, value
    elif isinstance(value, dict | list):
        for name, each in value.items() if isinstance(value, dict) else enumerate(value):
            # names are strangers' words, and stand in a line
            shown = str(name)[:60]
            shown = shown if shown.isprintable() else repr(shown)
            yield from _numbers(each, f"{place}.{shown}" if place else shown)


def study_hash(heads: Iterable[tuple[str, str]]) -> str | None:
    """Return the SHA-256, 64 hex digits, over game id and head of every ended game.

    It is taken over one line of canonical JSON a game, ``["GAME","HEAD"]`` and a line feed, in the
    order of the games' ids. A head is the hash on a record's last line, which follows from every
    byte of the record.

    Args:
        heads: (game id, head) of each game.

    Returns:
        The hash; None if there is no game, or one whose head nobody knows.
    """
    told = sorted(heads)
    if not told or not all(head for _, head in told):
        return None
    return sha256_hex(*(canonical([game, head]) + b"\n" for game, head in told))


FORMAT: Final = "wolfbus-study"
VERSION: Final = 1
FILE: Final = "study.json"
RECORDS: Final = "records"
"""Folder of a study's records, within the study's."""

STATES: Final = ("ended", "stopped", "failed", "pending")

_LONGEST: Final = 1 << 28
"""Bytes of a manifest; the longest study's, with long brains at sixteen seats, stays below."""
_PATH_SHOWN: Final = 400


_PLANNED: Final = ("number", "game", "seed", "block", "record", "brains")
_OUTCOME: Final = ("state", "winner", "rounds", "digest", "head", "error", "seconds")
_PENDING: Final = {**dict.fromkeys(_OUTCOME), "state": "pending"}


class _Sums(NamedTuple):
    """What a game adds to the totals, and to the study's hash."""

    game: str
    head: str
    state: str
    winner: str | None
    statements: int
    judgements: int
    calls: int
    cost_usd: float | None


class Manifest:
    """The manifest of a study that is played. It holds a row of text per game, not the games.

    Args:
        head: what stands before the games, from the study's name to its design.
        games: all games as planned; they are pending until `put` says otherwise.
        created: when the study was begun, as ISO 8601.
    """

    def __init__(self, head: Mapping[str, Any], games: Iterable[PlannedGame], created: str) -> None:
        self._head = dict(head)
        self._created = created
        self._rows = [_text({**{name: getattr(game, name) for name in _PLANNED}, **_PENDING}) for game in games]
        self._sums: dict[int, _Sums] = {}
        self.played: dict[int, tuple[str, ...]] = {}
        """Who played, by number, of games whose plan does not say."""
        self.wins: Counter[str] = Counter()
        """Ended games by who won: "villagers", "werewolves", "nobody"."""
        self.states: Counter[str] = Counter(pending=len(self._rows))
        """Games by state."""
        self.cost_usd: float | None = None
        """What model calls of the games cost, as far as known; None where nothing is."""

    def put(self, result: GameResult) -> None:
        """Take in what came of a game, in place of what was known of it."""
        before, now = self._sums.get(result.number), _Sums(*(getattr(result, name) for name in _Sums._fields))
        self._sums[result.number] = now
        for sums, by in ((before, -1), (now, 1)):
            self.states["pending" if sums is None else sums.state] += by
            if sums is not None and sums.state == "ended":
                self.wins[sums.winner or "nobody"] += by
            if sums is not None and sums.cost_usd is not None:
                self.cost_usd = (self.cost_usd or 0.0) + by * sums.cost_usd
        outcome = {name: getattr(result, name) for name in _OUTCOME}
        outcome |= {"head": result.head or None, "seconds": round(result.seconds, 3)}
        if result.brains:
            self.played[result.number] = result.brains
            outcome["brains"] = result.brains
        self._rows[result.number - 1] = _text(json.loads(self._rows[result.number - 1]) | outcome)

    @property
    def done(self) -> int:
        """Games that ended or failed."""
        return self.states["ended"] + self.states["failed"]

    @property
    def design(self) -> dict[str, Any]:
        """The member of that name."""
        return dict(self._head["design"])

    def amend(self, **members: Any) -> None:
        """Say something of the study that was not known before."""
        self._head |= members

    def totals(self) -> dict[str, Any]:
        """Return the sums over all games."""
        known = self._sums.values()
        costs = [sums.cost_usd for sums in known if sums.cost_usd is not None]
        return {
            "games": len(self._rows),
            **{state: self.states[state] for state in STATES},
            **{winner: self.wins[winner] for winner in ("villagers", "werewolves", "nobody")},
            **{name: sum(getattr(sums, name) for sums in known) for name in ("statements", "judgements", "calls")},
            "cost_usd": round(math.fsum(costs), 9) if costs else None,
        }

    @property
    def study_hash(self) -> str | None:
        """Hash over the records of all games that have ended; see `study_hash`."""
        return study_hash((sums.game, sums.head) for sums in self._sums.values() if sums.state == "ended")

    @property
    def complete(self) -> bool:
        """Whether every game has ended."""
        return self.states["ended"] == len(self._rows)

    def pieces(self, updated: str) -> Iterator[str]:
        """Yield the manifest as pieces of JSON text, one line a game."""
        said = {**self._head, "created": self._created, "updated": updated, "complete": self.complete}
        said["study_hash"] = self.study_hash
        head = json.dumps({**said, "totals": self.totals()}, ensure_ascii=False, allow_nan=False, indent=1)
        yield f'{head[:-2]},\n "games": [\n'
        for row in self._rows[:-1]:
            yield f"  {row},\n"
        yield f"  {self._rows[-1]}\n"
        yield " ]\n}\n"


def _text(value: Mapping[str, Any]) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False)


def load_manifest(path: Path) -> dict[str, Any] | None:
    """Return the manifest in a file as plain values, each member of which is missing or of its type.

    Returns:
        The manifest; None if the file is JSON of another kind.

    Raises:
        ConfigError: it cannot be read, is of a version that this build does not know, or has a member that is not what
            it should be; the line names the file and the member.
    """
    text, source = read_whole(path, _LONGEST), printable(str(path), _PATH_SHOWN)
    try:
        # it refuses NaN, infinity, lone surrogates and what is nested too deeply
        value = from_json(text, allow_inf_nan=False)
    except ValueError as error:
        raise ConfigError(f"{source}: not JSON: {error}") from None
    if not isinstance(value, dict) or value.get("format") != FORMAT:
        return None
    version = value.get("version")
    if type(version) is not int or version != VERSION:
        shown = printable(repr(version), NOTE_SHOWN)
        raise ConfigError(f"{source}: version {shown} of a study; this wolfbus reads version {VERSION}")
    if (fault := check_shape(value)) is not None:
        raise ConfigError(f"{source}: {fault}")
    return value


def utc_now() -> str:
    """Return the time of day as manifests tell it, to the second."""
    return datetime.now(UTC).isoformat(timespec="seconds")
