"""Single values of a model's reply, brought into their types; what could mean two things is refused, never guessed.

Of claims beside a statement, one that cannot be read is left out, and the statement stands.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from pydantic import TypeAdapter, ValidationError

from wolfbus.messages.content import Claim
from wolfbus.reading.names import resolve_name
from wolfbus.reading.text import quoted
from wolfbus.vocabulary import ROLE_WORDS, Fault, Role


@dataclass(frozen=True, slots=True)
class Got:
    """A value, and whether it had to be brought into its type or range."""

    value: Any
    coerced: bool = False


@dataclass(frozen=True, slots=True)
class Bad:
    """Why a value cannot be used, in words that may be sent back to a model."""

    fault: Fault
    why: str


Value: TypeAlias = Got | Bad

_YES = frozenset({"yes", "y", "true", "t", "1", "deceptive", "ja", "oui", "sí", "si", "да", "是", "はい"})
_NO = frozenset(
    {"no", "n", "false", "f", "0", "not deceptive", "truthful", "honest", "nein", "non", "нет", "否", "いいえ"}
)
NUMBER_WORDS = {
    word: number
    for number, word in enumerate(
        ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
    )
}
_NUMBER = re.compile(r"[+-]?(?:0*,\d+|\d+,\d{1,2}|\d*\.\d+|\d+\.?)")
_PERCENT = re.compile(rf"({_NUMBER.pattern})\s*(?:%|percent|per cent)")
_SHARE = re.compile(rf"({_NUMBER.pattern}|[a-z]+)\s*(?:/|out of|of)\s*(\d+|[a-z]+)")
_ASIDE = re.compile(r"\s*\([^()]*\)\s*\Z")
_LONGEST = 60


def truth(value: Any) -> Value:
    """Read a yes or no; 0 and 1 are the paper's own way to write it."""
    if isinstance(value, bool):
        return Got(value)
    if isinstance(value, int | float) and value in {0, 1}:
        return Got(bool(value), coerced=isinstance(value, float))
    if isinstance(value, str):
        word = _plain(value)
        if word in _YES or word in _NO:
            return Got(word in _YES, coerced=True)
    return Bad("unparseable", f"must be true or false, not {quoted(value)}")


def unit(value: Any) -> Value:
    """Read a number from 0 to 1; above 10, up to 100, it is a percentage; from 1 to 10 it could be on two scales."""
    if isinstance(value, str):
        return _unit_in_words(value)
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        return Bad("unparseable", f"must be a number from 0 to 1, not {quoted(value)}")
    if 0 <= value <= 1:
        return Got(float(value))
    if 1 < value <= 10:
        return Bad("ambiguous", f"must be a number from 0 to 1; {value} could be out of 10 or out of 100")
    if 10 < value <= 100:
        return Got(value / 100, coerced=True)
    return Bad("illegal", f"must be a number from 0 to 1, not {quoted(value)}")


def _unit_in_words(written: str) -> Value:
    word = _number_words(written)
    share = _share(word)
    if share is not None and share[1] in {1, 5, 10, 100} and 0 <= share[0] <= share[1]:
        return Got(share[0] / share[1], coerced=True)
    percent = _PERCENT.fullmatch(word)
    if percent:
        part = _number(percent.group(1))
        return (
            Got(part / 100, coerced=True)
            if 0 <= part <= 100
            else Bad("illegal", f"{quoted(written)} is outside 0 to 100 %")
        )
    if _NUMBER.fullmatch(word):
        read = unit(_number(word))
        return Got(read.value, coerced=True) if isinstance(read, Got) else read
    return Bad("unparseable", f"must be a number from 0 to 1, not {quoted(written)}")


