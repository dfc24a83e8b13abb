"""A scripted person: reads the screen in a thread, and types when asked."""

from __future__ import annotations

import io
import os
import re
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import ClassVar

from players.baselines import RandomBrain
from players.human import HumanBrain
from players.human.terminal import Keyboard, Screen
from wolfbus.agent.answer import Answer
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


Script = Callable[[str, str], str | None]
"""What is asked for and what is new on the screen, to the line that is typed; None types nothing."""


class Seated(HumanBrain):
    """A brain that players specs can name; whoever plays has put keyboard and paper here before."""

    descriptor: ClassVar[int] = -1
    paper: ClassVar[Paper]

    def __init__(self) -> None:
        super().__init__(Keyboard(self.descriptor), Screen(self.paper))


@contextmanager
def seated(script: Script | None) -> Iterator[Paper]:
    """Let `Seated` be played by a script; without one, its input has ended."""
    read_end, write_end = os.pipe()
    paper = Paper()
    Seated.descriptor, Seated.paper = read_end, paper

    def play() -> None:
        try:
            answer()
        finally:
            # whatever happened to the script, the game must not wait for it
            os.close(write_end)

    def answer() -> None:
        seen = 0
        while script is not None:
            shown = paper.wait(PROMPT.search, seen)
            asked = PROMPT.search(shown)
            if paper.over or asked is None:
                return
            seen += len(shown)
            line = script(asked.group(1), shown)
            if line is not None:
                os.write(write_end, f"{line}\n".encode())

    answerer = threading.Thread(target=play)
    answerer.start()
    try:
        yield paper
    finally:
        paper.finish()
        answerer.join(10)
        os.close(read_end)


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
        Seated.paper.wait(lambda text: f"#{len(view.statements)} " in text.partition("The Werewolves killed you")[2])
        return Ballot(target=ask.legal[0])


class Lynch(RandomBrain):
    """Votes for Ada."""

    quick = True

    def vote(self, ask, view):
        return Ballot(target="Ada") if "Ada" in ask.legal else super().vote(ask, view)


class Canary(RandomBrain):
    """Plays at random, and puts a word of its own into all that is not public."""

    quick = True

    def answer(self, ask, view):
        given = super().answer(ask, view)
        content = given.content if isinstance(given, Answer) else given
        if isinstance(content, Speech):
            content = Speech(text=f"\x1b[31mI \x1b]0;owned\x07speak\x1b[0m \u202eup\u202c\r\n{ask.round}-{ask.turn}")
        elif isinstance(content, Label | Judgement):
            content = content.model_copy(update={"reasoning": "CANARY-reason"})
        elif isinstance(content, Ballot):
            content = content.model_copy(update={"reason": "\x9b31mso it is" if content.reason else None})
        elif isinstance(content, Proposal):
            content = content.model_copy(update={"word": "CANARY-whisper"})
        return Answer(content, thought="CANARY-thought", raw="CANARY-raw")
