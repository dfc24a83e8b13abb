"""`Story`: all that one seat knows, as text in the order in which it learned it.

The text only grows, so a server that keeps the beginnings of prompts computes each line once. With ``memory = "brief"``
it is told anew once a day: at dawn, all since the last dawn gives way to its public lines, what happened at night, and
one line of judgements. What stands before that stays as it was.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeAlias

from players.llm.prompts.private import day_in_brief, is_past, private_piece
from players.llm.prompts.public import public_piece
from players.llm.prompts.system import role_card, system_text
from wolfbus.messages.base import SeatName
from wolfbus.messages.calls import PromptText, segment_hash
from wolfbus.messages.events import Dawn, Exile
from wolfbus.messages.requests import PublicFact
from wolfbus.view import Memory, SeatView

_Learned: TypeAlias = tuple[PublicFact | None, Memory | None, str]
"""A public fact or a memory, and its text."""


class Story:
    """One seat's story.

    Attributes:
        system: the system message.
        text: what follows it, so far.
        head: name of the last segment.
        chain: name of the segment that tells the seat its role; all its prompts hold that.
    """

    def __init__(self) -> None:
        self.system = self.text = self.head = self.chain = ""
        self._facts = self._memories = 0
        self._reported: set[str] = set()
        self._dead: set[SeatName] = set()
        self._since_dawn: list[_Learned] = []
        self._before_dawn = ("", "")

    def grow(self, view: SeatView) -> list[PromptText]:
        """Take in what is new in a view; returns segments that are new, each behind the one that it follows."""
        made = [] if self.system else self._begin(view)
        at_dawn = len(made)
        for fact, memory in self._news(view):
            if isinstance(fact, Dawn):
                if view.config.memory == "brief":
                    del made[at_dawn:]
                    made += self._shorten(view)
                self._since_dawn, self._before_dawn, at_dawn = [], (self.text, self.head), len(made)
            piece = private_piece(memory) if memory is not None else "" if fact is None else self._public(fact, view)
            if piece:
                self._since_dawn.append((fact, memory, piece))
                made.append(self._add(piece))
        fresh = [segment for name, segment in made if name not in self._reported]
        self._reported.update(name for name, _ in made)
        return fresh

    def _begin(self, view: SeatView) -> list[tuple[str, PromptText]]:
        self.system = system_text(view.config, view.names)
        self.head = system = segment_hash(None, "system", self.system)
        opening = self._add(f"{role_card(view)}\n")
        self.chain = self.head
        self._before_dawn = (self.text, self.head)
        return [(system, PromptText(role="system", text=self.system)), opening]

    def _news(self, view: SeatView) -> Iterator[tuple[PublicFact | None, Memory | None]]:
        """Yield public facts and memories that are new, in the order in which the seat learned them."""
        while self._facts < len(view.public) or self._memories < len(view.private):
            at = self._memories
            if at < len(view.private) and (view.private_after[at] <= self._facts or self._facts == len(view.public)):
                self._memories += 1
                yield None, view.private[at]
            else:
                self._facts += 1
                yield view.public[self._facts - 1], None

    def _public(self, fact: PublicFact, view: SeatView) -> str:
        if isinstance(fact, Dawn | Exile):
            gone = fact.died if isinstance(fact, Dawn) else fact.seat
            self._dead |= {gone} if gone is not None else set()
        return public_piece(fact, [name for name in view.names if name not in self._dead])

    def _shorten(self, view: SeatView) -> list[tuple[str, PromptText]]:
        """Tell all since the last dawn again, in brief."""
        section = self._since_dawn
        kept = [piece for _, memory, piece in section if memory is None or not is_past(memory)]
        brief = day_in_brief([memory for _, memory, _ in section if memory is not None], view)
        self.text, self.head = self._before_dawn
        return [self._add(piece) for piece in (*kept, brief) if piece]

    def _add(self, text: str) -> tuple[str, PromptText]:
        """Add a segment; returns its name and itself."""
        after = self.head
        self.head = segment_hash(after, "user", text)
        self.text += text
        return self.head, PromptText(after=after, role="user", text=text)
