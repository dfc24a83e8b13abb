"""The reading ladder: model text to a typed reply, by as few liberties as it takes, each of them reported.

clean: the whole text is the JSON asked for · extracted: it stood in a fence, in prose, in a list, a wrapper or a
string · repaired: it was broken or cut off · coerced: values had to be brought into their types, keys were other words,
or there was no JSON at all. What can be read in two ways is not read. (The paper, section 4.3: the benchmark "repairs
malformed outputs with conservative defaults".)
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from wolfbus.game.config import NOBODY_WORDS
from wolfbus.game.vocabulary import Fault, Reading
from wolfbus.messages.content import Ballot, Bid, Choice, Content, Proposal, Speech
from wolfbus.reading.answer import LINE_LABEL, JudgedAnswer, Question, holds_marked_thoughts, judge
from wolfbus.reading.copies import is_placeholder
from wolfbus.reading.keys import ALWAYS_THOUGHTS, ERROR_KEYS, PARTS, THOUGHTS, folded
from wolfbus.reading.objects import ParsedObject, Search, find_objects, inside
from wolfbus.reading.refusals import REFUSED, holds_refusing_words, is_outage, is_refusal
from wolfbus.reading.text import RUNGS, Members, quoted, without_thinking, worse
from wolfbus.reading.values import NUMBER_WORDS, Bad, read_whole, resolve_name

LONGEST: Final = 1_000_000
"""Characters of a reply beyond which it is not looked at."""
_LONGEST_PROSE: Final = 4_000
"""Characters of a reply without JSON; whoever says more answers something else."""
_LONGEST_BID: Final = 200

TOO_LONG: Final = f"the reply is longer than {LONGEST} characters"
ERROR_MESSAGE: Final = "the reply is an error message, not an answer"


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
    return as_read(_judge_text(question, text))


def read_fields(text: str, question: Question) -> Fields:
    """Like `read`, but return also the fields that are usable where others are missing, as in cut-off logs."""
    answer = _judge_text(question, text)
    ambiguous = answer.fault == "ambiguous"
    values = {} if ambiguous else answer.values if answer.content is None else dict(answer.content)
    return Fields(values, answer.rung if values else None, as_read(answer))


def as_read(answer: JudgedAnswer) -> Read:
    """Return an answer as callers see it."""
    if answer.content is None:
        return Read(thought=answer.thought, fault=answer.fault, note=answer.note)
    return Read(answer.content, answer.thought, answer.rung)


def _judge_text(question: Question, text: str) -> JudgedAnswer:
    if len(text) > LONGEST:
        return failed(question, "unparseable", TOO_LONG)
    cleaned = without_thinking(text)
    answer = answer_of(question, find_objects(cleaned.text))
    answer.rung = worse(answer.rung, cleaned.rung)
    answer.thoughts[:0] = cleaned.thoughts
    return answer


def answer_of(question: Question, search: Search) -> JudgedAnswer:
    """Return the one answer that the objects of a text give, or what is wrong with them."""
    if search.too_many:
        return failed(question, "ambiguous", "the reply holds too many JSON objects")
    answers = [judge(question, value) for parsed in search.objects for value in _candidates(question, parsed)]
    usable = [answer for answer in answers if answer.content is not None]
    if usable:
        return _agreed(question, usable, answers)
    relevant = [answer for answer in answers if answer.relevant]
    if relevant:
        return max(reversed(relevant), key=lambda answer: answer.relevant)
    if search.plain is not None:
        return judge_prose(question, search.plain)
    needed = " and ".join(f'"{part.keys[0]}"' for part in PARTS[question.kind] if part.needed)
    note = ERROR_MESSAGE if is_complaint(search) else f"the reply holds no JSON object with {needed}"
    answer = failed(question, "unparseable", note)
    answer.thoughts = [thought for other in answers for thought in other.thoughts]
    return answer


def is_complaint(search: Search) -> bool:
    """Return whether one of the objects of a text tells of an error."""
    return any(ERROR_KEYS & {key.casefold() for key in parsed.value} for parsed in search.objects)


def is_error_message(text: str) -> bool:
    """Return whether a whole reply tells of an error in its model's place."""
    search = find_objects(without_thinking(text).text)
    return is_complaint(search) if search.objects else is_outage(text)


def _candidates(question: Question, parsed: ParsedObject) -> Iterator[ParsedObject]:
    """Return the object, and those it wraps if it has nothing itself of what is needed."""
    yield parsed
    members = [(question.part_for(key), value) for key, value in parsed.value.items()]
    if not any(part is not None and part.needed and not isinstance(value, dict) for part, value in members):
        rung = worse(parsed.rung, "extracted")
        for value in inside(parsed.value):
            answer = _with_siblings(question, value, parsed.value)
            yield ParsedObject(answer, rung, parsed.cut, guessed=parsed.guessed)


def _with_siblings(question: Question, value: Members, wrapper: Members) -> Members:
    """Return a wrapped answer with the thoughts beside it, and with its other parts where it stands for a part."""
    is_part = any(item is value and question.part_for(key) is not None for key, item in wrapper.items())
    siblings = {
        key: item
        for key, item in wrapper.items()
        if not isinstance(item, dict)
        and (folded(key) in THOUGHTS[question.kind] or (is_part and question.part_for(key) is not None))
    }
    answer = Members(siblings | value)
    answer.repeated = value.repeated
    return answer


