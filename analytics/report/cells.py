"""Numbers as cells: a percentage or a score, with interval and n below it, and a reason where it is undefined."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Any, Final
from urllib.parse import quote

from wolfbus.document.blocks import Cell, Target
from wolfbus.document.formats import Ends, between, count, shown

NO_INTERVAL: Final = "no interval"


def look(findings: Any, *path: str | int) -> Any:
    """Return what stands at `path` in nested findings, None if any step of it is missing."""
    for step in path:
        if isinstance(findings, Mapping):
            findings = findings.get(step)
        elif isinstance(findings, (list, tuple)) and isinstance(step, int) and -len(findings) <= step < len(findings):
            findings = findings[step]
        else:
            return None
    return findings


def interval(findings: Mapping[str, Any], *path: str) -> Ends:
    """Return the interval that the findings' ``intervals`` have for a cell of a table, if they have one."""
    match look(findings, "intervals", *path):
        case [int() | float() as low, int() | float() as high]:
            return low, high
    return None, None


def ends(found: Mapping[str, Any] | None) -> Ends:
    """Return the interval of an estimate."""
    return look(found, "low"), look(found, "high")


def either(first: Ends, second: Ends) -> Ends:
    """Return the first of two intervals, the second where it is missing."""
    return second if None in first else first


def value(
    found: float | None,
    unit: str = "share",
    *,
    n: int | None = None,
    within: Ends = (None, None),
    paper: float | None = None,
    link: Target | None = None,
    reason: str | None = None,
) -> Cell:
    """Return a cell.

    Args:
        found: the value, None if it is undefined.
        unit: how to show it.
        n: what it is over; None says nothing of it.
        within: its 95 % interval.
        paper: the paper's value, in the same unit.
        link: the statements behind it.
        reason: why it is undefined; a general sentence stands in.
    """
    under = [part for part in (between(*within, unit), None if n is None else f"n {n:,}") if part]
    why = None if found is not None else (reason or "there is nothing to compute it from")
    published = "" if paper is None else shown(paper, unit)
    return Cell(shown(found, unit), " · ".join(under), published, link if found is not None else None, why)


def estimate(
    found: Mapping[str, Any] | None,
    unit: str = "share",
    *,
    paper: float | None = None,
    link: Target | None = None,
) -> Cell:
    """Return the cell of an estimate ``{"value", "low", "high", "n", "reason"}``."""
    if not found:
        return value(None, unit, paper=paper, reason="it was not computed")
    cell = value(
        *(found.get("value"), unit),
        n=found.get("n"),
        within=ends(found),
        paper=paper,
        link=link,
        reason=found.get("reason"),
    )
    lacking = found.get("interval_reason")
    if lacking is None or found.get("value") is None or None not in ends(found):
        return cell
    under = " · ".join(part for part in (NO_INTERVAL, cell.under) if part)
    return replace(cell, under=under, lacking=str(lacking))


def counted(found: int | None, *, paper: float | None = None, link: Target | None = None) -> Cell:
    """Return the cell of a whole number."""
    published = "" if paper is None else count(paper)
    return Cell(count(found), paper=published, link=link if found else None, reason=None if found is not None else "")


def text(words: str) -> Cell:
    """Return a cell of words."""
    return Cell(words)


INDEX: Final = "statements"
"""Anchor of the index."""

_WORDS: Final = {
    "role": "by speakers dealt {}",
    "said": "that their speakers call {}",
    "kind": "labelled {}",
    "truth": "{}",
    "round": "in round {}",
    "phase": "in the {}",
    "game": "of game {}",
}
_TRUTH: Final = {
    "true": "whose checkable claims are true",
    "mistake": "that are mistakes",
    "lie": "that are lies",
    "checkable": "with a checkable claim",
}
_JUDGED: Final = {
    "tp": "flagged, rightly",
    "fp": "flagged though labelled truthful",
    "tn": "not flagged, rightly",
    "fn": "not flagged though labelled deceptive",
    "flagged": "flagged",
    "scored": "judged, with a self-label to hold that against,",
    "judged": "judged",
}


@dataclass(frozen=True, slots=True)
class Selection:
    """Statements that match all that is given; None matches any.

    Attributes:
        role: the speaker's role.
        agent: place of the speaker's agent in the list of agents, from 0.
        said: self-label, "deceptive" or "truthful".
        kind: self-labelled kind.
        truth: "true", "mistake", "lie", or "checkable" for any of these.
        round: from 1.
        phase: "debate" or "vote".
        game: place of the game in the index, from 1.
        observer: role of an observer whose judgement is meant.
        by: place of that observer's agent.
        judged: what that judgement was: "tp", "fp", "tn", "fn" against the self-label, "scored" for any of these,
            "flagged", or "judged" for any that counts.
    """

    role: str | None = None
    agent: int | None = None
    said: str | None = None
    kind: str | None = None
    truth: str | None = None
    round: int | None = None
    phase: str | None = None
    game: int | None = None
    observer: str | None = None
    by: int | None = None
    judged: str | None = None

    @property
    def anchor(self) -> str:
        """The fragment of the address, which is also an element's id for readers without script."""
        given = [(field.name, getattr(self, field.name)) for field in fields(self)]
        query = "&".join(f"{name}={quote(str(value))}" for name, value in given if value is not None)
        return f"{INDEX}?{query}" if query else INDEX

    def in_words(self, agents: tuple[str, ...]) -> str:
        """Return what is selected, in words.

        Args:
            agents: names of the agents, fit to show.
        """
        parts = ["Statements"]
        for name in ("role", "said", "kind", "truth", "round", "phase", "game"):
            value = getattr(self, name)
            if value is not None:
                parts.append(_TRUTH[value] if name == "truth" else _WORDS[name].format(value))
        if self.agent is not None:
            parts.append(f"by agent {agents[self.agent]}")
        if self.observer is not None or self.by is not None or self.judged is not None:
            who = f"a {self.observer}" if self.observer else "an observer"
            agent = "" if self.by is None else f" of agent {agents[self.by]}"
            parts.append(f"{_JUDGED[self.judged or 'judged']} by {who}{agent}")
        return " ".join(parts)
