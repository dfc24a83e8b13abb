"""What each kind of participant may do on a Redis: words for ``ACL SETUSER``, and nothing more than our client needs.

The words begin by taking every right away, so they also cut an existing user down; passwords and ``on`` are the
caller's. They hold for Redis 7.0 and newer. What they leave out on purpose:

- ``CLIENT SETINFO`` is unknown to Redis 7.0, and a user is refused whole for one unknown word. Clients that send it
  when they connect go on without it; on 7.2 and newer add `SINCE_7_2` to spare the server's ACL LOG their attempts.
- ``XREADGROUP``, ``KEYS``, ``SCAN`` and scripts are no seat's: the first writes, the next two tell other names; nor
  is ``SCAN`` the moderator's.
"""

from __future__ import annotations

import re
from typing import Final

from wolfbus.bus import streams
from wolfbus.errors import ConfigError

SINCE_7_2: Final = ("+client|setinfo",)
"""For servers that know it, and clients of others that tell their library's name."""

_NOTHING: Final = ("resetkeys", "-@all", "resetchannels", "clearselectors")
_ENTER: Final = ("+hello", "+auth", "+ping", "+client|setname", "+client|id")
_READ: Final = ("+xread", "+xrange", "+xinfo|stream", "+xlen")
_MODERATE: Final = (
    *("+xadd", "+xdel", "+xtrim", "+type"),
    *("+hget", "+hmget", "+hgetall", "+hset", "+hincrby", "+hdel"),
    *("+del", "+pexpire", "+time", "+evalsha", "+script|load"),
    *("+exists", "+sismember", "+smembers"),
)

_NAME: Final = re.compile(r"[A-Za-z0-9._-]+")


def agent_rules(house: str, name: str, database: int = 0) -> tuple[str, ...]:
    """Return the rights of an agent: read its own mailbox, write its own out stream.

    Args:
        house: the house's name.
        name: the agent's name.
        database: number of the Redis database the house is in; the right to choose one is given only if it is not 0.

    Raises:
        ConfigError: a name that would also match the keys of others.
    """
    _check(house, name)
    keys = (f"%R~{streams.inbox(house, name)}", f"%RW~{streams.outbox(house, name)}")
    return (*_NOTHING, *_ENTER, *_select(database), *_READ, "+xadd", *keys)


def analytics_rules(house: str, name: str, database: int = 0) -> tuple[str, ...]:
    """Return the rights of an analytics service: read what researchers read, write its own out stream and ``live``.

    It may shorten those two streams. See `agent_rules`.
    """
    _check(house, name)
    keys = (
        f"%R~{streams.record(house, '*')}",
        f"%R~{streams.table(house, '*')}",
        f"%R~{streams.games(house)}",
        f"%R~{streams.owner(house)}",
        f"%R~{streams.inbox(house, name)}",
        f"%RW~{streams.outbox(house, name)}",
        f"%RW~{streams.live(house)}",
    )
    return (*_NOTHING, *_ENTER, *_select(database), *_READ, "+xadd", "+xtrim", "+hmget", "+time", *keys)


def moderator_rules(house: str, database: int = 0) -> tuple[str, ...]:
    """Return the rights of a house's moderator: all that is the house's, and nothing of another's.

    See `agent_rules`.
    """
    _check(house)
    return (*_NOTHING, *_ENTER, *_select(database), *_READ, *_MODERATE, f"~{streams.house_key(house, '*')}")


def spectator_rules(house: str, database: int = 0) -> tuple[str, ...]:
    """Return the rights of a spectator: read the tables, and which games there are.

    See `agent_rules`.
    """
    _check(house)
    keys = (f"%R~{streams.table(house, '*')}", f"%R~{streams.games(house)}")
    return (*_NOTHING, *_ENTER, *_select(database), *_READ, *keys)


def _select(database: int) -> tuple[str, ...]:
    return ("+select",) if database else ()


def _check(*names: str) -> None:
    for name in names:
        if not _NAME.fullmatch(name):
            raise ConfigError(f"{name!r} is no name for a house or an agent (letters, digits, dot, dash, underscore)")
