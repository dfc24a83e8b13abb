"""Re-execution: the coroutine is run again with the recorded answers, and must give every recorded event.

That proves a record (`Verifier`), and brings a broken-off game back to where its record ends (`recover`).
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Final

from moderator.engine.deadlines import NightTime, Presence
from moderator.engine.referee import Referee, check_legal
from moderator.rules.game import Steps, deal
from moderator.rules.table import Answers
from wolfbus.bus import streams
from wolfbus.bus.protocol import Bus, Entry, every_entry
from wolfbus.errors import MessageError, RecordError, RulesError
from wolfbus.files.canonical import canonical
from wolfbus.game.config import GameConfig
from wolfbus.knowledge.audience import AudienceFilter
from wolfbus.messages.base import SeatName
from wolfbus.messages.calls import ModelCall, PromptAddition
from wolfbus.messages.codec import plain, unpack
from wolfbus.messages.events import Answered, AnyAnswered, AnyEvent, Asked, Asking, Ended, Opened, Rejected, Stopped
from wolfbus.record.digest import Digest
from wolfbus.record.line import Recorded, parse_flat, seal
from wolfbus.record.prompts import SegmentCheck

SIDE_EVENTS: Final = frozenset({"rejected", "prompt_text", "model_call"})
"""Types of events that stand beside the game: without them it is the same."""


class Verifier:
    """Re-executes a record as it is read; feed it every event in order.

    Attributes:
        digest: digest of all events fed.
        ended: the last event, once it came.
        stopped: why the game was broken off, if it was.
        opened: the first event, once it came.
        events: events fed and found right.
        rules: the game as it stands after them, once it was opened.
        audiences: what everybody was told by them.
    """

    def __init__(self) -> None:
        self.digest = Digest()
        self.audiences = AudienceFilter()
        self.rules: Steps | None = None
        self.opened: Opened | None = None
        self.ended: Ended | None = None
        self.stopped: str | None = None
        self.events = 0
        self._expected: deque[AnyEvent] = deque()
        self._open_batches: dict[int, Asked] = {}
        self._config = GameConfig()
        self._declines: dict[SeatName, frozenset[str]] = {}
        self._segments = SegmentCheck()
        self._due: deque[tuple[int, SeatName]] = deque()
        self._answers: dict[int, Answers] = {}

    @property
    def waits_for(self) -> tuple[int, ...] | None:
        """Batches that the rules wait for, while the record holds none of their answers; () when the game is over.

        None within a step: what stands there since the last one is not the whole of it.
        """
        if self.rules is None or (self.stopped is None and (self._expected or self._answers)):
            return None
        return () if self.stopped is not None else self.rules.waits_for

    @property
    def expected(self) -> AnyEvent | None:
        """The event that the rules give next; None where they wait for answers, or the game is over."""
        return self._expected[0] if self._expected else None

    def feed(self, recorded: Recorded) -> None:
        """Check one event against what the rules give.

        Raises:
            RecordError: with the line number, at the first event that differs.
        """
        event, line = recorded.event, recorded.n
        if self.ended is not None:
            raise RecordError(f"{event.type} after the game ended", line)
        if self.stopped is not None:
            raise RecordError(f"{event.type} after the game was stopped", line)
        if self.opened is None:
            self._open(event, line)
        elif isinstance(event, Stopped):
            self.stopped = event.reason
        elif isinstance(event, Rejected | PromptAddition | ModelCall):
            # they stand beside the game; but prompt text and calls must name what is there
            self._segments.check(event, line)
        elif self._expected:
            expected = self._expected.popleft()
            if expected != event:
                raise RecordError(f"the rules give {_excerpt(expected)}; the record has {_excerpt(event)}", line)
        elif isinstance(event, Answered):
            self._answer(event, line)
        else:
            raise self._unexpected(event, line)
        audience = self.audiences.audience(event)
        if recorded.audience != audience:
            raise RecordError(f"audience {recorded.audience!r}; this {event.type} is for {audience!r}", line)
        self.audiences.feed(event)
        self.digest.feed(event)
        self.events += 1
        if isinstance(event, Ended):
            self.ended = event

    def _open(self, event: AnyEvent, line: int) -> None:
        if not isinstance(event, Opened):
            raise RecordError(f"a record begins with an opened event, not with {event.type}", line)
        dealt = deal(event.config, event.seed)
        seated = tuple((seat.name, seat.role) for seat in event.seats)
        if dealt != seated:
            by_seed, by_record = _format_deal(dealt), _format_deal(seated)
            raise RecordError(f"seed {event.seed} deals {by_seed}; the record has {by_record}", line)
        self.opened = event
        self._declines = {seat.name: frozenset(seat.declines) for seat in event.seats}
        self._config = event.config
        self._expect(Steps(event), 0)
        self._expected.popleft()

    def _expect(self, rules: Steps, skip: int, answers: dict[int, Answers] | None = None) -> None:
        """Advance the rules; what they give, but for the first `skip` events, is expected next."""
        self.rules = rules
        step = rules.advance(answers)
        self._expected.extend(step.events[skip:])
        for event in step.events:
            if isinstance(event, Asked):
                self._open_batches[event.batch] = event
        self._due.extend((batch, seat) for batch in step.waits_for for seat in rules.seats_of(batch))

    def _answer(self, event: AnyAnswered, line: int) -> None:
        number, seat = self._due[0]
        if (event.batch, event.seat) != (number, seat):
            raise self._unexpected(event, line)
        self._due.popleft()
        batch = self._open_batches[number]
        asking = next(ask for ask in batch.asks if seat in ask.seats)
        problem = self._problem(event, batch, asking)
        if problem is not None:
            raise RecordError(f"{seat}'s {event.kind} could not have been recorded so: {problem}", line)
        self._answers.setdefault(number, {})[seat] = event
        if not self._due and self.rules is not None:
            answers, self._answers = self._answers, {}
            for number in answers:
                del self._open_batches[number]
            try:
                self._expect(self.rules, sum(len(seats) for seats in answers.values()), answers)
            except RulesError as error:
                raise RecordError(str(error), line) from None

    def _unexpected(self, event: AnyEvent, line: int) -> RecordError:
        batch, seat = self._due[0]
        return RecordError(
            f"the rules wait for {seat}'s answer in batch {batch}; the record has {_excerpt(event)}", line
        )

    def _problem(self, event: AnyAnswered, batch: Asked, asking: Asking) -> str | None:
        if event.kind != asking.kind or event.about != batch.about:
            return f"the question was {asking.kind}" + (f" about statement {batch.about}" if batch.about else "")
        declines = event.kind in self._declines[event.seat]
        if declines != (event.outcome == "declined"):
            return f"its agent {'declines' if declines else 'answers'} {event.kind}, yet it is {event.outcome}"
        return check_legal(event, asking, self._config)


def _excerpt(event: AnyEvent) -> str:
    text = canonical(plain(event)).decode()
    return text if len(text) <= 240 else text[:237] + "..."


def _format_deal(seats: tuple[tuple[SeatName, str], ...]) -> str:
    return ", ".join(f"{name} {role}" for name, role in seats)


class GameSoFar:
    """A game as far as its record goes, which may be not at all: what its moderator needs to begin it, or to go on.

    Attributes:
        opened: the game's opening event.
        steps: the rules, at the join that the record ends before.
        waits_for: batches whose requests must be closed before the next step; () before the first, and when the game is
            over.
        referee: with the requests that no recorded answer closes, open; those that are declined among them.
        audiences: numbering of the facts told so far.
        presence: who is absent.
        night: how long answers took, as far as the record tells: a step's answers stand in it at one time.
        digest: over the events so far.
        head: hash of the last event, "" before the first.
        count: events.
        seconds: time of the last event; the moderator's clock stands still while nobody moderates.
        rejections: rejected messages, by sender.
        ended: the game's end, if it is recorded.
        stopped: why the game was broken off, if it was.
    """

    def __init__(self, opened: Opened, steps: Steps) -> None:
        self.opened = opened
        self.steps = steps
        self.waits_for: tuple[int, ...] = ()
        self.referee = Referee(opened)
        self.audiences = AudienceFilter()
        self.presence = Presence()
        self.night = NightTime(opened)
        self.digest = Digest()
        self.head = ""
        self.count = 0
        self.seconds = 0.0
        self.rejections: Counter[str] = Counter()
        self.ended: Ended | None = None
        self.stopped: str | None = None

    @property
    def over(self) -> bool:
        """Whether the record holds the end of the game."""
        return self.ended is not None or self.stopped is not None

    def recall(self, record: Iterable[Recorded]) -> None:
        """Process all events of a record, in order; the rules, digest and audiences have had them already."""
        for recorded in record:
            event = recorded.event
            self.referee.recall(event)
            self.presence.feed(event)
            self.night.feed(event, recorded.time)
            if event.type == "rejected":
                self.rejections[event.sender] += 1
            self.head, self.count, self.seconds = recorded.hash, recorded.n, recorded.time
        self.night.interrupt()


def recover(recordeds: Iterable[Recorded]) -> GameSoFar:
    """Re-execute a record, checking every seal, and return the game as it stands at its end.

    A record on the bus ends where a step ends, for steps land whole. A file may end within one: the events of a step
    that is not whole are left out.

    Args:
        recordeds: all events of the record, in order.

    Raises:
        RecordError: with the line, where a seal or an event is not what it must be; or no step is whole.
    """
    record = list(recordeds)
    verifier, whole = _execute(record)
    if not whole:
        raise RecordError("the record ends within the first step of its game; there is nothing to go on from")
    if whole < len(record):
        # the rules cannot be taken back, only played again
        del record[whole:]
        verifier, _ = _execute(record)
    if verifier.opened is None or verifier.rules is None:
        raise RecordError("no game was opened in this record")
    game = GameSoFar(verifier.opened, verifier.rules)
    game.waits_for, game.audiences, game.digest = verifier.waits_for or (), verifier.audiences, verifier.digest
    game.ended, game.stopped = verifier.ended, verifier.stopped
    game.recall(record)
    return game


def _execute(record: Sequence[Recorded]) -> tuple[Verifier, int]:
    """Run a record through the rules; returns them at its end, and how many events its whole steps have."""
    verifier = Verifier()
    head, whole = "", 0
    for number, recorded in enumerate(record, 1):
        if recorded.n != number:
            raise RecordError(f"number {recorded.n} stands where {number} was expected", number)
        sealed, _ = seal(head, recorded)
        if sealed.hash != recorded.hash:
            raise RecordError("the hash does not match: this event was edited, or one before it", number)
        head = sealed.hash
        try:
            verifier.feed(recorded)
        except RulesError as error:
            raise RecordError(str(error), number) from None
        # what stands beside the game never lands without a step behind it
        if verifier.waits_for is not None and recorded.event.type not in SIDE_EVENTS:
            whole = number
    return verifier, whole


def read_back(bus: Bus, house: str, game: str, types: Collection[str] | None = None) -> Iterator[Recorded]:
    """Yield the events of a game's record stream, in order.

    Args:
        bus: where it is.
        house: house name.
        game: the game's id.
        types: event types that are wanted; None for all.

    Raises:
        RecordError: there is none, it was trimmed, or an entry is no event; with the line, where there is one.
        BusError: it cannot be read now.
    """
    stream = streams.record(house, game)
    number = 0
    for entry in every_entry(bus, stream):
        number += 1
        if entry.id != f"{number}-0":
            raise RecordError(f"{stream}: entry {entry.id} stands here; what was before it was trimmed", number)
        if types is None or entry.type in types:
            yield _parse(entry, number)
    if not number:
        raise RecordError(f"{stream}: there is no record")


def _parse(entry: Entry, number: int) -> Recorded:
    try:
        value = unpack(entry.body)
    except MessageError as error:
        raise RecordError(str(error), number) from None
    recorded = parse_flat(value, number)
    if recorded.n != number:
        raise RecordError(f"number {recorded.n} stands under entry {entry.id}", number)
    return recorded
