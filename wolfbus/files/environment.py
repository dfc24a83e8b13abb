"""Values of environment variables as people mean them: some programs hand on what stands around them in a file."""

from __future__ import annotations

import os
import unicodedata

from wolfbus.errors import ConfigError


def plain_value(text: str | None) -> str:
    """Return a value without blanks and line ends around it, and without one pair of quotes around all of it."""
    value = (text or "").strip()
    if len(value) > 1 and value[0] == value[-1] and value[0] in "'\"" and value[0] not in value[1:-1]:
        return value[1:-1]
    return value


def clean_environment() -> None:
    """Make plain values of all variables that are ours, for this process and whatever it starts.

    Raises:
        ConfigError: one holds a control character; the line names the variable.
    """
    for name, text in list(os.environ.items()):
        if name == "REDIS_URL" or name.startswith("WOLFBUS_"):
            os.environ[name] = value = plain_value(text)
            for character in value:
                if unicodedata.category(character) == "Cc":
                    raise ConfigError(f"{name}: its value holds a control character ({character!r})")
