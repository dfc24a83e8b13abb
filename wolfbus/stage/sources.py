"""Where games come from: a folder of records, whose files may still grow (`FileGame`), a game of this process."""

from __future__ import annotations

import asyncio
import contextlib
import math
import threading
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Final

from wolfbus.errors import ConfigError, RecordError, reason_of
from wolfbus.game.vocabulary import KINDS
from wolfbus.messages.events import Opened
from wolfbus.record.line import Recorded
from wolfbus.record.reader import LineReader, open_buffered, open_lines, read_record, records_under
from wolfbus.stage.logs import ShownLog, log_in
from wolfbus.stage.watched import LoopCalls, WatchedGame
from wolfbus.study.manifest import RECORDS


class RecordTail:
    """Reads a record file on disk, and goes on where it stopped when the file has grown.

    Args:
        path: the file; a gzip file is read as it is, and does not grow.

    Attributes:
        problem: what is wrong with the line after those read, in one line; it is read no further then.
        log: the log of another table that it is; None of a record. It is read at once, and does not grow.
        offset: bytes read.
        ended: set, from any thread, once nobody wants more of it: reading stops behind the line where it is.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.problem: str | None = None
        self.log: ShownLog | None = None
        self.offset = 0
        self.ended = threading.Event()
        self._lines = LineReader()
        self._reader = read_record(())
        self._compressed = False

    def read(self) -> list[Recorded]:
        """Return the lines that are new and whole."""
        records: list[Recorded] = []
        if self.problem is not None or self._compressed or self.log is not None:
            return records
        try:
            self.log = log_in(self.path) if self._reader.count == 0 else None
            if self.log is not None:
                return list(self.log.records)
            for recorded in self._new_lines():
                records.append(recorded)
                if self.ended.is_set():
                    break
        except (ConfigError, RecordError) as error:
            self.problem = str(error).removeprefix(f"{self.path}: ")
        except OSError as error:
            self.problem = reason_of(error)
        return records

    def cut_off(self) -> str | None:
        """Return what is wrong with a file that nobody writes any more: a last line that is not whole."""
        if self.problem is None and self._lines.unfinished:
            whole = self._reader.count
            if not whole and (foreign := self._reader.refusal(bytes(self._lines.unfinished))) is not None:
                return foreign
            return f"line {whole + 1}: cut off in the middle; {whole} whole lines before it"
        return self.problem

    def _new_lines(self) -> Iterator[Recorded]:
        with open_buffered(self.path) as file:
            if self.offset == 0 and file.peek(1)[:1] == b"\x1f":
                self._compressed = True
                yield from map(self._reader.read_line, open_lines(self.path))
                return
            file.seek(self.offset)
            try:
                yield from map(self._reader.read_line, self._lines.read(file))
            finally:
                self.offset = file.tell()


_POLL_S: Final = 0.25
"""Seconds between two looks at a file that somebody watches."""
_STILL_S: Final = 30.0
"""A file that was not written for so long, and whose last line is not whole, is damaged; one with a whole last line,
and not written for so long behind the longest deadline of its game, is abandoned."""
_ABANDONED: Final = "nobody has written to this record for long: its game may be broken off"
_KEPT: Final = 16
"""Finished games kept in memory."""
_REPLACED: Final = "the file was written anew, or is gone"


class GameSource:
    """Where games come from; used on the server's event loop."""

    async def open(self, name: str) -> WatchedGame | None:  # noqa: ARG002 - it has none
        """Return a game by the name that stands in its address, as far as it goes now; None if there is none."""
        return None

    def start(self, loop: asyncio.AbstractEventLoop) -> None:
        """Use this loop from now on; called on it, before a game is asked for."""

    def live(self) -> list[dict[str, Any]]:
        """Return what a library tells of the games that go on."""
        return []

    async def close(self) -> None:
        """Stop reading."""


def name_of_path(path: Path, root: Path) -> str:
    """Return the name of a record in addresses: that of its file, behind those of its folders below `root` with ``~``.

    No two records below a folder have the same. A folder ``records``, such as a study's own, has an empty name, and a
    compressed file a mark; for what else has no letter of its own there, see `name_of_part`.
    """
    name = path.name
    mark = "=gz" if name.endswith(".ndjson.gz") else ""
    stem = name_of_part(name.removesuffix(".gz" if mark else "").removesuffix(".ndjson")) + mark
    if path.parent == root or not path.is_relative_to(root):
        return stem
    return f"{name_of_folder(path.parent, root)}~{stem}"


def name_of_folder(folder: Path, root: Path) -> str:
    """Return the name of a folder below another in addresses, as in those of its records."""
    return "~".join("" if part == RECORDS else name_of_part(part) for part in folder.relative_to(root).parts)


def name_of_part(name: str) -> str:
    """Return the name of a file or folder as it stands in addresses: bytes that are not UTF-8, and the signs that mean
    something there (``~`` and ``=``), by their numbers, as in ``=7e``.
    """
    text = name.replace("=", "=3d").replace("~", "=7e")
    return "".join(f"={ord(sign) - 0xDC00:02x}" if "\udc80" <= sign <= "\udcff" else sign for sign in text)


def paths_under(root: Path) -> dict[str, Path]:
    """Return the records below a folder by their names; those of hidden folders are left out."""
    if root.is_file():
        return {name_of_path(root, root.parent): root}
    return {name_of_path(path, root): path for path in records_under(root)}


def path_of(root: Path, name: str) -> Path | None:
    """Return the file of a game; below a folder a game is found by its id too, and by its name without that of a folder
    ``records``, where there is only one.
    """
    paths = paths_under(root)
    if name in paths:
        return paths[name]
    matching = [path for other, path in paths.items() if name in _short_names(other)]
    return matching[0] if len(matching) == 1 else None


