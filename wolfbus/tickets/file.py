"""A ticket as a file: ``NAME=value`` lines that a shell and Docker read alike, for its owner's eyes only."""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Sequence
from pathlib import Path
from typing import Final
from urllib.parse import quote, urlencode

from wolfbus.bus.url import CLUSTER, Address, read_address
from wolfbus.errors import ConfigError
from wolfbus.tickets.holders import MODERATOR, Holder
from wolfbus.whole_file import OWNER, read_text_whole, write_whole

PASSWORD_BYTES = 32

_LONGEST: Final = 1 << 16
"""Bytes of a ticket, and of what somebody wrote around it."""


def fresh_password() -> str:
    """Return 256 random bits as hex digits: no guess will find them, and no address, shell or file must quote them."""
    return secrets.token_hex(PASSWORD_BYTES)


def sealed(password: str) -> str:
    """Return what a server is told of a password: its SHA-256, which does for checking and not for logging in."""
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
    whose = f"{holder.service} {holder.name} of house {holder.house}" if holder else "the administrator of this Redis"
    lines = [f"# wolfbus ticket: {whose}. Whoever can read this file can act as it."]
    lines.append(f"WOLFBUS_BUS={address_with(address, user, password)}")
    if holder is not None:
        lines.append(f"WOLFBUS_HOUSE={holder.house}")
        if holder.service != MODERATOR:
            lines.append(f"WOLFBUS_NAME={holder.name}")
    return lines


def address_with(address: Address, user: str, password: str) -> str:
    """Return a bus address with a user in it. At most one option stands in it, so that no shell needs it quoted."""
    who = f"{quote(user, safe='~')}:{password}@"
    if address.kind == "unix":
        options = f"?db={address.database}" if address.database else ""
        return f"unix://{who}{quote(address.path)}{options}"
    database = f"/{address.database}" if address.database else ""
    options = "?" + urlencode({"ssl_ca_certs": address.ca_certs}, safe="/") if address.ca_certs else ""
    return f"{'rediss' if address.kind == 'tls' else 'redis'}://{who}{address.place}{database}{options}"


def write_secret(path: Path, lines: Sequence[str], *, replace: bool) -> None:
    """Write a file that only its owner can read, whole or not at all.

    Raises:
        ConfigError: it exists, and may not be replaced.
        OSError: it cannot be written.
    """
    if not replace and path.exists():
        raise ConfigError(f"{path} is there already (--force replaces it)")
    write_whole(path, (f"{line}\n" for line in lines), mode=OWNER)


def make_folder(folder: Path) -> None:
    """Make a folder for tickets that others cannot enter and git passes over; one that is there stays as it is."""
    if not folder.is_dir():
        folder.mkdir(mode=0o700, parents=True)
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
            return value.strip()
    raise ConfigError(f"ticket {path}: it holds no line WOLFBUS_BUS=…")


def redis_address(url: str) -> Address:
    """Read the address of a Redis; raises ConfigError for another bus, which has no users."""
    if url.startswith(f"{CLUSTER}://"):
        raise ConfigError(
            "tickets are for one Redis: each node of a cluster has users of its own, make them there by hand"
        )
    if url.partition("://")[0] not in {"redis", "rediss", "unix"}:
        raise ConfigError("tickets are for a Redis: give redis://, rediss:// or unix:// (or @FILE, a ticket) as --bus")
    return read_address(url)
