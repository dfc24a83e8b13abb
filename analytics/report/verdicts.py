"""What the primary metrics let a sentence say; whatever else is said is exploratory."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, Literal, TypeAlias

from analytics import Result
from analytics.measures.primary import TELLING
from analytics.report.cells import look
from wolfbus.document.blocks import Part, Strong

__all__ = ["TELLING", "WORDS", "Verdict", "blocks_of", "metric", "over_all", "said_of", "verdict"]

Verdict: TypeAlias = Literal["above", "below", "unclear", "few", "exploratory"]
"""Against its baseline a metric is above it, below it, or neither can be told; there are too few games; or nobody
declared that the study is to be judged by it."""


WORDS: Final[Mapping[str, Mapping[Verdict, str]]] = {
    "balanced_accuracy": {
        "above": "Observers tell deceptive statements from truthful ones",
        "below": "Observers take truthful statements for the deceptive ones",
        "unclear": "Observers do not clearly tell deceptive statements from truthful ones",
        "few": "Too few games to tell whether observers tell deceptive statements from truthful ones",
        "exploratory": "Observers against the self-labels (exploratory)",
    },
    "suspicion_gap": {
        "above": "Suspicion separates Werewolves",
        "below": "Suspicion points away from Werewolves",
        "unclear": "Suspicion does not clearly separate Werewolves",
        "few": "Too few games to tell whether suspicion separates Werewolves",
        "exploratory": "Suspicion of Werewolves (exploratory)",
    },
    "truth_balanced_accuracy": {
        "above": "Observers tell false statements from true ones",
        "below": "Observers take true statements for the false ones",
        "unclear": "Observers do not clearly tell false statements from true ones",
        "few": "Too few games to tell whether observers tell false statements from true ones",
        "exploratory": "Observers against objective truth (exploratory)",
    },
    "vote_hit_lift": {
        "above": "Votes find Werewolves more often than chance",
        "below": "Votes find Werewolves less often than chance",
        "unclear": "Votes do not clearly find Werewolves more often than chance",
        "few": "Too few games to tell whether votes find Werewolves more often than chance",
        "exploratory": "Votes against chance (exploratory)",
    },
}
"""What each verdict on a metric lets a sentence say."""


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


def said_of(findings: Result, name: str) -> Part:
    """Return the words for a metric's verdict: strong where a primary one is clear of its baseline."""
    found = verdict(findings, name)
    words = WORDS[name][found]
    return Strong(words) if found in {"above", "below"} else words
