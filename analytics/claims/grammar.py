"""The grammar of claims over a statement's words: who did what, who is what, and whether the speaker means it.

A claim is read around its kernel: a role ("… is a Werewolf") to the left, an inspection or a protection to the right.
What lies between the parts of a claim must be words that join them; anything else makes it none.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from analytics.claims.lexicon import WORDS
from analytics.claims.words import CUT, STOPS, Said, player
from wolfbus.vocabulary import ROLE_WORDS, Role

_PLURAL: Final = {
    f"{word}s" if word != "werewolf" else "werewolves": role for word, role in ROLE_WORDS.items() if word != "wolf"
}
_RESULTS: Final = frozenset({"result", "results", "outcome", "answer", "verdict", "it", "this", "that"})
_REACH: Final = 60
"""Words that are looked over before and after a kernel."""


@dataclass(frozen=True, slots=True)
class Inspecting:
    """Words that tell of an inspection by the speaker.

    Attributes:
        start: where they begin.
        end: the place after them.
        target: place of the player inspected among the names, None if the words name nobody.
        night: the night they name.
        also: further players that the same words name, each with the night.
    """

    start: int
    end: int
    target: int | None
    night: int | None
    also: tuple[tuple[int, int | None], ...] = ()


@dataclass(frozen=True, slots=True)
class Found:
    """One claim in the words, before it is known who "I" is.

    Attributes:
        kind: what is claimed; an accusation is a role "Werewolf" of another.
        target: place of the player among the names; None for the speaker.
        role: the role claimed, None for a protection.
        night: the night named.
        opinion: the speaker only thinks so.
    """

    kind: str
    target: int | None
    role: Role | None = None
    night: int | None = None
    opinion: bool = False


class Grammar:
    """Reads the words of one statement.

    Args:
        said: the words.
        names: how many players there are.
        speaker: place of the speaker among the names, None if it has none.
    """

    def __init__(self, said: Said, names: int, speaker: int | None) -> None:
        self.words = said.words
        self.silent = said.silent
        self.names = names
        self.speaker = speaker
        self.marks: list[int | None] = [player(word, names) if names else None for word in self.words]
        self._cut = {place for place, word in enumerate(self.words) if word == CUT}
        self._last_you: int | None = None

    def claims(self) -> Iterator[Found]:
        """Yield the claims in the order of the words that carry them."""
        words = self.words
        pending: Inspecting | None = None
        doctor = False
        for place, word in enumerate(words):
            if place in self.silent:
                continue
            inspecting = self._inspecting(place, pending)
            if inspecting is not None:
                pending = self._with_others(inspecting)
            if word == "accuse" and self._by_me(place) is not None and self._meant(place, opinion=False, own=True):
                target = self.marks[place + 1] if place + 1 < len(words) else None
                if words[place + 1 : place + 2] == ["you"]:
                    target = self._you(place + 1, place + 1)
                if target is not None and target != self.speaker and words[place + 2 : place + 3] != ["'s"]:
                    yield Found("role", target, "Werewolf")
            if word in WORDS["protecting"] and {"was", "been", "spent", "stayed"}.intersection(
                words[max(place - 4, 0) : place]
            ):
                yield from self._protecting(place)
            given = {"gave", "made", "did", "put", "make", "give"}.intersection(
                words[max(place - 4, 0) : place]
            ) and "i" in words[max(place - 5, 0) : place]
            if word in WORDS["protection"] and (
                "my" in words[max(place - 2, 0) : place] or given and word == "protection"
            ):
                yield from self._my_protection(place)
            if (
                word in WORDS["protected"]
                or word in WORDS["protect"]
                or word in WORDS["watched"]
                or word in WORDS["kept"]
            ):
                yield from self._protecting(place)
            elif word in WORDS["role"]:
                yield from self._role(place, ROLE_WORDS[word], pending)
            elif word in WORDS["roles"]:
                yield from self._several(place, _PLURAL[word])
            if word in WORDS["role"] or word in WORDS["roles"]:
                yield from self._another(place)
            if (
                word == "werewolf"
                and "not" in words[max(place - 3, 0) : place]
                and "am" in words[max(place - 4, 0) : place]
            ):
                at = place + 1
                while words[at : at + 1] in ([","], ["—"], ["-"], [";"], ["but"], ["."]):
                    at += 1
                if (
                    at + 2 < len(words)
                    and self.marks[at] is not None
                    and words[at + 1] in {"is", "'s"}
                    and words[at + 2] in STOPS
                    and words[at + 2] != "?"
                    and self._meant(place - 2, opinion=False, own=True)
                ):
                    yield Found("role", self.marks[at] if self.marks[at] != self.speaker else None, "Werewolf")
            if (
                word == "doctor"
                and place + 1 < len(words)
                and (words[place + 1] in STOPS or words[place + 1] in {"claim", "here", ",", ":", "—"})
            ):
                doctor = self._starts(self._left(place)) or words[self._left(place)] in {"am", "claim", "claiming"}
            mark = self.marks[place]
            if (
                doctor
                and mark is not None
                and (pending is None or pending.end < place - 3 or pending.end in {place + 1, place + 2})
            ):
                after = place + 1 + (words[place + 1 : place + 2] == ["("])
                before = (
                    words[place - 1]
                    if place and words[place - 1] not in {":", "-", "—", "="}
                    else words[place - 2]
                    if place > 1
                    else ""
                )
                night = words[after] if words[after : after + 1] and words[after].startswith("night_") else before
                end = after + 1 + (words[after + 1 : after + 2] == [")"]) if night != before else place + 1
                if night.startswith("night_") and (
                    end >= len(words) or words[end] in STOPS or words[end] in {",", ";", "and"}
                ):
                    yield Found("protection", mark if mark != self.speaker else None, None, int(night[6:]))

    # inspections

    def _with_others(self, inspecting: Inspecting) -> Inspecting:
        """Return the same words with the players who follow: "I checked Raj on night 1 and Bea on night 2"."""
        words, at, also = self.words, inspecting.end, []
        while inspecting.target is not None:
            while self._is_night(at) or words[at : at + 1] in ([")"], ["("]):
                at += 1
            joint = at
            while words[at : at + 1] in ([","], ["and"], ["then"]):
                at += 1
            mark = self.marks[at] if joint < at < len(words) else None
            if (
                mark is None
                or words[at + 1 : at + 2] in (["is"], ["'s"], ["was"], ["are"], ["came_back"])
                or words[at + 1 : at + 2] == ["("]
                and not self._is_night(at + 2)
            ):
                break
            also.append((mark, self._night(at, at + 1, at)))
            at += 1
        if not also:
            return inspecting
        return Inspecting(inspecting.start, at, inspecting.target, inspecting.night, tuple(also))

    def _another(self, place: int) -> Iterator[Found]:
        """Yield "… and so is Bea", "… and Bea is another" after "Raj is a Werewolf"."""
        words = self.words
        at = place + 1
        while at < len(words) and words[at] in {",", "and", "so", "as", ";", "then", "is", "are"}:
            at += 1
        mark = self.marks[at] if place + 1 < at < len(words) else None
        if mark is None or words[place] not in {"werewolf", "werewolves"}:
            return
        so = words[at - 1] in {"is", "are"} and words[at - 2] in {"so", "as"}
        rest = [word for word in words[at + 1 : at + 5] if word not in {"the", "a", "one", "too", "of", "them", "also"}]
        other = (
            words[at + 1 : at + 2] in (["is"], ["'s"])
            and rest[:1] in (["is"], ["'s"])
            and words[at + 2 : at + 3] != ["a"]
            and (
                {"other", "another", "second"}.intersection(words[at + 2 : at + 5])
                or words[at + 2 : at + 4] == ["one", "too"]
            )
            and not (WORDS["role"] | WORDS["roles"]).intersection(words[at + 2 : at + 6])
        )
        if (so or other) and self._subject(self._left(place), place)[0] and self._meant(place, opinion=True):
            yield Found("role", mark if mark != self.speaker else None, "Werewolf")

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
                and words[at - 1] in {"is", "am", "are", "was", "'s"}
                and not WORDS["report"].intersection(words[at:left])
            ):
                return at - 1
            if words[left - 1] in {"is", "am", "are"} and False:
                return left - 1
        return left

    def _inspecting(self, place: int, pending: Inspecting | None) -> Inspecting | None:
        words = self.words
        word = words[place]
        if word in {
            "saw",
            "learned",
            "learnt",
            "discovered",
            "divined",
            "found",
            "foresaw",
            "determined",
            "uncovered",
            "established",
            "confirmed",
            "see",
        }:
            begin = self._by_me(place)
            at = place + 1
            night = False
            while at < len(words) and (words[at] in {"out", "that", "for", "a", "fact"} or self._is_night(at)):
                night = night or self._is_night(at)
                at += 1
            if (
                begin is not None
                and at + 2 < len(words)
                and self.marks[at] not in {None, self.speaker}
                and words[at + 1] == "'s"
                and {"role", "nature", "card", "identity"}.intersection(words[at + 2 : at + 4])
            ):
                end = at + 3 if words[at + 2] in {"role", "nature", "card", "identity"} else at + 4
                return Inspecting(begin, end, self.marks[at], self._night(begin, end, place))
            if (
                begin is not None
                and at + 1 < len(words)
                and self.marks[at] is not None
                and words[at + 1] in {"is", "'s", "was"}
                and words[at + 2 : at + 3] != ["role"]
            ):
                night = night or any(self._is_night(each) for each in range(max(begin - 4, 0), at))
                if night or word in {"saw", "divined", "foresaw"}:
                    return Inspecting(begin, at + 1, self.marks[at], self._night(begin, at, place))
        if word in {"showed", "shown", "revealed", "unveiled", "granted"} and "me" in words[place + 1 : place + 3]:
            if (
                words[place - 1] == "was"
                and self.marks[place - 2] is not None
                and words[place - 3] in {"about", "of", "behind"}
            ):
                return Inspecting(
                    place - 2, words.index("me", place) + 1, self.marks[place - 2], self._night(place, place + 2, place)
                )
            if not any(
                self.marks[at] is not None or words[at] in {"he", "she", "they", "you", "who", "never", "not"}
                for at in range(max(place - 4, 0), place)
            ):
                end = words.index("me", place) + 1
                return Inspecting(place, end, None, self._night(place, end, place))
        if word in WORDS["inspected"] or word in WORDS["inspect"] or word in WORDS["saw"]:
            direct = words[place - 1 : place] == ["i"] or words[place - 2 : place] in (
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
                    and words[place - 1] in {":", "—", "-", "=", ","}
                    and self.marks[place - 2] is not None
                    and self._starts(place - 3)
                ):
                    target = self.marks[place - 2]
                elif target is None and words[place + 1 : place + 4] in ([":", "it", "was"], [",", "it", "was"]):
                    target, end = self.marks[place + 4] if place + 4 < len(words) else None, place + 5
                target = target if target != self.speaker else None
                if (
                    target is None
                    and word in {"checked", "inspected", "investigated", "scanned"}
                    and begin != place
                    and words[place + 1 : place + 2] in ([":"], ["—"], [";"], ["-"])
                    or word in {"checked", "inspected", "investigated", "scanned"}
                    and self._is_night(place + 1)
                    and begin != place
                    and target is None
                ):
                    return Inspecting(begin, place + 1, None, self._night(begin, end, place))
            return None if target is None else Inspecting(begin, end, target, self._night(begin, end, place))
        if (
            word in WORDS["inspecting"]
            and place >= 1
            and words[place - 1] in {"after", "upon", "on", "by", "from", "in"}
        ):
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
                and words[place + 1 : place + 2] in (["("], [":"], ["="], ["-"])
            ):
                return Inspecting(place, place + 1, mark, self._night(place, place + 1, place))
            # "N1 Ada = Villager"
            before = place - 1
            while before >= 0 and (
                words[before] in {":", ",", "-", "—", ")", "]", "(", "=", "of", "on", "target", "was"}
                or words[before] in WORDS["inspection"]
            ):
                before -= 1
            if before >= 0 and words[before].startswith("night_") and self._starts(before - 1):
                return Inspecting(before, place + 1, mark, int(words[before][6:]))
            if (
                words[place + 1 : place + 2]
                and words[place + 1] in WORDS["role"]
                and words[place + 2 : place + 3] == ["("]
                and self._is_night(place + 3)
                and self._starts(place - 1)
            ):
                return Inspecting(place, place + 1, mark, self._night(place, place + 4, place))
            listing = place - 1
            while listing >= 0 and words[listing] not in STOPS and words[listing] != "i":
                listing -= 1
            first = listing + 1
            while first < place and (words[first] in {"my", "the", "seer", "all", "night"} or self._is_night(first)):
                first += 1
            if (
                words[first] in WORDS["inspection"] | WORDS["inspected"]
                and ":" in words[first:place]
                and words[place + 1 : place + 2]
                and words[place + 1] in {"(", "=", ":", "-", "—", "is", ","} | WORDS["role"]
                and self._starts(place - 1)
                and not any(
                    word in WORDS["compound"] - {"check", "checks", "result", "results"} for word in words[first:place]
                )
            ):
                return Inspecting(place, place + 1, mark, self._night(place, place + 1, place))
            after = place + 1
            while words[after : after + 1] in (["("], ["["], ["on"], ["in"], [","]):
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
            made = {
                "devoted",
                "dedicated",
                "directed",
                "make",
                "made",
                "did",
                "performed",
                "ran",
                "conducted",
                "do",
                "got",
                "have",
            }.intersection(near)
            if made and "i" in near:
                begin, mine = max(place - 6, 0) + near.index("i"), True
        if (
            mine
            and begin >= 5
            and words[begin - 1] == "of"
            and words[begin - 2] in {"subject", "target", "object", "focus"}
            and words[begin - 4] in {"was", "is"}
            and self.marks[begin - 5] is not None
        ):
            return Inspecting(begin - 5, place + 1, self.marks[begin - 5], self._night(begin, place + 1, place))
        if mine and begin >= 2 and words[begin - 1] in {"was", "is", "were"} and self.marks[begin - 2] is not None:
            return Inspecting(begin - 2, place + 1, self.marks[begin - 2], self._night(begin, place + 1, place))
        first = place - 1
        while first >= 0 and (self._is_night(first) or words[first] in {"the", "seer", "night", "inspection"}):
            first -= 1
        if (
            not mine
            and (first < 0 or words[first] in STOPS)
            and words[place + 1 : place + 2] in (["on"], ["for"], ["of"], [":"])
            and place + 2 < len(words)
            and self.marks[place + 2] not in {None, self.speaker}
        ):
            return Inspecting(first + 1, place + 3, self.marks[place + 2], self._night(first + 1, place + 3, place))
        if not mine:
            granted = words[place + 1 : place + 5]
            if "me" not in granted or not {"granted", "given", "sent", "shown", "came"}.intersection(granted):
                return None
            begin, place = max(place - 1, 0), place + 1 + granted.index("me")
        at = place + 1
        while at < len(words) and (
            words[at]
            in {",", "was", "is", "were", "has", "had", "led", "me", "brought", "took", "focused", "concerned"}
            or words[at] in WORDS["toward"]
        ) | self._is_night(at):
            at += 1
        target = self.marks[at] if at < len(words) else None
        if target is not None and self.words[at - 1] not in {*WORDS["toward"], ","}:
            target = None
        if target is None:
            # "on", "into" and then something else than a player: no inspection of a role
            if at < len(words) and words[at - 1] in WORDS["toward"] and not self._is_night(at) and at - 1 > place:
                if words[at] in {"him", "her", "them"}:
                    return Inspecting(begin, at + 1, self._antecedent(begin), self._night(begin, at, place))
                if words[at] not in {"last_night", "the", "last", "tonight", "yesterday"}:
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
            if words[at] in {"your", "his", "her", "their"} and words[at + 1 : at + 2] in (
                ["soul"],
                ["heart"],
                ["card"],
                ["role"],
                ["nature"],
                ["face"],
                ["eyes"],
                ["identity"],
                ["true"],
            ):
                at += 1 if words[at + 1] != "true" else 2
                return (self._you(at, at) if words[at - 1] == "your" else self._antecedent(begin)), at + 1
            return None, begin
        after = words[at + 1] if at + 1 < len(words) else ""
        if after == "'s":
            natures = {
                "nature",
                "face",
                "form",
                "aura",
                "role",
                "identity",
                "alignment",
                "card",
                "cards",
                "soul",
                "heart",
            }
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

    def _by_me(self, place: int) -> int | None:
        """Return where the words "I have" before a verb begin, or the verb itself where its subject, the speaker, is
        left out; None if somebody else does it.
        """
        words = self.words
        at = place - 1
        if (
            place >= 2
            and words[at] == "to"
            and {"opportunity", "privilege", "decision", "chance"}.intersection(words[max(place - 4, 0) : place])
        ):
            near = [
                each
                for each in range(max(place - 9, 0), place)
                if words[each] in {"i", *STOPS, "he", "she", "they", "you"} or self.marks[each] is not None
            ]
            return near[-1] if near and words[near[-1]] == "i" else None
        if at >= 0 and words[at] == "having":
            return at if self._starts(at - 1) else None
        while at >= 0 and (words[at] in WORDS["auxiliary"] or self._is_night(at)) and words[at] not in {"and"}:
            at -= 1
        if at >= 0 and words[at] == "i":
            before = words[at - 1] if at else ""
            return None if place > at + 1 and words[at + 1] in {"would", "will"} else (at if before != CUT else None)
        if at >= 1 and words[at] in {"who", "that"} and words[at - 1] in {"i", "me"}:
            return at - 1
        if at >= 3 and words[at] in {"who", "that"} and words[at - 1] == "one" and "i" in words[max(at - 5, 0) : at]:
            return at - 1
        at = place - 1
        while at >= 0 and (self._is_night(at) or words[at] in {"just", "also", "then", "already", "last_night", "day"}):
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
            if word in {"he", "she", "they", "who", "you"} or (self.marks[at] is not None and not seen_verb):
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

    def _starts(self, at: int) -> bool:
        """Return whether the word at a place may stand before the beginning of a clause."""
        return (
            at < 0
            or self.words[at] in WORDS["clause_start"]
            or self._is_night(at)
            or self.words[at] in {"check", "checks", "results", "result", "log", "inspections", "peek", "scan"}
        )

    def _is_night(self, at: int) -> bool:
        word = self.words[at] if 0 <= at < len(self.words) else ""
        return (
            word in {"last_night", "yesterday", "tonight", "overnight"}
            or word.startswith("night_")
            or (
                word in {"the", "on", "during", "in", "at", "night", "last"}
                and at + 1 < len(self.words)
                and self._is_night(at + 1)
            )
            or (word == "night" and at > 0 and self.words[at - 1] in {"at", "yesterday", "last", "the", "that", "this"})
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

    # roles

    def _role(self, place: int, role: Role, pending: Inspecting | None) -> Iterator[Found]:
        words = self.words
        if words[place + 1 : place + 2] in (["result"], ["check"], ["reading"], ["vision"]) and words[
            place + 2 : place + 3
        ] in (["on"], ["for"], ["about"], ["from"]):
            # "I have a Werewolf result on Raj"
            mark = self.marks[place + 3] if place + 3 < len(words) else None
            if (
                mark is not None
                and mark != self.speaker
                and {"i", "my"}.intersection(words[max(place - 5, 0) : place])
                and self._meant(place, opinion=False, own=True)
            ):
                yield Found("inspection", mark, role, self._night(place, place + 4, place))
            return
        if (
            words[place + 1 : place + 2] == ["on"]
            and words[self._left(place) : self._left(place) + 1] in (["got"], ["get"], ["have"])
            and "i" in words[max(self._left(place) - 3, 0) : place]
        ):
            mark = self.marks[place + 2] if place + 2 < len(words) else None
            if mark is not None and mark != self.speaker and self._meant(self._left(place), opinion=False, own=True):
                yield Found("inspection", mark, role, self._night(place, place + 3, place))
            return
        if not self._closes(place + 1):
            yield from self._role_first(place, (role,))
            return
        seen = self._result_of(pending, place) if pending is not None else None
        if seen is not None and pending is not None:
            if (
                self._meant(pending.start, opinion=False)
                and self._meant(place, opinion=False, since=pending.start)
                and not self._taken_back(place + 1, opinion=True)
            ):
                nights = {pending.target: pending.night, **dict(pending.also)}
                night = nights.get(seen)
                yield Found(
                    "inspection",
                    seen,
                    role,
                    self._night(pending.start, place, pending.start) if night is None and not pending.also else night,
                )
            return
        left = self._left(place)
        if (
            words[left : left + 1] in (["came_back"], ["came_up"], ["turned_up"], ["showed_up"], ["came_out"])
            or words[left : left + 1] == ["as"]
            and words[left - 1] in {"came_back", "came_up", "turned_up", "showed_up", "came_out"}
        ):
            at = left if words[left] != "as" else left - 1
            mark = self.marks[at - 1] if at >= 1 else None
            if mark is not None and mark != self.speaker and self._meant(at - 1, opinion=True):
                yield Found("inspection", mark, role, self._night(at, place, at))
                return
        targets, begin = self._subject(left, place)
        if not targets:
            yield from self._role_first(place, (role,))
            return
        yield from self._roles_of(targets, begin, place, role)

    def _roles_of(self, targets: list[int | None], begin: int, place: int, role: Role) -> Iterator[Found]:
        for target in targets:
            own = target is None
            if not self._meant(begin, opinion=False, own=own) or self._taken_back(place + 1, opinion=False):
                return
            opinion = not own and (not self._meant(begin, opinion=True) or self._taken_back(place + 1, opinion=True))
            if own and role == "Werewolf" and self._ironic(begin):
                return
            if not own:
                night = self._seen(begin, place, target)
                if night is not None:
                    yield Found("inspection", target, role, night or None)
                    continue
            yield Found("role", target, role, None, opinion)

    def _result_of(self, pending: Inspecting, place: int) -> int | None:
        """Return who turns out to have the role at a place by an inspection, if only joining words lie between."""
        words = self.words
        target, at, stops = pending.target, pending.end, 0
        if words[self._left(place)] == "am" and self._left(place) >= pending.end:
            return None
        targets = {target, *(other for other, _ in pending.also)} - {None}
        named = target if len(targets) < 2 else None
        if place - at > 3 * _REACH or place < at:
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
                word in WORDS["aside"]
                and not skipped
                and word not in {"for", "to", "by", "who", "as", "so", "after"} | ({"when"} if False else set())
            ):
                skipped = True
                at = self._after_aside(at, place)
                continue
            elif (
                word == "who"
                and at + 1 < place
                and words[at + 1] not in {"is", "was", "turned_out", "turned", "came", "turns_out"}
                and not skipped
            ):
                skipped = True
                at = self._after_aside(at, place)
                continue
            elif word.endswith("ing") and words[at - 1] == "," and not skipped and word not in WORDS["modifier"]:
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
            pronouns = {"he", "she", "they", "him", "her", "them"}
            between = words[pending.end : place]
            if pronouns.intersection(between):
                named = self._antecedent(pending.start)
            elif {"you"}.intersection(between):
                named = self._you(pending.start, place)
        return named if named != self.speaker else None

    def _after_aside(self, at: int, until: int) -> int:
        words = self.words
        while at < until and words[at] not in STOPS and words[at] not in {",", ":", ";", "—", "-"}:
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
                    and words[at - 1] in {"(", ",", "—", "-", ":"}
                    and (at + 1 >= len(words) or self._is_night(at + 1) or words[at + 1] in {")", ".", "by"})
                ):
                    return self._night(at, at + 1, at) or 0
                if by is not None and by != at:
                    about, end = self._object(at + 1)
                    here = self._antecedent(place) if words[at + 1 : at + 2] in (["him"], ["her"], ["them"]) else about
                    if (
                        about == target
                        or here == target
                        or words[at + 1] in {"it", "this", "that", "so"}
                        and word in WORDS["saw"] | {"checked"}
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
                    or {"was", "by", "from", "as", "according", "per"}.intersection(words[max(at - 4, place) : at])
                )
            ):
                return self._night(at, at + 3, at) or 0
            if word == "shown" or self.marks[at] not in {None, target}:
                return None
            at += 1
        return None

    def _subject(self, left: int, place: int) -> tuple[list[int | None], int]:
        """Return whose role is told, None standing for the speaker, and where that begins; nobody if no subject that
        counts stands before the role.
        """
        words = self.words
        if left < 0:
            return self._bare(left, place)
        word = words[left]
        if (
            word == "="
            and left >= 1
            and words[left - 1] in {"role", "claim", "card"}
            and (left < 2 or words[left - 2] in STOPS or words[left - 2] == "my")
        ):
            return [None], max(left - 2, 0)
        if word in {"and", "but", "yet"}:
            back = left - 1
            while (
                back >= 0
                and left - back < 6
                and words[back] not in {"is", "am", "'s", "are"}
                and words[back] not in STOPS
                and words[back] != ","
                and self.marks[back] is None
            ):
                back -= 1
            if (
                back > 0
                and words[back] in {"is", "am", "'s", "are"}
                and left - back > 1
                and not (WORDS["hedge"] | WORDS["negation"] | WORDS["report"] | WORDS["role"]).intersection(
                    words[back:left]
                )
                and words[left + 1] in {"a", "the", "an"}
            ):
                return self._subject_of(back, place)
            return [], left
        if (
            words[left + 1] in {"the", "our", "a"}
            and left >= 2
            and words[left - 1] == "is"
            and words[left - 2] == "it"
            and (self.marks[left] is not None or word == "me")
        ):
            return [None if word == "me" else self.marks[left]], left - 2
        if word in {"is", "am", "are", "was", "be", "been", "'s", "remains", "="}:
            return self._subject_of(left, place)
        if word == "as":
            return self._as(left, place)
        if word == "do" and words[left - 1 : left] == ["i"] and words[left + 1] == "happen_to_be":
            return [None], left - 1
        if (
            word in {"at", "to", "with"}
            and words[left - 1] in {"looking", "talking", "speaking", "dealing"}
            and "you" in words[max(left - 4, 0) : left]
        ):
            return [None], max(left - 3, 0)
        if (
            word == "me"
            and words[left - 1] in {"gave", "dealt", "handed", "made", "assigned", "given"}
            or word == "me"
            and words[left - 1] == "to"
            and words[left - 2] in {"gave", "given", "dealt", "assigned"}
            or word == "me"
            and words[left - 1 : left] != [","]
            and self._starts(left - 1)
        ):
            return [None], max(left - 1, 0)
        if word in {"myself", "forward", "out", "revealing"}:
            return [], left
        if word in {"says", "reads"} and words[max(left - 2, 0) : left] in (
            ["my", "card"],
            ["my", "role"],
            ["my", "slip"],
        ):
            return [None], left - 2
        if word in {
            "claim",
            "claiming",
            "counterclaim",
            "counterclaiming",
            "counter-claim",
            "counter-claiming",
            "hard-claiming",
            "cc",
            "outing",
        }:
            at = left - 1
            while at >= 0 and words[at] in {
                "hard",
                "hereby",
                "am",
                "do",
                "just",
                "now",
                "officially",
                "formally",
                "will",
                "'ll",
                "full",
                "soft",
            }:
                at -= 1
            if at < 0 or words[at] in STOPS or words[at] in {"i", ","}:
                return [None], max(at, 0)
            return [], left
        if word == "," and "being" in words[left + 1 : place]:
            return self._bare(left, place)
        if word == ",":
            at = left - 1
            if at >= 0 and words[at] == "i" and self._starts(at - 1) and "," in words[place + 1 : place + 8]:
                return [None], at
            if at >= 2 and words[at] in {"i", "me"} and words[at - 1] in {"is", "was"} and words[at - 2] == "it":
                return [None], at - 2
            return [], left
        if word == "i" and self._starts(left - 1):
            return [None], left
        if "being" in words[left + 1 : place]:
            return self._bare(left, place)
        mark = self.marks[left]
        if (
            mark is not None
            and left >= 1
            and words[left - 1] in {"makes", "make", "declare", "pronounce", "name", "call"}
        ):
            if words[left - 1] == "makes" or words[left - 2] == "i":
                return [mark if mark != self.speaker else None], left - 1
        if word in {"says", "said"} and words[place + 1 : place + 4] == ["on", "my", "card"]:
            return [None], left
        if (
            word in {"holds", "rolled", "roled"}
            or word in WORDS["hold"]
            or word in WORDS["given"]
            or word in {"hold", "playing", "having"}
        ):
            held = WORDS["dealt_role"].intersection(words[left + 1 : place + 2])
            at = left - 1
            while at >= 0 and (
                words[at] in WORDS["auxiliary"] or words[at] in {"was", "been", "am", "only", "have", "the"}
            ):
                at -= 1
            stop = place + 1 >= len(words) or words[place + 1] in STOPS or words[place + 1] in {",", "and", "so", "—"}
            bare = (
                word in {"got", "have", "drew", "play", "playing", "rolled", "roled"}
                and words[place] != "werewolf"
                and stop
            )
            if at >= 0 and words[at] == "i" and (held or word in WORDS["given"] or bare):
                return [None], at
            if at >= 0 and self.marks[at] is not None and held and word in {"has", "holds", "got", "drew"}:
                return self._named(at)
            return [], left
        if word in {":", "-", "—"}:
            at = left - 1
            if (
                at >= 0
                and self.marks[at] is not None
                and self._starts(at - 1)
                and words[at - 1 : at] != [":"]
                and (place + 1 >= len(words) or words[place + 1] in STOPS or words[place + 1] in {"(", ","})
            ):
                return [self.marks[at] if self.marks[at] != self.speaker else None], at
            if at >= 0 and words[at] in {"role", "claim", "card", "identity", "claiming", "outing", "reveal"}:
                at -= 1
                while at >= 0 and words[at] in {
                    "my",
                    "true",
                    "real",
                    "own",
                    "the",
                    "here",
                    "is",
                    "secret",
                    "full",
                    "role",
                    "official",
                    "quick",
                    "class",
                    "final",
                    "hard",
                    "cc",
                }:
                    at -= 1
                if at < 0 or words[at] in STOPS or words[at] in {",", ";", "—", "-"}:
                    return [None], at + 1
                if words[at] == "'s" and self.marks[at - 1] is not None:
                    return [self.marks[at - 1]], at - 1
                return [], left
            if at >= 0 and words[at] in {"am", "me", "i"}:
                start = at - 1 if words[at] == "am" else at
                if start <= 0 or words[start - 1] in STOPS or words[start - 1] in {"who", "what"}:
                    return [None], max(start - 1, 0)
            return [], left
        return self._bare(left, place)

    def _subject_of(self, joint: int, place: int) -> tuple[list[int | None], int]:
        """Return the subject of the word that joins it to a role."""
        words = self.words
        at = joint - 1
        while at >= 0 and (
            words[at]
            in {
                "indeed",
                "really",
                "truly",
                "also",
                "still",
                "both",
                "just",
                "actually",
                "simply",
                "therefore",
                "here",
                "myself",
                "clearly",
                "obviously",
                "definitely",
                "certainly",
                "now",
                "alone",
                "really",
            }
        ):
            at -= 1
        if at < 0:
            return [], joint
        word, mark = words[at], self.marks[at]
        if words[joint] == "been":
            while at > 0 and words[at] in {"have", "has", "always", "'ve", "only", "ever", "secretly"}:
                at -= 1
            if words[at + 1] not in {"have", "has"}:
                return [], joint
            word, mark = words[at], self.marks[at]
        if words[joint] == "=" and (mark is None or not self._starts(at - 1)):
            return [], joint
        if words[joint] == "be" or words[joint] == "was" and word == "i":
            before = words[max(at - 2, 0) : at + 1]
            if (
                words[joint] == "be"
                and (mark is not None or word == "i")
                and not {"let", "may", "to", "should", "would"}.intersection(words[max(at - 3, 0) : at])
            ):
                return ([None], at) if word == "i" else self._named(at)
            if (
                words[joint] == "be"
                and word == "to"
                and at >= 2
                and words[at - 1]
                in {"got", "get", "chosen", "picked", "selected", "supposed_", "appointed", "assigned"}
                and "i" in words[max(at - 4, 0) : at]
            ):
                return [None], words.index("i", max(at - 4, 0))
            if (
                words[joint] == "be"
                and word in {"must", "to"}
                and {"therefore", "so", "thus", "hence", "consequently", "then", "which_means"}.intersection(
                    words[max(at - 8, 0) : at]
                )
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
        if word == "," and words[joint] in {"is", "are"} and "you" != words[max(at - 3, 0)]:
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
        if (
            mark is None
            and at >= 0
            and self.marks[at] is None
            and word == ","
            and self.marks[at - 1] is not None
            and "you" == words[max(at - 3, 0)]
        ):
            return [self.marks[at - 1]], max(at - 3, 0)
        if word == "me" and {"role", "card"}.intersection(words[max(at - 6, 0) : at]) and words[joint] == "is":
            return [None], max(at - 4, 0)
        if (
            word in {"given", "dealt", "got", "have", "drew", "received", "assigned", "hold"}
            and "i" in words[max(at - 3, 0) : at]
        ):
            near = words[max(at - 6, 0) : at]
            if {"role", "card"}.intersection(near):
                return [None], max(at - 6, 0) + next(each for each, one in enumerate(near) if one in {"role", "card"})
        if word in {"game", "village", "town", "round", "time"}:
            back = at - 1
            while back >= 0 and words[back] in {"in", "this", "the", "our", "for", "here", "of"}:
                back -= 1
            if back >= 0 and words[back] == "role":
                at, word = back, "role"
        if word in {"role", "card", "identity", "job", "work"}:
            begin = at - 1
            while begin >= 0 and words[begin] in {"true", "real", "own", "actual", "secret", "assigned"}:
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
                words[after : after + 1] == [","]
                and after + 1 < len(words)
                and self.marks[after + 1] is not None
                and words[after + 2 : after + 3] in (["."], ["!"])
            ):
                target = self.marks[after + 1]
            elif len(self._others(at)) > 1:
                target = None
            return ([target], at) if target is not None else ([], joint)
        return [], joint

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
                and words[at + 1 : at + 2] != ["werewolves"]
            ):
                # "Ada, Raj is a Werewolf" speaks to Ada
                break
            begin -= 2
            names.append(self.marks[begin])
        if words[begin - 1] == "of" and begin >= 1 and len(names) > 1:
            return [], at
        if len(names) > 1 and self._singular(at) and self.words[at + 1 : at + 2] != ["werewolves"]:
            return [self.marks[at]], at
        if (
            words[begin - 1] in {"or", "nor"}
            or begin >= 1
            and words[begin - 1] == "of"
            or begin >= 1
            and words[begin - 1] in {"than", "against", "like", "about", "for"}
            and False
        ):
            return [], at
        return [None if name == self.speaker else name for name in reversed(names)], begin

    def _singular(self, at: int) -> bool:
        return self.words[at + 1] in {"is", "was", "'s"} if at + 1 < len(self.words) else True

    def _several(self, place: int, role: Role) -> Iterator[Found]:
        """Yield the claims around a role in the plural."""
        words = self.words
        left = place - 1
        one = False
        while left >= 0 and words[left] in WORDS["modifier"]:
            one = one or words[left] in {"one", "part_of", "member_of", "among", "of"}
            left -= 1
        if left >= 1 and words[left] in {"on", "with", "in", "among", "amongst", "from"}:
            one, left = True, left - 1
        if (
            one
            and left >= 1
            and self._closes(place + 1)
            and words[left] in {"are", "is", "'s"}
            and words[left - 1] == ","
        ):
            targets, begin = self._subject_of(left, place)
            yield from self._roles_of(targets, begin, place, role)
            return
        if self._closes(place + 1) and left >= 1 and words[left] in {"are", "is", "'s", "was", "="}:
            at = left - 1
            while at >= 0 and words[at] in {"both", "all", "clearly", "definitely", "obviously", "indeed", "really"}:
                at -= 1
            if at >= 0 and self.marks[at] is not None and (one or words[left] in {"are", "="}):
                targets, begin = self._named(at)
                if words[left] != "is" and not one and len(targets) < 2:
                    return
                yield from self._roles_of(targets, begin, place, role)
                return
            if at >= 0 and words[at] == "you" and one:
                target = self._you(at, place)
                if target is not None:
                    yield from self._roles_of([target], at, place, role)
                return
        if (
            left == place - 1
            and left >= 2
            and self.marks[left] is not None
            and self.marks[left - 2] is not None
            and (place + 1 >= len(words) or words[place + 1] in STOPS)
        ):
            targets, begin = self._named(left)
            if self._starts(begin - 1):
                yield from self._roles_of(targets, begin, place, role)
                return
        yield from self._role_first(place, (role,))

    def _role_first(self, place: int, roles: tuple[Role, ...]) -> Iterator[Found]:
        """Yield what follows a role that stands first: "the Seer is me", "the Werewolves are Raj and Bea"."""
        words = self.words
        left = place - 1
        while left >= 0 and words[left] in WORDS["modifier"] and words[left] not in {"and", "of"}:
            left -= 1
        determined = left < place - 1 or left < 0 or words[left] in STOPS or words[left] == ":"
        if not determined or (left >= 0 and words[left] in {"my", "any", "no", "every", "'s"}):
            return
        at = place + 1
        while at < len(words) and words[at] in {
            "team",
            "pair",
            "pack",
            "duo",
            "here",
            "today",
            "among",
            "us",
            "in",
            "this",
            "village",
            "game",
            "we",
            "seek",
            "want",
            "need",
            "are",
            "looking",
            "for",
            "you",
        } - ({"you", "are"} if words[at] == "are" and words[at - 1] != "we" else set()):
            if words[at] == "among" and words[at + 1 : at + 2] != ["us"]:
                return
            at += 1
        if at >= len(words):
            return
        if words[at : at + 2] == ["am", "i"] and at == place + 1:
            yield from self._roles_of([None], max(left + 1, 0), at + 1, roles[0])
            return
        if words[at : at + 2] == ["are", "you"] and at == place + 1 and words[left + 1] in {"a", "the"}:
            spoken = self._you(at + 1, at + 1)
            if spoken is not None:
                yield from self._roles_of([spoken], max(left + 1, 0), at + 1, roles[0])
            return
        if (
            words[at : at + 2] == ["it", "is"]
            and words[at + 2 : at + 3] == ["me"]
            and (left < 0 or words[left] in STOPS)
        ):
            at += 1
        if (
            words[at : at + 3] == [",", "it", "is"]
            and at + 3 < len(words)
            and (self.marks[at + 3] is not None or words[at + 3] == "me")
        ):
            at += 2
        if words[place - 1 : place] in (["in"], ["among"]) or (
            words[place + 1 : at + 1] and "among" in words[place + 1 : at + 1] and words[at] not in {"is", "are"}
        ):
            return
        joint = words[at]
        apposed = joint == "," and words[place] in WORDS["roles"]
        listed = joint in {":", "="} and (left < 0 or words[left] in STOPS)
        if joint not in {"is", "was", "are", "were"} and not apposed and not listed:
            return
        at += 1
        while at < len(words) and words[at] in (WORDS["modifier"] | {":", "exactly"}) - {"among", "with", "part_of"}:
            at += 1
        targets: list[int | None] = []
        while at < len(words) and (
            self.marks[at] is not None
            or words[at] in {"me", "you", "myself"}
            or words[at] == "my"
            and (at + 1 >= len(words) or words[at + 1] in STOPS)
        ):
            other = self._you(at, at) if words[at] == "you" else self.marks[at]
            if words[at] == "you" and other is None:
                return
            targets.append(None if words[at] in {"me", "my", "myself"} or other == self.speaker else other)
            if at + 1 < len(words) and (
                words[at + 1] in {"and", "/", "+"}
                or words[at + 1] == ","
                and (listed or at + 2 < len(words) and self.marks[at + 2] is not None)
            ):
                at += 1
                if at + 1 < len(words) and words[at] == "," and words[at + 1] == "and":
                    at += 1
            at += 1
        end = at
        if not targets or (end < len(words) and words[end] in {"'s", "or"}):
            return
        if apposed and (len(targets) < 2 or end >= len(words) or words[end] != ","):
            return
        if joint in {"is", "was"} and len(targets) == 1 and end < len(words) and not self._closes(end):
            return
        if words[place] in WORDS["role"] and joint == ",":
            return
        for target in targets:
            yield from self._roles_of([target], max(left + 1, 0), end - 1, roles[0])

    def _bare(self, left: int, place: int) -> tuple[list[int | None], int]:
        """Return the speaker for a role that is a sentence of its own: "Villager.", "Seer here", "Doctor claim"."""
        words = self.words
        if (
            words[place + 1 : place + 2] == ["here"]
            and left == place - 1
            and left >= 0
            and words[place] != "werewolf"
            and words[left]
            not in {"no", "any", "of", "with", "for", "from", "by", "is", "'s", "who", "or", "not", "which"}
            and self.marks[left] is None
        ):
            return [None], place
        if left >= 0 and words[left] == "being":
            left -= 1
        after = words[place + 1] if place + 1 < len(words) else "."
        if "being" in words[left + 1 : place]:
            begins = left < 0 or words[left] in STOPS or words[left] in {",", "that", "—", ":"}
            rest = words[place + 1 : place + 4]
            return ([None], left + 1) if begins and {"i", "my", "myself"}.intersection(rest) else ([], place)
        here = (
            words[place + 1 : place + 2] in (["here"], ["claim"]) and left >= 0 and words[left] in {":", ",", "—", "-"}
        )
        if words[place] == "werewolf" or not (left < 0 or words[left] in STOPS or here):
            return [], place
        if any(word in {"of", "that", "but", "not"} for word in words[left + 1 : place]):
            return [], place
        only = all(
            word
            in {
                "a",
                "just",
                "simple",
                "plain",
                "vanilla",
                "only",
                "the",
                "an",
                "your",
                "village",
                "humble",
                "ordinary",
                "regular",
            }
            for word in words[left + 1 : place]
        )
        if after in {"here", "claim", "claiming"}:
            ends = words[place + 2] if place + 2 < len(words) else "."
            return (
                ([None], left + 1)
                if only and (ends in STOPS or ends in {",", "—", "-", ":", ";"} or self._closes(place + 2))
                else ([], place)
            )
        if only and (
            after in {".", "!"}
            or after == ","
            and place - left > 1
            and words[place + 2 : place + 3] not in (["please"], ["you"])
        ):
            before = words[left - 1] if left >= 1 else ""
            asked = (
                left >= 0
                and words[left] == "?"
                and ("am i" in " ".join(words[max(left - 6, 0) : left]) or "role" in words[max(left - 6, 0) : left])
            )
            if asked:
                return [None], left + 1
            return (
                ([None], left + 1)
                if before not in {"?"} and words[left + 1 : left + 2] not in (["the"],)
                else ([], place)
            )
        return [], place

    def _as(self, left: int, place: int) -> tuple[list[int | None], int]:
        """Return the speaker for "as the Doctor, I …"."""
        words = self.words
        before = words[max(left - 4, 0) : left]
        if before[-1:] in (
            ["myself"],
            ["forward"],
            ["out"],
            ["outing"],
            ["revealing"],
            ["playing"],
            ["play"],
            ["claiming"],
            ["serve"],
            ["act"],
            ["acting"],
            ["serving"],
            ["here"],
            ["game"],
            ["chosen"],
            ["selected"],
            ["picked"],
            ["appointed"],
            ["assigned"],
        ) and {"i", "me"}.intersection(words[max(left - 8, 0) : left]):
            return [None], left
        rest = words[place + 1 : place + 4]
        if (
            left >= 2
            and words[left - 1]
            in {
                "role",
                "duty",
                "capacity",
                "position",
                "status",
                "duties",
                "job",
                "task",
                "power",
                "powers",
                "oath",
                "responsibility",
                "work",
                "role,",
            }
            and "my" in words[max(left - 4, 0) : left]
        ):
            return [None], left - 1
        if (
            left >= 1
            and words[left - 1] not in STOPS
            and words[left - 1] not in {",", "speaking", "—", "and", "but", "that", ":", "so", "-", "because"}
        ):
            return [], left
        if words[left + 1 : left + 2] not in (["the"], ["a"], ["your"], ["our"], ["an"], [words[place]]):
            return [], left
        if rest[:1] == [","] and rest[1:2] in (["i"], ["my"], ["let"]) or rest[:1] in (["i"], ["my"], ["let"]):
            return [None], left
        return [], left

    # protections

    def _protecting(self, place: int) -> Iterator[Found]:
        words = self.words
        word = words[place]
        past = (
            words[place - 1 : place] == ["i"]
            and any(
                words[each] in {"last_night", "yesterday"} or words[each].startswith("night_")
                for each in range(max(place - 5, 0), min(place + 6, len(words)))
            )
            or words[place - 2 : place] in (["i", "have"], ["i", "was"], ["i", "did"])
        )
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
                yield Found("protection", target, None, self._night(place - 2, place + 3, place))
            return
        if begin is None or not self._meant(begin, opinion=False, own=True):
            return
        at = place + 1
        if words[at : at + 1] == [":"] and self._starts(place - 1):
            at += 1
        if begin >= 1 and words[begin - 1] in {"one", "person", "player"}:
            while at < len(words) and (self._is_night(at) or words[at] in {"was", "is"}):
                at += 1
        if word == "self-protected" or words[at : at + 1] == ["myself"]:
            if self.speaker is not None:
                yield Found("protection", None, None, self._night(begin, at, place))
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
                    yield Found("protection", None, None, self._night(begin, at, place))
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
            yield Found("protection", target if target != self.speaker else None, None, self._night(begin, end, place))
            while end < len(words) and (self._is_night(end) or words[end] == "again"):
                end += 1
            if (
                end + 1 < len(words)
                and words[end] in {",", "and", "/"}
                and (
                    self.marks[end + 1] is not None
                    or words[end] == ","
                    and words[end + 1] == "and"
                    and end + 2 < len(words)
                    and self.marks[end + 2] is not None
                )
            ):
                following = end + 2 if self.marks[end + 1] is not None else end + 3
                if (
                    following < len(words)
                    and words[following] in {"is", "'s", "are", "was", "has"}
                    or not (
                        self._is_night(following)
                        or following >= len(words)
                        or words[following] in STOPS
                        or words[following] in {",", "and"}
                    )
                ):
                    return
                at = following - 1
                begin = end
                place = following - 1
                continue
            return

    def _my_protection(self, place: int) -> Iterator[Found]:
        """Yield "my protection was on Raj", "Raj was under my protection"."""
        words = self.words
        at = place + 1
        while at < len(words) and (
            words[at]
            in {
                "of",
                "was",
                "on",
                "over",
                "went",
                "to",
                "for",
                "is",
                "upon",
                "has",
                "been",
                "extended",
                "given",
                "granted",
                "fell",
                "rested",
                ":",
            }
            or self._is_night(at)
        ):
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
        if self._meant(begin, opinion=False, own=True) and words[at + 1 : at + 2] != ["'s"]:
            yield Found("protection", target if target != self.speaker else None, None, self._night(begin, at, place))

    # who is meant

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
        if at >= 2 and words[at - 1] in {",", "—", "!", "-"} and self.marks[at - 2] is not None:
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
            if (
                words[ahead] == ","
                and self.marks[ahead + 1] is not None
                and words[ahead + 2 : ahead + 3] in ([","], ["."], ["!"])
            ):
                return self.marks[ahead + 1]
            ahead += 1
        # whom the sentence, or one before, opens with
        begin = at
        for _ in range(3):
            begin -= 1
            while begin >= 0 and words[begin] not in STOPS:
                begin -= 1
            first = begin + 1
            while first < len(words) and words[first] in {
                "no",
                "yes",
                "well",
                "oh",
                "look",
                "so",
                ",",
                "ah",
                "and",
                "but",
                "listen",
                "sorry",
                "my",
                "dear",
                "ok",
                "okay",
                "enough",
            }:
                first += 1
            if (
                first + 1 < len(words)
                and self.marks[first] is not None
                and words[first + 1] in {",", "!", ".", "—", "?"}
            ):
                return self.marks[first]
            if begin < 0:
                break
        return None

    # whether it is meant

    def _closes(self, at: int) -> bool:
        """Return whether what follows a role leaves it a word of its own."""
        if at >= len(self.words):
            return True
        word = self.words[at]
        if word == "check" and (
            self.words[at + 1 : at + 2] in (["me"], ["him"], ["her"]) or self.marks[at + 1 : at + 2] not in ([], [None])
        ):
            return True
        return (
            word not in WORDS["compound"]
            and word not in {"'s", "'", CUT}
            or word == "claim"
            and (at + 1 >= len(self.words) or not self.words[at + 1][0].isalnum())
        )

    def _taken_back(self, at: int, *, opinion: bool) -> bool:
        """Return whether what follows a claim takes it back, or makes it an opinion."""
        words = self.words
        while at < len(words) and words[at] in {",", "—", "-", "or_so", "so", ")", "at", "least"}:
            at += 1
        if at >= len(words):
            return False
        word = words[at]
        if word in {"or", "nor"}:
            near = words[at + 1 : at + 4]
            return (
                bool(WORDS["role"].intersection(near))
                or near[:1] in (["so"], ["not"], ["maybe"], ["something"], ["at"], ["just"], ["plays"])
                or (len(near) > 0 and self.marks[at + 1] is not None)
            )
        if word == "if":
            return words[at + 1 : at + 3] not in (
                ["you", "must"],
                ["anyone", "asks"],
                ["you", "want"],
                ["anyone", "cares"],
            )
        if word == "right":
            return words[at + 1 : at + 2] != ["now"]
        if word in WORDS["taken_back"]:
            return opinion or word not in {"maybe", "perhaps", "probably", "possibly"}
        following = words[at + 1] if at + 1 < len(words) else ""
        if (word in WORDS["pronoun"] or word == "you" or self.marks[at] is not None) and following in WORDS[
            "says_after"
        ]:
            return True
        if (
            opinion
            and word in {"i", "we"}
            and (following in WORDS["hedge"] or words[at + 2 : at + 3] and words[at + 2] in WORDS["hedge"])
            and following not in {"am"}
        ):
            return True
        return (
            opinion
            and word == "in"
            and following in {"my", "your", "his", "her", "their"}
            or (word == "in" and following in {"your", "his", "her", "their"})
        )

    def _ironic(self, begin: int) -> bool:
        words = self.words
        at = begin - 1
        while at >= 0 and words[at] not in STOPS:
            if words[at] in WORDS["irony"]:
                return True
            at -= 1
        at = begin
        while at < len(words) and at < begin + 30:
            if words[at] in {"cat", "pope", "moon", "goat", "dog", "🙄", "sense", "/s", "queen", "king", "cheese"}:
                return True
            at += 1
        return False

    def _meant(self, begin: int, *, opinion: bool, own: bool = False, since: int = 0) -> bool:
        """Return whether a claim that begins there is made on the speaker's own account.

        Args:
            begin: where it begins.
            opinion: whether a mere opinion counts as none.
            own: whether it is of the speaker itself.
            since: where to stop looking.
        """
        words = self.words
        at = begin - 1
        comma = colon = that = told = False
        while at >= since and words[at] not in STOPS:
            word = words[at]
            if word == CUT:
                return False
            told = told or word in {"reveal", "tell", "share", "say", "admit", "know", "knew", "confess", "disclose"}
            if word in {";", "—", "-", "but", "however", "yet"}:
                break
            if word in {":"}:
                colon = True
            elif word in {",", "and", "because", "so", "since", "as", ")"}:
                comma = comma or not that
            elif word == "that":
                that = True
            elif word in {"when", "once", "until"} and words[at + 1 : at + 2] == ["i"]:
                pass
            elif (
                word == "conclude"
                and "i" in words[max(at - 3, 0) : at]
                or word == "why"
                and words[at - 1] in {"is", "'s"}
            ):
                pass
            elif word == "whether" and comma and "not" in words[at:begin]:
                pass
            elif word in WORDS["condition"] and not (word == "according" and words[at + 2 : at + 3] == ["my"]):
                if not (
                    colon
                    and word
                    in {
                        "when",
                        "once",
                        "until",
                        "whatever",
                        "either",
                        "proof",
                        "whenever",
                        "why",
                        "how",
                        "story",
                        "argument",
                        "evidence",
                    }
                ) and not (
                    comma
                    and word
                    in {
                        "lie",
                        "lies",
                        "lied",
                        "lying",
                        "nonsense",
                        "when",
                        "once",
                        "why",
                        "how",
                        "proof",
                        "fake",
                        "until",
                        "story",
                        "argument",
                        "accusation",
                        "someone",
                        "anyone",
                        "somebody",
                        "were",
                        "suspicion",
                        "false",
                    }
                ):
                    return False
            elif word in WORDS["report"] and not self._i_say(at):
                mine = "i" in words[max(at - 2, 0) : at] and word in {
                    "think",
                    "believe",
                    "thought",
                    "feel",
                    "guess",
                    "expected",
                    "expect",
                }
                apart = (
                    own
                    and words[at + 1] != ","
                    and (
                        words[begin - 1] == ","
                        or words[begin - 1] in {"and", "so", "because"}
                        and words[begin - 2] == ","
                    )
                )
                agreed = {"agree", "second", "support", "right", "confirm", "agrees"}.intersection(
                    words[max(at - 8, 0) : begin]
                )
                device = words[at - 1] in {
                    "card",
                    "game",
                    "it",
                    "app",
                    "paper",
                    "message",
                    "moderator",
                    "screen",
                    "slip",
                }
                if (
                    not (apart or agreed and (colon or that) or device and word in {"says", "said"})
                    and not (comma and {"what", "whatever"}.intersection(words[max(at - 4, 0) : at]))
                    and not (own and mine and (colon or told))
                    and not (
                        comma
                        and own
                        and not that
                        and word
                        in {
                            "asks",
                            "asked",
                            "want",
                            "wants",
                            "heard",
                            "convinced",
                            "accuses",
                            "accused",
                            "called",
                            "call",
                            "calls",
                        }
                    )
                ):
                    return False
            if (
                word in WORDS["negation"]
                and not colon
                and not comma
                and not (
                    word == "no"
                    and (words[at + 1] in {"i", "it", "he", "she", "you", "no"} or self.marks[at + 1] is not None)
                )
            ):
                return False
            if (
                word in {"guess", "hunch", "gut", "theory", "feeling", "impression", "opinion"}
                and words[max(at - 1, 0)] in {"my", "best", "wild"}
                and not own
            ):
                return False
            if word in WORDS["hedge"] and not colon and (not comma or not own) and not self._i_say(at, hedge=True):
                if (
                    word in {"wish", "hope"}
                    and words[at + 1] == "to"
                    or word == "possible"
                    and words[at - 1] == "only"
                    or word == "may"
                    and words[at + 1] == "i"
                ):
                    at -= 1
                    continue
                strong = word in {
                    "would",
                    "could",
                    "might",
                    "may",
                    "perhaps",
                    "maybe",
                    "possible",
                    "wish",
                    "hope",
                    "doubt",
                    "unlikely",
                    "impossible",
                    "pretend",
                    "probably",
                    "possibly",
                    "could've",
                    "likely",
                    "difficult",
                    "hard",
                    "chance",
                    "wonder",
                    "wondering",
                    "potentially",
                    "conceivably",
                    "unsure",
                }
                if strong and not (own and told and word in {"hope", "hard", "difficult"}) or opinion:
                    return False
            at -= 1
        return True

    def _i_say(self, at: int, *, hedge: bool = False) -> bool:
        """Return whether it is the speaker who says what a word of saying brings."""
        words = self.words
        if not hedge and words[at] in {"tells", "told", "says", "tell"} and words[at + 1 : at + 2] == ["me"]:
            clause = range(max(at - 8, 0), at)
            if not any(
                self.marks[each] is not None
                or words[each] in {"he", "she", "they", "who", "someone", "everyone", "people", "you"}
                for each in clause
            ):
                return True
        if hedge and words[at] in {"sure", "certain", "fear", "afraid", "convinced", "hard", "difficult"}:
            return words[at] in {"sure", "certain"} and (
                words[at - 1 : at] in (["for"],) or words[max(at - 2, 0) : at] == ["it", "is"]
            )
        if hedge:
            return words[at] in {"believe", "would", "hope", "could", "fear"} and words[at + 1 : at + 2] in (
                ["me"],
                ["like"],
                ["no"],
                ["you"],
            )
        before = at - 1
        while before >= 0 and words[before] in WORDS["auxiliary"] | {
            "must",
            "can",
            "will",
            "want",
            "would",
            "need",
            "wanted",
            "ought",
            "be",
            "never",
            "was",
            "am",
            "feel",
            "obligated",
            "like",
            "going",
            "gonna",
            "have",
            "let",
            "me",
            "it",
            "openly",
            "freely",
            "one",
            "the",
            "hoped",
            "hereby",
            "as",
            "long",
            "already",
        }:
            if words[before] in {"me", "let"} and words[before - 1 : before] == ["let"]:
                return True
            if words[before] == "never":
                return False
            before -= 1
        return (
            before >= 0
            and (words[before] == "i" or words[before] in {"my", "let"})
            and words[at]
            not in {"think", "thought", "believe", "heard", "pretended", "guess", "feel", "expect", "expected", "read"}
            or before < 0
            and words[at] in {"believe", "trust", "say", "call", "admit", "announce"}
            or words[at + 1 : at + 2] == ["me"]
            and words[at] == "believe"
        )
