"""What could be known of whom when a vote was held, and what was told until then; what players say and think of what
they have before their eyes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal

from analytics.rows.fields import Column, Derived, GameId, Line, Round, agent, name, role, seat_in
from wolfbus.claims.facts import FACT_KINDS, FactKind
from wolfbus.game.vocabulary import Role
from wolfbus.messages.base import Part, SeatName
from wolfbus.messages.content import Claim
from wolfbus.messages.requests import PublicFact

_SHARE = "for all that the observer was told, how likely the target is a Werewolf, with every deal alike that "


@dataclass(frozen=True, slots=True, kw_only=True)
class KnowableRow:
    """What one living player could know of another of whom it could not be certain, as a vote was held."""

    game: GameId
    observer_id: ClassVar[Derived[str]] = seat_in("observer", "who has to find out")
    target_id: ClassVar[Derived[str]] = seat_in("target", "about whom")
    round: Round
    observer: Annotated[SeatName, name("the observer's name")]
    observer_role: Annotated[Role, role("the observer's")]
    observer_agent: Annotated[str, agent("the observer")]
    target: Annotated[SeatName, name("the target's name")]
    target_role: Annotated[Role, role("the target's")]
    target_agent: Annotated[str, agent("the target")]
    suspicion: Annotated[
        float | None, Column("D of the pair then", "the observer has not judged the target", unit="share")
    ]
    counts: Annotated[
        float, Column("how likely the target is a Werewolf by the role counts and the own role alone", unit="share")
    ]
    facts: Annotated[float, Column(f"{_SHARE}agrees with the hard facts", unit="share")]
    honest: Annotated[
        float,
        Column(
            f"{_SHARE}agrees with them and with what players who are no Werewolves claimed of themselves, in words "
            "that bear it out; where none does, that contradicts fewest of these claims",
            unit="share",
        ),
    ]
    voted: Annotated[bool | None, Column("whether the observer votes for the target", "it abstains")]


@dataclass(frozen=True, slots=True, kw_only=True)
class FactRow:
    """A fact of the game, as a player's thought or statement tells it."""

    game: GameId
    seat_id: ClassVar[Derived[str]] = seat_in("seat", "who tells it")
    place: Annotated[int, Column("its number within the game, from 1")]
    line: Line = None
    round: Round
    seat: Annotated[SeatName, name("the name of who tells it")]
    role: Annotated[Role, role("of who tells it")]
    agent: Annotated[str, agent("who tells it")]
    where: Annotated[
        Literal["thought", "statement"],
        Column("where it is told", category=True, values=("thought", "statement"), name="told_in"),
    ]
    fact: Annotated[
        FactKind,
        Column(
            "who has left and who lives; who is what, where the own view entails it or its contrary; which day it is, "
            "and whose turn",
            category=True,
            values=FACT_KINDS,
        ),
    ]
    about: Annotated[SeatName | None, name("the name of whom it is about", "it is about the day")]
    right: Annotated[bool, Column("whether it is so")]


class VoteNews(Part):
    """What was told since the vote before; together with those before it all that the posterior over the deals needs.

    Attributes:
        first_night_kill: of the rules.
        kill_optional: of the rules.
        facts: who left, in order.
        claims: who claimed what, as far as it is about the deal and was not claimed before.
        roles: what each living player who has to find out knows for certain now: its own role, and what it inspected.
        protected: whom each of them protected, by round.
    """

    first_night_kill: bool
    kill_optional: bool
    facts: tuple[PublicFact, ...]
    claims: tuple[tuple[SeatName, Claim], ...]
    roles: dict[SeatName, dict[SeatName, Role]]
    protected: dict[SeatName, dict[int, SeatName]]
