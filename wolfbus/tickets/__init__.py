"""Tickets: Redis credentials of its own for every participant of a house, so that each can do its part and no more.

The moderator service revokes them when it closes: `wolfbus.tickets.issuing.revoke`.
"""

from __future__ import annotations

from wolfbus.tickets.holders import Holder, Service, holder_of, read_bus, redis_address, services

__all__ = ["Holder", "Service", "holder_of", "read_bus", "redis_address", "services"]
