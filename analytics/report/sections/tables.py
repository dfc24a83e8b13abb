"""The paper's tables and figures, each with the baselines and intervals that it needs.

Who wins, how long games are, how often speakers deceive (paper 5.2, 5.3); Tables 1, 2, 3 and 5 (5.3, 5.4, 5.5, 5.8);
what is objectively true beside the self-label; suspicion as a probability: Table 4, ROC curves, thresholds and
recalibration (4.5, 5.7); suspicion over the rounds (Figure 1, 5.6), around events (5.3), and whether it decides votes
(4.5).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, Final, get_args

from analytics import Result, look
from analytics.figures import curves
from analytics.figures.curves import SCORE_WORDS, reliability, roc
from analytics.figures.tables import confusion, production_by_role, suspicion_heatmap, win_shares
from analytics.metrics.bootstrap import mean_interval
from analytics.report.context import Context, Selection, drawing, metric, over_all, value_cell
from analytics.report.specs import Line, phrase, roles_of, table
from wolfbus.claims import kind_named
from wolfbus.files.document import Block, Cell, Heading, Section, TableBlock, note, plain
from wolfbus.files.formats import UNDEFINED, count, in_unit, number, percent
from wolfbus.files.printable import counted
from wolfbus.game.vocabulary import ROLES, Verdict

if TYPE_CHECKING:
    from analytics.metrics.scores import Score

_SPLITS: Final[Mapping[str, Mapping[str, Any]]] = {
    "role": {"split_name": "Role", "of": "the speaker's role", "by": "role", "paper": "base_rate"},
    "brain": {"split_name": "Agent", "of": "the speaker's agent", "by": "agent"},
    "round": {"split_name": "Round", "of": "round", "by": "round"},
    "phase": {"split_name": "Phase", "of": "phase", "by": "phase"},
}


def outcomes(findings: Result, context: Context) -> Section:
    """Return outcomes, lengths and production."""
    won, produced = partial(win_shares, findings), partial(production_by_role, findings)
    caption = "Statements that their speakers call deceptive, by role."
    nobody = "Nobody in these roles has said anything."
    return Section("outcomes", "Outcomes and deception (5.2, 5.3)", (
        drawing(
            "wins", won, "Who won the finished games.", findings.get("outcomes"), "No game is finished.", "winners",
        ),
        table("tables/winners", findings, context),
        table("tables/lengths", findings, context),
        Heading("How often speakers call their own statements deceptive", "production"),
        drawing("production-figure", produced, caption, findings.get("production"), nobody, "production-role"),
        *(table("tables/production", findings, context, split=split, **words) for split, words in _SPLITS.items()),
    ))  # fmt: skip


_COUNTS: Final = frozenset({"tp", "tn", "fp", "fn"})


def table1(findings: Result, context: Context) -> Section:
    """Return Table 1 in the paper's layout, with denominators beside it."""
    return Section("table1", "Table 1: deception by role", (table("tables/table1-table", findings, context),))


def table2(findings: Result, context: Context) -> Section:
    """Return Table 2 and its heat map."""
    heat = partial(suspicion_heatmap, findings)
    needs = findings.get("table2")
    gaps = {
        name: {"uninformed": metric(findings, name), "all": over_all(findings, name)}
        for name in ("suspicion_gap", "raw_suspicion_gap")
        if metric(findings, name)
    }
    return Section("table2", "Table 2: who suspects whom", (
        table("tables/table2-table", findings, context),
        drawing("heatmap", heat, "Table 2 as a heat map.", needs, table="table2-table"),
        table("tables/gap", findings, context, rows=gaps),
    ))  # fmt: skip


def table3(findings: Result, context: Context) -> Section:
    """Return Table 3 in the paper's layout, then its baselines, and the counts as a figure."""
    counts = "Table 3's counts by role of the observer."
    drawn = drawing("confusion", partial(confusion, findings), counts, findings.get("table3"), table="table3-table")
    grounds = note(
        "Self-labels are the paper's ground truth; detection against what is objectively true is under “Truth”."
    )
    published = context.published.get("table3") or {}
    rates = {role: {**row, **_rates(row)} for role, row in published.items() if set(row) >= _COUNTS}
    with_rates = replace(context, published={**context.published, "table3": rates})
    return Section("table3", "Table 3: who detects deception", (
        table("tables/table3-table", findings, context),
        table("tables/table3-baselines", findings, with_rates),
        drawn,
        grounds,
    ))  # fmt: skip


