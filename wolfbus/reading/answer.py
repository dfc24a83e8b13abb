"""One JSON object judged as an answer to a request: which parts it has, what they are worth, what is wrong with it."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

from pydantic import ValidationError

from wolfbus.game.vocabulary import DECEPTIONS, Deception, Fault, Kind, Reading
from wolfbus.messages.content import CONTENT, Content
from wolfbus.reading.copies import is_placeholder
from wolfbus.reading.keys import ALWAYS_THOUGHTS, INDEX, PARTS, THOUGHTS, AnswerPart, folded
from wolfbus.reading.objects import ParsedObject, ends_where_written
from wolfbus.reading.refusals import REFUSED, is_refusal
from wolfbus.reading.text import (
    LostMember,
    Members,
    clean_value,
    holds_channels,
    one_line,
    quoted,
    without_thinking,
    worse,
)
from wolfbus.reading.values import (
    TWO_SCALES,
    Bad,
    Got,
    Value,
    kind_of,
    mixes_scales,
    normalise,
    read_claims,
    read_truth,
    read_unit,
    read_whole,
    read_words,
    resolve_name,
    settle,
)

_LONGEST_NAME = 32
_WORDS: Final = ("text", "reason", "reasoning")
"""Parts in which a model that has to fill a form refuses."""
_ANY_KIND = "?"
_MARKED_LABEL = re.compile(r"(?:[(\[{<]|(?<!\w)[*_]{1,3})\s{0,3}([^\W\d_][\w -]{0,40}?)\s{0,3}[*_]{0,3}\s{0,3}:")
"""The label of words in brackets or asterisks."""
LINE_LABEL: Final = re.compile(r"^[\W\d_]{0,8}([^\W\d_][\w -]{0,40}?)[\W_]{0,8}?(?:[:=\n]|\s[-–—]\s)", re.MULTILINE)
"""The label that a line begins with, behind a bullet, a number or other marks."""


@dataclass(frozen=True, slots=True)
class Question:
    """What was asked.

    Attributes:
        kind: the kind of request.
        legal: names that may be answered, None among them for nobody or abstaining; None if that is not known.
        names: all players, living or not.
        bid_max: the highest legal bid.
        max_statement: characters that a statement or a vote's reason may have; None for any number.
        descriptions: words by which the prompt described texts; a copy of them is no text.
    """

    kind: Kind
    legal: Sequence[str | None] | None = None
    names: Sequence[str] = ()
    bid_max: int = 10
    max_statement: int | None = None
    descriptions: tuple[str, ...] = ()

    def part_for(self, key: str) -> AnswerPart | None:
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
        """The private thoughts, in the order they were written, but for what only copies the words of the prompt."""
        thoughts = (thought for thought in self.thoughts if not is_placeholder(thought, self.question.descriptions))
        return "\n\n".join(thoughts) or None

    def fail(self, fault: Fault, note: str) -> None:
        """Note what is wrong; the first mistake is the one that is named."""
        if self.fault is None:
            self.fault, self.note = fault, one_line(note)

    def decisive(self) -> tuple[Any, ...]:
        """Return what two answers must share to be the same answer: all but the reasoning."""
        return tuple(value for name, value in self.content or () if name != "reasoning")


def judge(question: Question, parsed: ParsedObject) -> JudgedAnswer:
    """Return what an object says in answer to `question`."""
    cleaned: Members = clean_value(parsed.value)
    rung = parsed.rung if cleaned is parsed.value else worse(parsed.rung, "repaired")
    answer = JudgedAnswer(question, rung, cut=parsed.cut)
    by_part: dict[str, list[tuple[str, Any]]] = {}
    for key, value in cleaned.items():
        part = question.part_for(key)
        if part is not None:
            value = _without_thoughts(answer, value) if part.public else value  # noqa: PLW2901 - the words alone
            by_part.setdefault(part.name, []).append((key, value))
        elif folded(key) in THOUGHTS[question.kind]:
            answer.thoughts += _thoughts_in(value)
    answer.relevant = len(by_part)
    for part in PARTS[question.kind]:
        _read_part(answer, part, by_part.get(part.name, []), cleaned.repeated, parsed)
    units = [part.name for part in PARTS[question.kind] if part.shape == "unit"]
    if mixes_scales(value for name in units for _, value in by_part.get(name, ())):
        answer.fail("ambiguous", f'"{units[0]}" {TWO_SCALES}')
    if parsed.lost is not None:
        _note_lost(answer, parsed.lost)
    if any(is_refusal(answer.values.get(name) or "", question.names) for name in _WORDS):
        # what else it says was made up to fill the form
        answer.fault, answer.note = "refused", REFUSED
    _build_content(answer)
    return answer


def _without_thoughts(answer: JudgedAnswer, value: Any) -> Any:
    """Take the thoughts off words that others would hear; of what is left, only a final channel is plainly for them."""
    if not isinstance(value, str):
        return value
    words = without_thinking(value)
    answer.thoughts += words.thoughts
    if not words.final or not words.text.strip():
        return value
    answer.rung = worse(answer.rung, "coerced")
    return words.text.strip()


def _read_part(
    answer: JudgedAnswer,
    part: AnswerPart,
    members: list[tuple[str, Any]],
    repeated: frozenset[str],
    parsed: ParsedObject,
) -> None:
    """Add to an answer what the members of an object that stand for one of its parts say."""
    if part.shape != "name" or len(members) > 1:
        # a null says nothing, unless it stands alone for nobody
        count = len(members)
        members = [(key, value) for key, value in members if value is not None]
        if len(members) < count and not part.nullable:
            answer.rung = worse(answer.rung, "coerced")
    if not members:
        if part.needed:
            cut = "the reply was cut off before" if parsed.cut else "the reply lacks"
            answer.fail("unparseable", f'{cut} "{part.keys[0]}"')
        return
    members.sort(key=lambda member: part.keys.index(member[0]) if member[0] in part.keys else len(part.keys))
    key = members[0][0]
    value = _agreed(answer.question, part, members, repeated)
    if isinstance(value, Got) and part.public and parsed.guessed and not _has_its_end(value.value, parsed.guessed):
        value = Bad(
            "unparseable", "has no end that can be told: it belongs in quotation marks, and those in it must be escaped"
        )
    if isinstance(value, Got):
        answer.values[part.name] = value.value
        if value.coerced or key not in part.keys:
            answer.rung = worse(answer.rung, "coerced")
    elif part.needed:
        answer.fail(value.fault, f'"{key}" {value.why}')
    else:
        answer.rung = worse(answer.rung, "coerced")


def _agreed(question: Question, part: AnswerPart, members: list[tuple[str, Any]], repeated: frozenset[str]) -> Value:
    """Return the value under a part's first key; for what is needed, other keys must not say otherwise."""
    first, *others = (_value(question, part, value) for _, value in members)
    if part.needed and (any(not _same(first, other) for other in others) or any(key in repeated for key, _ in members)):
        return Bad("ambiguous", "is given twice, and differently")
    return first


