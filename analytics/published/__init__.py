"""What the WOLF paper prints, to stand beside a study's own numbers, and where the paper contradicts itself.

Facts only, arranged by the sections of the findings. Nothing here is ever fitted to: the analytics follows its
definitions, and tests feed it the paper's own counts to see what follows from them.

The numbers are those of `values.toml`, which says what each of them is. Where they contradict each other is in
sentences of `contradictions.toml`, filled in from the paper's own values.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any, Final, TypeAlias

from analytics import Result
from analytics.measures.formulas import Confusion
from wolfbus.package_data import PackageData, Prose, read_data
from wolfbus.vocabulary import ROLES, Deception, Role

Row: TypeAlias = Mapping[str, int | float]


class Figure1(PackageData):
    """Suspicion by round, as the text describes the figure."""

    suspicion: Mapping[Role, Row]
    flagged: Row
    final_round: Mapping[Role, Row]


class Passing(PackageData):
    """What abstract and text say in passing."""

    statements: int
    werewolves: float
    precision: Row
    recall: Row


class PublishedValues(PackageData):
    """All of them, by the section of the findings that they belong to."""

    games: int
    places: Mapping[str, str]
    winners: Mapping[str, Row]
    per_game: Mapping[str, Row]
    production: Row
    table1: Mapping[Role, Row]
    events: Mapping[str, Row]
    table2: Mapping[Role, Row]
    table3: Mapping[str, Row]
    figure1: Figure1
    trends: Mapping[str, Row]
    table4: Mapping[Role, Row]
    table5: Mapping[Deception, Row]
    passing: Passing

    @property
    def roles(self) -> tuple[Role, ...]:
        """The roles that the paper has."""
        return tuple(role for role in ROLES if role in self.table1)


@cache
def values() -> PublishedValues:
    """Return the paper's values.

    Raises:
        ConfigError: their file is not as it should be.
    """
    return read_data("analytics.published", "values", PublishedValues)


_COUNTS: Final = ("tp", "tn", "fp", "fn")
_DETECTION_RATES: Final = {"accuracy": "accuracy", "precision": "precision", "recall": "recall", "f1": "F1"}
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

    The numbers in the sentences are computed from the paper's (`analytics.published`), not copied.

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
    measures, accuracies = overall.measures(), {role: _measures(role)["accuracy"] for role in paper.roles}
    flagged = [row["flagged"] for row in paper.table1.values()]
    precisions, recalls = ([paper.table3[role][name] for role in paper.roles] for name in ("precision", "recall"))
    return {
        "accuracies_printed": ", ".join(f"{role} {paper.table3[role]['accuracy']:.2f}" for role in paper.roles),
        "accuracies_that_follow": ", ".join(f"{role} {accuracies[role]:.3f}" for role in paper.roles),
        "best_accuracy": max(accuracies.values()),
        "seer_f1": _measures("Seer")["f1"],
        "seer_f1_printed": paper.table3["Seer"]["f1"],
        "overall_printed": ", ".join(f"{word} {printed[name]:.2f}" for name, word in _DETECTION_RATES.items()),
        "overall_that_follows": ", ".join(f"{word} {measures[name]:.3f}" for name, word in _DETECTION_RATES.items()),
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
    rates = {role: _measures(role)["base_rate"] for role in paper.roles}
    overall = _measures("overall")["base_rate"]
    briers = [row["brier"] for row in paper.table4.values()]
    return {
        "auprc_by_role": ", ".join(
            f"{role} {paper.table4[role]['auprc']:.2f} against {rates[role]:.3f}" for role in paper.roles
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
