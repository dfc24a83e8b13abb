"""The page: one HTML file that needs nothing else and lets nothing else in, written by templates.

Names and words come from any model, agent, file name or edited record, so that no template decides what is safe:
whatever is put in is escaped and every hidden character of it visible; only what a template made, our own drawings,
style and script are taken as they stand. `Index` holds the statements: what was said, how its speaker labels it,
whether it is true, and who judged it how.
"""

from __future__ import annotations

import base64
import functools
import hashlib
from collections.abc import Iterable, Iterator, Sequence
from importlib.resources import files
from typing import Any, Final

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

from analytics.figures.chart import css
from analytics.report.context import INDEX, Context, Indexed, Selection, path_of
from analytics.report.entries import EntryIndex, EntryJudgement, IndexedGame, StatementEntry
from analytics.rows import GameRows
from wolfbus.claims import kind_of
from wolfbus.files.document import Block, Figure, LinkText, Part, Section, TableBlock
from wolfbus.files.formats import percent
from wolfbus.files.printable import counted, visible, words
from wolfbus.game.roles import roles_among
from wolfbus.game.vocabulary import DECEPTIONS
from wolfbus.messages.base import SeatName
from wolfbus.messages.content import ScoredClaim

_LONG: Final = 18
_ROWS: Final = 12
"""Lines of a table that is shown where it stands; longer ones are folded."""


def _visible(value: Any) -> Any:
    return visible(value) if isinstance(value, str) and not isinstance(value, Markup) else value


def _kind(block: Block) -> str:
    return type(block).__name__


def _lines(text: str) -> Markup:
    return escape(visible(text, lines=True))


def _words(text: str, limit: int, *, lines: bool = False) -> Markup:
    return escape(words(text, limit, lines=lines))


def _drawn(figure: Figure) -> Markup:
    # drawn by our own code from the findings, every name in it escaped there
    return Markup(figure.draw())  # noqa: S704


def _breadth(text: str) -> str:
    """Return how a line's head is to be broken: within words only where one would push the numbers off the window."""
    if any(len(word) > _LONG for word in text.split()):
        return "long"
    return "wordy" if len(text) > _LONG else ""


TEXT_SHOWN: Final = 2_000
"""Characters of a statement."""
SIZE: Final = 12_000_000
"""Characters of the index at most; games beyond are left out."""
_TRUE: Final = (("lie", "lie"), ("mistake", "mistake"), ("true", "true"), ("checkable", "any that can be checked"))
_NAME: Final = 40
_FIRST: Final = 5
"""Statements that a selection links to for readers without script."""

_CHOICES: Final = {
    "tp": "deceptive, flagged (TP)",
    "fp": "truthful, flagged (FP)",
    "tn": "truthful, passed (TN)",
    "fn": "deceptive, passed (FN)",
    "flagged": "flagged",
    "scored": "judged, with a self-label",
    "judged": "judged",
}


class Index:
    """Takes games one by one and keeps their HTML, and their entries for counting selections."""

    def __init__(self) -> None:
        self._games: list[Markup] = []
        self._titles: list[tuple[int, str]] = []
        self._entries: list[StatementEntry] = []
        self._rounds = 0
        self._size = 0

    def add(self, game: IndexedGame) -> bool:
        """Add one game; return False, and leave it out, if the index would become too large."""
        markup: Markup = _macros().game(game)
        if self._size + len(markup) > SIZE:
            return False
        self._size += len(markup)
        self._games.append(markup)
        self._titles.append((game.place, game.rows.game))
        self._entries += game.entries
        self._rounds = max([self._rounds, *(entry.row.round for entry in game.entries)])
        return True

    def indexed(self, all_games: int, all_statements: int) -> Indexed:
        """Return how much of all there is the index holds."""
        return Indexed(len(self._games), all_games, len(self._entries), all_statements)

    def markup(self, context: Context, selections: Iterable[Selection]) -> Markup:
        """Return the section, with an element for every selection that numbers link to."""
        indexed = context.indexed
        statements, games = counted(indexed.statements, "statement"), counted(indexed.games, "game")
        if indexed.whole:
            extent = f"All {statements} of {games} are here."
        else:
            extent = (
                f"A sample: all {statements} of {indexed.games:,} whole games, drawn by their ids as far as there is "
                f"room, of {indexed.all_statements:,} in {counted(indexed.all_games, 'game')}. "
                "The numbers above are over all games; “wolfbus report --csv DIR” writes every statement and judgement."
            )
        choices, links = self._choices(context), self._selections(context, selections)
        markup: Markup = _macros().index(INDEX, extent, choices, links, self._games)
        return markup

    def _choices(self, context: Context) -> Iterator[tuple[str, str, Iterable[tuple[str, str]]]]:
        """Yield what statements can be filtered by: name, title, values with their labels."""
        agents = [(str(place), name) for place, name in enumerate(context.names)]
        roles = [(role, role) for role in roles_among({entry.row.role for entry in self._entries})]
        yield "role", "Speaker's role", roles
        yield "agent", "Speaker's agent", agents
        yield "label", "Self-label", [("deceptive", "deceptive"), ("truthful", "truthful")]
        yield "kind", "Kind", [(kind, kind) for kind in DECEPTIONS]
        yield "truth", "Truth", _TRUE
        yield "round", "Round", [(str(round_), str(round_)) for round_ in range(1, self._rounds + 1)]
        yield "phase", "Phase", [("debate", "debate"), ("vote", "vote")]
        yield "game", "Game", [(str(place), name) for place, name in self._titles]
        yield "judged", "Judgement", _CHOICES.items()
        yield "observer", "Observer's role", roles
        yield "by", "Observer's agent", agents

    def _selections(
        self, context: Context, selections: Iterable[Selection]
    ) -> Iterator[tuple[str, str, list[str], bool]]:
        """Yield what script replaces: how many statements each link of a number means, and the first of them."""
        matching, agents = EntryIndex(self._entries), context.names
        for selection in dict.fromkeys(selections):
            if selection.anchor == INDEX:
                continue
            anchors = [entry.anchor for entry in matching.find(selection)]
            extent = f"{selection.in_words(agents)}: {len(anchors):,} in the index"
            yield selection.anchor, extent, anchors[:_FIRST], len(anchors) > _FIRST


