"""`Lobby`: tracks who comes to a house and goes, and lets agents in or says why not."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Final

from moderator.engine.context import HouseContext
from moderator.house.games import Games
from moderator.house.roster import AGENTS_AT_MOST, Roster, Tickets
from wolfbus.bus import streams
from wolfbus.bus.protocol import Bus, Entry, every_entry
from wolfbus.bus.streams import START, Id, parse_id
from wolfbus.errors import BusError, MessageError
from wolfbus.files.printable import counted, printable
from wolfbus.messages.base import ID_PATTERN
from wolfbus.messages.codec import FROM_AGENT, unpack, validate
from wolfbus.messages.house import Archived, FromAgent, Join, Leave, Refused, RollCall, Welcome

logger = logging.getLogger(__name__)

REFUSAL_S: Final = 1.0
"""Seconds between two refusals of one name; what insists need not be told more often."""

MESSAGE_AT_MOST: Final = 64_000
"""Bytes of a message to the house; a `join` has a few hundred."""

ASK_AGAIN_S: Final = 0.5
"""Seconds between two questions to an agent how far it has read."""

REFUSALS_KEPT: Final = 1000
"""Refusals that are remembered."""

WARN_EVERY_S: Final = 60.0
"""Seconds between two warnings about one agent; what else there is to say is counted."""

WARNINGS_KEPT: Final = 2000
"""Agents whose last warning is remembered."""


class Lobby:
    """Receives from agents; all methods are called from one thread.

    Args:
        context: the house.
        games: reach agents, and catch them up.
        roster: who is here.
        receive_archived: takes what analytics says of records.
        note_seen: told how far an agent has read its mailbox, whenever it says so.
        tickets: who holds one; None where anybody may come.
        warns_of_seed: whether the session's seed is so short that an outsider could find it.
    """

    def __init__(
        self,
        context: HouseContext,
        games: Games,
        roster: Roster,
        receive_archived: Callable[[str, Archived], None],
        note_seen: Callable[[str, str | None], None],
        tickets: Tickets | None = None,
        *,
        warns_of_seed: bool = False,
    ) -> None:
        self.roster = roster
        self.tickets = tickets
        self._house = context.name
        self._bus = context.bus
        self._clock = context.clock
        self._games = games
        self._archived = receive_archived
        self._note_seen = note_seen
        self._warns_of_seed = warns_of_seed
        self._candidates: set[str] = set()
        self._expected: set[str] = set()
        self._warnings = WarningLimiter()
        self._listened_from: dict[str, Id] = {}
        self._refused: dict[str, tuple[str, str, float]] = {}
        self._asked_at: dict[str, float] = {}

    @property
    def names(self) -> tuple[str, ...]:
        """All agents that are listened to, here or not."""
        return tuple(self._listened_from)

    @property
    def everybody(self) -> set[str]:
        """The names of all whose mailboxes there may be."""
        return {*self._listened_from, *(name for name in self._candidates if re.fullmatch(ID_PATTERN, name))}

    def find_candidates(self) -> tuple[str, dict[str, str]]:
        """Find the names of agents of whom earlier moderators knew, or who knocked before.

        Returns:
            The last id of the lobby that is accounted for, and the durable cursors.

        Raises:
            BusError: the bus cannot be reached.
        """
        cursors = self._bus.cursors(self._house)
        lobby = streams.lobby(self._house)
        last = self._bus.last_id(lobby)
        if self.tickets is not None:
            self.roster.tickets = self.tickets.read()
            self._candidates = set(self.roster.tickets)
        else:
            self._candidates = outbox_names(self._house, cursors) | lobby_senders(self._bus, lobby)
        return last, cursors

    def call_the_roll(self, names: Iterable[str], cursors: dict[str, str]) -> None:
        """Listen to agents that `find_candidates` found, and to others, and ask who of them is here.

        What they said before that tells nothing of who is here now. After an error it may be called again.

        Args:
            names: the others'; what is no name is passed over.
            cursors: durable cursors, out stream to id.

        Raises:
            BusError: the bus cannot be reached.
        """
        self._expected.update(names)
        self._candidates.update(self._expected)
        # who plays comes first: there may be more names than there is room for
        for name in sorted(self.everybody, key=lambda name: (name not in self._expected, name)):
            if name not in self._listened_from and self._has_room():
                stream = streams.outbox(self._house, name)
                last = parse_id(self._bus.last_id(stream))
                after = self._start_id(stream, cursors.get(stream, "0-0"), last)
                self._listened_from[name] = last
                self._games.listen(name, after)
        if self._listened_from:
            self._games.tell([(name, RollCall()) for name in self._listened_from])

    def _start_id(self, stream: str, cursor: str, last: Id) -> str:
        """Return the cursor if the stream still reaches back to it, or else its beginning: nothing older is there."""
        if parse_id(cursor) > last:
            return "0-0"
        first = self._bus.entries(stream, "0-0", 1)
        return "0-0" if not first or parse_id(first[0].id) > parse_id(cursor) else cursor

    def knock(self, entry: Entry) -> None:
        """Handle a knock at the lobby: listen to an agent that was not known."""
        try:
            join = _read(entry)
        except MessageError as error:
            logger.debug("a knock cannot be read: %s", error)
            return
        if not isinstance(join, Join) or join.agent != entry.sender:
            # whoever knocks may call itself what it likes, so all of these count as one's
            sender = printable(entry.sender, 80)
            self._warn("", f"{sender} knocked under the name of another; this is not heard")
            return
        if join.agent in self._listened_from:
            return
        if not self.roster.may_come(join.agent) and self.tickets is not None:
            self.roster.tickets = self.tickets.read()
        if self.tickets is None and not self._has_room():
            self._make_room()
        if not self.roster.may_come(join.agent) or not self._has_room():
            self._refuse(join.agent, join, self.roster.refusal(join.agent, join, self._clock()) or "the house is full")
            return
        self._listened_from[join.agent] = START
        self._games.listen(join.agent, "0-0")

    def _has_room(self) -> bool:
        return len(self._listened_from) < 2 * AGENTS_AT_MOST

    def _make_room(self) -> None:
        """Listen no more to those who are away and play nothing, the oldest first; who comes back knocks."""
        now = self._clock()
        away = [name for name in self._listened_from if self.roster.may_be_dropped(name, now)]
        for name in [name for name in away if name not in self._expected][:AGENTS_AT_MOST]:
            del self._listened_from[name]
            self._games.ignore(name)

    def admit_new_tickets(self) -> None:
        """Listen to those whose tickets were issued meanwhile; raises BusError."""
        if self.tickets is None:
            return
        self.roster.tickets = self.tickets.read()
        if not self.roster.tickets.keys() <= self._listened_from.keys():
            self.call_the_roll(self.roster.tickets, self._bus.cursors(self._house))

    def receive(self, agent: str, entry: Entry) -> None:
        """Receive what an agent tells the house; it stands on the agent's own stream. Raises BusError."""
        if agent not in self._listened_from:
            # it is not listened to any more, and could join a game in which nobody would hear it
            return
        try:
            message = _read(entry)
        except MessageError as error:
            self._warn(agent, f"{agent} said what cannot be read: {error}")
            return
        if isinstance(message, Join):
            # what stands there from before the roll was called may be a dead process's last word
            if parse_id(entry.id) > self._listened_from[agent]:
                self._join(agent, message)
        elif isinstance(message, Leave):
            self._leave(agent, message)
        else:
            self._receive_archived(agent, message)

    def _warn(self, agent: str, complaint: str) -> None:
        self._warnings.warn(agent, complaint, self._clock())

    def unreachable(self, agent: str, error: BusError) -> None:
        """Forget an agent in whose mailbox nothing can be put, until it says join again."""
        self.roster.members.pop(agent, None)
        self._warn(agent, f"{agent} cannot be told anything, so it is not here: {error}")

    def sum_up(self) -> None:
        """Warn of messages that were not taken and only counted so far."""
        self._warnings.sum_up(self._clock())

    def _join(self, agent: str, join: Join) -> None:
        now = self._clock()
        self.roster.drop_absent(now)
        reason = self.roster.refusal(agent, join, now)
        if reason is not None:
            self._refuse(agent, join, reason)
            return
        self._refused.pop(agent, None)
        arrival = self.roster.record_join(join, now)
        self._note_seen(agent, join.seen)
        if arrival == "again":
            return
        logger.info("%s has joined: %s", agent, self._describe(join), extra={"agent": agent})
        if self._warns_of_seed and join.service == "player" and not self.roster.is_in_house(join):
            self._warns_of_seed = False
            logger.warning(
                "%s is an outside agent, and --seed is short: names and every draw follow from the seed, so it could "
                "be found by trying all; give a long one, or none",
                agent,
            )
        self.welcome(agent, join)
        self._games.catch_up(agent, self.roster.player(agent))

    def _describe(self, join: Join) -> str:
        if join.service == "analytics":
            return f"{join.version}, analytics"
        places = f" (only {', '.join(map(str, join.places))})" if join.places else ""
        brain = self.roster.brain(join)
        announced = f" by its ticket; it announces {join.brain}" if brain != join.brain else ""
        return f"{join.version}, {counted(join.seats, 'seat')}{places}, {brain}{announced}"

    def welcome(self, agent: str, join: Join) -> None:
        """Welcome an agent; an analytics service then says of every record that is here still what it has of it."""
        welcome = Welcome(house=self._house, agent=agent, instance=join.instance, again_s=self.roster.again_s)
        self._games.tell([(agent, welcome)])

    def _refuse(self, agent: str, join: Join, reason: str) -> None:
        now = self._clock()
        instance, before, refused_at = self._refused.get(agent, ("", "", now - REFUSAL_S))
        if (instance, before) == (join.instance, reason) or now - refused_at < REFUSAL_S:
            return
        if len(self._refused) >= REFUSALS_KEPT:
            del self._refused[next(iter(self._refused))]
        self._refused[agent] = (join.instance, reason, now)
        self._warn(agent, f"{agent} is refused: {reason}")
        self._games.tell([(agent, Refused(instance=join.instance, reason=reason))])

    def ask_progress(self, agents: Iterable[str]) -> None:
        """Ask agents that have much to read how far they are, for they get no games meanwhile; now and then only."""
        now = self._clock()
        late = [agent for agent in agents if now - self._asked_at.get(agent, now - ASK_AGAIN_S) >= ASK_AGAIN_S]
        if late:
            self._asked_at = {name: at for name, at in self._asked_at.items() if now - at < ASK_AGAIN_S}
            self._asked_at.update(dict.fromkeys(late, now))
            self._games.tell([(agent, RollCall()) for agent in late])

    def _leave(self, agent: str, leave: Leave) -> None:
        if leave.agent != agent:
            self._warn(agent, f"{agent} says that {leave.agent} leaves; this is not heard")
        elif self.roster.leave(agent, leave.instance, (leave.reason or "it fails") if leave.failed else ""):
            level, leaves = (logging.WARNING, "cannot play, and leaves") if leave.failed else (logging.INFO, "leaves")
            reason = f": {leave.reason}" if leave.reason else ""
            logger.log(level, "%s %s%s", agent, leaves, reason, extra={"agent": agent})

    def _receive_archived(self, agent: str, archived: Archived) -> None:
        member = self.roster.members.get(agent)
        if member is None and self.roster.may_serve_as(agent, "analytics"):
            # a new moderator is told of records before it knows who is here; who is welcome says it again
            logger.debug("%s has not joined yet, so what it says of a record is not heard", agent)
        elif member is not None and member.join.service == "analytics":
            self._archived(agent, archived)
        else:
            self._warn(agent, f"{agent} is no analytics service, so what it says of a record is not heard")


