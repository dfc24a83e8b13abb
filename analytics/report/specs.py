"""Tables and sentences that the TOML files beside the sections describe, filled with findings.

A table's spec says what its lines and columns are: which findings, in which unit, with what paper's value, interval and
statements behind them. Paths into findings are dotted; ``{key}`` in a template is the line's key, ``{role}``,
``{agent}`` and so on the same where the lines are ``by`` it and "" elsewhere, ``{slash}`` the key behind a slash and ""
for all lines together, and ``{path}`` a fixed line's path. A section computes only what is no finding, and hands it in
as rows, lines or words.
"""

from __future__ import annotations

import functools
from collections import defaultdict
from collections.abc import Container, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any, Final, NamedTuple

from analytics import Result, look, value_at
from analytics.report.context import Context, Selection, count_cell, ends, estimate_cell, over_all, value_cell
from wolfbus.files.document import Cell, Row, TableBlock, TableColumn
from wolfbus.files.formats import Ends
from wolfbus.files.package_data import PackageData, Prose, read_data
from wolfbus.game.vocabulary import ROLES

OWN: Final = "own"
"""Template of the path at which a cell's own value stands in the findings."""
_TOTALS: Final = frozenset({"overall", "all"})


class ColumnSpec(PackageData):
    """A column.

    Attributes:
        name: its head.
        of: where its value stands in the findings of a line, as a number, a count, an estimate or a cell; ``a / b`` is
            a share; "" is the line itself.
        unit: how to show it, see `wolfbus.files.formats`; "whole" is a number of things.
        n: where it stands what the value is over.
        within: where its interval stands, the first that is known; ``row`` is the line's, ``over.NAME`` that of a
            headline metric over all observers.
        paper: where the paper's value stands, `OWN` for its own path.
        link: the statements behind it, as a query of the index.
        reason: why it may be undefined.
        wide: whether it holds words.
        each_role: whether there is such a column for every role, which ``{column}`` stands for.
    """

    name: str
    of: str = ""
    unit: str = "share"
    n: str = ""
    within: tuple[str, ...] = ()
    paper: str = ""
    link: str = ""
    reason: str = ""
    wide: bool = False
    each_role: bool = False

    def spread(self, roles: Iterable[str]) -> tuple[ColumnSpec, ...]:
        """Return the columns that this one stands for, in findings with these roles."""
        if not self.each_role:
            return (self,)
        spec = self.model_dump_json()
        return tuple(ColumnSpec.model_validate_json(spec.replace("{column}", role)) for role in roles)


class LineSpec(PackageData):
    """A line of a table whose lines are fixed: its head, and what it has in other ways than its columns."""

    label: str
    unit: str = ""
    reason: str = ""
    link: str = ""
    total: bool = False


class TableSpec(PackageData):
    """A table.

    Attributes:
        caption: what it shows.
        head: head of its first column.
        columns: the others.
        like: name of the table whose columns it has, instead.
        key: its key on the page, its name unless given.
        rows: where the lines' findings stand.
        by: what tells lines apart; an "agent" is shown by its name.
        labels: heads of lines, where they are not their keys.
        lines: the lines, by their paths below `rows`, if they are fixed.
        head_link: the statements behind a line's head, as a query of the index.
        optional: whether fixed lines without findings are left out.
        total: where the findings of all lines together stand.
        total_label: head of that line.
        notes: what to know when reading it.
        empty: what to say without lines.
    """

    caption: Prose
    head: str = ""
    columns: tuple[ColumnSpec, ...] = ()
    like: str = ""
    key: str = ""
    rows: str = ""
    by: str = "key"
    labels: Mapping[str, str] = {}
    lines: Mapping[str, LineSpec] = {}
    head_link: str = ""
    optional: bool = False
    total: str = ""
    total_label: str = "Overall"
    notes: tuple[Prose, ...] = ()
    empty: str = "There is nothing to show."


class Specs(PackageData):
    """What a file of specs holds.

    Attributes:
        tables: by name.
        words: sentences by name.
        verdicts: what each verdict on a metric lets a sentence say.
        titles: of sections of the findings.
        behind: sections of the findings behind a section of the page.
    """

    tables: Mapping[str, TableSpec] = {}
    words: Mapping[str, Prose] = {}
    verdicts: Mapping[str, Mapping[str, str]] = {}
    titles: Mapping[str, str] = {}
    behind: Mapping[str, tuple[str, ...]] = {}


class Line(NamedTuple):
    """A line to be filled: its head, its findings, what stands in its templates, whether it sums up the others."""

    head: Cell
    row: Any
    values: Mapping[str, Any] = {}
    total: bool = False
    spec: LineSpec | None = None
    path: str = ""


def roles_of(findings: Result) -> tuple[str, ...]:
    """Return the roles that tables of findings tell apart."""
    return tuple(findings.get("table2") or ROLES)


@functools.cache
def specs(file: str) -> Specs:
    """Return what a file holds."""
    return read_data("analytics.report.sections", file, Specs)


