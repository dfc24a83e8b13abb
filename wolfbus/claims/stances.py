"""Stances: words that speak for or against a player without saying what it is ("I trust Raj", "exile Bea", "could Tom
be hiding something?"); and suspicions, by which the speaker calls somebody a Werewolf without saying so outright.

Both are read around the word for whom they are about. A question counts only where it points at that player.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from wolfbus.claims import statement
from wolfbus.claims.kinds import FoundClaim
from wolfbus.claims.lexicon import WORDS
from wolfbus.claims.statement import StatementWords, meant

_SIDES: Final = ("against", "for")


def stances(words: StatementWords) -> Iterator[FoundClaim]:
    """Yield the stances of a statement in the order of its words."""
    for place, word in enumerate(words.tokens):
        if words.player(place) is None and word not in WORDS["person"]:
            continue
        if place in words.silent and place not in words.in_question:
            continue
        stance = _in_question(words, place) if place in words.in_question else _in_statement(words, place)
        if stance is None:
            continue
        side, is_hedged = stance
        for target in _meant_by(words, place):
            yield FoundClaim("stance", target, opinion=is_hedged, more={"side": side})


def suspicions(words: StatementWords, place: int) -> Iterator[FoundClaim]:
    """Yield "Raj might be a Werewolf", "Raj has to be a Werewolf", "could Raj be a Werewolf?" around that word."""
    if place in words.in_question:
        match = words.near(place, "asked_wolf")
        if match is not None and meant(words, match.start(), hedged=True):
            for target in _named_in(words, range(*match.span("who"))):
                yield FoundClaim("accusation", target, "Werewolf", opinion=True)
        return
    for table in ("must_be", "may_be"):
        if (match := words.near(place, table)) is None:
            continue
        begin = min(match.start(), match.start("who"))
        # of what suggests it no word takes it back, unless it is denied there: "nothing suggests that Raj …"
        since = begin - 2 if words.in_class(begin, "pointing") else 0
        if not meant(words, begin, hedged=True, since=since) or statement.taken_back(words, place + 1):
            return
        opinion = table == "may_be" or not meant(words, begin, opinion=True)
        for target in _named_in(words, range(*match.span("who"))):
            yield FoundClaim("accusation", target, "Werewolf", opinion=opinion)
        return


_NEAR: Final = 5
"""Words before what likens somebody to a Werewolf, of the same clause, that may deny it."""


def likened(words: StatementWords, place: int) -> Iterator[FoundClaim]:
    """Yield whose ways are likened to a Werewolf's around that word: "Raj's silence is a classic wolf move"."""
    table = "wolfish_ways" if words.in_class(place, "wolfish") else "wolf_ways"
    match = words.near(place, table)
    if match is None or words.in_class(words.sentence(place), "condition"):
        return
    begin = match.start()
    if words.word(match.end()) == "to" and words.player(match.end() + 1) is not None:
        # "feels like a wolf's ploy to Raj"
        return
    if any(word in WORDS["supposing"] for _, word in words.back(begin)) or _of_a_helper(words, place):
        return
    while words.in_class(begin - 1, "likeness"):
        begin -= 1
    clause = next((index for index, word in words.back(begin) if word in WORDS["clause_end"]), 0)
    if not words.in_class(begin, "clause_end") and not meant(
        words, begin, hedged=True, of_ways=True, since=max(clause, begin - _NEAR)
    ):
        return
    is_named = "who" in match.groupdict()
    targets = words.players(*match.span("who")) if is_named else _whose_ways(words, begin + 1)
    if not targets:
        targets = _called_behind(words, place)
    for target in targets:
        if target is not None and target != words.speaker:
            yield FoundClaim("accusation", target, "Werewolf", opinion=True)


def _called_behind(words: StatementWords, place: int) -> list[int | None]:
    """Return who is spoken to behind a place, if the sentence tells of nobody else: "that is a wolf move, Raj"."""
    called = words.near(place, "called_later")
    if called is None or any(words.in_class(one, "third_person", "their") for one, _ in words.back(place)):
        return []
    return [words.player(called.start("who"))]


def _of_a_helper(words: StatementWords, place: int) -> bool:
    """Return whether the sentence around a place, or the one before, says that somebody only helps Werewolves."""
    begin = words.sentence(max(words.sentence(place) - 1, 0))
    return any(words.near(index, "is_helper") for index in range(begin, place) if words.in_class(index, "helper"))


_BACK: Final = 2
"""Sentences before one that are looked over for whose ways it tells of."""


