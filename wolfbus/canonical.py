"""Canonical JSON: one value, one byte string, in every process that ever writes or checks a record."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from typing import Any

_encoder = json.JSONEncoder(ensure_ascii=False, allow_nan=False, sort_keys=True, separators=(",", ":"))
_encode = _encoder.encode
_quote = json.encoder.encode_basestring
_pieces: Callable[[Any, int], tuple[str, ...]] | None = None
_make = getattr(json.encoder, "c_make_encoder", None)
if _make is not None:
    # what `encode` makes anew for every value it is given
    _pieces = _make(None, _encoder.default, _quote, None, ":", ",", True, False, False)


def canonical(value: Any) -> bytes:
    """Return `value` as UTF-8 JSON with sorted keys and no spaces.

    Raises:
        ValueError: for NaN, infinities and lone surrogates, which no record may hold.
    """
    return _encode(value).encode()


def canonical_members(value: Mapping[str, Any]) -> dict[str, str]:
    """Return the canonical JSON of each member, ``"name":value``, by name; `joined` makes objects of them.

    Names must be plain ASCII words.

    Raises:
        ValueError: for NaN and infinities.
    """
    members = {}
    for name, item in value.items():
        if item.__class__ is str:
            members[name] = f'"{name}":{_quote(item)}'
        elif item.__class__ is int:
            members[name] = f'"{name}":{item}'
        else:
            text = "".join(_pieces(item, 0)) if _pieces is not None else _encode(item)
            members[name] = f'"{name}":{text}'
    return members


def sha256_hex(*parts: bytes) -> str:
    """Return the SHA-256 of the concatenated `parts` as 64 lowercase hex digits."""
    digest = hashlib.sha256()
    for part in parts:
        digest.update(part)
    return digest.hexdigest()
