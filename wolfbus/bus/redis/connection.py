"""One connection to a Redis server: commands go out together, replies come back in order, nothing is ever sent twice.

Of redis-py its connections are used, here alone, and its exceptions. Its client class is not: its defaults send a
command again after a lost reply (which doubles an append) and shape replies differently from version to version.
Scripts are loaded once, called by their sum, and loaded again when the server forgot them.
"""

from __future__ import annotations

import functools
import logging
import re
import select
from collections.abc import Callable, Sequence
from importlib import resources
from typing import Any, Final, Protocol, cast

import redis
from redis.backoff import NoBackoff
from redis.exceptions import (
    AskError,
    AuthenticationError,
    ClusterCrossSlotError,
    ClusterDownError,
    InvalidResponse,
    MasterDownError,
    NoPermissionError,
    NoScriptError,
    OutOfMemoryError,
    ReadOnlyError,
    ResponseError,
    TryAgainError,
)
from redis.exceptions import ConnectionError as RedisConnectionError
from redis.exceptions import TimeoutError as RedisTimeoutError
from redis.retry import Retry

from wolfbus.bus.redis.trouble import FULL, UNSERVED, cluster_advice, login_refusal
from wolfbus.bus.url import Address
from wolfbus.errors import BusError, BusFull, NotAllowed

logger = logging.getLogger(__name__)

NEEDED = (7, 0)
"""Oldest server that will do: ids of the form ``EPOCH-*``, ``XINFO STREAM`` with counts, ACLs per direction."""

_NEEDED_TEXT: Final = ".".join(map(str, NEEDED))

SILENT_S: Final = 5.0
"""Seconds without a reply after which that is logged."""

CONNECT_TIMEOUT_S = 5.0
REPLY_TIMEOUT_S = 10.0
PACKET = 32_768
"""Bytes of commands that are worth a packet of their own."""

CLIENT_NAME = "wolfbus"

Word = str | bytes | int
"""One word of a command."""

BROKEN = (RedisConnectionError, RedisTimeoutError, InvalidResponse)
"""The connection broke, or carries nonsense, or the server is not ready: worth another try."""

UNSETTLED = (ReadOnlyError, MasterDownError, TryAgainError, ClusterDownError)
"""Refusals that pass by themselves, while a server is being replaced by its replica."""


class UnsavedError(RedisConnectionError):
    """A server takes no writes until it can save them again."""


_BUSY: Final = "BUSY "
"""How a server begins that somebody's script keeps from answering."""

_UNSAVED: Final = "MISCONF"
"""How a server begins that takes no writes until it can save them again: its disk is full, or was."""


class _Pollable:
    """Gives redis-py's connections what they lack: `fileno`, so that a reader can wait for a reply
    or for another thread, and another timeout once they stand.
    """

    _sock: Any

    def fileno(self) -> int:
        return cast("int", self._sock.fileno()) if self._sock is not None else -1

    def wait_for_replies(self, seconds: float) -> None:
        self._sock.settimeout(seconds)


class _Tcp(_Pollable, redis.Connection):
    pass


class _Tls(_Pollable, redis.SSLConnection):
    pass


class _Unix(_Pollable, redis.UnixDomainSocketConnection):
    pass


class _Connection(Protocol):
    """The part of redis-py's connection that is used; the same from 5.2 to 8.1."""

    def connect(self) -> None: ...

    def disconnect(self) -> None: ...

    def fileno(self) -> int: ...

    def wait_for_replies(self, seconds: float) -> None: ...

    def pack_command(self, *words: Word) -> list[bytes]: ...

    def send_packed_command(self, command: list[bytes], check_health: bool = True) -> None: ...

    def read_response(self) -> Any: ...


