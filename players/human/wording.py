"""Names, answers and what they count as, in the words that a person at the table reads."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from wolfbus.messages.base import SeatName
from wolfbus.messages.content import Ballot, Bid, Choice, Content, Judgement, Label, Proposal, Speech
from wolfbus.printable import STATEMENT_SHOWN, name_of, printable, spoken
from wolfbus.view import OwnJudgement, SeatView
from wolfbus.vocabulary import Kind

WHOLE: Final = 4_000
"""Characters of a statement that are shown to somebody who has to judge it."""

COUNTS_AS: Final[dict[Kind, str]] = {
    "bid": "a bid of 0",
    "speak": "silence",
    "assess_own": "no label",
    "assess_other": "no judgement",
    "vote": "abstaining",
    "kill": "no kill",
    "protect": "protecting nobody",
    "inspect": "inspecting nobody",
    "whisper": "no proposal",
}
"""The conservative default per kind of request."""

NOUNS: Final[dict[Kind, str]] = {
    "bid": "bid",
    "speak": "statement",
    "assess_own": "label",
    "assess_other": "judgement",
    "vote": "vote",
    "kill": "kill",
    "protect": "protection",
    "inspect": "inspection",
    "whisper": "proposal",
}


def names_of(names: Iterable[SeatName | None]) -> str:
    """Return names as a list; "nobody" for none."""
    return ", ".join(name_of(name) for name in names) or "nobody"


def who(view: SeatView, name: SeatName) -> str:
    """Return "you" for the person's own seat, else the name."""
    return "you" if name == view.me else name_of(name)


def seconds_in_words(seconds: float) -> str:
    """Return a time as "45 s" or "2 min 05 s"; never less than 1 s."""
    whole = max(1, round(seconds))
    return f"{whole} s" if whole < 100 else f"{whole // 60} min {whole % 60:02} s"


def assessed(deceptive: bool, kind: str) -> str:
    """Return "honest", "deceptive", or "deceptive (omission)"."""
    if not deceptive:
        return "honest"
    return "deceptive" if kind in {"none", "unspecified"} else f"deceptive ({kind})"


def content_in_words(content: Content, view: SeatView, about: int | None = None) -> str:
    """Return an answer as it was understood, after "You": "You vote for Hugo, saying “…”"."""
    if isinstance(content, Bid):
        return f"You bid {content.bid}."
    if isinstance(content, Speech):
        return f"You say: “{spoken(content.text)}”" if content.text.strip() else "You say nothing."
    if isinstance(content, Label):
        sure = f"{content.confidence:.0%} sure"
        return f"You label #{about} {assessed(content.deceptive, content.kind)}, {sure}{_because(content.reasoning)}."
    if isinstance(content, Judgement):
        return judgement_in_words(content, view, about)
    if isinstance(content, Ballot):
        words = f", saying “{spoken(content.reason)}”" if content.reason else ""
        return f"You vote for {who(view, content.target)}{words}." if content.target else f"You abstain{words}."
    if isinstance(content, Proposal):
        word = f", with the words “{spoken(content.word)}”" if content.word else ""
        return f"You propose {name_of(content.target)}{word}."
    return f"You choose {_chosen(content, view)}."


def judgement_in_words(judgement: Judgement | OwnJudgement, view: SeatView, about: int | None) -> str:
    """Return "You judge #3 of Ada honest, suspicion 0.20, 80% sure."."""
    said = view.statements.get(about) if about is not None else None
    speaker = f" of {name_of(said.speaker)}" if said is not None else ""
    return (
        f"You judge #{about}{speaker} {assessed(judgement.deceptive, judgement.kind)}, "
        f"suspicion {judgement.suspicion:.2f}, {judgement.confidence:.0%} sure{_because(judgement.reasoning)}."
    )


def _chosen(content: Choice, view: SeatView) -> str:
    return "yourself" if content.target == view.me else name_of(content.target)


def _because(reasoning: str) -> str:
    words = printable(reasoning, STATEMENT_SHOWN)
    return f", because {words.rstrip('.')}" if words else ""
