"""analytics watches: it folds records into rows, rows into columns, columns into sums, and sums into the tables,
figures and verdicts of the paper and beyond.

::

    events of a game, or of a log of another table --fold.GameFold--> rows.GameRows
        --tables.TablesBuilder--> frames --metrics--> results.Results
        --findings.findings--> a JSON-able dict --> report, compare

Live and finished games go the same way: `findings.Metrics` sums games up as they come, `findings.findings` all at
once. Games can be added in any order, in any number of processes, and the numbers come out equal.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

Result: TypeAlias = dict[str, Any]
"""Plain values that JSON takes as they stand; keys are strings, undefined is None, never NaN."""


def look(findings: Any, *path: str) -> Any:
    """Return what stands at `path` in nested findings, None if any step of it is missing."""
    for step in path:
        findings = findings.get(step) if isinstance(findings, Mapping) else None
    return findings


def value_at(findings: Any, path: str) -> Any:
    """Return what stands at a dotted path, or of ``a / b`` the share of the numbers at two of them.

    A dot within a step is written as a null character.
    """
    first, ratio, second = path.partition(" / ")
    if ratio:
        part, whole = value_at(findings, first), value_at(findings, second)
        return part / whole if part is not None and whole else None
    return look(findings, *(step.replace("\0", ".") for step in path.split("."))) if path else findings
