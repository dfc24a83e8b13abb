"""The one tree of errors, named after the boundary that was crossed; and, in one line, what the system or pydantic
refused.

::

    WolfError                 anything wolfbus says in one friendly line
    ├── ConfigError           a GameConfig, a players spec or a command-line value that cannot be played
    ├── RulesError            a transition the rules do not allow (a record that was edited, or a bug)
    ├── MessageError          bytes that are no message of ours
    │   └── VersionError      a message of another protocol version
    ├── BusError              the bus could not do what was asked
    │   ├── BusDown           no connection within the time allowed
    │   │   └── BusUnsaved    a server that answers, but takes no writes until it can save them
    │   ├── BusFull           the bus has no memory left for what was to be written
    │   ├── StaleWriter       another incarnation already writes this stream
    │   ├── Fenced            another moderator owns this record
    │   ├── HouseHeld         another moderator holds the house's lease
    │   ├── NotAllowed        the bus does not let this user do that
    │   └── StreamLost        a stream no longer holds what its reader had read
    ├── RecordError           a record that cannot be read, written, or is not what it claims to be
    └── PlayerError           a brain that cannot be built or that failed
        ├── BudgetSpent       the next model call could go beyond the budget
        ├── ModelGone         a model, a program or an address is asked no more
        │   ├── GivenUp       nothing that it says can be read
        │   └── ModelHalted   its server says that there is no more to be had
        └── CassetteError     recorded model replies that cannot be read, written, or lack a call
"""

from __future__ import annotations

import contextlib
import difflib
import reprlib
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Final, get_args

if TYPE_CHECKING:
    from pydantic import BaseModel, ValidationError
    from pydantic_core import ErrorDetails


class WolfError(Exception):
    """Base of all errors a user may see; ``str(error)`` is one clear line."""


class ConfigError(WolfError):
    """A configuration that cannot be played; the line names the field and the reason."""


class RulesError(WolfError):
    """A transition that the rules of the game do not allow."""


class MessageError(WolfError):
    """Bytes that are not a message of this protocol; the line names the type or field at fault."""


class VersionError(MessageError):
    """A message of a protocol version this build does not speak; the line names both versions."""


class BusError(WolfError):
    """The bus could not do what was asked of it.

    Attributes:
        stream: the stream that it is about, "" where it is none.
    """

    def __init__(self, message: str, stream: str = "") -> None:
        super().__init__(message)
        self.stream = stream


class BusDown(BusError):  # noqa: N818 - the names below are states of the bus, as users would say them
    """The bus could not be reached within the time allowed."""


class BusUnsaved(BusDown):
    """The server of the bus answers, but took no writes within the time allowed: its disk is full, or was."""


class BusFull(BusError):  # noqa: N818
    """The bus had no memory left, and nothing was written; there may be room again later."""


class StaleWriter(BusError):  # noqa: N818
    """A newer incarnation of this participant already writes the stream."""


class Fenced(BusError):  # noqa: N818
    """Another moderator owns the record: this one must step down."""


class HouseHeld(BusError):  # noqa: N818
    """Another moderator holds the house, and its lease has not run out.

    Attributes:
        holder: who.
        left_s: seconds until its lease runs out unless it is renewed.
    """

    def __init__(self, message: str, holder: str = "", left_s: float = 0.0) -> None:
        super().__init__(message)
        self.holder = holder
        self.left_s = left_s


class NotAllowed(BusError):  # noqa: N818
    """The bus does not let this user do that: the credentials are for something else.

    It has a `stream` where that was not to be written.
    """


class StreamLost(BusError):  # noqa: N818
    """A stream no longer reaches back to, or no longer holds, what its reader had read.

    Attributes:
        backwards: whether it now ends before that, or is gone: the bus has forgotten what it had confirmed.
    """

    def __init__(self, message: str, stream: str = "", *, backwards: bool = False) -> None:
        super().__init__(message, stream)
        self.backwards = backwards


class RecordError(WolfError):
    """A record that cannot be read or written, or is not what it claims to be.

    Attributes:
        line: 1-based line number at fault, or None if no single line is.
    """

    def __init__(self, message: str, line: int | None = None) -> None:
        super().__init__(f"line {line}: {message}" if line is not None else message)
        self.line = line


class PlayerError(WolfError):
    """A brain that cannot be built, or that failed while answering."""


class BudgetSpent(PlayerError):  # noqa: N818
    """The next model call could go beyond the budget: the run stops."""


class ModelGone(PlayerError):  # noqa: N818
    """A model is asked no more, and a game that it plays in ends where it stands; games of other models go on.

    Attributes:
        game: that game's id.
    """

    def __init__(self, message: str, game: str = "") -> None:
        super().__init__(message)
        self.game = game


class GivenUp(ModelGone):
    """Nothing that a model, a program or an agent at an address says can be read, or nothing ever comes: the game that
    it plays in is not worth going on with.
    """


class ModelHalted(ModelGone):
    """A model can be asked no more for now, as where its credits ran out: its games halt, to go on later."""


class CassetteError(PlayerError):
    """A cassette cannot be read or written, or lacks the reply to a call."""


def reason_of(error: OSError, *, folder: bool = False) -> str:
    """Return why the system refused, in its own words and lower case, as in "no space left on device".

    Args:
        error: what it raised.
        folder: whether a folder was to be made or used: one that is something else is then called so.
    """
    if folder and isinstance(error, FileExistsError | NotADirectoryError):
        return "that is no folder"
    return (error.strerror or str(error) or type(error).__name__).lower()


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


def main_mistake(error: ValidationError) -> ErrorDetails:
    """Return the mistake that says most: of a name that is misspelt, the misspelling, not what follows from it."""
    return min(error.errors(), key=lambda detail: detail["type"] != "extra_forbidden")


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
    first = main_mistake(error)
    path = [str(part) for part in first["loc"][:depth]]
    place = ".".join(part if part.isprintable() else repr(part) for part in path)
    kind, message = first["type"], first["msg"]
    if kind == "extra_forbidden":
        close = difflib.get_close_matches(path[-1], [*_owner(model, path[:-1]).model_fields, *tables], n=1)
        reason = "no such field" + (f"; did you mean {close[0]!r}?" if close else "")
    elif kind == "value_error":
        reason = message.removeprefix("Value error, ")
    else:
        reason = _IN_TOML.get(kind, message[:1].lower() + message[1:])
        # a number in hexadecimal may have more digits than Python writes
        with contextlib.suppress(ValueError):
            reason += "" if kind == "missing" else f" (given {reprlib.repr(first['input'])})"
    return f"{place}: {reason}" if place else reason


def not_installed(package: str, extra: str) -> ConfigError:
    """Return the error that says how to install a package that is missing."""
    return ConfigError(f'this needs {package}, which is not installed: pip install "wolfbus[{extra}]"')


def _owner(model: type[BaseModel], path: Sequence[str]) -> type[BaseModel]:
    """Return the model that a place within another is of."""
    from pydantic import BaseModel

    for name in path:
        field = model.model_fields.get(name)
        parts = () if field is None else (field.annotation, *get_args(field.annotation))
        model = next((part for part in parts if isinstance(part, type) and issubclass(part, BaseModel)), model)
    return model
