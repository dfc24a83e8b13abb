"""Logs of the paper's own code (`wolfbus.record.published_log`), in one of their two readings.

Unlike other tables it asks for labels and judgements, so its logs have them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from wolfbus.errors import ConfigError, RecordError
from wolfbus.files.printable import storable
from wolfbus.foreign.building import ForeignLogBuilder
from wolfbus.foreign.kinds import ImportSource
from wolfbus.foreign.log import Assessment, Departed, ForeignLog, GameEnd, LogBallot, Night, NightAct, Said, Voted
from wolfbus.game.vocabulary import Deception, Fault, Outcome
from wolfbus.messages.base import SeatName
from wolfbus.messages.content import Ballot
from wolfbus.record.published_log import (
    PaperAnalysis,
    PaperDay,
    PaperLog,
    PaperNight,
    PaperStatement,
    PaperVote,
    is_paper_log,
    meta_beside,
    read_paper_log,
)

TITLE: Final = "a log of the paper's code"


def looks_like(start: bytes) -> bool:
    """Return whether a file with these first bytes is one of this kind."""
    first, newline, _ = start.partition(b"\n")
    # of a long first line there is only the beginning
    return is_paper_log(first) if newline else all(mark in first for mark in (b'"timestamp"', b'"actor"', b'"details"'))


def games(source: ImportSource) -> Iterator[ForeignLogBuilder]:
    """Yield the one game of a log; its roles stand in the run_meta.json beside it, or that the source names."""
    if not looks_like(source.content):
        raise RecordError("no log of the paper's code", 1)
    meta = source.roles or meta_beside(source.path)
    lines = source.content.splitlines(keepends=True)
    yield built(read_paper_log(lines, meta, name=str(source.path)), as_recorded=False)


def built(log: PaperLog, *, as_recorded: bool) -> ForeignLogBuilder:
    """Return a published run in the small form.

    As recorded, labels are what the paper's code stored, and its fillers are missing answers. Otherwise labels are what
    our reading finds in the raw replies. A vote for nobody there is, or for a dead player, is an abstention.

    Args:
        log: the run.
        as_recorded: the paper's reading rather than ours.

    Raises:
        ConfigError: a name is longer than seats' may be.
    """
    game = ForeignLogBuilder()
    for name in log.players:
        if not 1 <= len(name) <= 32:
            raise ConfigError(f"{log.name}: the name {name[:40]!r} has not 1 to 32 characters")
        game.seat(name, log.roles[name], log.models.get(name) or log.model)
    if log.unknown:
        game.left_out["events of names that are not known"] += log.unknown
    transcript = _PaperTranscript(game, as_recorded)
    nights = {night.round: night for night in log.nights}
    days = {day.round: day for day in log.days}
    for round_ in range(1, log.rounds + 1):
        if round_ in nights:
            transcript.night(nights[round_])
        statements = [statement for statement in log.statements if statement.round == round_]
        transcript.statements(statement for statement in statements if statement.phase == "debate")
        if round_ in days:
            transcript.vote(days[round_])
        # reasons for votes were published when all had voted
        transcript.statements(statement for statement in statements if statement.phase == "vote")
        if round_ in days:
            transcript.exile(round_, days[round_].exiled)
    if log.ended:
        game.add(GameEnd(winner=log.winner))
    return game


def log_of(log: PaperLog, *, as_recorded: bool) -> ForeignLog:
    """Return a published run that is read as it is: under its own id, its file's hash not taken.

    Args:
        log: the run.
        as_recorded: see `built`.
    """
    whole = built(log, as_recorded=as_recorded).log("wolf", log.name, "0" * 64)
    return replace(whole, head=whole.head.model_copy(update={"game": log.run}))


class _PaperTranscript:
    """Copies a log into a builder, round by round."""

    def __init__(self, game: ForeignLogBuilder, as_recorded: bool) -> None:
        self.game = game
        self.as_recorded = as_recorded

    def night(self, night: PaperNight) -> None:
        """Copy what was done at night and who was found dead; the paper's code can bury a player twice."""
        kills = [action.target for action in night.actions if action.kind == "kill"]
        acts = [(act.kind, act.actor, act.target) for act in night.actions if act.target is not None]
        roles = self.game.roles
        died = night.died if night.died in self.game.living else None
        self.game.add(
            Night(
                round=night.round,
                attack=(kills[-1] if kills and kills[-1] in roles else None) or "",
                protections=tuple(
                    NightAct(seat=actor, target=target)
                    for kind, actor, target in acts
                    if kind == "protect" and target in roles
                ),
                inspections=tuple(
                    NightAct(seat=actor, target=target, result=roles[target])
                    for kind, actor, target in acts
                    if kind == "inspect" and target in roles
                ),
                died=died,
            )
        )
        if died is not None:
            self.game.living.remove(died)

    def statements(self, statements: Iterator[PaperStatement]) -> None:
        """Copy a round's statements, with their labels and judgements."""
        for statement in statements:
            analysis = statement.own_analysis
            self.game.add(
                Said(
                    statement=statement.number,
                    round=statement.round,
                    phase=statement.phase,
                    speaker=statement.speaker,
                    text=storable(statement.text),
                    intended=statement.intended,
                    label=None if analysis is None else self.assessment(statement.speaker, analysis),
                    judgements=tuple(self.assessment(name, other) for name, other in statement.others.items()),
                )
            )

    def vote(self, day: PaperDay) -> None:
        """Copy a vote."""
        if day.votes:
            self.game.add(Voted(round=day.round, ballots=tuple(map(self.ballot, day.votes))))

    def exile(self, round_: int, name: SeatName | None) -> None:
        """Copy an exile, if there is one."""
        if name is not None and name in self.game.living:
            self.game.add(Departed(round=round_, seat=name, how="exile"))
            self.game.living.remove(name)

    def assessment(self, seat: SeatName, analysis: PaperAnalysis) -> Assessment:
        """Return an analysis in the chosen reading; without a label where it has none."""
        label = analysis.label(as_recorded=self.as_recorded)
        if label is None or (self.as_recorded and analysis.filler):
            read = None if self.as_recorded else analysis.read
            fault: Fault = "unparseable" if read is None or read.fault is None else read.fault
            return Assessment(seat=seat, outcome="defaulted", fault=fault)
        unstated: Deception = "unspecified" if label.deceptive else "none"
        return Assessment(
            seat=seat,
            # what the paper's code could parse was bare JSON
            reading=label.reading or "clean",
            deceptive=label.deceptive,
            suspicion=label.suspicion,
            confidence=label.confidence,
            kind=label.kind or unstated,
            stated_kind=label.stated_kind,
            reasoning=storable(label.reasoning),
        )

    def ballot(self, vote: PaperVote) -> LogBallot:
        """Return a vote in the chosen reading; one for nobody there is counts for nobody."""
        outcome, target = self._target(vote)
        # of a vote without its raw text nobody knows how it was read
        if vote.read is None:
            return LogBallot(voter=vote.voter, target=target, outcome=outcome)
        if outcome == "accepted":
            reading = "clean" if self.as_recorded else vote.read.reading or "clean"
            return LogBallot(voter=vote.voter, target=target, outcome=outcome, reading=reading)
        return LogBallot(voter=vote.voter, target=target, outcome=outcome, fault=vote.read.fault or "illegal")

    def _target(self, vote: PaperVote) -> tuple[Outcome, SeatName | None]:
        target = vote.recorded
        if not self.as_recorded and vote.read is not None and isinstance(vote.read.content, Ballot):
            target = vote.read.content.target
            if target is None:
                return "accepted", None
        return ("accepted", target) if target in self.game.living else ("defaulted", None)
