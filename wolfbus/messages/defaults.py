"""Answers in whose place a default stands: why, in words, and which of them are for want of a reply."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Final

from wolfbus.files.formats import listed
from wolfbus.files.printable import counted, name_of
from wolfbus.game.roles import ASKED_FOR

if TYPE_CHECKING:
    from wolfbus.game.vocabulary import Kind
    from wolfbus.messages.base import SeatName
    from wolfbus.messages.events import AnyAnswered

SILENT: Final = "silent"
"""The brain that lets every request time out, by design: its defaults are no fault of a game."""

SILENCED: Final = "kept silent by the fork"
"""The note of a statement in whose place a fork has none."""

_WORDS: Final = {
    "timed_out": "no reply",
    "failed": "no reply",
    "error": "an error of the server",
    "unparseable": "unreadable",
    "filtered": "kept back by a filter",
    "cut": "cut off",
}


def is_silenced(answer: AnyAnswered) -> bool:
    """Return whether a fork keeps a seat silent here: nobody was asked.

    No agent brings that about with a note of its own: what it is asked for and does not answer has a fault, or is late.
    """
    return answer.outcome == "defaulted" and answer.fault is None and answer.note == SILENCED


def was_asked_for(answer: AnyAnswered) -> bool:
    """Return whether a seat was asked for an answer, and its agent answers such questions."""
    return answer.outcome != "declined" and not is_silenced(answer)


def cause_of(answer: AnyAnswered) -> str | None:
    """Return why a default stands in an answer's place: "timed_out", or the fault; None where none does, or where
    nobody was asked.
    """
    if answer.outcome == "accepted" or not was_asked_for(answer):
        return None
    return "timed_out" if answer.outcome == "timed_out" or answer.fault is None else answer.fault


def lacks_reply(answer: AnyAnswered) -> bool:
    """Return whether a default stands there for want of a reply, and not for what a reply was."""
    return cause_of(answer) in {"timed_out", "failed", "error"}


def spoilt_in_words(seats: Iterable[SeatName]) -> str:
    """Return the end of a sentence about a game that is spoilt, and by whose answers."""
    names = listed([name_of(seat) for seat in seats])
    return f"is spoilt: too many answers of {names} are defaults for want of a reply"


def never_given(name: str, defaults: Mapping[Kind, int], answers: Mapping[Kind, int]) -> str:
    """Return a line on the kinds of answer that somebody was asked for several times and never gave in a form that
    could be used; "" for none, or if it gave none of any kind.

    Args:
        name: who was asked.
        defaults: how many of its answers are defaults, by kind.
        answers: how many it was asked for.
    """
    kinds = [kind for kind, number in answers.items() if number > 1 and defaults.get(kind) == number]
    if not kinds or sum(defaults.values()) == sum(answers.values()):
        return ""
    words = listed([counted(answers[kind], ASKED_FOR[kind]) for kind in kinds])
    return f"none of {words} asked of {name} could be used"


def defaults_in_words(causes: Mapping[str, int], answers: int) -> str:
    """Return how many of some answers are defaults and why; "" if none is.

    Args:
        causes: how many are, by `cause_of`.
        answers: all that were asked for; see `was_asked_for`.
    """
    words = Counter[str]()
    for cause, number in causes.items():
        words[_WORDS.get(cause, cause)] += number
    if not (count := defaults_of(words.total(), answers)):
        return ""
    why = ", ".join(f"{number:,} {cause}" for cause, number in words.most_common())
    return f"{count} ({why})"


def defaults_of(defaults: int, answers: int) -> str:
    """Return how many of some answers are defaults, in words; "" if none is."""
    if not defaults:
        return ""
    return f"{defaults:,} of {counted(answers, 'answer')} {'is a default' if defaults == 1 else 'are defaults'}"
