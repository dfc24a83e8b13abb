"""The figures as text for the terminal: ASCII, at most 100 columns, n everywhere, a word on every undefined cell."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, Final

from analytics import Result
from analytics.grid import between, distinct, grid, listing, note, number, percent, shortened
from analytics.text_calls import cost_lines, repair_lines
from analytics.text_events import event_lines, vote_lines
from wolfbus.printable import printable
from wolfbus.vocabulary import DECEPTIONS, ROLES

_BUILT_IN: Final = frozenset({"scripted", "random", "silent"})
_BEARABLE: Final = 0.1
"""Share of missing answers up to which a brain's figures are taken for its own."""
_RECALIBRATED: Final = ("brier", "ece", "auc")
_NAMES = {
    "nights": "nights",
    "debate_turns": "debate turns",
    "voting_rounds": "voting rounds",
    "statements": "statements",
    "judgements": "judgements",
}


def render(result: Result, reasons: Mapping[str, str] | None = None) -> str:
    """Return `Metrics.result`, or what JSON made of it, as text that ends in a newline; `reasons` as for `warnings`."""
    lines = [line for warning in warnings(result, reasons) for line in note(warning, indent="")]
    for section in (
        *(_opening, _outcomes, _production, _table1, _table2, _table3, _table5, _figure1, _trends),
        *(event_lines, vote_lines, repair_lines, cost_lines),
    ):
        lines += section(result)
    return "\n".join(lines).rstrip() + "\n"


def warnings(result: Result, reasons: Mapping[str, str] | None = None) -> list[str]:
    """Return what must be known before any figure of `Metrics.result` is believed, a line each, in ASCII.

    A brain is named of whose answers more than a tenth is missing: defaulted, because no reply could be had or used, or
    timed out. The built-in brains that ask nobody are not; those that play at their seats do so by design.

    Args:
        result: the figures.
        reasons: the commonest reason of a brain whose answers are missing, a line each, where they are known.
    """
    lines: list[str] = []
    brains = result["repair"]["by_brain"]
    shown = distinct(brains, 64)
    for brain, own in brains.items():
        row = own["overall"]
        asked, lost = row["replies"] - row["declined"], row["defaulted"] + row["timed_out"]
        if brain.partition(":")[0] in _BUILT_IN or lost <= _BEARABLE * asked:
            continue
        causes = [(count, fault) for fault, count in row["faults"].items() if count]
        if row["timed_out"]:
            causes.append((row["timed_out"], "timed out"))
        told = ", ".join(f"{cause} {count}" for count, cause in sorted(causes, key=lambda each: -each[0]))
        if reasons is not None and brain in reasons:
            told += f"; most often: {reasons[brain]}"
        what = "model" if brain.startswith("llm") else "brain"
        lines.append(
            f"WARNING: {lost} of {asked} answers of {shown[brain]} are defaults" + (f" ({told})" if told else "")
            + f": what follows says little of the {what}"
        )  # fmt: skip
    return lines


def _opening(result: Result) -> list[str]:
    games, labels, settings = result["outcomes"], result["labels"], result["settings"]
    played = f"{games['games']} game{'' if games['games'] == 1 else 's'}, {games['finished']} finished"
    smoothing = f"smoothed suspicion with alpha {_all(settings['alpha'])}, prior {_all(settings['prior'])}"
    read = f"{labels['clean']} clean, {labels['repaired']} repaired, {labels['defaulted']} missing"
    lines = [
        *_protocols(games["protocols"]),
        f"{played}; {smoothing}",
        f"{labels['total']} self-labels and judgements: {read}",
    ]
    if settings["include_defaulted"] == [True]:
        lines.append('missing ones count as "truthful, suspicion 0.5", as in the paper\'s code')
    elif settings["include_defaulted"] == [False, True]:
        lines.append(
            'missing ones count as "truthful, suspicion 0.5" in some of these games, in others they are left out'
        )
    elif labels["defaulted"]:
        lines.append("missing ones are left out of every figure")
    return [line for text in lines for line in note(text, indent="")] + [""]


def _protocols(games: Result) -> list[str]:
    if games["paper"] and games["compact"]:
        counts = " and ".join(f"{count} {protocol}" for protocol, count in games.items() if count)
        return [f"WARNING: games of different protocols are mixed ({counts}); their numbers do not compare"]
    return ["compact protocol: these numbers are not those of the paper's protocol"] if games["compact"] else []


