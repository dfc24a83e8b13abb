"""Forms: what shape a reply has, once as a JSON Schema and once in words, made from one description.

The schema keeps within what servers take in strict mode: all members required and no others, enums, no bounds on
numbers. In words, a form is the last two lines of a prompt: `FORM_LINE`, and a template on one line: a JSON object in
which placeholders in angle brackets stand for values::

    {"thought": "<private reasoning>", "bid": <whole number 0 to 10>}

- ``"<some words>"``: a string; only here do the brackets stand in quotation marks
- ``<whole number 0 to 10>``, ``<number 0 to 1>``, ``<true or false>``
- ``<one of: "Ada", "Raj", null>``: one of these JSON values
- ``<some words, in quotation marks, or null>``: a string or null

A call that asks for several things at once wants one object with a member per part, named by `part_name`, that holds
the object of that part's own form.

Keys are the first of those that the reading ladder takes (`wolfbus.reading.keys`), so that a reply that keeps to its
form is read as clean. Speakers are not asked for typed claims beside a statement: it would burden small models, the
paper's speakers state none, and to be asked for what can be checked could change what is said.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final, NamedTuple

from players.llm.provider import Form
from wolfbus.messages.base import SeatName
from wolfbus.roles import ACTS
from wolfbus.vocabulary import DECEPTIONS, Deception, Kind

FORM_LINE: Final = "Reply in this form:"
"""The line before a prompt's last line, which holds the template."""

KINDS_ASKED: Final[tuple[Deception, ...]] = tuple(kind for kind in DECEPTIONS if kind != "unspecified")
"""The taxonomy of the paper, section 4.2."""

LABEL: Final = "label"
"""The part that labels one's own statement."""

_KEYS: Final[dict[Kind, tuple[str, ...]]] = {
    "bid": ("thought", "bid"),
    "speak": ("thought", "text"),
    "assess_own": ("thought", "deceptive", "confidence", "kind", "reasoning"),
    "assess_other": ("thought", "deceptive", "suspicion", "confidence", "kind", "reasoning"),
    "vote": ("thought", "target", "reason"),
    **dict.fromkeys(ACTS, ("thought", "target")),
    "whisper": ("thought", "target", "word"),
}
_WORDS: Final = {
    "thought": "your private reasoning",
    "text": "your public statement",
    "reasoning": "why",
    "word": "what you tell your partners",
}
"""Members that are a text, and what they hold."""

_MOST_BIDS_LISTED: Final = 100


class FormPart(NamedTuple):
    """One thing that a reply is asked for.

    Attributes:
        kind: the kind of the request.
        about: the statement to assess.
        legal: names that may be answered, None among them for nobody; None where no name is asked for.
    """

    kind: Kind
    about: int | None = None
    legal: tuple[SeatName | None, ...] | None = None


@dataclass(frozen=True, slots=True)
class WordedForm:
    """A form, and the lines that say it in words at the end of a prompt."""

    form: Form
    words: str


class _Member(NamedTuple):
    key: str
    schema: Mapping[str, Any]
    placeholder: str


def part_name(kind: Kind, about: int | None) -> str:
    """Return the member of a reply that holds the part for a request, where a call asks for several.

    Args:
        kind: the kind of the request.
        about: the statement to assess, for `assess_other`.
    """
    if kind == "assess_other":
        return f"judgement_{about}"
    if kind == "assess_own":
        return LABEL
    return "speech" if kind == "speak" else kind


@lru_cache(maxsize=512)
def worded_form(parts: tuple[FormPart, ...], *, bid_max: int, reasons: bool, together: bool) -> WordedForm:
    """Return the form for a reply.

    Args:
        parts: what is asked for, in the order of the form.
        bid_max: the highest bid.
        reasons: whether votes have public reasons.
        together: whether the reply has a member per part; if not, there is one part, and the reply is its object.

    Raises:
        ValueError: two parts would have the same name.
    """
    kinds = dict.fromkeys(part.kind for part in parts)
    name = "_and_".join(kinds)
    groups = [(part_name(part.kind, part.about), _members(part, bid_max, reasons)) for part in parts]
    if not together:
        return _worded(name, groups[0][1])
    if len({group for group, _ in groups}) < len(groups):
        raise ValueError(f"one call cannot ask for {', '.join(group for group, _ in groups)}: names must differ")
    if len(kinds) == 1:
        name += "_together"
    return _worded(name, [_Member(group, _object(members), _template(members)) for group, members in groups])


def _worded(name: str, members: Sequence[_Member]) -> WordedForm:
    return WordedForm(Form(name, _object(members)), f"{FORM_LINE}\n{_template(members)}")


def _members(part: FormPart, bid_max: int, reasons: bool) -> list[_Member]:
    keys = [key for key in _KEYS[part.kind] if key != "reason" or reasons]
    return [_Member(key, *_value(key, part, bid_max)) for key in keys]


def _value(key: str, part: FormPart, bid_max: int) -> tuple[dict[str, Any], str]:
    """Return the schema of a member's value, and what stands for the value in a template."""
    if key in _WORDS:
        return {"type": "string", "description": _WORDS[key]}, f'"<{_WORDS[key]}>"'
    if key == "reason":
        hint = "your public reason"
        schema: dict[str, Any] = {"type": ["string", "null"], "description": f"{hint}, or null for none"}
        return schema, f"<{hint}, in quotation marks, or null>"
    if key == "bid":
        hint = f"whole number 0 to {bid_max}"
        # strict mode knows no bounds on every server, but enums everywhere
        listed = {"enum": list(range(bid_max + 1))} if bid_max < _MOST_BIDS_LISTED else {}
        return {"type": "integer", "description": hint, **listed}, f"<{hint}>"
    if key == "deceptive":
        return {"type": "boolean"}, "<true or false>"
    if key == "kind" or key == "target":
        options: Sequence[str | None] = KINDS_ASKED if key == "kind" else part.legal or ()
        types = [name for name, offered in (("string", any(options)), ("null", None in options)) if offered]
        schema = {"type": types[0] if len(types) == 1 else types, "enum": list(options)}
        return schema, f"<one of: {', '.join(_json(option) for option in options)}>"
    return {"type": "number", "description": "number 0 to 1"}, "<number 0 to 1>"


def _object(members: Sequence[_Member]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": {member.key: member.schema for member in members},
        "required": [member.key for member in members],
        "additionalProperties": False,
    }


def _template(members: Sequence[_Member]) -> str:
    return "{" + ", ".join(f"{_json(member.key)}: {member.placeholder}" for member in members) + "}"


def _json(value: str | None) -> str:
    return json.dumps(value, ensure_ascii=False)
