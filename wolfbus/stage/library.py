"""`Library`: the games and studies that a server shows.

A summary of every record is kept in a file (`GameIndex`), so that large records are read once; a study's numbers are
computed from outside (`StudyReader`).
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import threading
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, Protocol, TypeAlias

from wolfbus.errors import ConfigError, RecordError
from wolfbus.messages.events import Opened, Statement
from wolfbus.record.reader import open_lines, read_record
from wolfbus.stage.document import FORMAT, GameFeed
from wolfbus.stage.sources import name_of_path, path_of, paths_under
from wolfbus.stage.viewers import EVERYTHING
from wolfbus.study.journal import JOURNAL, read_results
from wolfbus.study.manifest import FILE, RECORDS, load_manifest
from wolfbus.whole_file import write_whole

INDEX_FILE: Final = ".index.json"
_VERSION: Final = 1
_READ_LIMIT: Final = 40
"""Records that one look at a library reads at most; the next look reads on."""
_MOMENT_ORDER: Final = (
    "false_seer_claim",
    "one_vote",
    "suspicion_drops",
    "suspicion_rises",
    "kill_blocked",
    "special_exiled",
)
"""Kinds of key moments, the one that tells most of a game first."""


def summary_of(path: Path) -> dict[str, Any]:
    """Return what a library shows of a record: who played, how it ended, lies, its best moment."""
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
    if problem is None and reader.problem is not None:
        problem = str(reader.problem)
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
    course: dict[str, Any] = {
        "state": "open" if last is None else "stopped" if last.stopped is not None else "ended",
        "rounds": max((beat.round for beat in beats), default=0),
        "statements": sum(beat.spoken is not None for beat in beats),
        "lies": sum("lie" in beat.marks for beat in beats),
    }
    if last is not None:
        course |= {"winner": last.winner, "reason": last.reason}
    moments = feed.moments()
    if moments:
        best = min(moments, key=lambda moment: _MOMENT_ORDER.index(moment["kind"]))
        course |= {"moment": best["words"], "moment_beat": best["beat"]}
    return {name: value for name, value in course.items() if value is not None}


ListedGame: TypeAlias = tuple[str, Path, dict[str, Any]]
"""A game's name in addresses, its file, and what `summary_of` tells of it."""


class GameIndex:
    """What a library tells of every record below a folder; safe from any thread.

    It is kept in a hidden file of the folder, by size and time of each record, and in memory only where that cannot be
    written.

    Args:
        root: the folder, or one record.
    """

    def __init__(self, root: Path) -> None:
        self.root = root
        self._file = root / INDEX_FILE if root.is_dir() else None
        self._lock = threading.Lock()
        self._entries: dict[str, dict[str, Any]] = _load(self._file)

    def games(self) -> list[ListedGame]:
        """Return name, file and summary of every record; of many new ones the newest are read, others are ``new``."""
        with self._lock:
            read = 0
            entries: dict[str, dict[str, Any]] = {}
            paths = sorted(paths_under(self.root).items(), key=lambda item: -_mtime(item[1]))
            for name, path in paths:
                stamp = _stamp(path)
                entry = self._entries.get(name)
                if entry is not None and entry["stamp"] == stamp:
                    entries[name] = entry
                elif read < _READ_LIMIT:
                    read += 1
                    entries[name] = {"stamp": stamp, "summary": summary_of(path)}
            changed = read or len(entries) != len(self._entries)
            self._entries = entries
            if changed:
                self._save()
        return [
            (name, path, entries[name]["summary"] if name in entries else {"state": "new", "started": _mtime(path)})
            for name, path in paths
        ]

    def _save(self) -> None:
        if self._file is not None:
            # a folder that cannot be written is read all the same
            with contextlib.suppress(OSError):
                write_whole(self._file, [json.dumps({"v": _VERSION, "games": self._entries}, ensure_ascii=False)])


def _load(path: Path | None) -> dict[str, dict[str, Any]]:
    if path is None:
        return {}
    try:
        index = json.loads(path.read_bytes())
        games = index["games"] if index["v"] == _VERSION else {}
        return {str(name): entry for name, entry in games.items() if {"stamp", "summary"} <= entry.keys()}
    except (OSError, ValueError, TypeError, KeyError, AttributeError):
        # it only saves time
        return {}


