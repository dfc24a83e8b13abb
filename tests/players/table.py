"""Plays whole games on the rules alone, without a bus, and shows every question with its view and answer."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from moderator.engine.referee import find_fault
from moderator.engine.seating import deal
from moderator.rules.game import Steps
from players.scripted import ScriptedBrain
from wolfbus.agent import Agent
from wolfbus.agent.answer import Answer
from wolfbus.agent.answer import answer_of as settled
from wolfbus.audience import Herald
from wolfbus.config import GameConfig
from wolfbus.messages.content import CONTENT
from wolfbus.messages.events import ANSWERED, AnyAnswered, AnyEvent, Asked, Ended, Opened, Seat
from wolfbus.messages.requests import Ask
from wolfbus.reading.values import normalise
from wolfbus.view import SeatView

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
class Played:
    """One game: how it opened and ended, its events, and the views at its end."""

    opened: Opened
    ended: Ended
    events: list[AnyEvent]
    views: dict[str, SeatView]
    roles: dict[str, str] = field(default_factory=dict)


def answer_of(brain: Agent, ask: Ask, view: SeatView) -> Answer:
    """Return what an agent answers, in full."""
    return settled(ask.kind, brain.answer(ask, view))


def play(
    seed: str,
    config: GameConfig | None = None,
    brains: Sequence[Callable[[], Agent]] = (ScriptedBrain,),
    watch: Watch | None = None,
    in_house: bool = True,
) -> Played:
    """Play a game with `brains` in turn around the table; every answer must be of its kind and legal."""
    config = config or GameConfig()
    seats = tuple(
        Seat(name=name, role=role, agent="a", brain="b", in_house=in_house) for name, role in deal(config, seed)
    )
    opened = Opened(game="g", version="0", started=1700000000.0, seed=seed, config=config, seats=seats)
    players = {seat.name: brains[place % len(brains)]() for place, seat in enumerate(seats)}
    views = {seat.name: SeatView(me=seat.name) for seat in seats}
    steps, herald = Steps(opened), Herald()
    pending: dict[int, dict[str, AnyAnswered]] = {}
    events: list[AnyEvent] = []
    step = steps.advance()
    while True:
        asks: list[tuple[int, str, Ask]] = []
        for event in step.events:
            events.append(event)
            told = herald.tell(event)
            for view in views.values():
                for news in told.public:
                    view.hear_public(news)
            for name, private in told.private:
                views[name].hear_private(private)
            if event.type == "asked":
                asks += _asks(event)
        for batch, seat, ask in asks:
            answer = answer_of(players[seat], ask, views[seat])
            if watch is not None:
                watch(ask, views[seat], answer)
            pending.setdefault(batch, {})[seat] = _accept(batch, seat, ask, answer, config)
        if step.ended is not None:
            return Played(opened, step.ended, events, views, {each.name: each.role for each in seats})
        step = steps.advance({batch: pending.pop(batch) for batch in step.waits_for})


def _accept(batch: int, seat: str, ask: Ask, answer: Answer, config: GameConfig) -> AnyAnswered:
    content = answer.content
    assert content is not None, ask
    assert isinstance(content, CONTENT[ask.kind]), (ask, content)
    assert find_fault(content, ask.legal, config.bid_max, None) == (None, None), (ask, content)
    return ANSWERED[ask.kind](
        batch=batch,
        seat=seat,
        about=ask.about,
        outcome="accepted",
        content=normalise(content),
        reading="clean",
        thought=answer.thought,
    )


def _asks(asked: Asked) -> list[tuple[int, str, Ask]]:
    return [
        (
            asked.batch,
            seat,
            Ask(
                id=f"g/{asked.round}/{asked.phase}/{asked.turn}/{asking.kind}/{seat}",
                kind=asking.kind,
                round=asked.round,
                phase=asked.phase,
                turn=asked.turn,
                about=asked.about,
                legal=asking.legal,
                deadline_s=60.0,
            ),
        )
        for asking in asked.asks
        for seat in asking.seats
    ]


if __name__ == "__main__":
    # prints a digest of all answers of some games, for the test that runs it under different hash seeds
    import hashlib
    import sys

    from players.baselines import RandomBrain

    digest = hashlib.sha256()
    for number in range(3):
        play(
            f"hash {number}",
            CONFIGS["big"],
            (ScriptedBrain, ScriptedBrain, RandomBrain),
            lambda ask, view, answer: digest.update(f"{ask.id}{view.me}{answer!r}".encode()),
        )
    sys.stdout.write(digest.hexdigest())
