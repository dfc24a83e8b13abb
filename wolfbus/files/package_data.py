"""Prose and tables that come with the program: TOML files beside its code, checked as they are read, and what the
sources say of the fields of our models, read when somebody asks: pydantic reads it when a class is made
(`use_attribute_docstrings`), which is a quarter of every program's start.
"""

from __future__ import annotations

import ast
import inspect
import sys
import tomllib
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Annotated, TypeAlias, TypeVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, ValidationError

from wolfbus.errors import ConfigError, first_fault


class PackageData(BaseModel):
    """A table of such a file; it has the members that its class names and no others."""

    model_config = ConfigDict(extra="forbid", frozen=True)


Data = TypeVar("Data", bound=BaseModel)


def _folded(text: object) -> object:
    return " ".join(text.split()) if isinstance(text, str) else text


def _in_lines(text: object) -> object:
    return tuple(line for line in text.splitlines() if line) if isinstance(text, str) else text


Prose: TypeAlias = Annotated[str, BeforeValidator(_folded)]
"""A paragraph, in the file on as many lines as it takes."""
Lines: TypeAlias = Annotated[tuple[str, ...], BeforeValidator(_in_lines)]
"""Texts of which each has a line of its own in the file."""


def folder_of(package: str) -> Path:
    """Return the folder that a package's files are in."""
    return Path(str(import_module(package).__file__)).parent


def read_data(package: str, name: str, shape: type[Data]) -> Data:
    """Read a data file.

    Args:
        package: dotted name of the package whose folder it is in.
        name: its name without ``.toml``.
        shape: what its top level must be.

    Raises:
        ConfigError: it is missing, no TOML or of another shape; the line names the file and the key.
    """
    place = f"{package.replace('.', '/')}/{name}.toml"
    try:
        table = tomllib.loads(folder_of(package).joinpath(f"{name}.toml").read_text("utf-8"))
    except OSError as error:
        raise ConfigError(f"{place}: {error.strerror}") from None
    except (UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise ConfigError(f"{place}: not TOML: {error}") from None
    try:
        return shape.model_validate(table)
    except ValidationError as error:
        raise ConfigError(f"{place}: {first_fault(error)}") from None


@cache
def field_docs(model: type[BaseModel]) -> dict[str, str]:
    """Return the meaning of each field of a model that has one, by name; those of its bases included."""
    docs: dict[str, str] = {}
    for base in reversed(model.__mro__):
        docs.update(_of_module(base.__module__).get(base.__qualname__, {}))
    return docs


@cache
def _of_module(name: str) -> dict[str, dict[str, str]]:
    """Return the meanings of attributes by class, for a module whose source is at hand."""
    module = sys.modules.get(name)
    if module is None or not name.startswith(_PACKAGES):
        return {}
    classes = (node for node in ast.parse(inspect.getsource(module)).body if isinstance(node, ast.ClassDef))
    return {node.name: dict(_of_class(node)) for node in classes}


_PACKAGES = ("wolfbus.", "players.", "moderator.", "analytics.")


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
