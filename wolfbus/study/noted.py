"""What a study has noted of its games, in manifest and journal, and whether a record is that.

A chain of hashes can be computed anew by whoever edits a record; what a study noted when the game
ended cannot be changed by editing the record alone. Whoever edits the notes too is found out by a
study hash that was published before.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from wolfbus.errors import ConfigError, reason_of
from wolfbus.printable import printable
from wolfbus.record.reader import Checked
from wolfbus.study.journal import JOURNAL, GameResult, read_results
from wolfbus.study.manifest import FILE, study_hash

_PLANNED: Final = ("seed", "brains")
"""What a manifest says of a game before it is played."""
_OUTCOME: Final = ("winner", "rounds", "digest", "head")
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
            ``winner``, ``rounds``, ``digest`` and ``head``. Members that it does not tell are missing.
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
    def agrees(self) -> bool:
        """Whether manifest and journal note the same of how the game ended, its head included."""
        told = [{name: note.get(name) for name in _OUTCOME} for note in self.notes.values()]
        return len(told) > 1 and bool(told[0]["head"]) and all(each == told[0] for each in told)

    @property
    def compared(self) -> tuple[str, ...]:
        """What of its outcome a record can be compared by."""
        return tuple(name for name in _OUTCOME if any(name in note for note in self.notes.values()))

    def difference(self, checked: Checked) -> str | None:
        """Return in one line how a record differs from the notes; None if it does not.

        Of a game of which no end is noted a record that breaks off may be there; a whole one must
        not.
        """
        if self.state not in {None, "ended"}:
            if checked.ended is None:
                return None
            what = f"notes no end of game {self.game} ({self.state})"
            return f"study {self.study} {what}, and the record has one"
        if checked.opened is not None and checked.opened.game != self.game:
            there = checked.opened.game
            return f"study {self.study} has game {self.game} there, and the record is of {there}"
        found = _found(checked)
        told: dict[str, list[str]] = {}
        for where, note in self.notes.items():
            if other := [
                f"{name} {_shown(said)}, in the record {_shown(found.get(name, 'none'))}"
                for name, said in note.items()
                if name not in found or found[name] != said
            ]:
                told.setdefault("; ".join(other), []).append(where)
        differs = "; ".join(f"{what} ({' and '.join(files)})" for what, files in told.items())
        return f"not what study {self.study} noted: {differs}" if told else None


@dataclass(frozen=True, slots=True)
class Notes:
    """What a study's folder notes of its games.

    Attributes:
        games: by game id, in the order of the plan.
        states_hash: the study's hash as the manifest states it; None if it does not.
    """

    games: Mapping[str, NotedGame]
    states_hash: str | None = None

    def heads(self, found: Mapping[str, str]) -> Iterator[tuple[str, str]]:
        """Yield game id and head of every game that ended.

        Args:
            found: heads of the records themselves by game id, for studies of earlier versions that
                note none.
        """
        for game in self.games.values():
            if game.state == "ended":
                yield game.game, game.heads[0] if game.heads else found.get(game.game, "")

    @property
    def fault(self) -> str | None:
        """What is wrong with the notes themselves, in one line; None for nothing."""
        if self.states_hash is None:
            return None
        # of a run that was killed the journal may know more games than the manifest
        stated = [(game.game, game.notes[FILE]) for game in self.games.values() if FILE in game.notes]
        heads = ((game, str(note.get("head", ""))) for game, note in stated if "winner" in note)
        if study_hash(heads) != self.states_hash:
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
    told = {name: row[name] for name in _PLANNED if row.get(name)}
    state = row.get("state")
    if state == "ended":
        told |= {name: row[name] for name in _OUTCOME if name in row and (row[name] is not None or name == "winner")}
    notes = {FILE: told} if told else {}
    if result is not None and result.state == "ended":
        # one that was written before the manifest was, or beside it
        state = "ended"
        said = {name: getattr(result, name) for name in _OUTCOME}
        notes[JOURNAL] = {name: value for name, value in said.items() if value or name == "winner"}
    elif result is not None and state in {None, "pending"}:
        state = result.state
    return NotedGame(study, row["game"], state, notes)


def _found(checked: Checked) -> dict[str, Any]:
    """Return what a record says of all that can be noted; of its end only if it is whole."""
    opened, ended = checked.opened, checked.ended
    found: dict[str, Any] = {}
    if opened is not None:
        found |= {"seed": opened.seed, "brains": [seat.brain for seat in opened.seats]}
    if ended is not None and checked.problem is None:
        found |= {
            "head": checked.head,
            "digest": checked.digest,
            "winner": ended.winner,
            "rounds": ended.rounds,
        }
    return found


def _shown(value: Any) -> str:
    if isinstance(value, list):
        value = ", ".join(map(str, value))
    return "nobody" if value is None else printable(str(value), _SHOWN)
