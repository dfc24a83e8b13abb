"""Where the paper's numbers contradict each other: sentences of `contradictions.toml`, numbers from its own values."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any, Final

from analytics.measures.formulas import Confusion
from analytics.published.values import PublishedValues, Row, values
from wolfbus.package_data import PackageData, Prose, read_data
from wolfbus.vocabulary import ROLES, Role

_COUNTS: Final = ("tp", "tn", "fp", "fn")
_RATES: Final = {"accuracy": "accuracy", "precision": "precision", "recall": "recall", "f1": "F1"}
_SEATS: Final[Mapping[Role, int]] = {"Villager": 4, "Seer": 1, "Doctor": 1}
"""Seats a game but for the Werewolves' (paper, section 3)."""


class Contradiction(PackageData):
    """One place where the paper cannot be right everywhere."""

    where: tuple[str, ...]
    """Sections of the findings that it concerns."""
    says: Prose
    """What the paper says, a sentence."""
    but: Prose
    """What else it says, or what follows from its own numbers, a sentence."""
    ours: Prose
    """What is done here, a sentence."""


class _Contradictions(PackageData):
    contradiction: tuple[Contradiction, ...]


class _Share(float):
    """A share that is written in per cent; the format names the decimals, one unless given."""

    def __format__(self, places: str) -> str:
        return f"{100 * self:.{places or 1}f} %"


@cache
def contradictions() -> tuple[Contradiction, ...]:
    """Return every contradiction that was found, in the order of the paper.

    The numbers in the sentences are computed from the paper's (`analytics.published.values`), not copied.

    Raises:
        ConfigError: their file is not as it should be.
    """
    paper = values()
    numbers = {
        **_of_statements(paper),
        **_of_suspicion(paper),
        **_of_detection(paper),
        **_of_scores(paper),
        **_of_kinds(paper),
    }
    found = read_data("analytics.published", "contradictions", _Contradictions).contradiction
    return tuple(
        Contradiction(
            where=each.where,
            says=each.says.format_map(numbers),
            but=each.but.format_map(numbers),
            ours=each.ours.format_map(numbers),
        )
        for each in found
    )


def counts(role: str) -> Confusion:
    """Return Table 3's counts of a role, or of ``overall``."""
    row = values().table3[role]
    return Confusion(**{name: int(row[name]) for name in _COUNTS})


def _of_statements(paper: PublishedValues) -> dict[str, Any]:
    per_game, wolves = paper.per_game["statements"], paper.table1["Werewolf"]
    in_table1, in_table5 = _total(paper.table1, "statements"), _total(paper.table5, "count")
    return {
        "games": paper.games,
        "abstract_statements": paper.passing.statements,
        "in_table1": int(in_table1),
        "in_table5": int(in_table5),
        "per_game": per_game["mean"],
        "in_all_games": per_game["mean"] * paper.games,
        "total": per_game["total"],
        "games_of_total": per_game["total"] / per_game["mean"],
        "base_rate": _Share(paper.production["base_rate"]),
        "deceptive_in_table1": _Share(_total(paper.table1, "deceptive") / in_table1),
        "deceptive_in_table5": _Share(1 - paper.table5["none"]["count"] / in_table5),
        "judged_deceptive": _Share(_measures("overall")["base_rate"]),
        "abstract_werewolves": _Share(paper.passing.werewolves),
        "wolves_deceptive": wolves["deceptive"],
        "wolves_statements": wolves["statements"],
        "wolves_share": _Share(wolves["deceptive"] / wolves["statements"]),
    }


def _of_suspicion(paper: PublishedValues) -> dict[str, Any]:
    # the seven observers of a Werewolf, the other one as suspicious as can be
    seen = sum(paper.table2[role]["Werewolf"] * seats for role, seats in _SEATS.items())
    wolves, slope = paper.figure1.suspicion["Werewolf"], paper.trends["Werewolf"]["slope"]
    return {
        "doctor_of_wolves": _Share(paper.table2["Doctor"]["Werewolf"]),
        "table2_least": _Share(min(value for row in paper.table2.values() for value in row.values())),
        "final_of_wolves": _Share(paper.figure1.final_round["Werewolf"]["mean"]),
        "final_at_most": _Share((seen + 1) / (sum(_SEATS.values()) + 1)),
        "doctor_by_round": _range(paper.figure1.suspicion["Doctor"]),
        "doctor_average": _Share(paper.table1["Doctor"]["suspicion"]),
        "slope_points": 100 * slope,
        "wolves_first": _Share(wolves["first"]),
        "wolves_last": _Share(wolves["last"]),
        "rounds_of_rise": (wolves["last"] - wolves["first"]) / slope,
        "voting_rounds": paper.per_game["voting_rounds"]["mean"],
    }


