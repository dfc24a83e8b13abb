"""Ownership of houses on Redis: claims and leases by one small script, under the server's own clock."""

from __future__ import annotations

from typing import cast

from wolfbus.bus import streams
from wolfbus.bus.checks import gone_backwards, house_held, milliseconds, not_current
from wolfbus.bus.protocol import Owner
from wolfbus.bus.redis.commit import KnownSteps
from wolfbus.bus.redis.link import RedisLink, ResponseError, Script, Word, refusal
from wolfbus.bus.redis.links import Links
from wolfbus.errors import BusError

SCAN_COUNT = 1000
"""Keys looked at in one step, so that no other client waits for long."""


class RedisOwners:
    """Who owns the houses of a Redis.

    Args:
        links: connections to it.
        known: what it has confirmed of steps.
    """

    def __init__(self, links: Links, known: KnownSteps) -> None:
        self._links = links
        self._known = known
        self._script = Script("owner")

    def claim(self, house: str, holder: str, lease_s: float) -> int:
        """Take ownership of a house; see `Bus.claim`. A break may use up epochs."""
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
        """End the lease; see `Bus.release`."""
        self._act(house, "releasing", "release", holder, epoch)

    def _act(self, house: str, doing: str, *words: Word) -> list[str]:
        key = streams.owner(house)
        what = f"{doing} house {house} ({key})"
        (reply,) = self._links.run(key, lambda link: self._script.run(link, [(1, key, *words)]))
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

    def houses(self) -> list[str]:
        """Return the names of all houses that were ever claimed here, sorted."""
        return sorted(set().union(*self._links.run_everywhere(_houses)))


def _houses(link: RedisLink) -> set[str]:
    before, after = streams.owner("*").split("*")
    found: set[str] = set()
    cursor = b"0"
    while True:
        cursor, keys = link.ask(
            "SCAN", cursor, "MATCH", streams.owner("*"), "COUNT", SCAN_COUNT, "TYPE", "hash", doing="looking for houses"
        )
        found.update(key.decode(errors="replace").removeprefix(before).removesuffix(after) for key in keys)
        if cursor == b"0":
            return found
