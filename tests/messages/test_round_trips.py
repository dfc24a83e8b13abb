import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pydantic import BaseModel

from tests.messages import kinds, strategies
from wolfbus.messages.codec import (
    DELIVERIES,
    EVENTS,
    FROM_AGENT,
    HOUSE_NEWS,
    NEWS,
    REPLIES,
    TO_AGENT,
    encode,
    pack,
    plain,
    unpack,
    validate,
)
from wolfbus.messages.events import Opened
from wolfbus.messages.requests import Delivery, TableNews
from wolfbus.record.line import Recorded, bus_members, check_seal, parse_flat, parse_line, seal

few = settings(max_examples=12, deadline=None, suppress_health_check=list(HealthCheck), database=None)
AUDIENCES = st.one_of(st.sampled_from(["everybody", "researchers"]), st.lists(st.just("Raj"), max_size=2).map(tuple))


def by_name(models: list[type[BaseModel]]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("model", models, ids=lambda model: model.__name__)


@by_name(kinds.EVERYTHING)
@few
@given(data=st.data())
def test_every_message_survives_msgpack(model: type[BaseModel], data: st.DataObject) -> None:
    message = data.draw(strategies.of(model))
    body = pack({"v": 1, **plain(message)})
    value = unpack(body)
    if "v" not in model.model_fields:
        del value["v"]
    assert model.model_validate(value) == message


ADAPTERS = {
    "replies": (REPLIES, kinds.REPLIES),
    "from agents": (FROM_AGENT, kinds.FROM_AGENT),
    "to agents": (TO_AGENT, kinds.TO_AGENT),
    "news": (HOUSE_NEWS, kinds.HOUSE_NEWS),
    "deliveries": (DELIVERIES, [Delivery]),
    "table": (NEWS, [TableNews]),
    "events": (EVENTS, kinds.EVENTS),
}


@pytest.mark.parametrize("union", ADAPTERS)
def test_messages_are_values_and_are_read_back_as_their_own_kind(union: str) -> None:
    adapter, models = ADAPTERS[union]

    @settings(max_examples=30, deadline=None, suppress_health_check=list(HealthCheck), database=None)
    @given(data=st.data())
    def check(data: st.DataObject) -> None:
        message = data.draw(st.one_of([strategies.of(model) for model in models]))
        again = validate(adapter, plain(message) if union == "events" else unpack(encode(message)))
        assert again == message
        assert type(again) is type(message)
        with pytest.raises(Exception, match="frozen"):
            setattr(again, next(iter(type(message).model_fields)), None)

    check()


@by_name(kinds.EVENTS)
@few
@given(data=st.data())
def test_every_event_survives_its_line_and_the_bus(model: type[BaseModel], data: st.DataObject) -> None:
    event = data.draw(strategies.of(model))
    unsealed = Recorded(data.draw(st.integers(1, 99)), data.draw(st.floats(0, 2e9)), data.draw(AUDIENCES), event)
    sealed, line = seal("", unsealed)
    flat = bus_members(sealed)
    assert parse_line(line, 1) == sealed
    assert seal("", parse_line(line, 1)) == (sealed, line)
    assert parse_flat(unpack(pack(flat)), 1) == sealed
    assert type(parse_line(line, 1).event) is model
    assert check_seal("", line, 1) == sealed.hash
    if model is not Opened:
        del flat["v"]
    assert line == json.dumps(flat, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()
    assert b"\n" not in line


def test_a_message_that_cannot_be_packed_spoils_no_later_one() -> None:
    with pytest.raises(OverflowError):
        pack({"a": "x", "b": 1 << 80})
    assert unpack(pack({"v": 1})) == {"v": 1}
