"""Players specs: what ``--players`` takes, the brains that its words stand for, and `BrainContext`, which they share.

A spec is a list of items ``BRAIN``, ``BRAIN*N`` or ``BRAIN*``, separated by commas; a brain is a known name,
``llm:MODEL``, ``llm:MODEL@URL``, ``exec:COMMAND``, ``http(s)://…``, ``text:module:callable`` or ``module:Class``.
"""

from __future__ import annotations

import contextlib
import difflib
import importlib
import re
import shlex
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache, partial
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Final, cast

from players.unread import Unread
from players.user_module import import_user_module, is_missing
from wolfbus.actors.closable import Closable
from wolfbus.agent import Agent, Answer
from wolfbus.errors import ConfigError, GivenUp, ModelGone, ModelHalted, PlayerError, WolfError
from wolfbus.files.printable import error_in_words, printable, shortened, with_article
from wolfbus.game.vocabulary import KINDS, Kind

if TYPE_CHECKING:
    from players.http import AddressedAgent
    from players.llm.accounts import Accounts
    from players.llm.budget import Amount, Budget
    from players.llm.cassette import Cassette
    from players.llm.gateway import Gateway
    from players.llm.provider import Speed
    from players.llm.settings import Model
    from wolfbus.stage.people import People


KNOWN: Final[dict[str, tuple[str, str]]] = {
    "scripted": ("players.scripted", "ScriptedBrain"),
    "bayes": ("players.scripted.bayes", "BayesBrain"),
    "random": ("players.scripted", "RandomBrain"),
    "silent": ("players.scripted", "SilentBrain"),
    "human": ("players.human", "HumanBrain"),
}
"""Brains by name: module and class, imported only when asked for."""

MODEL: Final = "llm:"
"""Begins the spec of a language model."""
COMMAND: Final = "exec:"
"""Begins the spec of a child process."""
ADDRESS: Final = ("http://", "https://")
"""Begins the spec of an agent at an address."""
TEXT: Final = "text:"
"""Begins the spec of a function from text to text."""
PERSON: Final = "human"
"""A person: at the page where there is one, else at the terminal."""

_CLASS = re.compile(r"(?P<module>[^\W\d]\w*(?:\.[^\W\d]\w*)*):(?P<name>[^\W\d]\w*)")
_NAME_SHOWN: Final = 100
_LISTEN_S: Final = 5.0
"""How long an address where nobody listens is tried before the games, as while its server starts."""
_WORD = re.compile(r"[\w.@:/+~-]+")
_STAR: Final = 0
_PATHS: Final = ("./", "../", "/", "~")
"""Begin the path of a program; any other name that is not known is most likely a model's."""
_CHOICES: Final = (
    f"known are {', '.join(KNOWN)}, llm:MODEL, llm:MODEL@URL, exec:COMMAND, http(s)://…, text:module:callable, and "
    "module:Class for one of your own"
)


def expand(spec: str, seats: int, *, buildable: bool = True) -> tuple[str, ...]:
    """Return the brain of every seat, in seating order.

    ``scripted`` alone fills all seats; ``scripted*6,random*2`` counts them out; ``scripted*,random*2`` gives the
    rest to ``scripted``; in a list, an item without a count is one seat.

    Args:
        spec: the list of brains.
        seats: how many there are to fill.
        buildable: whether names must be of brains that can be built here; agents of a house may be called anything.

    Raises:
        ConfigError: an item cannot be read, a name is not known, or the total is not the number of seats.
    """
    try:
        items = [_item(item.strip(), spec, buildable) for item in spec.split(",")]
    except ConfigError as error:
        if COMMAND in spec and "," in spec:
            hint = "a command with a comma in it needs `players` as a list in a TOML file"
            raise ConfigError(f"{error}; {hint}") from None
        raise
    if len(items) == 1 and items[0][1] is None:
        return (items[0][0],) * seats
    counts = [1 if count is None else count for _, count in items]
    total = sum(counts)
    stars = [index for index, count in enumerate(counts) if count == _STAR]
    if len(stars) > 1:
        raise ConfigError(f"players {spec!r}: only one item can take the rest of the seats (a star without a number)")
    if stars:
        if total >= seats:
            name = items[stars[0]][0]
            raise ConfigError(f"players {spec!r}: the others take {total} seats of {seats}; none is left for {name!r}")
        counts[stars[0]] = seats - total
    elif total != seats:
        raise ConfigError(f"players {spec!r}: this makes {total} players, but the game has {seats} seats")
    return tuple(name for (name, _), count in zip(items, counts, strict=True) for _ in range(count))


