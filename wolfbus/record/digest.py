"""The digest: what two plays of the same game must share, and nothing that may differ between them.

SHA-256 over canonical JSON of, in order: config, seats and roles, brain specs, questions with legal answers, accepted
content, outcomes, and every derived game event. Not in it: game id, numbers, times, deadlines, agents, raw text,
thoughts, readings, rejected messages, prompts, model calls, hashes.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from typing import Any

from wolfbus.canonical import canonical
from wolfbus.messages.codec import plain
from wolfbus.messages.events import AnyEvent

_NOT_RULES = {"deadlines", "absent_grace", "memory"}
_ASIDE = frozenset({"rejected", "segment", "prompt_text", "model_call", "stopped"})
_OF_AN_ANSWER = ("type", "batch", "seat", "outcome", "fault", "content")


class Digest:
    """Running digest of a game; feed it every event in record order."""

    def __init__(self) -> None:
        self._sha = hashlib.sha256()

    def feed(self, event: AnyEvent, body: Mapping[str, Any] | None = None) -> None:
        """Add one event, whose plain values may be given as `body` if they are at hand."""
        value = essence(event, plain(event) if body is None else body)
        if value is not None:
            self._sha.update(canonical(value) + b"\n")

    def hexdigest(self) -> str:
        """Return the digest so far, 64 hex digits."""
        return self._sha.hexdigest()


def essence(event: AnyEvent, body: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """Return what of an event counts for the digest, None if nothing does."""
    if event.type == "answered":
        return {name: body[name] for name in _OF_AN_ANSWER if name in body}
    if event.type in _ASIDE:
        return None
    if event.type == "opened":
        return {
            "type": "opened",
            "config": event.config.model_dump(exclude=_NOT_RULES),
            "seats": [[seat.name, seat.role, seat.brain, seat.declines] for seat in event.seats],
        }
    return body


def digest_of(events: Iterable[AnyEvent]) -> str:
    """Return the digest of a whole game."""
    digest = Digest()
    for event in events:
        digest.feed(event)
    return digest.hexdigest()
