"""What the fields of a row say of themselves (`Column`, `Derived`), and the fields that rows share.

A row is a dataclass. A field with a `Column` is exported, to CSV and Parquet, and described in the data dictionary; the
frames that metrics rest on (`analytics.tables`) have columns of the same names. The mark stands in the field's
annotation, so that a row is declared once::

    round: Annotated[int, Column("round, from 1")]

What follows from other fields is a `Derived`, with its `Column` in it. Columns come in the order of the annotations.
"""

from __future__ import annotations

import types
import typing
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cache
from operator import attrgetter
from typing import Annotated, Any, ClassVar, Final, Generic, Literal, TypeAlias, TypeVar, overload

from wolfbus.game.roles import TABLE_ROLES
from wolfbus.game.vocabulary import Deception, Fault, Outcome, Phase, Reading

T = TypeVar("T")

Cell: TypeAlias = str | int | float | bool | None
"""One exported value; None is null, and no text is empty."""
Kind: TypeAlias = Literal["text", "category", "boolean", "integer", "real"]
"""What a column holds; a category is a text of which there are few, a real a finite 64-bit float."""

DECIMALS: Final = 12
"""D is rounded to so many decimals: equal judgements in another order differ in the last bit, and are a tie all the
same."""


_KINDS: dict[Any, Kind] = {str: "text", bool: "boolean", int: "integer", float: "real"}


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


class Nested:
    """Marks a field whose own columns stand in its place."""


@dataclass(frozen=True, slots=True)
class Derived(Generic[T]):
    """A value that follows from a row's fields.

    Attributes:
        compute: gives it for a row.
        column: what it means.
    """

    compute: Callable[[Any], T]
    column: Column

    @overload
    def __get__(self, row: None, owner: type) -> Derived[T]: ...

    @overload
    def __get__(self, row: object, owner: type) -> T: ...

    def __get__(self, row: object | None, owner: type) -> T | Derived[T]:
        """Return the value for a row."""
        return self if row is None else self.compute(row)


@cache
def exported(row: type) -> tuple[Column, ...]:
    """Return the exported columns of a row, in order.

    Raises:
        TypeError: a column says what null means where there is none, or not where there is one.
    """
    return tuple(_exported(row))


def _exported(row: type) -> Iterator[Column]:
    for field, hint, marks in _fields(row):
        if any(mark is Nested for mark in marks):
            yield from (replace(column, path=f"{field}.{column.path}") for column in exported(hint))
        for column in (mark for mark in marks if isinstance(mark, Column)):
            plain, optional = _without_none(hint)
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
def reader(row: type) -> Callable[[Any], tuple[Cell, ...]]:
    """Return what takes the exported values out of a row."""
    get = attrgetter(*(column.path for column in exported(row)))
    # texts of no format tell an empty text from none reliably
    return lambda row_: tuple(None if value == "" else value for value in get(row_))


def _fields(row: type) -> Iterator[tuple[str, Any, tuple[Any, ...]]]:
    """Yield name, type and marks of all that a row says of itself."""
    for field, type_ in typing.get_type_hints(row, include_extras=True).items():
        if typing.get_origin(type_) is ClassVar:
            (derived,) = typing.get_args(type_)
            yield field, typing.get_args(derived)[0], (getattr(row, field).column,)
        elif typing.get_origin(type_) is Annotated:
            plain, *marks = typing.get_args(type_)
            yield field, plain, tuple(marks)


def _without_none(hint: Any) -> tuple[Any, bool]:
    if typing.get_origin(hint) not in (types.UnionType, typing.Union):
        return hint, False
    words = typing.get_args(hint)
    (plain,) = (word for word in words if word is not type(None))
    return plain, len(words) > 1


def _kind(plain: Any, *, category: bool) -> Kind:
    if category:
        return "category"
    if typing.get_origin(plain) is Annotated:
        plain = typing.get_args(plain)[0]
    if plain in _KINDS:
        return _KINDS[plain]
    raise TypeError(f"{plain} is no type of a column")


HOW: Final = ("clean", "repaired", "defaulted")
"""How a label or judgement was come by: accepted as it stood, accepted with some repair, or missing."""
PHASES: Final = ("debate", "vote")

FOREIGN: Final = "a log of the paper's code or of another table"
_NOT_READ: Final = "nothing usable came, or a log that does not say"

GameId: TypeAlias = Annotated[str, Column("the game", refers="games", name="game_id")]
Round: TypeAlias = Annotated[int, Column("round, from 1: a night, then a day")]
SaidIn: TypeAlias = Annotated[
    Phase,
    Column("`debate`, or `vote` for the published reason of a vote", values=PHASES),
]
Line: TypeAlias = Annotated[int | None, Column("line of the record on which it stands", FOREIGN)]
OutcomeOf: TypeAlias = Annotated[
    Outcome | None,
    Column(
        "what became of the request: answered, answered with something unusable, not in time, or not asked of this "
        "agent",
        "not known yet, or a log that does not say",
    ),
]
ReadingOf: TypeAlias = Annotated[Reading | None, Column("how much work it took to read the reply", _NOT_READ)]
FaultOf: TypeAlias = Annotated[
    Fault | None, Column("what was wrong with the reply", "nothing, or a log that does not say")
]
KindOf: TypeAlias = Annotated[
    Deception | None,
    Column("the kind of deception that is named; `unspecified` where none is", "no answer that counts"),
]
StatedKind: TypeAlias = Annotated[
    Deception | None,
    Column("the kind as it was given, where the yes or no overruled it", "it was not overruled"),
]


def role(whose: str, null: str | None = None) -> Column:
    """Return a column with somebody's role: ours, and behind them those of other tables."""
    return Column(f"{whose} role", null, values=TABLE_ROLES)


def agent(whose: str, null: str | None = None) -> Column:
    """Return a column with what answers for a seat."""
    return Column(f"what answers for {whose}: its brain, as it was asked for", null, category=True)


def name(meaning: str, null: str | None = None) -> Column:
    """Return a column with a player's name."""
    return Column(meaning, null, category=True)


def key(meaning: str, table: str | None = None, null: str | None = None) -> Column:
    """Return a column with an id: the row's own, or that of a row of another table."""
    return Column(meaning, null, refers=table)


def seat_id(game: str, name: str) -> str:
    """Return a seat's id, ``GAME:NAME``; no game's id holds a colon."""
    return f"{game}:{name}"


def seat_in(field: str, meaning: str, null: str | None = None) -> Derived[Any]:
    """Return the id of the seat that a row names in `field`; None where it names none."""
    name_of = attrgetter(field)
    return Derived(
        lambda row: None if name_of(row) is None else seat_id(row.game, name_of(row)), key(meaning, "seats", null)
    )


def statement_in(meaning: str, null: str | None = None) -> Derived[Any]:
    """Return the id of the statement that a row names by its number; None where it names none."""
    return Derived(
        lambda row: None if row.statement is None else statement_id(row.game, row.statement),
        key(meaning, "statements", null),
    )


def statement_id(game: str, number: int) -> str:
    """Return a statement's id, ``GAME:NNN``: its number within the game, of at least three digits."""
    return f"{game}:{number:03d}"


def call_id(game: str, line: int) -> str:
    """Return a model call's id, ``GAME:LINE``: where it stands in the record."""
    return f"{game}:{line}"
