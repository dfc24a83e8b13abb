"""A prefix cache as servers keep one, so that what they would count as cached tokens can be measured without them."""

from __future__ import annotations

from typing import Final

BLOCK_TOKENS: Final = 128
"""Tokens are cached by blocks of so many."""

CHARACTERS: Final = 4
"""Characters that count as a token."""

_BLOCK: Final = BLOCK_TOKENS * CHARACTERS
_MOST: Final = 500_000


def tokens(text: str) -> int:
    """Return how many tokens a text counts as."""
    return -(-len(text) // CHARACTERS)


class PrefixCache:
    """Remembers the prompts of each model by blocks, each block together with all that goes before it.

    The oldest blocks are forgotten beyond half a million, about 250 MB of prompts.
    """

    def __init__(self) -> None:
        self._blocks: dict[int, None] = {}

    def take(self, model: str, prompt: str) -> int:
        """Remember a prompt and return how many tokens it shares from its start with earlier ones, in whole blocks."""
        chain = hash(model)
        cached = 0
        unbroken = True
        for begin in range(0, len(prompt) - _BLOCK + 1, _BLOCK):
            chain = hash((chain, prompt[begin : begin + _BLOCK]))
            if chain in self._blocks:
                cached += BLOCK_TOKENS if unbroken else 0
            else:
                unbroken = False
                self._blocks[chain] = None
        while len(self._blocks) > _MOST:
            del self._blocks[next(iter(self._blocks))]
        return cached

    def clear(self) -> None:
        """Forget all prompts."""
        self._blocks.clear()
