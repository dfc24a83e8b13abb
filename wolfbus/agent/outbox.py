"""`Outbox`: the one stream that an agent writes; `Replies`: one seat's open requests, and what is sent for them."""

from __future__ import annotations

import logging
import math
import threading
import time
from array import array
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Final

from wolfbus.agent.answer import NO_ANSWER, Answer, AnswerLike, answer_of, pack_reply
from wolfbus.bus import streams
from wolfbus.bus.protocol import Bus, Entry
from wolfbus.bus.pump import BusWriter
from wolfbus.bus.streams import parse_id
from wolfbus.errors import BusDown
from wolfbus.files.printable import error_in_words
from wolfbus.messages.base import PROTOCOL
from wolfbus.messages.calls import REPLY_KEPT, Call, PromptText, segment_hash
from wolfbus.messages.codec import pack, plain
from wolfbus.messages.requests import Ask

logger = logging.getLogger(__name__)

_SEGMENTS_BYTES: Final = 32_768
"""Prompt text that one message carries, if it can be cut so."""

_REMEMBERED: Final = 16
"""Answered requests that are remembered: more than a seat can have open at a time."""


class Outbox:
    """An agent's out stream, as this process writes it; safe from any thread.

    Ids are ``<start of the process in ms>-<n>``: what an older process of the same name still
    writes is refused, and a repeated append is recognised.

    Args:
        house: the house's name.
        agent: the agent's name.
        bus: where the stream is; asked once for its last id.
        writer: the process's bus writer.

    Attributes:
        stream: the stream's name.
        joined_at: when `join` was said last, on the clock of `time.monotonic`: who sends a
            `catch_up` upon it has read all that was sent before.

    Raises:
        BusDown: the bus is away.
        NotAllowed: the stream is somebody else's.
    """

    def __init__(self, house: str, agent: str, bus: Bus, writer: BusWriter) -> None:
        self.stream = streams.outbox(house, agent)
        self._agent = agent
        self._writer = writer
        # a clock that was set back must not put us behind an older process
        last = parse_id(bus.last_id(self.stream))[0]
        self._incarnation = max(int(time.time() * 1000), last + 1)
        self._sent = 0
        self.joined_at = -math.inf
        self._lock = threading.Lock()
        self._batched: list[Entry] = []
        self._batching = 0
        self._segments: dict[str, set[str]] = {}
        self._segments_lock = threading.Lock()

    def send(self, game: str, body: bytes, kind: str = "reply") -> None:
        """Queue a message; one that comes after the writer was closed is dropped.

        Args:
            game: id of the game it belongs to, "" for none.
            body: the message, packed.
            kind: its type, as it stands beside the message.
        """
        with self._lock:
            if kind == "join":
                self.joined_at = time.monotonic()
            self._sent += 1
            entry_id = f"{self._incarnation}-{self._sent}"
            entry = Entry(body, kind, self._agent, game, self._sent, entry_id)
            if self._batching:
                self._batched.append(entry)
            else:
                self._append(self._writer.append, [entry])

    def _append(self, append: Callable[[str, list[Entry]], None], entries: list[Entry]) -> None:
        try:
            append(self.stream, entries)
        except BusDown as error:
            kinds = ", ".join(entry.type for entry in entries)
            logger.debug("%s: what it says (%s) comes after the bus was closed: %s", self._agent, kinds, error)

    @contextmanager
    def together(self) -> Iterator[None]:
        """Send what is sent within this block, from any thread, when it ends, all at once; it must be short.

        Of blocks within or beside each other, the last that ends sends.
        """
        with self._lock:
            self._batching += 1
        try:
            yield
        finally:
            with self._lock:
                self._batching -= 1
                if self._batched and not self._batching:
                    batch, self._batched = self._batched, []
                    self._append(self._writer.append_at_once, batch)

    def open_game(self, game: str, *, anew: bool = False) -> None:
        """Take prompt text of a game from now on; `anew` if none of it counts as sent."""
        with self._segments_lock:
            if anew or game not in self._segments:
                self._segments[game] = set()

    def leave_game(self, game: str) -> None:
        """Take no more prompt text of a game."""
        with self._segments_lock:
            self._segments.pop(game, None)

    def send_segments(self, game: str, seat: str, texts: Sequence[PromptText]) -> None:
        """Send what no seat of this agent has sent of a game's prompt text.

        It stands in the stream before anything that is sent after this returns, whoever of the
        seats sent it.
        """
        with self._segments_lock:
            sent = self._segments.get(game)
            if sent is None:
                logger.debug("%s has left game %s: prompt text is not sent any more", seat, game)
                return
            new = []
            for text in texts:
                name = segment_hash(text.after, text.role, text.text)
                if name not in sent:
                    sent.add(name)
                    new.append(plain(text))
            for batch in _by_size(new):
                report = {"v": PROTOCOL, "type": "segments", "game": game, "seat": seat, "texts": batch}
                self.send(game, pack(report), "segments")


