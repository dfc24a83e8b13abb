"""What is not exactly a message of this protocol is refused, in one line that names what is wrong."""

import math
from typing import Any

import msgpack
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import BaseModel, TypeAdapter, ValidationError

from tests.llm.tables import tables
from tests.messages import kinds, strategies
from wolfbus.errors import MessageError, VersionError, WolfError
from wolfbus.messages.codec import (
    EVENTS,
    FROM_AGENT,
    REPLIES,
    check_version,
    decode_mail,
    decode_news,
    encode,
    pack,
    plain,
    unpack,
    validate,
)
from wolfbus.messages.content import Bid, Judgement, Speech
from wolfbus.messages.events import Stopped
from wolfbus.messages.house import Join
from wolfbus.messages.requests import REPLY as TYPES
from wolfbus.messages.requests import TableNews
from wolfbus.record.line import Recorded, seal

REPLY: dict[str, Any] = {
    "v": 1,
    "type": "reply",
    "kind": "bid",
    "game": "g",
    "request": "r",
    "seat": "A",
    "content": {"bid": 3},
}
JOIN = {"v": 1, "type": "join", "agent": "ann", "instance": "1", "version": "ann 1.0", "brain": "rules"}
JUDGEMENT = {"deceptive": True, "suspicion": 0.5, "confidence": 0.5}


def refusal(value: dict[str, Any], adapter: TypeAdapter[Any] = REPLIES) -> str:
    with pytest.raises(MessageError) as caught:
        validate(adapter, unpack(pack(value)))
    text = str(caught.value)
    assert text.isprintable()
    assert len(text) <= 320
    return text


def an_example(model: type[BaseModel]) -> dict[str, Any]:
    return plain(strategies.an_example(model))  # type: ignore[arg-type]


def test_the_messages_that_these_tests_spoil_are_fine() -> None:
    assert validate(REPLIES, unpack(pack(REPLY))) == TYPES["bid"](game="g", request="r", seat="A", content=Bid(bid=3))
    joined = validate(FROM_AGENT, unpack(pack(JOIN)))
    assert joined == Join(agent="ann", instance="1", version="ann 1.0", brain="rules")


@pytest.mark.parametrize("model", kinds.EVERYTHING, ids=lambda model: model.__name__)
def test_a_message_takes_nothing_beside_without_or_instead_of_its_fields(model: type[BaseModel]) -> None:
    class Stranger:
        pass

    value = an_example(model)
    assert model.model_validate(value)
    with pytest.raises(ValidationError, match="Extra inputs are not permitted"):
        model.model_validate({**value, "aside": 1})
    for name, field in model.model_fields.items():
        with pytest.raises(ValidationError):
            model.model_validate({**value, name: Stranger()})
        if field.is_required():
            with pytest.raises(ValidationError, match="Field required"):
                model.model_validate({key: item for key, item in value.items() if key != name})


@pytest.mark.parametrize(
    ("whole", "field", "value", "message"),
    [*tables(__file__)["refusals"], ("reply", "thought", b"bytes", "bid.thought: Input should be a valid string")],
)
def test_the_refusal_names_the_field_and_the_reason(whole: str, field: str, value: Any, message: str):
    spoilt, adapter = {"reply": (REPLY, REPLIES), "join": (JOIN, FROM_AGENT)}[whole]
    assert refusal({**spoilt, field: value}, adapter).startswith(message)


def test_a_missing_field_is_named() -> None:
    assert refusal({key: item for key, item in REPLY.items() if key != "request"}) == "bid.request: Field required"


def test_an_unknown_event_type_is_refused_naming_the_known_ones() -> None:
    with pytest.raises(MessageError, match=r"'rained'.*expected tags: 'opened', 'asked'"):
        validate(EVENTS, {"type": "rained"})


@pytest.mark.parametrize("number", [True, "0.5", math.nan, math.inf, -math.inf, -0.1, 1.1, None])
def test_scores_are_numbers_in_the_unit_interval(number: Any) -> None:
    for field in ("suspicion", "confidence"):
        with pytest.raises(ValidationError):
            Judgement.model_validate({**JUDGEMENT, field: number})


