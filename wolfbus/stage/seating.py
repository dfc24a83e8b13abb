"""`Seating`: how every seat stands, as far as one viewer knows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

from wolfbus.messages.base import SeatName
from wolfbus.stage.beats import SeatStatus
from wolfbus.suspicion import Suspicion
from wolfbus.vocabulary import Role, Team, team_of


class Seating:
    """How every seat stands, as far as one viewer knows.

    Attributes:
        names: all players in seating order.
        absent: seats that let too many requests time out.
    """

    def __init__(self) -> None:
        self.names: tuple[SeatName, ...] = ()
        self.absent: set[SeatName] = set()
        self._roles: dict[SeatName, Role] = {}
        self._teams: dict[SeatName, Team] = {}
        self._left: dict[SeatName, tuple[Literal["night", "exile"], int]] = {}

    def sit(self, names: Sequence[SeatName]) -> None:
        """Take in who plays, in seating order."""
        self.names = tuple(names)

    def meet(self, *names: SeatName) -> None:
        """Take in players that are heard of; new only to who was not told at the opening who plays."""
        self.names += tuple(name for name in names if name not in self.names)

    def learn(self, name: SeatName, role: Role) -> None:
        """Take in that `name` is the `role`."""
        self._roles[name] = role
        self._teams[name] = team_of(role)

    def leave(
        self, name: SeatName, how: Literal["night", "exile"], round_: int, role: Role | None, team: Team | None
    ) -> None:
        """Take in how `name` left, and what became public with it."""
        self._left.setdefault(name, (how, round_))
        if role is not None:
            self.learn(name, role)
        elif team is not None:
            self._teams[name] = team

    def statuses(self, bids: Mapping[SeatName, int], suspicion: Suspicion) -> tuple[SeatStatus, ...]:
        """Return how every seat stands, in seating order.

        Args:
            bids: bids to show.
            suspicion: smoothed suspicion, as far as the viewer sees it.
        """
        return tuple(self._status(name, bids.get(name), suspicion) for name in self.names)

    def _status(self, name: SeatName, bid: int | None, suspicion: Suspicion) -> SeatStatus:
        how, round_ = self._left.get(name, (None, None))
        met = [
            suspicion.of(observer, name)
            for observer in self.names
            if (name in self._left or observer not in self._left) and suspicion.judged(observer, name)
        ]
        return SeatStatus(
            name,
            self._roles.get(name),
            self._teams.get(name),
            how,
            round_,
            bid,
            sum(met) / len(met) if met else None,
            True if name in self.absent else None,
        )

    def matrix(self, suspicion: Suspicion, *, known: bool) -> tuple[tuple[float | None, ...], ...] | None:
        """Return smoothed suspicion, observers by targets; None for pairs without a judgement, and unless `known`."""
        if not known:
            return None
        return tuple(
            tuple(
                suspicion.of(observer, target) if suspicion.judged(observer, target) else None for target in self.names
            )
            for observer in self.names
        )
