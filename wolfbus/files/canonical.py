"""Canonical JSON: one value, one byte string, in every process that ever writes or checks a record."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from typing import Any

_encoder = json.JSONEncoder(ensure_ascii=False, allow_nan=False, sort_keys=True, separators=(",", ":"))
_encode = _encoder.encode
_quote = json.encoder.encode_basestring
# what `encode` makes anew for every value it is given; Pythons without it have none
_make_encoder = getattr(json.encoder, "c_make_encoder", None)
_pieces: Callable[[Any, int], tuple[str, ...]] | None = None
if _make_encoder is not None:
    _pieces = _make_encoder(None, _encoder.default, _quote, None, ":", ",", True, False, False)


def canonical(value: Any) -> bytes:
    """Return `value` as UTF-8 JSON with sorted keys and no spaces.

    Raises:
        ValueError: for NaN, infinities and lone surrogates, which no record may hold.
    """
    return _encode(value).encode()


def canonical_members(value: Mapping[str, Any]) -> dict[str, str]:
    """Return the canonical JSON of each member, ``"name":value``, by name, which must be a plain ASCII word.

    Sorted by name, joined by commas and put in braces, they are the canonical JSON of `value`.

    Raises:
        ValueError: for NaN and infinities.
    """
    members = {}
    for name, item in value.items():
        if item.__class__ is str:
            members[name] = f'"{name}":{_quote(item)}'
        elif item.__class__ is int:
            members[name] = f'"{name}":{item}'
        elif _pieces is not None:
            members[name] = "".join((f'"{name}":', *_pieces(item, 0)))
        else:
            members[name] = f'"{name}":{_encode(item)}'
    return members


def sha256_hex(*parts: bytes) -> str:
    """Return the SHA-256 of the concatenated `parts` as 64 lowercase hex digits."""
    digest = hashlib.sha256()
    for part in parts:
        digest.update(part)
    return digest.hexdigest()
