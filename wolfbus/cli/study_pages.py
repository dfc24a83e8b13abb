"""`MeasuredStudies`: computes what the pages of studies show, once for each state of a study."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wolfbus.errors import RecordError
from wolfbus.study.manifest import RECORDS

if TYPE_CHECKING:
    from collections.abc import Callable

    from analytics.gather import Gathered


class MeasuredStudies:
    """Computes what the pages of studies show, once for each state of a study; safe from any thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._kept: dict[tuple[str, ...], tuple[tuple[float, ...], Any]] = {}

    def findings(self, folder: Path) -> dict[str, Any]:
        """Return what `wolfbus report --json` writes."""
        from analytics.findings import findings

        found: dict[str, Any] = self._once("findings", (folder,), lambda: findings(_gathered(folder)))
        return found

    def report(self, folder: Path) -> str:
        """Return the page that `wolfbus report` writes."""
        from analytics.findings import findings
        from analytics.report.report import Report

        def made() -> str:
            gathered = _gathered(folder)
            return Report(findings(gathered), gathered).html()

        page: str = self._once("report", (folder,), made)
        return page

    def comparison(self, a: Path, b: Path) -> dict[str, Any]:
        """Return what `wolfbus compare --json` writes."""
        from analytics.compare import compare

        def made() -> dict[str, Any]:
            one, other = _gathered(a).columns, _gathered(b).columns
            return compare(one, other, (a.name, b.name))

        found: dict[str, Any] = self._once("comparison", (a, b), made)
        return found

    def _once(self, what: str, folders: tuple[Path, ...], make: Callable[[], Any]) -> Any:
        state = tuple(_changed(folder) for folder in folders)
        key = (what, *map(str, folders))
        with self._lock:
            kept = self._kept.get(key)
            if kept is None or kept[0] != state:
                kept = self._kept[key] = state, make()
        return kept[1]


def _changed(folder: Path) -> float:
    """Return when a study last changed."""
    places = (folder, folder / RECORDS, *(folder / RECORDS).glob("*.ndjson*"))
    return max((place.stat().st_mtime for place in places if place.exists()), default=0.0)


def _gathered(folder: Path) -> Gathered:
    from analytics.gather import Criteria, gather

    gathered = gather([str(folder)], Criteria(), workers=1)
    if not gathered.columns.ids:
        raise RecordError(f"{folder}: no game could be read, so there is nothing to report")
    return gathered
