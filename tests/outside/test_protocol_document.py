"""docs/protocol.md says what is so: its examples are messages, and it names all that an agent may meet."""

import json
import re
from pathlib import Path
from typing import get_args

import msgpack
import pytest

from tests.messages import kinds
from tests.messages.schemas import validator
from wolfbus.errors import MessageError
from wolfbus.game.config import GameConfig
from wolfbus.game.vocabulary import KINDS, Reading
from wolfbus.messages.codec import DELIVERIES, FROM_AGENT, REPLIES, TO_AGENT, encode, unpack, validate
from wolfbus.messages.events import Rejected
from wolfbus.messages.house import Join
from wolfbus.messages.requests import REPLY

TEXT = (Path(__file__).parents[2] / "docs" / "protocol.md").read_text(encoding="utf-8")
EXAMPLES = re.findall(r"^```json (\w+)\n(.*?)^```$", TEXT, re.MULTILINE | re.DOTALL)
READERS = {"Reply": REPLIES, "Delivery": DELIVERIES, "FromAgent": FROM_AGENT, "ToAgent": TO_AGENT}


@pytest.mark.parametrize(("name", "text"), EXAMPLES)
def test_every_example_is_a_message_by_schema_and_by_reader(name: str, text: str) -> None:
    value = json.loads(text)
    validator(name).validate(value)
    message = validate(READERS[name], unpack(msgpack.packb(value)))
    assert value.keys() <= unpack(encode(message)).keys()


def test_the_bytes_are_those_of_the_reply_above_them() -> None:
    (hexed,) = re.findall(r"^```hex\n(.*?)^```$", TEXT, re.MULTILINE | re.DOTALL)
    body = bytes.fromhex(hexed)
    assert msgpack.unpackb(body) == json.loads(EXAMPLES[0][1])
    assert f"these {len(body)} bytes" in TEXT
    assert validate(REPLIES, unpack(body)).kind == "bid"


def test_it_names_every_kind_fact_rejection_and_member() -> None:
    words = set(re.findall(r"\w+", TEXT))
    assert set(KINDS) <= words
    assert set(get_args(Reading)) <= words
    facts = {model.model_fields["type"].default for model in kinds.FACTS}
    assert facts <= words
    assert set(get_args(Rejected.model_fields["reason"].annotation)) <= words
    assert set(Join.model_fields) <= words
    for model in REPLY.values():
        content = model.model_fields["content"].annotation
        for model_or_none in get_args(content):
            assert set(getattr(model_or_none, "model_fields", ())) - {"stated_kind"} <= words


def test_nil_means_what_it_says_in_every_member_of_an_answer() -> None:
    (table,) = re.findall(r"^\| in a reply \| means \|\n(.*?)\n\n", TEXT, re.MULTILINE | re.DOTALL)
    rows = dict(re.findall(r"^\| ([^|]*) \| (.*) \|$", table, re.MULTILINE))
    (others,) = re.findall(r"so it is in (.*?)$", table, re.MULTILINE)
    nil_is_malformed = {"word", "reasoning", *re.findall(r"`(\w+)`", others)}
    may_be_nil = {name for row in rows if "absent or nil" in row for name in re.findall(r"`(\w+)`", row)} | {"reason"}
    seen = set()
    for kind, model in REPLY.items():
        content = next(arm for arm in get_args(model.model_fields["content"].annotation) if arm is not type(None))
        whole = {"bid": 1, "text": "x", "deceptive": False, "suspicion": 0.5, "confidence": 1, "target": "Ada"}
        fields = {name: value for name, value in whole.items() if name in content.model_fields}
        reply = {"v": 1, "type": "reply", "kind": kind, "game": "g", "request": "r", "seat": "Ada", "content": fields}
        validate(REPLIES, reply)
        for name in content.model_fields:
            nil = {**reply, "content": {**fields, name: None}}
            if name in nil_is_malformed:
                with pytest.raises(MessageError):
                    validate(REPLIES, nil)
            elif name != "stated_kind":
                assert name in may_be_nil
                validate(REPLIES, nil)
            seen.add(name)
        for name in ("content", "thought", "note", "raw", "fault"):
            assert name in may_be_nil
            validate(REPLIES, {**reply, name: None})
    assert nil_is_malformed <= seen
    assert "`{}` abstains" in TEXT
    assert validate(REPLIES, {**reply, "kind": "vote", "content": {}}).content.target is None


def test_its_numbers_are_those_of_the_rules() -> None:
    rules = GameConfig()
    assert f"`max_reply_bytes` ({rules.max_reply_bytes:,})" in TEXT
    assert f"`strikes` ({rules.strikes})" in TEXT
    assert f"`absent_grace` ({rules.absent_grace:g} s)" in TEXT
    assert f"version {json.loads(EXAMPLES[0][1])['v']}\n" in TEXT
    assert "[A-Za-z0-9][A-Za-z0-9._-]{0,63}" in json.dumps(Join.model_json_schema())