def _stamp(path: Path) -> list[int]:
    try:
        status = path.stat()
    except OSError:
        return [0, 0]
    return [status.st_size, status.st_mtime_ns]


def _mtime(path: Path) -> float:
    return _stamp(path)[1] / 1e9


_LISTED_LIMIT: Final = 200
"""Games that one listing holds; a search looks through all."""
_SECRET: Final = frozenset({"players", "seed", "lies", "moment", "moment_beat"})
"""What of a game is shown to those who may see everything of it."""


class Library:
    """The games and studies that a server shows.

    Args:
        root: the folder of records, or one record; None for none.
        live: tells the games that are played now; see ``live`` in docs/stage-data.md. Called on the server's loop.
        seats: tells the seats that wait for a person; called there as well.
        public: whether only what is public may be seen of games that go on.

    Attributes:
        root: the folder or record.
    """

    def __init__(
        self,
        root: Path | None,
        live: Callable[[], list[dict[str, Any]]],
        seats: Callable[[], list[dict[str, Any]]],
        *,
        public: bool,
    ) -> None:
        self.root = root
        self._index = GameIndex(root) if root is not None else None
        self._live = live
        self._seats = seats
        self._public = public

    def path_of(self, name: str) -> Path | None:
        """Return the file of a game; None if it is in none."""
        return path_of(self.root, name) if self.root is not None else None

    def study_folder(self, study: str) -> Path | None:
        """Return the folder of a study by its id; None if there is none."""
        return self._studies().get(study)

    def shielded(self, folder: Path) -> bool:
        """Whether nothing may be told now of what a study measures: its seed alone tells every role yet to be dealt."""
        return self._public and (load_manifest(folder / FILE) or {}).get("complete") is not True

    def games(self) -> list[ListedGame]:
        """Return what may be shown of every game."""
        games = self._index.games() if self._index is not None else []
        return [(name, path, self._visible(summary)) for name, path, summary in games]

    async def names(self) -> dict[str, Any]:
        """Return the ids of all games and studies."""
        live = [game["game"] for game in self._live()]
        games = await asyncio.to_thread(paths_under, self.root) if self.root is not None else {}
        studies = await asyncio.to_thread(self._studies)
        return {"games": list(dict.fromkeys([*live, *games])), "studies": list(studies)}

    async def listing(self, words: str = "") -> dict[str, Any]:
        """Return the data of the library's page.

        Args:
            words: what games must have: in their names, models, moments, or in what was said; "" for all.
        """
        now = {"live": self._live(), "seats": self._seats()}
        return {**now, **await asyncio.to_thread(self._listing, words.strip().casefold())}

    def _listing(self, words: str) -> dict[str, Any]:
        studies = self._studies()
        ids = {folder / RECORDS: study for study, folder in studies.items()}
        games = []
        for name, path, summary in self.games():
            game = {"id": name, **summary}
            if not words or _matches(game, path, words):
                study = ids.get(path.parent)
                games.append({**game, "study": study} if study is not None else game)
        games.sort(key=lambda game: -game.get("started", 0.0))
        return {
            "format": FORMAT,
            "folder": str(self.root) if self.root is not None else "",
            "studies": [study_summary(study, folder) for study, folder in studies.items()],
            "games": games[:_LISTED_LIMIT],
            "more": max(0, len(games) - _LISTED_LIMIT),
        }

    def _visible(self, summary: dict[str, Any]) -> dict[str, Any]:
        if not self._public or summary.get("state") != "open":
            return summary
        return {name: value for name, value in summary.items() if name not in _SECRET}

    def _studies(self) -> dict[str, Path]:
        if self.root is None or not self.root.is_dir():
            return {}
        folders: dict[str, Path] = {}
        for manifest in sorted(self.root.rglob(FILE)):
            if any(part.startswith(".") for part in manifest.relative_to(self.root).parts):
                continue
            folders[_study_id(manifest.parent)] = manifest.parent
        return folders


def _matches(game: Mapping[str, Any], path: Path, words: str) -> bool:
    values = (game["id"], *game.get("names", ()), game.get("moment", ""), game.get("winner", ""))
    models = (word for player in game.get("players", ()) for word in (player["brain"], player.get("model", "")))
    return any(words in str(value).casefold() for value in (*values, *models)) or _contains(path, words)