def _agreed(question: Question, usable: list[JudgedAnswer], answers: list[JudgedAnswer]) -> JudgedAnswer:
    """Return the one answer that all usable objects give, unless there was a later one that cannot be used."""
    if any(answer.decisive() != usable[0].decisive() for answer in usable[1:]):
        return failed(question, "ambiguous", "the reply holds several JSON objects that answer differently; give one")
    last = max(index for index, answer in enumerate(answers) if answer.content is not None)
    # an example with placeholders may go before the answer, but what comes after it was meant to replace it
    if any(answer.relevant and (answer.cut or answer.fault != "unparseable") for answer in answers[last + 1 :]):
        return failed(question, "ambiguous", "the reply goes on to a second JSON object that cannot be used; give one")
    return min(usable, key=lambda answer: RUNGS.index(answer.rung))


def failed(question: Question, fault: Fault, note: str) -> JudgedAnswer:
    """Return an answer without content."""
    answer = JudgedAnswer(question, "coerced")
    answer.fail(fault, note)
    return answer


_PAGE = re.compile(r"\s*<(?:!doctype|html|head|body|\?xml)\b", re.IGNORECASE)
_WHOLE_FENCE = re.compile(r"\s*```[^\n`]*\n(.*?)\n?\s*```\s*", re.DOTALL)
_NUMBER = r"\d+(?:\.\d+)?|" + "|".join(NUMBER_WORDS)
_BID = re.compile(
    r"\W*(?:(?:my|the|is|i|i'd|i['’]ll|would|will|want|to|bid|of|a|an|at|with|urgency|answer|number|say|final|speak)\W+)*"
    rf"(?<![-−–])(?P<bid>-?(?:{_NUMBER})(?:\s*(?:/|out of)\s*(?:{_NUMBER}))?)(?!\s*%)(?:\W+bid)?\W*",
    re.IGNORECASE,
)


def judge_prose(question: Question, text: str) -> JudgedAnswer:
    """Return what a text without any JSON says in answer to `question`.

    A statement may be plain prose, a bid a lone number, a vote or a night's choice a lone name; all count as coerced.
    Assessments have no plain form.
    """
    answer = JudgedAnswer(question, "coerced")
    fence = _WHOLE_FENCE.fullmatch(text)
    plain = (fence.group(1) if fence else text).strip()
    fault = _fault_of_prose(question, plain)
    if is_refusal(plain, question.names):
        answer.fail("refused", REFUSED)
    elif fault is not None:
        answer.fail("unparseable", fault)
    elif question.kind == "speak":
        answer.content = Speech(text=_without_quotes(plain))
    elif question.kind == "bid":
        _read_bid(answer, plain)
    elif question.kind in {"assess_own", "assess_other"}:
        answer.fail("unparseable", "the reply holds no JSON object")
    else:
        _read_choice(answer, plain)
    return answer


def _fault_of_prose(question: Question, plain: str) -> str | None:
    if not plain:
        return "the reply is empty"
    if _PAGE.match(plain):
        return "the reply is a web page, not an answer"
    if len(plain) > _LONGEST_PROSE:
        return f"the reply holds no JSON object, and {len(plain)} characters of other text"
    if holds_refusing_words(plain):
        return REFUSED
    return _fault_of_statement(question, plain) if question.kind == "speak" else None


def _fault_of_statement(question: Question, plain: str) -> str | None:
    if is_outage(plain):
        return "the reply is an error message, not a statement"
    if not any(letter.isalpha() for letter in plain) or plain.casefold() in NOBODY_WORDS:
        return f"the reply is no statement: {quoted(plain)}"
    if is_placeholder(plain, question.descriptions):
        return f"the reply must be words of your own, not {quoted(plain)}"
    if plain.startswith(("{", "}", "[", "```", "<")):
        return "the reply is neither JSON nor a plain statement"
    labels = list(LINE_LABEL.finditer(plain))
    if labels and labels[0].start() == 0 and folded(labels[0][1]) in THOUGHTS["speak"]:
        # "Analysis: Bram lies" may be meant for all; nothing tells it from a thought, and a thought is never published
        return "the reply begins with private thoughts, not with a statement"
    if holds_marked_thoughts(plain) or any(folded(label[1]) in ALWAYS_THOUGHTS for label in labels):
        return "the reply holds private thoughts beside a statement"
    return None


def _without_quotes(plain: str) -> str:
    for opening, closing in ('""', "“”", "«»"):
        words = plain[1:-1]
        if len(plain) > 2 and (plain[0], plain[-1]) == (opening, closing) and not {opening, closing} & set(words):
            plain = words.strip()
    return plain


def _read_bid(answer: JudgedAnswer, plain: str) -> None:
    match = _BID.fullmatch(plain) if len(plain) <= _LONGEST_BID else None
    if match is None:
        answer.fail("unparseable", f'the reply holds no JSON object with "bid", and no lone number: {quoted(plain)}')
        return
    value = read_whole(match.group("bid"), answer.question.bid_max)
    if isinstance(value, Bad):
        answer.fail(value.fault, f"the bid {value.why}")
    else:
        answer.content = Bid(bid=value.value)


def _read_choice(answer: JudgedAnswer, plain: str) -> None:
    question = answer.question
    legal = question.legal if question.legal is not None else [*question.names, None]
    resolved = resolve_name(plain, legal, question.names, against=question.kind == "vote")
    if resolved.fault == "ambiguous":
        answer.fail("ambiguous", f"the reply does not say plainly whom: {quoted(plain)}")
    elif resolved.fault is not None:
        answer.fail("unparseable", f'the reply holds no JSON object with "target", and no legal name: {quoted(plain)}')
    elif question.kind == "vote":
        answer.content = Ballot(target=resolved.name)
    elif question.kind == "whisper":
        answer.content = Proposal(target=resolved.name)
    else:
        answer.content = Choice(target=resolved.name)
