"""`Questions`: what a game has asked so far, and of which seats; by this an id proves that it names a request.
`LostSteps`: which requests may have been made in steps that the bus has forgotten.
"""

from __future__ import annotations

import sys
from typing import Final

from wolfbus.game.roles import ACTS
from wolfbus.game.vocabulary import Kind
from wolfbus.messages.base import SeatName
from wolfbus.messages.events import AnyEvent, Asked, Opened

_BY_DAY: Final[tuple[Kind, ...]] = tuple(kind for kind, act in ACTS.items() if act.span == "day")
_KINDS: Final[dict[str, tuple[Kind, ...]]] = {
    "night": tuple(kind for kind in ACTS if kind not in _BY_DAY),
    "debate": ("bid", "speak", "assess_own", "assess_other", *_BY_DAY),
    "vote": ("vote", "assess_own", "assess_other", *_BY_DAY),
}
"""What is asked in each phase of a round, in the order of the phases."""

_PHASES: Final = tuple(_KINDS)

_DIGITS: Final = 6
"""Longest number in a request's id that is read at all."""


class Questions:
    """Keeps every question of one game with the seats that were asked.

    Closed requests are known by their question; keeping every id would cost a game most of its memory.

    Args:
        game: its id.
        seats: its players, in seating order.
    """

    def __init__(self, game: str, seats: tuple[SeatName, ...]) -> None:
        self._game = game
        self._bits = {seat: 1 << place for place, seat in enumerate(seats)}
        # a bit for each seat that was asked
        self._bits_asked: dict[str, int] = {}

    def add(self, batch: Asked, kind: Kind, seats: tuple[SeatName, ...]) -> list[str]:
        """Add a question of a batch; returns the ids of its requests, one for each of `seats`."""
        # game/round/phase/turn/kind, the seat, and what it is about if it says
        stem = f"{batch.round}/{batch.phase}/{batch.turn}/{kind}"
        tail = "" if batch.about is None else f"/{batch.about}"
        # games ask much the same: what they share is kept once
        question = sys.intern(stem + tail)
        self._bits_asked[question] = self._bits_asked.get(question, 0) | sum(map(self._bits.__getitem__, seats))
        return [f"{self._game}/{stem}/{seat}{tail}" for seat in seats]

    def seat_asked(self, name: object) -> SeatName | None:
        """Return the seat of a request that was made in this game, whether or not it is open; None for no such."""
        if not isinstance(name, str):
            return None
        parts = name.split("/")
        if len(parts) not in {6, 7} or parts[0] != self._game:
            return None
        question = "/".join(parts[1:5]) + "".join(f"/{part}" for part in parts[6:])
        return parts[5] if self._bits.get(parts[5], 0) & self._bits_asked.get(question, 0) else None


class LostSteps:
    """Knows where the record of a game that is taken up ends, and so what may have come after it.

    Whoever takes up a game cannot tell that nothing followed the last step of its record: the bus
    may have lost its last moments, before this moderator came or under its eyes. A reply of a
    seat's own agent to what such a step would have asked is no fault of the agent's. In a game
    that was never taken up there are no such steps.

    Args:
        opened: seats and their agents.
    """

    def __init__(self, opened: Opened) -> None:
        self._game = opened.game
        self._agents: dict[str, str] = {seat.name: seat.agent for seat in opened.seats}
        self._rounds = opened.config.max_rounds
        self._end: tuple[int, int] | None = None

    def recall(self, event: AnyEvent) -> None:
        """Process one event of the record that the game goes on from, in record order."""
        if event.type == "opened":
            self._end = (1, 0)
        elif event.type == "asked":
            self._end = (event.round, _PHASES.index(event.phase))

    def may_have_asked(self, agent: str, request: object) -> bool:
        """Return whether a lost step may have asked this of one of the agent's seats.

        Args:
            agent: who says so.
            request: the request's id, which no step of the record has made.
        """
        if self._end is None or not isinstance(request, str):
            return False
        game, *place, kind, seat, about = _parts(request)
        if game != self._game or self._agents.get(seat) != agent:
            return False
        round_, phase, turn = place
        if phase not in _KINDS or kind not in _KINDS[phase]:
            return False
        if kind.startswith("assess") != bool(about):
            return False
        if not all(_is_number(number) for number in (round_, turn, about or "1")):
            return False
        return int(round_) <= self._rounds and (int(round_), _PHASES.index(phase)) >= self._end


def _parts(request: str) -> list[SeatName]:
    """Return the seven parts of an id, an empty one where it is about no statement; all empty
    where it is no id.
    """
    parts = request.split("/")
    if len(parts) not in {6, 7} or "" in parts:
        return [""] * 7
    return [*parts, ""][:7]


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) <= _DIGITS
