"""How long a game waits: `RequestClock` tells which requests run out, `Presence` which seats are absent, and
`NightTime` how long a night lasts.

Every night lasts as if all who were dealt a part in it still played it: how long it takes would tell everybody how many
Werewolves whisper, and whether Doctor and Seer are still asked. Those who are dead, or have nobody to choose, therefore
take their time like the living: as long as they took in earlier nights, spread as answers in this game are spread, so
that nothing comes twice alike. Dawn comes when the longest of all that is through.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Collection, Iterable, Sequence
from itertools import chain
from statistics import fmean
from typing import Final

from wolfbus.actors import Timer, Timers
from wolfbus.game.draws import choose
from wolfbus.game.roles import FACTS
from wolfbus.game.vocabulary import SCRIPTS, Kind
from wolfbus.messages.base import SeatName
from wolfbus.messages.events import AnyAnswered, AnyEvent, Asked, Opened, Seat

_SHORTEST_S: Final = 1e-4
"""Seconds below which answers count as equally quick."""

_LONGEST_LOG: Final = 20.0
"""Largest logarithm of a time that is drawn, before deadlines bound it."""


def measures_time(seat: Seat) -> bool:
    """Return whether who plays a seat can measure how long a night takes: a person, a program, or
    anybody's agent. Brains of our own see what happens, not when.
    """
    is_own_brain = seat.brain in SCRIPTS or seat.brain.startswith("llm:")
    return not (seat.in_house and is_own_brain)


class RequestClock:
    """When the requests of one game's open batches run out. One timer runs for all of them, for few ever do.

    Args:
        timers: the process's timers.
        look: called from their thread when a request may have run out; upon it, ask `due`.
    """

    def __init__(self, timers: Timers, look: Callable[[], object]) -> None:
        self._timers = timers
        self._look = look
        self._open: dict[int, list[tuple[float, list[str]]]] = {}
        self._timer: Timer | None = None
        self._fires_at = math.inf

    def start(self, batch: int, seconds: float, requests: list[str]) -> None:
        """Start the clock of some of a batch's requests."""
        ends = time.monotonic() + seconds
        self._open.setdefault(batch, []).append((ends, requests))
        self._wake_by(ends)

    def due(self) -> list[str]:
        """Return the requests that have run out, which includes closed ones of open batches."""
        now = time.monotonic()
        due: list[str] = []
        for batch, parts in self._open.items():
            due += (request for ends, requests in parts if ends <= now for request in requests)
            self._open[batch] = [part for part in parts if part[0] > now]
        self._fires_at = math.inf
        self._wake_by(min((ends for parts in self._open.values() for ends, _ in parts), default=math.inf))
        return due

    def drop(self, batch: int) -> None:
        """Forget a batch whose requests are all closed."""
        self._open.pop(batch, None)

    def close(self) -> None:
        """Forget all."""
        self._open.clear()
        if self._timer is not None:
            self._timer.cancel()

    def _wake_by(self, ends: float) -> None:
        if ends < self._fires_at:
            if self._timer is not None:
                self._timer.cancel()
            self._fires_at = ends
            self._timer = self._timers.after(ends - time.monotonic(), self._look)


