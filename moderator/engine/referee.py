"""The referee of one game: which requests are open, which message closes one, and what it counts as.

A reply from the right agent for the right seat and an open id closes it; unusable content gives the conservative
default, recorded as such. Anything else is rejected, recorded, and leaves the request open.

What a record holds already may be read again after its moderator came back; `Referee.recall` takes the record in, and
no message counts twice.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from moderator.engine.questions import LostSteps, Questions
from moderator.engine.reports import REPORTS, Reported, Reports
from wolfbus.bus.protocol import Entry
from wolfbus.errors import MessageError, VersionError
from wolfbus.game.config import GameConfig
from wolfbus.game.vocabulary import Fault, Kind, Outcome
from wolfbus.messages.base import SeatName, slim, unchecked
from wolfbus.messages.calls import REPORT_BYTES
from wolfbus.messages.codec import REPLIES, member_in_line, unpack, validate
from wolfbus.messages.content import Ballot, Bid, Choice, Content, Proposal, Speech, published_words
from wolfbus.messages.events import ANSWERED, AnyAnswered, AnyEvent, Asked, Asking, Opened, Rejected
from wolfbus.messages.requests import AnyReply, Ask
from wolfbus.reading.values import normalise

logger = logging.getLogger(__name__)

Reason: TypeAlias = Literal["sender", "unknown", "closed", "version", "oversize", "unreadable"]
"""Why a message closed nothing."""


@dataclass(slots=True)
class OpenRequest:
    """A question that waits for its reply.

    Attributes:
        id: ``game/round/phase/turn/kind/seat[/about]``.
        batch: the batch it belongs to.
        asking: its kind and legal answers.
        seat: who is asked.
        agent: who answers for the seat.
        deadline_s: seconds it stays open after the commit.
    """

    id: str
    batch: Asked
    asking: Asking
    seat: SeatName
    agent: str
    deadline_s: float

    def ask(self) -> Ask:
        """Return the request as the agent is told of it."""
        batch, asking = self.batch, self.asking
        return unchecked(
            Ask,
            {
                "id": self.id,
                "kind": asking.kind,
                "round": batch.round,
                "phase": batch.phase,
                "turn": batch.turn,
                "about": batch.about,
                "legal": asking.legal,
                "deadline_s": self.deadline_s,
            },
        )


class Referee:
    """Keeps a game's open requests and judges every message that claims to answer one.

    Args:
        opened: seats, their agents, and the config with its limits.

    Attributes:
        reports: what agents report of their model calls.
    """

    def __init__(self, opened: Opened) -> None:
        self._game = opened.game
        self._config = opened.config
        self._agents = {seat.name: seat.agent for seat in opened.seats}
        self._in_house = tuple(seat.name for seat in opened.seats if seat.in_house)
        self._declines = {seat.name: seat.declines for seat in opened.seats}
        self._lost = LostSteps(opened)
        self._questions = Questions(opened.game, tuple(self._agents))
        self.reports = Reports(opened, self._questions, self._lost)
        self._open: dict[str, OpenRequest] = {}
        self._by_batch: dict[int, list[str]] = {}
        # of a game that goes on from its record: what closed by a reply, and the messages that stand in it otherwise
        self._answered: set[str] = set()
        self._recorded: set[tuple[str, str]] = set()

    def ask(self, batch: Asked, absent: set[SeatName]) -> list[OpenRequest]:
        """Open a batch and return its requests; those to absent seats have only `absent_grace` seconds."""
        requests: list[OpenRequest] = []
        names = self._by_batch[batch.batch] = []
        for asking in batch.asks:
            for seat, name in zip(asking.seats, self._questions.add(batch, asking.kind, asking.seats), strict=True):
                seconds = self._time_for(asking.kind, seat in absent)
                request = OpenRequest(name, batch, asking, seat, self._agents[seat], seconds)
                self._open[name] = request
                names.append(name)
                requests.append(request)
        return requests

    def recall(self, event: AnyEvent) -> None:
        """Process one event of the record that the game goes on from, in record order.

        A reply that closed a request and a message that was rejected or reported are known from then on: read again,
        they make nothing.
        """
        self._lost.recall(event)
        self.reports.recall(event)
        if event.type == "asked":
            self.ask(event, set())
        elif event.type == "answered":
            names = self._by_batch.get(event.batch, ())
            name = next((name for name in names if self._open[name].seat == event.seat), None)
            if name is None:
                return
            self._drop(self._open[name])
            if event.outcome in {"accepted", "defaulted"}:
                self._answered.add(name)
        elif event.type == "rejected":
            self._remember(event.sender, event.source)
        elif event.type == "model_call":
            self._remember(self._agents.get(event.seat, ""), event.source)

    def _remember(self, agent: str, source: str | None) -> None:
        if source is not None:
            self._recorded.add((agent, source))

    def open_requests(self, absent: set[SeatName]) -> list[OpenRequest]:
        """Return all open requests, in the order in which they were made, with their time in full."""
        for request in self._open.values():
            request.deadline_s = self._time_for(request.asking.kind, request.seat in absent)
        return list(self._open.values())

    def asks_of(self, agent: str) -> list[OpenRequest]:
        """Return the open requests to an agent's seats, in the order in which they were made."""
        return [request for request in self._open.values() if request.agent == agent]

    def _time_for(self, kind: Kind, absent: bool) -> float:
        deadline = self._config.deadlines.of(kind)
        return min(deadline, self._config.absent_grace) if absent else deadline

    def is_declined(self, request: OpenRequest) -> bool:
        """Return whether the request's agent does not answer its kind: it is not sent, and closed at once."""
        return request.asking.kind in self._declines[request.seat]

    def decline(self, request: OpenRequest) -> AnyAnswered:
        """Close a request that its agent does not answer."""
        return self._close(request, "declined")

    def time_out(self, ids: Iterable[str]) -> list[AnyAnswered]:
        """Close those of `ids` that are still open, as timed out."""
        return [self._close(self._open[name], "timed_out") for name in ids if name in self._open]

    def is_open(self, batch: int) -> bool:
        """Return whether a request of `batch` still waits."""
        return bool(self._by_batch.get(batch))

    def receive(self, agent: str, entry: Entry) -> list[AnyAnswered | Reported]:
        """Judge one message from `agent`'s out stream.

        Args:
            agent: whose stream it stood on; what the message says of its sender counts for nothing, but where it names
                somebody else in the clear it is a forgery.
            entry: the message; its id becomes the `source` of what is recorded beside the game.

        Returns:
            The answer that closes its request, or what it reports of a model call, or why it is rejected; nothing for
            a message that the record accounts for already.
        """
        if self._recorded and (agent, entry.id) in self._recorded:
            return []
        try:
            return self._judge(agent, entry)
        except _RefusedError as refused:
            return [
                Rejected(
                    sender=agent,
                    reason=refused.reason,
                    request=refused.request,
                    size=len(entry.body),
                    note=refused.note,
                    source=entry.id[:64] or None,
                )
            ]

    def _judge(self, agent: str, entry: Entry) -> list[AnyAnswered | Reported]:
        if entry.sender and entry.sender != agent:
            raise _RefusedError("sender", f"it names {entry.sender!r:.80} as its sender, who does not write here")
        size = len(entry.body)
        limit = self._config.max_reply_bytes
        if size > max(limit, REPORT_BYTES):
            raise _oversize(size, limit)
        try:
            value = unpack(entry.body)
        except MessageError as error:
            if size > limit:
                raise _oversize(size, limit) from None
            reason: Reason = "version" if isinstance(error, VersionError) else "unreadable"
            raise _RefusedError(reason, str(error)[:200]) from None
        sort = value.get("type")
        report = isinstance(sort, str) and sort in REPORTS
        limit = REPORT_BYTES if report else limit
        if size > limit:
            raise _oversize(size, limit)
        if report:
            return [*self.reports.receive(agent, value, size, entry.id[:64] or None)]
        if sort != "reply":
            raise _RefusedError("unreadable", f"a message of type {member_in_line(sort)} is no reply")
        request = self._match(agent, value.get("request"), value.get("seat"), value.get("game"))
        return [] if request is None else [self._read(request, value)]

    def _match(self, agent: str, name: object, stated_seat: object, game: object) -> OpenRequest | None:
        """Return the open request that a reply answers; None for a reply that the record accounts for, or will.

        Args:
            agent: whose stream it stood on.
            name: id of the request that it names.
            stated_seat: the seat that it is for, as it says.
            game: its game, as it says.
        """
        request = self._open.get(name) if isinstance(name, str) else None
        if request is not None and request.agent == agent and request.seat == stated_seat and game == self._game:
            return request
        shown_id = name[:200] if isinstance(name, str) else None
        seat = request.seat if request is not None else self._questions.seat_asked(name)
        if seat is None:
            if self._lost.may_have_asked(agent, name):
                # it is asked again when the game gets there
                logger.debug("a reply of %s is to a step that may be lost: %s", agent, name)
                return None
            raise _RefusedError("unknown", "no such request was ever made", shown_id)
        if self._agents[seat] != agent:
            raise _RefusedError("sender", f"{seat} is played by another agent", shown_id)
        if stated_seat != seat or game != self._game:
            note = f"the reply is for {member_in_line(stated_seat)} in game {member_in_line(game)}; the request is not"
            raise _RefusedError("sender", note, shown_id)
        if name in self._answered:
            # this is the reply that closed it, read again; one more would be a second answer
            self._answered.remove(name)
            return None
        raise _RefusedError("closed", "this request is closed already", shown_id)

    def _read(self, request: OpenRequest, value: dict[str, Any]) -> AnyAnswered:
        if value.get("kind") != request.asking.kind:
            wrong = f"kind: {member_in_line(value.get('kind'))} does not answer a {request.asking.kind}"
            return self._close(request, "defaulted", fault="unparseable", note=wrong)
        try:
            reply: AnyReply = validate(REPLIES, value)
        except MessageError as error:
            return self._close(request, "defaulted", fault="unparseable", note=str(error)[:300])
        content: Content | None = reply.content
        fault, note = reply.fault, reply.note
        beside = {"thought": reply.thought, "raw": reply.raw, "consent": reply.consent}
        if content is not None:
            fault, note = find_fault(content, request.asking.legal, self._config, note)
        elif fault is None or request.seat not in self._in_house:
            # an outsider's word on its own error counts for nothing
            fault = "unparseable"
        if fault is not None or content is None:
            return self._close(request, "defaulted", fault=fault, note=note, **beside)
        if isinstance(content, Speech | Ballot) and content.label is not None and not self._config.labels_words:
            # nobody asked for it
            content = content.model_copy(update={"label": None})
        return self._close(request, "accepted", content=normalise(content), reading=reply.reading, note=note, **beside)

    def _close(self, request: OpenRequest, outcome: Outcome, **fields: Any) -> AnyAnswered:
        batch = request.batch
        self._drop(request)
        values = {"batch": batch.batch, "seat": request.seat, "about": batch.about, "outcome": outcome, **fields}
        # what the constructor does, without its layer of Python: a game closes hundreds of requests
        answered: AnyAnswered = ANSWERED[request.asking.kind].__pydantic_validator__.validate_python(values)
        slim(answered)
        content = answered.content
        if content is not None:
            slim(content)
        if isinstance(content, Speech | Ballot):
            for part in (*content.claims, *([content.label] if content.label is not None else ())):
                slim(part)
        return answered

    def _drop(self, request: OpenRequest) -> None:
        del self._open[request.id]
        left = self._by_batch[request.batch.batch]
        left.remove(request.id)
        if not left:
            del self._by_batch[request.batch.batch]


