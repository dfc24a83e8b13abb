"""Whom "you", "he" and a verb without a subject mean."""

from __future__ import annotations

from analytics.claims.statement import StatementWords
from analytics.claims.words import STOPS


def antecedent(said: StatementWords, before: int) -> int | None:
    """Return the other player named last before a place, in this sentence or the three before."""
    stops = 0
    for at in range(before - 1, -1, -1):
        found = said.other(at)
        if found is not None:
            return found
        stops += said.word(at) in STOPS
        if stops > 3:
            return None
    return None


def others(said: StatementWords, before: int) -> set[int]:
    """Return the players other than the speaker named in a sentence before a place."""
    return {found for at, _ in said.back(before) if (found := said.other(at)) is not None}


def addressed(said: StatementWords, at: int, kernel: int) -> int | None:
    """Return the other player spoken to as "you", by its name beside that word, behind what is said of it, or where
    this sentence or one of the two before opens.

    Args:
        said: the statement.
        at: the place of "you".
        kernel: the last place of what is said of it.
    """
    for place, table in ((at, "called"), (kernel, "called_after"), (at, "called_later")):
        found = said.near(place, table)
        if found is not None:
            return said.other(found.start("who"))
    begin = at
    for _ in range(3):
        begin = first = said.sentence(begin)
        while said.is_(first, "opening"):
            first += 1
        if said.player(first) is not None and said.is_(first + 1, "after_address"):
            return said.other(first)
        if begin == 0:
            break
        begin -= 1
    return None


def alone(said: StatementWords, at: int) -> int | None:
    """Return who is spoken to as "you", be it only the one other player named in the sentence."""
    found = addressed(said, at, at)
    if found is None:
        end = at
        while end < len(said.words) and said.word(end) not in STOPS:
            end += 1
        named = others(said, end)
        found = named.pop() if len(named) == 1 else None
    return found


def by_speaker(said: StatementWords, verb: int) -> int | None:
    """Return where the words "I have" before a verb begin, or the verb itself where its subject, the speaker, is left
    out; None if somebody else does it.
    """
    found = said.near(verb, "by_me")
    if found is not None:
        return found.start("me")
    return verb if said.near(verb, "no_subject") is not None and _speaker_goes_on(said, verb) else None


def _speaker_goes_on(said: StatementWords, verb: int) -> bool:
    """Return whether the subject that is left out is the speaker: nobody else was told of in the sentence, or the
    speaker's own deed was.
    """
    for at, word in said.back(verb):
        deed = said.is_(at, "inspected", "protected")
        if word in {"i", "me", "my"} or (deed and said.player(at + 1) is not None):
            return True
        if said.is_(at, "subject") or said.player(at) is not None:
            earlier = next((place for place, _ in said.back(at) if said.is_(place, "inspected", "protected")), None)
            return earlier is not None and by_speaker(said, earlier) is not None
    return True
