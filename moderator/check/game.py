"""`TrialGame`: one game of a trial. Its facts and questions are told as in any game, and the real referee judges the
replies; what the moderator's own rules do not want, such as a question asked twice, can be done here too.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from typing import Final

from moderator.check.desk import CheckHouse, Heard
from moderator.check.finding import Fault, FindingLedger
from moderator.check.growth import grown
from moderator.check.repairs import repaired, wrote
from moderator.check.rivals import RIVALS
from moderator.engine.deliveries import Deliveries
from moderator.engine.referee import OpenRequest, Referee
from wolfbus.bus import streams
from wolfbus.bus.protocol import Entry
from wolfbus.errors import MessageError
from wolfbus.messages.base import PROTOCOL, SeatName
from wolfbus.messages.codec import pack, plain, unpack
from wolfbus.messages.content import Content
from wolfbus.messages.events import AnyAnswered, AnyEvent, Asked, Opened, Rejected
from wolfbus.vocabulary import KINDS, Kind

PATIENCE: Final = 3
"""Requests in a row without any answer after which a trial is broken off."""


class SilentError(Exception):
    """The agent answers no more, or has gone: the rest of the trial would only wait."""


class TrialGame:
    """One game.

    Args:
        desk: the moderator's desk.
        opened: seats, roles and rules.
        ledger: where answers and faults are noted.
        route: takes in messages that may be for other games of the trial too.
    """

    def __init__(
        self, desk: CheckHouse, opened: Opened, ledger: FindingLedger, route: Callable[[Iterable[Heard]], None]
    ) -> None:
        self._desk = desk
        self._route = route
        self._inbox = streams.inbox(desk.house, desk.agent)
        self._ledger = ledger
        self.opened = opened
        self.game = opened.game
        self._roles = {seat.name: seat.role for seat in opened.seats}
        self._mine = frozenset(seat.name for seat in opened.seats if seat.agent == desk.agent)
        self._referee = Referee(opened)
        self._deliveries = Deliveries(desk.house, opened)
        self._events: list[AnyEvent] = []
        self._sent: dict[str, tuple[OpenRequest, float]] = {}
        self._late: dict[str, tuple[OpenRequest, float, Fault]] = {}
        self._unanswered = 0
        self.answers: dict[int, dict[SeatName, AnyAnswered]] = {}
        self.asked = 0
        self.last_asks: Entry | None = None
        self.over = False
        self.grows = False
        """Whether its deliveries hold members that no agent knows."""

    def tell(
        self,
        events: Iterable[AnyEvent],
        deadline_s: float | None = None,
        *,
        caught_up: bool = False,
        lost: bool = False,
    ) -> None:
        """Let things happen and tell the agent in one delivery, open requests to its seats among them.

        Args:
            events: what happens; batches of questions are opened, and rivals are left to the caller.
            deadline_s: time for the requests, in seconds; None for the rules'.
            caught_up: the agent hears of it in a `catch_up` that begins at the beginning.
            lost: the agent does not hear of it.
        """
        events = list(events)
        requests: list[OpenRequest] = []
        for event in events:
            if isinstance(event, Asked):
                requests += self._ask(event, deadline_s)
            elif event.type == "ended":
                self.over = True
        self._events += events
        posts = self._deliveries.of_step(events, requests)
        if caught_up:
            posts = self._catch_up()
        for stream, entry in posts:
            if stream == self._inbox and not lost:
                self.last_asks = entry if requests else self.last_asks
                self._post(entry)
        now = time.monotonic()
        for request in requests:
            self._sent[request.id] = (request, now)

    def rewind(self) -> None:
        """Let all that happened since the game was opened be lost, answers included: it never was."""
        self._events = [self.opened]
        self._referee = Referee(self.opened)
        self._deliveries = Deliveries(self._desk.house, self.opened)
        self._deliveries.of_step(self._events, ())

    def catch_up(self) -> None:
        """Tell the agent everything again, and repeat what is open."""
        for _, entry in self._catch_up():
            self._post(entry)

    def wait(self, batches: Sequence[int], *, strict: bool = True) -> None:
        """Wait until the requests of these batches are closed, by replies or by their deadlines.

        Raises:
            SilentError: several requests in a row had no answer at all (never if not `strict`), or the agent left.
        """
        while any(self._referee.is_open(batch) for batch in batches):
            due = min(at + request.deadline_s for request, at in self._sent.values())
            heard = self._desk.hear(due)
            self._route(heard)
            if self._desk.left is not None:
                raise SilentError(f"it said leave in the middle of the trial ({self._desk.left.reason or 'no reason'})")
            now = time.monotonic()
            expired = [name for name, (request, at) in self._sent.items() if now >= at + request.deadline_s]
            for answer in self._referee.time_out(expired):
                self._keep(answer)
            for name in expired:
                self._expire(name, strict=strict)
            if strict and self._unanswered >= PATIENCE:
                raise SilentError(f"{self._unanswered} requests in a row had no answer")

    def answer_for_rivals(self, asked: Asked, contents: dict[SeatName, Content]) -> None:
        """Close the requests to seats that are not the agent's."""
        for asking in asked.asks:
            for seat in asking.seats:
                if seat in contents:
                    asks = self._referee.asks_of(RIVALS)
                    request = next(each for each in asks if each.seat == seat and each.asked is asked)
                    self._take_one(RIVALS, _reply(self.game, request, contents[seat]))

    def take(self, heard: Heard) -> None:
        """Take in one message of the agent for this game."""
        if self.over and heard.entry.type == "reply" and not self._is_late(heard.entry):
            self._ledger.fault("after game over", "fail", f"a reply in {self.game}, which had ended")
            return
        self._take_one(self._desk.agent, heard.entry, heard.at)

    def _is_late(self, entry: Entry) -> bool:
        try:
            return unpack(entry.body).get("request") in self._late
        except MessageError:
            return False

    def _ask(self, asked: Asked, deadline_s: float | None) -> list[OpenRequest]:
        sent = []
        for request in self._referee.ask(asked, set()):
            if request.seat not in self._mine:
                continue
            if self._referee.is_declined(request):
                self._keep(self._referee.decline(request))
                continue
            if deadline_s is not None:
                request.deadline_s = deadline_s
            self._ledger.asked(request.asking.kind, self._roles[request.seat])
            self.asked += 1
            sent.append(request)
        return sent

    def _post(self, entry: Entry) -> None:
        self._desk.post(grown(entry) if self.grows else entry)

    def _catch_up(self) -> list[tuple[str, Entry]]:
        return self._deliveries.of_catch_up(self._events, {self._desk.agent: self._referee.asks_of(self._desk.agent)})

    def _take_one(self, agent: str, entry: Entry, at: float | None = None) -> None:
        for verdict in self._referee.receive(agent, entry):
            if verdict.type == "answered":
                self._keep(verdict)
                if at is not None:
                    self._note_answer(entry, verdict, at)
            elif verdict.type == "rejected" and at is not None:
                self._note_rejected(verdict, at)

    def _keep(self, answer: AnyAnswered) -> None:
        self.answers.setdefault(answer.batch, {})[answer.seat] = answer

    def _note_answer(self, entry: Entry, answer: AnyAnswered, at: float) -> None:
        value = unpack(entry.body)
        name = str(value["request"])
        _, sent = self._sent.pop(name)
        self._unanswered = 0
        self._ledger.answered(answer.kind, max(0.0, at - sent))
        place = f"asked for {_a(answer.kind)} as {self._roles[answer.seat]}"
        if answer.content is None:
            # an outsider's word on its own fault counts for nothing in a game, but it tells more here
            raw = f"; it wrote {wrote(answer.raw)}" if answer.raw else ""
            said = f"{answer.note or 'no content'}{raw} ({place})"
            self._ledger.fault(_sort(answer, value), "fail", said, answer.kind)
        elif answer.reading not in {"clean", "reasked"}:
            members, said = repaired(answer.kind, answer.reading, answer.raw, value["content"])
            self._ledger.fault("not clean", "warn", f"{name}: {said} ({place})", answer.kind, members)

    def _note_rejected(self, rejected: Rejected, at: float) -> None:
        name = rejected.request or ""
        if rejected.reason != "closed":
            place = f"{name}: " if name else ""
            self._ledger.fault(_REJECTED[rejected.reason], "fail", f"{place}{rejected.note}", _kind_of(name))
        elif name in self._late:
            request, sent, fault = self._late.pop(name)
            fault.sort = "late"
            fault.example = (
                f"{_a(request.asking.kind)} came {at - sent:.1f} s after it was asked for; "
                f"the deadline was {request.deadline_s:g} s"
            )
            self._unanswered = 0
        else:
            self._ledger.fault("answered twice", "warn", f"{name}: the second answer is rejected", _kind_of(name))

    def _expire(self, name: str, *, strict: bool) -> None:
        request, sent = self._sent.pop(name)
        kind = request.asking.kind
        said = f"{_a(kind)} was asked for as {self._roles[request.seat]}; nothing came in {request.deadline_s:g} s"
        fault = self._ledger.fault("no answer", "fail" if strict else "warn", said, kind)
        # what comes yet is no answer any more, but it tells slow from silent
        self._late[name] = (request, sent, fault)
        self._unanswered += strict


