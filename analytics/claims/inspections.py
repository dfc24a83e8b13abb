"""Inspections by the speaker: "I checked Raj", "my vision of Raj", "N1 Raj", whatever they showed."""

from __future__ import annotations

import re

from analytics.claims import persons
from analytics.claims.found import Inspecting
from analytics.claims.statement import StatementWords


def inspection(said: StatementWords, place: int, pending: Inspecting | None) -> Inspecting | None:
    """Return the inspection that the word at a place tells of.

    Args:
        said: the statement.
        place: the place.
        pending: the inspection told of last.
    """
    found = None
    if said.player(place) is not None:
        found = _listed(said, place, pending)
    elif said.is_(place, "inspected", "saw", "inspect"):
        found = _by_verb(said, place)
    elif said.is_(place, "inspecting"):
        found = _whom(said, place, place - 1) if said.near(place, "by_inspecting") is not None else None
    elif said.is_(place, "turned"):
        found = _by_turning(said, place)
    if found is None and said.is_(place, "learned"):
        found = _by_learning(said, place)
    if found is None and said.is_(place, "shown"):
        found = _by_showing(said, place)
    if found is None and said.is_(place, "inspection"):
        found = _by_noun(said, place)
    return _with_others(said, found) if found is not None else None


def _told(said: StatementWords, begin: int, end: int, target: int | None, verb: int) -> Inspecting:
    return Inspecting(begin, end, target, said.night(begin, end, verb))


def _by_verb(said: StatementWords, place: int) -> Inspecting | None:
    """Return "I checked Raj", "Raj, whom I checked", "Raj was checked by me", "I checked: …"."""
    if said.is_(place, "inspect") and said.near(place, "inspect_done") is None:
        return None
    passive = said.near(place, "inspected_by_me")
    if passive is not None:
        return _known(said, passive, place, place + 3)
    begin = persons.by_speaker(said, place)
    if begin is None:
        return None
    found = _whom(said, place, begin)
    if found is not None:
        return found
    for table in ("whom_before", "it_was"):
        before = said.near(place, table)
        if before is not None:
            return _known(said, before, place, max(place + 1, before.end()), begin)
    if begin != place and said.near(place, "nobody_yet") is not None:
        return _told(said, begin, place + 1, None, place)
    return None


def _known(
    said: StatementWords, found: re.Match[str], place: int, end: int, begin: int | None = None
) -> Inspecting | None:
    """Return an inspection of the one whom a pattern names `who`, None if that is the speaker."""
    who = found.start("who")
    target = said.other(who)
    return _told(said, who if begin is None else begin, end, target, place) if target is not None else None


def _whom(said: StatementWords, verb: int, begin: int) -> Inspecting | None:
    """Return the inspection of whoever is named behind a verb, or meant by a pronoun there."""
    found = said.near(verb, "whom")
    if found is None:
        return None
    who = found.start("who")
    if said.word(who) in {"you", "your"}:
        target = persons.alone(said, who) if said.word(who) == "you" else persons.addressed(said, who, found.end() - 1)
    else:
        target = said.other(who) if said.player(who) is not None else persons.antecedent(said, verb)
    return _told(said, begin, found.end(), target, verb) if target is not None else None


def _by_turning(said: StatementWords, place: int) -> Inspecting | None:
    """Return "I turned my gaze upon Raj"."""
    begin, sense = persons.by_speaker(said, place), said.near(place, "my_sense")
    return _whom(said, sense.end() - 1, begin) if begin is not None and sense is not None else None


def _by_learning(said: StatementWords, place: int) -> Inspecting | None:
    """Return "last night I learned that Raj is …", "I discovered Raj's role"."""
    begin, found = persons.by_speaker(said, place), said.near(place, "learned_of")
    if begin is None or found is None:
        return None
    who = found.start("who")
    at_night = any(said.is_(each, "when") or said.night_at(each) is not None for each in range(begin - 4, who))
    if said.other(who) is None or not (at_night or said.is_(place, "foresaw") or said.word(who + 1) == "'s"):
        return None
    return _told(said, begin, found.end(), said.other(who), place)


def _by_showing(said: StatementWords, place: int) -> Inspecting | None:
    """Return "the role of Raj was revealed to me", "it was shown to me that …"."""
    found = said.near(place, "whose_shown")
    if found is not None:
        return _told(said, found.start("who"), found.end(), said.player(found.start("who")), place)
    found = said.near(place, "shown_me")
    if found is None or said.players(place - 4, place) or said.near(place, "shown_by_somebody") is not None:
        return None
    return _told(said, place, found.end(), None, place)


def _by_noun(said: StatementWords, place: int) -> Inspecting | None:
    """Return "my inspection", with whom it was of if that is told right before or after."""
    before = said.near(place, "subject_of_my")
    if before is not None:
        return _known(said, before, place, place + 1)
    mine = said.near(place, "my_inspection")
    if mine is None:
        alone = said.near(place, "inspection_alone")
        return _known(said, alone, place, alone.end(), alone.start()) if alone is not None else None
    behind = said.near(place, "inspection_of")
    if behind is None:
        # "my inspection of the village" is of no role
        return _told(said, mine.start(), place + 1, None, place) if not said.near(place, "of_other") else None
    who = behind.start("who")
    target = said.player(who) if said.player(who) is not None else persons.antecedent(said, mine.start())
    return _told(said, mine.start(), who + 1, target, place)


def _listed(said: StatementWords, place: int, pending: Inspecting | None) -> Inspecting | None:
    """Return a player in a list of inspections: "N1 Ada = Villager", "checks: Ada (Villager), …"."""
    target = said.other(place)
    if target is None or (pending is not None and place < pending.end):
        return None
    found = said.near(place, "listed")
    if found is None and (
        pending is None or not 0 <= place - pending.end < 16 or said.sentence(place) != said.sentence(pending.end)
    ):
        return None
    found = found or said.near(place, "listed_next")
    return Inspecting(min(found.start(), place), place + 1, target, _night(said, found, place)) if found else None


def _night(said: StatementWords, found: re.Match[str], place: int) -> int | None:
    named = [night for at in range(found.start(), found.end()) if (night := said.night_at(at)) is not None]
    return named[-1] if named else said.night(place, place + 1, place)


def _with_others(said: StatementWords, found: Inspecting) -> Inspecting:
    """Return the same words with the players who follow: "I checked Raj on night 1 and Bea on night 2"."""
    at, also = found.end, list[tuple[int, int | None]]()
    while found.target is not None and (following := said.near(at - 1, "and_inspected")) is not None:
        who = following.start("who")
        target = said.player(who)
        if target is not None:
            also.append((target, said.night(who, who + 1, who)))
        at = who + 1
    return Inspecting(found.start, at, found.target, found.night, tuple(also)) if also else found
