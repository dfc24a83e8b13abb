"""The form of a reply, as a model is told it: by a JSON Schema, or by a template at the end of the prompt.

A template is one JSON object whose values are placeholders in angle brackets::

    {"thought": "<private reasoning>", "bid": <whole number 0 to 10>, "target": <one of: "Ada", "Raj", null>}

Besides, ``<number 0 to 1>``, ``<true or false>`` and ``<some words, or null>`` are understood.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final, TypeAlias

Scalar: TypeAlias = str | int | float | bool | None

ASKED: Final = "in this form:"
"""Words behind which a prompt gives its template."""

_DEEPEST: Final = 24
_JSON: Final = json.JSONDecoder()
_SPACE: Final = re.compile(r"[\s,]*")
_WHOLE: Final = re.compile(r"whole number\D*?(-?\d+)\s*(?:to|and|-|–)\s*(-?\d+)", re.IGNORECASE)
_NUMBER: Final = re.compile(r"number\D*?(-?\d+(?:\.\d+)?)\s*(?:to|and|-|–)\s*(-?\d+(?:\.\d+)?)", re.IGNORECASE)
_TRUTH: Final = re.compile(r"true or false|false or true|true ?[/|] ?false", re.IGNORECASE)
_ONE_OF: Final = re.compile(r"one of:?\s*", re.IGNORECASE)
_BARE: Final = re.compile(r'[^,">]+')


@dataclass(frozen=True, slots=True)
class Words:
    """A text."""

    hint: str = ""


@dataclass(frozen=True, slots=True)
class Whole:
    """A whole number within bounds."""

    least: int = 0
    most: int = 10


@dataclass(frozen=True, slots=True)
class Fraction:
    """A number within bounds."""

    least: float = 0.0
    most: float = 1.0


@dataclass(frozen=True, slots=True)
class Truth:
    """True or false."""


@dataclass(frozen=True, slots=True)
class OneOf:
    """One of some values; a single one is a constant."""

    options: tuple[Scalar, ...]


@dataclass(frozen=True, slots=True)
class Group:
    """An object with these members, in this order."""

    members: tuple[tuple[str, Shape], ...]


@dataclass(frozen=True, slots=True)
class Several:
    """A list of at least so many items."""

    item: Shape
    least: int = 0


@dataclass(frozen=True, slots=True)
class Either:
    """One of several shapes."""

    options: tuple[Shape, ...]


Shape: TypeAlias = Words | Whole | Fraction | Truth | OneOf | Group | Several | Either


def shape_of_schema(schema: Mapping[str, Any]) -> Shape:
    """Return the shape that a JSON Schema describes, as far as servers take it in strict mode.

    Raises:
        ValueError: it goes deeper than any form does, as one does that refers to itself.
    """
    return _schema(schema, schema, 0)


def shape_of_prompt(texts: Sequence[str]) -> Shape | None:
    """Return the shape that the last template in these user messages describes, None if there is none to be read."""
    for text in reversed(texts):
        at = text.rfind(ASKED)
        begin = text.find("{", at) if at >= 0 else -1
        if begin >= 0:
            try:
                return shape_of_template(text[begin:])
            except (ValueError, IndexError):
                continue
    return None


@lru_cache(maxsize=1024)
def shape_of_template(template: str) -> Shape:
    """Return the shape that a template describes; what follows it is not looked at.

    Raises:
        ValueError: it is no template.
        IndexError: it ends too early.
    """
    return _value(template, 0, 0)[0]


def _schema(root: Mapping[str, Any], schema: Mapping[str, Any], depth: int) -> Shape:
    if depth > _DEEPEST:
        raise ValueError("the schema goes too deep")
    if "$ref" in schema:
        target: Any = root
        for key in filter(None, str(schema["$ref"]).removeprefix("#").split("/")):
            target = target.get(key, {})
        return _schema(root, target, depth + 1)
    if "const" in schema:
        return OneOf((schema["const"],))
    if "enum" in schema:
        return _enum(tuple(schema["enum"]))
    choices = schema.get("anyOf") or schema.get("oneOf")
    if choices:
        return _either(tuple(_schema(root, choice, depth + 1) for choice in choices))
    type_ = schema.get("type")
    if isinstance(type_, list):
        return _either(tuple(_schema(root, {**schema, "type": each}, depth + 1) for each in type_))
    return _typed(root, schema, str(type_), depth)


def _typed(root: Mapping[str, Any], schema: Mapping[str, Any], type_: str, depth: int) -> Shape:
    if type_ == "object":
        members = schema.get("properties", {})
        return Group(tuple((key, _schema(root, value, depth + 1)) for key, value in members.items()))
    if type_ == "array":
        return Several(_schema(root, schema.get("items", {}), depth + 1), schema.get("minItems", 0))
    if type_ in {"integer", "number"}:
        return _bounded(schema, type_)
    if type_ == "boolean":
        return Truth()
    return OneOf((None,)) if type_ == "null" else Words(str(schema.get("description", "")))


def _enum(options: tuple[Scalar, ...]) -> Shape:
    whole = [option for option in options if isinstance(option, int) and not isinstance(option, bool)]
    if len(whole) == len(options) > 1 and whole == list(range(whole[0], whole[-1] + 1)):
        return Whole(whole[0], whole[-1])
    return OneOf(options)


def _bounded(schema: Mapping[str, Any], type_: str) -> Shape:
    """Return a number's shape; servers often take no bounds in a schema, and a description tells them instead."""
    told = _placeholder(str(schema.get("description", "")))
    if type_ == "integer":
        least, most = (told.least, told.most) if isinstance(told, Whole) else (0, 10)
        return Whole(schema.get("minimum", least), schema.get("maximum", most))
    low, high = (told.least, told.most) if isinstance(told, Fraction) else (0.0, 1.0)
    return Fraction(schema.get("minimum", low), schema.get("maximum", high))


