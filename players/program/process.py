"""`ChildProcess`: one running child, written to and read from without ever waiting longer than asked; ended in the
background, and not left behind when this process ends.
"""

from __future__ import annotations

import atexit
import contextlib
import os
import selectors
import signal
import subprocess
import threading
import time
from collections import deque
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO, Final, Literal, TypeAlias

from players.program.protocol import Splitter
from players.program.stderr import open_stderr
from wolfbus.service.child import let_end, signal_group, signal_name, start_child

GRACE_S: Final = 1.0
"""Seconds that a child gets to leave by itself, and then again after SIGTERM."""

_MAX_BYTES: Final = 4_000_000
"""Bytes that are read for one request at most."""
_CHUNK: Final = 65_536
_EXIT_S: Final = 3 * GRACE_S
"""Seconds that children which are being ended get as this process ends."""
_POLL_S: Final = 0.25
"""Seconds between looks at whether a silent child still runs: its output stays open while a child of its own has it."""

_SECRET: Final = frozenset({"KEY", "TOKEN", "SECRET", "PASSWORD"})
"""Last words of names of variables that hold what is secret."""

Received: TypeAlias = bytes | Literal["late", "ended", "closed", "flood"]
"""A line, or why there is none: the time is up, the child has ended or cannot be talked to, `interrupt` was called,
or there was too much to read.
"""


_running: set[ChildProcess] = set()
"""Children that must not outlive this process."""
_ending: set[threading.Thread] = set()


class ChildProcess:
    """A child with pipes to its stdin and from its stdout, and a process group of its own.

    One thread at a time talks to it; `interrupt` may be called from any other.

    Args:
        argv: the program and its arguments; no shell sees them. It gets `environment`.
        seat: whose child it is.
        logs: folder for its error output; None lets it through to our own.

    Raises:
        OSError: it cannot be started.
    """

    def __init__(self, argv: Sequence[str], seat: str, logs: Path | None) -> None:
        self._splitter = Splitter()
        self._lines: deque[bytes] = deque()
        self._read_bytes = 0
        self._unwritten = b""
        self._line = b""
        self._ended = False
        self._stdin_closed = False
        self._closing = threading.Lock()
        self._closed = False
        self._group_killed = False
        with contextlib.ExitStack() as undo:
            self._wake_read, self._wake_write = os.pipe()
            undo.callback(os.close, self._wake_read)
            undo.callback(os.close, self._wake_write)
            self._selector = selectors.DefaultSelector()
            undo.callback(self._selector.close)
            self._stderr = open_stderr(seat, logs)
            undo.callback(self._stderr.close)
            self._popen = start_child(
                argv,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._stderr.fd,
                env=environment(os.environ),
                bufsize=0,
            )
            undo.callback(self.kill)
            self._stdin, self._stdout = _nonblocking(self._popen.stdin), _nonblocking(self._popen.stdout)
            self._stderr.started(self.pid)
            self._selector.register(self._stdout, selectors.EVENT_READ)
            self._selector.register(self._wake_read, selectors.EVENT_READ)
            undo.pop_all()
        _running.add(self)

    @property
    def pid(self) -> int:
        """Its process number, and that of its group."""
        return self._popen.pid

    @property
    def ended(self) -> bool:
        """Whether it has ended, or closed its input or output."""
        return self._ended

    def send(self, line: bytes) -> None:
        """Take a line to write while listening; one of which nothing has been written yet gives way to it."""
        self._line = line
        self._read_bytes = 0
        if not self._stdin_closed and self._stdin not in self._selector.get_map():
            self._selector.register(self._stdin, selectors.EVENT_WRITE)

    def drain(self) -> list[bytes]:
        """Return the lines that the child has written by now; they can answer nothing that is yet to be asked."""
        self._read_bytes = 0
        ended = self._popen.poll() is not None
        self._read_all()
        self._ended |= ended
        lines = list(self._lines)
        self._lines.clear()
        return lines

    def read_line(self, until: float) -> Received:
        """Write what was given to `send` and return the next line, or why there is none.

        Args:
            until: `time.monotonic` at which to give up.
        """
        while not self._lines:
            if self._ended:
                return "ended"
            if self._read_bytes > _MAX_BYTES:
                return "flood"
            left = until - time.monotonic()
            if left <= 0:
                return "late"
            ready = {key.fd for key, _ in self._selector.select(min(left, _POLL_S))}
            if self._wake_read in ready:
                return "closed"
            if self._stdout in ready:
                self._read()
            if self._stdin in ready:
                self._write()
            if not ready and self._popen.poll() is not None:
                # whatever of its output came last is in the pipe by now
                self._read_all()
                self._ended = True
        return self._lines.popleft()

    def interrupt(self) -> None:
        """Make `read_line` return at once, now and ever after; safe from any thread."""
        with self._closing:
            if not self._closed:
                os.write(self._wake_write, b"!")

    def describe_end(self) -> str:
        """Return in words how it ended, with its last line of error output; waits a moment for its end."""
        try:
            code = self._popen.wait(GRACE_S)
        except subprocess.TimeoutExpired:
            how = "closed its input" if self._stdin_closed else "closed its output"
            return f"{how} but went on running, and was ended"
        self._kill_group()
        last = self._stderr.last_line()
        how = f"exited with code {code}" if code >= 0 else f"was ended by {signal_name(-code)}"
        return f"{how}: {last}" if last else how

    def shut_down(self, bye: bytes | None) -> None:
        """Send a last line and end the child and all of its group: by themselves, by SIGTERM, by SIGKILL.

        Takes four moments at most. Only the first call counts.

        Args:
            bye: a last line, for a child that can still be talked to.
        """
        with self._closing:
            if self._closed:
                return
            self._closed = True
        if bye is not None and not self._ended:
            self._send_last(bye)
        if self._popen.stdin is not None:
            self._popen.stdin.close()
        let_end(self._popen, by_itself_s=GRACE_S, asked_s=GRACE_S)
        self.kill()
        self._stderr.close()
        self._selector.close()
        if self._popen.stdout is not None:
            self._popen.stdout.close()
        os.close(self._wake_read)
        os.close(self._wake_write)
        _running.discard(self)

    def kill(self) -> None:
        """End the child and all of its group at once."""
        self._kill_group()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._popen.wait(GRACE_S)

    def _send_last(self, bye: bytes) -> None:
        """Write a last line after the rest of the one before; a child that does not read it misses it."""
        until = time.monotonic() + GRACE_S
        self._line = bye
        with selectors.DefaultSelector() as writable:
            writable.register(self._stdin, selectors.EVENT_WRITE)
            while (self._unwritten or self._line) and not self._stdin_closed and (left := until - time.monotonic()) > 0:
                if writable.select(left):
                    self._write()

    def _read_all(self) -> None:
        """Read what is there, without waiting."""
        while not self._ended and self._read_bytes <= _MAX_BYTES and self._read():
            continue

    def _read(self) -> bool:
        """Read once; returns whether there may be more."""
        try:
            data = os.read(self._stdout, _CHUNK)
        except BlockingIOError:
            return False
        if not data:
            self._lines.extend(self._splitter.finish())
            self._ended = True
            return False
        self._read_bytes += len(data)
        self._lines.extend(self._splitter.feed(data))
        return True

    def _write(self) -> None:
        """Write once, without waiting."""
        try:
            written = os.write(self._stdin, self._unwritten or self._line)
        except BlockingIOError:
            return
        except OSError:
            self._stdin_closed = True
            # it may have answered before it stopped reading
            self._read_all()
            self._ended = True
            return
        if self._unwritten:
            self._unwritten = self._unwritten[written:]
        else:
            self._unwritten, self._line = self._line[written:], b""
        if not self._unwritten and not self._line and self._stdin in self._selector.get_map():
            self._selector.unregister(self._stdin)

    def _kill_group(self) -> None:
        """Kill all of the group that are left; once, for a number that nobody has any more may be given anew."""
        with self._closing:
            if self._group_killed:
                return
            self._group_killed = True
        signal_group(self.pid, signal.SIGKILL)