def _by_size(pieces: Sequence[dict[str, object]]) -> Iterator[list[dict[str, object]]]:
    """Cut a list of pieces so that each part makes one message of moderate size."""
    part: list[dict[str, object]] = []
    size = 0
    for piece in pieces:
        length = len(str(piece["text"]).encode())
        if part and size + length > _SEGMENTS_BYTES:
            yield part
            part, size = [], 0
        part.append(piece)
        size += length
    if part:
        yield part


class Replies:
    """One seat's requests, by id, and where its answers and reports go: for an agent that answers later, which calls
    `answer`, `segments` and `called`; safe from any thread.

    An answer that nobody wants any more is dropped.

    Args:
        game: the game's id.
        seat: the seat's name.
        outbox: takes the messages.

    Attributes:
        limit: bytes a message may have; what is beside an answer's content is cut to fit. None for
            no limit.
    """

    __slots__ = ("_answered", "_answered_at", "_failed", "_game", "_lock", "_outbox", "_seat", "_under_way", "limit")

    def __init__(self, game: str, seat: str, outbox: Outbox) -> None:
        self.limit: int | None = None
        self._game = game
        self._seat = seat
        self._outbox = outbox
        self._failed = False
        # few at a time, and a set is four times as large as a list
        self._under_way: list[str] = []
        # hashes of ids, oldest first, and when; in arrays, for a process may play thousands of seats
        self._answered = array("q")
        self._answered_at = array("d")
        self._lock = threading.Lock()

    def begin(self, asks: Iterable[Ask]) -> tuple[Ask, ...]:
        """Return those that are not under way and were not answered yet; they are under way from now on."""
        with self._lock:
            fresh = [ask for ask in asks if ask.id not in self._under_way and hash(ask.id) not in self._answered]
            self._under_way += [ask.id for ask in fresh]
        return tuple(fresh)

    def under_way(self, request: str) -> bool:
        """Return whether a request has begun, and an answer to it is wanted still."""
        with self._lock:
            return request in self._under_way

    def drop(self, request: str) -> None:
        """Leave a request without an answer; if it is put again, it begins again."""
        with self._lock:
            if request in self._under_way:
                self._under_way.remove(request)

    def resume(self, asks: Iterable[Ask], asked_at: float) -> None:
        """Keep under way only what a `catch_up` asks.

        What is under way and asked there stays so; other answers are not wanted any more. What was answered before the
        `join` that the `catch_up` follows did not arrive if it is put again, and is taken again; a later answer is on
        its way.

        Args:
            asks: the requests of the `catch_up`.
            asked_at: when that `join` was said, on the clock of `time.monotonic`.
        """
        with self._lock:
            open_requests = {ask.id for ask in asks}
            self._under_way = [request for request in self._under_way if request in open_requests]
            # ascending, as they are appended
            lost = bisect_right(self._answered_at, asked_at)
            del self._answered[:lost], self._answered_at[:lost]

    def answer(self, ask: Ask, returned: AnswerLike) -> None:
        """Send the answer to one request; `NO_ANSWER` is not sent, and the request may be put again."""
        if returned is NO_ANSWER:
            self.drop(ask.id)
            return
        try:
            body = pack_reply(self._game, self._seat, ask, answer_of(ask.kind, returned), self.limit)
        except Exception as error:  # noqa: BLE001 - whatever an agent gives instead of an answer, the record says what
            self.fail(ask, error)
            return
        self._close(ask, body)

    def fail(self, ask: Ask, error: BaseException) -> None:
        """Close a request whose agent raised `error`; the record says what."""
        reason = error_in_words(error)
        failed = Answer(fault="failed", note=f"the brain failed: {reason}"[:300])
        if not self._close(ask, pack_reply(self._game, self._seat, ask, failed)):
            return
        # the first failure is told, for its author; the record has them all
        logger.log(
            logging.DEBUG if self._failed else logging.WARNING,
            "%s: the brain failed on %s: %.200s (further failures of this seat are in the record only)",
            self._seat,
            ask.kind,
            reason,
            extra={"game": self._game, "seat": self._seat},
        )
        self._failed = True

    def segments(self, texts: Sequence[PromptText]) -> None:
        """Report prompt text before a call refers to it; what was reported is not sent again."""
        if texts:
            self._outbox.send_segments(self._game, self._seat, texts)

    def called(self, call: Call) -> None:
        """Report a model call, before the answer that came of it."""
        if call.reply is not None and len(call.reply) > REPLY_KEPT:
            length = call.reply_length or len(call.reply)
            cut = {"reply": call.reply[:REPLY_KEPT], "reply_length": length}
            call = call.model_copy(update=cut)
        report = {"v": PROTOCOL, "type": "called", "game": self._game, "call": plain(call)}
        self._outbox.send(self._game, pack(report), "called")

    def _close(self, ask: Ask, body: bytes) -> bool:
        """Send the answer to a request that is under way; return whether it was."""
        with self._lock:
            is_open = ask.id in self._under_way
            if is_open:
                self._under_way.remove(ask.id)
                if len(self._answered) == _REMEMBERED:
                    del self._answered[0], self._answered_at[0]
                self._answered.append(hash(ask.id))
                self._answered_at.append(time.monotonic())
        if is_open:
            self._outbox.send(self._game, body)
        else:
            logger.debug("%s: %s is not asked any more: its answer is dropped", self._seat, ask.id)
        return is_open
