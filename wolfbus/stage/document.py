"""`GameFeed`: one game for one viewer, as the plain values that a page shows; docs/stage-data.md describes them.

`learning` is what the page ``/learn`` shows: the rules,
the words, the numbers that it plays with.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Final

from wolfbus.files.package_data import PackageData, Prose, read_data
from wolfbus.game.config import GameConfig, rules_text
from wolfbus.game.roles import FACTS
from wolfbus.game.vocabulary import ROLES
from wolfbus.knowledge.suspicion import smooth
from wolfbus.messages.base import SeatName
from wolfbus.messages.events import Opened
from wolfbus.record.line import Recorded
from wolfbus.stage.beats import Beat, as_json
from wolfbus.stage.fold import BeatFold
from wolfbus.stage.story import key_moments, story
from wolfbus.stage.viewers import EVERYTHING, PUBLIC, Fact, TableOpened, Viewer, ViewerFilter, viewer_of_seat

FORMAT: Final = 1
"""Version of the data of a page."""

_SEAT_FIELDS: Final = ("name", "brain", "agent", "model")


class GameFeed:
    """Folds the lines of a record into what one viewer is shown.

    Args:
        viewer: who looks; nothing that they may not know is kept.
        records: the lines that are there already.

    Attributes:
        viewer: who looks.
        line: number of the last line taken in, 0 for none; for a seat or the public, of the last fact that they were
            told, since the record's numbers would tell how much others were asked.
    """

    def __init__(self, viewer: Viewer, records: Iterable[Recorded] = ()) -> None:
        self.viewer = viewer
        self.line = 0
        self._filter = ViewerFilter(viewer)
        self._fold = BeatFold(viewer)
        self._game: dict[str, Any] = {}
        for recorded in records:
            self.feed(recorded)

    @property
    def names(self) -> tuple[SeatName, ...]:
        """All players in seating order."""
        return self._fold.seating.names

    @property
    def beats(self) -> list[Beat]:
        """The beats so far."""
        return self._fold.beats

    @property
    def over(self) -> bool:
        """Whether the game ended or was broken off, as far as the viewer knows."""
        return self._fold.over

    @property
    def private(self) -> bool:
        """Whether somebody plays whose thoughts are left out."""
        return self._fold.private

    def feed(self, recorded: Recorded) -> list[Beat]:
        """Fold the next line of the record, and return the beats that are complete with it."""
        facts = self._filter.facts(recorded.event)
        if self.viewer == EVERYTHING:
            return self.take(recorded.n, recorded.time, facts)
        return self.take(self.line + len(facts), recorded.time, facts) if facts else []

    def take(self, line: int, time: float, facts: Sequence[Fact]) -> list[Beat]:
        """Fold facts that the viewer was told, and return the beats that are complete with them.

        Args:
            line: number of the last of them.
            time: seconds from the opening.
            facts: the facts.
        """
        self.line = line
        for fact in facts:
            if isinstance(fact, Opened | TableOpened):
                self._game = _game(fact)
        return self._fold.feed(line, time, facts)

    def game(self) -> dict[str, Any]:
        """Return the facts about the game that no beat holds."""
        seats = self._game.get("seats", [])
        # who was told of no opening knows the players that were heard of
        seats = seats or [{"name": name} for name in self.names]
        models = self._fold.calls.models
        return {
            **self._game,
            "seats": [{**seat, "model": models[seat["name"]]} if seat["name"] in models else seat for seat in seats],
        }

    def live(self) -> dict[str, Any] | None:
        """Return what goes on behind the last beat; None when the game is over."""
        if self.over:
            return None
        waiting = self._fold.waiting.seats(self.names)
        return {
            **{name: value for name, value in self._fold.place().items() if value is not None},
            "waiting": [{"kind": kind, "seats": list(seats)} for kind, seats in waiting.items()],
            "pending": [as_json(beat) for beat in self._fold.pending()],
        }

    def moments(self) -> list[dict[str, Any]]:
        """Return the key moments so far."""
        return [as_json(moment) for moment in key_moments(self.beats)]

    def head(self) -> dict[str, Any]:
        """Return the page's data but for the beats."""
        return {
            "format": FORMAT,
            "viewer": self.viewer,
            "game": self.game(),
            "line": self.line,
            "over": self.over,
            "live": self.live(),
            "moments": self.moments(),
            **({"story": as_json(story(self.beats))} if self.over and self.viewer == EVERYTHING else {}),
        }

    def page(self) -> dict[str, Any]:
        """Return the whole data of a page."""
        return {**self.head(), "beats": [as_json(beat) for beat in self.beats]}

    def step(self, since: int) -> dict[str, Any]:
        """Return what a page that has the beats up to line `since` lacks: the data of one live event."""
        first = next((place for place, beat in enumerate(self.beats) if beat.line > since), len(self.beats))
        # who was not told at the opening who plays learns that as it goes
        game = {} if self._game.get("seats") else {"game": self.game()}
        return {
            **game,
            "line": self.line,
            "from": first,
            "beats": [as_json(beat) for beat in self.beats[first:]],
            "over": self.over,
            "live": self.live(),
            "moments": self.moments(),
        }


