"""The grammar of claims: goes through a statement's words and asks of each what claim it carries.

A claim is read around its kernel: a role ("… is a Werewolf") to the left, an inspection or a protection to the right.
What lies between the parts of a claim must be words that join them; anything else makes it none. The words and the
patterns stand in `lexicon.toml`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Final

from wolfbus.claims import statement
from wolfbus.claims.inspections import found_sides, inspection, inspection_around, protected, protections, results_of
from wolfbus.claims.kinds import FoundClaim
from wolfbus.claims.lexicon import WORDS, any_of
from wolfbus.claims.stances import likened, stances, suspected, suspicions, without_weaker
from wolfbus.claims.statement import InspectionWords, StatementWords, closes, ironic, meant, taken_back
from wolfbus.game.roles import FACTS, ROLE_WORDS
from wolfbus.game.vocabulary import Role

ROLES: Final[Mapping[str, Role]] = {**ROLE_WORDS, **{facts.plural.lower(): role for role, facts in FACTS.items()}}
"""Words for one and for many who have a role."""


def roles(words: StatementWords, place: int, pending: InspectionWords | None) -> Iterator[FoundClaim]:
    """Yield the claims around a word for a role: what an inspection showed, or who has the role.

    Args:
        words: the statement.
        place: the place of that word.
        pending: the last inspection.
    """
    if words.word(place + 1) == "'s":
        # "the Werewolf's game" is nobody's role
        yield from likened(words, place)
        return
    many = words.in_class(place, "roles")
    result = _result(words, place, pending) if not many else None
    if result is not None:
        yield from result
        return
    if any(found_sides(words, place, pending)):
        return
    denied = list(_no_villager(words, place)) or list(_denied(words, place))
    if denied:
        yield from denied
        return
    targets, begin = _plural_subject(words, place) if many else subject(words, place)
    of_targets = (
        list(_role_of(words, targets, begin, place, ROLES[words.word(place)])) if closes(words, place + 1) else []
    )
    if of_targets:
        yield from of_targets
    elif ROLES[words.word(place)] == "Werewolf" and (doubted := _suspected(words, targets, begin, place)):
        yield from doubted
    else:
        yield from _role_first(words, place, ROLES[words.word(place)])
        yield from _known_roles(words, place)
        if ROLES[words.word(place)] == "Werewolf":
            yield from suspicions(words, place)
            yield from likened(words, place)
        elif words.near(place, "own_power"):
            yield FoundClaim("role", None, ROLES[words.word(place)])


def _denied(words: StatementWords, place: int) -> Iterator[FoundClaim]:
    """Yield "I am not the Seer", "Raj is no Werewolf", "the Seer is not me" around a word for a role, or for no
    Werewolf: "I am innocent".
    """
    is_role = words.word(place) in ROLES
    if words.word(place) == "werewolf" and words.near(place, "not_as_said"):
        yield FoundClaim("role", None, "Werewolf", denied=True)
        return
    for table in ("not_own", "not_of") if is_role else ("innocent_own", "innocent_of"):
        match = words.near(place, table)
        if match is None or not closes(words, place + 1):
            continue
        if table.endswith("own"):
            yield from _denied_of(words, None, match.start(), place)
            # "Raj and I are innocent"
            if words.word(match.start()) != "and":
                return
            continue
        who = match.start("who")
        is_you = words.word(who) == "you"
        referred = statement.addressed(words, who, place) if is_you else statement.referred(words, who)
        targets = words.players(*match.span("who")) or [target for target in (referred,) if target is not None]
        if targets:
            for target in targets:
                yield from _denied_of(words, target, match.start(), place)
            return


def _denied_of(words: StatementWords, target: int | None, begin: int, place: int) -> Iterator[FoundClaim]:
    """Yield the denial of the role at a place, or of the Werewolf's if none is there: of a target, None for the
    speaker. It may be the result of an inspection, or be told as an opinion, which speaks for the target.
    """
    role, of_self = ROLES.get(words.word(place), "Werewolf"), target is None or target == words.speaker
    seen = inspection_around(words, begin, place, target) if target is not None and role == "Werewolf" else None
    if seen is None and role == "Werewolf":
        seen = _confirmed(words, place)
    if seen is not None and meant(words, begin, opinion=True):
        yield FoundClaim("inspection", target, role, words.night(*seen, seen[0]), denied=True)
        return
    if words.word(place) not in ROLES and not words.in_class(place, "no_wolf"):
        return
    is_taken_back = words.word(place + 1) not in {"or", "nor"} and taken_back(words, place + 1)
    if not is_taken_back and meant(words, begin, opinion=target is not None, of_self=target is None):
        yield FoundClaim("role", None if of_self else target, role, denied=True)
        if words.near(place, "but_me"):
            yield FoundClaim("role", None, role)
    elif not of_self and role == "Werewolf" and meant(words, begin, hedged=True):
        yield FoundClaim("stance", target, opinion=True, more={"side": "for"})


def _confirmed(words: StatementWords, place: int) -> tuple[int, int] | None:
    """Return where the Seer says that it confirmed the role at a place, begin and end: "As the Seer, I can confirm that
    Raj is a Werewolf"; None if it does not, or does not say to be the Seer.
    """
    if (match := words.near(place, "shown_by_mine")) is not None:
        return match.start() + 1, place
    if (match := words.near(place, "by_my_check")) is not None:
        return place, match.end()
    if (match := words.near(place, "confirmed_by_me")) is None:
        return None
    seers = (index for index, word in enumerate(words.tokens) if word == "seer" and index not in words.silent)
    is_seer = any(subject(words, index)[0] == [None] or words.near(index, "own_power") for index in seers)
    return (match.start(), place) if is_seer else None


def _no_villager(words: StatementWords, place: int) -> Iterator[FoundClaim]:
    """Yield whom the words around a place call no villager, and so a Werewolf: "Raj can't be town"."""
    word = words.word(place)
    if words.in_class(place, "no_wolf"):
        table = "not_town"
    elif word.startswith("not_") and words.in_class(place, "condemned"):
        table = "not_villager"
    elif word == "werewolf":
        table = "no_way_not"
    else:
        return
    match = words.near(place, table)
    if match is not None and meant(words, match.start(), hedged=True) and not taken_back(words, place + 1):
        for index in range(*match.span("who")):
            target = statement.referred(words, index)
            if target is not None and target != words.speaker:
                yield _has_role(target, "Werewolf", opinion=True)


def _cleared(words: StatementWords, place: int) -> Iterator[FoundClaim]:
    """Yield whom the speaker says to have cleared by inspecting: "my investigations cleared Raj and Bea"."""
    match = words.near(place, "cleared_by_me")
    if match is not None and meant(words, match.start(), of_self=True):
        for target in words.players(*match.span("who")):
            yield FoundClaim("inspection", target, "Werewolf", denied=True)


def _evil(words: StatementWords, place: int) -> Iterator[FoundClaim]:
    """Yield "Raj is evil"."""
    match = words.near(place, "evil_of")
    if match is not None and meant(words, match.start(), hedged=True) and not taken_back(words, place + 1):
        target = statement.referred(words, match.start("who"))
        if target is not None and target != words.speaker:
            yield _has_role(target, "Werewolf", opinion=not meant(words, match.start(), opinion=True))


def _does_the_deed(words: StatementWords, place: int) -> Iterator[FoundClaim]:
    """Yield who tells of a role by what it does: "I have been the one healing", "the visions are mine"."""
    for role in ("Seer", "Doctor", "Villager"):
        deeds, pattern = f"{role.lower()}_deeds", f"{role.lower()}_deed"
        match = words.near(place, pattern) if words.in_class(place, deeds) else None
        if match is not None and meant(words, match.start(), of_self=True):
            yield FoundClaim("role", None, ROLES[role.lower()])
            return


def _result(words: StatementWords, place: int, pending: InspectionWords | None) -> list[FoundClaim] | None:
    """Return the inspection that showed the role at a place, none if it is not meant; None if the role is no result."""
    role = ROLES[words.word(place)]
    if match := words.near(place, "result_on"):
        who, night = words.other(match.start("who")), words.night(place, match.end(), place)
        is_meant = who is not None and meant(words, match.start(), of_self=True)
        return [FoundClaim("inspection", who, role, night)] if is_meant else []
    if not closes(words, place + 1) or words.near(place, "no_result"):
        return None
    if role != "Werewolf" and words.near(place, "called_on"):
        return None
    if role == "Seer" and words.near(place, "as_seer"):
        return None
    targets = results_of(words, pending, place) if pending is not None else []
    if pending is not None and targets:
        return [claim for target in targets for claim in _inspection_result(words, pending, place, target)]
    verb = words.near(place, "came_back")
    who = words.other(verb.start("who")) if verb is not None else None
    if verb is None or who is None:
        return None
    night = words.night(verb.start() + 1, place, verb.start() + 1)
    return [FoundClaim("inspection", who, role, night)] if meant(words, verb.start(), opinion=True) else []


def _inspection_result(
    words: StatementWords, pending: InspectionWords, place: int, target: int
) -> Iterator[FoundClaim]:
    """Yield the result of an inspection."""
    if (
        meant(words, pending.start)
        and meant(words, place, since=pending.start)
        and not taken_back(words, place + 1, opinion=True)
    ):
        night = dict([(pending.target, pending.night), *pending.also]).get(target)
        if night is None and not pending.also:
            night = words.night(pending.start, place, pending.start)
        yield FoundClaim("inspection", target, ROLES[words.word(place)], night)


def _role_of(
    words: StatementWords, targets: list[int | None], begin: int, place: int, role: Role
) -> Iterator[FoundClaim]:
    """Yield the role of each of the targets, or its inspection where the speaker tells of one around it."""
    for target in targets:
        of_self = target is None or target == words.speaker
        if not meant(words, begin, of_self=of_self) or taken_back(words, place + 1):
            return
        if of_self and role == "Werewolf" and ironic(words, begin):
            return
        if of_self or target is None:
            yield FoundClaim("role", None, role)
            continue
        doubted = not meant(words, begin, opinion=True)
        inspected = inspection_around(words, begin, place, target) or _confirmed(words, place) if not doubted else None
        if inspected is not None:
            verb, end = inspected
            yield FoundClaim("inspection", target, role, words.night(verb, end, verb))
        else:
            guessed = doubted or taken_back(words, place + 1, opinion=True)
            was = role == "Werewolf" and not guessed and words.word(begin + 1) in {"was", "flipped", "flips"}
            yield FoundClaim("role", target, role) if was else _has_role(target, role, opinion=guessed)
            if guessed and role != "Werewolf":
                yield FoundClaim("stance", target, opinion=True, more={"side": "for"})


def _has_role(target: int | None, role: Role, *, opinion: bool = False) -> FoundClaim:
    """Return the claim that somebody has a role; of another player the Werewolf's is an accusation."""
    accuses = target is not None and role == "Werewolf"
    return FoundClaim("accusation" if accuses else "role", target, role, opinion=opinion)


