"""Whose role is told, however it is told: "I claim Seer", "as the Doctor, I …", "Villager here"."""

from __future__ import annotations

from analytics.claims.lexicon import WORDS
from analytics.claims.names import Names
from analytics.claims.words import STOPS


class Subjects(Names):
    """Finds whose role is told."""

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
                and words[back] not in WORDS["be_forms"]
                and words[back] not in STOPS
                and words[back] != ","
                and self.marks[back] is None
            ):
                back -= 1
            if (
                back > 0
                and words[back] in WORDS["be_forms"]
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
        if word in WORDS["joining"]:
            return self._subject_of(left, place)
        if word == "as":
            return self._as(left, place)
        if word == "do" and self._word(left - 1) == "i" and words[left + 1] == "happen_to_be":
            return [None], left - 1
        if (
            word in {"at", "to", "with"}
            and words[left - 1] in WORDS["facing"]
            and "you" in words[max(left - 4, 0) : left]
        ):
            return [None], max(left - 3, 0)
        if (
            (word == "me" and words[left - 1] in WORDS["gave_me"])
            or (word == "me" and words[left - 1] == "to" and words[left - 2] in WORDS["given_me"])
            or (word == "me" and self._word(left - 1) != "," and self._starts(left - 1))
        ):
            return [None], max(left - 1, 0)
        if word in WORDS["come_out"]:
            return [], left
        if word in {"says", "reads"} and words[max(left - 2, 0) : left] in (
            ["my", "card"],
            ["my", "role"],
            ["my", "slip"],
        ):
            return [None], left - 2
        if word in WORDS["claims_to_be"]:
            at = left - 1
            while at >= 0 and words[at] in WORDS["claim_fillers"]:
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
        made = left >= 1 and words[left - 1] in WORDS["makes_one"]
        if mark is not None and made and (words[left - 1] == "makes" or words[left - 2] == "i"):
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
            while at >= 0 and (words[at] in WORDS["auxiliary"] or words[at] in WORDS["hold_fillers"]):
                at -= 1
            stop = place + 1 >= len(words) or words[place + 1] in STOPS or words[place + 1] in WORDS["role_ends"]
            bare = word in WORDS["got_role"] and words[place] != "werewolf" and stop
            if at >= 0 and words[at] == "i" and (held or word in WORDS["given"] or bare):
                return [None], at
            if at >= 0 and self.marks[at] is not None and held and word in WORDS["holds_role"]:
                return self._named(at)
            return [], left
        if word in {":", "-", "—"}:
            at = left - 1
            if (
                at >= 0
                and self.marks[at] is not None
                and self._starts(at - 1)
                and self._word(at - 1) != ":"
                and (place + 1 >= len(words) or words[place + 1] in STOPS or words[place + 1] in {"(", ","})
            ):
                return [self.marks[at] if self.marks[at] != self.speaker else None], at
            if at >= 0 and words[at] in WORDS["role_labels"]:
                at -= 1
                while at >= 0 and words[at] in WORDS["role_label_fillers"]:
                    at -= 1
                if at < 0 or words[at] in STOPS or words[at] in WORDS["claim_ends"]:
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

    def _bare(self, left: int, place: int) -> tuple[list[int | None], int]:
        """Return the speaker for a role that is a sentence of its own: "Villager.", "Seer here", "Doctor claim"."""
        words = self.words
        if (
            self._word(place + 1) == "here"
            and left == place - 1
            and left >= 0
            and words[place] != "werewolf"
            and words[left] not in WORDS["not_here"]
            and self.marks[left] is None
        ):
            return [None], place
        if left >= 0 and words[left] == "being":
            left -= 1
        after = words[place + 1] if place + 1 < len(words) else "."
        if "being" in words[left + 1 : place]:
            begins = left < 0 or words[left] in STOPS or words[left] in WORDS["being_after"]
            rest = words[place + 1 : place + 4]
            return ([None], left + 1) if begins and {"i", "my", "myself"}.intersection(rest) else ([], place)
        here = self._word(place + 1) in {"here", "claim"} and left >= 0 and words[left] in WORDS["here_after"]
        if words[place] == "werewolf" or not (left < 0 or words[left] in STOPS or here):
            return [], place
        if any(word in WORDS["not_bare"] for word in words[left + 1 : place]):
            return [], place
        only = all(word in WORDS["bare_fillers"] for word in words[left + 1 : place])
        if after in {"here", "claim", "claiming"}:
            ends = words[place + 2] if place + 2 < len(words) else "."
            return (
                ([None], left + 1)
                if only and (ends in STOPS or ends in WORDS["pauses"] or self._closes(place + 2))
                else ([], place)
            )
        if only and (
            after in {".", "!"}
            or (after == "," and place - left > 1 and self._word(place + 2) not in {"please", "you"})
        ):
            before = words[left - 1] if left >= 1 else ""
            asked = (
                left >= 0
                and words[left] == "?"
                and ("am i" in " ".join(words[max(left - 6, 0) : left]) or "role" in words[max(left - 6, 0) : left])
            )
            if asked:
                return [None], left + 1
            return ([None], left + 1) if before != "?" and self._word(left + 1) != "the" else ([], place)
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
        if left >= 2 and words[left - 1] in WORDS["capacities"] and "my" in words[max(left - 4, 0) : left]:
            return [None], left - 1
        if left >= 1 and words[left - 1] not in STOPS and words[left - 1] not in WORDS["as_after"]:
            return [], left
        if words[left + 1 : left + 2] not in (["the"], ["a"], ["your"], ["our"], ["an"], [words[place]]):
            return [], left
        if (rest[:1] == [","] and rest[1:2] in (["i"], ["my"], ["let"])) or rest[:1] in (["i"], ["my"], ["let"]):
            return [None], left
        return [], left