def _either(options: tuple[Shape, ...]) -> Shape:
    flat = [option for option in options if isinstance(option, OneOf)]
    if len(flat) == len(options):
        return OneOf(tuple(value for option in flat for value in option.options))
    return options[0] if len(options) == 1 else Either(options)


def _value(text: str, at: int, depth: int) -> tuple[Shape, int]:
    """Read one value of a template; return it and the place behind it."""
    if depth > _DEEPEST:
        raise ValueError("the template goes too deep")
    at = _skip(text, at)
    opening = text[at]
    if opening == "{":
        return _group(text, at + 1, depth + 1)
    if opening == "[":
        return _list(text, at + 1, depth + 1)
    if opening == "<":
        end = _closing(text, at + 1)
        return _placeholder(text[at + 1 : end]), end + 1
    value, end = _JSON.raw_decode(text, at)
    if isinstance(value, str) and value.startswith("<") and value.endswith(">"):
        return _placeholder(value[1:-1]), end
    return OneOf((value,)), end


def _group(text: str, at: int, depth: int) -> tuple[Shape, int]:
    members: list[tuple[str, Shape]] = []
    while text[at := _skip(text, at)] != "}":
        key, at = _JSON.raw_decode(text, at)
        at = _skip(text, at)
        if text[at] != ":" or not isinstance(key, str):
            raise ValueError("no template")
        value, at = _value(text, at + 1, depth)
        members.append((key, value))
    return Group(tuple(members)), at + 1


def _list(text: str, at: int, depth: int) -> tuple[Shape, int]:
    items: list[Shape] = []
    while text[at := _skip(text, at)] != "]":
        if text[at] in ".…":
            at += 1
            continue
        item, at = _value(text, at, depth)
        items.append(item)
    return Several(_either(tuple(items)) if items else Words()), at + 1


def _placeholder(inner: str) -> Shape:
    one_of = _ONE_OF.match(inner)
    if one_of:
        return OneOf(_options(inner, one_of.end()))
    whole = _WHOLE.search(inner)
    if whole:
        return Whole(int(whole[1]), int(whole[2]))
    number = _NUMBER.search(inner)
    if number:
        return Fraction(float(number[1]), float(number[2]))
    if _TRUTH.search(inner):
        return Truth()
    return Either((Words(inner), OneOf((None,)))) if inner.endswith("or null") else Words(inner)


def _options(inner: str, at: int) -> tuple[Scalar, ...]:
    options: list[Scalar] = []
    while (at := _skip(inner, at)) < len(inner):
        bare = _BARE.match(inner, at)
        if bare is None:
            option, at = _JSON.raw_decode(inner, at)
        else:
            word, at = bare[0].strip(), bare.end()
            option = None if word == "null" else word
        if option not in {"", "…", "..."}:
            options.append(option)
    if not options:
        raise ValueError("nothing to choose from")
    return tuple(options)


def _closing(text: str, at: int) -> int:
    """Return where the placeholder ends that was opened before `at`; names in it may hold anything."""
    while text[at] != ">":
        at = _JSON.raw_decode(text, at)[1] if text[at] == '"' else at + 1
    return at


def _skip(text: str, at: int) -> int:
    match = _SPACE.match(text, at)
    return match.end() if match else at
