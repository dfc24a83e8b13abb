"""What suspicion follows beside what is said, and how deception goes; all of it exploratory."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from analytics import Result
from analytics.report.cells import counted, estimate, look, value
from analytics.report.context import Context
from wolfbus.document.blocks import Block, Cell, Row, Section, TableBlock, columns, plain
from wolfbus.document.formats import number

_ROWS: Final = {
    "seat": "Suspicion, for each place further in seating order",
    "turn": "Suspicion, for each turn later in the debate",
    "length": "Suspicion, for every ten words more",
    "own_agent": "Suspicion of one's own agent, against others",
    "own_flag": "Flags on one's own agent, against others",
}
_NAMES: Final = 8
"""Names that are shown: those that meet most more, or less, suspicion."""


def section(findings: Result, _: Context) -> Section:
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
    rows = tuple(Row(Cell(words), (estimate(found[name], "points"),)) for name, words in _ROWS.items() if name in found)
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
