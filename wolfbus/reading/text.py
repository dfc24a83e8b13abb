"""A model's text made safe to keep, and parted from what it thought before its answer.

Lone surrogates go because UTF-8 cannot hold them, control characters because terminals would obey them; drafts between
thinking tags are no answers.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any

from wolfbus.vocabulary import Reading

RUNGS: tuple[Reading, ...] = ("clean", "extracted", "repaired", "coerced", "reasked")

_UNSAFE = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff]")
_SURROGATE = re.compile(r"[\ud800-\udfff]")
_BOM = "\ufeff"


def worse(one: Reading, other: Reading) -> Reading:
    """Return the lower of two rungs of the ladder."""
    return max(one, other, key=RUNGS.index)


def clean_text(text: str) -> str:
    """Return `text` with U+FFFD for lone surrogates and without control characters other than tab and line ends."""
    if _UNSAFE.search(text) is None:
        return text
    return _UNSAFE.sub("", _SURROGATE.sub("\ufffd", text))


def without_bom(text: str) -> str:
    """Return `text` without byte order marks at its start."""
    return text.lstrip(_BOM)


def clean_value(value: Any) -> Any:
    """Return a parsed JSON value with every string in it cleaned; the value itself where nothing had to be."""
    if isinstance(value, str):
        return clean_text(value)
    if isinstance(value, list):
        items = [clean_value(item) for item in value]
        return value if all(new is old for new, old in zip(items, value, strict=True)) else items
    if isinstance(value, dict):
        changed = False
        members: dict[str, Any] = {}
        for key, item in value.items():
            new_key, new_item = clean_text(key), clean_value(item)
            changed = changed or new_key is not key or new_item is not item
            members[new_key] = new_item
        return _like(value, members) if changed else value
    return value


def _like(old: dict[str, Any], members: dict[str, Any]) -> dict[str, Any]:
    new = type(old)(members)
    if hasattr(old, "__dict__"):
        new.__dict__.update(old.__dict__)
    return new


def one_line(text: str, limit: int = 200) -> str:
    """Return `text` cleaned, on one line and at most `limit` characters long."""
    line = " ".join(clean_text(text).split())
    return line if len(line) <= limit else line[: limit - 1] + "…"


def quoted(value: Any) -> str:
    """Return a short quotation of what a model wrote, for a note."""
    return one_line(json.dumps(value, ensure_ascii=False, default=str), 40)


_TAGS = "think|thinking|thought|thoughts|reasoning|reflection|scratchpad|analysis"
_THINKING = re.compile(rf"\s*<({_TAGS})>(.*?)(?:</\1>|\Z)", re.DOTALL | re.IGNORECASE)
_OPENING = re.compile(rf"<(?:{_TAGS})>", re.IGNORECASE)
_CLOSING = re.compile(r"</think(?:ing)?>(?=\s*(?:\{|```|\Z|[A-Z]))", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Rest:
    """What is left of a text to look for an answer in."""

    text: str
    """Safe to keep."""
    thoughts: tuple[str, ...]
    """What stood between thinking tags, in order."""
    rung: Reading
    """What it took so far."""


def without_thinking(text: str) -> Rest:
    """Return a text cleaned and without the thinking at its start."""
    plain = without_bom(text)
    cleaned = clean_text(plain)
    rung: Reading = "repaired" if cleaned != plain else "extracted" if plain != text else "clean"
    thoughts, rest = _split(cleaned)
    return Rest(rest, tuple(thoughts), rung if rest == cleaned else worse(rung, "extracted"))


def _split(text: str) -> tuple[list[str], str]:
    thoughts: list[str] = []
    opening = _OPENING.search(text)
    if opening is not None and "{" not in text[: opening.start()]:
        end = opening.start()
        while block := _THINKING.match(text, end):
            thoughts.append(block.group(2).strip())
            end = block.end()
        return [thought for thought in thoughts if thought], text[: opening.start()] + text[end:]
    closings = [] if opening else list(_CLOSING.finditer(text))
    if not closings or text.lstrip().startswith(("{", "[", "```")):
        return [], text
    return [text[: closings[-1].start()].strip()], text[closings[-1].end() :]