def _whose_ways(words: StatementWords, before: int, *, again: int = _BACK) -> list[int | None]:
    """Return whose ways a sentence tells of before a place; where it has only "that" or "their", or is a question of
    nobody, the same of the sentence before, `again` times at most.
    """
    begin = words.sentence(before)
    if again < _BACK and words.player(begin) is not None and not words.in_class(begin + 1, "no_verb"):
        # "Raj was quick to doubt Bea's claim. His hurry …"; but nobody does what befell it
        return [] if words.near(begin, "fate_of") else [words.player(begin)]
    is_shared = any(words.in_class(place, "shared") for place in range(begin, before))
    for first in dict.fromkeys((begin if is_shared else _contrast(words, begin, before), begin)):
        if (owners := _said_to_be_of(words, first, before)) is not None:
            return owners
    is_own = "my" in words.tokens[begin:before]
    is_question = begin in words.in_question
    points_back = (
        is_question
        or words.in_class(begin, "likeness")
        or any(words.in_class(place, "pointing_back") for place in range(begin, before))
    )
    if is_own or not points_back or not again or begin == 0:
        return []
    return _whose_ways(words, begin - 1, again=again - (not is_question))


def _contrast(words: StatementWords, begin: int, end: int) -> int:
    """Return where another is spoken of from then on between two places: "while Bea's …"; else the first of them."""
    for place in range(end - 1, begin, -1):
        of_another = words.player(place + 1) is not None or words.in_class(place + 1, "pointing_at")
        if words.in_class(place, "contrasting") and of_another:
            return place
    # "while Bea's certainty is odd, I am concerned about Raj's …"
    if words.in_class(begin, "contrasting"):
        for place in range(begin, end):
            if words.word(place) == "," and words.in_class(place + 1, "pointing_at"):
                return place
    return begin


def _said_to_be_of(words: StatementWords, begin: int, end: int) -> list[int | None] | None:
    """Return whose ways are told of between two places of a sentence: whose they are said to be, who is spoken to, all
    who did it together, the only one named or the only list of players; None where it names nobody.
    """
    for place in range(begin, end):
        if words.in_class(place, "shared") and words.word(place - 1) in {"their", "this", "that", "such"}:
            together = _acting(words, begin, place)
            # what they did it to may be another's
            alone = [one for one in together if words.word(one + 1) != "'s"]
            if together:
                return [words.player(one) for one in alone or together]
    for place in range(begin, end):
        if words.word(place) in {"you", "your"} and not words.in_class(place + 1, "pointing_out"):
            return [_spoken_to(words, place, end)]
        if words.player(place) is not None and (owners := _owners(words, place, begin)):
            return owners
    named = [place for place in range(begin, end) if words.player(place) is not None]
    if not named:
        return None
    acting = _acting(words, begin, end)
    if not acting and words.in_class(begin, "pointing_back"):
        return None
    if named[0] not in acting:
        return []
    listed = _with_list_after(words, named[0])
    is_one_list = {words.player(place) for place in named} <= {*listed}
    is_subject = named[0] == begin or words.in_class(named[0] - 1, "leading_in")
    return listed if is_one_list or is_subject else []


def _owners(words: StatementWords, place: int, begin: int) -> list[int | None]:
    """Return whose ways the words around the name at a place tell of: "players like Raj", "Raj's silence", "I am wary
    of Raj"; nobody if they tell of no ways.
    """
    if (match := words.near(place, "such_as")) is not None:
        sided_with = words.word(match.start() - 1) == "with" and words.in_class(match.start() - 2, "siding")
        if sided_with or words.word(match.start() - 1) in {"against", "toward", "towards"}:
            return []
        return [*words.players(*match.span("who"))]
    if words.word(place + 1) == "'s" and not words.near(place, "fate_of"):
        first = _first_of_list(words, place, begin)
        if words.in_class(first - 1, "acted_on"):
            return []
        return [*words.players(first, place + 1)]
    return _with_list_after(words, place) if words.near(place, "suspected_one") else []


def _acting(words: StatementWords, begin: int, end: int) -> list[int]:
    """Return where players are named between two places to whom nothing is done there or befell."""
    named = [place for place in range(begin, end) if words.player(place) is not None]
    before = {place: _first_of_list(words, place, begin) - 1 for place in named}
    # what the speaker would do to somebody, it would do for that one's ways
    done = ("acted_on",) if words.word(begin) == "i" else ("acted_on", "done_to")
    return [
        place
        for place in named
        if not (before[place] > begin and words.in_class(before[place], *done)) and not words.near(place, "fate_of")
    ]


def _with_list_after(words: StatementWords, first: int) -> list[int | None]:
    """Return the player at a place with those after it in the same list."""
    listed = words.near(first, "listed_with")
    return [words.player(first), *(words.players(*listed.span("who")) if listed is not None else [])]


