"""Steps on Redis: one small script per step, many steps per round trip."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import resources
from typing import cast

from wolfbus.bus import streams
from wolfbus.bus.protocol import Commit, Entry
from wolfbus.bus.redis_link import Link, NoScriptError, ResponseError, Word, refusal
from wolfbus.bus.redis_links import Links
from wolfbus.bus.redis_wire import find, head_of
from wolfbus.bus.steps import Kind, Verdict
from wolfbus.errors import BusError


class RedisLedger:
    """A Redis, as `steps.land` sees it.

    Args:
        links: connections to it.
    """

    def __init__(self, links: Links) -> None:
        self._links = links
        self._script = resources.files("wolfbus.bus").joinpath("commit.lua").read_text("utf-8")
        self._sha = ""

    def send(self, steps: Sequence[Commit]) -> list[Verdict]:
        """Run the script for each step, all in one round trip."""
        return self._links.run(lambda link: self._send(link, steps))

    def _send(self, link: Link, steps: Sequence[Commit]) -> list[Verdict]:
        try:
            return self._run(link, steps)
        except BusError as error:
            return [Verdict("refused", str(error))] * len(steps)

    def _run(self, link: Link, steps: Sequence[Commit]) -> list[Verdict]:
        if not self._sha:
            self._load(link)
        replies = link.exchange([_command(self._sha, step) for step in steps])
        if any(isinstance(reply, NoScriptError) for reply in replies):
            # A restarted or flushed server. Steps that landed all the same are recognised when they come again.
            self._load(link)
            replies = link.exchange([_command(self._sha, step) for step in steps])
        return [_verdict(reply) for reply in replies]

    def _load(self, link: Link) -> None:
        self._sha = link.ask("SCRIPT", "LOAD", self._script, doing="loading the commit script").decode()

    def head_at(self, house: str, game: str, entry_id: str) -> str:
        """Return the head that the step ending in a record entry brought about, "" if there is none."""
        record = streams.record(house, game)
        items = self._links.run(lambda link: link.ask("XRANGE", record, entry_id, entry_id, doing=f"stream {record}"))
        return head_of(items[0]) if items else ""

    def find(self, stream: str, entry_id: str) -> Entry | None:
        """Return the entry that stands on a stream under an id."""
        return self._links.run(lambda link: find(link, stream, entry_id))


def _command(sha: str, step: Commit) -> list[Word]:
    """Return the script's call; commit.lua says how its words are laid out."""
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
    words: list[Word] = ["EVALSHA", sha, len(keys), *keys, step.game, step.epoch, step.expected, step.head, ending]
    words += (len(step.record), len(step.posts), len(cursors))
    for entry in step.record:
        words += (entry.id, entry.type, entry.sender, entry.game, entry.number, entry.body)
    words += posts
    for pair in cursors.items():
        words += pair
    return words


def _verdict(reply: object) -> Verdict:
    if isinstance(reply, ResponseError):
        return Verdict("refused", str(refusal(reply, "Redis refused the step")))
    kind, detail = cast("list[bytes]", reply)
    return Verdict(cast("Kind", kind.decode()), detail.decode(errors="replace"))
