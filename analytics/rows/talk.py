"""What is said and what is made of it: statements, claims, judgements, smoothed suspicion, votes, bids."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import product
from typing import Annotated, ClassVar, Literal, TypeAlias

from analytics.rows.fields import (
    AGENT,
    FLAG,
    REAL,
    ROLE,
    SEAT,
    Column,
    Derived,
    FaultOf,
    GameId,
    KindOf,
    Line,
    OutcomeOf,
    ReadingOf,
    Round,
    SaidIn,
    StatedKind,
    Stored,
    agent,
    coded,
    how,
    key,
    name,
    role,
    seat_in,
    statement_id,
)
from wolfbus.messages.base import SeatName
from wolfbus.messages.content import Claim, ScoredClaim
from wolfbus.vocabulary import Fault, Outcome, Reading, Role, Verdict

Truth: TypeAlias = Literal["true", "mistake", "lie"]
"""Of a statement: every checkable claim is true; one is false, and the speaker could believe it; one is false, and the
speaker's own view ruled it out."""
TRUTHS: tuple[Truth, ...] = ("true", "mistake", "lie")
CLAIMS = ("role", "inspection", "protection", "accusation")
VERDICTS: tuple[Verdict, ...] = ("true", "lie", "mistake", "uncheckable")

_NO_LABEL = "there is no label that counts"
_NO_JUDGEMENT = "there is no judgement that counts"
_NOTHING_GIVEN = "nothing was given, or a published log"
_NO_THOUGHT = "none was given"


def truth_of(claims: Iterable[ScoredClaim]) -> Truth | None:
    """Return the truth of a statement that makes these claims, None if none can be checked (metrics: objective truth).

    Claims that nobody can check count for nothing. One lie makes a lie, else one mistake makes a mistake.
    """
    verdicts = {scored.verdict for scored in claims}
    worst: tuple[Truth, ...] = ("lie", "mistake", "true")
    return next((verdict for verdict in worst if verdict in verdicts), None)


def contradicted(thought: Iterable[Claim], stated: Iterable[Claim]) -> bool | None:
    """Return whether what is thought contradicts what is stated: of the same player one has it a Werewolf and the other
    not, or they give it two roles; None where they are about no player in common.
    """
    pairs = (pair for pair in product(thought, stated) if pair[0].target == pair[1].target)
    answers = [answer for first, second in pairs if (answer := _differ(_sides(first), _sides(second))) is not None]
    return any(answers) if answers else None


def _sides(claim: Claim) -> tuple[bool | None, Role | None]:
    """Return whether a claim has its target a Werewolf, and which role it gives it; None for what it leaves open."""
    if claim.claim == "accusation":
        return True, None
    if claim.claim == "protection":
        return None, None
    return claim.role == "Werewolf", claim.role


def _differ(first: tuple[bool | None, Role | None], second: tuple[bool | None, Role | None]) -> bool | None:
    (wolf, role), (wolf_too, role_too) = first, second
    if wolf is None or wolf_too is None:
        return None
    return wolf != wolf_too or (role is not None and role_too is not None and role != role_too)


