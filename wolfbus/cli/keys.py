"""`KeyPresses`: single key presses at the terminal, while something is shown."""

from __future__ import annotations

import os
import select
import sys
import time
from types import TracebackType
from typing import Final, Literal, Self, TypeAlias

Key: TypeAlias = Literal["pause", "on", "back", "quit"]

_MEANINGS: Final[dict[bytes, Key]] = {
    b" ": "pause",
    b"\x1b[C": "on",
    b"\x1bOC": "on",
    b"\x1b[D": "back",
    b"\x1bOD": "back",
    b"q": "quit",
    b"Q": "quit",
}


class KeyPresses:
    """Reads single keys from standard input while it is open as a context manager.

    Where standard input is no terminal, or the platform knows no termios, no key is ever pressed.
    """

    def __init__(self) -> None:
        self._descriptor: int | None = None
        self._before: object = None

    def __enter__(self) -> Self:
        try:
            import termios
            import tty

            descriptor = sys.stdin.fileno()
            self._before = termios.tcgetattr(descriptor)
            tty.setcbreak(descriptor)
            self._descriptor = descriptor
        except (ImportError, OSError, ValueError, AttributeError):
            return self
        except termios.error:
            return self
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if self._descriptor is None:
            return
        import termios

        termios.tcsetattr(self._descriptor, termios.TCSADRAIN, self._before)  # type: ignore[arg-type]
        self._descriptor = None

    def wait(self, seconds: float | None) -> Key | None:
        """Wait for a key that means something, at most so many seconds; None for as long as it takes.

        Returns:
            What the key means, or None if none came in time. Where there are no keys, waiting
            without an end returns ``on`` at once.
        """
        if self._descriptor is None:
            if seconds is None:
                return "on"
            time.sleep(seconds)
            return None
        end = None if seconds is None else time.monotonic() + seconds
        while True:
            left = None if end is None else max(0.0, end - time.monotonic())
            ready, _, _ = select.select([self._descriptor], [], [], left)
            if not ready:
                return None
            pressed = os.read(self._descriptor, 16)
            if not pressed:
                # the terminal is gone
                self.__exit__(None, None, None)
                return "quit"
            if pressed in _MEANINGS:
                return _MEANINGS[pressed]
