"""`CheckHouse`: the house of a trial. It welcomes the agent, writes and hears it, and has the engine play.

Its reader and writer do what the engine's would not: what a game tells the agent may come twice, or once more from the
beginning.
"""

from __future__ import annotations

import contextlib
import queue
import time
from collections.abc import Callable
from functools import partial
from typing import Final

from moderator.check.finding import FindingLedger
from moderator.check.rivals import RIVALS, Rival, Rivals
from moderator.engine.context import GameOver, HouseContext, house_entry
from moderator.house.games import Games
from moderator.house.lease import NOTHING, Claim, Lease
from moderator.rules.game import Play
from moderator.rules.game import game as by_the_rules
from wolfbus.actors import ActorPool, Timers
from wolfbus.agent.router import SeatRouter
from wolfbus.bus import streams
from wolfbus.bus.protocol import Bus, Commit, Entry, every_entry
from wolfbus.bus.pump import BusReader, BusWriter, Deliver, Done, Lost, OnError
from wolfbus.errors import BusError, MessageError, WolfError
from wolfbus.messages.codec import FROM_AGENT, member_in_line, unpack, validate
from wolfbus.messages.events import Opened
from wolfbus.messages.house import FromAgent, Goodbye, Join, Leave, RollCall, Welcome


class ProbeReader(BusReader):
    """A bus reader that shows somebody all entries before those who follow their stream get them."""

    def __init__(self, bus: Bus, on_error: OnError, watch: Deliver) -> None:
        super().__init__(bus, on_error)
        self._watch = watch

    def follow(self, stream: str, deliver: Deliver, after: str = "0-0", lost: Lost | None = None) -> None:
        """Hand entries to `watch`, then to `deliver`; see `BusReader.follow`."""

        def both(name: str, entries: list[Entry]) -> None:
            self._watch(name, entries)
            deliver(name, entries)

        super().follow(stream, both, after, lost)


class ProbeWriter(BusWriter):
    """A bus writer that writes of each step what somebody makes of it."""

    def __init__(self, bus: Bus, on_error: OnError, change: Callable[[Commit], Commit]) -> None:
        super().__init__(bus, on_error)
        self._change = change

    def commit(self, commit: Commit, done: Done) -> None:
        """Queue what becomes of a step; see `BusWriter.commit`."""
        super().commit(self._change(commit), done)


LEASE_S: Final = 15.0
_HOLDER: Final = "check-agent"
_BLOCK_S: Final = 0.5


