"""A house's games on a page: read once however many watch, as researchers or, with a spectator's ticket, as a table."""

import contextlib
import json
import socket
import threading
from collections.abc import Iterator
from typing import Any

import pytest

from tests.proxy import Proxy
from tests.stage.served import Events, data, fetched, leave, names, sealed, slowed
from wolfbus.bus import Bus, Commit, Entry, open_bus, streams
from wolfbus.cli import run
from wolfbus.errors import BusDown, ConfigError
from wolfbus.messages.codec import encode
from wolfbus.messages.house import GameClosed, GameOpened
from wolfbus.record.publish import STEP, commits_of
from wolfbus.stage.house import HouseSource
from wolfbus.stage.serving import Served, StageServer

HOUSE = "stage"
GAME = "test"
RECORDS, LINES = sealed()


class Moderated:
    """A house whose moderator is a test."""

    def __init__(self, bus: Bus) -> None:
        self.bus = bus
        self.epoch = bus.claim(HOUSE, "test")
        self.commits = list(commits_of(RECORDS, HOUSE, GAME, self.epoch))
        assert len(self.commits) == -(-len(RECORDS) // STEP) > 2

    def say(self, news: GameOpened | GameClosed) -> None:
        entry = Entry(encode(news), news.type, "moderator", news.game)
        (error,) = self.bus.commit([Commit(HOUSE, "", self.epoch, "", "", posts=((streams.games(HOUSE), entry),))])
        assert error is None

    def step(self, commits: list[Commit]) -> None:
        assert self.bus.commit(commits) == [None] * len(commits)


@pytest.fixture
def moderated(redis_url: str) -> Iterator[Moderated]:
    bus = open_bus(redis_url)
    yield Moderated(bus)
    bus.close()


def serving(url: str, *, public: bool = False) -> StageServer:
    source = HouseSource(open_bus(url), HOUSE, public=public)
    return StageServer(Served(live=source), port=0)


def test_many_watch_a_house_by_one_connection_and_all_see_its_games_to_the_end(moderated, redis_server, redis_url):
    moderated.say(GameOpened(game=GAME, number=1))
    moderated.step(moderated.commits[:1])
    with serving(redis_url) as stage, contextlib.ExitStack() as stack:
        stack.callback(lambda: [events.close() for events in watching])
        watching = [Events(stage.url, f"/g/{GAME}/events")]
        connected = len(redis_server.command("CLIENT", "LIST").splitlines())
        watching += [Events(stage.url, f"/g/{GAME}/events") for _ in range(11)]
        beats: list[list] = [[] for _ in watching]

        def follow(place: int) -> None:
            for _, _, step in watching[place]:
                beats[place] += step["beats"]

        first = next(iter(watching[0]))
        beats[0] += first[2]["beats"]
        (live,) = data(stage.url, "/library.json")["live"]
        assert live["game"] == GAME
        assert live["house"] == HOUSE
        assert live["werewolves"] >= 1
        threads = [threading.Thread(target=follow, args=(place,)) for place in range(len(watching))]
        for thread in threads:
            thread.start()
        moderated.step(moderated.commits[1:])
        moderated.say(GameClosed(game=GAME, number=1, outcome="ended", lines=len(RECORDS), hash=RECORDS[-1].hash))
        for thread in threads:
            thread.join(60)
        assert len(redis_server.command("CLIENT", "LIST").splitlines()) == connected
        assert {json.dumps(watched) for watched in beats} == {json.dumps(beats[0])}
        page = data(stage.url, f"/g/{GAME}/data.json")
        assert page["beats"] == beats[0]
        assert page["proof"]["head"] == RECORDS[-1].hash


def test_who_leaves_while_a_house_is_read_takes_nobody_along(moderated, redis_url, monkeypatch):
    slowed(monkeypatch)
    moderated.say(GameOpened(game=GAME, number=1))
    moderated.step(moderated.commits)
    with serving(redis_url) as stage:
        leave(stage.url, f"/g/{GAME}/data.json")
        assert data(stage.url, f"/g/{GAME}/data.json")["over"]


def test_a_spectator_s_ticket_shows_what_the_table_knows(moderated, redis_url, tmp_path, watched):
    words = ("--house", HOUSE, "--out", str(tmp_path), "--spectator", "watcher", "--keep-default")
    assert run(["tickets", "issue", "--bus", redis_url, *words]) == 0
    ticket = (tmp_path / "watcher.ticket").read_text()
    url = next(line.removeprefix("WOLFBUS_BUS=") for line in ticket.splitlines() if "://" in line)
    moderated.say(GameOpened(game=GAME, number=1))
    moderated.step(moderated.commits[:-1])
    with serving(url) as stage, Events(stage.url, f"/g/{GAME}/events") as events:
        lines = iter(events)
        name, last, step = next(lines)
        assert name == "step"
        assert "living" not in data(stage.url, "/library.json")["live"][0]
        moderated.step(moderated.commits[-1:])
        beats = step["beats"]
        for _, last, step in lines:  # noqa: B007 - the last one
            beats += step["beats"]
        assert last == sum(len(commit.posts) for commit in moderated.commits) + 1
        assert b"secret-of" not in events.raw
        page = data(stage.url, f"/g/{GAME}/data.json")
        assert page["beats"] == beats
        assert page["viewers"] == ["public"]
        seen = watched(f"{stage.url}/g/{GAME}#n=0")
        assert seen.page.locator(".beat").inner_text() == "The players sit down"
        seen.press("End")
        assert seen.at().startswith("the end: ")
        assert "can be had only where its record is read" in fetched(stage.url, f"/g/{GAME}/record.ndjson")[2].decode()
        assert fetched(stage.url, f"/g/{GAME}/data.json?as=everything")[0] == 400
        assert set(page["game"]) == {"id", "seats"}, "the rules and the roles are the house's own"
        assert {seat["name"] for seat in page["game"]["seats"]} == set(names())
        assert {seat["name"] for seat in beats[-1]["seats"] if seat.get("role")} == set(names())


def test_a_game_that_is_over_stays_on_the_page_when_its_house_takes_it_away():
    bus = open_bus("memory://")
    moderated, source = Moderated(bus), HouseSource(bus, HOUSE)
    lost, begin_anew = threading.Event(), source._begin_anew
    source._begin_anew = lambda stream: (begin_anew(stream), lost.set())
    moderated.say(GameOpened(game=GAME, number=1))
    moderated.step(moderated.commits)
    moderated.say(GameClosed(game=GAME, number=1, outcome="ended", lines=len(RECORDS), hash=RECORDS[-1].hash))
    with StageServer(Served(live=source), port=0) as stage:
        page = data(stage.url, f"/g/{GAME}/data.json")
        assert page["over"]
        assert bus.expire(HOUSE, GAME, 0)
        assert lost.wait(60)
        assert data(stage.url, f"/g/{GAME}/data.json") == page
        assert data(stage.url, "/library.json")["live"] == []


def test_a_bus_that_lost_its_news_doubles_no_game_and_what_it_lost_of_others_is_live_no_more(
    moderated, redis_server, redis_url
):
    opened, news = GameOpened(game=GAME, number=1), streams.games(HOUSE)
    moderated.say(opened)
    moderated.say(GameOpened(game="lost", number=2))
    moderated.step(moderated.commits[:2])
    source, read = HouseSource(open_bus(redis_url), HOUSE), threading.Event()
    add = source._add
    source._add = lambda name, records, problem: (add(name, records, problem), read.set())
    with StageServer(Served(live=source), port=0) as stage, Events(stage.url, f"/g/{GAME}/events") as events:
        lines = iter(events)
        assert next(lines)[0] == "step"
        read.clear()
        redis_server.command("DEL", news)
        moderated.say(opened)
        # whoever comes before the first of it is there has a page that is loaded anew at its end
        assert read.wait(60)
        assert [live_game["game"] for live_game in data(stage.url, "/library.json")["live"]] == [GAME]
        assert [name for name, _, _ in lines][-1] == "gone"
        moderated.step(moderated.commits[2:])
        with Events(stage.url, f"/g/{GAME}/events") as anew:
            *_, (_, _, step) = anew
        assert step["over"]
        page = data(stage.url, f"/g/{GAME}/data.json")
        assert page["proof"] == {"sealed": True, "head": RECORDS[-1].hash, "lines": len(RECORDS)}


def test_a_game_that_its_house_took_away_before_is_shown_from_its_record(tmp_path):
    (tmp_path / f"{GAME}.ndjson").write_bytes(b"".join(LINES))
    bus = open_bus("memory://")
    moderated = Moderated(bus)
    moderated.say(GameOpened(game=GAME, number=1))
    moderated.step(moderated.commits)
    moderated.say(GameClosed(game=GAME, number=1, outcome="ended", lines=len(RECORDS), hash=RECORDS[-1].hash))
    assert bus.expire(HOUSE, GAME, 0)
    with StageServer(Served(tmp_path, live=HouseSource(bus, HOUSE)), port=0) as stage:
        assert data(stage.url, f"/g/{GAME}/data.json")["line"] == len(RECORDS)


def test_a_page_says_that_its_house_cannot_be_read_and_goes_on_when_it_can(moderated, redis_server, caplog):
    moderated.say(GameOpened(game=GAME, number=1))
    moderated.step(moderated.commits[:1])
    with (
        Proxy(redis_server.port) as proxy,
        serving(f"redis://127.0.0.1:{proxy.port}?patience=0.1") as stage,
        Events(stage.url, f"/g/{GAME}/events") as events,
    ):
        lines = iter(events)
        assert next(lines)[2]["stalled"] is None
        for _ in range(2):
            proxy.refuse()
            proxy.cut()
            away = "the house cannot be read now; trying again"
            assert next(lines)[2]["stalled"] == away
            assert data(stage.url, f"/g/{GAME}/data.json")["stalled"] == away
            assert data(stage.url, "/library.json")["live"][0]["stalled"] == away
            proxy.refuse(False)
            _, _, step = next(lines)
            assert (step["stalled"], step["beats"]) == (None, []), "nothing new has to come"
            with Events(stage.url, f"/g/{GAME}/events?after={step['line']}") as again:
                assert next(iter(again))[2]["stalled"] is None, "whoever was away meanwhile learns it, too"
    # once an outage, however often it is tried
    assert len([text for text in caplog.messages if "cannot be reached" in text]) == 2


def test_a_house_that_could_not_be_read_for_a_moment_at_first_is_followed_and_not_said_to_be_away(monkeypatch, caplog):
    bus = open_bus("memory://")
    moderated, source = Moderated(bus), HouseSource(bus, HOUSE)
    moderated.say(GameOpened(game=GAME, number=1))
    moderated.step(moderated.commits[:1])
    read, breaks = bus.entries, [BusDown("it is away")]

    def entries(stream: str, *words: Any, **options: Any) -> list[Entry]:
        if stream == streams.record(HOUSE, GAME) and breaks:
            raise breaks.pop()
        return read(stream, *words, **options)

    monkeypatch.setattr(bus, "entries", entries)
    with StageServer(Served(live=source), port=0) as stage:
        page = data(stage.url, f"/g/{GAME}/data.json")
        assert (page["line"], page["stalled"]) == (STEP, None)
    assert caplog.messages == [f"house {HOUSE}: it is away"]


def test_games_of_a_house_that_are_long_over_are_read_and_kept_no_more():
    bus = open_bus("memory://")
    moderated, source = Moderated(bus), HouseSource(bus, HOUSE)
    for number in range(1, 67):
        name = f"g{number}"
        moderated.say(GameOpened(game=name, number=number))
        moderated.say(GameClosed(game=name, number=number, outcome="failed", lines=0, hash=""))
    with StageServer(Served(live=source), port=0) as stage:
        assert fetched(stage.url, "/g/g66/data.json")[0] == 404
        assert data(stage.url, "/library.json")["live"] == []
        assert len(source._readers) == len(source._games) == 64


def test_games_that_go_on_are_listed_in_the_order_in_which_they_began():
    bus = open_bus("memory://")
    moderated, games = Moderated(bus), [f"g{number}" for number in range(1, 10)]
    for number, name in enumerate(games, 1):
        moderated.say(GameOpened(game=name, number=number))
    with StageServer(Served(live=HouseSource(bus, HOUSE)), port=0) as stage:
        assert fetched(stage.url, "/g/g0/data.json")[0] == 404
        assert [game["game"] for game in data(stage.url, "/library.json")["live"]] == games


def test_a_page_that_lists_games_tells_of_those_that_begin_and_how_they_go_on_without_being_loaded_again(
    watched, monkeypatch
):
    monkeypatch.setattr("wolfbus.stage.library._AGAIN_MS", 20)
    bus = open_bus("memory://")
    moderated = Moderated(bus)
    with StageServer(Served(live=HouseSource(bus, HOUSE)), port=0) as stage:
        page = watched(f"{stage.url}/", "h2").page
        page.get_by_text("There is no game in this house.").wait_for()
        moderated.say(GameOpened(game=GAME, number=1))
        page.get_by_role("heading", name="Live").wait_for()
        page.get_by_text("not begun").wait_for()
        moderated.step(moderated.commits)
        page.get_by_text("not begun").wait_for(state="detached")
        moderated.say(GameClosed(game=GAME, number=1, outcome="ended", lines=len(RECORDS), hash=RECORDS[-1].hash))
        page.get_by_role("heading", name="Live").wait_for(state="detached")
        # it asks no server that is gone
        page.goto("about:blank")


TIMERS = """(() => {
    let made = 0;
    const waiting = new Set();
    window.setTimeout = () => (waiting.add(++made), made);
    window.clearTimeout = (timer) => waiting.delete(timer);
    window.timers = () => ({ made, waiting: waiting.size });
})()"""
"""In the place of timers: they never ring, and are counted."""


def test_a_page_that_is_left_and_entered_again_asks_no_more_often_than_before(watched):
    with StageServer(Served(live=HouseSource(open_bus("memory://"), HOUSE)), port=0) as stage:
        page = watched(f"{stage.url}/", "h2", alone=True).page
        page.add_init_script(TIMERS)
        page.reload()
        page.wait_for_function("timers().made === 1")
        for made in (2, 3, 4):
            page.evaluate("dispatchEvent(new Event('visibilitychange'))")
            page.wait_for_function("made => timers().made === made", arg=made)
        assert page.evaluate("timers()") == {"made": 4, "waiting": 1}


def test_a_page_that_lists_games_says_that_its_server_is_away_and_lists_them_again_when_it_is_back(watched):
    moderated = Moderated(open_bus("memory://"))
    with StageServer(Served(live=HouseSource(moderated.bus, HOUSE)), port=0) as stage:
        seen = watched(f"{stage.url}/", "h2", alone=True)
        page = seen.page
        page.add_init_script("const later = setTimeout; window.setTimeout = (act, ms) => later(act, ms / 200)")
        page.reload()
        page.get_by_text("There is no game in this house.").wait_for()
        page.route("**/library.json*", lambda route: route.abort())
        page.get_by_text("The connection is lost; trying again.").wait_for()
        moderated.say(GameOpened(game=GAME, number=1))
        page.unroute("**/library.json*")
        page.get_by_text("not begun").wait_for()
        page.goto("about:blank")
    assert set(seen.console) == {"Failed to load resource: net::ERR_FAILED"}
    seen.console.clear()


@pytest.mark.parametrize(("host", "why"), [("127.0.0.1", "address already in use"), ("a..b", "no name of a machine")])
def test_an_address_that_cannot_be_served_on_is_told_and_the_house_is_read_no_more(host, why):
    with socket.create_server(("127.0.0.1", 0)) as listener:
        source = HouseSource(open_bus("memory://"), HOUSE)
        with pytest.raises(ConfigError, match=why), StageServer(Served(live=source), host, listener.getsockname()[1]):
            pass
    assert "stage-bus" not in {thread.name for thread in threading.enumerate()}
