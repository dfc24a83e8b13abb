"""``study.json`` as it is read: plain values whose members are what readers take them for, whoever wrote the file.

`Notes` is what manifest and journal note of the games, and whether a record is that: a chain of hashes can be computed
anew by whoever edits a record; what a study noted when the game ended cannot be changed by editing the record alone.
Whoever edits the notes too is found out by a study hash that was published before: `study_hash` is one hash for all
records of a study.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError
from pydantic_core import from_json

from wolfbus.errors import ConfigError, first_fault, reason_of
from wolfbus.files.canonical import canonical, sha256_hex
from wolfbus.files.printable import NOTE_SHOWN, printable
from wolfbus.files.whole_file import read_whole
from wolfbus.messages.base import ID_PATTERN
from wolfbus.study.canaries import CanaryRound
from wolfbus.study.journal import JOURNAL, GameResult, Sum, Whole, read_results

if TYPE_CHECKING:
    from wolfbus.record.reader import Checked

_LARGEST_NUMBER: Final = 2**53
"""Numbers beyond which a float is no longer exact; nothing that a manifest counts comes near."""


def _instant(text: str) -> str:
    datetime.fromisoformat(text)
    return text


_Id = Annotated[str, Field(pattern=rf"^{ID_PATTERN}$")]
_Text = Annotated[str, Field(max_length=10_000)]
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
    rotation: Whole | None = None
    cycle: Whole | None = None
    games: Whole | None = None
    notes: list[_Text] | None = None
    pairs: list[dict[str, Any]] | None = None


class _Game(_Shape):
    number: Whole | None = None
    game: _Id
    seed: _Text | None = None
    block: _Text | None = None
    record: Annotated[str, Field(pattern=rf"^records/{ID_PATTERN}\.ndjson$")] | None = None
    brains: list[_Text] | None = None
    state: Literal["ended", "halted", "stopped", "failed", "pending"] | None = None
    winner: _Text | None = None
    rounds: Whole | None = None
    digest: _Text | None = None
    head: _Text | None = None
    error: str | None = None
    seconds: Sum | None = None
    spoilt: list[_Text] | None = None


class _Manifest(_Playing):
    study: _Id | None = None
    name: _Text | None = None
    seed: _Text | None = None
    seed_sha256: _Text | None = None
    config: dict[str, Any] | None = None
    agents: list[_Text] | None = None
    seats: list[_Text] | None = None
    models: dict[str, Any] | None = None
    prompts: _Text | None = None
    house: _Text | None = None
    tickets: bool | None = None
    design: _Design | None = None
    primary: list[_Text] | None = None
    margins: dict[str, float] | None = None
    budget_usd: Sum | None = None
    continued_with: list[_Playing] | None = None
    canaries: list[CanaryRound] | None = None
    created: _Instant | None = None
    updated: _Instant | None = None
    complete: bool | None = None
    study_hash: _Text | None = None
    totals: dict[str, Sum | None] | None = None
    games: list[_Game] = []


_INSTANCE_HINT: Final = re.compile(r" or instance of \w+")
"""What pydantic says beside, and is of no use to whoever wrote the file."""


def _fault(manifest: dict[str, Any]) -> str | None:
    """Return what is wrong with the first member that is not of its type, as "MEMBER: reason"; None if all are.

    A member may be missing; what it must not be is of another type, or a number that JSON cannot hold.
    """
    head = {name: value for name, value in manifest.items() if name != "games"}
    for place, number in _numbers(head, ""):
        if not abs(number) <= _LARGEST_NUMBER:
            return f"{place}: not a number of ordinary size"
    try:
        _Manifest.model_validate(manifest)
    except ValidationError as error:
        return _INSTANCE_HINT.sub("", first_fault(error)).replace("dictionary", "object")
    return None


def _numbers(value: Any, place: str) -> Iterator[tuple[str, float]]:
    if isinstance(value, int | float):
        yield place, value
    elif isinstance(value, dict | list):
        for name, member in value.items() if isinstance(value, dict) else enumerate(value):
            # names are strangers' words, and stand in a line
            text = str(name)[:60]
            text = text if text.isprintable() else repr(text)
            yield from _numbers(member, f"{place}.{text}" if place else text)


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
    pairs = sorted(heads)
    if not pairs or not all(head for _, head in pairs):
        return None
    return sha256_hex(*(canonical([game, head]) + b"\n" for game, head in pairs))


FORMAT: Final = "wolfbus-study"
VERSION: Final = 1
FILE: Final = "study.json"
RECORDS: Final = "records"
"""Folder of a study's records, within the study's."""
SEED_HASH: Final = "seed_sha256"
"""What a manifest has of the study's seed, which stands in ``study.toml`` alone: games to come are dealt from it, and a
manifest is published, shown on pages and exported."""

_LONGEST: Final = 1 << 28
"""Bytes of a manifest; the longest study's, with long brains at sixteen seats, stays below."""
_PATH_SHOWN: Final = 400


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
        name = printable(repr(version), NOTE_SHOWN)
        raise ConfigError(f"{source}: version {name} of a study; this wolfbus reads version {VERSION}")
    if (fault := _fault(value)) is not None:
        raise ConfigError(f"{source}: {fault}")
    return _without_seeds(value)


