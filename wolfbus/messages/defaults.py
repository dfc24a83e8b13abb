"""Answers in whose place a default stands: why, in words, and which of them are for want of a reply."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Final

from wolfbus.files.formats import listed
from wolfbus.files.printable import counted, name_of

if TYPE_CHECKING:
    from wolfbus.messages.base import SeatName
    from wolfbus.messages.events import AnyAnswered

SILENT: Final = "silent"
"""The brain that lets every request time out, by design: its defaults are no fault of a game."""

_WORDS: Final = {
    "timed_out": "no reply",
    "failed": "no reply",
    "error": "an error of the server",
    "unparseable": "unreadable",
    "filtered": "kept back by a filter",
    "cut": "cut off",
}


def cause_of(answer: AnyAnswered) -> str | None:
    """Return why a default stands in an answer's place: "timed_out", or the fault; None where none does."""
    if answer.outcome in {"accepted", "declined"}:
        return None
    return "timed_out" if answer.outcome == "timed_out" or answer.fault is None else answer.fault


def lacks_reply(answer: AnyAnswered) -> bool:
    """Return whether a default stands there for want of a reply, and not for what a reply was."""
    return cause_of(answer) in {"timed_out", "failed", "error"}


def spoilt_in_words(seats: Iterable[SeatName]) -> str:
    """Return the end of a sentence about a game that is spoilt, and by whose answers."""
    names = listed([name_of(seat) for seat in seats])
    return f"is spoilt: too many answers of {names} are defaults for want of a reply"


def defaults_in_words(causes: Mapping[str, int], answers: int) -> str:
    """Return how many of some answers are defaults and why; "" if none is.

    Args:
        causes: how many are, by `cause_of`.
        answers: all that were asked for and not declined.
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
