"""The numbers that the paper prints, by the section of the findings that they belong to, each with its place.

Shares are in [0, 1] where the paper writes per cent. Where it gives a range, ``low`` and ``high`` are its ends; where
it only calls a number near zero, or draws it, there is none here.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, TypeAlias

from wolfbus.vocabulary import Deception, Role

Row: TypeAlias = Mapping[str, float]

PLACES: Final[Mapping[str, str]] = {
    "outcomes": "section 5.2",
    "production": "section 5.2",
    "table1": "Table 1, section 5.3",
    "events": "section 5.3",
    "table2": "Table 2, section 5.4",
    "table3": "Table 3, section 5.5",
    "figure1": "Figure 1 as described in section 5.6, and section 5.9",
    "trends": "section 5.6",
    "table4": "Table 4, section 5.7",
    "table5": "Table 5, section 5.8",
    "abstract": "abstract",
    "text": "sections 5.5 and 6",
}
"""Where in the paper each group of values stands."""

GAMES: Final = 100
"""Games that the paper says it ran (section 5.1)."""

WINNERS: Final[Mapping[str, Row]] = {
    "werewolves": {"k": 70, "n": GAMES, "share": 0.70},
    "villagers": {"k": 10, "n": GAMES, "share": 0.10},
    "nobody": {"k": 20, "n": GAMES, "share": 0.20},
}
"""Who won (section 5.2)."""

PER_GAME: Final[Mapping[str, Row]] = {
    "nights": {"mean": 3.4, "sd": 1.3},
    "debate_turns": {"mean": 16.1, "sd": 6.1},
    "voting_rounds": {"mean": 2.6, "sd": 1.4},
    "statements": {"mean": 32.4, "sd": 12.3, "total": 324},
}
"""Lengths of games (section 5.2); the paper does not say that its ± is a standard deviation."""

BASE_RATE: Final = 0.694
"""Share of statements that speakers call deceptive (section 5.2)."""

TABLE_1: Final[Mapping[Role, Row]] = {
    "Villager": {"statements": 150, "deceptive": 107, "suspicion": 0.479, "flagged": 0.498},
    "Werewolf": {"statements": 74, "deceptive": 56, "suspicion": 0.533, "flagged": 0.601},
    "Seer": {"statements": 61, "deceptive": 45, "suspicion": 0.551, "flagged": 0.618},
    "Doctor": {"statements": 39, "deceptive": 27, "suspicion": 0.608, "flagged": 0.605},
}
"""By role of the speaker."""

EVENTS: Final[Mapping[str, Row]] = {
    "seer": {"before": 0.572, "after": 0.485},
    "doctor": {"blocked": 0.543, "killed": 0.621},
}
"""Suspicion of the Seer before and after revealing, of the Doctor after a success and after a failure (section 5.3)."""

TABLE_2: Final[Mapping[Role, Mapping[Role, float]]] = {
    "Villager": {"Werewolf": 0.460, "Seer": 0.537, "Doctor": 0.517},
    "Werewolf": {"Villager": 0.509, "Seer": 0.527, "Doctor": 0.498},
    "Seer": {"Villager": 0.498, "Werewolf": 0.533, "Doctor": 0.538},
    "Doctor": {"Villager": 0.564, "Werewolf": 0.587, "Seer": 0.522},
}
"""Observer, then target; the paper leaves the diagonal out."""

TABLE_3: Final[Mapping[str, Row]] = {
    "Villager": {
        "tp": 231,
        "tn": 90,
        "fp": 52,
        "fn": 148,
        "accuracy": 0.58,
        "precision": 0.82,
        "recall": 0.61,
        "f1": 0.70,
    },
    "Werewolf": {
        "tp": 157,
        "tn": 77,
        "fp": 79,
        "fn": 113,
        "accuracy": 0.53,
        "precision": 0.67,
        "recall": 0.58,
        "f1": 0.62,
    },
    "Seer": {
        "tp": 144,
        "tn": 58,
        "fp": 36,
        "fn": 139,
        "accuracy": 0.53,
        "precision": 0.80,
        "recall": 0.51,
        "f1": 0.63,
    },
    "Doctor": {
        "tp": 170,
        "tn": 45,
        "fp": 46,
        "fn": 126,
        "accuracy": 0.53,
        "precision": 0.79,
        "recall": 0.57,
        "f1": 0.66,
    },
    "overall": {
        "tp": 702,
        "tn": 270,
        "fp": 213,
        "fn": 526,
        "accuracy": 0.52,
        "precision": 0.72,
        "recall": 0.48,
        "f1": 0.58,
    },
}
"""By role of the observer."""

FIGURE_1: Final[Mapping[str, Row]] = {
    "Werewolf": {"first": 0.52, "last": 0.62},
    "Villager": {"low": 0.44, "high": 0.46},
    "Doctor": {"low": 0.44, "high": 0.46},
}
"""Suspicion by target role as the text describes the figure (section 5.6)."""
FLAGGED: Final[Row] = {"first": 0.35, "last": 0.47}
"""Share of observers that flag, in early rounds and at the end (section 5.6)."""
FINAL_ROUND: Final[Mapping[Role, Row]] = {
    "Werewolf": {"mean": 0.620, "sem": 0.012},
    "Villager": {"mean": 0.450, "sem": 0.009},
}
"""Final-round suspicion ± 1 SEM over games (section 5.9)."""

SLOPE: Final = 0.016
"""Theil-Sen slope of suspicion of Werewolves per round (section 5.6)."""
SEPARABLE: Final = 3
"""Round from which intervals of Werewolves and Villagers do not overlap (section 5.6)."""
GAP: Final[Row] = {"low": 0.16, "high": 0.18}
"""Final gap between suspicion of Werewolves and of Villagers (section 5.6)."""

TABLE_4: Final[Mapping[Role, Row]] = {
    "Villager": {"brier": 0.29, "auc": 0.55, "auprc": 0.75},
    "Werewolf": {"brier": 0.28, "auc": 0.56, "auprc": 0.75},
    "Seer": {"brier": 0.28, "auc": 0.58, "auprc": 0.77},
    "Doctor": {"brier": 0.26, "auc": 0.57, "auprc": 0.76},
}
"""By role; the paper does not say whose, and we read it as the observer's, as in Table 3."""

TABLE_5: Final[Mapping[Deception, Row]] = {
    "none": {"count": 426, "suspicion": 0.571, "flagged": 0.514},
    "omission": {"count": 129, "suspicion": 0.619, "flagged": 0.575},
    "distortion": {"count": 76, "suspicion": 0.503, "flagged": 0.355},
    "misdirection": {"count": 51, "suspicion": 0.546, "flagged": 0.455},
    "fabrication": {"count": 28, "suspicion": 0.517, "flagged": 0.401},
}
"""By self-labelled kind."""

ABSTRACT_STATEMENTS: Final = 7230
"""Statements according to the abstract."""
ABSTRACT_WEREWOLVES: Final = 0.31
"""Share of their turns in which Werewolves deceive, according to the abstract and section 6."""
TEXT_PRECISION: Final[Row] = {"low": 0.71, "high": 0.73}
"""Precision of observers (abstract, section 5.5)."""
TEXT_RECALL: Final[Row] = {"low": 0.48, "high": 0.61}
"""Recall of observers (section 5.5)."""
