"""Records read back, with every seal checked and the rules run again."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import Any, NamedTuple

from moderator.engine.reexecution import Verifier
from wolfbus.record.line import Recorded
from wolfbus.record.reader import open_lines, read_checked


class Proof(NamedTuple):
    """What a record holds up to the first problem."""

    name: str
    problems: list[str]
    digest: str
    records: list[Recorded]

    @property
    def verified(self) -> bool:
        return not self.problems

    def of(self, kind: str) -> list[Any]:
        """The events of a type."""
        return [recorded.event for recorded in self.records if recorded.event.type == kind]


def prove(path: Path) -> Proof:
    records: list[Recorded] = []
    with contextlib.closing(open_lines(path)) as lines:
        checked = read_checked(lines, records.append, Verifier())
    return Proof(str(path), [] if checked.problem is None else [checked.problem], checked.digest, records)