def _same(value: Value, other: Value) -> bool:
    return isinstance(value, Got) and isinstance(other, Got) and value.value == other.value


def _has_its_end(value: Any, source: str) -> bool:
    return not isinstance(value, str) or ends_where_written(value, source)


def _note_lost(answer: JudgedAnswer, lost: LostMember) -> None:
    """Say what was cut off, and keep the beginning of a text where only researchers read it."""
    part = answer.question.part_for(lost.key)
    text: str = clean_value(lost.text or "")
    if part is None:
        if folded(lost.key) in THOUGHTS[answer.question.kind]:
            answer.thoughts += _thoughts_in(text)
        return
    answer.relevant += 1
    if part.name == "reasoning" and text:
        answer.values.setdefault("reasoning", text)
    elif part.needed and answer.fault == "unparseable" and part.name not in answer.values:
        answer.note = one_line(f'the reply was cut off in "{lost.key}"')


def _value(question: Question, part: AnswerPart, value: Any) -> Value:
    if part.shape == "whole":
        return read_whole(value, question.bid_max)
    if part.shape == "name":
        return _read_name(question, value)
    if part.shape == "claims":
        return Got(*read_claims(value, question.names))
    if part.shape == "label":
        return _read_label(question, value)
    if part.public and isinstance(words := read_words(value), Got) and (why := _unfit(question, words.value)):
        return why
    if part.shape == "words" and isinstance(value, str) and is_placeholder(value, question.descriptions):
        return Bad("unparseable", f"must be words of your own, not {quoted(value)}")
    return _READERS[part.shape](value)


