"""What people and reader models make of the statements, and how far they agree with speakers and claims."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from analytics import Result, look
from analytics.metrics.agreement import CLAIMS, SELF_LABEL, agreement_sentence
from analytics.report.context import Context
from analytics.report.specs import Line, LineSpec, phrase, table
from wolfbus.files.document import Block, Cell, Section, plain

_WORDS: Final = {
    "deceptive": "meant to deceive",
    "kind": "kind of deception",
    "stance": "for, against or neither, by player",
}
_SORTS: Final = {"rater": "a person with a blind sheet", "reader": "a reader model"}
_NAMES: Final = {SELF_LABEL: "the speaker's own label", CLAIMS: "claims in the words"}


def people(findings: Result, context: Context) -> Section:
    """Return agreement between all who annotated, and with labels and claims; how well monitors of thoughts do. It is
    empty where nobody has annotated the statements.
    """
    people_said = findings.get("agreement") or {}
    blocks: list[Block] = []
    if people_said.get("annotators"):
        annotators = (
            Line(Cell(f"{name}, {_SORTS[row['sort']]}"), row) for name, row in people_said["annotators"].items()
        )
        together = (Line(Cell(_WORDS[question]), row) for question, row in people_said["together"].items())
        blocks += [
            plain(agreement_sentence(findings)),
            plain(phrase("people/intro")),
            table("people/annotators", findings, context, lines=annotators),
            table("people/agreement-together", findings, context, lines=together),
            table("people/agreement-pairs", findings, context, lines=_pairs(people_said)),
        ]
    if look(findings, "monitor", "monitors", "models", "plain", "n"):
        given_away = Line(
            Cell("Werewolves' thoughts in which the lexicon finds side or intent"),
            {"plain": look(findings, "monitor", "given_away")},
            spec=LineSpec(label="", unit="share", reason="not told"),
        )
        blocks.append(table("people/monitors", findings, context, more=[given_away]))
    return Section("people", "People, reader models, monitors", tuple(blocks))


def _pairs(people_said: Result) -> Iterator[Line]:
    for question, rows in people_said["pairs"].items():
        for between, row in rows.items():
            names = (_NAMES.get(name, name) for name in between.split(" & "))
            yield Line(Cell(f"{_WORDS[question]}: {' and '.join(names)}"), row)
