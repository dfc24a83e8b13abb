"""`Report`: findings as an HTML page, as Markdown, as headlines and as BibTeX; and the report's tables of what is known
without a study, for the terminal.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Final

from analytics import Result
from analytics.gather import Criteria, Gathered
from analytics.gather.reading import checks
from analytics.metrics.study import Study
from analytics.reference import published
from analytics.report.caveats import fillers, missing_answers, protocols, smoothing
from analytics.report.context import Context
from analytics.report.entries import STATEMENTS, entries_of, sampled
from analytics.report.sections import (
    answer,
    design,
    evidence,
    explained,
    forks,
    known,
    limitations,
    methods,
    people,
    tables,
)
from analytics.report.sections.methods import bibtex, cite
from wolfbus import __version__
from wolfbus.files.document import (
    Block,
    Section,
    TableBlock,
    as_values,
    escaped,
    plain,
    section_markdown,
    warning,
    written,
)
from wolfbus.files.formats import count
from wolfbus.files.printable import counted, visible

ORDER: Final[tuple[Callable[[Result, Context], Section], ...]] = (
    answer.answer,
    evidence.primary,
    limitations.limitations,
    evidence.agents,
    tables.outcomes,
    tables.truth,
    tables.table1,
    tables.table2,
    tables.table3,
    tables.figure1,
    tables.table4,
    tables.calibration,
    tables.table5,
    forks.forks,
    evidence.skill,
    tables.events,
    tables.votes,
    known.ladder,
    known.beliefs,
    evidence.bias,
    people.people,
    evidence.variability,
    design.repair,
    design.cost,
    design.design,
    methods.paper,
    methods.methods,
)
"""The page's sections in order, of which empty ones are left out; the index and how to cite follow."""


class Report:
    """What is written of one set of games.

    Args:
        findings: see `analytics.findings`; sections that are missing are said to be.
        gathered: the games that the findings are of.
        criteria: how they were computed, for reading the words again.
    """

    def __init__(self, findings: Result, gathered: Gathered, criteria: Criteria | None = None) -> None:
        self._findings = findings
        self._gathered = gathered
        # words are read again from files that were checked, and that are no longer seen as their studies'
        self._criteria = replace(criteria or Criteria(), prover=None, include_played_again=True)
        self.context = Context(
            agents=gathered.tables.agents,
            files=gathered.files,
            studies=tuple(study.manifest for study in gathered.studies),
            checks=tuple(checks(gathered.studies, gathered.files)),
            published=published(),
            version=__version__,
        )

    @property
    def title(self) -> str:
        """The report's title."""
        names = [str(study.get("name") or study.get("study")) for study in self.context.studies]
        if names:
            return f"WOLF: {visible(', '.join(names)[:120])}"
        return f"WOLF: {counted(len(self._gathered.tables.ids), 'game')}"

    def html(self, statements: int = STATEMENTS) -> str:
        """Return the page.

        Args:
            statements: how many the index may hold; of more, whole games are drawn.

        Raises:
            RecordError: the files can no longer be read.
        """
        # the terminal has no use for templates
        from analytics.report.html import Index, page

        index = Index()
        paths = sampled(self._gathered.tables, self._gathered.files, statements)
        games = [game for game in entries_of(paths, self._gathered, self._criteria) if index.add(game)]
        tables = self._gathered.tables
        indexed = index.indexed(len(tables), len(tables.statements))
        context = replace(self.context, indexed=indexed)
        sections = self._sections(context)
        if (example := answer.typical_game(games)) is not None:
            sections.insert(1, answer.example(example, context))
        return page(self.title, sections, context, index)

    def markdown(self) -> str:
        """Return the same tables as Markdown, without drawings and statements."""
        sections = "\n".join(section_markdown(section) for section in self._sections(self.context))
        return f"# {escaped(self.title)}\n\n{sections}"

    def first_screen(self) -> Result:
        """Return the page's first screen for a page that draws it itself: ``answer``, its blocks as plain values, and
        ``numbers``, the main ones explained (`analytics.report.sections.explained`).
        """
        blocks = answer.answer(self._findings, self.context).blocks
        study = Study(self._gathered.tables, with_intervals=False)
        return {
            "answer": [values for block in blocks if (values := as_values(block))],
            "numbers": explained.explained(self._findings, study),
        }

    def headlines(self) -> list[str]:
        """Return the most important findings, five sentences, and warnings of brains that rarely answered."""
        return answer.headlines(self._findings, self.context)

    def bibtex(self) -> str:
        """Return entries for the paper, the software and the games."""
        return bibtex(self.context, self._gathered.tables.ids)

    def _sections(self, context: Context) -> list[Section]:
        sections = (section(self._findings, context) for section in ORDER)
        filled = [_with_pointer(section) for section in sections if section.blocks]
        return [*filled, cite(context, self._gathered.tables.ids)]


def _with_pointer(section: Section) -> Section:
    pointer = methods.pointer(section.key)
    return section if pointer is None else replace(section, blocks=(*section.blocks, pointer))


IN_TERMINAL: Final[tuple[Callable[[Result, Context], Section], ...]] = (
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
"""The sections whose tables are known without a study, in the order of the terminal."""


def terminal_text(result: Result) -> str:
    """Return `Metrics.result`, or what JSON made of it, as text for the terminal, which ends in a newline."""
    return written(_blocks(result))


def _blocks(result: Result) -> Iterator[Block]:
    warnings = [protocols(result), *missing_answers(result)]
    yield from (warning(line) for line in warnings if line)
    yield plain(_opening_sentence(result))
    context = Context(agents=tuple(result["repair"]["by_brain"]))
    overall = result["repair"]["overall"]
    for section in IN_TERMINAL:
        if section is design.repair and overall["replies"] == overall["clean"]:
            continue
        for block in section(result, context).blocks:
            if isinstance(block, TableBlock) and any(cell.reason is None for row in block.rows for cell in row.cells):
                yield block


def _opening_sentence(result: Result) -> str:
    games, labels = result["outcomes"], result["labels"]
    alpha, prior = smoothing(result)
    return " ".join(
        part
        for part in (
            f"{counted(games['games'], 'game')}, {count(games['finished'])} finished;",
            f"smoothed suspicion with alpha {alpha}, prior {prior}.",
            f"{counted(labels['total'], 'self-label or judgement', 'self-labels and judgements')}:",
            f"{count(labels['clean'])} clean, {count(labels['repaired'])} repaired.",
            fillers(result),
        )
        if part
    )
