"""`TrialGame`: one game of a trial, played by the engine as any other: what was asked of the agent in it, what came
back, and what became of that by the record.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Final, Literal

from moderator.check.finding import Fault, FindingLedger, repaired, wrote
from moderator.check.house import CheckHouse
from wolfbus.bus import streams
from wolfbus.bus.protocol import Commit, Entry
from wolfbus.errors import MessageError
from wolfbus.files.printable import with_article
from wolfbus.game.vocabulary import KINDS, Kind
from wolfbus.messages.base import SeatName
from wolfbus.messages.codec import pack, unpack
from wolfbus.messages.events import AnyAnswered, Opened, Rejected
from wolfbus.record.line import parse_flat


@dataclass(slots=True)
class CheckRequest:
    """A request that the agent was sent.

    Attributes:
        kind: what is asked for.
        seat: who is asked.
        about: number of the statement it is about, if any.
        deadline_s: time for it, in seconds.
        at: when it was sent, by this machine's monotonic clock.
        strict: whether it should have been answered in time.
        reply: the message that answers it, as plain values, and when it came.
        fault: noted when its time ran out: what comes yet is no answer any more, but it tells slow from silent.
    """

    kind: Kind
    seat: SeatName
    about: int | None
    deadline_s: float
    at: float
    strict: bool
    reply: tuple[dict[str, Any], float] | None = None
    fault: Fault | None = None


class TrialGame:
    """One game.

    Args:
        house: where it is played.
        opened: seats, roles and rules.
        ledger: where answers and faults are noted.

    Attributes:
        mailing: how the agent is sent its mail of the next step: as it is, twice over, with members that it does not
            know, or all from the beginning instead ("caught up").
        strict: whether requests should be answered in time.
        request_count: requests to the agent.
        unanswered: requests in a row that had no answer at all.
        last_asks: the last message that held requests.
        over: whether the agent was told how it ended.
    """

    def __init__(self, house: CheckHouse, opened: Opened, ledger: FindingLedger) -> None:
        self.opened = opened
        self.mailing: Literal["as it is", "twice", "with more", "caught up"] = "as it is"
        self.strict = True
        self.request_count = 0
        self.unanswered = 0
        self.last_asks: Entry | None = None
        self.over = False
        self._house = house
        self._ledger = ledger
        self._roles = {seat.name: seat.role for seat in opened.seats}
        self._requests: dict[str, CheckRequest] = {}
        self._late: set[str] = set()

    @property
    def name(self) -> str:
        """Its id."""
        return self.opened.game

    def send(self, commit: Commit) -> Commit:
        """Return a step as it is to be written; called by the engine's threads."""
        inbox = streams.inbox(self._house.name, self._house.agent)
        mail = [entry for stream, entry in commit.posts if stream == inbox]
        mailing = "as it is"
        if commit.record:
            mailing, self.mailing = self.mailing, "as it is"
        if mailing == "caught up":
            mail = []
        elif mailing == "twice":
            mail *= 2
        elif mailing == "with more":
            mail = [entry._replace(content=pack(_with_more(unpack(entry.body)))) for entry in mail]
        caught_up = mailing == "caught up"
        self._house.enqueue(partial(self._note_step, commit.record, mail, time.monotonic(), self.strict, caught_up))
        others = [post for post in commit.posts if post[0] != inbox]
        return replace(commit, posts=[*others, *((inbox, entry) for entry in mail)])

    def receive(self, entry: Entry, at: float) -> None:
        """Receive a message of the agent for this game."""
        try:
            value = unpack(entry.body)
        except MessageError:
            value = {}
        stated = value.get("request")
        name = stated if isinstance(stated, str) else ""
        request = self._requests.get(name)
        if request is not None and request.fault is not None:
            self._note_late(name, request, request.fault, at)
        elif self.over and entry.type == "reply":
            self._ledger.fault("after game over", "fail", f"a reply in {self.name}, which had ended")
        elif request is not None and request.reply is None and self._fits(request, entry, value):
            request.reply = value, at

    def _fits(self, request: CheckRequest, entry: Entry, value: dict[str, Any]) -> bool:
        whose = value.get("seat"), value.get("game")
        return whose == (request.seat, self.name) and len(entry.body) <= self.opened.config.max_reply_bytes

    def _note_step(self, record: Sequence[Entry], mail: list[Entry], at: float, strict: bool, caught_up: bool) -> None:
        for line in record:
            if line.type in {"answered", "rejected"}:
                event = parse_flat(unpack(line.body), line.number).event
                if event.type == "answered":
                    self._answered(event)
                elif event.type == "rejected" and event.sender == self._house.agent:
                    self._rejected(event)
            self.over = self.over or line.type in {"ended", "stopped"}
        for entry in mail:
            message = unpack(entry.body)
            asks = [(part["seat"], ask) for part in message.get("seats", ()) for ask in part.get("asks", ())]
            for seat, ask in asks:
                request = self._requests.get(ask["id"])
                if request is None or request.fault is not None:
                    about = ask.get("about")
                    self._requests[ask["id"]] = CheckRequest(ask["kind"], seat, about, ask["deadline_s"], at, strict)
                    self._ledger.note_request(ask["kind"], self._roles[seat])
                    self.request_count += 1
            self.last_asks = entry if asks else self.last_asks
        if caught_up:
            self._house.catch_up()

    def _answered(self, answer: AnyAnswered) -> None:
        whose = answer.kind, answer.seat, answer.about
        named = (
            (name, request)
            for name, request in self._requests.items()
            if (request.kind, request.seat, request.about) == whose and request.fault is None
        )
        name, request = next(named, ("", None))
        if request is None:
            # of a rival, or declined
            return
        if answer.outcome == "timed_out":
            self._expire(name, request)
            return
        del self._requests[name]
        reply, at = request.reply or ({}, time.monotonic())
        self.unanswered = 0
        self._ledger.note_answer(answer.kind, max(0.0, at - request.at), usable=answer.content is not None)
        place = f"asked for {with_article(answer.kind)} as {self._roles[answer.seat]}"
        if answer.content is None:
            # an outsider's word on its own fault counts for nothing in a game, but it tells more here
            raw = f"; it wrote {wrote(answer.raw)}" if answer.raw else ""
            example = f"{answer.note or 'no content'}{raw} ({place})"
            self._ledger.fault(_sort(answer, reply), "fail", example, answer.kind)
        elif answer.reading not in {"clean", "reasked", "copied"}:
            members, repair = repaired(answer.kind, answer.reading, answer.raw, reply.get("content", {}))
            self._ledger.fault("not clean", "warn", f"{name}: {repair} ({place})", answer.kind, members)
        if answer.content is not None and answer.note and not self._is_late(answer.seat):
            self._ledger.fault("not the answer alone", "warn", f"{name}: {answer.note} ({place})", answer.kind)

    def _is_late(self, seat: SeatName) -> bool:
        """Return whether an answer of a seat did not come in time: that was told, and a note may tell it once more."""
        return any(request.seat == seat and request.fault is not None for request in self._requests.values())

    def _expire(self, name: str, request: CheckRequest) -> None:
        kind = request.kind
        question = f"{with_article(kind)} was asked for as {self._roles[request.seat]}"
        example = f"{question}; nothing came in {request.deadline_s:g} s"
        request.fault = self._ledger.fault("no answer", "fail" if request.strict else "warn", example, kind)
        self.unanswered += request.strict
        if request.reply is not None:
            # it came between the end of its time and this step
            self._note_late(name, request, request.fault, request.reply[1])

    def _note_late(self, name: str, request: CheckRequest, fault: Fault, at: float) -> None:
        fault.sort = "late"
        fault.example = (
            f"{with_article(request.kind)} came {at - request.at:.1f} s after it was asked for; "
            f"the deadline was {request.deadline_s:g} s"
        )
        self.unanswered = 0
        self._late.add(name)
        del self._requests[name]

    def _rejected(self, rejected: Rejected) -> None:
        name = rejected.request or ""
        if rejected.reason != "closed":
            place = f"{name}: " if name else ""
            self._ledger.fault(_REJECTED[rejected.reason], "fail", f"{place}{rejected.note}", _kind_of(name))
        elif name in self._late:
            self._late.remove(name)
        else:
            self._ledger.fault("answered twice", "warn", f"{name}: the second answer is rejected", _kind_of(name))


def _with_more(value: Any) -> Any:
    """Return a message with one more member in every map of it."""
    if isinstance(value, dict):
        return {name: _with_more(part) for name, part in value.items()} | {"to_come": [{"more": None}]}
    return [_with_more(part) for part in value] if isinstance(value, tuple) else value


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
    "filtered": "kept back by a content filter",
    "cut": "cut off before any answer",
    "error": "an error instead of an answer",
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
