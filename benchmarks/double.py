"""The model double in a process of its own, so that its work is not counted as its client's."""

from __future__ import annotations

import contextlib
import json
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass

from wolfbus.service.child import end_child, start_child
from wolfbus.testing.model_server import ModelStats


@dataclass(frozen=True, slots=True)
class DoubleProcess:
    """A running double.

    Attributes:
        url: the base URL for a client.
    """

    url: str

    def stats(self) -> ModelStats:
        """Return what it counted so far."""
        with urllib.request.urlopen(f"{self.url.removesuffix('/v1')}/stats", timeout=10) as response:
            return ModelStats(**json.load(response))


@contextlib.contextmanager
def double_process(
    *, latency: float = 0.0, seed: int = 0, ugly: float = 0.0, errors: str = "0"
) -> Iterator[DoubleProcess]:
    """Run `wolfbus fake-model` while this is open; its arguments are those of the command."""
    words = [sys.executable, "-m", "wolfbus", "fake-model", "--port", "0", "--errors", errors]
    words += ["--latency", str(latency), "--seed", str(seed), "--ugly", str(ugly)]
    process = start_child(words, stdout=subprocess.PIPE, text=True)
    try:
        for line in process.stdout or ():
            # the first line says where it listens
            yield DoubleProcess(line.split()[-1])
            break
    finally:
        end_child(process, asked_s=10)