def seed_hash(seed: str) -> str:
    """Return the SHA-256 of a study's seed, 64 hex digits."""
    return sha256_hex(seed.encode())


def _without_seeds(manifest: dict[str, Any]) -> dict[str, Any]:
    """Return a manifest of whatever version without seeds of games that have not ended, and the study's as a hash."""
    if (seed := manifest.get("seed")) is not None:
        manifest = {SEED_HASH if name == "seed" else name: value for name, value in manifest.items()}
        manifest[SEED_HASH] = seed_hash(seed)
    for row in manifest.get("games") or ():
        if row.get("state") != "ended":
            row.pop("seed", None)
    return manifest


_PLANNED: Final = ("seed", "brains")
"""What a manifest says of a game before it is played."""
_NOTED: Final = ("winner", "rounds", "digest", "head")
"""What is noted of a game that has ended."""
_SHOWN: Final = 13


@dataclass(frozen=True, slots=True)
class NotedGame:
    """What a study has noted of one of its games.

    Attributes:
        study: the study's id.
        game: the game's id.
        state: "ended" if a file says so; otherwise what they say; None if they say nothing.
        notes: what each of them says, by its name: ``seed`` and ``brains`` as planned; of a game that has ended
            ``winner``, ``rounds``, ``digest`` and ``head``. Members that it does not state are missing.
    """

    study: str
    game: str
    state: str | None
    notes: Mapping[str, Mapping[str, Any]]

    @property
    def heads(self) -> tuple[str, ...]:
        """The heads that are noted, the manifest's first."""
        return tuple(note["head"] for note in self.notes.values() if "head" in note)

    @property
    def digest(self) -> str | None:
        """The digest that is noted; None where none is, or manifest and journal have different ones."""
        digests = {note["digest"] for note in self.notes.values() if "digest" in note}
        return digests.pop() if len(digests) == 1 else None

    @property
    def agrees(self) -> bool:
        """Whether manifest and journal note the same of how the game ended, its head included."""
        first, *others = [{name: note.get(name) for name in _NOTED} for note in self.notes.values()] or [{}]
        return bool(others) and bool(first["head"]) and all(other == first for other in others)

    @property
    def compared(self) -> tuple[str, ...]:
        """What of its outcome a record can be compared by."""
        return tuple(name for name in _NOTED if any(name in note for note in self.notes.values()))

    def difference(self, checked: Checked) -> str | None:
        """Return in one line how a record differs from the notes; None if it does not.

        Of a game of which no end is noted a record that breaks off may be there; a whole one must
        not.
        """
        if self.state not in {None, "ended"}:
            if checked.ended is None:
                return None
            return f"study {self.study} notes no end of game {self.game} ({self.state}), and the record has one"
        if checked.opened is not None and checked.opened.game != self.game:
            return f"study {self.study} has game {self.game} there, and the record is of {checked.opened.game}"
        recorded = _noted_of(checked)
        files: dict[str, list[str]] = {}
        for file, note in self.notes.items():
            if differences := [
                f"{name} {_short(value)}, in the record {_short(recorded.get(name, 'none'))}"
                for name, value in note.items()
                if name not in recorded or recorded[name] != value
            ]:
                files.setdefault("; ".join(differences), []).append(file)
        differs = "; ".join(f"{differences} ({' and '.join(names)})" for differences, names in files.items())
        return f"not what study {self.study} noted: {differs}" if files else None


