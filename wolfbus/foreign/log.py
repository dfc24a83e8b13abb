"""The small form that games of other tables come in: one NDJSON file a game, which says where it is from.

It is a log, not a record: nothing seals it, and nobody can run the rules again over it. Its first line is the `Head`,
every other one of `Line`. What that table never asked, labels, judgements and thoughts among it, is absent.
docs/other-games.md describes it for people.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Final, Literal, TypeAlias, cast

from pydantic import AfterValidator, Field, TypeAdapter, ValidationError

from wolfbus.errors import RecordError, first_fault
from wolfbus.files.canonical import canonical, sha256_hex
from wolfbus.files.printable import storable
from wolfbus.game.roles import TABLE_ROLES
from wolfbus.game.vocabulary import Deception, Fault, LabelTime, Outcome, Reading, Reveal, Role, Team, Winner
from wolfbus.messages.base import GameId, Part, SeatName, Unit
from wolfbus.messages.codec import plain
from wolfbus.messages.content import StatementNumber
from wolfbus.record.published_log import is_paper_log

FORMAT: Final = 1
"""Version of the form; a reader refuses others."""

Round: TypeAlias = Annotated[int, Field(ge=1, le=2**53 - 1)]
"""Rounds count from 1: a night, then a day; either may be missing from a log."""


class LogSeat(Part):
    """A player, in seating order."""

    name: SeatName
    """Its name; it is the seat's id everywhere."""
    role: Annotated[str, Field(min_length=1, max_length=64)]
    """Its role, as it is called at that table."""
    counts_as: Annotated[str, Field(max_length=64)]
    """What it is measured as: one of `wolfbus.game.roles.TABLE_ROLES`."""
    side: Team
    """The side that it wins with."""
    agent: Annotated[str, Field(min_length=1, max_length=512)] = "unknown"
    """What played it."""

    @property
    def as_role(self) -> Role:
        """What it is measured as; one of other tables stands where a role of ours does."""
        return cast("Role", self.counts_as)


class Head(Part):
    """What the first line says: whose game it is and where it comes from."""

    foreign_log: Literal[1] = FORMAT
    """Version of the form."""
    game: GameId
    """The game's id: the kind, and a digest of seats and lines, so that the same game has the same."""
    kind: Annotated[str, Field(min_length=1, max_length=32)]
    """What was read: one of `wolfbus.foreign.kinds.KINDS`."""
    file: Annotated[str, Field(max_length=1024)]
    """Name of the file that it was read from."""
    sha256: Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
    """SHA-256 of that file's bytes."""
    reveal: Reveal = "none"
    """What everybody learned there of a player who left."""
    seats: tuple[LogSeat, ...]
    """The players."""


class Assessment(Part):
    """What somebody made of a statement: its speaker's own label, or a listener's judgement.

    Its fields are optional, unlike those of `Label` and `Judgement`: a log may hold some of an answer and not others.
    """

    seat: SeatName
    """Who assesses."""
    outcome: Outcome = "accepted"
    """What became of the request."""
    reading: Reading | None = None
    """How much work it took to read the answer."""
    fault: Fault | None = None
    """What was wrong with it."""
    deceptive: bool | None = None
    """d: whether the statement is called deceptive; None where there is no answer."""
    suspicion: Unit | None = None
    """s in [0, 1]; None of a label."""
    confidence: Unit | None = None
    """c in [0, 1]."""
    kind: Deception = "none"
    """The kind of deception."""
    stated_kind: Deception | None = None
    """The kind as it was given, where `deceptive` overruled it."""
    reasoning: str = ""
    """Why."""


class Said(Part):
    """A public statement."""

    type: Literal["statement"] = "statement"
    statement: StatementNumber
    """Its number within the game, from 1."""
    round: Round
    phase: Literal["debate", "vote"]
    """`vote` for the published reason of a vote."""
    speaker: SeatName
    text: str
    thought: str | None = None
    """What the speaker thought in private before it."""
    intended: bool | None = None
    """Whether a label that came with the words calls them deceptive, where another was asked for afterwards."""
    label: Assessment | None = None
    """The speaker's own label."""
    judgements: tuple[Assessment, ...] = ()
    """What listeners made of it."""


