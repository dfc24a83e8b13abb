"""Brains that answer later, from threads of their own, and report calls as a language model's brain does."""

import random
import threading

from players.scripted import RandomBrain
from wolfbus.agent import Agent, Answer
from wolfbus.knowledge.view import SeatView
from wolfbus.messages.calls import Call, PromptText, segment_hash
from wolfbus.messages.requests import Ask


def chain(*texts: str) -> tuple[list[PromptText], str]:
    """Return texts as segments that follow one another, and the name of the last."""
    pieces: list[PromptText] = []
    after = None
    for text in texts:
        pieces.append(PromptText(after=after, role="user", text=text))
        after = segment_hash(after, "user", text)
    return pieces, after or ""


class Later(Agent):
    """Answers as the random brain does, in no order, from another thread."""

    def __init__(self) -> None:
        self.brain = RandomBrain()

    def start(self, asks: tuple[Ask, ...], view: SeatView, outlet, /) -> None:
        answers = [(ask, self.brain.answer(ask, view)) for ask in asks]
        random.shuffle(answers)
        public, public_name = chain(*(f"fact {number}" for number in range(len(view.public) + 1)))
        private, private_name = chain(f"{view.me} is {view.role}")
        outlet.segments([*public, *private])

        def tell() -> None:
            for ask, answer in answers:
                outlet.called(self.call(ask, (public_name, private_name)))
                content = answer.content if isinstance(answer, Answer) else answer
                outlet.answer(ask, Answer(content, reading="extracted", raw=f"Well: {content}"))

        threading.Thread(target=tell, daemon=True).start()

    def call(self, ask: Ask, prompt: tuple[str, ...]) -> Call:
        numbers = {"attempts": 1, "queue_s": 0.0, "latency_s": 0.001}
        request, seat = ask.id.split("/", 1)[1], ask.id.split("/")[5]
        return Call(
            requests=(request,), seat=seat, kind=ask.kind, model="dice", prompt=prompt, reply="x" * 10, **numbers
        )


class Forger(Later):
    """Reports calls of other seats, of unknown prompts, and replies that are too long."""

    def call(self, ask: Ask, prompt: tuple[str, ...]) -> Call:
        wrong = {
            "bid": {"seat": "Nobody"},
            "speak": {"prompt": ("0" * 64,)},
            "assess_own": {"reply": "ö" * 200_000},
            "vote": {"requests": ("1/debate/1/bid/Nobody",)},
            "protect": {"kind": "bid"},
            "inspect": {"requests": ()},
            "whisper": {"attempts": -1},
        }
        return super().call(ask, prompt).model_copy(update=wrong.get(ask.kind, {}))


class Breaks(Later):
    """Fails when it is to begin, and then when it is to end."""

    failed = False

    def start(self, asks, view, outlet, /):
        self.failed = True
        raise LookupError("no model here")

    def close(self) -> None:
        if self.failed:
            raise LookupError("still none")
