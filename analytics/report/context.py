"""What sections know beside the findings, and how they put numbers into cells.

`Context` holds the names of agents, files, studies, the paper's values and what the index of statements has. A cell is
a value with its interval and n below it, a reason where it is undefined, and a `Selection` of the statements behind it:
a filter of the index that an address can carry.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, replace
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, Final, Self
from urllib.parse import quote

from analytics import look, value_at
from wolfbus.files.document import Cell, Figure, LinkText, Target
from wolfbus.files.formats import Ends, between, count, in_unit
from wolfbus.files.printable import cut_middle, told_apart, visible, with_article

if TYPE_CHECKING:
    from analytics.gather import FileNote
    from analytics.gather.reading import StudyCheck

NO_INTERVAL: Final = "no interval"


def metric(findings: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    """Return a headline metric, empty if it was not computed."""
    return look(findings, "variability", "metrics", name) or {}


def over_all(findings: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    """Return a headline metric over all observers, as the paper's tables are; empty if it was not computed."""
    estimated = metric(findings, name)
    return estimated.get("all_observers") or estimated


def ends(estimated: Mapping[str, Any] | None) -> Ends:
    """Return the interval of an estimate."""
    return look(estimated, "low"), look(estimated, "high")


def interval_in_words(estimated: Mapping[str, Any], unit: str = "share") -> str:
    """Return the interval of an estimate, to stand behind its value in a sentence; "" without one."""
    words = between(*ends(estimated), unit)
    return f" (95 % interval {words})" if words else ""


def with_interval(estimated: Mapping[str, Any], unit: str = "share") -> str:
    """Return an estimate with its interval, as a sentence says it."""
    return in_unit(estimated.get("value"), unit) + interval_in_words(estimated, unit)


def value_cell(
    number: float | None,
    unit: str = "share",
    *,
    n: int | None = None,
    within: Ends = (None, None),
    paper: float | None = None,
    link: Target | None = None,
    reason: str | None = None,
) -> Cell:
    """Return a cell.

    Args:
        number: the value, None if it is undefined.
        unit: how to show it.
        n: what it is over; None says nothing of it.
        within: its 95 % interval.
        paper: the paper's value, in the same unit.
        link: the statements behind it.
        reason: why it is undefined; a general sentence unless given.
    """
    under = [part for part in (between(*within, unit), None if n is None else f"n {n:,}") if part]
    reason = None if number is not None else (reason or "there is nothing to compute it from")
    published = "" if paper is None else in_unit(paper, unit)
    return Cell(in_unit(number, unit), " · ".join(under), published, link if number is not None else None, reason)


def estimate_cell(
    estimated: Mapping[str, Any] | None,
    unit: str = "share",
    *,
    paper: float | None = None,
    link: Target | None = None,
) -> Cell:
    """Return the cell of an estimate ``{"value", "low", "high", "n", "reason"}``."""
    if not estimated:
        return value_cell(None, unit, paper=paper, reason="it was not computed")
    cell = value_cell(
        estimated.get("value"),
        unit,
        n=estimated.get("n"),
        within=ends(estimated),
        paper=paper,
        link=link,
        reason=estimated.get("reason"),
    )
    lacking = estimated.get("interval_reason")
    if lacking is None or estimated.get("value") is None or None not in ends(estimated):
        return cell
    under = " · ".join(part for part in (NO_INTERVAL, cell.under) if part)
    return replace(cell, under=under, lacking=str(lacking))


def count_cell(number: int | None, *, paper: float | None = None, link: Target | None = None) -> Cell:
    """Return the cell of a whole number."""
    published = "" if paper is None else count(paper)
    reason = "" if number is None else None
    return Cell(count(number), paper=published, link=link if number else None, reason=reason)


INDEX: Final = "statements"
"""Anchor of the index."""

_WORDS: Final = {
    "role": "by speakers dealt {}",
    "label": "that their speakers call {}",
    "kind": "labelled {}",
    "truth": "{}",
    "round": "in round {}",
    "phase": "in the {}",
    "game": "of game {}",
}
_TRUTH: Final = {
    "true": "whose checkable claims are true",
    "mistake": "that are mistakes",
    "lie": "that are lies",
    "checkable": "with a checkable claim",
}
_JUDGED: Final = {
    "tp": "flagged by {}, rightly",
    "fp": "flagged by {} though labelled truthful",
    "tn": "not flagged by {}, rightly",
    "fn": "not flagged by {} though labelled deceptive",
    "flagged": "flagged by {}",
    "scored": "judged by {}, with a self-label to hold that against",
    "judged": "judged by {}",
}


