"""What is recorded of a game beside its rows: `NightBook`, what was done at night and who knows what of it;
`RoundSuspicion`, smoothed suspicion as it stood at the end of each round; `VoteBook`, whom it would exile; `CallBook`,
what the model calls took.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

from analytics.rows import CallKey, Pair
from analytics.rows.course import InspectionRow, NightRow, ProtectionRow, SeatRow
from wolfbus.game.vocabulary import Reveal, Role, Team
from wolfbus.knowledge.suspicion import Suspicion
from wolfbus.knowledge.truth import GameFacts
from wolfbus.messages.base import SeatName
from wolfbus.messages.calls import ModelCall
from wolfbus.messages.events import AnyAnswered, Asked
from wolfbus.record.prompts import RequestNames
from wolfbus.record.usage import Usage, sort_of

TIE: Final = 1e-9
"""Suspicions that differ by less are equal."""


class NightBook:
    """Records nights and departures, and tells whom a player can tell for a Werewolf or none.

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

    def unknown(self, observer: SeatName) -> list[SeatRow]:
        """Return the living others of whom an observer cannot tell whether they are Werewolves."""
        return [
            seat
            for name, seat in self.seats.items()
            if name in self.facts.living and name != observer and not self.facts.informed(observer, name)
        ]

    def inspect(self, round_: int, seer: SeatName, target: SeatName, result: Role | Team) -> None:
        """Record what a seer learned: a role, or "villagers" where that is only that the target is no Werewolf; a name
        that nobody has counts for nobody.
        """
        if seer in self.seats and target in self.seats:
            self.inspections.append(
                InspectionRow(
                    game=self.game,
                    round=round_,
                    seer=seer,
                    seer_agent=self.seats[seer].agent,
                    target=target,
                    target_role=None if result == "villagers" or result == "werewolves" else result,
                    werewolf=result == "Werewolf",
                    target_agent=self.seats[target].agent,
                )
            )
        self.facts.inspect(round_, seer, target, result)

    def protect(self, round_: int, doctor: SeatName, target: SeatName) -> None:
        """Record whom a doctor protected; a name that nobody has counts for nobody."""
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
        """Record what a night really did: whom the wolves went for, whom doctors protected, who died. It changes
        nothing until dawn; a name that nobody has counts for nobody.
        """
        seats = self.seats
        attacked = seats.get(target) if target is not None else None
        self.nights.append(
            NightRow(
                game=self.game,
                round=round_,
                target=None if attacked is None else attacked.name,
                target_role=None if attacked is None else attacked.role,
                protected=protected,
                died=died if died in seats else None,
            )
        )

    def protections(self) -> tuple[ProtectionRow, ...]:
        """Return whom Doctors protected, in order."""
        attacked = {row.round: row.target for row in self.nights}
        return tuple(
            replace(row, attacked=attacked[row.round] == row.target) if row.round in attacked else row
            for row in self._protections
        )


class RoundSuspicion:
    """Moves with every usable judgement, and freezes when observer or target has left.

    Args:
        alpha: weight of a new judgement in D, in [0, 1].
        prior: D before any judgement, in [0, 1].
    """

    def __init__(self, alpha: float, prior: float) -> None:
        self.now = Suspicion(alpha, prior)
        self._departed: set[SeatName] = set()
        self._rounds: dict[int, dict[Pair, float]] = {}
        self._open_round: int | None = None

    def judge(self, round_: int, observer: SeatName, target: SeatName, suspicion: float) -> float:
        """Add a usable judgement of a statement of this round, and return D with it."""
        if observer in self._departed or target in self._departed:
            return self.now.of(observer, target)
        if self._open_round != round_:
            self._close()
            self._open_round = round_
        return self.now.judge(observer, target, suspicion)

    def leave(self, seat: SeatName) -> None:
        """Freeze all D to and from a player."""
        self._close()
        self._departed.add(seat)

    def by_round(self) -> dict[int, dict[Pair, float]]:
        """Return D of pairs that were alive when a round's last judgement was joined, by round."""
        rounds = dict(self._rounds)
        if self._open_round is not None:
            rounds[self._open_round] = self._living()
        return rounds

    def _close(self) -> None:
        # taken before whatever comes next, so it shows who was alive at the round's last judgement
        if self._open_round is not None:
            self._rounds[self._open_round] = self._living()
            self._open_round = None

    def _living(self) -> dict[Pair, float]:
        return {pair: value for pair, value in self.now.pairs().items() if self._departed.isdisjoint(pair)}


