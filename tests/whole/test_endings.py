"""How a game ends when somebody or something ends it: Ctrl-C, kill -9, a full disk, a Redis that is gone."""

import json
import resource
import signal
import subprocess
from pathlib import Path

import pytest

from tests.whole.test_command_line import ENVIRONMENT, WOLFBUS, replayed, started
from wolfbus.testing.redis_server import RedisServer

SLOW_BRAIN = """
import threading
from wolfbus.agent import Agent


class Slow(Agent):
    def speak(self, ask, view):
        threading.Event().wait(600)
"""


def in_the_first_round(tmp_path: Path, *arguments: str) -> subprocess.Popen[str]:
    """Start a game of brains that never come to speak, and wait until its first night is over."""
    (tmp_path / "slow.py").write_text(SLOW_BRAIN)
    process = subprocess.Popen(
        [*WOLFBUS, "play", "--players", "slow:Slow", "--plain", "--out", ".", "--game", "cut", *arguments],
        cwd=tmp_path,
        stderr=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env=ENVIRONMENT,
        text=True,
    )
    assert any("r1" in line for line in process.stderr)
    return process


def check_record(tmp_path: Path, reason: str, events: int = 3) -> None:
    """Hold that the record reads as far as it goes, and says why no further."""
    proof = replayed(tmp_path / "cut.ndjson")
    assert (proof["code"], proof["verified"]) == (1, False)
    assert proof["events"] > events
    assert reason in proof["problems"][0]


def test_ctrl_c_ends_cleanly_keeps_the_record_and_exits_130(tmp_path):
    process = in_the_first_round(tmp_path)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "cut.ndjson" in err
    assert "Traceback" not in err
    check_record(tmp_path, "interrupted")


@pytest.mark.parametrize("signals", [["SIGTERM"], ["SIGINT", "SIGINT"], ["SIGINT", "SIGTERM"]])
def test_sigterm_ends_a_game_with_its_page_and_ctrl_c_one_after_the_other(tmp_path, signals):
    process = in_the_first_round(tmp_path, "--view", "--port", "0")
    *before, last = (signal.Signals[name] for name in signals)
    for number in before:
        process.send_signal(number)
        assert any("stays until Ctrl-C" in line for line in process.stderr)
    process.send_signal(last)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "stays until" not in err
    assert "Traceback" not in err
    check_record(tmp_path, "interrupted")


def test_ctrl_c_does_not_wait_for_a_redis_that_is_gone(tmp_path):
    with RedisServer() as server:
        process = in_the_first_round(tmp_path, "--bus", f"{server.url}?patience=600")
        server.kill()
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=60)
    assert process.returncode == 130


def test_kill_9_leaves_a_record_that_reads(tmp_path):
    process = in_the_first_round(tmp_path)
    process.kill()
    process.communicate(timeout=60)
    check_record(tmp_path, "stops before")


def test_a_full_disk_is_one_line_and_loses_nothing_recorded(tmp_path):
    full = started(
        *("play", "--seed", "7", "--game", "cut", "--quiet", "--out", "."),
        cwd=tmp_path,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (30_000, 30_000)),
        environment={"PYTHONDONTWRITEBYTECODE": "1"},
    )
    assert full.returncode == 1
    assert b"cut.ndjson" in full.stderr
    assert b"Traceback" not in full.stderr
    check_record(tmp_path, "stops before", 20)


def test_seed_7_is_one_game_on_memory_and_on_redis_whatever_the_hash_seed_and_whoever_plays_beside(tmp_path, redis_url):
    running = [
        subprocess.Popen(
            [*WOLFBUS, "play", "--json", "--seed", "7", "--out", str(tmp_path), *more],
            env={**ENVIRONMENT, "PYTHONHASHSEED": str(number)},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        for number, more in enumerate([(), ("--bus", redis_url)])
    ]
    outputs = [process.communicate() for process in running]
    assert [err for _, err in outputs] == [b""] * 2
    games = [json.loads(out) for out, _ in outputs]
    assert len({game["digest"] for game in games}) == 1
    assert len({game["record"] for game in games}) == 2