def _first_of_list(words: StatementWords, last: int, begin: int) -> int:
    """Return where the list of players begins that ends at a place: "Raj and Bea" where Bea stands."""
    first = last
    while first > begin:
        before = first - 1
        while before > begin and words.word(before) in {"and", ","}:
            before -= 1
        if before == first - 1 or words.player(before) is None:
            break
        first = before
    return first


def _spoken_to(words: StatementWords, you: int, kernel: int) -> int | None:
    """Return whom "you" means: who is spoken to near it, else with whose name the statement opens."""
    target = statement.addressed(words, you, kernel)
    return statement.addressed(words, 0, 0) if target is None else target


def suspected(words: StatementWords, place: int, table: str) -> Iterator[FoundClaim]:
    """Yield "Raj is scummy", "Raj is my prime suspect" around that word, by a table of the lexicon."""
    match = words.near(place, table)
    if match is not None and meant(words, min(match.start(), place), hedged=True):
        targets = list(_named_in(words, range(*match.span("who"))))
        if not targets and words.word(match.start("who")) == "them":
            targets = list(_named_in(words, [words.sentence(place)]))
        for target in targets:
            yield FoundClaim("accusation", target, "Werewolf", opinion=True)


def without_weaker(claims: Iterable[FoundClaim]) -> tuple[FoundClaim, ...]:
    """Return claims without those that say less than another of the same statement about the same player: of an
    inspection, an accusation, a hedged one, a stance and that somebody is no Werewolf the first of these.
    """
    all_claims = list(claims)
    seen = {claim.target for claim in all_claims if claim.kind == "inspection"}
    accused = {claim.target: claim.opinion for claim in all_claims if claim.kind == "accusation"}
    accused |= {claim.target: False for claim in all_claims if claim.kind == "accusation" and not claim.opinion}
    with_role = {claim.target for claim in all_claims if claim.kind == "role" and not claim.is_guess}
    strongest: list[FoundClaim] = []
    sides: dict[int | None, FoundClaim] = {}
    for claim in all_claims:
        target = claim.target
        is_denial = claim.kind == "role" and claim.denied and claim.role == "Werewolf"
        if claim.kind == "stance":
            # who says both, or says it twice, says it as it is said outright, and first
            other = sides.get(target)
            if target in seen or target in accused or target in with_role or (other is not None and not other.opinion):
                continue
            if other is not None:
                if claim.opinion or claim.more != other.more:
                    continue
                strongest.remove(other)
            sides[target] = claim
        elif (claim.kind == "accusation" and (target in seen or claim.opinion != accused[target])) or (
            is_denial and target in seen
        ):
            continue
        strongest.append(claim)
    return tuple(strongest)


def _in_statement(words: StatementWords, place: int) -> tuple[str, bool] | None:
    """Return the side that the words around a place take, and whether they are hedged; None if they take none."""
    for side in _SIDES:
        for table, is_hint in ((side, False), (f"hint_{side}", True)):
            match = words.near(place, table)
            if match is not None and meant(words, min(match.start(), place), hedged=True):
                return side, is_hint or _is_hedged(words, place)
    return None


def _in_question(words: StatementWords, place: int) -> tuple[str, bool] | None:
    """Return the side that a question takes which points at the player at a place."""
    match = words.near(place, "asked_against")
    return ("against", True) if match is not None and meant(words, match.start(), hedged=True) else None


def _is_hedged(words: StatementWords, place: int) -> bool:
    """Return whether the sentence around a place hedges what it says."""
    begin, end = words.sentence(place), place
    while words.word(end) not in WORDS["stop"]:
        end += 1
    return any(words.in_class(index, "softener") for index in range(begin, end))


def _meant_by(words: StatementWords, place: int) -> Iterator[int]:
    """Yield the players whom the word at a place means, with those that it is listed with: "I trust Raj and Bea"."""
    first = statement.referred(words, place)
    if first is None or first == words.speaker:
        return
    yield first
    if words.player(place) is not None:
        for other in _with_list_after(words, place):
            if other is not None and other not in {first, words.speaker}:
                yield other


def _named_in(words: StatementWords, places: Iterable[int]) -> Iterator[int]:
    """Yield the other players whom the words at these places mean."""
    for place in places:
        target = statement.referred(words, place)
        if target is None and words.word(place) in {"you", "your"}:
            # nobody but one other player is spoken of
            others = {words.player(one) for one in range(place)} - {None, words.speaker}
            target = others.pop() if len(others) == 1 else None
        if target is not None and target != words.speaker:
            yield target
