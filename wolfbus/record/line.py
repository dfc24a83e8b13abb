"""One line of a record: an event with number, time, audience and a hash that seals everything up to it.

A line is exactly the canonical JSON bytes. ``hash`` is the SHA-256, in hex, of the previous line's ``hash`` (64 ASCII
characters, none before the first line) followed by this line's bytes with the member ``"hash":"…",`` taken out. So the
last line is sealed too, and a checker in any language needs no JSON writer of its own.
"""

from __future__ import annotations

import hashlib
import math
import re
from bisect import bisect
from collections.abc import Mapping
from functools import lru_cache
from typing import Any, NamedTuple

from pydantic_core import from_json

from wolfbus.errors import MessageError, RecordError
from wolfbus.files.canonical import canonical, canonical_members
from wolfbus.messages.base import PROTOCOL, Audience
from wolfbus.messages.codec import EVENTS, check_version, plain, validate
from wolfbus.messages.events import AnyEvent

_BRACKET = ord("[")
_DIGITS = 64
_SEALED = len('"hash":"",') + _DIGITS
_EVENT = EVENTS.validator.validate_json
_MEMBER = re.compile(rb'"hash":"([0-9a-f]{64})",')


class Recorded(NamedTuple):
    """An event as it stands in a record.

    Attributes:
        n: number, from 1 without gaps.
        time: seconds since the game was opened, by the moderator's clock, rounded to milliseconds.
        audience: who may know it.
        event: what happened.
        hash: seal over this and all earlier lines, 64 hex digits.
    """

    n: int
    time: float
    audience: Audience
    event: AnyEvent
    hash: str = ""


def seal(previous: str, unsealed: Recorded, members: Mapping[str, str] | None = None) -> tuple[Recorded, bytes]:
    """Chain an event to the line before it.

    Args:
        previous: hash of the line before, "" for the first.
        unsealed: the event; its own hash is not looked at.
        members: `canonical_members` of the event's plain values, if they are at hand.

    Returns:
        The sealed event, and its line without the newline.
    """
    number, time, audience, event, _ = unsealed
    if members is None:
        members = canonical_members(plain(event))
    envelope = {"n": f'"n":{number}', "audience": _audience_member(audience)}
    envelope["time"] = f'"time":{time!r}' if math.isfinite(time) else canonical_members({"time": time})["time"]
    by_name = {**members, **envelope}
    if event.type == "opened":
        by_name["v"] = f'"v":{PROTOCOL}'
    before, after = _around_hash(tuple(by_name))
    first, last = "{" + ",".join([by_name[name] for name in before]), ",".join([by_name[name] for name in after]) + "}"
    digest = hashlib.sha256(f"{previous}{first},{last}".encode()).hexdigest()
    return Recorded(number, time, audience, event, digest), f'{first},"hash":"{digest}",{last}'.encode()


@lru_cache(512)
def _around_hash(names: tuple[str, ...]) -> tuple[list[str], list[str]]:
    """Return the members of a line that stand before its hash, and those behind it."""
    ordered = sorted(names)
    index = bisect(ordered, "hash")
    return ordered[:index], ordered[index:]


@lru_cache(512)
def _audience_member(audience: Audience) -> str:
    """Return an audience in canonical JSON; a game has few of them, and many lines."""
    return canonical_members({"audience": audience})["audience"]


def bus_members(recorded: Recorded) -> dict[str, Any]:
    """Return the members of a record's line as they stand on the bus, where every message says its version."""
    number, time, audience, event, digest = recorded
    return {**plain(event), "n": number, "time": time, "audience": audience, "hash": digest, "v": PROTOCOL}


def line_of(members: Mapping[str, Any]) -> bytes:
    """Return the line, without its newline, whose members stand on the bus.

    Args:
        members: what an entry of a record stream holds; there every message says its version, on disk the first does.
    """
    if members.get("type") != "opened":
        members = {name: value for name, value in members.items() if name != "v"}
    return canonical(members)


def check_seal(previous: str, line: bytes, number: int) -> str:
    """Return the hash that `line` carries, after checking it against `previous` and the bytes.

    Raises:
        RecordError: with the line number, if the line has no hash or its hash does not match.
    """
    match = _MEMBER.search(line)
    if match is None:
        raise RecordError("no hash; this is no line of a wolfbus record", number)
    start, end = match.span()
    stated = line[start + 8 : end - 2].decode()
    digest = hashlib.sha256(previous.encode() + line[:start])
    digest.update(line[end:])
    if digest.hexdigest() != stated:
        raise RecordError(
            "the hash does not match: this line was edited, or lines before it are missing, added or moved", number
        )
    return stated