def subject(words: StatementWords, place: int) -> tuple[list[int | None], int]:
    """Return whose role the words around it tell, None for the speaker, and where that begins; nobody if they tell
    none.
    """
    wolf = words.word(place) == "werewolf"
    for table in ("own", "own_unless_wolf"):
        match = words.near(place, table) if not (wolf and table == "own_unless_wolf") else None
        if match is not None:
            # "nothing happened, because as a Villager I slept": what stands before the joint denies nothing
            return [None], match.start() + words.in_class(match.start(), "joining")
    if match := words.near(place, "several"):
        return [*words.players(match.start("who"), match.end("who"))], match.start()
    match = words.near(place, "named") or (words.near(place, "titled") if not wolf else None)
    if match is not None:
        return [words.player(match.start("who"))], match.start("who")
    if match := words.near(place, "spoken_to"):
        target = statement.addressed(words, match.start("you"), place)
        return ([target] if target is not None else []), match.start("you")
    if match := words.near(place, "told_of"):
        return _pronoun(words, match.start("he"), place)
    return [], place


def _pronoun(words: StatementWords, pronoun: int, place: int) -> tuple[list[int | None], int]:
    """Return whom "he" or "she" means: one named behind the role, or the only one named before."""
    if behind := words.near(place, "named_behind"):
        return [words.player(behind.start("who"))], pronoun
    target = statement.antecedent(words, pronoun)
    return ([target] if target is not None else []), pronoun


