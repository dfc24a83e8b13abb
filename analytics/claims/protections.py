"""Protections by the speaker: "I saved Raj on night 1", "my protection was on Raj"."""

from __future__ import annotations

from collections.abc import Iterator

from analytics.claims import persons
from analytics.claims.found import FoundClaim
from analytics.claims.meaning import meant, taken_back
from analytics.claims.statement import StatementWords


def protections(said: StatementWords, place: int) -> Iterator[FoundClaim]:
    """Yield the protections that the word at a place tells of."""
    if said.is_(place, "protected", "protect", "watched", "kept", "protecting"):
        yield from _by_verb(said, place)
    if said.is_(place, "protection") and said.near(place, "my_protection") is not None:
        yield from _by_noun(said, place)


def _by_verb(said: StatementWords, place: int) -> Iterator[FoundClaim]:
    passive = said.near(place, "protected_by_me")
    if passive is not None:
        at = passive.start("who")
        if meant(said, at, own=True):
            yield FoundClaim("protection", said.player(at), None, said.night(at, place + 3, place))
        return
    begin = _begins(said, place)
    if begin is None or not meant(said, begin, own=True):
        return
    if said.near(place, "myself_protected") is not None or said.word(place) == "self-protected":
        yield FoundClaim("protection", said.speaker, None, said.night(begin, place + 1, place))
        return
    found = said.near(place, "whom_kept" if said.is_(place, "kept") else "whom_protected")
    if found is None or taken_back(said, found.end("who")):
        return
    at, verb = found.start("who"), place
    target = _meant_by(said, at)
    while target is not None:
        yield FoundClaim("protection", target, None, said.night(begin, at + 1, verb))
        following = said.near(at, "and_whom")
        if following is None:
            return
        begin = verb = at = following.start("who")
        target = said.player(at)


def _meant_by(said: StatementWords, at: int) -> int | None:
    """Return the player that a name or a pronoun behind a verb means."""
    if said.word(at) == "you":
        return persons.alone(said, at)
    return said.player(at) if said.player(at) is not None else persons.antecedent(said, at)


def _begins(said: StatementWords, place: int) -> int | None:
    """Return where the words by which the speaker tells of a protection begin; None if it does not, or only plans."""
    if said.is_(place, "protecting"):
        found = said.near(place, "i_was_at")
        return found.start("me") if found is not None else None
    if said.is_(place, "protect") and said.near(place, "protect_done") is None:
        return None
    return persons.by_speaker(said, place)


def _by_noun(said: StatementWords, place: int) -> Iterator[FoundClaim]:
    found = said.near(place, "protection_on") or said.near(place, "under_protection")
    if found is not None and meant(said, min(found.start("who"), place), own=True):
        at = found.start("who")
        yield FoundClaim("protection", said.player(at), None, said.night(min(at, place), max(at, place) + 1, place))
