"""How long to wait for what will come, and waiting for what no event tells of: another process's files, a server's
counters, threads that end.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import TypeVar

Held = TypeVar("Held")

PATIENCE_S = 60.0
"""What has not come by then never will, however busy the machine is."""


def wait_until(holds: Callable[[], Held], patience_s: float = PATIENCE_S) -> Held:
    """Look again and again until something holds, and return it; fails after `patience_s` seconds."""
    until = time.monotonic() + patience_s
    while not (held := holds()):
        assert time.monotonic() < until, "it never came to be"
        threading.Event().wait(0.005)
    return held
