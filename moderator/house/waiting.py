"""Waiting for agents: who is missing, in one line, the commands that bring them, and when to say it."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from moderator.engine.seating import Offer, reserved
from moderator.house.roster import OUTSIDE
from wolfbus.document.formats import listed
from wolfbus.printable import counted, printable

AGAIN_S: Final = 10.0
"""Seconds after which a line that did not change is said again, at first; each time twice as many."""

RARELY_S: Final = 600.0
"""Seconds after which it is said again at last."""

NAMES_SHOWN: Final = 8

BRAIN_SHOWN: Final = 80
"""Characters of a brain in a line for people."""

_BRAIN_SHOWN: Final = 200
_COMMANDS_SHOWN: Final = 3


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
        parts.append(f"{counted(missing, 'seat')} missing")
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
        shown[limit:] = [f"{len(shown) - limit} more"]
    return listed(shown)


def brains_line(
    brains: Sequence[str],
    seated: Sequence[str | None],
    offers: Mapping[str, Offer],
    brain_of: Callable[[str], str],
    lagging: Sequence[str] = (),
) -> str:
    """Say in one line which brains are waited for.

    Args:
        brains: what is wanted for each seat.
        seated: the agents that could take them; None where nobody can.
        offers: what those who are here offer.
        brain_of: returns an agent's brain.
        lagging: agents that get no game because they do not read their mailbox.
    """
    missing = missing_brains(brains, seated)
    covered = len(seated) - missing.total()
    parts = [f"{covered} of {len(seated)} seats covered"]
    parts.append(", ".join(f"{counted(n, 'seat')} of {_shown(brain)}" for brain, n in sorted(missing.items())))
    parts[-1] += " missing"
    if others := sorted({brain_of(agent) for agent in offers} - set(brains)):
        parts.append(f"here, but not asked for: {', '.join(map(_shown, others[:5]))}{' …' if len(others) > 5 else ''}")
    if lagging:
        parts.append(f"{', '.join(lagging[:5])} must first read what waits in the mailbox")
    return "waiting for agents: " + "; ".join(parts)


def _shown(brain: str) -> str:
    return printable(brain, BRAIN_SHOWN)


def missing_brains(brains: Sequence[str], seated: Sequence[str | None]) -> Counter[str]:
    """Return for how many seats of each brain there is nobody."""
    return Counter(brain for brain, agent in zip(brains, seated, strict=True) if agent is None)


def invitation(bus: str, house: str, missing: Mapping[str, int]) -> str:
    """Return in one line the commands that bring what is missing; "" for nothing.

    Args:
        bus: the bus's address, without user and password.
        house: the house's name.
        missing: seats, by the brain that is to play them.
    """
    where = f"--bus {shlex.quote(bus)} --house {house}"
    commands = [_command(where, brain, seats) for brain, seats in sorted(missing.items())]
    more = len(commands) - _COMMANDS_SHOWN
    shown = [*commands[:_COMMANDS_SHOWN], *([f"{more} more like it"] if more > 0 else [])]
    return f"; bring them with: {', and '.join(shown)}" if shown else ""


def invitation_to_anybody(bus: str, house: str, seats: int) -> str:
    """Return in one line the commands that bring agents of any kind for some seats; "" for none.

    Args:
        bus: the bus's address, without user and password.
        house: the house's name.
        seats: how many seats nobody takes.
    """
    if seats < 1:
        return ""
    where = f"--bus {shlex.quote(bus)} --house {house} --seats {seats}"
    return f"; bring them with: wolfbus player {where} --brain BRAIN, or wolfbus join {where} -- COMMAND"


def _command(where: str, brain: str, seats: int) -> str:
    if brain.startswith(OUTSIDE):
        name = shlex.quote(printable(brain.removeprefix(OUTSIDE), _BRAIN_SHOWN))
        return f"wolfbus join {where} --name {name} --seats {seats} -- COMMAND"
    return f"wolfbus player {where} --brain {shlex.quote(printable(brain, _BRAIN_SHOWN))} --seats {seats}"


class WaitingNotice:
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