def _of_detection(paper: PublishedValues) -> dict[str, Any]:
    overall, printed = counts("overall"), paper.table3["overall"]
    measures, accuracies = overall.measures(), {role: _measures(role)["accuracy"] for role in ROLES}
    flagged = [row["flagged"] for row in paper.table1.values()]
    precisions, recalls = ([paper.table3[role][name] for role in ROLES] for name in ("precision", "recall"))
    return {
        "accuracies_printed": ", ".join(f"{role} {paper.table3[role]['accuracy']:.2f}" for role in ROLES),
        "accuracies_that_follow": ", ".join(f"{role} {accuracies[role]:.3f}" for role in ROLES),
        "best_accuracy": max(accuracies.values()),
        "seer_f1": _measures("Seer")["f1"],
        "seer_f1_printed": paper.table3["Seer"]["f1"],
        "overall_printed": ", ".join(f"{word} {printed[name]:.2f}" for name, word in _RATES.items()),
        "overall_that_follows": ", ".join(f"{word} {measures[name]:.3f}" for name, word in _RATES.items()),
        "constant": measures["constant_accuracy"],
        "text_precision": _range(paper.passing.precision),
        "text_recall": _range(paper.passing.recall),
        "precision_least": min(precisions),
        "precision_most": max(precisions),
        "recall_least": min(recalls),
        "recall_most": max(recalls),
        "flagged_first": _Share(paper.figure1.flagged["first"]),
        "flagged_last": _Share(paper.figure1.flagged["last"]),
        "flagged_in_table3": _Share((overall.tp + overall.fp) / overall.n),
        "flagged_least": _Share(min(flagged)),
        "flagged_most": _Share(max(flagged)),
        "false_alarms": _Share(overall.fp / (overall.fp + overall.tn)),
        "hits": _Share(overall.tp / (overall.tp + overall.fn)),
    }


def _of_scores(paper: PublishedValues) -> dict[str, Any]:
    rates = {role: _measures(role)["base_rate"] for role in ROLES}
    overall = _measures("overall")["base_rate"]
    briers = [row["brier"] for row in paper.table4.values()]
    return {
        "auprc_by_role": ", ".join(
            f"{role} {paper.table4[role]['auprc']:.2f} against {rates[role]:.3f}" for role in ROLES
        ),
        "brier_least": min(briers),
        "brier_most": max(briers),
        "brier_of_base_rate": overall * (1 - overall),
    }


def _of_kinds(paper: PublishedValues) -> dict[str, Any]:
    lies = {kind: row for kind, row in paper.table5.items() if kind != "none"}
    omission, fabrication = paper.table5["omission"], paper.table5["fabrication"]
    return {
        "omission_flagged": _Share(omission["flagged"]),
        "omission_suspicion": _Share(omission["suspicion"]),
        "fabrication_flagged": _Share(fabrication["flagged"]),
        "fabrication_suspicion": _Share(fabrication["suspicion"]),
        "truthful_flagged": _Share(paper.table5["none"]["flagged"]),
        "deceptive_flagged": _mean(lies, "flagged", "count"),
        "suspicion_of_roles": _mean(paper.table1, "suspicion", "statements"),
        "suspicion_of_kinds": _mean(paper.table5, "suspicion", "count"),
    }


def _measures(role: str) -> dict[str, Any]:
    return counts(role).measures()


def _total(rows: Mapping[Any, Row], name: str) -> float:
    return sum(row[name] for row in rows.values())


def _mean(rows: Mapping[Any, Row], name: str, weight: str) -> _Share:
    return _Share(sum(row[name] * row[weight] for row in rows.values()) / _total(rows, weight))


def _range(row: Row) -> str:
    return f"{100 * row['low']:.0f} to {_Share(row['high']):0}"
