"""The line protocol: what a child process is told, one JSON object a line, and what its lines are read as.

Every request holds all that its seat knows, so that an agent need not remember anything; see docs/line-protocol.md.
Version 1 only grows: members may be added, none is renamed, removed or given another meaning.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator
from typing import Any, Final

from wolfbus.agent import Answer
from wolfbus.agent.answer import answer_in_text
from wolfbus.files.printable import counted, printable
from wolfbus.game.config import rules_text
from wolfbus.game.roles import team_of
from wolfbus.game.vocabulary import ROLES, Fault
from wolfbus.knowledge.view import OwnAnswer, OwnJudgement, SeatView
from wolfbus.messages.base import SeatName
from wolfbus.messages.content import Choice, Label, Proposal
from wolfbus.messages.events import Statement
from wolfbus.messages.requests import Ask
from wolfbus.reading import Question, read

logger = logging.getLogger(__name__)

LINE_PROTOCOL: Final = 1
"""Version of the line protocol; the `v` of every line to a child."""

_RULES: Final = (
    "debate_turns",
    "bid_max",
    "overbid_at",
    "overbid_factor",
    "whispers",
    "vote_reasons",
    "reveal_on_death",
    "max_rounds",
    "max_reply_bytes",
)
"""Rules that are told as they stand in the config."""


def hello_line(view: SeatView) -> bytes:
    """Return the first line after a start: who the child is, and the rules; it is not answered."""
    return _line(
        {
            "v": LINE_PROTOCOL,
            "type": "hello",
            "seat": view.me,
            "role": view.role,
            "partners": list(view.partners),
            "names": list(view.names),
            "seed": view.brain_seed,
            "rules": _rules(view),
            "rules_text": rules_text(view.config),
        }
    )


def ask_line(ask: Ask, view: SeatView) -> bytes:
    """Return one request as a line."""
    return _line(ask_message(ask, view))


def ask_message(ask: Ask, view: SeatView) -> dict[str, Any]:
    """Return one request, with everything that its seat knows."""
    request: dict[str, Any] = {
        "v": LINE_PROTOCOL,
        "type": "ask",
        "id": ask.id,
        "kind": ask.kind,
        "round": ask.round,
        "phase": ask.phase,
        "turn": ask.turn,
    }
    if ask.about is not None:
        request["about"] = ask.about
    if ask.legal is not None:
        request["legal"] = list(ask.legal)
    request |= {
        "deadline_s": ask.deadline_s,
        "seat": view.me,
        "you": _you(view),
        "names": list(view.names),
        "living": list(view.living),
        "dead": [_dead(view, name) for name in view.dead],
        "statements": [_statement(statement) for statement in view.statements.values()],
        "silences": [
            {"round": fact.round, "turn": fact.turn, "seat": fact.seat}
            for fact in view.public
            if fact.type == "silence"
        ],
        "nights": [{"round": fact.round, "died": fact.died} for fact in view.public if fact.type == "dawn"],
        "votes": _votes(view),
        "rules": _rules(view),
    }
    return request


def bye_line(view: SeatView | None) -> bytes:
    """Return the last line: the game is over, or was broken off; it is not answered."""
    return _line({"v": LINE_PROTOCOL, "type": "bye"} if view is None else bye_message(view))


def bye_message(view: SeatView) -> dict[str, Any]:
    """Return how a game has ended for a seat; nothing of that where it was broken off."""
    bye: dict[str, Any] = {"v": LINE_PROTOCOL, "type": "bye"}
    if view.ended is not None:
        ended = view.ended
        bye |= {"winner": ended.winner, "reason": ended.reason, "rounds": ended.rounds}
        bye["you_won"] = ended.winner == team_of(view.role)
        left = view.departures.get(view.me)
        bye["you_died"] = None if left is None else {"round": left.round, "how": left.how}
        revealed = next((fact.roles for fact in view.public if fact.type == "revealed"), {})
        bye["roles"] = {name: revealed[name] for name in view.names if name in revealed}
    return bye


def _line(message: dict[str, Any]) -> bytes:
    # in ASCII, so that no child's locale can spoil it
    return json.dumps(message, separators=(",", ":"), allow_nan=False).encode("ascii") + b"\n"


def _rules(view: SeatView) -> dict[str, Any]:
    config = view.config
    rules = {name: getattr(config, name) for name in _RULES}
    # only where it is not as it has always been
    label_rule = {"label": config.label} if config.labels_words else {}
    return {"roles": {role: config.count(role) for role in ROLES}} | rules | label_rule


def _you(view: SeatView) -> dict[str, Any]:
    """Return what this seat alone knows: what it is, learned, did and thought."""
    acts: list[dict[str, Any]] = []
    labels: list[dict[str, Any]] = []
    thoughts: list[dict[str, Any]] = []
    for memory in view.private:
        if isinstance(memory, OwnJudgement):
            if memory.thought:
                thoughts.append({"kind": "assess_other", "about": memory.statement, "thought": memory.thought})
            continue
        if not isinstance(memory, OwnAnswer):
            continue
        if memory.thought:
            about = {} if memory.about is None else {"about": memory.about}
            thoughts.append({"kind": memory.kind, "round": memory.round, **about, "thought": memory.thought})
        if isinstance(memory.content, Label):
            labels.append({"statement": memory.about, **_assessed(memory.content)})
        elif isinstance(memory.content, Choice | Proposal):
            acts.append({"round": memory.round, "kind": memory.kind, "target": memory.content.target})
    return {
        "role": view.role,
        "partners": list(view.partners),
        "inspections": dict(view.inspections),
        "acts": acts,
        "whispers": [
            {name: getattr(whisper, name) for name in ("round", "turn", "seat", "target", "word")}
            for whisper in view.whispers
        ],
        "suspicion": {name: round(view.suspicion.of(view.me, name), 4) for name in view.names if name != view.me},
        "labels": labels,
        "judgements": [
            {"statement": number, "suspicion": judgement.suspicion, **_assessed(judgement)}
            for number, judgement in view.judgements.items()
        ],
        "thoughts": thoughts,
        "seed": view.brain_seed,
    }


def _assessed(assessment: Label | OwnJudgement) -> dict[str, Any]:
    return {"deceptive": assessment.deceptive, "confidence": assessment.confidence, "kind": assessment.kind}


def _dead(view: SeatView, name: SeatName) -> dict[str, Any]:
    left: dict[str, Any] = {"seat": name, "how": view.dead[name]}
    if name in view.revealed:
        left["revealed"] = view.revealed[name]
    return left


def _statement(statement: Statement) -> dict[str, Any]:
    return {
        "number": statement.statement,
        "round": statement.round,
        "phase": statement.phase,
        "turn": statement.turn,
        "speaker": statement.speaker,
        "text": statement.text,
    }


def _votes(view: SeatView) -> list[dict[str, Any]]:
    """Return the votes of every day, and whom they exiled once that has happened."""
    exiled = {fact.round: fact.seat for fact in view.public if fact.type == "exile"}
    return [
        {"round": day, "votes": dict(votes), **({"exiled": exiled[day]} if day in exiled else {})}
        for day, votes in view.tallies.items()
    ]


LONGEST: Final = 1_000_000
"""Bytes of a line beyond which the rest of it is thrown away."""

_KEPT: Final = 4_096
"""Bytes that are kept of a line that cannot be used."""
_SHOWN: Final = 60
"""Characters of a printed line that are repeated."""


class Splitter:
    """Cuts a stream of bytes at its line feeds; of a line no more than its first `LONGEST` + 1 bytes are kept."""

    def __init__(self) -> None:
        self._partial = bytearray()

    def feed(self, data: bytes) -> Iterator[bytes]:
        """Take in the next bytes and return the lines they complete, without their ends; blank ones are left out."""
        *ends, rest = data.split(b"\n")
        for end in ends:
            self._add(end)
            yield from self.finish()
        self._add(rest)

    def finish(self) -> Iterator[bytes]:
        """Return the line that was begun, if any: it has come to its end, or the stream has."""
        line = bytes(self._partial).removesuffix(b"\r")
        self._partial.clear()
        if line.strip():
            yield line

    def _add(self, piece: bytes) -> None:
        self._partial += piece[: LONGEST + 1 - len(self._partial)]


def request_id_of(line: bytes, request: str | None = None) -> str | None:
    """Return the id of the request that a line says it answers; None if it names none.

    A line that is no JSON object, such as a broken one, names the open `request` if it has its id
    in it, in quotes: the id of one request may begin that of another.
    """
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        value = None
    if isinstance(value, dict):
        request_id = value.get("id")
        return request_id if request_id is None or isinstance(request_id, str) else repr(request_id)
    if request is None:
        return None
    text = line.decode("utf-8", "replace")
    quoted = (json.dumps(request), json.dumps(request, ensure_ascii=False), f"'{request}'")
    return request if any(form in text for form in quoted) else None


def read_reply(line: bytes, ask: Ask, view: SeatView) -> Answer:
    """Return what a line answers; a line that cannot be used becomes an answer without content that says why."""
    if len(line) > LONGEST:
        return unusable(line, f"the reply has more than {LONGEST} bytes")
    try:
        text = line.decode()
    except UnicodeDecodeError:
        return unusable(line, "the reply is not UTF-8")
    result = read(text, Question(ask.kind, ask.legal, view.names, view.config.bid_max, view.config.max_statement))
    return answer_in_text(text, result, LONGEST)


def unusable(raw: bytes | None, note: str, fault: Fault = "unparseable") -> Answer:
    """Return the answer that closes a request without content; only the start of a long raw text is kept."""
    text = None if raw is None else raw[:_KEPT].decode("utf-8", "replace")
    return Answer(None, fault=fault, raw=text, note=note)


def failed(note: str) -> Answer:
    """Return the answer that closes a request to a child that has ended or cannot be started: nothing is to be read."""
    return unusable(None, note, "failed")


class StrayLines:
    """Lines of one seat's child that answer nothing, such as a banner or "thinking...".

    Args:
        command: the program, as it is named to the user.
    """

    def __init__(self, command: str) -> None:
        self._command = command
        self._warned = False
        self._first = ""
        self._lines = 0

    def add(self, line: bytes, seat: str) -> None:
        """Keep a line for the next answer's note; warn of the first one only, the record has them all."""
        if not self._warned:
            self._warned = True
            logger.warning(
                "%s: exec:%s printed %s, which is no answer: it lacks the request's id",
                seat,
                self._command,
                _quoted(line),
            )
        if not self._lines:
            self._first = _quoted(line)
        self._lines += 1

    def note(self) -> str:
        """Return in words what was printed since the last call; "" for nothing."""
        if not self._lines:
            return ""
        others = f" and {counted(self._lines - 1, 'more line')}" if self._lines > 1 else ""
        self._lines = 0
        return f"it printed {self._first}{others}, which is no answer"


def _quoted(line: bytes) -> str:
    words = printable(line[: 16 * _SHOWN].decode("utf-8", "replace"), _SHOWN)
    return f'"{words}"' if words else "nothing that can be shown"
