"""Bytes on the wire: msgpack, decoded strictly into one tagged union, with the version checked first."""

from __future__ import annotations

import threading
from typing import Any, Final, TypeVar

import msgpack
from pydantic import TypeAdapter, ValidationError

from wolfbus.errors import MessageError, VersionError
from wolfbus.messages.base import PROTOCOL, Part
from wolfbus.messages.calls import Called, Segments
from wolfbus.messages.delivery import Delivery, TableNews
from wolfbus.messages.events import AnyEvent
from wolfbus.messages.house import FromAgent, News, ToAgent
from wolfbus.messages.replies import AnyReply

M = TypeVar("M")

EVENTS: Final[TypeAdapter[AnyEvent]] = TypeAdapter(AnyEvent)
REPLIES: Final[TypeAdapter[AnyReply]] = TypeAdapter(AnyReply)
DELIVERIES: Final[TypeAdapter[Delivery]] = TypeAdapter(Delivery)
NEWS: Final[TypeAdapter[TableNews]] = TypeAdapter(TableNews)
SEGMENTS: Final[TypeAdapter[Segments]] = TypeAdapter(Segments)
CALLED: Final[TypeAdapter[Called]] = TypeAdapter(Called)
FROM_AGENT: Final[TypeAdapter[FromAgent]] = TypeAdapter(FromAgent)
TO_AGENT: Final[TypeAdapter[ToAgent]] = TypeAdapter(ToAgent)
HOUSE_NEWS: Final[TypeAdapter[News]] = TypeAdapter(News)

_local = threading.local()


def plain(message: Part) -> dict[str, Any]:
    """Return a message as plain values, absent fields left out."""
    # what `model_dump` does, without its layer of Python: a game makes thousands of these
    values: dict[str, Any] = message.__pydantic_serializer__.to_python(message, exclude_none=True)
    return values


def pack(value: dict[str, Any]) -> bytes:
    """Return msgpack bytes of plain values."""
    packer = getattr(_local, "packer", None)
    if packer is None:
        packer = _local.packer = msgpack.Packer(use_bin_type=True, autoreset=True)
    packed: bytes = packer.pack(value)
    return packed


def encode(message: Part) -> bytes:
    """Return a message as msgpack bytes."""
    return pack(plain(message))


def unpack(body: bytes) -> dict[str, Any]:
    """Return the map that `body` holds, with its protocol version checked; arrays come as tuples.

    Raises:
        MessageError: not msgpack, or no map.
        VersionError: of another protocol version.
    """
    try:
        value = msgpack.unpackb(body, raw=False, use_list=False, strict_map_key=True)
    except (ValueError, msgpack.UnpackException, RecursionError) as error:
        # msgpack's own text may quote the bytes; its kind is enough
        raise MessageError(f"not a msgpack message ({type(error).__name__})") from None
    if not isinstance(value, dict):
        raise MessageError(f"a message is a map, not {type(value).__name__}")
    check_version(value)
    return value


def check_version(value: dict[str, Any]) -> None:
    """Raise VersionError, naming both versions, unless `value` is of this protocol version."""
    version = value.get("v")
    if version != PROTOCOL or version.__class__ is not int:
        stated = "no protocol version" if version is None else f"protocol version {version!r:.40}"
        raise VersionError(f"{stated} is not spoken here; this build speaks {PROTOCOL}")


def validate(adapter: TypeAdapter[M], value: dict[str, Any]) -> M:
    """Return `value` as the adapter's type.

    Raises:
        MessageError: one line naming the first field at fault.
    """
    try:
        return adapter.validator.validate_python(value)  # type: ignore[no-any-return] # the adapter's own type
    except ValidationError as error:
        raise MessageError(first_fault(error)) from None


def first_fault(error: ValidationError) -> str:
    """Return the first mistake of a failed validation as one line: the field and what is wrong with it."""
    first = error.errors(include_url=False, include_context=False)[0]
    place = ".".join(str(part) for part in first["loc"])
    fault = f"{place}: {first['msg']}" if place else first["msg"]
    # names of fields and tags come from strangers: they must neither break the line nor fill the screen
    return fault[:300] if fault.isprintable() else repr(fault[:300])[1:-1]


def decode_delivery(body: bytes) -> Delivery:
    """Return the delivery that `body` holds; raises MessageError or VersionError."""
    return validate(DELIVERIES, unpack(body))


def decode_news(body: bytes) -> TableNews:
    """Return the public fact that `body` holds; raises MessageError or VersionError."""
    return validate(NEWS, unpack(body))
