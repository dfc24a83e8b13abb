"""Where games come from: a folder of records, a file that may still grow (`RecordTail`), a game of this process."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final

from wolfbus.errors import RecordError, reason_of
from wolfbus.record.line import Recorded
from wolfbus.record.reader import LINE_LIMIT, SUFFIXES, open_lines, read_record, records_under
from wolfbus.stage.watched import LoopCalls, WatchedGame
from wolfbus.study.manifest import RECORDS

_PIECE: Final = 1 << 20


class RecordTail:
    """Reads a record file on disk, and goes on where it stopped when the file has grown.

    Args:
        path: the file; a gzip file is read as it is, and does not grow.

    Attributes:
        problem: what is wrong with the line after those read, in one line; it is read no further then.
        offset: bytes read.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.problem: str | None = None
        self.offset = 0
        self._rest = b""
        self._reader = read_record(())
        self._packed = False

    @property
    def head(self) -> str:
        """Hash of the last line read, "" before the first."""
        return self._reader.head

    @property
    def lines(self) -> int:
        """Lines read and found right."""
        return self._reader.count

    def read(self) -> list[Recorded]:
        """Return the lines that are new and whole."""
        if self.problem is not None or self._packed:
            return []
        try:
            return list(self._new())
        except OSError as error:
            self.problem = f"cannot be read: {reason_of(error)}"
            return []

    def cut_off(self) -> str | None:
        """Return what is wrong with a file that nobody writes any more: a last line that is not whole."""
        if self.problem is None and self._rest:
            return f"line {self.lines + 1}: cut off in the middle; {self.lines} whole lines before it"
        return self.problem

    def _new(self) -> Iterator[Recorded]:
        with self.path.open("rb") as file:
            if self.offset == 0 and file.read(1) == b"\x1f":
                self._packed = True
                yield from self._unpacked()
                return
            file.seek(self.offset)
            while piece := file.read(_PIECE):
                self.offset += len(piece)
                *lines, self._rest = (self._rest + piece).split(b"\n")
                for line in lines:
                    recorded = self._take(line + b"\n")
                    if recorded is None:
                        return
                    yield recorded
                if len(self._rest) > LINE_LIMIT:
                    self.problem = f"line {self.lines + 1}: longer than {LINE_LIMIT >> 20} MiB"
                    return

    def _unpacked(self) -> Iterator[Recorded]:
        try:
            for line in open_lines(self.path):
                recorded = self._take(line)
                if recorded is None:
                    return
                yield recorded
        except RecordError as error:
            self.problem = str(error)

    def _take(self, line: bytes) -> Recorded | None:
        try:
            return self._reader.take(line)
        except RecordError as error:
            self.problem = str(error)
            return None


_LOOK_S: Final = 0.25
"""Seconds between two looks at a file that somebody watches."""
_STILL_S: Final = 30.0
"""A file that was not written for so long, and whose last line is not whole, is damaged."""
_KEPT: Final = 16
"""Finished games kept in memory."""


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

    A study's own folder of records has no part in it.
    """
    parts = path.relative_to(root).parts if path.is_relative_to(root) else (path.name,)
    stem = parts[-1]
    for suffix in SUFFIXES[::-1]:
        stem = stem.removesuffix(suffix)
    return "~".join((*(part for part in parts[:-1] if part != RECORDS), stem))


def paths_under(root: Path) -> dict[str, Path]:
    """Return the records below a folder by their names; those of hidden folders are left out."""
    if root.is_file():
        return {name_of_path(root, root.parent): root}
    found: dict[str, Path] = {}
    for path in records_under(root):
        found.setdefault(name_of_path(path, root), path)
    return found


class FolderSource(GameSource):
    """The records in a folder, or one file.

    Args:
        root: the folder or file.
        public: see `WatchedGame`.
    """

    def __init__(self, root: Path, *, public: bool = False) -> None:
        self.root = root
        self._public = public
        self._open: dict[str, tuple[WatchedGame, RecordTail]] = {}
        self._followed: dict[str, asyncio.Task[None]] = {}

    def path_of(self, name: str) -> Path | None:
        """Return the file of a game; a game below a folder is found by its id too, where there is only one."""
        paths = paths_under(self.root)
        if name in paths:
            return paths[name]
        same = [path for known, path in paths.items() if known.rpartition("~")[2] == name]
        return same[0] if len(same) == 1 else None

    async def open(self, name: str) -> WatchedGame | None:
        """Return a game, read as far as it is there."""
        held = self._open.get(name)
        if held is None or _shrunk(held[1]):
            path = await asyncio.to_thread(self.path_of, name)
            if path is None:
                return None
            if held is not None:
                held[0].end("the file was written anew")
            held = WatchedGame(name, public=self._public, keep=self._keep), RecordTail(path)
            self._open[name] = held
            self._forget()
        await self._look(*held)
        return held[0]

    async def close(self) -> None:
        """Stop looking."""
        for task in self._followed.values():
            task.cancel()
        await asyncio.gather(*self._followed.values(), return_exceptions=True)
        self._followed.clear()

    def _keep(self, game: WatchedGame, watched: bool) -> None:
        """Look at a game's file again and again, as long as somebody watches it."""
        task = self._followed.pop(game.game, None)
        if task is not None:
            task.cancel()
        held = self._open.get(game.game)
        if watched and held is not None and held[0] is game:
            self._followed[game.game] = asyncio.create_task(self._follow(*held))

    async def _follow(self, game: WatchedGame, tail: RecordTail) -> None:
        while not game.over and not game.closed:
            await asyncio.sleep(_LOOK_S)
            if _shrunk(tail):
                self._open.pop(game.game, None)
                game.end("the file was written anew")
                return
            await self._look(game, tail)

    async def _look(self, game: WatchedGame, tail: RecordTail) -> None:
        if game.over:
            return
        game.add(await asyncio.to_thread(tail.read))
        if tail.problem is not None and not game.closed:
            game.end(tail.problem)
        elif tail.problem is None:
            game.problem = tail.cut_off() if _still(tail.path) else None

    def _forget(self) -> None:
        idle = [name for name, (game, _) in self._open.items() if not game.watching]
        for name in idle[: max(0, len(self._open) - _KEPT)]:
            del self._open[name]


def _shrunk(tail: RecordTail) -> bool:
    """Return whether a file no longer holds what was read of it: its game was played anew."""
    try:
        return tail.path.stat().st_size < tail.offset
    except OSError:
        return True


def _still(path: Path) -> bool:
    try:
        return time.time() - path.stat().st_mtime > _STILL_S
    except OSError:
        return True


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
        return [self.game.told()] if self.game.records and not (self.game.over or self.game.closed) else []

    async def open(self, name: str) -> WatchedGame | None:
        """Return the game, if it is asked for."""
        return self.game if name == self.game.game and self.game.records else None


class Sources(GameSource):
    """Several sources as one; a game is that of the first that has it.

    Args:
        sources: the sources, in this order.
    """

    def __init__(self, sources: Sequence[GameSource]) -> None:
        self._sources = sources

    def start(self, loop: asyncio.AbstractEventLoop) -> None:
        """Use this loop from now on; called on it."""
        for source in self._sources:
            source.start(loop)

    async def open(self, name: str) -> WatchedGame | None:
        """Return a game by its name; None if there is none."""
        for source in self._sources:
            game = await source.open(name)
            if game is not None:
                return game
        return None

    def live(self) -> list[dict[str, Any]]:
        """Return what a library tells of the games that go on."""
        return [told for source in self._sources for told in source.live()]

    async def close(self) -> None:
        """Stop reading."""
        for source in self._sources:
            await source.close()