def _item(item: str, spec: str, buildable: bool) -> tuple[str, int | None]:
    """Return (brain, count) of one item; the count is None where there is none and `_STAR` for a star alone."""
    name, star, number = item.rpartition("*") if "*" in item else (item, "", "")
    name, number = name.strip(), number.strip()
    if not name:
        raise ConfigError(f"players {spec!r}: an item is empty; write something like scripted*6,random*2")
    if buildable:
        _check_name(name)
    if not star:
        return name, None
    if not number:
        return name, _STAR
    if not re.fullmatch("[0-9]{1,6}", number) or int(number) < 1:
        raise ConfigError(f"players {spec!r}: {number!r} is no number of seats; write something like {name}*2")
    return name, int(number)


def renamed(spec: str, rename: Callable[[str], str]) -> str:
    """Return a spec in which each item has the name that `rename` makes of its own; counts stay."""
    items = (item.partition("*") for item in spec.split(","))
    return ",".join(f"{rename(name.strip())}{star}{count}" for name, star, count in items)


def named_models(brains: Iterable[str], models: Mapping[str, Model]) -> dict[str, Model]:
    """Return the models that some brain specs name, by what stands behind ``llm:``; raises ConfigError."""
    if not (names := [brain.removeprefix(MODEL) for brain in brains if brain.startswith(MODEL)]):
        return {}
    from players.llm.settings import model_of

    return {name: model_of(name, models) for name in names}


def _check_name(name: str) -> None:
    if name.startswith((MODEL, COMMAND)):
        if name.partition(":")[2].strip():
            return
        what = "a model, as in llm:gpt-4o-mini" if name.startswith(MODEL) else "a command, as in exec:./agent"
        raise ConfigError(f"brain {name!r} lacks {what}")
    if name.startswith(ADDRESS):
        from players.http import check_address

        check_address(name)
        return
    if name in KNOWN or _CLASS.fullmatch(name.removeprefix(TEXT)):
        return
    if name.startswith(TEXT):
        raise ConfigError(f"brain {name!r} lacks a function, as in text:mymodule:agent")
    close = difflib.get_close_matches(name.casefold(), KNOWN, n=1)
    meant = close[0] if close else COMMAND + name if name.startswith(_PATHS) else MODEL + name
    # no model has two colons in its name
    likely = _WORD.fullmatch(name) and name.partition("@")[0].count(":") < 2
    hint = f"did you mean {shortened(meant, _NAME_SHOWN)!r}? " if close or likely else ""
    raise ConfigError(f"no brain is called {shortened(name, _NAME_SHOWN)!r}; {hint}{_CHOICES}")


def addresses_of(brains: Iterable[str]) -> list[str]:
    """Return the different addresses of agents that some brain specs name."""
    return [brain for brain in dict.fromkeys(brains) if brain.startswith(ADDRESS)]


