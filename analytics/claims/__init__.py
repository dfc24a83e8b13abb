"""Claims found in statements: roles, inspections, protections and accusations in the words, scored like those that
speakers attach, which count only if the words bear them out (metrics: objective truth).

`claims_in` reads a text, `GameFacts` follows what is true of the game meanwhile; `wolfbus.truth` scores. It would
rather miss a claim than invent one. Quotations, questions, conditionals, hypotheses, hearsay, hedged opinions and
denials give nothing; nor do results other than an exact role ("he is innocent").
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cached_property, lru_cache
from typing import Final

from analytics.claims.grammar import claims as claims_of
from analytics.claims.lexicon import AGAINST, WORDS
from analytics.claims.statement import FoundClaim, StatementWords
from analytics.claims.words import LONGEST, plain, tokenize
from wolfbus.marks import FIRST_MARK, marked
from wolfbus.messages.base import SeatName
from wolfbus.messages.content import AccusationClaim, Claim, InspectionClaim, ProtectionClaim, RoleClaim, ScoredClaim
from wolfbus.roles import team_of
from wolfbus.truth import Facts, verdict
from wolfbus.vocabulary import Reveal, Role, Team

_HINTS: Final = tuple(hint.replace("_", " ") for hint in sorted(WORDS["hint"]))
"""A text in lower case with none of these in it claims nothing that is looked for."""


def claims_in(text: str, speaker: SeatName, names: Iterable[SeatName], *, opinions: bool = False) -> tuple[Claim, ...]:
    """Return the claims in the order of the words, none twice; () where there are none.

    It raises for no text, and takes time in proportion to it.

    Args:
        text: the statement; what goes beyond 6,000 characters is not read.
        speaker: who says it, "I".
        names: the players of the game; a name counts as a whole word.
        opinions: whether "I think Raj is a Werewolf" counts as well.
    """
    parsed, seats = _parse(text, speaker, tuple(names))
    claims = (_claim(claim, speaker, seats) for claim in parsed if opinions or not claim.opinion)
    return tuple(dict.fromkeys(claim for claim in claims if claim is not None))


class StatedClaims:
    """What the words of a statement claim.

    Args:
        text: the words; what goes beyond 6,000 characters is not read.
        speaker: who says them, "I".
        names: the players of the game.

    Attributes:
        claims: what is asserted, in the order of the words, none twice.
    """

    def __init__(self, text: str, speaker: SeatName, names: Iterable[SeatName]) -> None:
        self._text, self._names, self._speaker = text, tuple(names), speaker
        parsed, seats = _parse(text, speaker, self._names)
        pairs = [(source, _claim(source, speaker, seats)) for source in parsed]
        self.claims = tuple(dict.fromkeys(claim for source, claim in pairs if claim is not None and not source.opinion))
        self._all = {claim for _, claim in pairs if claim is not None}
        self._cleared = {seats[source.target] for source, claim in pairs if claim is None and source.target is not None}

    def bears_out(self, claim: Claim) -> bool:
        """Return whether the words say what a speaker attached to them: outright, as an opinion ("I think …"), or by
        what it follows from: who inspects is the Seer, who saw a Werewolf calls it one. "I checked Raj, he is no
        Werewolf" bears out any result but that; a call to exile somebody, or to call it a liar, an accusation.
        """
        if any(same_claim(claim, other) for other in self._all):
            return True
        match claim:
            case InspectionClaim():
                seer = any(other == RoleClaim(target=self._speaker, role="Seer") for other in self._all)
                if claim.role != "Werewolf" or not seer:
                    return claim.role != "Werewolf" and claim.target in self._cleared
            case ProtectionClaim():
                return False
            case RoleClaim() if claim.target == self._speaker:
                kind = {"Seer": "inspection", "Doctor": "protection"}.get(claim.role)
                return any(other.claim == kind for other in self._all) or (claim.role == "Seer" and bool(self._cleared))
            case AccusationClaim() if claim.target in self._against:
                return True
        role = "Werewolf" if claim.claim == "accusation" else claim.role
        return any(
            other.target == claim.target
            and ((other.claim == "accusation" and role == "Werewolf") or getattr(other, "role", None) == role)
            for other in self._all
        )

    @cached_property
    def _against(self) -> set[SeatName]:
        """Whom the words call for to be exiled, or a liar."""
        names = self._names
        words = marked(self._text[:LONGEST], names).lower()
        marks = (match[1] or match[2] for match in AGAINST.finditer(words))
        return {names[ord(mark) - FIRST_MARK] for mark in marks}


def _parse(
    text: str, speaker: SeatName, names: tuple[SeatName, ...]
) -> tuple[tuple[FoundClaim, ...], tuple[SeatName, ...]]:
    """Return what is found in the words, and the names in the order that its places are of."""
    lower = text.lower()
    for hint in _HINTS:
        if hint in lower:
            words, seats = plain(text, names, speaker)
            return _parse_words(words, len(seats), speaker in names), seats
    return (), ()


@lru_cache(maxsize=1024)
def _parse_words(words: str, seats: int, plays: bool) -> tuple[FoundClaim, ...]:
    """Return what plain words claim; no claim stands beside a result that only rules out the Werewolf.

    It is kept: what is said in one game is often said in others too, of other players.

    Args:
        words: see `plain`.
        seats: how many names may stand in them.
        plays: whether the speaker is the first of these.
    """
    tokens, silent = tokenize(words, chr(FIRST_MARK) if plays else "")
    if not WORDS["retracts"].isdisjoint(tokens) and WORDS["no_jest"].isdisjoint(tokens):
        return ()
    return tuple(claims_of(StatementWords(tokens, silent, seats, 0 if plays else None)))


def _claim(parsed: FoundClaim, speaker: SeatName, names: tuple[SeatName, ...]) -> Claim | None:
    target = speaker if parsed.target is None else names[parsed.target]
    if parsed.kind == "protection":
        return ProtectionClaim(target=target, round=parsed.night)
    if parsed.role is None:
        return None
    if parsed.kind == "inspection":
        return InspectionClaim(target=target, role=parsed.role, round=parsed.night)
    if parsed.role == "Werewolf" and parsed.target is not None:
        return AccusationClaim(target=target)
    return RoleClaim(target=target, role=parsed.role)


def scored(facts: Facts, speaker: SeatName, claims: Iterable[Claim]) -> tuple[ScoredClaim, ...]:
    """Return claims found in words, each with its verdict, marked as extracted.

    Args:
        facts: what is true as the statement is made.
        speaker: who makes it.
        claims: what it claims.
    """
    return tuple(ScoredClaim(claim=claim, verdict=verdict(facts, speaker, claim), extracted=True) for claim in claims)


def same_claim(claim: Claim, other: Claim) -> bool:
    """Return whether two claims assert the same; a night that only one of them names makes no difference."""
    # cheap tests first: comparing whole models is slow
    if claim.claim != other.claim or claim.target != other.target:
        return False
    if isinstance(claim, InspectionClaim | ProtectionClaim) and isinstance(other, InspectionClaim | ProtectionClaim):
        same_night = claim.round is None or other.round is None or claim.round == other.round
        return same_night and getattr(claim, "role", None) == getattr(other, "role", None)
    return claim == other


def implies(claim: Claim, other: Claim) -> bool:
    """Return whether the first claim asserts what the second does: the same, or an inspection the role that it saw."""
    if same_claim(claim, other):
        return True
    role = "Werewolf" if other.claim == "accusation" else getattr(other, "role", None)
    return (
        claim.claim == "inspection"
        and other.claim != "inspection"
        and (claim.target, claim.role) == (other.target, role)
    )


class GameFacts:
    """The `wolfbus.truth.Facts` of a game that somebody else runs.

    Args:
        roles: role of every player, in seating order.
        reveal: what everybody learns of a player who leaves.

    Attributes:
        roles: role of every player.
        living: players still in the game, in seating order.
        inspected: per seer, what it learned.
        inspected_in: the round in which a seer inspected a player.
        protected: per doctor, the players it protected, by round.
        night_victims: who died at night.
        revealed: teams or roles that became public.
    """

    def __init__(self, roles: Mapping[SeatName, Role], reveal: Reveal = "none") -> None:
        self.roles = dict(roles)
        self.living = list(self.roles)
        self.inspected: dict[SeatName, dict[SeatName, Role]] = {}
        self.inspected_in: dict[tuple[SeatName, SeatName], int] = {}
        self.protected: dict[SeatName, dict[int, SeatName]] = {}
        self.night_victims: list[SeatName] = []
        self.revealed: dict[SeatName, Role | Team] = {}
        self._reveal = reveal

    def inspect(self, round_: int, seer: SeatName, target: SeatName, role: Role) -> None:
        """Record what a seer learned."""
        self.inspected.setdefault(seer, {})[target] = role
        self.inspected_in[seer, target] = round_

    def protect(self, round_: int, doctor: SeatName, target: SeatName) -> None:
        """Record whom a doctor protected."""
        self.protected.setdefault(doctor, {})[round_] = target

    def die(self, name: SeatName) -> None:
        """Record the death of a night's victim."""
        self.night_victims.append(name)
        self.leave(name)

    def leave(self, name: SeatName) -> None:
        """Remove a player from the game."""
        if name not in self.living:
            return
        self.living.remove(name)
        if self._reveal != "none":
            role = self.roles[name]
            self.revealed[name] = role if self._reveal == "role" else team_of(role)


__all__ = ["GameFacts", "StatedClaims", "claims_in", "implies", "same_claim", "scored"]
