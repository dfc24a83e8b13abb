"""Tickets: Redis credentials of its own for every participant of a house, so that each can do its part and no more.

The moderator service revokes them when it closes: `wolfbus.tickets.issuing.revoke`.
"""