class RedisLink:
    """A connection that stands, to a server new enough. Not thread-safe.

    Args:
        address: where, and as whom.
        reply_timeout_s: longest wait for one reply, in seconds.
        opening_s: longest wait for the connection, and for the server to shake hands, in seconds.

    Attributes:
        client_id: the server's number for this connection.
        address: where it leads.
        asking: whether each command is for a slot that a cluster is just moving to this node.

    Raises:
        BusError: the server is too old, or refuses the user.
        redis.exceptions.RedisError: one of `BROKEN`, if no connection comes about.
    """

    def __init__(
        self,
        address: Address,
        reply_timeout_s: float = REPLY_TIMEOUT_S,
        opening_s: float = REPLY_TIMEOUT_S,
    ) -> None:
        self.address = address
        self.asking = False
        self._reply_s = opening_s
        self._connection = _connection(address, opening_s, min(CONNECT_TIMEOUT_S, opening_s))
        try:
            self._connection.connect()
            self.client_id = self._shake_hands(address)
            self.wait_for_replies(reply_timeout_s)
        except AuthenticationError as error:
            self.close()
            raise NotAllowed(login_refusal(address, str(error))) from error
        except ResponseError as error:
            self.close()
            raise refusal(error, f"Redis at {address.place}") from error
        except BaseException:
            self.close()
            raise

    def _shake_hands(self, address: Address) -> int:
        # HELLO is open to every ACL user; CLIENT SETNAME, CLIENT ID and INFO are not.
        (reply,) = self.exchange([("HELLO", 2, "SETNAME", CLIENT_NAME)])
        if isinstance(reply, ResponseError):
            if "unknown command" in str(reply):
                raise BusError(
                    f"Redis at {address.place} does not know HELLO: it is older than 6.0, or a proxy, or the command "
                    f"was taken away (rename-command); wolfbus needs {_NEEDED_TEXT} or newer, with HELLO"
                )
            raise reply
        facts = dict(zip(reply[::2], reply[1::2], strict=False)) if isinstance(reply, list) else {}
        version, client_id = facts.get(b"version", b""), facts.get(b"id")
        numbers = re.match(rb"(\d+)\.(\d+)", version)
        if numbers is None or not isinstance(client_id, int):
            hello = f"to HELLO it says version {version!r:.40}, id {client_id!r:.40}"
            raise BusError(f"what answers at {address.place} is no Redis {_NEEDED_TEXT} or newer: {hello}")
        if tuple(map(int, numbers.groups())) < NEEDED:
            version = version.decode(errors="replace")
            raise BusError(f"Redis at {address.place} has version {version}; wolfbus needs {_NEEDED_TEXT} or newer")
        return client_id

    def fileno(self) -> int:
        """Return the socket's number, for selectors."""
        return self._connection.fileno()

    def wait_for_replies(self, seconds: float) -> None:
        """Wait no longer for a reply than this from now on."""
        self._reply_s = seconds
        self._connection.wait_for_replies(seconds)

    def send(self, commands: Sequence[Sequence[Word]]) -> None:
        """Send commands without waiting for replies."""
        if self.asking:
            commands = [sent for command in commands for sent in (("ASKING",), command)]
        packed: list[bytes] = []
        size = 0
        for command in commands:
            pieces = self._connection.pack_command(*command)
            packed += pieces
            size += sum(map(len, pieces))
            if size > PACKET:
                # The server works on these while the next are packed.
                self._connection.send_packed_command([b"".join(packed)], check_health=False)
                packed.clear()
                size = 0
        if packed:
            self._connection.send_packed_command([b"".join(packed)], check_health=False)

    def receive(self) -> Any:
        """Return the next reply in RESP2's shape: bytes, int, None, list; a refusal is returned, not raised.

        Raises:
            redis.exceptions.RedisError: one of `BROKEN`, or of a cluster's node AskError or MovedError: another has it.
        """
        try:
            if self.asking:
                self._connection.read_response()
            return self._connection.read_response()
        except UNSETTLED as error:
            if UNSERVED in str(error) and not self.address.cluster:
                # no failover, after which it would be served again: no node was given the slot
                return error
            raise RedisConnectionError(str(error)) from error
        except AskError as error:
            if self.address.cluster:
                raise
            return error
        except ResponseError as error:
            if str(error).startswith(_BUSY):
                raise RedisConnectionError(str(error)) from error
            if str(error).startswith(_UNSAVED):
                raise UnsavedError(f"{_UNSAVED}: it takes no writes until it can save them") from error
            return error

    def exchange(self, commands: Sequence[Sequence[Word]]) -> list[Any]:
        """Send commands and return their replies; see `receive`."""
        self.send(commands)
        if self._reply_s <= SILENT_S or self._answers_soon():
            return [self.receive() for _ in commands]
        logger.warning("Redis at %s has not answered for %g s; waiting for it", self.address.place, SILENT_S)
        self._connection.wait_for_replies(self._reply_s - SILENT_S)
        replies = [self.receive() for _ in commands]
        self._connection.wait_for_replies(self._reply_s)
        return replies

    def _answers_soon(self) -> bool:
        waiting = select.poll()
        waiting.register(self, select.POLLIN)
        return bool(waiting.poll(SILENT_S * 1000))

    def ask(self, *command: Word, doing: str) -> Any:
        """Send one command and return its reply.

        Raises:
            BusError: the server refused; the line begins with `doing`.
        """
        (reply,) = self.exchange([command])
        if isinstance(reply, ResponseError):
            raise refusal(reply, doing) from reply
        return reply

    def close(self) -> None:
        """Close the connection."""
        self._connection.disconnect()


