"""`wolfbus player` and `wolfbus join`: an agent process, whose brains are ours or any program that speaks the line
protocol.
"""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from wolfbus import __version__
from wolfbus.cli.options import (
    config_option,
    model_options,
    option_group,
    page_options,
    private_thoughts_option,
    seconds_option,
    service_options,
    stream_name,
)
from wolfbus.cli.view import announced_people, page_server
from wolfbus.errors import WolfError
from wolfbus.game.vocabulary import KINDS, Kind
from wolfbus.running.brains import load_config, open_brain_context, quiet_brains

if TYPE_CHECKING:
    from players.spec import BrainContext
    from wolfbus.agent.membership import Membership
    from wolfbus.service.lifecycle import Place, Stopping
    from wolfbus.service.logs import LogStyle
    from wolfbus.stage.people import People


def _agent_name(context: click.Context, option: click.Parameter, name: str | None) -> str:
    from wolfbus.agent.membership import default_name

    return stream_name(context, option, name) or default_name()


agent_options = option_group(
    click.option(
        "--name",
        envvar="WOLFBUS_NAME",
        callback=_agent_name,
        help="Name of this agent, unique in the house. [default: HOST-SUM-N, and the same again after a restart]",
    ),
    click.option(
        "--seats",
        type=click.IntRange(1, 100_000),
        help="Seats to play at a time, over all games. [default: 1, or as many as places]",
    ),
    click.option(
        "--place",
        "places",
        type=click.IntRange(1, 16),
        multiple=True,
        metavar="I",
        help="Ask for seat I, from 1 in seating order, and take no other. May be repeated.",
    ),
    click.option("--once", is_flag=True, help="Leave after the first game."),
    seconds_option("--grace", "grace_s", default=8.0, help="How long to play games under way on after SIGTERM."),
)
"""Options of every agent process, besides those of services."""
_AGENT: Final = ("url", "house", "name", "seats", "places", "once", "grace_s")


@click.command()
@service_options
@agent_options
@click.option(
    "--brain",
    envvar="WOLFBUS_BRAIN",
    default="scripted",
    show_default=True,
    help="What answers: scripted, bayes, random, silent, llm:MODEL, llm:MODEL@URL, human, exec:COMMAND, "
    "http(s)://…, text:module:callable or module:Class.",
)
@config_option("Models and endpoints; the rules are the moderator's.")
@model_options
def player(health: Place | None, log: LogStyle, brain: str, config_file: Path | None, **options: Any) -> int:
    """Play seats in a house as a process of its own.

    It joins the house, plays what seats the moderator gives it, game after game, and leaves when the house closes.
    After a restart it is caught up and plays on. On SIGTERM it takes no new games, plays those under way for up to
    --grace seconds, and exits 0.
    """
    from players.spec import declined_by, model_name
    from wolfbus.service.lifecycle import Stopping

    models = load_config(config_file).models
    agent = {name: options.pop(name) for name in _AGENT}
    fields = {"in_house": True, "model": model_name(brain, models), "version": f"wolfbus {__version__}"}
    membership = _membership(agent, brain=brain, declines=declined_by(brain), **fields)
    # with one terminal there is one person: two would be refused by the check of all brains
    brains = (brain,) * min(membership.introduction.seats, 2)
    with contextlib.ExitStack() as stack:
        try:
            brain_context = stack.enter_context(open_brain_context(brains, models, **options))
        except WolfError as error:
            _configure_logs(log, membership)
            membership.decline(str(error))
            raise
        stopping = stack.enter_context(Stopping())
        return run(membership, brain, brain_context, stopping, health, log)


def _membership(agent: Mapping[str, Any], *, declines: Sequence[Kind], **fields: Any) -> Membership:
    """Return which house an agent joins, and how it introduces itself.

    Args:
        agent: the options of agents and the house's address.
        declines: kinds of request it does not answer.
        fields: more fields of `wolfbus.messages.house.Join`.
    """
    from wolfbus.agent.membership import Membership, introduce

    places = tuple(sorted(set(agent["places"])))
    seats = agent["seats"] or len(places) or 1
    kinds = tuple(dict.fromkeys(declines))
    introduction = introduce(agent["name"], seats=seats, places=places, declines=kinds, **fields)
    return Membership(introduction=introduction, **{name: agent[name] for name in ("url", "house", "once", "grace_s")})


def run(
    membership: Membership,
    brain: str,
    brain_context: BrainContext,
    stopping: Stopping,
    health: Place | None,
    log: LogStyle,
) -> int:
    """Run a player service with logs and health; where a person plays, only warnings are logged.

    Args:
        membership: where it goes, as whom, and for how long.
        brain: what answers.
        brain_context: what the brains share.
        stopping: asked when this process should end.
        health: where to serve health, None for nowhere.
        log: how log lines look.
    """
    from players.service import serve
    from wolfbus.service.lifecycle import Health

    _configure_logs(log, membership)
    if brain == "human":
        logging.getLogger().setLevel(max(logging.WARNING, logging.getLogger().level))
    with quiet_brains(), Health(health) as health_server:
        return serve(membership, brain, brain_context, stopping, health_server)


def _configure_logs(log: LogStyle, membership: Membership) -> None:
    from wolfbus.service.logs import configure_logs

    configure_logs(log, service="player", house=membership.house, agent=membership.introduction.agent)


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
@private_thoughts_option
@click.argument("command", nargs=-1, metavar="[-- COMMAND [ARGS]... | URL | text:module:callable]")
@click.pass_context
def join(
    context: click.Context,
    /,
    health: Place | None,
    log: LogStyle,
    label: str | None,
    declines: tuple[Kind, ...],
    command: tuple[str, ...],
    port: int,
    host: str,
    *,
    human: bool,
    private_thoughts: bool,
    **agent: Any,
) -> int:
    """Let a program that speaks the line protocol (docs/line-protocol.md) play in a house, or an agent at an address.

    COMMAND is started once for each seat of each game; a URL is asked by POST (docs/http-agents.md). To the house it is
    an outside agent: it gets no seed, and what is recorded of it is its label, not its command line.

    \b
    wolfbus join --house main --seats 2 -- python3 examples/agent.py
    wolfbus join --house main -- http://localhost:9000/wolf
    wolfbus join --house main --human
    """  # noqa: D301 - click takes the backspace for "keep these lines"
    from players.spec import BrainContext, check, command_spec, declined_by
    from wolfbus.service.lifecycle import Stopping

    if human == bool(command):
        raise click.UsageError("give either --human or the command of a program")
    brain = "human" if human else command_spec(command)
    brain_name = f"outside:{label or agent['name']}"
    declines = (*declines, *declined_by(brain))
    membership = _membership(agent, brain=brain_name, version=f"wolfbus join {__version__}", declines=declines)
    with Stopping() as stopping:
        # it stays when all else of the command is done
        people = context.with_resource(_page(host, port, private_thoughts=private_thoughts)) if human else None
        with BrainContext(people=people) as brain_context:
            check((brain,), brain_context)
            brain_context.probe((brain,))
            return run(membership, brain, brain_context, stopping, health, log)


@contextlib.contextmanager
def _page(host: str, port: int, *, private_thoughts: bool) -> Iterator[People]:
    """Serve the pages of persons who play, and to the end of what they look at."""
    from wolfbus.stage.serving import Served

    people = announced_people(lambda: server.url, private_thoughts=private_thoughts)
    served = Served(people=people)
    with page_server(served, host, port, "waiting for a seat; its link will stand here (URL)") as server:
        yield people
