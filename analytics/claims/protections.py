"""Where the speaker tells of a protection."""

from __future__ import annotations

from collections.abc import Iterator

from analytics.claims.lexicon import WORDS
from analytics.claims.parts import FoundClaim
from analytics.claims.results import InspectionResults
from analytics.claims.words import STOPS


class Protections(InspectionResults):
    """Finds protections."""

    def _protecting(self, place: int) -> Iterator[FoundClaim]:
        words = self.words
        word = words[place]
        past = (
            self._word(place - 1) == "i"
            and any(
                words[each] in {"last_night", "yesterday"} or words[each].startswith("night_")
                for each in range(max(place - 5, 0), min(place + 6, len(words)))
            )
        ) or words[place - 2 : place] in (["i", "have"], ["i", "was"], ["i", "did"])
        if (
            word in WORDS["protect"]
            and not past
            and not self._chosen(place)
            and not (place >= 1 and self._is_night(place - 1) and words[place - 1] != "tonight")
        ):
            return
        begin = self._by_me(place)
        if word in WORDS["protecting"]:
            begin = next(
                (
                    each
                    for each in range(place - 1, max(place - 8, -1), -1)
                    if words[each] == "i" or words[each] in STOPS
                ),
                None,
            )
            if begin is None or words[begin] != "i":
                return
        elif words[place + 1 : place + 3] == ["by", "me"] and place >= 2:
            target = self.marks[place - 1] if words[place - 1] != "was" else self.marks[place - 2]
            if target is not None and self._meant(place - 2, opinion=False, own=True):
                yield FoundClaim("protection", target, None, self._night(place - 2, place + 3, place))
            return
        if begin is None or not self._meant(begin, opinion=False, own=True):
            return
        at = place + 1
        if self._word(at) == ":" and self._starts(place - 1):
            at += 1
        if begin >= 1 and words[begin - 1] in {"one", "person", "player"}:
            while at < len(words) and (self._is_night(at) or words[at] in {"was", "is"}):
                at += 1
        if word == "self-protected" or self._word(at) == "myself":
            if self.speaker is not None:
                yield FoundClaim("protection", None, None, self._night(begin, at, place))
            return
        while True:
            while at < len(words) and (words[at] in WORDS["toward"] | {"only", "house"} or self._is_night(at)):
                at += 1
            if at >= len(words):
                return
            target = self.marks[at]
            if target is None:
                if words[at] in {"him", "her", "them"}:
                    target = self._antecedent(place)
                elif words[at] == "you":
                    target = self._you_alone(at)
                elif words[at] == "myself" and self.speaker is not None:
                    yield FoundClaim("protection", None, None, self._night(begin, at, place))
            if target is None:
                return
            if (
                at + 1 < len(words)
                and words[at + 1] == "'s"
                and words[at + 2 : at + 3]
                not in (["house"], ["door"], ["life"], ["home"], ["bed"], ["bedside"], ["cottage"])
            ):
                return
            if word in WORDS["kept"] and not WORDS["safe"].intersection(words[at + 1 : at + 5]):
                return
            end = at + 1
            if self._taken_back(end, opinion=False):
                return
            yield FoundClaim(
                "protection", target if target != self.speaker else None, None, self._night(begin, end, place)
            )
            while end < len(words) and (self._is_night(end) or words[end] == "again"):
                end += 1
            if (
                end + 1 < len(words)
                and words[end] in {",", "and", "/"}
                and (
                    self.marks[end + 1] is not None
                    or (
                        words[end] == ","
                        and words[end + 1] == "and"
                        and end + 2 < len(words)
                        and self.marks[end + 2] is not None
                    )
                )
            ):
                following = end + 2 if self.marks[end + 1] is not None else end + 3
                if (following < len(words) and words[following] in WORDS["other_verbs"]) or not (
                    self._is_night(following)
                    or following >= len(words)
                    or words[following] in STOPS
                    or words[following] in {",", "and"}
                ):
                    return
                at = following - 1
                begin = end
                place = following - 1
                continue
            return

    def _my_protection(self, place: int) -> Iterator[FoundClaim]:
        """Yield "my protection was on Raj", "Raj was under my protection"."""
        words = self.words
        at = place + 1
        while at < len(words) and (words[at] in WORDS["protection_fillers"] or self._is_night(at)):
            at += 1
        target = self.marks[at] if place + 1 < at < len(words) else None
        begin = place
        if target is None:
            before = [each for each in range(max(place - 7, 0), place) if self.marks[each] is not None]
            if not before or not {"under", "gave", "had"}.intersection(
                words[before[-1] - 2 if before[-1] > 1 else 0 : place]
            ):
                return
            begin = before[-1]
            target = self.marks[begin]
        if self._meant(begin, opinion=False, own=True) and self._word(at + 1) != "'s":
            yield FoundClaim(
                "protection", target if target != self.speaker else None, None, self._night(begin, at, place)
            )
