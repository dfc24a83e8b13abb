"""What the games of one moderated house share: `HouseContext`, its `Cursors`, and the messages of their actors.

A durable cursor says how far an agent's out stream is accounted for. It never passes a message that is not yet in a
record: a moderator that comes back reads on from there. It moves only with commits that end a phase. At that point a
game has joined all it had asked, so everything that it has received stands in its record, and one id per stream and
game says it all.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from moderator.engine.seating import SeatPlayer
from wolfbus.actors import ActorPool, Timers
from wolfbus.bus.protocol import Bus, Commit, Entry
from wolfbus.bus.pump import BusReader, BusWriter
from wolfbus.bus.streams import START, Id, join_id
from wolfbus.errors import BusDown, BusError, BusFull, WolfError
from wolfbus.messages.base import GameId, Part
from wolfbus.messages.codec import encode
from wolfbus.messages.events import Ended
from wolfbus.record.line import Recorded

CHECK_EVERY_S = 0.25
"""Seconds between two checks of one stream's cursor, so that a thousand games do not check each other all the time;
the end of a game does not wait."""


@dataclass(slots=True)
class _Due:
    """What a game has not yet in its record of one stream: nothing up to `floor`, perhaps something up to `last`."""

    floor: Id
    last: Id


class Cursors:
    """How far the out streams that a moderator reads are accounted for. Thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._games: set[str] = set()
        self._dispatched: dict[str, Id] = {}
        self._due: dict[str, dict[str, _Due]] = {}
        self._sent: dict[str, Id] = {}
        self._checked_at: dict[str, float] = {}

    def follow(self, stream: str, after: Id) -> None:
        """Add a stream that is accounted for up to id `after`."""
        with self._lock:
            self._dispatched[stream] = self._sent[stream] = after
            self._due[stream] = {}

    def unfollow(self, stream: str) -> None:
        """Forget a stream; its durable cursor stays as it is."""
        with self._lock:
            for by_stream in (self._dispatched, self._sent, self._due, self._checked_at):
                by_stream.pop(stream, None)

    def add_game(self, game: str) -> None:
        """Add a game: from here on its messages hold the cursors back until they are recorded."""
        with self._lock:
            self._games.add(game)

    def remove_game(self, game: str) -> None:
        """Remove a game: it is over, and its messages hold nothing back."""
        with self._lock:
            self._games.discard(game)
            for due in self._due.values():
                due.pop(game, None)

    def dispatch(self, stream: str, games: Mapping[str, object], last: Id) -> None:
        """Record that a stream's messages up to id `last` go to these games; call it before they get them."""
        with self._lock:
            before, due = self._dispatched.get(stream), self._due.get(stream)
            if before is None or due is None:
                return
            for game in games:
                if game not in self._games:
                    continue
                game_due = due.get(game)
                if game_due is None:
                    due[game] = _Due(min(before, last), last)
                elif last > game_due.last:
                    game_due.last = last
            if last > before:
                self._dispatched[stream] = last

    def send(
        self, game: str, recorded_upto: Mapping[str, Id], commit: Commit, send: Callable[[Commit], None], *, over: bool
    ) -> None:
        """Send off a commit that ends a phase, together with the cursors that are right once it has landed.

        Args:
            game: whose commit it is; "" for one of the house itself.
            recorded_upto: for each stream, the id up to which the game's messages are in its record with this commit.
            commit: the commit.
            send: queues it, with the cursors it carries; commits are queued in the order of their cursors, or a cursor
                could go back.
            over: whether it is the game's last.
        """
        with self._lock:
            now = time.monotonic()
            carried: dict[str, str] = {}
            for stream in self._due:
                must_send = over and stream in recorded_upto
                if not must_send and now - self._checked_at.get(stream, -1e9) < CHECK_EVERY_S:
                    continue
                self._checked_at[stream] = now
                cursor = self._cursor(stream, game, recorded_upto.get(stream, START))
                if cursor > self._sent[stream]:
                    self._sent[stream] = cursor
                    carried[stream] = join_id(cursor)
            send(replace(commit, cursors=carried) if carried else commit)

    def landed(self, game: str, recorded_upto: Mapping[str, Id]) -> None:
        """Record that a game's commit landed; `recorded_upto` as it was sent, see `send`."""
        with self._lock:
            for stream, upto in recorded_upto.items():
                due = self._due.get(stream, {})
                game_due = due.get(game)
                if game_due is None:
                    continue
                if game_due.last <= upto:
                    del due[game]
                else:
                    game_due.floor = max(game_due.floor, upto)

    def _cursor(self, stream: str, game: str, upto: Id) -> Id:
        """Return the stream's cursor if `game` had recorded everything up to `upto`."""
        cursor = self._dispatched[stream]
        for name, due in self._due[stream].items():
            if name != game:
                cursor = min(cursor, due.floor)
            elif due.last > upto:
                cursor = min(cursor, max(due.floor, upto))
        return cursor

    @property
    def can_advance(self) -> bool:
        """Whether a cursor could be carried further now than any commit has."""
        with self._lock:
            return any(self._cursor(stream, "", START) > self._sent[stream] for stream in self._due)


