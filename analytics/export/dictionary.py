"""docs/data.md, made from what tables say of themselves: ``python -m analytics.export.dictionary > docs/data.md``."""

from __future__ import annotations

import sys
import textwrap
from collections.abc import Iterator
from importlib.resources import files
from typing import Final

from analytics.export.inspect_samples import measures
from analytics.export.tables import TABLES, ExportTable
from analytics.rows.fields import Column

_WIDTH: Final = 120
_NOTICE: Final = "<!-- Made by: python -m analytics.export.dictionary > docs/data.md -->"


def dictionary() -> str:
    """Return the whole page."""
    scores = "\n".join(f"| `{measure.name}` | {_cell(measure.meaning)} |" for measure in measures())
    guide = files("analytics.export").joinpath("guide.md").read_text("utf-8")
    guide = guide.replace("{scores}", scores)
    return "\n".join([_NOTICE, "", guide, *_tables()])


def _tables() -> Iterator[str]:
    yield "## Dictionary"
    yield ""
    yield "A *category* is a text of few values. A column without an entry under *null* never is null."
    for table in TABLES.values():
        yield ""
        yield from _table(table)


def _table(table: ExportTable) -> Iterator[str]:
    key = ", ".join(f"`{name}`" for name in table.key)
    yield f"### {table.name}"
    yield ""
    yield textwrap.fill(f"One row: {table.row}. Key: {key}. {table.note}", _WIDTH, break_on_hyphens=False)
    yield ""
    yield "| column | type | meaning | null |"
    yield "| --- | --- | --- | --- |"
    for column in table.columns:
        yield f"| `{column.name}` | {_type(column)} | {_cell(_meaning(column))} | {_cell(column.null or '')} |"


def _type(column: Column) -> str:
    unit = f", {column.unit}" if column.unit else ""
    return f"{column.kind}{unit}"


def _meaning(column: Column) -> str:
    parts = [column.meaning]
    if column.refers is not None:
        parts.append(f"→ `{column.refers}`")
    if column.values:
        parts.append("one of " + ", ".join(f"`{value}`" for value in column.values))
    return "; ".join(parts)


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


if __name__ == "__main__":
    # the page is UTF-8 whatever the terminal speaks
    sys.stdout.buffer.write(dictionary().encode() + b"\n")