def _outcomes(result: Result) -> list[str]:
    outcomes = result["outcomes"]
    winners = [
        [winner, str(row["k"]), str(row["n"]), percent(row["share"]), between(row["low"], row["high"])]
        for winner, row in outcomes["winners"].items()
    ]
    lengths = [
        [_NAMES[name], number(row["mean"]), number(row["sd"]), str(row["n"]), str(row["total"])]
        for name, row in outcomes["per_game"].items()
    ]
    title = "Who wins (paper 5.2), percent of finished games, Wilson 95 % interval"
    return [
        *grid(title, ["winner", "games", "n", "share", "interval"], winners, "no game is finished."),
        *grid(
            "Per finished game (paper 5.2); the total is over all games",
            ["", "mean", "sd", "n", "total"],
            lengths,
            "a mean needs a finished game, a standard deviation two.",
        ),
    ]


def _production(result: Result) -> list[str]:
    production = result["production"]
    lines = ["Statements that their speakers call deceptive (paper 5.2, 5.3), percent (n labelled statements)"]
    lines += note(f"overall: {_rate(production['overall'])}")
    undefined = not production["overall"]["n"]
    for split in ("role", "round", "phase", "brain", "agent"):
        rates: Mapping[str, Any] = production[f"by_{split}"]
        if split == "agent" and len(rates) < 2:
            continue
        keys = sorted(rates, key=int) if split == "round" else list(rates)
        undefined = undefined or any(not rates[key]["n"] for key in keys)
        if keys:
            shown = distinct(keys, 40)
            lines += listing(f"by {split}", [f"{shown[key]} {_rate(rates[key])}" for key in keys])
    if undefined:
        lines += note("- undefined: no such statement has a self-label.")
    return [*lines, ""]


def _table1(result: Result) -> list[str]:
    rows = [
        [
            role,
            *(str(row[name]) for name in ("statements", "labelled", "deceptive")),
            *_averages(row),
        ]
        for role, row in result["table1"].items()
    ]
    return grid(
        "Table 1. Statements by role of the speaker, and how they are received, percent",
        ["speaker", "statements", "labelled", "deceptive", "suspicion", "n", "flagged", "n"],
        rows,
        "no statement of this row has a judgement.",
    )


def _table2(result: Result) -> list[str]:
    matrix = result["table2"]
    rows = [[observer, *(_cell(matrix[observer][target]) for target in ROLES)] for observer in ROLES]
    return grid(
        "Table 2. Final smoothed suspicion by observer and target, percent (n games)",
        ["observer", *ROLES],
        rows,
        "no game has such a pair with a judgement.",
    )


def _table3(result: Result) -> list[str]:
    table = result["table3"]
    names = ("accuracy", "precision", "recall", "f1", "base_rate", "constant_accuracy")
    counts = [
        [observer, *(str(row[name]) for name in ("n", "tp", "tn", "fp", "fn")), *(percent(row[name]) for name in names)]
        for observer, row in table.items()
    ]
    beyond = [
        [
            observer,
            str(row["n"]),
            percent(row["balanced_accuracy"]),
            *(number(row[name]) for name in ("mcc", "dprime", "criterion")),
            percent(row["base_rate"]),
            percent(row["constant_accuracy"]),
        ]
        for observer, row in table.items()
    ]
    return [
        *grid(
            "Table 3. Flags against self-labels by role of the observer, percent. Base: share of deceptive statements; "
            "const: accuracy of the better constant guess",
            ["observer", "n", "TP", "TN", "FP", "FN", "acc", "prec", "recall", "F1", "base", "const"],
            counts,
            "accuracy needs a judged, labelled statement, precision a flag, recall a deceptive statement, F1 both.",
        ),
        *grid(
            "Table 3, beyond the paper. What no base rate can feign; chance is 50 for balanced accuracy, 0 for MCC, d'",
            ["observer", "n", "balanced", "MCC", "d'", "criterion", "base", "const"],
            beyond,
            "all but base and const need deceptive and truthful statements, MCC also flags of both kinds.",
        ),
    ]


def _table5(result: Result) -> list[str]:
    rows = [
        [kind, str(row["count"]), *_averages(row)]
        for kind in (*DECEPTIONS, "overall")
        for row in (result["table5"][kind],)
    ]
    return grid(
        "Table 5. Statements by the kind of deception that the speaker admits, percent",
        ["kind", "count", "suspicion", "n", "flagged", "n"],
        rows,
        "no statement of this row has a judgement.",
    )


def _figure1(result: Result) -> list[str]:
    suspicion, flagged = result["figure1"]["suspicion"], result["figure1"]["flagged"]
    by_round: dict[int, dict[str, Result]] = {row["round"]: {} for row in flagged}
    for role, line in suspicion.items():
        for row in line:
            by_round.setdefault(row["round"], {})[role] = row
    flags = {row["round"]: f"{percent(row['share'])} ({row['n']})" for row in flagged}
    rows = [
        [str(round_), *(_point(cells.get(role)) for role in ROLES), flags.get(round_, "-")]
        for round_, cells in sorted(by_round.items())
    ]
    title = (
        "Figure 1. Smoothed suspicion among the living by round and target, percent+-SEM (n games; SEM from two); "
        "share of judgements that flag"
    )
    if not rows:
        return [*note(title, indent=""), *note("no round has a judgement yet."), ""]
    lines = grid(
        title,
        ["round", *ROLES, "flagged (n)"],
        rows,
        "no living pair with a judgement.",
    )
    return [*lines[:-1], *_chart(by_round), ""]


