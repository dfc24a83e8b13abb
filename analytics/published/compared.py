"""The paper's values under the keys of the findings."""

from __future__ import annotations

from typing import Any

from analytics import Result
from analytics.published.contradictions import contradictions
from analytics.published.values import (
    BASE_RATE,
    EVENTS,
    FIGURE_1,
    FINAL_ROUND,
    FLAGGED,
    GAMES,
    GAP,
    PER_GAME,
    PLACES,
    SEPARABLE,
    SLOPE,
    TABLE_1,
    TABLE_2,
    TABLE_3,
    TABLE_4,
    TABLE_5,
    WINNERS,
)

_RATES = ("accuracy", "precision", "recall", "f1")
_SCORES = ("brier", "auc", "auprc")


def published() -> Result:
    """Return what the paper prints, in the keys of the findings' sections; what it does not print is not there.

    Values are plain numbers, where a section of ours may have an estimate: ``table2[observer][target]``,
    ``events["seer"]["before"]``, ``production["base_rate"]``, ``trends["Werewolf"]["slope"]`` (per round),
    ``variability["metrics"][name]``. Beside the sections, ``places[section]`` says where in the paper its values stand
    and ``notes[section]`` lists in sentences what contradicts them; see `contradictions`.
    """
    return {
        "outcomes": {"games": GAMES, "winners": _copy(WINNERS), "per_game": _copy(PER_GAME)},
        "production": {"base_rate": BASE_RATE},
        "table1": _copy(TABLE_1),
        "table2": _copy(TABLE_2),
        "table3": _copy(TABLE_3),
        "table4": _copy(TABLE_4),
        "table5": _copy(TABLE_5),
        "events": _copy(EVENTS),
        "figure1": {"suspicion": _copy(FIGURE_1), "flagged": dict(FLAGGED), "final_round": _copy(FINAL_ROUND)},
        "trends": {"Werewolf": {"slope": SLOPE}, "separable": {"round": SEPARABLE}, "gap": dict(GAP)},
        "variability": {"metrics": _headlines()},
        "places": dict(PLACES),
        "notes": _notes(),
    }


def _headlines() -> dict[str, float]:
    found: dict[str, float] = {
        "villager_wins": WINNERS["villagers"]["share"],
        "werewolf_wins": WINNERS["werewolves"]["share"],
        "no_winner": WINNERS["nobody"]["share"],
        "deception_rate": BASE_RATE,
    }
    for role, row in TABLE_3.items():
        found |= {name if role == "overall" else f"{name}/{role}": row[name] for name in _RATES}
    for role, scores in TABLE_4.items():
        found |= {f"{name}/{role}": scores[name] for name in _SCORES}
    return found


def _notes() -> dict[str, list[str]]:
    notes: dict[str, list[str]] = {}
    for each in contradictions():
        for section in each["where"]:
            notes.setdefault(section, []).append(f"{each['says']} {each['but']} {each['ours']}")
    return notes


def _copy(rows: Any) -> dict[str, Any]:
    return {str(key): dict(row) for key, row in rows.items()}
