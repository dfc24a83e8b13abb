"""Who may hold a ticket, and as which Redis user."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias, cast, get_args

from wolfbus.bus import streams
from wolfbus.bus.acl import agent_rules, analytics_rules, moderator_rules, spectator_rules
from wolfbus.errors import ConfigError
from wolfbus.messages.base import ID_PATTERN

Service: TypeAlias = Literal["agent", "analytics", "moderator", "player", "spectator"]
"""What the holder of a ticket does. A player is an agent that the moderator's own operator runs: it may say so, and its
brain then gets a seed; for Redis the two are the same."""

JOINING: Final[tuple[Service, ...]] = ("agent", "analytics", "player")
"""Those that take part as an agent does, and so stand on the moderator's list."""

ADMINISTRATOR: Final = "wolf-admin"
"""The Redis user that may do everything; one a server, whatever houses are on it."""

MODERATOR: Final = "moderator"
"""The name on the moderator's ticket; a house has one."""

RESERVED: Final = frozenset({MODERATOR, "admin"})
"""Names that would share a ticket's file with the moderator or the administrator."""

REVOKING: Final = ("+acl|deluser", "+acl|save", "+srem")
"""What a moderator needs on top in order to revoke tickets when the house closes. Redis cannot limit it to users of
one house: who has it may delete any user, though it can neither make one nor change one."""


@dataclass(frozen=True, slots=True, order=True)
class Holder:
    """Somebody with a ticket.

    Attributes:
        house: the house's name.
        service: what the holder does.
        name: its name, unique in the house whatever the service.

    Raises:
        ConfigError: a name that cannot stand in the names of streams and files, or is taken by the house itself.
    """

    house: str
    service: Service
    name: str

    def __post_init__(self) -> None:
        for word in (self.house, self.name):
            if not re.fullmatch(ID_PATTERN, word):
                raise ConfigError(f"{word!r:.80} is no name (letters, digits, dot, dash and underscore, at most 64)")
        if self.name.casefold() in RESERVED and self.service != MODERATOR:
            raise ConfigError(f"{self.name!r} is a name the house itself needs; call the {self.service} otherwise")

    @property
    def user(self) -> str:
        """Its Redis user. A tilde stands in no name, so users of different houses never collide."""
        return f"wolf-{self.service}~{self.house}~{self.name}"

    @property
    def joins(self) -> bool:
        """Whether it stands on the moderator's list."""
        return self.service in JOINING

    def rules(self, database: int, *, revoking: bool) -> tuple[str, ...]:
        """Return its rights, as words for ``ACL SETUSER``.

        Args:
            database: number of the Redis database the house is in.
            revoking: whether a moderator may revoke tickets.
        """
        if self.service == "agent" or self.service == "player":
            return agent_rules(self.house, self.name, database)
        if self.service == "analytics":
            return analytics_rules(self.house, self.name, database)
        if self.service == "spectator":
            return spectator_rules(self.house, database)
        return (*moderator_rules(self.house, database), *(REVOKING if revoking else ()))


def services(house: str) -> str:
    """Return the hash of name to `Service` of those that join; beside the set of their names, `streams.tickets`.

    What an agent says of itself when it joins is its own word; this is the operator's.
    """
    return f"{streams.tickets(house)}:services"


def holder_of(user: str) -> Holder | None:
    """Return whose Redis user this is, None for one that is no ticket's."""
    service, first, rest = user.removeprefix("wolf-").partition("~")
    house, second, name = rest.partition("~")
    if not (user.startswith("wolf-") and first and second) or service not in get_args(Service):
        return None
    try:
        return Holder(house, cast("Service", service), name)
    except ConfigError:
        return None
