"""The same seed is the same game: on any bus, in any process, on any bad day of the hash function."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

from tests.golden.running import wolfbus


def play(out: Path, *arguments: str, **environment: str) -> dict:
    result = subprocess.run(
        [sys.executable, "-m", "wolfbus", "play", "--json", "--out", str(out), *arguments],
        capture_output=True,
        text=True,
        env={**os.environ, **environment},
        check=False,
    )
    assert result.returncode == 0, result.stderr
    assert result.stderr == ""
    value = json.loads(result.stdout)
    assert set(value) >= {
        "game", "seed", "digest", "winner", "reason", "rounds", "statements", "judgements", "record", "seconds",
    }  # fmt: skip
    return value


def test_seed_7_is_one_game_on_memory_and_on_redis_whatever_the_hash_seed(tmp_path, redis_url):
    games = [
        play(tmp_path, "--seed", "7", PYTHONHASHSEED="1"),
        play(tmp_path, "--seed", "7", PYTHONHASHSEED="2"),
        play(tmp_path, "--seed", "7", "--bus", redis_url, PYTHONHASHSEED="3"),
    ]
    assert len({game["digest"] for game in games}) == 1
    assert len({game["game"] for game in games}) == 3


def test_replay_agrees_with_play_and_verifies(tmp_path):
    game = json.loads(wolfbus(tmp_path, "play", "--seed", "3", "--json").out)
    result = wolfbus(tmp_path, "replay", game["record"], "--json")
    assert result.code == 0, result.err
    value = json.loads(result.out)
    assert value["source"] == "wolfbus"
    assert value["verified"] is True
    assert value["problems"] == []
    for name in ("digest", "winner", "rounds", "statements", "judgements"):
        assert value[name] == game[name]
    assert set(value["labels"]) >= {"total", "clean", "repaired", "defaulted"}
    assert set(value["metrics"]) >= {"production", "table1", "table2", "table3", "table5", "trends"}
    assert set(value["metrics"]["table3"]["overall"]) >= {
        "tp", "tn", "fp", "fn", "accuracy", "precision", "recall", "f1", "balanced_accuracy", "mcc", "base_rate",
        "constant_accuracy",
    }  # fmt: skip


def test_two_games_at_once_in_one_folder_do_not_meet(tmp_path):
    commands = [
        [sys.executable, "-m", "wolfbus", "play", "--json", "--seed", "5", "--out", str(tmp_path)] for _ in range(2)
    ]
    running = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for command in commands]
    values = [json.loads(process.communicate()[0]) for process in running]
    assert values[0]["record"] != values[1]["record"]
    assert values[0]["digest"] == values[1]["digest"]
