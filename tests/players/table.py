"""Plays whole games on the rules alone, without a bus, and shows every question with its view and answer."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from players.scripted import ScriptedBrain
from tests.game import driver
from wolfbus.agent import Agent, Answer
from wolfbus.game.config import GameConfig
from wolfbus.knowledge.audience import AudienceFilter
from wolfbus.knowledge.view import SeatView
from wolfbus.messages.content import CONTENT, Ballot, Bid, Choice, Proposal, Speech
from wolfbus.messages.events import AnyEvent
from wolfbus.messages.requests import Ask

Watch = Callable[[Ask, SeatView, Answer], None]

CONFIGS = {
    "paper": GameConfig(),
    "small": GameConfig(villagers=3, werewolves=1, seers=1, doctors=0, debate_turns=3),
    "big": GameConfig(villagers=6, werewolves=3, seers=2, doctors=2, whispers=3, reveal_on_death="role"),
    "no specials": GameConfig(villagers=6, werewolves=2, seers=0, doctors=0, reveal_on_death="team", max_rounds=3),
    "free": GameConfig(
        kill_optional=True, protect_optional=True, inspect_optional=True, self_vote=True, first_night_kill=False
    ),
    "strict": GameConfig(
        doctor_self=False, doctor_repeat=False, overlap=False, vote_reasons=False, bid_max=3, overbid_at=2
    ),
    "odd names": GameConfig(
        names=("I", "Ann Marie", "Ann", "a*b(c", "{t}", "100%", "Ünal", "as the Seer"), bid_max=1000, max_rounds=2
    ),
}  # fmt: skip


@dataclass
class Played(driver.Played):
    """One game, and the views at its end."""

    views: dict[str, SeatView] = field(default_factory=dict)


class Hearers:
    """Players who hear what happens from the opening on, each as much as it may."""

    def __init__(self) -> None:
        self.views: dict[str, SeatView] = {}
        self._audiences = AudienceFilter()

    def tell(self, event: AnyEvent) -> None:
        if event.type == "opened":
            self.views = {seat.name: SeatView(me=seat.name) for seat in event.seats}
        facts = self._audiences.feed(event)
        for view in self.views.values():
            view.hear_public(*facts.public)
        for name, private in facts.private:
            self.views[name].hear_private(private)


def answer_of(brain: Agent, ask: Ask, view: SeatView) -> Answer:
    """Return what an agent answers, in full."""
    answer = brain.answer(ask, view)
    return answer if isinstance(answer, Answer) else Answer(answer)


def play(
    seed: str,
    config: GameConfig | None = None,
    brains: Sequence[Callable[[], Agent]] = (ScriptedBrain,),
    watch: Watch | None = None,
    in_house: bool = True,
) -> Played:
    """Play a game with `brains` in turn around the table; every answer must be of its kind and legal."""
    config = config or GameConfig()
    table = Hearers()
    seats = driver.opening(config, seed).seats
    players = {seat.name: brains[place % len(brains)]() for place, seat in enumerate(seats)}

    def answer(question: driver.Question) -> Answer:
        ask = driver.ask_of(question)
        view = table.views[question.seat]
        answer = answer_of(players[question.seat], ask, view)
        check_legal(ask, answer, config)
        if watch is not None:
            watch(ask, view, answer)
        return answer

    played = driver.play(config, seed, answer, tell=table.tell, in_house=in_house)
    return Played(played.events, played.questions, table.views)


def check_legal(ask: Ask, answer: Answer, config: GameConfig) -> None:
    content = answer.content
    assert isinstance(content, CONTENT[ask.kind]), (ask, content)
    if isinstance(content, Bid):
        assert 0 <= content.bid <= config.bid_max, (ask, content)
    elif isinstance(content, Speech):
        assert content.text.strip(), ask
    elif isinstance(content, Ballot | Choice | Proposal):
        assert content.target in (ask.legal or ()), (ask, content)
