"""A study's journal: `GameResult`, the result of each game, and `Spent`, a line each, written at once.

`GameCounts` is what is counted of a game for its result, while it is played or from its record.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, Final, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, Strict, ValidationError
from pydantic_core import from_json

from wolfbus.errors import ConfigError, RecordError, first_fault
from wolfbus.game.vocabulary import Winner
from wolfbus.messages.defaults import SILENT, cause_of, was_asked_for
from wolfbus.record.line import Recorded
from wolfbus.record.reader import open_lines
from wolfbus.record.served import ServedModels
from wolfbus.record.usage import Usage

State: TypeAlias = Literal["ended", "halted", "stopped", "failed"]
Whole = Annotated[int, Field(ge=0, le=2**53)]
Sum = Annotated[float, Field(ge=0, le=2**53, allow_inf_nan=False)]

_LONGEST: Final = 1 << 20
"""Bytes of a line of a journal; errors and brains are long, but not that long."""


@dataclass(slots=True)
class GameCounts:
    """Feed it the events of one game in record order.

    Attributes:
        winner: who has won; None for nobody, or not yet.
        statements: public statements.
        judgements: judgements that count.
        usage: what the model calls took; None while there are none.
        unheard: brains that were asked, and none of whose answers could be used so far.
        answers: answers that were asked for and not declined, but those of a brain that is silent by design.
        defaults: how many of them are defaults, by `wolfbus.messages.defaults.cause_of`.
        spoilt: the seats that spoil it, once it has ended.
        served: which models answered.
    """

    winner: Winner = None
    statements: int = 0
    judgements: int = 0
    usage: Usage | None = None
    unheard: set[str] = field(default_factory=set)
    answers: int = 0
    defaults: Counter[str] = field(default_factory=Counter)
    spoilt: tuple[str, ...] = ()
    served: ServedModels = field(default_factory=ServedModels)
    _accepted: set[str] = field(default_factory=set)
    _brain_of: dict[str, str] = field(default_factory=dict)

    def feed(self, recorded: Recorded) -> None:
        """Count the next event."""
        event = recorded.event
        if event.type == "answered":
            self.judgements += event.kind == "assess_other" and event.content is not None
            brain = self._brain_of.get(event.seat, "")
            if event.outcome == "accepted":
                self._accepted.add(brain)
                self.unheard.discard(brain)
            elif was_asked_for(event) and brain not in self._accepted:
                self.unheard.add(brain)
            if brain != SILENT and was_asked_for(event):
                self.answers += 1
                if (cause := cause_of(event)) is not None:
                    self.defaults[cause] += 1
        elif event.type == "opened":
            self._brain_of = {seat.name: seat.brain for seat in event.seats}
        elif event.type == "statement":
            self.statements += 1
        elif event.type == "model_call":
            self.usage = self.usage or Usage()
            self.usage.add(event)
            self.served.feed(event)
        elif event.type == "ended":
            self.winner = event.winner
            self.spoilt = event.spoilt


class GameResult(BaseModel):
    """The result of a game that was begun."""

    model_config = ConfigDict(frozen=True, strict=True, extra="forbid")

    number: Annotated[int, Field(ge=1)]
    """Its number in the study."""
    game: str
    """Its id."""
    state: State
    """"ended" by its rules, "failed" by itself, "halted" since a model of it can be asked no more for now, or "stopped"
    because something else ended the study."""
    winner: Winner = None
    """Who won; None if nobody did."""
    rounds: Whole | None = None
    """Rounds begun."""
    digest: str | None = None
    """Digest of the game."""
    error: str | None = None
    """Why it did not end, in one line."""
    seconds: Sum = 0.0
    """Wall time from its opening to its last step."""
    statements: Whole = 0
    """Public statements."""
    judgements: Whole = 0
    """Judgements that count."""
    calls: Whole = 0
    """Model calls."""
    cost_usd: Sum | None = None
    """What they cost, as far as that is known; None where nothing is."""
    brains: Annotated[tuple[str, ...], Strict(strict=False)] = ()
    """Who played, in seating order, where the plan does not say."""
    head: str = ""
    """Hash on its record's last line; it seals all of it."""
    unheard: Annotated[tuple[str, ...], Strict(strict=False)] = ()
    """Brains none of whose answers could be used."""
    answers: Whole = 0
    """Answers that were asked for and not declined, but those of a brain that is silent by design; 0 from an earlier
    version."""
    defaults: dict[str, Whole] = {}
    """How many of them are defaults, by why: "timed_out", or the fault."""
    spoilt: Annotated[tuple[str, ...], Strict(strict=False)] = ()
    """Seats that spoil the game, as its record's last event has them."""
    served: dict[str, Annotated[tuple[str, ...], Strict(strict=False)]] = {}
    """What servers say of the models that answered, by the one that was asked, and where; from an earlier version, only
    others than that."""

    def line(self) -> bytes:
        """Return it as a line of the journal, with its end."""
        return self.model_dump_json(exclude_defaults=True).encode() + b"\n"


