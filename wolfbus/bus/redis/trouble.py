"""What to do about a Redis that is away, lets nobody in, is full or is a cluster: one table, and a line each."""

from __future__ import annotations

import re
import ssl
from collections.abc import Iterator
from typing import Final

from wolfbus.bus.url import CLUSTER, Address
from wolfbus.errors import BusDown

FULL: Final = (
    "Redis is out of memory (its maxmemory is reached): raise that (redis-cli CONFIG SET "
    "maxmemory 2gb), or let finished games go sooner (wolfbus moderator --keep SECONDS)"
)

UNSERVED: Final = "Hash slot not served"
"""What a cluster replies for keys that none of its nodes was ever given."""

_LOCAL: Final = ("localhost", "127.", "::1")
_AUTHORITY: Final = (
    "nobody known here vouches for its certificate: add ?ssl_ca_certs=FILE to the address, the certificate of its "
    "authority, or the server's own if it is self-signed"
)
_CLIENT_CERTIFICATE: Final = (
    "perhaps it asks for a certificate of the client: add ?ssl_certfile=FILE&ssl_keyfile=FILE to the address"
)
_CLOSED: Final = "reset by peer|broken pipe|closed by server"
_REMEDIES: Final = (
    ("read only replica|link with master is down", "this is a replica: give the address of its master"),
    ("misconf", "make room on its disk, and look at its log"),
    ("max number of clients", "raise its limit of connections (redis-cli CONFIG SET maxclients 10000), or end some"),
    ("loading the dataset", "it is still reading its data; ?patience=SECONDS waits longer"),
    ("protocol error, got", "what answers there is no Redis: check host and port"),
    ("permission denied", "this user may not open that socket: see who owns it, and unixsocketperm in redis.conf"),
    ("name or service not known|name resolution|nodename nor servname", "check the name of the host"),
    ("certificate has expired", "its certificate has expired: renew it on the server"),
    ("certificate is not yet valid", "its certificate is not valid yet: look at its dates, and at the clock here"),
    ("(hostname|ip address) mismatch", "its certificate is for another host: give the host by the name in it"),
    ("certificate verify failed", _AUTHORITY),
    ("certificate required|handshake failure|eof occurred in violation", _CLIENT_CERTIFICATE),
)
"""What is said of a broken connection, by the server or the system, and what helps. The first that fits counts."""


def unreachable(address: Address, tried_s: float, error: Exception) -> BusDown:
    """Return the error for a server that could not be reached at all: why, and what to do.

    Args:
        address: the server.
        tried_s: for how many seconds it was tried.
        error: what the last try came to.
    """
    tried = "" if is_lasting(error) else f" (tried for {tried_s:g} s)"
    why = str(error).rstrip(". ")
    return BusDown(f"Redis at {address.place} cannot be reached{tried}: {why}; {_remedy(address, error)}")


def is_lasting(error: BaseException) -> bool:
    """Return whether trying again cannot mend a broken connection: TLS does not come about."""
    return any(isinstance(cause, ssl.SSLError) for cause in _causes(error))


def login_refusal(address: Address, reply: str) -> str:
    """Say why a server does not let this user in, from its own words."""
    if address.password is None:
        return (
            f"Redis at {address.place} asks for a password, and the address has none: after {_scheme(address)}:// "
            "write USER:PASSWORD@ (or :PASSWORD@ for the default user), best in WOLFBUS_BUS, where nobody else sees it"
        )
    if "without any password configured" in reply:
        return f"Redis at {address.place} has no password: leave it out of the address"
    return (
        f"Redis at {address.place} does not accept this user and password (in an address, all of them but letters, "
        "digits and -._~ is written as %XX: %40 for @)"
    )


def cluster_advice(reply: str) -> str:
    """Say what to do where a node of a Redis Cluster, in its own words, does not serve a key.

    All keys of a house have one hash tag, and so lie in one slot, which one node serves.
    """
    return (
        f"this is a node of a Redis Cluster ({reply}), and the address of one node is no way to all "
        "of them: write redis+cluster://HOST:PORT,HOST:PORT with some of its nodes"
    )


def remedy(error: BaseException) -> str:
    """Return what helps against a broken connection, by what went wrong; "" where that alone does not tell."""
    return next((advice for pattern, advice in _REMEDIES if _says(error, pattern)), "")


def _says(error: BaseException, pattern: str) -> bool:
    words = " ".join(str(cause) for cause in _causes(error))
    return re.search(pattern, words, re.IGNORECASE) is not None


def _remedy(address: Address, error: Exception) -> str:
    """Return what to do about a server that was never reached."""
    if advice := remedy(error):
        return advice
    waits = "; ?patience=SECONDS waits longer"
    if address.cluster:
        return f"check that these nodes of the cluster run and listen there{waits}"
    if address.kind == "tls" and _says(error, _CLOSED):
        # it may have gone before it was read why it does not take us
        return f"check that it speaks TLS there; {_CLIENT_CERTIFICATE}"
    if address.kind == "tls":
        return "check the address, and that it runs there and speaks TLS (without TLS an address begins with redis://)"
    if address.kind == "tcp" and _says(error, _CLOSED):
        return "check the port: an address of one that speaks TLS begins with rediss://"
    nobody_listens = _says(error, "refused|no such file")
    if address.kind == "unix" and nobody_listens:
        return f"start it (redis-server --unixsocket PATH), or check the path{waits}"
    if address.host.startswith(_LOCAL) and nobody_listens:
        start = f"redis-server --port {address.port}, or docker run -p {address.port}:6379 redis:7"
        return f"start it ({start}), or check the address{waits}"
    return f"check the address, and that it runs and listens there{waits}"


def _scheme(address: Address) -> str:
    return CLUSTER if address.cluster else {"tcp": "redis", "tls": "rediss", "unix": "unix"}[address.kind]


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__