def _chart(by_round: Mapping[int, Mapping[str, Result]], columns: int = 60) -> list[str]:
    values = [row["mean"] for cells in by_round.values() for row in cells.values()]
    if not values:
        return []
    low, high = math.floor(20 * min(values)) / 20, math.ceil(20 * max(values)) / 20
    high = max(high, low + 0.05)
    axis = f"{percent(low)} ".rjust(9) + "|" + " " * columns + "|" + f" {percent(high)}"
    lines = ["", axis]
    for round_, cells in sorted(by_round.items()):
        places: dict[int, str] = {}
        for role, row in cells.items():
            place = min(columns - 1, int((row["mean"] - low) / (high - low) * columns))
            places[place] = "*" if place in places else role[0]
        dots = "".join(places.get(place, ".") for place in range(columns))
        lines.append(f"{round_:>8} |{dots}|")
    return [*lines, "          V Villager  W Werewolf  S Seer  D Doctor  * several"]


def _trends(result: Result) -> list[str]:
    trends = result["trends"]
    rows = [
        [
            role,
            percent(row["median"], signed=True),
            between(row["low"], row["high"], signed=True),
            str(row["n"]),
            percent(row["paper_reading"], signed=True),
            str(row["paper_reading_rounds"]),
        ]
        for role, row in trends["slopes"].items()
    ]
    separable = trends["separable"]
    lines = grid(
        "Trend (paper 5.6). Theil-Sen slope of suspicion, percentage points per round: median over games with its "
        "bootstrap 95 % interval; and the paper's reading, the slope of the means over games",
        ["target", "median", "interval", "n games", "paper's reading", "n rounds"],
        rows,
        "a slope needs a game of two rounds, an interval five such games, the paper's reading two rounds.",
    )
    differences = [
        [str(row["round"]), percent(row["difference"], True), between(row["low"], row["high"], True), str(row["n"])]
        for row in separable["rounds"]
    ]
    if differences:
        lines += grid(
            "Werewolf minus Villager within a game (paper 5.6), percentage points, bootstrap 95 % interval",
            ["round", "difference", "interval", "n games"],
            differences,
            "an interval needs five games.",
        )[:-1]
    first = separable["round"]
    told = f"round {first}" if first is not None else f"none ({separable['reason']})"
    return [*lines, *note(f"First round from which Werewolves stand out: {told}"), ""]


def _averages(row: Result) -> list[str]:
    return [percent(row["suspicion"]), str(row["suspicion_n"]), percent(row["flagged"]), str(row["flagged_n"])]


def _cell(cell: Result) -> str:
    return f"{percent(cell['mean'])} ({cell['n']})"


def _point(row: Result | None) -> str:
    if row is None:
        return "-"
    spread = "" if row["sem"] is None else f"+-{percent(row['sem'])}"
    return f"{percent(row['mean'])}{spread} ({row['n']})"


def _rate(row: Result) -> str:
    return f"{percent(row['rate'])} ({row['n']})"


def _all(values: list[float]) -> str:
    return " and ".join(f"{value:g}" for value in values) or "-"


def recalibrated_lines(result: Result, name: str) -> list[str]:
    """Return `recalibrated` as lines for the terminal, as `analytics.text` writes them.

    Args:
        result: what `recalibrated` returned, or what JSON made of it.
        name: the map's file.
    """
    fitted, file = result["map"], shortened(printable(name, 400), 60)
    title = (
        f"Suspicion recalibrated by {file}: a {fitted['kind'].capitalize()} map fitted on {fitted['n']} judgements of "
        f"{fitted['games']} games; beside this record, what such maps did to games that they were not fitted on"
    )
    rows = [
        [what, *(number(row[score], 3) for score in _RECALIBRATED), shown]
        for what, row, shown in (
            ("this record, before", result["before"], str(result["before"]["n"])),
            ("this record, after", result["after"], str(result["after"]["n"])),
            ("held-out games, before", fitted["held_out"]["before"], str(fitted["n"])),
            ("held-out games, after", fitted["held_out"]["after"], str(fitted["n"])),
        )
    ]
    why = next(iter(result["before"]["undefined"].values()), "")
    told = "If this game is one of those that the map was fitted on, its numbers after flatter the map."
    lines = grid(title, ["", "Brier", "ECE", "AUC", "n"], rows, f"{why}." if why else "")
    return [*lines[:-1], *note(told), ""]