def parse_line(line: bytes, number: int) -> Recorded:
    """Return the event on a line; the seal is not checked here.

    Args:
        line: the line, without its newline.
        number: where it stands, from 1.

    Raises:
        RecordError: with the line number, if the line is no event of this protocol.
    """
    try:
        value = from_json(line, allow_inf_nan=False)
    except ValueError as error:
        reason = str(error).replace(" at line 1 column ", ", column ")
        raise RecordError(f"not JSON: {reason}", number) from None
    if not isinstance(value, dict):
        raise RecordError("not a JSON object", number)
    # most lines have one array at most, their audience
    audience = value.get("audience")
    if audience.__class__ is list:
        value["audience"] = tuple(audience)
    if line.count(b"[") > (audience.__class__ is list):
        _members_to_tuples(value)
    return _parse(value, number)


def parse_sealed(previous: str, line: bytes, number: int) -> Recorded | None:
    """Return the event on a line that looks as we write them and whose seal holds, from its bytes in one step; None for
    any other, of which `check_seal` and `parse_line` say what it is.

    The schema passes over the envelope's members, which are found in the bytes: quotes inside JSON strings are escaped,
    so no text can look like them. It takes half the time that the two take.

    Args:
        previous: hash of the line before.
        line: the line, without its newline.
        number: where it stands, from 2: what opens a record is read with more care.
    """
    sealed = line.find(b'"hash":"')
    after = sealed + _SEALED
    start = line.find(b'"audience":', 0, sealed) + 11
    counted = line.find(b'"n":%d,' % number, after)
    timed = line.find(b'"time":', counted) + 7
    if not 11 <= start < sealed < counted < timed:
        return None
    stated = hashlib.sha256(previous.encode() + line[:sealed] + line[after:]).hexdigest()
    if line[sealed + 8 : after] != b'%b",' % stated.encode():
        return None
    end = line.find(b"]" if line[start] == _BRACKET else b'"', start + 1) + 1
    try:
        time = float(line[timed : line.index(b",", timed)])
        audience = _audience(line[start:end])
        event = _EVENT(line, extra="ignore")
    except ValueError:
        return None
    if audience is None or not math.isfinite(time):
        return None
    return Recorded(number, time, audience, event, stated)


@lru_cache(4096)
def _audience(text: bytes) -> Audience | None:
    """Return the audience that a line states, None if it is none; a game has few of them, and many lines.

    Raises:
        ValueError: not JSON.
    """
    value = from_json(text)
    audience = tuple(value) if value.__class__ is list else value
    return None if _fault_of_audience(audience) else audience


def _members_to_tuples(value: dict[str, Any]) -> None:
    """Turn arrays into tuples, in place: this runs for every line of every record read."""
    for key, item in value.items():
        if item.__class__ is list:
            value[key] = _tuple(item)
        elif item.__class__ is dict:
            _members_to_tuples(item)


def _tuple(items: list[Any]) -> tuple[Any, ...]:
    for index, item in enumerate(items):
        if item.__class__ is list:
            items[index] = _tuple(item)
        elif item.__class__ is dict:
            _members_to_tuples(item)
    return tuple(items)


def parse_flat(value: dict[str, Any], number: int) -> Recorded:
    """Return the event that plain members hold (arrays as tuples), which stay as they are; see `parse_line`."""
    return _parse(value.copy(), number)


def _parse(body: dict[str, Any], number: int) -> Recorded:
    try:
        # the first line speaks for all; a later one may repeat it
        if "v" in body or body.get("type") == "opened":
            check_version(body)
            del body["v"]
        n, time, audience, digest = body.pop("n"), body.pop("time"), body.pop("audience"), body.pop("hash")
        event = validate(EVENTS, body)
    except MessageError as error:
        raise RecordError(str(error), number) from None
    except KeyError as missing:
        raise RecordError(f"{missing.args[0]}: missing", number) from None
    if fault := _fault_of_envelope(n, time, audience, digest):
        raise RecordError(fault, number)
    return Recorded(n, time, audience, event, digest)


def _fault_of_envelope(n: Any, time: Any, audience: Any, digest: Any) -> str | None:
    if n.__class__ is not int or n < 1:
        return "n: not a whole number from 1"
    if (time.__class__ is not float and time.__class__ is not int) or not math.isfinite(time):
        return "time: not a number of seconds"
    if fault := _fault_of_audience(audience):
        return fault
    if digest.__class__ is not str or len(digest) != _DIGITS:
        return "hash: not 64 hex digits"
    return None


def _fault_of_audience(audience: Any) -> str | None:
    if audience.__class__ is tuple:
        return None if all(name.__class__ is str for name in audience) else "audience: not names of seats"
    if audience.__class__ is not str or audience not in {"everybody", "researchers"}:
        return 'audience: neither "everybody", "researchers" nor a list of seats'
    return None
