"""Small agents of the tests' own, that know the wire and none of the product's agents; and a moderator in a thread."""

from __future__ import annotations

import contextlib
import queue
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

from moderator.house import GameReport, ModeratorSettings
from moderator.service import moderate
from players.scripted import ScriptedBrain
from tests.waiting import wait_until
from wolfbus.bus import Bus, Entry, open_bus, streams
from wolfbus.errors import BusError, StreamLost
from wolfbus.game.config import GameConfig
from wolfbus.knowledge.view import SeatView
from wolfbus.messages.codec import HOUSE_NEWS, TO_AGENT, decode_mail, encode, pack, plain, unpack, validate
from wolfbus.messages.house import Archived, Dropped, GameClosed, Goodbye, Join, Leave, Refused, RollCall, Welcome
from wolfbus.messages.requests import Ask, Delivery
from wolfbus.service.lifecycle import Health, Stopping

HOUSE = "main"
SMALL = GameConfig(villagers=3, werewolves=1, seers=1, doctors=0, debate_turns=1, vote_reasons=False, max_rounds=2)
"""Five seats and little talk: a game in a few hundredths of a second."""


class Guest:
    """An agent on a bus of its own, answering by `ScriptedBrain`; one without seats does nothing but hear.

    Attributes:
        inbox: what the house said to it, decoded.
        games: games in which it has a seat.
        was_asked: set once it was asked something.
        asks: how often it answered each request.
        deliveries: what games delivered to it.
        heartbeat: seconds between two times that it says ``join``; unless given, what the house asks for.
        gate: no question is answered before it is set.
        slow_s: seconds that every answer takes.
        forgetting: whether the bus may lose what was said, so that a request may have to be answered anew.
        silent: tells of a request whether it is left without an answer.
        answers: makes the messages by which a request is answered, from the guest's name, the request and a good reply.
    """

    def __init__(
        self,
        url: str,
        name: str,
        *,
        heartbeat: float | None = None,
        joins: bool = True,
        knock: bool = True,
        gate: threading.Event | None = None,
        slow_s: float = 0.0,
        forgetting: bool = True,
        silent: Callable[[Ask], bool] = lambda _: False,
        answers: Callable[[str, Ask, bytes], list[bytes]] = lambda _name, _ask, reply: [reply],
        **fields: Any,
    ) -> None:
        self.name = name
        self.instance = f"{name}-{time.monotonic_ns()}"
        self.fields: dict[str, Any] = {"version": "guest 1", "brain": "scripted", "in_house": True, **fields}
        self.inbox: queue.SimpleQueue[Welcome | Refused | RollCall | Dropped | Goodbye] = queue.SimpleQueue()
        self.games: list[str] = []
        self.was_asked = threading.Event()
        self.asks: Counter[str] = Counter()
        self.deliveries: list[Delivery] = []
        self.gate = gate
        self._forgetting, self._silent, self._answers = forgetting, silent, answers
        self._slow_s = slow_s
        self._bus = open_bus(url)
        self._heartbeat, self._beats_as_asked = heartbeat, heartbeat is None
        self._joined_at = time.monotonic()
        self._knocks = knock
        self._sent = self._joined = 0
        self._started = max(int(time.time() * 1000), int(self._bus.last_id(self.out).split("-")[0]) + 1)
        self._lock = threading.RLock()
        self._seen: str | None = None
        self._seats: dict[tuple[str, str], tuple[SeatView, ScriptedBrain]] = {}
        self._answered: dict[str, str] = {}
        self._reader = self._bus.reader()
        self._attend()
        self._closed = False
        self._thread = threading.Thread(target=self._run, name=f"guest-{name}")
        self._thread.start()
        if joins:
            self.join()
        if joins and knock:
            self.knock()

    @property
    def out(self) -> str:
        return streams.outbox(HOUSE, self.name)

    def message(self, **other: Any) -> Join:
        return Join(**{"agent": self.name, "instance": self.instance, "seen": self._seen, **self.fields, **other})

    def join(self, **other: Any) -> None:
        self.say(self.message(**other))
        self._joined, self._joined_at = self._sent, time.monotonic()

    def knock(self, **other: Any) -> None:
        self._bus.post(streams.lobby(HOUSE), Entry(encode(self.message(**other)), "join", self.name))

    def say(self, message: Any, game: str = "") -> None:
        self._send(encode(message), game, getattr(message, "type", ""))

    def _send(self, body: bytes, game: str, kind: str) -> str:
        with self._lock:
            self._sent += 1
            entry = Entry(body, kind, self.name, game, self._sent, f"{self._started}-{self._sent}")
            self._bus.append(self.out, [entry])
            return entry.id

    def hear(self, kind: type[Any], timeout: float = 60.0) -> Any:
        """Return the next message of the house that is of this kind."""
        until = time.monotonic() + timeout
        while True:
            message = self.inbox.get(timeout=max(until - time.monotonic(), 0.01))
            if isinstance(message, kind):
                return message

    def leave(self, reason: str = "", *, failed: bool = False) -> None:
        # no word of being here may follow it
        with self._lock:
            if self._beats_as_asked:
                self._heartbeat = None
            self.say(Leave(agent=self.name, instance=self.instance, reason=reason, failed=failed))

    def close(self, *, leave: bool = False) -> None:
        if leave:
            self.leave()
        self._closed = True
        self._reader.close()
        self._thread.join()
        self._bus.close()

    def _attend(self) -> None:
        box = streams.inbox(HOUSE, self.name)
        self._reader.follow(box, self._bus.last_id(box))

    def _run(self) -> None:
        while not self._closed:
            with contextlib.suppress(BusError):
                try:
                    self._read()
                except StreamLost:
                    # what it was told is lost in part: it comes again, and is told all anew
                    self._attend()
                    self.instance = f"{self.name}-{time.monotonic_ns()}"
                    self._seen = None
                    self.join()

    def _read(self) -> None:
        for _, entries in self._reader.read(self._heartbeat or 60.0):
            for entry in entries:
                self._take(entry)
        with self._lock:
            late = self._heartbeat is not None and time.monotonic() - self._joined_at >= self._heartbeat
            if late and not self._closed:
                self.join()

    def _take(self, entry: Entry) -> None:
        self._seen = entry.id
        if entry.game:
            self._play(decode_mail(entry.body))
            return
        message = validate(TO_AGENT, unpack(entry.body))
        self.inbox.put(message)
        if isinstance(message, RollCall):
            self.join()
        elif self._beats_as_asked and isinstance(message, Welcome | Goodbye):
            # of a house that closed nobody would read it
            self._heartbeat = message.again_s if isinstance(message, Welcome) else None

    def _play(self, delivery: Delivery) -> None:
        self.deliveries.append(delivery)
        if not self._begins(delivery):
            # addressed to whoever had this name before; what counts comes with a catch-up
            return
        self._seat(delivery)
        for view in [view for (game, _), (view, _) in self._seats.items() if game == delivery.game]:
            for public in delivery.facts:
                view.hear_public(public)
        for part in delivery.seats:
            view, brain = self._seats[delivery.game, part.seat]
            for private in part.facts:
                view.hear_private(private)
            for ask in part.asks:
                if ask.id not in self._answered or (self._forgetting and not self._has_answered(delivery, ask.id)):
                    self.asks[ask.id] += 1
                    self._answer(delivery.game, part.seat, ask, brain, view)
        if any(public.fact.type == "ended" for public in delivery.facts):
            for seat in [seat for seat in self._seats if seat[0] == delivery.game]:
                del self._seats[seat]

    def _seat(self, delivery: Delivery) -> None:
        for part in delivery.seats:
            self._seats.setdefault((delivery.game, part.seat), (SeatView(me=part.seat), ScriptedBrain()))
            if delivery.type == "catch_up" or (part.facts and part.facts[0].n == 1):
                # it holds all that the seat may know, whatever the seat was told of a game that has gone back since
                self._seats[delivery.game, part.seat] = (SeatView(me=part.seat), ScriptedBrain())
            if delivery.game not in self.games:
                self.games.append(delivery.game)

    def _begins(self, delivery: Delivery) -> bool:
        return delivery.type == "catch_up" or all(
            (delivery.game, part.seat) in self._seats or (part.facts and part.facts[0].n == 1)
            for part in delivery.seats
        )

    def _has_answered(self, delivery: Delivery, request: str) -> bool:
        """Tell whether a reply to what a catch-up asks is on its way.

        Replies from before the last ``join`` have been read; those that count are not asked for again.
        """
        sent = int(self._answered[request].partition("-")[2])
        if delivery.type == "delivery":
            return False
        entries = self._bus.entries(self.out, f"{self._started}-{sent - 1}", 1) if sent > self._joined else []
        return any(entry.id == self._answered[request] for entry in entries)

    def _answer(self, game: str, seat: str, ask: Any, brain: ScriptedBrain, view: SeatView) -> None:
        self.was_asked.set()
        if self.gate is not None:
            self.gate.wait(10)
        if self._slow_s:
            threading.Event().wait(self._slow_s)
        if self._silent(ask) or self._closed:
            return
        answer: Any = brain.answer(ask, view)
        reply = {"v": 1, "type": "reply", "game": game, "request": ask.id, "seat": seat, "kind": ask.kind}
        if answer.content is not None:
            reply["content"] = plain(answer.content)
        for body in self._answers(self.name, ask, pack(reply)):
            self._answered[ask.id] = self._send(body, game, "reply")


