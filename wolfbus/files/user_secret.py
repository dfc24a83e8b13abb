"""A secret of this user's own, and seals made with it: by one this user's processes know again what they have written.

Whoever acts as this user can read the secret, and seal anything.
"""

from __future__ import annotations

import hashlib
import hmac
import os
import secrets
from functools import cache
from pathlib import Path
from typing import Final

from wolfbus.errors import ConfigError
from wolfbus.files.whole_file import OWNER, read_whole, write_whole

_LENGTH: Final = 32


def user_folder() -> Path:
    """Return where this user's processes keep what they have to know again; raises RuntimeError for no home."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "wolfbus"


@cache
def user_secret() -> bytes | None:
    """Return this user's secret, 32 bytes, made when it is first asked for; None where it cannot be kept."""
    try:
        path = user_folder() / "secret"
        if not path.exists():
            path.parent.mkdir(parents=True, exist_ok=True)
            write_whole(path, [secrets.token_bytes(_LENGTH)], mode=OWNER)
        # of two that made one at once the later stands
        secret = read_whole(path, _LENGTH)
    except (OSError, RuntimeError, ConfigError):
        return None
    return secret if len(secret) == _LENGTH else None


def seal_of(secret: bytes, purpose: bytes, content: bytes) -> bytes:
    """Return the seal, 32 bytes, over some content; one purpose's, at most 16 bytes, is none for another."""
    return hashlib.blake2b(content, key=secret, digest_size=_LENGTH, person=purpose).digest()


def is_sealed(secret: bytes, purpose: bytes, content: bytes, seal: bytes) -> bool:
    """Return whether this is the seal over the content."""
    return hmac.compare_digest(seal, seal_of(secret, purpose, content))
