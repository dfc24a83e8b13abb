"""Options that every service takes, under the same names."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, Final, TypeVar

import click

from wolfbus.messages.base import ID_PATTERN
from wolfbus.service.lifecycle import LOOPBACK, Place

_Command = TypeVar("_Command", bound=Callable[..., Any])

DEFAULT_BUS: Final = "redis://127.0.0.1:6379"
DEFAULT_HOUSE: Final = "main"
LOG_STYLES: Final = ("auto", "json", "text")


def service_options(command: _Command) -> _Command:
    """Add what every service takes: ``url`` (--bus), ``house``, ``health`` (host and port, or None) and ``log``."""
    command = click.option(
        "--log",
        envvar="WOLFBUS_LOG",
        type=click.Choice(LOG_STYLES),
        default="auto",
        show_default=True,
        help="How log lines look on stderr; auto: text in a terminal, else JSON.",
    )(command)
    command = click.option(
        "--health",
        envvar="WOLFBUS_HEALTH",
        metavar="[HOST:]PORT",
        callback=_health,
        help="Answer GET /health on this port; on 127.0.0.1 unless a host is given. Not served by default.",
    )(command)
    return service_address(command)


def service_address(command: _Command) -> _Command:
    """Add where a house is: ``url`` (--bus) and ``house``."""
    command = click.option(
        "--house",
        envvar="WOLFBUS_HOUSE",
        default=DEFAULT_HOUSE,
        show_default=True,
        callback=lambda _context, _option, house: check_house(house),
        help="The house: a moderator and its agents; one Redis may hold several.",
    )(command)
    return click.option(
        "--bus",
        "url",
        envvar=["WOLFBUS_BUS", "REDIS_URL"],
        default=DEFAULT_BUS,
        show_default=True,
        callback=_bus,
        help="redis://HOST:PORT/DB, rediss://…, unix:///PATH or redis+cluster://HOST:PORT. Also from REDIS_URL.",
    )(command)


def check_house(house: str) -> str:
    """Return a house's name that can stand in stream names; raises a usage error otherwise."""
    return _check_id(house, "--house")


def check_name(name: str) -> str:
    """Return an agent's name that can stand in stream names; raises a usage error otherwise."""
    return _check_id(name, "'--name'")


def _check_id(name: str, option: str) -> str:
    if re.fullmatch(ID_PATTERN, name) is None:
        raise click.BadParameter(
            f"{name!r:.80}: 1 to 64 letters, digits, dots, dashes and underscores, a letter or digit first",
            param_hint=option,
        )
    return name


def _health(_context: click.Context, _option: click.Parameter, text: str | None) -> Place | None:
    """Return host and port of ``PORT``, ``HOST:PORT`` or ``[IPV6]:PORT``."""
    if not text:
        return None
    host, colon, port = text.strip().rpartition(":")
    host = host.removeprefix("[").removesuffix("]") if colon else LOOPBACK
    if not host or re.fullmatch("[0-9]{1,5}", port) is None or int(port) > 65535:
        raise click.BadParameter(f"{text!r:.80} is no [HOST:]PORT", param_hint="--health")
    return host, int(port)


def _bus(_context: click.Context, _option: click.Parameter, url: str) -> str:
    if url.startswith("memory:"):
        raise click.BadParameter(
            "memory:// ends where its process ends; services meet on a Redis, as in redis://127.0.0.1:6379",
            param_hint="--bus",
        )
    return url