def _plural_subject(words: StatementWords, place: int) -> tuple[list[int | None], int]:
    """Return who has a role in the plural: "Raj and Bea are Werewolves", "Raj is one of the Werewolves"."""
    for table in ("several", "one_of"):
        if match := words.near(place, table):
            return [*words.players(match.start("who"), match.end("who"))], match.start()
    if match := words.near(place, "me_one_of"):
        return [None], match.start()
    if (match := words.near(place, "you_one_of")) is None:
        return [], place
    target = statement.addressed(words, match.start("you"), place)
    return ([target] if target is not None else []), match.start("you")


def _role_first(words: StatementWords, place: int, role: Role) -> Iterator[FoundClaim]:
    """Yield what follows a role that stands first: "the Seer is me", "the Werewolves are Raj and Bea"."""
    match = words.near(place, "role_first") or words.near(place, "lost")
    if match is None and words.in_class(place, "roles"):
        match = words.near(place, "apposed")
    if match is None:
        return
    begin, end = match.span("who")
    for index in range(begin, end):
        target = words.player(index)
        if words.word(index) == "you":
            target = statement.addressed(words, index, index)
            if target is None:
                return
        elif target is None and not words.in_class(index, "held_by"):
            continue
        yield from _role_of(words, [target], match.start("role"), end - 1, role)


