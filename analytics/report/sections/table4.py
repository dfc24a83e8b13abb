"""Table 4: suspicion as a probability (paper 5.7), with base rates, skill and reliability."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any, Final

from analytics import Result
from analytics.figures import reliability
from analytics.report.cells import counted, either, ends, interval, look, value
from analytics.report.context import Context
from analytics.report.drawings import SCORE_WORDS, SCORES, Score, drawing
from analytics.report.links import Selection
from analytics.report.verdicts import over_all
from wolfbus.document.blocks import Block, Cell, Heading, Row, Section, TableBlock, columns, plain
from wolfbus.document.formats import Ends

_HEADS: Final = ("Brier", "ROC AUC", "AUPRC", "Judgements", "Base rate", "Brier skill", "AUPRC − base", "ECE")
_VALUES: Final = {
    "brier": "score", "auc": "score", "auprc": "score", "base_rate": "share", "brier_skill": "score",
    "auprc_lift": "score", "ece": "score",
}  # fmt: skip


def section(findings: Result, context: Context) -> Section:
    """Return Table 4 for both scores, by observer and by speaker, and the reliability diagrams."""
    blocks: list[Block] = [
        plain("Chance has AUC 0.5, AUPRC at the base rate and Brier skill 0; 0 is the best Brier score and ECE.")
    ]
    for score in SCORES:
        found = look(findings, "table4", score)
        blocks.append(Heading(SCORE_WORDS[score], f"table4-{score}"))
        blocks.append(_table(found, score, "observer", findings, context))
        blocks.append(_table(found, score, "speaker", findings, context))
        caption = (
            f"Reliability of {SCORE_WORDS[score].lower()}: of the statements that met so much suspicion, how "
            f"many were deceptive. On the diagonal it would be a probability."
        )
        blocks.append(drawing(f"reliability-{score}", partial(reliability, findings, score), caption, found))
    return Section("table4", "Table 4: is suspicion a probability?", tuple(blocks))


def _table(found: Mapping[str, Any] | None, score: Score, side: str, findings: Result, context: Context) -> TableBlock:
    by = look(found, f"by_{side}") or {}
    overall = look(found, "overall")
    lines = {**by, **({"overall": overall} if overall and side == "observer" else {})}
    rows = tuple(_row(role, row, score, side, findings, context) for role, row in lines.items())
    is_papers = score == "suspicion" and side == "observer"
    title = "Table 4. " if is_papers else "Beside Table 4: "
    caption = f"{title}{SCORE_WORDS[score]} against self-labels, by role of the {side}"
    notes = (
        ("The paper does not say whose roles its Table 4 has; they are read as the observers'.",) if is_papers else ()
    )
    return TableBlock(
        f"table4-{score}-{side}", caption, columns("Role", *_HEADS), rows, notes, empty="It was not computed."
    )


def _row(role: str, row: Mapping[str, Any], score: Score, side: str, findings: Result, context: Context) -> Row:
    who = None if role == "overall" else role
    undefined = row.get("undefined") or {}
    papers = score == "suspicion" and side == "observer"
    cells = []
    for name, unit in _VALUES.items():
        paper = context.paper("table4", role, name) if papers else None
        cells.append(
            value(
                row.get(name),
                unit,
                within=_within(name, score, side, who, findings),
                paper=paper,
                reason=undefined.get(name),
            )
        )
    judged = Selection(observer=who, judged="scored") if side == "observer" else Selection(role=who, judged="scored")
    cells.insert(3, counted(row.get("n"), link=judged))
    return Row(Cell("Overall" if who is None else role), tuple(cells), total=who is None)


def _within(name: str, score: Score, side: str, who: str | None, findings: Result) -> Ends:
    place = ("overall",) if who is None else (f"by_{side}", who)
    found = interval(findings, "table4", score, *place, name)
    if side != "observer":
        return found
    metric = name + ("_before" if score == "before" else "") + (f"/{who}" if who else "")
    return either(ends(over_all(findings, metric)), found)
