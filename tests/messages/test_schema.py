import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pydantic import BaseModel

from tests.golden.running import wolfbus
from tests.messages import kinds, strategies
from tests.messages.schemas import schema, validator
from tests.record import synthetic
from wolfbus.messages.codec import plain
from wolfbus.messages.content import CONTENT
from wolfbus.record.line import Recorded, seal

MISSING = "(missing)"
few = settings(max_examples=8, deadline=None, suppress_health_check=list(HealthCheck), database=None)


def names() -> list[str]:
    return wolfbus(Path(), "schema", "--list").out.splitlines()


def as_json(message: BaseModel) -> Any:
    return json.loads(json.dumps(plain(message)))  # type: ignore[arg-type]


def references(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        if "$ref" in value:
            yield value["$ref"]
        for item in value.values():
            yield from references(item)
    elif isinstance(value, list):
        for item in value:
            yield from references(item)


@pytest.mark.parametrize("model", kinds.EVERYTHING, ids=lambda model: model.__name__)
@few
@given(data=st.data())
def test_every_message_meets_the_schema_of_its_name_and_every_event_that_of_its_line(
    model: type[BaseModel], data: st.DataObject
) -> None:
    message = data.draw(strategies.of(model))
    validator(model.__name__).validate(as_json(message))
    if model in kinds.EVENTS:
        _, line = seal("", Recorded(3, 1.5, ("Raj",), message))
        validator(f"{model.__name__}Line").validate(json.loads(line))


def test_every_line_of_a_record_meets_the_whole_schema_and_the_one_for_lines() -> None:
    for line in synthetic.record(synthetic.small_game()):
        validator().validate(json.loads(line))
        validator("RecordLine").validate(json.loads(line))


@pytest.mark.parametrize(
    "spoil",
    [
        {"extra": 1},
        {"n": 0},
        {"n": "1"},
        {"time": "now"},
        {"audience": "somebody"},
        {"hash": "0" * 63},
        {"type": "rained"},
        {"round": True},
        {"died": 5},
        *({member: MISSING} for member in ("n", "time", "audience", "hash", "type", "round")),
    ],
    ids=str,
)
def test_the_schema_refuses_what_the_reader_refuses_and_needs_every_member_of_a_line(spoil: dict[str, Any]) -> None:
    line = next(line for line in synthetic.record(synthetic.small_game()) if b'"type":"dawn"' in line)
    value = json.loads(line)
    assert validator("RecordLine").is_valid(value)
    spoilt = {name: member for name, member in {**value, **spoil}.items() if member is not MISSING}
    assert not validator("RecordLine").is_valid(spoilt)


def test_the_first_line_carries_the_version() -> None:
    first = json.loads(synthetic.record(synthetic.small_game())[0])
    checker = validator("RecordLine")
    assert checker.is_valid(first)
    assert not checker.is_valid({**first, "v": 2})
    del first["v"]
    assert not checker.is_valid(first)


def test_a_reply_without_its_tags_or_version_is_refused() -> None:
    reply = {"v": 1, "type": "reply", "kind": "bid", "game": "g", "request": "r", "seat": "A"}
    checker = validator("Reply")
    assert checker.is_valid(reply)
    for tag in ("v", "type", "kind"):
        assert not checker.is_valid({key: value for key, value in reply.items() if key != tag})


@pytest.mark.parametrize("model", kinds.ON_THE_WIRE, ids=lambda model: model.__name__)
def test_the_whole_schema_takes_every_message_and_none_without_its_type(model: type[BaseModel]) -> None:
    message = as_json(strategies.an_example(model))
    assert validator().is_valid(message)
    assert not validator().is_valid({key: value for key, value in message.items() if key != "type"})
    assert not validator().is_valid({**message, "v": 2})


def test_the_schemas_are_schemas_of_the_2020_12_draft() -> None:
    # the whole one has the definitions of all others
    validator().check_schema(schema())
    for value in (schema(), *map(schema, names())):
        assert value["$schema"] == "https://json-schema.org/draft/2020-12/schema"


def test_a_schema_by_name_is_self_contained_and_holds_nothing_more() -> None:
    for name in names():
        value = schema(name)
        defined = {f"#/$defs/{part}" for part in value.get("$defs", {})}
        assert set(references(value)) == defined


def test_names_hold_every_message_content_claim_and_line() -> None:
    expected = {model.__name__ for model in kinds.EVERYTHING} | {model.__name__ for model in CONTENT.values()}
    expected |= {f"{model.__name__}Line" for model in kinds.EVENTS}
    expected |= {"RoleClaim", "InspectionClaim", "ProtectionClaim", "AccusationClaim", "GameConfig"}
    expected |= {"Reply", "Delivery", "TableNews", "RecordLine", "Event", "Claim", "Content"}
    expected |= {"FromAgent", "ToAgent", "News"}
    assert expected <= set(names())
    assert names() == sorted(names())


def test_every_type_and_field_is_described() -> None:
    for name, definition in schema()["$defs"].items():
        assert definition["description"], name
        assert definition["title"] == name
        for field, value in definition.get("properties", {}).items():
            # tags and deadlines are named after the very kinds of request they stand for
            if "const" not in value and field != "type" and name != "Deadlines":
                assert value.get("description"), f"{name}.{field}"


def test_case_does_not_matter_where_the_name_is_clear() -> None:
    assert schema("delivery") == schema("Delivery")
    assert schema("DELIVERY")["title"] == "Delivery"


@pytest.mark.parametrize(
    ("name", "message"),
    [("Delivry", "'Delivry' is no message type; did you mean Delivery?"), ("qqq", "'qqq' is no message type")],
)
def test_an_unknown_name_is_refused_with_similar_ones(name: str, message: str) -> None:
    result = wolfbus(Path(), "schema", name)
    assert (result.code, result.out, result.err) == (2, "", f"wolfbus: {message}\n")
