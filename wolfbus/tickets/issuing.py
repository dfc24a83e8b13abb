"""Issuing tickets, a user and a file each, and closing the door for everybody without one; and revoking them.

`UserAdmin` is a Redis server's users, as whoever may manage them sees it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal, TypeAlias, TypeVar

from redis.exceptions import ResponseError

from wolfbus.actors.closable import Closable
from wolfbus.bus import streams
from wolfbus.bus.redis.connection import RedisLink, Word, refusal
from wolfbus.bus.redis.pool import Links
from wolfbus.bus.url import Address, read_address
from wolfbus.errors import BusDown, BusError, ConfigError
from wolfbus.files.whole_file import OWNER, write_named
from wolfbus.tickets.holders import (
    ADMINISTRATOR,
    JOINING,
    OF_AGENDAS,
    OF_HOUSES,
    STUDY,
    Holder,
    Service,
    first_of,
    fresh_password,
    holder_of,
    make_folder,
    password_hash,
    read_bus,
    redis_address,
    services,
    ticket_lines,
    ticket_path,
    write_secret,
)

T = TypeVar("T")

PATIENCE_S = 3.0
"""How long to try to reach the server: enough for one that is just starting, short for a wrong address."""

Saved: TypeAlias = Literal["server", "file", "nowhere"]
"""Where users outlive a restart: in the server's own aclfile, in a file for the operator to configure, or not."""


class UserAdmin(Closable):
    """A connection to a server, to make users and take them away. All of it is safe to repeat.

    Args:
        address: the server, and a user that may manage others.

    Raises:
        BusDown: the server cannot be reached.
        BusError: it refuses this user, or what this user may not do (`NotAllowed`).
    """

    def __init__(self, address: Address) -> None:
        self.address = address
        self._links = Links(address)
        self._patience_s = min(PATIENCE_S, address.patience_s)
        self._links.reach(self._patience_s)

    def users(self) -> tuple[str, ...]:
        """Return the names of all users, tickets or not."""
        return tuple(word.decode() for word in self._ask("ACL", "USERS", doing="listing users"))

    def holders(
        self, house: str | None = None, kinds: Collection[Service] = (*OF_HOUSES, *OF_AGENDAS)
    ) -> tuple[Holder, ...]:
        """Return who holds a ticket of these services, of one house or agenda or of all, sorted."""
        holders = filter(None, map(holder_of, self.users()))
        return tuple(sorted(holder for holder in holders if house in {None, holder.house} and holder.service in kinds))

    def me(self) -> str:
        """Return the user as which this works."""
        name: bytes = self._ask("ACL", "WHOAMI", doing="asking who we are")
        return name.decode()

    def is_on(self, user: str) -> bool:
        """Return whether a user may log in."""
        return b"on" in self._facts(user).get(b"flags", ())

    def has_password(self, user: str, password: str) -> bool:
        """Return whether a user has this password."""
        return password_hash(password).encode() in [b"#" + word for word in self._facts(user).get(b"passwords", ())]

    def _facts(self, user: str) -> dict[bytes, Any]:
        facts = self._ask("ACL", "GETUSER", user, doing=f"user {user}") or []
        return dict(zip(facts[::2], facts[1::2], strict=True))

    def set_users(self, users: Sequence[tuple[str, Sequence[str]]]) -> None:
        """Make users, or change them, by (name, words of ``ACL SETUSER``)."""
        self._ask_all([("ACL", "SETUSER", user, *words) for user, words in users], "making users")

    def delete(self, users: Iterable[str]) -> int:
        """Take users away and end their connections, blocked ones too; returns how many there were."""
        names = list(users)
        return int(self._ask("ACL", "DELUSER", *names, doing="taking users away")) if names else 0

    def disconnect(self, user: str) -> int:
        """End all connections of a user but our own; returns how many there were."""
        return int(self._ask("CLIENT", "KILL", "USER", user, "SKIPME", "yes", doing=f"ending connections of {user}"))

    def connections(self) -> Counter[str]:
        """Return how many connections every user has."""
        listed: bytes = self._ask("CLIENT", "LIST", doing="listing connections")
        words = (line.split(" ") for line in listed.decode(errors="replace").splitlines())
        return Counter(word.removeprefix("user=") for line in words for word in line if word.startswith("user="))

    def admit(self, holders: Sequence[Holder]) -> None:
        """Put those of one house that join on the list that a moderator with tickets goes by."""
        joining = [holder for holder in holders if holder.service in JOINING]
        if joining:
            house = joining[0].house
            pairs = [word for holder in joining for word in (holder.name, holder.service)]
            names = [holder.name for holder in joining]
            # what somebody may do is known before that it may come
            commands = [("HSET", services(house), *pairs), ("SADD", streams.tickets(house), *names)]
            self._ask_all(commands, f"tickets of house {house}")

    def remove(self, house: str, names: Sequence[str]) -> None:
        """Take names off that list."""
        if names:
            commands = [("SREM", streams.tickets(house), *names), ("HDEL", services(house), *names)]
            self._ask_all(commands, f"tickets of house {house}")

    def save(self, aclfile: Path | None = None) -> Saved:
        """Let the users outlive a restart of the server, where that can be.

        Args:
            aclfile: file to write all users to, besides; their passwords stand there as hashes.

        Raises:
            BusError: the server has an aclfile, but could not write it.
            OSError: `aclfile` could not be written.
        """
        if aclfile is not None:
            lines = self._ask("ACL", "LIST", doing="listing users")
            write_named(aclfile, (line + b"\n" for line in lines), mode=OWNER)
        (reply,) = self._run(lambda link: link.exchange([("ACL", "SAVE")]))
        if not isinstance(reply, ResponseError):
            return "server"
        if "not configured to use an ACL file" not in str(reply):
            raise refusal(reply, "saving users") from reply
        return "file" if aclfile is not None else "nowhere"

    def check_login(self, user: str, password: str) -> None:
        """Log in as a user and leave; raises BusError if that does not work."""
        Links(replace(self.address, username=user, password=password)).run("", RedisLink.close, self._patience_s)

    def switch_user(self, user: str, password: str) -> None:
        """Work as another user from now on."""
        self.close()
        self.address = replace(self.address, username=user, password=password)
        self._links = Links(self.address)

    def close(self) -> None:
        """Close the connections."""
        self._links.close()

    def _run(self, work: Callable[[RedisLink], T]) -> T:
        return self._links.run("", work, self._patience_s)

    def _ask(self, *command: Word, doing: str) -> Any:
        return self._run(lambda link: link.ask(*command, doing=doing))

    def _ask_all(self, commands: Sequence[Sequence[Word]], doing: str) -> None:
        for reply in self._run(lambda link: link.exchange(commands)):
            if isinstance(reply, ResponseError):
                raise refusal(reply, doing) from reply