@pytest.mark.parametrize("flag", [0, 1, "true", None])
def test_a_flag_is_a_boolean(flag: Any) -> None:
    with pytest.raises(ValidationError):
        Judgement.model_validate({**JUDGEMENT, "deceptive": flag})


@pytest.mark.parametrize("version", [2, 0, -1, "1", 1.0, True, None, [1], "x" * 999])
def test_another_version_is_refused_naming_both(version: Any) -> None:
    value = {**REPLY, "v": version}
    if version is None:
        del value["v"]
    for read in (unpack, decode_mail, decode_news):
        with pytest.raises(VersionError) as caught:
            read(pack(value))
        begins = "no protocol version" if version is None else "protocol version"
        assert str(caught.value).startswith(begins)
        assert str(caught.value).endswith("this build speaks 1")
        assert len(str(caught.value)) < 120
    if version == 2:
        with pytest.raises(VersionError, match="protocol version 2 is not spoken here; this build speaks 1"):
            check_version(value)


def test_what_a_later_moderator_adds_to_the_news_of_a_table_is_passed_over_at_any_depth() -> None:
    news = an_example(TableNews)
    added = {**news, "new": [1], "fact": {**news["fact"], "new": {"deeper": 1}}}
    assert plain(decode_news(pack(added))) == news


def test_lone_surrogates_are_refused_by_every_text_and_by_the_record() -> None:
    with pytest.raises(ValidationError, match="unicode"):
        Speech(text="\ud83d")
    with pytest.raises(ValidationError, match="unicode"):
        TYPES["bid"](game="g", request="r", seat="A", thought="\udc00")
    with pytest.raises(UnicodeEncodeError):
        seal("", Recorded(1, 0.0, "everybody", Stopped.model_construct(reason="\ud83d")))
    with pytest.raises(MessageError):
        unpack(b"\x82\xa1v\x01\xa1a\xa3\xed\xa0\xbd")


def test_nan_never_reaches_a_record() -> None:
    for number in (math.nan, math.inf, -math.inf):
        with pytest.raises(ValueError, match="Out of range float values are not JSON compliant"):
            seal("", Recorded(1, number, "everybody", Stopped(reason="x")))


@pytest.mark.parametrize("key", ["line\nbreak", "\x1b[31m", "x" * 5000, "\u202e"])
def test_a_strangers_words_neither_break_the_line_nor_fill_the_screen(key: str) -> None:
    refusal({**REPLY, key: 1})
    refusal({**REPLY, "kind": key})


@pytest.mark.parametrize("model", kinds.ON_THE_WIRE, ids=lambda model: model.__name__)
def test_every_cut_of_a_message_is_refused(model: type[BaseModel]) -> None:
    body = pack(an_example(model))
    for end in range(len(body)):
        with pytest.raises(MessageError):
            unpack(body[:end])
    with pytest.raises(MessageError):
        unpack(body + b"\x00")


@settings(max_examples=120, deadline=None, database=None)
@given(st.binary(max_size=60))
def test_arbitrary_bytes_are_refused_and_never_crash_the_reader(body: bytes) -> None:
    for read in (decode_mail, decode_news, lambda some: validate(REPLIES, unpack(some))):
        with pytest.raises(MessageError):
            read(body)


ANYTHING = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(-5, 5), st.floats(), st.text(max_size=3), st.binary(max_size=3)),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(st.text(max_size=3), inner, max_size=3)),
    max_leaves=6,
)


@settings(max_examples=120, deadline=None, database=None)
@given(st.sampled_from(sorted(REPLY)), ANYTHING)
def test_any_value_in_any_field_is_taken_as_it_is_or_refused(field: str, value: Any) -> None:
    body = msgpack.packb({**REPLY, field: value})
    try:
        reply = validate(REPLIES, unpack(body))
    except WolfError:
        return
    assert unpack(encode(reply)).get(field) == value


def test_deep_nesting_is_refused() -> None:
    with pytest.raises(MessageError):
        unpack(b"\x91" * 100_000)
    with pytest.raises(MessageError):
        unpack(b"\x81\xa1a" * 100_000 + b"\x01")
