"""`Seats` and `SeatRouter`: play the seats of one agent process; its mail is taken apart, and every seat of its games
handed what is for it.
"""

from __future__ import annotations

import logging
import math
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Final, Self, TypeAlias

from pykka import ActorRef

from wolfbus.actors import ActorPool, PooledActor, tell_here, tell_if_alive
from wolfbus.agent.agent import Agent
from wolfbus.agent.answer import Answer
from wolfbus.agent.member import Member
from wolfbus.agent.outbox import Outbox
from wolfbus.agent.seat import GameLeft, SeatActor, SeatNews
from wolfbus.bus import streams
from wolfbus.bus.protocol import Bus, Entry, Unpacked, every_entry
from wolfbus.bus.pump import BusReader, BusWriter
from wolfbus.errors import MessageError, VersionError, WolfError
from wolfbus.files.printable import error_in_words
from wolfbus.knowledge.view import SeatView
from wolfbus.messages.codec import decode_mail
from wolfbus.messages.house import Dropped
from wolfbus.messages.requests import Ask, Delivery, Seated, SeatPart

logger = logging.getLogger(__name__)

MakeAgent: TypeAlias = Callable[[str], Agent]
"""Makes the agent of a seat from the brain spec it was seated with."""

FORGET_S: Final = 3600.0
"""Seconds without a word after which a game is given up, for its moderator may be gone for good; should it go on after
all, the agent asks to be caught up."""

_LEAVING_S: Final = 3.0
"""Seconds in which the seats of an earlier game should have released what they hold, such as a terminal."""

_BATCH: Final = 32
"""Most messages whose answers wait for each other."""

_CLOSE_S: Final = 2.0
"""Seconds in which seats may come to their end when the agent leaves."""


@dataclass(frozen=True, slots=True)
class Rejoined:
    """The agent joins anew: all that runs will be caught up."""


@dataclass(frozen=True, slots=True)
class _Missed:
    """Facts of a game did not reach a seat."""

    game: str
    why: str


class AgentState:
    """What is known of an agent's seats outside its actors; its methods are safe from any thread.

    Attributes:
        playing: games under way.
        played: games that are over, or were given up.
        seats: seats that are played, or still hold something.
        quick: games under way in which nobody here keeps whoever asks waiting.
    """

    def __init__(self) -> None:
        self.playing = self.played = self.seats = 0
        self.quick: set[str] = set()
        self._changed = threading.Condition()

    def count(self, seats: int) -> None:
        """Count seats in, or out if less than 0."""
        with self._changed:
            self.seats += seats
            self._changed.notify_all()

    def wait(self, seats: int, seconds: float) -> None:
        """Wait until no more than so many seats are there, or the time is up."""
        with self._changed:
            self._changed.wait_for(lambda: self.seats <= seats, seconds)


