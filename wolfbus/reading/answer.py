"""One JSON object judged as an answer to a request: which parts it has, what they are worth, what is wrong with it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from pydantic import ValidationError

from wolfbus.messages.content import CONTENT, Content
from wolfbus.reading.keys import INDEX, OUTER_THOUGHTS, PARTS, THOUGHTS, AnswerPart, folded
from wolfbus.reading.objects import Found, ends_where_written
from wolfbus.reading.text import LostMember, Members, clean_value, one_line, quoted, without_thinking, worse
from wolfbus.reading.values import (
    Bad,
    Got,
    Value,
    kind_of,
    normalise,
    read_claims,
    resolve_name,
    settle,
    truth,
    unit,
    whole,
    words,
)
from wolfbus.vocabulary import DECEPTIONS, Deception, Fault, Kind, Reading

_LONGEST_NAME = 32
_ANY_KIND = "?"
_PLACEHOLDER = re.compile(r"\s*<[^<>]*>\s*")
_SET_APART = re.compile(r"(?:[(\[{<]|(?<!\w)[*_]{1,3})\s{0,3}([^\W\d_][\w -]{0,40}?)\s{0,3}[*_]{0,3}\s{0,3}:")
"""The label of words in brackets or asterisks."""


@dataclass(frozen=True, slots=True)
class Question:
    """What was asked.

    Attributes:
        kind: the kind of request.
        legal: names that may be answered, None among them for nobody or abstaining; None if that is not known.
        names: all players, living or not.
        bid_max: the highest legal bid.
    """

    kind: Kind
    legal: Sequence[str | None] | None = None
    names: Sequence[str] = ()
    bid_max: int = 10

    def wants(self, key: str) -> AnswerPart | None:
        """Return the part of the answer that a key stands for, None if it is none."""
        return INDEX[self.kind].get(folded(key))


@dataclass(slots=True)
class JudgedAnswer:
    """What an object says, as far as it can be used."""

    question: Question
    rung: Reading
    values: dict[str, Any] = field(default_factory=dict)
    """Fields of the content type, in its types; `kind` not yet settled."""
    thoughts: list[str] = field(default_factory=list)
    fault: Fault | None = None
    note: str | None = None
    content: Content | None = None
    relevant: int = 0
    """How many of the asked parts it names."""
    cut: bool = False
    """Whether the text stopped in the middle of it."""

    @property
    def thought(self) -> str | None:
        """The private thoughts, in the order they were written."""
        return "\n\n".join(self.thoughts) or None

    def fail(self, fault: Fault, note: str) -> None:
        """Note what is wrong; the first mistake is the one that is named."""
        if self.fault is None:
            self.fault, self.note = fault, one_line(note)

    def decisive(self) -> tuple[Any, ...]:
        """Return what two answers must share to be the same answer: all but the reasoning."""
        return tuple(value for name, value in self.content or () if name != "reasoning")


def judge(question: Question, found: Found) -> JudgedAnswer:
    """Return what `found` says in answer to `question`."""
    cleaned: Members = clean_value(found.value)
    rung = found.rung if cleaned is found.value else worse(found.rung, "repaired")
    answer = JudgedAnswer(question, rung, cut=found.cut)
    by_part: dict[str, list[tuple[str, Any]]] = {}
    for key, value in cleaned.items():
        part = question.wants(key)
        if part is not None:
            by_part.setdefault(part.name, []).append((key, value))
        elif folded(key) in THOUGHTS[question.kind]:
            answer.thoughts += _thought(value)
    answer.relevant = len(by_part)
    for part in PARTS[question.kind]:
        _take(answer, part, by_part.get(part.name, []), cleaned.repeated, found)
    if found.lost is not None:
        _take_lost(answer, found.lost)
    _finish(answer)
    return answer


def _take(
    answer: JudgedAnswer, part: AnswerPart, given: list[tuple[str, Any]], repeated: frozenset[str], found: Found
) -> None:
    if part.shape != "name" or len(given) > 1:
        # a null says nothing, unless it stands alone for nobody
        nulls = len(given)
        given = [each for each in given if each[1] is not None]
        if len(given) < nulls and not part.nullable:
            answer.rung = worse(answer.rung, "coerced")
    if not given:
        if part.needed:
            cut = "the reply was cut off before" if found.cut else "the reply lacks"
            answer.fail("unparseable", f'{cut} "{part.keys[0]}"')
        return
    given.sort(key=lambda each: part.keys.index(each[0]) if each[0] in part.keys else len(part.keys))
    key = given[0][0]
    value = _agreed(answer.question, part, given, repeated)
    if isinstance(value, Got) and part.public and found.guessed and not _has_its_end(value.value, found.guessed):
        value = Bad("unparseable", "has quotation marks in it that are not escaped, so its end cannot be told")
    if isinstance(value, Got):
        answer.values[part.name] = value.value
        if value.coerced or key not in part.keys:
            answer.rung = worse(answer.rung, "coerced")
    elif part.needed:
        answer.fail(value.fault, f'"{key}" {value.why}')
    else:
        answer.rung = worse(answer.rung, "coerced")


def _agreed(question: Question, part: AnswerPart, given: list[tuple[str, Any]], repeated: frozenset[str]) -> Value:
    """Return the value under a part's first key; for what is needed, other keys must not say otherwise."""
    first, *others = (_value(question, part, value) for _, value in given)
    if part.needed and (any(not _same(first, other) for other in others) or any(key in repeated for key, _ in given)):
        return Bad("ambiguous", "is given twice, and differently")
    return first


