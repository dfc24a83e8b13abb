"""`Games`: opens a house's games, takes them up again, and routes what agents send to the game it is for.
`Announcements`: what the house itself says, to agents and on its ``games`` stream, outside of any game's steps.
"""

from __future__ import annotations

import logging
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from functools import partial
from typing import Final

from pykka import ActorRef

from moderator.engine.actor import ModeratorActor
from moderator.engine.context import (
    AgentJoined,
    Begin,
    GameOver,
    HandOver,
    HouseContext,
    Incoming,
    LeaveGame,
    PendingCommit,
    house_entry,
)
from moderator.engine.reexecution import GameSoFar, read_back, recover
from moderator.engine.seating import SeatPlayer
from moderator.rules.game import Play, Steps
from moderator.rules.game import game as by_the_rules
from wolfbus.actors import tell_if_alive
from wolfbus.bus import streams
from wolfbus.bus.protocol import Commit, Entry
from wolfbus.bus.streams import START, Id, join_id, parse_id
from wolfbus.errors import BusDown, BusError, Fenced, ModelHalted, RecordError, StreamLost, WolfError
from wolfbus.messages.base import Part
from wolfbus.messages.events import Opened
from wolfbus.record.writer import RecordFile

logger = logging.getLogger(__name__)

PATIENCE_S: Final = 60.0
"""How long what is to be said is tried again while the bus is away."""


class Announcements:
    """Posts for the house, under its epoch. Safe from any thread; what is told in order lands in order.

    Args:
        context: the house; durable cursors may travel along.
        failed: called, for each stream, with why nothing could be said on it, from the writer's thread; once and with
            "" where the house is another's now.
    """

    def __init__(self, context: HouseContext, failed: Callable[[BusError, str], None] | None) -> None:
        self._context = context
        self._failed = failed
        self._lock = threading.Lock()
        self._waiting: deque[PendingCommit] = deque()

    @property
    def idle(self) -> bool:
        """Whether everything was said that could be."""
        with self._lock:
            return not self._waiting

    def post(self, posts: Sequence[tuple[str, Entry]]) -> None:
        """Post (stream, entry) pairs, together if all can be; at least once while the bus comes and goes.

        Where the bus refuses them together, each is tried alone, in order: one stream that takes nothing keeps nobody
        from hearing the rest.
        """
        pending = self._pending(tuple(posts))
        with self._lock:
            self._waiting.append(pending)
            busy = len(self._waiting) > 1
        if not busy:
            self._begin(pending)

    def _pending(self, posts: tuple[tuple[str, Entry], ...]) -> PendingCommit:
        return PendingCommit(
            Commit(self._context.name, "", self._context.epoch, "", "", posts=posts), self._context.clock
        )

    def _begin(self, pending: PendingCommit | None) -> None:
        while pending is not None:
            try:
                self._context.cursors.send("", {}, pending.commit, partial(self._send, pending), over=False)
            except BusDown as closed:
                pending = self._end(closed)
            else:
                return

    def _send(self, pending: PendingCommit, commit: Commit) -> None:
        self._context.writer.commit(commit, partial(self._done, pending))

    def _done(self, pending: PendingCommit, error: BusError | None) -> None:
        again = pending.again(error, PATIENCE_S)
        if again is not None:
            try:
                self._send(pending, again)
            except BusDown as closed:
                error = closed
            else:
                return
        self._begin(self._end(error))

    def _end(self, error: BusError | None) -> PendingCommit | None:
        """Remove the oldest commit that waits; returns the next."""
        with self._lock:
            commit = self._waiting.popleft().commit
            if error is not None and not isinstance(error, Fenced | BusDown) and len(commit.posts) > 1:
                # nothing of it was written; whatever came meanwhile stays behind it
                self._waiting.extendleft(self._pending((post,)) for post in reversed(commit.posts))
                error = None
            following = self._waiting[0] if self._waiting else None
        if error is not None:
            self._give_up(commit, error)
        return following

    def _give_up(self, commit: Commit, error: BusError) -> None:
        # a moderator that was fenced off has nothing more to say, and steps down anyhow
        fenced = isinstance(error, Fenced)
        is_reported = fenced or self._failed is not None
        logger.log(logging.DEBUG if is_reported else logging.WARNING, "house %s: %s", self._context.name, error)
        if self._failed is not None:
            for stream in [""] if fenced else dict.fromkeys(stream for stream, _ in commit.posts):
                self._failed(error, stream)


