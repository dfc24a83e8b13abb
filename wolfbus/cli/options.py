"""Options that several commands take, each declared once: what their values may be, how models are called and where
pages are served.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final, TypeVar

import click
from pydantic import ValidationError

from wolfbus.game.config import GIVE_UP, Deadlines, GameConfig
from wolfbus.game.fresh import seed_of
from wolfbus.messages.base import HOUSE_PATTERN, ID_PATTERN
from wolfbus.service.lifecycle import DEFAULT_BUS, DEFAULT_HOUSE, LOOPBACK, Place, read_shared_bus

_Command = TypeVar("_Command", bound=Callable[..., Any])
T = TypeVar("T")

TITLE_LONGEST: Final = 200
"""Characters of a game's title."""

LONGEST_S: Final = 1_000_000_000
"""Seconds of the longest time that an option takes; ten times as many are more than an operating system waits."""

LOG_STYLES: Final = ("auto", "json", "text")

PATH: Final = click.Path(path_type=Path)
FILE: Final = click.Path(path_type=Path, dir_okay=False)
FOLDER: Final = click.Path(path_type=Path, file_okay=False)


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
    match = re.fullmatch(r"(\d{1,6}(?:\.\d{1,3})?)([smh]?)", text)
    if match is None or float(match[1]) == 0:
        raise ValueError(f"{text!r}: write 90s, 10m or 2h")
    return float(match[1]) * {"": 1, "s": 1, "m": 60, "h": 3600}[match[2]]


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
        form = "1 to 64 letters, digits, dots, dashes and underscores, a letter or digit first"
        raise ValueError(f"{text!r:.80}: {form}")
    return text


stream_name = checked(read_name)
"""Callback of an option that names an agenda or a game."""


@checked
def house_name(text: str) -> str:
    """Return the name of a house, which may be one of a worker's."""
    return text if re.fullmatch(HOUSE_PATTERN, text) else read_name(text)


shared_bus = checked(read_shared_bus)
"""Callback of an option that names such a bus."""


@checked
def bus_address(text: str) -> str:
    """Return the address of any bus, once it can be understood; what cannot be raises ConfigError."""
    from wolfbus.bus.url import read_address

    if text != "memory://":
        read_address(text)
    return text


class Number(click.FloatRange):
    """A number in a range; NaN is in none."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """Return the number."""
        number: float = super().convert(value, param, ctx)
        if math.isnan(number):
            self.fail(f"{value} is not a number", param, ctx)
        return number


class Seconds(Number):
    """A time that clocks and timers can take."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """Return the number."""
        seconds = super().convert(value, param, ctx)
        if seconds > LONGEST_S:
            self.fail(f"{value} is no number of seconds up to {LONGEST_S:,}", param, ctx)
        return seconds


class Share(Number):
    """A number from 0 to 1."""

    name = "number from 0 to 1"

    def __init__(self) -> None:
        super().__init__(0, 1)


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


# -- options


def refuse(*rules: tuple[object, str]) -> None:
    """Raise a usage error for the first rule that is broken; each is whether it is, and the message."""
    for is_broken, message in rules:
        if is_broken:
            raise click.UsageError(message)


def option_group(*options: Callable[[_Command], _Command]) -> Callable[[_Command], _Command]:
    """Return a decorator that gives a command several options, in the order of its help."""

    def decorate(command: _Command) -> _Command:
        for option in reversed(options):
            command = option(command)
        return command

    return decorate


def seconds_option(*names: str, minimum: float = 0, **settings: Any) -> Callable[[_Command], _Command]:
    """Return an option of a time in seconds, whose help shows its default where it has one."""
    has_default = "default" in settings
    return click.option(*names, type=Seconds(minimum), show_default=has_default, metavar="SECONDS", **settings)


def negated_flag(flag: str, name: str, meaning: str) -> Callable[[_Command], _Command]:
    """Return a flag that sets the argument `name` to False, which is True without it."""
    return click.option(flag, name, is_flag=True, callback=lambda _context, _option, is_set: not is_set, help=meaning)


def config_option(meaning: str) -> Callable[[_Command], _Command]:
    """Return --config as ``config_file``, for `load_config`."""
    return click.option("--config", "config_file", type=PATH, metavar="FILE.toml", help=meaning)


def seed_option(meaning: str) -> Callable[[_Command], _Command]:
    """Return --seed, which is what a record can hold."""
    return click.option("--seed", callback=checked(seed_of), help=meaning)


json_option = click.option("--json", "as_json", is_flag=True, help="Print one JSON object on stdout and nothing else.")

processes_option = click.option(
    "--workers",
    type=click.IntRange(1, 256),
    help="Processes that play; several need a Redis server installed. [default: this one; one a core for many games of "
    "scripted players]",
)


def bus_given(meaning: str, default: str = DEFAULT_BUS, **settings: Any) -> Callable[[_Command], _Command]:
    """Return --bus, which the environment may give too."""
    settings = {"envvar": ["WOLFBUS_BUS", "REDIS_URL"], "default": default, "show_default": True, **settings}
    return click.option("--bus", "url", help=meaning, **settings)


BUSES: Final = "redis://HOST:PORT/DB, rediss://…, unix:///PATH or redis+cluster://HOST:PORT. Also from REDIS_URL."
"""Addresses that --bus takes, where another process can reach them."""

bus_option = bus_given(BUSES, callback=shared_bus)


def house_option(meaning: str) -> Callable[[_Command], _Command]:
    """Return --house, the name of one that is there or is to be."""
    settings: dict[str, Any] = {"envvar": "WOLFBUS_HOUSE", "default": DEFAULT_HOUSE, "show_default": True}
    return click.option("--house", callback=house_name, help=meaning, **settings)


service_address = option_group(
    bus_option, house_option("The house: a moderator and its agents; one Redis may hold several.")
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


service_options = option_group(
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

page_options = option_group(
    click.option(
        "--port", type=click.IntRange(0, 65535), default=8765, show_default=True, help="Port of the page; 0 for any."
    ),
    click.option("--host", default="127.0.0.1", show_default=True, help="Address on which the page is served."),
)
"""``host`` and ``port`` of a page."""

private_thoughts_option = click.option(
    "--private-thoughts",
    is_flag=True,
    help="Leave what people at a page write down as their thoughts out of pages and exports; the record holds it.",
)

view_options = option_group(
    click.option("--view", is_flag=True, help="Show it on a page as it happens, until Ctrl-C."), page_options
)


model_options = option_group(
    click.option("--budget", type=Number(0), metavar="USD", help="Stop before model calls cost more."),
    click.option("--budget-tokens", type=click.IntRange(0), metavar="N", help="Stop before calls use more tokens."),
    click.option(
        "--cassette", type=PATH, metavar="DIR", help="Keep model replies in DIR, and do not ask again what it answers."
    ),
    click.option("--replay-cassette", type=PATH, metavar="DIR", help="Take model replies from DIR instead of calling."),
    click.option(
        "--give-up",
        type=click.IntRange(0),
        default=GIVE_UP,
        show_default=True,
        metavar="N",
        help="End a game of a model, program or address whose first N replies in a row are missing or cannot be read; "
        "0 plays on.",
    ),
    click.option(
        "--probe/--no-probe",
        default=True,
        help="Ask each model something small before the game, and see that each address listens. [default: probe]",
    ),
)
"""How language models are called; they come as keywords, fit for `wolfbus.running.brains.open_brain_context`."""
