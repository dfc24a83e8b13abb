"""What the speaker did at night: inspections ("I checked Raj", "my vision of Raj", "N1 Raj"), whatever they showed, and
protections ("I saved Raj on night 1", "my protection was on Raj").
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from analytics.claims import statement
from analytics.claims.lexicon import WORDS
from analytics.claims.statement import FoundClaim, Inspecting, StatementWords, meant, taken_back


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
        found = _inspected_by_verb(said, place)
    elif said.is_(place, "inspecting"):
        found = _whom(said, place, place - 1) if said.near(place, "by_inspecting") is not None else None
    elif said.is_(place, "turned"):
        found = _by_turning(said, place)
    if found is None and said.is_(place, "learned"):
        found = _by_learning(said, place)
    if found is None and said.is_(place, "shown"):
        found = _by_showing(said, place)
    if found is None and said.is_(place, "inspection"):
        found = _inspected_by_noun(said, place)
    return _with_others(said, found) if found is not None else None


def _told(said: StatementWords, begin: int, end: int, target: int | None, verb: int) -> Inspecting:
    return Inspecting(begin, end, target, said.night(begin, end, verb))


def _inspected_by_verb(said: StatementWords, place: int) -> Inspecting | None:
    """Return "I checked Raj", "Raj, whom I checked", "Raj was checked by me", "I checked: …"."""
    if said.is_(place, "inspect") and said.near(place, "inspect_done") is None:
        return None
    passive = said.near(place, "inspected_by_me")
    if passive is not None:
        return _known(said, passive, place, place + 3)
    begin = statement.by_speaker(said, place)
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
        target = (
            statement.alone(said, who) if said.word(who) == "you" else statement.addressed(said, who, found.end() - 1)
        )
    else:
        target = said.other(who) if said.player(who) is not None else statement.antecedent(said, verb)
    return _told(said, begin, found.end(), target, verb) if target is not None else None


def _by_turning(said: StatementWords, place: int) -> Inspecting | None:
    """Return "I turned my gaze upon Raj"."""
    begin, sense = statement.by_speaker(said, place), said.near(place, "my_sense")
    return _whom(said, sense.end() - 1, begin) if begin is not None and sense is not None else None


def _by_learning(said: StatementWords, place: int) -> Inspecting | None:
    """Return "last night I learned that Raj is …", "I discovered Raj's role"."""
    begin, found = statement.by_speaker(said, place), said.near(place, "learned_of")
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


def _inspected_by_noun(said: StatementWords, place: int) -> Inspecting | None:
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
    target = said.player(who) if said.player(who) is not None else statement.antecedent(said, mine.start())
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
    named = said.nights_between(*found.span())
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


_FAR: Final = 160
"""Words that may lie between an inspection and its result."""
_BEHIND: Final = 14
"""Words behind a role in which its inspection may be told."""


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
            at = _aside_end(said, at, place)
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
    # past the place, it belongs to the aside
    return named if named != said.speaker and at == place else None


def _aside_end(said: StatementWords, begin: int, place: int) -> int:
    """Return where an aside ends, behind a place that belongs to it: "I checked Raj because Bea is a Werewolf"."""
    ends = (at for at in range(begin, place) if said.is_(at, "clause_end"))
    joined = (at for at in range(place - 1, begin, -1) if said.word(at) == "and")
    return next(ends, None) or next(joined, place if said.is_(begin, "result_follows") else place + 1)


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
        return statement.antecedent(said, pending.start)
    return statement.addressed(said, pending.start, place) if "you" in between else None


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


def seen(said: StatementWords, begin: int, place: int, target: int) -> tuple[int, int] | None:
    """Return where an inspection of a target is told of around its role, begin and end: "Raj is a Werewolf, I checked
    him"; None if none is.

    Args:
        said: the statement.
        begin: where the words for who has the role begin.
        place: the place of the role.
        target: who has it.
    """
    for at in range(begin + 1, place):
        if said.is_(at, "inspection") and "my" in said.words[max(at - 2, begin) : at]:
            return at, at + 1
    stops = 0
    for at in range(place + 1, min(place + _BEHIND, len(said.words))):
        if said.is_(at, "stop"):
            stops += 1
        if stops > 1 or said.player(at) not in {None, target} or said.word(at) == "shown":
            return None
        if said.is_(at, "seen_it") and at not in said.silent:
            return _seen_by(said, at, target)
        if said.is_(at, "inspection") and said.near(at, "my_proof") is not None:
            return at, at + 3
    return None


def _seen_by(said: StatementWords, verb: int, target: int) -> tuple[int, int] | None:
    """Return where an inspection is told of by a verb behind a role, begin and end; None if none is."""
    by = statement.by_speaker(said, verb)
    if by is None:
        return None
    if by == verb:
        return (verb, verb + 1) if said.near(verb, "seen_alone") is not None else None
    whom = said.near(verb, "whom")
    end = whom.end() if whom is not None else verb + 1
    about = said.other(whom.start("who")) if whom is not None and "who" in whom.groupdict() else None
    if (
        about == target
        or said.is_(verb + 1, "third_person")
        or said.near(verb, "seen_that") is not None
        or (about is None and said.word(verb + 1) == "you")
    ):
        return verb, end
    return None


def protections(said: StatementWords, place: int) -> Iterator[FoundClaim]:
    """Yield the protections that the word at a place tells of."""
    if said.is_(place, "protected", "protect", "watched", "kept", "protecting"):
        yield from _protected_by_verb(said, place)
    if said.is_(place, "protection") and said.near(place, "my_protection") is not None:
        yield from _protected_by_noun(said, place)


def protected(target: int | None, nights: Sequence[int]) -> Iterator[FoundClaim]:
    """Yield the protections of one player, one a night; one without a night if none is named."""
    for night in nights or (None,):
        yield FoundClaim("protection", target, None, night)


def _protected_by_verb(said: StatementWords, place: int) -> Iterator[FoundClaim]:
    passive = said.near(place, "protected_by_me")
    if passive is not None:
        at = passive.start("who")
        if meant(said, at, own=True):
            yield from protected(said.player(at), said.nights(at, place + 3, place))
        return
    begin = _begins(said, place)
    if begin is None or not meant(said, begin, own=True):
        return
    if said.near(place, "myself_protected") is not None or said.word(place) == "self-protected":
        yield from protected(said.speaker, said.nights(begin, place + 1, place))
        return
    found = said.near(place, "whom_kept" if said.is_(place, "kept") else "whom_protected")
    if found is None or taken_back(said, found.end("who")):
        return
    at, verb = found.start("who"), place
    nights = {_meant_by(said, at): said.nights(begin, at + 1, verb)}
    while (following := said.near(at, "and_whom")) is not None:
        at = following.start("who")
        nights.setdefault(said.player(at), said.nights(at, at + 1, at))
    for target, named in nights.items():
        # "I saved Raj and Bea on nights 1 and 2" does not tell who was saved in which
        shared = len(named) > 1 and any(same in ([], named) for other, same in nights.items() if other != target)
        if target is not None:
            yield from protected(target, [] if shared else named)


def _meant_by(said: StatementWords, at: int) -> int | None:
    """Return the player that a name or a pronoun behind a verb means."""
    if said.word(at) == "you":
        return statement.alone(said, at)
    return said.player(at) if said.player(at) is not None else statement.antecedent(said, at)


def _begins(said: StatementWords, place: int) -> int | None:
    """Return where the words by which the speaker tells of a protection begin; None if it does not, or only plans."""
    if said.is_(place, "protecting"):
        found = said.near(place, "i_was_at")
        return found.start("me") if found is not None else None
    if said.is_(place, "protect") and said.near(place, "protect_done") is None:
        return None
    return statement.by_speaker(said, place)


def _protected_by_noun(said: StatementWords, place: int) -> Iterator[FoundClaim]:
    found = said.near(place, "protection_on") or said.near(place, "under_protection")
    if found is not None and meant(said, min(found.start("who"), place), own=True):
        at = found.start("who")
        yield from protected(said.player(at), said.nights(min(at, place), max(at, place) + 1, place))