def stamp_of(path: Path) -> list[int]:
    """Return what tells whether a file is the one that was read: its size, two times of changes, its inode."""
    try:
        status = path.stat()
    except OSError:
        return [0, 0]
    return [status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino]


def _short_names(name: str) -> tuple[str, str]:
    *folders, stem = name.removesuffix("=gz").split("~")
    return stem, "~".join((*filter(None, folders), stem))


class FileGame(WatchedGame):
    """A game whose record is a file that may still grow.

    Args:
        game: its id.
        path: the file.
        public: see `WatchedGame`.
    """

    def __init__(self, game: str, path: Path, *, public: bool) -> None:
        super().__init__(game, public=public)
        self._tail = RecordTail(path)
        self._stamp = stamp_of(path)
        self._refreshing: asyncio.Task[None] | None = None
        self._following: asyncio.Task[None] | None = None

    @property
    def replaced(self) -> bool:
        """Whether the file no longer holds what was read of it; once that was seen, also when it has grown since."""
        if self.problem == _REPLACED:
            return True
        stamp = stamp_of(self._tail.path)
        if self.over or self.closed:
            return stamp != self._stamp
        return stamp[0] < self._tail.offset or stamp[-1] != self._stamp[-1]

    def stop(self) -> None:
        """Read no further; what is being read in a thread ends behind the line where it is."""
        self._tail.ended.set()

    async def refresh(self) -> None:
        """Take in what is new in the file.

        It is read once at a time, however many ask; that goes on where whoever asked goes away, for what it has read
        is not read again.
        """
        if self._refreshing is None or self._refreshing.done():
            self._refreshing = asyncio.create_task(self._read())
        await asyncio.shield(self._refreshing)

    @contextlib.contextmanager
    def watched(self) -> Iterator[None]:
        """Count a watcher, and look at the file again and again as long as there is one."""
        with super().watched():
            if self._following is None:
                self._following = asyncio.create_task(self._follow())
            try:
                yield
            finally:
                if self.watching == 1:
                    self._following.cancel()
                    self._following = None

    async def _follow(self) -> None:
        while not self.over and not self.closed:
            await asyncio.sleep(_POLL_S)
            if self.replaced:
                self.end(_REPLACED)
            else:
                await self.refresh()

    async def _read(self) -> None:
        if self.over or self.closed:
            return
        self._stamp = stamp_of(self._tail.path)
        records = await asyncio.to_thread(self._tail.read)
        self.log = self._tail.log
        self.add(records)
        if self.log is not None:
            self.end()
        elif self._tail.problem is None:
            idle_s = self._idle_s()
            self.problem = self._tail.cut_off() if idle_s > _STILL_S else None
            self.stall(_ABANDONED if self.problem is None and self._is_abandoned(idle_s) else None)
        elif not self.closed:
            self.end(self._tail.problem)

    def _idle_s(self) -> float:
        """Return for how long nobody has written to the file."""
        try:
            return time.time() - self._tail.path.stat().st_mtime
        except OSError:
            return math.inf

    def _is_abandoned(self, idle_s: float) -> bool:
        if self.over or not self.records or not isinstance(opened := self.records[0].event, Opened):
            return False
        return idle_s > _STILL_S + max(map(opened.config.deadlines.of, KINDS))


class FolderSource(GameSource):
    """The records in a folder, or one file.

    Args:
        root: the folder or file.
        public: see `WatchedGame`.
    """

    def __init__(self, root: Path, *, public: bool = False) -> None:
        self._root = root
        self._public = public
        self._open: dict[str, FileGame] = {}

    async def open(self, name: str) -> WatchedGame | None:
        """Return a game, read as far as it is there."""
        game = self._open.get(name)
        if game is None or game.replaced:
            path = await asyncio.to_thread(path_of, self._root, name)
            if path is None:
                return None
            game = self._open_file(name, path, game)
        await game.refresh()
        return game

    async def close(self) -> None:
        """Stop reading: a file that grows could be read for ever."""
        for game in self._open.values():
            game.stop()

    def _open_file(self, name: str, path: Path, before: FileGame | None) -> FileGame:
        """Return the game that somebody else opened instead of `before` meanwhile, or else a fresh one."""
        game = self._open.get(name)
        if game is None or game is before:
            if game is not None:
                game.end(_REPLACED)
            idle = [other for other, open_game in self._open.items() if not open_game.watching]
            for other in idle[: max(0, len(self._open) + 1 - _KEPT)]:
                del self._open[other]
            game = self._open[name] = FileGame(name, path, public=self._public)
        return game


class PlayedSource(LoopCalls, GameSource):
    """A game that this process plays: its events are pushed from any thread.

    Args:
        name: the game's id.
        public: see `WatchedGame`.
    """

    def __init__(self, name: str, *, public: bool = False) -> None:
        super().__init__()
        self.game = WatchedGame(name, public=public)

    def see(self, recorded: Recorded) -> None:
        """Take in the next event; from any thread."""
        self.soon(lambda: self.game.add([recorded]))

    def finish(self, reason: str | None = None) -> None:
        """Take in that nothing more will come; from any thread."""
        self.soon(lambda: self.game.end(reason))

    def live(self) -> list[dict[str, Any]]:
        """Return what a library tells of it while it goes on."""
        return [self.game.summary()] if self.game.records and not (self.game.over or self.game.closed) else []

    async def open(self, name: str) -> WatchedGame | None:
        """Return the game, if it is asked for."""
        return self.game if name == self.game.game and self.game.records else None


async def open_game(sources: Iterable[GameSource], name: str) -> WatchedGame | None:
    """Return a game of the first source that has it, None if none has."""
    for source in sources:
        game = await source.open(name)
        if game is not None:
            return game
    return None
