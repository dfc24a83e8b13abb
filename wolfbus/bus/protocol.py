"""What every bus does: the protocol behind ``memory://`` and ``redis://``.

A bus moves encoded bytes between streams; inside one process, messages that need not be encoded. It knows nothing of
Werewolf. Three promises make it a bus for games of record:

1. *Compare-and-append*: every entry has an explicit id, and appending it again is recognised, never doubled.
2. *Atomic commit*: one step of a game (record entries, their deliveries, what spectators may see) lands whole or not
   at all, and only under the current owner epoch and on the expected head of the record.
3. *Resumable reading*: a reader holds its own cursors; after any break it goes on where it stopped, or says loudly
   that it cannot.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol

from wolfbus.errors import BusError


class Unpacked:
    """A message inside the process that wrote it; it becomes bytes when somebody asks for them.

    Equal to whatever has the same bytes.

    Args:
        message: what readers in this process take as it is; nobody changes it.
        pack: makes the message's bytes of it.
    """

    __slots__ = ("_pack", "_packed", "message")

    def __init__(self, message: Any, pack: Callable[[Any], bytes]) -> None:
        self.message = message
        self._pack = pack
        self._packed: bytes | None = None

    def packed(self) -> bytes:
        """Return the bytes."""
        packed = self._packed
        if packed is None:
            packed = self._packed = self._pack(self.message)
        return packed

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Unpacked):
            return self is other or self.packed() == other.packed()
        return self.packed() == other

    def __hash__(self) -> int:
        return hash(self.packed())


class Entry(NamedTuple):
    """One message on a stream.

    Attributes:
        content: the message, msgpack bytes; from a writer in this process it may be unpacked still.
        type: message type, in the clear, so that a router or ``redis-cli XRANGE`` need not decode.
        sender: participant that wrote it, in the clear.
        game: game id, or "" where no game is meant.
        number: the sender's own count for this message (record number, public number, ...).
        id: ``"A-B"``, two integers; "" where the bus assigns it (see `Commit.posts`, `Bus.post`).
    """

    content: bytes | Unpacked
    type: str
    sender: str
    game: str = ""
    number: int = 0
    id: str = ""

    @property
    def body(self) -> bytes:
        """The message, msgpack bytes."""
        content = self.content
        return content.packed() if isinstance(content, Unpacked) else content


@dataclass(frozen=True, slots=True)
class Commit:
    """One step of one game, all or nothing.

    Attributes:
        house: the house whose owner epoch is checked.
        game: the game whose record head is checked; "" for a step of the house itself, which has posts and cursors
            only, both heads "", and neither waits for nor stops any other step.
        epoch: owner epoch this moderator holds.
        expected: record head (64 hex digits, "" before the first entry) this step was computed on.
        head: record head after this step. Equal to `expected` for a step without record entries.
        record: entries for the game's record stream, ids ``"SEQ-0"``, ascending and without gaps.
        posts: (stream, entry) pairs for other streams. An entry with an empty id gets ``"<epoch>-<n>"`` from the bus,
            n counting up on that stream; an entry with an id (the table's ``"NUMBER-0"``) keeps it.
        cursors: durable cursors to store with the step, stream name to id.
    """

    house: str
    game: str
    epoch: int
    expected: str
    head: str
    record: Sequence[Entry] = ()
    posts: Sequence[tuple[str, Entry]] = ()
    cursors: Mapping[str, str] | None = None


@dataclass(frozen=True, slots=True)
class Owner:
    """Who moderates a house; holder and epoch together name one claim.

    Attributes:
        holder: who claimed it last, "" if nobody did.
        epoch: under which epoch, 0 if nobody did.
        left_s: seconds until its lease runs out, by the bus's own clock; 0 where it has, was released, or never was.
        unreleased: whether there is a lease, run out or not, that was never released: its holder broke off.
    """

    holder: str
    epoch: int
    left_s: float
    unreleased: bool = field(default=False, compare=False)


class Reader(Protocol):
    """A reading session with cursors and, on Redis, a connection of its own.

    One thread reads; any thread may call the rest.
    """

    def follow(self, stream: str, after: str = "0-0") -> None:
        """Add `stream`, from the entry after id `after`; takes effect at once, even while a `read` blocks.

        "0-0" means from the oldest entry still there. A stream already followed starts anew from `after`.
        """

    def unfollow(self, stream: str) -> None:
        """Stop reading `stream`; unknown streams are ignored."""

    def read(self, block_s: float, limit: int = 1000) -> list[tuple[str, list[Entry]]]:
        """Return new entries per stream, at most `limit` each, waiting up to `block_s` seconds for the first.

        Returns an empty list when the time passed. Reconnects by itself, resuming by cursor.

        Raises:
            StreamLost: a followed stream was deleted, cut beyond the cursor, or now ends before it. It is followed no
                more; the other streams go on, and what was unread of them is returned by the next call.
            BusError: the same for a followed key that is no stream, or that may not be read.
            BusDown: no connection within the bus's patience, or this session was closed before the call.
        """

    def close(self) -> None:
        """End the session; a blocked `read` returns an empty list."""


class Bus(Protocol):
    """Encoded messages on named streams. All methods are thread-safe.

    Attributes:
        url: the bus's address, without user and password: fit for printing.
        in_process: whether nobody outside this process can be on it, and nothing of it outlives the process.
    """

    url: str
    in_process: bool

    def append(self, stream: str, entries: Sequence[Entry], within_s: float | None = None) -> None:
        """Append entries with explicit, ascending ids to a stream that has this one writer; safe to repeat.

        Ids are ``"<incarnation>-<n>"``. An entry already on the stream with equal bytes is recognised and not doubled.

        Args:
            stream: its name.
            entries: what to append.
            within_s: try once, on a connection that stands, for so many seconds, in place of the bus's patience.

        Raises:
            StaleWriter: the stream's last id belongs to a newer incarnation, or holds other bytes under the same id.
            BusError: ids that do not ascend, an id the stream has passed over, a key that is no stream, no memory left.
            BusDown: no connection within the bus's patience; some of the entries may have landed, repeating is safe.
        """

    def post(self, stream: str, entry: Entry) -> str:
        """Append to a stream with many writers (the lobby); the bus assigns and returns the id.

        At-least-once: after a lost reply the entry may stand twice, so its reader must be idempotent.
        """

    def commit(self, commits: Sequence[Commit]) -> list[BusError | None]:
        """Land each commit atomically, in order; one result each: None (landed, or had landed before) or the error.

        `Fenced` where the epoch is not current, where steps are gone that this bus object had seen land under it (a
        server that came back without its last moments), or the head is neither the expected one nor the new one; once
        a game's commit failed, later commits of that game in the same call are `Fenced` too. `BusFull` where memory is
        short, `BusError` where a key has another type or ids do not go on where their stream ends: nothing of that
        commit was written.
        Raises BusDown where no connection is to be had; repeating all is safe: a step is recognised by the head it
        left on its last record entry, even below newer steps. Only a step without record entries and without posts
        that have ids of their own may, when repeated, post twice.
        """

    def claim(self, house: str, holder: str, lease_s: float = 0.0) -> int:
        """Take ownership of a house: store `holder` and return a new owner epoch, higher than every one before.

        An epoch is the time of the claim by the bus's own clock, in ms since 1970, or one more than the epoch before
        if that is higher: so none comes twice, not even where the bus has lost the claim before. What a moderator posts
        without ids of its own therefore ends up behind whatever anybody has read.

        Args:
            house: its name.
            holder: who takes it; a name that no other process uses.
            lease_s: seconds during which nobody else may claim it, unless `renew` prolongs them; 0 for no lease.

        Raises:
            HouseHeld: another holder's lease has not run out.
        """

    def renew(self, house: str, holder: str, epoch: int, lease_s: float) -> None:
        """Prolong the lease: it now ends `lease_s` seconds from now, by the bus's own clock.

        Args:
            house: its name.
            holder: who claimed it.
            epoch: what that claim returned.
            lease_s: see `claim`.

        Raises:
            Fenced: this claim is not the current one: somebody else owns the house, or the bus lost its data; or steps
                that had landed under it are gone (see `commit`).
        """

    def release(self, house: str, holder: str, epoch: int) -> None:
        """End the lease, so that another may claim the house at once; does nothing if this claim is not current."""

    def owner(self, house: str) -> Owner:
        """Return who owns a house."""

    def head(self, house: str, game: str) -> str:
        """Return the record head stored for a game, "" if there is none."""

    def cursors(self, house: str) -> dict[str, str]:
        """Return the durable cursors that commits have stored in a house."""

    def entries(self, stream: str, after: str = "0-0", limit: int = 1000) -> list[Entry]:
        """Return up to `limit` entries after id `after`, without waiting."""

    def last_id(self, stream: str) -> str:
        """Return the id of the newest entry ever appended, "0-0" if none."""

    def trim(self, stream: str, before: str) -> int:
        """Drop entries older than id `before`; returns how many went.

        To trim up to a reader's cursor, pass the cursor: the entry it stands on stays, and proves that nothing is lost.
        """

    def cap(self, stream: str, keep: int) -> int:
        """Drop the oldest entries so that at most `keep` are left; returns how many went.

        A reader that had not read them gets StreamLost.
        """

    def length(self, stream: str) -> int:
        """Return how many entries a stream holds, 0 if there is none."""

    def expire(self, house: str, game: str, after_s: float, head: str | None = None) -> bool:
        """Forget a game's head now and its record and table `after_s` seconds from now; 0 for now.

        For games that are over and exported: no step can be committed to them any more. Mailboxes are left alone.

        Args:
            house: the house's name.
            game: the game's id.
            after_s: seconds, >= 0.
            head: head of the record that was exported; a game that has another one now, since the bus lost its last
                moments, is left alone. None for whatever it is.

        Returns:
            Whether the game has no head any more.
        """

    def forget(self, keys: Sequence[str], after_s: float) -> None:
        """Forget what stands on keys of one house so long from now, unless this is said again; keys that are not there
        are passed over.

        Args:
            keys: names of streams, and of what else a house has.
            after_s: seconds, > 0.
        """

    def reader(self) -> Reader:
        """Open a reading session."""

    def close(self) -> None:
        """Close every connection and session; calls made afterwards raise BusDown."""


def every_entry(bus: Bus, stream: str, after: str = "0-0") -> Iterator[Entry]:
    """Yield all entries of a stream after id `after`, to its end as it is when that is reached.

    Raises:
        BusError: it cannot be read, or not any further.
    """
    while batch := bus.entries(stream, after):
        yield from batch
        after = batch[-1].id
