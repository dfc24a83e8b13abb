"""Brains that behave badly, each in its own way; seats name them as ``tests.whole.brains:Class``."""

import sys
import threading

from players.scripted import RandomBrain
from wolfbus.agent import Agent, Answer
from wolfbus.messages.content import Bid


class Raises(Agent):
    def answer(self, ask, view):
        raise RuntimeError("no \x1b[31mthanks\n")


class Exits(Agent):
    quick = True

    def answer(self, ask, view):
        sys.exit(3)


class Junk(Agent):
    """Answers with things that are no answer to what was asked."""

    def answer(self, ask, view):
        return {"bid": {"bid": 3}, "speak": Bid(bid=3), "vote": "Ada"}.get(ask.kind, 17)


class Unmade(RandomBrain):
    instances = 0

    def __init__(self) -> None:
        # the first is made to check the spec, the ones for the seats fail
        type(self).instances += 1
        if self.instances > 2:
            raise OSError("out of order")


class Talks(RandomBrain):
    """Thinks aloud at length."""

    def answer(self, ask, view):
        answer = super().answer(ask, view)
        content = answer.content if isinstance(answer, Answer) else answer
        return Answer(content, thought="ö" * 60_000, raw="x" * 60_000)


class Declines(RandomBrain):
    @classmethod
    def declines(cls):
        return ("bid", "protect", "assess_other", "whisper", "vote")


class Late(RandomBrain):
    """Needs longer than the grace for an absent seat, and much longer for its first answers."""

    quick = False
    first = 2

    def __init__(self) -> None:
        self.answers = 0

    def answer(self, ask, view):
        self.answers += 1
        threading.Event().wait(0.5 if self.answers <= self.first else 0.03)
        return super().answer(ask, view)
