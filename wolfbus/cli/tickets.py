"""`wolfbus tickets`: credentials for a house's participants on Redis."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeVar

import click

from wolfbus.cli.options import (
    FILE,
    FOLDER,
    bus_given,
    checked,
    house_option,
    negated_flag,
    option_group,
    refuse,
    stream_name,
)
from wolfbus.errors import ConfigError
from wolfbus.files.printable import counted
from wolfbus.tickets.holders import OF_AGENDAS, OF_HOUSES, Holder, Service, read_bus, redis_address, ticket_path
from wolfbus.tickets.issuing import UserAdmin, is_anothers
from wolfbus.tickets.issuing import issue as issue_tickets
from wolfbus.tickets.issuing import revoke as revoke_tickets

if TYPE_CHECKING:
    from wolfbus.tickets.issuing import Issued, Saved

_Command = TypeVar("_Command", bound=Callable[..., Any])

DEFAULT_OUT = Path("tickets")
_SERVICES: Final[tuple[Service, ...]] = ("agent", "player", "analytics", "spectator")
_DEFAULT_IS_ON: Final = "wolfbus: the user `default` is on: whoever reaches this Redis needs no ticket"


_bus_option = bus_given(
    "The Redis, as somebody who may manage its users; @FILE takes the address out of a ticket, such as the "
    "administrator's.",
    callback=checked(read_bus),
    metavar="URL|@FILE",
)
_house_option = option_group(
    house_option("The house the tickets are for."),
    click.option(
        "--agenda",
        callback=stream_name,
        help="The agenda of a shared study that the tickets are for, in place of a house.",
    ),
)
_issue_options = option_group(
    _bus_option,
    _house_option,
    click.option(
        "--out",
        type=FOLDER,
        metavar="DIR",
        help="Folder of the tickets. [default: tickets/HOUSE, or tickets/AGENDA]",
    ),
    click.option(
        "--aclfile",
        type=FILE,
        metavar="FILE",
        help="Also write all users to FILE, for a server that is to be started with --aclfile FILE.",
    ),
)


def _holders(flag: str, service: str, meaning: str) -> Callable[[_Command], _Command]:
    """Return an option of names, separated by commas, each of which is to get a ticket of a service."""
    names = checked(lambda text: [name.strip() for name in text.split(",") if name.strip()])
    return click.option(flag, service, default="", callback=names, metavar="NAMES", help=meaning)


@click.group()
def tickets() -> None:
    """Give every participant of a house a Redis user of its own, with just the rights it needs.

    \b
    wolfbus tickets issue --agents ada,bruno --analytics keeper
    wolfbus tickets list --bus @tickets/main/admin.ticket
    wolfbus tickets revoke bruno --bus @tickets/main/admin.ticket
    wolfbus tickets issue --agenda third --workers north,south --bus @tickets/main/admin.ticket

    A ticket is a file of environment variables: docker run --env-file FILE …, or: set -a; . FILE; wolfbus player …
    """  # noqa: D301 - click takes the backspace for "keep these lines"


@tickets.command(short_help="Issue tickets, a file each.")
@_issue_options
@_holders("--agents", "agent", "Outside agents that play seats, separated by commas.")
@_holders("--players", "player", "Players you run yourself; their brains may get seeds of their own.")
@_holders("--analytics", "analytics", "Who keeps the records: reads everything.")
@_holders("--spectator", "spectator", "Who may watch what everybody may know.")
@_holders("--workers", "worker", "Who may play games of the --agenda.")
@click.option(
    "--moderator",
    "first",
    is_flag=True,
    help="The moderator's, or the study's of an --agenda; issued anyhow the first time.",
)
@click.option(
    "--address",
    "reached_at",
    metavar="URL",
    help="The server's address for the tickets, without user, if the holders reach it otherwise than --bus.",
)
@click.option(
    "--moderator-revokes/--moderator-keeps",
    "revoking",
    default=True,
    show_default=True,
    help="Whether the moderator may revoke tickets when the house closes. Redis cannot limit that right to one house: "
    "keep, where houses of several owners share a server.",
)
@negated_flag(
    "--keep-default",
    "close_default",
    "Leave the user `default` on: then tickets protect nothing from strangers.",
)
@click.option("--force", is_flag=True, help="Replace tickets that are there; who holds an old one is cut off.")
def issue(
    url: str, house: str, agenda: str | None, out: Path | None, aclfile: Path | None, *, first: bool, **options: Any
) -> None:
    """Issue tickets: a file DIR/NAME.ticket each, and no password anywhere else.

    The first time, the moderator and the administrator get theirs too; then the user `default` is switched off, so
    that nobody gets in without a ticket. An --agenda has in the moderator's place whoever runs its study.
    """
    names = {service: options.pop(service) for service in (*_SERVICES, "worker")}
    refuse(
        (agenda is None and names["worker"], "--workers play games of an --agenda: name it"),
        (agenda is not None and any(names[service] for service in _SERVICES), "an --agenda has --workers alone"),
    )
    place, kinds = _place(house, agenda)
    holders = [Holder(place, service, name) for service in (*_SERVICES, "worker") for name in names[service]]
    first_holder = Holder(place, kinds[0], kinds[0])
    if not first:
        with UserAdmin(redis_address(url)) as admin:
            first = first_holder not in admin.holders(place)
    if first:
        holders.append(first_holder)
    issued = issue_tickets(url, holders, out or DEFAULT_OUT / place, aclfile=aclfile, **options)
    _print_issued(issued)
    _print_saved(issued.saved, aclfile)


def _place(house: str, agenda: str | None) -> tuple[str, tuple[Service, ...]]:
    """Return whose tickets are meant, a house's or an agenda's, by its name, and what they may be for."""
    return (house, OF_HOUSES) if agenda is None else (agenda, OF_AGENDAS)


@tickets.command("list", short_help="List who holds a ticket, and who is connected.")
@_bus_option
@_house_option
def list_(url: str, house: str, agenda: str | None) -> None:
    """List who holds a ticket, and how many connections each has."""
    place, kinds = _place(house, agenda)
    with UserAdmin(redis_address(url)) as admin:
        holders, connections = admin.holders(place, kinds), admin.connections()
        is_open = admin.is_on("default")
    for holder in holders:
        connected = counted(connections[holder.user], "connection")
        click.echo(f"{holder.name:<24} {holder.service:<10} {connected}")
    if not holders:
        click.echo(f"{'house' if agenda is None else 'agenda'} {place}: no tickets")
    if is_open:
        click.echo(_DEFAULT_IS_ON, err=True)


@tickets.command(short_help="Revoke tickets: users go, connections end.")
@_issue_options
@click.argument("names", nargs=-1)
@click.option("--all", "everybody", is_flag=True, help="All tickets of the house, the moderator's too.")
def revoke(
    url: str,
    house: str,
    agenda: str | None,
    out: Path | None,
    aclfile: Path | None,
    names: tuple[str, ...],
    *,
    everybody: bool,
) -> None:
    """Revoke tickets: their users are deleted, their connections end, the moderator seats them no more.

    The files in DIR are removed as well. The user `default` stays off, and the administrator stays.
    """
    if bool(names) == everybody:
        raise click.UsageError("name whose tickets to revoke, or give --all")
    place, kinds = _place(house, agenda)
    with UserAdmin(redis_address(url)) as admin:
        holders = {holder.name for holder in admin.holders(place, kinds)}
    revoked = holders if everybody else set(names)
    if unknown := sorted(revoked - holders):
        where = f"house {house}" if agenda is None else f"agenda {agenda}"
        raise ConfigError(f"no ticket in {where} for {', '.join(unknown)}; nothing was revoked")
    saved = revoke_tickets(url, place, revoked, aclfile, kinds).saved
    for path in (ticket_path(out or DEFAULT_OUT / place, name) for name in revoked):
        if not is_anothers(path, place, kinds):
            path.unlink(missing_ok=True)
    click.echo(f"revoked: {', '.join(sorted(revoked)) or 'nothing, there were no tickets'}")
    _print_saved(saved, aclfile)


def _print_issued(issued: Issued) -> None:
    for holder, path in issued.tickets:
        click.echo(f"{holder.name:<24} {holder.service:<10} {path}")
    if issued.administrator is not None:
        click.echo(f"{'admin':<24} {'all rights':<10} {issued.administrator}")
    if issued.closed:
        ended = counted(issued.ended, "other connection")
        click.echo(f"the user `default` is switched off ({ended} of it ended): nobody gets in without a ticket")
    if issued.open:
        click.echo(_DEFAULT_IS_ON, err=True)


def _print_saved(saved: Saved, aclfile: Path | None) -> None:
    if saved == "server":
        click.echo("saved in the server's aclfile")
    elif saved == "file":
        click.echo(f"saved in {aclfile}: start the server with --aclfile, or all users are gone when it restarts")
    else:
        click.echo(
            "wolfbus: this server has no aclfile: all users, and `default` being off, are gone when it restarts "
            "(--aclfile FILE writes one for it)",
            err=True,
        )
