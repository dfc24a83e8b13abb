"""`ModeratorActor`: one game's authority on the bus. It drives the rules, commits each step, and keeps the
deadlines.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from moderator.engine.commits import CommitBuilder
from moderator.engine.context import (
    AgentJoined,
    Begin,
    Committed,
    Expired,
    GameOver,
    HandOver,
    HouseContext,
    Incoming,
    LeaveGame,
    PendingCommit,
)
from moderator.engine.deadlines import RequestClock
from moderator.engine.reexecution import GameSoFar, read_back
from moderator.engine.referee import OpenRequest, seat_of
from moderator.engine.reports import Reported
from moderator.rules.game import Step
from moderator.rules.table import Answers
from wolfbus.actors import PooledActor, Timer, tell_if_alive
from wolfbus.bus import streams
from wolfbus.bus.protocol import Commit
from wolfbus.bus.streams import Id
from wolfbus.errors import BusDown, BusError, BusFull, RecordError, WolfError
from wolfbus.files.printable import error_in_words
from wolfbus.game.vocabulary import KINDS
from wolfbus.knowledge.audience import AudienceFilter
from wolfbus.messages.base import slim
from wolfbus.messages.events import Answered, AnyAnswered, AnyEvent, Ended, Rejected, Stopped
from wolfbus.record.line import Recorded
from wolfbus.record.writer import RecordFile

logger = logging.getLogger(__name__)

REJECTED_PER_SENDER = 256
"""Rejected messages that a record keeps of one sender; a flood must not fill the disk."""

LOOK_AGAIN_S = 1.0
"""Seconds until a record that could not be read back for a returning agent is tried again."""

_PHASE_ENDS = frozenset({"dawn", "exile", "ended", "stopped"})
"""Events after which the record is made safe against a loss of power, and cursors may move."""


class ModeratorActor(PooledActor):
    """Moderates one game.

    Args:
        context: what it shares with the house's other games.
        so_far: the game, to be begun or to go on from its record.
        over: called once, from this actor, when the game is over or cannot go on.
        file: NDJSON record to write behind every commit, None for none.
        number: the game's number in its session, for the news on the house's ``games`` stream; None for no news.
    """

    def __init__(
        self,
        context: HouseContext,
        so_far: GameSoFar,
        over: Callable[[GameOver], None],
        file: RecordFile | None = None,
        number: int | None = None,
    ) -> None:
        super().__init__()
        self._context = context
        self._so_far = so_far
        self._opened = opened = so_far.opened
        for part in (opened, *opened.seats):
            slim(part)
        self._over = over
        self._file = file
        self._builder = CommitBuilder(context, so_far, number)
        self._steps = so_far.steps
        self._referee = so_far.referee
        self._presence = so_far.presence
        self._night = so_far.night
        self._rejections = so_far.rejections
        self._dawn: Timer | None = None
        self._received: dict[str, Id] = {}
        self._newcomers: dict[str, None] = {}
        self._answers: dict[int, Answers] = {}
        self._waits_for: tuple[int, ...] = ()
        self._reported: list[Reported] = []
        self._deadlines = RequestClock(context.timers, partial(tell_if_alive, self.actor_ref, Expired()))
        self._landing: _Landing | None = None
        self._stop_reason: WolfError | None = None
        self._stays = False
        self._handing_over = False
        self._done = False

    def on_receive(self, message: Any) -> None:
        """Handle one message; whatever goes wrong ends the game with a reason, never the actor alone."""
        if self._done:
            return
        try:
            self._handle(message)
        except WolfError as error:
            self._end_game(None, error)
        except Exception as error:
            logger.exception("game %s failed", self._opened.game)
            self._end_game(None, WolfError(f"game {self._opened.game} failed: {error_in_words(error)}"))

    def on_stop(self) -> None:
        """Leave the record as it stands when stopped from outside."""
        if not self._done:
            self._end_game(None, WolfError(f"game {self._opened.game} was stopped before its end"))

    def _handle(self, message: object) -> None:
        if isinstance(message, Incoming):
            self._receive(message)
        elif isinstance(message, Committed):
            self._landed(message.error)
        elif isinstance(message, Expired):
            for answer in self._referee.time_out(self._deadlines.due()):
                self._add_answer(answer)
            self._advance()
        elif isinstance(message, AgentJoined):
            self._join(message)
        elif isinstance(message, Begin):
            if self._so_far.count:
                self._resume(self._so_far)
            else:
                self._commit(self._steps.advance())
        elif isinstance(message, LeaveGame):
            self._break_off(message)
        elif isinstance(message, HandOver):
            self._handing_over = True
            if self._landing is None:
                self._end_game(None, None)

    def _join(self, message: AgentJoined) -> None:
        deliveries = self._builder.deliveries
        if message.player is not None and not deliveries.admit(message.player):
            self._newcomers.pop(message.agent, None)
        if seats := deliveries.seats_of(message.agent):
            self._presence.mark_alive(seats)
            self._newcomers[message.agent] = None
            self._catch_up()

    def _resume(self, so_far: GameSoFar) -> None:
        """Go on where the record ends: what is open there is open again, with its time in full."""
        if so_far.over:
            self._end_game(so_far.ended, None if so_far.ended else WolfError(so_far.stopped or ""))
            return
        self._waits_for = so_far.waits_for
        self._set_timers(self._close_declined(self._referee.open_requests(self._presence.on_grace)))
        self._advance()

    def _close_declined(self, requests: list[OpenRequest]) -> list[OpenRequest]:
        """Close at once what its agent declines; returns the other requests."""
        waiting = []
        for request in requests:
            if self._referee.is_declined(request):
                self._add_answer(self._referee.decline(request))
            else:
                waiting.append(request)
        return waiting

    def _break_off(self, message: LeaveGame) -> None:
        """End the game where it stands; its record keeps what was reported, and says why unless it is to go on."""
        if self._stop_reason is None:
            self._stop_reason, self._stays = message.reason, message.stays
            if isinstance(message.reason, BusError) or self._builder.count == 0:
                self._end_game(None, message.reason)
            elif self._landing is None:
                self._stop_here(message.reason)

    def _stop_here(self, reason: WolfError) -> None:
        if self._stays:
            self._end_game(None, reason)
        else:
            self._commit_stop(reason)

    def _commit_stop(self, reason: WolfError) -> None:
        self._commit(Step((Stopped(reason=str(reason)),), (), None))

    def _receive(self, message: Incoming) -> None:
        for entry in message.entries:
            for verdict in self._referee.receive(message.agent, entry):
                if isinstance(verdict, Answered):
                    self._add_answer(verdict)
                elif isinstance(verdict, Rejected):
                    self._reject(verdict)
                else:
                    self._reported.append(verdict)
        self._received[message.agent] = message.upto
        self._advance()

    def _reject(self, rejected: Rejected) -> None:
        if rejected.reason == "closed" and rejected.request is not None:
            # an absent seat that answers late is alive, but slower than the grace: it gets its full time again
            self._presence.mark_alive([seat_of(rejected.request)])
        self._rejections[rejected.sender] += 1
        count = self._rejections[rejected.sender]
        if count == REJECTED_PER_SENDER:
            note = f"{rejected.note} (the last of this sender to be recorded; further ones are dropped)"
            rejected = rejected.model_copy(update={"note": note})
        if count <= REJECTED_PER_SENDER:
            self._reported.append(rejected)

    def _add_answer(self, answer: AnyAnswered) -> None:
        self._presence.note_answer(answer)
        self._night.feed(answer, self._builder.now)
        self._answers.setdefault(answer.batch, {})[answer.seat] = answer
        if not self._referee.is_open(answer.batch):
            self._presence.forget(answer.batch)
            self._deadlines.drop(answer.batch)

    def _advance(self) -> None:
        """Advance if the last step has landed and everything waited for is closed; never before the game has begun."""
        if self._landing is not None or not self._waits_for or self._stop_reason is not None or self._handing_over:
            return
        if any(self._referee.is_open(batch) for batch in self._waits_for):
            return
        left_s = self._night.left_s(self._waits_for, self._presence.on_grace, self._builder.now)
        if left_s > 0:
            if self._dawn is None or not self._dawn.pending:
                wake = partial(tell_if_alive, self.actor_ref, Expired())
                self._dawn = self._context.timers.after(left_s, wake)
            return
        joined = {batch: self._answers.pop(batch) for batch in self._waits_for}
        self._commit(self._steps.advance(joined))

    def _commit(self, step: Step) -> None:
        shorten = self._referee.reports.shortener.shorten
        reports, self._reported = shorten(self._reported, step.events, self._answers.values())
        events: tuple[AnyEvent, ...] = (*reports, *step.events)
        requests: list[OpenRequest] = []
        for event in events:
            self._presence.feed(event)
            if event.type == "asked":
                self._night.feed(event, self._builder.now)
                # replies may overtake the word that the commit landed, so requests are open before it goes out
                requests += self._close_declined(self._referee.ask(event, self._presence.on_grace))
        commit, recorded, lines = self._builder.step(events, requests)
        stopped = any(event.type == "stopped" for event in step.events)
        pending = PendingCommit(commit, time.monotonic)
        landing = self._landing = _Landing(pending, step.waits_for, step.ended, stopped, recorded, lines, requests)
        if any(event.type in _PHASE_ENDS for event in step.events):
            # all that was asked is joined, so all that was received is in the record with this step
            house = self._context.name
            landing.recorded_upto = {streams.outbox(house, agent): upto for agent, upto in self._received.items()}
            over = stopped or step.ended is not None
            self._context.cursors.send(self._opened.game, landing.recorded_upto, commit, self._send, over=over)
        else:
            self._send(commit)

    def _send(self, commit: Commit) -> None:
        self._context.writer.commit(commit, self._commit_done)

    def _catch_up(self) -> None:
        """Tell agents that have come all that their seats may know; between two steps, so that nothing is missing."""
        if not self._newcomers or self._landing is not None or self._stop_reason is not None or self._handing_over:
            return
        asks = {agent: self._referee.asks_of(agent) for agent in self._newcomers}
        self._newcomers = {}
        try:
            with self._pool.blocking():
                record = read_back(self._context.bus, self._context.name, self._opened.game, AudienceFilter.EVENT_TYPES)
                posts = self._builder.deliveries.of_catch_up((recorded.event for recorded in record), asks)
        except BusDown as error:
            logger.warning("game %s: %s cannot be told of it yet: %s", self._opened.game, ", ".join(asks), error)
            for agent in asks:
                self._context.timers.after(LOOK_AGAIN_S, partial(tell_if_alive, self.actor_ref, AgentJoined(agent)))
        except (BusError, RecordError) as error:
            # of a bus in memory, where a record is dropped behind its readers
            logger.warning("game %s: %s cannot be told of it: %s", self._opened.game, ", ".join(asks), error)
        else:
            if posts:
                commit = self._builder.posts_only(posts)
                self._landing = _Landing(PendingCommit(commit, time.monotonic), self._waits_for)
                self._send(commit)

    def _commit_done(self, error: BusError | None) -> None:
        tell_if_alive(self.actor_ref, Committed(error))

    def _landed(self, error: BusError | None) -> None:
        landing = self._landing
        if landing is None:
            return
        again = landing.pending.again(error, self._longest_failure_s(error)) if not self._handing_over else None
        if again is not None:
            if isinstance(error, BusDown):
                # the writer itself says when the memory of the bus is full
                logger.warning("game %s: %s; trying again", self._opened.game, error)
            self._send(again)
            return
        self._landing = None
        if error is not None:
            self._end_game(None, error)
            return
        if landing.recorded_upto is not None:
            self._context.cursors.landed(self._opened.game, landing.recorded_upto)
        self._write(landing)
        if self._context.landed is not None and landing.recorded:
            self._context.landed(self._opened.game, landing.recorded)
        if landing.ended is not None:
            self._end_game(landing.ended, None)
            return
        if self._stop_reason is not None and (landing.stopped or not self._handing_over):
            if landing.stopped:
                self._end_game(None, self._stop_reason)
            else:
                self._stop_here(self._stop_reason)
            return
        if self._handing_over:
            self._end_game(None, None)
            return
        self._waits_for = landing.waits_for
        self._set_timers(landing.requests)
        self._catch_up()
        self._advance()

    def _longest_failure_s(self, error: BusError | None) -> float:
        """Return for how long to commit again: what passes within the longest deadline costs only time.

        Housekeeping makes room as agents read on, so a full memory passes as an outage does.
        """
        if isinstance(error, BusFull) and self._context.full_s is not None:
            return self._context.full_s
        deadlines = self._opened.config.deadlines
        return max(deadlines.of(kind) for kind in KINDS)

    def _set_timers(self, requests: list[OpenRequest]) -> None:
        """Start the clocks of a step's requests."""
        lengths: dict[tuple[int, float], list[str]] = {}
        for request in requests:
            lengths.setdefault((request.batch.batch, request.deadline_s), []).append(request.id)
        for (batch, seconds), ids in lengths.items():
            if self._referee.is_open(batch):
                self._deadlines.start(batch, seconds, ids)

    def _write(self, landing: _Landing) -> None:
        if self._file is None or not landing.lines:
            return
        self._file.write(landing.lines)
        if landing.recorded_upto is not None:
            self._file.sync()

    def _end_game(self, ended: Ended | None, error: WolfError | None) -> None:
        self._done = True
        self._deadlines.close()
        if self._dawn is not None:
            self._dawn.cancel()
        if self._file is not None:
            try:
                self._file.close()
            except RecordError as closing:
                error = error or closing
        digest = self._builder.digest.hexdigest()
        self._over(GameOver(self._opened.game, None if error else ended, error, digest))
        if self.actor_ref.is_alive():
            self.stop()


@dataclass(slots=True)
class _Landing:
    """What there is to do when a step has landed; not the step itself, for many wait for the bus at a time."""

    pending: PendingCommit
    waits_for: tuple[int, ...]
    ended: Ended | None = None
    stopped: bool = False
    recorded: list[Recorded] = field(default_factory=list)
    lines: list[bytes] = field(default_factory=list)
    requests: list[OpenRequest] = field(default_factory=list)
    recorded_upto: dict[str, Id] | None = None
    """Where the step ends a phase: up to where each out stream's messages for this game are in its record."""
