"""Where a Redis is and how to get in, read from ``redis://``, ``rediss://`` and ``unix://`` addresses."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal
from urllib.parse import SplitResult, parse_qsl, unquote, urlsplit

from wolfbus.errors import ConfigError

PATIENCE_S = 30.0
"""How long a bus goes on trying to reach its server, unless told otherwise."""


@dataclass(frozen=True, slots=True)
class Address:
    """One Redis server and one of its users.

    Attributes:
        kind: plain TCP, TCP under TLS, or a Unix socket.
        host: host name or number ("" for a Unix socket).
        port: TCP port, 1-65535 (0 for a Unix socket).
        path: path of the Unix socket, else "".
        database: number of the database, from 0.
        username: ACL user, None for the default user.
        password: its password, None if it has none; never shown.
        patience_s: how long to go on trying to reach the server, in seconds, > 0.
        ca_certs: file of the certificates that vouch for a TLS server; None trusts the system's.
    """

    kind: Literal["tcp", "tls", "unix"]
    host: str = ""
    port: int = 0
    path: str = ""
    database: int = 0
    username: str | None = None
    password: str | None = field(default=None, repr=False)
    patience_s: float = PATIENCE_S
    ca_certs: str | None = None

    @property
    def place(self) -> str:
        """HOST:PORT or the socket's path, as error lines name it."""
        if self.kind == "unix":
            return self.path
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"

    @property
    def shown(self) -> str:
        """The address fit for printing: without user and password."""
        scheme = {"tcp": "redis", "tls": "rediss", "unix": "unix"}[self.kind]
        if self.kind == "unix":
            return f"{scheme}://{self.path}" + (f"?db={self.database}" if self.database else "")
        return f"{scheme}://{self.place}" + (f"/{self.database}" if self.database else "")


def read_address(url: str) -> Address:
    """Read ``redis[s]://[USER:PASSWORD@]HOST[:PORT][/DATABASE]`` or ``unix://[USER:PASSWORD@]/PATH[?db=DATABASE]``.

    Options behind ``?``: ``patience`` (seconds, > 0) for all, ``ssl_ca_certs`` (a file) for rediss, ``db`` for unix.

    Raises:
        ConfigError: the address cannot be understood; the line never repeats a password.
    """
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError as error:
        # The parser's own sentence may quote the part with the password.
        raise ConfigError("bus address: host and port cannot be read (expected redis://HOST:PORT/DATABASE)") from error
    scheme = parts.scheme
    options = _options(parts)
    user = unquote(parts.username) if parts.username else None
    password = unquote(parts.password) if parts.password else None
    patience_s = _seconds(options.get("patience"))
    if scheme == "unix":
        if parts.hostname or not parts.path.strip("/"):
            raise ConfigError("bus address: unix:// needs an absolute path, as in unix:///run/redis.sock")
        database = _database(options.get("db", ""))
        return Address("unix", "", 0, unquote(parts.path), database, user, password, patience_s)
    if not parts.hostname:
        raise ConfigError(f"bus address: {scheme}:// names no host (expected {scheme}://HOST:PORT/DATABASE)")
    if port == 0:
        raise ConfigError("bus address: 0 is no port")
    ca_certs = options.get("ssl_ca_certs")
    if ca_certs is not None and not Path(ca_certs).is_file():
        raise ConfigError(f"bus address: ssl_ca_certs={ca_certs} is no file")
    return Address(
        "tls" if scheme == "rediss" else "tcp",
        parts.hostname,
        port or 6379,
        "",
        _database(parts.path.strip("/")),
        user,
        password,
        patience_s,
        ca_certs,
    )


def _options(parts: SplitResult) -> dict[str, str]:
    known = {"redis": {"patience"}, "rediss": {"patience", "ssl_ca_certs"}, "unix": {"patience", "db"}}[parts.scheme]
    options = dict(parse_qsl(parts.query, keep_blank_values=True))
    for name in options:
        if name not in known:
            offer = ", ".join(sorted(known))
            raise ConfigError(f"bus address: {parts.scheme}:// has no option {name!r} (it has: {offer})")
    return options


def _seconds(text: str | None) -> float:
    if text is None:
        return PATIENCE_S
    try:
        seconds = float(text)
    except ValueError:
        seconds = math.nan
    if not (math.isfinite(seconds) and seconds > 0):
        raise ConfigError(f"bus address: patience={text} is no number of seconds above 0")
    return seconds


def _database(text: str) -> int:
    if not text:
        return 0
    if not text.isdecimal():
        raise ConfigError(f"bus address: {text!r} is no database number")
    return int(text)
