"""What players say and think of the game that is before their eyes: which of it is heard, and whether it is so."""

from __future__ import annotations

import random
from collections import Counter
from typing import Any

import pytest

import wolfbus
from tests.llm.tables import tables
from wolfbus.agent import Agent, Answer
from wolfbus.claims.facts import Moment, facts_in
from wolfbus.knowledge.truth import GameFacts

TABLES: Any = tables(__file__)
DEAL: Any = {
    "Ada": "Werewolf",
    "Raj": "Werewolf",
    "Bruno": "Seer",
    "Kim": "Doctor",
    "Nils": "Villager",
    "Ulla": "Villager",
}


def second_day() -> GameFacts:
    facts = GameFacts(DEAL)
    facts.inspect(1, "Bruno", "Nils", "Villager")
    facts.leave("Ulla", "night")
    facts.leave("Kim", "exile")
    return facts


@pytest.mark.parametrize("case", TABLES["said"], ids=lambda case: case["text"][:40])
def test_a_fact_is_heard_where_it_is_stated_and_held_against_what_its_teller_knows(case: dict[str, Any]) -> None:
    moment = Moment(second_day(), case.get("by", "Ada"), 2, case.get("kind", "speak"))
    found = facts_in(case["text"], moment, private=not case.get("public", False))
    assert [[fact.about or "", fact.right] for fact in found] == case["finds"]


TOLD: Counter[bool] = Counter()


class Muddled(Agent):
    """Takes one living player in four for dead whenever it speaks, in its thoughts and aloud, and knows how often."""

    def __init__(self) -> None:
        self._chance = random.Random(7)

    def bid(self, _ask: Any, view: Any, /) -> int:
        return view.config.bid_max

    def speak(self, _ask: Any, view: Any, /) -> Answer:
        errs = self._chance.random() < 0.25
        TOLD[not errs] += 2
        told = f"{view.others[0]} {'was killed in the night' if errs else 'is still alive'}."
        return Answer(f"Good morning. {told}", thought=told)


def test_comprehension_is_the_share_of_facts_that_agents_get_right_by_construction(tmp_path: Any) -> None:
    TOLD.clear()
    study = wolfbus.run_study(players=f"{__name__}:Muddled*4,random*4", games=12, seed=3, out=tmp_path / "study")
    found = study.findings()["comprehension"]
    ours = found["by_agent"][f"{__name__}:Muddled"]
    assert ours["all"]["n"] == ours["living"]["n"] == sum(TOLD.values()) > 40
    assert ours["all"]["value"] == pytest.approx(TOLD[True] / sum(TOLD.values()))
    assert ours["all"]["low"] < ours["all"]["value"] < ours["all"]["high"]
    assert (ours["role"]["value"], ours["role"]["n"]) == (None, 0)
    assert list(found["by_agent"]) == [f"{__name__}:Muddled"], "who tells nothing has no line"
