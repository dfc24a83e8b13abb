"""Whom the words of a statement are about: names, "I", "you", "he", and the nights that are told."""

from __future__ import annotations

from analytics.claims.lexicon import WORDS
from analytics.claims.words import CUT, STOPS, Said, player


class Persons:
    """The words of one statement, and who is meant by them.

    Args:
        said: the words.
        names: how many players there are.
        speaker: place of the speaker among the names, None if it has none.

    Attributes:
        words: the words.
        marks: for each word, the place of the player that it names, None for other words.
    """

    def __init__(self, said: Said, names: int, speaker: int | None) -> None:
        self.words = said.words
        self.silent = said.silent
        self.names = names
        self.speaker = speaker
        self.marks: list[int | None] = [player(word, names) if names else None for word in self.words]
        self._cut = {place for place, word in enumerate(self.words) if word == CUT}
        self._last_you: int | None = None

    def _word(self, at: int) -> str:
        """Return the word at a place, "" beyond either end."""
        return self.words[at] if 0 <= at < len(self.words) else ""

    def _starts(self, at: int) -> bool:
        """Return whether the word at a place may stand before the beginning of a clause."""
        return (
            at < 0
            or self.words[at] in WORDS["clause_start"]
            or self._is_night(at)
            or self.words[at] in WORDS["result_words"]
        )

    def _is_night(self, at: int) -> bool:
        word = self.words[at] if 0 <= at < len(self.words) else ""
        return (
            word in WORDS["nights_alone"]
            or word.startswith("night_")
            or (word in WORDS["night_prepositions"] and at + 1 < len(self.words) and self._is_night(at + 1))
            or (word == "night" and at > 0 and self.words[at - 1] in WORDS["night_determiners"])
        )

    def _night(self, begin: int, end: int, verb: int) -> int | None:
        """Return the night that is named right after, or before in the clause."""
        words = self.words
        for at in range(verb, min(end + 4, len(words))):
            if words[at].startswith("night_"):
                return int(words[at][6:])
            if at >= end and (words[at] in STOPS or words[at] in WORDS["inspected"]):
                break
        at = begin - 1
        while at >= 0 and begin - at < 7 and words[at] not in STOPS:
            if words[at].startswith("night_"):
                return int(words[at][6:])
            at -= 1
        return None

    def _by_me(self, place: int) -> int | None:
        """Return where the words "I have" before a verb begin, or the verb itself where its subject, the speaker, is
        left out; None if somebody else does it.
        """
        words = self.words
        at = place - 1
        if place >= 2 and words[at] == "to" and WORDS["occasion"].intersection(words[max(place - 4, 0) : place]):
            near = [
                each
                for each in range(max(place - 9, 0), place)
                if words[each] in {"i", *STOPS, "he", "she", "they", "you"} or self.marks[each] is not None
            ]
            return near[-1] if near and words[near[-1]] == "i" else None
        if at >= 0 and words[at] == "having":
            return at if self._starts(at - 1) else None
        while at >= 0 and (words[at] in WORDS["auxiliary"] or self._is_night(at)) and words[at] != "and":
            at -= 1
        if at >= 0 and words[at] == "i":
            before = words[at - 1] if at else ""
            return None if place > at + 1 and words[at + 1] in {"would", "will"} else (at if before != CUT else None)
        if at >= 1 and words[at] in {"who", "that"} and words[at - 1] in {"i", "me"}:
            return at - 1
        if at >= 3 and words[at] in {"who", "that"} and words[at - 1] == "one" and "i" in words[max(at - 5, 0) : at]:
            return at - 1
        at = place - 1
        while at >= 0 and (self._is_night(at) or words[at] in WORDS["dropped_before"]):
            at -= 1
        if not self._starts(at):
            return None
        # the subject is left out: it is the last one named in the sentence, or the speaker
        seen_verb = False
        while at >= 0 and words[at] not in STOPS:
            word = words[at]
            if word in {"i", "me", "my"} or (
                word in WORDS["inspected"] | WORDS["protected"] and self.marks[min(at + 1, len(words) - 1)] is not None
            ):
                return place
            if word in WORDS["persons"] or (self.marks[at] is not None and not seen_verb):
                mine = self._mine_before(at)
                return place if mine else None
            at -= 1
        return place

    def _mine_before(self, at: int) -> bool:
        """Return whether the speaker has told of an inspection or a protection of its own earlier in the sentence."""
        words = self.words
        while at >= 0 and words[at] not in STOPS:
            if words[at] in WORDS["inspected"] or words[at] in WORDS["protected"]:
                return self._by_me(at) is not None
            at -= 1
        return False

    def _chosen(self, place: int) -> bool:
        """Return whether "to inspect" is what the speaker chose to do."""
        words = self.words
        if place >= 2 and words[place - 1] == "to":
            near = words[max(place - 5, 0) : place - 1]
            return bool(WORDS["chose"].intersection(near)) or "used" in words[max(place - 6, 0) : place]
        return (
            place >= 1
            and words[place - 1] in {"did", "and"}
            and self._by_me(place) is not None
            and words[place - 1] == "did"
        )

    def _others(self, before: int) -> set[int]:
        """Return the other players named in a sentence before a place."""
        found: set[int] = set()
        at = before - 1
        while at >= 0 and self.words[at] not in STOPS:
            mark = self.marks[at]
            if mark is not None and mark != self.speaker:
                found.add(mark)
            at -= 1
        return found

    def _antecedent(self, before: int) -> int | None:
        """Return the other player named last before a place, in this sentence or the three before."""
        at, stops = before - 1, 0
        while at >= 0:
            mark = self.marks[at]
            if mark is not None and mark != self.speaker:
                return mark
            if self.words[at] in STOPS:
                stops += 1
                if stops > 3:
                    return None
            at -= 1
        return None

    def _you_alone(self, at: int) -> int | None:
        """Return who is spoken to as "you", be it only the one other player named in the sentence."""
        found = self._you(at, at)
        if found is None:
            end = at
            while end < len(self.words) and self.words[end] not in STOPS:
                end += 1
            others = self._others(end)
            found = others.pop() if len(others) == 1 else None
        return found

    def _you(self, at: int, place: int) -> int | None:
        """Return who is spoken to as "you"."""
        words = self.words
        if at >= 1 and self.marks[at - 1] is not None:
            return self.marks[at - 1]
        if at >= 2 and words[at - 1] in WORDS["address_signs"] and self.marks[at - 2] is not None:
            return self.marks[at - 2]
        if at + 2 < len(words) and words[at + 1] == "," and self.marks[at + 2] is not None:
            return self.marks[at + 2]
        end = place + 1
        if end + 1 < len(words) and words[end] == "," and self.marks[end + 1] is not None:
            return self.marks[end + 1]
        if end < len(words) and self.marks[end] is not None:
            return self.marks[end]
        ahead = at
        while ahead + 1 < len(words) and words[ahead] not in STOPS and ahead - at < 14:
            if words[ahead] == "," and self.marks[ahead + 1] is not None and self._word(ahead + 2) in {",", ".", "!"}:
                return self.marks[ahead + 1]
            ahead += 1
        # whom the sentence, or one before, opens with
        begin = at
        for _ in range(3):
            begin -= 1
            while begin >= 0 and words[begin] not in STOPS:
                begin -= 1
            first = begin + 1
            while first < len(words) and words[first] in WORDS["address_openers"]:
                first += 1
            if first + 1 < len(words) and self.marks[first] is not None and words[first + 1] in WORDS["address_ends"]:
                return self.marks[first]
            if begin < 0:
                break
        return None