@dataclass(frozen=True, slots=True)
class CallsSoFar:
    """What model calls have taken so far, of games that are over and of those under way.

    Attributes:
        calls: how many there were.
        cost_usd: US dollars, as far as known; None where nothing is.
        tokens: tokens, as far as servers counted them.
    """

    calls: int = 0
    cost_usd: float | None = None
    tokens: int = 0

    def __add__(self, other: CallsSoFar) -> CallsSoFar:
        """Return both together."""
        costs = [cost for cost in (self.cost_usd, other.cost_usd) if cost is not None]
        return CallsSoFar(self.calls + other.calls, sum(costs) if costs else None, self.tokens + other.tokens)


class Spent(BaseModel):
    """What model calls of a study have taken from its budget so far; a line of its journal."""

    model_config = ConfigDict(frozen=True, strict=True, extra="ignore")

    spent_usd: Sum = 0.0
    """US dollars."""
    spent_tokens: Whole = 0
    """Tokens."""
    at: Sum | None = None
    """Unix time up to which that counts all calls; None from an earlier version."""

    def __add__(self, other: Spent) -> Spent:
        """Return both together, at this one's time."""
        usd, tokens = self.spent_usd + other.spent_usd, self.spent_tokens + other.spent_tokens
        return Spent(spent_usd=usd, spent_tokens=tokens, at=self.at)


def read_line(line: bytes) -> GameResult | Spent | dict[str, Any] | None:
    """Return what a line of a journal says: a game's result, what is spent, or members of another kind.

    None is a line that says nothing: one that a kill cut off, or a result that is none; its game is looked at again.

    Raises:
        ConfigError: it should say what is spent, and does not; the line names the member. To pass over it could mean to
            spend a budget twice.
    """
    if len(line) > _LONGEST:
        return None
    try:
        value = from_json(line, allow_inf_nan=False)
    except ValueError:
        return None
    if not isinstance(value, dict):
        return None
    if "spent_usd" in value or "spent_tokens" in value:
        try:
            return Spent.model_validate(value)
        except ValidationError as error:
            raise ConfigError(first_fault(error)) from None
    if "number" not in value:
        return value
    try:
        return GameResult.model_validate(value)
    except ValidationError:
        return None


JOURNAL: Final = "journal.jsonl"
"""Results as they came, one a line; not ``.ndjson``, since that is what records are called."""


def read_journal(path: Path, *, lenient: bool = False) -> Iterator[GameResult | Spent | dict[str, Any]]:
    """Yield what the lines of a journal say, in their order; nothing if there is no such file.

    Args:
        path: the journal.
        lenient: skip lines about what is spent that cannot be understood, too: they are refused when the study goes on,
            and nothing is spent by reading.

    Raises:
        ConfigError: it is no file, or a line about what is spent cannot be understood; the message names the line.
    """
    if not path.exists():
        return
    try:
        for number, line in enumerate(open_lines(path), 1):
            try:
                note = read_line(line)
            except ConfigError as error:
                if lenient:
                    continue
                raise ConfigError(f"{path}: line {number}: {error}") from None
            if note is not None:
                yield note
    except RecordError as error:
        raise ConfigError(f"{path}: {str(error).removeprefix(f'{path}: ')}") from None


def read_results(path: Path) -> dict[str, GameResult]:
    """Return the latest result of every game in a journal, by game id; raises ConfigError if it is no file."""
    return {note.game: note for note in read_journal(path, lenient=True) if isinstance(note, GameResult)}
