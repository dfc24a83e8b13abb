"""Claims heard in the words of statements; and whether the words bear out what a speaker attached to them.

The grammar would rather miss a claim than invent one. Quotations, questions, conditionals, hypotheses and hearsay give
nothing, but for a question that points at a player ("could Raj be a Werewolf?"): a hedged accusation, or a stance.
"""

from __future__ import annotations

import hashlib
import importlib.resources
from collections.abc import Iterable
from functools import cached_property, lru_cache
from itertools import chain
from typing import Final

from wolfbus.claims.grammar import READERS
from wolfbus.claims.grammar import claims as claims_of
from wolfbus.claims.kinds import FoundClaim, kind_named, kind_of, same_claim
from wolfbus.claims.lexicon import AGAINST, WORDS
from wolfbus.claims.pieces import pieces_of
from wolfbus.claims.statement import StatementWords
from wolfbus.claims.words import plain, tokenize
from wolfbus.knowledge.marks import FIRST_MARK, marked
from wolfbus.messages.base import SeatName
from wolfbus.messages.content import Claim

_FILES: Final = ("lexicon.toml", "lexicon.py", "words.py", "statement.py", "inspections.py", "stances.py", "grammar.py")


def grammar_version() -> str:
    """Return a name for what is heard now: the beginning of the SHA-256 of the words and the grammar; it changes with
    them, and with nothing else.
    """
    folder = importlib.resources.files("wolfbus.claims")
    return hashlib.sha256(b"".join(folder.joinpath(name).read_bytes() for name in _FILES)).hexdigest()[:12]


_HINTS: Final = tuple(hint.replace("_", " ") for hint in sorted(WORDS["hint"].union(READERS)))
"""A text in lower case that names nobody and has none of these in it claims nothing that is looked for."""


def claims_in(text: str, speaker: SeatName, names: Iterable[SeatName]) -> tuple[Claim, ...]:
    """Return the claims in the order of the words, none twice; () where there are none.

    It raises for no text, and takes time in proportion to it.

    Args:
        text: the statement; a long one is read in pieces, see `pieces_of`.
        speaker: who says it, "I".
        names: the players of the game; a name counts as a whole word.
    """
    return StatedClaims(text, speaker, names).claims


class StatedClaims:
    """What the words of a statement claim.

    Args:
        text: the words; long ones are read in pieces, see `pieces_of`.
        speaker: who says them, "I".
        names: the players of the game.

    Attributes:
        speaker: who says them.
        claims: what is asserted, in the order of the words, none twice.
        asserted: these, and what the speaker only guesses somebody's role to be.
        cleared: players who were inspected, so the words say, and are no Werewolves.
    """

    def __init__(self, text: str, speaker: SeatName, names: Iterable[SeatName]) -> None:
        self.speaker = speaker
        self._text = text
        self._names = tuple(names)
        pairs: list[tuple[FoundClaim, Claim]] = []
        self.cleared: set[SeatName] = set()
        for piece in pieces_of(text):
            parsed, seats = _parse(piece, speaker, self._names)
            pairs += [(source, _claim(source, speaker, seats)) for source in parsed]
            self.cleared |= {seats[source.target] for source in parsed if source.clears and source.target is not None}
        self.claims = tuple(dict.fromkeys(claim for source, claim in pairs if not source.is_guess))
        self.asserted = {claim for _, claim in pairs}

    def bears_out(self, claim: Claim) -> bool:
        """Return whether the words say what a speaker attached to them: outright, as an opinion ("I think …"), or by
        what it follows from, which its kind says.
        """
        return any(same_claim(claim, other) for other in self.asserted) or kind_of(claim).borne_out(claim, self)

    @cached_property
    def against(self) -> set[SeatName]:
        """Players whom the words call for to be exiled, or call liars."""
        names = self._names
        matches = (AGAINST.finditer(marked(piece, names).lower()) for piece in pieces_of(self._text))
        return {names[ord(match[1] or match[2]) - FIRST_MARK] for match in chain.from_iterable(matches)}


@lru_cache(maxsize=4096)
def _parse(
    text: str, speaker: SeatName, names: tuple[SeatName, ...]
) -> tuple[tuple[FoundClaim, ...], tuple[SeatName, ...]]:
    """Return what is found in the words, and the names in the order that its places are of.

    It is kept: scripts, and small models, write the same thought again and again.
    """
    lower = text.lower()
    words, seats = plain(text, names, speaker)
    if len(seats) < 2 and not any(hint in lower for hint in _HINTS):
        return (), seats
    return _parse_words(words, len(seats), speaker in names), seats


@lru_cache(maxsize=1024)
def _parse_words(words: str, seats: int, plays: bool) -> tuple[FoundClaim, ...]:
    """Return what plain words claim.

    It is kept: what is said in one game is often said in others too, of other players.

    Args:
        words: see `plain`.
        seats: how many names may stand in them.
        plays: whether the speaker is the first of these.
    """
    tokens, silent, in_question = tokenize(words, chr(FIRST_MARK) if plays else "")
    if not WORDS["retracts"].isdisjoint(tokens) and WORDS["no_jest"].isdisjoint(tokens):
        return ()
    return tuple(claims_of(StatementWords(tokens, silent, in_question, seats, 0 if plays else None)))


def _claim(source: FoundClaim, speaker: SeatName, names: tuple[SeatName, ...]) -> Claim:
    """Return a claim with the names of its players."""
    target = speaker if source.target is None else names[source.target]
    kind, strength = kind_named(source.kind), "hedged" if source.opinion else "plain"
    claim: Claim = kind.make(
        target, role=source.role, round=source.night, denied=source.denied, strength=strength, **source.more
    )
    return claim