def _rates(row: Mapping[str, Any]) -> dict[str, float]:
    """Return what the paper's counts make of the base rate and of the better constant guess."""
    tp, tn, fp, fn = row["tp"], row["tn"], row["fp"], row["fn"]
    rate = (tp + fn) / (tp + tn + fp + fn)
    return {"base_rate": rate, "constant_accuracy": max(rate, 1 - rate)}


_RULES: Final = {"youden": "Youden's", "best_f1": "Best F1"}
_UNFITTED: Final = {
    "at_half": ("0.5, fitted to nothing", "0.500"),
    "flags": ("The observers' own flags", "none"),
}
"""What is held against the fitted thresholds: its head, and what stands for a threshold."""
_MAPS: Final = {"platt": "Platt's map", "isotonic": "isotonic map"}


def calibration(findings: Result, context: Context) -> Section:
    """Return curves, thresholds and recalibration for both scores."""
    points = (
        Line(Cell(words.capitalize()), dict(zip(("false", "hits", "threshold"), point, strict=True)))
        for score, words in SCORE_WORDS.items()
        for point in look(findings, "curves", score, "overall", "roc") or ()
    )
    return Section("calibration", "Curves, thresholds, recalibration (4.5, 5.7)", (
        drawing(
            "roc", partial(roc, findings), phrase("calibration/roc"), findings.get("curves"), table="roc-points",
        ),
        *(_thresholds(findings, context, score) for score in SCORE_WORDS),
        *_recalibration(findings, context),
        table("calibration/roc-points", findings, context, lines=points),
    ))  # fmt: skip


def _thresholds(findings: Result, context: Context, score: Score) -> TableBlock:
    lines: list[Line] = []
    reasons: list[str] = []
    needs = phrase("calibration/needs")
    by_rule = {rule: look(findings, "thresholds", score, rule) or {} for rule in _RULES}
    for rule, label in _RULES.items():
        row = by_rule[rule]
        if row.get("reason"):
            reasons.append(f"{label}: {row['reason']}.")
        if row:
            why = row.get("reason") or needs
            folds = row.get("fold_thresholds")
            under = f"folds {in_unit(min(folds), 'score')} to {in_unit(max(folds), 'score')}" if folds else ""
            median = value_cell(row.get("threshold"), "score", reason=why)
            cells = {"median": median if median.reason else Cell(median.text, under), "scored": row.get("held_out")}
            lines.append(Line(Cell(f"{label} (held out)"), {**row, **cells}, {"rule": rule, "why": why}))
    for rule, (label, threshold) in _UNFITTED.items():
        scored = next(filter(None, (look(row, rule) for row in by_rule.values())), None)
        if scored:
            cells = {"median": Cell(threshold), "all_games": Cell(threshold), "scored": scored}
            lines.append(Line(Cell(label), cells, {"rule": rule, "why": needs}))
    words: Mapping[str, Any] = {"score": score, "words": SCORE_WORDS[score]}
    return table("calibration/thresholds", findings, context, lines=lines, notes=dict.fromkeys(reasons), **words)


def _recalibration(findings: Result, context: Context) -> Iterator[Block]:
    recalibration = findings.get("recalibration") or {}
    fitted = {kind: recalibration[kind] for kind in _MAPS if recalibration.get(kind)}
    lines = [
        Line(Cell(_MAPS[kind][:1].upper() + _MAPS[kind][1:]), row.get("after"), {"kind": kind, "when": "after"})
        for kind, row in fitted.items()
    ]
    for kind, row in list(fitted.items())[:1]:
        lines.insert(0, Line(Cell("As stated"), row.get("before"), {"kind": kind, "when": "before"}))
    folds = count(recalibration.get("folds") or 0)
    blocks = count(recalibration.get("blocks") or 0)
    why = recalibration.get("reason") or "it was not computed"
    words: Mapping[str, Any] = {"folds": folds, "blocks": blocks, "why": why}
    yield table("calibration/recalibration-table", findings, context, lines=lines, **words)
    for kind, row in fitted.items():
        bins = row.get("reliability") or ()
        if bins:
            ranges = (Line(Cell(f"{part['low']:.3f} to {part['high']:.3f}"), part) for part in bins)
            label = ("the " if kind == "isotonic" else "") + _MAPS[kind]
            yield table("calibration/recalibrated", findings, context, lines=ranges, kind=kind, label=label)


