"""`StatementWords`: the words of one statement, by place, and what stands around a place."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from analytics.claims.lexicon import WORDS
from analytics.claims.patterns import around, begins, coded
from analytics.claims.words import STOPS, Said, player

_END: Final = "."
"""The word before the first and after the last."""


class StatementWords:
    """Words by place, "." wherever there is none.

    Args:
        said: the words.
        names: how many players there are.
        speaker: place of the speaker among the names, None if it has none.

    Attributes:
        words: the words.
        silent: places of words that say nothing on the speaker's own account.
        speaker: place of the speaker among the names.
    """

    def __init__(self, said: Said, names: int, speaker: int | None) -> None:
        self.words = said.words
        self.silent = said.silent
        self.speaker = speaker
        self._players = [player(word, names) if names else None for word in self.words]
        self._code = coded(self.words)

    def word(self, at: int) -> str:
        """Return the word at a place."""
        return self.words[at] if 0 <= at < len(self.words) else _END

    def is_(self, at: int, *kinds: str) -> bool:
        """Return whether the word at a place is in one of these classes of the lexicon."""
        word = self.word(at)
        return any(word in WORDS[kind] for kind in kinds)

    def player(self, at: int) -> int | None:
        """Return the player that the word at a place names."""
        return self._players[at] if 0 <= at < len(self._players) else None

    def other(self, at: int) -> int | None:
        """Return the player other than the speaker that the word at a place names."""
        found = self.player(at)
        return found if found != self.speaker else None

    def players(self, begin: int, end: int) -> list[int]:
        """Return the players named between two places."""
        return [found for found in self._players[max(begin, 0) : end] if found is not None]

    def near(self, place: int, table: str) -> re.Match[str] | None:
        """Return the first pattern of a table that fits around a place; its offsets are places of words."""
        return around(self._code, place, table)

    def reads(self, place: int, table: str) -> bool:
        """Return whether the words from a place on fit a pattern of a table."""
        return begins(self._code, place, table) is not None

    def night_at(self, at: int) -> int | None:
        """Return the number of the night that the word at a place gives."""
        word = self.word(at)
        return int(word[6:]) if word.startswith("night_") and word[6:].isdigit() else None

    def night(self, begin: int, end: int, verb: int) -> int | None:
        """Return the night that is named after a verb up to right after what it is about, or before in the clause."""
        for at in range(verb, end + 4):
            if (night := self.night_at(at)) is not None:
                return night
            if at >= end and (self.is_(at, "stop", "inspected") or self.word(at) == "and"):
                break
        for at in range(begin - 1, begin - 7, -1):
            if (night := self.night_at(at)) is not None:
                return night
            if self.word(at) in STOPS:
                break
        return None

    def sentence(self, before: int) -> int:
        """Return where the sentence begins that a place belongs to."""
        at = before
        while at > 0 and self.words[at - 1] not in STOPS:
            at -= 1
        return at

    def back(self, before: int) -> Iterator[tuple[int, str]]:
        """Yield the words of a sentence before a place, backwards, each with its place."""
        at = min(before, len(self.words)) - 1
        while at >= 0 and self.words[at] not in STOPS:
            yield at, self.words[at]
            at -= 1
