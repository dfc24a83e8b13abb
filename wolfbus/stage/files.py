"""What is written into files: a game for one viewer or all, a study with its games."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import zip_longest
from typing import Any

from wolfbus.errors import ConfigError
from wolfbus.messages.base import SeatName
from wolfbus.messages.events import Opened
from wolfbus.record.line import Recorded
from wolfbus.stage.beats import as_json
from wolfbus.stage.document import FORMAT, GameFeed, all_viewers
from wolfbus.stage.eyes import EVERYTHING, Viewer, viewer_named
from wolfbus.stage.inspector import CallIndex


def seats_of(records: Sequence[Recorded]) -> tuple[SeatName, ...]:
    """Return all players of a record in seating order; () where it does not hold even its opening."""
    opened = records[0].event if records else None
    return tuple(seat.name for seat in opened.seats) if isinstance(opened, Opened) else ()


def game_file(
    records: Sequence[Recorded], word: str = "", problem: str | None = None, *, prompts: bool = False
) -> dict[str, Any]:
    """Return what a file of one game holds.

    One beat of all viewers stands together, so that compression finds what they share.

    Args:
        records: the lines that are whole.
        word: whose eyes the file has: ``public`` or a seat's name; "" for everything, and then all others as well.
        problem: what is wrong with the line after them.
        prompts: whether the prompts of all model calls go with it.

    Raises:
        ConfigError: there is no such viewer, or prompts are wanted for one who may not see them.
        RecordError: prompts are not what the record says.
    """
    names = seats_of(records)
    viewer = viewer_named(word or EVERYTHING, names)
    if prompts and viewer != EVERYTHING:
        raise ConfigError("--prompts: they hold what other seats know; give no --as")
    viewers = all_viewers(names) if viewer == EVERYTHING else (viewer,)
    feeds = [_feed(each, records) for each in viewers]
    found: dict[str, Any] = {
        "format": FORMAT,
        "kind": "game",
        "heads": [_head(feed, viewers, records, problem) for feed in feeds],
        "beats": [
            [as_json(beat) if beat is not None else None for beat in beats]
            for beats in zip_longest(*(feed.beats for feed in feeds))
        ],
    }
    return {**found, "prompts": _prompts(records)} if prompts else found


def _feed(viewer: Viewer, records: Sequence[Recorded]) -> GameFeed:
    feed = GameFeed(viewer)
    for recorded in records:
        feed.feed(recorded)
    return feed


def _head(
    feed: GameFeed, viewers: Sequence[Viewer], records: Sequence[Recorded], problem: str | None
) -> dict[str, Any]:
    head = {**feed.head(), "viewers": list(viewers), "problems": [problem] if problem is not None else []}
    if feed.viewer == EVERYTHING and records:
        head["proof"] = {"sealed": True, "head": records[-1].hash, "lines": len(records)}
    return head


def _prompts(records: Sequence[Recorded]) -> dict[str, Any]:
    """Return all model calls, each text of their prompts once."""
    index = CallIndex(records)
    texts: dict[tuple[str, str], int] = {}
    calls: dict[str, Any] = {}
    for line in index.lines:
        call = index.call(line) or {}
        call["segments"] = [
            {
                "i": texts.setdefault((piece["role"], piece["text"]), len(texts)),
                "share": piece["share"],
                "new": piece["new"],
            }
            for piece in call["segments"]
        ]
        calls[str(line)] = call
    return {"segments": [{"role": role, "text": text} for role, text in texts], "calls": calls}
