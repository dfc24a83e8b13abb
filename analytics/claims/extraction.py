"""`claims_in`: the role and inspection claims that a statement makes in words (metrics: objective truth).

It would rather miss a claim than invent one. Quotations, questions, conditionals, hypotheses, hearsay, hedged opinions
and denials give nothing; nor do results other than an exact role ("he is innocent"), accusations, protections, and
"Raj is a Villager", which players say of whomever they trust.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator
from functools import cached_property
from itertools import pairwise
from re import Match, Pattern
from typing import Final

from analytics.claims import patterns
from analytics.claims.words import sentences
from wolfbus.marks import FIRST_MARK
from wolfbus.messages.base import SeatName
from wolfbus.messages.claims import Claim, InspectionClaim, RoleClaim, ScoredClaim
from wolfbus.truth import Facts, verdict
from wolfbus.vocabulary import ROLE_WORDS, Role

_PRONOUNS: Final = frozenset({"he", "she", "they", "it", "who", "him", "her", "them"})


def claims_in(text: str, speaker: SeatName, names: Iterable[SeatName]) -> tuple[RoleClaim | InspectionClaim, ...]:
    """Return the claims in the order of the words, none twice; () where there are none.

    It raises for no text, and takes time in proportion to it.

    Args:
        text: the statement; what goes beyond 6,000 characters is not read.
        speaker: who says it, "I".
        names: the players of the game; a name counts as a whole word, spelt as it is.
    """
    words = text.lower()
    if not _hints(words) or patterns.OWN.search(words) is None:
        return ()
    return _Reader(speaker, tuple(names)).read(text)


def found_claims(facts: Facts, speaker: SeatName, text: str) -> tuple[ScoredClaim, ...]:
    """Return the claims that are in the words, each with its verdict, marked as extracted.

    Args:
        facts: what is true as the statement is made.
        speaker: who makes it.
        text: its words.
    """
    return tuple(
        ScoredClaim(claim=claim, verdict=verdict(facts, speaker, claim), extracted=True)
        for claim in claims_in(text, speaker, facts.roles)
    )


def same_claim(one: Claim, other: Claim) -> bool:
    """Return whether two claims assert the same; a night that only one of them names makes no difference."""
    # cheap tests first: comparing whole models is slow
    if one.claim != other.claim or one.target != other.target:
        return False
    if isinstance(one, InspectionClaim) and isinstance(other, InspectionClaim):
        same_night = one.round is None or other.round is None or one.round == other.round
        return same_night and one.role == other.role
    return one == other


class _Clauses:
    """One sentence, and what stands before and after a place in it."""

    def __init__(self, sentence: str) -> None:
        self.sentence = sentence

    # found once for all claims of a sentence, so that its length counts once; few sentences have any

    @cached_property
    def _ends(self) -> list[int]:
        return [0, *(found.end() for found in patterns.BREAK.finditer(self.sentence))]

    @cached_property
    def _strong(self) -> list[int]:
        return [0, *(found.end() for found in patterns.STRONG_BREAK.finditer(self.sentence))]

    @cached_property
    def _reported(self) -> list[int]:
        return [found.start() for found in patterns.REPORTED.finditer(self.sentence)]

    @cached_property
    def _unsure(self) -> list[int]:
        return [found.start() for found in patterns.UNSURE.finditer(self.sentence)]

    def opening(self, start: int) -> str:
        """Return the words of the clause before `start`."""
        return self.sentence[self._ends[bisect_right(self._ends, start) - 1] : start].strip()

    def begins(self, start: int, *, opinion: bool = False) -> bool:
        """Return whether a claim that starts there is made on the speaker's own account.

        Args:
            start: where it starts.
            opinion: whether it may be a mere opinion, as of other players' roles.
        """
        opening = self.opening(start)
        if len(opening) > patterns.LONGEST_OPENING or patterns.OPENING.fullmatch(opening) is None:
            return False
        since = self._strong[bisect_right(self._strong, start) - 1]
        if _any(self._reported, since, start):
            return False
        return not opinion or not _any(self._unsure, since, start)

    def ends(self, end: int, *, opinion: bool = False) -> bool:
        """Return whether a claim that ends there is not taken back or turned into something else."""
        return (
            patterns.CLOSING.match(self.sentence, end) is not None
            and patterns.TAKEN_BACK.match(self.sentence, end) is None
            and not (opinion and patterns.DOUBTED.match(self.sentence, end))
        )


class _Reader:
    """Reads one statement."""

    def __init__(self, speaker: SeatName, names: tuple[SeatName, ...]) -> None:
        self.speaker = speaker
        self.names = names

    def read(self, text: str) -> tuple[RoleClaim | InspectionClaim, ...]:
        said = list(sentences(text, self.names))
        found: dict[RoleClaim | InspectionClaim, None] = {}
        telling = [sentence is not None and _hints(sentence) for sentence in said]
        for (sentence, following), tells in zip(pairwise((*said, None)), pairwise((*telling, False)), strict=True):
            if sentence is not None and any(tells):
                clauses = _Clauses(sentence)
                roles = tuple(self._roles(clauses))
                seer = any(claim.role == "Seer" and claim.target == self.speaker for claim in roles)
                inspections = self._inspections(clauses, following, seer)
                found.update(dict.fromkeys((*roles, *inspections)))
        if found and any(sentence is not None and patterns.JEST.search(sentence) for sentence in said):
            return ()
        return tuple(found)

    def _roles(self, clauses: _Clauses) -> Iterator[RoleClaim]:
        sentence = clauses.sentence
        for pattern in _worth(sentence, patterns.SELF, patterns.HERE):
            for found in pattern.finditer(sentence):
                if clauses.ends(found.end()) and clauses.begins(found.start()):
                    yield RoleClaim(target=self.speaker, role=_role(found))
        for pattern in _worth(sentence, patterns.SPEAKING_AS, patterns.I_THE):
            for found in pattern.finditer(sentence):
                if clauses.begins(found.start()):
                    yield RoleClaim(target=self.speaker, role=_role(found))
        for pattern in _worth(sentence, patterns.OTHER, patterns.ROLE_IS):
            for found in pattern.finditer(sentence):
                opinion = found["name"] != "me"
                if clauses.ends(found.end(), opinion=opinion) and clauses.begins(found.start(), opinion=opinion):
                    yield RoleClaim(target=self._name(found["name"]), role=_role(found))

    def _inspections(self, clauses: _Clauses, following: str | None, seer: bool) -> Iterator[InspectionClaim]:
        sentence = clauses.sentence
        for pattern in _worth(sentence, patterns.INSPECTED, patterns.USED_POWER, patterns.WENT_ON):
            for found in pattern.finditer(sentence):
                if seer if pattern is patterns.WENT_ON else clauses.begins(found.start()):
                    result = self._result(clauses, following, found)
                    if result is not None:
                        yield from self._inspected(found, result, clauses.opening(found.start()))
        for pattern in _worth(sentence, patterns.FINDING):
            for found in pattern.finditer(sentence):
                if clauses.ends(found.end()) and clauses.begins(found.start()):
                    yield from self._inspected(found, found)
        both = sentence if following is None else f"{sentence} {following}"
        for pattern in _worth(both, patterns.REVERSED):
            for found in pattern.finditer(both):
                if found.start() < len(sentence) and clauses.begins(found.start()):
                    yield from self._inspected(found, found)

    def _result(self, clauses: _Clauses, following: str | None, inspected: Match[str]) -> Match[str] | None:
        """Return the result that is told right after an inspection, in its sentence or at the start of the next."""
        end = inspected.end()
        for pattern in (patterns.RESULT, patterns.FOUND, patterns.BARE_RESULT):
            result = pattern.match(clauses.sentence, end)
            if result is not None and clauses.ends(result.end()):
                return result
        if following is not None and not clauses.sentence[end : end + 3].strip(" .!"):
            result = patterns.NEXT_RESULT.match(following)
            if result is not None and _Clauses(following).ends(result.end()):
                return result
        return None

    def _inspected(self, inspected: Match[str], result: Match[str], opening: str = "") -> Iterator[InspectionClaim]:
        """Yield the claim, if the result is about the player that was inspected."""
        mark, who = inspected["name"], result.groupdict().get("who")
        target = self._name(mark)
        if target != self.speaker and (who is None or who in _PRONOUNS or who == mark):
            night = _night(inspected["when"]) or _night(opening)
            yield InspectionClaim(target=target, role=_role(result), round=night)

    def _name(self, mark: str) -> SeatName:
        return self.speaker if mark == "me" else self.names[ord(mark) - FIRST_MARK]


def _hints(words: str) -> bool:
    """Return whether words in lower case have a role among them; without one they claim nothing that is looked for."""
    # spelt out: this is asked of every statement of every game
    return "wolf" in words or "seer" in words or "villager" in words or "doctor" in words


def _worth(sentence: str, *tried: Pattern[str]) -> Iterator[Pattern[str]]:
    """Yield the patterns of which the sentence has an indispensable word; looking for words is the cheapest."""
    for pattern in tried:
        for word in patterns.NEEDED[pattern]:
            if word in sentence:
                yield pattern
                break


def _role(found: Match[str]) -> Role:
    return ROLE_WORDS[found["role"]]


def _night(words: str) -> int | None:
    found = patterns.ROUND.search(words)
    return None if found is None else patterns.NIGHT_OF.get(found[1] or found[2])


def _any(places: list[int], since: int, until: int) -> bool:
    """Return whether any of the places lies in [since, until)."""
    at = bisect_left(places, since)
    return at < len(places) and places[at] < until
