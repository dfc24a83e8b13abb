"""Who is let into a house and why not, who sits where, what is said of who is missing, and games that are asked for."""

from __future__ import annotations

import queue
import threading
from functools import partial

import pytest
from pydantic import ValidationError

from moderator.house import (
    Agenda,
    AgendaItem,
    GameReport,
    Games,
    ModeratorSettings,
    Offer,
    seat_agents,
    seat_brains,
)
from tests.services.guests import HOUSE, SMALL, archive
from tests.waiting import wait_until
from wolfbus.bus import Entry, streams
from wolfbus.game.config import GameConfig
from wolfbus.game.draws import game_seed
from wolfbus.messages.codec import encode, pack, plain, unpack
from wolfbus.messages.house import Join, Leave, Refused, RollCall, Welcome
from wolfbus.tickets import services

EIGHT = GameConfig(debate_turns=1, max_rounds=1)
FIVE = ("ada", "bruno", "chloe", "dario", "esther")
WAITING = "waiting for agents"
ARCHIVIST = "; an analytics service is missing"


# -- who sits where


@pytest.mark.parametrize(
    ("seats", "offers", "sit"),
    [
        # an agent sits only where it asked to, and the first by name is served first
        (5, {"bruno": Offer(1, (3,)), "ada": Offer(1, (3,)), "chloe": Offer(8)}, "chloe chloe ada chloe chloe"),
        # an agent moves to another place that it asked for if that lets a later one sit
        (2, {"ada": Offer(1, (1, 2)), "bruno": Offer(1, (1,))}, "bruno ada"),
        # an agent gets no more of its places than it can play, and where nobody is left to sit there is nobody
        (5, {"ada": Offer(2, (1, 2, 3, 9))}, "ada ada - - -"),
    ],
)
def test_agents_sit_where_they_asked_to(seats, offers, sit):
    assert seat_agents(seats, offers, "7") == tuple(None if name == "-" else name for name in sit.split())


BRAINS = ("scripted", "mini", "scripted", "mini", "scripted")
PLAYS = {"ann": "scripted", "bea": "mini", "cleo": "mini", "dan": "scripted"}.__getitem__


def seat_players(offers, seed):
    return seat_brains(BRAINS, offers, PLAYS, seed)


@pytest.mark.parametrize("seated", [partial(seat_agents, 5), seat_players])
def test_who_sits_where_depends_on_the_seed_and_not_on_who_came_first(seated):
    offers = {"ann": Offer(9), "bea": Offer(1), "cleo": Offer(9), "dan": Offer(1)}
    assert seated(dict(reversed(offers.items())), "7") == seated(offers, "7")
    assert len({seated(offers, str(seed)) for seed in range(20)}) > 1


def test_where_every_seat_asks_for_a_brain_somebody_with_that_sits():
    # places are asked for among those of the own brain
    offers = {"ann": Offer(3), "bea": Offer(2, (2,)), "cleo": Offer(2, (2, 4)), "dan": Offer(1, (2, 5))}
    assert seat_players(offers, "7") == ("ann", "bea", "ann", "cleo", "dan")
    # nobody else's place may be taken, though it is free
    assert seat_players({"bea": Offer(1, (1,))}, "7") == (None,) * 5


# -- what is missing


@pytest.mark.parametrize(
    ("guests", "archive", "line"),
    [
        (
            {name: {"places": (place,)} for place, name in enumerate("abcdefgh", 1) if place not in {3, 5}},
            False,
            "6 of 8 seats covered by a, b, d, f, g and h; places 3 and 5 are free; 2 seats missing",
        ),
        (
            {"ada": {"places": (3,)}, "bruno": {"places": (3,)}, "chloe": {"seats": 2}},
            True,
            "3 of 8 seats covered by ada and chloe; bruno waits for place 3, which ada asked for too; 5 seats missing"
            + ARCHIVIST,
        ),
    ],
)
def test_the_line_says_who_covers_seats_which_places_are_free_and_who_waits_for_anothers(
    local, caplog, monkeypatch, guests, archive, line
):
    monkeypatch.setattr("moderator.house.waiting.AGAIN_S", 0.02)
    caplog.set_level("INFO")
    for name, fields in guests.items():
        local.guest(name, **fields)
    local.moderate(config=EIGHT, archive=archive)
    # while nothing changes it is said again, ever more rarely
    wait_until(lambda: caplog.messages.count(f"{WAITING}: {line}") > 2)


def agenda_of(waits=lambda _: None):
    return Agenda("s2", ["s1"], lambda _: False, waits)


