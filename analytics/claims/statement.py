"""`StatementWords`: the words of one statement, by place, and what stands around a place: whom "you", "he" and a verb
without a subject mean, and whether a claim is made on the speaker's own account, not supposed, reported, denied,
doubted, ironic or taken back.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, Literal

from analytics.claims.lexicon import WORDS, any_of, around, begins, coded
from analytics.claims.words import STOPS, player
from wolfbus.vocabulary import Role

_END: Final = "."
"""The word before the first and after the last."""
_REACH: Final = 80
"""Words before a claim, or a verb without a subject, that are looked over."""


class StatementWords:
    """Words by place, "." wherever there is none.

    Args:
        words: the words.
        silent: places of words that say nothing on the speaker's own account.
        names: how many players there are.
        speaker: place of the speaker among the names, None if it has none.
    """

    def __init__(self, words: list[str], silent: frozenset[int], names: int, speaker: int | None) -> None:
        self.words = words
        self.silent = silent
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
        return int(word[6:]) if word.startswith("night_") and word[6:].isdecimal() else None

    def night(self, begin: int, end: int, verb: int) -> int | None:
        """Return the only one of `nights`, None if they are none or several."""
        nights = self.nights(begin, end, verb)
        return nights[0] if len(nights) == 1 else None

    def nights(self, begin: int, end: int, verb: int) -> list[int]:
        """Return the nights that are named after a verb up to right after what it is about, or before in the clause: of
        "night 1 I saved Raj, night 2 Bea" the first.
        """
        before: list[int] = []
        for at in range(begin - 1, begin - 7, -1):
            before = self._nights_at(at, "nights_before")
            if before or self.word(at) in STOPS:
                break
        for at in range(verb, end + 4):
            if nights := self._nights_at(at, "nights_after"):
                return nights
            joined = self.word(at) in {"and", ";"} or (self.word(at) == "," and before)
            if at >= end and (joined or self.is_(at, "stop", "inspected")):
                break
        return before

    def _nights_at(self, at: int, table: str) -> list[int]:
        """Return the night that the word at a place gives, with the others of its list; none if it gives none."""
        if self.night_at(at) is None:
            return []
        match = self.near(at, table)
        return self.nights_between(*(match.span() if match is not None else (at, at + 1)))

    def nights_between(self, begin: int, end: int) -> list[int]:
        """Return the numbers of the nights named between two places."""
        return [night for at in range(begin, end) if (night := self.night_at(at)) is not None]

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


@dataclass(frozen=True, slots=True)
class FoundClaim:
    """One claim in the words.

    Attributes:
        kind: what is claimed; an accusation is a role "Werewolf" of another.
        target: place of the player among the names; None for the speaker.
        role: the role claimed; None for a protection, and for an inspection that only rules out the Werewolf.
        night: the night named.
        opinion: the speaker only thinks so.
    """

    kind: Literal["role", "inspection", "protection"]
    target: int | None
    role: Role | None = None
    night: int | None = None
    opinion: bool = False


@dataclass(frozen=True, slots=True)
class Inspecting:
    """Words that tell of an inspection by the speaker.

    Attributes:
        start: where they begin.
        end: the place after them.
        target: the player inspected, None if the words name nobody.
        night: the night they name.
        also: further players that the same words name, each with the night.
    """

    start: int
    end: int
    target: int | None
    night: int | None
    also: tuple[tuple[int, int | None], ...] = ()


def antecedent(said: StatementWords, before: int) -> int | None:
    """Return the other player whom "he" before a place means: the only one named in the last sentence that names one,
    of this and the three before.
    """
    for _ in range(4):
        named = others(said, before)
        if named:
            return named.pop() if len(named) == 1 else None
        before = said.sentence(before) - 1
        if before < 0:
            break
    return None


def others(said: StatementWords, before: int) -> set[int]:
    """Return the players other than the speaker named in a sentence before a place."""
    return {found for at, _ in said.back(before) if (found := said.other(at)) is not None}


def addressed(said: StatementWords, at: int, kernel: int) -> int | None:
    """Return the other player spoken to as "you", by its name beside that word, behind what is said of it, or where
    this sentence or one of the two before opens.

    Args:
        said: the statement.
        at: the place of "you".
        kernel: the last place of what is said of it.
    """
    for place, table in ((at, "called"), (kernel, "called_after"), (at, "called_later")):
        found = said.near(place, table)
        if found is not None:
            return said.other(found.start("who"))
    begin = at
    for _ in range(3):
        begin = first = said.sentence(begin)
        while said.is_(first, "opening"):
            first += 1
        if said.player(first) is not None and said.is_(first + 1, "after_address"):
            return said.other(first)
        if begin == 0:
            break
        begin -= 1
    return None


def alone(said: StatementWords, at: int) -> int | None:
    """Return who is spoken to as "you", be it only the one other player named in the sentence."""
    found = addressed(said, at, at)
    if found is None:
        end = at
        while end < len(said.words) and said.word(end) not in STOPS:
            end += 1
        named = others(said, end)
        found = named.pop() if len(named) == 1 else None
    return found


_DONE: Final = any_of("inspected", "protected")


def by_speaker(said: StatementWords, verb: int) -> int | None:
    """Return where the words "I have" before a verb begin, or the verb itself where its subject, the speaker, is left
    out; None if somebody else does it.
    """
    found = said.near(verb, "by_me")
    if found is not None:
        return found.start("me")
    return verb if said.near(verb, "no_subject") is not None and _speaker_goes_on(said, verb) else None


def _speaker_goes_on(said: StatementWords, verb: int) -> bool:
    """Return whether the subject that is left out is the speaker: nobody else was told of in the sentence, or the
    speaker's own deed was.
    """
    another = False
    for at, word in said.back(verb):
        if at < verb - _REACH:
            break
        deed = word in _DONE
        if another:
            # it goes on only with an earlier deed of the speaker's
            if deed and said.near(at, "by_me") is not None:
                return True
            if deed and said.near(at, "no_subject") is None:
                return False
            another = not deed
        elif word in {"i", "me", "my"} or (deed and said.player(at + 1) is not None):
            return True
        else:
            another = word in WORDS["subject"] or said.player(at) is not None
    return not another


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
