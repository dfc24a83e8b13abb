"""`Agenda`: games that are asked of a moderator one by one, each with its id, its seed and the brains of its seats; in
place of a number of games whose seats go to whoever is there.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass

from moderator.engine.seating import Offer
from moderator.house.invitation import missing_brains
from wolfbus.messages.base import GameId
from wolfbus.printable import counted, printable

BRAIN_SHOWN = 80
"""Characters of a brain in a line for people."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """A game that is asked for.

    Attributes:
        game: its id.
        seed: its seed.
        brains: what is to play each seat, in seating order, as `Roster.brain` names agents; None
            seats whoever has joined.
    """

    game: GameId
    seed: str
    brains: tuple[str, ...] | None


class Agenda:
    """The games that are asked for and not over, in the order in which they were asked for. Any thread may call it.

    Args:
        session: name of the session to open, where none of `ours` goes on.
        ours: names of sessions that were opened for these games before.
        kept: tells whether a game's record is safe, so that the bus may forget it.
        waits: told what is waited for, in one line, now and then.
    """

    def __init__(
        self, session: str, ours: Collection[str], kept: Callable[[str], bool], waits: Callable[[str], None]
    ) -> None:
        self.session = session
        self.kept = kept
        self.waits = waits
        self._ours = {session, *ours}
        self._wanted: dict[str, Wanted] = {}
        self._closed = False
        self._lock = threading.Lock()

    def is_ours(self, session: str) -> bool:
        """Return whether a session was opened for these games."""
        return session in self._ours

    def ask(self, wanted: Wanted) -> None:
        """Ask for one more game."""
        with self._lock:
            self._wanted[wanted.game] = wanted

    def close(self) -> None:
        """Ask for no more; the house closes once all that was asked for is over."""
        with self._lock:
            self._closed = True

    def strike(self, game: str) -> None:
        """Take note that a game is over, however it went."""
        with self._lock:
            self._wanted.pop(game, None)

    @property
    def over(self) -> bool:
        """Whether everything is played, and nothing more will be asked for."""
        with self._lock:
            return self._closed and not self._wanted

    def next(self, is_begun: Callable[[str], bool]) -> Wanted | None:
        """Return the first game that is not begun; None if all are."""
        with self._lock:
            return next((wanted for game, wanted in self._wanted.items() if not is_begun(game)), None)


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
