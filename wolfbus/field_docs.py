"""What the fields of our models mean, read from the strings below them in the source when somebody asks.

pydantic reads them when a class is made (`use_attribute_docstrings`), which is a quarter of every program's start.
"""

from __future__ import annotations

import ast
import inspect
import sys
from collections.abc import Iterator
from functools import cache

from pydantic import BaseModel


@cache
def field_docs(model: type[BaseModel]) -> dict[str, str]:
    """Return the meaning of each field of a model that has one, by name; those of its bases included."""
    found: dict[str, str] = {}
    for base in reversed(model.__mro__):
        found.update(_of_module(base.__module__).get(base.__qualname__, {}))
    return found


@cache
def _of_module(name: str) -> dict[str, dict[str, str]]:
    """Return the meanings of attributes by class, for a module whose source is at hand."""
    module = sys.modules.get(name)
    if module is None or not name.startswith(_OURS):
        return {}
    return {each.name: dict(_of_class(each)) for each in _classes(inspect.getsource(module))}


_OURS = ("wolfbus.", "players.", "moderator.", "analytics.")


def _classes(source: str) -> Iterator[ast.ClassDef]:
    return (each for each in ast.parse(source).body if isinstance(each, ast.ClassDef))


def _of_class(body: ast.ClassDef) -> Iterator[tuple[str, str]]:
    for field, below in zip(body.body, body.body[1:], strict=False):
        if (
            isinstance(field, ast.AnnAssign)
            and isinstance(field.target, ast.Name)
            and isinstance(below, ast.Expr)
            and isinstance(below.value, ast.Constant)
            and isinstance(below.value.value, str)
        ):
            yield field.target.id, inspect.cleandoc(below.value.value)