# not frozen: its label and its claims come after it, while nobody else has it yet
@dataclass(slots=True, kw_only=True)
class StatementRow:
    """One public statement with its speaker's own label.

    Attributes:
        claims: scored claims that can be heard in the words: those that the speaker attached, then those that were only
            found there (`extracted`).
        unheard: those attached that the words do not bear out; they count for nothing else.
        length: words in it.
        checksum: of the words, CRC-32: equal where the same was said.
        thought_claims: claims found in the speaker's private thought before it spoke, if the statement makes any.
        against_thought: whether one of these contradicts what was said; None where none is about the same player.
    """

    statement_id: ClassVar[Derived[Annotated[str, key("the statement: `GAME:NNN`")]]] = Derived(
        lambda row: statement_id(row.game, row.number)
    )
    game: GameId
    seat_id: ClassVar[Derived[Annotated[str, key("who said it", "seats")]]] = seat_in("speaker")
    line: Line = None
    number: Annotated[int, Column("its number within the game, from 1"), Stored("i4")]
    round: Round
    phase: SaidIn
    turn: Annotated[int, Column("place within the phase, from 1"), Stored("i2")]
    speaker: Annotated[SeatName, name("the speaker's name"), SEAT]
    role: Annotated[Role, role("the speaker's"), ROLE]
    agent: Annotated[str, agent("the speaker"), AGENT]
    process: Annotated[str, Stored("i4", index="processes")]
    text: Annotated[str | None, Column("the words, exactly", "they are empty, which only a published log has")] = None
    d: Annotated[bool | None, Column("d: the speaker calls it deceptive", _NO_LABEL, name="self_deceptive"), FLAG] = (
        None
    )
    c: Annotated[
        float | None,
        Column(
            "c: how sure the speaker is of that",
            f"{_NO_LABEL}, or it does not say",
            unit="share",
            name="confidence",
        ),
        REAL,
    ] = None
    kind: KindOf = None
    stated_kind: StatedKind = None
    reasoning: Annotated[str | None, Column("why, in the speaker's words", _NOTHING_GIVEN)] = None
    outcome: Annotated[
        Outcome | None,
        Column("what became of the request for the label", "not known yet, or a log that does not say"),
    ] = None
    reading: Annotated[
        Reading | None,
        Column("how much work it took to read the label", "nothing usable came, or a log that does not say"),
    ] = None
    fault: Annotated[Fault | None, Column("what was wrong with the label", "nothing, or a log that does not say")] = (
        None
    )
    label_thought: Annotated[str | None, Column("the speaker's private thought while it labelled", _NO_THOUGHT)] = None
    truth: ClassVar[
        Derived[
            Annotated[
                Truth | None,
                Column(
                    "by its checkable claims that can be heard: all true; one false that the speaker could believe; "
                    "one false that its own view ruled out",
                    "it makes no claim that can be checked",
                ),
                coded(TRUTHS),
            ]
        ]
    ] = Derived(lambda row: truth_of(row.claims))
    thought: Annotated[
        str | None,
        Column("the speaker's private thought before it spoke", "none was given, or a vote's reason"),
    ] = None
    claims: tuple[ScoredClaim, ...] = ()
    unheard: tuple[ScoredClaim, ...] = ()
    length: Annotated[int, Stored("i4")] = 0
    checksum: Annotated[int, Stored("i8")] = 0
    thought_claims: tuple[Claim, ...] = ()
    against_thought: ClassVar[Derived[Annotated[bool | None, FLAG]]] = Derived(
        lambda row: contradicted(row.thought_claims, (scored.claim for scored in row.claims))
    )
    how: ClassVar[Derived[Annotated[int, Stored("i1")]]] = Derived(lambda row: how(row.outcome, row.reading))

    @property
    def usable(self) -> bool:
        """Whether the label counts."""
        return self.d is not None


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimRow:
    """One thing that a statement asserts."""

    statement_id: ClassVar[Derived[Annotated[str, key("the statement", "statements")]]] = Derived(
        lambda row: statement_id(row.game, row.statement)
    )
    statement: Annotated[int, Stored("i4", index="statements")]
    place: Annotated[int, Column("place among the statement's claims, from 1")]
    game: GameId
    target_id: Annotated[str | None, key("whom it is about", "seats", "nobody of that name plays")]
    claim: Annotated[
        Literal["role", "inspection", "protection", "accusation"],
        Column("what is asserted: somebody's role, having inspected or protected somebody, somebody's guilt"),
        coded(CLAIMS),
    ]
    target: Annotated[SeatName, name("the name of whom it is about")]
    role: Annotated[Role | None, role("the claimed", "it claims none")]
    round: Annotated[int | None, Column("the night that it names", "it names none")]
    verdict: Annotated[
        Verdict,
        Column(
            "true; false and ruled out by the speaker's own view; false, though the speaker could believe it; or "
            "nobody can tell"
        ),
        coded(VERDICTS),
    ]
    extracted: Annotated[
        bool, Column("whether it was found in the words, rather than given by the speaker"), Stored("?")
    ]
    borne_out: Annotated[
        bool,
        Column("whether the words bear it out; one that they do not counts for no statement's truth", name="heard"),
        Stored("?", name="heard"),
    ] = True
    seer_reveal: Annotated[bool, Stored("?")]


