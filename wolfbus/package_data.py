"""Prose and tables that come with the program as TOML files beside its code, checked as they are read."""

from __future__ import annotations

import tomllib
from importlib.resources import files
from typing import Annotated, TypeAlias, TypeVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, ValidationError

from wolfbus.errors import ConfigError


class PackageData(BaseModel):
    """A table of such a file; it has the members that its class names and no others."""

    model_config = ConfigDict(extra="forbid", frozen=True)


Data = TypeVar("Data", bound=PackageData)


def _folded(text: object) -> object:
    return " ".join(text.split()) if isinstance(text, str) else text


def _in_lines(text: object) -> object:
    return tuple(line for line in text.splitlines() if line) if isinstance(text, str) else text


Prose: TypeAlias = Annotated[str, BeforeValidator(_folded)]
"""A paragraph, in the file on as many lines as it takes."""
Lines: TypeAlias = Annotated[tuple[str, ...], BeforeValidator(_in_lines)]
"""Texts of which each has a line of its own in the file."""


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
        table = tomllib.loads(files(package).joinpath(f"{name}.toml").read_text("utf-8"))
    except OSError as error:
        raise ConfigError(f"{place}: {error.strerror}") from None
    except (UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise ConfigError(f"{place}: not TOML: {error}") from None
    try:
        return shape.model_validate(table)
    except ValidationError as error:
        fault = error.errors(include_url=False)[0]
        key = ".".join(map(str, fault["loc"])) or "the whole"
        raise ConfigError(f"{place}: {key}: {fault['msg']}") from None
