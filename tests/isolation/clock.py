"""Whole games on a clock of the test's own: answers take as long as a test says, on no thread."""

from __future__ import annotations

import contextlib
import heapq
import itertools
from collections import deque
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

from moderator.house import GameOver, Games, HouseContext
from tests.isolation.outside import Plan
from wolfbus.bus import Commit, Entry, streams
from wolfbus.messages.codec import decode_mail, pack, plain
from wolfbus.messages.events import Opened
from wolfbus.messages.requests import Ask

HOUSE = "h"

Takes = Callable[[str, Ask], float]
"""Seconds that a seat takes to answer a request."""


class Alarm:
    """A timer of `Clock`."""

    def __init__(self, callback: Callable[[], object]) -> None:
        self.callback = callback
        self.pending = True

    def cancel(self) -> bool:
        was, self.pending = self.pending, False
        return was


class Clock:
    """Timers, pool, bus reader and bus writer of one game, on one thread; time passes only between turns."""

    def __init__(self) -> None:
        self.now = 0.0
        self.posts: list[tuple[float, str, Entry]] = []
        self.steps: list[tuple[Entry, ...]] = []
        self.followed: dict[str, Callable[[str, list[Entry]], None]] = {}
        self._alarms: list[tuple[float, int, Alarm]] = []
        self._numbers = itertools.count()
        self._turns: deque[Callable[[], None]] = deque()
        self.on_post: Callable[[str, Entry], None] = lambda _stream, _entry: None

    # -- timers

    def after(self, seconds: float, callback: Callable[[], object]) -> Alarm:
        alarm = Alarm(callback)
        heapq.heappush(self._alarms, (self.now + max(seconds, 0.0), next(self._numbers), alarm))
        return alarm

    # -- pool

    def admit(self, _ref: object) -> None:
        pass

    def leave(self, _ref: object) -> None:
        pass

    def enqueue(self, turn: Callable[[], None]) -> None:
        self._turns.append(turn)

    def blocking(self) -> contextlib.AbstractContextManager[None]:
        return contextlib.nullcontext()

    # -- reader and writer

    def follow(self, stream: str, deliver: Callable[[str, list[Entry]], None], *_: object) -> None:
        self.followed[stream] = deliver

    def commit(self, commit: Commit, done: Callable[[Any], None]) -> None:
        self.steps.append(tuple(commit.record))
        for stream, entry in commit.posts:
            self.posts.append((self.now, stream, entry))
            self.on_post(stream, entry)
        done(None)

    def run(self) -> None:
        """Let time pass until nothing is left to happen."""
        while self._turns or self._alarms:
            if self._turns:
                self._turns.popleft()()
                continue
            at, _, alarm = heapq.heappop(self._alarms)
            if alarm.pending:
                self.now, alarm.pending = max(self.now, at), False
                alarm.callback()


class Played(NamedTuple):
    """A game that was played to its end."""

    posts: list[tuple[float, str, Entry]]
    """What was posted: second, stream and entry."""
    steps: list[tuple[Entry, ...]]
    """What each commit wrote into the record."""


def play(opened: Opened, plan: Plan, takes: Takes) -> Played:
    """Play a game to its end."""
    clock = Clock()
    overs: list[GameOver] = []
    house: Any = clock
    games = Games(HouseContext(HOUSE, 1, house, house, house, house, house, clock=lambda: clock.now))
    boxes = {streams.inbox(HOUSE, seat.agent): seat.agent for seat in opened.seats}
    sent = itertools.count(1)

    def hear(stream: str, entry: Entry) -> None:
        if stream not in boxes:
            return
        for part in decode_mail(entry.body).seats:
            for ask in part.asks:
                clock.after(takes(part.seat, ask), partial(answer, boxes[stream], part.seat, ask))

    def answer(agent: str, seat: str, ask: Ask) -> None:
        content = plain(plan.answer(seat, ask))
        reply = {"v": 1, "type": "reply", "game": opened.game, "request": ask.id, "seat": seat}
        body = pack(reply | {"kind": ask.kind, "content": content})
        out = streams.outbox(HOUSE, agent)
        clock.followed[out](out, [Entry(body, "reply", agent, opened.game, 1, f"1-{next(sent)}")])

    clock.on_post = hear
    for agent in boxes.values():
        games.listen(agent, "0-0")
    games.open(opened, None, overs.append)
    clock.run()
    assert [over.error for over in overs] == [None]
    return Played(clock.posts, clock.steps)


def nights(played: Played, agent: str) -> list[float]:
    """Return how long each night was, as whoever reads a mailbox measures it: nothing comes
    between the opening, or the word of an exile, and that of the dawn.
    """
    box = streams.inbox(HOUSE, agent)
    mail = [(at, entry) for at, stream, entry in played.posts if stream == box]
    facts = [(at, [one.fact.type for one in decode_mail(entry.body).facts]) for at, entry in mail]
    return [
        dawn - dusk
        for (dusk, before), (dawn, after) in itertools.pairwise(facts)
        if "dawn" in after and ("exile" in before or (dusk, before) == facts[0])
    ]
