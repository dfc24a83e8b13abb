"""Revoking tickets: the users go, and their connections end at once."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path
from typing import get_args

from wolfbus.tickets.file import redis_address
from wolfbus.tickets.holders import MODERATOR, Holder, Service
from wolfbus.tickets.office import Office, Saved


@dataclass(frozen=True, slots=True)
class Revoked:
    """What was done.

    Attributes:
        users: how many Redis users there were to take away.
        saved: where the rest outlive a restart.
    """

    users: int
    saved: Saved


def revoke(url: str, house: str, names: Collection[str], aclfile: Path | None = None) -> Revoked:
    """Take away the tickets of these names, whatever they were for, and end their connections.

    An administrator may do this, and the house's own moderator if its ticket was issued with that right. Names without
    a ticket are passed over, so it is safe to repeat. Whoever revokes its own ticket does so last and by itself.

    Args:
        url: the server, as somebody who may.
        house: the house's name.
        names: whose tickets.
        aclfile: a file to save the remaining users in, see `Office.save`; for administrators.

    Raises:
        ConfigError: the address is no Redis's, or a name is no name.
        BusDown: the server cannot be reached.
        NotAllowed: this user may not revoke tickets.
        BusError: the server refuses something else; the line says what.
    """
    users = [user for name in sorted(names) for user in _users(house, name)]
    with Office(redis_address(url)) as office:
        gone = office.delete(users)
        office.dismiss(house, sorted(names))
        return Revoked(gone, office.save(aclfile))


def _users(house: str, name: str) -> list[str]:
    if name == MODERATOR:
        return [Holder(house, "moderator", name).user]
    return [Holder(house, service, name).user for service in get_args(Service) if service != MODERATOR]
