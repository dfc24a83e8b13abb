"""A moderator small enough to hold in one hand: it says what a test wants said, and reads what agents send."""

import logging
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import closing
from typing import Any, Self, TypeAlias, TypeVar

from tests.waiting import PATIENCE_S
from wolfbus.agent import Agent, serve
from wolfbus.bus import Commit, Entry, open_bus, streams
from wolfbus.game.config import GameConfig
from wolfbus.game.vocabulary import Kind, Role
from wolfbus.knowledge.view import SeatView
from wolfbus.messages.codec import pack, plain, unpack
from wolfbus.messages.events import Dawn, Ended, Statement
from wolfbus.messages.house import Goodbye, Welcome
from wolfbus.messages.requests import Ask, Delivery, Private, PrivateFact, Public, PublicFact, Seated, SeatPart
from wolfbus.service.lifecycle import Stopping

T = TypeVar("T")

HOUSE = "inn"
GAME = "game-1"
NAMES = ("Ada", "Bruno", "Chloe", "Dario", "Esther", "Felix", "Greta", "Hugo")
SOON_S = PATIENCE_S
"""Far more than anything here takes."""


class Moderator:
    """Writes mailboxes and reads out streams of one house."""

    def __init__(self, url: str) -> None:
        self.bus = open_bus(url)
        self._epoch = self.bus.claim(HOUSE, "moderator of a test")
        self._reader = self.bus.reader()
        self._unread: dict[str, list[Entry]] = {}

    def tell(self, agent: str, message: Any, game: str = "") -> None:
        """Put a message into an agent's mailbox; plain values may say whatever they will."""
        value = message if isinstance(message, dict) else plain(message)
        post = (streams.inbox(HOUSE, agent), Entry(pack(value), str(value["type"]), "moderator", game))
        (result,) = self.bus.commit([Commit(HOUSE, game, self._epoch, "", "", posts=(post,))])
        assert result is None, result

    def deliver(self, agent: str, *deliveries: Delivery) -> None:
        """Put deliveries into an agent's mailbox."""
        for delivery in deliveries:
            self.tell(agent, delivery, game=delivery.game)

    def hear(self, agent: str, kind: str, **fields: object) -> dict[str, Any]:
        """Return the next message of a type with these fields that an agent sends; others are passed over."""
        queue = self._unread.get(agent)
        if queue is None:
            queue = self._unread[agent] = []
            self._reader.follow(streams.outbox(HOUSE, agent))
        while True:
            while queue:
                entry = queue.pop(0)
                value = unpack(entry.body)
                if value["type"] == kind and all(value.get(name) == expected for name, expected in fields.items()):
                    assert entry.type == kind
                    return value
            batches = self._reader.read(SOON_S)
            assert batches, f"{agent} did not send {kind} {fields}"
            for stream, entries in batches:
                self._unread[stream.rpartition("out:")[2]] += entries

    def welcome(self, agent: str, again_s: float = 60.0, **fields: object) -> dict[str, Any]:
        """Hear an agent join, and say that it is welcome."""
        join = self.hear(agent, "join", **fields)
        self.tell(agent, Welcome(house=HOUSE, agent=agent, instance=str(join["instance"]), again_s=again_s))
        return join

    def hear_again(self, agent: str, instance: object) -> dict[str, Any]:
        """Return the first `join` of another instance."""
        while (join := self.hear(agent, "join"))["instance"] == instance:
            pass
        return join

    def knocks(self) -> list[Entry]:
        """Return what stands in the lobby, waiting for the first who knocks."""
        with closing(self.bus.reader()) as reader:
            reader.follow(streams.lobby(HOUSE))
            return [entry for _, entries in reader.read(SOON_S) for entry in entries]

    def goodbye(self, *agents: str) -> None:
        """Close the house."""
        for agent in agents:
            self.tell(agent, Goodbye(reason="all games are played"))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.bus.close()


def grown(value: Any, name: str = "") -> Any:
    """Return plain values with a member more in every map but those by players' names."""
    if isinstance(value, dict):
        extra = {} if name in {"votes", "roles"} else {"not_known_yet": {"words": ("a", None)}}
        return {key: grown(item, key) for key, item in value.items()} | extra
    return tuple(grown(item) for item in value) if isinstance(value, tuple) else value