class VoteBook:
    """Tells what votes are made of, as they are held: whom the living suspect most.

    Args:
        seats: players by name, in seating order.
        suspicion: the smoothed suspicion of every pair, as it moves.
    """

    def __init__(self, seats: Mapping[SeatName, SeatRow], suspicion: RoundSuspicion) -> None:
        self._seats = seats
        self._suspicion = suspicion
        self._judged: set[Pair] = set()
        self._knowing: set[Pair] = set()

    def judge(self, observer: SeatName, target: SeatName, *, scored: bool, informed: bool) -> None:
        """Add a judgement: whether it has a suspicion, and whether its observer knew what the target is."""
        if scored:
            self._judged.add((observer, target))
        if informed:
            self._knowing.add((observer, target))

    def suspected(self, observer: SeatName, target: SeatName) -> float | None:
        """Return D of a pair now; None where the observer has not judged the target."""
        return self._suspicion.now.of(observer, target) if (observer, target) in self._judged else None

    def credit(self, voter: SeatName, named: SeatName | None, living: Sequence[SeatName]) -> float | None:
        """Return a ballot's credit; see `VoteRow`."""
        thought = {name: self._suspicion.now.of(voter, name) for name in living if name != voter}
        if named is None or not any((voter, name) in self._judged for name in thought):
            return None
        suspects = _highest(thought)
        return 1 / len(suspects) if named in suspects else 0.0

    def exile(self, living: Sequence[SeatName], *, of_all: bool) -> float | None:
        """Return the share of Werewolves among those whom suspicion would exile; see `VotingRow`."""
        watchers = [name for name in living if self._seats[name].role != "Werewolf"]
        informed_pairs = frozenset() if of_all else self._knowing
        judged, met = False, {}
        for target in living:
            pairs = [(name, target) for name in watchers if name != target and (name, target) not in informed_pairs]
            if pairs:
                judged = judged or not self._judged.isdisjoint(pairs)
                met[target] = sum(self._suspicion.now.of(*pair) for pair in pairs) / len(pairs)
        if not judged:
            return None
        suspects = _highest(met)
        return len(suspects.difference(watchers)) / len(suspects)


def _highest(suspicion: Mapping[SeatName, float]) -> set[SeatName]:
    """Return who is suspected most; equal judgements in another order differ in the last bit, and are a tie."""
    most = max(suspicion.values())
    return {name for name, value in suspicion.items() if value >= most - TIE}


class CallBook:
    """Records asks, calls and answers in record order.

    The critical path is the longest chain of calls each of which had to wait for the one before: a
    call waits for every call whose answer was joined before its first request went out, and for
    earlier calls about the same request. What was asked at once counts once, however many calls it
    took. A call that is reported after its request was closed (the request had timed out) is on no
    path, as the game did not wait for it.

    Attributes:
        path: calls on the critical path so far.
    """

    def __init__(self) -> None:
        self.path = 0
        self._sums: dict[CallKey, Usage] = {}
        self._names = RequestNames()
        self._began: dict[str, int] = {}
        """Length of the path when a kind of a batch was asked for, by ``round/phase/turn/kind``."""
        self._through: dict[str, int] = {}
        """Length of the path up to and with the latest call about an open request."""

    def ask(self, event: Asked) -> None:
        """Add a batch of requests."""
        stem = self._names.ask(event)
        for asking in event.asks:
            self._began[stem + asking.kind] = self.path

    def call(self, event: ModelCall) -> None:
        """Add a call."""
        key = (event.seat, event.model, sort_of(event))
        sums = self._sums.get(key)
        if sums is None:
            sums = self._sums[key] = Usage()
        sums.add(event, len(event.requests), reask=event.reask)
        # a request that was not asked yet is answered ahead of its time, which holds up nothing
        starts_of = {name: self._began.get("/".join(name.split("/", 4)[:4])) for name in event.requests}
        starts = [max(began, self._through.get(name, 0)) for name, began in starts_of.items() if began is not None]
        through = 1 + max(starts, default=self.path)
        for name in event.requests:
            self._through[name] = through

    def answer(self, event: AnyAnswered) -> None:
        """Add what became of a request."""
        if not self._through:
            return
        name = self._names.of(event)
        if name is not None:
            self.path = max(self.path, self._through.pop(name, 0))

    def sums(self) -> dict[CallKey, Usage]:
        """Return the calls so far by seat, model and sort (see `sort_of`); later calls do not
        change it.
        """
        return {key: sums.copy() for key, sums in self._sums.items()}
