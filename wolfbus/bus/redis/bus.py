"""``redis://``, ``rediss://``, ``unix://`` and ``redis+cluster://``: the bus between processes, on Redis Streams."""

from __future__ import annotations

from collections.abc import Sequence

from wolfbus.bus import streams
from wolfbus.bus.checks import land, milliseconds
from wolfbus.bus.protocol import Commit, Entry
from wolfbus.bus.redis.commit import KnownSteps, RedisLedger, RedisOwners
from wolfbus.bus.redis.link import ResponseError, Script, Word, refusal
from wolfbus.bus.redis.links import Links
from wolfbus.bus.redis.reader import RedisReader
from wolfbus.bus.redis.wire import append, entry_of, last_id, xadd
from wolfbus.bus.streams import join_id, parse_id
from wolfbus.bus.url import OPENING_S, read_address, shown_url
from wolfbus.errors import BusError


class RedisBus(RedisOwners):
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

    def __init__(self, url: str) -> None:
        address = read_address(url)
        self.url = shown_url(url)
        known = KnownSteps()
        super().__init__(Links(address), known)
        self._ledger = RedisLedger(self._links, known)
        self._expiry = Script("expire")
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
        call: tuple[Word, ...] = (len(keys), *keys, game, head or "", milliseconds(after_s))
        (reply,) = self._links.run(keys[0], lambda link: self._expiry.run(link, [call]))
        if isinstance(reply, ResponseError):
            raise refusal(reply, f"expiring game {game} of house {house}") from reply
        return bool(reply)

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