def seats_of(records: Sequence[Recorded]) -> tuple[SeatName, ...]:
    """Return all players of a record in seating order; () where it does not hold even its opening."""
    opened = records[0].event if records else None
    return tuple(seat.name for seat in opened.seats) if isinstance(opened, Opened) else ()


def proof(records: Sequence[Recorded], problem: str | None) -> dict[str, Any]:
    """Return what the seals of a record's whole lines show.

    Args:
        records: the lines, at least one.
        problem: what is wrong with the line after them.
    """
    sealed = problem is None and records[-1].event.type in {"ended", "stopped"}
    return {"sealed": sealed, "head": records[-1].hash, "lines": len(records)}


def all_viewers(names: tuple[SeatName, ...]) -> tuple[Viewer, ...]:
    """Return every viewer of a game: everything, public, and the seats in seating order."""
    return (EVERYTHING, PUBLIC, *map(viewer_of_seat, names))


def _game(fact: Opened | TableOpened) -> dict[str, Any]:
    game: dict[str, Any] = {"id": fact.game}
    if fact.config is not None:
        game["config"] = fact.config.model_dump(mode="json", exclude={"roles", "names", "deadlines"})
        game["roles"] = _roles(fact.config)
    if fact.started is not None:
        game["started"] = fact.started
    if isinstance(fact, TableOpened):
        return {**game, "seats": [{"name": name} for name in fact.names]}
    if fact.title is not None:
        game["title"] = fact.title
    if fact.fork is not None:
        fork = fact.fork
        words = f"Played on from {fork.parent} at statement {fork.statement}: {fork.arm}, fork {fork.k}"
        game["fork"] = {"parent": fork.parent, "statement": fork.statement, "words": words}
    return {
        **game,
        "version": fact.version,
        "seed": fact.seed,
        "seats": [
            {name: value for name in _SEAT_FIELDS if (value := getattr(seat, name)) is not None} for seat in fact.seats
        ],
    }


def _roles(config: GameConfig) -> list[dict[str, Any]]:
    """Return which roles a game has and how many of each; who has them is left out."""
    return [
        {"role": role, "plural": facts.plural, "number": number}
        for role, facts in FACTS.items()
        if (number := config.count(role))
    ]


_JUDGEMENTS: Final = (0.6, 0.7, 0.2, 0.3, 0.9, 0.8, 0.85, 0.1)
"""Suspicion of one player by another, statement by statement, as an example."""


class Term(PackageData):
    """A word and what it means."""

    term: str
    words: Prose


class Glossary(PackageData):
    """The words of the game, in the order in which they are best read."""

    terms: tuple[Term, ...]


def learning() -> dict[str, Any]:
    """Return the data of the page ``/learn``."""
    config = GameConfig()
    glossary = read_data("wolfbus.stage", "glossary", Glossary)
    return {
        "format": FORMAT,
        "rules": rules_text(config),
        "night": [
            f"{FACTS[role].plural} {acts[0].verb}"
            for role in ROLES
            if config.count(role) and (acts := [act for act in FACTS[role].acts.values() if act.span == "night"])
        ],
        "glossary": [term.model_dump() for term in glossary.terms],
        "alpha": config.alpha,
        "prior": config.prior,
        "example": _smoothed_example(config.prior),
    }


def _smoothed_example(prior: float) -> dict[str, Any]:
    """Return how suspicion follows the same judgements with each weight."""
    curves = []
    for tenths in range(11):
        values = [prior]
        for suspicion in _JUDGEMENTS:
            values.append(smooth(values[-1], suspicion, tenths / 10))
        curves.append({"alpha": tenths / 10, "values": [round(value, 4) for value in values]})
    return {"prior": prior, "judgements": _JUDGEMENTS, "curves": curves}
