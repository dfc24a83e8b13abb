"""What one seat alone knows: its role card, then a line per memory, in order."""

from __future__ import annotations

from typing import Final

from players.llm.prompts.quoting import quoted, said
from players.llm.prompts.roles import role_card
from wolfbus.messages.base import SeatName
from wolfbus.messages.content import Ballot, Choice, Label, Proposal, Speech
from wolfbus.messages.events import Inspection
from wolfbus.messages.requests import Whispered
from wolfbus.view import Memory, OwnAnswer, OwnJudgement, SeatView
from wolfbus.vocabulary import Deception, Kind

_EXCERPT: Final = 80
"""Characters of an own statement that are enough to know which one a thought belongs to."""

_CHOSE: Final[dict[Kind, tuple[str, str]]] = {
    "kill": ("to kill", "to kill nobody"),
    "protect": ("to protect", "to protect nobody"),
    "inspect": ("to inspect", "to inspect nobody"),
}


def private_opening(view: SeatView) -> str:
    """Return what the private part of a seat's prompts begins with."""
    return f"\nPRIVATE: what you alone know\n{role_card(view)}"


def private_piece(memory: Memory, view: SeatView) -> str:
    """Return what a memory adds to the private part: one line, or "" where there is nothing to remember.

    Args:
        memory: one of `view.private`.
        view: the seat's knowledge; only what cannot change after the memory is taken from it.
    """
    if isinstance(memory, OwnJudgement):
        return _judged(memory, view.statements[memory.statement].speaker)
    if isinstance(memory, Inspection):
        return f"Night {memory.round}: your inspection shows that {memory.target} is a {memory.role}.\n"
    if isinstance(memory, Whispered):
        proposed = _proposed(memory.target, memory.word)
        return f"Night {memory.round}, proposal {memory.turn}: {memory.seat} proposed {proposed}\n"
    return _answered(memory)


def called(deceptive: bool, kind: Deception) -> str:
    """Return an assessment in a word or two."""
    if not deceptive:
        return "not deceptive"
    return "deceptive" if kind in {"none", "unspecified"} else f"deceptive ({kind})"


def _judged(memory: OwnJudgement, speaker: SeatName) -> str:
    return (
        f"[{memory.statement}] {speaker}: you judged this {called(memory.deceptive, memory.kind)}, "
        f"suspicion {memory.suspicion:.2f}, confidence {memory.confidence:.2f}."
        f"{_because(memory.reasoning)}{_thought(memory.thought)}\n"
    )


def _answered(memory: OwnAnswer) -> str:
    content, thought = memory.content, _thought(memory.thought)
    if isinstance(content, Speech):
        return f"Day {memory.round}: you said {quoted(content.text, _EXCERPT)}{thought}\n" if thought else ""
    if isinstance(content, Label):
        return (
            f"[{memory.about}] You: you labelled this {called(content.deceptive, content.kind)}, "
            f"confidence {content.confidence:.2f}.{_because(content.reasoning)}{thought}\n"
        )
    if isinstance(content, Ballot):
        what = "you abstained" if content.target is None else f"you voted for {content.target}"
        return f"Day {memory.round}: {what}.{thought}\n"
    if isinstance(content, Proposal):
        return f"Night {memory.round}: you proposed {_proposed(content.target, content.word)}{thought}\n"
    if isinstance(content, Choice):
        some, none = _CHOSE[memory.kind]
        what = none if content.target is None else f"{some} {content.target}"
        return f"Night {memory.round}: you chose {what}.{thought}\n"
    return _without_answer(memory, thought)


def _without_answer(memory: OwnAnswer, thought: str) -> str:
    """Return what there is to remember of a request that the conservative default was taken for."""
    if memory.kind == "speak":
        what = "you had the floor and said nothing"
    elif memory.kind == "vote":
        what = "you gave no valid vote, which counts as abstaining"
    elif memory.kind == "assess_own":
        return f"[{memory.about}] You: you gave no label.{thought}\n" if thought else ""
    elif memory.kind == "whisper":
        what = "you gave no valid proposal"
    else:
        what = f"you gave no valid answer whom {_CHOSE[memory.kind][0]}"
    when = "Day" if memory.kind in {"speak", "vote"} else "Night"
    return f"{when} {memory.round}: {what}.{thought}\n"


def _proposed(target: SeatName | None, word: str) -> str:
    whom = f"to kill {'nobody' if target is None else target}"
    return f"{whom}, saying {said(word)}" if word.strip() else f"{whom}."


def _because(reasoning: str) -> str:
    return f" Reasoning: {quoted(reasoning)}" if reasoning.strip() else ""


def _thought(thought: str | None) -> str:
    return f" Your thought: {quoted(thought)}" if thought and thought.strip() else ""