class Silent(Part):
    """A turn of debate in which nothing was said."""

    type: Literal["silence"] = "silence"
    round: Round
    seat: SeatName


class LogBallot(Part):
    """One vote."""

    voter: SeatName
    target: SeatName | None = None
    """None for an abstention, or a vote for nobody who was in the game."""
    outcome: Outcome | None = None
    """What became of the request, where the log tells."""
    reading: Reading | None = None
    fault: Fault | None = None


class Voted(Part):
    """A vote; of one that was held again, the last."""

    type: Literal["vote"] = "vote"
    round: Round
    ballots: tuple[LogBallot, ...]


def _result(word: str) -> str:
    if word != "villagers" and word not in TABLE_ROLES:
        raise ValueError(f"{word!r} is none of villagers, {', '.join(TABLE_ROLES)}")
    return word


class NightAct(Part):
    """What one seat did at night: whom it protected, or inspected and with what result."""

    seat: SeatName
    target: SeatName
    result: Annotated[str, AfterValidator(_result)] | None = None
    """Of an inspection: the role that was seen, one of `TABLE_ROLES`; or "villagers", where that is only that the
    target is no Werewolf."""

    @property
    def as_result(self) -> Role | Team:
        """The result of an inspection; a role of other tables stands where one of ours does."""
        return cast("Role | Team", self.result or "villagers")


class Night(Part):
    """A night."""

    type: Literal["night"] = "night"
    round: Round
    attack: SeatName | Literal[""] | None = None
    """Whom the Werewolves went for; "" for nobody, None where the log does not tell."""
    protections: tuple[NightAct, ...] = ()
    inspections: tuple[NightAct, ...] = ()
    died: SeatName | None = None
    """Whom they killed."""


class Departed(Part):
    """A seat leaves the game otherwise than killed by the Werewolves."""

    type: Literal["departure"] = "departure"
    round: Round
    seat: SeatName
    how: Literal["exile", "other"]
    """By the day's vote, or in a way that only other tables have: shot, poisoned, out of time."""


class GameEnd(Part):
    """The game is over."""

    type: Literal["end"] = "end"
    winner: Winner = None


Line: TypeAlias = Annotated[Said | Silent | Voted | Night | Departed | GameEnd, Field(discriminator="type")]

_HEAD: Final[TypeAdapter[Head]] = TypeAdapter(Head)
_LINE: Final[TypeAdapter[Line]] = TypeAdapter(Line)
_MARK: Final = b'"foreign_log":'


@dataclass(frozen=True, slots=True)
class ForeignLog:
    """A game of another table.

    Attributes:
        head: who played, and where the log comes from.
        lines: what happened, in order.
    """

    head: Head
    lines: tuple[Line, ...]

    @property
    def ended(self) -> GameEnd | None:
        """The game's end; None of a log that stops before it."""
        return next((line for line in self.lines if isinstance(line, GameEnd)), None)

    @property
    def rounds(self) -> int:
        """How many rounds it has entered."""
        return max((line.round for line in self.lines if not isinstance(line, GameEnd)), default=0)

    @property
    def _statements(self) -> Iterator[Said]:
        return (line for line in self.lines if isinstance(line, Said))

    @property
    def label_asked(self) -> LabelTime:
        """When speakers labelled their words, if they did."""
        return "both" if any(line.intended is not None for line in self._statements) else "after"

    @property
    def assessed(self) -> bool:
        """Whether anybody was asked for a label or a judgement."""
        return any(line.label or line.judgements for line in self._statements)

    @property
    def seals(self) -> dict[int, str]:
        """By statement, a hash over it and all before it, since such a log has none of its own."""
        seals: dict[int, str] = {}
        seal = ""
        for line in sorted(self._statements, key=lambda line: line.statement):
            place = [line.statement, line.round, line.phase, line.speaker]
            seals[line.statement] = seal = sha256_hex(seal.encode(), canonical([*place, storable(line.text)]))
        return seals

    def pieces(self) -> Iterator[bytes]:
        """Yield the lines of its file."""
        for part in (self.head, *self.lines):
            yield canonical(_sparse(part)) + b"\n"


