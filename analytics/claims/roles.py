"""Who has a role: "I am the Seer", "Raj and Bea are Werewolves", "the Doctor is me"."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from analytics.claims import persons
from analytics.claims.found import FoundClaim, Inspecting
from analytics.claims.meaning import closes, ironic, meant, taken_back
from analytics.claims.results import result_of, seen
from analytics.claims.statement import StatementWords
from wolfbus.vocabulary import ROLE_WORDS, Role

_MANY: Final = {"werewolves" if word == "werewolf" else f"{word}s": role for word, role in ROLE_WORDS.items()}
ROLES: Final[Mapping[str, Role]] = {**ROLE_WORDS, **_MANY}
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
    if not closes(said, place + 1):
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
            yield FoundClaim("inspection", target, role, inspected.night)
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
        target = persons.addressed(said, found.start("you"), place)
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
    target = persons.antecedent(said, at) if len(persons.others(said, at)) < 2 else None
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
    target = persons.addressed(said, found.start("you"), place)
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
            target = persons.addressed(said, at, at)
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
