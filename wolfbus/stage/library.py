"""`Library`: the games and studies that a server shows.

A summary of every record is kept (`GameIndex`), so that large records are read once; a study's numbers are computed
from outside (`StudyReader`).
"""

from __future__ import annotations

import asyncio
import json
import math
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, Final, Literal, Protocol, TypeAlias, get_args

from wolfbus import __version__
from wolfbus.errors import ConfigError, RecordError
from wolfbus.files.cache import cache_in, hash_of
from wolfbus.files.printable import storable
from wolfbus.messages.events import Opened, Statement
from wolfbus.record.reader import open_lines, read_record
from wolfbus.stage.document import FORMAT, GameFeed
from wolfbus.stage.logs import ShownLog, log_in
from wolfbus.stage.sources import name_of_folder, name_of_part, name_of_path, path_of, paths_under, stamp_of
from wolfbus.stage.viewers import EVERYTHING
from wolfbus.study.journal import JOURNAL, read_results
from wolfbus.study.manifest import FILE, RECORDS, load_manifest

_VERSION: Final = 4
"""Of what a summary says."""
_INDEX: Final = "library"
"""Name of the file in the cache that keeps summaries."""
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


def summary_of(path: Path, ended: threading.Event | None = None) -> dict[str, Any]:
    """Return what a library shows of a record: who played, how it ended, lies, its best moment.

    Args:
        path: the record.
        ended: set once nobody wants to know any more; then it is that of some first lines.
    """
    feed = GameFeed(EVERYTHING)
    opened: Opened | None = None
    reader = read_record(open_lines(path), tolerant=True, lenient=True)
    problem: str | None = None
    log: ShownLog | None = None
    try:
        log = log_in(path)
        for recorded in reader if log is None else log.records:
            if isinstance(recorded.event, Opened):
                opened = recorded.event
            feed.feed(recorded)
            if ended is not None and ended.is_set():
                break
    except (ConfigError, RecordError) as error:
        problem = str(error)
    if problem is None and log is None and reader.problem is not None:
        problem = str(reader.problem)
    if opened is None:
        return {"state": "damaged", "error": problem or "no record", "started": 0.0}
    summary = {**_opening(opened, feed), **_course(feed), **({"error": problem} if problem else {})}
    return summary if log is None else {**summary, "origin": dict(log.origin)}


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
    curve = [round(100 * beat.gap) for beat in beats if beat.gap is not None]
    if curve:
        course["curve"] = curve
    if moments:
        best = min(moments, key=lambda moment: _MOMENT_ORDER.index(moment["kind"]))
        course |= {"moment": best["words"], "moment_beat": best["beat"]}
    return {name: value for name, value in course.items() if value is not None}


ListedGame: TypeAlias = tuple[str, Path, dict[str, Any]]
"""A game's name in addresses, its file, and what `summary_of` tells of it."""


_Entry: TypeAlias = tuple[list[int], dict[str, Any]]
"""What tells whether a record is the file that was read, and its summary."""
_MTIME: Final = 1
"""Where in the first the time stands at which it was written, in nanoseconds."""
_KEY: Final = hash_of(_INDEX, _VERSION, __version__)


class GameIndex:
    """What a library tells of every record below a folder; safe from any thread.

    It is kept in the folder's cache, which believes nothing that this user did not write there itself, and in memory
    only where that cannot be. A summary is taken from there while its record is the very file that was read: the same
    inode and size, written and changed in any way at the same times; the last of these nobody can set.

    Args:
        root: the folder, or one record.

    Attributes:
        ended: set, from any thread, once nobody asks any more: what is being read is read no further.
    """

    def __init__(self, root: Path) -> None:
        self.root = root
        self.ended = threading.Event()
        self._cache = cache_in(root) if root.is_dir() else None
        self._lock = threading.Lock()
        self._entries = self._load()

    def games(self, seconds: float = math.inf) -> list[ListedGame]:
        """Return name, file and summary of every record; of many new ones the newest are read, others are ``new``.

        Args:
            seconds: for how long records are read that were not read before.
        """
        with self._lock:
            read, until = 0, time.monotonic() + seconds
            entries: dict[str, _Entry] = {}
            paths = [(name, path, stamp_of(path)) for name, path in paths_under(self.root).items()]
            paths.sort(key=lambda item: -item[2][_MTIME])
            for name, path, stamp in paths:
                entry = self._entries.get(name)
                if entry is not None and entry[0] == stamp:
                    entries[name] = entry
                elif read < _READ_LIMIT and time.monotonic() < until and not self.ended.is_set():
                    summary = summary_of(path, self.ended)
                    if not self.ended.is_set():
                        read += 1
                        entries[name] = stamp, summary
            changed = read or len(entries) != len(self._entries)
            self._entries = entries
            if changed:
                self._save()
        return [
            (name, path, entries[name][1] if name in entries else {"state": "new", "started": stamp[_MTIME] / 1e9})
            for name, path, stamp in paths
        ]

    def _load(self) -> dict[str, _Entry]:
        content = self._cache.recall(_INDEX, _KEY) if self._cache is not None else None
        if content is None:
            return {}
        return {name: (stamp, summary) for name, (stamp, summary) in json.loads(content).items()}

    def _save(self) -> None:
        if self._cache is not None:
            self._cache.keep(_INDEX, _KEY, json.dumps(self._entries).encode())


