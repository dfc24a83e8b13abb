"""`Table`: the games in which an agent has seats. Takes deliveries apart and hands every seat its own."""

from __future__ import annotations

import logging
import time
from collections.abc import Sequence
from typing import Final, Generic, Protocol, TypeVar

from wolfbus.agent.hearing import News
from wolfbus.messages.delivery import Delivery, Seated, SeatPart

logger = logging.getLogger(__name__)

FORGET_S: Final = 3600.0
"""Seconds without a word after which a game counts as broken off, for nobody tells an agent; should it go on after all,
it is caught up."""

S = TypeVar("S")


class Players(Protocol[S]):
    """Whoever plays an agent's seats; called from the thread that hands out deliveries."""

    def sit_down(self, seated: Seated, /) -> S:
        """Return what plays a seat of a game that this agent did not know."""
        ...

    def tell(self, player: S, news: News, /) -> None:
        """Tell a seat what is new."""
        ...

    def rise(self, game: str, players: Sequence[S], /) -> None:
        """Leave a game: its seats are played no more."""
        ...

    def behind(self, game: str, why: str, /) -> None:
        """Note that facts of a game are missing: only a `catch_up` helps."""
        ...

    def caught_up(self) -> None:
        """Note that no game is behind any more."""
        ...


class Table(Generic[S]):
    """An agent's games and seats. Not safe for several threads.

    Args:
        players: what plays the seats.
    """

    def __init__(self, players: Players[S]) -> None:
        self._players = players
        self._games: dict[str, dict[str, S]] = {}
        self._heard: dict[str, float] = {}
        self._behind: set[str] = set()

    def __len__(self) -> int:
        return len(self._games)

    @property
    def games(self) -> tuple[str, ...]:
        """Ids of the games under way."""
        return tuple(self._games)

    @property
    def seats(self) -> tuple[S, ...]:
        """All players of all games."""
        return tuple(player for seats in self._games.values() for player in seats.values())

    def hand_out(self, delivery: Delivery) -> None:
        """Tell every seat of a game what is new, after seating those that were not seated yet.

        What is for a seat that never was seated is passed over: a `catch_up` must come first.
        """
        game = delivery.game
        if delivery.type == "catch_up":
            self._behind.discard(game)
            if not self._behind:
                self._players.caught_up()
        seats = self._games.get(game, {})
        for part in delivery.seats:
            if part.seat not in seats:
                self._sit_down(game, seats, part)
        parts = {part.seat: part for part in delivery.seats}
        for seat, player in seats.items():
            own = parts.get(seat)
            if own is not None or delivery.facts:
                self._players.tell(player, News(delivery.facts, own))
        if seats:
            self._heard[game] = time.monotonic()
        if any(news.fact.type == "ended" for news in delivery.facts):
            self.leave(game)

    def lost(self, game: str, why: str) -> None:
        """Take note that a seat of a game missed something; told on once until the game is caught up."""
        if game in self._behind:
            return
        self._behind.add(game)
        self._players.behind(game, why)

    def again(self) -> None:
        """Take note that the agent joined anew: whatever runs will be caught up."""
        self._behind.clear()

    def leave(self, game: str) -> None:
        """Leave a game; unknown ones are ignored."""
        self._behind.discard(game)
        self._heard.pop(game, None)
        seats = self._games.pop(game, None)
        if seats is not None:
            self._players.rise(game, tuple(seats.values()))

    def clear(self) -> None:
        """Leave all games."""
        for game in self.games:
            self.leave(game)

    def _sit_down(self, game: str, seats: dict[str, S], part: SeatPart) -> None:
        seated = next((news.fact for news in part.facts if isinstance(news.fact, Seated)), None)
        if seated is None:
            logger.debug("%s was never seated here", part.seat, extra={"game": game, "seat": part.seat})
            self.lost(game, f"{part.seat} was never seated here")
            return
        if game not in self._games:
            self._forget_silent_ones()
            self._games[game] = seats
        seats[part.seat] = self._players.sit_down(seated)

    def _forget_silent_ones(self) -> None:
        before = time.monotonic() - FORGET_S
        for game in [game for game, heard in self._heard.items() if heard < before]:
            logger.info("nothing was heard of game %s for an hour: it is given up", game, extra={"game": game})
            self.leave(game)
