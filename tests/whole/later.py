"""Brains that answer later, from threads of their own, and report calls as a language model's brain does."""

from __future__ import annotations

import random
import threading
from collections.abc import Sequence

from players.baselines import RandomBrain
from wolfbus.agent import Agent, Answer
from wolfbus.agent.outbox import Replies
from wolfbus.messages.calls import Call, PromptText, segment_hash
from wolfbus.messages.requests import Ask
from wolfbus.view import SeatView


def chain(*texts: str) -> list[PromptText]:
    """Texts as segments that follow one another."""
    pieces: list[PromptText] = []
    after = None
    for text in texts:
        piece = PromptText(after=after, role="user", text=text)
        after = segment_hash(piece.after, piece.role, piece.text)
        pieces.append(piece)
    return pieces


def name_of(piece: PromptText) -> str:
    return segment_hash(piece.after, piece.role, piece.text)


class Later(Agent):
    """Answers as the random brain does, in no order, from another thread."""

    def __init__(self) -> None:
        self.brain = RandomBrain()
        self.closed = threading.Event()

    def start(self, asks: tuple[Ask, ...], view: SeatView, outlet: Replies, /) -> None:
        given = [(ask, self.brain.answer(ask, view)) for ask in asks]
        public = chain(*(f"fact {number}" for number in range(len(view.public) + 1)))
        private = chain(f"{view.me} is {view.role}")
        outlet.segments([*public, *private])
        threading.Thread(target=self._answer, args=(given, public[-1], private[-1], outlet), daemon=True).start()

    def _answer(self, given: Sequence, public: PromptText, private: PromptText, outlet: Replies) -> None:
        random.shuffle(given)
        for ask, answer in given:
            outlet.called(self.call(ask, (name_of(public), name_of(private))))
            content = answer.content if isinstance(answer, Answer) else answer
            outlet.answer(ask, Answer(content, reading="extracted", raw=f"Well: {content}"))

    def call(self, ask: Ask, prompt: tuple[str, ...]) -> Call:
        return Call(
            requests=(ask.id.split("/", 1)[1],),
            seat=ask.id.split("/")[5],
            kind=ask.kind,
            model="dice",
            prompt=prompt,
            attempts=1,
            queue_s=0.0,
            latency_s=0.001,
            reply="x" * 10,
        )

    def close(self) -> None:
        self.closed.set()


class Forger(Later):
    """Reports calls of other seats, of unknown prompts, and replies that are too long."""

    def call(self, ask: Ask, prompt: tuple[str, ...]) -> Call:
        call = super().call(ask, prompt)
        wrong = {
            "bid": {"seat": "Nobody"},
            "speak": {"prompt": ("0" * 64,)},
            "assess_own": {"reply": "ö" * 200_000},
            "vote": {"requests": ("1/debate/1/bid/Nobody",)},
            "protect": {"kind": "bid"},
            "inspect": {"requests": ()},
            "whisper": {"attempts": -1},
        }
        return call.model_copy(update=wrong.get(ask.kind, {}))


class Breaks(Later):
    """Fails before it has begun."""

    def start(self, asks, view, outlet, /):
        raise LookupError("no model here")

    def close(self) -> None:
        raise LookupError("still none")
