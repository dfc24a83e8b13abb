"""What the WOLF paper prints, to stand beside a study's own numbers, and where the paper contradicts itself.

Facts only, arranged by the sections of the findings. Nothing here is ever fitted to: the analytics follows its
definitions, and tests feed it the paper's own counts to see what follows from them.
"""

from __future__ import annotations

from typing import Final

from analytics import Result
from analytics.published.contradictions import Contradiction, contradictions
from analytics.published.values import PublishedValues, values

__all__ = ["Contradiction", "contradictions", "published"]

_SECTIONS: Final = frozenset(
    {"production", "table1", "table2", "table3", "table4", "table5", "events", "figure1", "trends", "places"}
)
_RATES: Final = ("accuracy", "precision", "recall", "f1")
_SCORES: Final = ("brier", "auc", "auprc")


def published() -> Result:
    """Return what the paper prints, in the keys of the findings' sections; what it does not print is not there.

    Values are plain numbers, where a section of ours may have an estimate: ``table2[observer][target]``,
    ``events["seer"]["before"]``, ``production["base_rate"]``, ``trends["Werewolf"]["slope"]`` (per round),
    ``variability["metrics"][name]``. Beside the sections, ``places[section]`` says where in the paper its values stand.
    """
    paper = values()
    return {
        "outcomes": paper.model_dump(include={"games", "winners", "per_game"}),
        **paper.model_dump(include=set(_SECTIONS)),
        "variability": {"metrics": _headlines(paper)},
    }


def _headlines(paper: PublishedValues) -> dict[str, float]:
    found: dict[str, float] = {
        "villager_wins": paper.winners["villagers"]["share"],
        "werewolf_wins": paper.winners["werewolves"]["share"],
        "no_winner": paper.winners["nobody"]["share"],
        "deception_rate": paper.production["base_rate"],
    }
    for role, row in paper.table3.items():
        found |= {name if role == "overall" else f"{name}/{role}": row[name] for name in _RATES}
    for role, scores in paper.table4.items():
        found |= {f"{name}/{role}": scores[name] for name in _SCORES}
    return found
