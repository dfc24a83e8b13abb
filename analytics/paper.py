"""Logs of the paper's own code, as the same rows that our records give."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import replace

from analytics.books import RoundSuspicion
from analytics.rows import GameRows, SeatRow
from analytics.rows.fields import NO_DETAILS
from analytics.scorebook import Scorebook
from wolfbus.files.canonical import canonical, sha256_hex
from wolfbus.files.printable import storable
from wolfbus.game.vocabulary import Deception, Fault, Outcome, Reading
from wolfbus.knowledge.departure import Departure
from wolfbus.messages.base import SeatName
from wolfbus.messages.content import Ballot
from wolfbus.messages.events import Dawn, Departing, Exile
from wolfbus.record.published_log import (
    PaperAnalysis,
    PaperDay,
    PaperLabel,
    PaperLog,
    PaperNight,
    PaperStatement,
    PaperVote,
)


def rows_of_paper_log(
    log: PaperLog, as_recorded: bool, *, alpha: float = 0.7, prior: float = 0.5, keep_text: bool = False
) -> GameRows:
    """Return a published run as rows, in one of its two readings.

    As recorded, labels are what the paper's code stored, and its fillers count as it counted them: truthful, suspicion
    0.5. They are marked as defaulted all the same, and move no smoothed score. Otherwise labels are what our reading
    finds in the raw replies, and where it finds none the label is missing. A label without suspicion counts where flags
    are counted, and nowhere else.

    Role and inspection claims are found in the words, and scored with what the log says of the nights. All seats have
    the log's model for a brain. A vote for nobody there is, or for a dead player, is an abstention.

    Args:
        log: the run.
        as_recorded: the paper's reading rather than ours.
        alpha: weight of a new judgement in smoothed suspicion, in [0, 1]; the paper's unless given.
        prior: smoothed suspicion before any judgement, in [0, 1]; that of the paper's code unless given.
        keep_text: keep the statements' words.
    """
    seats = (
        SeatRow(
            game=log.run, place=place, name=name, role=log.roles[name], agent=log.model or "unknown", process="paper"
        )
        for place, name in enumerate(log.players, 1)
    )
    book = Scorebook(
        log.run,
        seats,
        RoundSuspicion(alpha, prior),
        include_defaulted=as_recorded,
        keep_text=keep_text,
        label_asked="both" if any(statement.intended is not None for statement in log.statements) else "after",
    )
    transcript = _Transcript(book, as_recorded)
    nights = {night.round: night for night in log.nights}
    days = {day.round: day for day in log.days}
    for round_ in range(1, log.rounds + 1):
        transcript.book.begin(round_)
        if round_ in nights:
            transcript.night(nights[round_])
        statements = [statement for statement in log.statements if statement.round == round_]
        transcript.statements(round_, (statement for statement in statements if statement.phase == "debate"))
        if round_ in days:
            transcript.vote(days[round_])
        # reasons for votes were published when all had voted
        transcript.statements(round_, (statement for statement in statements if statement.phase == "vote"))
        if round_ in days:
            transcript.leave(round_, days[round_].exiled, Exile)
    if log.ended:
        transcript.book.end(log.winner, None)
    return replace(transcript.book.rows(), seals=dict(_seals(log)))


def _seals(log: PaperLog) -> Iterator[tuple[int, str]]:
    """Yield, by statement, a hash over it and all before it; a published log has none of its own."""
    seal = ""
    for statement in log.statements:
        place = [statement.number, statement.round, statement.phase, statement.speaker]
        seal = sha256_hex(seal.encode(), canonical([*place, storable(statement.text)]))
        yield statement.number, seal


class _Transcript:
    """Copies a log into a scorebook, round by round."""

    def __init__(self, book: Scorebook, as_recorded: bool) -> None:
        self.book = book
        self.as_recorded = as_recorded

    def night(self, night: PaperNight) -> None:
        """Copy what was done at night and who was found dead."""
        kills = [action.target for action in night.actions if action.kind == "kill"]
        protected = tuple(act.target for act in night.actions if act.kind == "protect" and act.target is not None)
        self.book.nights.end(night.round, kills[-1] if kills else None, protected, night.died)
        self.book.dawn(night.round)
        for act in night.actions:
            if act.target is None:
                continue
            if act.kind == "protect":
                self.book.nights.protect(night.round, act.actor, act.target)
            elif act.kind == "inspect" and act.target in self.book.seats:
                self.book.nights.inspect(night.round, act.actor, act.target, self.book.seats[act.target].role)
        self.leave(night.round, night.died, Dawn)

    def statements(self, round_: int, statements: Iterable[PaperStatement]) -> None:
        """Copy a round's statements, those of the vote included, with their labels and judgements."""
        turns: Counter[str] = Counter()
        for statement in statements:
            turns[statement.phase] += 1
            self.book.state(
                statement.number, round_, statement.phase, turns[statement.phase], statement.speaker, statement.text
            )
            self.book.intend(statement.number, statement.intended)
            if statement.own_analysis is not None:
                outcome, reading, label = self.read(statement.own_analysis)
                self.book.reply(
                    statement.speaker, "assess_own", outcome, reading, self.fault(statement.own_analysis, outcome)
                )
                self.book.label(statement.number, outcome, reading, label)
            for observer, analysis in statement.others.items():
                outcome, reading, label = self.read(analysis)
                self.book.reply(observer, "assess_other", outcome, reading, self.fault(analysis, outcome))
                self.book.judge(statement.number, observer, outcome, reading, label)

    def vote(self, day: PaperDay) -> None:
        """Copy a vote."""
        if day.votes:
            ballots = [self.ballot(vote) for vote in day.votes]
            self.book.vote(day.round, ((*ballot, None, NO_DETAILS) for ballot in ballots))
            for vote, (voter, _, outcome) in zip(day.votes, ballots, strict=True):
                # of a vote without its raw text nobody knows how it was read
                if vote.read is not None:
                    accepted = outcome == "accepted"
                    reading = "clean" if self.as_recorded else vote.read.reading or "clean"
                    self.book.reply(voter, "vote", outcome, reading, None if accepted else vote.read.fault or "illegal")

    def leave(self, round_: int, name: SeatName | None, event: type[Departing]) -> None:
        """Copy a departure, if there is one, as that by an event of ours; the paper's code can bury a player twice."""
        if name is not None and name not in self.book.departed:
            self.book.leave(Departure(name, event.way, round_))

    def read(self, analysis: PaperAnalysis) -> tuple[Outcome, Reading | None, PaperLabel | None]:
        """Return an analysis in the chosen reading; no label where it has none."""
        label = analysis.label(as_recorded=self.as_recorded)
        if label is None or (self.as_recorded and analysis.filler):
            return "defaulted", None, None
        # what the paper's code could parse was bare JSON
        kind: Deception = "unspecified" if label.deceptive else "none"
        return "accepted", label.reading or "clean", replace(label, kind=label.kind or kind)

    def fault(self, analysis: PaperAnalysis, outcome: Outcome) -> Fault | None:
        """Return why an analysis gives no label in the chosen reading."""
        if outcome == "accepted":
            return None
        read = None if self.as_recorded else analysis.read
        return "unparseable" if read is None or read.fault is None else read.fault

    def ballot(self, vote: PaperVote) -> tuple[SeatName, SeatName | None, Outcome]:
        """Return a vote in the chosen reading; one for nobody there is counts for nobody."""
        target = vote.recorded
        if not self.as_recorded and vote.read is not None and isinstance(vote.read.content, Ballot):
            target = vote.read.content.target
            if target is None:
                return vote.voter, None, "accepted"
        if target in self.book.seats and target not in self.book.departed:
            return vote.voter, target, "accepted"
        return vote.voter, None, "defaulted"
