"""Lines of JSON between a study's parent and its workers, over a pair of sockets that both sides' deaths close."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Iterator
from typing import Any


class Wire:
    """One end of the line.

    Args:
        end: the socket; closed with the wire.
    """

    def __init__(self, end: socket.socket) -> None:
        self._end = end
        self._lock = threading.Lock()

    def say(self, **what: Any) -> bool:
        """Send a message, from any thread; returns whether the other side may still hear it."""
        line = json.dumps(what, ensure_ascii=False).encode() + b"\n"
        try:
            with self._lock:
                self._end.sendall(line)
        except OSError:
            return False
        return True

    def heard(self) -> Iterator[dict[str, Any]]:
        """Yield messages until the other side is gone."""
        try:
            with self._end.makefile("rb") as lines:
                for line in lines:
                    if line.endswith(b"\n"):
                        yield json.loads(line)
        except (OSError, ValueError):
            return

    def close(self) -> None:
        """Close this end, and wake whoever waits at it."""
        try:
            self._end.shutdown(socket.SHUT_RDWR)
        except OSError:
            # it is down already
            self._end.close()
            return
        self._end.close()
