"""`GameIndex`: what a library tells of every record, kept in a file so that large records are read once."""

from __future__ import annotations

import contextlib
import json
import threading
from collections import Counter
from pathlib import Path
from typing import Any, Final

from wolfbus.errors import RecordError
from wolfbus.messages.events import Opened
from wolfbus.record.reader import open_lines, read_record
from wolfbus.stage.document import GameFeed
from wolfbus.stage.eyes import EVERYTHING
from wolfbus.stage.sources import paths_under
from wolfbus.whole_file import write_whole

FILE: Final = ".index.json"
_VERSION: Final = 1
_AT_ONCE: Final = 40
"""Records that one look at a library reads at most; the next look reads on."""
_BEST: Final = (
    "false_seer_claim",
    "one_vote",
    "suspicion_drops",
    "suspicion_rises",
    "kill_blocked",
    "special_exiled",
)
"""Kinds of key moments, the one that tells most of a game first."""


def summary_of(path: Path) -> dict[str, Any]:
    """Return what a library tells of a record: who played, how it ended, lies, its best moment."""
    feed = GameFeed(EVERYTHING)
    opened: Opened | None = None
    reader = read_record(open_lines(path), tolerant=True, lenient=True)
    problem: str | None = None
    try:
        for recorded in reader:
            if isinstance(recorded.event, Opened):
                opened = recorded.event
            feed.feed(recorded)
    except RecordError as error:
        problem = str(error)
    problem = problem or next((str(each) for each in reader.problems), None)
    if opened is None:
        return {"state": "damaged", "error": problem or "no record", "started": 0.0}
    return {**_opening(opened, feed), **_course(feed), **({"error": problem} if problem else {})}


def _opening(opened: Opened, feed: GameFeed) -> dict[str, Any]:
    seats = feed.game()["seats"]
    players = Counter((seat["brain"], seat.get("model")) for seat in seats)
    return {
        "game": opened.game,
        **({"title": opened.title} if opened.title is not None else {}),
        "started": opened.started,
        "names": [seat.name for seat in opened.seats],
        "seed": opened.seed,
        "players": [
            {"brain": brain, "seats": count, **({"model": model} if model else {})}
            for (brain, model), count in players.items()
        ],
    }


def _course(feed: GameFeed) -> dict[str, Any]:
    beats = feed.beats
    last = beats[-1].over if beats else None
    found: dict[str, Any] = {
        "state": "open" if last is None else "stopped" if last.stopped is not None else "ended",
        "rounds": max((beat.round for beat in beats), default=0),
        "statements": sum(beat.spoken is not None for beat in beats),
        "lies": sum("lie" in beat.marks for beat in beats),
    }
    if last is not None:
        found |= {"winner": last.winner, "reason": last.reason}
    moments = feed.moments()
    if moments:
        best = min(moments, key=lambda moment: _BEST.index(moment["kind"]))
        found |= {"moment": best["words"], "moment_beat": best["beat"]}
    return {name: value for name, value in found.items() if value is not None}


class GameIndex:
    """What a library tells of every record below a folder; safe from any thread.

    Args:
        root: the folder, or one record.
        keep: whether to keep it in a hidden file of the folder, by size and time of each record; it is kept in memory
            only where that cannot be written.
    """

    def __init__(self, root: Path, *, keep: bool) -> None:
        self.root = root
        self._file = root / FILE if keep and root.is_dir() else None
        self._lock = threading.Lock()
        self._known: dict[str, dict[str, Any]] = _load(self._file)

    def games(self) -> list[tuple[str, Path, dict[str, Any]]]:
        """Return name, file and summary of every record; of many new ones the newest are read, others are ``new``."""
        with self._lock:
            read = 0
            found: dict[str, dict[str, Any]] = {}
            paths = sorted(paths_under(self.root).items(), key=lambda item: -_mtime(item[1]))
            for name, path in paths:
                stamp = _stamp(path)
                held = self._known.get(name)
                if held is not None and held["stamp"] == stamp:
                    found[name] = held
                elif read < _AT_ONCE:
                    read += 1
                    found[name] = {"stamp": stamp, "summary": summary_of(path)}
            changed = read or len(found) != len(self._known)
            self._known = found
            if changed:
                self._save()
        return [
            (name, path, found[name]["summary"] if name in found else {"state": "new", "started": _mtime(path)})
            for name, path in paths
        ]

    def _save(self) -> None:
        if self._file is not None:
            # a folder that cannot be written is read all the same
            with contextlib.suppress(OSError):
                write_whole(self._file, [json.dumps({"v": _VERSION, "games": self._known}, ensure_ascii=False)])


def _load(path: Path | None) -> dict[str, dict[str, Any]]:
    if path is None:
        return {}
    try:
        told = json.loads(path.read_bytes())
        games = told["games"] if told["v"] == _VERSION else {}
        return {str(name): held for name, held in games.items() if {"stamp", "summary"} <= held.keys()}
    except (OSError, ValueError, TypeError, KeyError, AttributeError):
        # it only saves time
        return {}


def _stamp(path: Path) -> list[int]:
    try:
        found = path.stat()
    except OSError:
        return [0, 0]
    return [found.st_size, found.st_mtime_ns]


def _mtime(path: Path) -> float:
    return _stamp(path)[1] / 1e9
