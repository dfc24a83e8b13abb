"""`wolfbus up`: the same game, with every actor a process of its own."""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from redis import Redis

from tests.golden.running import wolfbus
from tests.ops.commands import run
from tests.waiting import wait_until
from wolfbus.bus import Entry, open_bus, streams
from wolfbus.messages.codec import encode
from wolfbus.messages.house import HouseClosed, HouseOpened

WOLFBUS = (sys.executable, "-m", "wolfbus")
RULES = "villagers = 3\nwerewolves = 1\ndoctors = 0\nmax_rounds = 2\n"
SEATS = 5
GAME = ("--seed", "7", "--config", "rules.toml")
with_redis = pytest.mark.usefixtures("redis_there")


@with_redis
def test_a_process_for_every_actor_plays_the_game_that_one_process_plays(tmp_path):
    (tmp_path / "rules.toml").write_text(RULES)
    alone = json.loads(wolfbus(tmp_path, "play", *GAME, "--json", "--out", "alone").out)
    together = subprocess.run(
        [*WOLFBUS, "up", *GAME, "--out", "together"],
        cwd=tmp_path, capture_output=True, text=True, timeout=90, check=False,
    )  # fmt: skip
    assert together.returncode == 0, together.stderr
    assert "starting it again" not in together.stderr
    assert f"Digest {alone['digest']}\n" in together.stdout
    (game,) = re.findall(r"^Game 1, (.*): ended, the werewolves won$", together.stdout, re.MULTILINE)
    names = {line.partition("│")[0].strip() for line in together.stderr.splitlines()}
    assert {"up", "moderator", "analytics", *(f"player-{place}" for place in range(1, SEATS + 1))} <= names
    assert {path.name for path in (tmp_path / "together").iterdir()} == {
        f"{game}.ndjson", "metrics.json", "report.txt",
    }  # fmt: skip


@with_redis
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
    monkeypatch.setattr(shutil, "which", lambda _name: None)
    code, output = run("up", "--out", str(tmp_path / "runs" / "out"))
    assert code == 1
    assert not list(tmp_path.iterdir())
    assert re.search(r"apt install redis-server.* --redis redis://HOST:PORT", output)


def test_a_house_that_somebody_moderates_is_left_alone_and_told_in_one_line(tmp_path, redis_url, monkeypatch):
    monkeypatch.setattr("wolfbus.service.plan._LEASE_WAIT_S", 0.1)
    with contextlib.closing(open_bus(redis_url)) as bus:
        bus.claim("taken", "somebody", 60)
        code, output = run("up", "--redis", redis_url, "--house", "taken", "--out", str(tmp_path / "out"))
    assert code == 2, output
    assert re.fullmatch(r"wolfbus: house taken is moderated by somebody, for \d+ s more at least; give .*\n", output)
    assert not list(tmp_path.iterdir())


def test_a_house_is_known_to_have_closed_though_the_beginning_of_its_session_was_cut_away(tmp_path, redis_url):
    (tmp_path / "rules.toml").write_text(RULES)
    games, out, cut = streams.games("twice"), tmp_path / "out", []
    words = [
        "up",
        "--redis",
        redis_url,
        "--house",
        "twice",
        "--config",
        str(tmp_path / "rules.toml"),
        "--out",
        str(out),
    ]

    def look(output):
        if not cut and "game 1 begins" in output:
            # its analytics has read so far then
            wait_until(lambda: list(out.glob("*.ndjson")), 30)
            cut.append(next(entry.id for entry in reversed(bus.entries(games)) if entry.type == "game_opened"))
            bus.trim(games, cut[0])
        return False

    with contextlib.closing(open_bus(redis_url)) as bus:
        for news in (HouseOpened(session="earlier"), HouseClosed(session="earlier", games=0, failed=0)):
            bus.post(games, Entry(encode(news), news.type, "moderator"))
        code, output = run(*words, until=look)
    assert (code, len(cut), "starting it again" in output) == (0, 1, False), output


@with_redis
def test_the_redis_of_a_run_keeps_its_data_through_kill_9(tmp_path):
    words = (*WOLFBUS, "up", "--players", "open*8", "--out", "out")
    with subprocess.Popen(words, cwd=tmp_path, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as up:
        try:
            path = next(match[1] for line in up.stderr if (match := re.search(r"bus unix://(\S+),", line)))
            bus = open_bus(f"unix://{path}?patience=30")
            bus.append("news", [Entry(b"", "join", "ann", id="1-1")])
            with Redis(unix_socket_path=path) as redis:
                os.kill(redis.info("server")["process_id"], signal.SIGKILL)
            assert any("redis was killed by SIGKILL; starting it again" in line for line in up.stderr)
            assert bus.last_id("news") == "1-1"
            bus.close()
        finally:
            up.terminate()
            up.communicate(timeout=30)
    assert up.returncode == 130


@with_redis
def test_sigterm_ends_the_processes_and_their_page(tmp_path):
    words = (*WOLFBUS, "up", "--players", "open*8", "--out", "out", "--view", "--port", "0")
    with subprocess.Popen(words, cwd=tmp_path, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as up:
        try:
            assert any("bus unix://" in line for line in up.stderr)
            up.terminate()
            _, err = up.communicate(timeout=30)
        finally:
            up.kill()
    assert up.returncode == 130
    assert "stays until" not in err
    assert err.endswith("wolfbus: asked to stop (SIGTERM); nothing was recorded\n")
