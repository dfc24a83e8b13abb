"""The prompts of whole games, as language models in every seat would be sent them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import groupby

from players.llm.prompts.writer import Prompt, PromptWriter
from wolfbus.messages.calls import PromptText, segment_hash
from wolfbus.messages.requests import Ask
from wolfbus.view import SeatView


@dataclass
class Calls:
    """Writes a prompt for every call; one question a call, or as the compact protocol has it."""

    compact: bool = False
    made: list[tuple[str, tuple[Ask, ...], Prompt]] = field(default_factory=list)
    writers: dict[str, PromptWriter] = field(default_factory=dict)

    def __call__(self, seat: str, asks: tuple[Ask, ...], view: SeatView) -> None:
        writer = self.writers.setdefault(seat, PromptWriter())
        for group, labels in groups(asks, view, compact=self.compact):
            self.made.append((seat, group, writer.write(group, view, with_label=labels)))

    @property
    def prompts(self) -> list[Prompt]:
        return [prompt for _, _, prompt in self.made]


def groups(asks: Iterable[Ask], view: SeatView, *, compact: bool) -> list[tuple[tuple[Ask, ...], bool]]:
    if not compact:
        return [((ask,), False) for ask in asks]
    together = tuple(ask for ask in asks if ask.kind in {"bid", "assess_other", "assess_own"})
    alone = [ask for ask in asks if ask not in together]
    spoken = [((ask,), ask.kind == "speak" or (ask.kind == "vote" and view.config.vote_reasons)) for ask in alone]
    return [*([(together, False)] if together else []), *spoken]


class Shelf:
    """Keeps segments as a record does, and rebuilds prompts from nothing else."""

    def __init__(self) -> None:
        self.segments: dict[str, PromptText] = {}

    def add(self, texts: Iterable[PromptText]) -> None:
        for text in texts:
            assert text.text
            assert text.after is None or text.after in self.segments
            self.segments[segment_hash(text.after, text.role, text.text)] = text

    def chain(self, head: str) -> list[PromptText]:
        pieces: list[PromptText] = []
        after: str | None = head
        while after is not None:
            pieces.append(self.segments[after])
            after = pieces[-1].after
        return pieces[::-1]

    def messages(self, heads: Iterable[str]) -> list[tuple[str, str]]:
        pieces = [piece for head in heads for piece in self.chain(head)]
        return [
            (role, "".join(piece.text for piece in of_role))
            for role, of_role in groupby(pieces, key=lambda piece: piece.role)
        ]


def contents(prompt: Prompt) -> list[tuple[str, str]]:
    return [(message.role, message.content) for message in prompt.messages]


def whole(prompt: Prompt) -> str:
    return "".join(message.content for message in prompt.messages)
