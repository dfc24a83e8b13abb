"""Bus addresses: where a Redis is and how to get in, and how an address is shown.

Wherever one is printed, `shown_url` masks user and password.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final, Literal
from urllib.parse import SplitResult, parse_qsl, unquote, urlsplit

from wolfbus.errors import ConfigError

MASK: Final = "***"
"""Stands for user and password."""

_FIRST_OPTION: Final = re.compile(r"\?(?:db|patience|ssl_ca_certs|ssl_certfile|ssl_keyfile)=")
# a path makes one slash of two
_ADDRESS: Final = re.compile(r"\b(?:redis(?:\+cluster)?|rediss|valkeys?|unix)://?\S+")


def shown_url(url: str) -> str:
    """Return a bus address with ``***`` for its user and password; one without them as it is.

    It need not be a right address: what may be meant for a password is taken out, rather too
    much than too little.
    """
    scheme, colon, address = url.partition("://")
    if not colon:
        scheme, address = "", url
    option = _FIRST_OPTION.search(address)
    location, options = (address, "") if option is None else (address[: option.start()], address[option.start() :])
    if "@" in options and "@" not in location:
        # a password may hold a question mark too
        location, options = address, ""
    if scheme == "unix" and location.startswith("/"):
        return url
    _, at, place = location.rpartition("@")
    return f"{scheme}{colon}{MASK + at if at else ''}{place}{options}"


def is_in_process(url: str) -> bool:
    """Return whether an address is that of a bus inside one process, where nobody else can be (`Bus.in_process`)."""
    return url.startswith("memory:")


def masked(text: str) -> str:
    """Return a text, such as an error's line, with every Redis address as `shown_url` shows it."""
    return _ADDRESS.sub(lambda match: shown_url(match[0]), text)


CLUSTER: Final = "redis+cluster"
"""Scheme of an address that names nodes of a Redis Cluster."""

SCHEMES = ("redis", "rediss", "unix", CLUSTER)

_SAME: Final = {"valkey": "redis", "valkeys": "rediss"}
"""Other names of schemes."""

PATIENCE_S = 30.0
"""How long a bus goes on trying after a break, unless the address says otherwise."""

IN_PROCESS: Final = "memory://"
"""Address of a new bus inside this process; a name behind it is one bus for all who say it."""

OPENING_S = 3.0
"""How long a server that was never reached is tried, unless the address names a patience: enough
for one that is just starting, short for a wrong address."""

_DEFAULT_PORT: Final = 6379
_ENCODED: Final = "; in a password / ? # @ : and % are written %2F %3F %23 %40 %3A %25"

_FILES: Final = ("ssl_ca_certs", "ssl_certfile", "ssl_keyfile")

_OPTIONS = {
    "redis": {"patience"},
    "rediss": {"patience", *_FILES},
    "unix": {"patience", "db"},
    CLUSTER: {"patience"},
}


@dataclass(frozen=True, slots=True)
class Address:
    """One Redis server, or some nodes of a Redis Cluster, and one of its users.

    Attributes:
        kind: plain TCP, TCP under TLS, or a Unix socket.
        host: host name or number ("" for a Unix socket).
        port: TCP port, 1-65535 (0 for a Unix socket).
        path: path of the Unix socket, else "".
        database: number of the database, from 0.
        username: ACL user, None for the default user.
        password: its password, None if it has none; never shown.
        patience_s: how long to go on trying after a break, in seconds, > 0.
        waits: whether the address itself names that patience; a server that is not up yet is then
            waited for as long.
        ca_certs: file of the certificates that vouch for a TLS server; None trusts the system's.
        certificate: file of the client's own certificate for such a server; None for none.
        key: file of the key to that; None where it stands in the same file.
        cluster: whether this is a node of a Redis Cluster, and a way to all of them.
        others: (host, port) of further nodes to ask for the others.
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
    certificate: str | None = None
    key: str | None = None
    waits: bool = False
    cluster: bool = False
    others: tuple[tuple[str, int], ...] = ()

    @property
    def opening_s(self) -> float:
        """Seconds for which a service tries to reach a server that it never reached before."""
        return self.patience_s if self.waits else OPENING_S

    @property
    def place(self) -> str:
        """HOST:PORT, of a cluster perhaps several, or the socket's path, as error lines name it."""
        if self.kind == "unix":
            return self.path
        places = ((self.host, self.port), *self.others)
        return ",".join(f"{host_in_url(host)}:{port}" for host, port in places)

    def at(self, host: str, port: int) -> Address:
        """Return the address of one node of the same cluster."""
        return replace(self, host=host, port=port, others=())


