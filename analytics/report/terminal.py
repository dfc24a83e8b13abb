"""The figures of games as text for the terminal: the report's own tables, of what is known without a study."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Final

from analytics import Result
from analytics.report.caveats import fillers, missing_answers, protocols, smoothing
from analytics.report.context import Context
from analytics.report.sections import design, tables
from wolfbus.document.blocks import Block, Cell, Row, Section, TableBlock, columns, plain, warning
from wolfbus.document.formats import count, number, of
from wolfbus.document.writers import written
from wolfbus.printable import shortened

_ORDER: Final[tuple[Callable[[Result, Context], Section], ...]] = (
    tables.outcomes,
    tables.table1,
    tables.table2,
    tables.table3,
    tables.table5,
    tables.figure1,
    tables.events,
    tables.votes,
    design.repair,
    design.cost,
)
_SCORES: Final = ("brier", "ece", "auc")


def text(result: Result, reasons: Mapping[str, str] | None = None) -> str:
    """Return `Metrics.result`, or what JSON made of it, as text that ends in a newline.

    Args:
        result: the figures.
        reasons: as for `missing_answers`.
    """
    return written(_blocks(result, reasons))


def _blocks(result: Result, reasons: Mapping[str, str] | None) -> Iterator[Block]:
    warnings = [protocols(result), *missing_answers(result, reasons)]
    yield from (warning(line) for line in warnings if line)
    yield plain(_opening(result))
    context = Context(agents=tuple(result["repair"]["by_brain"]))
    overall = result["repair"]["overall"]
    for section in _ORDER:
        if section is design.repair and overall["replies"] == overall["clean"]:
            continue
        for block in section(result, context).blocks:
            if isinstance(block, TableBlock) and _tells(block):
                yield block


def _tells(table: TableBlock) -> bool:
    return any(cell.reason is None for row in table.rows for cell in row.cells)


def _opening(result: Result) -> str:
    games, labels = result["outcomes"], result["labels"]
    alpha, prior = smoothing(result)
    return " ".join(
        part
        for part in (
            f"{of(games['games'], 'game')}, {count(games['finished'])} finished;",
            f"smoothed suspicion with alpha {alpha}, prior {prior}.",
            f"{of(labels['total'], 'self-label or judgement', 'self-labels and judgements')}:",
            f"{count(labels['clean'])} clean, {count(labels['repaired'])} repaired.",
            fillers(result),
        )
        if part
    )


def recalibration_table(result: Result, name: str) -> TableBlock:
    """Return `recalibrated` as a table.

    Args:
        result: what `recalibrated` returned, or what JSON made of it.
        name: the map's file.
    """
    fitted, before = result["map"], result["before"]
    held_out = fitted["held_out"]
    games = of(fitted["games"], "game")
    caption = (
        f"Suspicion recalibrated by {shortened(name, 60)} ({fitted['kind']}, fitted on {of(fitted['n'], 'judgement')} "
        f"of {games}); beside this record, what such maps did to games that they were not fitted on"
    )
    note = "If this game is one of those that the map was fitted on, its numbers after flatter the map."
    lines = (
        ("This record, before", before, before["n"]),
        ("This record, after", result["after"], before["n"]),
        ("Held-out games, before", held_out["before"], fitted["n"]),
        ("Held-out games, after", held_out["after"], fitted["n"]),
    )
    rows = tuple(
        Row(
            Cell(head),
            (*(_cell(row[score], before["undefined"].get(score)) for score in _SCORES), Cell(count(n))),
        )
        for head, row, n in lines
    )
    return TableBlock("recalibrated", caption, columns("", "Brier", "ECE", "AUC", "Judgements"), rows, (note,))


def _cell(value: float | None, reason: str | None) -> Cell:
    return Cell(number(value), reason=None if value is not None else reason)