EVERYTHING = ("on", "~*", "&*", "+@all")


@dataclass(frozen=True, slots=True)
class Issued:
    """What was done.

    Attributes:
        tickets: files written, by holder.
        administrator: the administrator's ticket, None if whoever issued came as another user than ``default``.
        closed: whether the user ``default`` was switched off now.
        open: whether anybody without a ticket may still log in as ``default``.
        ended: connections that were ended with it.
        saved: where the users outlive a restart.
    """

    tickets: tuple[tuple[Holder, Path], ...]
    administrator: Path | None
    closed: bool
    open: bool
    ended: int
    saved: Saved


def issue(
    url: str,
    holders: Sequence[Holder],
    folder: Path,
    *,
    reached_at: str | None = None,
    revoking: bool = True,
    close_default: bool = True,
    aclfile: Path | None = None,
    force: bool = False,
) -> Issued:
    """Make a Redis user with a password of its own for every holder, and write its ticket.

    1. Tickets are written, then users are made, then each is proven by logging in with what its file holds.
    2. Those that join are put on the list that a moderator with tickets goes by.
    3. The user ``default`` is switched off and its connections are ended, once an administrator has proven to work.
    4. Users are saved, where the server can.

    What fails before the third is undone, as far as names are concerned that had no ticket before. Of two who issue
    tickets for the same names at a time, at least one gets an error, and neither undoes what the other did.

    Args:
        url: the server, as somebody who may manage users.
        holders: who gets a ticket, all of one house.
        folder: where tickets are written.
        reached_at: the server's address as holders see it, where that is not `url`.
        revoking: whether the moderator may revoke tickets; see `REVOKING`.
        close_default: whether to switch ``default`` off.
        aclfile: a file to save the users in, see `UserAdmin.save`.
        force: whether to replace tickets that are there, by new passwords; whoever holds an old one is cut off.

    Raises:
        ConfigError: a name is there twice, or has a ticket already.
        BusDown: the server cannot be reached.
        BusError: it refuses something; the line says what.
        OSError: a file cannot be written.
    """
    address = redis_address(url)
    ticket_address = _ticket_address(address, reached_at)
    _check_names(holders)
    with UserAdmin(address) as admin:
        users = frozenset(admin.users())
        _check_new(holders, users, folder, force=force)
        make_folder(folder)
        administrator = None
        is_open = admin.is_on("default")
        if is_open and close_default and admin.me() == "default":
            administrator = _administrator(admin, ticket_address, folder, exists=ADMINISTRATOR in users, force=force)
        passwords = {holder: fresh_password() for holder in holders}
        with _rollback(admin, {who: word for who, word in passwords.items() if who.user not in users}, folder):
            tickets = _make_tickets(admin, passwords, ticket_address, folder, revoking=revoking, force=force)
            for holder in holders:
                if holder.user in users:
                    admin.disconnect(holder.user)
            admin.admit(holders)
        ended = 0
        if is_open and close_default:
            admin.set_users([("default", ("off",))])
            ended = admin.disconnect("default")
        saved = admin.save(aclfile)
    closed = is_open and close_default
    return Issued(tickets, administrator, closed, is_open and not closed, ended, saved)


