"""The game of WOLF as a pure coroutine: outcome = f(config, seed, replies).

It yields events as they happen, batches of requests as they go out (`Asked`), and `Join` where it must know the
answers; it returns how the game ended. No clock, no bus, no thread, no running random generator: whoever drives it
decides when answers come, and the same answers give the same game. `Steps` drives it from join to join, which is what
one atomic commit holds; the moderator, replay and recovery all use it. `deal` says who is what before it begins.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final, TypeAlias

from moderator.rules.day import debate, vote
from moderator.rules.night import night
from moderator.rules.table import BatchJoin, Script, Table, assess_afterwards
from wolfbus.errors import RulesError
from wolfbus.game.config import GameConfig
from wolfbus.game.draws import shuffled
from wolfbus.game.vocabulary import ROLES, Role
from wolfbus.messages.base import SeatName
from wolfbus.messages.events import AnyAnswered, AnyEvent, Asked, Ended, Opened

Play: TypeAlias = Callable[[Opened], Script[Ended]]
"""Plays a game from its opening; `game` does by the rules."""


NAMES: Final = (
    "Ada", "Bruno", "Chloe", "Dario", "Esther", "Felix", "Greta", "Hugo",
    "Ines", "Jonas", "Kira", "Leon", "Mona", "Nils", "Olga", "Piet",
)  # fmt: skip
"""Names to draw from: short, and none is a prefix of another."""


def deal(config: GameConfig, seed: str) -> tuple[tuple[SeatName, Role], ...]:
    """Return (name, role) of every seat in seating order, as `config` and `seed` decide."""
    names = config.names or shuffled(seed, "names", NAMES)[: config.seats]
    if config.roles is not None:
        return tuple((name, config.roles[name]) for name in names)
    deck = tuple(role for role in ROLES for _ in range(config.count(role)))
    return tuple(zip(names, shuffled(seed, "roles", deck), strict=True))


def game(opened: Opened) -> Script[Ended]:
    """Play one game from its opening to its end.

    Yields:
        Events in record order, `Asked` among them, and `Join`, upon which it must be sent the answers of the joined
        batches, one mapping per batch. The answers themselves are recorded by the driver, before what the coroutine
        makes of them.

    Returns:
        The last event.
    """
    table = Table.of(opened)
    yield opened
    ended = None
    while ended is None:
        table.round += 1
        yield from night(table)
        ended = table.verdict()
        if ended is None:
            yield from debate(table)
            yield from vote(table)
            ended = table.verdict() or _time_is_up(table)
    yield from assess_afterwards(table)
    if spoilt := table.spoilt:
        ended = ended.model_copy(update={"spoilt": spoilt})
    yield ended
    return ended


def _time_is_up(table: Table) -> Ended | None:
    if table.round < table.config.max_rounds:
        return None
    return Ended(winner=None, reason="max_rounds", rounds=table.round)


@dataclass(frozen=True, slots=True)
class Step:
    """What happens between two joins.

    Attributes:
        events: in record order: the joined answers, what follows from them, and the batches that go out.
        waits_for: batches whose requests must all be closed before the next step, ascending; empty when the game is
            over.
        ended: the last event, when the game is over.
    """

    events: tuple[AnyEvent, ...]
    waits_for: tuple[int, ...]
    ended: Ended | None


class Steps:
    """One game, advanced step by step; pure, so equal answers make equal steps in any process.

    Args:
        opened: the game's opening event.
        play: what happens in it.
    """

    def __init__(self, opened: Opened, play: Play = game) -> None:
        self._opened = opened
        self._order = {seat.name: place for place, seat in enumerate(opened.seats)}
        self._script = play(opened)
        self._waits_for: tuple[int, ...] = ()
        self._open_batches: dict[int, Asked] = {}
        self._started = False

    @property
    def waits_for(self) -> tuple[int, ...]:
        """Batches whose requests must all be closed before the next step, ascending; empty when the game is over."""
        return tuple(sorted(self._waits_for))

    def seats_of(self, batch: int) -> tuple[SeatName, ...]:
        """Return the seats asked in an open batch, in seating order, the order in which answers are recorded."""
        seats = [seat for ask in self._open_batches[batch].asks for seat in ask.seats]
        return tuple(sorted(seats, key=self._order.__getitem__))

    def advance(self, answers: Mapping[int, Mapping[SeatName, AnyAnswered]] | None = None) -> Step:
        """Go on to the next join.

        Args:
            answers: for every batch waited for, the answer of every seat asked; None for the first step.

        Raises:
            RulesError: answers are missing, or nobody was asked for them.
        """
        events: list[AnyEvent] = []
        joined: dict[int, dict[SeatName, AnyAnswered]] = {}
        for number in sorted(self._waits_for):
            batch = (answers or {}).get(number, {})
            ordered = {seat: batch[seat] for seat in self.seats_of(number) if seat in batch}
            if len(ordered) != len(self.seats_of(number)) or len(ordered) != len(batch):
                raise RulesError(f"batch {number} was joined with answers of {', '.join(batch) or 'nobody'}")
            events.extend(ordered.values())
            joined[number] = ordered
            del self._open_batches[number]
        try:
            effect = (
                self._script.send([joined[number] for number in self._waits_for])
                if self._started
                else next(self._script)
            )
            self._started = True
            while not isinstance(effect, BatchJoin):
                events.append(effect)
                if isinstance(effect, Asked):
                    self._open_batches[effect.batch] = effect
                effect = next(self._script)
        except StopIteration as stop:
            self._waits_for = ()
            return Step(tuple(events), (), stop.value)
        self._waits_for = effect.batches
        return Step(tuple(events), tuple(sorted(effect.batches)), None)
