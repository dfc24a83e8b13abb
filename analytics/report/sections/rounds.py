"""Suspicion over the rounds (Figure 1, paper 5.6), around events (5.3), and whether it decides votes (4.5)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any, Final

from analytics import Result, look
from analytics.figures import curves
from analytics.measures.bootstrap import around_mean
from analytics.report.context import Context, Selection, drawing, value
from analytics.report.specs import Line, table, told
from wolfbus.document.blocks import Cell, Section, TableBlock
from wolfbus.document.formats import UNDEFINED, count, number, of, percent
from wolfbus.vocabulary import ROLES

_CHANGES: Final = ("within", "makeup")


def figure1(findings: Result, context: Context) -> Section:
    """Return Figure 1, its numbers, and the trend."""
    data, empty = findings.get("figure1") or {}, "No round has a judgement yet."
    caption, all_of_it = told("rounds/figure1"), "Figure 1's numbers over all observers, as in the paper"
    moved = (
        Line(Cell(f"{role}, round {step['round']}"), {**step, **{name: _change(step, name) for name in _CHANGES}})
        for role, steps in (data.get("moved") or {}).items()
        for step in steps
    )
    everybody = look(findings, "trends", "all_observers", "slopes") or {}
    slopes = {
        role: {**row, "all": everybody.get(role) or row}
        for role, row in (look(findings, "trends", "slopes") or {}).items()
    }
    return Section("figure1", "Figure 1: suspicion over the rounds", (
        drawing("figure1-figure", partial(curves.figure1, findings), caption, data, empty, "figure1-points"),
        _points(findings, context, data, "figure1-points", "Figure 1's numbers"),
        table("rounds/figure1-moved", findings, context, lines=moved),
        _points(findings, context, data.get("all_observers") or {}, "figure1-all", all_of_it),
        table("rounds/figure1-paper", findings, context, lines=_text(context.published.get("figure1") or {})),
        table("rounds/slopes", findings, context, rows=slopes),
        _separable(findings, context),
    ))  # fmt: skip


def _points(findings: Result, context: Context, data: Result, name: str, caption: str) -> TableBlock:
    flags = {row["round"]: row for row in data.get("flagged") or ()}
    smoothed, raw = (
        {(role, point["round"]): point for role in ROLES for point in look(data, kind, role) or ()}
        for kind in ("suspicion", "raw")
    )
    lines = []
    for round_ in sorted({round_ for _, round_ in smoothed} | set(flags)):
        for words, points, flag in (
            (f"Round {round_}", smoothed, flags.get(round_) or {}),
            ("… as it was given, not smoothed", raw, {"share": Cell(UNDEFINED)}),
        ):
            cells = {role: _point(points.get((role, round_)), role, round_) for role in ROLES}
            lines.append(Line(Cell(words), {**cells, **flag}, {"round": round_}))
    return table("rounds/points", findings, context, lines=lines, name=name, caption=caption)


def _point(point: Result | None, role: str, round_: int) -> Cell:
    if point is None or point["mean"] is None:
        return Cell(UNDEFINED, reason="no game has a living pair with a judgement in this round")
    within = around_mean(point["mean"], point["sem"], point["n"])
    return value(point["mean"], n=point["n"], within=within, link=Selection(role=role, round=round_, judged="judged"))


def _change(step: Result, name: str) -> Cell:
    mean, sem = step[name], step[f"{name}_sem"]
    return Cell(f"{100 * mean:+.1f}".replace("-", "−"), "" if sem is None else f"± {100 * sem:.1f}")


def _separable(findings: Result, context: Context) -> TableBlock:
    found = look(findings, "trends", "separable") or {}
    lines = (
        Line(
            Cell(f"Round {row['round']}"),
            {**row, "clear": Cell("yes" if row["low"] is not None and row["low"] > 0 else "no")},
        )
        for row in found.get("rounds") or ()
    )
    first = found.get("round")
    note = (
        told("rounds/no_round", reason=found.get("reason") or "nothing was judged")
        if first is None
        else told("rounds/first_round", round=number(first, 0))
    )
    everybody = look(findings, "trends", "all_observers", "separable", "round")
    note += " " + told("rounds/everybody", round="none" if everybody is None else f"round {everybody}")
    paper = context.paper("trends.separable.round")
    papers = "" if paper is None else told("rounds/paper_round", round=paper)
    return table("rounds/separable", findings, context, lines=lines, notes=(note, papers))


def _text(published: Mapping[str, Any]) -> Iterator[Line]:
    """Yield what the paper's text says of its figure, which has no table."""
    for role in ROLES:
        words, final = look(published, "suspicion", role), look(published, "final_round", role)
        if words or final:
            last = f"{percent(final['mean'])} ± {100 * final['sem']:.1f}" if final else UNDEFINED
            yield Line(Cell(role), {"words": Cell(_course(words)), "last": Cell(last)})
    if flagged := published.get("flagged"):
        yield Line(Cell("Observers that flag"), {"words": Cell(_course(flagged)), "last": Cell(UNDEFINED)})


def _course(words: Mapping[str, float] | None) -> str:
    if not words:
        return UNDEFINED
    if "first" in words:
        return f"rises from {percent(words['first'])} to {percent(words['last'])}"
    return f"stays at {percent(words['low'])} to {percent(words['high'])}"


def events(findings: Result, context: Context) -> Section:
    """Return the two comparisons beside the paper's."""
    nights = [look(findings, "events", "doctor", f"nights_{name}") for name in ("blocked", "killed", "without_attempt")]
    blocked, killed, quiet = (count(night or 0) for night in nights)
    known = any(night is not None for night in nights)
    notes = [told("rounds/nights", blocked=blocked, killed=killed, quiet=quiet)] if known else []
    return Section("events", "Events (5.3)", (table("rounds/events-table", findings, context, notes=notes),))


def votes(findings: Result, context: Context) -> Section:
    """Return the link from suspicion to votes, hits by round, and the counterfactual vote."""
    found = findings.get("votes") or {}
    by_round = [Line(Cell(f"… in round {round_}"), row) for round_, row in (found.get("hits_by_round") or {}).items()]
    unjudged = look(found, "own_argmax", "unjudged")
    notes = [told("rounds/unjudged", votes=of(unjudged, "vote"))] if unjudged else []
    held = count(look(found, "counterfactual", "votes") or 0)
    return Section("votes", "Votes (4.5)", (
        table("rounds/votes-table", findings, context, more=by_round, notes=notes),
        table("rounds/counterfactual", findings, context, votes=held),
    ))  # fmt: skip
