"""`ModeratorActor`: one game's authority on the bus. It drives the rules, commits each step, and keeps the
deadlines.
"""

from __future__ import annotations

import logging
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from moderator.deliveries import Deliveries
from moderator.referee import OpenRequest, Referee, seat_of
from moderator.steps import Step, Steps
from moderator.table import Answers
from wolfbus.actors import PooledActor, Timer, Timers, tell_if_alive
from wolfbus.bus.protocol import Commit, Entry
from wolfbus.bus.pump import BusWriter
from wolfbus.errors import BusDown, BusError, RecordError, WolfError
from wolfbus.messages.base import SeatName
from wolfbus.messages.calls import ModelCall, Segment
from wolfbus.messages.codec import pack, plain
from wolfbus.messages.events import AnyAnswered, AnyEvent, Ended, Opened, Rejected, Stopped
from wolfbus.record.digest import Digest
from wolfbus.record.line import Recorded, seal
from wolfbus.record.writer import RecordFile
from wolfbus.vocabulary import KINDS

logger = logging.getLogger(__name__)

REJECTED_PER_SENDER = 256
"""Rejected messages that a record keeps of one sender; a flood must not fill the disk."""


_PHASE_ENDS = frozenset({"dawn", "exile", "ended", "stopped"})
"""Events after which the record is made safe against a loss of power."""


@dataclass(frozen=True, slots=True)
class Begin:
    """Open the game."""


@dataclass(frozen=True, slots=True)
class Incoming:
    """Messages for this game stood on an agent's out stream."""

    agent: str
    entries: Sequence[Entry]


@dataclass(frozen=True, slots=True)
class Committed:
    """The last step landed, or could not."""

    error: BusError | None


@dataclass(frozen=True, slots=True)
class Expired:
    """The time of these requests is up."""

    ids: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Leave:
    """The game cannot go on."""

    reason: WolfError


@dataclass(frozen=True, slots=True)
class GameOver:
    """How a game left its moderator.

    Attributes:
        game: its id.
        ended: the last event; None if the game could not finish.
        error: why it could not.
        digest: digest of the game, 64 hex digits; of a game that ended early it may cover a step that never landed.
        events: the events it covers.
    """

    game: str
    ended: Ended | None
    error: WolfError | None
    digest: str
    events: int


