"""`Babble`: what a child prints beside its answers, told once and kept short for the record."""

from __future__ import annotations

import logging
from typing import Final

from players.program.splitter import Overlong
from wolfbus.printable import printable

logger = logging.getLogger(__name__)

_SHOWN: Final = 60
"""Characters of a printed line that are repeated."""


class Babble:
    """Lines of one seat's child that answer nothing, such as a banner or "thinking...".

    Args:
        command: the program, as it is named to the user.
    """

    def __init__(self, command: str) -> None:
        self._command = command
        self._told = False
        self._first = ""
        self._lines = 0

    def hear(self, line: bytes | Overlong, seat: str) -> None:
        """Take note of a line for the next answer's note."""
        self.tell(line, seat)
        if not self._lines:
            self._first = _shown(line)
        self._lines += 1

    def tell(self, line: bytes | Overlong, seat: str) -> None:
        """Warn of the first line that is no answer; the record tells of all others."""
        if not self._told:
            self._told = True
            logger.warning("%s: exec:%s printed %s, which is no answer", seat, self._command, _shown(line))

    def note(self) -> str:
        """Return in words what was heard since the last call; "" for nothing."""
        if not self._lines:
            return ""
        more = self._lines - 1
        beside = f" and {more} more line{'' if more == 1 else 's'}" if more else ""
        self._lines = 0
        return f"it printed {self._first}{beside}, which is no answer"


def _shown(line: bytes | Overlong) -> str:
    start = line.start if isinstance(line, Overlong) else line
    words = printable(start[: 16 * _SHOWN].decode("utf-8", "replace"), _SHOWN)
    return f'"{words}"' if words else "nothing that can be shown"
