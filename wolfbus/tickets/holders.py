"""Who may hold a ticket, as which Redis user with which rights; and a ticket as a file.

The file has ``NAME=value`` lines that a shell and Docker read alike, that only its owner may read.
"""

from __future__ import annotations

import hashlib
import re
import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal, TypeAlias, cast, get_args
from urllib.parse import quote, urlencode

from wolfbus.bus import streams
from wolfbus.bus.url import Address, is_in_process, read_address
from wolfbus.errors import ConfigError
from wolfbus.files.environment import plain_value
from wolfbus.files.whole_file import OWNER, read_text_whole, write_whole
from wolfbus.messages.base import ID_PATTERN

Service: TypeAlias = Literal["agent", "analytics", "moderator", "player", "spectator", "study", "worker"]
"""What the holder of a ticket does. A player is an agent that the moderator's own operator runs: it may say so, and its
brain then gets a seed; for Redis the two are the same. A worker plays games of an agenda, and a study's ticket is for
whoever puts them there."""

JOINING: Final[tuple[Service, ...]] = ("agent", "analytics", "player")
"""Those that take part as an agent does, and so stand on the moderator's list."""

ADMINISTRATOR: Final = "wolf-admin"
"""The Redis user that may do everything; one a server, whatever houses are on it."""

MODERATOR: Final[Service] = "moderator"
"""The name on the moderator's ticket; a house has one."""

STUDY: Final[Service] = "study"
"""The name on the ticket of whoever runs an agenda's study; an agenda has one."""

OF_HOUSES: Final[tuple[Service, ...]] = (MODERATOR, *JOINING, "spectator")
OF_AGENDAS: Final[tuple[Service, ...]] = (STUDY, "worker")
"""Those whose ticket is for an agenda, and no house."""

_ALONE: Final = frozenset({MODERATOR, STUDY})
"""Services of which a house or an agenda has one, called by its service."""
_ADMIN: Final = "admin"
"""A name that would share a ticket's file with the administrator."""

_NOTHING: Final = ("resetkeys", "-@all", "resetchannels", "clearselectors")
"""Takes every right away, so that an existing user is cut down too."""
_ENTER: Final = ("+hello", "+auth", "+ping", "+client|setname", "+client|id")
"""Not ``CLIENT SETINFO``: Redis 7.0 does not know it, and refuses a user whole for one unknown word."""
_READ: Final = ("+xread", "+xrange", "+xinfo|stream", "+xlen")
"""Not ``XREADGROUP``, which writes, nor ``KEYS`` and ``SCAN``, which tell other names."""
_MODERATE: Final = (
    *("+xadd", "+xdel", "+xtrim", "+type"),
    *("+hget", "+hmget", "+hgetall", "+hset", "+hincrby", "+hdel"),
    *("+del", "+pexpire", "+time", "+evalsha", "+script|load"),
    *("+exists", "+sismember", "+smembers"),
)

_AGENDA: Final = (
    *("+xadd", "+xdel", "+xack", "+xreadgroup", "+xclaim", "+xautoclaim", "+xpending"),
    *("+xgroup|delconsumer", "+zrange", "+zremrangebyscore"),
    *("+hget", "+hset", "+hsetnx", "+hexists", "+hdel", "+hincrby", "+hkeys", "+set", "+get", "+getrange"),
    *("+zadd", "+zrem", "+zrangebyscore", "+exists", "+time", "+evalsha", "+script|load"),
)
"""What the scripts of an agenda and of its budget do."""
_RUN_STUDY: Final = (
    *("+xgroup|create", "+xlen", "+zcount", "+sadd", "+hmget"),
    *("+del", "+type", "+rename", "+expire", "+pexpire"),
)
"""What whoever runs a study does beside, to its agenda and to records that it has fetched."""

_HOUSE_KEYS: Final = (
    *("in:*", "out:*", "record:*", "table:*"),
    *("games", "live", "lobby", "dead", "owner", "heads", "cursors", "tickets", "tickets:services"),
)
"""The keys of a house. An agenda of the same name has others, which are none of its moderator's business."""

