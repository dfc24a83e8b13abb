"""JSON Schema (draft 2020-12) of every message and every line of a record, for agents and readers in any language.

On the bus a message is msgpack of these same objects; in a record each line is one of them as JSON.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterator
from functools import cache
from typing import Annotated, Any, Final, Literal, get_args

from pydantic import Field, TypeAdapter, create_model
from pydantic.fields import FieldInfo
from pydantic.json_schema import GenerateJsonSchema

from wolfbus.errors import ConfigError
from wolfbus.files.package_data import field_docs
from wolfbus.messages.base import PROTOCOL, Audience, Part, Version
from wolfbus.messages.calls import Called, Segments
from wolfbus.messages.content import Claim, Content
from wolfbus.messages.events import AnyEvent, Opened
from wolfbus.messages.house import FromAgent, News, ToAgent
from wolfbus.messages.requests import AnyReply, Delivery, PrivateFact, PublicFact, TableNews

Schema = dict[str, Any]

_DIALECT: Final = "https://json-schema.org/draft/2020-12/schema"
_UNIONS: Final[dict[str, tuple[Any, str]]] = {
    "Claim": (Claim, "What a statement asserts."),
    "Content": (Content, "What a seat answers."),
    "Event": (AnyEvent, "What happened in a game, without the line's number, time, audience and hash."),
    "FromAgent": (FromAgent, "What agents and analytics tell the moderator, beside replies and reports."),
    "News": (News, "What stands on a house's stream of games."),
    "PrivateFact": (PrivateFact, "What one seat alone learns."),
    "PublicFact": (PublicFact, "What everybody learns."),
    "Reply": (AnyReply, "What an agent sends: the answer to one request."),
    "ToAgent": (ToAgent, "What the moderator tells agents, beside deliveries."),
}
_LINE: Final = "RecordLine"
_MESSAGES: Final = ("Called", "Delivery", "FromAgent", "News", "Reply", "Segments", "TableNews", "ToAgent", _LINE)


class Envelope(Part):
    """What every line of a record carries beside its event."""

    n: Annotated[int, Field(ge=1, le=2**53 - 1)]
    """Lines count from 1, without gaps."""
    time: float
    """Seconds since the game was opened, by the moderator's clock, rounded to milliseconds."""
    audience: Audience
    """Who may know it: everybody, the seats named, or researchers only."""
    hash: Annotated[str, Field(pattern="^[0-9a-f]{64}$")]
    """SHA-256 of the hash of the line before and this line's bytes without this member."""


class FirstEnvelope(Envelope):
    """The first line speaks for all of them."""

    v: Version = 1
    """Version of the protocol."""


def schema() -> Schema:
    """Return one schema that any message and any line of a record meets, with every type by name in ``$defs``."""
    return {
        "$schema": _DIALECT,
        "title": f"wolfbus protocol {PROTOCOL}",
        "description": "Any message on the bus or line of a record.",
        "oneOf": [{"$ref": f"#/$defs/{name}"} for name in _MESSAGES],
        "$defs": _definitions(),
    }


def schema_of(name: str) -> Schema:
    """Return the schema of one type, with those it is made of in ``$defs``.

    Args:
        name: one of `names()`; case only matters where it must.

    Raises:
        ConfigError: there is no such type; the line names similar ones.
    """
    definitions = _definitions()
    by_lower = {title.lower(): title for title in definitions}
    match = name if name in definitions else by_lower.get(name.lower())
    if match is None:
        close = [by_lower[lower] for lower in difflib.get_close_matches(name.lower(), by_lower, n=3)]
        hint = f"; did you mean {' or '.join(close)}?" if close else ""
        raise ConfigError(f"{name!r} is no message type{hint}")
    parts = _parts_of(match, definitions) - {match}
    value: Schema = {"$schema": _DIALECT, **definitions[match]}
    if parts:
        value["$defs"] = {part: definitions[part] for part in sorted(parts)}
    return value


def names() -> list[str]:
    """Return the names of all types, in alphabetical order."""
    return list(_definitions())


@cache
def _definitions() -> dict[str, Schema]:
    lines = [_line_of(event) for event in _members(AnyEvent)]
    members = [model for union, _ in _UNIONS.values() for model in _members(union)]
    models: list[type[Part]] = [*members, Called, Delivery, Segments, TableNews, *lines]
    adapters: list[tuple[str, Literal["validation"], TypeAdapter[Any]]] = [
        (model.__name__, "validation", TypeAdapter(model)) for model in models
    ]
    _, all_of_them = TypeAdapter.json_schemas(adapters, schema_generator=_Generator)
    definitions: dict[str, Schema] = all_of_them["$defs"]
    for definition in definitions.values():
        _require_tags(definition)
    for name, (union, description) in _UNIONS.items():
        definitions[name] = _one_of(name, description, [model.__name__ for model in _members(union)])
    definitions[_LINE] = _one_of(_LINE, "One line of a record.", [line.__name__ for line in lines])
    return dict(sorted(definitions.items()))


def _line_of(event: type[Part]) -> type[Part]:
    doc = f"A line of a record. {event.__doc__}"
    envelope = FirstEnvelope if event is Opened else Envelope
    line: type[Part] = create_model(f"{event.__name__}Line", __base__=(event, envelope), __doc__=doc)
    return line


class _Generator(GenerateJsonSchema):
    """Says what fields mean; leaves out what says nothing: titles made from field names, OpenAPI's discriminators."""

    def model_schema(self, schema: Any) -> Schema:
        definition = super().model_schema(schema)
        docs = field_docs(schema["cls"])
        for name, value in definition.get("properties", {}).items():
            if name in docs:
                value.setdefault("description", docs[name])
        return definition

    def field_title_should_be_set(self, schema: Any) -> bool:  # noqa: ARG002 - the signature is pydantic's
        return False

    def tagged_union_schema(self, schema: Any) -> Schema:
        definition = super().tagged_union_schema(schema)
        definition.pop("discriminator", None)
        return definition


def _members(union: Any) -> Iterator[type[Part]]:
    """Yield the models of a union, whatever aliases and tags it is wrapped in."""
    arms = [arm for arm in get_args(union) if not isinstance(arm, FieldInfo)]
    if isinstance(union, type) or not arms:
        yield union
        return
    for arm in arms:
        yield from _members(arm)


def _require_tags(definition: Schema) -> None:
    """Mark constant fields as required: a message has its tags and version, whatever our models fill in."""
    properties = definition.get("properties", {})
    # deliveries and catch-ups are one type with two tags
    tags = [field for field, value in properties.items() if "const" in value or field == "type"]
    for tag in tags:
        properties[tag].pop("default", None)
    required = [*tags, *(field for field in definition.get("required", ()) if field not in tags)]
    if required:
        definition["required"] = required


def _one_of(title: str, description: str, members: list[str]) -> Schema:
    return {
        "title": title,
        "description": description,
        "oneOf": [{"$ref": f"#/$defs/{member}"} for member in members],
    }


def _parts_of(name: str, definitions: dict[str, Schema]) -> set[str]:
    seen: set[str] = set()
    queue = [name]
    while queue:
        current = queue.pop()
        if current not in seen:
            seen.add(current)
            queue.extend(_references(definitions[current]))
    return seen


def _references(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        if isinstance(reference := value.get("$ref"), str):
            yield reference.removeprefix("#/$defs/")
        for item in value.values():
            yield from _references(item)
    elif isinstance(value, list):
        for item in value:
            yield from _references(item)
