"""Games of other tables, the paper's among them, as the same rows that our records give."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from analytics.books import RoundSuspicion
from analytics.rows import GameRows, SeatRow
from analytics.rows.fields import NO_DETAILS, AnswerDetails
from analytics.scorebook import Scorebook
from wolfbus.files.canonical import canonical, sha256_hex
from wolfbus.files.printable import storable
from wolfbus.foreign.events import WAY_OF
from wolfbus.foreign.log import Assessment, Departed, ForeignLog, GameEnd, LogBallot, Night, Said, Silent, Voted
from wolfbus.game.vocabulary import AssessmentTime
from wolfbus.knowledge.departure import Departure
from wolfbus.messages.events import Dawn

_PROCESS: Final = {"wolf": "paper"}
"""What stands for the process of a seat, by kind; the kind's own name unless it is here."""


def rows_of_log(
    log: ForeignLog,
    *,
    alpha: float = 0.7,
    prior: float = 0.5,
    include_defaulted: bool = False,
    keep_text: bool = False,
) -> GameRows:
    """Return a game of another table as rows.

    What that table never asked is missing, and so undefined in all figures. A label without suspicion counts where
    flags are counted, and nowhere else. Role and inspection claims are found in the words, and scored with what the log
    says of the nights.

    Args:
        log: the game.
        alpha: weight of a new judgement in smoothed suspicion, in [0, 1]; the paper's unless given.
        prior: smoothed suspicion before any judgement, in [0, 1]; that of the paper's code unless given.
        include_defaulted: count a missing label or judgement as "truthful", suspicion 0.5, as the paper's code did; it
            moves no smoothed score.
        keep_text: keep the statements' words.
    """
    game = log.head.game
    process = _PROCESS.get(log.head.kind, log.head.kind)
    seats = (
        SeatRow(game=game, place=place, name=seat.name, role=seat.as_role, agent=seat.agent, process=process)
        for place, seat in enumerate(log.head.seats, 1)
    )
    book = Scorebook(
        game,
        seats,
        RoundSuspicion(alpha, prior),
        include_defaulted=include_defaulted,
        keep_text=keep_text,
        reveal=log.head.reveal,
        label_asked=log.label_asked,
    )
    transcript = _RowTranscript(book, has_both_labels=log.label_asked == "both", keep_text=keep_text)
    for line in log.lines:
        transcript.copy(line)
    assess: AssessmentTime = "live" if log.assessed else "none"
    return replace(book.rows(), assess=assess, seals=dict(_seals(log)))


def _seals(log: ForeignLog) -> Iterator[tuple[int, str]]:
    """Yield, by statement, a hash over it and all before it; such a log has none of its own."""
    seal = ""
    statements = [line for line in log.lines if isinstance(line, Said)]
    for line in sorted(statements, key=lambda line: line.statement):
        place = [line.statement, line.round, line.phase, line.speaker]
        seal = sha256_hex(seal.encode(), canonical([*place, storable(line.text)]))
        yield line.statement, seal


class _RowTranscript:
    """Copies a log into a scorebook, line by line."""

    def __init__(self, book: Scorebook, *, has_both_labels: bool, keep_text: bool) -> None:
        self.book = book
        self._has_both_labels = has_both_labels
        self._keep_text = keep_text
        self._turns: Counter[tuple[int, str]] = Counter()

    def copy(self, line: object) -> None:
        """Copy a line."""
        if isinstance(line, Said):
            self._state(line)
        elif isinstance(line, Silent):
            self.book.silence(line.round)
        elif isinstance(line, Voted):
            self._vote(line)
        elif isinstance(line, Night):
            self._end_night(line)
        elif isinstance(line, Departed):
            self.book.leave(Departure(line.seat, WAY_OF[line.how], line.round))
        elif isinstance(line, GameEnd):
            self.book.end(line.winner, None)

    def _end_night(self, night: Night) -> None:
        nights = self.book.nights
        if night.attack is not None:
            nights.end(night.round, night.attack or None, tuple(act.target for act in night.protections), night.died)
        self.book.dawn(night.round)
        for act in night.protections:
            nights.protect(night.round, act.seat, act.target)
        for act in night.inspections:
            nights.inspect(night.round, act.seat, act.target, act.as_result)
        if night.died is not None:
            self.book.leave(Departure(night.died, Dawn.way, night.round))

    def _state(self, line: Said) -> None:
        number = line.statement
        self._turns[line.round, line.phase] += 1
        turn = self._turns[line.round, line.phase]
        beside = AnswerDetails(thought=line.thought) if self._keep_text else NO_DETAILS
        self.book.state(number, line.round, line.phase, turn, line.speaker, line.text, beside, line.thought)
        if self._has_both_labels:
            self.book.intend(number, line.intended)
        if (label := line.label) is not None:
            self.book.reply(label.seat, "assess_own", label.outcome, label.reading, label.fault)
            self.book.label(number, label.outcome, label.reading, _content(label))
        for judgement in line.judgements:
            self.book.reply(judgement.seat, "assess_other", judgement.outcome, judgement.reading, judgement.fault)
            self.book.judge(number, judgement.seat, judgement.outcome, judgement.reading, _content(judgement))

    def _vote(self, voted: Voted) -> None:
        ballots = [(ballot.voter, ballot.target, ballot.outcome, None, NO_DETAILS) for ballot in voted.ballots]
        self.book.vote(voted.round, ballots)
        for ballot in voted.ballots:
            self._reply(ballot)

    def _reply(self, ballot: LogBallot) -> None:
        """Count a vote among the replies, where the log tells how it was read."""
        if ballot.outcome is not None and (ballot.reading is not None or ballot.fault is not None):
            self.book.reply(ballot.voter, "vote", ballot.outcome, ballot.reading, ballot.fault)


def _content(assessment: Assessment) -> Assessment | None:
    return assessment if assessment.outcome == "accepted" else None
