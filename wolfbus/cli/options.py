"""Options that several commands take, each declared once: what their values may be, what a config file says, how models
are called and where pages are served.
"""

from __future__ import annotations

import difflib
import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeVar

import click
from pydantic import ValidationError

from wolfbus.config import Deadlines, GameConfig, config_from_table, read_toml_file
from wolfbus.errors import ConfigError
from wolfbus.messages.base import ID_PATTERN
from wolfbus.service.lifecycle import DEFAULT_BUS, DEFAULT_HOUSE, LOOPBACK, Place

if TYPE_CHECKING:
    from players.llm.settings import Model


_Command = TypeVar("_Command", bound=Callable[..., Any])
T = TypeVar("T")

TITLE_LONGEST: Final = 200
"""Characters of a game's title."""
GIVE_UP: Final = 30
"""Replies in a row that could not be read, and none before, after which a model is given up."""

LOG_STYLES: Final = ("auto", "json", "text")
_TABLES: Final = ("players", "models", "endpoints", "agents")


# -- values


def checked(read: Callable[[str], T]) -> Callable[[click.Context, click.Parameter, str | None], T | None]:
    """Return an option's callback that gives what `read` makes of a value; its ValueErrors are usage errors."""

    def callback(_context: click.Context, _option: click.Parameter, text: str | None) -> T | None:
        try:
            return None if text is None else read(text)
        except ValueError as error:
            raise click.BadParameter(str(error)) from None

    return callback


@checked
def duration(text: str) -> float:
    """Return the seconds of a time in words, ``90``, ``90s``, ``10m`` or ``2h``, above 0."""
    found = re.fullmatch(r"(\d{1,6}(?:\.\d{1,3})?)([smh]?)", text)
    if found is None or float(found[1]) == 0:
        raise ValueError(f"{text!r}: write 90s, 10m or 2h")
    return float(found[1]) * {"": 1, "s": 1, "m": 60, "h": 3600}[found[2]]


@checked
def title(text: str) -> str:
    """Return what people call a game: one line that a record takes."""
    line = text.strip()
    if not line or len(line) > TITLE_LONGEST or not line.isprintable():
        raise ValueError(f"a title is one line of at most {TITLE_LONGEST} characters")
    return line


def read_name(text: str) -> str:
    """Return a name that can stand in the names of streams and files; raises ValueError."""
    if re.fullmatch(ID_PATTERN, text) is None:
        told = "1 to 64 letters, digits, dots, dashes and underscores, a letter or digit first"
        raise ValueError(f"{text!r:.80}: {told}")
    return text


stream_name = checked(read_name)
"""Callback of an option that names a house, an agenda or a game."""


def read_shared_bus(text: str) -> str:
    """Return the address of a bus where processes meet; raises ValueError."""
    if text.startswith("memory:"):
        told = "memory:// ends where its process ends, so nobody else can be there; name a Redis"
        raise ValueError(f"{told}, as in {DEFAULT_BUS}")
    return text


shared_bus = checked(read_shared_bus)
"""Callback of an option that names such a bus."""


@checked
def bus_address(text: str) -> str:
    """Return the address of any bus, once it can be understood; what cannot be raises ConfigError."""
    from wolfbus.bus.url import read_address

    if text != "memory://":
        read_address(text)
    return text


@checked
def _storable(text: str) -> str:
    try:
        text.encode()
    except UnicodeEncodeError:
        raise ValueError("not text that UTF-8 can hold") from None
    return text


class Share(click.FloatRange):
    """A number from 0 to 1."""

    name = "number from 0 to 1"

    def __init__(self) -> None:
        super().__init__(0, 1)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """Return the number, which NaN is none."""
        number: float = super().convert(value, param, ctx)
        if math.isnan(number):
            self.fail("not a number", param, ctx)
        return number


def with_patience(config: GameConfig, seconds: float | None) -> GameConfig:
    """Return rules under which every request waits so many seconds; the same rules for None.

    Raises:
        click.BadParameter: longer than deadlines may be.
    """
    if seconds is None:
        return config
    try:
        deadlines = Deadlines(**dict.fromkeys(Deadlines.model_fields, seconds))
    except ValidationError as error:
        raise click.BadParameter(error.errors()[0]["msg"], param_hint="--patience") from None
    return config.model_copy(update={"deadlines": deadlines})


# -- the config file