def _suspected(words: StatementWords, targets: list[int | None], begin: int, place: int) -> list[FoundClaim]:
    """Return whom the speaker suspects, with a hedge that leaves no claim of a role: "I am convinced that Raj is …"."""
    is_unreal = any(
        words.in_class(index, "unreal") and not words.near(index, "i_would_say")
        for index in range(words.sentence(begin), begin)
    )
    if (
        is_unreal
        or not closes(words, place + 1)
        or taken_back(words, place + 1)
        or not meant(words, begin, hedged=True)
    ):
        return []
    others = [target for target in targets if target is not None and target != words.speaker]
    return [_has_role(target, "Werewolf", opinion=True) for target in others]


def _known_roles(words: StatementWords, place: int) -> Iterator[FoundClaim]:
    """Yield who had a role, as everybody knows: "flipped wolf Raj", "our Seer (Raj)"."""
    role, match = ROLES[words.word(place)], words.near(place, "known_role")
    if match is None and role != "Werewolf":
        match = words.near(place, "lost_one")
    if match is not None:
        for target in words.players(*match.span("who")):
            yield FoundClaim("role", target, role)
    elif (bracketed := words.near(place, "bracketed")) is not None and meant(words, place, opinion=True):
        was = "was" in words.tokens[bracketed.start() : place]
        for target in words.players(*bracketed.span("who")):
            yield FoundClaim("role", target, role) if was else _has_role(target, role)


def another(words: StatementWords, place: int) -> Iterator[FoundClaim]:
    """Yield "… and so is Bea", "… and Bea is another" after "Raj is a Werewolf"."""
    match = words.near(place, "another") if ROLES[words.word(place)] == "Werewolf" else None
    if match is not None and subject(words, place)[0] and meant(words, place, opinion=True):
        yield _has_role(words.other(match.start("who")), "Werewolf")


_DEEDS: Final = any_of("inspected", "saw", "inspect", "inspecting", "turned", "learned", "shown") | any_of(
    "inspection", "protected", "protect", "protecting", "protection", "watched", "kept"
)
"""Words that may tell of an inspection or a protection."""


def claims(words: StatementWords) -> tuple[FoundClaim, ...]:
    """Return the claims of a statement in the order of the words that carry them; stances come last."""
    inspections: list[InspectionWords] = []
    claims_told = list(_claims_of(words, inspections))
    nights = {
        target: night
        for inspected in reversed(inspections)
        if meant(words, inspected.start)
        for target, night in ((inspected.target, inspected.night), *inspected.also)
    }
    resolved = [_as_inspected(claim, nights) for claim in claims_told]
    if any(_says_to_be_seer(claim) for claim in resolved):
        # whom it calls no Werewolf it has inspected; a Werewolf it may have found out otherwise
        resolved = [_as_inspected(claim, {claim.target: None}) if _clears(claim) else claim for claim in resolved]
    if not any(claim.kind == "inspection" for claim in resolved):
        resolved += _acts_as_seer(words)
    return without_weaker((*resolved, *stances(words)))


def _says_to_be_seer(claim: FoundClaim) -> bool:
    return claim.kind == "role" and claim.target is None and claim.role == "Seer" and not claim.denied


def _clears(claim: FoundClaim) -> bool:
    return claim.kind == "role" and claim.denied and claim.role == "Werewolf"


def _acts_as_seer(words: StatementWords) -> Iterator[FoundClaim]:
    """Yield that the speaker is the Seer where it tells of what only the Seer does: "my divination", "I peeked Raj"."""
    for place in range(len(words.tokens)):
        if place in words.silent or not words.in_class(place, "seer_acts"):
            continue
        match = words.near(place, "seer_act")
        if match is not None and meant(words, match.start(), of_self=True):
            yield FoundClaim("role", None, ROLES["seer"])
            return