_NUMBERS: Final = frozenset({"agent", "by", "round", "game"})


@dataclass(frozen=True, slots=True)
class Selection:
    """Statements that match all that is given; None matches any.

    Attributes:
        role: the speaker's role.
        agent: place of the speaker's agent in the list of agents, from 0.
        label: self-label, "deceptive" or "truthful".
        kind: self-labelled kind.
        truth: "true", "mistake", "lie", or "checkable" for any of these.
        round: from 1.
        phase: "debate" or "vote".
        game: place of the game in the index, from 1.
        observer: role of an observer whose judgement is meant.
        by: place of that observer's agent.
        judged: what that judgement was: "tp", "fp", "tn", "fn" against the self-label, "scored" for any of these,
            "flagged", or "judged" for any that counts.
    """

    role: str | None = None
    agent: int | None = None
    label: str | None = None
    kind: str | None = None
    truth: str | None = None
    round: int | None = None
    phase: str | None = None
    game: int | None = None
    observer: str | None = None
    by: int | None = None
    judged: str | None = None

    @classmethod
    def of(cls, query: str) -> Self | None:
        """Return what a query means, None if it asks for nothing.

        Args:
            query: ``name=value`` pairs with "&" between them; a pair without a value is left out.
        """
        values: dict[str, Any] = {}
        for pair in filter(None, query.split("&")):
            name, _, value = pair.partition("=")
            if value:
                values[name] = int(value) if name in _NUMBERS else value
        return cls(**values) if values else None

    @property
    def anchor(self) -> str:
        """The fragment of the address, which is also an element's id for readers without script."""
        values = [(field.name, getattr(self, field.name)) for field in fields(self)]
        query = "&".join(f"{name}={quote(str(value))}" for name, value in values if value is not None)
        return f"{INDEX}?{query}" if query else INDEX

    def in_words(self, agents: tuple[str, ...]) -> str:
        """Return what is selected, in words.

        Args:
            agents: names of the agents, fit to show.
        """
        parts = ["Statements"]
        for name in ("role", "label", "kind", "truth", "round", "phase", "game"):
            value = getattr(self, name)
            if value is not None:
                parts.append(_TRUTH[value] if name == "truth" else _WORDS[name].format(value))
        if self.agent is not None:
            parts.append(f"by agent {agents[self.agent]}")
        if self.observer is not None or self.by is not None or self.judged is not None:
            who = with_article(self.observer) if self.observer else "an observer"
            agent = "" if self.by is None else f" of agent {agents[self.by]}"
            parts.append(_JUDGED[self.judged or "judged"].format(f"{who}{agent}"))
        return " ".join(parts)


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
        published: the paper's values, see `analytics.reference`.
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

    def paper(self, path: str) -> float | None:
        """Return the value that the paper published at a dotted path, None if it has none there."""
        published = value_at(self.published, path)
        return published if isinstance(published, (int, float)) else None

    @property
    def names(self) -> tuple[str, ...]:
        """The agents' names, fit to show, all different."""
        brief = [_brief(agent) for agent in self.agents]
        names = [name if brief.count(name) == 1 else agent for agent, name in zip(self.agents, brief, strict=True)]
        shortened = told_apart(names, NAME_SHOWN, shorten_name)
        return tuple(shortened[name] for name in names)

    def name(self, agent: str) -> str:
        """Return an agent's name, fit to show."""
        return self.names[self.agents.index(agent)] if agent in self.agents else shorten_name(agent, NAME_SHOWN)

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
    kind, _, name = agent.partition(":")
    if kind == "llm":
        name = name.partition("@")[0].rpartition("/")[2]
    return name.strip() or agent


def shorten_name(name: str, limit: int) -> str:
    """Return a name of at most `limit` characters, all of them visible."""
    return cut_middle(visible(name[: 4 * limit]) or "(no name)", limit)


def path_of(path: str) -> str:
    """Return a file's name and its folder's, fit to show: where that is, is nobody's business whom the page reaches."""
    return cut_middle(visible("/".join(PurePath(path).parts[-2:])[: 40 * PATH_SHOWN]), PATH_SHOWN)


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
