"""The digest: what two plays of the same game must share, and nothing that may differ between them.

SHA-256 over canonical JSON of, in order: config, seats and roles, brain specs, questions with legal answers, accepted
content, outcomes, and every derived game event. Not in it: game id, numbers, times, deadlines, agents, raw text,
thoughts, readings, rejected messages, prompts, model calls, hashes, and whether the game is spoilt, which follows.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Any

from wolfbus.files.canonical import canonical, canonical_members
from wolfbus.messages.codec import plain
from wolfbus.messages.events import AnyEvent, Opened

_EXCLUDED_CONFIG = {"deadlines", "absent_grace", "memory", "spoilt_above"}
_EXCLUDED = frozenset({"rejected", "prompt_text", "model_call", "stopped"})
_SEALED = len('"hash":"",') + 64
_ANSWER_MEMBERS = frozenset({"type", "batch", "seat", "outcome", "fault", "content"})


class Digest:
    """Running digest of a game; feed it every event in record order."""

    def __init__(self) -> None:
        self._sha = hashlib.sha256()

    def feed(self, event: AnyEvent, members: Mapping[str, str] | None = None) -> None:
        """Add one event; the `canonical_members` of its plain values may be given if they are at hand."""
        type_ = event.type
        if event.type == "opened":
            self._sha.update(canonical(_essence_of_opening(event)) + b"\n")
        elif type_ not in _EXCLUDED:
            if members is None:
                # what does not count need not be written
                values = plain(event)
                members = canonical_members({name: values[name] for name in _counted(type_, tuple(values))})
            counted = [members[name] for name in _counted(type_, tuple(members))]
            self._sha.update(f"{{{','.join(counted)}}}\n".encode())

    def feed_line(self, event: AnyEvent, line: bytes) -> None:
        """Add one event by the bytes of the line that holds it, which takes a fifth of the time.

        Of lines that are canonical JSON of their events, as those are that we write, it makes the same digest as `feed`
        does; of any other, another one. So a digest that was noted is proven by it, and not refuted.
        """
        if event.type == "answered":
            start, sealed = line.find(b'"batch":'), line.find(b'"hash":"')
            plainly = event.outcome == "accepted" and 0 < start < sealed
            if plainly and line.find(b'"content":', sealed) < 0 and line.find(b'"batch":', sealed) < 0:
                self._sha.update(b'{%b"seat":%b,"type":"answered"}\n' % (line[start:sealed], _quoted(event.seat)))
                return
        elif event.type in _EXCLUDED:
            return
        elif (
            event.type != "opened"
            and not (event.type == "ended" and event.spoilt)
            and (bare := _without_envelope(line))
        ):
            self._sha.update(bare)
            return
        self.feed(event)

    def hexdigest(self) -> str:
        """Return the digest so far, 64 hex digits."""
        return self._sha.hexdigest()


@lru_cache(512)
def _counted(type_: str, names: tuple[str, ...]) -> list[str]:
    """Return which members of an event of a type count, in the order of canonical JSON."""
    return sorted(_ANSWER_MEMBERS.intersection(names) if type_ == "answered" else set(names) - {"spoilt"})


def _essence_of_opening(event: Opened) -> dict[str, Any]:
    """Return what of the opening event counts."""
    return {
        "type": "opened",
        "config": event.config.model_dump(exclude=_EXCLUDED_CONFIG),
        "seats": [[seat.name, seat.role, seat.brain, seat.declines] for seat in event.seats],
    }


@lru_cache(4096)
def _quoted(seat: str) -> bytes:
    return canonical(seat)


def _without_envelope(line: bytes) -> bytes:
    """Return a line without audience, hash, number and time; nothing where they do not stand as we write them.

    Quotes inside JSON strings are escaped, so no text can look like a member.
    """
    audience, sealed = line.find(b'"audience":'), line.find(b'"hash":"')
    after = line.find(b'],"' if line[audience + 11 : audience + 12] == b"[" else b'","', audience) + 2
    counted = sealed + _SEALED
    timed = line.find(b'"time":', counted)
    if not 0 < audience < after <= sealed < timed or not line.startswith(b'"n":', counted):
        return b""
    rest = line[line.find(b",", counted) + 1 : timed] + line[line.find(b",", timed) + 1 :]
    return b"%b%b%b\n" % (line[:audience], line[after:sealed], rest)


def digest_of(events: Iterable[AnyEvent]) -> str:
    """Return the digest of a whole game."""
    digest = Digest()
    for event in events:
        digest.feed(event)
    return digest.hexdigest()
