"""The protocol that a user's brain implements."""

from __future__ import annotations

from collections import Counter

import pytest

from players.brain import BaseBrain
from players.scripted import ScriptedBrain
from tests.players.table import CONFIGS, play
from wolfbus.agent.answer import Answer, reply_to
from wolfbus.messages.content import Ballot, Bid, Choice, Speech
from wolfbus.messages.requests import Ask
from wolfbus.view import SeatView
from wolfbus.vocabulary import KINDS, Kind


# a whole brain of a user's own
class Grudge(BaseBrain):
    """Speaks once a day and votes for whoever voted against it, else for the seat it trusts least."""

    quick = True

    def bid(self, ask: Ask, view: SeatView) -> Bid:
        return Bid(bid=5)

    def speak(self, ask: Ask, view: SeatView) -> Speech:
        return Speech(text=f"I have my eyes on {view.others[0]}.")

    def vote(self, ask: Ask, view: SeatView) -> Ballot:
        last = view.tallies.get(ask.round - 1, {})
        against = [voter for voter, target in last.items() if target == view.me and voter in view.others]
        least = max(view.others, key=lambda name: view.suspicion.of(view.me, name))
        return Ballot(target=against[0] if against else least, reason="You know why.")


def ask_of(kind: Kind, *legal: str | None) -> Ask:
    return Ask(id=f"g/1/night/1/{kind}/Ada", kind=kind, round=1, phase="night", turn=1, legal=legal, deadline_s=60.0)


def test_a_brain_of_twenty_lines_plays_and_leaves_the_rest_to_defaults():
    kinds = Counter[str]()

    class Careful(Grudge):
        def answer(self, ask: Ask, view: SeatView, /) -> Answer:
            given = super().answer(ask, view)
            kinds[ask.kind] += 1
            # the driver of this test takes usable answers only; a moderator takes the default for all others
            usable = given is not None and getattr(given, "content", given) is not None
            if usable and ask.kind != "whisper":
                return given if isinstance(given, Answer) else Answer(given)
            return ScriptedBrain().answer(ask, view)

    played = play("grudge", CONFIGS["paper"], (Careful, ScriptedBrain))
    assert played.ended
    assert kinds["speak"]
    texts = [event.text for event in played.events if event.type == "statement"]
    assert any(text.startswith("I have my eyes on") for text in texts)


def test_every_kind_has_a_conservative_default():
    view = SeatView(me="Ada")
    brain = BaseBrain()
    assert brain.answer(ask_of("bid"), view) == Bid(bid=0)
    assert brain.answer(ask_of("speak"), view) == Speech(text="")
    assert brain.answer(ask_of("vote", "Bruno", None), view) == Ballot(target=None)
    assert brain.answer(ask_of("kill", "Bruno", None), view) == Choice(target=None)
    for kind in ("assess_own", "assess_other", "kill", "protect", "inspect", "whisper"):
        given = brain.answer(ask_of(kind, "Bruno"), view)
        assert isinstance(given, Answer)
        assert given.content is None
        assert given.note


@pytest.mark.parametrize("kind", KINDS)
def test_every_default_closes_its_request(kind: Kind):
    given = BaseBrain().answer(ask_of(kind, "Bruno"), SeatView(me="Ada"))
    assert given is not None
    answer = given if isinstance(given, Answer) else Answer(given)
    assert reply_to("g", "Ada", ask_of(kind), answer)["kind"] == kind


def test_a_brain_is_slow_and_declines_nothing_unless_it_says_so():
    assert BaseBrain.quick is False
    assert BaseBrain.declines == ()
    assert ScriptedBrain.quick is True


def test_an_answer_is_a_value():
    assert Answer(Bid(bid=3), thought="now") == Answer(Bid(bid=3), thought="now")
    with pytest.raises(AttributeError):
        Answer(None).thought = "later"
