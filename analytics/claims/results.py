"""What an inspection showed, and whether a role that is told was seen."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from analytics.claims import persons
from analytics.claims.found import Inspecting
from analytics.claims.lexicon import WORDS
from analytics.claims.meaning import meant
from analytics.claims.statement import StatementWords

_FAR: Final = 160
"""Words that may lie between an inspection and its result."""
_BEHIND: Final = 14
"""Words behind a role in which its inspection may be told."""


@dataclass(frozen=True, slots=True)
class Seen:
    """An inspection told of around its result.

    Attributes:
        night: the night named.
    """

    night: int | None


def result_of(said: StatementWords, pending: Inspecting, place: int) -> int | None:
    """Return who turns out by an inspection to be what the word at a place says, if only joining words lie between."""
    if not 0 <= place - pending.end <= _FAR or said.near(place, "i_am") is not None:
        return None
    targets = {pending.target, *(other for other, _ in pending.also)} - {None}
    named = pending.target if len(targets) < 2 else None
    at, stops, skipped = pending.end, 0, False
    while at < place:
        mark = said.player(at)
        if mark is not None:
            if named is None and (not targets or mark in targets):
                named = mark
            elif mark != named:
                return None
        elif said.is_(at, "role") and len(targets) > 1:
            named, stops = None, stops - 1
        elif not skipped and _is_aside(said, at):
            skipped = True
            at = _clause_end(said, at, place)
            continue
        elif said.is_(at, "stop"):
            stops += 1
            if stops > 2:
                return None
        elif not said.is_(at, "modifier", "connector") and said.night_at(at) is None:
            return None
        at += 1
    if named is None and not targets:
        named = _pronoun(said, pending, place)
    return named if named != said.speaker else None


def _clause_end(said: StatementWords, at: int, place: int) -> int:
    """Return where the clause at a place ends, at most `place`."""
    while at < place and not said.is_(at, "clause_end"):
        at += 1
    return at


def _is_aside(said: StatementWords, at: int) -> bool:
    """Return whether words begin that tell neither who nor what: ", fearing the worst", "who was so quiet"."""
    word = said.word(at)
    return (
        said.is_(at, "aside")
        or (word == "who" and not said.is_(at + 1, "shows"))
        or (word.endswith("ing") and said.word(at - 1) == "," and not said.is_(at, "modifier"))
    )


def _pronoun(said: StatementWords, pending: Inspecting, place: int) -> int | None:
    """Return whom the words between an inspection of somebody not named and its result mean."""
    between = said.words[pending.end : place]
    if not WORDS["third_person"].isdisjoint(between):
        return persons.antecedent(said, pending.start)
    return persons.addressed(said, pending.start, place) if "you" in between else None


def cleared(said: StatementWords, place: int, pending: Inspecting) -> int | None:
    """Return whom an inspection shows to be no Werewolf, without naming a role."""
    if said.word(place) == "werewolf":
        denied = said.near(place, "no_werewolf")
        if denied is None or denied.start() < pending.end:
            return None
        place = denied.start()
    elif not said.is_(place, "cleared"):
        return None
    target = result_of(said, pending, place)
    return target if target is not None and meant(said, pending.start) else None


def seen(said: StatementWords, begin: int, place: int, target: int) -> Seen | None:
    """Return the inspection of a target that is told around its role: "Raj is a Werewolf, I checked him".

    Args:
        said: the statement.
        begin: where the words for who has the role begin.
        place: the place of the role.
        target: who has it.
    """
    for at in range(begin + 1, place):
        if said.is_(at, "inspection") and "my" in said.words[max(at - 2, begin) : at]:
            return Seen(said.night(at, at + 1, at))
    stops = 0
    for at in range(place + 1, min(place + _BEHIND, len(said.words))):
        if said.is_(at, "stop"):
            stops += 1
        if stops > 1 or said.player(at) not in {None, target} or said.word(at) == "shown":
            return None
        if said.is_(at, "seen_it") and at not in said.silent:
            return _seen_by(said, at, place, target)
        if said.is_(at, "inspection") and said.near(at, "my_proof") is not None:
            return Seen(said.night(at, at + 3, at))
    return None


def _seen_by(said: StatementWords, verb: int, place: int, target: int) -> Seen | None:
    """Return the inspection that a verb behind a role tells of."""
    by = persons.by_speaker(said, verb)
    if by is None:
        return None
    if by == verb:
        return Seen(said.night(verb, verb + 1, verb)) if said.near(verb, "seen_alone") is not None else None
    whom = said.near(verb, "whom")
    end = whom.end() if whom is not None else verb + 1
    about = said.other(whom.start("who")) if whom is not None and "who" in whom.groupdict() else None
    if said.is_(verb + 1, "third_person"):
        about = persons.antecedent(said, place)
    if about == target or said.near(verb, "seen_that") is not None or (about is None and said.word(verb + 1) == "you"):
        return Seen(said.night(verb, end, verb))
    return None
