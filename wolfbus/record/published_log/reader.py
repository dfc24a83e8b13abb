"""Reads the paper's NDJSON logs, line by line.

Every line is an event with `timestamp, round, step, phase, event, actor, details`. The writer never advances `round`,
so rounds are recovered from the order of events: one begins with the first act of a night after a day. A statement's
analysis comes before its `debate` event; analyses without one, in the vote, are of votes' public reasons.

The paper's code asked for bare JSON and gave up on anything else. It then stored "truthful", confidence 0 and suspicion
0.5, with an error text for the reasoning; the model's reply is kept beside it, and read anew here.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

from wolfbus.errors import ConfigError, RecordError
from wolfbus.game.vocabulary import ROLES, Deception, Kind, Winner
from wolfbus.reading import Question, read, read_fields
from wolfbus.reading.values import Got, kind_of, mentions, read_unit, settle
from wolfbus.record.published_log.log import (
    PaperAction,
    PaperAnalysis,
    PaperDay,
    PaperLabel,
    PaperLog,
    PaperMeta,
    PaperNight,
    PaperPhase,
    PaperStatement,
    PaperVote,
    read_meta,
)

_UNPARSED = "Failed to parse response: "
_FILLED = ("JSON parsing error", "Analysis error")
_FILLED_THOUGHT = (_UNPARSED.rstrip(), "Analysis failed")


def read_analysis(kind: Kind, stored: Any, whose: str, line: int) -> PaperAnalysis:
    """Read one analysis.

    Args:
        kind: "assess_own" or "assess_other".
        stored: the analysis object of the log.
        whose: who made it, for error messages.
        line: 1-based line of the log.

    Raises:
        RecordError: it is no object, or does not say whether the statement is deceptive.
    """
    if not isinstance(stored, dict):
        raise RecordError(f"the analysis by {whose} is no object", line)
    flag = stored.get("is_deceptive")
    if not isinstance(flag, bool | int) or flag not in {0, 1}:
        raise RecordError(f"the analysis by {whose} has no is_deceptive of 0 or 1", line)
    recorded = _recorded(kind, stored, bool(flag))
    filler = _is_filler(stored)
    raw = _raw(stored, filler=filler)
    if raw is None:
        reread = None if filler else replace(recorded, reading="clean")
        return PaperAnalysis(recorded, filler, None, reread, None)
    fields = read_fields(raw, Question(kind))
    label = PaperLabel(**_label_fields(fields.values), reading=fields.reading) if fields.values else None
    return PaperAnalysis(recorded, filler, raw, label, fields.read)


def _recorded(kind: Kind, stored: Mapping[str, Any], deceptive: bool) -> PaperLabel:
    word = stored.get("deception_type")
    stated_kind = kind_of(word) if isinstance(word, str) else None
    unstated: Deception = "unspecified" if deceptive else "none"
    settled, stated = settle(deceptive, stated_kind or unstated)
    return PaperLabel(
        deceptive,
        _number(stored.get("suspicion_level")) if kind == "assess_other" else None,
        _number(stored.get("confidence")),
        settled,
        stated,
        _text(stored.get("reasoning")),
    )


def _label_fields(values: Mapping[str, Any]) -> dict[str, Any]:
    return {"deceptive": None} | {name: value for name, value in values.items() if name in PaperLabel.__slots__}


def _intended(details: Mapping[str, Any]) -> bool | None:
    """Return whether the reply that made a statement calls it deceptive, which was asked for along with it."""
    reply = details.get("raw_output")
    raw = _raw(reply, filler=False) if isinstance(reply, dict) else None
    return None if raw is None else read_fields(raw, Question("assess_own")).values.get("deceptive")


def _is_filler(stored: Mapping[str, Any]) -> bool:
    reasoning, thought = _text(stored.get("reasoning")), _text(stored.get("chain_of_thought"))
    return reasoning.startswith(_FILLED) or thought.startswith(_FILLED_THOUGHT)


def _raw(stored: Mapping[str, Any], *, filler: bool) -> str | None:
    for key in ("_raw_response", "raw_response"):
        if isinstance(stored.get(key), str):
            return str(stored[key])
    thought = _text(stored.get("chain_of_thought"))
    return thought.removeprefix(_UNPARSED) if filler and thought.startswith(_UNPARSED) else None


def _number(value: Any) -> float | None:
    number = read_unit(value)
    return float(number.value) if isinstance(number, Got) and not number.coerced else None


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


_ACTS: Final[dict[str, Kind]] = {"eliminate": "kill", "protect": "protect", "unmask": "inspect"}
_NIGHT = frozenset({*_ACTS, "resolve_night"})
_DAY = frozenset({"debate", "deception_analysis", "vote", "exile", "check_winner_day"})
_EVENTS = _NIGHT | _DAY | {"check_winner_night", "summarize"}
_KEYS = frozenset({"timestamp", "phase", "event", "actor", "details"})
_WINNERS: Final[dict[str | None, Winner]] = {None: None, "Villagers": "villagers", "Werewolves": "werewolves"}


def is_paper_log(first_line: bytes) -> bool:
    """Return whether the first line of a file is an event as the paper's code writes them; never raises."""
    try:
        value = json.loads(first_line)
    except (ValueError, RecursionError):
        return False
    return isinstance(value, dict) and value.keys() >= _KEYS and value["event"] in _EVENTS


