"""How many files and connections this process may have open at once."""

from __future__ import annotations

import contextlib
import resource
from typing import Final

_MOST: Final = 65_536


def allow_many_files() -> None:
    """Let this process have as many open as it may: of games under way each has a few, and of watchers each has one."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    limit = _MOST if hard == resource.RLIM_INFINITY else min(hard, _MOST)
    if soft != resource.RLIM_INFINITY and soft < limit:
        with contextlib.suppress(OSError, ValueError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (limit, hard))


def most_files() -> int:
    """Return how many this process may have open; of very many, some."""
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return _MOST if soft == resource.RLIM_INFINITY else min(soft, _MOST)