def id_of(kind: str, seats: Iterable[LogSeat], lines: Iterable[Line]) -> str:
    """Return the id of a game, which is the same for the same seats and lines."""
    return f"{kind}-{sha256_hex(*(canonical(_sparse(part)) for part in (*seats, *lines)))[:16]}"


def _sparse(part: Part) -> dict[str, Any]:
    """Return a part's plain values without those that are the defaults, its type and version aside."""
    always = {"type", "foreign_log"}
    sparse = part.model_dump(mode="json", exclude_defaults=True)
    return {name: value for name, value in plain(part).items() if name in always} | sparse


def is_foreign_log(first_line: bytes) -> bool:
    """Return whether the first line of a file is one of such a log; never raises."""
    return first_line[:1] == b"{" and _MARK in first_line


def log_in_words(first_line: bytes) -> str | None:
    """Return what a file is called that begins so and is a log, not a record; None of any other. Never raises."""
    if is_paper_log(first_line):
        return "a log of the paper's code"
    return "a log of another table" if is_foreign_log(first_line) else None


def read_foreign_log(lines: Iterable[bytes]) -> ForeignLog:
    """Read a log.

    Args:
        lines: its lines, as `wolfbus.record.reader.open_lines` gives them.

    Raises:
        RecordError: with the number of the line that is none of such a log, names somebody who has no seat, or says
            twice what can be said once.
    """
    head: Head | None = None
    read: list[Line] = []
    statements: set[int] = set()
    for number, line in enumerate(lines, 1):
        try:
            if head is None:
                head = _HEAD.validate_json(line)
            else:
                read.append(_LINE.validate_json(line))
        except ValidationError as error:
            raise RecordError(f"no line of a log of another table: {first_fault(error)}", number) from None
        fault = stranger(read[-1], {seat.name for seat in head.seats}) if read else _fault_of_seats(head.seats)
        if len(read) > 1 and isinstance(read[-2], GameEnd):
            fault = "something happens after the end of the game"
        elif read and isinstance(read[-1], Said):
            if read[-1].statement in statements:
                fault = f"a second statement {read[-1].statement}"
            statements.add(read[-1].statement)
            fault = fault or _fault_of_assessments(read[-1])
        elif read and isinstance(read[-1], Voted):
            voters = [ballot.voter for ballot in read[-1].ballots]
            fault = fault or next((f"{voter} votes twice" for voter in voters if voters.count(voter) > 1), None)
        if fault is not None:
            raise RecordError(fault, number)
    if head is None:
        raise RecordError("an empty file; a log has at least one line")
    return ForeignLog(head, tuple(read))


def _fault_of_seats(seats: Sequence[LogSeat]) -> str | None:
    names = [seat.name for seat in seats]
    for seat in seats:
        if seat.counts_as not in TABLE_ROLES:
            return f"{seat.name} counts as {seat.counts_as!r}, none of {', '.join(TABLE_ROLES)}"
        if names.count(seat.name) > 1:
            return f"two seats are called {seat.name!r}"
    return None if seats else "it has no seats"


def _fault_of_assessments(line: Said) -> str | None:
    if line.label is not None and line.label.seat != line.speaker:
        return f"{line.label.seat} labels what {line.speaker} said"
    judges = [judgement.seat for judgement in line.judgements]
    twice = next((seat for seat in judges if judges.count(seat) > 1), None)
    return None if twice is None else f"{twice} judges statement {line.statement} twice"


def stranger(line: Line, names: set[str]) -> str | None:
    """Return what is wrong with a line that names somebody who has no seat; None for nothing."""
    unknown = next((name for name in _names_in(line) if name not in names), None)
    return None if unknown is None else f"{unknown!r} has no seat in this game"


def _names_in(line: Line) -> Iterator[str]:
    if isinstance(line, Said):
        yield line.speaker
        yield from (assessment.seat for assessment in (line.label, *line.judgements) if assessment is not None)
    elif isinstance(line, Voted):
        for ballot in line.ballots:
            yield from (ballot.voter, ballot.target or ballot.voter)
    elif isinstance(line, Night):
        for act in (*line.protections, *line.inspections):
            yield from (act.seat, act.target)
        yield from filter(None, (line.attack, line.died))
    elif isinstance(line, Silent | Departed):
        yield line.seat