def house_entry(message: Part, game: str = "") -> Entry:
    """Return what a moderator says, as it stands on a stream; `game` is whose news or end it is, "" for the house's."""
    return Entry(encode(message), str(getattr(message, "type", "")), "moderator", game)


class PendingCommit:
    """A commit that is sent again as long as what keeps it from landing may pass: the bus is away, or full.

    Args:
        commit: what is to land.
        clock: seconds that never run backwards.
    """

    def __init__(self, commit: Commit, clock: Callable[[], float]) -> None:
        self.commit = commit
        self._clock = clock
        self._failing_since: float | None = None

    def again(self, error: BusError | None, within_s: float) -> Commit | None:
        """Return what to send after `error`; None where that does not pass, or has lasted for `within_s`.

        It goes without its cursors, which would go back if it came to stand behind younger commits.
        """
        if not isinstance(error, BusDown | BusFull):
            return None
        if self._failing_since is None:
            self._failing_since = self._clock()
        if self._clock() - self._failing_since >= within_s:
            return None
        return replace(self.commit, cursors=None)


@dataclass(frozen=True, slots=True)
class HouseContext:
    """One moderator's term in a house: where it is, under which epoch, and by what it reads and writes.

    Attributes:
        name: the house's name, for stream names.
        epoch: owner epoch under which to commit, as `Bus.claim` gave it; it fences any moderator before.
        bus: where the house's streams are.
        reader: the process's bus reader.
        writer: the process's bus writer.
        pool: where the moderators of single games run.
        timers: the process's timers.
        cursors: how far the agents' out streams are accounted for.
        clock: seconds that never run backwards.
        full_s: seconds after which a game ends for a bus whose memory stays full, > 0; None where housekeeping may
            still make room, for as long as an outage may last.
        landed: called, by a game's actor, with the game and the events of each step once they have landed; None for
            nobody in this process.
        received: called, by the reader's thread, with the game and messages for it, before the game gets them; None for
            nobody in this process.
    """

    name: str
    epoch: int
    bus: Bus
    reader: BusReader
    writer: BusWriter
    pool: ActorPool
    timers: Timers
    cursors: Cursors = field(default_factory=Cursors)
    clock: Callable[[], float] = time.monotonic
    full_s: float | None = None
    landed: Callable[[GameId, Sequence[Recorded]], None] | None = None
    received: Callable[[GameId, Sequence[Entry]], None] | None = None


@dataclass(frozen=True, slots=True)
class Begin:
    """Open the game, or go on with it."""


@dataclass(frozen=True, slots=True)
class Incoming:
    """Messages for this game stood on an agent's out stream.

    Attributes:
        agent: whose stream.
        entries: the messages, in order.
        upto: id up to which the stream was read; none for this game are before it but those told of.
    """

    agent: str
    entries: Sequence[Entry]
    upto: Id


@dataclass(frozen=True, slots=True)
class AgentJoined:
    """An agent has come, or come back: it is to be told all that its seats may know.

    Attributes:
        agent: its name.
        player: what it is now; None if that cannot have changed.
    """

    agent: str
    player: SeatPlayer | None = None


@dataclass(frozen=True, slots=True)
class Committed:
    """The last step landed, or could not."""

    error: BusError | None


@dataclass(frozen=True, slots=True)
class Expired:
    """The time of some requests is up, or it is time to go on."""


@dataclass(frozen=True, slots=True)
class LeaveGame:
    """The game cannot go on.

    Attributes:
        reason: why.
        stays: whether it is left where it stands, to be gone on with, and its record does not say that it was stopped.
    """

    reason: WolfError
    stays: bool = False


@dataclass(frozen=True, slots=True)
class HandOver:
    """Leave the game to another moderator: after the step that is on its way, write nothing more."""


@dataclass(frozen=True, slots=True)
class GameOver:
    """How a game left its moderator.

    Attributes:
        game: its id.
        ended: the last event; None if the game could not finish.
        error: why it could not; None too for a game that was left, whole, to another moderator.
        digest: digest of the game, 64 hex digits; of a game that ended early it may cover a step that never landed.
    """

    game: str
    ended: Ended | None
    error: WolfError | None
    digest: str
