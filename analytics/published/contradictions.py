"""Where the paper's numbers contradict each other, worked out from its own values."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final, TypedDict

from analytics.measures.formulas import Confusion
from analytics.published.values import (
    ABSTRACT_STATEMENTS,
    ABSTRACT_WEREWOLVES,
    BASE_RATE,
    FIGURE_1,
    FINAL_ROUND,
    FLAGGED,
    GAMES,
    PER_GAME,
    SLOPE,
    TABLE_1,
    TABLE_2,
    TABLE_3,
    TABLE_4,
    TABLE_5,
    TEXT_PRECISION,
    TEXT_RECALL,
    Row,
)
from wolfbus.vocabulary import ROLES, Role

_COUNTS: Final = ("tp", "tn", "fp", "fn")
_SEATS: Final[Mapping[Role, int]] = {"Villager": 4, "Seer": 1, "Doctor": 1}
"""Seats a game but for the Werewolves' (paper, section 3)."""


class Contradiction(TypedDict):
    """One place where the paper cannot be right everywhere.

    Keys:
        where: sections of the findings that it concerns.
        says: what the paper says, a sentence.
        but: what else it says, or what follows from its own numbers, a sentence.
        ours: what is done here, a sentence.
    """

    where: tuple[str, ...]
    says: str
    but: str
    ours: str


def contradictions() -> list[Contradiction]:
    """Return every contradiction that was found, in the order of the paper.

    The numbers in the sentences are computed from the paper's (`analytics.published.values`), not copied.
    """
    return [
        *_statements(),
        *_shares(),
        *_table2(),
        *_table3(),
        *_figure1(),
        *_table4(),
        *_table5(),
    ]


def counts(role: str) -> Confusion:
    """Return Table 3's counts of a role, or of ``overall``."""
    row = TABLE_3[role]
    return Confusion(**{name: int(row[name]) for name in _COUNTS})


def _statements() -> Iterable[Contradiction]:
    mean, total = PER_GAME["statements"]["mean"], PER_GAME["statements"]["total"]
    in_table_1, in_table_5 = int(_total(TABLE_1.values(), "statements")), int(_total(TABLE_5.values(), "count"))
    yield {
        "where": ("outcomes", "table1", "table5"),
        "says": f"The abstract counts {ABSTRACT_STATEMENTS:,} statements in {GAMES} games.",
        "but": f"Section 5.2 and Table 1 have {in_table_1}, Table 5 has {in_table_5}, and {mean} a game (section 5.2) "
        f"would be {mean * GAMES:,.0f}; {total} are {total / mean:.0f} games of {mean}.",
        "ours": "Every mean here has its own number of statements beside it.",
    }


def _shares() -> Iterable[Contradiction]:
    in_table_1 = _total(TABLE_1.values(), "deceptive") / _total(TABLE_1.values(), "statements")
    in_table_5 = 1 - TABLE_5["none"]["count"] / _total(TABLE_5.values(), "count")
    judged = counts("overall").measures()["base_rate"]
    wolves = TABLE_1["Werewolf"]
    yield {
        "where": ("production", "table1", "table3", "table5"),
        "says": f"Section 5.2 has {_percent(BASE_RATE)} of statements labelled deceptive.",
        "but": f"Table 1 gives {_percent(in_table_1)}, Table 5 {_percent(in_table_5)}; of Table 3's judgements "
        f"{_percent(judged)} are of deceptive statements.",
        "ours": "One base rate, over the statements whose self-label counts, and beside each detection score the rate "
        "among the judgements that it is over.",
    }
    yield {
        "where": ("production", "table1"),
        "says": f"Abstract and section 6 have Werewolves deceive in {_percent(ABSTRACT_WEREWOLVES, 0)} of turns.",
        "but": f"Table 1 has {wolves['deceptive']} deceptive statements of {wolves['statements']}, which is "
        f"{_percent(wolves['deceptive'] / wolves['statements'], 0)}.",
        "ours": "The rate by role is over that role's labelled statements.",
    }


