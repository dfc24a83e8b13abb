"""`wolfbus player` and `wolfbus join`: an agent process, whose brains are ours or any program that speaks the line
protocol.
"""

from __future__ import annotations

import contextlib
import logging
import shlex
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from wolfbus import __version__
from wolfbus.cli.brains import model_options, open_brain_context
from wolfbus.cli.options import load_config
from wolfbus.cli.viewing import PageAddress, page_options, people_of, stay
from wolfbus.service.options import check_name, service_options
from wolfbus.vocabulary import KINDS, Kind

if TYPE_CHECKING:
    from players.context import BrainContext
    from players.service import PlayerSettings
    from wolfbus.service.lifecycle import Place
    from wolfbus.service.logs import LogStyle
    from wolfbus.stage.people import People

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


@click.command(context_settings={"allow_interspersed_args": False})
@service_options
@agent_options
@click.option(
    "--label",
    metavar="TEXT",
    help="What records call it: outside:TEXT. Agents of one label are counted together. [default: its name]",
)
@click.option(
    "--declines",
    type=click.Choice(KINDS),
    multiple=True,
    metavar="KIND",
    help="A kind of request it does not answer, and is not asked. May be repeated.",
)
@click.option("--human", is_flag=True, help="Play yourself, at a page; each seat gets a link of its own.")
@page_options
@click.argument("command", nargs=-1, metavar="[-- COMMAND [ARGS]...]")
def join(
    url: str,
    house: str,
    health: Place | None,
    log: LogStyle,
    name: str | None,
    seats: int | None,
    places: tuple[int, ...],
    label: str | None,
    declines: tuple[Kind, ...],
    command: tuple[str, ...],
    port: int,
    host: str,
    *,
    once: bool,
    grace: float,
    human: bool,
) -> int:
    """Let a program that speaks the line protocol (docs/line-protocol.md) play in a house.

    COMMAND is started once for each seat of each game. To the house it is an outside agent: it gets no seed, and what
    is recorded of it is its label, not its command line.

    \b
    wolfbus join --house main --seats 2 -- python3 examples/agent.py
    wolfbus join --house main --human
    """  # noqa: D301 - click takes the backspace for "keep these lines"
    from players.context import BrainContext
    from players.service import PlayerSettings
    from players.spec import check
    from wolfbus.agent.introduction import Introduction
    from wolfbus.agent.membership import Membership, default_name

    if human == bool(command):
        raise click.UsageError("give either --human or the command of a program")
    name = name or default_name()
    brain = "human" if human else f"exec:{shlex.join(command)}"
    introduction = Introduction(
        name,
        f"outside:{label or name}",
        f"wolfbus join {__version__}",
        seats or len(set(places)) or 1,
        tuple(sorted(set(places))),
        declines=tuple(dict.fromkeys(declines)),
    )
    settings = PlayerSettings(Membership(url, house, introduction, once=once, grace_s=grace), brain)
    with contextlib.ExitStack() as around:
        people = around.enter_context(_page(PageAddress(host, port))) if human else None
        brain_context = around.enter_context(BrainContext(people=people))
        check((brain,), brain_context)
        return run(settings, brain_context, health, log, quiet=human)


@contextlib.contextmanager
def _page(at: PageAddress) -> Iterator[People]:
    """Serve the pages of persons who play."""
    from wolfbus.stage.library import Library
    from wolfbus.stage.serving import Served, StageServer

    people = people_of(lambda: server.url)
    with StageServer(Served([], Library(None, seats=people.open), people=people), at.host, at.port) as server:
        click.echo(f"wolfbus: waiting for a seat; its link will stand here ({server.url})", err=True)
        yield people
        # the person looks at the end of the game
        stay(server)
