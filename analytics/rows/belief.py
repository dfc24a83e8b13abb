"""What a seat's own model says after the game that the seat believed at a moment of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar

from analytics.rows.fields import Column, Derived, GameId, Round, agent, name, role, seat_in
from wolfbus.game.vocabulary import Role
from wolfbus.knowledge.moments import WHENS, When
from wolfbus.messages.base import SeatName


@dataclass(frozen=True, slots=True, kw_only=True)
class BeliefRow:
    """What one living player believed of another at one moment, asked outright when the game was over."""

    game: GameId
    observer_id: ClassVar[Derived[str]] = seat_in("observer", "who is asked")
    target_id: ClassVar[Derived[str]] = seat_in("target", "about whom")
    round: Round
    when: Annotated[
        When,
        Column(
            "`dawn`: as the day began; `dusk`: before its vote; `before`, `again` and `after` a statement: `again` is "
            "`before` asked a second time",
            category=True,
            values=WHENS,
        ),
    ]
    statement: Annotated[int | None, Column("number of the statement before or after which it is", "dawn or dusk")] = (
        None
    )
    observer: Annotated[SeatName, name("the observer's name")]
    observer_role: Annotated[Role, role("the observer's")]
    observer_agent: Annotated[str, agent("the observer")]
    target: Annotated[SeatName, name("the target's name")]
    target_role: Annotated[Role, role("the target's")]
    target_agent: Annotated[str, agent("the target")]
    belief: Annotated[float, Column("the probability that the target is a Werewolf, as it was given", unit="share")]
    would_vote: Annotated[
        bool | None,
        Column("whether the observer would vote for the target then; a provisional, silent vote", "it was not asked"),
    ] = None