def test_the_line_names_the_brains_that_nobody_plays_and_says_how_to_bring_them(local):
    lines = []
    agenda = agenda_of(lines.append)
    agenda.add(AgendaItem("g", "7", ("scripted", "mini", "evil\nbrain", "mini", "outside:ann")))
    local.guests("ann", "bea", seats=2)
    local.guest("cleo", brain="another")
    local.moderate(agenda=agenda, config=SMALL)
    wait_until(lambda: lines and "1 of 5" in lines[-1] and "another" in lines[-1])
    line = lines[-1]
    assert line.startswith("waiting for agents: 1 of 5 seats covered; 1 seat of evil")
    assert "2 seats of mini, 1 seat of outside:ann missing; here, but not asked for: another; bring them with: " in line
    assert f"wolfbus player --bus {local.url} --house main --brain mini --seats 2" in line
    assert f"wolfbus join --bus {local.url} --house main --name ann --seats 1 -- COMMAND" in line
    assert "\n" not in line


@pytest.mark.parametrize("by_brains", [False, True], ids=["anybody", "brains asked for"])
def test_an_agent_that_does_not_read_its_mailbox_gets_no_seat_until_it_has_caught_up(
    local, caplog, monkeypatch, by_brains
):
    monkeypatch.setattr("moderator.house.roster.UNREAD_AT_MOST", 3)
    caplog.set_level("INFO")
    box = streams.inbox(HOUSE, "ada")
    for _ in range(9):
        local.bus.post(box, Entry(b"", "roll_call", "x"))
    ada = local.guest("ada", seats=4, seen=local.bus.entries(box)[0].id, heartbeat=0.05)
    settings = {"agenda": agenda_of()} if by_brains else {}
    if by_brains:
        settings["agenda"].add(AgendaItem("g", "7", ("scripted",) * 5))
    service = local.moderate(WAITING, **settings)
    wait_until(lambda: any("ada must first read what waits in the mailbox" in message for message in caplog.messages))
    assert isinstance(ada.hear(RollCall), RollCall)
    local.guest("bruno")
    del ada.fields["seen"]
    assert service.result().error is None


# -- who is here


def test_who_is_not_let_in_is_told_why(local, monkeypatch):
    local.moderate(config=EIGHT)
    ada, bruno = local.guest("ada"), local.guest("bruno", seen="no id")
    for guest in (ada, bruno):
        guest.hear(Welcome)
    for number, (fields, reason) in enumerate(
        (
            ({"agent": "bruno"}, "this is the stream of ada; bruno cannot join on it"),
            ({"service": "analytics"}, "ada is known here as a player service, not an analytics service"),
            ({"places": (9, 12)}, "it asks for seat 9 and 12, but games here have 8 seats"),
        )
    ):
        monkeypatch.setattr("moderator.house.lobby.REFUSAL_S", 0.0)
        ada.join(instance=str(number), **fields)
        assert ada.hear(Refused).reason == reason
    # only the start that is known can leave, and who has left makes room in a full house
    monkeypatch.setattr("moderator.house.roster.AGENTS_AT_MOST", 2)
    late = local.guest("late")
    bruno.say(Leave(agent="bruno", instance="of another day"))
    assert late.hear(Refused).reason == "the house is full: it takes 2 agents"
    bruno.close(leave=True)
    late.join(instance="again")
    late.hear(Welcome)


def test_a_house_that_many_have_left_lets_in_who_comes_and_plays_on_with_who_comes_back(local, monkeypatch, caplog):
    caplog.set_level("INFO")
    monkeypatch.setattr("moderator.house.lobby.AGENTS_AT_MOST", 2)
    ignore, joins = Games.ignore, {}

    def with_a_join_on_its_way(games, agent):
        games._receive(agent, Entry(joins[agent], "join", agent, id="9-9"))
        ignore(games, agent)

    monkeypatch.setattr(Games, "ignore", with_a_join_on_its_way)
    service = local.moderate(WAITING, heartbeat_s=5.0)
    stays = local.guest("stays", seats=2)
    came = ("ada", "bruno", "chloe", "dario", "esther", "ada")
    for name in came:
        with local.guests_for_now(name) as (guest,):
            guest.hear(Welcome)
            joins[name] = encode(guest.message())
            guest.close(leave=True)
    local.guest("bruno", seats=3)
    result = service.result()
    assert result.error is None
    assert stays.games == [result.game]
    joined = [message.split()[0] for message in caplog.messages if " has joined: " in message]
    assert sorted(joined) == sorted(("stays", *came, "bruno"))