def table4(findings: Result, context: Context) -> Section:
    """Return Table 4 for both scores, by observer and by speaker, and the reliability diagrams."""
    blocks: list[Block] = [plain(phrase("calibration/chance"))]
    for score, words in SCORE_WORDS.items():
        blocks.append(Heading(words.capitalize(), f"table4-{score}"))
        blocks += [_table4(findings, context, score, side) for side in ("observer", "speaker")]
        caption = phrase("calibration/reliability", score=words)
        needs = look(findings, "table4", score)
        blocks.append(drawing(f"reliability-{score}", partial(reliability, findings, score), caption, needs))
    return Section("table4", "Table 4: is suspicion a probability?", tuple(blocks))


def _table4(findings: Result, context: Context, score: Score, side: str) -> TableBlock:
    papers, by_observer = (score, side) == ("suspicion", "observer"), side == "observer"
    words: Mapping[str, Any] = {
        "score": score,
        "side": side,
        "words": SCORE_WORDS[score].capitalize(),
        "title": "Table 4. " if papers else "Beside Table 4: ",
        "published": "table4" if papers else "unpublished",
        "total": f"table4.{score}.overall" if by_observer else "",
        # headline metrics are over observers
        "suffix": ("" if score == "suspicion" else "_before") if by_observer else "_by_speaker",
    }
    notes = [phrase("calibration/whose")] if papers else []
    return table("calibration/table4", findings, context, notes=notes, **words)


def table5(findings: Result, context: Context) -> Section:
    """Return Table 5 in the paper's layout."""
    return Section("table5", "Table 5: kinds of deception", (table("tables/table5-table", findings, context),))


_SOURCES: Final = {
    "given": "attached, and heard in the words",
    "unheard": "attached only",
    "extracted": "found in the words",
}
_GROUNDS: Final = {
    "against_role": "speaker a werewolf",
    "against_truth": "statement a lie",
    "against_label": "self-label deceptive",
}


def truth(findings: Result, context: Context) -> Section:
    """Return truth by role and agent, and detection against it."""
    detection = look(findings, "truth", "detection") or {}
    lines = [
        Line(Cell(f"{role}: {words}"), row[ground], {"path": f"by_observer.{role}.{ground}"})
        for role, row in (detection.get("by_observer") or {}).items()
        for ground, words in _GROUNDS.items()
        if look(row, ground)
    ]
    mistakes, notes = detection.get("mistakes") or {}, []
    if mistakes.get("flagged") is not None:
        flagged = percent(mistakes["flagged"])
        notes.append(phrase("truth/mistakes", judgements=counted(mistakes["n"], "judgement"), flagged=flagged))
    asked_along = sum(look(findings, "outcomes", "labels", name) or 0 for name in ("with", "both"))
    times = [table("truth/label-times", findings, context, by=by) for by in ("role", "agent")] if asked_along else []
    return Section("truth", "Truth: lies told, admitted, detected", (
        plain(phrase("truth/intro")),
        table("truth/truth", findings, context, by="role"),
        table("truth/truth", findings, context, by="agent"),
        table("truth/stances", findings, context, by="role"),
        table("truth/stances", findings, context, by="agent"),
        *times,
        table("truth/truth-detection", findings, context, more=lines, notes=notes),
        _claims(findings, context),
    ))  # fmt: skip


def _claims(findings: Result, context: Context) -> TableBlock:
    """Return how many claims of each kind were attached by speakers and found in their words, and their verdicts."""
    return table("truth/claims", findings, context, lines=_of_kinds(look(findings, "claims", "by_kind") or {}))


def _of_kinds(kinds: Mapping[str, Any]) -> Iterator[Line]:
    rows = {
        f"{kind_named(kind).label}, {words}": look(row, source) or {}
        for kind, row in kinds.items()
        for source, words in _SOURCES.items()
    }
    yield from (Line(Cell(head), row) for head, row in rows.items())
    if rows:
        sums = {name: sum(row.get(name) or 0 for row in rows.values()) for name in ("n", *get_args(Verdict))}
        yield Line(Cell("All"), sums, total=True)