def environment(variables: Mapping[str, str]) -> dict[str, str]:
    """Return what a child gets of our environment: not the way to the bus, and no keys, which are not meant for it."""
    return {
        name: value
        for name, value in variables.items()
        if name != "REDIS_URL"
        and not name.upper().startswith("WOLFBUS_")
        and name.upper().rpartition("_")[2] not in _SECRET
    }


def _nonblocking(pipe: IO[bytes] | None) -> int:
    """Return our end of a pipe, made one that never blocks."""
    if pipe is None:
        raise OSError("the child has no pipe")
    os.set_blocking(pipe.fileno(), False)
    return pipe.fileno()


def shut_down_later(process: ChildProcess, bye: bytes | None = None, talk: threading.Lock | None = None) -> None:
    """End a child in the background, and return at once.

    Args:
        process: the child.
        bye: a last line for it.
        talk: held by whoever talks to the child; waited for.
    """

    def run() -> None:
        with talk or contextlib.nullcontext():
            process.shut_down(bye)
        _ending.discard(threading.current_thread())

    thread = threading.Thread(target=run, name=f"farewell-{process.pid}", daemon=True)
    _ending.add(thread)
    try:
        thread.start()
    except RuntimeError:
        # the interpreter is shutting down and starts no more threads
        _ending.discard(thread)
        process.kill()


@atexit.register
def end_all() -> None:
    """Wait for those that are being ended, and end the others: called as this process ends."""
    until = time.monotonic() + _EXIT_S
    for thread in tuple(_ending):
        thread.join(max(0.0, until - time.monotonic()))
    for process in tuple(_running):
        process.kill()
