"""What may be said: primary metrics tested, headlines with intervals (paper 5.9), biases and retests.

Our intervals resample games, the paper's are mean ± 1.96 SEM. Biases and how deception goes are exploratory.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from analytics import Result
from analytics.measures.primary import LEADS
from analytics.report.caveats import TELLING, WORDS
from analytics.report.context import Context, counted, estimate, look, value
from wolfbus.document.blocks import Block, Cell, Row, Section, TableBlock, columns, plain
from wolfbus.document.formats import count, number, shown


def variability(findings: Result, context: Context) -> Section:
    """Return the table of headlines."""
    found = findings.get("variability") or {}
    metrics = found.get("metrics") or {}
    rows = tuple(_row(name, metric, context) for name, metric in metrics.items() if "/" not in name)
    kind = {"game": "games", "block": "blocks of the design"}.get(str(found.get("block_kind")), "games")
    notes = [
        (
            f"Intervals: bootstrap of {count(found.get('draws') or 0)} draws over "
            f"{count(found.get('blocks') or 0)} {kind}, Wilson's for rates of games; over observers who have to find "
            "out. The paper's way: mean over games ± 1.96 standard errors, over all observers, with the pooled value "
            "over all of them below it."
        ),
    ]
    if (found.get("blocks") or TELLING) < TELLING:
        notes.append(f"Below {TELLING} {kind} nothing is called better than anything else; below 5 have no interval.")
    heads = columns("Headline", "Pooled", "Baseline", "As in the paper")
    table = TableBlock(
        "headlines",
        "Headlines and their variability",
        heads,
        rows,
        tuple(notes),
        empty="It was not computed.",
    )
    return Section("variability", "All headlines and their variability (5.9)", (table,))


_CLEAR: Final[Mapping[str, str]] = {
    "above": "is above its baseline",
    "below": "is below its baseline",
    "unclear": "is not clearly different from its baseline",
    "undefined": "is undefined",
    "few": "rests on too few games to tell",
}


def primary(findings: Result, context: Context) -> Section:
    """Return the primary metrics, each with the sentence that its test allows."""
    found = findings.get("primary") or {}
    rows = []
    for name, row in (found.get("metrics") or {}).items():
        unit, first = str(row.get("unit") or "share"), row.get("agent")
        apart = "points" if unit in {"share", "probability", "points"} else unit
        cells = (
            Cell("–") if name in LEADS else value(row.get("value"), unit, reason="undefined"),
            Cell("–") if row.get("baseline") is None else Cell(shown(row["baseline"], unit)),
            estimate(row.get("difference"), apart),
            value(row.get("p_adjusted"), "score", reason="it is not tested"),
        )
        verdict = str(row.get("verdict") or "undefined")
        if name in LEADS and first:
            who = f"{context.name(first)} before {context.name(str(row.get('second')))} in {LEADS[name]}"
            said = f"{who}: {'clear' if verdict == 'above' else 'not clear'}"
        else:
            said = WORDS.get(name, {}).get(verdict) or f"{_label(name, row)} {_CLEAR[verdict]}"  # type: ignore[call-overload]
        rows.append(Row(Cell(said), cells))
    how = "declared before the study was played" if found.get("declared") else "the usual ones: the study declared none"
    flips = f"{'all ' if found.get('exact') else ''}{count(found.get('flips') or 0)} ways to flip the signs of blocks"
    notes = (
        f"They are {how}. p: {flips}, adjusted for all of them together by the greatest statistic of each flip.",
        "All else on this page is exploratory.",
    )
    heads = columns("Primary metric", "Value", "Baseline", "Difference", "Adjusted p")
    empty = "They were not computed."
    table = TableBlock("primary-table", "What can be said", heads, tuple(rows), notes if rows else (), empty=empty)
    return Section("primary", "What can be said, tested", (table,))


def _row(name: str, metric: Mapping[str, Any], context: Context) -> Row:
    unit = str(metric.get("unit") or "share")
    mean, half = metric.get("paper_mean"), metric.get("paper_half")
    paper, everybody = context.paper("variability", "metrics", name), metric.get("all_observers")
    spread = value(mean, unit, paper=paper, reason="no game defines it, or it is held against a maximum in each game")
    if mean is not None:
        around = "" if half is None else f" ± {100 * half:.1f}" if unit in {"share", "points"} else f" ± {half:.3f}"
        pooled = f"pooled {shown(everybody.get('value'), unit)}" if everybody else ""
        spread = replace(spread, text=spread.text + around, under=pooled)
    baseline = metric.get("baseline")
    told = Cell("–") if baseline is None else Cell(shown(baseline, unit), under=str(metric.get("baseline_label") or ""))
    cells = (estimate(metric, unit), told, spread)
    return Row(Cell(_label(name, metric)), cells)


def _label(name: str, metric: Mapping[str, Any]) -> str:
    label = str(metric.get("label") or name)
    label = label[:1].upper() + label[1:]
    role = name.partition("/")[2]
    return f"{label}, {role}" if role and role not in label else label


_BIASES: Final = {
    "seat": "Suspicion, for each place further in seating order",
    "turn": "Suspicion, for each turn later in the debate",
    "length": "Suspicion, for every ten words more",
    "own_agent": "Suspicion of one's own agent, against others",
    "own_flag": "Flags on one's own agent, against others",
}
_NAMES: Final = 8
"""Names that are shown: those that meet most more, or less, suspicion."""


def bias(findings: Result, _: Context) -> Section:
    """Return biases, test and retest, retention, lies by kind, and thoughts against words."""
    found = findings.get("bias") or {}
    lying = findings.get("lying") or {}
    blocks: list[Block] = [
        plain("Exploratory: among so many some stand out by chance."),
        _biases(found),
        _names(found.get("names") or {}),
        _retest(found.get("retest") or {}),
        _retention(lying),
        _lies(lying),
        _thoughts(lying.get("thoughts") or {}),
    ]
    return Section("bias", "Checks: biases, retests, how deception goes", tuple(blocks))


def _biases(found: Mapping[str, Any]) -> TableBlock:
    rows = tuple(
        Row(Cell(words), (estimate(found[name], "points"),)) for name, words in _BIASES.items() if name in found
    )
    notes = ("0 is no bias. What is due to the role is taken out, and of one's own agent what is due to both agents.",)
    heads = columns("Suspicion and", "Change")
    return TableBlock("biases", "What suspicion should not follow", heads, rows, notes, empty="It was not computed.")


def _names(found: Mapping[str, Any]) -> TableBlock:
    by_name: Mapping[str, Any] = found.get("by_name") or {}
    known = sorted(
        (name for name, row in by_name.items() if row.get("value") is not None),
        key=lambda name: -abs(by_name[name]["value"]),
    )
    rows = tuple(Row(Cell(name), (estimate(by_name[name], "points"),)) for name in known[:_NAMES])
    p = found.get("p")
    notes = (
        "Those furthest from the others. "
        + (f"That no name meets more or less suspicion: p {number(p, 3)}, over all names." if p is not None else ""),
    )
    heads = columns("Name", "Suspicion above that of others")
    return TableBlock("bias-names", "Names", heads, rows, notes, empty="No player's name was judged against others.")


def _retest(found: Mapping[str, Any]) -> TableBlock:
    why = look(found, "difference", "reason") or "there is nothing to compare"
    rows = (
        Row(Cell("Distance of suspicion"), (estimate(found.get("difference"), "points"),)),
        Row(Cell("Equal flags"), (estimate(found.get("agreement")),)),
        Row(Cell("Correlation of suspicion"), (value(found.get("correlation"), "score", reason=why),)),
        Row(Cell("Judgements made twice"), (counted(found.get("n")),)),
    )
    heads = columns("Test and retest", "")
    return TableBlock(
        "retest", "The same words, judged again", heads, rows if found else (), empty="It was not computed."
    )


def _retention(lying: Mapping[str, Any]) -> TableBlock:
    rows = tuple(
        Row(
            Cell(str(row["round"])),
            (estimate(row["werewolves"]), estimate(row["others"]), estimate(row["difference"], "points")),
        )
        for row in lying.get("retention") or ()
    )
    heads = columns("Round", "Suspicion of living Werewolves", "Of living others", "Difference")
    return TableBlock("retention", "Deception retention", heads, rows, empty="No round has such suspicion.")


def _lies(lying: Mapping[str, Any]) -> TableBlock:
    rows = tuple(
        Row(
            Cell(f"{row['kind']}, {row['phase']}, round {row['round']}"),
            (counted(row["claims"]), counted(row["lies"]), counted(row["mistakes"]), estimate(row["share"])),
        )
        for row in lying.get("lies") or ()
    )
    heads = columns("Claim, phase, round", "Checkable", "Lies", "Mistakes", "Share of lies")
    return TableBlock("lies-by-kind", "Lies by kind, phase and round", heads, rows, empty="No claim could be checked.")


def _thoughts(found: Mapping[str, Any]) -> TableBlock:
    rows = tuple(
        Row(Cell(words), (estimate(look(found, name, "contradict")), estimate(look(found, name, "admitted"))))
        for name, words in (("overall", "All"), ("werewolves", "Werewolves"), ("others", "Others"))
        if name in found
    )
    heads = columns("Speakers", "Words that contradict the thought", "Of these, called deceptive")
    return TableBlock("thoughts", "Thought against words", heads, rows, empty="It was not computed.")
