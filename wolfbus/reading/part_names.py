"""The names under which models put one of several answers: ours, in any spelling, or a list with numbers in it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from wolfbus.reading.keys import THOUGHTS, folded
from wolfbus.vocabulary import Kind

OUTER_THOUGHTS: Final = frozenset(set.intersection(*map(set, THOUGHTS.values())))
"""Folded keys that hold private thoughts whatever was asked for."""

_NUMBERED = re.compile(r"(.*?)[\s_\-]*([0-9]{1,15})")
_NUMBER = re.compile(r"[^0-9]*0*([0-9]{1,15})[^0-9]*")
_OF_STATEMENT = re.compile(r"\s*(?:statement|number|no\.?)?[\s_]*#?0*([0-9]{1,15})\s*", re.IGNORECASE)
_NUMBER_KEYS = frozenset({"statement", "statementnumber", "statementid", "number", "about", "id", "n"})
_WORDS: Final[dict[Kind, tuple[str, ...]]] = {
    "assess_own": ("label", "selflabel", "ownlabel", "selfassessment", "assessown"),
    "assess_other": ("judgement", "judgment", "assessment", "assessother", "judge"),
}
"""Other words for what is asked for, folded; where only one answer is of the kind, the kind's own name will do too."""


@dataclass(slots=True)
class PartNames:
    """Which key stands for which of the wanted answers.

    Attributes:
        by_key: the answer's name by folded key.
        groups: by the folded key of a list or object of several answers: their names by number, "" for the only one.
        by_number: names by the number of what they are about, where that leaves no choice.
    """

    by_key: dict[str, str] = field(default_factory=dict)
    groups: dict[str, dict[str, str]] = field(default_factory=dict)
    by_number: dict[str, str] = field(default_factory=dict)


def part_names(wanted: Mapping[str, Kind]) -> PartNames:
    """Return how answers of these names and kinds may be called."""
    kinds = list(wanted.values())
    numbers = [number_of(name) for name in wanted]
    names = PartNames()
    for name, kind in wanted.items():
        numbered = _NUMBERED.fullmatch(name)
        stem, number = (folded(numbered.group(1)), number_of(name)) if numbered else (folded(name), "")
        alone = kinds.count(kind) == 1
        for word in dict.fromkeys((stem, *_WORDS.get(kind, ()), folded(kind))):
            if number:
                names.by_key.setdefault(f"{word}{number}", name)
                for group in (word, f"{word}s"):
                    names.groups.setdefault(group, {})[number] = name
                    if alone:
                        names.groups[group][""] = name
            elif alone:
                names.by_key.setdefault(word, name)
        if number and numbers.count(number) == 1:
            names.by_number[number] = name
    # a name that was asked for in so many words stands for nothing else
    names.by_key |= {folded(name): name for name in wanted}
    return names


def number_of(key: str) -> str:
    """Return the one number in a key, without leading zeros: "12" of "#12" and "judgement_012"; "" for none."""
    match = _NUMBER.fullmatch(key)
    return match.group(1) if match else ""


def number_in(value: Mapping[str, Any]) -> str:
    """Return the number of the statement that an object says it is about, "" if it does not say."""
    for key, item in value.items():
        if folded(key) in _NUMBER_KEYS and not isinstance(item, bool) and isinstance(item, int | str):
            match = _OF_STATEMENT.fullmatch(str(item)[:40])
            return match.group(1) if match else ""
    return ""