@functools.cache
def templates() -> Environment:
    """Return the report's templates."""
    environment = Environment(
        loader=PackageLoader("analytics.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_visible,
    )
    environment.globals |= {"LONG": _ROWS, "TEXT_SHOWN": TEXT_SHOWN}
    environment.filters |= {
        "breadth": _breadth,
        "claim_in_words": _claim,
        "drawn": _drawn,
        "ending_in_words": _ending,
        "judged_in_words": _judged,
        "kind": _kind,
        "label_in_words": _label,
        "lines": _lines,
        "names": _names,
        "path": path_of,
        "percent": percent,
        "words": _words,
    }
    return environment


def _macros() -> Any:
    return templates().get_template("index.html").module


def _names(seats: Iterable[str]) -> dict[str, Markup]:
    """Return the names of seats fit to show; each stands on the page hundreds of times."""
    return {name: Markup("<bdi>{}</bdi>").format(words(name, _NAME)) for name in seats}


def _ending(rows: GameRows) -> str:
    winner = {"villagers": "the villagers won", "werewolves": "the Werewolves won", None: "nobody won"}[rows.winner]
    return f"{winner} after {counted(rows.rounds, 'round')}" if rows.finished else "not finished"


def _label(entry: StatementEntry) -> str:
    row = entry.row
    if row.d is None:
        return "Self-label: none that counts"
    kind = f" ({row.kind})" if row.d and row.kind else ""
    sure = "" if row.c is None else f", confidence {percent(row.c)}"
    return f"Self-label: {entry.label}{kind}{sure}"


def _claim(scored: ScoredClaim, speaker: SeatName) -> str:
    says = kind_of(scored.claim).says(scored.claim, speaker)
    number = getattr(scored.claim, "round", None)
    night = f", night {number}" if number else ""
    how = ", found in the text" if scored.extracted else ""
    return f"{words(says, 120)}{night} ({scored.verdict}{how})"


def _judged(judgements: Sequence[EntryJudgement]) -> str:
    counting = [judgement.row for judgement in judgements if judgement.row.d is not None]
    suspicions = [row.s for row in counting if row.s is not None]
    mean = f", mean suspicion {percent(sum(suspicions) / len(suspicions))}" if suspicions else ""
    return f"{counted(len(counting), 'judgement')}: {sum(bool(row.d) for row in counting)} flag it{mean}"


REFUSED: Final = "default-src 'none'; base-uri 'none'; form-action 'none'"
"""What the page forbids itself, besides every script and style that is not its own."""


def page(title: str, sections: Sequence[Section], context: Context, index: Index | None = None) -> str:
    """Return the whole document.

    Args:
        title: of the page.
        sections: what it says, in order; the first is shown, the others are folded.
        context: what the page is about.
        index: the statements, before how to cite; None for a page without any.
    """
    style, script = css() + _asset("page.css"), _asset("page.js")
    document = (
        templates()
        .get_template("page.html")
        .render(
            title=title,
            sections=sections,
            before="cite",
            index_key=INDEX,
            index="" if index is None else index.markup(context, _linked(sections)),
            version=context.version,
            policy=f"{REFUSED}; style-src {_hash(style)}; script-src {_hash(script)}",
            # both are files of this package
            style=Markup(style),  # noqa: S704
            script=Markup(script),  # noqa: S704
        )
    )
    # a lone surrogate cannot be stored, and none should have come so far
    return document.encode("utf-8", "replace").decode()


def _linked(sections: Iterable[Section]) -> Iterator[Selection]:
    """Yield what the numbers of these sections link to."""
    for block in (block for section in sections for block in section.blocks):
        links: list[object]
        if isinstance(block, TableBlock):
            links = [cell.link for row in block.rows for cell in (row.head, *row.cells)]
        else:
            links = [part.to for part in _parts(block) if isinstance(part, LinkText)]
        yield from (link for link in links if isinstance(link, Selection))


def _parts(block: Block) -> Iterator[Part]:
    for item in (*getattr(block, "items", ()), getattr(block, "parts", ())):
        yield from item[1] if item and isinstance(item[-1], tuple) else item


def _asset(name: str) -> str:
    return files("analytics.report").joinpath(name).read_text("utf-8")


def _hash(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"
