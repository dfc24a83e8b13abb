"""Whether a claim is made on the speaker's own account: not supposed, reported, denied, doubted, ironic
or taken back.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from analytics.claims.lexicon import WORDS, any_of
from analytics.claims.statement import StatementWords

_REACH: Final = 80
"""Words before a claim that are looked over."""
_IRONY: Final = 30
"""Words behind a claim in which a jest may show."""
_UNDOING: Final = any_of("cut", "condition", "report", "negation", "guess", "hedge")


def meant(said: StatementWords, begin: int, *, opinion: bool = False, own: bool = False, since: int = 0) -> bool:
    """Return whether nothing before a claim in its sentence makes it none.

    Args:
        said: the statement.
        begin: where the claim begins.
        opinion: whether a mere opinion counts as none.
        own: whether it is of the speaker itself.
        since: where to stop looking.
    """
    reading = _Reading(said, begin, opinion=opinion, own=own)
    for at, word in said.back(begin):
        if at < max(since, begin - _REACH) or word in WORDS["breaks"]:
            break
        if reading.undone_by(at, word):
            return False
    return True


@dataclass(slots=True)
class _Reading:
    """What has been met on the way back from a claim to the beginning of its sentence."""

    said: StatementWords
    begin: int
    opinion: bool
    own: bool
    joined: bool = False
    """Words that join clauses were met, with no "that" behind them."""
    colon: bool = False
    that: bool = False
    told: bool = False
    """A word of telling was met: "I must tell you: I am the Seer"."""

    def undone_by(self, at: int, word: str) -> bool:
        """Return whether this word makes the claim none; take note of it otherwise."""
        self.told = self.told or word in WORDS["telling"]
        if word == ":":
            self.colon = True
        elif word in WORDS["joining"]:
            self.joined = self.joined or not self.that
        elif word == "that":
            self.that = True
        return word in _UNDOING and (
            word in WORDS["cut"]
            or (word in WORDS["condition"] and self._supposed(at, word))
            or (word in WORDS["report"] and self._reported(at, word))
            or (word in WORDS["negation"] and self._denied(at))
            or (word in WORDS["guess"] and not self.own and self.said.near(at, "my_guess") is not None)
            or (word in WORDS["hedge"] and self._hedged(at, word))
        )

    def _supposed(self, at: int, word: str) -> bool:
        if self.said.reads(at, "no_condition"):
            return False
        if self.colon and word in WORDS["condition_to_colon"]:
            return False
        return not (self.joined and word in WORDS["condition_to_comma"])

    def _reported(self, at: int, word: str) -> bool:
        said, begin = self.said, self.begin
        if says(said, at):
            return False
        if not self.own and not self.opinion and word in WORDS["opining"] and said.near(at, "i_hold") is not None:
            return False
        if self.own:
            if said.near(begin, "apart") is not None and said.word(at + 1) not in {",", ":"}:
                return False
            if (self.colon or self.told) and word in WORDS["opining"] and "i" in said.words[max(at - 2, 0) : at]:
                return False
            if self.joined and not self.that and word in WORDS["report_to_comma"]:
                return False
        if (self.colon or self.that) and not WORDS["agreeing"].isdisjoint(said.words[max(at - 8, 0) : begin]):
            return False
        if self.joined and not {"what", "whatever"}.isdisjoint(said.words[max(at - 4, 0) : at]):
            return False
        return said.near(at, "device_says") is None

    def _denied(self, at: int) -> bool:
        return not self.colon and not self.joined and not self.said.reads(at, "no_opens")

    def _hedged(self, at: int, word: str) -> bool:
        if self.colon or (self.joined and self.own) or self.said.reads(at, "no_hedge"):
            return False
        strong = word in WORDS["strong_hedge"] and not (self.own and self.told and word in WORDS["hard_to_tell"])
        return strong or self.opinion


def says(said: StatementWords, at: int) -> bool:
    """Return whether it is the speaker who says what a word of saying brings."""
    if said.reads(at, "told_me"):
        clause = range(max(at - 8, 0), at)
        if not any(said.player(each) is not None or said.is_(each, "sayer") for each in clause):
            return True
    mine = not said.is_(at, "opinion_of_mine") and said.near(at, "i_say") is not None
    return mine or said.reads(at, "believe_me")


def closes(said: StatementWords, at: int) -> bool:
    """Return whether what follows a role leaves it a word of its own: "a wolf hunter" is no wolf."""
    return not said.is_(at, "compound", "cut") or said.reads(at, "closes_still")


def taken_back(said: StatementWords, after: int, *, opinion: bool = False) -> bool:
    """Return whether what follows a claim takes it back, or makes it an opinion if that counts as none."""
    table = "taken_back_or_opinion" if opinion else "taken_back"
    return said.reads(after, table)


def ironic(said: StatementWords, begin: int) -> bool:
    """Return whether a confession is a jest: "Sure, I am the wolf, and you are the queen"."""
    before = any(word in WORDS["irony"] for _, word in said.back(begin))
    return before or not WORDS["jest"].isdisjoint(said.words[begin : begin + _IRONY])