_LISTED_LIMIT: Final = 200
"""Games that one listing holds; a search looks through all."""
_AGAIN_MS: Final = 5000
"""After how long a page asks again for games that are played now, in milliseconds."""
_SECRET: Final = frozenset({"players", "seed", "lies", "moment", "moment_beat", "curve", "reason"})
"""What of a game is shown to those who may see everything of it."""


Order: TypeAlias = Literal["newest", "oldest", "lies"]


@dataclass(frozen=True, slots=True)
class GameFilter:
    """Which games a listing is to hold, and in which order; those of no study, which are the reader's own, come first.

    Attributes:
        words: what is to be in their names, models, moments, or in what was said, in lower case; "" for all.
        model: who is to have played, a model or what else `--players` takes; "" for anybody.
        winner: "werewolves", "villagers" or "nobody"; "" for any.
        lies: whether somebody is to have lied.
        since: the time from which on they are to have begun, Unix seconds.
        order: by when they began, or by how many lies were told, most first.
    """

    words: str = ""
    model: str = ""
    winner: str = ""
    lies: bool = False
    since: float = 0.0
    order: Order = "newest"

    @classmethod
    def of(cls, query: Mapping[str, str]) -> GameFilter:
        """Return what an address asks for.

        Raises:
            ConfigError: its date is none, or its order.
        """
        since, named = query.get("since", ""), query.get("order", "newest")
        order: Order | None = next((order for order in get_args(Order) if order == named), None)
        if order is None:
            raise ConfigError(f"order: one of {', '.join(get_args(Order))}")
        try:
            began = datetime.fromisoformat(since).timestamp() if since else 0.0
        except (ValueError, OverflowError):
            raise ConfigError("since: a date, as 2026-11-28") from None
        words = query.get("q", "").strip().casefold()
        return cls(words, query.get("model", ""), query.get("winner", ""), bool(query.get("lies")), began, order)

    def lets_through(self, game: Mapping[str, Any], path: Path) -> bool:
        """Whether a game is asked for; its record is searched last."""
        return (
            (not self.model or self.model in _models(game))
            and (not self.winner or (game.get("state") == "ended" and game.get("winner", "nobody") == self.winner))
            and (not self.lies or bool(game.get("lies")))
            and game.get("started", 0.0) >= self.since
            and (not self.words or _matches(game, path, self.words))
        )

    def place(self, game: Mapping[str, Any]) -> tuple[bool, float, float]:
        """Return what games are put in order by."""
        started = game.get("started", 0.0)
        lies = -game.get("lies", 0) if self.order == "lies" else 0
        return "study" in game, lies, started if self.order == "oldest" else -started


def _models(game: Mapping[str, Any]) -> set[str]:
    return {player.get("model", player["brain"]) for player in game.get("players", ())}


def _matches(game: Mapping[str, Any], path: Path, words: str) -> bool:
    values = (game["id"], *game.get("names", ()), game.get("moment", ""), game.get("winner", ""))
    models = (word for player in game.get("players", ()) for word in (player["brain"], player.get("model", "")))
    return any(words in str(value).casefold() for value in (*values, *models)) or _contains(path, words)


