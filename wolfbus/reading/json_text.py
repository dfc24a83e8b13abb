"""Strict and lenient JSON, bounded: deep nesting, huge numbers and NaN are refused rather than passed on."""

from __future__ import annotations

import json
from typing import Any, NoReturn

_LONG_NUMBER = 18


class Members(dict[str, Any]):
    """A JSON object that remembers which of its keys stood there twice with different values."""

    def __init__(self, members: dict[str, Any] | None = None) -> None:
        super().__init__(members or {})
        self.repeated: frozenset[str] = frozenset()


def _members(pairs: list[tuple[str, Any]]) -> Members:
    made = Members()
    repeated = set()
    for key, value in pairs:
        if key in made and made[key] != value:
            repeated.add(key)
        made[key] = value
    made.repeated = frozenset(repeated)
    return made


def _integer(digits: str) -> int | float:
    # int() is quadratic in the digits, and no field of ours has use for more than these
    return int(digits) if len(digits) <= _LONG_NUMBER else float(digits)


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is no JSON")


_STRICT = json.JSONDecoder(object_pairs_hook=_members, parse_int=_integer, parse_constant=_refuse)
_LENIENT = json.JSONDecoder(object_pairs_hook=_members, parse_int=_integer, parse_constant=lambda _: None, strict=False)


def strict(text: str) -> Any:
    """Return the value that the whole `text` is.

    Raises:
        ValueError: it is no JSON, or nested too deeply.
    """
    return _decode(_STRICT, text)


def lenient(text: str) -> Any:
    """Like `strict`, but line breaks within strings are let through and NaN and infinities count as null."""
    return _decode(_LENIENT, text)


def _decode(decoder: json.JSONDecoder, text: str) -> Any:
    try:
        return decoder.decode(text)
    except RecursionError:
        raise ValueError("nested too deeply") from None


def strict_at(text: str, start: int) -> tuple[Any, int]:
    """Return the value that begins at `start` and the place after it.

    Raises:
        ValueError: there is no JSON there, or it is nested too deeply.
    """
    try:
        return _STRICT.raw_decode(text, start)
    except RecursionError:
        raise ValueError("nested too deeply") from None
