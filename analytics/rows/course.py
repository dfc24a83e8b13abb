"""Who plays and what happens to them: seats, deaths, votes, model calls, the course of the game; and what is done at
night: outcomes, inspections, protections, and what Werewolves whisper.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Final, Generic, TypeAlias, TypeVar

from analytics.rows.fields import (
    FOREIGN,
    Column,
    Derived,
    FaultOf,
    GameId,
    Line,
    OutcomeOf,
    ReadingOf,
    Round,
    agent,
    call_id,
    key,
    name,
    role,
    seat_id,
    seat_in,
)
from wolfbus.files.canonical import canonical
from wolfbus.game.roles import team_of
from wolfbus.game.vocabulary import Kind, Role, Team
from wolfbus.knowledge.departure import WAYS
from wolfbus.messages.base import SeatName
from wolfbus.messages.calls import ModelCall
from wolfbus.messages.events import AnyEvent, Departing, Ended, Silence, Statement, Tally
from wolfbus.record.usage import is_free, sort_of

OTHER_WAY: Final = "other"
"""How a seat leaves in a way that only other tables have."""
_OTHER_WAYS = "".join(f", or {way.fate}" for how, way in WAYS.items() if how not in {"night", "exile"})
_OTHER_WAYS += f"; `{OTHER_WAY}` in a way that only other tables have"

Step: TypeAlias = Departing | Statement | Silence | Tally | Ended
"""What moves a game on, and everybody learns."""

NIGHTS = ("without_attempt", "blocked", "killed")
"""What came of a night: the wolves went for nobody, a doctor saved the target, it died."""

E = TypeVar("E", bound=AnyEvent | Departing)

_TO_THE_LAST = "it was there to the last"
_NEVER_SAID = "it does not say"
_NOBODY = "the wolves went for nobody"


@dataclass(frozen=True, slots=True)
class TimedEvent(Generic[E]):
    """An event and where it stands.

    Attributes:
        line: its line in the record, from 1.
        time: seconds since the opening.
        event: the event.
    """

    line: int
    time: float
    event: E


@dataclass(frozen=True, slots=True, kw_only=True)
class SeatRow:
    """One player, in seating order, and how the game went for it so far."""

    seat_id: ClassVar[Derived[str]] = Derived(lambda row: seat_id(row.game, row.name), key("the seat: `GAME:NAME`"))
    game: GameId
    place: Annotated[int, Column("place in seating order, from 1")]
    name: Annotated[SeatName, name("the player's name; it means nothing across games")]
    role: Annotated[Role, role("its")]
    team: ClassVar[Derived[Team]] = Derived(
        lambda row: team_of(row.role), Column("the side it wins with", values=("villagers", "werewolves"))
    )
    agent: Annotated[str, agent("it")]
    process: Annotated[str, Column("the process that played it", category=True)]
    in_house: Annotated[bool | None, Column("whether that process was run by the moderator's operator", FOREIGN)] = None
    won: Annotated[bool | None, Column("whether its side won; false where nobody did", "the game is unfinished")] = None
    left_round: Annotated[int | None, Column("round in which it left the game", _TO_THE_LAST)] = None
    left_by: Annotated[
        str | None,
        Column(f"how it left: killed at night, or voted out{_OTHER_WAYS}", _TO_THE_LAST, values=(*WAYS, OTHER_WAY)),
    ] = None


def pair_of(observer: SeatRow, target: SeatRow) -> dict[str, Any]:
    """Return the columns that say who thinks something of whom."""
    return {
        "observer": observer.name,
        "observer_role": observer.role,
        "observer_agent": observer.agent,
        "target": target.name,
        "target_role": target.role,
        "target_agent": target.agent,
    }


@dataclass(frozen=True, slots=True)
class DeathRow:
    """A player left.

    Attributes:
        round: from 1.
        seat: who.
        role: what it was.
        how: killed in the "night", voted into "exile", or another `wolfbus.knowledge.departure.WAYS`.
    """

    round: int
    seat: SeatName
    role: Role
    how: str


_UNSUSPECTED = "none of them has judged anybody alive"


@dataclass(frozen=True, slots=True, kw_only=True)
class VotingRow:
    """A vote that was held, with what would have come of it had suspicion voted."""

    game: GameId
    round: Round
    living: Annotated[int, Column("how many players were alive")]
    wolves: Annotated[int, Column("how many of them were Werewolves")]
    exile: Annotated[
        float | None,
        Column(
            "share of Werewolves among those whom the living others than Werewolves suspect most together (highest "
            "mean D, the prior where one has not judged a player yet), by those of them who did not know, as they "
            "last judged it, whether it is a Werewolf",
            _UNSUSPECTED,
            unit="share",
        ),
    ]
    exile_of_all: Annotated[float | None, Column("the same by all of them", _UNSUSPECTED, unit="share")]
    exiled: Annotated[Role | None, role("the exiled player's", "nobody was exiled")] = None
    news: Annotated[
        str | None,
        Column(
            "what was told since the vote before, as JSON: who left, who claimed what; and what each who has to find "
            "out knows for certain. With the votes before, all that the table `knowable` follows from",
            f"{FOREIGN}, or a game that has no such rows",
        ),
    ] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CallRow:
    """A question put to a language model, its retries included.

    Attributes:
        call: the call as its agent reported it, with prompt and reply.
    """

    call_id: ClassVar[Derived[str]] = Derived(lambda row: call_id(row.game, row.line), key("the call: `GAME:LINE`"))
    game: GameId
    seat_id: ClassVar[Derived[str]] = seat_in("seat", "for which seat it was made")
    line: Annotated[int, Column("line of the record on which it stands")]
    time: Annotated[float, Column("when it was reported, from the opening of the game", unit="seconds")]
    seat: Annotated[SeatName, name("the seat's name")]
    role: Annotated[Role, role("the seat's")]
    agent: Annotated[str, agent("the seat")]
    call: ModelCall
    kind: Annotated[Kind, Column("what the first request that it answers asks for")]
    answers: Annotated[
        str,
        Column(
            "all that it answers, in short: `bid`, `assess_other+` for several of a kind, `speak+label`, …",
            category=True,
        ),
    ]
    request: Annotated[
        str,
        Column("the first request: `round/phase/turn/kind/seat`, and the statement it is about, if any"),
    ]
    requests: Annotated[int, Column("how many requests it answers; several under the compact protocol only")]
    reask: Annotated[bool, Column("whether it asks again, naming what was wrong with the reply before")]
    model: Annotated[str, Column("the model, as the server was told", category=True)]
    served: Annotated[
        str | None, Column("what the server says of the model that replied", "it says nothing", category=True)
    ]
    parameters: Annotated[str | None, Column("what was sent beside the messages, as JSON", "nothing", category=True)]
    cassette: Annotated[bool, Column("whether the reply was played from a cassette")]
    attempts: Annotated[int, Column("requests over the network, failed ones included; 0 where none was made")]
    free: Annotated[bool, Column("whether no server can have charged for it")]
    queue: Annotated[float, Column("time it waited for its turn under the limits on calls", unit="seconds")]
    latency: Annotated[
        float, Column("from the first byte sent to the last one read, back-off included", unit="seconds")
    ]
    prompt_tokens: Annotated[
        int | None, Column("of the prompt, in all attempts that the server counted", "it never did")
    ]
    cached_tokens: Annotated[int | None, Column("of these, how many the server had in its cache", _NEVER_SAID)]
    completion_tokens: Annotated[int | None, Column("of the reply, hidden reasoning included", _NEVER_SAID)]
    cost_usd: Annotated[
        float | None, Column("price", "no prices were configured, or tokens are not known", unit="US dollars")
    ]
    finish: Annotated[str | None, Column("why the model stopped, in the server's word", _NEVER_SAID, category=True)]
    error: Annotated[str | None, Column("why there is no reply", "there is one")]
    reply_length: Annotated[int | None, Column("of the model's text", "there is none", unit="characters")]


def call_row(game: str, seat: SeatRow, line: int, time: float, call: ModelCall) -> CallRow:
    """Return a model call as a row.

    Args:
        game: the game's id.
        seat: for which seat it was made.
        line: where it stands in the record.
        time: when it was reported, in seconds since the opening.
        call: the call.
    """
    length = call.reply_length
    return CallRow(
        game=game,
        line=line,
        time=time,
        seat=seat.name,
        role=seat.role,
        agent=seat.agent,
        call=call,
        kind=call.kind,
        answers=sort_of(call),
        request=call.requests[0],
        requests=len(call.requests),
        reask=call.reask,
        model=call.model,
        served=call.served,
        parameters=canonical(call.parameters).decode() if call.parameters else None,
        cassette=call.cassette,
        attempts=call.attempts,
        free=is_free(call),
        queue=call.queue_s,
        latency=call.latency_s,
        prompt_tokens=call.prompt_tokens,
        cached_tokens=call.cached_tokens,
        completion_tokens=call.completion_tokens,
        cost_usd=call.cost_usd,
        finish=call.finish,
        error=call.error,
        reply_length=length if length is not None or call.reply is None else len(call.reply),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class NightRow:
    """What a night really did.

    Attributes:
        protected: whom the doctors protected.
        died: who died, if anybody did.
    """

    game: GameId
    round: Round
    target_id: ClassVar[Derived[str | None]] = seat_in("target", "whom the wolves went for", _NOBODY)
    target: Annotated[SeatName | None, name("that player's name", _NOBODY)]
    target_role: Annotated[Role | None, role("that player's", _NOBODY)] = None
    protected: tuple[SeatName, ...]
    protections: ClassVar[Derived[int]] = Derived(
        lambda row: len(row.protected),
        Column("how many players doctors protected, one twice if two doctors chose it", name="protected"),
    )
    blocked: ClassVar[Derived[bool | None]] = Derived(
        lambda row: None if row.target is None else row.target in row.protected and row.died is None,
        Column("whether a doctor saved the target", _NOBODY),
    )
    died: SeatName | None
    died_id: ClassVar[Derived[str | None]] = seat_in("died", "who died", "nobody did")
    night: ClassVar[Derived[str]] = Derived(
        lambda row: NIGHTS[0 if row.target is None else 1 if row.died is None else 2],
        Column(
            "what came of it: the wolves went for nobody, a doctor saved the target, it died",
            name="result",
            values=NIGHTS,
        ),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class InspectionRow:
    """What a Seer learned in a night."""

    game: GameId
    round: Round
    seer_id: ClassVar[Derived[str]] = seat_in("seer", "who inspects")
    target_id: ClassVar[Derived[str]] = seat_in("target", "whom")
    seer: Annotated[SeatName, name("the Seer's name")]
    seer_agent: Annotated[str, agent("the Seer")]
    target: Annotated[SeatName, name("the target's name")]
    target_role: Annotated[
        Role | None,
        role("what the Seer saw: the target's", "a log of another table, which tells no more than the side"),
    ]
    werewolf: Annotated[bool, Column("whether it saw a Werewolf")]
    target_agent: Annotated[str, agent("the target")]


@dataclass(frozen=True, slots=True, kw_only=True)
class ProtectionRow:
    """Whom a Doctor protected in a night."""

    game: GameId
    round: Round
    doctor_id: ClassVar[Derived[str]] = seat_in("doctor", "who protects")
    target_id: ClassVar[Derived[str]] = seat_in("target", "whom")
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

    whisper_id: ClassVar[Derived[str]] = Derived(
        lambda row: f"{row.game}:{row.round}.{row.turn}:{row.wolf}", key("the whisper: `GAME:ROUND.TURN:WOLF`")
    )
    game: GameId
    wolf_id: ClassVar[Derived[str]] = seat_in("wolf", "who whispers")
    target_id: ClassVar[Derived[str | None]] = seat_in("target", "whom to kill", "it proposes nobody")
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
