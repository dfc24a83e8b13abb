"""What a moderator decides, without a bus: who is here, who sits where, what is missing, what is cut away."""

from __future__ import annotations

import itertools
from types import SimpleNamespace

import pytest
from pydantic import ValidationError

from moderator.engine.context import HouseContext
from moderator.engine.seating import Offer, seat_agents, seat_brains
from moderator.house.housekeeping import Cap, Chores, Count, Trim, tidy_house, tidy_mailbox
from moderator.house.lobby import Complaints, Lobby
from moderator.house.roster import AGENTS_AT_MOST, UNREAD_AT_MOST, Roster
from moderator.house.session import Seeds
from moderator.house.settings import Agenda, AgendaItem, GameReport
from moderator.house.waiting import WaitingNotice, brains_line, cover, waiting_line
from wolfbus.bus import streams
from wolfbus.bus.memory import MemoryBus
from wolfbus.bus.protocol import Entry
from wolfbus.cli.options import load_config
from wolfbus.draws import game_seed
from wolfbus.errors import ConfigError
from wolfbus.messages.codec import encode, pack, plain
from wolfbus.messages.house import Join


def context_of(bus):
    """A house of which only name, bus and clock are used."""
    return HouseContext("main", 1, bus, *[None] * 4)


def join(agent, instance="1", **other):
    return Join(agent=agent, instance=instance, version="test 1", **{"brain": "scripted", **other})


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


def test_who_sits_where_depends_on_the_seed_and_not_on_who_came_first():
    offers = {name: Offer(1) for name in "abcdefgh"}
    seats = seat_agents(8, offers, "7")
    assert sorted(filter(None, seats)) == sorted(offers)
    assert seat_agents(8, dict(reversed(offers.items())), "7") == seats
    assert seat_agents(8, offers, "8") != seats


BRAINS = ("scripted", "mini", "scripted", "mini", "scripted")
PLAYS = {"ann": "scripted", "bea": "mini", "cleo": "mini", "dan": "scripted"}.__getitem__


def test_where_every_seat_asks_for_a_brain_somebody_with_that_sits_as_the_seed_draws():
    offers = {"ann": Offer(9), "bea": Offer(1), "cleo": Offer(9), "dan": Offer(1)}
    seats = seat_brains(BRAINS, offers, PLAYS, "7")
    assert [PLAYS(agent) for agent in seats if agent] == list(BRAINS)
    assert seat_brains(BRAINS, dict(reversed(offers.items())), PLAYS, "7") == seats
    assert len({seat_brains(BRAINS, offers, PLAYS, str(seed)) for seed in range(20)}) > 1
    # places are asked for among those of the own brain
    offers = {"ann": Offer(3), "bea": Offer(2, (2,)), "cleo": Offer(2, (2, 4)), "dan": Offer(1, (2, 5))}
    assert seat_brains(BRAINS, offers, PLAYS, "7") == ("ann", "bea", "ann", "cleo", "dan")
    # nobody else's place may be taken, though it is free
    assert seat_brains(BRAINS, {"bea": Offer(1, (1,))}, PLAYS, "7") == (None,) * 5


def test_an_agenda_hands_out_in_order_what_is_not_begun_until_all_is_over():
    agenda = Agenda("s2", ["s1"], lambda _: False, lambda _: None)
    assert [agenda.is_ours(session) for session in ("s1", "s2", "s3")] == [True, True, False]
    games = [AgendaItem(game, "7", None) for game in ("a", "b")]
    begun = set()
    for game in games:
        agenda.ask(game)
    for game in games:
        assert agenda.next(begun.__contains__) == game
        begun.add(game.game)
    agenda.close()
    for game in games:
        assert not agenda.over
        agenda.strike(game.game)
    assert agenda.over
    assert agenda.next(begun.__contains__) is None


# -- what is missing


def test_the_line_says_who_covers_seats_which_places_are_free_and_who_waits_for_anothers():
    offers = {name: Offer(1, (place,)) for place, name in enumerate("abcdefgh", 1) if place not in {3, 5}}
    assert waiting_line(cover(8, offers)) == (
        "waiting for agents: 6 of 8 seats covered by a, b, d, f, g and h; places 3 and 5 are free; 2 seats missing"
    )
    line = waiting_line(cover(8, {"ada": Offer(1, (3,)), "bruno": Offer(1, (3,)), "chloe": Offer(2)}), archivist=True)
    assert line == (
        "waiting for agents: 3 of 8 seats covered by ada and chloe; bruno waits for place 3, which ada asked for too; "
        "5 seats missing; an analytics service is missing"
    )


def test_the_line_names_the_brains_that_nobody_plays():
    brains, offers = (*BRAINS, "evil\nbrain"), {"ann": Offer(2), "bea": Offer(1)}
    line = brains_line(brains, seat_brains(brains, offers, PLAYS, "7"), offers, PLAYS)
    assert line.startswith("waiting for agents: 3 of 6 seats covered; 1 seat of evil")
    assert "1 seat of mini, 1 seat of scripted missing" in line
    assert "\n" not in line
    lone = brains_line(("mini",), (None,), {"ann": Offer(2)}, PLAYS, ["bea"])
    assert "here, but not asked for: scripted; bea must first read" in lone


