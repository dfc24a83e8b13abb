"""Whose role is told by "is": the subject of the word that joins it to a role."""

from __future__ import annotations

from analytics.claims.lexicon import WORDS
from analytics.claims.meaning import Meaning
from analytics.claims.words import STOPS


class Names(Meaning):
    """Finds the subject of "is"."""

    def _left(self, place: int) -> int:
        """Return the place of the first word to the left of a role that does not belong to it."""
        words = self.words
        left = place - 1
        while left >= 0 and (words[left] in WORDS["modifier"]):
            left -= 1
        if left >= 2 and words[left] == ",":
            # "I am, in fact, the Seer"
            at = left - 1
            while (
                at > 0
                and left - at < 9
                and words[at] != ","
                and words[at] not in STOPS
                and words[at] not in WORDS["hedge"] | WORDS["negation"] | WORDS["condition"]
            ):
                at -= 1
            if (
                words[at] == ","
                and left - at > 1
                and words[at - 1] in WORDS["copulas"]
                and not WORDS["report"].intersection(words[at:left])
            ):
                return at - 1
        return left

    def _named(self, at: int) -> tuple[list[int | None], int]:
        """Return the players named in a row that ends at a place, and where it begins."""
        words = self.words
        names: list[int | None] = [self.marks[at]]
        begin = at
        while begin >= 2 and self.marks[begin - 2] is not None and words[begin - 1] in {"and", ",", "/"}:
            if (
                words[begin - 1] == ","
                and len(names) == 1
                and self._singular(at)
                and self._word(at + 1) != "werewolves"
            ):
                # "Ada, Raj is a Werewolf" speaks to Ada
                break
            begin -= 2
            names.append(self.marks[begin])
        if words[begin - 1] == "of" and begin >= 1 and len(names) > 1:
            return [], at
        if len(names) > 1 and self._singular(at) and self._word(at + 1) != "werewolves":
            return [self.marks[at]], at
        if words[begin - 1] in {"or", "nor"} or (begin >= 1 and words[begin - 1] == "of"):
            return [], at
        return [None if name == self.speaker else name for name in reversed(names)], begin

    def _singular(self, at: int) -> bool:
        return self.words[at + 1] in {"is", "was", "'s"} if at + 1 < len(self.words) else True

    def _subject_of(self, joint: int, place: int) -> tuple[list[int | None], int]:
        """Return the subject of the word that joins it to a role."""
        words = self.words
        at = joint - 1
        while at >= 0 and (words[at] in WORDS["copula_fillers"]):
            at -= 1
        if at < 0:
            return [], joint
        word, mark = words[at], self.marks[at]
        if words[joint] == "been":
            while at > 0 and words[at] in WORDS["been_fillers"]:
                at -= 1
            if words[at + 1] not in {"have", "has"}:
                return [], joint
            word, mark = words[at], self.marks[at]
        if words[joint] == "=" and (mark is None or not self._starts(at - 1)):
            return [], joint
        if words[joint] == "be" or (words[joint] == "was" and word == "i"):
            before = words[max(at - 2, 0) : at + 1]
            if (
                words[joint] == "be"
                and (mark is not None or word == "i")
                and not WORDS["wishes"].intersection(words[max(at - 3, 0) : at])
            ):
                return ([None], at) if word == "i" else self._named(at)
            if (
                words[joint] == "be"
                and word == "to"
                and at >= 2
                and words[at - 1] in WORDS["got_to_be"]
                and "i" in words[max(at - 4, 0) : at]
            ):
                return [None], words.index("i", max(at - 4, 0))
            if (
                words[joint] == "be"
                and word in {"must", "to"}
                and WORDS["therefore"].intersection(words[max(at - 8, 0) : at])
            ):
                back = at - 1 if word == "must" else at - 2
                if back >= 0 and self.marks[back] is not None:
                    return self._named(back)
            if (
                words[joint] == "be"
                and before[-1:] == ["to"]
                and len(before) > 1
                and before[-2] == "claim"
                and before[0] == "i"
            ):
                return [None], at - 2
            return [], joint
        if word == "i" or (mark is not None and mark == self.speaker and words[joint] == "am"):
            return [None], at
        if word == "," and words[joint] in {"is", "are"} and words[max(at - 3, 0)] != "you":
            back = at - 1
            while back > 0 and at - back < 9 and words[back] != "," and words[back] not in STOPS:
                back -= 1
            aside = words[back + 1 : at]
            if (
                words[back] == ","
                and self.marks[back - 1] is not None
                and not (WORDS["hedge"] | WORDS["report"] | WORDS["negation"]).intersection(aside)
                and back >= 1
                and not any(self.marks[each] is not None for each in range(back + 1, at))
            ):
                return self._named(back - 1) if self._starts(back - 2) else ([], joint)
        if words[joint] == "am" and mark is not None and at >= 2 and words[at - 1] == "," and words[at - 2] == "i":
            return [None], at - 2
        if words[joint] == "am" and word == "," and mark is None and at >= 3 and words[at - 3] == "i":
            return [None], at - 3
        if word == "me" and self._starts(at - 1) and words[joint] == "is":
            return [None], at
        if word == "it" and at >= 1 and words[at - 1] in {"role", "card", "job"} and "my" in words[max(at - 3, 0) : at]:
            return [None], at - 2
        if word == "they" and at >= 1 and self.marks[at - 1] is not None:
            return self._named(at - 1)
        if (
            word == "who"
            and at >= 1
            and words[at - 1] in {"one", "person", "player"}
            and "i" in words[max(at - 5, 0) : at]
            and "am" in words[max(at - 5, 0) : at]
        ):
            return [None], at - 4 if at >= 4 else 0
        if words[joint] == "am" or (words[joint] == "'s" and mark is None):
            return [], joint
        if mark is not None:
            return self._named(at)
        if word == "," and at >= 3 and words[at - 2] == "," and words[at - 3] == "i":
            return [None], at - 3
        if word == "," and self.marks[at - 1] is not None and words[max(at - 3, 0)] == "you":
            return [self.marks[at - 1]], max(at - 3, 0)
        if word == "me" and {"role", "card"}.intersection(words[max(at - 6, 0) : at]) and words[joint] == "is":
            return [None], max(at - 4, 0)
        if word in WORDS["had_role"] and "i" in words[max(at - 3, 0) : at]:
            near = words[max(at - 6, 0) : at]
            if {"role", "card"}.intersection(near):
                return [None], max(at - 6, 0) + next(each for each, one in enumerate(near) if one in {"role", "card"})
        if word in WORDS["places"]:
            back = at - 1
            while back >= 0 and words[back] in WORDS["place_fillers"]:
                back -= 1
            if back >= 0 and words[back] == "role":
                at, word = back, "role"
        if word in WORDS["role_nouns"]:
            begin = at - 1
            while begin >= 0 and words[begin] in WORDS["role_adjectives"]:
                begin -= 1
            if begin >= 0 and words[begin] == "my":
                return [None], begin
            if begin >= 1 and words[begin] == "'s" and self.marks[begin - 1] is not None:
                return [self.marks[begin - 1]], begin - 1
            return [], joint
        if word == "you":
            target = self._you(at, place)
            return ([target], at) if target is not None and target != self.speaker else ([], joint)
        if word == "who" and at >= 1:
            begin = at - 1
            if words[begin] == ",":
                begin -= 1
            if words[begin] in {"i", "me"}:
                return [None], begin
            if self.marks[begin] is not None:
                return self._named(begin)
            return [], joint
        if word in {"he", "she"}:
            target = self._antecedent(at)
            after = place + 1
            if (
                self._word(after) == ","
                and after + 1 < len(words)
                and self.marks[after + 1] is not None
                and self._word(after + 2) in {".", "!"}
            ):
                target = self.marks[after + 1]
            elif len(self._others(at)) > 1:
                target = None
            return ([target], at) if target is not None else ([], joint)
        return [], joint
