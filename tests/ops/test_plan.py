"""What `wolfbus up` starts, and what it tells."""

from __future__ import annotations

import queue
import re
import shutil
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner

from wolfbus.bus import open_bus
from wolfbus.bus.protocol import Entry
from wolfbus.cli.up import seats_of, up
from wolfbus.errors import BusError, ConfigError
from wolfbus.service.lifecycle import Stopping
from wolfbus.service.plan import HousePlan
from wolfbus.service.redis import RedisHome, redis_installed
from wolfbus.service.supervisor import Child, Said, Speaker

PLAN = HousePlan(
    "redis://u:secret@h:1", "up-1", ("scripted", "llm:x@http://h", "open"), Path("out"), seed="s33d", games=3
)


def test_each_seat_is_an_agent_of_its_own_and_an_open_one_is_nobody():
    programs = {program.name: program for program in PLAN.programs()}
    assert list(programs) == ["moderator", "player-1", "player-2", "analytics"]
    assert [name for name, program in programs.items() if program.leads] == ["moderator", "analytics"]
    second = programs["player-2"].command[2:]
    assert "--brain=llm:x@http://h" in second
    assert second[second.index("--place") + 1] == "2"
    assert {"--archive", "--games"} <= set(programs["moderator"].command)


def test_password_and_seed_stand_in_no_command_line_and_in_no_invitation():
    for program in PLAN.programs():
        assert not {"secret", "s33d"} & set(re.findall(r"\w+", " ".join(program.command)))
        # a process that is started again while Redis is away waits for it
        assert program.environment["WOLFBUS_BUS"] == "redis://u:secret@h:1?patience=30"
    seeds = {program.name for program in PLAN.programs() if "s33d" in program.environment.values()}
    assert seeds == {"moderator"}
    assert "secret" not in "".join(PLAN.invitation())
    invitation = replace(PLAN, url="redis://h:1").invitation()
    assert invitation[1].startswith("  wolfbus join --bus redis://h:1 --house up-1 --place 3 -- ")


@pytest.mark.parametrize(
    ("spec", "brains"),
    [
        ("scripted*2,open", ("scripted", "scripted", "open")),
        ("open", ("open",) * 3),
        ("open *2, scripted", ("open", "open", "scripted")),
        ("open*,silent", ("open", "open", "silent")),
        ("exec:open,open,reopen:open", ("exec:open", "open", "reopen:open")),
    ],
)
def test_open_stands_in_a_players_spec_like_any_brain(spec, brains):
    assert seats_of(spec, 3) == brains


def test_a_spec_that_does_not_add_up_is_told_in_its_own_words():
    with pytest.raises(ConfigError, match=r"'open\*4': this makes 4 players, but the game has 3 seats"):
        seats_of("open*4", 3)


def test_a_person_needs_a_terminal_and_processes_a_server():
    told = CliRunner().invoke(up, ["--players", "human,scripted*7"])
    assert isinstance(told.exception, ConfigError)
    assert "wolfbus play --players human" in str(told.exception)
    assert "memory:// ends where its process ends" in CliRunner().invoke(up, ["--redis", "memory://"]).output


def test_without_a_redis_server_one_line_says_what_to_install(monkeypatch):
    monkeypatch.setattr(shutil, "which", lambda _name: None)
    told = CliRunner().invoke(up, [])
    assert isinstance(told.exception, BusError)
    assert re.search(r"apt install redis-server.* --redis redis://HOST:PORT", str(told.exception))


@pytest.mark.skipif(not redis_installed(), reason="redis-server is not installed")
def test_the_redis_of_a_run_is_to_be_reached_by_this_user_alone_and_survives_a_kill():
    said: Said = queue.SimpleQueue()
    with Stopping() as stopping, RedisHome() as redis:
        child = Child(redis.program, said)
        try:
            child.start()
            redis.wait(stopping)
            bus = open_bus(redis.url)
            bus.append("news", [Entry(b"", "join", "ann", id="1-1")])
            child.kill()
            child.start()
            assert bus.last_id("news") == "1-1"
            bus.close()
            socket = Path(redis.url.removeprefix("unix://"))
            assert socket.parent.stat().st_mode & 0o077 == 0
            words = redis.program.command
            assert words[words.index("--port") + 1] == "0"
        finally:
            child.kill()
    assert not socket.parent.exists()


def test_lines_are_told_apart_by_name_and_cannot_steer_the_terminal(capsys):
    speak = Speaker()
    speak("moderator", "night falls\x1b[2J")
    speak("player-1", "  | in brain.py")
    Speaker(quiet=True)("moderator", "unheard")
    Speaker(plain=True)("moderator", '{"event": 1}')
    out, err = capsys.readouterr()
    assert out == ""
    assert err.splitlines() == ["moderator │ night falls", "player-1  │   | in brain.py", '{"event": 1}']