def test_who_plays_is_heard_however_many_others_were_ever_there(local, monkeypatch):
    monkeypatch.setattr("moderator.house.lobby.AGENTS_AT_MOST", 2)
    for name in FIVE:
        local.bus.post(streams.lobby(HOUSE), Entry(b"", "join", name))
    agenda = agenda_of()
    agenda.agents = frozenset({"zoe"})
    local.moderate(agenda=agenda)
    local.guest("zoe", knock=False).hear(Welcome)


@pytest.mark.parametrize("fields", [{"declines": ("bid",) * 12}, {"places": (1,) * 17}])
def test_a_join_lists_no_more_than_there_can_be(fields):
    with pytest.raises(ValidationError, match="too_long"):
        Join(agent="ada", instance="1", version="test 1", brain="scripted", **fields)


def test_a_flood_of_nonsense_from_one_agent_is_one_line_with_a_count(local, caplog, monkeypatch):
    monkeypatch.setattr("moderator.house.lobby.WARN_EVERY_S", 0.5)
    local.moderate(WAITING)
    (mallory,) = local.guests("mallory")
    mallory.hear(Welcome)
    for _ in range(50):
        mallory._send(b"\xc1", "", "join")
    wait_until(lambda: "more messages were not taken" in caplog.text)
    warnings = [message for message in caplog.messages if "mallory" in message]
    assert len(warnings) == 2
    assert warnings[0].startswith("mallory said what cannot be read: ")
    assert warnings[1] == "mallory: 49 more messages were not taken"


def test_an_agent_that_talks_without_end_keeps_nobody_from_playing(local, monkeypatch):
    service = local.moderate(WAITING)
    mallory = local.guest("mallory", joins=False)

    def complain(*_):
        for _ in "two":
            mallory._send(b"\xc1", "", "join")

    monkeypatch.setattr("moderator.house.lobby.Lobby._warn", complain)
    mallory.knock()
    complain()
    local.guest("ada", seats=5)
    assert service.result().error is None
    assert service.code() == 0


def test_of_what_an_agent_says_faster_than_its_mailbox_is_cut_the_last_word_counts(local, monkeypatch):
    box, gate, cuts = streams.inbox(HOUSE, "ada"), threading.Event(), queue.SimpleQueue()
    ids = [local.bus.post(box, Entry(b"", "roll_call", "x")) for _ in range(9)]

    def trim(_bus, stream, before):
        if stream == box:
            cuts.put(before)
            gate.wait(10)
        return 0

    monkeypatch.setattr("wolfbus.bus.memory.MemoryBus.trim", trim)
    local.moderate(WAITING)
    ada = local.guest("ada", seen=ids[0])
    assert cuts.get(timeout=60) == ids[0]
    for seen in ids:
        ada.join(seen=seen)
    # who says something later is heard later
    local.guest("bruno").hear(Welcome)
    gate.set()
    assert cuts.get(timeout=60) == ids[-1]
    local.guest("chloe").hear(Welcome)
    assert cuts.empty()


def test_a_message_to_the_house_that_is_too_big_is_dropped_unread(local, caplog, monkeypatch):
    local.moderate(WAITING)
    ada = local.guest("ada", joins=False)
    big = pack({**plain(ada.message()), "brain": "b" * 70_000})
    local.bus.post(streams.lobby(HOUSE), Entry(big, "join", "ada"))
    local.bus.post(streams.lobby(HOUSE), Entry(encode(ada.message()), "join", "ada"))
    ada._send(big, "", "join")
    # what comes behind it is heard
    ada.join()
    ada.hear(Welcome)
    # the last warnings of so many are remembered
    monkeypatch.setattr("moderator.house.lobby.WARNINGS_KEPT", 1)
    bruno = local.guest("bruno")
    for guest in (ada, bruno, bruno, ada):
        guest._send(big, "", "join")
        guest.join(instance=f"{guest.name} again {guest._sent}")
        guest.hear(Welcome)
    assert caplog.messages == [
        f"{name} said what cannot be read: {len(big)} bytes; at most 64000 are read" for name in ("ada", "bruno", "ada")
    ]


def test_a_moderator_that_goes_by_no_tickets_says_that_there_are_some(stage, redis_server, caplog):
    redis_server.command("SADD", streams.tickets(HOUSE), *FIVE)
    stage.guests(*FIVE)
    assert stage.moderate().code() == 0
    warning = f"house {HOUSE} has 5 tickets: without --tickets, who holds one, and never played here, is not heard"
    assert caplog.messages.count(warning) == 1


