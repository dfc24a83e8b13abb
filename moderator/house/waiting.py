"""Waiting for agents: who is missing, in one line; and when to say it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from moderator.engine.seating import Offer, reserved

AGAIN_S: Final = 10.0
"""Seconds after which a line that did not change is said again, at first; each time twice as many."""

RARELY_S: Final = 600.0
"""Seconds after which it is said again at last."""

NAMES_SHOWN: Final = 8


@dataclass(frozen=True, slots=True)
class Coverage:
    """How far offers cover the seats of a game.

    Attributes:
        seats: how many there are.
        covered: how many of them somebody could take.
        agents: who could, sorted.
        free: places nobody asked for, where they are what is missing; empty where anybody may take any.
        waiting: who asked only for places that others have, agent to places.
        taken: place to the agent that has it for the asking.
    """

    seats: int
    covered: int
    agents: tuple[str, ...]
    free: tuple[int, ...]
    waiting: Mapping[str, tuple[int, ...]]
    taken: Mapping[int, str]

    @property
    def enough(self) -> bool:
        """Whether a game can begin."""
        return self.covered == self.seats


def cover(seats: int, offers: Mapping[str, Offer]) -> Coverage:
    """Return how far `offers` cover the seats of a game."""
    taken = reserved(seats, offers)
    served = set(taken.values())
    anywhere = {agent: offer.free for agent, offer in offers.items() if not offer.places}
    empty = seats - len(taken)
    others = min(sum(anywhere.values()), empty)
    free = tuple(place for place in range(1, seats + 1) if place not in taken) if not others else ()
    return Coverage(
        seats=seats,
        covered=len(taken) + others,
        agents=tuple(sorted(served | set(anywhere))),
        free=free,
        waiting={
            agent: tuple(sorted(set(offer.places)))
            for agent, offer in sorted(offers.items())
            if offer.places and agent not in served
        },
        taken=taken,
    )


def waiting_line(coverage: Coverage, lagging: Sequence[str] = (), *, archivist: bool = False) -> str:
    """Say in one line what is missing.

    Args:
        coverage: how far the seats are covered.
        lagging: agents that get no game because they do not read their mailbox.
        archivist: whether an analytics service is missing too.
    """
    missing = coverage.seats - coverage.covered
    who = f" by {_listed(coverage.agents, NAMES_SHOWN)}" if coverage.agents else ""
    parts = [f"{coverage.covered} of {coverage.seats} seats covered{who}"]
    if coverage.free and coverage.covered:
        place, is_ = ("places", "are") if len(coverage.free) > 1 else ("place", "is")
        parts.append(f"{place} {_listed(coverage.free)} {is_} free")
    parts += (blocked_line(coverage, agent) for agent in coverage.waiting)
    if lagging:
        parts.append(f"{_listed(lagging, NAMES_SHOWN)} must first read what waits in the mailbox")
    if missing:
        parts.append(f"{missing} seat{'' if missing == 1 else 's'} missing")
    if archivist:
        parts.append("an analytics service is missing")
    return "waiting for agents: " + "; ".join(parts)


def blocked_line(coverage: Coverage, agent: str) -> str:
    """Say which places an agent waits for, and who has them."""
    wanted = [place for place in coverage.waiting[agent] if place <= coverage.seats]
    holders = sorted({coverage.taken[place] for place in wanted})
    place = "place" if len(wanted) == 1 else "places"
    return f"{agent} waits for {place} {_listed(wanted)}, which {_listed(holders, NAMES_SHOWN)} asked for too"


def _listed(words: Sequence[object], limit: int | None = None) -> str:
    shown = [str(word) for word in words]
    if limit is not None and len(shown) > limit:
        return f"{', '.join(shown[:limit])} and {len(shown) - limit} more"
    return " and ".join([", ".join(shown[:-1]), shown[-1]] if len(shown) > 1 else shown)


class Patience:
    """Says the same thing only now and then, and knows how long it has been waiting.

    Args:
        limit_s: seconds after which waiting has been long enough; None for never.
    """

    def __init__(self, limit_s: float | None) -> None:
        self._limit_s = limit_s
        self._since: float | None = None
        self._said = ""
        self._at = 0.0
        self._again_s = AGAIN_S

    @property
    def waiting(self) -> bool:
        """Whether something is being waited for."""
        return self._since is not None

    def due(self, line: str, now: float) -> bool:
        """Return whether to say this now: first, when it changed, and from time to time, ever more rarely."""
        if self._since is None:
            self._since = now
        if line != self._said:
            self._again_s = AGAIN_S
        elif now - self._at < self._again_s:
            return False
        else:
            self._again_s = min(2 * self._again_s, RARELY_S)
        self._said, self._at = line, now
        return True

    def spent(self, now: float) -> bool:
        """Return whether the wait has been longer than the limit."""
        return self._since is not None and self._limit_s is not None and now - self._since >= self._limit_s

    def end(self) -> None:
        """Note that there is nothing to wait for now."""
        self._since = None
        self._said = ""
