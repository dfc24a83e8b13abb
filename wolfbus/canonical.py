"""Canonical JSON: one value, one byte string, in every process that ever writes or checks a record."""

from __future__ import annotations

import hashlib
import json
from typing import Any

_encode = json.JSONEncoder(ensure_ascii=False, allow_nan=False, sort_keys=True, separators=(",", ":")).encode


def canonical(value: Any) -> bytes:
    """Return `value` as UTF-8 JSON with sorted keys and no spaces.

    Raises:
        ValueError: for NaN, infinities and lone surrogates, which no record may hold.
    """
    return _encode(value).encode()


def sha256_hex(*parts: bytes) -> str:
    """Return the SHA-256 of the concatenated `parts` as 64 lowercase hex digits."""
    digest = hashlib.sha256()
    for part in parts:
        digest.update(part)
    return digest.hexdigest()
