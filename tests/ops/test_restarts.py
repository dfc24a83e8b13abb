"""What is the same after a restart, and what is read in files as people mean it."""

from __future__ import annotations

import fcntl
import os
import subprocess
import sys
from contextlib import ExitStack

import pytest

from tests.ops.commands import run
from tests.waiting import PATIENCE_S

NAMED = """if True:
    import sys
    from wolfbus.agent import Agent, serve

    class Nobody(Agent):
        pass

    try:
        serve(Nobody, sys.argv[1], house="a house", places=(99,))
    except Exception as error:
        print(error, flush=True)
    sys.stdin.read()
"""
"""An agent whose introduction is refused: the line says the name that it would have."""


class Unnamed:
    """A process of agents without a name."""

    def __init__(self, *words, **environment):
        self.process = subprocess.Popen(
            [sys.executable, "-c", NAMED, "redis://127.0.0.1:1", *words],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env={**os.environ, **environment},
        )  # fmt: skip
        self.name = self.process.stdout.readline().partition("'")[2].partition("'")[0]
        assert self.name

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.communicate(timeout=PATIENCE_S)


def test_an_agent_without_a_name_has_the_one_again_that_a_killed_one_like_it_had(tmp_path):
    home = {"XDG_CACHE_HOME": str(tmp_path)}
    with ExitStack() as stack:
        first, second = (Unnamed(**home) for _ in range(2))
        stack.enter_context(second)
        others = [
            stack.enter_context(Unnamed("--another", **home)),
            stack.enter_context(Unnamed(**home, WOLFBUS_X="1")),
        ]
        with first:
            assert len({first.name, second.name, *(other.name for other in others)}) == 4
        with Unnamed(**home) as again:
            assert again.name == first.name


@pytest.mark.parametrize("text", ["7\r", " '7'\r\n"])
def test_a_value_from_a_file_is_read_as_it_is_meant(text, monkeypatch, tmp_path):
    monkeypatch.setenv("WOLFBUS_PLAY_SEED", text)
    code, output = run("play", "--json", "--out", str(tmp_path))
    assert code == 0, output
    assert '"seed": 7,' in output


def test_a_control_character_in_a_variable_is_refused_by_its_name(monkeypatch):
    monkeypatch.setenv("WOLFBUS_PLAY_SEED", "7\x1b[2J")
    code, output = run("play")
    assert (code, output) == (2, "wolfbus: WOLFBUS_PLAY_SEED: its value holds a control character ('\\x1b')\n")


def test_help_says_what_a_command_does_without_docstrings(tmp_path):
    words = [sys.executable, "-OO", "-m", "wolfbus", "player", "--help"]
    done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, timeout=PATIENCE_S, check=True)
    assert "It joins the house, plays what seats the moderator gives it" in done.stdout


def test_a_folder_is_one_analytics_services_at_a_time(tmp_path, redis_url):
    descriptor = os.open(tmp_path, os.O_RDONLY)
    fcntl.flock(descriptor, fcntl.LOCK_EX)
    code, output = run("analytics", "--bus", redis_url, "--out", str(tmp_path))
    os.close(descriptor)
    assert code == 2
    assert output == (
        f"wolfbus: {tmp_path}: another analytics service keeps its records there; give --out another folder\n"
    )
