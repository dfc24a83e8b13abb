"""`StatementWords`: the words of one statement, by place, and what stands around a place: whom "you", "he" and a verb
without a subject mean, and whether a claim is made on the speaker's own account, not supposed, reported, denied,
doubted, ironic or taken back.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from wolfbus.claims.lexicon import WORDS, any_of, coded, match_around, match_from
from wolfbus.claims.words import STOPS, player

_END: Final = "."
"""The word before the first and after the last."""
_REACH: Final = 80
"""Words before a claim, or a verb without a subject, that are looked over."""


class StatementWords:
    """Words by place, "." wherever there is none.

    Args:
        tokens: the words.
        silent: places of words that say nothing on the speaker's own account.
        in_question: those of them that stand in a question of the speaker's.
        names: how many players there are.
        speaker: place of the speaker among the names, None if it has none.
    """

    def __init__(
        self, tokens: list[str], silent: frozenset[int], in_question: frozenset[int], names: int, speaker: int | None
    ) -> None:
        self.tokens = tokens
        self.silent = silent
        self.in_question = in_question
        self.speaker = speaker
        self._players = [player(word, names) if names else None for word in self.tokens]
        self._code = coded(self.tokens)

    def word(self, place: int) -> str:
        """Return the word at a place."""
        return self.tokens[place] if 0 <= place < len(self.tokens) else _END

    def in_class(self, place: int, *kinds: str) -> bool:
        """Return whether the word at a place is in one of these classes of the lexicon."""
        word = self.word(place)
        return any(word in WORDS[kind] for kind in kinds)

    def player(self, place: int) -> int | None:
        """Return the player that the word at a place names."""
        return self._players[place] if 0 <= place < len(self._players) else None

    def other(self, place: int) -> int | None:
        """Return the player other than the speaker that the word at a place names."""
        player = self.player(place)
        return player if player != self.speaker else None

    def players(self, begin: int, end: int) -> list[int]:
        """Return the players named between two places."""
        return [player for player in self._players[max(begin, 0) : end] if player is not None]

    def near(self, place: int, table: str) -> re.Match[str] | None:
        """Return the first pattern of a table that fits around a place; its offsets are places of words."""
        return match_around(self._code, place, table)

    def reads(self, place: int, table: str) -> bool:
        """Return whether the words from a place on fit a pattern of a table."""
        return match_from(self._code, place, table) is not None

    def night_at(self, place: int) -> int | None:
        """Return the number of the night that the word at a place gives."""
        word = self.word(place)
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
        for place in range(begin - 1, begin - 7, -1):
            before = self._nights_at(place, "nights_before")
            if before or self.word(place) in STOPS:
                break
        for place in range(verb, end + 4):
            if nights := self._nights_at(place, "nights_after"):
                return nights
            joined = self.word(place) in {"and", ";"} or (self.word(place) == "," and before)
            if place >= end and (joined or self.in_class(place, "stop", "inspected")):
                break
        return before

    def _nights_at(self, place: int, table: str) -> list[int]:
        """Return the night that the word at a place gives, with the others of its list; none if it gives none."""
        if self.night_at(place) is None:
            return []
        match = self.near(place, table)
        return self.nights_between(*(match.span() if match is not None else (place, place + 1)))

    def nights_between(self, begin: int, end: int) -> list[int]:
        """Return the numbers of the nights named between two places."""
        return [night for place in range(begin, end) if (night := self.night_at(place)) is not None]

    def sentence(self, end: int) -> int:
        """Return where the sentence begins that a place belongs to."""
        place = end
        while place > 0 and self.tokens[place - 1] not in STOPS:
            place -= 1
        return place

    def back(self, end: int) -> Iterator[tuple[int, str]]:
        """Yield the words of a sentence before a place, backwards, each with its place."""
        place = min(end, len(self.tokens)) - 1
        while place >= 0 and self.tokens[place] not in STOPS:
            yield place, self.tokens[place]
            place -= 1


@dataclass(frozen=True, slots=True)
class InspectionWords:
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


def antecedent(words: StatementWords, before: int) -> int | None:
    """Return the other player whom "he" before a place means: the only one named in the last sentence that names one,
    of this and the three before.
    """
    for _ in range(4):
        named = others(words, before)
        if named:
            return named.pop() if len(named) == 1 else None
        before = words.sentence(before) - 1
        if before < 0:
            break
    return None


def others(words: StatementWords, before: int) -> set[int]:
    """Return the players other than the speaker named in a sentence before a place."""
    return {player for place, _ in words.back(before) if (player := words.other(place)) is not None}


_SENTENCES: Final = 8
"""Sentences that are looked over for who is spoken to."""


def addressed(words: StatementWords, you: int, kernel: int) -> int | None:
    """Return the other player spoken to as "you", by its name beside that word, behind what is said of it, or where
    this sentence opens, or the last one before, of seven, that opens with a name.

    Args:
        words: the statement.
        you: the place of "you".
        kernel: the last place of what is said of it.
    """
    for anchor, table in ((you, "called"), (kernel, "called_after"), (you, "called_later")):
        if match := words.near(anchor, table):
            return words.other(match.start("who"))
    begin = you
    for _ in range(_SENTENCES):
        begin = first = words.sentence(begin)
        while words.in_class(first, "opening"):
            first += 1
        is_called = words.in_class(first + 1, "after_address") or words.reads(first, "called_first")
        if words.player(first) is not None and is_called:
            return words.other(first)
        if begin == 0:
            break
        begin -= 1
        # "I don't believe you, Raj. You're a wolf."
        if words.word(begin - 2) == "," and words.player(begin - 1) is not None:
            return words.other(begin - 1)
    aside = words.near(you, "called_aside")
    return words.other(aside.start("who")) if aside is not None else None


def person(words: StatementWords, place: int, end: int) -> int | None:
    """Return the player whom a name or a pronoun means; "you" may be the only other player named in the sentence.

    Args:
        words: the statement.
        place: the place of the name or the pronoun.
        end: the place after what goes with it: "your soul".
    """
    if words.word(place) not in {"you", "your"}:
        return words.player(place) if words.player(place) is not None else antecedent(words, place)
    player = addressed(words, place, end - 1)
    if player is None:
        while end < len(words.tokens) and words.word(end) not in STOPS:
            end += 1
        named = others(words, end)
        player = named.pop() if len(named) == 1 else None
    return player


def referred(words: StatementWords, place: int) -> int | None:
    """Return the player whom the word at a place means, a name, "you" or "he"; None if it means nobody for certain."""
    if words.player(place) is not None:
        return words.player(place)
    if words.word(place) in {"you", "your"}:
        return addressed(words, place, place)
    return antecedent(words, place) if words.in_class(place, "third_person", "their") else None


_DONE: Final = any_of("inspected", "protected")


def by_speaker(words: StatementWords, verb: int) -> int | None:
    """Return where the words "I have" before a verb begin, or the verb itself where its subject, the speaker, is left
    out; None if somebody else does it.
    """
    if match := words.near(verb, "by_me"):
        return match.start("me")
    return verb if words.near(verb, "no_subject") and _speaker_goes_on(words, verb) else None


def _speaker_goes_on(words: StatementWords, verb: int) -> bool:
    """Return whether the subject that is left out is the speaker: nobody else was named in the sentence, or the
    speaker's own deed was.
    """
    another = False
    for place, word in words.back(verb):
        if place < verb - _REACH:
            break
        deed = word in _DONE
        if another:
            # it goes on only with an earlier deed of the speaker's
            if deed and words.near(place, "by_me"):
                return True
            if deed and not words.near(place, "no_subject"):
                return False
            another = not deed
        elif word in {"i", "me", "my"} or (deed and words.player(place + 1) is not None):
            return True
        else:
            another = word in WORDS["subject"] or words.player(place) is not None
    return not another


_IRONY: Final = 30
"""Words behind a claim in which a jest may show."""
_OWNED: Final = 8
"""Words between whose something is and what it is."""
_UNDOING: Final = any_of("cut", "condition", "report", "negation", "guess", "hedge")


def meant(
    words: StatementWords,
    begin: int,
    *,
    opinion: bool = False,
    of_self: bool = False,
    hedged: bool = False,
    of_ways: bool = False,
    since: int = 0,
) -> bool:
    """Return whether nothing before a claim in its sentence makes it none.

    Args:
        words: the statement.
        begin: where the claim begins.
        opinion: whether a mere opinion counts as none.
        of_self: whether it is of the speaker itself.
        hedged: whether it counts however doubtful the speaker is of it.
        of_ways: whether it is about what somebody does: claims and calls are then things that somebody makes, unless
            somebody claims or calls there, and who does something without reason does it.
        since: where to stop looking.
    """
    scan = _BackwardScan(words, begin, opinion=opinion, of_self=of_self, hedged=hedged, of_ways=of_ways)
    for place, word in words.back(begin):
        if place < max(since, begin - _REACH) or word in WORDS["breaks"]:
            break
        if scan.undone_by(place, word):
            return False
    return True


@dataclass(slots=True)
class _BackwardScan:
    """What has been met on the way back from a claim to the beginning of its sentence."""

    words: StatementWords
    begin: int
    opinion: bool
    of_self: bool
    hedged: bool
    of_ways: bool = False
    joined: bool = False
    """Words that join clauses were met, with no "that" behind them."""
    colon: bool = False
    that: bool = False
    telling: bool = False
    """A word of telling was met: "I must tell you: I am the Seer"."""
    doubted: bool = False
    """A word of doubt was met."""
    own_view: bool = False
    """And "I" before it: what is told before a comma there is of another clause."""

    def undone_by(self, place: int, word: str) -> bool:
        """Return whether this word makes the claim none; record it otherwise."""
        self.telling = self.telling or word in WORDS["telling"]
        if word == ":":
            self.colon = True
        elif word in WORDS["joining"]:
            self.joined = self.joined or not self.that
        elif word == "that":
            self.that = True
        if self.hedged and word in WORDS["disbelief"] and self.words.near(place, "i_doubt"):
            return not self.joined
        if self.hedged and word in WORDS["doubting"]:
            self.doubted = True
            return False
        self.own_view = self.own_view or (word == "i" and self.doubted)
        if self.of_ways and (word == "without" or (word in WORDS["of_ways"] and self._is_owned(place))):
            return False
        return word in _UNDOING and (
            (word in WORDS["cut"] and not self.hedged)
            or (word in WORDS["condition"] and self._supposed(place, word))
            or (word in WORDS["report"] and self._reported(place, word))
            or (word in WORDS["negation"] and self._denied(place))
            or (
                word in WORDS["guess"]
                and not (self.of_self or self.hedged)
                and self.words.near(place, "my_guess") is not None
            )
            or (word in WORDS["hedge"] and self._hedged(place, word))
        )

    def _is_owned(self, place: int) -> bool:
        """Return whether a word is something that somebody has: "Raj's repeated calls", not "Raj calls"."""
        words = self.words
        if words.player(place - 1) is not None or words.in_class(place - 1, "subject", "sayer"):
            return False
        if words.word(place) in {"fake", "false"}:
            return words.in_class(place - 1, "owning")
        return any(words.in_class(one, "owning") for one in range(max(words.sentence(place), place - _OWNED), place))

    def _supposed(self, place: int, word: str) -> bool:
        if self.words.reads(place, "no_condition"):
            return False
        if self.colon and word in WORDS["condition_to_colon"]:
            return False
        if self.hedged and self.words.word(place - 1) == "my":
            return False
        to_comma = "condition_nouns" if self.hedged else "condition_to_comma"
        # "it is a lie that Raj is dead, and Bea is …" goes on behind the comma
        return not (self.joined and word in WORDS[to_comma] and self.words.word(place + 1) != "that")

    def _reported(self, place: int, word: str) -> bool:
        words, begin = self.words, self.begin
        if is_said_by_speaker(words, place) or self._closed_before(place, word):
            return False
        if (
            not self.of_self
            and not self.opinion
            and word in WORDS["opining"]
            and words.near(place, "i_hold") is not None
        ):
            return False
        if self.of_self:
            if words.near(begin, "apart") and words.word(place + 1) not in {",", ":"}:
                return False
            if (
                (self.colon or self.telling)
                and word in WORDS["opining"]
                and "i" in words.tokens[max(place - 2, 0) : place]
            ):
                return False
            if self.joined and not self.that and word in WORDS["report_to_comma"]:
                return False
        if (self.colon or self.that) and not WORDS["agreeing"].isdisjoint(words.tokens[max(place - 8, 0) : begin]):
            return False
        if self.joined and not {"what", "whatever"}.isdisjoint(words.tokens[max(place - 4, 0) : place]):
            return False
        return words.near(place, "device_says") is None

    def _closed_before(self, place: int, word: str) -> bool:
        """Return whether what is told ends before the comma: "I doubt Raj's claim, so Bea is …"."""
        is_thing = not self.colon and word in WORDS["of_ways"] and self._is_owned(place)
        return self.joined and (self.own_view or is_thing)

    def _denied(self, place: int) -> bool:
        return not self.colon and not self.joined and not self.words.reads(place, "no_opens")

    def _hedged(self, place: int, word: str) -> bool:
        if self.hedged:
            return True
        if self.colon or (self.joined and self.of_self) or self.words.reads(place, "no_hedge"):
            return False
        strong = word in WORDS["strong_hedge"] and not (self.of_self and self.telling and word in WORDS["hard_to_tell"])
        return strong or self.opinion


def is_said_by_speaker(words: StatementWords, place: int) -> bool:
    """Return whether the speaker itself says what follows a word of saying."""
    if words.reads(place, "told_me"):
        clause = range(max(place - 8, 0), place)
        if not any(words.player(index) is not None or words.in_class(index, "sayer") for index in clause):
            return True
    is_mine = not words.in_class(place, "opinion_of_mine") and words.near(place, "i_say") is not None
    return is_mine or words.reads(place, "believe_me")


def closes(words: StatementWords, place: int) -> bool:
    """Return whether what follows a role leaves it a word of its own: "a wolf hunter" is no wolf."""
    return not words.in_class(place, "compound", "cut") or words.reads(place, "closes_still")


def taken_back(words: StatementWords, after: int, *, opinion: bool = False) -> bool:
    """Return whether what follows a claim takes it back, or makes it an opinion if that counts as none."""
    table = "taken_back_or_opinion" if opinion else "taken_back"
    return words.reads(after, table)


def ironic(words: StatementWords, begin: int) -> bool:
    """Return whether a confession is a jest: "Sure, I am the wolf, and you are the queen"."""
    is_ironic = any(word in WORDS["irony"] for _, word in words.back(begin))
    return is_ironic or not WORDS["jest"].isdisjoint(words.tokens[begin : begin + _IRONY])