def phrase(spec: str, /, **words: Any) -> str:
    """Return a sentence.

    Args:
        spec: file and name, with a slash between them.
        words: what stands in its braces.
    """
    file, _, name = spec.partition("/")
    return specs(file).words[name].format(**words)


def table(
    place: str,
    findings: Result,
    context: Context,
    /,
    *,
    rows: Mapping[str, Any] | None = None,
    lines: Iterable[Line] | None = None,
    more: Iterable[Line] = (),
    notes: Iterable[str] = (),
    without: Container[str] = (),
    **words: Any,
) -> TableBlock:
    """Return a table.

    Args:
        place: file and name of its spec, with a slash between them.
        findings: what it shows.
        context: the names of agents, and the paper's values.
        rows: findings by line, instead of those that the spec names.
        lines: the lines, instead of those that the spec makes.
        more: lines below them.
        notes: remarks beside those of the spec.
        without: heads of columns that are left out.
        words: what stands in braces of the spec.
    """
    file, _, name = place.partition("/")
    spec, words = specs(file).tables[name], {**specs(file).words, **words}
    if lines is None:
        lines = _lines(spec, findings, context, rows, words)
    declared = spec.columns or specs(file).tables[spec.like].columns
    columns = [
        column for group in declared for column in group.spread(roles_of(findings)) if column.name not in without
    ]
    heads = (TableColumn(column.name, column.wide) for column in columns)
    table_rows = tuple(
        Row(line.head, tuple(_cell(column, line, findings, context, words) for column in columns), line.total)
        for line in (*lines, *more)
    )
    return TableBlock(
        (spec.key or name).format(**words),
        spec.caption.format(**words),
        (TableColumn(spec.head.format(**words), wide=True), *heads),
        table_rows,
        tuple(note for note in (*(note.format(**words) for note in spec.notes), *notes) if note),
        spec.empty.format(**words),
    )


def _lines(
    spec: TableSpec, findings: Result, context: Context, rows: Mapping[str, Any] | None, words: Mapping[str, Any]
) -> Iterator[Line]:
    place, by = spec.rows.format(**words), spec.by.format(**words)
    if rows is None:
        rows = look(findings, *place.split("."))
    for key, line in spec.lines.items() if rows else ():
        row = look(rows, *key.split("."))
        if row or not spec.optional:
            link, values = Selection.of(line.link), {**_values(key, by, context), "path": key}
            yield Line(Cell(line.label, link=link), row, values, line.total, line, f"{place}.{key}")
    for key, row in {} if spec.lines or not rows else rows.items():
        label = "Overall" if key == "overall" else spec.labels.get(key, key)
        head, values = context.agent_cell(key) if by == "agent" else Cell(label), _values(key, by, context)
        if spec.head_link:
            link_query = spec.head_link.format_map(defaultdict(str, values))
            head = replace(head, link=Selection.of(link_query) if look(row, "n") else None)
        yield Line(head, row, values, key == "overall", path=f"{place}.{{key}}")
    if spec.total and rows and (row := look(findings, *(total := spec.total.format(**words)).split("."))):
        yield Line(Cell(spec.total_label), row, _values("overall", by, context), total=True, path=total)


def _values(key: str, by: str, context: Context) -> dict[str, Any]:
    """Return what stands in a line's templates; a dot within a key is none of a path."""
    among = "" if key in _TOTALS else key
    code = context.code(key) if by == "agent" else among
    return {"key": key.replace(".", "\0"), "slash": among and f"/{among}", by: "" if code is None else code}


def _cell(column: ColumnSpec, line: Line, findings: Result, context: Context, words: Mapping[str, Any]) -> Cell:
    content = value_at(line.row, column.of)
    if isinstance(content, Cell):
        return content
    values = defaultdict(str, {**words, **line.values})
    unit, reason = column.unit, column.reason.format_map(values)
    if line.spec is not None:
        unit, reason = line.spec.unit or unit, line.spec.reason.format_map(values) or reason
    path = f"{line.path}.{column.of}" if column.of else line.path
    paper = context.paper((path if column.paper == OWN else column.paper).format_map(values)) if column.paper else None
    link = Selection.of(column.link.format_map(values).format_map(values))
    if unit == "whole":
        return count_cell(content, paper=paper, link=link)
    if isinstance(content, Mapping) or (content is None and not reason and not column.within):
        return estimate_cell(content, unit, paper=paper, link=link)
    within = (_within(source, path, line, findings, values) for source in column.within)
    return value_cell(
        content,
        unit,
        n=value_at(line.row, column.n) if column.n else None,
        within=next((pair for pair in within if None not in pair), (None, None)),
        paper=paper,
        link=link,
        reason=look(line.row, "undefined", column.of) or reason,
    )


def _within(template: str, path: str, line: Line, findings: Result, values: Mapping[str, Any]) -> Ends:
    if template == "row":
        return ends(line.row)
    path = (f"intervals.{path}" if template == OWN else template).format_map(values)
    first, _, name = path.partition(".")
    interval: Any = over_all(findings, name) if first == "over" else value_at(findings, path)
    return (interval[0], interval[1]) if isinstance(interval, list) and len(interval) == 2 else ends(interval)
