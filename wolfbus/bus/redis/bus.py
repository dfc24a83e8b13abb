"""``redis://``, ``rediss://``, ``unix://`` and ``redis+cluster://``: the bus between processes, on Redis Streams.

A step is one small script, and many steps go in one round trip; a house is owned by leases under the server's own
clock. `KnownSteps` counts the steps that a server has confirmed; one that knows of fewer has gone backwards.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from functools import partial
from itertools import groupby
from operator import attrgetter
from typing import cast

from redis.exceptions import ResponseError

from wolfbus.bus import streams
from wolfbus.bus.landing import Kind, Verdict, gone_backwards, house_held, land, milliseconds, not_current
from wolfbus.bus.protocol import Commit, Entry, Owner
from wolfbus.bus.redis.connection import RedisLink, Script, Word, refusal
from wolfbus.bus.redis.pool import Links
from wolfbus.bus.redis.reader import RedisReader
from wolfbus.bus.redis.wire import append, entry_of, find, head_of, last_id, xadd
from wolfbus.bus.streams import join_id, parse_id
from wolfbus.bus.url import OPENING_S, read_address, shown_url
from wolfbus.errors import BusError


class KnownSteps:
    """Counts by house and owner epoch. Thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._newest: dict[str, tuple[int, int]] = {}

    def count(self, house: str, epoch: int) -> int:
        """Return how many steps of this epoch are known to have landed, from whomever."""
        with self._lock:
            newest, steps = self._newest.get(house, (0, 0))
            return steps if newest == epoch else 0

    def note(self, house: str, epoch: int, steps: int) -> None:
        """Record that the server knows of so many; those of an older epoch count no more."""
        with self._lock:
            self._newest[house] = max(self._newest.get(house, (0, 0)), (epoch, steps))


class RedisLedger:
    """A Redis, as `wolfbus.bus.landing.land` sees it.

    Args:
        links: connections to it.
        known_steps: what it has confirmed; kept up to date.
    """

    def __init__(self, links: Links, known_steps: KnownSteps) -> None:
        self._links = links
        self._known_steps = known_steps
        self._script = Script("commit")

    def send(self, steps: Sequence[Commit]) -> list[Verdict]:
        """Run the script for each step, all of a house in one round trip."""
        verdicts: list[Verdict] = []
        for house, group in groupby(steps, attrgetter("house")):
            verdicts += self._links.run(streams.owner(house), partial(self._send, steps=list(group)))
        return verdicts

    def _send(self, link: RedisLink, steps: Sequence[Commit]) -> list[Verdict]:
        try:
            # Steps that landed and are sent again all the same, to a server that forgot the script, are recognised.
            calls = [_words(step, self._known_steps.count(step.house, step.epoch)) for step in steps]
            verdicts = [_verdict(reply) for reply in self._script.run(link, calls)]
        except BusError as error:
            return [_refused(error)] * len(steps)
        for step, verdict in zip(steps, verdicts, strict=True):
            if verdict.kind == "landed":
                self._known_steps.note(step.house, step.epoch, int(verdict.detail))
        return verdicts

    def head_at(self, house: str, game: str, entry_id: str) -> str:
        """Return the head that the step ending in a record entry brought about, "" if there is none."""
        record = streams.record(house, game)
        items = self._links.run(
            record, lambda link: link.ask("XRANGE", record, entry_id, entry_id, doing=f"stream {record}")
        )
        return head_of(items[0]) if items else ""

    def find(self, stream: str, entry_id: str) -> Entry | None:
        """Return the entry that stands on a stream under an id."""
        return self._links.run(stream, lambda link: find(link, stream, entry_id))


