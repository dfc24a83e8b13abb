"""What sections know beside the findings: names of agents, files, studies, the paper's values, the index."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias

from analytics.report.cells import Selection, interval, look, value
from wolfbus.document.blocks import Cell, Figure, LinkText, Target
from wolfbus.document.visible import visible
from wolfbus.printable import cut_middle, told_apart

if TYPE_CHECKING:
    from analytics.gather import FileNote
    from analytics.gather.checks import StudyCheck

NAME_SHOWN: Final = 32
"""Characters of an agent's name."""
PATH_SHOWN: Final = 120
"""Characters of a file's name."""


@dataclass(frozen=True, slots=True)
class Indexed:
    """How much of the games the index of statements holds.

    Attributes:
        games: games in the index.
        all_games: games there are.
        statements: statements in the index.
        all_statements: statements there are.
    """

    games: int = 0
    all_games: int = 0
    statements: int = 0
    all_statements: int = 0

    @property
    def whole(self) -> bool:
        """Whether it holds all of them."""
        return self.statements == self.all_statements


@dataclass(frozen=True, slots=True)
class Context:
    """What the page is about.

    Attributes:
        agents: the agents, by whose places selections name them.
        files: what became of each file.
        studies: manifests of the studies that were read.
        checks: what was checked of the records of studies whose games ended, and of those of none if proven.
        published: the paper's values, see `analytics.published`.
        indexed: what the index holds.
        version: of wolfbus.
    """

    agents: tuple[str, ...] = ()
    files: tuple[FileNote, ...] = ()
    studies: tuple[Mapping[str, Any], ...] = ()
    checks: tuple[StudyCheck, ...] = ()
    published: Mapping[str, Any] = field(default_factory=dict)
    indexed: Indexed = field(default_factory=Indexed)
    version: str = ""

    @property
    def problems(self) -> tuple[FileNote, ...]:
        """Files with which something is wrong."""
        return tuple(note for note in self.files if note.problem is not None)

    def paper(self, *path: str) -> float | None:
        """Return the value that the paper published at `path`, None if it has none there."""
        found = look(self.published, *path)
        return found if isinstance(found, (int, float)) else None

    def cell(
        self, findings: Any, path: tuple[str, ...], *, link: Target | None = None, reason: str | None = None
    ) -> Cell:
        """Return the cell of a share: what it is over, its interval and the paper's value are found by its own path.

        Args:
            findings: the findings.
            path: where the share stands in them; a name that ends in ``_n`` beside it says what it is over.
            link: the statements behind it.
            reason: why it is undefined, if it is.
        """
        n = look(findings, *path[:-1], f"{path[-1]}_n")
        within, paper = interval(findings, *path), self.paper(*path)
        return value(look(findings, *path), n=n, within=within, paper=paper, link=link, reason=reason)

    @property
    def shown(self) -> tuple[str, ...]:
        """The agents' names, fit to show and told apart."""
        brief = [_brief(agent) for agent in self.agents]
        clear = [short if brief.count(short) == 1 else agent for agent, short in zip(self.agents, brief, strict=True)]
        names = told_apart(clear, NAME_SHOWN, shorten_name)
        return tuple(names[name] for name in clear)

    def name(self, agent: str) -> str:
        """Return an agent's name, fit to show."""
        return self.shown[self.agents.index(agent)] if agent in self.agents else shorten_name(agent, NAME_SHOWN)

    def code(self, agent: str) -> int | None:
        """Return the place by which selections name an agent."""
        return self.agents.index(agent) if agent in self.agents else None

    def agent_cell(self, agent: str) -> Cell:
        """Return the head of an agent's line, with a link to what it said."""
        code = self.code(agent)
        return Cell(self.name(agent), link=None if code is None else Selection(agent=code))

    def agent_link(self, agent: str) -> str | LinkText:
        """Return an agent's name as a link to what it said."""
        code = self.code(agent)
        return self.name(agent) if code is None else LinkText(self.name(agent), Selection(agent=code))


def _brief(agent: str) -> str:
    """Return what tells an agent from others: a model without its server and maker, a program without "exec:"."""
    kind, _, rest = agent.partition(":")
    if kind == "llm":
        rest = rest.partition("@")[0].rpartition("/")[2]
    return rest.strip() or agent


def shorten_name(name: str, limit: int) -> str:
    """Return a name of at most `limit` characters, all of them visible."""
    return cut_middle(visible(name[: 4 * limit]) or "(no name)", limit)


def path_of(path: str) -> str:
    """Return a file's name and its folder's, fit to show: where that is, is nobody's business whom the page reaches."""
    return cut_middle(visible("/".join(PurePath(path).parts[-2:])[: 40 * PATH_SHOWN]), PATH_SHOWN)


Score: TypeAlias = Literal["suspicion", "before"]
"""Suspicion as stated, or D before the statement, which is a real prediction."""

SCORES: Final[tuple[Score, ...]] = ("suspicion", "before")
SCORE_WORDS: Final[Mapping[Score, str]] = {
    "suspicion": "Stated suspicion",
    "before": "Smoothed suspicion before the statement",
}


def drawing(
    key: str,
    draw: Callable[[], str | None],
    caption: str,
    needs: Any = True,
    empty: str = "There is nothing to draw: no judgement counts.",
    table: str = "",
) -> Figure:
    """Return a figure that is drawn where it is shown.

    Args:
        key: unique on the page.
        draw: makes the SVG, None where there is nothing to draw.
        caption: what it shows.
        needs: the findings that it rests on; if there are none it is not drawn.
        empty: what to say where there is nothing to draw.
        table: key of the table that holds its numbers.
    """
    return Figure(key, lambda: (draw() or "") if needs else "", caption, empty, table)