def _table2() -> Iterable[Contradiction]:
    least = min(value for row in TABLE_2.values() for value in row.values())
    yield {
        "where": ("table2",),
        "says": 'Section 5.4 reads out of Table 2 that "Werewolves rate each other at nearly 59 %", and how Villagers '
        "suspect each other.",
        "but": f"The table leaves both out; its {_percent(TABLE_2['Doctor']['Werewolf'])} is the Doctor's suspicion of "
        f"Werewolves. Its values begin at {_percent(least)}, not at the 50 % of the text.",
        "ours": "Villager-Villager and Werewolf-Werewolf are filled in.",
    }
    # the seven observers of a Werewolf, the other one as suspicious as can be
    highest = (sum(TABLE_2[role]["Werewolf"] * n for role, n in _SEATS.items()) + 1) / (sum(_SEATS.values()) + 1)
    yield {
        "where": ("table2", "figure1"),
        "says": f"Section 5.9 has final suspicion of Werewolves at {_percent(FINAL_ROUND['Werewolf']['mean'])}.",
        "but": "By Table 2, also at the end of the game, the mean over the seven observers of a Werewolf would be "
        f"{_percent(highest)} at most, if the other Werewolf, whom the table leaves out, suspected it by 100 %.",
        "ours": "Table 2 is over all ordered pairs of a game with their final D, Figure 1 over the pairs alive in each "
        "round; both say how many games they are over.",
    }


def _table3() -> Iterable[Contradiction]:
    rows = {role: counts(role).measures() for role in TABLE_3}
    printed = ", ".join(f"{role} {TABLE_3[role]['accuracy']:.2f}" for role in ROLES)
    follows = ", ".join(f"{role} {_decimals(rows[role]['accuracy'])}" for role in ROLES)
    overall, said = rows["overall"], TABLE_3["overall"]
    yield {
        "where": ("table3", "variability"),
        "says": f"Table 3 prints accuracies of {printed}.",
        "but": f"From its own counts follow {follows}. Precision, recall and F1 do follow, but for "
        f"the Seer's F1 ({_decimals(rows['Seer']['f1'])}, printed {TABLE_3['Seer']['f1']:.2f}).",
        "ours": "Every rate is computed from the counts beside it.",
    }
    names = (("accuracy", "accuracy"), ("precision", "precision"), ("recall", "recall"), ("f1", "F1"))
    yield {
        "where": ("table3", "variability"),
        "says": f"Table 3's Overall row has {', '.join(f'{word} {said[name]:.2f}' for name, word in names)}.",
        "but": f"From its counts follow {', '.join(f'{word} {_decimals(overall[name])}' for name, word in names)}; its "
        f"recall lies below that of every role in the table.",
        "ours": "The overall row is over the pooled counts.",
    }
    yield {
        "where": ("table3", "variability"),
        "says": 'Section 6 has observers detect lies "only moderately well".',
        "but": f'Always saying "deceptive" would have been right in {_decimals(overall["constant_accuracy"])} of Table '
        f"3's judgements, more than any role was ({_decimals(max(rows[role]['accuracy'] for role in ROLES))} at best).",
        "ours": "Base rate, the better constant guess, balanced accuracy, MCC and d′ stand beside accuracy.",
    }
    precisions = [TABLE_3[role]["precision"] for role in ROLES]
    recalls = [TABLE_3[role]["recall"] for role in ROLES]
    yield {
        "where": ("table3",),
        "says": f"Section 5.5 gives precision as {_range(TEXT_PRECISION)} and recall as {_range(TEXT_RECALL)}.",
        "but": f"By role Table 3 has precisions from {min(precisions):.2f} to {max(precisions):.2f} and recalls from "
        f"{min(recalls):.2f} to {max(recalls):.2f}.",
        "ours": "Text and tables come from the same findings.",
    }


def _figure1() -> Iterable[Contradiction]:
    overall = counts("overall")
    flagged = (overall.tp + overall.fp) / overall.n
    by_role = [row["flagged"] for row in TABLE_1.values()]
    yield {
        "where": ("figure1", "table1", "table3"),
        "says": f"Section 5.6 has {_percent(FLAGGED['first'], 0)} of observers flagging in early rounds and "
        f"{_percent(FLAGGED['last'], 0)} at the end.",
        "but": f"Of Table 3's judgements {_percent(flagged)} flag, and every role's average in Table 1 is above that "
        f"({_percent(min(by_role))} to {_percent(max(by_role))}).",
        "ours": "The share by round and Table 3 count the same judgements, but that Table 3 needs a self-label too.",
    }
    doctor, average = FIGURE_1["Doctor"], TABLE_1["Doctor"]["suspicion"]
    yield {
        "where": ("figure1", "table1"),
        "says": f"Section 5.6 keeps suspicion of the Doctor at {_range(doctor)}.",
        "but": f"In Table 1 the Doctor is suspected most of all roles, at {_percent(average)} on average.",
        "ours": "Both are defined here: Table 1 has each statement's stated suspicion, Figure 1 smoothed suspicion D.",
    }
    wolves = FIGURE_1["Werewolf"]
    rise, per_round = wolves["last"] - wolves["first"], f"{100 * SLOPE:.1f} points"
    yield {
        "where": ("trends", "figure1"),
        "says": f"Section 5.6 has a slope of {per_round} a round and a rise from {_percent(wolves['first'], 0)} to "
        f"{_percent(wolves['last'], 0)}.",
        "but": f"At that slope the rise takes {rise / SLOPE:.1f} rounds, and games have "
        f"{PER_GAME['voting_rounds']['mean']} voting rounds on average (section 5.2).",
        "ours": "The slope is the median over games of each game's own, with its interval; the slope of the per-round "
        "means, in which rounds of few long games weigh as much as others, stands beside it.",
    }


