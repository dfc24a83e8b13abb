"""Become a command that dies with the process that started it.

Run by its path, as ``python -I -S launch.py PARENT COMMAND…``, so it imports next to nothing and none of wolfbus.
Between fork and exec of a process with threads nothing may be done that takes a lock; here everything may.
"""

from __future__ import annotations

import os
import signal
import sys

_PR_SET_PDEATHSIG = 1
"""From Linux' prctl(2)."""


def main() -> None:
    """Bind this process to its parent, where the system can do that, and become the command."""
    parent = int(sys.argv[1])
    if sys.platform == "linux":
        import ctypes

        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, int(signal.SIGKILL))
        if os.getppid() != parent:
            sys.exit("the process that started this one is gone")
    try:
        os.execvp(sys.argv[2], sys.argv[2:])  # noqa: S606 - no shell is wanted
    except OSError as error:
        sys.exit(f"{sys.argv[2]} cannot be started: {(error.strerror or str(error)).lower()}")


if __name__ == "__main__":
    main()
