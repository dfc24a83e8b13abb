"""What all messages share: frozen, strict, closed; the protocol version they carry, ids and names."""

from __future__ import annotations

from typing import Annotated, Any, Final, Literal, TypeAlias, TypeVar

from pydantic import BaseModel, ConfigDict, Field

PROTOCOL: Final = 1
"""Version of everything on the wire and on disk; a reader refuses others, naming both."""

Version: TypeAlias = Literal[1]

Whole: TypeAlias = Annotated[int, Field(ge=-(2**53) + 1, le=2**53 - 1)]
"""A whole number that msgpack can carry and every JSON reader holds exactly."""

Unit: TypeAlias = Annotated[float, Field(ge=0.0, le=1.0)]
"""A probability or score in [0, 1]."""

SeatName: TypeAlias = Annotated[str, Field(min_length=1, max_length=32)]
"""A player's name, unique in its game; it is the seat's id everywhere."""

ID_PATTERN: Final = r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}"
"""What can stand in the names of streams and files: ids of games, names of houses."""

HOUSE_PATTERN: Final = rf"{ID_PATTERN}(?:~[0-9a-f]{{8}})?"
"""Of a house; those of an agenda's workers are called after the agenda, with a tilde that stands in no other name."""

GameId: TypeAlias = Annotated[str, Field(pattern=rf"^{ID_PATTERN}$")]
"""A game's id: letters, digits, dot, dash and underscore; it stands in stream and file names."""

Source: TypeAlias = Annotated[str, Field(max_length=64)]
"""Id of a message on its sender's out stream; it tells a moderator that comes back what it has recorded already."""

Audience: TypeAlias = Literal["everybody", "researchers"] | tuple[SeatName, ...]
"""Who may know an event: everybody, the named seats, or those who read records only."""


_NO_FIELDS: Final[set[str]] = set()
_P = TypeVar("_P", bound=BaseModel)
K = TypeVar("K")
V = TypeVar("V")

# all slots of a model, set past its own `__setattr__`, which refuses; each must be set before two can be compared
_set_values, _set_given, _set_extra, _set_private = (
    vars(BaseModel)[slot].__set__
    for slot in ("__dict__", "__pydantic_fields_set__", "__pydantic_extra__", "__pydantic_private__")
)


def slim(part: BaseModel) -> None:
    """Forget which fields of `part` were given rather than defaulted.

    pydantic remembers that in a set of up to 700 bytes per value; equality and dumps do not depend on it. For values
    that are kept by the thousand.
    """
    if part.__pydantic_fields_set__ is not _NO_FIELDS:
        object.__setattr__(part, "__pydantic_fields_set__", _NO_FIELDS)


def unchecked(kind: type[_P], values: dict[str, Any]) -> _P:
    """Return a part made of values that are right already, in half the time that it takes to check them, and slim.

    Args:
        kind: the part's type.
        values: all its fields, in their order.
    """
    part = kind.__new__(kind)
    _set_values(part, values)
    _set_given(part, _NO_FIELDS)
    _set_extra(part, None)
    _set_private(part, None)
    return part


class FrozenDict(dict[K, V]):
    """A dict that cannot change, for what many read who do not know each other; a copy of it can."""

    def _refuse(self, *_: Any, **__: Any) -> Any:
        raise TypeError("what everybody was told cannot be changed; change a copy, as dict(…) makes one")

    __setitem__ = __delitem__ = __ior__ = clear = pop = popitem = setdefault = update = _refuse

    def __reduce__(self) -> tuple[type, tuple[dict[K, V]]]:
        return dict, (dict(self),)


class Part(BaseModel):
    """A piece of a message; equal parts are equal values and cannot change."""

    model_config = ConfigDict(
        frozen=True,
        strict=True,
        extra="forbid",
        allow_inf_nan=False,
        # any bound makes pydantic look into a string, and so refuse lone surrogates, which no file or stream can hold
        str_min_length=0,
    )


class WireMessage(Part):
    """A part that travels alone: on a stream of the bus, not within another."""

    v: Version = 1
    """Version of the protocol."""
