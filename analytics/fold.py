"""`GameFold`: the events of one game, in record order, become rows."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any, ClassVar, cast, get_args

from analytics.books import CallBook, RoundSuspicion
from analytics.rows import GameRows
from analytics.rows.course import CallRow, Step, TimedEvent, WhisperRow, call_row
from analytics.rows.talk import BidRow
from analytics.scorebook import Scorebook
from wolfbus.errors import RulesError
from wolfbus.game.vocabulary import Outcome, Reading
from wolfbus.knowledge.audience import PrivateThoughts
from wolfbus.knowledge.departure import departure
from wolfbus.messages.base import SeatName
from wolfbus.messages.calls import ModelCall, PromptAddition
from wolfbus.messages.content import Ballot, Speech, StatementNumber
from wolfbus.messages.defaults import is_silenced
from wolfbus.messages.events import (
    AnsweredAssessOther,
    AnsweredAssessOwn,
    AnsweredBid,
    AnsweredProtect,
    AnsweredSpeak,
    AnsweredVote,
    AnsweredWhisper,
    AnyEvent,
    Asked,
    ClaimTruth,
    Dawn,
    Departing,
    Ended,
    Inspection,
    NightOutcome,
    Opened,
    Silence,
    Statement,
    Tally,
)
from wolfbus.record.line import Recorded
from wolfbus.record.prompts import WholeCalls
from wolfbus.record.served import ServedModels
from wolfbus.record.windows import DroppedPrompts

_Assessed = AnsweredAssessOwn | AnsweredAssessOther


class GameFold:
    """Folds one game; the same for a record on disk, for a live stream and for a replay with other parameters.

    Args:
        alpha: weight of a new judgement in smoothed suspicion, in [0, 1]; the record's own unless given.
        prior: smoothed suspicion before any judgement, in [0, 1]; the record's own unless given.
        include_defaulted: count a defaulted, timed-out or declined label or judgement as "truthful,
            suspicion 0.5, confidence 0", as the paper's code did; it still moves no smoothed score.
        keep_text: keep words, reasons and thoughts in the rows, bids and model calls one by one, and the game's course.
        with_knowable: work out what could be known at each vote; it takes numpy, and time.
    """

    def __init__(
        self,
        alpha: float | None = None,
        prior: float | None = None,
        *,
        include_defaulted: bool = False,
        keep_text: bool = False,
        with_knowable: bool = True,
    ) -> None:
        self._alpha = alpha
        self._prior = prior
        self._include_defaulted = include_defaulted
        self._keep_text = keep_text
        self._with_knowable = with_knowable
        self._served = ServedModels()
        self._prompts = DroppedPrompts()
        self._private = PrivateThoughts()
        self._scorebook: Scorebook | None = None
        self._ballots: dict[SeatName, tuple[AnsweredVote, int | None]] = {}
        """Answers to the vote that is held, each with its line."""
        self._spoken: dict[SeatName, AnsweredSpeak | AnsweredVote] = {}
        """What each seat said last, before it becomes a statement."""
        self._calls = CallBook()
        self._line: int | None = None
        self._time: float | None = None
        self._places: dict[int, tuple[int, int]] = {}
        """Round and turn of each batch."""
        self._floor: dict[tuple[int, int], SeatName] = {}
        self._thoughts: dict[str, str | None] = {}
        self._bids: list[BidRow] = []
        self._whispers: list[WhisperRow] = []
        self._model_calls: list[TimedEvent[ModelCall]] = []
        self._whole = WholeCalls()
        self._course: list[TimedEvent[Step]] = []
        self._seals: dict[int, str] = {}
        self._late_events: list[tuple[AnyEvent, int | None]] | None = None
        """All events so far of a game in which assessments come at the end; None of any other."""

    def feed(self, event: AnyEvent, time: float | None = None, line: int | None = None) -> None:
        """Fold the next event of the game.

        Args:
            event: the event.
            time: when it happened, in seconds since the opening; None if that is not known.
            line: where it stands in the record, from 1; None where there is none.

        Raises:
            RulesError: it cannot stand there: before the opening, of a player or statement that does not exist.
        """
        event = self._private.without(event)
        if time is not None:
            self._time = time
        self._line = line if self._keep_text else None
        if self._late_events is not None:
            self._late_events.append((event, line))
        if event.type == "answered":
            # a log of another table may not tell how an answer was read
            reading = cast("Reading | None", event.reading)
            if (reading is not None or event.fault is not None) and not is_silenced(event):
                self._book.reply(event.seat, event.kind, event.outcome, reading, event.fault)
            self._calls.answer(event)
            if event.thought:
                self._book.tell(event.seat, event.kind, event.thought, line, private=True)
        handler = self._HANDLERS.get(event.__class__)
        if handler is None and isinstance(event, Departing):
            # a way to leave, of these rules or of another table's
            handler = GameFold._leave
        if handler is not None:
            handler(self, event)
        if self._keep_text:
            # what only exports show
            self._whole.feed(event, line or 0)
            keeper = self._TEXT_HANDLERS.get(event.__class__)
            if keeper is None and isinstance(event, Departing):
                keeper = GameFold._note_event
            if keeper is not None:
                keeper(self, event)

    def take(self, recorded: Recorded) -> None:
        """Fold the next line of the record; see `feed`."""
        self.feed(recorded.event, recorded.time, recorded.n)
        if recorded.event.type == "statement":
            self._seals[recorded.event.statement] = recorded.hash

    def rows(self) -> GameRows:
        """Return the rows so far; feeding on does not change what was returned.

        Raises:
            RulesError: the game has not been opened.
        """
        return replace(
            (self._book if self._late_events is None else self._book_in_place(self._late_events)).rows(),
            served={model: tuple(names) for model, names in self._served.answered.items()},
            dropped=self._prompts.counts(),
            calls=self._calls.sums(),
            critical_path=self._calls.path,
            seconds=self._time,
            whispers=tuple(self._whispers),
            bids=tuple(replace(row, got_floor=self._got_floor(row)) for row in self._bids),
            call_rows=tuple(map(self._call_row, self._model_calls)),
            course=tuple(self._course),
            seals=dict(self._seals),
        )

    def _book_in_place(self, events: Sequence[tuple[AnyEvent, int | None]]) -> Scorebook:
        """Return the scorebook as if every label and judgement had come right behind its statement: who knew what, and
        what was suspected of whom, is told as of then.
        """
        late: dict[int | None, list[tuple[AnyEvent, int | None]]] = {}
        for event, line in events:
            if isinstance(event, _Assessed):
                late.setdefault(event.about, []).append((event, line))
        again = GameFold(
            self._alpha,
            self._prior,
            include_defaulted=self._include_defaulted,
            keep_text=self._keep_text,
            with_knowable=self._with_knowable,
        )
        for event, line in events:
            if isinstance(event, _Assessed):
                continue
            again.feed(event, line=line)
            again._late_events = None
            for answer, its_line in late.get(event.statement, ()) if isinstance(event, Statement) else ():
                again.feed(answer, line=its_line)
        return again._book

    @property
    def _book(self) -> Scorebook:
        if self._scorebook is None:
            raise RulesError("the game has not been opened: its record starts too late")
        return self._scorebook

    def _open(self, event: Opened) -> None:
        if self._scorebook is not None:
            raise RulesError(f"game {event.game}: opened twice")
        self._scorebook = Scorebook(
            event,
            RoundSuspicion(
                event.config.alpha if self._alpha is None else self._alpha,
                event.config.prior if self._prior is None else self._prior,
            ),
            include_defaulted=self._include_defaulted,
            keep_text=self._keep_text,
            with_knowable=self._with_knowable,
        )
        if event.config.assess == "after":
            self._late_events = [(event, self._line)]

    def _ask(self, event: Asked) -> None:
        self._book.begin(event.round)
        self._calls.ask(event)

    def _call(self, event: ModelCall) -> None:
        if event.seat not in self._book.seats:
            raise RulesError(f"a model call for {event.seat!r}, who does not play")
        self._calls.call(event)
        self._served.feed(event)
        self._prompts.call(self._book.seats[event.seat].agent, event)

    def _prompt(self, event: PromptAddition) -> None:
        self._prompts.add(event)

    def _note_places(self, event: Asked) -> None:
        self._places[event.batch] = event.round, event.turn
        for asking in event.asks:
            if asking.kind == "speak":
                self._floor[event.round, event.turn] = asking.seats[0]

    def _note_event(self, event: Step | ModelCall) -> None:
        notes: list[Any] = self._model_calls if event.type == "model_call" else self._course
        notes.append(TimedEvent(self._line or 0, self._time or 0.0, event))

    def _bid(self, event: AnsweredBid) -> None:
        place, seat = self._places.get(event.batch), self._book.seats[event.seat]
        if place is None:
            return
        accepted = event.outcome == "accepted"
        self._bids.append(
            BidRow(
                game=self._book.game,
                line=self._line or 0,
                round=place[0],
                turn=place[1],
                bidder=event.seat,
                role=seat.role,
                agent=seat.agent,
                bid=event.content.bid if accepted and event.content is not None else None,
                got_floor=None,
                outcome=event.outcome,
                reading=event.reading if accepted else None,
                fault=event.fault,
                thought=event.thought,
            )
        )

    def _whisper(self, event: AnsweredWhisper) -> None:
        place, accepted = self._places.get(event.batch), event.outcome == "accepted"
        if place is None:
            return
        content = event.content if accepted else None
        self._whispers.append(
            WhisperRow(
                game=self._book.game,
                line=self._line,
                round=place[0],
                turn=place[1],
                wolf=event.seat,
                agent=self._book.seats[event.seat].agent,
                target=None if content is None else content.target,
                word=None if content is None else content.word,
                outcome=event.outcome,
                reading=event.reading if accepted else None,
                fault=event.fault,
                thought=event.thought,
            )
        )

    def _call_row(self, noted: TimedEvent[ModelCall]) -> CallRow:
        call, book = self._whole.whole(noted.event, noted.line), self._book
        return call_row(book.game, book.seats[call.seat], noted.line, noted.time, call)

    def _got_floor(self, row: BidRow) -> bool | None:
        speaker = self._floor.get((row.round, row.turn))
        return None if speaker is None else speaker == row.bidder

    def _note_thought(self, event: AnsweredSpeak) -> None:
        self._thoughts[event.seat] = event.thought
        self._spoken[event.seat] = event

    def _state(self, event: Statement) -> None:
        # what a voter thought stands with its vote
        thought = self._thoughts.pop(event.speaker, None) if event.phase == "debate" else None
        spoken = self._spoken.get(event.speaker)
        copied = spoken is not None and spoken.reading == "copied"
        self._book.state(event, self._line, thought, copied=copied)
        self._label_along(event)

    def _label_along(self, event: Statement) -> None:
        """Record the label that came in the reply that holds the words; that of a ballot stays for the vote."""
        spoken, config = self._spoken.get(event.speaker), self._book.config
        if not config.labels_words or spoken is None:
            return
        content = spoken.content
        label = content.label if isinstance(content, Speech | Ballot) else None
        if config.label == "both":
            self._book.intend(event.statement, None if label is None else label.deceptive)
            return
        outcome: Outcome = "accepted" if label is not None else "defaulted"
        self._book.label(event.statement, outcome, spoken.reading, label)

    def _label(self, event: AnsweredAssessOwn) -> None:
        number = _statement_number(event)
        self._book.label(number, event.outcome, event.reading, event.content, event.fault, event.thought)

    def _judge(self, event: AnsweredAssessOther) -> None:
        self._book.judge(_statement_number(event), event, self._line)

    def _ballot(self, event: AnsweredVote) -> None:
        self._ballots[event.seat], self._spoken[event.seat] = (event, self._line), event

    def _protect(self, event: AnsweredProtect) -> None:
        if event.content is not None and event.content.target is not None:
            self._book.nights.protect(self._book.round, event.seat, event.content.target)

    def _inspect(self, event: Inspection) -> None:
        self._book.nights.inspect(event.round, event.seat, event.target, event.role)

    def _silence(self, event: Silence) -> None:
        self._book.silence(event)

    def _claim(self, event: ClaimTruth) -> None:
        self._book.claim(event)

    def _tally(self, event: Tally) -> None:
        self._book.vote(event, self._ballots)
        self._ballots.clear()

    def _leave(self, event: Departing) -> None:
        if (departed := departure(event)) is not None:
            self._book.leave(departed)
        self._book.ladder.hear(event)

    def _night(self, event: NightOutcome) -> None:
        self._book.nights.end(event.round, event.target, event.protected, event.died)

    def _dawn(self, event: Dawn) -> None:
        self._book.dawn(event.round)
        self._leave(event)

    def _end(self, event: Ended) -> None:
        self._book.end(event)

    # of the class, not of each fold: bound methods would be a ring with their fold, which only the collector undoes
    _HANDLERS: ClassVar[dict[type[Any], Callable[[GameFold, Any], None]]] = {
        Opened: _open,
        Asked: _ask,
        AnsweredSpeak: _note_thought,
        Statement: _state,
        AnsweredAssessOwn: _label,
        AnsweredAssessOther: _judge,
        AnsweredVote: _ballot,
        AnsweredProtect: _protect,
        Silence: _silence,
        ClaimTruth: _claim,
        Tally: _tally,
        Inspection: _inspect,
        NightOutcome: _night,
        Dawn: _dawn,
        PromptAddition: _prompt,
        ModelCall: _call,
        Ended: _end,
    }
    _TEXT_HANDLERS: ClassVar[dict[type[Any], Callable[[GameFold, Any], None]]] = {
        Asked: _note_places,
        AnsweredBid: _bid,
        AnsweredWhisper: _whisper,
        **dict.fromkeys((ModelCall, *get_args(Step)), _note_event),
    }


def fold(
    events: Iterable[AnyEvent],
    alpha: float | None = None,
    prior: float | None = None,
    *,
    include_defaulted: bool = False,
    keep_text: bool = False,
) -> GameRows:
    """Return the rows of one game's events; see `GameFold`.

    Raises:
        RulesError: an event cannot stand where it does.
    """
    game = GameFold(alpha, prior, include_defaulted=include_defaulted, keep_text=keep_text)
    for event in events:
        game.feed(event)
    return game.rows()


def _statement_number(event: AnsweredAssessOwn | AnsweredAssessOther) -> StatementNumber:
    if event.about is None:
        raise RulesError(f"{event.seat}'s {event.kind} in batch {event.batch} does not say which statement it is about")
    return event.about