class Library:
    """The games and studies that a server shows.

    Args:
        root: the folder of records, or one record; None for none.
        live: tells the games that are played now; see ``live`` in docs/stage-data.md. Called on the server's loop. None
            where no house is watched.
        seats: tells the seats that wait for a person; called there as well.
        public: whether only what is public may be seen of games that go on.

    Attributes:
        root: the folder or record.
    """

    def __init__(
        self,
        root: Path | None,
        live: Callable[[], list[dict[str, Any]]] | None,
        seats: Callable[[], list[dict[str, Any]]],
        *,
        public: bool,
    ) -> None:
        self.root = root
        self._index = GameIndex(root) if root is not None else None
        self._watches = live is not None
        self._live = live or list
        self._seats = seats
        self._public = public

    def close(self) -> None:
        """Read no further; from any thread."""
        if self._index is not None:
            self._index.ended.set()

    def path_of(self, name: str) -> Path | None:
        """Return the file of a game; None if it is in none."""
        return path_of(self.root, name) if self.root is not None else None

    def study_folder(self, study: str) -> Path | None:
        """Return the folder of a study by its id; None if there is none."""
        return self._studies().get(study)

    def shielded(self, folder: Path) -> bool:
        """Whether nothing may be told now of what a study measures: its seed alone tells every role yet to be dealt."""
        return self._public and (load_manifest(folder / FILE) or {}).get("complete") is not True

    def games(self, seconds: float = math.inf) -> list[ListedGame]:
        """Return what may be shown of every game; see `GameIndex.games`."""
        games = self._index.games(seconds) if self._index is not None else []
        return [(name, path, self._visible(summary)) for name, path, summary in games]

    async def names(self) -> dict[str, Any]:
        """Return the ids of all games and studies."""
        live = [game["game"] for game in self._live()]
        games = await asyncio.to_thread(paths_under, self.root) if self.root is not None else {}
        studies = await asyncio.to_thread(self._studies)
        return {"games": list(dict.fromkeys([*live, *games])), "studies": list(studies)}

    async def listing(self, game_filter: GameFilter | None = None, seconds: float = math.inf) -> dict[str, Any]:
        """Return the data of the library's page.

        Args:
            game_filter: which games are asked for; all unless given.
            seconds: see `GameIndex.games`.
        """
        now = {"live": self._live(), "seats": self._seats()}
        listing = {**now, **await asyncio.to_thread(self._listing, game_filter or GameFilter(), seconds)}
        if any(game["state"] == "new" for game in listing["games"]):
            listing["again_ms"] = 0
        elif self._watches or listing["seats"]:
            listing["again_ms"] = _AGAIN_MS
        return listing

    def _listing(self, game_filter: GameFilter, seconds: float) -> dict[str, Any]:
        studies = self._studies()
        ids = {folder / RECORDS: study for study, folder in studies.items()}
        games, models = [], set()
        for name, path, summary in self.games(seconds):
            if self._index is None or self._index.ended.is_set():
                break
            models |= _models(summary)
            game = {"id": name, **summary}
            if game_filter.lets_through(game, path):
                study = ids.get(path.parent)
                games.append({**game, "study": study} if study is not None else game)
        games.sort(key=game_filter.place)
        return {
            "format": FORMAT,
            "folder": str(self.root) if self.root is not None else "",
            "models": sorted(models),
            "studies": [study_summary(study, folder) for study, folder in studies.items()],
            "games": games[:_LISTED_LIMIT],
            "more": max(0, len(games) - _LISTED_LIMIT),
        }

    def _visible(self, summary: dict[str, Any]) -> dict[str, Any]:
        if not self._public or summary.get("state") not in {"open", "stopped"}:
            return summary
        return {name: value for name, value in summary.items() if name not in _SECRET}

    def _studies(self) -> dict[str, Path]:
        if self.root is None or not self.root.is_dir():
            return {}
        folders: dict[str, Path] = {}
        for manifest in sorted(self.root.rglob(FILE)):
            if any(part.startswith(".") for part in manifest.relative_to(self.root).parts):
                continue
            study = _study_id(manifest.parent)
            if study in folders:
                # a copy; no id holds the sign between
                study = f"{study}~{name_of_folder(manifest.parent, self.root)}"
            folders[study] = manifest.parent
        return folders