class Aside:
    """Something that runs in a thread and may be asked to stop.

    Args:
        run: what runs.
    """

    def __init__(self, run: Callable[[Stopping], object]) -> None:
        self.stopping = Stopping()
        self._result = ThreadPoolExecutor(1, "aside").submit(run, self.stopping)

    def end(self) -> object:
        """Return its result once it has one, or raise what it raised."""
        return self._result.result(SOON_S)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.stopping.ask("the test is over")
        wait([self._result], SOON_S)


def served(agent: type[Agent], url: str, **options: Any) -> Aside:
    """Serve an agent under the name ann; it leaves at once when it is asked to stop."""
    arguments = {"name": "ann", "grace_s": 0.0, **options}
    return Aside(lambda stopping: serve(agent, url, HOUSE, stopping=stopping, **arguments))


class Bidder(Agent):
    """Bids 1."""

    quick = True

    def bid(self, ask: Ask, view: SeatView, /) -> int:
        return 1


Serve: TypeAlias = Callable[..., Aside]


class Awaited(logging.Handler):
    """Waits for a line of the log with these words; keeps it as `line`."""

    def __init__(self, words: str) -> None:
        super().__init__()
        self.line = ""
        self._words = words
        self._logged = threading.Event()

    def emit(self, record: logging.LogRecord) -> None:
        if self._words in record.getMessage():
            self.line = record.getMessage()
            self._logged.set()

    def __enter__(self) -> Self:
        logging.getLogger("wolfbus").addHandler(self)
        return self

    def __exit__(self, *_: object) -> None:
        logging.getLogger("wolfbus").removeHandler(self)

    def wait(self) -> str:
        """Return the line once it is there."""
        assert self._logged.wait(SOON_S), f"nobody said {self._words!r}"
        return self.line


def seated(seat: str = "Ada", role: Role = "Villager", game: str = GAME, config: GameConfig | None = None) -> Seated:
    partners = tuple(name for name in ("Bruno",) if role == "Werewolf")
    return Seated(
        game=game, seat=seat, role=role, partners=partners, names=NAMES, config=config or GameConfig(),
        brain="scripted", brain_seed="5eed",
    )  # fmt: skip


def ask(kind: Kind, turn: int = 1, seat: str = "Ada", game: str = GAME, deadline_s: float = 60.0) -> Ask:
    about = 1 if kind.startswith("assess") else None
    legal = tuple(name for name in NAMES[2:7]) if kind in {"vote", "kill", "protect", "inspect", "whisper"} else None
    name = f"{game}/1/debate/{turn}/{kind}/{seat}" + (f"/{about}" if about else "")
    return Ask(
        id=name, kind=kind, round=1, phase="debate", turn=turn, about=about, legal=legal, deadline_s=deadline_s
    )  # fmt: skip


DAWN = Dawn(round=1, died="Hugo")
SAID = Statement(statement=1, round=1, phase="debate", turn=1, speaker="Bruno", text="Ada looks like a Werewolf to me.")
ENDED = Ended(winner="villagers", reason="no_wolves_left", rounds=1)


def facts(*public: PublicFact, first: int = 1) -> tuple[Public, ...]:
    return tuple(Public(n=first + place, fact=fact) for place, fact in enumerate(public))


def part(
    *asks: Ask, private: Sequence[PrivateFact] = (), first: int = 1, seat: str = "Ada", after: int = 0
) -> SeatPart:
    numbered = tuple(Private(n=first + place, after=after, fact=fact) for place, fact in enumerate(private))
    return SeatPart(seat=seat, facts=numbered, asks=asks)


def catch_up(
    *asks: Ask,
    public: Sequence[PublicFact] = (DAWN, SAID),
    private: Sequence[PrivateFact] = (),
    seat: str = "Ada",
    game: str = GAME,
) -> Delivery:
    """All that a seat may know, and what is asked of it."""
    seat_part = part(*asks, private=[seated(seat, game=game), *private], seat=seat, after=1 if private else 0)
    return Delivery(type="catch_up", game=game, facts=facts(*public), seats=(seat_part,))


def step(
    *asks: Ask, public: Sequence[PublicFact] = (), first: int = 1, seat: str = "Ada", game: str = GAME
) -> Delivery:
    """One step of a game."""
    return Delivery(game=game, facts=facts(*public, first=first), seats=(part(*asks, seat=seat),) if asks else ())