def test_a_join_in_anothers_name_and_one_without_a_ticket_are_refused(stage, redis_server, caplog):
    redis_server.command("SADD", streams.tickets(HOUSE), *FIVE)
    agents = stage.guests(*FIVE[:4])
    (mallory,) = stage.guests("mallory", seats=5)
    service = stage.moderate(tickets=True)
    agents[0].hear(Welcome)
    mallory.knock(agent="esther")
    mallory.knock()
    assert mallory.hear(Refused).reason == "this house is open to holders of a ticket only"
    agents[0].join(agent="esther", instance="forged")
    assert agents[0].hear(Refused).reason == "this is the stream of ada; esther cannot join on it"
    (esther,) = stage.guests("esther", knock=False)
    result = service.result()
    assert service.code() == 0
    assert (esther.games, mallory.games) == ([result.game], [])
    assert "knocked under the name of another" in caplog.text
    # the house is closed: nobody's ticket is good any more
    assert redis_server.command("SCARD", streams.tickets(HOUSE)) == b":0\r\n"


def test_an_agents_ticket_makes_nobody_analytics_and_only_a_players_is_in_house(stage, redis_server, caplog):
    kinds = {**dict.fromkeys(FIVE, "agent"), "bruno": "player", "eve": "agent", "keeper": "analytics"}
    redis_server.command("HSET", services(HOUSE), *(word for pair in kinds.items() for word in pair))
    redis_server.command("SADD", streams.tickets(HOUSE), *kinds)
    eve, keeper = stage.guests("eve", "keeper", service="analytics", seats=0, knock=False)
    stage.guests(*FIVE, knock=False)
    service = stage.moderate(tickets=True, archive=True, seed="7")
    assert "the ticket of eve is for an agent" in eve.hear(Refused).reason
    game = service.result().game
    (closed,) = stage.closed
    wait_until(lambda: service.health.state == "closing")
    archive(eve, closed)
    # the moderator has heard it when it has heard what stands behind it; as an agent eve may come
    for instance in ("again", "and again"):
        eve.join(service="player", instance=instance)
        eve.hear(Welcome)
        archive(eve, closed)
    assert stage.bus.head(HOUSE, game) == closed.hash
    (first, *_) = stage.bus.entries(streams.record(HOUSE, game))
    archive(keeper, closed)
    assert service.code() == 0
    assert {seat["agent"] for seat in unpack(first.body)["seats"] if seat.get("in_house")} == {"bruno"}
    # and a short seed is no secret from agents of others
    assert sum("found by trying all" in message for message in caplog.messages) == 1


def test_a_stranger_who_fills_the_door_with_nonsense_stops_nothing(stage):
    for sender in ("../../etc", "x" * 500, "", "ada"):
        stage.bus.post(streams.lobby(HOUSE), Entry(b"\xc1nonsense", "join", sender))
    agents, service = stage.guests(*FIVE), stage.moderate()
    stage.bus.post(streams.lobby(HOUSE), Entry(encode(agents[0].message()), "join", "bruno"))
    stage.bus.append(streams.outbox(HOUSE, "zz"), [Entry(b"\x00", "join", "zz", id="1-1")])
    assert service.result().error is None
    assert service.code() == 0


# -- seeds and results


def test_a_lone_game_has_the_sessions_seed_and_of_several_each_has_one_drawn_from_it_or_a_fresh_one():
    settings_of = partial(ModeratorSettings, "memory://none")
    assert settings_of(seed="7", games=1).seed_of(1) == "7"
    several = settings_of(seed="7", games=3)
    assert (several.seed_of(1), several.seed_of(3)) == (game_seed("7", 1), game_seed("7", 3))
    assert [settings_of(seed=seed).has_short_seed for seed in ("7", "0123456789abcdef", None)] == [True, False, False]
    assert len({settings_of().seed_of(number) for number in (1, 1, 2)}) == 3


@pytest.mark.parametrize(("seed", "text"), [("7", ", seed 7,"), ("ab" * 16, ", seed abab"), ("x" * 33, " s, digest")])
def test_a_result_tells_the_games_own_seed_in_words_if_it_is_short_and_always_as_json(seed, text):
    result = GameReport("s-1-2", 2, "villagers", 3, "ab" * 32, 1.5, seed)
    assert text in result.line()
    assert result.as_json()["seed"] == seed