def _same(one: Value, other: Value) -> bool:
    return isinstance(one, Got) and isinstance(other, Got) and one.value == other.value


def _has_its_end(value: Any, source: str) -> bool:
    return not isinstance(value, str) or ends_where_written(value, source)


def _take_lost(answer: JudgedAnswer, lost: LostMember) -> None:
    """Say what was cut off, and keep the beginning of a text where only researchers read it."""
    part = answer.question.wants(lost.key)
    text: str = clean_value(lost.text or "")
    if part is None:
        if folded(lost.key) in THOUGHTS[answer.question.kind]:
            answer.thoughts += _thought(text)
        return
    answer.relevant += 1
    if part.name == "reasoning" and text:
        answer.values.setdefault("reasoning", text)
    elif part.needed and answer.fault == "unparseable" and part.name not in answer.values:
        answer.note = one_line(f'the reply was cut off in "{lost.key}"')


def _value(question: Question, part: AnswerPart, value: Any) -> Value:
    if part.shape == "whole":
        return whole(value, question.bid_max)
    if part.shape == "name":
        return _name(question, value)
    if part.shape == "claims":
        return Got(*read_claims(value, question.names))
    if part.public and isinstance(value, str):
        if without_thinking(value).thoughts:
            return Bad("unparseable", "holds private thoughts between tags")
        if sets_thoughts_apart(value):
            return Bad("unparseable", "holds private thoughts in brackets or asterisks")
        if _PLACEHOLDER.fullmatch(value):
            return Bad("unparseable", f"must be words of your own, not {quoted(value)}")
    simple = {"truth": truth, "unit": unit, "words": words, "deception": _deception, "stated": _stated}
    return simple[part.shape](value)


def sets_thoughts_apart(text: str) -> bool:
    """Return whether words that others would hear hold thoughts marked as such: "(private: …)", "*private: …*"."""
    return any(folded(label) in OUTER_THOUGHTS for label in _SET_APART.findall(text))


def _deception(given: Any) -> Value:
    value = given
    if isinstance(value, list) and len(value) == 1:
        value = value[0]
    if isinstance(value, str):
        kind = kind_of(value)
        return Got(kind or _ANY_KIND, coerced=given != kind)
    return Got(_ANY_KIND, coerced=True)


def _stated(value: Any) -> Value:
    return Got(value) if value in DECEPTIONS else Bad("unparseable", "is no kind of deception")


def _name(question: Question, value: Any) -> Value:
    if isinstance(value, list) and len(value) > 1:
        return Bad("ambiguous", f"must name one player, not {quoted(value)}")
    if isinstance(value, list | dict):
        only = value.get("name") if isinstance(value, dict) else next(iter(value), None)
        read = _name(question, only if isinstance(only, str) else "")
        return Got(read.value, coerced=True) if isinstance(read, Got) else read
    legal = question.legal if question.legal is not None else [*question.names, None]
    if value is None:
        return Got(None) if None in legal else Bad("illegal", f"must name a player: {_list(legal)}")
    if not isinstance(value, str) or not value.strip():
        return Bad("unparseable", f"must be a player's name, not {quoted(value)}")
    if question.legal is None and not question.names:
        return _any_name(value)
    resolved = resolve_name(value, legal, question.names)
    if resolved.fault is not None:
        wrong = "does not say plainly whom" if resolved.fault == "ambiguous" else "is no legal answer"
        return Bad(resolved.fault, f"{quoted(value)} {wrong}; one of: {_list(legal)}")
    return Got(resolved.name, coerced=not resolved.exact)


def _any_name(value: str) -> Value:
    resolved = resolve_name(value, [None])
    if resolved.fault is None:
        return Got(None, coerced=True)
    return Got(value) if len(value) <= _LONGEST_NAME else Bad("illegal", f"{quoted(value)} is no name")


def _list(legal: Sequence[str | None]) -> str:
    return ", ".join("null (nobody)" if name is None else name for name in legal)


def _thought(value: Any) -> Iterator[str]:
    if isinstance(value, list) and all(isinstance(item, str) for item in value):
        value = "\n".join(value)
    if isinstance(value, dict | list):
        value = json.dumps(value, ensure_ascii=False)
    if isinstance(value, str) and value.strip():
        yield value


def _finish(answer: JudgedAnswer) -> None:
    """Settle the kind of deception and build the content, if all that is needed is there."""
    values = answer.values
    if "deceptive" in values:
        _settle_kind(values)
    if answer.fault is not None:
        return
    try:
        answer.content = normalise(CONTENT[answer.question.kind](**values))
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False)[0]
        answer.fail("illegal", f'"{".".join(map(str, first["loc"]))}" {first["msg"]}')


def _settle_kind(values: dict[str, Any]) -> None:
    deceptive, kind = values["deceptive"], values.get("kind", _ANY_KIND)
    # where no kind was stated, none could be overruled
    unstated: Deception = "unspecified" if deceptive else "none"
    settled = settle(deceptive, unstated if kind == _ANY_KIND else kind, values.get("stated_kind"))
    values["kind"], values["stated_kind"] = settled
