"""The line protocol, our half: what a child process is told, one JSON object a line; see docs/line-protocol.md.

Every request holds all that its seat knows, so that an agent need not remember anything. Version 1 only grows: members
may be added, none is renamed, removed or given another meaning.
"""

from __future__ import annotations

import json
from typing import Any, Final

from wolfbus.messages.base import SeatName
from wolfbus.messages.content import Choice, Label, Proposal
from wolfbus.messages.events import Statement
from wolfbus.messages.requests import Ask
from wolfbus.rules import rules_text
from wolfbus.view import OwnAnswer, OwnJudgement, SeatView
from wolfbus.vocabulary import ROLES, team_of

LINE_PROTOCOL: Final = 1
"""Version of the line protocol; the `v` of every line to a child."""


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
    return _line(request)


def bye_line(view: SeatView | None) -> bytes:
    """Return the last line: the game is over, or was broken off; it is not answered."""
    bye: dict[str, Any] = {"v": LINE_PROTOCOL, "type": "bye"}
    if view is not None and view.ended is not None:
        ended = view.ended
        bye |= {"winner": ended.winner, "reason": ended.reason, "rounds": ended.rounds}
        bye["you_won"] = ended.winner == team_of(view.role)
        death = view.death
        bye["you_died"] = None if death is None else {"round": death.round, "how": view.dead[view.me]}
        revealed = next((fact.roles for fact in view.public if fact.type == "revealed"), {})
        bye["roles"] = {name: revealed[name] for name in view.names if name in revealed}
    return _line(bye)


def _line(message: dict[str, Any]) -> bytes:
    # in ASCII, so that no child's locale can spoil it
    return json.dumps(message, separators=(",", ":"), allow_nan=False).encode("ascii") + b"\n"


def _rules(view: SeatView) -> dict[str, Any]:
    config = view.config
    return {
        "roles": {role: config.count(role) for role in ROLES},
        "debate_turns": config.debate_turns,
        "bid_max": config.bid_max,
        "overbid_at": config.overbid_at,
        "overbid_factor": config.overbid_factor,
        "whispers": config.whispers,
        "vote_reasons": config.vote_reasons,
        "reveal_on_death": config.reveal_on_death,
        "max_rounds": config.max_rounds,
        "max_reply_bytes": config.max_reply_bytes,
    }


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
            {"round": heard.round, "turn": heard.turn, "seat": heard.seat, "target": heard.target, "word": heard.word}
            for heard in view.whispers
        ],
        "suspicion": {name: round(view.suspicion.of(view.me, name), 4) for name in view.names if name != view.me},
        "labels": labels,
        "judgements": [
            {"statement": own.statement, "suspicion": own.suspicion, **_assessed(own)}
            for own in view.judgements.values()
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
