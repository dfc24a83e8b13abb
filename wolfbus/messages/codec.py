"""Bytes on the wire: msgpack, decoded into one tagged union, with the version checked first.

The moderator reads strictly: a member that it does not know is misspelt more often than new. Agents read their mailbox
leniently: what is added to it within a version of the protocol must not break those that were written before.
"""

from __future__ import annotations

import logging
import threading
from typing import Any, Final, Literal, TypeAlias, TypeVar, get_args

import msgpack
from pydantic import TypeAdapter, ValidationError

from wolfbus.bus.protocol import Unpacked
from wolfbus.errors import MessageError, VersionError, first_fault
from wolfbus.messages.base import PROTOCOL, Part
from wolfbus.messages.calls import Called, Segments
from wolfbus.messages.events import AnyEvent
from wolfbus.messages.house import FromAgent, News, ToAgent
from wolfbus.messages.requests import AnyReply, Delivery, TableNews

M = TypeVar("M")

Mail: TypeAlias = Delivery | ToAgent
"""What may stand in an agent's mailbox."""

logger = logging.getLogger(__name__)

EVENTS: Final[TypeAdapter[AnyEvent]] = TypeAdapter(AnyEvent)
REPLIES: Final[TypeAdapter[AnyReply]] = TypeAdapter(AnyReply)
DELIVERIES: Final[TypeAdapter[Delivery]] = TypeAdapter(Delivery)
NEWS: Final[TypeAdapter[TableNews]] = TypeAdapter(TableNews)
SEGMENTS: Final[TypeAdapter[Segments]] = TypeAdapter(Segments)
CALLED: Final[TypeAdapter[Called]] = TypeAdapter(Called)
FROM_AGENT: Final[TypeAdapter[FromAgent]] = TypeAdapter(FromAgent)
TO_AGENT: Final[TypeAdapter[ToAgent]] = TypeAdapter(ToAgent)
HOUSE_NEWS: Final[TypeAdapter[News]] = TypeAdapter(News)

_MAIL: Final[dict[str, TypeAdapter[Any]]] = {
    **dict.fromkeys(get_args(Delivery.model_fields["type"].annotation), DELIVERIES),
    **{model.model_fields["type"].default: TO_AGENT for model in get_args(get_args(ToAgent)[0])},
}

_local = threading.local()


def plain(message: Part) -> dict[str, Any]:
    """Return a message as plain values, absent fields left out."""
    # what `model_dump` does, without its layer of Python: a game makes thousands of these
    values: dict[str, Any] = message.__pydantic_serializer__.to_python(message, exclude_none=True)
    return values


def _plain_part(value: object) -> dict[str, Any]:
    if isinstance(value, Part):
        return plain(value)
    if isinstance(value, int):
        raise OverflowError(f"a message cannot hold so large a number as {value!r:.40}")
    raise TypeError(f"a message cannot hold {type(value).__name__}")


def pack(value: dict[str, Any]) -> bytes:
    """Return msgpack bytes of plain values, in which parts may stand as they are."""
    packer = getattr(_local, "packer", None)
    if packer is None:
        packer = _local.packer = msgpack.Packer(default=_plain_part, use_bin_type=True, autoreset=True)
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


def member_in_line(value: object) -> str:
    """Return what a message has where a text or a number belongs, within a line; of a list or map only that it is one,
    for it may be nested deeper than can be written.
    """
    return "a map" if isinstance(value, dict) else "a list" if isinstance(value, tuple) else f"{value!r:.60}"


def check_version(value: dict[str, Any]) -> None:
    """Raise VersionError, naming both versions, unless `value` is of this protocol version."""
    version = value.get("v")
    if version != PROTOCOL or version.__class__ is not int:
        stated = "no protocol version" if version is None else f"protocol version {member_in_line(version)}"
        raise VersionError(f"{stated} is not spoken here; this build speaks {PROTOCOL}")


def validate(adapter: TypeAdapter[M], value: dict[str, Any], *, lenient: bool = False) -> M:
    """Return `value` as the adapter's type.

    Args:
        adapter: the type.
        value: plain values.
        lenient: pass over members that nobody knows here, at any depth, instead of refusing them.

    Raises:
        MessageError: one line naming the first field at fault.
    """
    extra: Literal["ignore"] | None = "ignore" if lenient else None
    try:
        # what comes back is of the adapter's own type
        return adapter.validator.validate_python(value, extra=extra)  # type: ignore[no-any-return]
    except ValidationError as error:
        raise MessageError(first_fault(error)) from None


def decode_mail(body: bytes | Unpacked) -> Mail | None:
    """Return the message of an agent's mailbox that `body` holds; None, with a debug line, for a type unknown here.

    Members that are unknown here are passed over.

    Raises:
        MessageError: it cannot be read.
        VersionError: it is of another protocol version.
    """
    value = unpack(body.packed() if isinstance(body, Unpacked) else body)
    sort = value.get("type")
    adapter = _MAIL.get(sort) if isinstance(sort, str) else None
    if adapter is None:
        logger.debug("a message of type %.80r is not known here, and passed over", sort)
        return None
    mail: Mail = validate(adapter, value, lenient=True)
    return mail


def decode_news(body: bytes) -> TableNews:
    """Return the public fact that `body` holds, without members unknown here; raises MessageError or VersionError."""
    return validate(NEWS, unpack(body), lenient=True)
