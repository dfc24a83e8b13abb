"""`Library`: the games and studies that a server shows."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

from wolfbus.errors import ConfigError
from wolfbus.messages.events import Statement
from wolfbus.record.reader import open_lines, read_record
from wolfbus.stage.document import FORMAT
from wolfbus.stage.sources import name_of_path, paths_under
from wolfbus.stage.summary import GameIndex
from wolfbus.study.journal import JOURNAL, read_results
from wolfbus.study.manifest import FILE, RECORDS, load_manifest

_MOST: Final = 200
"""Games that one listing holds; a search looks through all."""


class Library:
    """The games and studies that a server shows.

    Args:
        root: the folder of records, or one record; None for none.
        live: tells the games that are played now; see ``live`` in docs/stage-data.md. Called on the server's loop.
        seats: tells the seats that wait for a person; called there as well.
        public: whether only what is public may be seen of games that go on.

    Attributes:
        root: the folder or record.
        index: what is known of each record; None where there are none.
    """

    def __init__(
        self,
        root: Path | None,
        live: Callable[[], list[dict[str, Any]]] = list,
        seats: Callable[[], list[dict[str, Any]]] = list,
        *,
        public: bool = False,
    ) -> None:
        self.root = root
        self.index = GameIndex(root, keep=True) if root is not None else None
        self._live = live
        self._seats = seats
        self._public = public

    def path_of(self, name: str) -> Path | None:
        """Return the file of a game; None if it is in none."""
        return paths_under(self.root).get(name) if self.root is not None else None

    def study_folder(self, study: str) -> Path | None:
        """Return the folder of a study by its id; None if there is none."""
        return next((folder for known, folder in self._studies().items() if known == study), None)

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
        games = [self._shown(name, path, told) for name, path, told in self.index.games()] if self.index else []
        if words:
            games = [game for game in games if self._matches(game, words)]
        games.sort(key=lambda game: -game.get("started", 0.0))
        return {
            "format": FORMAT,
            "folder": str(self.root) if self.root is not None else "",
            "studies": [study_told(known, folder) for known, folder in self._studies().items()],
            "games": games[:_MOST],
            "more": max(0, len(games) - _MOST),
        }

    def _shown(self, name: str, path: Path, told: Mapping[str, Any]) -> dict[str, Any]:
        shown = {"id": name, **told}
        if self._public and told.get("state") == "open":
            for secret in ("players", "seed", "lies", "moment", "moment_beat"):
                shown.pop(secret, None)
        study = self._study_of(path)
        return {**shown, "study": study} if study is not None else shown

    def _matches(self, game: Mapping[str, Any], words: str) -> bool:
        told = (game["id"], *game.get("names", ()), game.get("moment", ""), game.get("winner", ""))
        models = (word for player in game.get("players", ()) for word in (player["brain"], player.get("model", "")))
        if any(words in str(each).casefold() for each in (*told, *models)):
            return True
        path = self.path_of(game["id"])
        return path is not None and _says(path, words)

    def _studies(self) -> dict[str, Path]:
        if self.root is None or not self.root.is_dir():
            return {}
        found: dict[str, Path] = {}
        for manifest in sorted(self.root.rglob(FILE)):
            if any(part.startswith(".") for part in manifest.relative_to(self.root).parts):
                continue
            found[_study_id(manifest.parent)] = manifest.parent
        return found

    def _study_of(self, path: Path) -> str | None:
        folder = path.parent.parent
        if path.parent.name != RECORDS or not (folder / FILE).is_file():
            return None
        return _study_id(folder)


def games_of(folder: Path, root: Path) -> dict[str, str]:
    """Return the names in addresses of a study's games, by their ids."""
    paths = paths_under(folder / RECORDS)
    return {name: name_of_path(path, root) for name, path in paths.items()}


def study_told(study: str, folder: Path) -> dict[str, Any]:
    """Return what a library tells of a study."""
    try:
        manifest = load_manifest(folder / FILE) or {}
        results = read_results(folder / JOURNAL)
    except ConfigError as error:
        return {"id": study, "name": folder.name, "error": str(error), "games": 0}
    states = Counter(result.state for result in results.values())
    wins = Counter(result.winner or "nobody" for result in results.values() if result.state == "ended")
    costs = [result.cost_usd for result in results.values() if result.cost_usd is not None]
    told: dict[str, Any] = {
        "id": study,
        "name": manifest.get("name") or folder.name,
        "games": len(manifest.get("games") or ()) or len(results),
        "ended": states["ended"],
        "failed": states["failed"],
        "winners": {name: wins[name] for name in ("werewolves", "villagers", "nobody")},
    }
    return {**told, "cost_usd": sum(costs)} if costs else told


def _study_id(folder: Path) -> str:
    try:
        manifest = load_manifest(folder / FILE) or {}
    except ConfigError:
        return folder.name
    return str(manifest.get("study") or folder.name)


def _says(path: Path, words: str) -> bool:
    reader = read_record(open_lines(path), tolerant=True, lenient=True)
    return any(isinstance(each.event, Statement) and words in each.event.text.casefold() for each in reader)