def test_a_line_is_said_when_it_changes_and_else_ever_more_rarely():
    patience = WaitingNotice(None)
    said = [second for second in range(7200) if patience.due("2 missing", float(second))]
    assert said[:6] == [0, 10, 30, 70, 150, 310]
    assert {later - sooner for sooner, later in itertools.pairwise(said[8:])} == {600}
    # another line is said at once, and then again soon
    assert patience.due("1 missing", 7200.0)
    assert patience.due("1 missing", 7210.0)
    short = WaitingNotice(12.0)
    assert short.due("2 missing", 100.0)
    assert [short.spent(at) for at in (111.0, 112.0)] == [False, True]
    short.end()
    assert not short.spent(200.0)


# -- who is here


@pytest.fixture
def roster():
    roster = Roster(8, 5.0)
    roster.note(join("ada"), 100.0)
    return roster


def test_an_agent_is_away_after_three_heartbeats_without_a_word_and_back_with_the_next(roster):
    assert roster.note(join("ada"), 105.0) == "again"
    assert roster.offers(119.9) == {"ada": Offer(1)}
    assert roster.offers(120.1) == {}
    roster.note(join("ada"), 121.0)
    assert roster.offers(121.0) == {"ada": Offer(1)}


def test_a_new_start_of_an_agent_or_another_brain_is_new_and_only_that_start_can_leave(roster):
    assert roster.note(join("ada", seats=3), 101.0) == "again"
    assert roster.note(join("ada", brain="another"), 101.0) == "new"
    assert roster.note(join("ada", "2"), 101.0) == "new"
    assert not roster.leave("ada", "1")
    assert roster.is_present("ada", 101.0)
    assert roster.leave("ada", "2")
    assert not roster.is_present("ada", 101.0)


def test_seats_are_not_offered_in_two_games_nor_by_who_does_not_read_or_lost_its_ticket(roster):
    roster.note(join("ada", seats=5), 100.0)
    roster.sit_down("g-1", ["ada", "ada", "bruno"])
    assert roster.offers(100.0) == {"ada": Offer(3)}
    roster.note(join("ada", seats=0), 100.0)
    assert roster.offers(100.0) == {}
    roster.note(join("ada", seats=2), 100.0)
    roster.rise("g-1")
    assert roster.offers(100.0) == {"ada": Offer(2)}
    roster.count_unread("ada", UNREAD_AT_MOST + 1)
    roster.count_unread("unknown", 3)
    assert (roster.offers(100.0), roster.lagging(100.0)) == ({}, ("ada",))
    roster.count_unread("ada", 3)
    assert roster.offers(100.0) == {"ada": Offer(2)}
    roster.tickets = {}
    assert roster.offers(100.0) == {}


@pytest.mark.parametrize(
    ("tickets", "agent", "said", "reason"),
    [
        (None, "bruno", join("ada"), "this is the stream of bruno; ada cannot join on it"),
        ({"ada": "agent"}, "eve", join("eve"), "open to holders of a ticket only"),
        (None, "ada", join("ada", "2", service="analytics"), "ada is known here as a player service"),
        (None, "bruno", join("bruno", places=(9, 12)), "it asks for seat 9 and 12, but games here have 8 seats"),
    ],
)
def test_who_is_not_let_in_is_told_why(roster, tickets, agent, said, reason):
    roster.tickets = tickets
    assert reason in roster.refusal(agent, said, 101.0)


def test_what_somebody_is_follows_from_the_ticket_and_not_from_what_it_says():
    roster = Roster(8, 5.0, tickets={"ada": "agent", "own": "player", "keeper": "analytics"})
    for name in ("ada", "own"):
        assert roster.refusal(name, join(name), 100.0) is None
        assert roster.refusal(name, join(name, service="analytics"), 100.0) == (
            f"the ticket of {name} is for an agent; it cannot join as an analytics service"
        )
        roster.note(join(name, in_house=True), 100.0)
    assert roster.refusal("keeper", join("keeper", service="analytics"), 100.0) is None
    assert "plays no seats" in (roster.refusal("keeper", join("keeper"), 100.0) or "")
    assert (roster.taker("ada").in_house, roster.taker("own").in_house) == (False, True)
    assert [roster.brain(join(name)) for name in ("ada", "own")] == ["outside:ada", "scripted"]
    # a ticket that is for something else now counts at once
    roster.note(join("keeper", service="analytics"), 100.0)
    roster.tickets = {"ada": "analytics", "keeper": "agent"}
    assert roster.present(100.0, "player") == roster.present(100.0, "analytics") == ()
    # without tickets there is only everybody's word
    roster.tickets = None
    assert roster.taker("ada").in_house
    assert roster.brain(join("ada")) == "scripted"