def whole(value: Any, most: int) -> Value:
    """Read a whole number from 0 to `most`; one outside is illegal, not moved into the range: its scale is unknown."""
    if isinstance(value, str):
        word = _number_words(value)
        share = _share(word)
        if share is not None and share[1] == most:
            return _whole(share[0], most, value)
        if not _NUMBER.fullmatch(word):
            return Bad("unparseable", f"must be a whole number from 0 to {most}, not {quoted(value)}")
        return _whole(_number(word), most, value)
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        return Bad("unparseable", f"must be a whole number from 0 to {most}, not {quoted(value)}")
    if isinstance(value, int):
        return Got(value) if 0 <= value <= most else Bad("illegal", f"{quoted(value)} is outside 0 to {most}")
    return _whole(value, most, value)


def _whole(number: float, most: int, written: Any) -> Value:
    if number != int(number):
        return Bad("illegal", f"must be a whole number from 0 to {most}, not {quoted(written)}")
    if not 0 <= number <= most:
        return Bad("illegal", f"{quoted(written)} is outside 0 to {most}")
    return Got(int(number), coerced=True)


def words(value: Any) -> Value:
    """Read a text; a list of texts is taken as its paragraphs."""
    if isinstance(value, str):
        return Got(value)
    if isinstance(value, list) and value and all(isinstance(item, str) for item in value):
        return Got("\n".join(value), coerced=True)
    return Bad("unparseable", f"must be a text, not {quoted(value)}")


def _plain(written: str) -> str:
    if len(written) > _LONGEST:
        return ""
    return " ".join(written.casefold().strip(" \t\r\n\"'`*_").rstrip(".!").replace("_", " ").split())


def _number_words(written: str) -> str:
    word = _ASIDE.sub("", _plain(written).lstrip("~≈ "))
    return str(NUMBER_WORDS.get(word, word))


def _share(word: str) -> tuple[float, float] | None:
    match = _SHARE.fullmatch(word)
    if match is None:
        return None
    part, most = (str(NUMBER_WORDS.get(side, side)) for side in match.groups())
    return (_number(part), _number(most)) if _NUMBER.fullmatch(part) and _NUMBER.fullmatch(most) else None


def _number(word: str) -> float:
    return float(word.replace(",", "."))


_CLAIM: Final[TypeAdapter[Claim]] = TypeAdapter(Claim)
_MOST_CLAIMS = 50
_LAST_ROUND = 100_000
_ROLE_WORDS: dict[str, Role] = {**ROLE_WORDS, "were-wolf": "Werewolf"}


def read_claims(value: Any, names: Sequence[str]) -> tuple[tuple[Claim, ...], bool]:
    """Return the claims that a list of objects holds, and whether anything had to be changed or left out.

    Args:
        value: the parsed "claims" of a reply; null counts as none.
        names: all players; a claim about nobody among them is left out. Empty takes every name.
    """
    if value is None:
        return (), False
    if not isinstance(value, list):
        return (), True
    read = [_claim(item, names) for item in value[:_MOST_CLAIMS]]
    claims = tuple(claim for claim, _ in read if claim is not None)
    coerced = len(value) > _MOST_CLAIMS or any(changed for _, changed in read)
    return claims, coerced


def _claim(item: Any, names: Sequence[str]) -> tuple[Claim | None, bool]:
    if not isinstance(item, dict):
        return None, True
    value = dict(item)
    changed = _tidy(value, "claim", lambda word: word.strip().casefold())
    changed |= _tidy(value, "role", lambda word: _ROLE_WORDS.get(word.strip().casefold(), word))
    changed |= _tidy(value, "round", lambda word: int(word) if word.strip().isdecimal() and len(word) < 7 else word)
    if names and isinstance(value.get("target"), str):
        resolved = resolve_name(value["target"], names)
        if resolved.name is None:
            return None, True
        changed |= not resolved.exact
        value["target"] = resolved.name
    number = value.get("round")
    if isinstance(number, int) and not 0 <= number <= _LAST_ROUND:
        return None, True
    try:
        return _CLAIM.validate_python(value), changed
    except ValidationError:
        return None, True


def _tidy(value: dict[str, Any], key: str, tidied: Any) -> bool:
    word = value.get(key)
    if not isinstance(word, str):
        return False
    value[key] = tidied(word)
    return bool(value[key] != word)
