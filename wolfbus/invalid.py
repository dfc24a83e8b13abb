"""What is wrong with values that pydantic refuses, in one line: of a message, or of a table that a user wrote."""

from __future__ import annotations

import difflib
import reprlib
from collections.abc import Iterable, Sequence
from typing import Final, get_args

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

_IN_TOML: Final = {
    "missing": "missing",
    "tuple_type": "input should be a list",
    "model_type": "input should be a table",
    "dict_type": "input should be a table",
}
"""What pydantic says in Python's words, in the words of a file."""


def first_fault(error: ValidationError) -> str:
    """Return the first mistake of a failed validation: the field and what is wrong with it."""
    first = error.errors(include_url=False, include_context=False)[0]
    place = ".".join(str(part) for part in first["loc"])
    fault = f"{place}: {first['msg']}" if place else first["msg"]
    # names of fields and tags come from strangers: they must neither break the line nor fill the screen
    return fault[:300] if fault.isprintable() else repr(fault[:300])[1:-1]


def telling(error: ValidationError) -> ErrorDetails:
    """Return the mistake that says most: of a name that is misspelt, the misspelling, not what follows from it."""
    return min(error.errors(), key=lambda each: each["type"] != "extra_forbidden")


def fault_of_table(
    error: ValidationError, model: type[BaseModel], *, depth: int | None = None, tables: Iterable[str] = ()
) -> str:
    """Return the mistake in a user's table that says most: the field, what is wrong with it, and what is like its name.

    Args:
        error: the failed validation.
        model: what the table should be.
        depth: how many names of a field's place are told; behind a union's own stands which of its forms was tried.
        tables: names that the file may hold beside the model's.
    """
    first = telling(error)
    where = [str(part) for part in first["loc"][:depth]]
    place = ".".join(part if part.isprintable() else repr(part) for part in where)
    kind, said = first["type"], first["msg"]
    if kind == "extra_forbidden":
        close = difflib.get_close_matches(where[-1], [*_owner(model, where[:-1]).model_fields, *tables], n=1)
        reason = "no such field" + (f"; did you mean {close[0]!r}?" if close else "")
    elif kind == "value_error":
        reason = said.removeprefix("Value error, ")
    else:
        reason = _IN_TOML.get(kind, said[:1].lower() + said[1:])
        reason += "" if kind == "missing" else f" (given {reprlib.repr(first['input'])})"
    return f"{place}: {reason}" if place else reason


def _owner(model: type[BaseModel], path: Sequence[str]) -> type[BaseModel]:
    """Return the model that a place within another is of."""
    for name in path:
        field = model.model_fields.get(name)
        parts = () if field is None else (field.annotation, *get_args(field.annotation))
        model = next((part for part in parts if isinstance(part, type) and issubclass(part, BaseModel)), model)
    return model
