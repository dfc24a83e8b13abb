"""What the double says, from `model_words.toml`: sentences about the players that a prompt names."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Final

from wolfbus.package_data import Lines, PackageData, read_data

NOBODY: Final = "somebody here"
"""Stands for a player where the prompt names none."""
_POOLS: Final = {
    **dict.fromkeys(("thought", "thoughts", "thinking", "analysis", "chain_of_thought", "scratchpad"), "thoughts"),
    "reasoning": "reasons",
    "reason": "votes",
    "word": "whispers",
}
_LONGER: Final = frozenset({"text", "statement"})


class ModelWords(PackageData):
    """All its sentences."""

    thoughts: Lines
    statements: Lines
    reasons: Lines
    """Of judgements and labels."""
    votes: Lines
    """Reasons of votes."""
    whispers: Lines
    foreign: Lines
    """Statements in other languages."""


@cache
def model_words() -> ModelWords:
    """Return the sentences.

    Raises:
        ConfigError: their file is not as it should be.
    """
    return read_data("wolfbus.testing", "model_words", ModelWords)


def pool(key: str) -> Sequence[str]:
    """Return the sentences that a member of a reply is made of, with ``{t}`` and ``{o}`` for two players."""
    found: Sequence[str] = getattr(model_words(), _POOLS.get(key, "statements"))
    return found


def most_sentences(key: str) -> int:
    """Return how many sentences such a member has at most."""
    return 2 if key in _LONGER else 1
