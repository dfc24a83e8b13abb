"""`wolfbus status`: what stands on a Redis, told without touching it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.services.fed import HOUSE, FedHouse, Record, Service, Told
from wolfbus.bus import streams
from wolfbus.bus.acl import analytics_rules
from wolfbus.bus.protocol import Bus, Entry
from wolfbus.cli import run
from wolfbus.messages.codec import encode, pack
from wolfbus.messages.house import Join
from wolfbus.testing.redis_server import RedisServer


def joined(bus: Bus, name: str, seats: int, seen: str | None = None) -> None:
    join = Join(agent=name, instance="i", version="test 1", seats=seats, brain="scripted", seen=seen)
    bus.append(streams.outbox(HOUSE, name), [Entry(encode(join), "join", name, "", 1, "1700000000000-1")])
    bus.post(streams.lobby(HOUSE), Entry(encode(join), "join", name))


def status(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str]:
    capsys.readouterr()
    code = run(["status", *words])
    said = capsys.readouterr()
    assert said.err == ""
    return code, said.out


def test_it_shows_the_moderator_the_games_the_agents_and_their_lag(
    redis_url: str,
    bus: Bus,
    house: FedHouse,
    told: Told,
    records: list[Record],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    first, second = records
    joined(bus, "alice", 3, "1-1")
    for number in range(3):
        bus.append(streams.inbox(HOUSE, "alice"), [Entry(b"", "request", "moderator", "g", number, f"1-{number + 1}")])
    house.play(first, 1)
    house.begin(second, 2, 250)
    with Service(redis_url, tmp_path):
        told.next()
        code, out = status(capsys, "--bus", redis_url, "--json")
    assert code == 0
    (found,) = json.loads(out)["houses"]
    assert (found["house"], found["holder"], found["epoch"]) == (HOUSE, "the test", house.epoch)
    assert (found["session"], found["open"], found["games"]) == ("s-1", True, 2)
    assert found["outcomes"] == {"ended": 1, "stopped": 0, "failed": 0}
    (running,) = found["running"]
    assert (running["game"], running["lines"]) == (second.game, 250)
    assert running["round"] == 2
    assert running["phase"] in {"night", "debate", "vote"}
    alice, analytics = found["agents"]
    assert (alice["name"], alice["seats"], alice["brain"], alice["service"]) == ("alice", 3, "scripted", "player")
    assert (alice["unread"], alice["unprocessed"]) == (2, 1)
    assert alice["knocked_s"] < 60 < alice["started_s"]
    assert (analytics["name"], analytics["service"], analytics["seats"]) == ("analytics", "analytics", 0)
    assert found["memory"] > 100_000
    assert found["unreadable"] == {}


def test_its_page_is_for_people(
    redis_url: str, bus: Bus, house: FedHouse, records: list[Record], capsys: pytest.CaptureFixture[str]
) -> None:
    joined(bus, "bob", 8)
    house.begin(records[0], 1, 250)
    bus.renew(HOUSE, "the test", house.epoch, 60.0)
    code, out = status(capsys, "--bus", redis_url, "--house", HOUSE)
    lines = out.splitlines()
    assert code == 0
    assert re.fullmatch(
        r"House fed: moderated by the test under epoch \d+, lease for .* s more; session s-1 runs", lines[0]
    )
    assert lines[1] == "  Games   1 begun, 0 ended, 0 stopped, 0 failed, 1 running"
    assert re.fullmatch(rf"       1 {records[0].game}  round 2, \w+, 250 lines", lines[2])
    assert lines[3] == "  Agents  1"
    assert lines[4].split() == ["agent", "service", "seats", "brain", "started", "knocked", "unread", "unprocessed"]
    assert re.fullmatch(r" +bob +player +8 +scripted +\d+ d ago +\d+ s ago +– +1", lines[5])
    assert re.fullmatch(r"  Memory  .* in 6 keys", lines[6])
    house.close()
    bus.release(HOUSE, "the test", house.epoch)
    assert (
        f"last moderated by the test under epoch {house.epoch}, no lease; session s-1 is closed"
        in status(capsys, "--bus", redis_url)[1]
    )


def test_a_redis_without_a_house_is_said_in_one_line(redis_url: str, capsys: pytest.CaptureFixture[str]) -> None:
    code, out = status(capsys, "--bus", redis_url)
    assert (code, out) == (0, f"There is no house on {redis_url}: nobody ever opened one\n")
    assert status(capsys, "--bus", redis_url, "--house", "x") == (1, f"There is no house x on {redis_url}\n")
    assert json.loads(status(capsys, "--bus", redis_url, "--json")[1]) == {"bus": redis_url, "houses": []}


def test_what_strangers_wrote_breaks_neither_the_reading_nor_the_terminal(
    redis_url: str, bus: Bus, house: FedHouse, capsys: pytest.CaptureFixture[str]
) -> None:
    lobby = streams.lobby(HOUSE)
    bus.post(lobby, Entry(b"\xc1", "join", "eve"))
    bus.post(lobby, Entry(pack({"v": 7, "type": "join"}), "join", "eve"))
    evil = Join(agent="mallory", instance="i", version="v", brain="\x1b[2J\u202esetats", seen="not an id")
    bus.post(lobby, Entry(encode(evil), "join", "mallory"))
    forged = Join(agent="alice", instance="i", version="v", brain="x")
    bus.post(lobby, Entry(encode(forged), "join", "mallory"))
    bus.post(streams.outbox(HOUSE, "\x1b]0;owned\x07"), Entry(b"", "join", "x"))
    bus.post(streams.games(HOUSE), Entry(b"?", "game_opened", "x"))
    code, out = status(capsys, "--bus", redis_url)
    assert code == 0
    assert "\x1b" not in out
    assert "\u202e" not in out
    assert "mallory" in out
    assert "alice" not in out


@pytest.fixture
def limited_url(redis_server: RedisServer, redis_url: str) -> Iterator[str]:
    rules = analytics_rules(HOUSE, "watcher")
    redis_server.command("ACL", "SETUSER", "watcher", *rules, ">secret", "on")
    yield redis_url.replace("redis://", "redis://watcher:secret@")
    redis_server.command("ACL", "DELUSER", "watcher")


def test_a_user_who_may_not_read_everything_sees_the_rest_and_is_told_what_is_hidden(
    limited_url: str, house: FedHouse, records: list[Record], capsys: pytest.CaptureFixture[str]
) -> None:
    house.begin(records[0], 1, 100)
    assert run(["status", "--bus", limited_url]) == 1
    assert capsys.readouterr().err == (
        "wolfbus: this Redis user may not see what houses there are; name one (--house)\n"
    )
    code, out = status(capsys, "--bus", limited_url, "--house", HOUSE)
    assert code == 0
    assert "100 lines" in out
    assert "  Hidden  cursors: not allowed\n  Hidden  lobby: not allowed\n" in out


def test_a_bus_in_memory_is_refused_in_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["status", "--bus", "memory://"]) == 2
    assert "memory:// ends where its process ends" in capsys.readouterr().err


def test_it_looks_again_until_it_is_stopped(
    redis_url: str, house: FedHouse, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from wolfbus.service.lifecycle import Stopping

    looks = iter([False, False, True])
    monkeypatch.setattr(Stopping, "wait", lambda *_: next(looks))
    code, out = status(capsys, "--bus", redis_url, "--watch", "--json")
    assert code == 0
    assert [json.loads(line)["houses"][0]["house"] for line in out.splitlines()] == [HOUSE] * 3


def test_looking_changes_nothing(
    redis_url: str, bus: Bus, house: FedHouse, records: list[Record], capsys: pytest.CaptureFixture[str]
) -> None:
    joined(bus, "alice", 1)
    house.begin(records[0])
    dirty = _dirty(bus)
    status(capsys, "--bus", redis_url)
    assert _dirty(bus) == dirty


def _dirty(bus: Bus) -> bytes:
    info: bytes = bus._links.run("", lambda link: link.ask("INFO", "persistence", doing="x"))  # type: ignore[attr-defined]
    (found,) = [line for line in info.splitlines() if line.startswith(b"rdb_changes_since_last_save")]
    return found