def read_address(url: str) -> Address:
    """Read ``redis[s]://[USER:PASSWORD@]HOST[:PORT][/DATABASE]``, ``unix://[USER:PASSWORD@]/PATH[?db=DATABASE]`` or
    ``redis+cluster://[USER:PASSWORD@]HOST[:PORT][,HOST[:PORT]…]``.

    ``valkey[s]://`` is ``redis[s]://``. Options behind ``?``: ``patience`` (seconds, > 0) for all; ``ssl_ca_certs``,
    ``ssl_certfile`` and ``ssl_keyfile`` (files) for rediss; ``db`` for unix.

    Raises:
        ConfigError: the address cannot be understood; the line never repeats a password.
    """
    scheme, url = _scheme_of(url)
    try:
        first, rest = _nodes(url) if scheme == CLUSTER else (url, [])
        parts = urlsplit(first)
        others = _others(parts, rest)
        port = parts.port
        is_readable = all(map(is_host, filter(None, (parts.hostname, *(host for host, _ in others)))))
    except ValueError:
        is_readable = False
    if not is_readable:
        # The parser's own sentence may quote the part with the password.
        raise ConfigError(f"bus address: host and port cannot be read (expected redis://HOST:PORT/DATABASE{_ENCODED})")
    if "@" in f"{parts.path}{parts.query}{parts.fragment}" and scheme != "unix":
        raise ConfigError(
            f"bus address: it cannot be told where the password ends (expected redis://HOST:PORT{_ENCODED})"
        )
    options = _options(parts)
    user = unquote(parts.username) if parts.username else None
    password = unquote(parts.password) if parts.password else None
    if user == MASK and password is None:
        raise ConfigError(
            f"bus address: {MASK} stands where user and password were not shown; write USER:PASSWORD in its place"
        )
    patience_s, waits = _seconds(options.get("patience")), "patience" in options
    if scheme == "unix":
        if parts.hostname or not parts.path.strip("/"):
            raise ConfigError("bus address: unix:// needs an absolute path, as in unix:///run/redis.sock")
        database = _database(options.get("db", ""))
        return Address("unix", "", 0, unquote(parts.path), database, user, password, patience_s, waits=waits)
    if not parts.hostname:
        raise ConfigError(f"bus address: {scheme}:// names no host (expected {scheme}://HOST:PORT/DATABASE)")
    if port == 0:
        raise ConfigError("bus address: 0 is no port")
    ca_certs, certificate, key = _files(options)
    return Address(
        "tls" if scheme == "rediss" else "tcp",
        parts.hostname,
        port or _DEFAULT_PORT,
        "",
        _database(parts.path.strip("/")),
        user,
        password,
        patience_s,
        ca_certs,
        certificate,
        key,
        waits,
        scheme == CLUSTER,
        others,
    )


def host_in_url(host: str) -> str:
    """Return a host as it stands in a URL: the number of an IPv6 address in brackets."""
    return f"[{host}]" if ":" in host else host


def is_host(name: str | None) -> bool:
    """Return whether a host may have that name: the system's resolver takes no empty and no overlong label."""
    try:
        return bool(name and name.encode("idna"))
    except UnicodeError:
        return False


