"""Tickets: Redis credentials of its own for every participant of a house, so that each can do its part and no more.

The moderator service revokes them when it closes: ``revoke(url, house, names)``.
"""

from __future__ import annotations

from wolfbus.tickets.holders import Holder
from wolfbus.tickets.issuing import Issued, Revoked, issue, revoke
from wolfbus.tickets.office import Office

__all__ = ["Holder", "Issued", "Office", "Revoked", "issue", "revoke"]
