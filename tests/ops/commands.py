"""Runs commands in this process that stay until somebody ends them, and hears what they say."""

from __future__ import annotations

import io
import os
import signal
import traceback
from contextlib import redirect_stderr, redirect_stdout

from wolfbus import cli


class Output(io.StringIO):
    """What a command says; once that is what somebody has waited for, the command is asked to stop."""

    def __init__(self, is_enough):
        super().__init__()
        self.is_enough = is_enough

    def write(self, text):
        super().write(text)
        if self.is_enough is not None and self.is_enough(self.getvalue()):
            self.is_enough = None
            os.kill(os.getpid(), signal.SIGTERM)
        return len(text)


def run(*words, until=None):
    """Run a command here, to its end or until it has said enough; returns its exit code and all that it said.

    Args:
        words: the command line.
        until: returns whether what was said is enough; None to hear it to its end.
    """
    output = Output(until)
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        with redirect_stdout(output), redirect_stderr(output):
            code = cli.run(list(words))
    except Exception:
        # what a user would see of it
        code = -1
        output.write(traceback.format_exc())
    finally:
        signal.signal(signal.SIGTERM, before)
    return code, output.getvalue()