def _unfit(question: Question, words: str) -> Bad | None:
    """Return why words are not to be published, None if they are."""
    if without_thinking(words).thoughts or holds_channels(words):
        return Bad("unparseable", "holds private thoughts between tags")
    if holds_marked_thoughts(words):
        return Bad("unparseable", "holds private thoughts, marked as such")
    if question.kind in {"speak", "vote"} and len(words) > (question.max_statement or len(words)):
        return Bad("illegal", f"has {len(words)} characters, and a statement may have {question.max_statement}")
    return None


def holds_marked_thoughts(text: str) -> bool:
    """Return whether words that others would hear hold thoughts marked as such: "(thought: …)", "*private: …*".

    A line may begin "Analysis:" in a statement for all, but not "Private:".
    """
    marked = map(folded, _MARKED_LABEL.findall(text))
    private = (label for label in map(folded, LINE_LABEL.findall(text)) if label.startswith("private"))
    return any(label in ALWAYS_THOUGHTS for label in (*marked, *private))


def _read_label(question: Question, value: Any) -> Value:
    """Read the label that stands beside the words that it is of."""
    if not isinstance(value, dict):
        return Bad("unparseable", "must be an object")
    label = judge(replace(question, kind="assess_own"), ParsedObject(Members(value), "clean", cut=False))
    if label.content is None:
        return Bad("unparseable", f"is no label: {label.note}")
    return Got(label.content, coerced=label.rung != "clean")


def _read_kind(value: Any) -> Value:
    word = value[0] if isinstance(value, list) and len(value) == 1 else value
    kind = kind_of(word) if isinstance(word, str) else None
    return Got(kind or _ANY_KIND, coerced=kind is None or value != kind)


def _read_stated_kind(value: Any) -> Value:
    return Got(value) if value in DECEPTIONS else Bad("unparseable", "is no kind of deception")


_READERS: Final[Mapping[str, Callable[[Any], Value]]] = {
    "truth": read_truth,
    "unit": read_unit,
    "words": read_words,
    "deception": _read_kind,
    "stated": _read_stated_kind,
}


def _read_name(question: Question, value: Any) -> Value:
    if isinstance(value, list) and len(value) > 1:
        return Bad("ambiguous", f"must name one player, not {quoted(value)}")
    if isinstance(value, list | dict):
        only = value.get("name") if isinstance(value, dict) else next(iter(value), None)
        read = _read_name(question, only if isinstance(only, str) else "")
        return Got(read.value, coerced=True) if isinstance(read, Got) else read
    legal = question.legal if question.legal is not None else [*question.names, None]
    if isinstance(value, int) and str(value) in {*legal, *question.names}:
        # players may be called by numbers
        read = _read_name(question, str(value))
        return Got(read.value, coerced=True) if isinstance(read, Got) else read
    if value is None:
        return Got(None) if None in legal else Bad("illegal", f"must name a player: {_listed(legal)}")
    if not isinstance(value, str) or not value.strip():
        return Bad("unparseable", f"must be a player's name, not {quoted(value)}")
    if question.legal is None and not question.names:
        return _any_name(value)
    resolved = resolve_name(value, legal, question.names, against=question.kind == "vote")
    if resolved.fault is not None:
        wrong = "does not say plainly whom" if resolved.fault == "ambiguous" else "is no legal answer"
        return Bad(resolved.fault, f"{quoted(value)} {wrong}; one of: {_listed(legal)}")
    return Got(resolved.name, coerced=not resolved.exact)


def _any_name(value: str) -> Value:
    resolved = resolve_name(value, [None])
    if resolved.fault is None:
        return Got(None, coerced=True)
    return Got(value) if len(value) <= _LONGEST_NAME else Bad("illegal", f"{quoted(value)} is no name")


def _listed(legal: Sequence[str | None]) -> str:
    return ", ".join("null (nobody)" if name is None else name for name in legal)


def _thoughts_in(value: Any) -> Iterator[str]:
    if isinstance(value, list) and all(isinstance(item, str) for item in value):
        value = "\n".join(value)
    if isinstance(value, dict | list):
        value = json.dumps(value, ensure_ascii=False)
    if isinstance(value, str) and value.strip():
        yield value


def _build_content(answer: JudgedAnswer) -> None:
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