REVOKING: Final = ("+acl|deluser", "+acl|save", "+srem")
"""What a moderator needs on top in order to revoke tickets when the house closes. Redis cannot limit it to users of
one house: who has it may delete any user, though it can neither make one nor change one."""


def first_of(service: Service) -> Service:
    """Return the service that runs what another belongs to: a house's moderator, or an agenda's study."""
    return STUDY if service in OF_AGENDAS else MODERATOR


@dataclass(frozen=True, slots=True, order=True)
class Holder:
    """Somebody with a ticket.

    Attributes:
        house: the house's name; an agenda's for those of an agenda.
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
        if self.service in _ALONE:
            if self.name != self.service:
                raise ConfigError(f"the {self.service}'s ticket is called {self.service!r}, not {self.name!r}")
        elif self.name.casefold() in {first_of(self.service), _ADMIN}:
            place = "agenda" if self.service in OF_AGENDAS else "house"
            raise ConfigError(f"{self.name!r} is a name the {place} itself needs; call the {self.service} otherwise")

    @property
    def user(self) -> str:
        """Its Redis user. A tilde stands in no name, so users of different houses never collide."""
        return f"wolf-{self.service}~{self.house}~{self.name}"

    def rules(self, database: int = 0, *, revoking: bool = False) -> tuple[str, ...]:
        """Return its rights, as words for ``ACL SETUSER`` of Redis 7.0 and newer: nothing more than our client needs.

        Passwords and ``on`` are the caller's.

        Args:
            database: number of the Redis database the house is in; the right to choose one is given only if it is not
                0.
            revoking: whether a moderator may revoke tickets.
        """
        acts, keys = self._rights()
        if self.service == MODERATOR and revoking:
            acts += REVOKING
        return (*_NOTHING, *_ENTER, *(("+select",) if database else ()), *_READ, *acts, *keys)

    def _rights(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Return what it may do beside reading, and the keys for which it may."""
        house = self.house
        if self.service in OF_AGENDAS:
            return self._agenda_rights()
        if self.service == MODERATOR:
            return _MODERATE, tuple(f"~{streams.house_key(house, key)}" for key in _HOUSE_KEYS)
        public = (f"%R~{streams.table(house, '*')}", f"%R~{streams.games(house)}")
        if self.service == "spectator":
            return (), public
        own_streams = (f"%R~{streams.inbox(house, self.name)}", f"%RW~{streams.outbox(house, self.name)}")
        if self.service != "analytics":
            return ("+xadd",), own_streams
        researchers = (f"%R~{streams.record(house, '*')}", f"%R~{streams.owner(house)}", f"%RW~{streams.live(house)}")
        # it shortens its out stream and `live`
        return ("+xadd", "+xtrim", "+hmget", "+time"), (*public, *own_streams, *researchers)

    def _agenda_rights(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Return what one may do to an agenda and its workers' houses, whose names begin with its own and a tilde."""
        agenda, study = streams.house_key(self.house, "agenda"), streams.house_key(self.house, "agenda:study")
        houses = streams.house_key(f"{self.house}~*", "*")
        if self.service == STUDY:
            return (*_AGENDA, *_RUN_STUDY), (f"~{agenda}", f"~{agenda}:*", f"~{houses}")
        parts = ("known", "done", "results", "lease", "houses", "workers", "waiting", "budget", "holding", "holders")
        keys = (f"~{agenda}", *(f"~{agenda}:{part}" for part in parts), f"%R~{study}")
        # what a moderator may do to a house is not to be done to the agenda
        return _AGENDA, (*keys, f"({' '.join((*_ENTER, *_READ, *_MODERATE))} ~{houses})")


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


PASSWORD_BYTES = 32

_LONGEST: Final = 1 << 16
"""Bytes of a ticket, and of what somebody wrote around it."""


def fresh_password() -> str:
    """Return 256 random bits as hex digits: no guess will find them, and no address, shell or file must quote them."""
    return secrets.token_hex(PASSWORD_BYTES)


def password_hash(password: str) -> str:
    """Return what a server is given of a password: its SHA-256, which checks one and logs nobody in."""
    return "#" + hashlib.sha256(password.encode()).hexdigest()


def ticket_path(folder: Path, name: str) -> Path:
    """Return the file of a ticket."""
    return folder / f"{name}.ticket"


def ticket_lines(address: Address, user: str, password: str, holder: Holder | None) -> list[str]:
    """Return what stands in a ticket's file.

    Args:
        address: how the holder reaches the server; its own user and password do not count.
        user: the holder's Redis user.
        password: its password.
        holder: who it is; None for the administrator.
    """
    whose = "the administrator of this Redis"
    if holder is not None:
        where = "agenda" if holder.service in OF_AGENDAS else "house"
        whose = f"{holder.service} {holder.name} of {where} {holder.house}"
    lines = [f"# wolfbus ticket: {whose}. Whoever can read this file can act as it."]
    url = address_with(address, user, password)
    # a shell would cut it at the sign between two options
    lines.append(f"WOLFBUS_BUS='{url}'" if "&" in url else f"WOLFBUS_BUS={url}")
    if holder is not None:
        lines.append(f"WOLFBUS_{'AGENDA' if holder.service in OF_AGENDAS else 'HOUSE'}={holder.house}")
        if holder.name not in _ALONE:
            lines.append(f"WOLFBUS_NAME={holder.name}")
    return lines


def address_with(address: Address, user: str, password: str) -> str:
    """Return a bus address with a user in it, and with the files that TLS needs."""
    who = f"{quote(user, safe='~')}:{password}@"
    if address.kind == "unix":
        options = f"?db={address.database}" if address.database else ""
        return f"unix://{who}{quote(address.path)}{options}"
    database = f"/{address.database}" if address.database else ""
    files = {"ssl_ca_certs": address.ca_certs, "ssl_certfile": address.certificate, "ssl_keyfile": address.key}
    options = urlencode({name: file for name, file in files.items() if file is not None}, safe="/")
    scheme = "rediss" if address.kind == "tls" else "redis"
    return f"{scheme}://{who}{address.place}{database}{'?' if options else ''}{options}"


def write_secret(path: Path, lines: Sequence[str], *, replace: bool) -> None:
    """Write a file that only its owner can read, whole or not at all.

    Raises:
        ConfigError: it exists, and may not be replaced.
        OSError: it cannot be written.
    """
    if not replace:
        try:
            # looked for and taken at once: two may write it at the same time
            path.touch(OWNER, exist_ok=False)
        except FileExistsError:
            raise ConfigError(f"{path} is there already (--force replaces it)") from None
    try:
        write_whole(path, (f"{line}\n" for line in lines), mode=OWNER)
    except BaseException:
        if not replace:
            path.unlink(missing_ok=True)
        raise


def make_folder(folder: Path) -> None:
    """Make a folder for tickets that others cannot enter and git passes over; one that is there stays as it is."""
    if not folder.is_dir():
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        (folder / ".gitignore").write_text("*\n", encoding="utf-8")


def read_bus(text: str) -> str:
    """Return a bus address given as such, or as ``@FILE`` for the one that a ticket holds.

    Raises:
        ConfigError: no such file, or no address in it.
    """
    if not text.startswith("@"):
        return text
    path = Path(text[1:])
    try:
        lines = read_text_whole(path, _LONGEST).splitlines()
    except ConfigError as error:
        raise ConfigError(f"ticket {error}") from None
    for line in lines:
        name, equals, value = line.partition("=")
        if name.strip() == "WOLFBUS_BUS" and equals:
            return plain_value(value)
    raise ConfigError(f"ticket {path}: it holds no line WOLFBUS_BUS=…")


def redis_address(url: str) -> Address:
    """Read the address of a Redis; raises ConfigError for another bus, which has no users."""
    if is_in_process(url):
        raise ConfigError("tickets are for a Redis: give redis://, rediss:// or unix:// (or @FILE, a ticket) as --bus")
    address = read_address(url)
    if address.cluster:
        raise ConfigError(
            "tickets are for one Redis: each node of a cluster has users of its own, make them there by hand"
        )
    return address
