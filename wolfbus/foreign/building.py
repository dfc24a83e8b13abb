"""`ForeignLogBuilder`: what a kind of import tells it, act by act, becomes a log of the small form."""

from __future__ import annotations

import contextlib
from collections import Counter
from collections.abc import Iterator

from pydantic import ValidationError

from wolfbus.errors import RecordError, first_fault
from wolfbus.files.printable import storable, with_article
from wolfbus.foreign.log import (
    Departed,
    ForeignLog,
    GameEnd,
    Head,
    Line,
    LogBallot,
    LogSeat,
    Night,
    NightAct,
    Said,
    Silent,
    Voted,
    id_of,
    stranger,
)
from wolfbus.game.roles import TABLE_ROLES, table_role, team_of
from wolfbus.game.vocabulary import Reveal, Team, Winner
from wolfbus.messages.base import SeatName

_NO_WOLF = frozenset({"human", "villagers", "villager team", "not a werewolf", "no werewolf", "good"})
_WOLF = frozenset({"werewolf", "werewolves", "wolf", "werewolf team", "evil"})


class ForeignLogBuilder:
    """Builds the log of one game from what happened, in order.

    Seats come first. Rounds are counted by themselves: one begins with the first act of a night after a day. All
    methods raise RecordError, with the line that `at` was told of, for somebody who has no seat and for what cannot
    be.

    Attributes:
        left_out: what was not brought over, counted by kind.
        round: the round that goes on, 0 before the first act.
        living: who is in the game.
        reveal: what everybody learns of a player who leaves.
    """

    def __init__(self) -> None:
        self.left_out: Counter[str] = Counter()
        self.round = 0
        self.living: list[SeatName] = []
        self.reveal: Reveal = "none"
        self._place: int | None = None
        self._seats: dict[SeatName, LogSeat] = {}
        self._lines: list[Line] = []
        self._statements = 0
        self._by_day = False
        self._night: Night | None = None
        self._ballots: dict[SeatName, LogBallot] = {}

    def at(self, place: int) -> None:
        """Note the line of the file that is read now, from 1."""
        self._place = place

    def error(self, reason: str) -> RecordError:
        """Return the error for the line that is read now."""
        return RecordError(reason, self._place)

    @property
    def seats(self) -> tuple[SeatName, ...]:
        """The players' names, in seating order."""
        return tuple(self._seats)

    @property
    def roles(self) -> dict[SeatName, str]:
        """What the players are measured as."""
        return {name: seat.counts_as for name, seat in self._seats.items()}

    def seat(self, name: str, role: str, agent: str | None = None, side: Team | None = None) -> None:
        """Add a player.

        Args:
            name: its name, unique in the game, of 1 to 32 characters.
            role: its role, as that table calls it.
            agent: what played it, such as a model; None where that is not known.
            side: the side it wins with; needed of a role that is not in ``other_roles.toml``.
        """
        counts_as = table_role(role, side)
        if counts_as is None:
            raise self.error(f"nobody knows the role {role!r} here; say its side, villagers or werewolves")
        if name in self._seats:
            raise self.error(f"two seats are called {name!r}")
        is_known = counts_as in TABLE_ROLES and not counts_as.startswith("Other ")
        team = team_of(counts_as) if is_known else side  # type: ignore[arg-type]
        if side is not None and side != team:
            raise self.error(f"{name}: {with_article(counts_as)} wins with the {team}, not with the {side}")
        with self._checked():
            self._seats[name] = LogSeat(
                name=name, role=role, counts_as=counts_as, side=team or "villagers", agent=storable(agent or "unknown")
            )
        self.living.append(name)

    def attack(self, target: SeatName | None) -> None:
        """Note whom the Werewolves went for; None for nobody."""
        self._at_night(attack=target or "")

    def protect(self, doctor: SeatName, target: SeatName) -> None:
        """Note whom somebody protected at night."""
        with self._checked():
            act = NightAct(seat=doctor, target=target)
        self._at_night(protections=(*self._at_night().protections, act))

    def inspect(self, seer: SeatName, target: SeatName, result: str) -> None:
        """Note whom somebody inspected at night, and what it saw: a role, or only whether that is a Werewolf."""
        word = result.casefold().strip()
        saw = "villagers" if word in _NO_WOLF else "Werewolf" if word in _WOLF else table_role(result, None)
        if saw is None:
            raise self.error(f"{result!r} is no result of an inspection: a role, werewolf or human")
        with self._checked():
            act = NightAct(seat=seer, target=target, result=saw)
        self._at_night(inspections=(*self._at_night().inspections, act))

    def kill(self, name: SeatName) -> None:
        """Note who died at night of the Werewolves; a second one of a night leaves in a way of that table's own."""
        if self._at_night().died is not None and name in self.living:
            self.left_out["second deaths of a night, which are departures of another way"] += 1
            self.leave(name, exiled=False)
            return
        self._at_night(**({"died": name} if name in self.living else {}))
        self._remove(name)

    def begin_night(self) -> None:
        """Begin a night of which nothing else need be known."""
        self._at_night()

    def begin_day(self) -> None:
        """Begin a day, unless it is day."""
        if self._night is not None:
            self.add(self._night)
            self._night = None
        self.round = max(self.round, 1)
        self._by_day = True

    def say(self, speaker: SeatName, text: str, *, in_vote: bool = False, thought: str | None = None) -> None:
        """Add a public statement, or a silence where the text is blank."""
        self._day_act()
        with self._checked():
            if not text.strip():
                self.add(Silent(round=self.round, seat=speaker))
                return
            self._statements += 1
            statement = Said(
                statement=self._statements,
                round=self.round,
                phase="vote" if in_vote else "debate",
                speaker=speaker,
                text=storable(text),
                thought=storable(thought) if thought else None,
            )
        self.add(statement)

    def ballot(self, voter: SeatName, target: SeatName | None) -> None:
        """Add a vote; None abstains, and so does a vote for nobody who is in the game. Of a vote that is held again the
        last counts.
        """
        self.begin_day()
        if voter in self._ballots:
            self.left_out["votes that were held again"] += len(self._ballots)
            self._ballots.clear()
        if voter not in self._seats:
            raise self.error(f"{voter!r} has no seat in this game")
        if voter not in self.living:
            self.left_out["votes of the dead"] += 1
            return
        if target is not None and target not in self.living:
            self.left_out["votes for nobody who was in the game, which abstain"] += 1
            target = None
        self._ballots[voter] = LogBallot(voter=voter, target=target)

    def leave(self, name: SeatName, *, exiled: bool) -> None:
        """Note that somebody leaves by the day's vote, or in a way of that table's own."""
        if exiled:
            self._day_act()
        if name in self.living:
            self.add(Departed(round=max(self.round, 1), seat=name, how="exile" if exiled else "other"))
        self._remove(name)

    def end(self, winner: Winner) -> None:
        """Note that the game is over, and who won; None for nobody."""
        self._settle()
        self.add(GameEnd(winner=winner))

    def add(self, line: Line) -> None:
        """Add a line of the form as it is."""
        if (fault := stranger(line, {*self._seats})) is not None:
            raise self.error(fault)
        if self._lines and isinstance(self._lines[-1], GameEnd):
            raise self.error("something happens after the end of the game")
        self._lines.append(line)

    def log(self, kind: str, file: str, sha256: str) -> ForeignLog:
        """Return the game.

        Args:
            kind: what was read.
            file: name of the file.
            sha256: of its bytes, in hex.
        """
        self._settle()
        self._place = None
        seats, lines = tuple(self._seats.values()), tuple(self._lines)
        if not any(seat.counts_as == "Werewolf" for seat in seats):
            raise self.error("no seat is a Werewolf's; this is no game of Werewolf, or its roles are missing")
        game = id_of(kind, seats, lines)
        head = Head(game=game, kind=kind, file=storable(file), sha256=sha256, reveal=self.reveal, seats=seats)
        return ForeignLog(head, lines)

    def _settle(self) -> None:
        """Add the vote and the night that go on."""
        self._count()
        if self._night is not None:
            self.add(self._night)
            self._night = None

    def _day_act(self) -> None:
        self.begin_day()
        self._count()

    def _count(self) -> None:
        if self._ballots:
            self._leave_out_vote_before()
            self.add(Voted(round=self.round, ballots=tuple(self._ballots.values())))
            self._ballots = {}

    def _leave_out_vote_before(self) -> None:
        """Leave out the vote of this day that is held again after some talk; none that exiled somebody is."""
        for place, line in reversed(tuple(enumerate(self._lines))):
            if isinstance(line, Night) or (isinstance(line, Departed) and line.how == "exile"):
                return
            if isinstance(line, Voted):
                self.left_out["votes that were held again"] += len(line.ballots)
                del self._lines[place]
                return

    def _at_night(self, **changes: object) -> Night:
        """Return the night that goes on, begun if need be, with changes."""
        self._count()
        if self._night is None:
            self.round = self.round + 1 if self._by_day or not self.round else self.round
            self._by_day = False
            self._night = Night(round=self.round)
        self._night = self._night.model_copy(update=changes)
        if (fault := stranger(self._night, {*self._seats})) is not None:
            raise self.error(fault)
        return self._night

    def _remove(self, name: SeatName) -> None:
        if name not in self._seats:
            raise self.error(f"{name!r} has no seat in this game")
        if name in self.living:
            self.living.remove(name)
        else:
            self.left_out["departures of who had left"] += 1

    @contextlib.contextmanager
    def _checked(self) -> Iterator[None]:
        try:
            yield
        except ValidationError as error:
            raise self.error(first_fault(error)) from None
