"""What the speaker did at night: inspections ("I checked Raj", "my vision of Raj", "N1 Raj"), whatever they showed, and
protections ("I saved Raj on night 1", "my protection was on Raj").
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from wolfbus.claims import statement
from wolfbus.claims.kinds import FoundClaim
from wolfbus.claims.lexicon import WORDS
from wolfbus.claims.statement import InspectionWords, StatementWords, meant, taken_back


def inspection(words: StatementWords, place: int, pending: InspectionWords | None) -> InspectionWords | None:
    """Return the inspection that the word at a place tells of.

    Args:
        words: the statement.
        place: the place.
        pending: the last inspection.
    """
    inspected = None
    if words.player(place) is not None:
        inspected = _listed(words, place, pending)
    elif words.in_class(place, "inspected", "saw", "inspect"):
        inspected = _inspected_by_verb(words, place)
    elif words.in_class(place, "inspecting"):
        inspected = _whom(words, place, place - 1) if words.near(place, "by_inspecting") else None
    elif words.in_class(place, "turned"):
        inspected = _by_turning(words, place)
    if inspected is None and words.in_class(place, "learned"):
        inspected = _by_learning(words, place)
    if inspected is None and words.in_class(place, "shown"):
        inspected = _by_showing(words, place)
    if inspected is None and words.in_class(place, "inspection"):
        inspected = _inspected_by_noun(words, place)
    return _with_others(words, inspected) if inspected is not None else None


def _inspecting(words: StatementWords, begin: int, end: int, target: int | None, verb: int) -> InspectionWords:
    return InspectionWords(begin, end, target, words.night(begin, end, verb))


def _inspected_by_verb(words: StatementWords, place: int) -> InspectionWords | None:
    """Return "I checked Raj", "Raj, whom I checked", "Raj was checked by me", "I checked: …"."""
    if words.in_class(place, "inspect") and not words.near(place, "inspect_done"):
        return None
    if passive := words.near(place, "inspected_by_me"):
        return _inspecting_who(words, passive, place, place + 3)
    begin = statement.by_speaker(words, place)
    if begin is None:
        return None
    inspected = _whom(words, place, begin)
    if inspected is not None:
        return inspected
    for table in ("whom_before", "it_was"):
        if before := words.near(place, table):
            return _inspecting_who(words, before, place, max(place + 1, before.end()), begin)
    if begin != place and words.near(place, "nobody_yet"):
        return _inspecting(words, begin, place + 1, None, place)
    return None


def _inspecting_who(
    words: StatementWords, match: re.Match[str], place: int, end: int, begin: int | None = None
) -> InspectionWords | None:
    """Return an inspection of the one whom a pattern names `who`, None if that is the speaker."""
    who = match.start("who")
    target = words.other(who)
    return _inspecting(words, who if begin is None else begin, end, target, place) if target is not None else None


def _whom(words: StatementWords, verb: int, begin: int) -> InspectionWords | None:
    """Return the inspection of whoever is named behind a verb, or meant by a pronoun there."""
    if (match := words.near(verb, "whom")) is None:
        return None
    target = statement.person(words, match.start("who"), match.end())
    is_other = target is not None and target != words.speaker
    return _inspecting(words, begin, match.end(), target, verb) if is_other else None


def _by_turning(words: StatementWords, place: int) -> InspectionWords | None:
    """Return "I turned my gaze upon Raj"."""
    begin, sense = statement.by_speaker(words, place), words.near(place, "my_sense")
    return _whom(words, sense.end() - 1, begin) if begin is not None and sense is not None else None


def _by_learning(words: StatementWords, place: int) -> InspectionWords | None:
    """Return "last night I learned that Raj is …", "I discovered Raj's role"."""
    begin, match = statement.by_speaker(words, place), words.near(place, "learned_of")
    if begin is None or match is None:
        return None
    who = match.start("who")
    at_night = any(
        words.in_class(index, "when") or words.night_at(index) is not None for index in range(begin - 4, who)
    )
    if words.other(who) is None or not (at_night or words.in_class(place, "foresaw") or words.word(who + 1) == "'s"):
        return None
    return _inspecting(words, begin, match.end(), words.other(who), place)


def _by_showing(words: StatementWords, place: int) -> InspectionWords | None:
    """Return "the role of Raj was revealed to me", "it was shown to me that …"."""
    if match := words.near(place, "whose_shown"):
        return _inspecting(words, match.start("who"), match.end(), words.player(match.start("who")), place)
    match = words.near(place, "shown_me")
    if match is None or words.players(place - 4, place) or words.near(place, "shown_by_somebody"):
        return None
    return _inspecting(words, place, match.end(), None, place)


def _inspected_by_noun(words: StatementWords, place: int) -> InspectionWords | None:
    """Return "my inspection", with whom it was of if that stands right before or after."""
    if subject := words.near(place, "subject_of_my"):
        return _inspecting_who(words, subject, place, place + 1)
    if (mention := words.near(place, "my_inspection")) is None:
        bare = words.near(place, "inspection_alone")
        return _inspecting_who(words, bare, place, bare.end(), bare.start()) if bare is not None else None
    if (of_target := words.near(place, "inspection_of")) is None:
        # "my inspection of the village" is of no role
        is_bare = not words.near(place, "of_other")
        return _inspecting(words, mention.start(), place + 1, None, place) if is_bare else None
    who = of_target.start("who")
    return _inspecting(words, mention.start(), who + 1, statement.person(words, who, who + 1), place)


def _listed(words: StatementWords, place: int, pending: InspectionWords | None) -> InspectionWords | None:
    """Return a player in a list of inspections: "N1 Ada = Villager", "checks: Ada (Villager), …"."""
    target = words.other(place)
    if target is None or (pending is not None and place < pending.end):
        return None
    match = words.near(place, "listed")
    if match is None and (
        pending is None or not 0 <= place - pending.end < 16 or words.sentence(place) != words.sentence(pending.end)
    ):
        return None
    match = match or words.near(place, "listed_next")
    return InspectionWords(min(match.start(), place), place + 1, target, _night(words, match, place)) if match else None


def _night(words: StatementWords, match: re.Match[str], place: int) -> int | None:
    named = words.nights_between(*match.span())
    return named[-1] if named else words.night(place, place + 1, place)


def _with_others(words: StatementWords, inspected: InspectionWords) -> InspectionWords:
    """Return the same words with the players who follow: "I checked Raj on night 1 and Bea on night 2"."""
    place, also = inspected.end, list[tuple[int, int | None]]()
    while inspected.target is not None and (following := words.near(place - 1, "and_inspected")) is not None:
        who = following.start("who")
        target = words.player(who)
        if target is not None:
            also.append((target, words.night(who, who + 1, who)))
        place = who + 1
    return (
        InspectionWords(inspected.start, place, inspected.target, inspected.night, tuple(also)) if also else inspected
    )


_FAR: Final = 160
"""Words that may lie between an inspection and its result."""
_BEHIND: Final = 14
"""Words behind a role in which its inspection may be told."""


def result_of(words: StatementWords, pending: InspectionWords, place: int) -> int | None:
    """Return who turns out by an inspection to be what the word at a place says, if only joining words lie between."""
    if not 0 <= place - pending.end <= _FAR or words.near(place, "i_am"):
        return None
    targets = {pending.target, *(other for other, _ in pending.also)} - {None}
    named = pending.target if len(targets) < 2 else None
    index, stops, skipped = pending.end, 0, False
    while index < place:
        mark = words.player(index)
        if mark is not None:
            if named is None and (not targets or mark in targets):
                named = mark
            elif mark != named:
                return None
        elif words.in_class(index, "role") and len(targets) > 1:
            named, stops = None, stops - 1
        elif not skipped and _is_aside(words, index):
            skipped = True
            index = _aside_end(words, index, place)
            continue
        elif words.in_class(index, "stop"):
            stops += 1
            if stops > 2:
                return None
        elif not words.in_class(index, "modifier", "connector") and words.night_at(index) is None:
            return None
        index += 1
    if named is None and not targets:
        named = _pronoun(words, pending, place)
    # past the place, it belongs to the aside
    return named if named != words.speaker and index == place else None


def _aside_end(words: StatementWords, begin: int, place: int) -> int:
    """Return where an aside ends, behind a place that belongs to it: "I checked Raj because Bea is a Werewolf"."""
    ends = (index for index in range(begin, place) if words.in_class(index, "clause_end"))
    joined = (index for index in range(place - 1, begin, -1) if words.word(index) == "and")
    return next(ends, None) or next(joined, place if words.in_class(begin, "result_follows") else place + 1)


def _is_aside(words: StatementWords, place: int) -> bool:
    """Return whether words begin that tell neither who nor what: ", fearing the worst", "who was so quiet"."""
    word = words.word(place)
    return (
        words.in_class(place, "aside")
        or (word == "who" and not words.in_class(place + 1, "shows"))
        or (word.endswith("ing") and words.word(place - 1) == "," and not words.in_class(place, "modifier"))
    )


def _pronoun(words: StatementWords, pending: InspectionWords, place: int) -> int | None:
    """Return whom the words between an inspection of somebody not named and its result mean."""
    between = words.tokens[pending.end : place]
    if not WORDS["third_person"].isdisjoint(between):
        return statement.antecedent(words, pending.start)
    return statement.addressed(words, pending.start, place) if "you" in between else None


def results_of(words: StatementWords, pending: InspectionWords, place: int) -> list[int]:
    """Return all who turn out by an inspection to be what the word at a place says: one, or "both"."""
    target = result_of(words, pending, place)
    between = range(pending.end, place)
    is_of_all = any(words.in_class(index, "both") for index in between) or words.word(pending.end) in {
        "as",
        "=",
        "were",
        "are",
    }
    if target is not None or pending.target is None or not is_of_all:
        return [target] if target is not None else []
    joined = all(words.in_class(index, "both", "modifier", "connector") for index in between)
    return [pending.target, *(other for other, _ in pending.also)] if joined else []


def found_sides(words: StatementWords, place: int, pending: InspectionWords | None) -> Iterator[FoundClaim]:
    """Yield the inspections whose result at a place tells no more than whether somebody is a Werewolf."""
    is_wolf = words.in_class(place, "condemned")
    named = _named_beside(words, place)
    if named is not None or words.in_class(place, "roles"):
        for target in named or ():
            if target != words.speaker:
                yield FoundClaim("inspection", target, "Werewolf", denied=not is_wolf)
        return
    if pending is None:
        return
    if words.word(place) == "werewolf":
        denied = words.near(place, "no_werewolf")
        if denied is None or denied.start() < pending.end:
            return
        place = denied.start()
    if meant(words, pending.start) and meant(words, place, since=pending.end):
        nights = dict([(pending.target, pending.night), *pending.also])
        for target in results_of(words, pending, place):
            yield FoundClaim("inspection", target, "Werewolf", nights.get(target), denied=not is_wolf)


def _named_beside(words: StatementWords, place: int) -> list[int] | None:
    """Return the players named with a result, behind it ("both clean: Raj and Bea") or beside it ("a red check on Raj",
    "Raj came back clean"); None where it is told otherwise.
    """
    if (listed := words.near(place, "listed_results")) is not None:
        before = range(words.sentence(place), listed.start("who"))
        is_seen = any(
            words.in_class(index, "inspection", "inspected", "when") or words.night_at(index) for index in before
        )
        return words.players(*listed.span("who")) if is_seen else []
    alone = words.near(place, "side_on") or words.near(place, "came_back")
    if alone is None or words.in_class(place, "role", "roles") or not meant(words, alone.start(), opinion=True):
        return None
    return words.players(*alone.span("who"))


def inspection_around(words: StatementWords, begin: int, place: int, target: int) -> tuple[int, int] | None:
    """Return where words around a target's role tell of its inspection, begin and end: "Raj is a Werewolf, I checked
    him"; None if none is.

    Args:
        words: the statement.
        begin: where the words for who has the role begin.
        place: the place of the role.
        target: who has it.
    """
    for index in range(begin + 1, place):
        if words.in_class(index, "inspection") and "my" in words.tokens[max(index - 2, begin) : index]:
            return index, index + 1
    stops = 0
    for index in range(place + 1, min(place + _BEHIND, len(words.tokens))):
        if words.in_class(index, "stop"):
            stops += 1
        if stops > 1 or words.player(index) not in {None, target} or words.word(index) == "shown":
            return None
        if words.in_class(index, "seen_it") and index not in words.silent:
            return _seen_by(words, index, target)
        if words.in_class(index, "inspection") and words.near(index, "my_proof"):
            return index, index + 3
    return None


def _seen_by(words: StatementWords, verb: int, target: int) -> tuple[int, int] | None:
    """Return where a verb behind a role tells of an inspection, begin and end; None if it does not."""
    subject = statement.by_speaker(words, verb)
    if subject is None:
        return None
    if subject == verb:
        return (verb, verb + 1) if words.near(verb, "seen_alone") else None
    match = words.near(verb, "whom")
    end = match.end() if match is not None else verb + 1
    target_named = words.other(match.start("who")) if match is not None and "who" in match.groupdict() else None
    if (
        target_named == target
        or words.in_class(verb + 1, "third_person")
        or words.near(verb, "seen_that") is not None
        or (target_named is None and words.word(verb + 1) == "you")
    ):
        return verb, end
    return None


def protections(words: StatementWords, place: int) -> Iterator[FoundClaim]:
    """Yield the protections that the word at a place tells of."""
    if words.in_class(place, "protected", "protect", "watched", "kept", "protecting"):
        yield from _protected_by_verb(words, place)
    if words.in_class(place, "protection") and words.near(place, "my_protection"):
        yield from _protected_by_noun(words, place)


def protected(target: int | None, nights: Sequence[int]) -> Iterator[FoundClaim]:
    """Yield the protections of one player, one a night; one without a night if none is named."""
    for night in nights or (None,):
        yield FoundClaim("protection", target, night=night)


def _protected_by_verb(words: StatementWords, place: int) -> Iterator[FoundClaim]:
    if passive := words.near(place, "protected_by_me"):
        who = passive.start("who")
        if meant(words, who, of_self=True):
            yield from protected(words.player(who), words.nights(who, place + 3, place))
        return
    begin = _begins(words, place)
    if begin is None or not meant(words, begin, of_self=True):
        return
    if words.near(place, "myself_protected") or words.word(place) == "self-protected":
        yield from protected(words.speaker, words.nights(begin, place + 1, place))
        return
    match = words.near(place, "whom_kept" if words.in_class(place, "kept") else "whom_protected")
    if match is None or taken_back(words, match.end("who")):
        return
    who = match.start("who")
    listed = [(statement.person(words, who, who + 1), words.nights(begin, who + 1, place))]
    while following := words.near(who, "and_whom"):
        who = following.start("who")
        whom = words.speaker if words.word(who) == "myself" else words.player(who)
        listed.append((whom, words.nights(who, who + 1, who)))
    for target, nights in listed:
        # "I saved Raj and Bea on nights 1 and 2" does not tell who was saved in which
        shared = len(nights) > 1 and any(same in ([], nights) for other, same in listed if other != target)
        if target is not None:
            yield from protected(target, [] if shared else nights)


def _begins(words: StatementWords, place: int) -> int | None:
    """Return where the words by which the speaker tells of a protection begin; None if it does not, or only plans."""
    if words.in_class(place, "protecting"):
        if guessed := words.near(place, "guess_who"):
            return guessed.start()
        match = words.near(place, "i_was_at")
        return match.start("me") if match is not None else None
    if words.in_class(place, "protect") and not words.near(place, "protect_done"):
        return None
    return statement.by_speaker(words, place)


def _protected_by_noun(words: StatementWords, place: int) -> Iterator[FoundClaim]:
    match = words.near(place, "protection_on") or words.near(place, "under_protection")
    if match is not None and meant(words, min(match.start("who"), place), of_self=True):
        who = match.start("who")
        whom = words.speaker if words.word(who) in {"me", "myself"} else statement.person(words, who, who + 1)
        if whom is not None:
            yield from protected(whom, words.nights(min(who, place), max(who, place) + 1, place))
