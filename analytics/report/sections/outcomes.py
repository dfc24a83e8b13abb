"""Who wins, how long games are, how often speakers deceive (paper 5.2 and 5.3)."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any, Final

from analytics import Result
from analytics.figures.bars import production_by_role, win_shares
from analytics.report.context import Context, drawing
from analytics.report.specs import table
from wolfbus.document.blocks import Heading, Section

_SPLITS: Final[Mapping[str, Mapping[str, Any]]] = {
    "role": {"split_name": "Role", "of": "the speaker's role", "by": "role", "paper": "base_rate"},
    "brain": {"split_name": "Agent", "of": "the speaker's agent", "by": "agent"},
    "round": {"split_name": "Round", "of": "round", "by": "round"},
    "phase": {"split_name": "Phase", "of": "phase", "by": "phase"},
}


def section(findings: Result, context: Context) -> Section:
    """Return outcomes, lengths and production."""
    won, made = partial(win_shares, findings), partial(production_by_role, findings)
    caption = "Statements that their speakers call deceptive, by role."
    return Section("outcomes", "Outcomes and deception (5.2, 5.3)", (
        drawing(
            *("wins", won, "Who won the finished games.", findings.get("outcomes")), "No game is finished.", "winners"
        ),
        table("outcomes/winners", findings, context),
        table("outcomes/lengths", findings, context),
        Heading("How often speakers call their own statements deceptive", "production"),
        drawing("production-figure", made, caption, findings.get("production"), table="production-role"),
        *(table("outcomes/production", findings, context, split=split, **words) for split, words in _SPLITS.items()),
    ))  # fmt: skip
