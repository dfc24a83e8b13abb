"""`GameFold`: the events of one game, in record order, become rows."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any, ClassVar

from analytics.calls import CallBook
from analytics.claims import GameFacts, found_claims
from analytics.rows import GameRows, NightRow, SeatRow
from analytics.scorebook import Scorebook
from wolfbus.errors import RulesError
from wolfbus.messages.base import SeatName
from wolfbus.messages.calls import ModelCall
from wolfbus.messages.content import StatementNumber
from wolfbus.messages.events import (
    Answered,
    AnsweredAssessOther,
    AnsweredAssessOwn,
    AnsweredProtect,
    AnsweredVote,
    AnyAnswered,
    AnyEvent,
    Asked,
    ClaimTruth,
    Dawn,
    Ended,
    Exile,
    Inspection,
    NightOutcome,
    Opened,
    Silence,
    Statement,
    Tally,
)
from wolfbus.vocabulary import Outcome


class GameFold:
    """Folds one game; the same for a record on disk, for a live stream and for a replay with other parameters.

    Args:
        alpha: weight of a new judgement in smoothed suspicion, in [0, 1]; the record's own unless given.
        prior: smoothed suspicion before any judgement, in [0, 1]; the record's own unless given.
        include_defaulted: count a defaulted, timed-out or declined label or judgement as "truthful,
            suspicion 0.5, confidence 0", as the paper's code did; it still moves no smoothed score.
        keep_text: keep the statements' words in the rows.
    """

    def __init__(
        self,
        alpha: float | None = None,
        prior: float | None = None,
        *,
        include_defaulted: bool = False,
        keep_text: bool = False,
    ) -> None:
        self._alpha = alpha
        self._prior = prior
        self._include_defaulted = include_defaulted
        self._keep_text = keep_text
        self._opened: Scorebook | None = None
        self._facts = GameFacts({})
        self._ballots: dict[SeatName, Outcome] = {}
        self._calls = CallBook()
        self._time: float | None = None
        self._seed = ""

    def feed(self, event: AnyEvent, time: float | None = None) -> None:
        """Take in the next event of the game.

        Args:
            event: the event.
            time: when it happened, in seconds since the opening; None if that is not known.

        Raises:
            RulesError: it cannot stand there: before the opening, of a player or statement that does not exist.
        """
        if time is not None:
            self._time = time
        if isinstance(event, Answered):
            self._reply(event)
        handler = self._HANDLERS.get(type(event))
        if handler is not None:
            handler(self, event)

    def rows(self) -> GameRows:
        """Return the rows so far; feeding on does not change what was returned.

        Raises:
            RulesError: the game has not been opened.
        """
        rows = self._book.rows()
        return replace(
            rows, calls=self._calls.sums(), critical_path=self._calls.path, seconds=self._time, seed=self._seed
        )

    @property
    def _book(self) -> Scorebook:
        if self._opened is None:
            raise RulesError("the game has not been opened: its record starts too late")
        return self._opened

    def _open(self, event: Opened) -> None:
        if self._opened is not None:
            raise RulesError(f"game {event.game}: opened twice")
        self._seed = event.seed
        self._opened = Scorebook(
            event.game,
            (SeatRow(seat.name, seat.role, seat.agent, seat.brain) for seat in event.seats),
            alpha=event.config.alpha if self._alpha is None else self._alpha,
            prior=event.config.prior if self._prior is None else self._prior,
            include_defaulted=self._include_defaulted,
            keep_text=self._keep_text,
            protocol=event.config.protocol,
        )
        self._facts = GameFacts({seat.name: seat.role for seat in event.seats}, event.config.reveal_on_death)

    def _ask(self, event: Asked) -> None:
        self._book.begin(event.round)
        self._calls.ask(event)

    def _reply(self, event: AnyAnswered) -> None:
        self._book.reply(event.seat, event.kind, event.outcome, event.reading, event.fault)
        self._calls.answer(event)

    def _call(self, event: ModelCall) -> None:
        if event.seat not in self._book.seats:
            raise RulesError(f"a model call for {event.seat!r}, who does not play")
        self._calls.call(event)

    def _state(self, event: Statement) -> None:
        book = self._book
        found = found_claims(self._facts, event.speaker, event.text) if event.speaker in book.seats else ()
        book.state(event.statement, event.round, event.phase, event.turn, event.speaker, event.text, found)

    def _label(self, event: AnsweredAssessOwn) -> None:
        number, content = _about(event), event.content
        if content is None or event.outcome != "accepted":
            self._book.label(number, event.outcome, None, None)
        else:
            self._book.label(number, event.outcome, event.reading, content.deceptive, content.confidence, content.kind)

    def _judge(self, event: AnsweredAssessOther) -> None:
        number, content = _about(event), event.content
        if content is None or event.outcome != "accepted":
            self._book.judge(number, event.seat, event.outcome, None, None)
        else:
            self._book.judge(
                number,
                event.seat,
                event.outcome,
                event.reading,
                content.deceptive,
                content.suspicion,
                content.confidence,
                content.kind,
            )

    def _ballot(self, event: AnsweredVote) -> None:
        self._ballots[event.seat] = event.outcome

    def _protect(self, event: AnsweredProtect) -> None:
        if event.content is not None and event.content.target is not None:
            self._facts.protect(self._book.round, event.seat, event.content.target)

    def _inspect(self, event: Inspection) -> None:
        self._facts.inspect(event.round, event.seat, event.target, event.role)

    def _fall_silent(self, event: Silence) -> None:
        self._book.silence(event.round)

    def _claim(self, event: ClaimTruth) -> None:
        self._book.claim(event.statement, event.claims)

    def _tally(self, event: Tally) -> None:
        ballots = ((voter, target, self._ballots.get(voter)) for voter, target in event.votes.items())
        self._book.vote(event.round, ballots)
        self._ballots.clear()

    def _exile(self, event: Exile) -> None:
        if event.seat is not None:
            self._book.leave(event.round, event.seat, "exile")
            self._facts.leave(event.seat)

    def _night(self, event: NightOutcome) -> None:
        self._book.night(NightRow(event.round, event.target, event.protected, event.died))

    def _dawn(self, event: Dawn) -> None:
        self._book.dawn(event.round)
        if event.died is not None:
            self._book.leave(event.round, event.died, "night")
            self._facts.die(event.died)

    def _end(self, event: Ended) -> None:
        self._book.begin(event.rounds)
        self._book.end(event.winner, event.reason)

    # of the class, not of each fold: bound methods would be a ring with their fold, which only the collector undoes
    _HANDLERS: ClassVar[dict[type[Any], Callable[[GameFold, Any], None]]] = {
        Opened: _open,
        Asked: _ask,
        Statement: _state,
        AnsweredAssessOwn: _label,
        AnsweredAssessOther: _judge,
        AnsweredVote: _ballot,
        AnsweredProtect: _protect,
        Silence: _fall_silent,
        ClaimTruth: _claim,
        Tally: _tally,
        Exile: _exile,
        Inspection: _inspect,
        NightOutcome: _night,
        Dawn: _dawn,
        ModelCall: _call,
        Ended: _end,
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


def _about(event: AnsweredAssessOwn | AnsweredAssessOther) -> StatementNumber:
    if event.about is None:
        raise RulesError(f"{event.seat}'s {event.kind} in batch {event.batch} does not say which statement it is about")
    return event.about
