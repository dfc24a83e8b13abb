"""`wolfbus join`: any program that speaks the line protocol takes seats in a house, as an agent of its own."""

from __future__ import annotations

import contextlib
import shlex
from collections.abc import Iterator
from typing import TYPE_CHECKING

import click

from wolfbus import __version__
from wolfbus.cli.player import agent_options, run
from wolfbus.cli.viewing import PageAddress, page_options, people_of, stay
from wolfbus.service.options import service_options
from wolfbus.vocabulary import KINDS, Kind

if TYPE_CHECKING:
    from wolfbus.service.lifecycle import Place
    from wolfbus.service.logs import LogStyle
    from wolfbus.stage.people import People


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
