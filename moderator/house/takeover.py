"""`TakeOver`: how a term of office begins: what the bus says of the session, and games taken up from their records."""

from __future__ import annotations

import logging
import re

from moderator.house.archives import Archives
from moderator.house.games import ModeratorHouse
from moderator.house.lobby import who_knocked, who_wrote
from moderator.house.roster import Roster
from moderator.house.scheduler import GAVE_UP, Programme
from moderator.house.session import Session
from moderator.house.tickets import Tickets
from wolfbus.bus import streams
from wolfbus.bus.protocol import Bus
from wolfbus.messages.base import ID_PATTERN
from wolfbus.messages.house import Dropped

logger = logging.getLogger(__name__)


class TakeOver:
    """Goes on where the last moderator stopped, or opens a new session.

    Args:
        name: the house's name.
        bus: where it is.
        house: its games.
        session: the session, still empty.
        archives: what analytics has on disk.
        roster: told who holds a ticket.
        programme: takes up the games.
        tickets: who holds one; None where anybody may come.
        playing: games that this moderator had under way before the bus went backwards.

    Attributes:
        known: names that agents of this house may have.
        playing: those games of which it is still to be seen what became of them.
    """

    def __init__(
        self,
        name: str,
        bus: Bus,
        house: ModeratorHouse,
        session: Session,
        archives: Archives,
        roster: Roster,
        programme: Programme,
        tickets: Tickets | None,
        playing: tuple[str, ...],
    ) -> None:
        self.known: set[str] = set()
        self.playing = playing
        self._name = name
        self._bus = bus
        self._house = house
        self._session = session
        self._archives = archives
        self._roster = roster
        self._programme = programme
        self._tickets = tickets

    @property
    def names(self) -> list[str]:
        """Those of `known` that an agent can have, sorted."""
        return sorted(name for name in self.known if re.fullmatch(ID_PATTERN, name))

    def take_up(self) -> tuple[str, dict[str, str]]:
        """Take up the session and its open games.

        Returns:
            The last id of the lobby that is accounted for, and the durable cursors.

        Raises:
            BusDown: the bus is away; this may be called again.
        """
        session = self._session
        session.catch_up(self._bus, self._name)
        if session.running:
            self._archives.recall()
            session.find_untold()
            logger.info("session %s goes on, %d games begun", session.name, session.games)
        else:
            self._house.announce(session.open())
            logger.info("session %s opens", session.name)
        cursors = self._bus.cursors(self._name)
        lobby = streams.lobby(self._name)
        knocked = self._bus.last_id(lobby)
        if self._tickets is not None:
            self._roster.tickets = self._tickets.read()
            self.known = set(self._roster.tickets)
        else:
            self.known = who_wrote(self._name, cursors) | who_knocked(self._bus, lobby)
        for game, number in sorted(session.under_way.items(), key=lambda item: item[1]):
            self._programme.resume(game, number)
        for under_way in self._programme.running.values():
            self.known.update(seat.agent for seat in under_way.opened.seats)
        self._account_for_playing()
        return knocked, cursors

    def _account_for_playing(self) -> None:
        """See what became of games that were under way before the bus went backwards, and are so no more.

        One may have ended, with its result untold; of one the bus may have forgotten that it ever began.
        """
        for game in self.playing:
            if (closed := self._session.closed.get(game)) is not None:
                self._programme.resume(game, closed.number)
            elif game not in self._session.under_way:
                logger.warning("the bus has forgotten that this game was begun", extra={"game": game})
                dropped = Dropped(game=game, reason=GAVE_UP)
                self._house.tell([(agent, dropped) for agent in self.names])
        self.playing = ()