@dataclass(frozen=True, slots=True)
class Loaded:
    """What a config file says.

    Attributes:
        config: the rules.
        players: a spec, or a brain per seat; None where the file does not say.
        models: language models by alias.
    """

    config: GameConfig
    players: str | tuple[str, ...] | None
    models: Mapping[str, Model]

    def brains(self, players: str | None, expand: Callable[[str, int], tuple[str, ...]]) -> tuple[str, ...]:
        """Return the brain of every seat: by `players` where somebody named them, else as the file says.

        Args:
            players: a spec; None for none.
            expand: reads a spec for so many seats.
        """
        chosen = players if players is not None else self.players if self.players is not None else "scripted"
        return expand(chosen, self.config.seats) if isinstance(chosen, str) else chosen


def load_config(path: Path | None) -> Loaded:
    """Return what a TOML file says; the default rules without a file.

    The file holds the fields of `GameConfig` at its top level, a ``[deadlines]`` table, ``players``: one spec such as
    ``"scripted*6,random*2"``, a list of one brain per seat, or a table of seat name to brain (then ``names`` must be
    given; ``default`` is for the rest), and ``[models.*]`` and ``[endpoints.*]`` tables. An ``[agents]``
    table is left alone.

    Raises:
        ConfigError: one line that names the file, the field and the reason.
    """
    if path is None:
        return Loaded(GameConfig(), None, {})
    table = read_toml_file(path)
    players = table.pop("players", None)
    if isinstance(table.get("agents"), dict):
        del table["agents"]
    tables: dict[str, Any] = {name: table.pop(name) for name in ("models", "endpoints") if name in table}
    models: Mapping[str, Model] = {}
    if tables:
        from players.llm.settings import models_from_tables

        models = models_from_tables(tables, str(path))
    for name in table:
        # a table that is not ours is most likely one of these
        if name not in GameConfig.model_fields and (
            close := difflib.get_close_matches(name, _TABLES, n=1, cutoff=0.75)
        ):
            raise ConfigError(f"{path}: {name}: no such field; did you mean {close[0]!r}?")
    config = config_from_table(table, str(path))
    return Loaded(config, None if players is None else _players(players, config, str(path)), models)


def _players(players: Any, config: GameConfig, source: str) -> str | tuple[str, ...]:
    if isinstance(players, str):
        return players
    if isinstance(players, list | dict):
        brains = players if isinstance(players, list) else players.values()
        if all(isinstance(brain, str) for brain in brains):
            return brains_of_seats(players, config, source)
    raise ConfigError(f"{source}: players: a spec, a list of brains, or a table of seat name to brain")


def brains_of_seats(
    players: Sequence[str] | Mapping[str, str], config: GameConfig, source: str, where: str = ""
) -> tuple[str, ...]:
    """Return the brain of every seat, from a list of them or a table of seat name to brain.

    Args:
        players: the list, or the table, whose ``default`` is for whom it does not name.
        config: the rules.
        source: where they stand.
        where: what to say of the place in it where the rules have their ``names``.

    Raises:
        ConfigError: one line that names the source and the seats.
    """
    if not isinstance(players, Mapping):
        if len(players) != config.seats:
            raise ConfigError(f"{source}: players: {len(players)} brains for {config.seats} seats")
        return tuple(players)
    if config.names is None:
        raise ConfigError(f"{source}: players by name need `names`{where}, in seating order")
    rest = players.get("default")
    if stranger := next((name for name in players if name not in {*config.names, "default"}), None):
        raise ConfigError(f"{source}: players: {stranger!r} is not among the names")
    if rest is None and (nobody := [name for name in config.names if name not in players]):
        raise ConfigError(f"{source}: players: nobody plays {', '.join(nobody)}; name a brain, or a `default`")
    return tuple(players.get(name, rest or "") for name in config.names)


# -- options


def refuse(*rules: tuple[object, str]) -> None:
    """Raise a usage error for the first of some rules, each what is wrong if it holds, that does."""
    for wrong, why in rules:
        if wrong:
            raise click.UsageError(why)


def together(*options: Callable[[_Command], _Command]) -> Callable[[_Command], _Command]:
    """Return what gives a command several options, in the order in which its help tells them."""

    def decorate(command: _Command) -> _Command:
        for option in reversed(options):
            command = option(command)
        return command

    return decorate


def seconds_option(*names: str, least: float = 0, **more: Any) -> Callable[[_Command], _Command]:
    """Return an option of a time in seconds, which tells its default where it has one."""
    return click.option(*names, type=click.FloatRange(least), show_default="default" in more, metavar="SECONDS", **more)