def _ticket_address(address: Address, reached_at: str | None) -> Address:
    if reached_at is None:
        return address
    outside = redis_address(reached_at)
    if outside.username is not None or outside.password is not None:
        raise ConfigError("the address for the tickets is without user and password: every ticket brings its own")
    if outside.database != address.database:
        raise ConfigError(f"the tickets' address is database {outside.database}, the house's is {address.database}")
    return outside


def _check_names(holders: Sequence[Holder]) -> None:
    if not holders:
        raise ConfigError("nobody to issue a ticket to")
    if len({holder.house for holder in holders}) > 1:
        raise ConfigError("tickets are issued for one house at a time")
    seen: set[str] = set()
    for holder in holders:
        # the files of Ada and ada are one on some file systems
        if holder.name.casefold() in seen:
            raise ConfigError(f"{holder.name!r} is there twice (case does not count)")
        seen.add(holder.name.casefold())


def _check_new(holders: Sequence[Holder], users: frozenset[str], folder: Path, *, force: bool) -> None:
    issued = [holder for holder in map(holder_of, users) if holder is not None]
    for holder in holders:
        if any(
            (old.house, old.name, first_of(old.service)) == (holder.house, holder.name, first_of(holder.service))
            and old != holder
            for old in issued
        ):
            raise ConfigError(f"{holder.name} has a ticket for something else in house {holder.house}; revoke it first")
        path = ticket_path(folder, holder.name)
        if is_anothers(path, holder.house, OF_AGENDAS if holder.service in OF_AGENDAS else OF_HOUSES):
            raise ConfigError(f"{path} is a ticket of another house or agenda: give --out another folder")
    old = [holder.name for holder in holders if holder.user in users or ticket_path(folder, holder.name).exists()]
    if old and not force:
        raise ConfigError(
            f"a ticket is there already for {', '.join(old)} (--force replaces it; who holds it is cut off)"
        )


def is_anothers(path: Path, house: str, kinds: Collection[Service]) -> bool:
    """Return whether a file is the ticket of another house or agenda, as a house and an agenda of one name share a
    folder.
    """
    try:
        holder = holder_of(read_address(read_bus(f"@{path}")).username or "")
    except ConfigError:
        return False
    return holder is not None and (holder.house != house or holder.service not in kinds)


