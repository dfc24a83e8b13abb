"""`wolfbus status`: what stands on a Redis, told without touching it."""

from __future__ import annotations

import json
import re

import pytest

from tests.services.fed import HOUSE, ask
from wolfbus.bus import Entry, streams
from wolfbus.cli import run
from wolfbus.messages.codec import encode, pack
from wolfbus.messages.house import GameOpened, Join
from wolfbus.service.lifecycle import Stopping
from wolfbus.tickets import Holder


def joined(bus, name, seats, seen=None):
    join = Join(agent=name, instance="i", version="test 1", seats=seats, brain="scripted", seen=seen)
    bus.append(streams.outbox(HOUSE, name), [Entry(encode(join), "join", name, "", 1, "1700000000000-1")])
    bus.post(streams.lobby(HOUSE), Entry(encode(join), "join", name))


@pytest.fixture
def status(redis_url, capsys):
    def status(*words, url=redis_url):
        capsys.readouterr()
        code = run(["status", "--bus", url, *words])
        output = capsys.readouterr()
        assert output.err == ""
        return code, output.out

    return status


def test_it_shows_the_moderator_the_games_the_agents_and_their_lag(site, status):
    joined(site.bus, "alice", 3, "1-1")
    for number in range(1, 4):
        word = Entry(b"", "request", "moderator", "g", number, f"1-{number}")
        site.bus.append(streams.inbox(HOUSE, "alice"), [word])
    site.house.play(site.first, 1)
    site.house.begin(site.second, 2, 250)
    with site.service():
        site.reports.next()
        code, out = status("--json")
    assert code == 0
    (report,) = json.loads(out)["houses"]
    assert (report["house"], report["holder"], report["epoch"]) == (
        HOUSE,
        "the test",
        site.house.epoch,
    )
    assert (report["session"], report["open"], report["games"]) == ("s-1", True, 2)
    assert report["outcomes"] == {"ended": 1, "stopped": 0, "failed": 0}
    (running,) = report["running"]
    assert (running["game"], running["lines"], running["round"]) == (site.second.game, 250, 2)
    assert running["phase"] in {"night", "debate", "vote"}
    alice, analytics = report["agents"]
    assert (alice["name"], alice["seats"], alice["brain"], alice["service"]) == ("alice", 3, "scripted", "player")
    assert (alice["unread"], alice["unprocessed"]) == (2, 1)
    assert alice["knocked_s"] < 60 < alice["started_s"]
    assert (analytics["name"], analytics["service"], analytics["seats"]) == ("analytics", "analytics", 0)
    assert report["memory"] > 100_000
    assert report["unreadable"] == {}


def test_its_page_is_for_people_and_looking_changes_nothing(site, status):
    def dirty():
        info = ask(site.bus, "INFO", "persistence")
        return [line for line in info.splitlines() if line.startswith(b"rdb_changes_since_last_save")]

    bus, house = site.bus, site.house
    joined(bus, "bob", 8)
    house.begin(site.first, 1, 250)
    bus.renew(HOUSE, "the test", house.epoch, 60.0)
    before = dirty()
    code, out = status("--house", HOUSE)
    assert dirty() == before
    lines = out.splitlines()
    assert code == 0
    assert re.fullmatch(
        r"House fed: moderated by the test under epoch \d+, lease for .* s more; session s-1 runs", lines[0]
    )
    assert lines[1] == "  Games   1 begun, 0 ended, 0 stopped, 0 failed, 1 running"
    assert re.fullmatch(rf"       1 {site.first.game}  round 2, \w+, 250 lines", lines[2])
    assert lines[3] == "  Agents  1"
    assert lines[4].split() == ["agent", "service", "seats", "brain", "started", "knocked", "unread", "unprocessed"]
    assert re.fullmatch(r" +bob +player +8 +scripted +\d+ d ago +\d+ s ago +– +1", lines[5])
    assert re.fullmatch(r"  Memory  .* in 6 keys", lines[6])
    house.close()
    bus.release(HOUSE, "the test", house.epoch)
    last = f"last moderated by the test under epoch {house.epoch}, no lease; session s-1 is closed"
    assert last in status()[1]