def _read(entry: Entry) -> FromAgent:
    """Return what somebody says to the house; raises MessageError."""
    if len(entry.body) > MESSAGE_AT_MOST:
        raise MessageError(f"{len(entry.body)} bytes; at most {MESSAGE_AT_MOST} are read")
    return validate(FROM_AGENT, unpack(entry.body))


@dataclass(slots=True)
class _LastWarning:
    at: float
    suppressed: int = 0


class WarningLimiter:
    """Warns of what agents do wrong. It has no clock of its own."""

    def __init__(self) -> None:
        self._last: dict[str, _LastWarning] = {}

    def warn(self, agent: str, complaint: str, now: float) -> None:
        """Warn of an agent, or count this.

        Args:
            agent: whom it is about.
            complaint: one line, fit to print.
            now: seconds of a clock that never runs backwards.
        """
        last = self._last.get(agent)
        if last is not None and now - last.at < WARN_EVERY_S:
            last.suppressed += 1
            return
        suppressed = last.suppressed if last is not None else 0
        also = f" (and {suppressed} more not taken since the last such line)" if suppressed else ""
        # the youngest stand last
        self._last.pop(agent, None)
        if len(self._last) >= WARNINGS_KEPT:
            del self._last[next(iter(self._last))]
        self._last[agent] = _LastWarning(now)
        logger.warning("%s%s", complaint, also, extra={"agent": agent})

    def sum_up(self, now: float) -> None:
        """Warn of what was only counted, of those whose minute is over."""
        for agent, last in list(self._last.items()):
            if now - last.at >= WARN_EVERY_S:
                del self._last[agent]
                if last.suppressed:
                    were = "messages were" if last.suppressed > 1 else "message was"
                    self.warn(agent, f"{agent}: {last.suppressed} more {were} not taken", now)


def lobby_senders(bus: Bus, lobby: str) -> set[str]:
    """Return the names under which somebody knocked at a lobby, true or not; raises BusError."""
    return {entry.sender for entry in every_entry(bus, lobby)}


def outbox_names(house: str, cursors: Iterable[str]) -> set[str]:
    """Return the names whose out streams are among those that have a durable cursor."""
    out = streams.outbox(house, "")
    return {stream.removeprefix(out) for stream in cursors if stream.startswith(out)}
