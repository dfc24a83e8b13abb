"""Several answers in one reply, as the compact protocol asks for them: each is read for itself and keeps its own rung.

What one answer lacks costs the others nothing: a text that stops in the middle keeps what was whole before.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

from wolfbus.reading.answer import JudgedAnswer, Question, judge
from wolfbus.reading.keys import (
    CLOSED,
    ERROR_KEYS,
    OUTER_THOUGHTS,
    PARTS,
    PartNames,
    folded,
    number_in,
    number_of,
    part_names,
)
from wolfbus.reading.ladder import LONGEST, REFUSED, TOO_LONG, Read, answer_of, as_read, failed, is_refusal
from wolfbus.reading.objects import Found, Search, find
from wolfbus.reading.text import Members, clean_value, strict, strict_at, without_thinking, worse
from wolfbus.vocabulary import Kind, Reading

_DEEPEST = 3
_MOST_TRIES = 200


@dataclass(frozen=True, slots=True)
class _Piece:
    """A value out of an object that may be an answer, whatever its type."""

    value: Any
    around: Found
    cut: bool

    def found(self, value: Members, rung: Reading) -> Found:
        return Found(value, rung, self.cut, guessed=self.around.guessed)


def read_parts(text: str, questions: Mapping[str, Question]) -> dict[str, Read]:
    """Read a reply that is to be one JSON object with several answers; never raises, whatever the text.

    Args:
        text: the model's text as it came.
        questions: what was asked, by the key it was asked under: "bid", "judgement_12". A number in a key is that of
            the statement it is about: models make lists of them.

    Returns:
        A reading for every question, in their order. An answer under another spelling of its key, in a list by
        its number, or bare where an object was asked for counts as coerced. One that is not there has a fault, and so
        has one that is there twice and differently. A thought beside the answers goes to the first of them.
    """
    if len(text) > LONGEST:
        return {name: as_read(failed(question, "unparseable", TOO_LONG)) for name, question in questions.items()}
    rest = without_thinking(text)
    search = find(rest.text)
    sorter = _Sorter(questions)
    sorter.take_all(search.found, rest.text)
    thoughts = [*rest.thoughts, *sorter.thoughts]
    made: dict[str, Read] = {}
    for name in questions:
        answer = _answer(name, sorter, search)
        answer.rung = worse(answer.rung, rest.rung)
        answer.thoughts[:0] = [thought for thought in thoughts if thought not in answer.thoughts]
        thoughts = []
        made[name] = as_read(answer)
    return made


def _answer(name: str, sorter: _Sorter, search: Search) -> JudgedAnswer:
    question = sorter.questions[name]
    found = sorter.found[name]
    if search.too_many:
        return answer_of(question, search)
    if name in sorter.torn:
        return failed(question, "ambiguous", f'"{name}" is given twice, and differently')
    if found:
        return answer_of(question, Search(found))
    if search.rest is not None and len(sorter.questions) == 1:
        return answer_of(question, search)
    if search.rest is not None and is_refusal(search.rest, question.names):
        return failed(question, "refused", REFUSED)
    return failed(question, "unparseable", _missing(name, sorter, search))


def _missing(name: str, sorter: _Sorter, search: Search) -> str:
    if not search.found:
        return f'the reply holds no JSON object with "{name}"'
    if not any(sorter.found.values()) and any(
        ERROR_KEYS & {key.casefold() for key in each.value} for each in search.found
    ):
        return "the reply is an error message, not an answer"
    last = search.found[-1]
    if last.lost is not None and sorter.names.by_key.get(folded(last.lost.key)) == name:
        return f'the reply was cut off in "{name}"'
    return f'the reply was cut off before "{name}"' if last.cut else f'the reply lacks "{name}"'


class _Sorter:
    """Finds out which object answers which question."""

    def __init__(self, questions: Mapping[str, Question]) -> None:
        self.questions = questions
        self.names: PartNames = part_names({name: question.kind for name, question in questions.items()})
        self.found: dict[str, list[Found]] = {name: [] for name in questions}
        self.thoughts: list[str] = []
        self._handed_out: set[int] = set()
        self.torn: set[str] = set()
        """Answers whose key stands in an object twice, with different values."""
        sorts = [_sort(question.kind) for question in questions.values()]
        # only these can be told by their fields alone
        self._alone = {name for name, question in questions.items() if sorts.count(_sort(question.kind)) == 1}

    def take_all(self, found: Iterable[Found], text: str) -> None:
        """Take in all objects of a text."""
        outermost = list(found)
        opened = [each for one in outermost for each in self._take(one, 0)]
        if any(each.cut for each in outermost):
            self._take_from_unfinished_list(text)
        for name in self.questions:
            if not self.found[name] and name in self._alone:
                fitting = [each for each in opened if self._may_answer(name, each)]
                self.found[name] = [self._own(name, each).at_least("coerced") for each in fitting]
                # what was thought beside several answers is told once
                opened = [_without_thoughts(each) if each in fitting else each for each in opened]

    def _may_answer(self, name: str, found: Found) -> bool:
        number = number_of(name)
        if number and number_in(found.value) not in {"", number}:
            return False
        return judge(self.questions[name], found).relevant > 0

    def _own(self, name: str, found: Found) -> Found:
        """Leave out the members of other answers: why a vote deceives is not the reason that is published with it."""
        own = _members_of(self.questions[name].kind)
        others = {key for other, asked in self.questions.items() if other != name for key in _members_of(asked.kind)}
        return _without(found, others - own)

    def _take(self, found: Found, depth: int) -> list[Found]:
        """Hand out what an object holds; return what it may be itself, or those within it, where it holds nothing."""
        if id(found.value) in self._handed_out:
            return []
        last = next(reversed(found.value), None) if found.cut and found.lost is None else None
        took = False
        for key, value in found.value.items():
            piece = _Piece(value, found, found.cut and key == last)
            name = self.names.by_key.get(folded(key))
            if name is not None:
                took = True
                if key in found.value.repeated:
                    self.torn.add(name)
                self._put(name, key, piece)
            elif folded(key) in self.names.groups:
                took = self._take_group(self.names.groups[folded(key)], piece) or took
        if took:
            self._think(found.value)
            return [_without_thoughts(found)]
        number = number_in(found.value)
        if number in self.names.by_number:
            self._put(self.names.by_number[number], "", _Piece(found.value, found, found.cut))
            return []
        if depth == _DEEPEST:
            return [found]
        rung = worse(found.rung, "extracted")
        inner = (Found(value, rung, found.cut, guessed=found.guessed) for value in _within(found.value))
        return [found, *(each for one in inner for each in self._take(one, depth + 1))]

    def _take_group(self, group: Mapping[str, str], piece: _Piece) -> bool:
        """Hand out a list of answers, or an object of them by number; return whether there was one in it."""
        took = False
        items = piece.value if isinstance(piece.value, list) else [piece.value]
        for item in items:
            if not isinstance(item, dict):
                continue
            by_number = {key: group[number] for key in item if (number := number_of(key)) in group and number}
            for key, name in by_number.items():
                self._put(name, key, _Piece(item[key], piece.around, piece.cut))
            number = number_in(item)
            if not by_number and number in group and (number or len(items) == 1):
                self._put(group[number], "", _Piece(item, piece.around, piece.cut))
                took = True
            took = took or bool(by_number)
        return took

    def _put(self, name: str, key: str, piece: _Piece) -> None:
        """Note what stands for an answer: an object, or one bare value where an object was asked for."""
        rung = piece.around.rung if key == name else worse(piece.around.rung, "coerced")
        objects = list(_objects(piece, rung))
        if objects:
            self._handed_out |= {id(each.value) for each in objects}
            self.found[name] += objects
            return
        question = self.questions[name]
        if name in self._alone and question.wants(key) is not None:
            # the key is also that of a field: its neighbours may be fields too
            self.found[name].append(self._own(name, _without_thoughts(piece.around)).at_least("coerced"))
            return
        needed = next(part for part in PARTS[question.kind] if part.needed)
        if piece.value is not None or needed.shape == "name":
            self.found[name].append(piece.found(Members({needed.keys[0]: piece.value}), worse(rung, "coerced")))

    def _think(self, members: dict[str, Any]) -> None:
        for key, value in members.items():
            thought = clean_value(value) if folded(key) in OUTER_THOUGHTS else None
            if isinstance(thought, str) and thought.strip() and thought not in self.thoughts:
                self.thoughts.append(thought)

    def _take_from_unfinished_list(self, text: str) -> None:
        """Look for whole objects with a number in what was cut off: a list that was not finished was left out."""
        missing = {number: name for number, name in self.names.by_number.items() if not self.found[name]}
        at = text.find("{")
        for _ in range(_MOST_TRIES if missing else 0):
            at = text.find("{", at + 1)
            if at == -1:
                break
            try:
                value, end = strict_at(text, at)
            except ValueError:
                continue
            at = end - 1
            name = missing.get(number_in(value))
            if name is not None:
                self.found[name].append(Found(value, "coerced"))


def _sort(kind: Kind) -> str:
    """Return what answers with the same fields have in common."""
    return "label" if kind in {"assess_own", "assess_other"} else PARTS[kind][0].name


def _members_of(kind: Kind) -> set[str]:
    return {folded(part.keys[0]) for part in PARTS[kind]}


def _without_thoughts(found: Found) -> Found:
    return _without(found, OUTER_THOUGHTS)


def _without(found: Found, keys: Collection[str]) -> Found:
    value = Members({key: value for key, value in found.value.items() if folded(key) not in keys})
    value.repeated = found.value.repeated
    return replace(found, value=value)


def _objects(piece: _Piece, rung: Reading) -> Iterator[Found]:
    value = piece.value
    if isinstance(value, Members):
        yield piece.found(value, rung)
    elif isinstance(value, str) and value.lstrip().startswith("{"):
        for each in find(value).found:
            inner = worse(rung, worse(each.rung, "extracted"))
            yield Found(each.value, inner, each.cut or piece.cut, each.lost, each.guessed)
    elif isinstance(value, list):
        for item in value:
            if isinstance(item, Members):
                yield piece.found(item, worse(rung, "extracted"))


def _within(value: Members) -> Iterator[Members]:
    """Return the objects directly within a wrapper, its lists and its strings of JSON; thoughts hold no answers."""
    for key, item in value.items():
        if folded(key) in OUTER_THOUGHTS or key.casefold() in CLOSED:
            continue
        inner = item
        if isinstance(item, str) and item.lstrip().startswith("{"):
            try:
                inner = strict(item)
            except ValueError:
                continue
        if isinstance(inner, Members):
            yield inner
        elif isinstance(inner, list):
            yield from islice((each for each in inner if isinstance(each, Members)), _MOST_TRIES)