class Running:
    """A service in a thread of this process."""

    def __init__(self, serve: Callable[[Stopping, Health], int]) -> None:
        self.stopping = Stopping()
        self.health = Health(None)
        self.error: BaseException | None = None
        self._code: int | None = None
        self._thread = threading.Thread(target=self._run, args=(serve,), name="service")
        self._thread.start()

    def _run(self, serve: Callable[[Stopping, Health], int]) -> None:
        try:
            self._code = serve(self.stopping, self.health)
        except BaseException as error:
            self.error = error

    def code(self, timeout: float = 60.0) -> int | None:
        """Return the exit code once the service has ended."""
        self._thread.join(timeout)
        assert self.ended, self.health.state
        if self.error is not None:
            raise self.error
        return self._code

    @property
    def ended(self) -> bool:
        return not self._thread.is_alive()

    def stop(self) -> int | None:
        self.stopping.ask("the test")
        return self.code()


class Moderating(Running):
    """A moderator service; its settings are those of `ModeratorSettings`."""

    def __init__(self, url: str, **settings: Any) -> None:
        self.results: queue.SimpleQueue[GameReport] = queue.SimpleQueue()
        service_settings = ModeratorSettings(url, **{"config": SMALL, "heartbeat_s": 0.2, **settings})
        super().__init__(lambda *services: int(moderate(service_settings, *services, self.results.put).failed))

    def result(self, timeout: float = 60.0) -> GameReport:
        try:
            wait_until(lambda: not self.results.empty() or self.ended, timeout)
        except AssertionError:
            raise AssertionError(
                f"no game ended within {timeout:g} s; the service is in state {self.health.state}"
            ) from None
        if self.error is not None:
            raise self.error
        return self.results.get_nowait()


