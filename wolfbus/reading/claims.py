"""Typed claims beside a statement, as models write them; one that cannot be read is left out, the statement stands."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from pydantic import TypeAdapter, ValidationError

from wolfbus.messages.claims import Claim
from wolfbus.reading.names import resolve_name
from wolfbus.vocabulary import ROLE_WORDS, Role

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