def _make_tickets(
    admin: UserAdmin, passwords: Mapping[Holder, str], address: Address, folder: Path, *, revoking: bool, force: bool
) -> tuple[tuple[Holder, Path], ...]:
    database = admin.address.database
    tickets = tuple((holder, ticket_path(folder, holder.name)) for holder in passwords)
    for holder, path in tickets:
        write_secret(path, ticket_lines(address, holder.user, passwords[holder], holder), replace=force)
    admin.set_users(
        [
            (holder.user, ("reset", "on", password_hash(password), *holder.rules(database, revoking=revoking)))
            for holder, password in passwords.items()
        ]
    )
    for holder, path in tickets:
        # not with what was written: another who issues at the same time may have replaced it
        admin.check_login(holder.user, _password_in(path))
    return tickets


def _password_in(path: Path) -> str:
    return read_address(read_bus(f"@{path}")).password or ""


@contextmanager
def _rollback(admin: UserAdmin, fresh: Mapping[Holder, str], folder: Path) -> Iterator[None]:
    """Delete users and tickets with these passwords again if what is done with them fails."""
    try:
        yield
    except BaseException:
        for holder, password in fresh.items():
            path = ticket_path(folder, holder.name)
            with suppress(ConfigError):
                if _password_in(path) == password:
                    path.unlink()
        admin.delete([holder.user for holder, password in fresh.items() if admin.has_password(holder.user, password)])
        raise


def _administrator(admin: UserAdmin, address: Address, folder: Path, *, exists: bool, force: bool) -> Path:
    """Make sure that an administrator can log in, and go on as that one; returns its ticket."""
    path = ticket_path(folder, "admin")
    if force or not exists:
        password = fresh_password()
        write_secret(path, ticket_lines(address, ADMINISTRATOR, password, None), replace=True)
        # an unknown one may have been made a moment ago, by another who issues; that ticket is to open this server, too
        admin.set_users([(ADMINISTRATOR, (*(("reset",) if exists else ()), *EVERYTHING, password_hash(password)))])
    advice = f"the user {ADMINISTRATOR} is there already: come with its ticket (--bus @FILE), or renew it with --force"
    if not path.exists():
        raise ConfigError(advice)
    password = _password_in(path)
    try:
        admin.check_login(ADMINISTRATOR, password)
    except BusDown:
        raise
    except BusError:
        raise ConfigError(f"{path} does not open this server; {advice}") from None
    admin.switch_user(ADMINISTRATOR, password)
    return path


@dataclass(frozen=True, slots=True)
class Revoked:
    """What was done.

    Attributes:
        users: how many Redis users there were to take away.
        saved: where the rest outlive a restart.
    """

    users: int
    saved: Saved


def revoke(
    url: str,
    house: str,
    names: Collection[str],
    aclfile: Path | None = None,
    kinds: Collection[Service] = OF_HOUSES,
) -> Revoked:
    """Take away the tickets of these names, whatever they were for, and end their connections.

    An administrator may do this, and the house's own moderator if its ticket was issued with that right. Names without
    a ticket are passed over, so it is safe to repeat. Whoever revokes its own ticket does so last and by itself.

    Args:
        url: the server, as somebody who may.
        house: the house's name.
        names: whose tickets.
        aclfile: a file to save the remaining users in, see `UserAdmin.save`; for administrators.
        kinds: the services whose tickets those are: a house's, or `OF_AGENDAS` for those of the agenda of that name.

    Raises:
        ConfigError: the address is no Redis's, or a name is no name.
        BusDown: the server cannot be reached.
        NotAllowed: this user may not revoke tickets.
        BusError: the server refuses something else; the line says what.
    """
    users = [user for name in sorted(names) for user in _users(house, name, kinds)]
    with UserAdmin(redis_address(url)) as admin:
        deleted = admin.delete(users)
        if STUDY not in kinds:
            admin.remove(house, sorted(names))
        return Revoked(deleted, admin.save(aclfile))


def _users(house: str, name: str, kinds: Collection[Service]) -> list[str]:
    first = next(first_of(kind) for kind in kinds)
    services = [first] if name == first else [kind for kind in kinds if kind != first]
    return [Holder(house, service, name).user for service in services]
