"""The reading ladder: model text to a typed reply, by as few liberties as it takes, each of them reported.

clean: the whole text is the JSON asked for · extracted: it stood in a fence, in prose, in a list, a wrapper or a
string · repaired: it was broken or cut off · coerced: values had to be brought into their types, keys were other words,
or there was no JSON at all. What can be read in two ways is not read. (The paper, section 4.3: the benchmark "repairs
malformed outputs with conservative defaults".)
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from wolfbus.messages.content import Content
from wolfbus.reading.answer import JudgedAnswer, Question, judge
from wolfbus.reading.keys import ERROR_KEYS, PARTS
from wolfbus.reading.objects import Found, Search, find, inside
from wolfbus.reading.prose import judge_prose
from wolfbus.reading.text import RUNGS, without_thinking, worse
from wolfbus.vocabulary import Fault, Reading

LONGEST = 1_000_000
"""Characters of a reply beyond which it is not looked at."""

TOO_LONG = f"the reply is longer than {LONGEST} characters"


@dataclass(frozen=True, slots=True)
class Read:
    """What a model's text was read as.

    Attributes:
        content: the reply, of the content type of the kind asked; None if the text cannot be used.
        thought: private thinking found beside it, usable reply or not.
        reading: the lowest rung of the ladder that was needed; None without content.
        fault: why there is no content.
        note: one line that says what is wrong, fit to be sent back to the model.
    """

    content: Content | None = None
    thought: str | None = None
    reading: Reading | None = None
    fault: Fault | None = None
    note: str | None = None


@dataclass(frozen=True, slots=True)
class Fields:
    """The single fields that a model's text still holds, even where they make no whole reply.

    Attributes:
        values: usable fields of the content type, by name, in its types; the kind of deception is settled.
        reading: the lowest rung of the ladder that was needed; None if there is no field at all.
        read: the text read as a whole.
    """

    values: Mapping[str, Any]
    reading: Reading | None
    read: Read


def read(text: str, question: Question) -> Read:
    """Read a model's answer to a request; never raises, whatever the text.

    Args:
        text: the model's text as it came.
        question: what was asked.

    Returns:
        The content and how it was read, or the fault.
    """
    return as_read(_best(question, text))


def read_fields(text: str, question: Question) -> Fields:
    """Like `read`, but return also the fields that are usable where others are missing, as in cut-off logs."""
    answer = _best(question, text)
    ambiguous = answer.fault == "ambiguous"
    values = {} if ambiguous else answer.values if answer.content is None else dict(answer.content)
    return Fields(values, answer.rung if values else None, as_read(answer))


def as_read(answer: JudgedAnswer) -> Read:
    """Return an answer as callers are told of it."""
    if answer.content is None:
        return Read(thought=answer.thought, fault=answer.fault, note=answer.note)
    return Read(answer.content, answer.thought, answer.rung)


def _best(question: Question, text: str) -> JudgedAnswer:
    if len(text) > LONGEST:
        return failed(question, "unparseable", TOO_LONG)
    rest = without_thinking(text)
    answer = answer_of(question, find(rest.text))
    answer.rung = worse(answer.rung, rest.rung)
    answer.thoughts[:0] = rest.thoughts
    return answer


def answer_of(question: Question, search: Search) -> JudgedAnswer:
    """Return the one answer that the objects of a text give, or what is wrong with them."""
    if search.too_many:
        return failed(question, "ambiguous", "the reply holds too many JSON objects")
    answers = [judge(question, each) for found in search.found for each in _candidates(question, found)]
    fitting = [answer for answer in answers if answer.content is not None]
    if fitting:
        return _agreed(question, fitting, answers)
    named = [answer for answer in answers if answer.relevant]
    if named:
        return max(reversed(named), key=lambda answer: answer.relevant)
    if search.rest is not None:
        return judge_prose(question, search.rest)
    complaint = any(ERROR_KEYS & {key.casefold() for key in found.value} for found in search.found)
    needed = " and ".join(f'"{part.keys[0]}"' for part in PARTS[question.kind] if part.needed)
    note = (
        "the reply is an error message, not an answer" if complaint else f"the reply holds no JSON object with {needed}"
    )
    answer = failed(question, "unparseable", note)
    answer.thoughts = [thought for each in answers for thought in each.thoughts]
    return answer


def _candidates(question: Question, found: Found) -> Iterator[Found]:
    """Return the object, and those it wraps if it has nothing itself of what is needed."""
    yield found
    needed = {part.name for part in PARTS[question.kind] if part.needed}
    keys = {
        part.name for key, value in found.value.items() if (part := question.wants(key)) and not isinstance(value, dict)
    }
    if not needed & keys:
        rung = worse(found.rung, "extracted")
        yield from (Found(value, rung, found.cut, guessed=found.guessed) for value in inside(found.value))


def _agreed(question: Question, fitting: list[JudgedAnswer], answers: list[JudgedAnswer]) -> JudgedAnswer:
    """Return the one answer that all fitting objects give, unless there was a later one that cannot be used."""
    if any(answer.decisive() != fitting[0].decisive() for answer in fitting[1:]):
        return failed(question, "ambiguous", "the reply holds several JSON objects that answer differently; give one")
    last = max(index for index, answer in enumerate(answers) if answer.content is not None)
    # an example with placeholders may go before the answer, but what comes after it was meant to replace it
    if any(answer.relevant and (answer.cut or answer.fault != "unparseable") for answer in answers[last + 1 :]):
        return failed(question, "ambiguous", "the reply goes on to a second JSON object that cannot be used; give one")
    return min(fitting, key=lambda answer: RUNGS.index(answer.rung))


def failed(question: Question, fault: Fault, note: str) -> JudgedAnswer:
    """Return an answer without content."""
    answer = JudgedAnswer(question, "coerced")
    answer.fail(fault, note)
    return answer
