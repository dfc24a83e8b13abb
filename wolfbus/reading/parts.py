"""Several answers in one reply, as the compact protocol asks for them: each is read for itself and keeps its own rung.

What one answer lacks costs the others nothing: a text that stops in the middle keeps what was whole before.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

from wolfbus.game.vocabulary import Kind, Reading
from wolfbus.reading.answer import JudgedAnswer, Question, judge
from wolfbus.reading.keys import (
    ALWAYS_THOUGHTS,
    NO_ANSWER_KEYS,
    PARTS,
    PartNames,
    folded,
    number_in,
    number_of,
    part_names,
)
from wolfbus.reading.ladder import (
    ERROR_MESSAGE,
    LONGEST,
    TOO_LONG,
    Read,
    answer_of,
    as_read,
    failed,
    is_complaint,
)
from wolfbus.reading.objects import DEEPEST, ParsedObject, Search, find_objects, inside
from wolfbus.reading.refusals import REFUSED, is_refusal
from wolfbus.reading.text import Members, clean_value, strict_at, without_thinking, worse

_MOST_TRIES = 200
_SKIPPED = NO_ANSWER_KEYS | ALWAYS_THOUGHTS


@dataclass(frozen=True, slots=True)
class _Candidate:
    """A value out of an object that may be an answer, whatever its type."""

    value: Any
    source: ParsedObject
    cut: bool

    def parsed(self, value: Members, rung: Reading) -> ParsedObject:
        return ParsedObject(value, rung, self.cut, guessed=self.source.guessed)


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
    cleaned = without_thinking(text)
    search = find_objects(cleaned.text)
    assigner = _Assigner(questions)
    assigner.assign(search.objects, cleaned.text)
    thoughts = [*cleaned.thoughts, *assigner.thoughts]
    reads: dict[str, Read] = {}
    for name in questions:
        answer = _answer(name, assigner, search)
        answer.rung = worse(answer.rung, cleaned.rung)
        answer.thoughts[:0] = [thought for thought in thoughts if thought not in answer.thoughts]
        thoughts = []
        reads[name] = as_read(answer)
    return reads


def _answer(name: str, assigner: _Assigner, search: Search) -> JudgedAnswer:
    question = assigner.questions[name]
    if search.too_many:
        return answer_of(question, search)
    if name in assigner.contradicted:
        return failed(question, "ambiguous", f'"{name}" is given twice, and differently')
    if assigner.objects[name]:
        return answer_of(question, Search(assigner.objects[name]))
    if search.plain is not None and len(assigner.questions) == 1:
        return answer_of(question, search)
    if search.plain is not None and is_refusal(search.plain, question.names):
        return failed(question, "refused", REFUSED)
    return failed(question, "unparseable", _missing(name, assigner, search))


def _missing(name: str, assigner: _Assigner, search: Search) -> str:
    if not search.objects:
        return f'the reply holds no JSON object with "{name}"'
    if not any(assigner.objects.values()) and is_complaint(search):
        return ERROR_MESSAGE
    last = search.objects[-1]
    if last.lost is not None and assigner.names.by_key.get(folded(last.lost.key)) == name:
        return f'the reply was cut off in "{name}"'
    return f'the reply was cut off before "{name}"' if last.cut else f'the reply lacks "{name}"'


class _Assigner:
    """Finds out which object answers which question."""

    def __init__(self, questions: Mapping[str, Question]) -> None:
        self.questions = questions
        self.names: PartNames = part_names({name: question.kind for name, question in questions.items()})
        self.objects: dict[str, list[ParsedObject]] = {name: [] for name in questions}
        self.thoughts: list[str] = []
        self.contradicted: set[str] = set()
        """Answers whose key stands in an object twice, with different values."""
        self._assigned: set[int] = set()
        fields = Counter(_first_field(question.kind) for question in questions.values())
        # only these can be recognised by their fields alone
        self._distinct = {name for name, question in questions.items() if fields[_first_field(question.kind)] == 1}

    def assign(self, objects: Sequence[ParsedObject], text: str) -> None:
        """Assign all objects of a text."""
        unassigned = [value for parsed in objects for value in self._assign_members(parsed, 0)]
        if any(parsed.cut for parsed in objects):
            self._search_unfinished_list(text)
        for name in self.questions:
            if not self.objects[name] and name in self._distinct:
                answers = [parsed for parsed in unassigned if self._may_answer(name, parsed)]
                self.objects[name] = [self._without_others(name, parsed).at_least("coerced") for parsed in answers]
                # what was thought beside several answers is reported once
                unassigned = [_without_thoughts(parsed) if parsed in answers else parsed for parsed in unassigned]

    def _may_answer(self, name: str, parsed: ParsedObject) -> bool:
        number = number_of(name)
        if number and number_in(parsed.value) not in {"", number}:
            return False
        return judge(self.questions[name], parsed).relevant > 0

    def _without_others(self, name: str, parsed: ParsedObject) -> ParsedObject:
        """Leave out the members of other answers: why a vote deceives is not the reason that is published with it."""
        fields = {other: _fields(question.kind) for other, question in self.questions.items()}
        others = {key for other, keys in fields.items() if other != name for key in keys}
        # a label that was asked for beside the words is no part of them
        names = {key for key, other in self.names.by_key.items() if other != name}
        return _without(parsed, (others - fields[name]) | names)

    def _assign_members(self, parsed: ParsedObject, depth: int) -> list[ParsedObject]:
        """Assign what an object holds; return what it may be itself, or those within it, where it holds nothing."""
        if id(parsed.value) in self._assigned:
            return []
        last = next(reversed(parsed.value), None) if parsed.cut and parsed.lost is None else None
        holds_answer = False
        for key, value in parsed.value.items():
            candidate = _Candidate(value, parsed, parsed.cut and key == last)
            name = self.names.by_key.get(folded(key))
            if name is not None:
                holds_answer = True
                if key in parsed.value.repeated:
                    self.contradicted.add(name)
                self._add(name, key, candidate)
            elif folded(key) in self.names.groups:
                holds_answer |= self._assign_group(self.names.groups[folded(key)], candidate)
        if holds_answer:
            self._collect_thoughts(parsed.value)
            return [_without_thoughts(parsed)]
        number = number_in(parsed.value)
        if number in self.names.by_number:
            self._add(self.names.by_number[number], "", _Candidate(parsed.value, parsed, parsed.cut))
            return []
        if depth == DEEPEST:
            return [parsed]
        rung = worse(parsed.rung, "extracted")
        values = islice(inside(parsed.value, DEEPEST, _SKIPPED), _MOST_TRIES)
        wrapped = (ParsedObject(value, rung, parsed.cut, guessed=parsed.guessed) for value in values)
        return [parsed, *(inner for value in wrapped for inner in self._assign_members(value, depth + 1))]

    def _assign_group(self, group: Mapping[str, str], candidate: _Candidate) -> bool:
        """Assign a list of answers, or an object of them by number; return whether there was one in it."""
        holds_answer = False
        items = candidate.value if isinstance(candidate.value, list) else [candidate.value]
        for item in items:
            if not isinstance(item, dict):
                continue
            by_number = {key: group[number] for key in item if (number := number_of(key)) in group and number}
            for key, name in by_number.items():
                self._add(name, key, replace(candidate, value=item[key]))
            number = number_in(item)
            if not by_number and number in group and (number or len(items) == 1):
                self._add(group[number], "", replace(candidate, value=item))
                holds_answer = True
            holds_answer |= bool(by_number)
        return holds_answer

    def _add(self, name: str, key: str, candidate: _Candidate) -> None:
        """Add what stands for an answer: an object, or one bare value where an object was asked for."""
        rung = candidate.source.rung if key == name else worse(candidate.source.rung, "coerced")
        objects = list(_objects(candidate, rung))
        if objects:
            self._assigned |= {id(parsed.value) for parsed in objects}
            self.objects[name] += objects
            return
        question = self.questions[name]
        if name in self._distinct and question.part_for(key) is not None:
            # the key is also that of a field: its neighbours may be fields too
            parsed = self._without_others(name, _without_thoughts(candidate.source))
            self.objects[name].append(parsed.at_least("coerced"))
            return
        needed = next(part for part in PARTS[question.kind] if part.needed)
        if candidate.value is not None or needed.shape == "name":
            value = Members({needed.keys[0]: candidate.value})
            self.objects[name].append(candidate.parsed(value, worse(rung, "coerced")))

    def _collect_thoughts(self, members: Members) -> None:
        for key, value in members.items():
            thought = clean_value(value) if folded(key) in ALWAYS_THOUGHTS else None
            if isinstance(thought, str) and thought.strip() and thought not in self.thoughts:
                self.thoughts.append(thought)

    def _search_unfinished_list(self, text: str) -> None:
        """Look for whole objects with a number in what was cut off: a list that was not finished was left out."""
        missing = {number: name for number, name in self.names.by_number.items() if not self.objects[name]}
        start = text.find("{")
        for _ in range(_MOST_TRIES if missing else 0):
            start = text.find("{", start + 1)
            if start == -1:
                break
            try:
                value, end = strict_at(text, start)
            except ValueError:
                continue
            start = end - 1
            name = missing.get(number_in(value))
            if name is not None:
                self.objects[name].append(ParsedObject(value, "coerced"))


def _first_field(kind: Kind) -> str:
    """Return the first field of answers of a kind, by which they are recognised."""
    return PARTS[kind][0].name


def _fields(kind: Kind) -> set[str]:
    return {folded(part.keys[0]) for part in PARTS[kind]}


def _without_thoughts(parsed: ParsedObject) -> ParsedObject:
    return _without(parsed, ALWAYS_THOUGHTS)


def _without(parsed: ParsedObject, keys: Collection[str]) -> ParsedObject:
    value = Members({key: value for key, value in parsed.value.items() if folded(key) not in keys})
    value.repeated = parsed.value.repeated
    return replace(parsed, value=value)


def _objects(candidate: _Candidate, rung: Reading) -> Iterator[ParsedObject]:
    value = candidate.value
    if isinstance(value, Members):
        yield candidate.parsed(value, rung)
    elif isinstance(value, str) and value.lstrip().startswith("{"):
        for parsed in find_objects(value).objects:
            yield replace(parsed.at_least(worse(rung, "extracted")), cut=parsed.cut or candidate.cut)
    elif isinstance(value, list):
        for item in value:
            if isinstance(item, Members):
                yield candidate.parsed(item, worse(rung, "extracted"))
