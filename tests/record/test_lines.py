import hashlib
import re
from typing import Any

import pytest

from tests.record import synthetic
from wolfbus.errors import RecordError
from wolfbus.messages.events import Dawn
from wolfbus.record.line import Recorded, bus_members, check_seal, parse_flat, parse_line, seal

EVENT = Recorded(2, 12.5, "everybody", Dawn(round=1, died="Ève"))
MISSING = "is left out"
OPENED = Recorded(1, 0.0, "researchers", synthetic.opened())


def test_a_line_is_pinned_byte_for_byte() -> None:
    _, line = seal("", EVENT)
    unsealed = '{"audience":"everybody","died":"Ève","n":2,"round":1,"time":12.5,"type":"dawn"}'.encode()
    digest = hashlib.sha256(unsealed).hexdigest()
    assert line == unsealed.replace(b'"n":2', f'"hash":"{digest}","n":2'.encode())


def test_the_chain_can_be_checked_without_a_json_parser() -> None:
    previous = b""
    for line in synthetic.record(synthetic.small_game()):
        match = re.search(rb'"hash":"([0-9a-f]{64})",', line)
        assert match is not None
        bare = line[:-1].replace(match.group(0), b"", 1)
        assert hashlib.sha256(previous + bare).hexdigest().encode() == match.group(1)
        previous = match.group(1)


def test_a_hash_inside_the_content_is_not_mistaken_for_the_seal() -> None:
    evil = '"hash":"' + "0" * 64 + '",'
    sealed, line = seal("", Recorded(1, 1.0, "everybody", Dawn(round=1, died=evil[:32])))
    assert check_seal("", line, 1) == sealed.hash
    assert parse_line(line, 1) == sealed


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"v": 2}, "protocol version 2 is not spoken here; this build speaks 1"),
        ({"v": 1.0}, "protocol version 1.0 is not spoken here; this build speaks 1"),
        ({"v": None}, "no protocol version is not spoken here"),
        ({"n": 0}, "n: not a whole number from 1"),
        ({"n": True}, "n: not a whole number from 1"),
        ({"n": 1.0}, "n: not a whole number from 1"),
        ({"time": "1"}, "time: not a number of seconds"),
        ({"time": True}, "time: not a number of seconds"),
        ({"time": float("inf")}, "time: not a number of seconds"),
        ({"audience": "me"}, "audience: neither"),
        ({"audience": None}, "audience: neither"),
        ({"audience": {"a": 1}}, "audience: neither"),
        ({"audience": (1,)}, "audience: not names of seats"),
        ({"audience": ({},)}, "audience: not names of seats"),
        ({"hash": 1}, "hash: not 64 hex digits"),
        ({"hash": "abc"}, "hash: not 64 hex digits"),
        ({"type": "rained"}, "Input tag 'rained'"),
        ({"round": "1"}, "dawn.round: Input should be a valid integer"),
        *(({name: MISSING}, f"{name}: missing") for name in ("n", "time", "audience", "hash")),
        ({"aside": 1}, "dawn.aside: Extra inputs are not permitted"),
    ],
    ids=str,
)
def test_a_spoilt_or_missing_member_is_named(change: dict[str, Any], reason: str) -> None:
    members = {**bus_members(seal("", EVENT)[0]), **change}
    changed = {name: value for name, value in members.items() if value != MISSING}
    before = changed.copy()
    with pytest.raises(RecordError) as caught:
        parse_flat(changed, 7)
    assert str(caught.value).startswith(f"line 7: {reason}")
    assert caught.value.line == 7
    assert changed == before


def test_the_first_line_carries_the_version_and_later_ones_may_repeat_it() -> None:
    for recorded, is_there in ((OPENED, True), (EVENT, False)):
        sealed, line = seal("", recorded)
        assert (b'"v":1' in line) is is_there
        assert parse_line(line, 1) == sealed
        assert parse_flat(bus_members(sealed), 1) == sealed
    members = {name: value for name, value in bus_members(seal("", OPENED)[0]).items() if name != "v"}
    with pytest.raises(RecordError, match="line 1: no protocol version is not spoken here; this build speaks 1"):
        parse_flat(members, 1)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (b"", "not JSON: EOF while parsing a value, column 0"),
        (b"[]", "not a JSON object"),
        (b"17", "not a JSON object"),
        (b'{"a":NaN}', "not JSON: expected value, column 6"),
        (b'{"a":"\\ud800"}', "not JSON"),
        (b'{"a":"\xff"}', "not JSON"),
        (b'{"a":' * 5000, "not JSON: recursion limit exceeded"),
        (b'{"a":' + b"9" * 5000 + b"}", "not JSON: number out of range"),
    ],
    ids=lambda value: repr(value)[:20],
)
def test_what_is_no_json_object_is_refused(text: bytes, reason: str) -> None:
    with pytest.raises(RecordError) as caught:
        parse_line(text, 3)
    assert str(caught.value).startswith(f"line 3: {reason}")
