"""Names and seeds that nobody has used before. They are random; no draw of a game comes from here but by its seed."""

from __future__ import annotations

import secrets
import time

from wolfbus.errors import ConfigError


def fresh_name(prefix: str) -> str:
    """Return a name that no other process takes: `prefix` and a random tail."""
    return f"{prefix}-{secrets.token_hex(4)}"


def fresh_id() -> str:
    """Return the id of a new game or session, unlike any other's: the time of day, so that they sort, and a tail."""
    return time.strftime("%Y%m%d-%H%M%S-", time.gmtime()) + secrets.token_hex(3)


def fresh_seed() -> str:
    """Return a seed that nobody can guess.

    It is long, for the names, which everybody sees, are drawn from it: a short one could be found by trying all.
    """
    return secrets.token_hex(16)


def seed_of(seed: str | int | None) -> str:
    """Return a seed as a record holds it, a fresh one for None; raises ConfigError where none can hold it."""
    text = fresh_seed() if seed is None else str(seed)
    try:
        text.encode()
    except UnicodeEncodeError:
        raise ConfigError("seed: not text that UTF-8 can hold") from None
    return text