def test_a_full_house_takes_nobody_until_somebody_is_away():
    roster = Roster(8, 5.0)
    for number in range(AGENTS_AT_MOST):
        roster.note(join(f"a-{number}"), 100.0 + number / AGENTS_AT_MOST)
    assert "the house is full" in (roster.refusal("late", join("late"), 101.0) or "")
    roster.forget(115.5)
    assert roster.refusal("late", join("late"), 115.5) is None


# -- the session's seeds


def test_a_lone_game_has_the_sessions_seed_and_of_several_each_has_one_drawn_from_it_or_a_fresh_one():
    assert Seeds("7", alone=True).of(1) == "7"
    seeds = Seeds("7")
    assert (seeds.of(1), seeds.of(3), seeds.short) == (game_seed("7", 1), game_seed("7", 3), True)
    assert not Seeds("0123456789abcdef").short
    assert len({Seeds().of(1), Seeds().of(1), Seeds().of(2)}) == 3


@pytest.mark.parametrize(("seed", "shown"), [("7", ", seed 7,"), ("ab" * 16, ", seed abab"), ("x" * 33, " s, digest")])
def test_a_result_tells_the_games_own_seed_in_words_if_it_is_short_and_always_as_json(seed, shown):
    result = GameReport("s-1-2", 2, "villagers", 3, "ab" * 32, 1.5, seed)
    assert shown in result.line()
    assert result.as_json()["seed"] == seed


# -- what agents do wrong


def test_a_flood_of_nonsense_from_one_agent_is_one_line_a_minute_with_a_count(caplog):
    complaints = Complaints()
    for number in range(50):
        complaints.make("mallory", f"nonsense {number}", 100.0 + number)
    complaints.make("eve", "nonsense of eve", 120.0)
    complaints.sum_up(159.0)
    assert caplog.messages == ["nonsense 0", "nonsense of eve"]
    complaints.sum_up(160.0)
    complaints.make("mallory", "nonsense 50", 170.0)
    complaints.make("mallory", "nonsense 51", 221.0)
    assert caplog.messages[2:] == [
        "mallory: 49 more messages were not taken",
        "nonsense 51 (and 1 more not taken since the last such line)",
    ]
    for number in range(3000):
        complaints.make(f"name-{number}", "nonsense", 222.0)
    assert len(complaints._said) == 2000


def test_a_message_to_the_house_that_is_too_big_is_dropped_unread(caplog):
    told = []
    mail = SimpleNamespace(
        listen=lambda agent, _after=None: told.append(f"listen {agent}"),
        joined=lambda agent, _offered=None: told.append(f"joined {agent}"),
        tell=lambda posts: told.extend(f"tell {agent} {message.type}" for agent, message in posts),
    )
    door = Lobby(context_of(MemoryBus()), mail, Roster(8, 5.0), lambda *_: None, lambda *_: None)
    big = pack({**plain(join("ada")), "brain": "b" * 70_000})
    door.knock(Entry(big, "join", "ada"))
    assert told == []
    door.knock(Entry(encode(join("ada")), "join", "ada"))
    for number in (1, 2, 3):
        door.hear("ada", Entry(big, "join", "ada", id=f"1-{number}"))
    assert told == ["listen ada"]
    assert caplog.messages == [f"a message of ada has {len(big)} bytes; at most 64000 are read"]
    # what comes behind it is heard
    door.hear("ada", Entry(encode(join("ada")), "join", "ada", id="1-4"))
    assert told == ["listen ada", "tell ada welcome", "joined ada"]


@pytest.mark.parametrize("said", [{"declines": ("bid",) * 12}, {"places": (1,) * 17}])
def test_a_join_lists_no_more_than_there_can_be(said):
    with pytest.raises(ValidationError, match="too_long"):
        join("ada", **said)


def test_a_config_file_may_hold_a_table_of_agents_and_nothing_that_nobody_knows(tmp_path):
    file = tmp_path / "rules.toml"
    file.write_text('max_rounds = 2\n[agents]\nada = "anything"\n[agents.bruno]\nplaces = [1]\n', "utf-8")
    assert load_config(file).config.max_rounds == 2
    for unknown in ("agents = 3\n", "[agent]\n", "[anything]\n"):
        file.write_text(unknown, "utf-8")
        with pytest.raises(ConfigError, match=str(file)):
            load_config(file)


def test_housekeeping_cuts_behind_what_was_dealt_with_and_never_the_running_session():
    box = streams.inbox("main", "ada")
    assert tidy_mailbox("main", "ada", "3-7") == [Trim(box, "3-7"), Count(box, "ada")]
    assert tidy_mailbox("main", "ada", None) == tidy_mailbox("main", "ada", "no id") == []
    chores = Chores(["bruno", "ada"], {streams.outbox("main", "ada"): "9-1"}, 2500)
    assert tidy_house("main", chores, 100) == [
        Cap(box, 100),
        Cap(streams.inbox("main", "bruno"), 100),
        Trim(streams.outbox("main", "ada"), "9-1"),
        Cap(streams.lobby("main"), 1000),
        Cap(streams.games("main"), 2500),
    ]