# not frozen, though nobody changes one: there are more of these than of all else, and frozen ones take thrice as long
@dataclass(slots=True, kw_only=True)
class JudgementRow:
    """One observer's judgement of one statement."""

    judgement_id: ClassVar[Derived[Annotated[str, key("the judgement: `GAME:NNN:OBSERVER`")]]] = Derived(
        lambda row: f"{statement_id(row.game, row.statement)}:{row.observer}"
    )
    game: GameId
    statement_id: ClassVar[Derived[Annotated[str, key("the statement judged", "statements")]]] = Derived(
        lambda row: statement_id(row.game, row.statement)
    )
    observer_id: ClassVar[Derived[Annotated[str, key("who judges", "seats")]]] = seat_in("observer")
    target_id: ClassVar[Derived[Annotated[str, key("who spoke", "seats")]]] = seat_in("target")
    statement: Annotated[int, Stored("i4", index="statements")]
    line: Line = None
    round: Round
    phase: SaidIn
    observer: Annotated[SeatName, name("the observer's name"), SEAT]
    observer_role: Annotated[Role, role("the observer's"), ROLE]
    observer_agent: Annotated[str, agent("the observer"), AGENT]
    target: Annotated[SeatName, name("the speaker's name"), SEAT]
    target_role: Annotated[Role, role("the speaker's"), ROLE]
    target_agent: Annotated[str, agent("the speaker"), AGENT]
    informed: Annotated[
        bool,
        Column("whether what the observer knew entailed whether the target is a Werewolf, as it judged"),
        Stored("?"),
    ]
    d: Annotated[
        bool | None, Column("d: the observer calls the statement deceptive", _NO_JUDGEMENT, name="flagged"), FLAG
    ]
    s: Annotated[
        float | None,
        Column(
            "s: from full trust, 0, to certainty of deception, 1",
            f"{_NO_JUDGEMENT}, or a log that has the flag only",
            unit="share",
            name="suspicion",
        ),
        REAL,
    ]
    c: Annotated[
        float | None,
        Column("c: how sure the observer is", f"{_NO_JUDGEMENT}, or it does not say", unit="share", name="confidence"),
        REAL,
    ]
    kind: KindOf
    stated_kind: StatedKind = None
    reasoning: Annotated[str | None, Column("why, in the observer's words", _NOTHING_GIVEN)] = None
    outcome: OutcomeOf
    reading: ReadingOf
    fault: FaultOf = None
    thought: Annotated[str | None, Column("the observer's private thought", _NO_THOUGHT)] = None
    before: Annotated[
        float, Column("D of the pair before this judgement: a prediction made without it", unit="share"), REAL
    ]
    after: Annotated[float, Column("D with it; equal to `before` where it moves nothing", unit="share")]
    how: ClassVar[Derived[Annotated[int, Stored("i1")]]] = Derived(lambda row: how(row.outcome, row.reading))

    @property
    def usable(self) -> bool:
        """Whether the judgement counts."""
        return self.d is not None


@dataclass(slots=True, kw_only=True)
class SuspicionRow:
    """Smoothed suspicion D of one player towards another at some moment."""

    game: GameId
    observer_id: ClassVar[Derived[Annotated[str, key("who suspects", "seats")]]] = seat_in("observer")
    target_id: ClassVar[Derived[Annotated[str, key("who is suspected", "seats")]]] = seat_in("target")
    moment: Annotated[Literal["round", "final"], Column("`round` for the end of a round, `final` for the end")]
    round: Annotated[int | None, Column("the round, from 1", "the row is `final`"), Stored("i2")]
    observer: Annotated[SeatName, name("the observer's name"), SEAT]
    observer_role: Annotated[Role, role("the observer's"), ROLE]
    observer_agent: Annotated[str, agent("the observer"), AGENT]
    target: Annotated[SeatName, name("the target's name"), SEAT]
    target_role: Annotated[Role, role("the target's"), ROLE]
    target_agent: Annotated[str, agent("the target"), AGENT]
    informed: Annotated[
        bool,
        Column("whether what the observer knew entailed whether the target is a Werewolf, as D last moved"),
        Stored("?"),
    ]
    d: Annotated[
        float,
        Column("D: from full trust, 0, to certainty of deception, 1", unit="share", name="suspicion"),
        REAL,
    ]
    judgements: Annotated[int, Column("judgements of the pair so far that count and have a suspicion")]