class Games:
    """Moderates the games of one house on one bus.

    Args:
        context: the house.
        receive: called with an agent and each message of its that is for the house rather than a game, from the
            reader's thread.
        failed: called with why something that `tell` or `announce` had to say could not be said, and on which stream,
            from any thread; see `Announcements`.
        backwards: called with the loss of an out stream that now ends before what was read of it, from the reader's
            thread: the bus has gone backwards, and nothing known of it holds any more. One that was only cut is read on
            behind what was read. None leaves both to the reader's owner.
    """

    def __init__(
        self,
        context: HouseContext,
        receive: Callable[[str, Entry], None] | None = None,
        failed: Callable[[BusError, str], None] | None = None,
        backwards: Callable[[StreamLost], None] | None = None,
    ) -> None:
        self._context = context
        self._house = context.name
        self._bus = context.bus
        self._reader = context.reader
        self._cursors = context.cursors
        self._receive = receive or (lambda _agent, _entry: None)
        self._backwards = backwards
        self._announcements = Announcements(context, failed)
        self._games: dict[str, ActorRef[ModeratorActor]] = {}
        # id up to which each agent's out stream was handed on
        self._read: dict[str, Id] = {}
        self._leaving = False
        self._lock = threading.Lock()

    def listen(self, agent: str, after: str | None = None) -> None:
        """Read an agent's out stream; one that is read already is left alone.

        Args:
            agent: whose.
            after: id to read on from; None for what is new on it now.

        Raises:
            BusDown: what is new cannot be told, for the bus is away.
        """
        if agent in self._read:
            return
        stream = streams.outbox(self._house, agent)
        start = parse_id(after if after is not None else self._bus.last_id(stream))
        with self._lock:
            if agent in self._read:
                return
            self._cursors.follow(stream, start)
            self._read[agent] = start
        self._follow(agent, start)

    def ignore(self, agent: str) -> None:
        """Read an agent's out stream no more, until `listen` is called for it again."""
        stream = streams.outbox(self._house, agent)
        self._reader.unfollow(stream)
        with self._lock:
            self._read.pop(agent, None)
            self._cursors.unfollow(stream)

    def open(
        self,
        opened: Opened,
        file: RecordFile | None,
        over: Callable[[GameOver], None],
        number: int | None = None,
        play: Play = by_the_rules,
    ) -> None:
        """Start a game.

        Args:
            opened: its opening event.
            file: NDJSON record to write; None for none.
            over: called once, from the game's actor, when it has ended or cannot go on.
            number: its number in the session, for the news on the ``games`` stream; None for no news.
            play: what happens in it.
        """
        self._start(GameSoFar(opened, Steps(opened, play)), over, file, number)

    def resume(
        self,
        game: str,
        over: Callable[[GameOver], None],
        number: int | None = None,
        file: RecordFile | None = None,
        messages: Sequence[Entry] | None = None,
    ) -> Opened:
        """Resume a game where its record on the bus ends; blocks while the record is read and executed again.

        Call it before `listen`: then replies that reached the bus and are in no record find their game, and are read
        before anything is asked again.

        Args:
            game: its id.
            over: as for `open`; called at once if the record says that the game is over.
            number: as for `open`.
            file: as for `open`, with the record as it is on the bus.
            messages: what its agents have said in it elsewhere, for which no out stream needs to be read, and after
                which they are told all that their seats may know; None where they will join.

        Returns:
            Its opening event.

        Raises:
            RecordError: with the line, if the record is gone or is not what the rules give.
            BusDown: the bus is away.
        """
        so_far = recover(read_back(self._bus, self._house, game))
        if not so_far.over and (head := self._bus.head(self._house, game)) != so_far.head:
            stored = f"the bus holds {head[:12]}…" if head else "the bus has lost where it ends"
            raise RecordError(f"game {game}: its record ends with {so_far.head[:12]}…, {stored}")
        ref = self._start(so_far, over, file, number)
        if messages is not None:
            for agent in dict.fromkeys(seat.agent for seat in so_far.opened.seats):
                # before it is asked anything again
                tell_if_alive(ref, Incoming(agent, [entry for entry in messages if entry.sender == agent], START))
                tell_if_alive(ref, AgentJoined(agent))
        return so_far.opened

    def _start(
        self,
        so_far: GameSoFar,
        over: Callable[[GameOver], None],
        file: RecordFile | None,
        number: int | None,
    ) -> ActorRef[ModeratorActor]:
        def leave(result: GameOver) -> None:
            with self._lock:
                if self._games.get(result.game) is ref:
                    del self._games[result.game]
            if not isinstance(result.error, Fenced | ModelHalted):
                # otherwise the messages wait for whoever takes it up
                self._cursors.remove_game(result.game)
            over(result)

        game = so_far.opened.game
        ref = ModeratorActor.start_in(self._context.pool, self._context, so_far, leave, file, number)
        with self._lock:
            self._cursors.add_game(game)
            # before anybody can write to the game, it has been told to begin
            ref.tell(Begin())
            self._games[game] = ref
        return ref

    def catch_up(self, agent: str, player: SeatPlayer | None = None) -> None:
        """Have each running game in which the agent has seats tell it all that these may know.

        Args:
            agent: its name.
            player: what it is now. A game whose record says that something else plays these seats tells it nothing.
        """
        self._tell_games(AgentJoined(agent, player))

    def tell(self, posts: Sequence[tuple[str, Part]]) -> None:
        """Send messages of the house to mailboxes, as (agent, message), in one commit."""
        self._announcements.post(self._mail(posts))

    def announce(self, news: Part, goodbye: Sequence[tuple[str, Part]] = ()) -> None:
        """Put news on the ``games`` stream, and messages into mailboxes, in one commit if all can be."""
        self._announcements.post([(streams.games(self._house), house_entry(news)), *self._mail(goodbye)])

    def _mail(self, posts: Sequence[tuple[str, Part]]) -> list[tuple[str, Entry]]:
        return [(streams.inbox(self._house, agent), house_entry(message)) for agent, message in posts]

    @property
    def is_idle(self) -> bool:
        """Whether nothing of `tell` and `announce` is on its way any more."""
        return self._announcements.idle

    def send_cursors(self) -> None:
        """Send off newer durable cursors, if no game is under way whose commits would carry them."""
        if not self._games and not self._leaving and self._cursors.can_advance:
            self._announcements.post(())

    def stop(self) -> None:
        """Stop every game where it stands, and wait until all have left; their records stay readable."""
        refs = self._refs()
        for ref in refs:
            ref.stop(block=False)
        for ref in refs:
            ref.actor_stopped.wait()

    def break_off(
        self, reason: WolfError, game: str | None = None, wait_s: float = 0.0, *, stays: bool = False
    ) -> None:
        """End every game where it stands, or one, with the reason in its record.

        Args:
            reason: why; it stands in the news too, which spectators read.
            game: which one; None for all.
            wait_s: longest time to wait until all have left, >= 0.
            stays: whether it is to be gone on with: then nothing more is recorded.
        """
        refs = self._tell_games(LeaveGame(reason, stays), game)
        until = time.monotonic() + wait_s
        for ref in refs if wait_s else ():
            ref.actor_stopped.wait(max(until - time.monotonic(), 0.0))

    def hand_over(self, *, wait: bool = True) -> None:
        """Leave every game to another moderator and wait until all are left, unless told not to: each finishes the step
        that is on its way and writes nothing more.
        """
        self._leaving = True
        for ref in self._tell_games(HandOver()):
            if wait:
                ref.actor_stopped.wait()

    def _tell_games(self, message: object, only: str | None = None) -> list[ActorRef[ModeratorActor]]:
        """Send a message to every game, or one; returns those that it was sent to."""
        refs = self._refs(only)
        for ref in refs:
            tell_if_alive(ref, message)
        return refs

    def _refs(self, only: str | None = None) -> list[ActorRef[ModeratorActor]]:
        with self._lock:
            return [ref for game, ref in self._games.items() if only in {None, game}]

    def _follow(self, agent: str, after: Id) -> None:
        lost = partial(self._lost, agent) if self._backwards is not None else None
        self._reader.follow(streams.outbox(self._house, agent), partial(self._route, agent), join_id(after), lost)

    def _lost(self, agent: str, error: StreamLost) -> None:
        logger.warning("%s", error, extra={"agent": agent})
        if not error.backwards:
            # all that is left lies behind what was read
            if agent in self._read:
                self._follow(agent, START)
        elif self._backwards is not None:
            self._backwards(error)

    def _route(self, agent: str, _stream: str, entries: Sequence[Entry]) -> None:
        with self._lock:
            before = self._read.get(agent)
            if before is None:
                # it is ignored since this was read
                return
            if parse_id(entries[0].id) <= before:
                entries = [entry for entry in entries if parse_id(entry.id) > before]
                if not entries:
                    return
            last = self._read[agent] = parse_id(entries[-1].id)
        by_game: dict[str, list[Entry]] = {}
        for entry in entries:
            by_game.setdefault(entry.game, []).append(entry)
        to_house = by_game.pop("", ())
        self._cursors.dispatch(streams.outbox(self._house, agent), by_game, last)
        for game, messages in by_game.items():
            if self._context.received is not None:
                self._context.received(game, messages)
            ref = self._games.get(game)
            if ref is None:
                # replies that come after their game is over are the common case, and harmless
                logger.debug("%d messages of %s for game %r found no such game", len(messages), agent, game)
                continue
            if not tell_if_alive(ref, Incoming(agent, messages, last)):
                logger.debug("%d messages of %s came after the end of game %s", len(messages), agent, game)
        for entry in to_house:
            self._receive(agent, entry)