def refusal(error: ResponseError, doing: str, stream: str = "") -> BusError:
    """Turn a server's refusal into one line that begins with what was being done, perhaps to a stream."""
    if isinstance(error, OutOfMemoryError):
        return BusFull(f"{doing}: {FULL}")
    if isinstance(error, AskError):
        location = f"slot {error.slot_id} is at {error.host}:{error.port}"
        return BusError(f"{doing}: {cluster_advice(location)}")
    if isinstance(error, ClusterCrossSlotError):
        return BusError(f"{doing}: on a Redis Cluster only keys of one house go together ({error})")
    if isinstance(error, ClusterDownError):
        return BusError(f"{doing}: {cluster_advice(str(error))}")
    if isinstance(error, NoPermissionError):
        return NotAllowed(f"{doing}: this Redis user may not do that ({error})", stream)
    return BusError(f"{doing}: {error}")


def _connection(address: Address, reply_timeout_s: float, connect_timeout_s: float) -> _Connection:
    options: dict[str, Any] = {
        "db": address.database,
        "username": address.username,
        "password": address.password,
        "socket_timeout": reply_timeout_s,
        "socket_connect_timeout": connect_timeout_s,
        "retry_on_timeout": False,
        "retry_on_error": [],
        "retry": Retry(NoBackoff(), 0),
        "health_check_interval": 0,
        "client_name": None,
        "protocol": 2,
        "encoding": "utf-8",
        "encoding_errors": "strict",
        "decode_responses": False,
    }
    if address.kind == "unix":
        options["path"] = address.path
    else:
        options |= {"host": address.host, "port": address.port, "socket_keepalive": True}
    if address.kind == "tls":
        options |= {"ssl_cert_reqs": "required", "ssl_check_hostname": True, "ssl_ca_certs": address.ca_certs}
        options |= {"ssl_certfile": address.certificate, "ssl_keyfile": address.key}
    make: Callable[..., Any] = {"tcp": _Tcp, "tls": _Tls, "unix": _Unix}[address.kind]
    connection: _Connection = make(**options)
    # Else every connection of a user without CLIENT would leave two denials in the server's ACL LOG.
    for name in ("driver_info", "lib_name", "lib_version"):
        setattr(connection, name, None)
    return connection


@functools.cache
def _text_of(script: str) -> str:
    return resources.files("wolfbus.bus.redis").joinpath(f"{script}.lua").read_text("utf-8")


class Script:
    """One of the scripts that lie beside this file; whatever it does must be safe to repeat.

    Args:
        name: name of the file, without ``.lua``.
    """

    def __init__(self, name: str) -> None:
        self._name = name
        self._text = _text_of(name)
        self._sum = ""

    def run(self, link: RedisLink, calls: Sequence[Sequence[Word]]) -> list[Any]:
        """Call it once for each of `calls` (number of keys, keys, arguments), all in one round trip.

        Returns:
            The replies; a refusal is returned, not raised.

        Raises:
            BusError: it cannot be loaded.
        """
        if not self._sum:
            self._load(link)
        replies = link.exchange([("EVALSHA", self._sum, *words) for words in calls])
        if any(isinstance(reply, NoScriptError) for reply in replies):
            # A restarted or flushed server. Calls that were carried out all the same come twice.
            self._load(link)
            replies = link.exchange([("EVALSHA", self._sum, *words) for words in calls])
        if any(isinstance(reply, NoScriptError) for reply in replies):
            # behind a proxy of several servers each has scripts of its own
            replies = link.exchange([("EVAL", self._text, *words) for words in calls])
        return replies

    def _load(self, link: RedisLink) -> None:
        self._sum = link.ask("SCRIPT", "LOAD", self._text, doing=f"loading the {self._name} script").decode()
