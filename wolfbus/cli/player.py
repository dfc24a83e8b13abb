"""`wolfbus player`: an agent process whose brains are ours."""

from __future__ import annotations

import contextlib
import logging
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from wolfbus import __version__
from wolfbus.cli.calling import model_options, open_brain_context
from wolfbus.cli.options import load_config
from wolfbus.service.options import check_name, service_options

if TYPE_CHECKING:
    from players.context import BrainContext
    from players.service import PlayerSettings
    from wolfbus.service.lifecycle import Place
    from wolfbus.service.logs import LogStyle

_Command = TypeVar("_Command", bound=Callable[..., Any])


def _agent_name(_context: click.Context, _option: click.Parameter, name: str | None) -> str | None:
    return None if name is None else check_name(name)


def agent_options(command: _Command) -> _Command:
    """Add what every agent process takes beside the options of services: ``name``, ``seats``, ``places``, ``once`` and
    ``grace``.
    """
    for option in (
        click.option(
            "--grace",
            type=click.FloatRange(0),
            default=8.0,
            show_default=True,
            metavar="SECONDS",
            help="How long to play games under way on after SIGTERM.",
        ),
        click.option("--once", is_flag=True, help="Leave after the first game."),
        click.option(
            "--place",
            "places",
            type=click.IntRange(1, 16),
            multiple=True,
            metavar="I",
            help="Ask for seat I, from 1 in seating order, and take no other. May be repeated.",
        ),
        click.option(
            "--seats",
            type=click.IntRange(1, 100_000),
            help="Seats to play at a time, over all games. [default: 1, or as many as places]",
        ),
        click.option(
            "--name",
            envvar="WOLFBUS_NAME",
            callback=_agent_name,
            help="Name of this agent, unique in the house. [default: HOST-PID]",
        ),
    ):
        command = option(command)
    return command


@click.command()
@service_options
@agent_options
@click.option(
    "--brain",
    envvar="WOLFBUS_BRAIN",
    default="scripted",
    show_default=True,
    help="What answers: scripted, random, silent, llm:MODEL, llm:MODEL@URL, human, exec:COMMAND or module:Class.",
)
@click.option(
    "--config",
    "config_file",
    type=click.Path(path_type=Path),
    metavar="FILE.toml",
    help="Models and endpoints; the rules are the moderator's.",
)
@model_options
def player(
    url: str,
    house: str,
    health: Place | None,
    log: LogStyle,
    name: str | None,
    seats: int | None,
    places: tuple[int, ...],
    brain: str,
    config_file: Path | None,
    *,
    once: bool,
    grace: float,
    **calls: Any,
) -> int:
    """Play seats in a house as a process of its own.

    It joins the house, plays what seats the moderator gives it, game after game, and leaves when the house closes.
    After a restart it is caught up and plays on. On SIGTERM it takes no new games, plays those under way for up to
    --grace seconds, and exits 0.
    """
    from players.service import PlayerSettings
    from players.spec import declined_by, model_name
    from wolfbus.agent.introduction import Introduction
    from wolfbus.agent.membership import Membership, default_name

    name = name or default_name()
    seats = seats or len(set(places)) or 1
    declines = declined_by(brain)
    # with one terminal there is one person: two would be refused by the check of all brains
    checked = (brain,) * min(seats, 2)
    models = load_config(config_file).models
    introduction = Introduction(
        name,
        brain,
        f"wolfbus {__version__}",
        seats,
        tuple(sorted(set(places))),
        in_house=True,
        declines=declines,
        model=model_name(brain, models),
    )
    settings = PlayerSettings(Membership(url, house, introduction, once=once, grace_s=grace), brain)
    with open_brain_context(checked, models, **calls) as brain_context:
        return run(settings, brain_context, health, log, quiet=brain == "human")


def run(
    settings: PlayerSettings, brain_context: BrainContext, health: Place | None, log: LogStyle, *, quiet: bool = False
) -> int:
    """Run a player service with logs, health and a graceful stop.

    Args:
        settings: what to play with.
        brain_context: what the brains share.
        health: where to serve health, None for nowhere.
        log: how log lines look.
        quiet: log warnings only: somebody plays at this terminal.
    """
    from players.service import serve
    from wolfbus.service.lifecycle import Health, Stopping
    from wolfbus.service.logs import configure_logs

    stay = settings.membership
    configure_logs(log, service="player", house=stay.house, agent=stay.introduction.name)
    if quiet:
        logging.getLogger().setLevel(max(logging.WARNING, logging.getLogger().level))
    # whatever a brain prints is not a result
    with contextlib.redirect_stdout(sys.stderr), Stopping() as stopping, Health(health) as told:
        return serve(settings, brain_context, stopping, told)
