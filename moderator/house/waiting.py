"""Waiting for agents: who is missing, in one line, the commands that bring them, and when to say it."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Final

from moderator.engine.seating import Offer
from moderator.house.roster import OUTSIDE
from wolfbus.files.formats import listed
from wolfbus.files.printable import counted, printable

AGAIN_S: Final = 10.0
"""Seconds after which a line that did not change is said again, at first; each time twice as many."""

LONGEST_PAUSE_S: Final = 600.0
"""Seconds after which it is said again at last."""

NAMES_SHOWN: Final = 8

BRAIN_SHOWN: Final = 80
"""Characters of a brain in a line for people."""

_BRAIN_SHOWN: Final = 200
_FAILING_SHOWN: Final = 3
_REASON_SHOWN: Final = 160
_COMMANDS_SHOWN: Final = 3


def waiting_line(
    seated: Sequence[str | None],
    offers: Mapping[str, Offer],
    lagging: Sequence[str] = (),
    failures: Mapping[str, str] = MappingProxyType({}),
    *,
    archivist: bool = False,
) -> str:
    """Return in one line what is missing.

    Args:
        seated: who could take each seat; None where nobody can.
        offers: what those who are here offer.
        lagging: agents that get no game because they do not read their mailbox.
        failures: why agents left that cannot play, by name.
        archivist: whether an analytics service is missing too.
    """
    agents = sorted({agent for agent in seated if agent is not None})
    who = f" by {_listed(agents, NAMES_SHOWN)}" if agents else ""
    empty = [place for place, agent in enumerate(seated, 1) if agent is None]
    parts = [*_failing(failures), f"{len(seated) - len(empty)} of {len(seated)} seats covered{who}"]
    if agents and empty and all(offers[agent].places for agent in agents):
        place, is_ = ("places", "are") if len(empty) > 1 else ("place", "is")
        parts.append(f"{place} {_listed(empty)} {is_} free")
    parts += blocked_lines(seated, offers).values()
    parts += _lagging(lagging)
    if empty:
        parts.append(f"{counted(len(empty), 'seat')} missing")
    if archivist:
        parts.append("an analytics service is missing")
    return _waiting(parts)


def blocked_lines(seated: Sequence[str | None], offers: Mapping[str, Offer]) -> dict[str, str]:
    """Return, for each agent that asked only for places that others have, which these are and who has them."""
    lines: dict[str, str] = {}
    for agent, offer in sorted(offers.items()):
        if offer.places and agent not in seated:
            requested = [place for place in sorted(set(offer.places)) if place <= len(seated)]
            holders = sorted({str(seated[place - 1]) for place in requested})
            places = f"{'place' if len(requested) == 1 else 'places'} {_listed(requested)}"
            lines[agent] = f"{agent} waits for {places}, which {_listed(holders, NAMES_SHOWN)} asked for too"
    return lines


def brains_line(
    brains: Sequence[str],
    seated: Sequence[str | None],
    offers: Mapping[str, Offer],
    brain_of: Callable[[str], str],
    lagging: Sequence[str] = (),
    failures: Mapping[str, str] = MappingProxyType({}),
) -> str:
    """Return in one line which brains are waited for.

    Args:
        brains: what is wanted for each seat.
        seated: the agents that could take them; None where nobody can.
        offers: what those who are here offer.
        brain_of: returns an agent's brain.
        lagging: agents that get no game because they do not read their mailbox.
        failures: why agents left that cannot play, by name.
    """
    missing = missing_brains(brains, seated)
    parts = [*_failing(failures), f"{len(seated) - missing.total()} of {len(seated)} seats covered"]
    parts.append(", ".join(f"{counted(n, 'seat')} of {_brain_text(brain)}" for brain, n in sorted(missing.items())))
    parts[-1] += " missing"
    if others := sorted({brain_of(agent) for agent in offers} - set(brains)):
        names = ", ".join(map(_brain_text, others[:5]))
        parts.append(f"here, but not asked for: {names}{' …' if len(others) > 5 else ''}")
    return _waiting([*parts, *_lagging(lagging)])


def _waiting(parts: Sequence[str]) -> str:
    return "waiting for agents: " + "; ".join(parts)


def _failing(failures: Mapping[str, str]) -> list[str]:
    """Return why agents cannot play, each reason once: it goes first, for a longer line may be cut."""
    agents: dict[str, list[str]] = {}
    for agent, reason in failures.items():
        agents.setdefault(printable(reason, _REASON_SHOWN), []).append(agent)
    return [f"{_listed(names, _FAILING_SHOWN)} cannot play: {reason}" for reason, names in agents.items()]


def _lagging(agents: Sequence[str]) -> list[str]:
    return [f"{_listed(agents, NAMES_SHOWN)} must first read what waits in the mailbox"] if agents else []


def _listed(words: Sequence[object], limit: int | None = None) -> str:
    texts = [str(word) for word in words]
    if limit is not None and len(texts) > limit:
        texts[limit:] = [f"{len(texts) - limit} more"]
    return listed(texts)


def _brain_text(brain: str) -> str:
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
    target = f"--bus {shlex.quote(bus)} --house {house}"
    commands = [_command(target, brain, seats) for brain, seats in sorted(missing.items())]
    hidden = len(commands) - _COMMANDS_SHOWN
    texts = [*commands[:_COMMANDS_SHOWN], *([f"{hidden} more like it"] if hidden > 0 else [])]
    return f"; bring them with: {', and '.join(texts)}" if texts else ""


def invitation_to_anybody(bus: str, house: str, seats: int) -> str:
    """Return in one line the commands that bring agents of any kind for some seats; "" for none.

    Args:
        bus: the bus's address, without user and password.
        house: the house's name.
        seats: how many seats nobody takes.
    """
    if seats < 1:
        return ""
    target = f"--bus {shlex.quote(bus)} --house {house} --seats {seats}"
    return f"; bring them with: wolfbus player {target} --brain BRAIN, or wolfbus join {target} -- COMMAND"


def _command(target: str, brain: str, seats: int) -> str:
    if brain.startswith(OUTSIDE):
        name = shlex.quote(printable(brain.removeprefix(OUTSIDE), _BRAIN_SHOWN))
        return f"wolfbus join {target} --name {name} --seats {seats} -- COMMAND"
    return f"wolfbus player {target} --brain {shlex.quote(printable(brain, _BRAIN_SHOWN))} --seats {seats}"


def absent_line(absent: Mapping[str, int]) -> str:
    """Return in one line who has seats of games under way and is not here, and what helps."""
    agents = [f"{agent} ({counted(seats, 'seat')})" for agent, seats in absent.items()]
    return (
        f"not here, with seats of games under way: {_listed(agents, NAMES_SHOWN)}; their requests time out until "
        "somebody is started under the same name (--name)"
    )


class WaitingNotice:
    """Says the same thing only now and then, and knows how long it has been waiting.

    Args:
        limit_s: seconds after which waiting has been long enough; None for never.
    """

    def __init__(self, limit_s: float | None) -> None:
        self._limit_s = limit_s
        self._since: float | None = None
        self._line = ""
        self._line_at = 0.0
        self._again_s = AGAIN_S

    def is_due(self, line: str, now: float) -> bool:
        """Return whether to say this now: first, when it changed, and from time to time, ever more rarely."""
        if self._since is None:
            self._since = now
        if line != self._line:
            self._again_s = AGAIN_S
        elif now - self._line_at < self._again_s:
            return False
        else:
            self._again_s = min(2 * self._again_s, LONGEST_PAUSE_S)
        self._line, self._line_at = line, now
        return True

    def is_over(self, now: float) -> bool:
        """Return whether the wait has been longer than the limit."""
        return self._since is not None and self._limit_s is not None and now - self._since >= self._limit_s

    def end(self) -> None:
        """Stop waiting."""
        self._since = None
        self._line = ""