@contextlib.contextmanager
def guests(url: str, *names: str, **fields: Any) -> Iterator[list[Guest]]:
    """Agents of these names."""
    with contextlib.ExitStack() as stack:
        yield [stack.enter_context(contextlib.closing(Guest(url, name, **fields))) for name in names]


class Stage(contextlib.ExitStack):
    """Moderators and guests of a test, gone at its end."""

    def __init__(self, url: str, bus: Bus) -> None:
        super().__init__()
        self.url, self.bus = url, bus

    def moderate(self, state: str | None = None, url: str | None = None, **settings: Any) -> Moderating:
        """Start a moderator, and return once it is in a state."""
        service = Moderating(url or self.url, **settings)
        self.callback(service.code)
        self.callback(service.stopping.ask, "the test is over")
        if state is not None:
            wait_until(lambda: service.health.state == state)
        return service

    def guests(self, *names: str, **fields: Any) -> list[Guest]:
        return [self.guest(name, **fields) for name in names]

    def guest(self, name: str, **fields: Any) -> Guest:
        return self.enter_context(contextlib.closing(Guest(self.url, name, **fields)))

    def clerk(self, **fields: Any) -> Guest:
        """An analytics service that says only what a test has it say."""
        return self.guest("clerk", service="analytics", seats=0, **fields)

    def guests_for_now(self, *names: str, **fields: Any) -> contextlib.AbstractContextManager[list[Guest]]:
        """Guests that go before the test's end."""
        return guests(self.url, *names, **fields)

    def begin_game(self, *names: str, **settings: Any) -> tuple[threading.Event, list[Guest], Moderating]:
        """Start guests that answer nothing before an event is set, and a moderator that has asked one of them."""
        gate = threading.Event()
        agents, service = self.guests(*names, gate=gate), self.moderate(**settings)
        wait_until(lambda: any(agent.was_asked.is_set() for agent in agents))
        return gate, agents, service

    @property
    def news(self) -> list[Any]:
        return [validate(HOUSE_NEWS, unpack(entry.body)) for entry in self.bus.entries(streams.games(HOUSE))]

    @property
    def closed(self) -> list[GameClosed]:
        return [one for one in self.news if isinstance(one, GameClosed)]


def archive(guest: Guest, closed: Any, /, **other: Any) -> None:
    """Say that a game is archived, as analytics does."""
    guest.say(Archived(**{"game": closed.game, "lines": closed.lines, "hash": closed.hash, **other}))
