"""The form of a reply, as the double understands it: a JSON Schema, given as one or told by a template in the prompt.

A template is one JSON object whose values are placeholders in angle brackets::

    {"thought": "<private reasoning>", "bid": <whole number 0 to 10>, "target": <one of: "Ada", "Raj", null>}

Besides, ``<number 0 to 1>``, ``<true or false>`` and ``<some words, or null>`` are understood.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, Final, TypeAlias

Schema: TypeAlias = Mapping[str, Any]

ASKED: Final = "in this form:"
"""Words behind which a prompt gives its template."""

_JSON: Final = json.JSONDecoder()
_QUOTED: Final = r'"(?:\\.|[^"\\])*"'
_TOKEN: Final = re.compile(rf'{_QUOTED}|<(?:{_QUOTED}|[^">])*>')
_NUMBER: Final = re.compile(r"(whole )?number (-?\d+(?:\.\d+)?) to (-?\d+(?:\.\d+)?)")


def schema_of_prompt(texts: Sequence[str]) -> Schema | None:
    """Return the schema that the last template in these messages describes; None if there is none to be read."""
    for text in reversed(texts):
        at = text.rfind(ASKED)
        begin = text.find("{", at) if at >= 0 else -1
        if begin >= 0:
            try:
                return schema_of_template(text[begin:])
            except (ValueError, RecursionError):
                continue
    return None


@lru_cache(maxsize=1024)
def schema_of_template(template: str) -> Schema:
    """Return the schema that a template describes; what follows it is not looked at.

    Raises:
        ValueError: it is no template.
    """
    told = _TOKEN.sub(lambda token: json.dumps(token[0]) if token[0][0] == "<" else token[0], template)
    return _described(_JSON.raw_decode(told)[0])


def bounds(schema: Schema) -> tuple[float, float]:
    """Return the least and the most of a number; servers often take no bounds, and a description tells them instead."""
    if options := schema.get("enum"):
        return options[0], options[-1]
    usual = {"minimum": 0, "maximum": 10 if schema["type"] == "integer" else 1}
    told = {**usual, **_placeholder(str(schema.get("description", ""))), **schema}
    return told["minimum"], told["maximum"]


def _described(value: Any) -> dict[str, Any]:
    if isinstance(value, dict):
        return {"type": "object", "properties": {key: _described(item) for key, item in value.items()}}
    if isinstance(value, str) and value.startswith("<") and value.endswith(">"):
        return _placeholder(value[1:-1])
    return {"enum": [value]}


def _placeholder(words: str) -> dict[str, Any]:
    if words.startswith("one of:"):
        options = json.loads(f"[{words.removeprefix('one of:')}]")
        if not options:
            raise ValueError("nothing to choose from")
        return {"enum": options}
    if number := _NUMBER.match(words):
        kind: type[int | float] = int if number[1] else float
        return {
            "type": "integer" if number[1] else "number",
            "minimum": kind(number[2]),
            "maximum": kind(number[3]),
        }
    if words == "true or false":
        return {"type": "boolean"}
    return {"type": ["string", "null"] if words.endswith("or null") else "string"}
