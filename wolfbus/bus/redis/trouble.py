"""What to do about a Redis that is away, lets nobody in, is full or is a cluster: a line each."""

from __future__ import annotations

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
_OTHER_NAME: Final = (62, 64)
"""OpenSSL's numbers for a certificate that is for another host name or another address."""


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
    return f"Redis at {address.place} does not accept this user and password"


def cluster_advice(reply: str) -> str:
    """Say what to do where a node of a Redis Cluster, in its own words, does not serve a key.

    All keys of a house have one hash tag, and so lie in one slot, which one node serves.
    """
    return (
        f"this is a node of a Redis Cluster ({reply}), and the address of one node is no way to all "
        "of them: write redis+cluster://HOST:PORT,HOST:PORT with some of its nodes"
    )


def _remedy(address: Address, error: Exception) -> str:
    for cause in _causes(error):
        if isinstance(cause, ssl.SSLCertVerificationError):
            if cause.verify_code in _OTHER_NAME:
                return "its certificate is for another host: give the host by the name in it"
            return (
                "nobody known here vouches for its certificate: add ?ssl_ca_certs=FILE to the "
                "address, the certificate of its authority, or the server's own if it is "
                "self-signed"
            )
    if address.cluster:
        return "check that these nodes of the cluster run and listen there; ?patience=SECONDS waits longer"
    if address.kind == "tls":
        return "check the address, and that it runs there and speaks TLS (without TLS an address begins with redis://)"
    if address.kind == "unix":
        start = "redis-server --unixsocket PATH"
        return f"start it ({start}), or check the path; ?patience=SECONDS waits longer"
    if address.host.startswith(_LOCAL):
        start = f"redis-server --port {address.port}, or docker run -p {address.port}:6379 redis:7"
        return f"start it ({start}), or check the address; ?patience=SECONDS waits longer"
    return "check the address, and that it runs and listens there; ?patience=SECONDS waits longer"


def _scheme(address: Address) -> str:
    return CLUSTER if address.cluster else {"tcp": "redis", "tls": "rediss", "unix": "unix"}[address.kind]


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__
