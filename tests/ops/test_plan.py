"""What `wolfbus up` starts, and what it tells."""

from __future__ import annotations

import contextlib
import re
import shutil
from dataclasses import replace
from pathlib import Path

import pytest
from redis import Redis

from tests.ops.heard import run
from wolfbus.service.plan import HousePlan
from wolfbus.service.supervisor import Speaker
from wolfbus.testing.redis_server import redis_installed

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
    # who takes it plays as many games at a time as the others
    invitation = replace(PLAN, url="redis://h:1", at_once=2).invitation()
    assert invitation[1].startswith("  wolfbus join --bus redis://h:1 --house up-1 --place 3 --seats 2 -- ")


@pytest.mark.skipif(not redis_installed(), reason="redis-server is not installed")
@pytest.mark.parametrize(
    ("spec", "told"),
    [
        ("scripted*7,open", "seat 8 is open; in another terminal:"),
        ("open *2, scripted*6", "seats 1, 2 are open, one such line takes each"),
        ("open*,silent*7", "seat 1 is open"),
        ("exec:open,open,reopen:open,scripted*5", "seat 2 is open"),
    ],
)
def test_open_stands_in_a_players_spec_like_any_brain_and_the_redis_of_a_run_is_this_users_alone(tmp_path, spec, told):
    sockets = []

    def look(said):
        if told not in said:
            return False
        (path,) = re.findall(r"bus unix://(\S+),", said)
        sockets.append(Path(path))
        assert sockets[0].parent.stat().st_mode & 0o077 == 0
        with contextlib.closing(Redis(unix_socket_path=path)) as redis:
            assert redis.config_get("port")["port"] == "0"
            assert redis.config_get("appendonly")["appendonly"] == "yes"
        return True

    code, said = run("up", "--json", "--players", spec, "--out", str(tmp_path / "out"), until=look)
    assert sockets, said
    assert code == 130
    assert not sockets[0].parent.exists()


def test_without_a_redis_server_one_line_says_what_to_install(monkeypatch):
    monkeypatch.setattr(shutil, "which", lambda _name: None)
    code, said = run("up")
    assert code == 1
    assert re.search(r"apt install redis-server.* --redis redis://HOST:PORT", said)


def test_lines_are_told_apart_by_name_and_cannot_steer_the_terminal(capsys):
    speak = Speaker()
    speak("moderator", "night falls\x1b[2J")
    speak("player-1", "  | in brain.py")
    Speaker(quiet=True)("moderator", "unheard")
    Speaker(plain=True)("moderator", '{"event": 1}')
    out, err = capsys.readouterr()
    assert out == ""
    assert err.splitlines() == ["moderator │ night falls", "player-1  │   | in brain.py", '{"event": 1}']