_CHANGES: Final = ("within", "makeup")


def figure1(findings: Result, context: Context) -> Section:
    """Return Figure 1, its numbers, and the trend."""
    data, empty = findings.get("figure1") or {}, "No round has a judgement yet."
    caption, all_of_it = phrase("rounds/figure1"), "Figure 1's numbers over all observers, as in the paper"
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
        table("rounds/figure1-paper", findings, context, lines=_paper_lines(context.published.get("figure1") or {})),
        table("rounds/slopes", findings, context, rows=slopes),
        _separable(findings, context),
    ))  # fmt: skip


def _points(findings: Result, context: Context, data: Result, name: str, caption: str) -> TableBlock:
    flags = {row["round"]: row for row in data.get("flagged") or ()}
    smoothed, raw = (
        {(role, point["round"]): point for role in roles_of(findings) for point in look(data, kind, role) or ()}
        for kind in ("suspicion", "raw")
    )
    lines = []
    for round_ in sorted({round_ for _, round_ in smoothed} | set(flags)):
        for words, points, flag in (
            (f"Round {round_}", smoothed, flags.get(round_) or {}),
            ("… as it was given, not smoothed", raw, {"share": Cell(UNDEFINED)}),
        ):
            cells = {role: _point(points.get((role, round_)), role, round_) for role in roles_of(findings)}
            lines.append(Line(Cell(words), {**cells, **flag}, {"round": round_}))
    return table("rounds/points", findings, context, lines=lines, name=name, caption=caption)


def _point(point: Result | None, role: str, round_: int) -> Cell:
    if point is None or point["mean"] is None:
        return Cell(UNDEFINED, reason="no game has a living pair with a judgement in this round")
    within = mean_interval(point["mean"], point["sem"], point["n"])[:2]
    link = Selection(role=role, round=round_, judged="judged")
    return value_cell(point["mean"], n=point["n"], within=within, link=link)


def _change(step: Result, name: str) -> Cell:
    mean, sem = step[name], step[f"{name}_sem"]
    return Cell(number(100 * mean, 1, signed=True), "" if sem is None else f"± {100 * sem:.1f}")


def _separable(findings: Result, context: Context) -> TableBlock:
    separable = look(findings, "trends", "separable") or {}
    lines = (
        Line(
            Cell(f"Round {row['round']}"),
            {**row, "clear": Cell("yes" if row["low"] is not None and row["low"] > 0 else "no")},
        )
        for row in separable.get("rounds") or ()
    )
    first = separable.get("round")
    note = (
        phrase("rounds/no_round", reason=separable.get("reason") or "nothing was judged")
        if first is None
        else phrase("rounds/first_round", round=number(first, 0))
    )
    everybody = look(findings, "trends", "all_observers", "separable", "round")
    note += " " + phrase("rounds/everybody", round="none" if everybody is None else f"round {everybody}")
    paper = context.paper("trends.separable.round")
    papers = "" if paper is None else phrase("rounds/paper_round", round=paper)
    return table("rounds/separable", findings, context, lines=lines, notes=(note, papers))


def _paper_lines(published: Mapping[str, Any]) -> Iterator[Line]:
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
    is_known = any(night is not None for night in nights)
    notes = [phrase("rounds/nights", blocked=blocked, killed=killed, quiet=quiet)] if is_known else []
    return Section("events", "Events (5.3)", (table("rounds/events-table", findings, context, notes=notes),))


def votes(findings: Result, context: Context) -> Section:
    """Return the link from suspicion to votes, hits by round, and the counterfactual vote."""
    vote_findings = findings.get("votes") or {}
    by_round = [
        Line(Cell(f"Votes of non-wolves that hit a Werewolf, in round {round_}"), row)
        for round_, row in (vote_findings.get("hits_by_round") or {}).items()
    ]
    unjudged = look(vote_findings, "own_argmax", "unjudged")
    notes = [phrase("rounds/unjudged", votes=counted(unjudged, "vote"))] if unjudged else []
    votes_counted = count(look(vote_findings, "counterfactual", "votes") or 0)
    return Section("votes", "Votes (4.5)", (
        table("rounds/votes-table", findings, context, more=by_round, notes=notes),
        table("rounds/counterfactual", findings, context, votes=votes_counted),
    ))  # fmt: skip
