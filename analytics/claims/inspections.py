"""Where the speaker tells of an inspection: "I checked Raj", "my vision of Raj", "N1 Raj"."""

from __future__ import annotations

from analytics.claims.lexicon import WORDS
from analytics.claims.parts import Inspecting
from analytics.claims.subjects import Subjects
from analytics.claims.words import STOPS


class Inspections(Subjects):
    """Finds what tells of an inspection."""

    def _with_others(self, inspecting: Inspecting) -> Inspecting:
        """Return the same words with the players who follow: "I checked Raj on night 1 and Bea on night 2"."""
        words, at, also = self.words, inspecting.end, []
        while inspecting.target is not None:
            while self._is_night(at) or self._word(at) in {")", "("}:
                at += 1
            joint = at
            while self._word(at) in {",", "and", "then"}:
                at += 1
            mark = self.marks[at] if joint < at < len(words) else None
            if (
                mark is None
                or self._word(at + 1) in {"is", "'s", "was", "are", "came_back"}
                or (self._word(at + 1) == "(" and not self._is_night(at + 2))
            ):
                break
            also.append((mark, self._night(at, at + 1, at)))
            at += 1
        if not also:
            return inspecting
        return Inspecting(inspecting.start, at, inspecting.target, inspecting.night, tuple(also))

    def _inspecting(self, place: int, pending: Inspecting | None) -> Inspecting | None:
        words = self.words
        word = words[place]
        if word in WORDS["learned"]:
            begin = self._by_me(place)
            at = place + 1
            night = False
            while at < len(words) and (words[at] in WORDS["that_fillers"] or self._is_night(at)):
                night = night or self._is_night(at)
                at += 1
            if (
                begin is not None
                and at + 2 < len(words)
                and self.marks[at] not in {None, self.speaker}
                and words[at + 1] == "'s"
                and WORDS["natures"].intersection(words[at + 2 : at + 4])
            ):
                end = at + 3 if words[at + 2] in WORDS["natures"] else at + 4
                return Inspecting(begin, end, self.marks[at], self._night(begin, end, place))
            if (
                begin is not None
                and at + 1 < len(words)
                and self.marks[at] is not None
                and words[at + 1] in {"is", "'s", "was"}
                and self._word(at + 2) != "role"
            ):
                night = night or any(self._is_night(each) for each in range(max(begin - 4, 0), at))
                if night or word in {"saw", "divined", "foresaw"}:
                    return Inspecting(begin, at + 1, self.marks[at], self._night(begin, at, place))
        if word in WORDS["showed"] and "me" in words[place + 1 : place + 3]:
            if (
                words[place - 1] == "was"
                and self.marks[place - 2] is not None
                and words[place - 3] in {"about", "of", "behind"}
            ):
                return Inspecting(
                    place - 2, words.index("me", place) + 1, self.marks[place - 2], self._night(place, place + 2, place)
                )
            if not any(
                self.marks[at] is not None or words[at] in WORDS["not_by_people"]
                for at in range(max(place - 4, 0), place)
            ):
                end = words.index("me", place) + 1
                return Inspecting(place, end, None, self._night(place, end, place))
        if word in WORDS["inspected"] or word in WORDS["inspect"] or word in WORDS["saw"]:
            direct = self._word(place - 1) == "i" or words[place - 2 : place] in (
                ["i", "have"],
                ["i", "was"],
                ["i", "did"],
            )
            if word in WORDS["inspect"] and not direct and not self._chosen(place):
                return self._noun(place) if word in WORDS["inspection"] else None
            begin = self._by_me(place)
            if begin is None and words[place + 1 : place + 3] == ["by", "me"] and place >= 2:
                begin = place - 1
            if begin is None:
                return None
            target, end = self._object(place + 1)
            if target is None:
                # "Raj, whom I inspected": the name stands before
                target, end = self._before_who(begin), place + 1
                if target is None and words[place + 1 : place + 3] == ["by", "me"] and place >= 1:
                    target, end = (
                        self.marks[place - 1] if words[place - 1] != "was" else self.marks[place - 2],
                        place + 3,
                    )
                elif (
                    target is None
                    and place >= 2
                    and words[place - 1] in WORDS["signs_and_commas"]
                    and self.marks[place - 2] is not None
                    and self._starts(place - 3)
                ):
                    target = self.marks[place - 2]
                elif target is None and words[place + 1 : place + 4] in ([":", "it", "was"], [",", "it", "was"]):
                    target, end = self.marks[place + 4] if place + 4 < len(words) else None, place + 5
                target = target if target != self.speaker else None
                if (
                    target is None
                    and word in WORDS["checked"]
                    and begin != place
                    and self._word(place + 1) in {":", "—", ";", "-"}
                ) or (word in WORDS["checked"] and self._is_night(place + 1) and begin != place and target is None):
                    return Inspecting(begin, place + 1, None, self._night(begin, end, place))
            return None if target is None else Inspecting(begin, end, target, self._night(begin, end, place))
        if word in WORDS["inspecting"] and place >= 1 and words[place - 1] in WORDS["after_verbs"]:
            target, end = self._object(place + 1)
            if target is not None and self._starts(place - 2):
                return Inspecting(place - 1, end, target, self._night(place - 1, end, place))
            return None
        if word in WORDS["turned"]:
            begin = self._by_me(place)
            near = words[place + 1 : place + 5]
            if begin is None or not WORDS["sense"].intersection(near):
                return None
            at = next(at for at in range(place + 1, place + 5) if words[at] in WORDS["sense"])
            target, end = self._object(at + 1)
            return None if target is None else Inspecting(begin, end, target, self._night(begin, end, place))
        if word in WORDS["inspection"]:
            return self._noun(place)
        mark = self.marks[place]
        if mark is not None and mark != self.speaker:
            if pending is not None and place < pending.end:
                return None
            if (
                pending is not None
                and place - pending.end < 16
                and not STOPS.intersection(words[pending.end : place])
                and words[place - 1] in {"and", ","}
                and self._word(place + 1) in {"(", ":", "=", "-"}
            ):
                return Inspecting(place, place + 1, mark, self._night(place, place + 1, place))
            # as in: N1 Ada, a Villager
            before = place - 1
            while before >= 0 and (words[before] in WORDS["before_target"] or words[before] in WORDS["inspection"]):
                before -= 1
            if before >= 0 and words[before].startswith("night_") and self._starts(before - 1):
                return Inspecting(before, place + 1, mark, int(words[before][6:]))
            if (
                words[place + 1 : place + 2]
                and words[place + 1] in WORDS["role"]
                and self._word(place + 2) == "("
                and self._is_night(place + 3)
                and self._starts(place - 1)
            ):
                return Inspecting(place, place + 1, mark, self._night(place, place + 4, place))
            listing = place - 1
            while listing >= 0 and words[listing] not in STOPS and words[listing] != "i":
                listing -= 1
            first = listing + 1
            while first < place and (words[first] in WORDS["list_openers"] or self._is_night(first)):
                first += 1
            if (
                words[first] in WORDS["inspection"] | WORDS["inspected"]
                and ":" in words[first:place]
                and words[place + 1 : place + 2]
                and words[place + 1] in WORDS["before_result"] | WORDS["role"]
                and self._starts(place - 1)
                and not any(word in WORDS["compound"] - WORDS["check_results"] for word in words[first:place])
            ):
                return Inspecting(place, place + 1, mark, self._night(place, place + 1, place))
            after = place + 1
            while self._word(after) in {"(", "[", "on", "in", ","}:
                after += 1
            if after < len(words) and words[after].startswith("night_") and self._starts(place - 1):
                return Inspecting(place, after + 1, mark, int(words[after][6:]))
        return None

    def _noun(self, place: int) -> Inspecting | None:
        """Return "my inspection", with whom it was of if that is told right after."""
        words = self.words
        begin = place - 1
        while begin >= 0 and begin > place - 4 and words[begin] != "my" and words[begin] not in STOPS:
            begin -= 1
        mine = begin >= 0 and words[begin] == "my"
        if not mine:
            # "I made an inspection of Raj"
            near = words[max(place - 6, 0) : place]
            made = WORDS["made"].intersection(near)
            if made and "i" in near:
                begin, mine = max(place - 6, 0) + near.index("i"), True
        if (
            mine
            and begin >= 5
            and words[begin - 1] == "of"
            and words[begin - 2] in WORDS["subject_of"]
            and words[begin - 4] in {"was", "is"}
            and self.marks[begin - 5] is not None
        ):
            return Inspecting(begin - 5, place + 1, self.marks[begin - 5], self._night(begin, place + 1, place))
        if mine and begin >= 2 and words[begin - 1] in {"was", "is", "were"} and self.marks[begin - 2] is not None:
            return Inspecting(begin - 2, place + 1, self.marks[begin - 2], self._night(begin, place + 1, place))
        first = place - 1
        while first >= 0 and (self._is_night(first) or words[first] in WORDS["result_openers"]):
            first -= 1
        if (
            not mine
            and (first < 0 or words[first] in STOPS)
            and self._word(place + 1) in {"on", "for", "of", ":"}
            and place + 2 < len(words)
            and self.marks[place + 2] not in {None, self.speaker}
        ):
            return Inspecting(first + 1, place + 3, self.marks[place + 2], self._night(first + 1, place + 3, place))
        if not mine:
            granted = words[place + 1 : place + 5]
            if "me" not in granted or not WORDS["granted"].intersection(granted):
                return None
            begin, place = max(place - 1, 0), place + 1 + granted.index("me")
        at = place + 1
        while at < len(words) and (words[at] in WORDS["led_to"] or words[at] in WORDS["toward"]) | self._is_night(at):
            at += 1
        target = self.marks[at] if at < len(words) else None
        if target is not None and self.words[at - 1] not in {*WORDS["toward"], ","}:
            target = None
        if target is None:
            # "on", "into" and then something else than a player: no inspection of a role
            if at < len(words) and words[at - 1] in WORDS["toward"] and not self._is_night(at) and at - 1 > place:
                if words[at] in {"him", "her", "them"}:
                    return Inspecting(begin, at + 1, self._antecedent(begin), self._night(begin, at, place))
                if words[at] not in WORDS["night_openers"]:
                    return None
            return Inspecting(begin, place + 1, None, self._night(begin, at, place))
        return Inspecting(begin, at + 1, target, self._night(begin, at + 1, place))

    def _object(self, at: int) -> tuple[int | None, int]:
        """Return whom a verb is about and the place after; the name of another, or a pronoun for one named before."""
        words = self.words
        begin = at
        while at < len(words) and (words[at] in WORDS["toward"] or self._is_night(at)):
            at += 1
        if at >= len(words):
            return None, begin
        mark = self.marks[at]
        if mark is None:
            if words[at] in {"him", "her", "them"}:
                return self._antecedent(begin), at + 1
            if words[at] == "you":
                return self._you_alone(at), at + 1
            if words[at] in WORDS["possessive"] and self._word(at + 1) in {
                "soul",
                "heart",
                "card",
                "role",
                "nature",
                "face",
                "eyes",
                "identity",
                "true",
            }:
                at += 1 if words[at + 1] != "true" else 2
                return (self._you(at, at) if words[at - 1] == "your" else self._antecedent(begin)), at + 1
            return None, begin
        after = words[at + 1] if at + 1 < len(words) else ""
        if after == "'s":
            natures = WORDS["seen_natures"]
            nature = next((each for each in range(at + 2, min(at + 5, len(words))) if words[each] in natures), None)
            if nature is not None:
                return mark, nature + 1
            if at + 2 < len(words) and words[at + 2] in {"a", "the", "an"} | WORDS["role"]:
                return mark, at + 1
            return None, begin
        return (None if mark == self.speaker else mark), at + 1

    def _before_who(self, begin: int) -> int | None:
        words = self.words
        at = begin - 1
        if at >= 0 and words[at] in {"who", "whom", "that"}:
            at -= 1
            if at >= 0 and words[at] == ",":
                at -= 1
            mark = self.marks[at] if at >= 0 else None
            return mark if mark != self.speaker else None
        return None
