"""Rows: what one game leaves for measurement, whoever wrote its log. Every metric is a function over these.

`d`, `s`, `c` and `kind` are the quantities of the paper (section 4.2): flag, suspicion, confidence, mechanism. A row
whose `d` is None does not count: its answer was defaulted, timed out, declined, or is not there yet. Where fillers were
asked for (`include_defaulted`) such rows carry the paper code's "truthful, suspicion 0.5, confidence 0" and their true
`outcome`.

What a field means, and how it is exported and kept as a number, stands in its annotation; see `analytics.schema`.
"""

from __future__ import annotations

from typing import Final

from analytics.rows.course import CallRow, DeathRow, Departure, Noted, SeatRow, Step, call_row
from analytics.rows.game import ENDINGS, PROTOCOLS, WINNERS, GameRows, Pair, ReplyKey
from analytics.rows.night import NIGHTS, InspectionRow, NightRow, ProtectionRow, WhisperRow
from analytics.rows.parts import HOW, PHASES
from analytics.rows.talk import (
    CLAIMS,
    TRUTHS,
    VERDICTS,
    BidRow,
    ClaimRow,
    JudgementRow,
    StatementRow,
    SuspicionRow,
    Truth,
    VoteRow,
    truth_of,
)

FILLER_SUSPICION: Final = 0.5
"""s of a filler, as in the paper's code."""
FILLER_CONFIDENCE: Final = 0.0
"""c of a filler, as in the paper's code."""

__all__ = [
    "CLAIMS",
    "ENDINGS",
    "FILLER_CONFIDENCE",
    "FILLER_SUSPICION",
    "HOW",
    "NIGHTS",
    "PHASES",
    "PROTOCOLS",
    "TRUTHS",
    "VERDICTS",
    "WINNERS",
    "BidRow",
    "CallRow",
    "ClaimRow",
    "DeathRow",
    "Departure",
    "GameRows",
    "InspectionRow",
    "JudgementRow",
    "NightRow",
    "Noted",
    "Pair",
    "ProtectionRow",
    "ReplyKey",
    "SeatRow",
    "StatementRow",
    "Step",
    "SuspicionRow",
    "Truth",
    "VoteRow",
    "WhisperRow",
    "call_row",
    "truth_of",
]
