"""Where a child's error output goes: a file per child, or through to our own; its last line is kept for the record."""

from __future__ import annotations

import os
import select
import sys
import threading
from pathlib import Path
from typing import Final

from wolfbus.files.printable import NAME_SHOWN, NOTE_SHOWN, printable
from wolfbus.game.fresh import fresh_name

_TAIL: Final = 4_096
_CHUNK: Final = 65_536
_WAIT_S: Final = 1.0


def open_stderr(seat: str, logs: Path | None) -> StderrFile | StderrForwarder:
    """Return a file ``SEAT-PID.stderr`` in the folder `logs`, or the way through to our own stderr for None.

    Raises:
        OSError: the file cannot be written.
    """
    return StderrForwarder(seat) if logs is None else StderrFile(seat, logs)


class StderrFile:
    """Keeps a child's error output in a file of its own.

    Attributes:
        fd: what the child is given as its stderr; its own once it has started.
    """

    def __init__(self, seat: str, logs: Path) -> None:
        logs.mkdir(parents=True, exist_ok=True)
        self._seat = seat
        # its name holds the child's number, which is not known before it runs
        self._path = logs / f"{fresh_name(seat)}.stderr"
        self.fd = os.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND | os.O_CLOEXEC, 0o644)
        self._open = True

    def started(self, pid: int) -> None:
        """Give the file its name."""
        self._release()
        path = self._path.with_name(f"{self._seat}-{pid}.stderr")
        self._path = self._path.replace(path)

    def last_line(self) -> str:
        """Return the last line of the file that says anything, fit to print; "" without one."""
        try:
            with self._path.open("rb") as file:
                file.seek(max(0, file.seek(0, os.SEEK_END) - _TAIL))
                tail = file.read()
        except OSError:
            return ""
        return _last(tail.split(b"\n"))

    def close(self) -> None:
        """Leave no file of a child that never ran."""
        if self._open:
            self._release()
            self._path.unlink(missing_ok=True)

    def _release(self) -> None:
        """Close our end; the child has its own."""
        self._open = False
        os.close(self.fd)


class StderrForwarder:
    """Forwards a child's error output to our own, line by line, with the seat before it.

    Attributes:
        fd: what the child is given as its stderr; its own once it has started.
    """

    def __init__(self, seat: str) -> None:
        self._seat = printable(seat, NAME_SHOWN)
        self._read_end, self.fd = os.pipe()
        self._stopped, self._stop = os.pipe()
        self._last = b""
        self._thread: threading.Thread | None = None

    def started(self, _pid: int) -> None:
        """Begin to read."""
        os.close(self.fd)
        # a daemon: what a child has to complain of must not keep the process
        self._thread = threading.Thread(target=self._run, name=f"stderr-{self._seat}", daemon=True)
        self._thread.start()

    def last_line(self) -> str:
        """Return the last line that says anything; waits a moment for what is on its way."""
        if self._thread is not None:
            self._thread.join(_WAIT_S)
        return _last([self._last])

    def close(self) -> None:
        """Read what is left of a child that has ended, and no more; called once."""
        if self._thread is not None:
            # some may still be on its way; what outlives the child's group may hold the pipe for ever
            self._thread.join(_WAIT_S)
        os.close(self._stop)
        if self._thread is None:
            for end in (self.fd, self._read_end, self._stopped):
                os.close(end)

    def _run(self) -> None:
        poll = select.poll()
        poll.register(self._read_end, select.POLLIN)
        poll.register(self._stopped, select.POLLIN)
        partial = b""
        while self._stopped not in dict(poll.poll()):
            data = os.read(self._read_end, _CHUNK)
            if not data:
                break
            *lines, partial = (partial + data).split(b"\n")
            if len(partial) >= _CHUNK:
                lines.append(partial)
                partial = b""
            self._forward(lines)
        self._forward([partial])
        os.close(self._read_end)
        os.close(self._stopped)

    def _forward(self, lines: list[bytes]) -> None:
        for line in lines:
            text = printable(line.decode("utf-8", "replace"))
            if not text:
                continue
            self._last = line
            try:
                sys.stderr.write(f"{self._seat}: {text}\n")
            except (OSError, ValueError):
                # our own stderr is gone; the child must still be read, or it would wait for us
                continue


def _last(lines: list[bytes]) -> str:
    for line in reversed(lines):
        text = printable(line.decode("utf-8", "replace"), NOTE_SHOWN)
        if text:
            return text
    return ""