def _scheme_of(url: str) -> tuple[str, str]:
    """Return an address's scheme, and the address under it; raises ConfigError."""
    scheme, colon, behind = url.partition("://")
    if not colon:
        raise ConfigError(_without_scheme(url))
    scheme = _SAME.get(scheme, scheme)
    if scheme not in SCHEMES:
        # Nothing behind the scheme is repeated: it may hold a password.
        schemes = ", ".join(f"{name}://" for name in ("memory", *SCHEMES))
        raise ConfigError(f"bus address: {f'{scheme}://'!r:.80} is not known; use {schemes}")
    return scheme, f"{scheme}://{behind}"


def _nodes(url: str) -> tuple[str, list[str]]:
    """Return a cluster's address as one of its first node, and the places of the others: `urlsplit` of newer Python
    versions takes no list of nodes where one of them is the number of an IPv6 address.
    """
    scheme, colon, behind = url.partition("://")
    end = min((at for at in map(behind.find, "/?#") if at >= 0), default=len(behind))
    userinfo, at_sign, places = behind[:end].rpartition("@")
    first, *rest = places.split(",")
    return f"{scheme}{colon}{userinfo}{at_sign}{first}{behind[end:]}", rest


def _others(first: SplitResult, places: list[str]) -> tuple[tuple[str, int], ...]:
    """Return host and port of a cluster's further nodes; raises ValueError, ConfigError."""
    if first.scheme != CLUSTER:
        return ()
    nodes = [urlsplit(f"//{place}") for place in places]
    if first.path.strip("/") not in {"", "0"}:
        raise ConfigError(f"bus address: a cluster has no databases (expected {CLUSTER}://HOST:PORT,HOST:PORT)")
    if not all(node.hostname for node in nodes):
        raise ConfigError(f"bus address: {CLUSTER}:// names a node without a host (expected HOST:PORT,HOST:PORT)")
    others = tuple((node.hostname or "", _DEFAULT_PORT if node.port is None else node.port) for node in nodes)
    if any(port == 0 for _, port in others):
        raise ConfigError("bus address: 0 is no port")
    return others


def with_patience(url: str, seconds: float) -> str:
    """Return an address that has this patience, unless it names another; raises ConfigError."""
    if read_address(url).waits:
        return url
    return f"{url}{'&' if '?' in url else '?'}patience={seconds:g}"


def _without_scheme(url: str) -> str:
    masked_url = shown_url(url)
    if not url:
        return "bus address: it is empty; write one, as in redis://127.0.0.1:6379/0"
    if url.startswith("@"):
        how = "load its variables, as by: set -a; . FILE; set +a"
        return f"bus address: {masked_url!r:.200}: a ticket is no address here; {how}"
    if url.startswith("/"):
        return f"bus address: {masked_url!r:.200} has no scheme; a Unix socket is written unix://{masked_url:.200}"
    complete = masked_url if "/" in masked_url.rpartition("@")[2] else f"{masked_url}/0"
    return f"bus address: {masked_url!r:.200} has no scheme; write redis://{complete:.200}"


def _options(parts: SplitResult) -> dict[str, str]:
    allowed = _OPTIONS[parts.scheme]
    options = dict(parse_qsl(parts.query, keep_blank_values=True))
    for name in options:
        if name not in allowed:
            listed = ", ".join(sorted(allowed))
            raise ConfigError(f"bus address: {parts.scheme}:// has no option {name!r} (it has: {listed})")
    return options


def _files(options: Mapping[str, str]) -> tuple[str | None, ...]:
    """Return the files that are named: of authorities, of the client's certificate, of its key; raises ConfigError."""
    for name in _FILES:
        if (file := options.get(name)) is not None and not Path(file).is_file():
            raise ConfigError(f"bus address: {name}={file} is no file")
    if "ssl_keyfile" in options and "ssl_certfile" not in options:
        raise ConfigError("bus address: ssl_keyfile is the key to a certificate: name it too, by ssl_certfile")
    return tuple(map(options.get, _FILES))


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