_REJECTED: Final = {
    "unknown": "unknown request",
    "sender": "wrong seat or sender",
    "version": "wrong version",
    "oversize": "oversize",
    "unreadable": "malformed message",
}

_SORTS: Final = {
    "illegal": "illegal answer",
    "ambiguous": "ambiguous answer",
    "refused": "refused to answer",
    "failed": "failed to answer",
}


def _sort(answer: AnyAnswered, value: dict[str, object]) -> str:
    """Name what was wrong with an answer that closed its request without content."""
    if value.get("kind") != answer.kind:
        return "wrong kind"
    stated = value.get("fault")
    if value.get("content") is None and isinstance(stated, str) and stated in _SORTS:
        return _SORTS[stated]
    return _SORTS.get(answer.fault or "", "malformed answer")


def _kind_of(request: str) -> Kind | None:
    """Return the kind that a request's id names."""
    parts = request.split("/")
    return next((kind for kind in KINDS if len(parts) > 4 and parts[4] == kind), None)


def _a(kind: Kind) -> str:
    return f"an {kind}" if kind[0] in "aeiou" else f"a {kind}"


def _reply(game: str, request: OpenRequest, content: Content) -> Entry:
    """Return a rival's reply."""
    kind = request.asking.kind
    value = {"v": PROTOCOL, "type": "reply", "kind": kind, "game": game, "request": request.id, "seat": request.seat}
    return Entry(pack({**value, "content": plain(content)}), "reply", RIVALS, game)