def _as_inspected(claim: FoundClaim, nights: Mapping[int | None, int | None]) -> FoundClaim:
    """Return a claim as the result of an inspection, if the speaker tells elsewhere that it inspected that player."""
    is_side = claim.kind == "accusation" or (claim.kind == "role" and claim.denied == (claim.role == "Werewolf"))
    if claim.target is None or claim.target not in nights or claim.opinion or not is_side:
        return claim
    return FoundClaim("inspection", claim.target, claim.role, nights[claim.target], denied=claim.denied)


def _claims_of(words: StatementWords, inspections: list[InspectionWords]) -> Iterator[FoundClaim]:
    """Yield what a statement says of what players are and did; add the inspections that it tells of."""
    pending: InspectionWords | None = None
    doctor = False
    for place, word in enumerate(words.tokens):
        if place in words.silent:
            if place in words.in_question and word in ROLES:
                yield from _question(words, place)
            continue
        if word in _DEEDS or words.player(place) is not None:
            inspected = inspection(words, place, pending)
            if inspected is not None:
                inspections.append(inspected)
                pending = inspected
            yield from protections(words, place)
        yield from _sides(words, place, pending)
        if words.in_class(place, "role", "roles"):
            yield from roles(words, place, pending)
            yield from another(words, place)
        yield from _does_the_deed(words, place)
        yield from _conduct(words, place)
        if word in READERS:
            yield from READERS[word](words, place)
        if word == "doctor":
            doctor = doctor or words.near(place, "doctor_lists") is not None
        elif doctor and (pending is None or not place - 3 <= pending.end <= place or pending.end == place + 1):
            yield from _listed_protection(words, place)


def _conduct(words: StatementWords, place: int) -> Iterator[FoundClaim]:
    """Yield whom a word that names no role makes a suspect: "scummy", "scumread", "my prime suspect"."""
    word = words.word(place)
    if word in WORDS["wolfish"]:
        yield from list(likened(words, place)) or suspected(words, place, "wolfish_of")
    elif word in WORDS["scum_read"]:
        yield from suspected(words, place, "read_as_wolf")
    elif word in {"suspect", "suspects", "suspicion"}:
        yield from suspected(words, place, "top_suspect")


def _question(words: StatementWords, place: int) -> Iterator[FoundClaim]:
    """Yield what a question gives away around a word for a role: "is Raj a Werewolf?", "why would I, a Seer, lie?"."""
    if ROLES[words.word(place)] == "Werewolf":
        yield from suspicions(words, place)
    elif words.near(place, "own_asked"):
        yield FoundClaim("role", None, ROLES[words.word(place)])


def _sides(words: StatementWords, place: int, pending: InspectionWords | None) -> Iterator[FoundClaim]:
    """Yield what a word tells of somebody's side that names no role: "he is clean", "Raj is evil", "I am innocent"."""
    if words.in_class(place, "cleared", "condemned", "roles"):
        yield from found_sides(words, place, pending)
    if words.in_class(place, "condemned"):
        yield from _no_villager(words, place)
    if words.in_class(place, "evil"):
        yield from _evil(words, place)
    if words.word(place) == "cleared":
        yield from _cleared(words, place)
    if words.in_class(place, "no_wolf", "cleared") and words.word(place) not in ROLES:
        accused = list(_no_villager(words, place))
        yield from accused or _denied(words, place)


def _accusation(words: StatementWords, place: int) -> Iterator[FoundClaim]:
    """Yield "I accuse Raj"."""
    match = words.near(place, "accused")
    if match is not None and statement.by_speaker(words, place) is not None and meant(words, place, of_self=True):
        who = match.start("who")
        target = statement.addressed(words, who, who) if words.word(who) == "you" else words.other(who)
        if target is not None:
            yield _has_role(target, "Werewolf")


def _not_me(words: StatementWords, place: int) -> Iterator[FoundClaim]:
    """Yield "I am not the Werewolf, Raj is"."""
    match = words.near(place, "not_me_but")
    if match is not None and meant(words, match.start(), of_self=True):
        yield _has_role(words.other(match.start("who")), "Werewolf")


def _listed_protection(words: StatementWords, place: int) -> Iterator[FoundClaim]:
    """Yield a player with a night in the list of somebody who claims to be the Doctor."""
    match = words.near(place, "listed_protection") if words.player(place) is not None else None
    if match is not None:
        yield from protected(words.player(place), words.nights_between(*match.span()))


READERS: Final[Mapping[str, Callable[[StatementWords, int], Iterator[FoundClaim]]]] = {
    "werewolf": _not_me,
    "accuse": _accusation,
    "accusing": _accusation,
}
"""What yields the claims around a word that depend on no other claim of the statement, by that word."""
