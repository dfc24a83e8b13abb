"""A moderator as a process that can be killed at any commit: with it goes everything but what is on the bus."""

import queue
import threading
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

from moderator.engine.reexecution import Verifier, read_back
from moderator.house import GameOver, Games, HouseContext
from moderator.rules.game import deal
from tests.services.guests import HOUSE
from wolfbus.actors import ActorPool, Timers
from wolfbus.bus import Bus, BusReader, BusWriter, Commit, Entry, open_bus, streams
from wolfbus.errors import BusDown, BusError, StreamLost
from wolfbus.game.config import GameConfig
from wolfbus.messages.codec import unpack
from wolfbus.messages.events import AnyEvent, Opened, Seat
from wolfbus.messages.house import RollCall
from wolfbus.record.line import Recorded, seal

SMALL = GameConfig(debate_turns=3)


def opened(agents: Sequence[str], seed: str = "7", game: str = "g", config: GameConfig = SMALL, **seat: Any) -> Opened:
    """A game whose seats go round the agents."""
    seats = tuple(
        Seat(name=name, role=role, agent=agents[place % len(agents)], brain="scripted", **seat)
        for place, (name, role) in enumerate(deal(config, seed))
    )
    return Opened(game=game, version="0", started=0.0, seed=seed, config=config, seats=seats)


class MortalBus:
    """A bus as one process sees it: after a number of steps of games it is dead to that process.

    Args:
        url: the real bus.
        steps: how many steps of games land before it dies; None for no end.
        acknowledged: whether the process still hears that the last one landed.
    """

    def __init__(self, url: str, steps: int | None = None, *, acknowledged: bool = False) -> None:
        self.bus: Bus = open_bus(url)
        self.url = url
        self.left = steps
        self.acknowledged = acknowledged
        self.died = threading.Event()
        self.landed: list[Commit] = []
        self.before: Callable[[Commit], BusError | None] = lambda _: None
        self.on_death: Callable[[], None] = lambda: None

    def __getattr__(self, name: str) -> Any:
        if self.died.is_set() and name not in {"close", "reader"}:
            raise BusDown("this process is dead")
        return getattr(self.bus, name)

    def commit(self, commits: Sequence[Commit]) -> list[BusError | None]:
        results: list[BusError | None] = []
        for commit in commits:
            if self.died.is_set():
                raise BusDown("this process is dead")
            error = self.before(commit)
            results.append(error or self.bus.commit([commit])[0])
            if results[-1] is None:
                self.landed.append(commit)
                if commit.record and self.left is not None:
                    self.left -= 1
                    if self.left <= 0:
                        self.died.set()
                        self.on_death()
                        if not self.acknowledged:
                            raise BusDown("this process died before it heard that its step landed")
        return results


class Process:
    """A moderator's process: claims the house, and is one `Games` with all it needs.

    Args:
        url: the bus.
        steps: see `MortalBus`.
        acknowledged: see `MortalBus`.
        bus: the bus to use instead.
    """

    def __init__(
        self, url: str, steps: int | None = None, *, acknowledged: bool = False, bus: MortalBus | None = None
    ) -> None:
        self.bus = bus or MortalBus(url, steps, acknowledged=acknowledged)
        self.overs: queue.SimpleQueue[GameOver | None] = queue.SimpleQueue()
        self.bus.on_death = lambda: self.overs.put(None)
        self.failures: queue.SimpleQueue[BusError] = queue.SimpleQueue()
        self.backwards: queue.SimpleQueue[StreamLost] = queue.SimpleQueue()
        self.to_house: queue.SimpleQueue[tuple[str, Entry]] = queue.SimpleQueue()
        self._pool = ActorPool(2)
        self._timers = Timers()
        self._writer = BusWriter(self.bus, on_error=self.failures.put).start()
        self._reader = BusReader(self.bus, on_error=self.failures.put).start()
        epoch = self.bus.claim(HOUSE, f"process-{id(self)}")
        context = HouseContext(HOUSE, epoch, self.bus, self._reader, self._writer, self._pool, self._timers)
        self.house = Games(context, self._hear, lambda error, _stream: self.failures.put(error), self.backwards.put)

    def _hear(self, agent: str, entry: Entry) -> None:
        self.to_house.put((agent, entry))
        if entry.type == "join":
            self.house.catch_up(agent)

    def open(self, game: Opened, number: int | None = None) -> None:
        """Listen to the game's agents and open it."""
        for agent in dict.fromkeys(seat.agent for seat in game.seats):
            self.house.listen(agent)
        self.house.open(game, None, self.overs.put, number)

    def take_over(self, agents: Sequence[str], games: Sequence[str] = ("g",), number: int | None = None) -> None:
        """Go on with games as a moderator that comes does: their records first, then what stands on the out streams."""
        cursors = self.bus.cursors(HOUSE)
        for game in games:
            self.house.resume(game, self.overs.put, number)
        for agent in agents:
            self.house.listen(agent, cursors.get(streams.outbox(HOUSE, agent), "0-0"))
        self.house.tell([(agent, RollCall()) for agent in agents])

    def over(self) -> GameOver:
        """Wait for a game to be over."""
        over = self.overs.get(timeout=60)
        assert over is not None, "the process died"
        return over

    def dies(self) -> bool:
        """Wait for this process to die, or else for a game to be over."""
        return self.overs.get(timeout=60) is None

    def close(self) -> None:
        """Let nothing more reach the bus, and take everything down."""
        self.bus.died.set()
        self._reader.close()
        self._writer.close(flush=False)
        self._timers.close()
        self._pool.close()
        self.bus.close()


def events_of(bus: Bus, game: str = "g") -> list[AnyEvent]:
    """The game's record, proved: seals, numbers and re-execution."""
    verifier, head = Verifier(), ""
    recordeds: list[Recorded] = []
    for recorded in read_back(bus, HOUSE, game):
        sealed, _ = seal(head, recorded)
        assert sealed.hash == recorded.hash
        head = sealed.hash
        verifier.feed(recorded)
        recordeds.append(recorded)
    assert verifier.ended is not None or verifier.stopped is not None
    assert bus.head(HOUSE, game) == head
    times = [recorded.time for recorded in recordeds]
    assert times == sorted(times)
    return [recorded.event for recorded in recordeds]


def replies_of(bus: Bus, agents: Sequence[str]) -> Counter[str]:
    """How often each request was answered on the agents' out streams."""
    answers: Counter[str] = Counter()
    for agent in agents:
        for entry in bus.entries(streams.outbox(HOUSE, agent), limit=100_000):
            value = unpack(entry.body)
            if value["type"] == "reply":
                answers[value["request"]] += 1
    return answers
