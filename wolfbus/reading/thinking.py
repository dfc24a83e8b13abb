"""A model's text without what it thought before its answer: drafts between thinking tags are no answers."""

from __future__ import annotations

import re
from dataclasses import dataclass

from wolfbus.reading.answer import worse
from wolfbus.reading.cleaning import clean_text, without_bom
from wolfbus.vocabulary import Reading

_TAGS = "think|thinking|thought|thoughts|reasoning|reflection|scratchpad|analysis"
_THINKING = re.compile(rf"\s*<({_TAGS})>(.*?)(?:</\1>|\Z)", re.DOTALL | re.IGNORECASE)
_OPENING = re.compile(rf"<(?:{_TAGS})>", re.IGNORECASE)
_CLOSING = re.compile(r"</think(?:ing)?>(?=\s*(?:\{|```|\Z|[A-Z]))", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Rest:
    """What is left of a text to look for an answer in."""

    text: str
    """Safe to keep; see `wolfbus.reading.cleaning`."""
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
