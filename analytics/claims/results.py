"""What an inspection showed: the role that is told after it, or before it."""

from __future__ import annotations

from typing import Final

from analytics.claims.inspections import Inspections
from analytics.claims.lexicon import WORDS
from analytics.claims.parts import Inspecting
from analytics.claims.words import STOPS

_REACH: Final = 80
"""Words before a claim, or after an inspection, that are looked over."""


class InspectionResults(Inspections):
    """Finds the result of an inspection."""

    def _result_of(self, pending: Inspecting, place: int) -> int | None:
        """Return who turns out to have the role at a place by an inspection, if only joining words lie between."""
        words = self.words
        target, at, stops = pending.target, pending.end, 0
        if words[self._left(place)] == "am" and self._left(place) >= pending.end:
            return None
        targets = {target, *(other for other, _ in pending.also)} - {None}
        named = target if len(targets) < 2 else None
        if place - at > 2 * _REACH or place < at:
            return None
        skipped = False
        while at < place:
            word = words[at]
            mark = self.marks[at]
            if mark is not None:
                if named is None and (target is None or mark in targets):
                    named = mark
                elif mark != named:
                    return None
            elif len(targets) > 1 and word in WORDS["role"]:
                named, stops = None, stops - 1
            elif (
                (word in WORDS["aside"] and not skipped and word not in WORDS["no_asides"])
                or (word == "who" and at + 1 < place and words[at + 1] not in WORDS["turned_out"] and not skipped)
                or (word.endswith("ing") and words[at - 1] == "," and not skipped and word not in WORDS["modifier"])
            ):
                skipped = True
                at = self._after_aside(at, place)
                continue
            elif word in STOPS:
                stops += 1
                if stops > 2:
                    return None
            elif word == "'s" or word in WORDS["modifier"] or word in WORDS["connector"] or word.startswith("night_"):
                if (
                    word == "and"
                    and at == pending.end
                    and at + 1 < place
                    and self.marks[at + 1] is not None
                    and self.marks[at + 1] != named
                ):
                    return None
            else:
                return None
            at += 1
        if named is None and len(targets) < 2:
            pronouns = WORDS["persons_all"]
            between = words[pending.end : place]
            if pronouns.intersection(between):
                named = self._antecedent(pending.start)
            elif {"you"}.intersection(between):
                named = self._you(pending.start, place)
        return named if named != self.speaker else None

    def _cleared(self, place: int, pending: Inspecting) -> int | None:
        """Return whom an inspection shows to be no Werewolf, without naming a role."""
        words = self.words
        if words[place] not in WORDS["cleared"]:
            return None
        if words[place] == "werewolf":
            at = place - 1
            while at >= 0 and words[at] in WORDS["modifier"]:
                at -= 1
            if at < pending.end or words[at] not in {"not", "no"}:
                return None
            place = at
        target = self._result_of(pending, place)
        return target if target is not None and self._meant(pending.start, opinion=False) else None

    def _after_aside(self, at: int, until: int) -> int:
        words = self.words
        while at < until and words[at] not in STOPS and words[at] not in WORDS["pauses"]:
            at += 1
        return at

    def _seen(self, begin: int, place: int, target: int | None) -> int | None:
        """Return the night of an inspection of the target that is told around its role, 0 if none is named; None if
        there is none: "Raj is a Werewolf, I checked him".
        """
        words = self.words
        for at in range(begin + 1, place):
            if words[at] in WORDS["inspection"] and "my" in words[max(at - 2, begin) : at]:
                return self._night(at, at + 1, at) or 0
        at, stops = place + 1, 0
        while at < len(words) and at < place + 14:
            word = words[at]
            if word in STOPS:
                stops += 1
                if stops > 1:
                    return None
            if word in WORDS["seen_it"] and at not in self.silent:
                by = self._by_me(at)
                if (
                    by == at
                    and words[at - 1] in WORDS["evidence_signs"]
                    and (at + 1 >= len(words) or self._is_night(at + 1) or words[at + 1] in {")", ".", "by"})
                ):
                    return self._night(at, at + 1, at) or 0
                if by is not None and by != at:
                    about, end = self._object(at + 1)
                    here = self._antecedent(place) if self._word(at + 1) in {"him", "her", "them"} else about
                    if (
                        about == target
                        or here == target
                        or (words[at + 1] in WORDS["it_words"] and word in WORDS["saw"] | {"checked"})
                        or (about is None and words[at + 1] == "you")
                    ):
                        return self._night(at, end, at) or 0
                    if "what" in words[max(by - 2, place) : by]:
                        return self._night(at, at + 2, at) or 0
                return None
            if (
                word in WORDS["inspection"]
                and "my" in words[max(at - 3, place) : at]
                and (
                    WORDS["proves"].intersection(words[at + 1 : at + 4])
                    or WORDS["by_which"].intersection(words[max(at - 4, place) : at])
                )
            ):
                return self._night(at, at + 3, at) or 0
            if word == "shown" or self.marks[at] not in {None, target}:
                return None
            at += 1
        return None
