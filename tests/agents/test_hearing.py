"""What a seat knows and works on when it is caught up: the same as before, more, or another story."""

from __future__ import annotations

import time

import pytest

from tests.agents.parts import DAWN, GAME, SAID, ask, catch_up, part, seated, step
from wolfbus.agent.hearing import Hearing, SeatNews
from wolfbus.agent.outbox import ReplyWriter
from wolfbus.messages.codec import unpack
from wolfbus.messages.content import Bid, Judgement
from wolfbus.messages.events import AnsweredAssessOther, Dawn, Inspection, Statement
from wolfbus.messages.requests import Delivery, Public

OTHER = Statement(statement=1, round=1, phase="debate", turn=1, speaker="Bruno", text="As it stands in the record now.")


def news(delivery: Delivery) -> SeatNews:
    asked_at = time.monotonic() if delivery.type == "catch_up" else None
    return SeatNews(delivery.facts, delivery.seats[0] if delivery.seats else None, asked_at)


def informed() -> Hearing:
    """Return what a Seer knows in mid-game."""
    hearing = Hearing("Ada")
    hearing.hear(news(catch_up(told=(DAWN, SAID))))
    return hearing


def test_a_catch_up_that_is_known_or_goes_beyond_what_is_known_goes_on() -> None:
    hearing = informed()
    assert hearing.expect(news(catch_up()))
    assert hearing.expect(news(catch_up(told=(DAWN, SAID, Dawn(round=2)))))
    assert Hearing("Ada").expect(news(catch_up()))


@pytest.mark.parametrize("told", [(DAWN, OTHER), (DAWN,), (SAID, DAWN), (Dawn(round=1), SAID, SAID), ()])
def test_a_catch_up_with_other_facts_or_fewer_tells_another_story(told) -> None:
    assert not informed().expect(news(catch_up(told=told)))


def test_private_facts_count_as_well() -> None:
    def caught_up(*private) -> SeatNews:
        own = part(private=[seated(role="Seer"), *private], after=1)
        return SeatNews((Public(n=1, fact=DAWN),), own, asked_at=time.monotonic())

    hearing = Hearing("Ada")
    hearing.hear(caught_up(Inspection(round=1, seat="Ada", target="Bruno", role="Werewolf")))
    assert not hearing.expect(caught_up(Inspection(round=1, seat="Ada", target="Bruno", role="Villager")))
    assert not hearing.expect(caught_up())
    assert hearing.expect(caught_up(Inspection(round=1, seat="Ada", target="Bruno", role="Werewolf")))


def test_a_judgement_of_what_is_not_there_any_more_is_another_story() -> None:
    judged = AnsweredAssessOther(
        batch=1, seat="Ada", about=1,
        content=Judgement(deceptive=True, suspicion=0.9, confidence=1.0), outcome="accepted",
    )  # fmt: skip
    hearing = Hearing("Ada")
    first = catch_up(told=(SAID,))
    own = part(private=[seated(), judged], after=1)
    hearing.hear(SeatNews(first.facts, own, asked_at=time.monotonic()))
    assert hearing.expect(SeatNews(first.facts, own, asked_at=time.monotonic()))
    assert not hearing.expect(news(catch_up(told=(DAWN,))))


class Box(list[str]):
    def send(self, _game: str, body: bytes, _kind: str = "reply", /) -> None:
        self.append(unpack(body)["request"])


def test_only_what_a_catch_up_asks_is_answered_once_and_what_it_asks_again_once_more() -> None:
    hearing, box = informed(), Box()
    writer = ReplyWriter(GAME, "Ada", box, hearing.requests)
    one, two, three = (ask("bid", turn) for turn in (1, 2, 3))

    def heard(delivery: Delivery) -> tuple[str, ...]:
        return tuple(each.id for each in hearing.hear(news(delivery)))

    assert heard(step(one, two, three)) == (one.id, two.id, three.id)
    writer.answer(one, Bid(bid=1))
    again = catch_up(one, two)
    assert hearing.expect(news(again))
    # it comes while the catch-up waits for the brain: it is no second answer that is wanted
    writer.answer(two, Bid(bid=1))
    writer.answer(three, Bid(bid=1))
    assert box == [one.id, two.id]
    assert heard(again) == (one.id,)
    assert heard(step(two, three)) == (three.id,)
    assert not hearing.expect(news(catch_up(one, told=())))
    writer.answer(one, Bid(bid=1))
    writer.answer(three, Bid(bid=1))
    assert box == [one.id, two.id]


def test_an_answer_that_was_sent_after_the_join_is_on_its_way_and_not_given_again() -> None:
    before, after = ask("bid", turn=1), ask("bid", turn=2)
    hearing = informed()
    hearing.requests.take((before, after))
    hearing.requests.answered(before.id)
    joined = time.monotonic()
    hearing.requests.answered(after.id)
    hearing.requests.resume((before, after), joined)
    assert hearing.requests.take((before, after)) == (before,)