class NightTime:
    """Measures how long answers take in one game, and says when its nights may end.

    In a game that nobody plays who could measure it, nights end at once. All times are seconds of
    the game's record.

    Args:
        opened: the game's opening event.
    """

    def __init__(self, opened: Opened) -> None:
        self._config = opened.config
        self._seed = opened.seed
        self._regular = any(map(measures_time, opened.seats))
        self._declines = {seat.name: seat.declines for seat in opened.seats}
        self._places = {seat.name: place for place, seat in enumerate(opened.seats)}
        self._wolves = tuple(seat.name for seat in opened.seats if seat.role == "Werewolf")
        self._other_acts: dict[SeatName, Kind] = {
            seat.name: kind
            for seat in opened.seats
            if seat.role != "Werewolf"
            for kind, act in FACTS[seat.role].acts.items()
            if act.span == "night"
        }
        self._hunt: Kind = "whisper" if len(self._wolves) > 1 else "kill"
        self._turns = self._config.whispers if len(self._wolves) > 1 else 1
        self._round = 0
        self._dusk = 0.0
        self._batches: dict[int, tuple[Asked, float | None]] = {}
        self._took: dict[tuple[SeatName, int], float] = {}
        # logarithms of seconds, of what is asked at night
        self._night_times: dict[Kind, dict[SeatName, list[float]]] = {}
        # the same of every answer, by seat and kind
        self._answer_times: dict[tuple[SeatName, Kind], list[float]] = {}

    def feed(self, event: AnyEvent, time_s: float) -> None:
        """Record when a question is put, or answered.

        Args:
            event: an `Asked` or an answer; others count for nothing.
            time_s: when that was.
        """
        if not self._regular:
            return
        if event.type == "asked":
            if event.phase == "night" and event.round != self._round:
                self._round, self._dusk = event.round, time_s
                self._batches.clear()
                self._took.clear()
            self._batches[event.batch] = event, time_s
        elif event.type == "answered" and event.batch in self._batches:
            batch, since = self._batches[event.batch]
            if since is not None:
                self._record_time(batch, event, time_s - since)

    def interrupt(self) -> None:
        """Record that nobody moderated for a while: what is open will not be measured."""
        self._batches = {number: (batch, None) for number, (batch, _) in self._batches.items()}

    def left_s(self, batches: Sequence[int], absent: Collection[SeatName], time_s: float) -> float:
        """Return how many seconds the night must still last, now that these batches are answered.

        Args:
            batches: what was waited for; anything but the last of a night's questions is never
                held up.
            absent: seats that a batch waits for no longer than `absent_grace`.
            time_s: what time it is.
        """
        last = [self._batches[number][0] for number in batches if number in self._batches]
        if not last or any(batch.phase != "night" or self._has_further_turns(batch) for batch in last):
            return 0.0
        return self._dusk + self._length_s(absent) - time_s

    def _has_further_turns(self, batch: Asked) -> bool:
        return batch.asks[0].kind == "whisper" and batch.turn < self._turns

    def _length_s(self, absent: Collection[SeatName]) -> float:
        """Return how long this night lasts where everybody plays its part."""
        hunted = self._round > 1 or self._config.first_night_kill
        hunt = sum(
            max(self._time_of(wolf, self._hunt, turn, absent) for wolf in self._wolves)
            for turn in (range(1, self._turns + 1) if hunted else ())
        )
        others = [self._time_of(seat, kind, 1, absent) for seat, kind in self._other_acts.items()]
        return max(hunt, *others, 0.0)

    def _time_of(self, seat: SeatName, kind: Kind, turn: int, on_grace: Collection[SeatName]) -> float:
        """Return how long a seat took for its part; or, if it had none, would have taken."""
        if (took := self._took.get((seat, turn))) is not None:
            return took
        limit = self._config.deadlines.of(kind)
        if seat in on_grace:
            limit = min(limit, self._config.absent_grace)
        return 0.0 if kind in self._declines[seat] else min(self._drawn(seat, kind, turn), limit)

    def _drawn(self, seat: SeatName, kind: Kind, turn: int) -> float:
        """Draw a time from a seat's own earlier ones, or else from others' like it."""
        of_kind = self._night_times.get(kind, {})
        logarithms = (
            of_kind.get(seat)
            or [*chain.from_iterable(of_kind.values())]
            or [time for by_seat in self._night_times.values() for times in by_seat.values() for time in times]
        )
        if not logarithms:
            return 0.0
        draw = self._round, turn, self._places[seat]
        logarithm = choose(self._seed, "night", logarithms, *draw)
        deviation = choose(self._seed, "night spread", self._deviations(), *draw)
        # the fewer there are to choose from, the wider: none may be known again by its length
        return math.exp(min(logarithm + deviation / math.sqrt(len(logarithms)), _LONGEST_LOG))

    def _record_time(self, batch: Asked, answer: AnyAnswered, seconds: float) -> None:
        if batch.phase == "night":
            self._took[answer.seat, batch.turn] = seconds
        if answer.outcome == "declined":
            return
        logarithm = math.log(max(seconds, _SHORTEST_S))
        if batch.phase == "night":
            kind = self._hunt if answer.kind in {"kill", "whisper"} else answer.kind
            self._night_times.setdefault(kind, {}).setdefault(answer.seat, []).append(logarithm)
        if answer.outcome != "timed_out":
            self._answer_times.setdefault((answer.seat, answer.kind), []).append(logarithm)

    def _deviations(self) -> list[float]:
        """Return how far each answer was from the mean of those of its seat and kind, as if that were known; nothing
        but 0 where no two are alike.
        """
        deviations: list[float] = []
        for times in self._answer_times.values():
            if len(times) > 1:
                mean, whole = fmean(times), math.sqrt(len(times) / (len(times) - 1))
                deviations.extend((time - mean) * whole for time in times)
        return deviations or [0.0]


class Presence:
    """Follows one game's absences. The rules count strikes; this tells only how long a batch waits for whom."""

    def __init__(self) -> None:
        self._absent: set[SeatName] = set()
        self._recovering: set[SeatName] = set()
        # batches in which absent seats that showed life got their full time; only there does a time-out count against
        # them: what was asked before with the grace alone says nothing
        self._full_time: dict[int, set[SeatName]] = {}

    @property
    def on_grace(self) -> set[SeatName]:
        """Seats that a batch waits for no longer than `absent_grace`."""
        return self._absent - self._recovering

    def feed(self, event: AnyEvent) -> None:
        """Process one event, in record order, as it is written."""
        if event.type == "asked":
            if recovering := self._absent & self._recovering:
                self._full_time[event.batch] = recovering
        elif event.type == "absent":
            self._absent.add(event.seat)
        elif event.type == "returned":
            self._absent.discard(event.seat)
            self._recovering.discard(event.seat)

    def mark_alive(self, seats: Iterable[SeatName]) -> None:
        """Record that these seats sent something: an absent one gets its full time from the next question on."""
        self._recovering.update(self._absent.intersection(seats))

    def note_answer(self, answer: AnyAnswered) -> None:
        """Record how a request was closed."""
        if answer.outcome == "timed_out" and answer.seat in self._full_time.get(answer.batch, ()):
            self._recovering.discard(answer.seat)

    def forget(self, batch: int) -> None:
        """Forget a batch whose requests are all closed."""
        self._full_time.pop(batch, None)
