"""`checked`: what Python gives a function in a wrong type is told in one line, as a wrong value is."""

from __future__ import annotations

import functools
import inspect
import os
from collections.abc import Callable
from numbers import Integral, Real
from pathlib import Path
from types import UnionType
from typing import Any, Final, Literal, ParamSpec, TypeVar, Union, get_args, get_origin, get_type_hints

from wolfbus.errors import ConfigError

P = ParamSpec("P")
R = TypeVar("R")

_WIDER: Final[dict[Any, Any]] = {float: Real, int: Integral, Path: str | os.PathLike}
"""What stands in for a type: numbers of other packages, and paths of any kind."""

_SAYS_MORE: Final = "players"
"""An argument that is looked at where it is understood, and told of in words of its own."""


def checked(function: Callable[P, R]) -> Callable[P, R]:
    """Have a function raise a ConfigError that names the first argument which is of no type that it takes."""

    @functools.wraps(function)
    def call(*args: P.args, **kwargs: P.kwargs) -> R:
        hints = get_type_hints(function)
        for name, value in inspect.signature(function).bind(*args, **kwargs).arguments.items():
            if name != _SAYS_MORE and not _is(value, hints[name]):
                kinds = function.__annotations__[name]
                raise ConfigError(f"{name}: input should be {kinds} (given {type(value).__name__})")
        return function(*args, **kwargs)

    return call


def _is(value: object, hint: Any) -> bool:
    """Return whether a value is of a type, as far as its outermost kind goes."""
    origin = get_origin(hint) or hint
    if origin is Union or origin is UnionType:
        return any(_is(value, part) for part in get_args(hint))
    if origin is Literal:
        # which words there are is told where they are understood
        return True
    # to Python alone a bool is a number
    return origin is bool if isinstance(value, bool) else isinstance(value, _WIDER.get(origin, origin))