def _words(step: Commit, known_steps: int) -> list[Word]:
    """Return the words of the script's call; commit.lua says how its words are laid out."""
    house = step.house
    keys = [
        streams.owner(house),
        streams.heads(house),
        streams.cursors(house),
        streams.record(house, step.game),
    ]
    places: dict[str, int] = {}
    posts: list[Word] = []
    for stream, entry in step.posts:
        place = places.get(stream)
        if place is None:
            keys.append(stream)
            place = places[stream] = len(keys)
        posts += (place, entry.id, entry.type, entry.sender, entry.game, entry.number, entry.body)
    ending = "0-0"
    if step.record:
        first = int(step.record[0].id.partition("-")[0])
        ending = f"{first - 1}-0"
    cursors = step.cursors or {}
    words: list[Word] = [len(keys), *keys, step.game, step.epoch, step.expected, step.head, ending]
    words += (len(step.record), len(step.posts), len(cursors), known_steps)
    for entry in step.record:
        words += (entry.id, entry.type, entry.sender, entry.game, entry.number, entry.body)
    words += posts
    for pair in cursors.items():
        words += pair
    return words


def _verdict(reply: object) -> Verdict:
    if isinstance(reply, ResponseError):
        return _refused(refusal(reply, "Redis refused the step"))
    kind, detail = cast("list[bytes]", reply)
    return Verdict(cast("Kind", kind.decode()), detail.decode(errors="replace"))


def _refused(error: BusError) -> Verdict:
    return Verdict("refused", str(error), type(error))


