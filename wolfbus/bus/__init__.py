"""Encoded messages on named streams: ``memory://`` in one process, Redis between processes, the same semantics."""

from __future__ import annotations

from wolfbus.bus.protocol import Bus, Commit, Entry, Owner, Reader, Unpacked, every_entry
from wolfbus.bus.pump import BusReader, BusWriter
from wolfbus.bus.url import IN_PROCESS, is_in_process, read_address
from wolfbus.errors import ConfigError

__all__ = [
    "Bus",
    "BusReader",
    "BusWriter",
    "Commit",
    "Entry",
    "Owner",
    "Reader",
    "Unpacked",
    "every_entry",
    "open_bus",
]


def open_bus(url: str) -> Bus:
    """Open the bus at an address.

    Args:
        url: ``memory://`` (a new bus of its own), ``memory://NAME`` (one bus per name and process),
            ``redis://[USER:PASSWORD@]HOST[:PORT][/DATABASE]``, ``rediss://`` alike under TLS, or
            ``unix://[USER:PASSWORD@]/PATH[?db=DATABASE]``, or ``redis+cluster://[USER:PASSWORD@]HOST[:PORT],HOST[:PORT]``
            with some nodes of a Redis Cluster. Redis takes ``?patience=SECONDS`` (30): how long to go on
            trying after a break, and how long services wait for a server that is not up yet (3 unless given); rediss
            takes ``ssl_ca_certs=FILE``.

    Raises:
        ConfigError: the address cannot be understood.
        BusDown: the server cannot be reached.
        BusError: the server is older than Redis 7.0, or does not accept the user.
    """
    if is_in_process(url):
        from wolfbus.bus.memory import MemoryBus

        name = url.removeprefix(IN_PROCESS)
        if not all(character.isalnum() or character in "-_." for character in name):
            raise ConfigError(f"bus address: memory://{name} is no name (letters, digits, dash, dot, underscore)")
        return MemoryBus(name)
    read_address(url)  # a wrong one is refused before redis-py is loaded
    from wolfbus.bus.redis.bus import RedisBus

    return RedisBus(url)
