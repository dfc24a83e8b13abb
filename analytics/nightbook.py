"""`NightBook`: what was done at night, and who knows what of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from analytics.claims import GameFacts
from analytics.rows import Departure, InspectionRow, NightRow, ProtectionRow, SeatRow
from wolfbus.messages.base import SeatName
from wolfbus.truth import entailed
from wolfbus.vocabulary import Reveal, Role


class NightBook:
    """Takes down nights and departures, and tells whom a player can tell for a Werewolf or none.

    Args:
        game: the game's id.
        seats: players by name, in seating order.
        reveal: what everybody learns of a player who leaves.

    Attributes:
        facts: what is true now, and who knows it.
        nights: the nights' outcomes.
        inspections: what Seers learned.
    """

    def __init__(self, game: str, seats: Mapping[SeatName, SeatRow], reveal: Reveal) -> None:
        self.game = game
        self.seats = seats
        self.facts = GameFacts({seat.name: seat.role for seat in seats.values()}, reveal)
        self.nights: list[NightRow] = []
        self.inspections: list[InspectionRow] = []
        self._protections: list[ProtectionRow] = []
        self._entailed: dict[SeatName, frozenset[SeatName]] = {}

    def informed(self, observer: SeatName, target: SeatName) -> bool:
        """Return whether what the observer knows entails whether the target is a Werewolf, now."""
        known = self._entailed.get(observer)
        if known is None:
            known = self._entailed[observer] = entailed(self.facts, observer)
        return target in known

    def unknown(self, observer: SeatName) -> list[SeatRow]:
        """Return the living others of whom an observer cannot tell whether they are Werewolves."""
        return [
            seat
            for name, seat in self.seats.items()
            if name in self.facts.living and name != observer and not self.informed(observer, name)
        ]

    def inspect(self, round_: int, seer: SeatName, target: SeatName, role: Role) -> None:
        """Write down what a seer learned; a name that nobody has counts for nobody."""
        if seer in self.seats and target in self.seats:
            self.inspections.append(
                InspectionRow(
                    game=self.game,
                    round=round_,
                    seer=seer,
                    seer_agent=self.seats[seer].agent,
                    target=target,
                    target_role=role,
                    target_agent=self.seats[target].agent,
                )
            )
        self.facts.inspect(round_, seer, target, role)
        self._entailed.clear()

    def protect(self, round_: int, doctor: SeatName, target: SeatName) -> None:
        """Write down whom a doctor protected; a name that nobody has counts for nobody."""
        if doctor in self.seats and target in self.seats:
            self._protections.append(
                ProtectionRow(
                    game=self.game,
                    round=round_,
                    doctor=doctor,
                    doctor_agent=self.seats[doctor].agent,
                    target=target,
                    target_role=self.seats[target].role,
                    target_agent=self.seats[target].agent,
                )
            )
        self.facts.protect(round_, doctor, target)

    def end(self, round_: int, target: SeatName | None, protected: tuple[SeatName, ...], died: SeatName | None) -> None:
        """Write down what a night really did: whom the wolves went for, whom doctors protected, who died. It changes
        nothing until dawn; a name that nobody has counts for nobody.
        """
        seats = self.seats
        known = seats.get(target) if target is not None else None
        self.nights.append(
            NightRow(
                game=self.game,
                round=round_,
                target=None if known is None else known.name,
                target_role=None if known is None else known.role,
                protected=protected,
                died=died if died in seats else None,
            )
        )

    def leave(self, seat: SeatName, how: Departure) -> None:
        """Take a player out of the game."""
        if how == "night":
            self.facts.die(seat)
        else:
            self.facts.leave(seat)
        self._entailed.clear()

    def protections(self) -> tuple[ProtectionRow, ...]:
        """Return whom Doctors protected, in order."""
        attacked = {row.round: row.target for row in self.nights}
        return tuple(
            replace(row, attacked=attacked[row.round] == row.target) if row.round in attacked else row
            for row in self._protections
        )