class BrainContext(Closable):
    """What the brains of a process share: models and the way to them, a folder for logs. Made when a brain needs it.

    Args:
        models: language models, by the alias that specs name them by.
        budget: what calls may cost in all; None for any amount.
        cassette: where replies are recorded or played from; None for neither.
        logs: folder for the error output of child processes; None lets it through to our own.
        give_up: replies in a row of a model, a program or an agent at an address that never came or cannot be read, and
            none before, after which a game ends; 0 for never.
        people: persons who play at pages; None where a person plays at the terminal.

    Attributes:
        fatal: ends all games of this process with a reason: a budget that is spent, a cassette that lacks a reply; of
            `GivenUp` and `ModelHalted`, the one game that they name.
    """

    def __init__(
        self,
        models: Mapping[str, Model] | None = None,
        budget: Budget | None = None,
        cassette: Cassette | None = None,
        logs: Path | None = None,
        *,
        give_up: int = 0,
        people: People | None = None,
    ) -> None:
        self.people = people
        self.models: dict[str, Model] = dict(models or {})
        self.logs = logs
        self.fatal: Callable[[WolfError], None] | None = None
        self._budget = budget
        self._cassette = cassette
        self._give_up = give_up
        self._unread = Unread(give_up)
        self._gateway: Gateway | None = None
        self._addressed: dict[str, AddressedAgent] = {}
        self._ended: WolfError | None = None
        self._lock = threading.Lock()

    @property
    def gateway(self) -> Gateway:
        """The process's way to models; made on first use."""
        with self._lock:
            if self._gateway is None:
                from players.llm.gateway import Gateway

                self._gateway = Gateway(
                    budget=self._budget, cassette=self._cassette, give_up=self._give_up, fatal=self._end
                )
            return self._gateway

    def addressed(self, url: str) -> AddressedAgent:
        """Return the way to an agent at an address, which all its seats in this process share; raises ConfigError."""
        from players.http import AddressedAgent

        with self._lock:
            if url not in self._addressed:
                self._addressed[url] = AddressedAgent(url)
            return self._addressed[url]

    def note_answer(self, brain_spec: str, game: str, answer: Answer) -> None:
        """Note what a program, or an agent at an address, has answered; of one that never answered anything that could
        be used, the game ends as a model's does that is given up.
        """
        why = None if answer.content is not None else answer.note or "there is no answer"
        if (reason := self._unread.add(brain_spec, printable(brain_spec, _NAME_SHOWN), why)) is not None:
            self._end(GivenUp(reason, game))

    @property
    def accounts(self) -> Accounts | None:
        """Totals of all calls so far; None if there was no need for any."""
        return None if self._gateway is None else self._gateway.accounts

    @property
    def spent(self) -> Amount | None:
        """What is spent of the budget; None where there is none."""
        return None if self._budget is None else self._budget.spent

    @spent.setter
    def spent(self, amount: Amount) -> None:
        if self._budget is not None:
            self._budget.spent = amount

    def models_of(self, brains: Iterable[str]) -> list[Model]:
        """Return the different models that some brain specs name; raises ConfigError if one names none."""
        models = list(named_models(brains, self.models).values())
        return [model for index, model in enumerate(models) if model not in models[:index]]

    def tables_of(self, brains: Iterable[str]) -> dict[str, Model]:
        """Return the models that some brain specs name, by the ``[models.*]`` table that each has or could have."""
        from players.llm.settings import table_of

        return {table_of(name, self.models): model for name, model in named_models(brains, self.models).items()}

    def check(self, brains: Iterable[str]) -> None:
        """See that each model that `brains` name has its key, and all that its brain reads, without asking anybody.

        Raises:
            PlayerError: one has no key; one clear line.
            ConfigError: a file of ours cannot be read.
        """
        with self._hint_at_models_file(brains := tuple(brains)):
            if models := self.models_of(brains):
                from players.llm.brain import read_files

                read_files()
                self.gateway.check(models)

    def probe(self, brains: Iterable[str], patience_s: float = 0.0) -> None:
        """Ask each model that `brains` name something small; its first reply gets `patience_s` seconds at least. See
        that somebody listens at each address that they name.

        Raises:
            PlayerError: one does not answer; one clear line.
        """
        brains = tuple(brains)
        for url in addresses_of(brains):
            self.addressed(url).reach(max(patience_s, _LISTEN_S))
        with self._hint_at_models_file(brains):
            if models := self.models_of(brains):
                self.gateway.probe(models, patience_s)

    def slowest(self, brains: Iterable[str]) -> Speed | None:
        """Return how fast the slowest of the servers is that say so; None if none does."""
        if self._gateway is None:
            return None
        speeds = [speed for model in self.models_of(brains) if (speed := self._gateway.speed(model)) is not None]
        return min(speeds, key=lambda speed: speed.reply, default=None)

    def halted(self, brains: Iterable[str]) -> str | None:
        """Return one line on the first model of `brains` that can be asked no more for now; None if all can be."""
        if self._gateway is None:
            return None
        return next(filter(None, map(self._gateway.halted, self.models_of(brains))), None)

    def why_over(self, brains: Iterable[str]) -> WolfError | None:
        """Return why nobody of `brains` can be asked any more: a model of theirs halts, or nothing goes out at all, as
        where the budget is spent; None if they can be.
        """
        halted = self.halted(brains)
        return self._ended if halted is None else ModelHalted(halted)

    def is_asking(self, game: str) -> bool:
        """Return whether a model is being asked something of a game."""
        return self._gateway is not None and self._gateway.is_asking(game)

    @contextlib.contextmanager
    def _hint_at_models_file(self, brains: Sequence[str]) -> Iterator[None]:
        """Add to what is wrong with models that some names may be aliases, if no file was given that tells them."""
        try:
            yield
        except PlayerError as error:
            names = [name for name in named_models(brains, self.models) if "@" not in name]
            if self.models or not names:
                raise
            are = f"{names[0]} is an alias" if len(names) == 1 else f"{', '.join(names)} are aliases"
            hint = f"if {are}, give the models file: --config FILE.toml (see examples/models.toml)"
            raise PlayerError(f"{error}; {hint}") from error

    def settled(self, model: Model) -> Model:
        """Return a model as another process should ask it, with what was found out of its server."""
        return model if self._gateway is None else self._gateway.settled(model)

    def close(self) -> None:
        """Give up all calls, end the gateway's thread, and close the cassette."""
        if self._gateway is not None:
            self._gateway.close()
        for agent in self._addressed.values():
            agent.close()
        if self._budget is not None:
            self._budget.close()
        if self._cassette is not None:
            self._cassette.close()

    def _end(self, reason: WolfError) -> None:
        if not isinstance(reason, ModelGone):
            self._ended = reason
        if self.fatal is not None:
            self.fatal(reason)