@dataclass(frozen=True, slots=True)
class Notes:
    """What a study's folder notes of its games.

    Attributes:
        games: by game id, in the order of the plan.
        stated_hash: the study's hash as the manifest states it; None if it does not.
    """

    games: Mapping[str, NotedGame]
    stated_hash: str | None = None

    def heads(self, recorded: Mapping[str, str]) -> Iterator[tuple[str, str]]:
        """Yield game id and head of every game that ended.

        Args:
            recorded: heads of the records themselves by game id, for studies of earlier versions that
                note none.
        """
        for game in self.games.values():
            if game.state == "ended":
                yield game.game, game.heads[0] if game.heads else recorded.get(game.game, "")

    @property
    def fault(self) -> str | None:
        """What is wrong with the notes themselves, in one line; None for nothing."""
        if self.stated_hash is None:
            return None
        # of a run that was killed the journal may know more games than the manifest
        stated = [(game.game, game.notes[FILE]) for game in self.games.values() if FILE in game.notes]
        heads = ((game, str(note.get("head", ""))) for game, note in stated if "winner" in note)
        if study_hash(heads) != self.stated_hash:
            return "study_hash: not the hash over the heads of its games"
        return None


def notes_of(folder: Path, manifest: Mapping[str, Any], study: str) -> Notes:
    """Return what a study's folder notes.

    Args:
        folder: where the manifest is; its journal may be missing.
        manifest: what ``study.json`` says.
        study: the study's id.

    Raises:
        ConfigError: the journal cannot be read.
    """
    try:
        results = read_results(folder / JOURNAL)
    except OSError as error:
        raise ConfigError(f"{folder / JOURNAL}: {reason_of(error)}") from None
    rows: Sequence[Mapping[str, Any]] = manifest.get("games") or ()
    games = {row["game"]: _noted(study, row, results.get(row["game"])) for row in rows}
    return Notes(games, manifest.get("study_hash"))


def _noted(study: str, row: Mapping[str, Any], result: GameResult | None) -> NotedGame:
    note = {name: row[name] for name in _PLANNED if row.get(name)}
    state = row.get("state")
    if state == "ended":
        note |= {name: row[name] for name in _NOTED if name in row and (row[name] is not None or name == "winner")}
    notes = {FILE: note} if note else {}
    if result is not None and result.state == "ended":
        # one that was written before the manifest was, or beside it
        state = "ended"
        outcome = {name: getattr(result, name) for name in _NOTED}
        notes[JOURNAL] = {name: value for name, value in outcome.items() if value or name == "winner"}
    elif result is not None and state in {None, "pending"}:
        state = result.state
    return NotedGame(study, row["game"], state, notes)


def _noted_of(checked: Checked) -> dict[str, Any]:
    """Return what a record says of all that can be noted; of its end only if it is whole."""
    opened, ended = checked.opened, checked.ended
    noted: dict[str, Any] = {}
    if opened is not None:
        noted |= {"seed": opened.seed, "brains": [seat.brain for seat in opened.seats]}
    if ended is not None and checked.problem is None:
        noted |= {"head": checked.head, "digest": checked.digest, "winner": ended.winner, "rounds": ended.rounds}
    return noted


def _short(value: Any) -> str:
    if isinstance(value, list):
        value = ", ".join(map(str, value))
    return "nobody" if value is None else printable(str(value), _SHOWN)
