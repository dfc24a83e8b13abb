"""The ticket office: one Redis server's users, as whoever may manage them sees it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal, TypeAlias, TypeVar

from wolfbus.bus import streams
from wolfbus.bus.redis.link import RedisLink, ResponseError, Word, refusal
from wolfbus.bus.redis.links import Links
from wolfbus.bus.url import Address
from wolfbus.closable import Closable
from wolfbus.tickets.file import write_secret
from wolfbus.tickets.holders import Holder, holder_of, services

T = TypeVar("T")

PATIENCE_S = 3.0
"""How long to try to reach the server: enough for one that is just starting, short for a wrong address."""

Saved: TypeAlias = Literal["server", "file", "nowhere"]
"""Where users outlive a restart: in the server's own aclfile, in a file for the operator to configure, or not."""


class Office(Closable):
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
        self._links.reach(min(PATIENCE_S, address.patience_s))

    def users(self) -> tuple[str, ...]:
        """Return the names of all users, tickets or not."""
        return tuple(word.decode() for word in self._ask("ACL", "USERS", doing="listing users"))

    def holders(self, house: str | None = None) -> tuple[Holder, ...]:
        """Return who holds a ticket, of one house or of all, sorted."""
        found = (holder_of(user) for user in self.users())
        return tuple(sorted(holder for holder in found if holder is not None and house in {None, holder.house}))

    def me(self) -> str:
        """Return the user this office works as."""
        name: bytes = self._ask("ACL", "WHOAMI", doing="asking who we are")
        return name.decode()

    def is_on(self, user: str) -> bool:
        """Return whether a user may log in."""
        facts = self._ask("ACL", "GETUSER", user, doing=f"user {user}")
        return facts is not None and b"on" in dict(zip(facts[::2], facts[1::2], strict=True))[b"flags"]

    def set_users(self, users: Sequence[tuple[str, Sequence[str]]]) -> None:
        """Make users, or change them, by (name, words of ``ACL SETUSER``)."""
        self._ask_all([("ACL", "SETUSER", user, *words) for user, words in users], "making users")

    def delete(self, users: Iterable[str]) -> int:
        """Take users away and end their connections, blocked ones too; returns how many there were."""
        names = list(users)
        return int(self._ask("ACL", "DELUSER", *names, doing="taking users away")) if names else 0

    def hang_up(self, user: str) -> int:
        """End all connections of a user but our own; returns how many there were."""
        return int(self._ask("CLIENT", "KILL", "USER", user, "SKIPME", "yes", doing=f"ending connections of {user}"))

    def connections(self) -> Counter[str]:
        """Return how many connections every user has."""
        listed: bytes = self._ask("CLIENT", "LIST", doing="listing connections")
        words = (line.split(" ") for line in listed.decode(errors="replace").splitlines())
        return Counter(word.removeprefix("user=") for line in words for word in line if word.startswith("user="))

    def admit(self, holders: Sequence[Holder]) -> None:
        """Put those of one house that join on the list that a moderator with tickets goes by."""
        joining = [holder for holder in holders if holder.joins]
        if joining:
            house = joining[0].house
            pairs = [word for holder in joining for word in (holder.name, holder.service)]
            names = [holder.name for holder in joining]
            # what somebody may do is known before that it may come
            commands = [("HSET", services(house), *pairs), ("SADD", streams.tickets(house), *names)]
            self._ask_all(commands, f"tickets of house {house}")

    def dismiss(self, house: str, names: Sequence[str]) -> None:
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
            write_secret(aclfile, [line.decode() for line in lines], replace=True)
        (reply,) = self._run(lambda link: link.exchange([("ACL", "SAVE")]))
        if not isinstance(reply, ResponseError):
            return "server"
        if "not configured to use an ACL file" not in str(reply):
            raise refusal(reply, "saving users") from reply
        return "file" if aclfile is not None else "nowhere"

    def prove(self, user: str, password: str) -> None:
        """Log in as a user and leave; raises BusError if that does not work."""
        Links(replace(self.address, username=user, password=password)).run("", RedisLink.close, PATIENCE_S)

    def go_on_as(self, user: str, password: str) -> None:
        """Work as another user from now on."""
        self.close()
        self.address = replace(self.address, username=user, password=password)
        self._links = Links(self.address)

    def close(self) -> None:
        """Hang up."""
        self._links.close()

    def _run(self, work: Callable[[RedisLink], T]) -> T:
        return self._links.run("", work, min(PATIENCE_S, self.address.patience_s))

    def _ask(self, *command: Word, doing: str) -> Any:
        return self._run(lambda link: link.ask(*command, doing=doing))

    def _ask_all(self, commands: Sequence[Sequence[Word]], doing: str) -> None:
        for reply in self._run(lambda link: link.exchange(commands)):
            if isinstance(reply, ResponseError):
                raise refusal(reply, doing) from reply
