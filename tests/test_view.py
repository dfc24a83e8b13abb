"""Who is told what, and what a seat makes of it."""

from __future__ import annotations

import random
from collections.abc import Iterable
from dataclasses import fields
from functools import cache
from typing import Any

import pytest

from tests.game.driver import play
from tests.record import synthetic
from wolfbus.errors import RulesError
from wolfbus.game.config import GameConfig
from wolfbus.game.draws import brain_seed
from wolfbus.knowledge.audience import AudienceFilter
from wolfbus.knowledge.view import SeatView
from wolfbus.messages.codec import plain
from wolfbus.messages.content import Proposal
from wolfbus.messages.events import (
    AnsweredAssessOther,
    AnsweredWhisper,
    AnyEvent,
    Ended,
    Exile,
    Inspection,
    Opened,
)
from wolfbus.messages.requests import Private, Public, Seated, Whispered

GAME = synthetic.small_game()
NAMES = synthetic.NAMES
PUBLIC_TYPES = {"statement", "silence", "tally", "exile", "dawn", "ended", "revealed"}


class Ear:
    """All that is told to one seat, in the order it was told; `n` is the event's place."""

    def __init__(self, seat: str, events: Iterable[AnyEvent]) -> None:
        audiences = AudienceFilter()
        self.public: list[Public] = []
        self.private: list[Private] = []
        self.order: list[Public | Private] = []
        for event in events:
            facts = audiences.feed(event)
            private = [news for name, news in facts.private if name == seat]
            self.public += facts.public
            self.private += private
            # within a step an agent hears public facts first
            self.order += [*facts.public, *private]


def hear(view: SeatView, news: Public | Private) -> bool:
    return view.hear_public(news) if isinstance(news, Public) else view.hear_private(news)


def follow(seat: str, events: Iterable[AnyEvent]) -> SeatView:
    view = SeatView(me=seat)
    for news in Ear(seat, events).order:
        assert hear(view, news)
    return view


def catch_up(seat: str, events: Iterable[AnyEvent]) -> SeatView:
    view, ear = SeatView(me=seat), Ear(seat, events)
    for news in [*ear.public, *ear.private]:
        hear(view, news)
    return view


def knowledge(view: SeatView) -> dict[str, Any]:
    values = {field.name: getattr(view, field.name) for field in fields(view) if field.name != "suspicion"}
    return {**values, "suspicion": view.suspicion.pairs(), "proposals": view.proposals()}


def everything_told(seat: str, events: Iterable[AnyEvent]) -> str:
    ear = Ear(seat, events)
    return "\n".join(repr(plain(news)) for news in ear.order)


def until(type_: type[AnyEvent]) -> list[AnyEvent]:
    """The events before the first of a type."""
    return GAME[: next(place for place, event in enumerate(GAME) if isinstance(event, type_))]


CONFIGS = {
    "eight": GameConfig(max_rounds=3),
    "thirteen": GameConfig(villagers=6, werewolves=3, seers=2, doctors=2, max_rounds=3, reveal_on_death="role"),
    "six": GameConfig(villagers=3, werewolves=1, max_rounds=3, reveal_on_death="team", overlap=False),
}


@cache
def played(name: str) -> list[AnyEvent]:
    return GAME if name == "by hand" else play(CONFIGS[name], seed="1").events


@pytest.fixture(params=["by hand", *CONFIGS])
def events(request: pytest.FixtureRequest) -> list[AnyEvent]:
    """A whole game: the one written by hand, and some played from a seed."""
    return played(request.param)


AUDIENCES = {
    "opened": "researchers",
    "asked": "researchers",
    "night_outcome": "researchers",
    "claim_truth": "researchers",
    "absent": "researchers",
    "returned": "researchers",
    "rejected": "researchers",
    "statement": "everybody",
    "silence": "everybody",
    "tally": "everybody",
    "exile": "everybody",
    "dawn": "everybody",
    "ended": "everybody",
}


class TestAudiences:
    def test_every_event_has_the_audience_of_its_type(self, events: list[AnyEvent]) -> None:
        audiences = AudienceFilter()
        for event in events:
            audience = audiences.audience(event)
            if event.type in {"inspection", "answered"}:
                assert audience == (event.seat,)
            else:
                assert audience == AUDIENCES[event.type]
            audiences.feed(event)


