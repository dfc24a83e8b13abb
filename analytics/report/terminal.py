"""The figures of games as text for the terminal: the report's own tables, of what is known without a study."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Final

from analytics import Result
from analytics.report.caveats import fillers, missing_answers, protocols, smoothing
from analytics.report.context import Context
from analytics.report.sections import design, tables
from analytics.report.specs import table
from wolfbus.document.blocks import Block, Section, TableBlock, plain, warning
from wolfbus.document.formats import count, of
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
    fitted = result["map"]
    held_out = {f"held_out_{when}": {**fitted["held_out"][when], "n": fitted["n"]} for when in ("before", "after")}
    return table(
        *("calibration/recalibrated-record", {}, Context()),
        rows={"before": result["before"], "after": result["after"], **held_out},
        name=shortened(name, 60),
        kind=fitted["kind"],
        judgements=of(fitted["n"], "judgement"),
        games=of(fitted["games"], "game"),
    )