class SeatRouter(PooledActor):
    """One participant: a mailbox in, a stream out, and an actor for every seat it plays.

    Tell it the contents of what its mailbox says of games, one or a tuple of them, the id of a game that will not end,
    or `Rejoined`. It reads deliveries one at a time: what waits, waits as it came. Seats that are asked hear their
    news first, and what they answer at once to a tuple goes out together.

    Args:
        outbox: where messages go.
        make: makes the agent of a seat; a failure closes every request of the seat.
        member: joins anew where something was missed; None for an agent that never joined.
        state: is kept; one of its own unless given.
    """

    def __init__(
        self, outbox: Outbox, make: MakeAgent, member: Member | None = None, state: AgentState | None = None
    ) -> None:
        super().__init__()
        self.outbox = outbox
        self._make = make
        self._member = member
        self._state = state or AgentState()
        self._games: dict[str, dict[str, ActorRef[SeatActor]]] = {}
        self._last_heard: dict[str, float] = {}
        self._behind: set[str] = set()
        self._given_up: set[str] = set()
        self._pending: dict[ActorRef[SeatActor], list[SeatNews]] = {}

    @classmethod
    def listen(
        cls,
        name: str,
        house: str,
        bus: Bus,
        reader: BusReader,
        writer: BusWriter,
        pool: ActorPool,
        make: MakeAgent,
    ) -> tuple[ActorRef[Self], Callable[[], None]]:
        """Start one in `pool` that hears its mailbox from what is new on it now, without joining
        the house.

        Returns:
            It; and what hands it the mail that `reader` had not read when it was closed, such as a game's end.
        """
        ref = cls.start_in(pool, Outbox(house, name, bus, writer), make)
        stream = streams.inbox(house, name)
        last = bus.last_id(stream)

        def deliver(_stream: str, entries: Iterable[Entry]) -> None:
            nonlocal last
            for entry in entries:
                ref.tell(entry.content)
                last = entry.id

        reader.follow(stream, deliver, last)
        return ref, lambda: deliver(stream, every_entry(bus, stream, last))

    def on_receive(self, message: object) -> None:
        """Handle messages of the mailbox, or leave the game of an id."""
        if isinstance(message, tuple):
            with self.outbox.together():
                for body in message:
                    self._receive(body)
            self._deliver_pending()
        elif isinstance(message, bytes | Unpacked):
            self._receive(message)
            self._deliver_pending()
        elif isinstance(message, str):
            self._leave(message)
        elif isinstance(message, _Missed):
            self._report_gap(message.game, message.why)
        elif isinstance(message, Rejoined):
            # whatever runs will be caught up
            self._behind.clear()

    def on_stop(self) -> None:
        """Leave all games."""
        for game in tuple(self._games):
            self._leave(game)

    def missed(self, game: str, why: str) -> None:
        """Ask to be caught up with a game; safe from any thread."""
        tell_if_alive(self.actor_ref, _Missed(game, why))

    def new_agent(self, seated: Seated) -> Agent:
        """Return a new agent, for a seat whose game goes on from before what was told; safe from
        any thread. Prompt text of that game is sent anew.
        """
        self.outbox.open_game(seated.game, anew=True)
        agent, _ = self._agent(seated, self._make)
        return agent

    def seat_left(self) -> None:
        """Count out a seat that holds nothing any more; safe from any thread."""
        self._state.count(-1)

    def _receive(self, body: bytes | Unpacked) -> None:
        """Take in one message: hand out a delivery, leave a game that is dropped.

        The rest is passed over, and so, with a line in the log, is what cannot be read: nobody here could answer it.
        """
        if isinstance(body, Unpacked) and isinstance(body.message, Delivery):
            self._dispatch(body.message)
            return
        try:
            mail = decode_mail(body)
        except VersionError as error:
            logger.debug("a message is passed over: %s", error)
        except MessageError as error:
            logger.error("a delivery could not be read: %s", error)  # noqa: TRY400 - the line says it all
        else:
            if isinstance(mail, Delivery):
                self._dispatch(mail)
            elif isinstance(mail, Dropped):
                if mail.game in self._games:
                    logger.info("game %s is broken off: %s", mail.game, mail.reason, extra={"game": mail.game})
                self._leave(mail.game)

    def _dispatch(self, delivery: Delivery) -> None:
        """Tell every seat of a game what is new, after seating those that were not seated yet.

        What is for a seat that never was seated is passed over: its game is over here, or a `catch_up` is on its way.
        """
        game = delivery.game
        if delivery.type == "catch_up":
            self._behind.discard(game)
            if not self._behind and self._member is not None:
                self._member.caught_up()
        seats = self._games.get(game, {})
        seated_before = len(seats)
        for part in delivery.seats:
            if part.seat not in seats:
                self._seat(game, seats, part)
        if len(seats) > seated_before:
            logger.info("plays %s", " and ".join(seats), extra={"game": game})
        parts = {part.seat: part for part in delivery.seats}
        # a game that the bus forgot may be opened anew under its old name: what begins with fact 1
        # is whole, too
        begins = any(part.facts and part.facts[0].n == 1 for part in delivery.seats)
        asked_at: float | None = -math.inf if begins else None
        if delivery.type == "catch_up":
            asked_at = self.outbox.joined_at
        now = time.monotonic()
        with self.outbox.together():
            for seat, ref in seats.items():
                own_part = parts.get(seat)
                if own_part is not None or delivery.facts:
                    self._pending.setdefault(ref, []).append(SeatNews(delivery.facts, own_part, asked_at, now))
                if own_part is not None and own_part.asks:
                    self._deliver_to(ref)
        if seats:
            self._last_heard[game] = now
        if any(news.fact.type == "ended" for news in delivery.facts):
            self._leave(game)

    def _deliver_to(self, ref: ActorRef[SeatActor]) -> None:
        for news in self._pending.pop(ref, ()):
            tell_here(ref, news)

    def _deliver_pending(self) -> None:
        """Send what is new to the seats that were asked nothing: nobody waits for them."""
        for ref in tuple(self._pending):
            self._deliver_to(ref)

    def _report_gap(self, game: str, why: str) -> None:
        """Report once that a game is behind, until it is caught up."""
        if game not in self._behind:
            self._behind.add(game)
            if self._member is not None:
                self._member.rejoin(f"game {game}: {why}")

    def _leave(self, game: str) -> None:
        """Leave a game; unknown ones are ignored."""
        self._behind.discard(game)
        self._given_up.discard(game)
        self._last_heard.pop(game, None)
        self._state.quick.discard(game)
        seats = self._games.pop(game, None)
        if seats is None:
            return
        logger.info("has left the game", extra={"game": game})
        for ref in seats.values():
            self._deliver_to(ref)
            tell_if_alive(ref, GameLeft())
        self.outbox.leave_game(game)
        self._state.played += 1
        self._state.playing = len(self._games)

    def _seat(self, game: str, seats: dict[str, ActorRef[SeatActor]], part: SeatPart) -> None:
        seated = next((news.fact for news in part.facts if isinstance(news.fact, Seated)), None)
        if seated is None:
            extra = {"game": game, "seat": part.seat}
            logger.debug("%s is not seated here: passed over", part.seat, extra=extra)
            if game in self._given_up:
                self._report_gap(game, "it goes on after all")
            return
        self._given_up.discard(game)
        if game not in self._games:
            self._give_up_silent_games()
            self._games[game] = seats
            self.outbox.open_game(game)
            self._state.playing = len(self._games)
            if self._member is not None:
                self._member.began()
        agent, quick = self._agent(seated, self._make_when_free)
        if not quick:
            self._state.quick.discard(game)
        elif not seats:
            self._state.quick.add(game)
        self._state.count(1)
        seats[part.seat] = SeatActor.start_in(self._pool, game, seated.seat, agent, self)

    def _give_up_silent_games(self) -> None:
        before = time.monotonic() - FORGET_S
        for game in [game for game, last in self._last_heard.items() if last < before]:
            logger.info("nothing was heard of game %s for long: it is given up", game, extra={"game": game})
            self._leave(game)
            self._given_up.add(game)

    def _agent(self, seated: Seated, make: MakeAgent) -> tuple[Agent, bool]:
        """Return the agent of a seat, and whether it keeps nobody waiting."""
        try:
            agent = make(seated.brain)
            agent.game, agent.seat = seated.game, seated.seat
            return agent, bool(agent.quick) and type(agent).start is Agent.start
        except BaseException as error:
            # it may fail in any way; every request of the seat is closed, and the record says why
            logger.exception("the brain of %s could not be made", seated.seat, extra={"game": seated.game})
            return _BrokenAgent(f"the brain could not be made: {error_in_words(error)}"), True

    def _make_when_free(self, label: str) -> Agent:
        playing = sum(map(len, self._games.values()))
        leaving = self._state.seats > playing
        try:
            return self._make(label)
        except WolfError:
            if not leaving:
                raise
        # there is one terminal, say, and the seat of the game before still holds it
        with self._pool.blocking():
            self._state.wait(playing, _LEAVING_S)
        return self._make(label)


