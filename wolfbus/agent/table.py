"""`Table`: the games in which an agent has seats. Takes deliveries apart and hands every seat its own."""

from __future__ import annotations

import logging
import math
import time
from collections.abc import Sequence
from typing import Final, Generic, Protocol, TypeVar

from wolfbus.agent.hearing import News
from wolfbus.agent.outbox import Outbox
from wolfbus.errors import MessageError, VersionError
from wolfbus.messages.codec import decode_mail
from wolfbus.messages.house import Dropped
from wolfbus.messages.requests import Delivery, Seated, SeatPart

logger = logging.getLogger(__name__)

FORGET_S: Final = 3600.0
"""Seconds without a word after which a game is given up, for its moderator may be gone for good; should it go on after
all, the agent asks to be caught up."""

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
        outbox: where their replies go.
    """

    def __init__(self, players: Players[S], outbox: Outbox) -> None:
        self._players = players
        self._outbox = outbox
        self._games: dict[str, dict[str, S]] = {}
        self._heard: dict[str, float] = {}
        self._behind: set[str] = set()
        self._given_up: set[str] = set()

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

    def hear(self, body: bytes) -> None:
        """Take in one message of the mailbox, packed: hand out a delivery, leave a game that is dropped.

        The rest is passed over, and so, with a line in the log, is what cannot be read: nobody here could answer it.
        """
        try:
            mail = decode_mail(body)
        except VersionError as error:
            logger.debug("a message is passed over: %s", error)
        except MessageError as error:
            logger.error("a delivery could not be read: %s", error)  # noqa: TRY400 - the line says it all
        else:
            if isinstance(mail, Delivery):
                self.hand_out(mail)
            elif isinstance(mail, Dropped):
                self._drop(mail)

    def hand_out(self, delivery: Delivery) -> None:
        """Tell every seat of a game what is new, after seating those that were not seated yet.

        What is for a seat that never was seated is passed over: its game is over here, or a `catch_up` is on its way.
        """
        game = delivery.game
        if delivery.type == "catch_up":
            self._behind.discard(game)
            if not self._behind:
                self._players.caught_up()
        seats = self._games.get(game, {})
        known = len(seats)
        for part in delivery.seats:
            if part.seat not in seats:
                self._sit_down(game, seats, part)
        if len(seats) > known:
            logger.info("plays %s", " and ".join(seats), extra={"game": game})
        parts = {part.seat: part for part in delivery.seats}
        # a game that the bus forgot may be opened anew under its old name: what begins with fact 1 is whole, too
        begins = any(part.facts and part.facts[0].n == 1 for part in delivery.seats)
        asked_at = self._outbox.joined_at if delivery.type == "catch_up" else -math.inf if begins else None
        for seat, player in seats.items():
            own = parts.get(seat)
            if own is not None or delivery.facts:
                self._players.tell(player, News(delivery.facts, own, asked_at))
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
        self._given_up.discard(game)
        self._heard.pop(game, None)
        seats = self._games.pop(game, None)
        if seats is not None:
            logger.info("has left the game", extra={"game": game})
            self._players.rise(game, tuple(seats.values()))

    def clear(self) -> None:
        """Leave all games."""
        for game in self.games:
            self.leave(game)

    def _drop(self, dropped: Dropped) -> None:
        if dropped.game in self._games:
            logger.info("game %s is broken off: %s", dropped.game, dropped.reason, extra={"game": dropped.game})
        self.leave(dropped.game)

    def _sit_down(self, game: str, seats: dict[str, S], part: SeatPart) -> None:
        seated = next((news.fact for news in part.facts if isinstance(news.fact, Seated)), None)
        if seated is None:
            logger.debug("%s is not seated here: passed over", part.seat, extra={"game": game, "seat": part.seat})
            if game in self._given_up:
                self.lost(game, "it goes on after all")
            return
        self._given_up.discard(game)
        if game not in self._games:
            self._forget_silent_ones()
            self._games[game] = seats
        seats[part.seat] = self._players.sit_down(seated)

    def _forget_silent_ones(self) -> None:
        before = time.monotonic() - FORGET_S
        for game in [game for game, heard in self._heard.items() if heard < before]:
            logger.info("nothing was heard of game %s for an hour: it is given up", game, extra={"game": game})
            self.leave(game)
            self._given_up.add(game)