def taking_away(flag: str, trait: str, meaning: str) -> Callable[[_Command], _Command]:
    """Return a flag that takes something away that there is otherwise."""
    return click.option(flag, trait, is_flag=True, callback=lambda _context, _option, given: not given, help=meaning)


def config_option(meaning: str) -> Callable[[_Command], _Command]:
    """Return --config as ``config_file``, for `load_config`."""
    return click.option("--config", "config_file", type=click.Path(path_type=Path), metavar="FILE.toml", help=meaning)


def seed_option(meaning: str) -> Callable[[_Command], _Command]:
    """Return --seed, which is what a record can hold."""
    return click.option("--seed", callback=_storable, help=meaning)


json_option = click.option("--json", "as_json", is_flag=True, help="Print one JSON object on stdout and nothing else.")

bus_option = click.option(
    "--bus",
    "url",
    envvar=["WOLFBUS_BUS", "REDIS_URL"],
    default=DEFAULT_BUS,
    show_default=True,
    callback=shared_bus,
    help="redis://HOST:PORT/DB, rediss://…, unix:///PATH or redis+cluster://HOST:PORT. Also from REDIS_URL.",
)

service_address = together(
    bus_option,
    click.option(
        "--house",
        envvar="WOLFBUS_HOUSE",
        default=DEFAULT_HOUSE,
        show_default=True,
        callback=stream_name,
        help="The house: a moderator and its agents; one Redis may hold several.",
    ),
)
"""Where a house is: ``url`` and ``house``."""


@checked
def _health(text: str) -> Place | None:
    """Return host and port of ``PORT``, ``HOST:PORT`` or ``[IPV6]:PORT``; None for nothing."""
    host, colon, port = text.strip().rpartition(":")
    host = host.removeprefix("[").removesuffix("]") if colon else LOOPBACK
    if not text:
        return None
    if not host or re.fullmatch("[0-9]{1,5}", port) is None or int(port) > 65535:
        raise ValueError(f"{text!r:.80} is no [HOST:]PORT")
    return host, int(port)


service_options = together(
    service_address,
    click.option(
        "--health",
        envvar="WOLFBUS_HEALTH",
        metavar="[HOST:]PORT",
        callback=_health,
        help="Answer GET /health on this port; on 127.0.0.1 unless a host is given. Not served by default.",
    ),
    click.option(
        "--log",
        envvar="WOLFBUS_LOG",
        type=click.Choice(LOG_STYLES),
        default="auto",
        show_default=True,
        help="How log lines look on stderr; auto: text in a terminal, else JSON.",
    ),
)
"""What every service takes: where its house is, ``health`` (host and port, or None) and ``log``."""

page_options = together(
    click.option(
        "--port", type=click.IntRange(0, 65535), default=8765, show_default=True, help="Port of the page; 0 for any."
    ),
    click.option("--host", default="127.0.0.1", show_default=True, help="Address on which the page is served."),
)
"""``host`` and ``port`` of a page."""

view_options = together(
    click.option("--view", is_flag=True, help="Show it on a page as it happens, until Ctrl-C."), page_options
)


def _not_below_zero(_context: click.Context, option: click.Parameter, value: float | None) -> float | None:
    if value is not None and not value >= 0:
        raise click.BadParameter(f"{value} is below 0", param=option)
    return value


model_options = together(
    click.option(
        "--budget", type=float, callback=_not_below_zero, metavar="USD", help="Stop before model calls cost more."
    ),
    click.option(
        "--budget-tokens", type=int, callback=_not_below_zero, metavar="N", help="Stop before calls use more tokens."
    ),
    click.option(
        "--cassette",
        type=click.Path(path_type=Path),
        metavar="DIR",
        help="Keep model replies in DIR, and do not ask again what it answers.",
    ),
    click.option(
        "--replay-cassette",
        type=click.Path(path_type=Path),
        metavar="DIR",
        help="Take model replies from DIR instead of calling.",
    ),
    click.option(
        "--give-up",
        type=click.IntRange(0),
        default=GIVE_UP,
        show_default=True,
        metavar="N",
        help="End a game of a model whose first N replies in a row cannot be read; 0 plays on.",
    ),
    click.option(
        "--probe/--no-probe", default=True, help="Ask each model something small before the game. [default: probe]"
    ),
)
"""How language models are called; they come as keywords, fit for `wolfbus.cli.brains.open_brain_context`."""
