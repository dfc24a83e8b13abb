"""Logs of other tables, the paper's among them, as the lines that a page is made of; what a page says of where they are
from.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from wolfbus.errors import ConfigError
from wolfbus.foreign.events import recorded_of
from wolfbus.foreign.kinds.wolf import log_of
from wolfbus.foreign.log import ForeignLog, is_foreign_log, read_foreign_log
from wolfbus.game.roles import plural_of
from wolfbus.record.line import Recorded
from wolfbus.record.published_log import is_paper_log, meta_beside, read_paper_log
from wolfbus.record.reader import open_lines


@dataclass(frozen=True, slots=True)
class ShownLog:
    """A game of another table, to be shown.

    Attributes:
        records: its events, as lines without seals.
        origin: what a page says of where it is from: `kind`, `file`, and `sha256` where it was imported.
        roles: which roles it has and how many of each, as a page lists them.
    """

    records: tuple[Recorded, ...]
    origin: Mapping[str, str]
    roles: tuple[Mapping[str, Any], ...]

    def game(self, game: Mapping[str, Any]) -> dict[str, Any]:
        """Return what a page tells of a game, with where the log is from and without what only a record has."""
        of_records = {"version", "seed", "started"}
        rest = {name: value for name, value in game.items() if name not in of_records}
        return {**rest, "roles": list(self.roles), "origin": {**self.origin, "words": self.words}}

    @property
    def words(self) -> str:
        """What it is, for people."""
        return (
            f"A log of another table ({self.origin['kind']}, {self.origin['file']}), not a record: nothing seals it, "
            "and what was never asked there is not shown."
        )


def log_in(path: Path) -> ShownLog | None:
    """Return the game of a file that holds a log of another table; None of a record, and of anything else.

    Raises:
        RecordError: a line of it cannot be read.
        ConfigError: it is of the paper's code, and its roles are not beside it.
    """
    with closing(open_lines(path)) as lines:
        first = next(lines, b"")
        is_imported = is_foreign_log(first)
        if not is_imported and not is_paper_log(first):
            return None
    with closing(open_lines(path)) as lines:
        if is_imported:
            log = read_foreign_log(lines)
            origin = {"kind": log.head.kind, "file": log.head.file, "sha256": log.head.sha256}
        else:
            meta = meta_beside(path)
            if meta is None:
                raise ConfigError("a log of the paper's code; its run_meta.json, which has the roles, is not beside it")
            log = log_of(read_paper_log(lines, meta, name=path.name), as_recorded=False)
            origin = {"kind": log.head.kind, "file": path.name}
    return ShownLog(recorded_of(log), origin, tuple(_roles(log)))


def _roles(log: ForeignLog) -> list[Mapping[str, Any]]:
    counts = Counter(seat.as_role for seat in log.head.seats)
    return [{"role": role, "plural": plural_of(role), "number": number} for role, number in counts.items()]