_ABSTAINED = "it abstains"


@dataclass(frozen=True, slots=True, kw_only=True)
class VoteRow:
    """One ballot.

    Attributes:
        others: whom the voter could name: how many others were alive.
        other_wolves: how many of these were Werewolves.
        credit: 1/m if it is for one of the m living others whom the voter suspects most, else 0; None for an
            abstention, and for a voter who has not judged anybody alive.
    """

    vote_id: ClassVar[Derived[Annotated[str, key("the vote: `GAME:ROUND:VOTER`")]]] = Derived(
        lambda row: f"{row.game}:{row.round}:{row.voter}"
    )
    game: GameId
    voter_id: ClassVar[Derived[Annotated[str, key("who votes", "seats")]]] = seat_in("voter")
    target_id: ClassVar[Derived[Annotated[str | None, key("whom to exile", "seats", _ABSTAINED)]]] = seat_in("target")
    statement_id: ClassVar[
        Derived[Annotated[str | None, key("its published reason", "statements", "none was published")]]
    ] = Derived(lambda row: None if row.statement is None else statement_id(row.game, row.statement))
    statement: int | None = None
    line: Line = None
    round: Round
    voter: Annotated[SeatName, name("the voter's name"), SEAT]
    voter_role: Annotated[Role, role("the voter's"), ROLE]
    voter_agent: Annotated[str, agent("the voter"), AGENT]
    target: Annotated[SeatName | None, name("the target's name", _ABSTAINED), SEAT]
    target_role: Annotated[Role | None, role("the target's", _ABSTAINED), ROLE]
    target_agent: Annotated[str | None, agent("the target", _ABSTAINED)]
    informed: Annotated[
        bool,
        Column(
            "whether what the voter knew entailed whether the target is a Werewolf; of an abstention, whether it "
            "entailed that of everybody alive"
        ),
        Stored("?"),
    ]
    unknown: Annotated[
        int, Column("how many of the living others the voter could not tell whether they are Werewolves"), Stored("i1")
    ]
    unknown_wolves: Annotated[int, Column("how many of these are Werewolves"), Stored("i1")]
    others: Annotated[int, Stored("i1")]
    other_wolves: Annotated[int, Stored("i1")]
    credit: Annotated[float | None, REAL]
    outcome: OutcomeOf = None
    reading: ReadingOf = None
    fault: FaultOf = None
    thought: Annotated[str | None, Column("the voter's private thought", _NO_THOUGHT)] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class BidRow:
    """What a player bid for a turn of the debate."""

    bid_id: ClassVar[Derived[Annotated[str, key("the bid: `GAME:ROUND.TURN:BIDDER`")]]] = Derived(
        lambda row: f"{row.game}:{row.round}.{row.turn}:{row.bidder}"
    )
    game: GameId
    seat_id: ClassVar[Derived[Annotated[str, key("who bids", "seats")]]] = seat_in("bidder")
    line: Annotated[int, Column("line of the record on which it stands")]
    round: Round
    turn: Annotated[int, Column("turn of the debate that it is for, from 1")]
    bidder: Annotated[SeatName, name("the bidder's name")]
    role: Annotated[Role, role("the bidder's")]
    agent: Annotated[str, agent("the bidder")]
    bid: Annotated[int | None, Column("how much it wants to speak, from 0", "none that counts came; the game took 0")]
    got_floor: Annotated[bool | None, Column("whether it was given the turn", "the record stops before that")]
    outcome: OutcomeOf
    reading: ReadingOf
    fault: FaultOf
    thought: Annotated[str | None, Column("the bidder's private thought", _NO_THOUGHT)]
