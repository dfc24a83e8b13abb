"""A model's reply and the answer that was read from it: where they say exactly the same, a record keeps one of them."""

from __future__ import annotations

import json
from typing import Any, Final

from wolfbus.messages.calls import ReplyStyle
from wolfbus.messages.events import AnyAnswered

_STYLES: Final[dict[ReplyStyle, dict[str, Any]]] = {
    "spaced": {"separators": (", ", ": ")},
    "dense": {"separators": (",", ":")},
    "indented": {"indent": 2},
}
_NO_WORDS_OF_MODELS: Final = frozenset({"claims", "stated_kind"})


def reply_of(answered: AnyAnswered, style: ReplyStyle) -> str | None:
    """Return the reply that an answer stands for: its thought, then its content, as one JSON object.

    Args:
        answered: what was recorded of the request.
        style: how the JSON is set.

    Returns:
        The text; None if the answer has no content.
    """
    if answered.content is None:
        return None
    members: dict[str, Any] = {} if answered.thought is None else {"thought": answered.thought}
    for name in type(answered.content).model_fields:
        if name not in _NO_WORDS_OF_MODELS:
            members[name] = getattr(answered.content, name)
    return json.dumps(members, ensure_ascii=False, **_STYLES[style])


def style_of(reply: str, answered: AnyAnswered) -> ReplyStyle | None:
    """Return in which style an answer gives a reply again, character for character; None if in none."""
    return next((style for style in _STYLES if reply_of(answered, style) == reply), None)
