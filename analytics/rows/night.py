"""What is done at night: outcomes, inspections, protections, and what Werewolves whisper."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar

from analytics.rows.parts import (
    FaultOf,
    GameId,
    Line,
    OutcomeOf,
    ReadingOf,
    Round,
    agent,
    key,
    name,
    role,
    seat_id,
)
from analytics.schema import Column, Derived, coded
from wolfbus.messages.base import SeatName
from wolfbus.vocabulary import Role

NIGHTS = ("without_attempt", "blocked", "killed")
"""What came of a night: the wolves went for nobody, a doctor saved the target, it died."""

_NOBODY = "the wolves went for nobody"


@dataclass(frozen=True, slots=True, kw_only=True)
class NightRow:
    """What a night really did.

    Attributes:
        protected: whom the doctors protected.
        died: who died, if anybody did.
    """

    game: GameId
    round: Round
    target_id: ClassVar[Derived[Annotated[str | None, key("whom the wolves went for", "seats", _NOBODY)]]] = Derived(
        lambda row: None if row.target is None else seat_id(row.game, row.target)
    )
    target: Annotated[SeatName | None, name("that player's name", _NOBODY)]
    target_role: Annotated[Role | None, role("that player's", _NOBODY)] = None
    protected: tuple[SeatName, ...]
    protections: ClassVar[
        Derived[
            Annotated[
                int,
                Column("how many players doctors protected, one twice if two doctors chose it", name="protected"),
            ]
        ]
    ] = Derived(lambda row: len(row.protected))
    blocked: ClassVar[Derived[Annotated[bool | None, Column("whether a doctor saved the target", _NOBODY)]]] = Derived(
        lambda row: None if row.target is None else row.target in row.protected and row.died is None
    )
    died: SeatName | None
    died_id: ClassVar[Derived[Annotated[str | None, key("who died", "seats", "nobody did")]]] = Derived(
        lambda row: None if row.died is None else seat_id(row.game, row.died)
    )
    night: ClassVar[Derived[Annotated[str, coded(NIGHTS)]]] = Derived(
        lambda row: NIGHTS[0 if row.target is None else 1 if row.died is None else 2]
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class InspectionRow:
    """What a Seer learned in a night."""

    game: GameId
    round: Round
    seer_id: ClassVar[Derived[Annotated[str, key("who inspects", "seats")]]] = Derived(
        lambda row: seat_id(row.game, row.seer)
    )
    target_id: ClassVar[Derived[Annotated[str, key("whom", "seats")]]] = Derived(
        lambda row: seat_id(row.game, row.target)
    )
    seer: Annotated[SeatName, name("the Seer's name")]
    seer_agent: Annotated[str, agent("the Seer")]
    target: Annotated[SeatName, name("the target's name")]
    target_role: Annotated[Role, role("what the Seer saw: the target's")]
    target_agent: Annotated[str, agent("the target")]


@dataclass(frozen=True, slots=True, kw_only=True)
class ProtectionRow:
    """Whom a Doctor protected in a night."""

    game: GameId
    round: Round
    doctor_id: ClassVar[Derived[Annotated[str, key("who protects", "seats")]]] = Derived(
        lambda row: seat_id(row.game, row.doctor)
    )
    target_id: ClassVar[Derived[Annotated[str, key("whom", "seats")]]] = Derived(
        lambda row: seat_id(row.game, row.target)
    )
    doctor: Annotated[SeatName, name("the Doctor's name")]
    doctor_agent: Annotated[str, agent("the Doctor")]
    target: Annotated[SeatName, name("the target's name; a Doctor may protect itself")]
    target_role: Annotated[Role, role("the target's")]
    target_agent: Annotated[str, agent("the target")]
    attacked: Annotated[
        bool | None,
        Column("whether the wolves went for the target that night", "the record stops before the night's outcome"),
    ] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class WhisperRow:
    """What a Werewolf proposed to its partners at night."""

    whisper_id: ClassVar[Derived[Annotated[str, key("the whisper: `GAME:ROUND.TURN:WOLF`")]]] = Derived(
        lambda row: f"{row.game}:{row.round}.{row.turn}:{row.wolf}"
    )
    game: GameId
    wolf_id: ClassVar[Derived[Annotated[str, key("who whispers", "seats")]]] = Derived(
        lambda row: seat_id(row.game, row.wolf)
    )
    target_id: ClassVar[Derived[Annotated[str | None, key("whom to kill", "seats", "it proposes nobody")]]] = Derived(
        lambda row: None if row.target is None else seat_id(row.game, row.target)
    )
    line: Line
    round: Round
    turn: Annotated[int, Column("turn of the whispering of that night, from 1")]
    wolf: Annotated[SeatName, name("the Werewolf's name")]
    agent: Annotated[str, agent("the Werewolf")]
    target: Annotated[SeatName | None, name("the target's name", "it proposes nobody")]
    word: Annotated[str | None, Column("what it says beside the name", "nothing")]
    outcome: OutcomeOf
    reading: ReadingOf
    fault: FaultOf
    thought: Annotated[str | None, Column("the Werewolf's private thought", "none was given")]