class ModeratorActor(PooledActor):
    """Moderates one game.

    Args:
        house: house name, for stream names.
        epoch: owner epoch under which to commit.
        opened: the game's opening event.
        writer: the process's bus writer.
        timers: the process's timers.
        file: NDJSON record to write behind every commit, None for none.
        over: called once, from this actor, when the game is over or cannot go on.
        clock: seconds that never run backwards.
    """

    def __init__(
        self,
        house: str,
        epoch: int,
        opened: Opened,
        writer: BusWriter,
        timers: Timers,
        file: RecordFile | None,
        over: Callable[[GameOver], None],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        super().__init__()
        self._house = house
        self._epoch = epoch
        self._opened = opened
        self._writer = writer
        self._timers = timers
        self._file = file
        self._over = over
        self._clock = clock
        self._began = clock()
        self._steps = Steps(opened)
        self._referee = Referee(opened)
        self._deliveries = Deliveries(house, opened)
        self._digest = Digest()
        self._head = ""
        self._count = 0
        self._absent: set[SeatName] = set()
        self._waking: set[SeatName] = set()
        # batches in which absent seats that showed life got their full time; only there does a time-out count against
        # them: what was asked before with the grace alone says nothing
        self._full_time: dict[int, set[SeatName]] = {}
        self._answers: dict[int, Answers] = {}
        self._waits_for: tuple[int, ...] = ()
        self._aside: list[Rejected | Segment | ModelCall] = []
        self._rejections: Counter[str] = Counter()
        self._running: dict[int, list[Timer]] = {}
        self._landing: _Landing | None = None
        self._broken: WolfError | None = None
        self._done = False

    def on_receive(self, message: Any) -> None:
        """Handle one message; whatever goes wrong ends the game with a reason, never the actor alone."""
        if self._done:
            return
        try:
            self._handle(message)
        except WolfError as error:
            self._leave(None, error)
        except Exception as error:
            logger.exception("game %s failed", self._opened.game)
            self._leave(None, WolfError(f"game {self._opened.game} failed: {type(error).__name__}: {error}"))

    def on_stop(self) -> None:
        """Leave the record as it stands when stopped from outside."""
        if not self._done:
            self._leave(None, WolfError(f"game {self._opened.game} was stopped before its end"))

    def _handle(self, message: object) -> None:
        if isinstance(message, Incoming):
            self._receive(message)
        elif isinstance(message, Committed):
            self._landed(message.error)
        elif isinstance(message, Expired):
            for answer in self._referee.time_out(message.ids):
                self._keep(answer)
            self._go_on()
        elif isinstance(message, Begin):
            self._commit(self._steps.advance())
        elif isinstance(message, Leave):
            self._break_off(message.reason)

    def _break_off(self, reason: WolfError) -> None:
        """End the game where it stands; the record keeps what was reported so far, and says why it ends."""
        if self._broken is None:
            self._broken = reason
            if isinstance(reason, BusError) or self._count == 0:
                self._leave(None, reason)
            elif self._landing is None:
                self._commit_last(reason)

    def _commit_last(self, reason: WolfError) -> None:
        self._commit(Step((Stopped(reason=str(reason)),), (), None))

    def _receive(self, message: Incoming) -> None:
        for entry in message.entries:
            for verdict in self._referee.receive(message.agent, entry):
                if verdict.type == "answered":
                    self._keep(verdict)
                elif verdict.type == "rejected":
                    self._reject(verdict)
                else:
                    self._aside.append(verdict)
        self._go_on()

    def _reject(self, rejected: Rejected) -> None:
        if rejected.reason == "closed" and rejected.request is not None:
            # an absent seat that answers late is alive, but slower than the grace: it gets its full time again
            self._waking.update(self._absent & {seat_of(rejected.request)})
        self._rejections[rejected.sender] += 1
        count = self._rejections[rejected.sender]
        if count == REJECTED_PER_SENDER:
            note = f"{rejected.note} (the last of this sender to be recorded; further ones are dropped)"
            rejected = rejected.model_copy(update={"note": note})
        if count <= REJECTED_PER_SENDER:
            self._aside.append(rejected)

    def _keep(self, answer: AnyAnswered) -> None:
        if answer.outcome == "timed_out" and answer.seat in self._full_time.get(answer.batch, ()):
            self._waking.discard(answer.seat)
        self._answers.setdefault(answer.batch, {})[answer.seat] = answer
        if not self._referee.is_open(answer.batch):
            self._full_time.pop(answer.batch, None)
            for timer in self._running.pop(answer.batch, ()):
                timer.cancel()

    def _go_on(self) -> None:
        """Advance if the last step has landed and everything waited for is closed; never before the game has begun."""
        if self._landing is not None or not self._waits_for or self._broken is not None:
            return
        if any(self._referee.is_open(batch) for batch in self._waits_for):
            return
        joined = {batch: self._answers.pop(batch) for batch in self._waits_for}
        self._commit(self._steps.advance(joined))

    def _commit(self, step: Step) -> None:
        events: tuple[AnyEvent, ...] = (*self._aside, *step.events)
        self._aside = []
        ends_phase = any(event.type in _PHASE_ENDS for event in step.events)
        landing = self._landing = _Landing(step.waits_for, step.ended, ends_phase)
        landing.stopped = any(event.type == "stopped" for event in step.events)
        expected = self._head
        now = round(self._clock() - self._began, 3)
        herald = self._deliveries.herald
        bodies, entries = [], []
        for event in events:
            if event.type == "asked":
                if waking := self._absent & self._waking:
                    self._full_time[event.batch] = waking
                # replies may overtake the word that the commit landed, so requests are open before it goes out
                for request in self._referee.ask(event, self._absent - self._waking):
                    if self._referee.is_declined(request):
                        self._keep(self._referee.decline(request))
                    else:
                        landing.requests.append(request)
            elif event.type == "absent":
                self._absent.add(event.seat)
            elif event.type == "returned":
                self._absent.discard(event.seat)
                self._waking.discard(event.seat)
            body = plain(event)
            bodies.append(body)
            self._digest.feed(event, body)
            self._count += 1
            unsealed = Recorded(self._count, now, herald.audience(event), event)
            recorded, line, value = seal(self._head, unsealed, body)
            self._head = recorded.hash
            landing.lines.append(line)
            entries.append(
                Entry(pack(value), event.type, "moderator", self._opened.game, self._count, f"{self._count}-0")
            )
        landing.commit = Commit(
            house=self._house,
            game=self._opened.game,
            epoch=self._epoch,
            expected=expected,
            head=self._head,
            record=entries,
            posts=self._deliveries.of_step(events, bodies, landing.requests),
        )
        self._writer.commit(landing.commit, self._commit_done)

    def _commit_done(self, error: BusError | None) -> None:
        tell_if_alive(self.actor_ref, Committed(error))

    def _landed(self, error: BusError | None) -> None:
        landing = self._landing
        if landing is None or landing.commit is None:
            return
        if isinstance(error, BusDown) and self._has_patience(landing):
            logger.warning("game %s: %s; trying again", self._opened.game, error)
            self._writer.commit(landing.commit, self._commit_done)
            return
        self._landing = None
        if error is not None:
            self._leave(None, error)
            return
        self._write(landing)
        if landing.ended is not None:
            self._leave(landing.ended, None)
            return
        if self._broken is not None:
            if landing.stopped:
                self._leave(None, self._broken)
            else:
                self._commit_last(self._broken)
            return
        self._waits_for = landing.waits_for
        self._set_timers(landing.requests)
        self._go_on()

    def _has_patience(self, landing: _Landing) -> bool:
        """Return whether to commit again: an outage shorter than the longest deadline costs only time."""
        now = time.monotonic()
        landing.first_failure = landing.first_failure or now
        deadlines = self._opened.config.deadlines
        return now - landing.first_failure < max(deadlines.of(kind) for kind in KINDS)

    def _set_timers(self, requests: list[OpenRequest]) -> None:
        """Start the clocks of a step's batches: one timer for each batch and length of time."""
        lengths: dict[tuple[int, float], list[str]] = {}
        for request in requests:
            lengths.setdefault((request.asked.batch, request.deadline_s), []).append(request.id)
        for (batch, seconds), ids in lengths.items():
            if self._referee.is_open(batch):
                timer = self._timers.after(seconds, partial(tell_if_alive, self.actor_ref, Expired(tuple(ids))))
                self._running.setdefault(batch, []).append(timer)

    def _write(self, landing: _Landing) -> None:
        if self._file is None:
            return
        self._file.write(landing.lines)
        if landing.ends_phase:
            self._file.sync()

    def _leave(self, ended: Ended | None, error: WolfError | None) -> None:
        self._done = True
        for timers in self._running.values():
            for timer in timers:
                timer.cancel()
        self._running.clear()
        if self._file is not None:
            try:
                self._file.close()
            except RecordError as closing:
                error = error or closing
        self._over(GameOver(self._opened.game, None if error else ended, error, self._digest.hexdigest(), self._count))
        if self.actor_ref.is_alive():
            self.stop()


@dataclass(slots=True)
class _Landing:
    """What there is to do when a step has landed; not the step itself, for many wait for the bus at a time."""

    waits_for: tuple[int, ...]
    ended: Ended | None
    ends_phase: bool
    lines: list[bytes] = field(default_factory=list)
    requests: list[OpenRequest] = field(default_factory=list)
    commit: Commit | None = None
    stopped: bool = False
    first_failure: float | None = None
