"""The grammar of claims over a statement's words: who did what, who is what, and whether the speaker means it.

A claim is read around its kernel: a role ("… is a Werewolf") to the left, an inspection or a protection to the right.
What lies between the parts of a claim must be words that join them; anything else makes it none.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from analytics.claims.lexicon import WORDS
from analytics.claims.parts import FoundClaim, Inspecting
from analytics.claims.protections import Protections
from analytics.claims.words import STOPS
from wolfbus.vocabulary import ROLE_WORDS, Role

_PLURAL: Final = {
    f"{word}s" if word != "werewolf" else "werewolves": role for word, role in ROLE_WORDS.items() if word != "wolf"
}


class Grammar(Protections):
    """Reads the words of one statement."""

    def claims(self) -> Iterator[FoundClaim]:
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
            cleared = self._cleared(place, pending) if pending is not None else None
            if cleared is not None:
                yield FoundClaim("inspection", cleared)
            if word == "accuse" and self._by_me(place) is not None and self._meant(place, opinion=False, own=True):
                target = self.marks[place + 1] if place + 1 < len(words) else None
                if self._word(place + 1) == "you":
                    target = self._you(place + 1, place + 1)
                if target is not None and target != self.speaker and self._word(place + 2) != "'s":
                    yield FoundClaim("role", target, "Werewolf")
            if word in WORDS["protecting"] and WORDS["was_doing"].intersection(words[max(place - 4, 0) : place]):
                yield from self._protecting(place)
            given = (
                WORDS["gave"].intersection(words[max(place - 4, 0) : place]) and "i" in words[max(place - 5, 0) : place]
            )
            if word in WORDS["protection"] and (
                "my" in words[max(place - 2, 0) : place] or (given and word == "protection")
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
                while self._word(at) in {",", "—", "-", ";", "but", "."}:
                    at += 1
                if (
                    at + 2 < len(words)
                    and self.marks[at] is not None
                    and words[at + 1] in {"is", "'s"}
                    and words[at + 2] in STOPS
                    and words[at + 2] != "?"
                    and self._meant(place - 2, opinion=False, own=True)
                ):
                    yield FoundClaim("role", self.marks[at] if self.marks[at] != self.speaker else None, "Werewolf")
            if (
                word == "doctor"
                and place + 1 < len(words)
                and (words[place + 1] in STOPS or words[place + 1] in WORDS["after_role_claim"])
            ):
                doctor = self._starts(self._left(place)) or words[self._left(place)] in {"am", "claim", "claiming"}
            mark = self.marks[place]
            if (
                doctor
                and mark is not None
                and (pending is None or pending.end < place - 3 or pending.end in {place + 1, place + 2})
            ):
                after = place + 1 + (self._word(place + 1) == "(")
                before = (
                    words[place - 1]
                    if place and words[place - 1] not in WORDS["signs"]
                    else words[place - 2]
                    if place > 1
                    else ""
                )
                night = words[after] if words[after : after + 1] and words[after].startswith("night_") else before
                end = after + 1 + (self._word(after + 1) == ")") if night != before else place + 1
                if night.startswith("night_") and (
                    end >= len(words) or words[end] in STOPS or words[end] in {",", ";", "and"}
                ):
                    yield FoundClaim("protection", mark if mark != self.speaker else None, None, int(night[6:]))

    def _another(self, place: int) -> Iterator[FoundClaim]:
        """Yield "… and so is Bea", "… and Bea is another" after "Raj is a Werewolf"."""
        words = self.words
        at = place + 1
        while at < len(words) and words[at] in WORDS["linking"]:
            at += 1
        mark = self.marks[at] if place + 1 < at < len(words) else None
        if mark is None or words[place] not in {"werewolf", "werewolves"}:
            return
        so = words[at - 1] in {"is", "are"} and words[at - 2] in {"so", "as"}
        rest = [word for word in words[at + 1 : at + 5] if word not in WORDS["another_filler"]]
        other = (
            self._word(at + 1) in {"is", "'s"}
            and rest[:1] in (["is"], ["'s"])
            and self._word(at + 2) != "a"
            and (
                {"other", "another", "second"}.intersection(words[at + 2 : at + 5])
                or words[at + 2 : at + 4] == ["one", "too"]
            )
            and not (WORDS["role"] | WORDS["roles"]).intersection(words[at + 2 : at + 6])
        )
        if (so or other) and self._subject(self._left(place), place)[0] and self._meant(place, opinion=True):
            yield FoundClaim("role", mark if mark != self.speaker else None, "Werewolf")

    def _role(self, place: int, role: Role, pending: Inspecting | None) -> Iterator[FoundClaim]:
        words = self.words
        if self._word(place + 1) in {"result", "check", "reading", "vision"} and self._word(place + 2) in {
            "on",
            "for",
            "about",
            "from",
        }:
            # "I have a Werewolf result on Raj"
            mark = self.marks[place + 3] if place + 3 < len(words) else None
            if (
                mark is not None
                and mark != self.speaker
                and {"i", "my"}.intersection(words[max(place - 5, 0) : place])
                and self._meant(place, opinion=False, own=True)
            ):
                yield FoundClaim("inspection", mark, role, self._night(place, place + 4, place))
            return
        if (
            self._word(place + 1) == "on"
            and words[self._left(place) : self._left(place) + 1] in (["got"], ["get"], ["have"])
            and "i" in words[max(self._left(place) - 3, 0) : place]
        ):
            mark = self.marks[place + 2] if place + 2 < len(words) else None
            if mark is not None and mark != self.speaker and self._meant(self._left(place), opinion=False, own=True):
                yield FoundClaim("inspection", mark, role, self._night(place, place + 3, place))
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
                nights: dict[int | None, int | None] = {pending.target: pending.night, **dict(pending.also)}
                night = nights.get(seen)
                yield FoundClaim(
                    "inspection",
                    seen,
                    role,
                    self._night(pending.start, place, pending.start) if night is None and not pending.also else night,
                )
            return
        left = self._left(place)
        if self._word(left) in {"came_back", "came_up", "turned_up", "showed_up", "came_out"} or (
            self._word(left) == "as" and words[left - 1] in WORDS["came_back"]
        ):
            at = left if words[left] != "as" else left - 1
            mark = self.marks[at - 1] if at >= 1 else None
            if mark is not None and mark != self.speaker and self._meant(at - 1, opinion=True):
                yield FoundClaim("inspection", mark, role, self._night(at, place, at))
                return
        targets, begin = self._subject(left, place)
        if not targets:
            yield from self._role_first(place, (role,))
            return
        yield from self._roles_of(targets, begin, place, role)

    def _roles_of(self, targets: list[int | None], begin: int, place: int, role: Role) -> Iterator[FoundClaim]:
        for target in targets:
            own = target is None
            if not self._meant(begin, opinion=False, own=own) or self._taken_back(place + 1, opinion=False):
                return
            opinion = not own and (not self._meant(begin, opinion=True) or self._taken_back(place + 1, opinion=True))
            if own and role == "Werewolf" and self._ironic(begin):
                return
            if not own and not opinion:
                night = self._seen(begin, place, target)
                if night is not None:
                    yield FoundClaim("inspection", target, role, night or None)
                    continue
            yield FoundClaim("role", target, role, None, opinion)

    def _several(self, place: int, role: Role) -> Iterator[FoundClaim]:
        """Yield the claims around a role in the plural."""
        words = self.words
        left = place - 1
        one = False
        while left >= 0 and words[left] in WORDS["modifier"]:
            one = one or words[left] in WORDS["group_words"]
            left -= 1
        if left >= 1 and words[left] in WORDS["group_prepositions"]:
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
        if self._closes(place + 1) and left >= 1 and words[left] in WORDS["group_joining"]:
            at = left - 1
            while at >= 0 and words[at] in WORDS["group_fillers"]:
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

    def _role_first(self, place: int, roles: tuple[Role, ...]) -> Iterator[FoundClaim]:
        """Yield what follows a role that stands first: "the Seer is me", "the Werewolves are Raj and Bea"."""
        words = self.words
        left = place - 1
        while left >= 0 and words[left] in WORDS["modifier"] and words[left] not in {"and", "of"}:
            left -= 1
        determined = left < place - 1 or left < 0 or words[left] in STOPS or words[left] == ":"
        if not determined or (left >= 0 and words[left] in WORDS["not_the"]):
            return
        at = place + 1
        while at < len(words) and words[at] in WORDS["group_places"] - (
            {"you", "are"} if words[at] == "are" and words[at - 1] != "we" else set()
        ):
            if words[at] == "among" and self._word(at + 1) != "us":
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
        if words[at : at + 2] == ["it", "is"] and self._word(at + 2) == "me" and (left < 0 or words[left] in STOPS):
            at += 1
        if (
            words[at : at + 3] == [",", "it", "is"]
            and at + 3 < len(words)
            and (self.marks[at + 3] is not None or words[at + 3] == "me")
        ):
            at += 2
        if self._word(place - 1) in {"in", "among"} or (
            words[place + 1 : at + 1] and "among" in words[place + 1 : at + 1] and words[at] not in {"is", "are"}
        ):
            return
        joint = words[at]
        apposed = joint == "," and words[place] in WORDS["roles"]
        listed = joint in {":", "="} and (left < 0 or words[left] in STOPS)
        if joint not in WORDS["plural_joining"] and not apposed and not listed:
            return
        at += 1
        while at < len(words) and words[at] in (WORDS["modifier"] | {":", "exactly"}) - {"among", "with", "part_of"}:
            at += 1
        targets: list[int | None] = []
        while at < len(words) and (
            self.marks[at] is not None
            or words[at] in {"me", "you", "myself"}
            or (words[at] == "my" and (at + 1 >= len(words) or words[at + 1] in STOPS))
        ):
            other = self._you(at, at) if words[at] == "you" else self.marks[at]
            if words[at] == "you" and other is None:
                return
            targets.append(None if words[at] in {"me", "my", "myself"} or other == self.speaker else other)
            if at + 1 < len(words) and (
                words[at + 1] in {"and", "/", "+"}
                or (words[at + 1] == "," and (listed or (at + 2 < len(words) and self.marks[at + 2] is not None)))
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
