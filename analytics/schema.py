"""`Column`, `Stored`, `Derived`: what the fields of a row say of themselves.

A row is a dataclass. A field with a `Column` is exported, to CSV and Parquet, and described in the data
dictionary; a field with a `Stored` is kept as numbers in `analytics.columns`. Both stand in the field's
annotation, so that a row is declared once::

    round: Annotated[int, Column("round, from 1"), Stored("i2")]

What follows from other fields is a `Derived`. Columns come in the order of the annotations.
"""

from __future__ import annotations

import types
import typing
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from operator import attrgetter
from typing import Annotated, Any, ClassVar, Generic, Literal, TypeAlias, TypeVar, overload

T = TypeVar("T")

Cell: TypeAlias = str | int | float | bool | None
"""One exported value; None is null, and no text is empty."""
Kind: TypeAlias = Literal["text", "category", "boolean", "integer", "real"]
"""What a column holds; a category is a text of which there are few, a real a finite 64-bit float."""

UNKNOWN = -1
"""Stands in whole-number arrays for what there is not."""


@dataclass(frozen=True, slots=True)
class Column:
    """What an exported value means.

    Attributes:
        meaning: what a value says, in words.
        null: what a null says; None where there never is one.
        unit: of a number: "share", "seconds", "US dollars", …; "" where the meaning says all.
        refers: the table whose key this is; None for a plain column.
        category: whether a text is one of few.
        name: the column's name, the same in every format; the field's own unless given.
        values: all that a category may hold, in their order; those of the field's `Literal` unless given.
        kind: what it holds; follows from the field's type.
        path: where in the row the value stands; follows from the field.
    """

    meaning: str
    null: str | None = None
    unit: str = ""
    refers: str | None = None
    category: bool = False
    name: str = ""
    values: tuple[str, ...] = ()
    kind: Kind = "text"
    path: str = ""


@dataclass(frozen=True, slots=True)
class Stored:
    """How a value is kept in an array.

    Attributes:
        dtype: of the array, in numpy's words.
        codes: the number that stands for each value; None for values that are numbers.
        index: what the number is a place in: "seats" of the game, "agents", "processes", players' "names", or
            "statements" of all games.
        name: the array's name; the field's own unless given.
        path: where in the row the value stands; follows from the field.
    """

    dtype: str
    codes: Mapping[Any, int] | None = None
    index: Literal["seats", "agents", "processes", "names", "statements"] | None = None
    name: str = ""
    path: str = ""


class Nested:
    """Marks a field whose own columns stand in its place."""


def coded(values: Sequence[Any], name: str = "") -> Stored:
    """Return how words are kept: as places in `values`, `UNKNOWN` for None unless that is among them."""
    return Stored("i1", {None: UNKNOWN, **{value: place for place, value in enumerate(values)}}, name=name)


class Derived(Generic[T]):
    """A value that follows from a row's fields.

    Args:
        of: computes it from the row.
    """

    def __init__(self, of: Callable[[Any], T]) -> None:
        self._of = of

    @overload
    def __get__(self, row: None, owner: type) -> Derived[T]: ...

    @overload
    def __get__(self, row: object, owner: type) -> T: ...

    def __get__(self, row: object | None, owner: type) -> T | Derived[T]:
        """Return the value for a row."""
        return self if row is None else self._of(row)


@cache
def exported(row: type) -> tuple[Column, ...]:
    """Return the exported columns of a row, in order.

    Raises:
        TypeError: a column says what null means where there is none, or not where there is one.
    """
    return tuple(_exported(row))


def _exported(row: type) -> Iterator[Column]:
    for field, held, marks in _fields(row):
        if any(mark is Nested for mark in marks):
            yield from (replace(column, path=f"{field}.{column.path}") for column in exported(held))
        for column in (mark for mark in marks if isinstance(mark, Column)):
            plain, optional = _without_none(held)
            # an empty text is exported as null
            if column.null is None if optional else column.null is not None and plain is not str:
                raise TypeError(f"{row.__name__}.{field}: its column and its type differ on whether it may be null")
            words = typing.get_args(plain) if typing.get_origin(plain) is Literal else ()
            yield replace(
                column,
                name=column.name or field,
                values=column.values or words,
                kind=_kind(plain, category=column.category or bool(column.values or words)),
                path=field,
            )


@cache
def stored(row: type) -> tuple[Stored, ...]:
    """Return what of a row is kept in arrays, in order."""
    return tuple(
        replace(mark, name=mark.name or field, path=field)
        for field, _, marks in _fields(row)
        for mark in marks
        if isinstance(mark, Stored)
    )


@cache
def reader(row: type) -> Callable[[Any], tuple[Cell, ...]]:
    """Return what takes the exported values out of a row."""
    get = attrgetter(*(column.path for column in exported(row)))
    # texts of no format tell an empty text from none reliably
    return lambda one: tuple(None if value == "" else value for value in get(one))


def _fields(row: type) -> Iterator[tuple[str, Any, tuple[Any, ...]]]:
    """Yield name, type and marks of all that a row says of itself."""
    for field, hint in typing.get_type_hints(row, include_extras=True).items():
        held = hint
        for shell in (ClassVar, Derived):
            if typing.get_origin(held) is shell:
                (held,) = typing.get_args(held)
        if typing.get_origin(held) is Annotated:
            held, *marks = typing.get_args(held)
            yield field, held, tuple(marks)


def _without_none(held: Any) -> tuple[Any, bool]:
    if typing.get_origin(held) not in (types.UnionType, typing.Union):
        return held, False
    words = typing.get_args(held)
    (plain,) = (each for each in words if each is not type(None))
    return plain, len(words) > 1


def _kind(plain: Any, *, category: bool) -> Kind:
    if category:
        return "category"
    if typing.get_origin(plain) is Annotated:
        plain = typing.get_args(plain)[0]
    if plain in _KINDS:
        return _KINDS[plain]
    raise TypeError(f"{plain} is no type of a column")


_KINDS: dict[Any, Kind] = {str: "text", bool: "boolean", int: "integer", float: "real"}
