"""What the pages of studies show; how their numbers are computed is told from outside."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final, Protocol

from wolfbus.record.reader import open_lines, read_record
from wolfbus.stage.document import FORMAT, GameFeed
from wolfbus.stage.eyes import EVERYTHING
from wolfbus.stage.library import games_of, study_told
from wolfbus.stage.sources import paths_under
from wolfbus.stage.summary import GameIndex
from wolfbus.study.manifest import FILE, RECORDS, load_manifest

_TOLD: Final = ("id", "name", "cost_usd", "error")


class StudyReader(Protocol):
    """Computes what is to be told of studies."""

    def findings(self, folder: Path) -> dict[str, Any]:
        """Return what `wolfbus report --json` writes."""

    def report(self, folder: Path) -> str:
        """Return the page that `wolfbus report` writes."""

    def comparison(self, a: Path, b: Path) -> dict[str, Any]:
        """Return what `wolfbus compare --json` writes."""


def study_data(study: str, folder: Path, index: GameIndex, reader: StudyReader) -> dict[str, Any]:
    """Return the data of a study's page.

    Args:
        study: its id.
        folder: its folder.
        index: what is known of the games, and how they are called.
        reader: computes the findings.
    """
    told = study_told(study, folder)
    manifest = load_manifest(folder / FILE) or {}
    rows = {str(row.get("game")): row for row in manifest.get("games") or ()}
    games = []
    for name, path, summary in index.games():
        if path.parent == folder / RECORDS:
            row = rows.get(path.name.partition(".ndjson")[0], {})
            games.append({"id": name, **summary, "number": row.get("number"), "seed": row.get("seed")})
    games.sort(key=lambda game: game["number"] or 0)
    return {
        "format": FORMAT,
        **{name: told[name] for name in _TOLD if name in told},
        "findings": reader.findings(folder),
        "games": [{name: value for name, value in game.items() if value is not None} for game in games],
    }


def study_file(study: str, folder: Path, reader: StudyReader) -> dict[str, Any]:
    """Return what a file of a study holds: its page, and every game as everything is seen of it."""
    data = study_data(study, folder, GameIndex(folder, keep=False), reader)
    pages = {}
    for name, path in paths_under(folder).items():
        feed = GameFeed(EVERYTHING)
        for recorded in read_record(open_lines(path), tolerant=True, lenient=True):
            feed.feed(recorded)
        pages[name] = {**feed.page(), "viewers": [EVERYTHING], "problems": []}
    return {**data, "kind": "study", "pages": pages}


def pairs(a: Path, b: Path, root: Path) -> list[dict[str, Any]]:
    """Return the games of two studies that have a seed in common, with their names in addresses."""
    one, other = _by_seed(a, root), _by_seed(b, root)
    return [{"seed": seed, "a": one[seed], "b": other[seed]} for seed in one if seed in other]


def _by_seed(folder: Path, root: Path) -> dict[str, str]:
    manifest = load_manifest(folder / FILE) or {}
    names = games_of(folder, root)
    rows: Sequence[dict[str, Any]] = manifest.get("games") or ()
    return {str(row["seed"]): names[row["game"]] for row in rows if row.get("seed") and row.get("game") in names}
