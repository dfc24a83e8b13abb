"""What analytics leaves of a session: ``metrics.json`` for programs and ``report.txt`` for people."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Final

from analytics import Result
from analytics.report.report import terminal_text
from wolfbus.errors import RecordError, reason_of
from wolfbus.files.printable import NOTE_SHOWN, counted, printable
from wolfbus.files.whole_file import write_whole
from wolfbus.game.vocabulary import Winner
from wolfbus.messages.base import ID_PATTERN

METRICS: Final = "metrics.json"
REPORT: Final = "report.txt"
_PATH_SHOWN: Final = 400


@dataclass(frozen=True, slots=True)
class ArchivedGame:
    """What became of one game's record.

    Attributes:
        game: the game's id.
        number: its place in the session, from 1.
        record: the file.
        lines: lines of it that are on the disk and right.
        hash: seal of the last of them, "" for none.
        outcome: how the moderator closed the game: "ended", "stopped" or "failed"; None if it did not.
        winner: who won; None if nobody did, or the game cannot be measured.
        counted: whether the metrics hold it.
        error: why the record is not whole or not measured, None if all is well.
        spoilt: whether too many answers of a seat are defaults for want of a reply.
    """

    game: str
    number: int
    record: str
    lines: int
    hash: str
    outcome: str | None
    winner: Winner
    counted: bool
    error: str | None
    spoilt: bool = False

    @property
    def fine(self) -> bool:
        """Whether the game ended by the rules, and its record is whole."""
        return self.outcome == "ended" and self.error is None


@dataclass(frozen=True)
class SessionResults:
    """A session, seen from its records.

    Attributes:
        house: the house's name.
        session: the session's name, "" if none began.
        closed: whether it has closed; else these are the results so far.
        folder: where the records are.
        games: its games, by number.
        metrics: `Metrics` over those that count.
        failed: games that the moderator says have failed.
        error: what else went wrong, None for nothing.
        settled: games whose records are whole, and that are no longer listed one by one; none is spoilt.
    """

    house: str
    session: str
    closed: bool
    folder: Path
    games: Sequence[ArchivedGame]
    metrics: Result
    failed: int = 0
    error: str | None = None
    settled: int = 0

    @property
    def fine(self) -> bool:
        """Whether every game ended by the rules, and every record is whole."""
        return not self.failed and self.error is None and all(game.fine for game in self.games)

    @property
    def spoilt(self) -> int:
        """Games that are spoilt."""
        return sum(game.spoilt for game in self.games)

    @property
    def count(self) -> int:
        """Games that there is something to say of."""
        return len(self.games) + self.settled

    def as_json(self) -> dict[str, Any]:
        """Return the object that stands in ``metrics.json``."""
        return {
            "house": self.house,
            "session": self.session,
            "closed": self.closed,
            "games": self.count,
            "archived": sum(game.error is None for game in self.games) + self.settled,
            "failed": max(self.failed, sum(not game.fine for game in self.games)),
            "error": self.error,
            "settled": self.settled,
            "records": [asdict(game) for game in self.games],
            "metrics": self.metrics,
        }

    def summary(self) -> str:
        """Return the one line that sums it up."""
        if not self.session:
            return f"House {self.house}: no session began"
        results = self.as_json()
        state = "has closed" if self.closed else "so far"
        # what a file cannot hold may stand in a folder's name
        folder = printable(str(self.folder), _PATH_SHOWN)
        line = (
            f"Session {self.session} of house {self.house} {state}: "
            f"{counted(results['games'], 'game')}, {counted(results['archived'], 'record')} whole in {folder}"
        )
        if results["failed"]:
            line += f", {results['failed']} failed"
        if self.spoilt:
            line += f", {self.spoilt} spoilt"
        return line if self.error is None else f"{line}; {self.error}"

    @cached_property
    def report(self) -> str:
        """The tables, if there is a game to tabulate, and a line for every game that is not as it should be."""
        lines = [
            f"Game {game.game}: {game.outcome or 'never closed'}"
            + (f": {printable(game.error, 2 * NOTE_SHOWN)}" if game.error else "")
            for game in self.games
            if not game.fine
        ]
        tables = [terminal_text(self.metrics).rstrip("\n"), ""] if self._counted else []
        return "\n".join([*tables, *lines, self.summary()]) + "\n"

    @property
    def _counted(self) -> bool:
        """Whether the metrics hold a game."""
        return self.settled > 0 or any(game.counted for game in self.games)


def write_results(results: SessionResults) -> None:
    """Write both files, each whole or not at all.

    Where a game ended in the session whose results are there, and none did in this one, those stay under its name.

    Raises:
        RecordError: the line names the file and the reason.
    """
    values = results.as_json()
    if not _has_ended(values):
        _set_aside(results.folder, results.session)
    # the report first: where there is a metrics file, there is a report
    _replace(results.folder / REPORT, results.report)
    _replace(results.folder / METRICS, json.dumps(values, allow_nan=False, indent=1) + "\n")


def finished_session(folder: Path) -> str:
    """Return the session whose final results are in `folder`, "" for none."""
    results = _read_results(folder)
    return str(results.get("session", "")) if results.get("closed") is True else ""


def _has_ended(results: dict[str, Any]) -> bool:
    """Return whether a game ended by the rules in the session that results tell of."""
    records = results.get("records")
    has_ended = isinstance(records, list) and any(
        isinstance(record, dict) and record.get("outcome") == "ended" for record in records
    )
    return has_ended or bool(results.get("settled"))


def _read_results(folder: Path) -> dict[str, Any]:
    """Return what the results in `folder` say; nothing where there are none, or none that can be read."""
    try:
        results = json.loads((folder / METRICS).read_bytes())
    except (OSError, ValueError, RecursionError):
        return {}
    return results if isinstance(results, dict) else {}


def _set_aside(folder: Path, session: str) -> None:
    """Rename the results of another session in which games ended."""
    results = _read_results(folder)
    before = results.get("session")
    # it becomes part of a file's name
    is_name = isinstance(before, str) and re.fullmatch(ID_PATTERN, before) is not None
    if not is_name or before == session or not _has_ended(results):
        return
    for name in (REPORT, METRICS):
        path = folder / name
        try:
            path.rename(path.with_name(f"{path.stem}.{before}{path.suffix}"))
        except FileNotFoundError:
            # whoever was killed here before had renamed the report
            continue
        except OSError as error:
            raise RecordError(f"{path}: cannot be renamed: {reason_of(error)}") from None


def _replace(path: Path, text: str) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, [text])
    except OSError as error:
        raise RecordError(f"{path}: cannot be written: {reason_of(error)}") from None