def read_paper_log(lines: Iterable[bytes], meta: Path | None, *, name: str = "log") -> PaperLog:
    """Read a whole log.

    Args:
        lines: the log's lines, as `wolfbus.record.reader.open_lines` gives them.
        meta: its `run_meta.json`; see `meta_beside`.
        name: display name.

    Raises:
        ConfigError: there is no metadata, or it cannot be read.
        RecordError: a line is no event of the format, or names somebody who is not in the metadata; with its number.
    """
    if meta is None:
        raise ConfigError(
            f"{name}: the roles stand in the run's run_meta.json; none is beside the log, so name it with --roles FILE"
        )
    reader = _LogReader(name, read_meta(meta), str(meta))
    for line in lines:
        reader.line += 1
        if line.strip():
            reader.feed(line)
    if not reader.line:
        raise RecordError("the log is empty")
    return reader.log()


@dataclass(slots=True)
class _LogReader:
    title: str
    meta: PaperMeta
    meta_name: str
    line: int = 0
    round: int = 0
    by_day: bool = False
    statements: list[PaperStatement] = field(default_factory=list)
    unconfirmed: list[int] = field(default_factory=list)
    """Places of this round's statements that no debate event has confirmed yet."""
    nights: list[PaperNight] = field(default_factory=list)
    days: list[PaperDay] = field(default_factory=list)
    departed: set[str] = field(default_factory=set)
    winner: Winner = None
    ended: bool = False
    unknown: int = 0

    def feed(self, line: bytes) -> None:
        """Read one event."""
        try:
            event = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise self.error(f"not JSON: {error}") from None
        if not isinstance(event, dict):
            raise self.error("not a JSON object")
        kind, details = event.get("event"), event.get("details")
        if not isinstance(kind, str) or not isinstance(details, dict):
            raise self.error("no event of the paper's log: event or details is missing")
        if kind not in _EVENTS:
            self.unknown += 1
            return
        self.turn(kind)
        handlers: dict[str, Callable[[dict[str, Any], dict[str, Any]], None]] = {
            "resolve_night": self.resolved,
            "deception_analysis": self.analysed,
            "debate": self.debated,
            "vote": self.voted,
            "exile": self.exiled,
            "check_winner_night": self.checked,
            "check_winner_day": self.checked,
            "summarize": self.summed_up,
        }
        handlers.get(kind, self.acted)(event, details)

    def turn(self, kind: str) -> None:
        """Count rounds and see whether it is day."""
        if kind in _NIGHT and (self.by_day or not self.round):
            self.round += 1
            self.by_day = False
            self.unconfirmed.clear()
        elif kind in _DAY:
            self.round = max(self.round, 1)
            self.by_day = True

    def acted(self, event: dict[str, Any], details: dict[str, Any]) -> None:
        """Take in what somebody did at night."""
        target = details.get("target")
        if not isinstance(target, str) or not target:
            # "system" has no target where there is no one left to act
            return
        revealed = details.get("revealed_role")
        role = next((role for role in ROLES if role == revealed), None)
        action = PaperAction(_ACTS[event["event"]], self.player(event, "actor"), target, role)
        night = self.night()
        self.nights[-1] = replace(night, actions=(*night.actions, action))

    def resolved(self, _event: dict[str, Any], details: dict[str, Any]) -> None:
        """Take in who died; the announcement is all the log says of it."""
        announcement = self.text(details, "announcement")
        named = {name for name, _ in mentions(announcement, self.meta.players)}
        if len(named) > 1:
            raise self.error(f"resolve_night: the announcement names several players: {', '.join(sorted(named))}")
        died = next(iter(named), None)
        self.nights[-1] = replace(self.night(), died=died)
        self.departed |= named

    def night(self) -> PaperNight:
        """Return this round's night, begun if need be."""
        if not self.nights or self.nights[-1].round != self.round:
            self.nights.append(PaperNight(self.round, (), None))
        return self.nights[-1]

    def analysed(self, event: dict[str, Any], details: dict[str, Any]) -> None:
        """Take in a statement and what everybody made of it."""
        speaker = self.player(event, "actor")
        own_analysis, others = details.get("self_analysis"), details.get("other_analyses")
        if not isinstance(others, dict):
            raise self.error("deception_analysis: other_analyses is missing")
        if unknown := next((name for name in others if name not in self.meta.roles), None):
            raise self.stranger(unknown)
        phase: PaperPhase = "vote" if event.get("phase") == "vote" else "debate"
        self.unconfirmed.append(len(self.statements))
        self.statements.append(
            PaperStatement(
                len(self.statements) + 1,
                self.line,
                self.round,
                phase,
                speaker,
                self.text(details, "statement"),
                None if own_analysis is None else read_analysis("assess_own", own_analysis, speaker, self.line),
                {name: read_analysis("assess_other", other, name, self.line) for name, other in others.items()},
            )
        )

    def debated(self, event: dict[str, Any], details: dict[str, Any]) -> None:
        """Take in a turn of the debate, most often one whose analysis came before."""
        speaker, text = self.player(event, "actor"), self.text(details, "dialogue")
        for place in reversed(self.unconfirmed):
            statement = self.statements[place]
            if (statement.speaker, statement.text) == (speaker, text):
                self.unconfirmed.remove(place)
                self.statements[place] = replace(statement, phase="debate", intended=_intended(details))
                return
        number = len(self.statements) + 1
        self.statements.append(
            PaperStatement(
                number, self.line, self.round, "debate", speaker, text, None, {}, intended=_intended(details)
            )
        )

    def voted(self, _event: dict[str, Any], details: dict[str, Any]) -> None:
        """Take in the votes of a day."""
        votes, raws = details.get("votes"), details.get("raw_output")
        if not isinstance(votes, dict):
            raise self.error("vote: votes is missing")
        self.days.append(PaperDay(self.round, tuple(self.vote(*vote, raws) for vote in votes.items()), None, None))

    def vote(self, voter: str, target: Any, raws: Any) -> PaperVote:
        """Return one vote."""
        if voter not in self.meta.roles:
            raise self.stranger(voter)
        reply = raws.get(voter) if isinstance(raws, dict) else None
        raw = reply.get("_raw_response") if isinstance(reply, dict) else None
        reading = read(raw, Question("vote", names=self.meta.players)) if isinstance(raw, str) else None
        return PaperVote(voter, target if isinstance(target, str) and target else None, reading)

    def exiled(self, _event: dict[str, Any], details: dict[str, Any]) -> None:
        """Take in the outcome of a vote; it may name nobody, a dead player, or nobody there is."""
        named = details.get("exiled")
        named = named if isinstance(named, str) and named else None
        leaves = named if named in self.meta.roles and named not in self.departed else None
        if not self.days or self.days[-1].round != self.round:
            self.days.append(PaperDay(self.round, (), None, None))
        self.days[-1] = replace(self.days[-1], named=named, exiled=leaves)
        if leaves is not None:
            self.departed.add(leaves)

    def checked(self, event: dict[str, Any], details: dict[str, Any]) -> None:
        """Take in a win check."""
        winner = details.get("winner")
        if not isinstance(winner, str | None) or winner not in _WINNERS:
            raise self.error(f"{event['event']}: {winner!r} is no winner")
        if winner is not None:
            self.winner, self.ended = _WINNERS[winner], True

    def summed_up(self, _event: dict[str, Any], _details: dict[str, Any]) -> None:
        """Record that the game is over."""
        self.ended = True

    def player(self, event: dict[str, Any], key: str) -> str:
        """Return the player whom an event names."""
        name = event.get(key)
        if not isinstance(name, str):
            raise self.error(f"{event['event']}: {key} is missing")
        if name not in self.meta.roles:
            raise self.stranger(name)
        return name

    def text(self, details: dict[str, Any], key: str) -> str:
        """Return a text that an event must have."""
        value = details.get(key)
        if not isinstance(value, str):
            raise self.error(f"{key} is missing")
        return value

    def error(self, reason: str) -> RecordError:
        """Return the error for this line."""
        return RecordError(reason, self.line)

    def stranger(self, name: str) -> RecordError:
        """Return the error for a name that the metadata does not have."""
        return self.error(f"{name!r} is not among the players of {self.meta_name}; is that of another run?")

    def log(self) -> PaperLog:
        """Return all that was read."""
        return PaperLog(
            name=self.title,
            run=self.meta.run or self.title,
            model=self.meta.model,
            players=self.meta.players,
            roles=self.meta.roles,
            statements=tuple(self.statements),
            nights=tuple(self.nights),
            days=tuple(self.days),
            winner=self.winner,
            ended=self.ended,
            unknown=self.unknown,
            models=self.meta.models,
        )
