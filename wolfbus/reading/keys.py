"""The keys under which models put their answers and the parts of one: ours, the paper's, and what they make of them.

Which words those are stands in `words.toml`.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal, TypeAlias

from wolfbus.files.package_data import PackageData, read_data
from wolfbus.game.roles import ACTS
from wolfbus.game.vocabulary import DECEPTIONS, KINDS, Deception, Kind

Shape: TypeAlias = Literal["truth", "unit", "whole", "words", "name", "deception", "stated", "claims", "label"]
"""What kind of value a part is."""


class AnswerPart(PackageData):
    """One field of a content type, as a model may write it."""

    name: str
    """The field's name in the content type."""
    shape: Shape
    keys: tuple[str, ...]
    """Our name and the paper's; an answer that uses them is as clean as it can be."""
    synonyms: tuple[str, ...] = ()
    """Other names; an answer that uses one counts as coerced."""
    needed: bool = False
    """Whether there is no content without it."""
    nullable: bool = False
    """Whether null is a value of it."""
    public: bool = False
    """Words others will hear: they are taken whole or not at all."""


class _AnswerWords(PackageData):
    picked: tuple[str, ...]
    kinds: dict[Kind, tuple[str, ...]]
    parts: dict[str, AnswerPart]
    private: dict[Literal["thoughts", "reasons"], tuple[str, ...]]
    groups: dict[Kind, tuple[str, ...]]
    deceptions: dict[Deception, tuple[str, ...]]


_WORDS: Final = read_data("wolfbus.reading", "words", _AnswerWords)

_CHOSEN: Final = {
    kind: (AnswerPart(name="target", shape="name", keys=("target",), synonyms=keys, needed=True, nullable=True),)
    for kind, keys in ((kind, (*act.keys, *_WORDS.picked)) for kind, act in ACTS.items())
}

PARTS: Final[dict[Kind, tuple[AnswerPart, ...]]] = {
    kind: (*_CHOSEN.get(kind, ()), *(_WORDS.parts[part] for part in _WORDS.kinds.get(kind, ()))) for kind in KINDS
}
"""Parts of an answer per kind of request."""

KIND_WORDS: Final[dict[str, Deception]] = {
    **{word: kind for kind, words in _WORDS.deceptions.items() for word in words},
    **{kind: kind for kind in DECEPTIONS},
}
"""Words that are taken for a kind of the taxonomy."""

ERROR_KEYS: Final = frozenset({"error", "errors"})
"""An object with one of these and nothing asked for is a provider's complaint, not an answer."""

NO_ANSWER_KEYS: Final = frozenset({"claims", *ERROR_KEYS})
"""No answer is looked for under these."""

_DASHES = re.compile(r"[\s_\-]+")


def folded(key: str) -> str:
    """Return a key without case, spaces, dashes and underscores: isDeceptive is is_deceptive."""
    return _DASHES.sub("", key).casefold()


def _index(parts: tuple[AnswerPart, ...]) -> dict[str, AnswerPart]:
    return {folded(key): part for part in parts for key in (*part.synonyms, *part.keys)}


INDEX: Final[dict[Kind, dict[str, AnswerPart]]] = {kind: _index(parts) for kind, parts in PARTS.items()}
"""AnswerPart per folded key, per kind of request."""

THOUGHTS: Final[dict[Kind, frozenset[str]]] = {
    kind: frozenset(folded(key) for words in _WORDS.private.values() for key in words) - INDEX[kind].keys()
    for kind in PARTS
}
"""Folded keys of private thoughts; a reason nobody asked for is one."""


ALWAYS_THOUGHTS: Final = frozenset(set.intersection(*map(set, THOUGHTS.values())))
"""Folded keys that hold private thoughts whatever was asked for."""

_NUMBERED = re.compile(r"(.*?)[\s_\-]*([0-9]{1,15})")
_NUMBER = re.compile(r"[^0-9]*0*([0-9]{1,15})[^0-9]*")
_OF_STATEMENT = re.compile(r"\s*(?:statement|number|no\.?)?[\s_]*#?0*([0-9]{1,15})\s*", re.IGNORECASE)
_NUMBER_KEYS = frozenset({"statement", "statementnumber", "statementid", "number", "about", "id", "n"})


@dataclass(slots=True)
class PartNames:
    """Which key stands for which of the answers that were asked for.

    Attributes:
        by_key: the answer's name by folded key.
        groups: by the folded key of a list or object of several answers: their names by number, "" for the only one.
        by_number: names by the number of what they are about, where that leaves no choice.
    """

    by_key: dict[str, str] = field(default_factory=dict)
    groups: dict[str, dict[str, str]] = field(default_factory=dict)
    by_number: dict[str, str] = field(default_factory=dict)


def part_names(kinds: Mapping[str, Kind]) -> PartNames:
    """Return how answers may be called, of which the names and kinds are given."""
    count = Counter(kinds.values())
    numbers = Counter(map(number_of, kinds))
    names = PartNames()
    for name, kind in kinds.items():
        numbered = _NUMBERED.fullmatch(name)
        stem, number = (folded(numbered.group(1)), number_of(name)) if numbered else (folded(name), "")
        alone = count[kind] == 1
        for word in dict.fromkeys((stem, *_WORDS.groups.get(kind, ()), folded(kind))):
            if number:
                names.by_key.setdefault(f"{word}{number}", name)
                for group in (word, f"{word}s"):
                    names.groups.setdefault(group, {})[number] = name
                    if alone:
                        names.groups[group][""] = name
            elif alone:
                names.by_key.setdefault(word, name)
        if number and numbers[number] == 1:
            names.by_number[number] = name
    # a name that was asked for in so many words stands for nothing else
    names.by_key |= {folded(name): name for name in kinds}
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