class _BrokenAgent(Agent):
    """Closes every request at once, in place of an agent that could not be made; the record says
    why.
    """

    quick = True

    def __init__(self, note: str) -> None:
        self._note = note[:300]

    def answer(self, _ask: Ask, _view: SeatView, /) -> Answer:
        """Say why there is no answer."""
        return Answer(fault="failed", note=self._note)


class Seats(AgentState):
    """Plays the seats of a member of a house on a few threads of its own.

    Args:
        member: the agent's place in the house.
        make: makes the agent of a seat.
        threads: pool threads that run the actors; with one, hooks and quick methods of all seats
            are called one at a time.
    """

    def __init__(self, member: Member, make: MakeAgent, threads: int = 1) -> None:
        super().__init__()
        self._member = member
        self._pool = ActorPool(threads)
        self._router = SeatRouter.start_in(self._pool, member.outbox, make, member, self)

    def deliver(self, entries: Sequence[Entry]) -> None:
        """Hand out what is said of games, from any thread; quick agents answer on it."""
        for quick, group in groupby(entries, lambda entry: entry.game in self.quick):
            bodies = [entry.content for entry in group]
            if quick:
                for start in range(0, len(bodies), _BATCH):
                    tell_here(self._router, tuple(bodies[start : start + _BATCH]))
            else:
                for body in bodies:
                    tell_if_alive(self._router, body)

    def welcome(self) -> None:
        """Do nothing: seats wait for what they are told."""

    def rejoined(self) -> None:
        """Expect to be caught up with all games; safe from any thread."""
        tell_if_alive(self._router, Rejoined())

    def report(self) -> tuple[str, dict[str, int]]:
        """Return whether it plays, waits or joins, and how many games it plays and has played."""
        state = "playing" if self.playing else "waiting" if self._member.welcome else "joining"
        return state, {"games": self.playing, "played": self.played}

    def close(self) -> None:
        """End every seat, and return when nothing more will be sent."""
        self._router.stop()
        self.wait(0, _CLOSE_S)
        self._pool.close()
