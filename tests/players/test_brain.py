"""An agent of a user's own, played here."""

from __future__ import annotations

import asyncio
from pathlib import Path

from tests.whole.house import play_many
from wolfbus.agent import Agent
from wolfbus.game.config import GameConfig
from wolfbus.game.vocabulary import KINDS
from wolfbus.knowledge.view import SeatView
from wolfbus.messages.content import Speech
from wolfbus.messages.requests import Ask


class Grudge(Agent):
    """Speaks once a day and votes for whoever voted against it, else for the seat it trusts least; plain, slow and
    awaited methods.
    """

    async def bid(self, _ask: Ask, _view: SeatView) -> int:
        await asyncio.sleep(0)
        return 5

    def speak(self, _ask: Ask, view: SeatView) -> Speech:
        return Speech(text=f"I have my eyes on {view.others[0]}.")

    def vote(self, ask: Ask, view: SeatView) -> dict[str, str]:
        last = view.tallies.get(ask.round - 1, {})
        against = [voter for voter, target in last.items() if target == view.me and voter in view.others]
        least = max(view.others, key=lambda name: view.suspicion.of(view.me, name))
        return {"target": against[0] if against else least, "reason": "You know why."}


def test_an_agent_of_ten_lines_plays_and_leaves_the_rest_to_defaults(tmp_path: Path) -> None:
    (proof,) = play_many(tmp_path, [1], [f"{__name__}:Grudge"] * 4 + ["scripted"] * 4, GameConfig())
    assert proof.verified, proof.problems
    events = [recorded.event for recorded in proof.records]
    opened = events[0]
    assert opened.type == "opened"
    seats = {seat.name for seat in opened.seats[:4]}
    assert set(opened.seats[0].declines) == set(KINDS) - {"bid", "speak", "vote"}
    answers = [event for event in events if event.type == "answered" and event.seat in seats]
    assert {event.kind for event in answers if event.outcome == "accepted"} == {"bid", "speak", "vote"}
    assert not {event.note for event in answers if event.outcome not in {"accepted", "declined"}}
    assert any(event.type == "statement" and event.text.startswith("I have my eyes on") for event in events)


def test_what_answers_for_all_kinds_or_later_declines_none() -> None:
    class Whole(Agent):
        def answer(self, _ask: Ask, _view: SeatView, /) -> None:
            return None

    assert Whole.declines() == ()
    assert Agent.declines() == KINDS
