"""What a difference from a baseline, or between agents, lets a sentence say."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, Literal, TypeAlias

from analytics import Result
from analytics.report.cells import ends, look

Verdict: TypeAlias = Literal["above", "below", "unclear", "few"]
"""Against nothing: the interval lies above 0, below it, holds it or is missing, or rests on too few games."""

TELLING: Final = 8
"""Blocks of games below which no sentence says what is better: intervals of fewer are as wide as they should be, and
say next to nothing."""


def blocks_of(findings: Result) -> int:
    """Return how many blocks of games were resampled, 0 if nothing was."""
    return look(findings, "variability", "blocks") or 0


def metric(findings: Result, name: str) -> Mapping[str, Any]:
    """Return a headline metric, empty if it was not computed."""
    return look(findings, "variability", "metrics", name) or {}


def over_all(findings: Result, name: str) -> Mapping[str, Any]:
    """Return a headline metric over all observers, as the paper's tables are; empty if it was not computed."""
    found = metric(findings, name)
    return found.get("all_observers") or found


def verdict(difference: Mapping[str, Any], blocks: int) -> Verdict:
    """Return what an estimate of a difference says.

    A baseline that is estimated on the same games moves with the value, so that the interval of their difference
    decides and not whether the value's interval holds the baseline.

    Args:
        difference: an estimate.
        blocks: how many blocks of games it rests on.
    """
    if blocks < TELLING:
        return "few"
    low, high = ends(difference)
    if low is not None and low > 0:
        return "above"
    return "below" if high is not None and high < 0 else "unclear"
