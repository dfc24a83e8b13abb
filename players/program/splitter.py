"""What a child writes, cut into lines; one without end takes no more memory than the longest that is read."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

LONGEST: Final = 1_000_000
"""Bytes of a line beyond which the rest of it is thrown away."""

_KEPT: Final = 4_096


@dataclass(frozen=True, slots=True)
class Overlong:
    """A line of more than `LONGEST` bytes.

    Attributes:
        start: its first bytes.
    """

    start: bytes


class Splitter:
    """Cuts a stream of bytes at its line feeds."""

    def __init__(self) -> None:
        self._pieces: list[bytes] = []
        self._size = 0
        self._skipping = False

    def feed(self, data: bytes) -> Iterator[bytes | Overlong]:
        """Take in the next bytes and return the lines they complete, without their ends; blank ones are left out."""
        *ends, rest = data.split(b"\n")
        for end in ends:
            yield from self._add(end)
            yield from self.finish()
        yield from self._add(rest)

    def finish(self) -> Iterator[bytes]:
        """Return the line that was begun, if any: it has come to its end, or the stream has."""
        line = b"".join(self._pieces).removesuffix(b"\r")
        self._pieces.clear()
        self._size = 0
        self._skipping = False
        if line.strip():
            yield line

    def _add(self, piece: bytes) -> Iterator[Overlong]:
        if self._skipping or not piece:
            return
        self._pieces.append(piece)
        self._size += len(piece)
        if self._size > LONGEST:
            start = b"".join(self._pieces)[:_KEPT]
            self._pieces.clear()
            self._skipping = True
            yield Overlong(start)