class CheckHouse:
    """One house, one agent. What comes from other threads is done in `process`, in the order in which it came.

    Args:
        bus: where the house is.
        name: its name.
        agent_name: the agent to try; None for the first that knocks.
        again_s: how often the agent is to say join, in seconds.
        ledger: where faults are noted.
        receive: called with each message of the agent for a game, and when it came.
        send: returns each step of a game as it is to be written; called by the engine's threads.

    Attributes:
        join: what the agent said of itself last; None until it has come in.
        joins: when it said join, by this machine's monotonic clock.
        left: how it said that it leaves.
        rivals: who plays all other seats.
    """

    def __init__(
        self,
        bus: Bus,
        name: str,
        agent_name: str | None,
        again_s: float,
        ledger: FindingLedger,
        receive: Callable[[Entry, float], None],
        send: Callable[[Commit], Commit],
    ) -> None:
        self.name = name
        self.join: Join | None = None
        self.joins: list[float] = []
        self.left: Leave | None = None
        self.rivals = Rivals()
        self._bus = bus
        self._agent_name = agent_name
        self._again_s = again_s
        self._ledger = ledger
        self._receive_reply = receive
        self._send = send
        self._epoch = 0
        self._tasks: queue.Queue[Callable[[], None]] = queue.Queue()
        self._lobby = streams.lobby(name)
        self._stack = contextlib.ExitStack()

    def open(self) -> None:
        """Claim the house; ask those who knocked before whether they are still there.

        Raises:
            HouseHeld: another moderator has it.
        """
        self._epoch = self._bus.claim(self.name, _HOLDER, LEASE_S)
        claim = Claim(_HOLDER, self._epoch, stood_by=False, news_before=NOTHING)
        lease = Lease(self._bus, self.name, claim, LEASE_S, self._fail)
        self._stack.callback(lease.close, release=True)
        knocks = list(every_entry(self._bus, self._lobby))
        names = {self._agent_name} if self._agent_name else {entry.sender for entry in knocks}
        pool, timers = ActorPool(2), Timers("check-timers")
        writer = ProbeWriter(self._bus, self._fail, self._send)
        reader = ProbeReader(self._bus, self._fail, self._watch)
        for close in (pool.close, timers.close, writer.close, reader.close):
            self._stack.callback(close)
        self._games = Games(HouseContext(self.name, self._epoch, self._bus, reader, writer, pool, timers))
        self._stack.callback(self._games.stop)
        router, _ = SeatRouter.listen(RIVALS, self.name, self._bus, reader, writer, pool, lambda _: Rival(self.rivals))
        self._stack.callback(router.stop)
        self._games.listen(RIVALS)
        reader.follow(self._lobby, lambda _stream, _entries: None, knocks[-1].id if knocks else NOTHING)
        for name in sorted(filter(None, names)):
            self._games.listen(name)
            self.tell(RollCall(), name)
        writer.start()
        reader.start()

    def wait_for_join(self, seconds: float, why_gone: Callable[[], str | None]) -> bool:
        """Wait for the agent to come in, and welcome it; returns whether it did.

        Args:
            seconds: how long.
            why_gone: returns why it cannot come any more.
        """
        until = time.monotonic() + seconds
        while self.join is None and time.monotonic() < until and why_gone() is None:
            self.process(until)
        return self.join is not None

    @property
    def member(self) -> Join:
        """What the agent said of itself last; it must have come in."""
        if self.join is None:
            raise LookupError("nobody has joined")
        return self.join

    @property
    def agent(self) -> str:
        """The agent's name, "" until it has come in."""
        return self.join.agent if self.join is not None else ""

    def tell(self, message: Welcome | RollCall | Goodbye, name: str | None = None) -> None:
        """Put a message of the house into the agent's mailbox, or that of another `name`."""
        self.post(house_entry(message), name)

    def post(self, entry: Entry, name: str | None = None) -> None:
        """Put an entry into the agent's mailbox as it stands, or into that of another `name`; from any thread."""
        post = (streams.inbox(self.name, name or self.agent), entry)
        (error,) = self._bus.commit([Commit(self.name, "", self._epoch, "", "", posts=(post,))])
        if error is not None:
            raise error

    def play(self, opened: Opened, over: Callable[[GameOver], None], play: Play | None = None) -> None:
        """Have the engine play a game.

        Args:
            opened: its opening event.
            over: called in `process` when it has ended; nothing of it is left on the bus then.
            play: what happens in it; by the rules unless given.
        """

        def end(result: GameOver) -> None:
            self._bus.expire(self.name, result.game, 0)
            over(result)

        self._games.open(opened, None, lambda result: self.enqueue(partial(end, result)), None, play or by_the_rules)

    def break_off(self, reason: str) -> None:
        """End every game where it stands."""
        self._games.break_off(WolfError(reason), wait_s=_BLOCK_S)

    def catch_up(self) -> None:
        """Have the engine tell the agent all of every game that it plays."""
        self._games.catch_up(self.agent)

    def enqueue(self, act: Callable[[], None]) -> None:
        """Have something done in `process`, after what came before; from any thread."""
        self._tasks.put(act)

    def process(self, until: float) -> None:
        """Process what came first; if nothing has come yet, wait for it a moment, or `until` by the monotonic clock,
        if that is sooner.
        """
        with contextlib.suppress(queue.Empty):
            self._tasks.get(timeout=min(max(until - time.monotonic(), 0.0), _BLOCK_S))()

    def process_for(self, seconds: float) -> None:
        """Process all that comes in the next `seconds`."""
        until = time.monotonic() + seconds
        while time.monotonic() < until and not self.left:
            self.process(until)

    def close(self) -> None:
        """Release the house, and leave no mail behind."""
        self._stack.close()
        if not self._epoch:
            return
        boxes = [streams.inbox(self.name, name) for name in (self.agent, RIVALS) if name]
        for stream in (*boxes, streams.outbox(self.name, RIVALS)):
            self._bus.trim(stream, self._bus.last_id(stream))

    def _fail(self, error: BusError) -> None:
        def raise_it() -> None:
            raise error

        self.enqueue(raise_it)

    def _watch(self, stream: str, entries: list[Entry]) -> None:
        if stream not in {streams.outbox(self.name, RIVALS), streams.inbox(self.name, RIVALS)}:
            self.enqueue(partial(self._receive, stream, entries, time.monotonic()))

    def _receive(self, stream: str, entries: list[Entry], now: float) -> None:
        for entry in entries:
            if stream == self._lobby:
                self._knock(entry)
            elif stream == streams.outbox(self.name, self.agent) or not self.agent:
                self._check_fields(entry)
                if entry.game:
                    self._receive_reply(entry, now)
                else:
                    self._house_message(stream, entry, now)

    def _knock(self, entry: Entry) -> None:
        try:
            join = validate(FROM_AGENT, unpack(entry.body))
        except MessageError as error:
            self._ledger.fault("malformed knock", "fail", str(error))
            return
        if (
            self.join is None
            and isinstance(join, Join)
            and join.service == "player"
            and self._agent_name in {None, join.agent}
        ):
            # what it said before it knocked stands on its stream already
            self._games.listen(join.agent, NOTHING)

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
            if stream != streams.outbox(self.name, message.agent):
                self._ledger.fault("wrong name", "fail", f"join says {message.agent!r} on the stream {stream}")
            else:
                self._joined(message, now)

    def _joined(self, join: Join, now: float) -> None:
        before, self.join = self.join, join
        self.joins.append(now)
        if before is None or join.instance != before.instance:
            self.tell(Welcome(house=self.name, agent=join.agent, instance=join.instance, again_s=self._again_s))
            if before is not None:
                self.catch_up()

    def _check_fields(self, entry: Entry) -> None:
        """Check what stands beside a message in the clear."""
        try:
            value = unpack(entry.body)
        except MessageError:
            return
        sort = value.get("type")
        if entry.type != sort and sort in ("reply", "join", "leave"):
            self._ledger.fault("entry fields", "warn", f"field type says {entry.type!r} beside a {sort!r}")
        if self.agent and entry.sender != self.agent:
            self._ledger.fault("entry fields", "fail", f"field from says {entry.sender!r}, not {self.agent!r}")
        if sort == "reply" and value.get("game") != entry.game:
            fault = f"field game says {entry.game!r} beside a reply in game {member_in_line(value.get('game'))}"
            self._ledger.fault("entry fields", "fail", f"{fault}: it reaches no game")
