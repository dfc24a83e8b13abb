"""Plays whole games on the rules alone and shows every delivery of requests with the view at that time."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from moderator.rules.game import Steps
from tests.game.driver import Question, legal_answer, opening, questions
from tests.players import table
from wolfbus.audience import Herald
from wolfbus.config import GameConfig
from wolfbus.draws import draw
from wolfbus.messages.content import Content, Judgement, Label, Proposal, Speech
from wolfbus.messages.events import ANSWERED, AnyAnswered, AnyEvent, Asked
from wolfbus.messages.requests import Ask
from wolfbus.reading.values import normalise
from wolfbus.view import SeatView

Watch = Callable[[str, tuple[Ask, ...], SeatView], None]
"""Is shown a seat, what one delivery asks of it, and what it knows; the view changes afterwards."""
Private = Callable[[str, Question, str], str]
"""Makes the words of a private field: of a seat, in answer to a question, for a field."""

CONFIGS = {
    **table.CONFIGS,
    "many": GameConfig(villagers=6, werewolves=4, seers=2, doctors=2, whispers=3),
    "compact": GameConfig(protocol="compact", max_rounds=3),
    "no debate": GameConfig(debate_turns=0),
}
CANARY = re.compile(r"CANARY\|([^|]+)\|(\w+)\|(\w+)\|")


def canary(seat: str, question: Question, field: str) -> str:
    return f"CANARY|{seat}|{question.kind}|{field}|{question.round}.{question.turn}.{question.about}|"


def play(
    watch: Watch,
    config: GameConfig | None = None,
    seed: str = "1",
    private: Private = canary,
    say: Callable[[Question], str] = lambda question: f"I am {question.seat}; this is turn {question.turn}.",
    assess: Callable[[Question, Label | Judgement], Label | Judgement] = lambda _, given: given,
    missing: float = 0.05,
) -> list[AnyEvent]:
    """Play a game.

    Args:
        watch: is shown every delivery of requests.
        config: the rules.
        seed: of the draws, and of the answers.
        private: makes the words of private fields.
        say: makes statements.
        assess: may change what is thought of a statement.
        missing: share of requests that get no usable answer.
    """
    opened = opening(config or GameConfig(), seed)
    views = {seat.name: SeatView(me=seat.name) for seat in opened.seats}
    steps, herald = Steps(opened), Herald()
    pending: dict[int, dict[str, AnyAnswered]] = {}
    events: list[AnyEvent] = []
    step = steps.advance()
    while True:
        asked: dict[str, list[Ask]] = {}
        answers: list[tuple[Asked, Question]] = []
        for event in step.events:
            events.append(event)
            told = herald.tell(event)
            for news in told.public:
                for view in views.values():
                    view.hear_public(news)
            for seat, own in told.private:
                views[seat].hear_private(own)
            if isinstance(event, Asked):
                for question, _ in questions(event):
                    asked.setdefault(question.seat, []).append(ask_of(question, event))
                    answers.append((event, question))
        for seat, asks in asked.items():
            watch(seat, tuple(asks), views[seat])
        for batch, question in answers:
            content = None if _is_missing(question, seed, missing) else _content(question, seed, private, say, assess)
            pending.setdefault(batch.batch, {})[question.seat] = _answered(batch, question, content, private)
        if step.ended is not None:
            return events
        step = steps.advance({batch: pending.pop(batch) for batch in step.waits_for})


def ask_of(question: Question, batch: Asked) -> Ask:
    about = "" if question.about is None else f"/{question.about}"
    return Ask(
        id=f"game-id/{question.round}/{batch.phase}/{question.turn}/{question.kind}/{question.seat}{about}",
        kind=question.kind,
        round=question.round,
        phase=batch.phase,
        turn=question.turn,
        about=question.about,
        legal=question.legal,
        deadline_s=60.0,
    )


def view_of(seat: str, events: list[AnyEvent]) -> SeatView:
    """What a seat knows after these events, told as a catch-up does: first all that is public."""
    herald, view = Herald(), SeatView(me=seat)
    told = [herald.tell(event) for event in events]
    for each in told:
        for news in each.public:
            view.hear_public(news)
    for each in told:
        for name, own in each.private:
            if name == seat:
                view.hear_private(own)
    return view


def _answered(batch: Asked, question: Question, content: Content | None, private: Private) -> AnyAnswered:
    fields: dict[str, Any] = {"batch": batch.batch, "seat": question.seat, "about": question.about}
    for field in ("thought", "raw", "note"):
        fields[field] = private(question.seat, question, field)
    if content is None:
        return ANSWERED[question.kind](**fields, outcome="defaulted", fault="unparseable")
    return ANSWERED[question.kind](**fields, outcome="accepted", content=normalise(content))


def _is_missing(question: Question, seed: str, share: float) -> bool:
    purpose = f"missing|{question.seat}|{question.kind}|{question.about}"
    return draw(seed, purpose, question.round, question.turn) % 1000 < 1000 * share


def _content(
    question: Question,
    seed: str,
    private: Private,
    say: Callable[[Question], str],
    assess: Callable[[Question, Label | Judgement], Label | Judgement],
) -> Content:
    content: Content = legal_answer(question, seed)
    if isinstance(content, Speech):
        return Speech(text=say(question))
    if isinstance(content, Label | Judgement):
        return assess(question, content.model_copy(update={"reasoning": private(question.seat, question, "reasoning")}))
    if isinstance(content, Proposal):
        return content.model_copy(update={"word": private(question.seat, question, "word")})
    return content
