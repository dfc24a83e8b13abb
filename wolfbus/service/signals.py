"""Which signals ask a process to end, beside Ctrl-C."""

from __future__ import annotations

import signal


def end_signals() -> tuple[signal.Signals, ...]:
    """Return SIGTERM, and SIGHUP, which a terminal sends that closes; unless that is ignored, as under nohup."""
    is_ignored = signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
    return (signal.SIGTERM,) if is_ignored else (signal.SIGTERM, signal.SIGHUP)