class RedisBus:
    """See `wolfbus.bus.protocol.Bus`.

    Args:
        url: see `read_address`.

    Attributes:
        url: the address as `shown_url` shows it.

    Raises:
        ConfigError: the address cannot be understood.
        BusDown: the server cannot be reached.
        BusError: the server is too old, or refuses the user.
    """

    in_process = False

    def __init__(self, url: str) -> None:
        address = read_address(url)
        self.url = shown_url(url)
        self._links = Links(address)
        self._known_steps = KnownSteps()
        self._ledger = RedisLedger(self._links, self._known_steps)
        self._expiry = Script("expire")
        self._ownership = Script("owner")
        self._readers: set[RedisReader] = set()
        self._links.reach(min(OPENING_S, address.patience_s))

    def append(self, stream: str, entries: Sequence[Entry], within_s: float | None = None) -> None:
        """Append entries with explicit, ascending ids; see `Bus.append`."""
        if within_s is None:
            self._links.run(stream, lambda link: append(link, stream, entries))
        else:
            self._links.try_once(stream, lambda link: append(link, stream, entries), within_s)

    def post(self, stream: str, entry: Entry) -> str:
        """Append to a stream with many writers; returns the id ``MILLISECONDS-n``. May stand twice after a break."""
        return self._text(stream, "stream " + stream, *xadd(stream, entry, "*"))

    def commit(self, commits: Sequence[Commit]) -> list[BusError | None]:
        """Land each commit atomically, in order; see `Bus.commit`."""
        return land(commits, self._ledger)

    def claim(self, house: str, holder: str, lease_s: float = 0.0) -> int:
        """Take ownership of a house; returns a new owner epoch; see `Bus.claim`. A break may use up epochs."""
        kind, *details = self._call_owner(house, "claiming", "claim", holder, milliseconds(lease_s))
        if kind == "held":
            raise house_held(house, details[0], int(details[1]) / 1000)
        return int(details[0])

    def renew(self, house: str, holder: str, epoch: int, lease_s: float) -> None:
        """Prolong the lease; see `Bus.renew`."""
        known_steps = self._known_steps.count(house, epoch)
        kind, *details = self._call_owner(house, "renewing", "renew", holder, epoch, milliseconds(lease_s), known_steps)
        if kind == "epoch":
            raise not_current(house, epoch, *details)
        if kind == "behind":
            raise gone_backwards(house, details[0])

    def release(self, house: str, holder: str, epoch: int) -> None:
        """End the lease; does nothing if this claim is not the current one."""
        self._call_owner(house, "releasing", "release", holder, epoch)

    def _call_owner(self, house: str, doing: str, *words: Word) -> list[str]:
        key = streams.owner(house)
        action = f"{doing} house {house} ({key})"
        reply: list[bytes] = self._links.call(self._ownership, [key], words, action)
        answer = [word.decode(errors="replace") for word in reply]
        if answer[0] == "refused":
            raise BusError(f"{action}: {answer[1]}")
        return answer

    def owner(self, house: str) -> Owner:
        """Return who owns a house."""
        key = streams.owner(house)
        doing = f"owner of house {house} ({key})"

        def work(link: RedisLink) -> Owner:
            # No script: those who only watch may not run any.
            replies = link.exchange([("HMGET", key, "epoch", "holder", "until", "lease"), ("TIME",)])
            for reply in replies:
                if isinstance(reply, ResponseError):
                    raise refusal(reply, doing) from reply
            (epoch, holder, ending, lease), (seconds, micros) = replies
            now_ms = int(seconds) * 1000 + int(micros) // 1000
            try:
                until_ms = int(ending or 0)
                left_ms = max(0, until_ms - now_ms)
                left_s = min(left_ms, int(lease or left_ms)) / 1000
                return Owner((holder or b"").decode(errors="replace"), int(epoch or 0), left_s, until_ms > 0)
            except ValueError:
                raise BusError(f"{doing}: it holds what no moderator wrote") from None

        return self._links.run(key, work)

    def head(self, house: str, game: str) -> str:
        """Return the record head stored for a game, "" if there is none."""
        key = streams.heads(house)
        return self._text(key, f"heads of house {house}", "HGET", key, game)

    def cursors(self, house: str) -> dict[str, str]:
        """Return the durable cursors that commits have stored in a house."""
        key = streams.cursors(house)
        reply = self._links.run(key, lambda link: link.ask("HGETALL", key, doing=f"cursors of house {house}"))
        words = [word.decode() for word in reply]
        return dict(zip(words[::2], words[1::2], strict=True))

    def entries(self, stream: str, after: str = "0-0", limit: int = 1000) -> list[Entry]:
        """Return up to `limit` entries after id `after`, without waiting."""
        parse_id(after)
        items = self._links.run(
            stream, lambda link: link.ask("XRANGE", stream, f"({after}", "+", "COUNT", limit, doing=f"stream {stream}")
        )
        return [entry_of(item) for item in items]

    def last_id(self, stream: str) -> str:
        """Return the id of the newest entry ever appended, "0-0" if none."""
        return self._links.run(stream, lambda link: last_id(link, stream))

    def trim(self, stream: str, before: str) -> int:
        """Drop entries older than id `before`; returns how many went (after a break perhaps fewer than did)."""
        return self._shorten(stream, "MINID", join_id(parse_id(before)))

    def cap(self, stream: str, keep: int) -> int:
        """Drop the oldest entries so that at most `keep` are left; returns how many went (see `trim`)."""
        return self._shorten(stream, "MAXLEN", max(keep, 0))

    def _shorten(self, stream: str, how: str, limit: str | int) -> int:
        command = ("XTRIM", stream, how, "=", limit)  # exact: no ~
        return int(self._links.run(stream, lambda link: link.ask(*command, doing=f"stream {stream}")))

    def length(self, stream: str) -> int:
        """Return how many entries a stream holds, 0 if there is none."""
        return int(self._links.run(stream, lambda link: link.ask("XLEN", stream, doing=f"stream {stream}")))

    def expire(self, house: str, game: str, after_s: float, head: str | None = None) -> bool:
        """Forget a game's head now and its record and table in `after_s` seconds; see `Bus.expire`."""
        keys = (streams.heads(house), streams.record(house, game), streams.table(house, game))
        words = (game, head or "", milliseconds(after_s))
        return bool(self._links.call(self._expiry, keys, words, f"expiring game {game} of house {house}"))

    def forget(self, keys: Sequence[str], after_s: float) -> None:
        """Forget what stands on keys of one house so long from now; see `Bus.forget`."""
        for key in keys:
            self._forget(key, milliseconds(after_s))

    def _forget(self, key: str, ms: int) -> None:
        self._links.run(key, lambda link: link.ask("PEXPIRE", key, ms, doing=f"expiry of {key}"))

    def reader(self) -> RedisReader:
        """Open a reading session with a connection of its own."""
        self._links.check_open()
        reader = RedisReader(self._links, self._readers.discard)
        self._readers.add(reader)
        return reader

    def close(self) -> None:
        """Close every connection and session; calls made afterwards raise BusDown."""
        self._links.close()
        for reader in list(self._readers):
            reader.close()

    def _text(self, key: str, doing: str, *command: str | bytes | int) -> str:
        reply: bytes | None = self._links.run(key, lambda link: link.ask(*command, doing=doing))
        return (reply or b"").decode()
