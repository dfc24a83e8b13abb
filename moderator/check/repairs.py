"""Says of an answer that was not clean what had to be done to it: to which member, what it was, what it was read as."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any, Final

from wolfbus.messages.content import CONTENT
from wolfbus.printable import printable
from wolfbus.vocabulary import Kind, Reading

_VALUE_SHOWN: Final = 40
_RAW_SHOWN: Final = 120

_DONE: Final[Mapping[Reading, str]] = {
    "extracted": "taken out of what stood around it",
    "repaired": "repaired as JSON",
    "coerced": "coerced",
}


def repaired(kind: Kind, reading: Reading, raw: object, content: Mapping[str, Any]) -> tuple[str, str]:
    """Return what had to be done to an answer.

    Args:
        kind: what was asked for.
        reading: the rung of the ladder that it took, not ``clean``.
        raw: the text as it came, None where the agent does not tell it.
        content: what it was read as, as plain values.

    Returns:
        The members concerned, for telling one sort of repair from another, and a line that says it all.
    """
    done = f"it had to be {_DONE.get(reading, reading)}"
    if not isinstance(raw, str):
        return "", f"{done}; the reply has no `raw` that shows what was written; it was read as {_shown(content)}"
    written = _object(raw)
    changed = dict(_changed(kind, written, content)) if written is not None else {}
    if changed:
        return " ".join(changed), f"{done}: {', '.join(changed.values())}"
    return "", f"{done}: {wrote(raw)} was read as {_shown(content)}"


def wrote(raw: str) -> str:
    """Return a text that an agent wrote, as it is shown within a line."""
    return f"`{printable(raw, _RAW_SHOWN)}`"


def _object(raw: str) -> dict[str, Any] | None:
    try:
        value = json.loads(raw)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def _changed(kind: Kind, written: Mapping[str, Any], content: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield every member that was read otherwise than it was written, and how."""
    members = CONTENT[kind].model_fields
    for name, member in members.items():
        read = content.get(name, member.get_default())
        if name in written:
            if not _is_same(written[name], read):
                yield name, f'"{name}": {_shown(written[name])} was read as {_shown(read)}'
        elif name in content and name != "stated_kind":
            others = ", ".join(f'"{key}"' for key in written if key not in {"id", "thought", *members})
            there = f" (but {others:.80})" if others else ""
            yield name, f'"{name}" is not there{there}: {_shown(read)} was taken for it'


def _is_same(was: object, read: object) -> bool:
    """Return whether two values are one: as numbers are, written as 1 and as 1.0, but no truth value and number."""
    read = list(read) if isinstance(read, tuple) else read
    return was == read and isinstance(was, bool) == isinstance(read, bool)


def _shown(value: object) -> str:
    return printable(json.dumps(value, ensure_ascii=False), _VALUE_SHOWN)
