"""Steps on Redis: one small script per step, many steps per round trip; and who owns a house, by leases under the
server's own clock (`RedisOwners`).

`KnownSteps` counts those that a server has confirmed; one that knows of fewer has gone backwards.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from functools import partial
from itertools import groupby
from operator import attrgetter
from typing import cast

from wolfbus.bus import streams
from wolfbus.bus.checks import Kind, Verdict, gone_backwards, house_held, milliseconds, not_current
from wolfbus.bus.protocol import Commit, Entry, Owner
from wolfbus.bus.redis.link import RedisLink, ResponseError, Script, Word, refusal
from wolfbus.bus.redis.links import Links
from wolfbus.bus.redis.wire import find, head_of
from wolfbus.errors import BusError, BusFull, NotAllowed


class KnownSteps:
    """Counts by house and owner epoch. Thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._known: dict[str, tuple[int, int]] = {}

    def of(self, house: str, epoch: int) -> int:
        """Return how many steps of this epoch are known to have landed, from whomever."""
        with self._lock:
            newest, steps = self._known.get(house, (0, 0))
            return steps if newest == epoch else 0

    def note(self, house: str, epoch: int, steps: int) -> None:
        """Take note that the server knows of so many; those of an older epoch are of no interest any more."""
        with self._lock:
            self._known[house] = max(self._known.get(house, (0, 0)), (epoch, steps))


class RedisLedger:
    """A Redis, as `steps.land` sees it.

    Args:
        links: connections to it.
        known: what it has confirmed; kept up to date.
    """

    def __init__(self, links: Links, known: KnownSteps) -> None:
        self._links = links
        self._known = known
        self._script = Script("commit")

    def send(self, steps: Sequence[Commit]) -> list[Verdict]:
        """Run the script for each step, all of a house in one round trip."""
        found: list[Verdict] = []
        for house, group in groupby(steps, attrgetter("house")):
            found += self._links.run(streams.owner(house), partial(self._send, steps=list(group)))
        return found

    def _send(self, link: RedisLink, steps: Sequence[Commit]) -> list[Verdict]:
        try:
            # Steps that landed and are sent again all the same, to a server that forgot the script, are recognised.
            calls = [_words(step, self._known.of(step.house, step.epoch)) for step in steps]
            verdicts = [_verdict(reply) for reply in self._script.run(link, calls)]
        except BusError as error:
            return [_refused(error)] * len(steps)
        for step, verdict in zip(steps, verdicts, strict=True):
            if verdict.kind == "landed":
                self._known.note(step.house, step.epoch, int(verdict.detail))
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


def _words(step: Commit, known: int) -> list[Word]:
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
    words += (len(step.record), len(step.posts), len(cursors), known)
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
    kind: Kind = "forbidden" if isinstance(error, NotAllowed) else "full" if isinstance(error, BusFull) else "refused"
    return Verdict(kind, str(error))


class RedisOwners:
    """Who owns the houses of a Redis.

    Args:
        links: connections to it.
        known: what it has confirmed of steps.
    """

    def __init__(self, links: Links, known: KnownSteps) -> None:
        self._links = links
        self._known = known
        self._owning = Script("owner")

    def claim(self, house: str, holder: str, lease_s: float = 0.0) -> int:
        """Take ownership of a house; returns a new owner epoch; see `Bus.claim`. A break may use up epochs."""
        kind, *details = self._act(house, "claiming", "claim", holder, milliseconds(lease_s))
        if kind == "held":
            raise house_held(house, details[0], int(details[1]) / 1000)
        return int(details[0])

    def renew(self, house: str, holder: str, epoch: int, lease_s: float) -> None:
        """Prolong the lease; see `Bus.renew`."""
        known = self._known.of(house, epoch)
        kind, *details = self._act(house, "renewing", "renew", holder, epoch, milliseconds(lease_s), known)
        if kind == "epoch":
            raise not_current(house, epoch, *details)
        if kind == "behind":
            raise gone_backwards(house, details[0])

    def release(self, house: str, holder: str, epoch: int) -> None:
        """End the lease; does nothing if this claim is not the current one."""
        self._act(house, "releasing", "release", holder, epoch)

    def _act(self, house: str, doing: str, *words: Word) -> list[str]:
        key = streams.owner(house)
        what = f"{doing} house {house} ({key})"
        (reply,) = self._links.run(key, lambda link: self._owning.run(link, [(1, key, *words)]))
        if isinstance(reply, ResponseError):
            raise refusal(reply, what) from reply
        said = [word.decode(errors="replace") for word in cast("list[bytes]", reply)]
        if said[0] == "refused":
            raise BusError(f"{what}: {said[1]}")
        return said

    def owner(self, house: str) -> Owner:
        """Return who owns a house."""
        key = streams.owner(house)
        doing = f"owner of house {house} ({key})"

        def work(link: RedisLink) -> Owner:
            # No script: those who only watch may not run any.
            replies = link.exchange([("HMGET", key, "epoch", "holder", "until"), ("TIME",)])
            for reply in replies:
                if isinstance(reply, ResponseError):
                    raise refusal(reply, doing) from reply
            (epoch, holder, ending), (seconds, micros) = replies
            now_ms = int(seconds) * 1000 + int(micros) // 1000
            left_s = max(0, int(ending or 0) - now_ms) / 1000
            return Owner((holder or b"").decode(errors="replace"), int(epoch or 0), left_s, int(ending or 0) > 0)

        return self._links.run(key, work)