def study_summary(study: str, folder: Path) -> dict[str, Any]:
    """Return what a library shows of a study."""
    try:
        manifest = load_manifest(folder / FILE) or {}
        results = read_results(folder / JOURNAL)
    except ConfigError as error:
        return {"id": study, "name": folder.name, "error": str(error), "games": 0}
    states = Counter(result.state for result in results.values())
    wins = Counter(result.winner or "nobody" for result in results.values() if result.state == "ended")
    costs = [result.cost_usd for result in results.values() if result.cost_usd is not None]
    summary: dict[str, Any] = {
        "id": study,
        "name": manifest.get("name") or folder.name,
        "games": len(manifest.get("games") or ()) or len(results),
        "ended": states["ended"],
        "failed": states["failed"],
        "winners": {name: wins[name] for name in ("werewolves", "villagers", "nobody")},
    }
    return {**summary, "cost_usd": sum(costs)} if costs else summary


def _study_id(folder: Path) -> str:
    try:
        manifest = load_manifest(folder / FILE) or {}
    except ConfigError:
        return folder.name
    return str(manifest.get("study") or folder.name)


def _contains(path: Path, words: str) -> bool:
    reader = read_record(open_lines(path), tolerant=True, lenient=True)
    return any(isinstance(event, Statement) and words in event.text.casefold() for _, _, _, event, _ in reader)


_STUDY_FIELDS: Final = ("id", "name", "cost_usd", "error")


class StudyReader(Protocol):
    """Computes what pages show of studies."""

    def findings(self, folder: Path) -> dict[str, Any]:
        """Return what `wolfbus report --json` writes."""

    def report(self, folder: Path) -> str:
        """Return the page that `wolfbus report` writes."""

    def comparison(self, a: Path, b: Path) -> dict[str, Any]:
        """Return what `wolfbus compare --json` writes."""


def study_data(study: str, folder: Path, listed: Iterable[ListedGame], reader: StudyReader) -> dict[str, Any]:
    """Return the data of a study's page.

    Args:
        study: its id.
        folder: its folder.
        listed: the games there are, those of other studies among them.
        reader: computes the findings.
    """
    summary = study_summary(study, folder)
    manifest = load_manifest(folder / FILE) or {}
    rows = {str(row.get("game")): row for row in manifest.get("games") or ()}
    games = []
    for name, path, facts in listed:
        if path.parent == folder / RECORDS:
            row = rows.get(path.name.partition(".ndjson")[0], {})
            games.append({"id": name, **facts, "number": row.get("number"), "seed": row.get("seed")})
    games.sort(key=lambda game: game["number"] or 0)
    return {
        "format": FORMAT,
        **{name: summary[name] for name in _STUDY_FIELDS if name in summary},
        "findings": reader.findings(folder),
        "games": [{name: value for name, value in game.items() if value is not None} for game in games],
    }


def study_file(study: str, folder: Path, reader: StudyReader) -> dict[str, Any]:
    """Return what a file of a study holds: its page, and every game as everything is seen of it."""
    games: list[ListedGame] = []
    pages = {}
    for name, path in paths_under(folder).items():
        games.append((name, path, summary_of(path)))
        feed = GameFeed(EVERYTHING, read_record(open_lines(path), tolerant=True, lenient=True))
        pages[name] = {**feed.page(), "viewers": [EVERYTHING], "problems": []}
    return {**study_data(study, folder, games, reader), "kind": "study", "pages": pages}


def pairs(a: Path, b: Path, root: Path) -> list[dict[str, Any]]:
    """Return the games of two studies that have a seed in common, with their names in addresses."""
    by_seed_a, by_seed_b = _by_seed(a, root), _by_seed(b, root)
    return [{"seed": seed, "a": by_seed_a[seed], "b": by_seed_b[seed]} for seed in by_seed_a if seed in by_seed_b]


def _by_seed(folder: Path, root: Path) -> dict[str, str]:
    manifest = load_manifest(folder / FILE) or {}
    names = {name: name_of_path(path, root) for name, path in paths_under(folder / RECORDS).items()}
    rows: Sequence[dict[str, Any]] = manifest.get("games") or ()
    return {str(row["seed"]): names[row["game"]] for row in rows if row.get("seed") and row.get("game") in names}
