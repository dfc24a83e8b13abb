"""What a moderator decides, without a bus: who is here, who sits where, what is missing, what is cut away."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from moderator.engine.context import HouseContext
from moderator.engine.seating import Offer, Taker, reserved, seat_agents
from moderator.house.housekeeping import Cap, Chores, Count, Trim, tidy_house, tidy_mailbox
from moderator.house.lobby import Complaints, Lobby
from moderator.house.roster import AGENTS_AT_MOST, UNREAD_AT_MOST, Roster
from moderator.house.session import HouseSession, Seeds
from moderator.house.settings import GameReport
from moderator.house.waiting import WaitingNotice, cover, waiting_line
from wolfbus.bus import streams
from wolfbus.bus.memory import MemoryBus
from wolfbus.bus.protocol import Entry
from wolfbus.cli.options import load_config
from wolfbus.draws import game_seed
from wolfbus.errors import ConfigError
from wolfbus.messages.base import Part
from wolfbus.messages.codec import encode, pack, plain
from wolfbus.messages.house import GameClosed, GameOpened, HouseClosed, HouseOpened, Join


def context_of(bus: MemoryBus) -> HouseContext:
    """A house of which only name, bus and clock are used."""
    return HouseContext("main", 1, bus, *[None] * 4)  # type: ignore[arg-type]


def join(agent: str, instance: str = "1", **other: Any) -> Join:
    return Join(agent=agent, instance=instance, version="test 1", **{"brain": "scripted", **other})


# -- who sits where


def test_who_sits_where_depends_on_the_seed_and_not_on_who_came_first() -> None:
    offers = {name: Offer(1) for name in "abcdefgh"}
    seats = seat_agents(8, offers, "7")
    assert sorted(filter(None, seats)) == sorted(offers)
    assert seat_agents(8, dict(reversed(offers.items())), "7") == seats
    assert seat_agents(8, offers, "8") != seats


def test_an_agent_sits_only_where_it_asked_to_and_first_by_name_is_served_first() -> None:
    offers = {"bruno": Offer(1, (3,)), "ada": Offer(1, (3,)), "chloe": Offer(8)}
    seats = seat_agents(5, offers, "7")
    assert seats == ("chloe", "chloe", "ada", "chloe", "chloe")


def test_an_agent_moves_to_another_place_it_asked_for_if_that_lets_a_later_one_sit() -> None:
    assert reserved(5, {"ada": Offer(1, (1, 2)), "bruno": Offer(1, (1,))}) == {1: "bruno", 2: "ada"}


def test_an_agent_gets_no_more_of_its_places_than_it_can_play() -> None:
    assert reserved(5, {"ada": Offer(2, (1, 2, 3, 9))}) == {1: "ada", 2: "ada"}


def test_where_nobody_is_left_to_sit_there_is_nobody() -> None:
    assert seat_agents(5, {"ada": Offer(1, (2,))}, "7") == (None, "ada", None, None, None)


# -- what is missing


def test_the_line_says_who_covers_seats_and_which_places_are_free() -> None:
    offers = {name: Offer(1, (place,)) for place, name in enumerate("abcdefgh", 1) if place not in {3, 5}}
    assert waiting_line(cover(8, offers)) == (
        "waiting for agents: 6 of 8 seats covered by a, b, d, f, g and h; places 3 and 5 are free; 2 seats missing"
    )


def test_the_line_says_who_waits_for_a_place_that_another_asked_for() -> None:
    line = waiting_line(cover(8, {"ada": Offer(1, (3,)), "bruno": Offer(1, (3,)), "chloe": Offer(2)}), archivist=True)
    assert line == (
        "waiting for agents: 3 of 8 seats covered by ada and chloe; bruno waits for place 3, which ada asked for too; "
        "5 seats missing; an analytics service is missing"
    )


def test_a_line_that_does_not_change_is_said_again_ever_more_rarely() -> None:
    patience = WaitingNotice(None)
    said = [second for second in range(7200) if patience.due("2 missing", float(second))]
    assert said[:6] == [0, 10, 30, 70, 150, 310]
    assert {later - sooner for sooner, later in itertools.pairwise(said[8:])} == {600}
    # another line is said at once, and then again soon
    assert patience.due("1 missing", 7200.0)
    assert patience.due("1 missing", 7210.0)


def test_a_line_is_said_when_it_changes_and_else_after_ten_seconds() -> None:
    patience = WaitingNotice(12.0)
    assert patience.due("2 missing", 100.0)
    assert not patience.due("2 missing", 105.0)
    assert patience.due("1 missing", 106.0)
    assert not patience.spent(111.0)
    assert patience.due("1 missing", 116.0)
    assert patience.spent(112.0)
    patience.end()
    assert not patience.spent(200.0)


# -- who is here


def test_an_agent_is_away_after_three_heartbeats_without_a_word_and_back_with_the_next() -> None:
    roster = Roster(8, 5.0)
    assert roster.note(join("ada"), 100.0) == "new"
    assert roster.note(join("ada"), 105.0) == "again"
    assert roster.offers(119.9) == {"ada": Offer(1)}
    assert roster.offers(120.1) == {}
    roster.note(join("ada"), 121.0)
    assert roster.offers(121.0) == {"ada": Offer(1)}


def test_an_agent_whose_ticket_was_taken_back_is_not_seated() -> None:
    roster = Roster(8, 5.0, tickets={"ada": "agent"})
    roster.note(join("ada"), 100.0)
    roster.tickets = {}
    assert roster.offers(100.0) == {}


def test_a_new_start_of_an_agent_is_new_and_only_that_start_can_leave() -> None:
    roster = Roster(8, 5.0)
    roster.note(join("ada"), 100.0)
    assert roster.note(join("ada", "2"), 101.0) == "new"
    assert not roster.leave("ada", "1")
    assert roster.is_present("ada", 101.0)
    assert roster.leave("ada", "2")
    assert not roster.is_present("ada", 101.0)


def test_seats_of_games_under_way_are_not_offered_again() -> None:
    roster = Roster(8, 5.0)
    roster.note(join("ada", seats=5), 100.0)
    roster.sit_down("g-1", ["ada", "ada", "bruno"])
    assert roster.offers(100.0) == {"ada": Offer(3)}
    roster.note(join("ada", seats=0), 100.0)
    assert roster.offers(100.0) == {}
    roster.note(join("ada", seats=2), 100.0)
    roster.rise("g-1")
    assert roster.offers(100.0) == {"ada": Offer(2)}


def test_an_agent_that_does_not_read_gets_no_new_games_until_it_has() -> None:
    roster = Roster(8, 5.0)
    roster.note(join("ada"), 100.0)
    roster.count_unread("ada", UNREAD_AT_MOST + 1)
    roster.count_unread("unknown", 3)
    assert roster.offers(100.0) == {}
    assert roster.lagging(100.0) == ("ada",)
    roster.count_unread("ada", 3)
    assert roster.offers(100.0) == {"ada": Offer(1)}


@pytest.mark.parametrize(
    ("agent", "said", "reason"),
    [
        ("bruno", join("ada"), "this is the stream of bruno; ada cannot join on it"),
        ("eve", join("eve"), "open to holders of a ticket only"),
        ("own", join("own", "2", service="analytics"), "own is known here as a player service"),
        ("bruno", join("bruno", places=(9, 12)), "it asks for seat 9 and 12, but games here have 8 seats"),
    ],
)
def test_who_is_not_let_in_is_told_why(agent: str, said: Join, reason: str) -> None:
    roster = Roster(8, 5.0, tickets={"ada": "agent", "bruno": "agent"} if agent != "own" else None)
    roster.note(join("own" if agent == "own" else "ada"), 100.0)
    assert reason in (roster.refusal(agent, said, 101.0) or "")


def test_what_somebody_is_follows_from_the_ticket_and_not_from_what_it_says() -> None:
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
    # a ticket that is for something else now counts at once
    roster.note(join("keeper", service="analytics"), 100.0)
    roster.tickets = {"ada": "analytics", "keeper": "agent"}
    assert roster.present(100.0, "player") == roster.present(100.0, "analytics") == ()
    # without tickets there is only everybody's word
    roster.tickets = None
    assert roster.taker("ada").in_house


def test_who_says_otherwise_than_before_who_answers_counts_as_new() -> None:
    roster = Roster(8, 5.0)
    roster.note(join("ada"), 100.0)
    assert roster.note(join("ada", seats=3), 101.0) == "again"
    assert roster.note(join("ada", brain="another"), 102.0) == "new"


def test_a_full_house_takes_nobody_until_somebody_is_away() -> None:
    roster = Roster(8, 5.0)
    for number in range(AGENTS_AT_MOST):
        roster.note(join(f"a-{number}"), 100.0 + number / AGENTS_AT_MOST)
    assert "the house is full" in (roster.refusal("late", join("late"), 101.0) or "")
    roster.forget(115.5)
    assert roster.refusal("late", join("late"), 115.5) is None


# -- the session


def fold(*news: Part) -> HouseSession:
    session = HouseSession()
    for number, one in enumerate(news, 1):
        session.feed(Entry(encode(one), "", "moderator", id=f"1-{number}"))
    return session


def closed(game: str, number: int, outcome: Any = "ended") -> GameClosed:
    return GameClosed(game=game, number=number, outcome=outcome, lines=3, hash="ab")


def test_a_session_is_what_its_stream_says() -> None:
    session = fold(
        HouseOpened(session="s-1"),
        GameOpened(game="s-1-1", number=1),
        closed("s-1-1", 1),
        HouseClosed(session="s-1", games=1, failed=0),
        HouseOpened(session="s-2"),
        GameOpened(game="s-2-1", number=1),
        GameOpened(game="s-2-2", number=2),
        closed("s-2-1", 1, "failed"),
    )
    assert (session.name, session.running, session.games, session.failed) == ("s-2", True, 2, 1)
    assert session.under_way == {"s-2-2": 2}
    assert (list(session.closed), list(session.earlier)) == (["s-2-1"], ["s-1-1"])
    assert session.news == 4


def test_a_lone_game_has_the_sessions_seed_and_of_several_each_has_one_drawn_from_it_or_a_fresh_one() -> None:
    assert Seeds("7", alone=True).of(1) == "7"
    seeds = Seeds("7")
    assert (seeds.of(1), seeds.of(3)) == (game_seed("7", 1), game_seed("7", 3))
    assert seeds.short
    assert not Seeds("0123456789abcdef").short
    assert len({Seeds().of(1), Seeds().of(1), Seeds().of(2)}) == 3


@pytest.mark.parametrize(("seed", "shown"), [("7", ", seed 7,"), ("ab" * 16, ", seed abab"), ("x" * 33, " s, digest")])
def test_a_result_tells_the_games_own_seed_in_words_if_it_is_short_and_always_as_json(seed: str, shown: str) -> None:
    result = GameReport("s-1-2", 2, "villagers", 3, "ab" * 32, 1.5, seed)
    assert shown in result.line()
    assert result.as_json()["seed"] == seed


# -- what agents do wrong


def test_a_flood_of_nonsense_from_one_agent_is_one_line_a_minute_with_a_count(caplog: pytest.LogCaptureFixture) -> None:
    complaints = Complaints()
    for number in range(50):
        complaints.make("mallory", f"nonsense {number}", 100.0 + number)
    complaints.make("eve", "nonsense of eve", 120.0)
    assert caplog.messages == ["nonsense 0", "nonsense of eve"]
    complaints.sum_up(159.0)
    assert len(caplog.messages) == 2
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


def test_a_message_to_the_house_that_is_too_big_is_dropped_unread(caplog: pytest.LogCaptureFixture) -> None:
    told: list[str] = []
    mail = Mail(told)
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


class Mail:
    """Writes down what the door does."""

    def __init__(self, told: list[str]) -> None:
        self._told = told

    def listen(self, agent: str, after: str | None = None) -> None:
        self._told.append(f"listen {agent}")

    def joined(self, agent: str, offered: Taker | None = None) -> None:
        self._told.append(f"joined {agent}")

    def tell(self, posts: Sequence[tuple[str, Part]]) -> None:
        self._told.extend(f"tell {agent} {getattr(message, 'type', '')}" for agent, message in posts)


@pytest.mark.parametrize("said", [{"declines": ("bid",) * 12}, {"places": (1,) * 17}])
def test_a_join_lists_no_more_than_there_can_be(said: dict[str, Any]) -> None:
    with pytest.raises(ValidationError, match="too_long"):
        join("ada", **said)


# -- the rules


def test_a_config_file_may_hold_a_table_of_agents_and_nothing_that_nobody_knows(tmp_path: Path) -> None:
    file = tmp_path / "rules.toml"
    file.write_text('max_rounds = 2\n[agents]\nada = "anything"\n[agents.bruno]\nplaces = [1]\n', "utf-8")
    assert load_config(file).config.max_rounds == 2
    for unknown in ("agents = 3\n", "[agent]\n", "[anything]\n"):
        file.write_text(unknown, "utf-8")
        with pytest.raises(ConfigError, match=str(file)):
            load_config(file)


# -- housekeeping


def test_housekeeping_cuts_behind_what_was_dealt_with_and_never_the_running_session() -> None:
    box = streams.inbox("main", "ada")
    assert tidy_mailbox("main", "ada", "3-7") == [Trim(box, "3-7"), Count(box, "ada")]
    assert tidy_mailbox("main", "ada", None) == []
    assert tidy_mailbox("main", "ada", "no id") == []
    chores = Chores(["bruno", "ada"], {streams.outbox("main", "ada"): "9-1"}, 2500)
    assert tidy_house("main", chores, 100) == [
        Cap(box, 100),
        Cap(streams.inbox("main", "bruno"), 100),
        Trim(streams.outbox("main", "ada"), "9-1"),
        Cap(streams.lobby("main"), 1000),
        Cap(streams.games("main"), 2500),
    ]
