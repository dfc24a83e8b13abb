"""Whether a claim is meant: not asked, supposed, quoted, doubted, joked or taken back."""

from __future__ import annotations

from typing import Final

from analytics.claims.lexicon import WORDS
from analytics.claims.persons import Persons
from analytics.claims.words import CUT, STOPS

_REACH: Final = 80
"""Words before a claim, or after an inspection, that are looked over."""


class Meaning(Persons):
    """Tells whether the speaker says something on its own account."""

    def _closes(self, at: int) -> bool:
        """Return whether what follows a role leaves it a word of its own."""
        if at >= len(self.words):
            return True
        word = self.words[at]
        if word == "check" and (
            self._word(at + 1) in {"me", "him", "her"} or self.marks[at + 1 : at + 2] not in ([], [None])
        ):
            return True
        return (word not in WORDS["compound"] and word not in {"'s", "'", CUT}) or (
            word == "claim" and (at + 1 >= len(self.words) or not self.words[at + 1][0].isalnum())
        )

    def _taken_back(self, at: int, *, opinion: bool) -> bool:
        """Return whether what follows a claim takes it back, or makes it an opinion."""
        words = self.words
        while at < len(words) and words[at] in WORDS["taken_back_fillers"]:
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
            return self._word(at + 1) != "now"
        if word in WORDS["taken_back"]:
            return opinion or word not in WORDS["perhaps"]
        following = words[at + 1] if at + 1 < len(words) else ""
        if (word in WORDS["pronoun"] or word == "you" or self.marks[at] is not None) and following in WORDS[
            "says_after"
        ]:
            return True
        if (
            opinion
            and word in {"i", "we"}
            and (following in WORDS["hedge"] or (words[at + 2 : at + 3] and words[at + 2] in WORDS["hedge"]))
            and following != "am"
        ):
            return True
        return (opinion and word == "in" and following in WORDS["possessives"]) or (
            word == "in" and following in WORDS["possessive"]
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
            if words[at] in WORDS["absurd"]:
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
        since = max(since, begin - _REACH)
        comma = colon = that = told = False
        while at >= since and words[at] not in STOPS:
            word = words[at]
            if word == CUT:
                return False
            told = told or word in WORDS["reveals"]
            if word in WORDS["breaks"]:
                break
            if word == ":":
                colon = True
            elif word in WORDS["weak_breaks"]:
                comma = comma or not that
            elif word == "that":
                that = True
            elif (
                (word in {"when", "once", "until"} and self._word(at + 1) == "i")
                or (
                    (word == "conclude" and "i" in words[max(at - 3, 0) : at])
                    or (word == "why" and words[at - 1] in {"is", "'s"})
                )
                or (word == "whether" and comma and "not" in words[at:begin])
            ):
                pass
            elif word in WORDS["condition"] and not (word == "according" and self._word(at + 2) == "my"):
                if not (colon and word in WORDS["held_to_colon"]) and not (comma and word in WORDS["held_to_comma"]):
                    return False
            elif not opinion and not own and word in WORDS["opines"] and self._word(at - 1) in {"i", "still", "really"}:
                pass
            elif word in WORDS["report"] and not self._i_say(at):
                mine = "i" in words[max(at - 2, 0) : at] and word in WORDS["supposes"]
                apart = (
                    own
                    and words[at + 1] not in {",", ":"}
                    and (
                        words[begin - 1] == ","
                        or (words[begin - 1] in {"and", "so", "because"} and words[begin - 2] == ",")
                    )
                )
                agreed = WORDS["agrees"].intersection(words[max(at - 8, 0) : begin])
                device = words[at - 1] in WORDS["devices"]
                if (
                    not (apart or (agreed and (colon or that)) or (device and word in {"says", "said"}))
                    and not (comma and {"what", "whatever"}.intersection(words[max(at - 4, 0) : at]))
                    and not (own and mine and (colon or told))
                    and not (comma and own and not that and word in WORDS["names_calls"])
                ):
                    return False
            if (
                word in WORDS["negation"]
                and not colon
                and not comma
                and not (word == "no" and (words[at + 1] in WORDS["interjected"] or self.marks[at + 1] is not None))
            ):
                return False
            if word in WORDS["hunches"] and words[max(at - 1, 0)] in {"my", "best", "wild"} and not own:
                return False
            if word in WORDS["hedge"] and not colon and (not comma or not own) and not self._i_say(at, hedge=True):
                if (
                    (word in {"wish", "hope"} and words[at + 1] == "to")
                    or (word == "possible" and words[at - 1] == "only")
                    or (word == "may" and words[at + 1] == "i")
                ):
                    at -= 1
                    continue
                strong = word in WORDS["doubts"]
                if (strong and not (own and told and word in {"hope", "hard", "difficult"})) or opinion:
                    return False
            at -= 1
        return True

    def _i_say(self, at: int, *, hedge: bool = False) -> bool:
        """Return whether it is the speaker who says what a word of saying brings."""
        words = self.words
        if not hedge and words[at] in WORDS["tells"] and self._word(at + 1) == "me":
            clause = range(max(at - 8, 0), at)
            if not any(self.marks[each] is not None or words[each] in WORDS["people"] for each in clause):
                return True
        if hedge and words[at] in WORDS["sure"]:
            return words[at] in {"sure", "certain"} and (
                self._word(at - 1) == "for" or words[max(at - 2, 0) : at] == ["it", "is"]
            )
        if hedge:
            return words[at] in WORDS["wishing"] and self._word(at + 1) in {"me", "like", "no", "you"}
        before = at - 1
        while before >= 0 and words[before] in WORDS["auxiliary"] | WORDS["saying_fillers"]:
            if words[before] in {"me", "let"} and self._word(before - 1) == "let":
                return True
            if words[before] == "never":
                return False
            before -= 1
        return (
            (
                before >= 0
                and (words[before] == "i" or words[before] in {"my", "let"})
                and words[at] not in WORDS["privately"]
            )
            or (before < 0 and words[at] in WORDS["publicly"])
            or (self._word(at + 1) == "me" and words[at] == "believe")
        )