class TestNumbering:
    def test_a_private_fact_says_after_which_public_one_it_came(self) -> None:
        for seat in NAMES:
            last_public = 0
            for news in Ear(seat, GAME).order:
                if isinstance(news, Public):
                    last_public = news.n
                else:
                    assert news.after == last_public

    def test_repeats_are_harmless(self) -> None:
        for seat in NAMES:
            view = SeatView(me=seat)
            for news in Ear(seat, GAME).order:
                assert hear(view, news)
                before = knowledge(view)
                assert not hear(view, news)
                assert knowledge(view) == before
            for news in Ear(seat, GAME).order:
                assert not hear(view, news)
            assert knowledge(view) == knowledge(follow(seat, GAME))

    def test_gaps_are_refused_and_change_nothing(self) -> None:
        ear = Ear("Sia", GAME)
        for stream in (ear.public, ear.private):
            for place in range(1, len(stream) - 1):
                view = SeatView(me="Sia")
                for news in [*ear.public, *stream[:place]] if stream is ear.private else stream[:place]:
                    hear(view, news)
                before = knowledge(view)
                with pytest.raises(
                    RulesError, match=r"^Sia: (public|private) fact \d+ came after \d+; some are missing$"
                ):
                    hear(view, stream[place + 1])
                assert knowledge(view) == before

    def test_a_judgement_of_a_statement_that_was_never_told_is_passed_over(self) -> None:
        judged = next(fact for fact in Ear("Sia", GAME).private if isinstance(fact.fact, AnsweredAssessOther))
        stray = judged.fact.model_copy(update={"about": 99})
        view = catch_up("Sia", GAME)
        before = view.judgements.copy()
        assert view.hear_private(judged.model_copy(update={"n": view.private_known + 1, "fact": stray}))
        assert view.judgements == before

    def test_a_private_fact_before_its_public_ones_is_refused(self) -> None:
        ear, view = Ear("Sia", GAME), SeatView(me="Sia")
        view.hear_private(ear.private[0])
        view.hear_private(ear.private[1])
        with pytest.raises(RulesError, match="Sia: private fact 3 came before public fact 1; some are missing"):
            view.hear_private(ear.private[2])


class TestWhatASeatKnows:
    def test_its_seat_is_its_first_fact(self) -> None:
        seated = Ear("Wim", GAME).private[0].fact
        assert isinstance(seated, Seated)
        assert (seated.role, seated.partners, seated.names) == ("Werewolf", ("Wes",), NAMES)
        assert seated.brain_seed == brain_seed("CANARY-seed", "Wim")
        view = follow("Sia", GAME)
        assert (view.me, view.role, view.partners, view.names) == ("Sia", "Seer", (), NAMES)

    def test_what_was_hidden_is_revealed_only_after_the_end(self) -> None:
        for seat in NAMES:
            assert follow(seat, until(Ended)).revealed == {}
            view = follow(seat, GAME)
            assert view.revealed == synthetic.ROLES
            assert view.ended == GAME[-1]
        assert [news.fact.type for news in Ear("Vic", GAME).public][-2:] == ["ended", "revealed"]

    def test_wolves_hear_their_partners_proposals(self) -> None:
        assert follow("Wes", GAME).whispers == [
            Whispered(round=1, turn=1, seat="Wim", target="Vic", word="CANARY-word")
        ]
        assert follow("Wim", GAME).whispers == [Whispered(round=1, turn=1, seat="Wes", target="Sia", word="")]

    def test_a_dead_wolf_hears_no_more_whispers(self) -> None:
        night = [
            *GAME[: 1 + next(place for place, event in enumerate(GAME) if isinstance(event, Exile))],
            AnsweredWhisper(
                batch=9, seat="Wes", outcome="accepted", content=Proposal(target="Sia", word="CANARY-late")
            ),
        ]
        assert "CANARY-late" in everything_told("Wes", night)
        assert "CANARY-late" not in everything_told("Wim", night)

    def test_votes_are_sealed_until_all_are_opened(self) -> None:
        before = [event for event in GAME if event.type != "tally"]
        assert "Ballot" not in repr(follow("Doc", GAME).answers)
        assert follow("Doc", before).tallies == {}
        assert follow("Doc", GAME).tallies == {1: {"Wim": "Sia", "Wes": None, "Sia": "Wim", "Doc": "Wim", "Ève": "Wim"}}

    def test_the_dead_and_the_living(self) -> None:
        view = follow("Doc", GAME)
        assert view.dead == {"Vic": "night", "Wim": "exile"}
        assert view.living == ("Wes", "Sia", "Doc", "Ève")
        assert view.others == ("Wes", "Sia", "Ève")

    def test_rounds_go_on_with_the_exile_and_stop_with_the_end(self) -> None:
        assert follow("Doc", until(Exile)).round == 1
        assert follow("Doc", until(Ended)).round == 2
        assert follow("Doc", GAME).round == 2
        first_day = [*GAME[: 1 + GAME.index(next(e for e in GAME if isinstance(e, Exile)))]]
        assert follow("Doc", [*first_day, Ended(winner="villagers", reason="no_wolves_left", rounds=1)]).round == 1

    def test_protections_are_known_with_their_rounds(self) -> None:
        for view in (follow("Doc", GAME), catch_up("Doc", GAME)):
            assert view.protections == [(1, "Doc"), (2, "Ève")]

    def test_suspicion_is_the_seats_own_row(self) -> None:
        assert follow("Sia", GAME).suspicion.pairs() == {("Sia", "Wim"): pytest.approx(0.71)}
        assert follow("Doc", GAME).suspicion.pairs() == {}
        judged = follow("Sia", GAME).judgements[1]
        assert (judged.suspicion, judged.kind, judged.thought) == (0.8, "fabrication", "CANARY-seer-thought")
        assert follow("Doc", GAME).judgements == {}


