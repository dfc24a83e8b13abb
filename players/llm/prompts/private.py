"""What one seat alone knows: a line per memory, each fact once; of a day past, what a brief memory keeps."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from players.llm.prompts.quoting import quoted, said
from wolfbus.messages.base import SeatName
from wolfbus.messages.content import Ballot, Choice, Label, Proposal, Speech
from wolfbus.messages.events import Inspection
from wolfbus.messages.requests import Whispered
from wolfbus.view import Memory, OwnAnswer, OwnJudgement, SeatView
from wolfbus.vocabulary import Kind

_LINE: Final = 80
"""Characters of a reasoning that are shown of a day past."""

_CHOSE: Final[dict[Kind, tuple[str, str]]] = {
    "kill": ("to kill", "to kill nobody"),
    "protect": ("to protect", "to protect nobody"),
    "inspect": ("to inspect", "to inspect nobody"),
}


def private_piece(memory: Memory) -> str:
    """Return what a memory adds to a prompt while it is new: one line, or "" where there is nothing to remember.

    Args:
        memory: one of `SeatView.private`.
    """
    if isinstance(memory, OwnJudgement):
        return f"- {_judged(memory)}{_said_why(memory.reasoning)}{_thought(memory.thought)}\n"
    if isinstance(memory, Inspection):
        return f"- Night {memory.round}: your inspection shows that {memory.target} is a {memory.role}.\n"
    if isinstance(memory, Whispered):
        proposed = _proposed(memory.target, memory.word)
        return f"- Night {memory.round}, proposal {memory.turn}: {memory.seat} proposed {proposed}\n"
    line = _answered(memory)
    return f"- {line}\n" if line else ""


def is_past(memory: Memory) -> bool:
    """Return whether a brief memory drops the line of a memory after its day: all but what acts at night did."""
    return not isinstance(memory, Inspection) and not (isinstance(memory, OwnAnswer) and memory.kind in _CHOSE)


def day_in_brief(memories: Sequence[Memory], view: SeatView) -> str:
    """Return what is left of a past day and the night behind it, beside the lines that stay: a line each.

    The night: whom each Werewolf proposed last. The day: every judgement in numbers, and of each player the last
    reasoning that found it deceptive. A statement's text, and who voted for whom, is public and stands above.

    Args:
        memories: those since dawn, in order.
        view: what the seat knows; only what cannot change any more is taken from it.
    """
    judged: dict[SeatName, list[OwnJudgement]] = {}
    labels: list[str] = []
    proposed: dict[str, str] = {}
    for memory in memories:
        if isinstance(memory, OwnJudgement):
            judged.setdefault(view.statements[memory.statement].speaker, []).append(memory)
        elif isinstance(memory, Whispered):
            proposed[memory.seat] = memory.target or "nobody"
        elif isinstance(memory, OwnAnswer) and isinstance(memory.content, Label):
            labels.append(f"[{memory.about}] {_kind(memory.content)}")
        elif isinstance(memory, OwnAnswer) and isinstance(memory.content, Proposal):
            proposed["you"] = memory.content.target or "nobody"
    parts = [f"{speaker} {', '.join(map(_numbers, each))}{_last_reason(each)}" for speaker, each in judged.items()]
    if labels:
        parts.append(f"you {', '.join(labels)}")
    lines = [
        ("You judged: ", parts),
        ("Proposed at night: ", [f"{wolf} {target}" for wolf, target in proposed.items()]),
    ]
    return "".join(f"- {what}{'; '.join(words)}.\n" for what, words in lines if words)


def _last_reason(judged: Sequence[OwnJudgement]) -> str:
    reasons = [judgement.reasoning for judgement in judged if judgement.deceptive and judgement.reasoning.strip()]
    return f" {quoted(reasons[-1], _LINE)}" if reasons else ""


def _judged(memory: OwnJudgement) -> str:
    return f"[{memory.statement}] {_kind(memory)} {memory.suspicion:.2f}/{memory.confidence:.2f}"


def _numbers(memory: OwnJudgement) -> str:
    return _judged(memory).replace(" none ", " ")


def _kind(assessed: OwnJudgement | Label) -> str:
    """Return an assessment in a word."""
    if not assessed.deceptive:
        return "none"
    return "deceptive" if assessed.kind in {"none", "unspecified"} else assessed.kind


def _answered(memory: OwnAnswer) -> str:
    content, thought = memory.content, _thought(memory.thought)
    if isinstance(content, Speech):
        # what was said follows as a public line
        return f"Your thought before you spoke: {quoted(memory.thought)}" if thought and memory.thought else ""
    if isinstance(content, Label):
        why = _said_why(content.reasoning)
        return f"[{memory.about}] your own: {_kind(content)} {content.confidence:.2f}{why}{thought}"
    if isinstance(content, Ballot):
        # who voted for whom is public
        return f"Your thought at the vote: {quoted(memory.thought)}" if thought and memory.thought else ""
    if isinstance(content, Proposal):
        return f"Night {memory.round}: you proposed {_proposed(content.target, content.word)}{thought}"
    if isinstance(content, Choice):
        some, none = _CHOSE[memory.kind]
        what = none if content.target is None else f"{some} {content.target}"
        return f"Night {memory.round}: you chose {what}.{thought}"
    return _without_answer(memory, thought)


def _without_answer(memory: OwnAnswer, thought: str) -> str:
    """Return what there is to remember of a request that the conservative default was taken for."""
    if memory.kind == "speak":
        what = "you had the floor and said nothing"
    elif memory.kind == "vote":
        what = "you gave no valid vote, which counts as abstaining"
    elif memory.kind == "assess_own":
        return f"[{memory.about}] your own: no label.{thought}" if thought else ""
    elif memory.kind == "whisper":
        what = "you gave no valid proposal"
    else:
        what = f"you gave no valid answer whom {_CHOSE[memory.kind][0]}"
    when = "Day" if memory.kind in {"speak", "vote"} else "Night"
    return f"{when} {memory.round}: {what}.{thought}"


def _proposed(target: SeatName | None, word: str) -> str:
    whom = f"to kill {'nobody' if target is None else target}"
    return f"{whom}, saying {said(word)}" if word.strip() else f"{whom}."


def _said_why(reasoning: str) -> str:
    return f" {quoted(reasoning)}" if reasoning.strip() else ""


def _thought(thought: str | None) -> str:
    return f" Thought: {quoted(thought)}" if thought and thought.strip() else ""
