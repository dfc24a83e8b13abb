"""`CheckHouse`: the house of a trial. It welcomes the agent, posts to its mailbox and hears it."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from moderator.check.finding import FindingLedger
from wolfbus.bus import streams
from wolfbus.bus.ids import parse_id
from wolfbus.bus.protocol import Bus, Commit, Entry, every_entry
from wolfbus.errors import MessageError
from wolfbus.messages.base import Part
from wolfbus.messages.codec import FROM_AGENT, pack, plain, unpack, validate
from wolfbus.messages.house import FromAgent, Join, Leave, RollCall, Welcome

LEASE_S: Final = 15.0
_HOLDER: Final = "check-agent"
_BLOCK_S: Final = 0.5


@dataclass(frozen=True, slots=True)
class Heard:
    """A message for a game, and when it came, on this machine's monotonic clock."""

    at: float
    entry: Entry


class CheckHouse:
    """One house, one agent.

    Args:
        bus: where the house is.
        house: its name.
        name: the agent to try; None for the first that knocks.
        again_s: how often the agent is to say join, in seconds.
        ledger: where faults are noted.
    """

    def __init__(self, bus: Bus, house: str, name: str | None, again_s: float, ledger: FindingLedger) -> None:
        self._bus = bus
        self.house = house
        self._wanted = name
        self._again_s = again_s
        self._ledger = ledger
        self._epoch = 0
        self._renewed = 0.0
        self._reader = bus.reader()
        self._ids: dict[str, list[str]] = {}
        self.agent = ""
        self.join: Join | None = None
        self.joins: list[float] = []
        self.left: Leave | None = None
        self.on_rejoin: Callable[[], None] = lambda: None

    def open(self) -> None:
        """Take the house; ask those who knocked before whether they are still there.

        Raises:
            HouseHeld: another moderator has it.
        """
        self._epoch = self._bus.claim(self.house, _HOLDER, LEASE_S)
        self._renewed = time.monotonic()
        lobby = streams.lobby(self.house)
        known = {self._wanted} if self._wanted else set()
        knocks = list(every_entry(self._bus, lobby))
        known |= {entry.sender for entry in knocks if self._wanted in {None, entry.sender}}
        self._reader.follow(lobby, knocks[-1].id if knocks else "0-0")
        for name in sorted(each for each in known if each):
            self._listen_to(name, self._bus.last_id(streams.outbox(self.house, name)))
            self._post(name, RollCall())

    def wait_for_join(self, seconds: float, gone: Callable[[], str | None]) -> bool:
        """Wait for the agent to come in, and welcome it; returns whether it did.

        Args:
            seconds: how long.
            gone: returns why it cannot come any more.
        """
        until = time.monotonic() + seconds
        while self.join is None and time.monotonic() < until and gone() is None:
            self.hear(min(until, time.monotonic() + _BLOCK_S))
        return self.join is not None

    def tell(self, message: Part) -> None:
        """Put a message of the house into the agent's mailbox."""
        self._post(self.agent, message)

    @property
    def member(self) -> Join:
        """What the agent said of itself last; it must have come in."""
        if self.join is None:
            raise LookupError("nobody has joined")
        return self.join

    @property
    def gone(self) -> bool:
        """Whether it said that it leaves."""
        return self.left is not None

    def post(self, entry: Entry) -> None:
        """Put an entry into the agent's mailbox as it stands."""
        self._commit(self.agent, entry)

    def hear(self, until: float) -> list[Heard]:
        """Return messages for games as soon as anything came, perhaps nothing for a game, and at `until` at the latest.

        Args:
            until: on the monotonic clock, in seconds.
        """
        while True:
            self._keep_house()
            left = until - time.monotonic()
            found = self._reader.read(min(max(left, 0.0), _BLOCK_S))
            now = time.monotonic()
            heard = []
            for stream, entries in found:
                for entry in entries:
                    if stream == streams.lobby(self.house):
                        self._knock(entry)
                    elif stream == streams.outbox(self.house, self.agent) or not self.agent:
                        self._look_at(entry)
                        if entry.game:
                            heard.append(Heard(now, entry))
                        else:
                            self._house_message(stream, entry, now)
            if found or now >= until or self.left:
                return heard

    def silence(self, seconds: float) -> list[Heard]:
        """Return all messages for games of the next `seconds`."""
        until = time.monotonic() + seconds
        heard: list[Heard] = []
        while time.monotonic() < until and not self.left:
            heard += self.hear(until)
        return heard

    def close(self) -> None:
        """Give the house back, and leave no mail behind."""
        self._bus.release(self.house, _HOLDER, self._epoch)
        self._reader.close()
        if self.agent:
            inbox = streams.inbox(self.house, self.agent)
            self._bus.trim(inbox, self._bus.last_id(inbox))

    def faulty_ids(self) -> str | None:
        """Return what is wrong with the ids on its out stream, None if nothing is."""
        for instance, ids in self._ids.items():
            firsts = {parse_id(each)[0] for each in ids}
            # the first word of a new start may be counted with the start before
            if len(firsts) > 2:
                return f"ids {ids[0]}, {ids[1]}, … of start {instance!r} do not begin with the time of its start"
        return None

    def _listen_to(self, name: str, after: str) -> None:
        self._reader.follow(streams.outbox(self.house, name), after)

    def _knock(self, entry: Entry) -> None:
        try:
            join = validate(FROM_AGENT, unpack(entry.body))
        except MessageError as error:
            self._ledger.fault("malformed knock", "fail", str(error))
            return
        if not isinstance(join, Join) or join.service != "player" or self._wanted not in {None, join.agent}:
            return
        if self.join is None:
            # what it said before it knocked stands on its stream already
            self._listen_to(join.agent, "0-0")

    def _house_message(self, stream: str, entry: Entry, now: float) -> None:
        try:
            message: FromAgent = validate(FROM_AGENT, unpack(entry.body))
        except MessageError as error:
            self._ledger.fault("malformed", "fail", f"a message without a game cannot be read: {error}")
            return
        if isinstance(message, Leave):
            if self.join is not None and message.instance == self.join.instance:
                self.left = message
        elif isinstance(message, Join):
            self._joined(stream, message, now)

    def _joined(self, stream: str, join: Join, now: float) -> None:
        if stream != streams.outbox(self.house, join.agent):
            self._ledger.fault("wrong name", "fail", f"join says {join.agent!r} on the stream {stream}")
            return
        if self.join is None or join.instance != self.join.instance:
            again = self.join is not None
            self.agent, self.join = join.agent, join
            self.joins.append(now)
            self.tell(
                Welcome(house=self.house, agent=join.agent, instance=join.instance, again_s=self._again_s),
            )
            if again:
                self.on_rejoin()
            return
        self.join = join
        self.joins.append(now)

    def _look_at(self, entry: Entry) -> None:
        """Check what stands beside a message in the clear."""
        try:
            value = unpack(entry.body)
        except MessageError:
            return
        sort = value.get("type")
        if entry.type != sort and sort in {"reply", "join", "leave"}:
            self._ledger.fault("entry fields", "warn", f"field type says {entry.type!r} beside a {sort!r}")
        if self.agent and entry.sender != self.agent:
            self._ledger.fault("entry fields", "fail", f"field from says {entry.sender!r}, not {self.agent!r}")
        if sort == "reply" and value.get("game") != entry.game:
            said = f"field game says {entry.game!r} beside a reply in game {value.get('game')!r}: it reaches no game"
            self._ledger.fault("entry fields", "fail", said)
        if self.join is not None:
            self._ids.setdefault(self.join.instance, []).append(entry.id)

    def _post(self, name: str, message: Part) -> None:
        body = plain(message)
        self._commit(name, Entry(pack(body), str(body["type"]), "moderator"))

    def _commit(self, name: str, entry: Entry) -> None:
        self._keep_house()
        post = (streams.inbox(self.house, name), entry)
        (error,) = self._bus.commit([Commit(self.house, "", self._epoch, "", "", posts=(post,))])
        if error is not None:
            raise error

    def _keep_house(self) -> None:
        now = time.monotonic()
        if now - self._renewed > LEASE_S / 3:
            self._bus.renew(self.house, _HOLDER, self._epoch, LEASE_S)
            self._renewed = now
