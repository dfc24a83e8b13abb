"""Players specs: what ``--players`` takes, and the brains that its words stand for.

A spec is a list of items ``BRAIN``, ``BRAIN*N`` or ``BRAIN*``, separated by commas; a brain is a known name,
``llm:MODEL``, ``llm:MODEL@URL``, ``exec:COMMAND`` or ``module:Class``.
"""

from __future__ import annotations

import difflib
import importlib
import re
import sys
from collections.abc import Iterable, Mapping
from functools import lru_cache
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Final

from players.context import BrainContext
from wolfbus.agent import Agent
from wolfbus.errors import ConfigError
from wolfbus.printable import with_article
from wolfbus.vocabulary import KINDS, Kind

if TYPE_CHECKING:
    from players.llm.settings import Model

KNOWN: Final[dict[str, tuple[str, str]]] = {
    "scripted": ("players.scripted", "ScriptedBrain"),
    "random": ("players.baselines", "RandomBrain"),
    "silent": ("players.baselines", "SilentBrain"),
    "human": ("players.human", "HumanBrain"),
}
"""Brains by name: module and class, imported only when asked for."""

MODEL: Final = "llm:"
"""Begins the spec of a language model."""
COMMAND: Final = "exec:"
"""Begins the spec of a child process."""
PERSON: Final = "human"
"""A person: at the page where there is one, else at the terminal."""

_CLASS = re.compile(r"(?P<module>[^\W\d]\w*(?:\.[^\W\d]\w*)*):(?P<name>[^\W\d]\w*)")
_WORD = re.compile(r"[\w.@:/+~-]+")
_REST: Final = 0
_PATHS: Final = ("./", "../", "/", "~")
"""Begin the path of a program; any other name that is not known is most likely a model's."""
_CHOICES: Final = (
    f"known are {', '.join(KNOWN)}, llm:MODEL, llm:MODEL@URL, exec:COMMAND, and module:Class for one of your own"
)


def expand(spec: str, seats: int, *, known: bool = True) -> tuple[str, ...]:
    """Return the brain of every seat, in seating order.

    ``scripted`` alone fills all seats; ``scripted*6,random*2`` counts them out; ``scripted*,random*2`` gives the
    rest to ``scripted``; in a list, an item without a count is one seat.

    Args:
        spec: the list of brains.
        seats: how many there are to fill.
        known: whether names must be of brains that can be built here; agents of a house may be called anything.

    Raises:
        ConfigError: an item cannot be read, a name is not known, or the total is not the number of seats.
    """
    try:
        items = [_item(item.strip(), spec, known) for item in spec.split(",")]
    except ConfigError as error:
        if COMMAND in spec and "," in spec:
            hint = "a command with a comma in it needs `players` as a list in a TOML file"
            raise ConfigError(f"{error}; {hint}") from None
        raise
    if len(items) == 1 and items[0][1] is None:
        return (items[0][0],) * seats
    counts = [1 if count is None else count for _, count in items]
    total = sum(count for count in counts if count)
    rest = [place for place, count in enumerate(counts) if count == _REST]
    if len(rest) > 1:
        raise ConfigError(f"players {spec!r}: only one item can take the rest of the seats (a star without a number)")
    if rest:
        if total >= seats:
            name = items[rest[0]][0]
            raise ConfigError(f"players {spec!r}: the others take {total} seats of {seats}; none is left for {name!r}")
        counts[rest[0]] = seats - total
    elif total != seats:
        raise ConfigError(f"players {spec!r}: this makes {total} players, but the game has {seats} seats")
    return tuple(name for (name, _), count in zip(items, counts, strict=True) for _ in range(count))


def _item(item: str, spec: str, known: bool) -> tuple[str, int | None]:
    """Return (brain, count) of one item; the count is None where there is none and `_REST` for a star alone."""
    name, star, number = item.rpartition("*") if "*" in item else (item, "", "")
    name, number = name.strip(), number.strip()
    if not name:
        raise ConfigError(f"players {spec!r}: an item is empty; write something like scripted*6,random*2")
    if known:
        _check_name(name)
    if not star:
        return name, None
    if not number:
        return name, _REST
    if not re.fullmatch("[0-9]{1,6}", number) or int(number) < 1:
        raise ConfigError(f"players {spec!r}: {number!r} is no number of seats; write something like {name}*2")
    return name, int(number)


def _check_name(name: str) -> None:
    if name in KNOWN or (name.startswith((MODEL, COMMAND)) and name.partition(":")[2].strip()):
        return
    if name.startswith((MODEL, COMMAND)):
        what = "a model, as in llm:gpt-4o-mini" if name.startswith(MODEL) else "a command, as in exec:./agent"
        raise ConfigError(f"brain {name!r} lacks {what}")
    if _CLASS.fullmatch(name):
        return
    close = difflib.get_close_matches(name.casefold(), KNOWN, n=1)
    meant = close[0] if close else COMMAND + name if name.startswith(_PATHS) else MODEL + name
    # no model has two colons in its name
    likely = _WORD.fullmatch(name) and name.partition("@")[0].count(":") < 2
    hint = f"did you mean {meant!r}? " if close or likely else ""
    raise ConfigError(f"no brain is called {name!r}; {hint}{_CHOICES}")


