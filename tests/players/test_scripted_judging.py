"""The mock analyser: fixed rules from text cues and from what the observer knows."""

from __future__ import annotations

import pytest

from players.scripted import ScriptedBrain
from tests.llm.tables import tables
from wolfbus.config import GameConfig
from wolfbus.messages.content import Judgement
from wolfbus.messages.events import AnsweredAssessOther, Dawn, Inspection, Statement
from wolfbus.messages.requests import Ask, Private, Public, PublicFact, Seated
from wolfbus.view import SeatView
from wolfbus.vocabulary import Role

TABLES = tables(__file__)

NAMES = ("Ada", "Bruno", "Chloe", "Dario", "Esther", "Felix", "Greta", "Hugo")


class Observer:
    """One seat's view, built fact by fact."""

    def __init__(self, role: Role = "Villager", me: str = "Ada", partners: tuple[str, ...] = (), seed: str = "seed"):
        self.view = SeatView(me=me)
        self._private = 0
        self._statements = 0
        self.private(
            Seated(
                game="g", seat=me, role=role, partners=partners, names=NAMES, config=GameConfig(), brain="scripted",
                brain_seed=seed,
            )
        )  # fmt: skip
        self.public(Dawn(round=1, died=None))

    def private(self, fact: Seated | Inspection | AnsweredAssessOther) -> None:
        self._private += 1
        self.view.hear_private(Private(n=self._private, after=len(self.view.public), fact=fact))

    def public(self, fact: PublicFact) -> None:
        self.view.hear_public(Public(n=len(self.view.public) + 1, fact=fact))

    def inspected(self, target: str, role: Role) -> Observer:
        self.private(Inspection(round=1, seat=self.view.me, target=target, role=role))
        return self

    def hears(self, speaker: str, text: str) -> int:
        self._statements += 1
        self.public(
            Statement(
                statement=self._statements, round=1, phase="debate", turn=self._statements, speaker=speaker, text=text
            )
        )
        return self._statements

    def judges(self, speaker: str, text: str) -> Judgement:
        number = self.hears(speaker, text)
        ask = Ask(id="g", kind="assess_other", round=1, phase="debate", turn=number, about=number, deadline_s=60.0)
        answer = ScriptedBrain().answer(ask, self.view)
        content = getattr(answer, "content", None)
        assert isinstance(content, Judgement)
        return content

    def judged(self, about: int, suspicion: float) -> Observer:
        content = Judgement(deceptive=suspicion >= 0.5, suspicion=suspicion, confidence=0.5)
        self.private(AnsweredAssessOther(batch=1, seat=self.view.me, about=about, outcome="accepted", content=content))
        return self


def suspicion(text: str, role: Role = "Villager", **more: object) -> float:
    return Observer(role, **more).judges("Hugo", text).suspicion


PLAIN = "Good to see you all at the table."


@pytest.mark.parametrize(
    ("text", "more_suspicious"),
    TABLES["a_cue_moves_suspicion_its_way"],
)
def test_a_cue_moves_suspicion_its_way(text: str, more_suspicious: bool):
    plain = suspicion(PLAIN)
    assert (suspicion(text) > plain) is more_suspicious
    assert suspicion(text) != plain


def test_the_seer_does_not_believe_another_seer():
    judgement = Observer("Seer").judges("Hugo", "I am the Seer. I inspected Chloe: a Werewolf.")
    assert judgement.suspicion > 0.8
    assert judgement.kind == "fabrication"


def test_a_report_against_what_the_observer_knows_is_a_fabrication():
    assert suspicion("I am the Seer. I inspected Ada and saw a Werewolf.") > 0.8
    seer = Observer("Seer").inspected("Chloe", "Villager")
    assert seer.judges("Hugo", "I inspected Chloe and saw a Werewolf.").kind == "fabrication"


def test_a_known_wolf_is_not_believed_whatever_it_says():
    seer = Observer("Seer").inspected("Hugo", "Werewolf")
    assert seer.judges("Hugo", PLAIN).suspicion > 0.5
    assert seer.judges("Hugo", "Let us exile Ada.").suspicion > 0.75


def test_who_changes_sides_is_doubted():
    steady, turncoat = Observer(), Observer()
    steady.hears("Hugo", "I have nothing to say of Chloe yet.")
    turncoat.hears("Hugo", "I trust Chloe.")
    assert (
        turncoat.judges("Hugo", "Chloe is a Werewolf.").suspicion
        > steady.judges("Hugo", "Chloe is a Werewolf.").suspicion
    )


def test_accusing_a_trusted_player_costs_more_than_accusing_a_suspect():
    trusting, wary = Observer(), Observer()
    trusting.judged(trusting.hears("Chloe", PLAIN), 0.05)
    wary.judged(wary.hears("Chloe", PLAIN), 0.95)
    assert (
        trusting.judges("Hugo", "Let us exile Chloe.").suspicion > wary.judges("Hugo", "Let us exile Chloe.").suspicion
    )


def test_a_statement_it_never_heard_is_judged_with_no_confidence():
    ask = Ask(id="g", kind="assess_other", round=1, phase="debate", turn=1, about=7, deadline_s=60.0)
    answer = ScriptedBrain().answer(ask, Observer().view)
    assert getattr(answer, "content", None) == Judgement(
        deceptive=False, suspicion=0.5, confidence=0.0, reasoning="I did not hear this."
    )
