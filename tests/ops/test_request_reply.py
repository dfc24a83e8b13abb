"""The benchmark of round trips: it measures, and leaves nothing behind."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).parents[2]
BENCHMARK = (sys.executable, str(REPOSITORY / "benchmarks" / "request_reply.py"))


@pytest.mark.parametrize(
    ("words", "measured"),
    [
        (("bare", "--count", "200"), "asker_cpu_us_per_round"),
        (("house", "--games", "1", "--at-once", "1"), "games_per_s"),
    ],
)
def test_it_measures_with_the_client_that_is_installed(words, measured):
    done = subprocess.run(
        [*BENCHMARK, *words, "--json"],
        capture_output=True,
        text=True,
        cwd=REPOSITORY,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)[measured] > 0


def test_a_signal_in_its_middle_leaves_no_service_behind():
    with subprocess.Popen(
        [*BENCHMARK, "house", "--games", "100000"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        cwd=REPOSITORY, start_new_session=True,
    ) as process:  # fmt: skip
        assert any("game 1 begins" in line for line in process.stderr)
        process.send_signal(signal.SIGTERM)
        # every service writes to the same pipe: it ends when the last of them has gone
        process.communicate(timeout=60)
    assert process.returncode == 130