def study_summary(study: str, folder: Path) -> dict[str, Any]:
    """Return what a library shows of a study."""
    # the folder that one is in has a name, too
    name = storable(folder.name or folder.resolve().name)
    try:
        manifest = load_manifest(folder / FILE) or {}
        results = read_results(folder / JOURNAL)
    except ConfigError as error:
        return {"id": study, "name": name, "error": str(error), "games": 0}
    states = Counter(result.state for result in results.values())
    wins = Counter(result.winner or "nobody" for result in results.values() if result.state == "ended")
    costs = [result.cost_usd for result in results.values() if result.cost_usd is not None]
    summary: dict[str, Any] = {
        "id": study,
        "name": manifest.get("name") or name,
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
        manifest = {}
    return str(manifest.get("study") or name_of_part(folder.name))


def _contains(path: Path, words: str) -> bool:
    try:
        log = log_in(path)
    except (ConfigError, RecordError):
        return False
    reader = read_record(open_lines(path), tolerant=True, lenient=True) if log is None else log.records
    return any(isinstance(event, Statement) and words in event.text.casefold() for _, _, _, event, _ in reader)


class StudyReader(Protocol):
    """Computes what pages show of studies."""

    def measured(self, folder: Path, tell: Callable[[int, int], None]) -> dict[str, Any]:
        """Return what was measured of a study; see ``/s/STUDY/measured.json`` in docs/stage-data.md.

        Args:
            folder: the study's.
            tell: called now and then, in any thread, with the bytes of records read so far and all there are.
        """

    def report(self, folder: Path) -> str:
        """Return the page that `wolfbus report` writes."""

    def comparison(self, a: Path, b: Path) -> dict[str, Any]:
        """Return what `wolfbus compare --json` writes."""


def study_data(study: str, folder: Path, listed: Iterable[ListedGame]) -> dict[str, Any]:
    """Return what a study's page shows at once: what its folder notes, and what is known of its games.

    Args:
        study: its id.
        folder: its folder.
        listed: the games there are, those of other studies among them.
    """
    manifest = load_manifest(folder / FILE) or {}
    rows = {str(row.get("game")): row for row in manifest.get("games") or ()}
    results = read_results(folder / JOURNAL)
    games = []
    for name, path, facts in listed:
        if path.parent == folder / RECORDS:
            game = path.name.partition(".ndjson")[0]
            row, result = rows.get(game, {}), results.get(game)
            noted = {"winner": result.winner} if result is not None and facts["state"] == "new" else {}
            games.append({"id": name, **noted, **facts, "number": row.get("number"), "seed": row.get("seed")})
    games.sort(key=lambda game: game["number"] or 0)
    return {
        "format": FORMAT,
        **study_summary(study, folder),
        "games": [{name: value for name, value in game.items() if value is not None} for game in games],
    }


def study_file(study: str, folder: Path, reader: StudyReader) -> dict[str, Any]:
    """Return what a file of a study holds: its page, and every game as everything is seen of it."""
    games: list[ListedGame] = []
    pages = {}
    for name, path in paths_under(folder).items():
        summary = summary_of(path)
        games.append((name, path, summary))
        feed = GameFeed(EVERYTHING, read_record(open_lines(path), tolerant=True, lenient=True))
        problems = [summary["error"]] if "error" in summary else []
        pages[name] = {**feed.page(), "viewers": [EVERYTHING], "problems": problems}
    measured = reader.measured(folder, lambda _read, _all: None)
    return {**study_data(study, folder, games), "kind": "study", "measured": measured, "pages": pages}


def pairs(a: Path, b: Path, root: Path) -> list[dict[str, Any]]:
    """Return the games of two studies that have a seed in common, with their names in addresses; where a study deals
    several from one seed, the first goes with the other's first.
    """
    by_seed_a, by_seed_b = _by_seed(a, root), _by_seed(b, root)
    return [
        {"seed": seed, "a": one, "b": other}
        for seed, games in by_seed_a.items()
        for one, other in zip(games, by_seed_b.get(seed, ()), strict=False)
    ]


def _by_seed(folder: Path, root: Path) -> dict[str, list[str]]:
    manifest = load_manifest(folder / FILE) or {}
    paths = paths_under(folder / RECORDS).values()
    names = {path.name.partition(".ndjson")[0]: name_of_path(path, root) for path in paths}
    rows: Sequence[dict[str, Any]] = manifest.get("games") or ()
    by_seed: dict[str, list[str]] = {}
    for row in rows:
        if row.get("seed") and row["game"] in names:
            by_seed.setdefault(row["seed"], []).append(names[row["game"]])
    return by_seed
