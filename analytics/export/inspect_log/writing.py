"""`write_inspect`: files of records into logs that Inspect reads."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from analytics.export.game import read_games
from analytics.export.inspect_log.library import InspectLibrary
from analytics.export.inspect_log.log import LogBuilder
from analytics.export.inspect_log.transcript import CallTexts
from analytics.export.landing import Landing
from analytics.export.writing import Exported
from analytics.gather import Collection, Criteria, FileNote, collect
from analytics.gather.reading import checks
from wolfbus.messages.calls import ChatRole, ModelCall
from wolfbus.record.line import Recorded
from wolfbus.record.prompts import PromptBook, WholeCalls


class _Prompts:
    """Keeps the prompts of the game that is being read, where they were asked for."""

    def __init__(self, *, wanted: bool) -> None:
        self._wanted = wanted
        self._begin()

    def _begin(self) -> None:
        self._book, self._calls = PromptBook(), WholeCalls()
        self._made: dict[int, tuple[ModelCall, list[tuple[ChatRole, str]]]] = {}

    def by_line(self) -> dict[int, CallTexts]:
        """Return the prompts of the game that was read, each with the reply, by the lines of their calls."""
        return {
            line: CallTexts(messages, self._calls.whole(call, line).reply)
            for line, (call, messages) in self._made.items()
        }

    def watch(self, recorded: Recorded) -> None:
        if not self._wanted:
            return
        if recorded.event.type == "opened":
            self._begin()
        self._book.feed(recorded.event, recorded.n)
        self._calls.feed(recorded.event, recorded.n)
        if isinstance(recorded.event, ModelCall):
            self._made[recorded.n] = recorded.event, self._book.messages(recorded.event, recorded.n)


def write_inspect(
    sources: Sequence[str | Path],
    folder: str | Path,
    criteria: Criteria | None = None,
    *,
    prompts: bool = False,
    force: bool = False,
    tell: Callable[[int, int], None] = lambda _read, _all: None,
) -> Exported:
    """Write an ``.eval`` log per study and set of agents, and so of the games that belong to none: Inspect compares
    logs by their models. Where agents call several models, the log has all of them for a model, as ``a+b``.

    The games of a study are held in memory until it is written. `Exported.counts` holds samples by file name.

    Args:
        sources: folders and files; see `analytics.gather.find`.
        folder: where the logs go; created if need be.
        criteria: how to compute labels and suspicion; as the games were played unless given.
        prompts: put the prompts and replies of model calls into their events.
        force: whether logs that are there already are replaced.
        tell: called after each file with the number of files read, and of all.

    Raises:
        ConfigError: inspect-ai is not installed, or a log is there already.
        RecordError: there is nothing to read.
        OSError: the folder cannot be written; the log that was being written does not appear.
    """
    library, wanted = InspectLibrary(), criteria or Criteria()
    found = collect(sources, wanted.roles)
    notes: list[FileNote] = list(found.refused)
    manifests = found.manifests
    counts: dict[str, int] = {}
    paths: list[Path] = []
    read, total = 0, len(found.files)
    for study, part in _by_study(found):
        builders: dict[frozenset[str], LogBuilder] = {}
        book = _Prompts(wanted=prompts)
        for note, game in read_games(part, wanted, watch=book.watch):
            notes.append(note)
            if game is not None:
                agents = frozenset(seat.agent for seat in game.rows.seats.values())
                if agents not in builders:
                    builders[agents] = LogBuilder(library, study, agents, manifests.get(study or "", {}), wanted)
                builders[agents].add(game, book.by_line())
            read += 1
            tell(read, total)
        for builder in builders.values():
            with Landing(Path(folder), [builder.file], force=force) as landing:
                library.log.write_eval_log(builder.log(), landing.path(builder.file), format="eval")
            counts[builder.file] = len(builder.samples)
            paths.append(Path(folder) / builder.file)
    return Exported(counts, tuple(notes), tuple(paths), tuple(checks(found.studies, notes)))


def _by_study(sources: Collection) -> list[tuple[str | None, Collection]]:
    parts: dict[str | None, list[Any]] = {}
    for source in sources.files:
        planned = sources.planned.get(source.game or "")
        parts.setdefault(None if planned is None else planned.study, []).append(source)
    return [(study, replace(sources, files=tuple(files), refused=())) for study, files in parts.items()]
