"""What the primary metrics let a sentence say; whatever else is said is exploratory."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, TypeAlias

from analytics import Result
from analytics.measures.primary import TELLING
from analytics.report.cells import look
from wolfbus.document.blocks import Part, Strong

__all__ = ["TELLING", "Verdict", "blocks_of", "metric", "over_all", "said_of", "verdict"]

Verdict: TypeAlias = Literal["above", "below", "unclear", "few", "exploratory"]
"""Against its baseline a metric is above it, below it, or neither can be told; there are too few games; or nobody
declared that the study is to be judged by it."""


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


def verdict(findings: Result, name: str) -> Verdict:
    """Return what may be said of a metric."""
    found: Verdict | Literal["undefined"] | None = look(findings, "primary", "metrics", name, "verdict")
    if found is None:
        return "exploratory"
    return "unclear" if found == "undefined" else found


def said_of(findings: Result, name: str, words: Mapping[Verdict, str]) -> Part:
    """Return the words for a metric's verdict: strong where it is a primary one."""
    found = verdict(findings, name)
    return words[found] if found == "exploratory" else Strong(words[found])