class TestProposals:
    def test_a_wolf_knows_this_nights_proposals_its_own_included(self) -> None:
        expected = {"Wim": Proposal(target="Vic", word="CANARY-word"), "Wes": Proposal(target="Sia")}
        night = until(Exile)
        for wolf in ("Wim", "Wes"):
            assert follow(wolf, night).proposals() == catch_up(wolf, night).proposals() == expected

    def test_last_nights_proposals_are_forgotten(self) -> None:
        for wolf in ("Wim", "Wes"):
            assert follow(wolf, GAME).proposals() == catch_up(wolf, GAME).proposals() == {}


def test_a_catch_up_at_any_moment_gives_the_view_of_who_was_there_all_along(events: list[AnyEvent]) -> None:
    assert isinstance(events[0], Opened)
    shuffler = random.Random(7)
    for end in sorted({1, 2, len(events), *shuffler.sample(range(1, len(events)), 6)}):
        for seat in events[0].seats[:: 1 if events is GAME else 3]:
            present = knowledge(follow(seat.name, events[:end]))
            assert knowledge(catch_up(seat.name, events[:end])) == present


def test_late_facts_beside_a_catch_up_change_nothing(events: list[AnyEvent]) -> None:
    assert isinstance(events[0], Opened)
    seat = events[0].seats[0].name
    ear, half = Ear(seat, events), len(events) // 2
    view = follow(seat, events[:half])
    for news in [*ear.public, *ear.private]:
        hear(view, news)
    assert knowledge(view) == knowledge(follow(seat, events))


def test_in_whole_games_no_seat_learns_a_role_that_is_not_its_to_know(events: list[AnyEvent]) -> None:
    opened = events[0]
    assert isinstance(opened, Opened)
    assert isinstance(events[-1], Ended)
    roles = {seat.name: seat.role for seat in opened.seats}
    wolves = {name for name, role in roles.items() if role == "Werewolf"}
    for seat, role in roles.items():
        view = follow(seat, events[:-1])
        assert set(view.partners) == (wolves - {seat} if seat in wolves else set())
        assert all(roles[name] == seen for name, seen in view.inspections.items())
        assert not view.inspections or role == "Seer"
        assert not view.whispers or seat in wolves
        assert {whisper.seat for whisper in view.whispers} <= wolves - {seat}
        if opened.config.reveal_on_death == "none":
            assert view.revealed == {}
        else:
            assert set(view.revealed) == set(view.dead)
        for fact in view.public:
            assert fact.type in PUBLIC_TYPES
        private = [news.fact for news in Ear(seat, events[:-1]).private]
        assert all(fact.seat == seat for fact in private if isinstance(fact, Inspection) or fact.type == "answered")
