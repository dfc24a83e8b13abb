"""A scripted person: reads the screen in a thread, and types when asked."""

import io
import os
import re
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import ClassVar

import pytest

from players.scripted import RandomBrain
from wolfbus.agent import Answer
from wolfbus.messages.content import Ballot, Choice, Judgement, Label, Proposal, Speech

PROMPT = re.compile(r"(\w+) \([^()]* left, \? for help\) > \Z")


class Paper(io.TextIOBase):
    """A screen that is no terminal, and can be waited on."""

    def __init__(self) -> None:
        self.text = ""
        self.changed = threading.Condition()
        self.over = False

    def writable(self) -> bool:
        return True

    def write(self, text: str) -> int:
        with self.changed:
            self.text += text
            self.changed.notify_all()
        return len(text)

    def isatty(self) -> bool:
        return False

    def wait(self, until: Callable[[str], object], after: int = 0) -> str:
        """Wait until something is true of what was written after a place; return that."""
        with self.changed:
            assert self.changed.wait_for(lambda: self.over or until(self.text[after:]), 60), self.text[after:]
            return self.text[after:]

    def finish(self) -> None:
        with self.changed:
            self.over = True
            self.changed.notify_all()


Script = Callable[[str, str], str]
"""What is asked for and what is new on the screen, to the line that is typed."""


class Terminal:
    """The paper of the person who plays; brains that watch it look here."""

    paper: ClassVar[Paper]


@contextmanager
def seated(script: Script) -> Iterator[Paper]:
    """Let a script type on standard input what is asked for on standard error."""
    read_end, write_end = os.pipe()
    Terminal.paper = paper = Paper()

    def answer() -> None:
        seen = 0
        # whatever happens to the script, the game must not wait for it
        with os.fdopen(write_end, "w") as typing:
            while True:
                text = paper.wait(PROMPT.search, seen)
                prompt = PROMPT.search(text)
                if paper.over or prompt is None:
                    return
                seen += len(text)
                typing.write(f"{script(prompt.group(1), text)}\n")
                typing.flush()

    answerer = threading.Thread(target=answer)
    with os.fdopen(read_end) as keyboard, pytest.MonkeyPatch.context() as patched:
        patched.setattr("sys.stdin", keyboard)
        patched.setattr("sys.stderr", paper)
        answerer.start()
        yield paper
        paper.finish()
        answerer.join(60)


class Witness(RandomBrain):
    """Kills Ada in the first night, and votes only once the person's paper has shown what was said after that."""

    def kill(self, ask, view):
        return Choice(target="Ada") if "Ada" in ask.legal else super().kill(ask, view)

    def whisper(self, ask, view):
        return Proposal(target="Ada") if "Ada" in ask.legal else super().whisper(ask, view)

    def protect(self, ask, view):
        return Choice(target=view.me)

    def speak(self, ask, view):
        return Speech(text="I was asleep.")

    def vote(self, ask, view):
        Terminal.paper.wait(lambda text: f"#{len(view.statements)} " in text.partition("The Werewolves killed you")[2])
        return Ballot(target=ask.legal[0])


class Canary(RandomBrain):
    """Plays at random, and puts a word of its own into all that is not public."""

    quick = True

    def answer(self, ask, view):
        answer = super().answer(ask, view)
        content = answer.content if isinstance(answer, Answer) else answer
        if isinstance(content, Speech):
            content = Speech(text=f"\x1b[31mI \x1b]0;owned\x07speak\x1b[0m \u202eup\u202c\r\n{ask.round}-{ask.turn}")
        elif isinstance(content, Label | Judgement):
            content = content.model_copy(update={"reasoning": "CANARY-reason"})
        elif isinstance(content, Ballot):
            content = content.model_copy(update={"reason": "\x9b31mso it is" if content.reason else None})
        elif isinstance(content, Proposal):
            content = content.model_copy(update={"word": "CANARY-whisper"})
        return Answer(content, thought="CANARY-thought", raw="CANARY-raw")