def build(brain_spec: str, brain_context: BrainContext | None = None) -> Agent:
    """Return a new agent for one seat.

    Args:
        brain_spec: a known name, ``llm:MODEL`` or ``llm:MODEL@URL``, ``exec:COMMAND``, the address of an agent,
            ``text:module:callable``, or ``module:Class`` of an agent of your own. A module is looked for where Python
            looks, then in the current directory.
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

        return ChildBrain(
            brain_spec.removeprefix(COMMAND), brain_context.logs, partial(brain_context.note_answer, brain_spec)
        )
    if brain_spec.startswith(ADDRESS):
        from players.http import HttpBrain

        return HttpBrain(brain_context.addressed(brain_spec), partial(brain_context.note_answer, brain_spec))
    if brain_spec.startswith(TEXT):
        from players.text import TextBrain

        return TextBrain(_act_of(brain_spec))
    if brain_spec == PERSON and brain_context.people is not None:
        from players.human import PageBrain

        return PageBrain(brain_context.people)
    agent = _class_of(brain_spec)
    with _named(brain_spec, " cannot be made"):
        return agent()


def model_name(brain_spec: str, models: Mapping[str, Model]) -> str | None:
    """Return the name of the language model that a brain asks, as its server knows it; None for other brains.

    Args:
        brain_spec: as `build` takes it.
        models: language models by alias.

    Raises:
        ConfigError: the spec names no model.
    """
    return next((model.model for model in named_models([brain_spec], models).values()), None)


def check(brains: Iterable[str], brain_context: BrainContext) -> None:
    """Make each brain once and close it again, so that a mistake shows before the game.

    Raises:
        ConfigError: as `build` does, one cannot be closed, or two people would play at one terminal.
    """
    brains = list(brains)
    if brains.count(PERSON) > 1 and brain_context.people is None:
        raise ConfigError(
            "players: only one seat can be 'human' at a terminal: two people would see each other's secrets; "
            "`play --view` gives each a page of its own, as `join --human` does"
        )
    brain_context.models_of(brains)
    for brain_spec in dict.fromkeys(brain for brain in brains if not brain.startswith(MODEL)):
        agent = build(brain_spec, brain_context)
        with _named(brain_spec, " cannot be closed"):
            agent.close()


@lru_cache(maxsize=256)
def declined_by(brain_spec: str) -> tuple[Kind, ...]:
    """Return the kinds of request that this brain does not answer; nothing is made to find out.

    Raises:
        ConfigError: as `build` does for a class.
    """
    _check_name(brain_spec)
    if brain_spec.startswith((MODEL, COMMAND, *ADDRESS)):
        return ()
    if brain_spec.startswith(TEXT):
        from players.text import DECLINED

        return DECLINED
    # one of one's own may return a list, and a kind twice
    return tuple(dict.fromkeys(_class_of(brain_spec).declines()))


def command_spec(words: Sequence[str]) -> str:
    """Return the spec of what a command line names behind its options: an address, a function, or else a program."""
    if len(words) == 1 and words[0].startswith((*ADDRESS, TEXT)):
        return words[0]
    return f"{COMMAND}{shlex.join(words)}"


def _act_of(brain_spec: str) -> Callable[[str], object]:
    """Return the function of one seat; a class is made anew for each."""
    module_name, name = brain_spec.removeprefix(TEXT).split(":", 1)
    act = getattr(_import(module_name, brain_spec), name, None)
    if act is None:
        raise ConfigError(f"brain {brain_spec!r}: module {module_name!r} has no {name!r}")
    if isinstance(act, type):
        with _named(brain_spec, " cannot be made"):
            act = act()
    if not callable(act):
        raise ConfigError(f"brain {brain_spec!r}: {name!r} cannot be called")
    return cast("Callable[[str], object]", act)


def _class_of(brain_spec: str) -> type[Agent]:
    module_name, class_name = KNOWN.get(brain_spec) or brain_spec.split(":", 1)
    module = importlib.import_module(module_name) if brain_spec in KNOWN else _import(module_name, brain_spec)
    agent = getattr(module, class_name, None)
    if agent is None:
        hint = "; a class of a script or notebook plays there alone: put it in a module" * (module_name == "__main__")
        raise ConfigError(f"brain {brain_spec!r}: module {module_name!r} has no {class_name!r}{hint}")
    if not isinstance(agent, type):
        raise ConfigError(f"brain {brain_spec!r}: {class_name!r} is {with_article(type(agent).__name__)}, not a class")
    if not issubclass(agent, Agent):
        if not callable(getattr(agent, "answer", None)):
            raise ConfigError(f"brain {brain_spec!r}: {class_name!r} is no subclass of wolfbus.agent.Agent")
        # a class that answers for all kinds needs nothing else to be an agent
        agent = type(agent.__name__, (agent, Agent), {})
    _check_declines(agent, brain_spec)
    return agent


def _check_declines(agent: type[Agent], brain_spec: str) -> None:
    if not callable(agent.declines):
        raise ConfigError(f"brain {brain_spec!r}: declines is a class method, not {agent.declines!r:.60}")
    with _named(brain_spec, ": declines is a class method, and failed"):
        declines: object = agent.declines()
    if isinstance(declines, str) or not isinstance(declines, tuple | list):
        raise ConfigError(f"brain {brain_spec!r}: declines returns a tuple of kinds, not {declines!r:.60}")
    for kind in declines:
        if kind not in KINDS:
            raise ConfigError(f"brain {brain_spec!r}: declines {kind!r:.60}, which is no kind of {', '.join(KINDS)}")


def _import(module_name: str, brain_spec: str) -> ModuleType:
    try:
        return import_user_module(module_name)
    except ModuleNotFoundError as error:
        if not is_missing(module_name, error):
            missing = f"module {module_name!r} needs {error.name!r}, which is not installed"
            raise ConfigError(f"brain {brain_spec!r}: {missing}") from error
        raise ConfigError(
            f"brain {brain_spec!r}: no module {error.name!r}, neither installed nor in {Path.cwd()}; {_CHOICES}"
        ) from error
    except (Exception, SystemExit) as error:
        raise ConfigError(f"brain {brain_spec!r}: importing {module_name!r} failed: {error_in_words(error)}") from error


@contextlib.contextmanager
def _named(brain_spec: str, failure: str) -> Iterator[None]:
    """Say of which brain it is, and what has failed, whatever code of a user's raises."""
    try:
        yield
    except (Exception, SystemExit) as error:
        raise ConfigError(f"brain {brain_spec!r}{failure}: {error_in_words(error)}") from error