def build(brain_spec: str, brain_context: BrainContext | None = None) -> Agent:
    """Return a new agent for one seat.

    Args:
        brain_spec: a known name, ``llm:MODEL`` or ``llm:MODEL@URL``, ``exec:COMMAND``, or ``module:Class`` of an
            agent of your own. Its module is looked for where Python looks, then in the current directory.
        brain_context: what the brains of this process share; a fresh one without any settings unless given.

    Raises:
        ConfigError: there is no such brain, it cannot be made, or it is no agent; the line says which.
    """
    _check_name(brain_spec)
    brain_context = brain_context or BrainContext()
    if brain_spec.startswith(MODEL):
        from players.llm.brain import ModelBrain
        from players.llm.settings import model_of

        return ModelBrain(model_of(brain_spec.removeprefix(MODEL), brain_context.models), brain_context.gateway)
    if brain_spec.startswith(COMMAND):
        from players.program.brain import ChildBrain

        return ChildBrain(brain_spec.removeprefix(COMMAND), brain_context.logs)
    if brain_spec == PERSON and brain_context.people is not None:
        from players.human import PageBrain

        return PageBrain(brain_context.people)
    agent = _class_of(brain_spec)
    try:
        return agent()
    except (Exception, SystemExit) as error:
        raise ConfigError(f"brain {brain_spec!r} cannot be made: {_line(error)}") from error


def model_name(brain_spec: str, models: Mapping[str, Model]) -> str | None:
    """Return the name of the language model that a brain asks, as its server is told; None for other brains.

    Args:
        brain_spec: as `build` takes it.
        models: language models by alias.

    Raises:
        ConfigError: the spec names no model.
    """
    if not brain_spec.startswith(MODEL):
        return None
    from players.llm.settings import model_of

    return model_of(brain_spec.removeprefix(MODEL), models).model


def check(brains: Iterable[str], brain_context: BrainContext) -> None:
    """Make each brain once and put it away again, so that a mistake is told before the game.

    Raises:
        ConfigError: as `build` does, one cannot be put away, or two people would play at one terminal.
    """
    brains = list(brains)
    if brains.count(PERSON) > 1 and brain_context.people is None:
        raise ConfigError(
            "players: only one seat can be 'human' at a terminal: two people would see each other's secrets; "
            "--view gives each a page of its own"
        )
    brain_context.models_of(brains)
    for brain_spec in dict.fromkeys(brains):
        if brain_spec.startswith(MODEL):
            continue
        agent = build(brain_spec, brain_context)
        try:
            agent.close()
        except (Exception, SystemExit) as error:
            raise ConfigError(f"brain {brain_spec!r} cannot be closed: {_line(error)}") from error


@lru_cache(maxsize=256)
def declined_by(brain_spec: str) -> tuple[Kind, ...]:
    """Return the kinds of request that this brain does not answer; nothing is made to find out.

    Raises:
        ConfigError: as `build` does for a class.
    """
    _check_name(brain_spec)
    if brain_spec.startswith((MODEL, COMMAND)):
        return ()
    # one of one's own may return a list, and a kind twice
    return tuple(dict.fromkeys(_class_of(brain_spec).declines()))


def _class_of(brain_spec: str) -> type[Agent]:
    module_name, class_name = KNOWN.get(brain_spec) or brain_spec.split(":", 1)
    module = importlib.import_module(module_name) if brain_spec in KNOWN else _import(module_name, brain_spec)
    found = getattr(module, class_name, None)
    if found is None:
        raise ConfigError(f"brain {brain_spec!r}: module {module_name!r} has no {class_name!r}")
    if not isinstance(found, type):
        raise ConfigError(f"brain {brain_spec!r}: {class_name!r} is {with_article(type(found).__name__)}, not a class")
    if not issubclass(found, Agent):
        if not callable(getattr(found, "answer", None)):
            raise ConfigError(f"brain {brain_spec!r}: {class_name!r} is no subclass of wolfbus.agent.Agent")
        # a class that answers for all kinds needs nothing else to be an agent
        found = type(found.__name__, (found, Agent), {})
    _check_declines(found, brain_spec)
    return found


def _check_declines(agent: type[Agent], brain_spec: str) -> None:
    if not callable(agent.declines):
        raise ConfigError(f"brain {brain_spec!r}: declines is a class method, not {agent.declines!r:.60}")
    try:
        declines: object = agent.declines()
    except (Exception, SystemExit) as error:
        raise ConfigError(f"brain {brain_spec!r}: declines is a class method, and failed: {_line(error)}") from error
    if isinstance(declines, str) or not isinstance(declines, tuple | list):
        raise ConfigError(f"brain {brain_spec!r}: declines returns a tuple of kinds, not {declines!r:.60}")
    for kind in declines:
        if kind not in KINDS:
            raise ConfigError(f"brain {brain_spec!r}: declines {kind!r:.60}, which is no kind of {', '.join(KINDS)}")


def _import(module_name: str, brain_spec: str) -> ModuleType:
    here = str(Path.cwd())
    if here not in sys.path:
        # last, so that a file here cannot stand in for an installed module
        sys.path.append(here)
        importlib.invalidate_caches()
    try:
        return importlib.import_module(module_name)
    except ModuleNotFoundError as error:
        if error.name is None or not (module_name + ".").startswith(error.name + "."):
            missing = f"module {module_name!r} needs {error.name!r}, which is not installed"
            raise ConfigError(f"brain {brain_spec!r}: {missing}") from error
        raise ConfigError(
            f"brain {brain_spec!r}: no module {error.name!r}, neither installed nor in {here}; {_CHOICES}"
        ) from error
    except (Exception, SystemExit) as error:
        raise ConfigError(f"brain {brain_spec!r}: importing {module_name!r} failed: {_line(error)}") from error


def _line(error: BaseException) -> str:
    text = " ".join(str(error).split())[:200]
    return f"{type(error).__name__}: {text}" if text else type(error).__name__
