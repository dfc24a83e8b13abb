"""The grammar of claims: goes through a statement's words and asks of each what claim it carries.

A claim is read around its kernel: a role ("… is a Werewolf") to the left, an inspection or a protection to the right.
What lies between the parts of a claim must be words that join them; anything else makes it none. The words and the
patterns stand in `lexicon.toml`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from analytics.claims import statement
from analytics.claims.inspections import cleared, inspection, protected, protections, result_of, seen
from analytics.claims.lexicon import any_of
from analytics.claims.statement import FoundClaim, Inspecting, StatementWords, closes, ironic, meant, taken_back
from wolfbus.roles import FACTS, ROLE_WORDS
from wolfbus.vocabulary import Role

ROLES: Final[Mapping[str, Role]] = {**ROLE_WORDS, **{facts.plural.lower(): role for role, facts in FACTS.items()}}
"""Words for one and for many who have a role."""


def roles(said: StatementWords, place: int, pending: Inspecting | None) -> Iterator[FoundClaim]:
    """Yield the claims around a word for a role: what an inspection showed, or who has the role.

    Args:
        said: the statement.
        place: the place of that word.
        pending: the inspection told of last.
    """
    many = said.is_(place, "roles")
    result = _result(said, place, pending) if not many else None
    if result is not None:
        yield from result
        return
    targets, begin = _who(said, place) if many else subject(said, place)
    if targets and closes(said, place + 1):
        yield from _of(said, targets, begin, place, ROLES[said.word(place)])
    else:
        yield from _role_first(said, place, ROLES[said.word(place)])


def _result(said: StatementWords, place: int, pending: Inspecting | None) -> list[FoundClaim] | None:
    """Return the inspection that showed the role at a place, none if it is not meant; None if the role is no result."""
    role = ROLES[said.word(place)]
    told = said.near(place, "result_on")
    if told is not None:
        who, begin, night = said.other(told.start("who")), told.start(), said.night(place, told.end(), place)
        return [FoundClaim("inspection", who, role, night)] if who is not None and meant(said, begin, own=True) else []
    if not closes(said, place + 1) or said.near(place, "no_result") is not None:
        return None
    if role != "Werewolf" and said.near(place, "called_on") is not None:
        return None
    if role == "Seer" and said.near(place, "as_seer") is not None:
        return None
    shown = result_of(said, pending, place) if pending is not None else None
    if pending is not None and shown is not None:
        return list(_shown(said, pending, place, shown))
    back = said.near(place, "came_back")
    who = said.other(back.start("who")) if back is not None else None
    if back is None or who is None:
        return None
    night = said.night(back.start() + 1, place, back.start() + 1)
    return [FoundClaim("inspection", who, role, night)] if meant(said, back.start(), opinion=True) else []


def _shown(said: StatementWords, pending: Inspecting, place: int, shown: int) -> Iterator[FoundClaim]:
    """Yield the result of an inspection."""
    if (
        meant(said, pending.start)
        and meant(said, place, since=pending.start)
        and not taken_back(said, place + 1, opinion=True)
    ):
        nights = {pending.target: pending.night}
        nights.update(pending.also)
        night = nights.get(shown)
        if night is None and not pending.also:
            night = said.night(pending.start, place, pending.start)
        yield FoundClaim("inspection", shown, ROLES[said.word(place)], night)


def _of(said: StatementWords, targets: list[int | None], begin: int, place: int, role: Role) -> Iterator[FoundClaim]:
    """Yield the role of each of the targets, or its inspection where the speaker tells of one around it."""
    for target in targets:
        own = target is None or target == said.speaker
        if not meant(said, begin, own=own) or taken_back(said, place + 1):
            return
        if own and role == "Werewolf" and ironic(said, begin):
            return
        if own or target is None:
            yield FoundClaim("role", None, role)
            continue
        doubted = not meant(said, begin, opinion=True)
        inspected = seen(said, begin, place, target) if not doubted else None
        if inspected is not None:
            verb, end = inspected
            yield FoundClaim("inspection", target, role, said.night(verb, end, verb))
        else:
            yield FoundClaim("role", target, role, None, doubted or taken_back(said, place + 1, opinion=True))


def subject(said: StatementWords, place: int) -> tuple[list[int | None], int]:
    """Return whose role is told by the words around it, None standing for the speaker, and where that begins; nobody
    if none are told.
    """
    wolf = said.word(place) == "werewolf"
    for table in ("own", "own_unless_wolf"):
        found = said.near(place, table) if not (wolf and table == "own_unless_wolf") else None
        if found is not None:
            return [None], found.start()
    found = said.near(place, "named")
    if found is not None:
        return [said.player(found.start("who"))], found.start("who")
    found = said.near(place, "spoken_to")
    if found is not None:
        target = statement.addressed(said, found.start("you"), place)
        return ([target] if target is not None else []), found.start("you")
    found = said.near(place, "told_of")
    if found is not None:
        return _pronoun(said, found.start("he"), place)
    return [], place


def _pronoun(said: StatementWords, at: int, place: int) -> tuple[list[int | None], int]:
    """Return whom "he" or "she" means: one named behind the role, or the only one named before."""
    behind = said.near(place, "named_behind")
    if behind is not None:
        return [said.player(behind.start("who"))], at
    target = statement.antecedent(said, at)
    return ([target] if target is not None else []), at


def _who(said: StatementWords, place: int) -> tuple[list[int | None], int]:
    """Return who is told to have a role in the plural: "Raj and Bea are Werewolves", "Raj is one of the Werewolves"."""
    for table in ("several", "one_of"):
        found = said.near(place, table)
        if found is not None:
            return [*said.players(found.start("who"), found.end("who"))], found.start()
    found = said.near(place, "you_one_of")
    if found is None:
        return [], place
    target = statement.addressed(said, found.start("you"), place)
    return ([target] if target is not None else []), found.start("you")


def _role_first(said: StatementWords, place: int, role: Role) -> Iterator[FoundClaim]:
    """Yield what follows a role that stands first: "the Seer is me", "the Werewolves are Raj and Bea"."""
    found = said.near(place, "role_first")
    if found is None and said.is_(place, "roles"):
        found = said.near(place, "apposed")
    if found is None:
        return
    begin, end = found.span("who")
    for at in range(begin, end):
        target = said.player(at)
        if said.word(at) == "you":
            target = statement.addressed(said, at, at)
            if target is None:
                return
        elif target is None and not said.is_(at, "held_by"):
            continue
        yield from _of(said, [target], found.start("role"), end - 1, role)


def another(said: StatementWords, place: int) -> Iterator[FoundClaim]:
    """Yield "… and so is Bea", "… and Bea is another" after "Raj is a Werewolf"."""
    found = said.near(place, "another") if ROLES[said.word(place)] == "Werewolf" else None
    if found is not None and subject(said, place)[0] and meant(said, place, opinion=True):
        yield FoundClaim("role", said.other(found.start("who")), "Werewolf")


_DEEDS: Final = any_of("inspected", "saw", "inspect", "inspecting", "turned", "learned", "shown") | any_of(
    "inspection", "cleared", "protected", "protect", "protecting", "protection", "watched", "kept"
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
    if found is not None and statement.by_speaker(said, place) is not None and meant(said, place, own=True):
        at = found.start("who")
        target = statement.addressed(said, at, at) if said.word(at) == "you" else said.other(at)
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
        yield from protected(said.player(place), said.nights_between(*found.span()))