def test_a_redis_without_a_house_is_said_in_one_line(redis_url, status):
    assert status() == (0, f"There is no house on {redis_url}: nobody ever opened one\n")
    assert status("--house", "x") == (1, f"There is no house x on {redis_url}\n")
    assert json.loads(status("--json")[1]) == {"bus": redis_url, "houses": []}


def test_an_agenda_is_told_apart_from_a_house(bus, status):
    for part in ("agenda", "agenda:results"):
        ask(bus, "XADD", streams.house_key("mine", part), "*", "game", "1")
    lines = status()[1].splitlines()
    assert lines[0] == "Agenda mine: games of a study, which workers play, each in a house of its own"
    assert re.fullmatch(r"  Memory  .* in 2 keys", lines[1])


def test_an_agenda_that_is_over_is_no_house_that_nobody_moderated(bus, status):
    ask(bus, "SET", streams.house_key("mine", "agenda:study"), "over")
    assert status()[1].startswith("Agenda mine: games of a study")


def test_what_strangers_wrote_breaks_neither_the_reading_nor_the_terminal(bus, house, status):
    evil = Join(agent="mallory", instance="i", version="v", brain="\x1b[2J\u202esetats", seen="not an id")
    forged = Join(agent="alice", instance="i", version="v", brain="x")
    for sender, body in (
        ("eve", b"\xc1"),
        ("eve", pack({"v": 7, "type": "join"})),
        ("mallory", encode(evil)),
        ("mallory", encode(forged)),
    ):
        bus.post(streams.lobby(HOUSE), Entry(body, "join", sender))
    bus.post(streams.outbox(HOUSE, "\x1b]0;owned\x07"), Entry(b"", "join", "x"))
    bus.post(streams.games(HOUSE), Entry(b"?", "game_opened", "x"))
    code, out = status()
    assert code == 0
    assert not {"\x1b", "\u202e"} & set(out)
    assert "mallory" in out
    assert "alice" not in out


def test_an_owner_that_no_moderator_wrote_hides_nothing_else(bus, house, status):
    key = streams.owner(HOUSE)
    ask(bus, "HSET", key, "epoch", "many")
    code, out = status()
    assert code == 0
    assert f"owner of house {HOUSE} ({key}): it holds what no moderator wrote" in out
    assert "Memory" in out


def test_a_batch_that_no_moderator_wrote_is_told_as_hidden(bus, house, status):
    bus.post(streams.games(HOUSE), Entry(encode(GameOpened(game="g", number=1)), "game_opened", "x"))
    strange = {"v": 1, "type": "asked", "round": b"x", "phase": "\x1b]0;evil\x07"}
    bus.post(streams.record(HOUSE, "g"), Entry(pack(strange), "asked", "x"))
    code, out = status("--json")
    (report,) = json.loads(out)["houses"]
    assert (code, report["running"][0]["phase"], list(report["unreadable"])) == (0, None, ["records"])
    assert "\x1b" not in status()[1]


def test_a_user_who_may_not_read_everything_sees_the_rest_and_is_told_what_is_hidden(
    site, status, redis_server, capsys
):
    redis_server.command("ACL", "SETUSER", "watcher", *Holder(HOUSE, "analytics", "watcher").rules(), ">secret", "on")
    site.callback(redis_server.command, "ACL", "DELUSER", "watcher")
    url = site.url.replace("redis://", "redis://watcher:secret@")
    site.house.begin(site.first, 1, 100)
    assert run(["status", "--bus", url]) == 1
    assert capsys.readouterr().err == (
        "wolfbus: this Redis user may not see what houses there are; name one (--house)\n"
    )
    code, out = status("--house", HOUSE, url=url)
    assert code == 0
    assert "100 lines" in out
    assert "Agents" not in out, "who there is may not be read"
    assert "  Hidden  cursors: not allowed\n  Hidden  lobby: not allowed\n" in out


def test_a_bus_in_memory_is_refused_in_one_line(capsys):
    assert run(["status", "--bus", "memory://"]) == 2
    assert "memory:// ends where its process ends" in capsys.readouterr().err


def test_it_looks_again_until_it_is_stopped(house, status, monkeypatch):
    looks = iter([False, False, True])
    monkeypatch.setattr(Stopping, "wait", lambda *_: next(looks))
    code, out = status("--watch", "--json")
    assert code == 0
    assert [json.loads(line)["houses"][0]["house"] for line in out.splitlines()] == [HOUSE] * 3
