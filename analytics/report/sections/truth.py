"""What is objectively true: lies told, lies admitted, and detection against truth beside the self-label."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, get_args

from analytics import Result
from analytics.report.context import Context, Selection, counted, estimate, interval, look, value
from wolfbus.document.blocks import Block, Cell, Row, Section, TableBlock, columns, plain
from wolfbus.document.formats import of, percent
from wolfbus.vocabulary import Verdict

_MEASURES: Final = {
    "base_rate": "share", "constant_accuracy": "share", "accuracy": "share", "balanced_accuracy": "share",
    "precision": "share", "recall": "share", "f1": "share", "mcc": "score",
}  # fmt: skip
_SOURCES: Final = {
    "given": "attached, and heard in the words",
    "unheard": "attached only",
    "extracted": "found in the words",
}
_AGAINST: Final = {
    "against_role": "Speaker a Werewolf",
    "against_truth": "Statement a lie",
    "against_label": "Self-label deceptive",
    "against_role_all": "Speaker a Werewolf, all statements",
    "against_truth_all": "Statement a lie, self-labelled or not",
}
_HEADS: Final = (
    "",
    "Judgements",
    "Base rate",
    "Constant guess",
    "Accuracy",
    "Balanced accuracy",
    "Precision",
    "Recall",
    "F1",
    "MCC",
)


def section(findings: Result, context: Context) -> Section:
    """Return truth by role and agent, and detection against it."""
    found = findings.get("truth") or {}
    blocks: list[Block] = [
        plain(
            "Three grounds: is the speaker a Werewolf; is a claim that can be heard false, and did the speaker's own "
            "view rule it out (a lie) or not (a mistake); what the speaker says of it. Mind the coverage."
        ),
        _rows("role", found, context),
        _rows("agent", found, context),
        _detection(found, findings),
        _claims(findings.get("claims") or {}),
    ]
    return Section("truth", "Truth: lies told, admitted, detected", tuple(blocks))


def _rows(split: str, found: Mapping[str, Any], context: Context) -> TableBlock:
    lines: list[Row] = []
    for key, row in {
        **(found.get(f"by_{split}") or {}),
        **({"overall": found["overall"]} if found.get("overall") else {}),
    }.items():
        total = key == "overall"
        chosen = {} if total else {"role": key} if split == "role" else {"agent": context.code(key)}
        head = Cell("Overall") if total else Cell(key) if split == "role" else context.agent_cell(key)
        cells = (
            counted(row.get("statements")),
            counted(row.get("checkable"), link=Selection(**chosen, truth="checkable")),
            value(row.get("coverage"), reason="there is no statement"),
            counted(row.get("true"), link=Selection(**chosen, truth="true")),
            counted(row.get("mistakes"), link=Selection(**chosen, truth="mistake")),
            counted(row.get("lies"), link=Selection(**chosen, truth="lie")),
            estimate(row.get("lie_rate")),
            estimate(row.get("mistake_rate")),
            counted(row.get("labelled_lies")),
            counted(row.get("admitted"), link=Selection(**chosen, truth="lie", said="deceptive")),
            estimate(row.get("confession_rate")),
            estimate(row.get("false_confession_rate")),
        )
        lines.append(Row(head, cells, total=total))
    heads = columns(
        *("Speaker", "Statements", "Checkable", "Coverage", "True", "Mistakes", "Lies"),
        *("Lies of checkable", "Mistakes of checkable"),
        *("Labelled lies", "Admitted", "Confesses", "Confesses truths"),
    )
    notes = (
        "Lies, mistakes of checkable: shares of statements with a checkable claim.",
        "Confesses: share of labelled lies that the speaker calls deceptive. Confesses truths: the same of true ones.",
    )
    title = f"Lies told and admitted, by {split} of the speaker"
    return TableBlock(f"truth-{split}", title, heads, tuple(lines), notes, empty="It was not computed.")


def _detection(found: Mapping[str, Any], findings: Result) -> TableBlock:
    detection = found.get("detection") or {}
    lines: list[Row] = []
    for name, label in _AGAINST.items():
        if detection.get(name):
            lines.append(Row(Cell(label), _measured(detection[name], findings, name), total=True))
    lines += [
        Row(Cell(f"{role}: {_AGAINST[name].lower()}"), _measured(row[name], findings, "by_observer", role, name))
        for role, row in (detection.get("by_observer") or {}).items()
        for name in ("against_role", "against_truth", "against_label")
        if look(row, name)
    ]
    mistakes = detection.get("mistakes") or {}
    notes = (
        "The first three lines, and those by role, are of the same judgements, of labelled lies and true statements.",
        "A constant guess and the base rate stand beside every line, as in Table 3.",
        *(
            [f"Mistakes are left out: of {of(mistakes['n'], 'judgement')} of them {percent(mistakes['flagged'])} flag."]
            if mistakes.get("flagged") is not None
            else []
        ),
    )
    return TableBlock(
        "truth-detection",
        "Detection on each ground of truth",
        columns(*_HEADS),
        tuple(lines),
        notes,
        empty="It was not computed.",
    )


def _measured(row: Mapping[str, Any], findings: Result, *path: str) -> tuple[Cell, ...]:
    reason = "statements of both kinds, flags or judgements are missing"
    rates = (
        value(
            *(look(row, name), unit),
            within=interval(findings, "truth_detection", *path, name),
            reason=reason,
        )
        for name, unit in _MEASURES.items()
    )
    return (counted(look(row, "n")), *rates)


def _claims(found: Mapping[str, Any]) -> TableBlock:
    """Return how many claims of each kind were attached by speakers and found in their words, and their verdicts."""
    lines = [
        Row(
            Cell(f"{kind.capitalize()}, {_SOURCES[source]}"),
            tuple(counted(look(row, source, name)) for name in ("n", *get_args(Verdict))),
        )
        for kind, row in (found.get("by_kind") or {}).items()
        for source in _SOURCES
    ]
    if lines:
        sums = (
            sum(look(row, source, name) or 0 for row in found["by_kind"].values() for source in _SOURCES)
            for name in ("n", *get_args(Verdict))
        )
        lines.append(Row(Cell("All"), tuple(counted(total) for total in sums), total=True))
    notes = (
        (
            "A claim found in the words that repeats one its speaker attached counts once, as attached. What is "
            "attached and cannot be heard in the words counts here only. A statement may make several claims."
        ),
    )
    return TableBlock(
        "claims",
        "Claims by kind and by where they come from, and what they turn out to be",
        columns("Claim", "Claims", "True", "Lies", "Mistakes", "Not checkable"),
        tuple(lines),
        notes,
        empty="They were not counted.",
    )
