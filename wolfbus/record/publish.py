"""A finished record, put on a bus under the ids that a moderator would have given it: published for live subscribers,
with news and heads, or brought alone to whoever collects records.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from wolfbus.bus import open_bus, streams
from wolfbus.bus.protocol import Bus, Commit, Entry
from wolfbus.errors import ConfigError, Fenced
from wolfbus.knowledge.audience import AudienceFilter
from wolfbus.messages.base import PROTOCOL
from wolfbus.messages.codec import encode, pack
from wolfbus.messages.events import Opened
from wolfbus.messages.requests import TableNews
from wolfbus.record.line import Recorded, bus_members, line_of, seal

_HOLDER = "replay"

STEP = 100
"""Events per commit."""


def publish(records: Sequence[Recorded], url: str, house: str) -> int:
    """Publish a record into `house`; publishing the same record again changes nothing. Returns the number of events.

    Raises:
        ConfigError: the record does not begin with its opening, the house belongs to a moderator, or it holds another
            record of this game.
        BusError: the bus could not take it.
    """
    if not records or not isinstance(records[0].event, Opened):
        raise ConfigError("there is no readable record to publish")
    game = records[0].event.game
    bus = open_bus(url)
    try:
        if bus.owner(house).holder not in {"", _HOLDER}:
            raise ConfigError(f"house {house!r} belongs to a moderator; publish into a house of its own (--house)")
        epoch = bus.claim(house, _HOLDER)
        for result in bus.commit(list(commits_of(records, house, game, epoch))):
            if isinstance(result, Fenced):
                raise ConfigError(f"house {house!r} holds another record of game {game}")
            if result is not None:
                raise result
    finally:
        bus.close()
    return len(records)


def append_record(bus: Bus, house: str, game: str, path: Path) -> None:
    """Put a record that was written elsewhere on a bus, line by line as it stands; safe to repeat.

    Args:
        bus: where whoever wants it reads it.
        house: the house in which it was played; no other process writes under that name.
        game: the game's id.
        path: the record, whole.

    Raises:
        BusError: the bus could not take it, or holds another record of this game.
        OSError: the record cannot be read.
    """
    stream = streams.record(house, game)
    with path.open("rb") as lines:
        while step := list(itertools.islice(lines, STEP)):
            bus.append(stream, [_entry({**json.loads(line), "v": PROTOCOL}, game) for line in step])


def entry_of(recorded: Recorded, game: str) -> Entry:
    """Return the entry of an event, byte for byte as `append_record` makes it of its line."""
    return _entry({**json.loads(line_of(bus_members(recorded))), "v": PROTOCOL}, game)


def _entry(members: dict[str, Any], game: str) -> Entry:
    """Return the entry of a record's line, given as its members stand on the bus."""
    return Entry(pack(members), members["type"], "moderator", game, members["n"], f"{members['n']}-0")


def commits_of(records: Sequence[Recorded], house: str, game: str, epoch: int) -> Iterator[Commit]:
    """Yield the steps of a record as a moderator of this epoch would commit them."""
    audiences, head, previous = AudienceFilter(), "", ""
    table = streams.table(house, game)
    for start in range(0, len(records), STEP):
        step = records[start : start + STEP]
        entries, posts = [], []
        for recorded in step:
            # sealed once more, which gives the very same hash
            entries.append(_entry(bus_members(seal(previous, recorded)[0]), game))
            previous = recorded.hash
            for news in audiences.feed(recorded.event).public:
                body = encode(TableNews(game=game, n=news.n, fact=news.fact))
                posts.append((table, Entry(body, "news", "moderator", game, news.n, f"{news.n}-0")))
        yield Commit(house, game, epoch, expected=head, head=step[-1].hash, record=entries, posts=posts)
        head = step[-1].hash