class _RefusedError(Exception):
    """A message closes nothing, and why."""

    def __init__(self, reason: Reason, note: str, request: str | None = None) -> None:
        super().__init__(note)
        self.reason = reason
        self.note = note
        self.request = request


def _oversize(size: int, limit: int) -> _RefusedError:
    return _RefusedError("oversize", f"{size} bytes; the limit is {limit}")


def seat_of(request_id: str) -> SeatName:
    """Return the seat that a request id of ours names."""
    return request_id.split("/")[5]


def find_fault(
    content: Content, legal: tuple[SeatName | None, ...] | None, config: GameConfig, note: str | None
) -> tuple[Fault | None, str | None]:
    """Return what the rules have against a well-formed answer, and a line that says so; (None, note) if nothing."""
    if isinstance(content, Bid):
        if not 0 <= content.bid <= config.bid_max:
            return "illegal", f"bid {content.bid}: outside 0 to {config.bid_max}"
    elif isinstance(content, Speech) and not content.text.strip():
        return "unparseable", "a blank statement"
    elif not config.may_be_said(words := published_words(content)):
        return "illegal", f"{len(words)} characters: a statement has at most {config.max_statement}"
    elif isinstance(content, Ballot | Choice | Proposal):
        return _name_fault(content, legal or (), note)
    return None, note


def _name_fault(
    content: Ballot | Choice | Proposal, legal: tuple[SeatName | None, ...], note: str | None
) -> tuple[Fault | None, str | None]:
    target = content.target
    if target in legal:
        return None, note
    if target is None:
        return "illegal", "nobody is no legal answer here"
    begins = [name for name in legal if name is not None and name.casefold().startswith(target.casefold().strip())]
    if len(begins) > 1:
        return "ambiguous", f"{target!r} could be {' or '.join(begins)}"
    return "illegal", f"{target!r} is no legal answer here"


def check_legal(answer: AnyAnswered, asking: Asking, config: GameConfig) -> str | None:
    """Return why a recorded answer could not have been accepted, None if it could; replay asks this of every one."""
    if answer.content is None:
        return None if answer.outcome != "accepted" else "accepted without content"
    if answer.outcome != "accepted":
        return f"{answer.outcome}, yet it has content"
    fault, note = find_fault(answer.content, asking.legal, config, None)
    if fault is not None:
        return f"{fault}: {note}"
    return None if normalise(answer.content) == answer.content else "the label's kind contradicts its deceptive flag"