def _table4() -> Iterable[Contradiction]:
    rates = {role: counts(role).measures()["base_rate"] for role in ROLES}
    beside = ", ".join(f"{role} {TABLE_4[role]['auprc']:.2f} against {_decimals(rates[role])}" for role in ROLES)
    overall = counts("overall").measures()["base_rate"]
    briers = [row["brier"] for row in TABLE_4.values()]
    yield {
        "where": ("table4", "curves"),
        "says": "Section 5.7 takes AUPRC near 0.75 for usable signal.",
        "but": f"Guessing reaches the base rate. AUPRC against that of Table 3's counts: {beside}.",
        "ours": "AUPRC stands beside the base rate and their difference.",
    }
    yield {
        "where": ("table4",),
        "says": f"Section 5.7 reads Brier scores of {min(briers):.2f} to {max(briers):.2f} as a predictive signal.",
        "but": f"Always saying 0.5 scores 0.25, and always the base rate of Table 3 scores "
        f"{_decimals(overall * (1 - overall))}: all are worse than both.",
        "ours": "The Brier skill score is against the base rate.",
    }
    yield {
        "where": ("table4", "production"),
        "says": "Section 4.5 chooses AUPRC because deception is rare compared to truth.",
        "but": f"By sections 5.2 and 5.3 it is the rule: {_percent(BASE_RATE)} of statements.",
        "ours": "Scores have their base rate beside them, whichever class is rare.",
    }


def _table5() -> Iterable[Contradiction]:
    lies = [row for kind, row in TABLE_5.items() if kind != "none"]
    truthful, lied = TABLE_5["none"]["flagged"], _mean(lies, "flagged", "count")
    overall = counts("overall")
    alarms, hits = overall.fp / (overall.fp + overall.tn), overall.tp / (overall.tp + overall.fn)
    omission, fabrication = TABLE_5["omission"], TABLE_5["fabrication"]
    yield {
        "where": ("table5",),
        "says": "Section 5.8 concludes that omissions slip by and fabrications are flagged more reliably.",
        "but": f"In Table 5 omissions are flagged most ({_percent(omission['flagged'])}, suspicion "
        f"{_percent(omission['suspicion'])}) and fabrications less ({_percent(fabrication['flagged'])}, "
        f"{_percent(fabrication['suspicion'])}).",
        "ours": "The table has both columns with the number of statements behind each.",
    }
    yield {
        "where": ("table5", "table3"),
        "says": f"Table 5 has truthful statements flagged more often ({_percent(truthful)}) than deceptive ones "
        f" ({_percent(lied)} over all kinds).",
        "but": f"By Table 3 it is the other way round: {_percent(alarms)} of judgements of truthful statements flag, "
        f"and {_percent(hits)} of those of deceptive ones.",
        "ours": "Both tables are over the same self-labels; one averages over statements, one pools judgements.",
    }
    of_roles, of_kinds = (
        _mean(TABLE_1.values(), "suspicion", "statements"),
        _mean(TABLE_5.values(), "suspicion", "count"),
    )
    yield {
        "where": ("table1", "table5"),
        "says": f"Table 1's average suspicion over all statements is {_percent(of_roles)}.",
        "but": f"Table 5's is {_percent(of_kinds)}.",
        "ours": "Both have an overall row; they differ only by statements without a self-label that counts.",
    }


def _total(rows: Iterable[Row], name: str) -> float:
    return sum(row[name] for row in rows)


def _mean(rows: Iterable[Row], name: str, weight: str) -> float:
    held = list(rows)
    return sum(row[name] * row[weight] for row in held) / _total(held, weight)


def _percent(share: float, places: int = 1) -> str:
    return f"{100 * share:.{places}f} %"


def _decimals(value: float) -> str:
    return f"{value:.3f}"


def _range(row: Row) -> str:
    return f"{100 * row['low']:.0f} to {_percent(row['high'], 0)}"
