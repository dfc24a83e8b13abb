"""`Seats`: plays the seats of one agent process, as its member in the house and its process see it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from wolfbus.actors import ActorPool, tell_if_alive
from wolfbus.agent.member import Member
from wolfbus.agent.router import AgentState, JoinedAnew, MakeAgent, SeatRouter
from wolfbus.bus.protocol import Entry

_LAST_WORDS_S: Final = 2.0
"""Seconds in which seats may come to their end when the agent leaves."""


class Seats(AgentState):
    """Plays the seats of a member of a house on a few threads of its own.

    Args:
        member: the agent's place in the house.
        make: makes the agent of a seat.
        threads: pool threads that run the actors; with one, hooks and quick methods of all seats
            are called one at a time.
    """

    def __init__(self, member: Member, make: MakeAgent, threads: int = 1) -> None:
        super().__init__()
        self._member = member
        self._pool = ActorPool(threads)
        self._router = SeatRouter.start_in(self._pool, member.outbox, make, self)

    def deliver(self, entries: Sequence[Entry]) -> None:
        """Take what is said of games, from any thread."""
        for entry in entries:
            tell_if_alive(self._router, entry.content)

    def welcome(self) -> None:
        """Hear that a moderator has welcomed the member: seats wait for what they are told."""

    def again(self) -> None:
        """Hear that the member joins anew, from any thread."""
        tell_if_alive(self._router, JoinedAnew())

    def report(self) -> tuple[str, dict[str, int]]:
        """Return whether it plays, waits or joins, and how many games it plays and has played."""
        state = "playing" if self.playing else "waiting" if self._member.welcome else "joining"
        return state, {"games": self.playing, "played": self.played}

    def behind(self, why: str) -> None:
        """Have the member join anew."""
        self._member.rejoin(why)

    def caught_up(self) -> None:
        """Tell the member that nothing is missing."""
        self._member.caught_up()

    def close(self) -> None:
        """End every seat, and return when nothing more will be sent."""
        self._router.stop()
        self.wait(0, _LAST_WORDS_S)
        self._pool.close()
