"""Facts of a game that a player has before its eyes, as thoughts and statements tell them: who has left and who lives,
who is what, which day it is and whose turn; and whether what they say is so.

A model that thinks that a living player died in the night does not follow the game, and what it does tells little of
deception (metrics: comprehension). Whether somebody is dead, or which day it is, everybody knows: that is read in
thoughts and in statements. Who is what is read in thoughts alone, which nobody else sees: said to others it is a claim,
and may be a lie. There it counts where the own view entails it, or its contrary: a mere belief is no misunderstanding.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cache
from itertools import chain
from typing import Final, Literal, NamedTuple, TypeAlias

from wolfbus.claims import verdict
from wolfbus.claims.hearing import claims_in
from wolfbus.claims.pieces import SENTENCE_END, pieces_of
from wolfbus.files.package_data import Lines, PackageData, read_data
from wolfbus.game.roles import ACTS, FACTS, ROLE_WORDS
from wolfbus.game.vocabulary import Kind
from wolfbus.knowledge.marks import FIRST_MARK, MARK, marked
from wolfbus.knowledge.truth import GameFacts
from wolfbus.messages.base import SeatName
from wolfbus.messages.content import Claim, ProtectionClaim

FactKind: TypeAlias = Literal["living", "role", "turn"]
"""Who has left and who lives; who is what, and what was done at night; which day it is, and whose turn."""

FACT_KINDS: Final[tuple[FactKind, ...]] = ("living", "role", "turn")


class StatedFact(NamedTuple):
    """A fact that a text tells.

    Attributes:
        kind: what sort of fact.
        about: whom it is about; None for the day.
        right: whether it is so.
    """

    kind: FactKind
    about: SeatName | None
    right: bool


class Moment(NamedTuple):
    """When, and by whom, a text was written.

    Attributes:
        facts: what is true then.
        speaker: who wrote it.
        round: the round of the game.
        kind: what it was asked for.
    """

    facts: GameFacts
    speaker: SeatName
    round: int
    kind: Kind


class _FactWords(PackageData):
    open: Lines
    hint: Lines
    departed: str
    dead: Lines
    alive: Lines
    own_role: Lines
    partner: Lines
    day: Lines
    turn: Lines
    numbers: Mapping[str, int]


@cache
def _words() -> _FactWords:
    return read_data("wolfbus.claims", "facts", _FactWords)


@cache
def _pattern(name: str) -> re.Pattern[str]:
    """Return the patterns of that name as one."""
    words = _words()
    roles = sorted({*ROLE_WORDS, *(facts.plural.lower() for facts in FACTS.values())}, key=len, reverse=True)
    text = "|".join(f"(?:{line})" for line in getattr(words, name))
    for part, pattern in {
        "{p}": rf"((?:{MARK}(?:,? and |, ))*{MARK})",
        "{gone}": words.departed,
        "{role}": rf"(?P<role>{'|'.join(map(re.escape, roles))})",
        "{n}": rf"({'|'.join(words.numbers)}|\d{{1,2}})",
    }.items():
        text = text.replace(part, pattern)
    return re.compile(text)


def facts_in(text: str, moment: Moment, *, private: bool) -> list[StatedFact]:
    """Return the facts that a text tells and that can be checked, sentence by sentence, none of them twice in the same.

    It raises for no text.

    Args:
        text: a thought or a statement; a long one is read in pieces, see `pieces_of`.
        moment: when it was written, and by whom.
        private: whether nobody else sees it.
    """
    names = tuple(moment.facts.roles)
    facts: list[StatedFact] = []
    sentences = (SENTENCE_END.split(piece.replace("’", "'")) for piece in pieces_of(text))
    for sentence in chain.from_iterable(sentences):
        lower = sentence.lower()
        tells = _pattern("hint").search(lower)
        if not (tells or private) or _pattern("open").search(lower):
            continue
        words = marked(sentence, names).lower()
        in_sentence = [*_living(words, names, moment), *_turn(words, names, moment)] if tells else []
        if private:
            in_sentence += _role(words, sentence, names, moment)
        facts += dict.fromkeys(in_sentence)
    return facts


def _named(match: re.Match[str], names: tuple[SeatName, ...]) -> list[SeatName]:
    """Return the players that a match names."""
    words = "".join(group for group in match.groups() if group)
    return [names[ord(mark) - FIRST_MARK] for mark in words if 0 <= ord(mark) - FIRST_MARK < len(names)]


def _living(words: str, names: tuple[SeatName, ...], moment: Moment) -> Iterator[StatedFact]:
    for pattern, lives in (("dead", False), ("alive", True)):
        for match in _pattern(pattern).finditer(words):
            for name in _named(match, names):
                yield StatedFact("living", name, (name in moment.facts.living) == lives)


def _turn(words: str, names: tuple[SeatName, ...], moment: Moment) -> Iterator[StatedFact]:
    for match in _pattern("day").finditer(words):
        number = next(group for group in match.groups() if group and group not in {"day", "night", "round"})
        day = _words().numbers.get(number) or int(number)
        unit = match["word"] or match["unit"]
        at_night = moment.kind in ACTS or moment.kind == "whisper"
        yield StatedFact("turn", None, day == moment.round and unit in {"round", "night" if at_night else "day"})
    if moment.kind != "speak":
        # who bids or judges has not the floor, and nobody knows of whose turn it thinks
        return
    for match in _pattern("turn").finditer(words):
        named = [moment.speaker] if match["own"] else _named(match, names)
        yield StatedFact("turn", named[0], named == [moment.speaker])


def _role(words: str, sentence: str, names: tuple[SeatName, ...], moment: Moment) -> Iterator[StatedFact]:
    facts, me = moment.facts, moment.speaker
    for match in _pattern("own_role").finditer(words):
        yield StatedFact("role", me, ROLE_WORDS.get(match["role"]) == facts.roles[me])
    for match in _pattern("partner").finditer(words):
        for name in _named(match, names):
            both = {facts.roles[name], facts.roles[me]} == {"Werewolf"}
            yield StatedFact("role", name, both and name != me)
    for claim in claims_in(sentence, me, names):
        # whom one protects is so once one has answered, which comes after the thought
        is_own_act = isinstance(claim, ProtectionClaim) and moment.kind in ACTS
        right = None if is_own_act else _rightness(claim, moment)
        if right is not None:
            yield StatedFact("role", claim.target, right)


def _rightness(claim: Claim, moment: Moment) -> bool | None:
    """Return whether something that is asserted in a thought is so; None where its thinker cannot know that."""
    facts, me = moment.facts, moment.speaker
    if getattr(claim, "strength", "plain") == "hedged":
        return None
    truth = verdict(facts, me, claim)
    if truth == "lie":
        return False
    return True if truth == "true" and (claim.target == me or facts.informed(me, claim.target)) else None
