"""The grammar of claims: goes through a statement's words and asks of each what claim it carries.

A claim is read around its kernel: a role ("… is a Werewolf") to the left, an inspection or a protection to the right.
What lies between the parts of a claim must be words that join them; anything else makes it none. The words and the
patterns stand in `lexicon.toml`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from analytics.claims import persons
from analytics.claims.found import FoundClaim, Inspecting
from analytics.claims.inspections import inspection
from analytics.claims.lexicon import any_of
from analytics.claims.meaning import meant
from analytics.claims.protections import protections
from analytics.claims.results import cleared
from analytics.claims.roles import another, roles
from analytics.claims.statement import StatementWords

_DEEDS: Final = any_of(
    "inspected",
    "saw",
    "inspect",
    "inspecting",
    "turned",
    "learned",
    "shown",
    "inspection",
    "cleared",
    "protected",
    "protect",
    "protecting",
    "protection",
    "watched",
    "kept",
)
"""Words that may tell of an inspection or a protection."""


def claims(said: StatementWords) -> Iterator[FoundClaim]:
    """Yield the claims of a statement in the order of the words that carry them."""
    pending: Inspecting | None = None
    doctor = False
    for place, word in enumerate(said.words):
        if place in said.silent:
            continue
        if word in _DEEDS or said.player(place) is not None:
            pending = inspection(said, place, pending) or pending
            target = cleared(said, place, pending) if pending is not None else None
            if target is not None:
                yield FoundClaim("inspection", target)
            yield from protections(said, place)
        if said.is_(place, "role", "roles"):
            yield from roles(said, place, pending)
            yield from another(said, place)
        if word == "werewolf":
            yield from _not_me(said, place)
        elif word == "accuse":
            yield from _accusation(said, place)
        elif word == "doctor":
            doctor = doctor or said.near(place, "doctor_lists") is not None
        elif doctor and (pending is None or not place - 3 <= pending.end <= place or pending.end == place + 1):
            yield from _listed_protection(said, place)


def _accusation(said: StatementWords, place: int) -> Iterator[FoundClaim]:
    """Yield "I accuse Raj"."""
    found = said.near(place, "accused")
    if found is not None and persons.by_speaker(said, place) is not None and meant(said, place, own=True):
        at = found.start("who")
        target = persons.addressed(said, at, at) if said.word(at) == "you" else said.other(at)
        if target is not None:
            yield FoundClaim("role", target, "Werewolf")


def _not_me(said: StatementWords, place: int) -> Iterator[FoundClaim]:
    """Yield "I am not the Werewolf, Raj is"."""
    found = said.near(place, "not_me_but")
    if found is not None and meant(said, found.start(), own=True):
        yield FoundClaim("role", said.other(found.start("who")), "Werewolf")


def _listed_protection(said: StatementWords, place: int) -> Iterator[FoundClaim]:
    """Yield a player with a night in the list of somebody who claims to be the Doctor."""
    found = said.near(place, "listed_protection") if said.player(place) is not None else None
    if found is not None:
        nights = (said.night_at(at) for at in range(found.start(), found.end()))
        yield FoundClaim(
            "protection", said.player(place), None, next((night for night in nights if night is not None), None)
        )
