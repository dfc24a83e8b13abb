"""Servers that drop the beginnings of long prompts: `PromptWindow` tells them by the tokens that they count, and
`DroppedPrompts` how many prompts of a record that befell.
"""

from __future__ import annotations

from collections import defaultdict
from typing import Final

from wolfbus.messages.calls import ModelCall, PromptAddition

_LEAST: Final = 4
"""Prompts that are longer by the share `_LONGER`, and have as many tokens up to the share `_STILL`."""
_LONGER: Final = 1.3
_STILL: Final = 1.02


class PromptWindow:
    """How much a server reads of a model's prompts.

    A window reads as much of a longer prompt as of a shorter one, whereas what a cache had may be left out of any
    count.

    Attributes:
        tokens: the most that it read of a prompt.
        shortest: characters of the shortest prompt of which it read as much.
        dropped: prompts that were clearly longer, and of which it did not read more.
    """

    def __init__(self) -> None:
        self.tokens = self.shortest = self.dropped = 0

    def note(self, characters: int, tokens: int) -> bool:
        """Note how many tokens were read of a prompt of so many characters; returns what `drops` is then."""
        if tokens > self.tokens * _STILL:
            self.tokens, self.shortest, self.dropped = tokens, characters, 0
        elif tokens * _STILL >= self.tokens:
            self.shortest = min(self.shortest, characters)
            self.dropped += characters > self.shortest * _LONGER
        return self.drops

    @property
    def drops(self) -> bool:
        """Whether so many beginnings were dropped that it is no chance."""
        return self.dropped >= _LEAST


class DroppedPrompts:
    """Counts prompts of one game whose beginnings were dropped. Feed it in record order."""

    def __init__(self) -> None:
        self._texts: list[int] = []
        self._ends: dict[int | None, int] = {None: 0}
        """Characters from the beginning of a chain to the end of a segment, by its number."""
        self._windows: defaultdict[str, PromptWindow] = defaultdict(PromptWindow)

    def add(self, event: PromptAddition) -> None:
        """Take in prompt text."""
        for chain in event.chains:
            end = self._ends.get(chain.after, 0)
            for text in chain.texts:
                length = len(text) if isinstance(text, str) else self._texts[text]
                end += length
                self._ends[len(self._texts)] = end
                self._texts.append(length)

    def call(self, agent: str, call: ModelCall) -> None:
        """Take in a call of an agent; of several attempts, nobody knows which of them was counted."""
        if call.prompt_tokens and call.attempts <= 1:
            characters = sum(self._ends.get(name, 0) for name in call.prompt)
            self._windows[agent].note(characters, call.prompt_tokens)

    def counts(self) -> dict[str, int]:
        """Return how many prompts, at least, lost their beginnings, by agent; those left out of whom none did."""
        return {agent: window.dropped for agent, window in self._windows.items() if window.drops}


def dropped_in_words(agent: str, dropped: int, calls: int) -> str:
    """Return how many prompts of an agent lost their beginnings, in one line without a full stop."""
    return (
        f"at least {dropped:,} of {calls:,} prompts of {agent} lost their beginnings, the rules first: its server read "
        "as many tokens as of much shorter ones, and needs a larger context"
    )
