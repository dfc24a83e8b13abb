"""The line view of a game (`PlainLines`), nothing but words, for pipes, logs and screen readers; and how it tells of
model calls that fail (`Failures`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, TextIO

from wolfbus.cli.terminal import wording
from wolfbus.cli.terminal.standing import Following
from wolfbus.files.printable import NOTE_SHOWN, counted, in_plain_words, name_of, printable, spoken
from wolfbus.knowledge.audience import PRIVATE_TYPES
from wolfbus.messages.base import SeatName
from wolfbus.messages.calls import ModelCall
from wolfbus.messages.codec import plain
from wolfbus.messages.events import AnyEvent, Rejected
from wolfbus.record.line import Recorded
from wolfbus.stage.beats import Beat, SeatStatus, Unsaid

_PLACE: Final = 13
"""Characters of the column that says where in the game a line belongs."""
_SORTS: Final = 24
"""Sorts of failure that are told apart; a server that never says the same twice must not fill lines and memory."""
_SORTS_NAMED: Final = 6
"""Sorts of failure that the closing lines name."""
_DIGITS: Final = re.compile(r"\d+")
_WITHOUT_BEAT: Final = PRIVATE_TYPES - {"inspection"}
"""Types of event that one seat may see and that no beat tells of."""


class Failures:
    """Failed model calls, printed so that a dead server does not drown the game: of each sort (the same words up to
    digits) the first one at once, then the tenth, the hundredth and so on.
    """

    def __init__(self) -> None:
        self._counts: dict[str, int] = {}
        self._words: dict[str, str] = {}

    def add(self, call: ModelCall) -> str:
        """Count a failed call and return the line that it is worth, "" for none."""
        error = printable(call.error or "", NOTE_SHOWN)
        sort = _DIGITS.sub("0", error)
        if sort not in self._counts and len(self._counts) >= _SORTS:
            sort, error = "", "other errors"
        self._words.setdefault(sort, error)
        count = self._counts[sort] = self._counts.get(sort, 0) + 1
        if count == 1:
            return wording.call_in_words(call)
        if str(count).strip("0") != "1":
            return ""
        return f"no reply of models: {self._words[sort]} … {count - 1:,} more like this"

    def total(self) -> str:
        """Return how many calls failed in all and of what, "" if no more did than were printed."""
        if all(count == 1 for count in self._counts.values()):
            return ""
        sorts = sorted(self._counts.items(), key=lambda item: -item[1])
        parts = [f"{count:,} × {self._words[sort] or 'no reason given'}" for sort, count in sorts[:_SORTS_NAMED]]
        if left := sum(count for _, count in sorts[_SORTS_NAMED:]):
            parts.append(f"{left:,} of other sorts")
        calls = counted(sum(self._counts.values()), "model call")
        return f"{calls} without a reply: {'; '.join(parts)}"


class PlainLines:
    """Writes what happens in one game, line by line: no colour, no wrapping, no cursor movement.

    A statement's assessment is a line of its own, once it is complete.

    Args:
        stream: text stream to write to; characters that its encoding lacks become question marks.

    Attributes:
        closed: whether nobody reads the stream any more; nothing is written from then on.
    """

    def __init__(self, stream: TextIO) -> None:
        self.closed = False
        self._stream = stream
        self._encoding = getattr(stream, "encoding", None) or "utf-8"
        self._following = Following()
        self._failures = Failures()

    def show(self, recorded: Recorded) -> None:
        """Write the lines of the game's next event, if it has any."""
        text = "".join(f"{place:<{_PLACE - 1}} {words}\n" for place, words in self._lines(recorded))
        if not text or self.closed:
            return
        try:
            self._stream.write(text.encode(self._encoding, "replace").decode(self._encoding))
            self._stream.flush()
        except BrokenPipeError:
            # `wolfbus play 2>&1 | head`: the caller may be an actor in the middle of a game, which goes on
            self.closed = True

    def _lines(self, recorded: Recorded) -> Iterator[tuple[str, str]]:
        """Yield the lines of an event: where in the game it belongs, and the words."""
        for beat in self._following.feed(recorded):
            yield from self._of_beat(beat)
        event = recorded.event
        if event.type == "statement":
            # it is heard as it is made, and assessed later
            beat = self._following.pending()[-1]
            turn = f" {beat.turn}" if beat.turn is not None else ""
            speaker = wording.with_role(_seats(beat), event.speaker)
            yield f"r{beat.round} {beat.phase}{turn}", f"{speaker}{wording.vote_of(beat)}: “{spoken(event.text)}”"
        elif text := self._aside(event):
            yield "", text

    def _of_beat(self, beat: Beat) -> Iterator[tuple[str, str]]:
        place = f"r{beat.round} {beat.phase}"
        opened = self._following.opened
        if beat.spoken is not None:
            # the reasons of a vote are all published before the first of them is assessed
            speaker = f"{name_of(beat.spoken.speaker)} · " if beat.phase == "vote" else ""
            yield "", f"  {speaker}{wording.assessment_in_words(beat.spoken)}"
        elif beat.unsaid is not None:
            yield f"{place} {beat.turn}", _silence_in_words(beat, beat.unsaid)
        elif beat.night is not None:
            yield place, wording.night_in_words(beat.night, beat.round, self._following.config)
            for move in wording.inspections_of(beat.night):
                yield place, wording.inspection_in_words(move, _seats(beat))
        elif beat.tally is not None:
            yield place, wording.tally_in_words(wording.ballots_of(beat.tally), beat.tally.needed)
        elif beat.exile is not None:
            yield place, wording.exile_in_words(beat.exile, _seats(beat))
        elif beat.news is not None:
            yield place, printable(beat.news, NOTE_SHOWN)
        elif beat.over is not None:
            sums = self._following.sums
            yield "end" if beat.kind == "ended" else "stopped", wording.over_in_words(beat.over)
            closing = (wording.answers_in_words(sums), self._failures.total(), wording.usage_in_words(sums.usage))
            yield from (("", text) for text in closing if text)
        elif opened is not None:
            yield from (("", text) for text in wording.opening_lines(opened))

    def _aside(self, event: AnyEvent) -> str:
        """Return what no beat tells: who stops answering, what is rejected, what fails, what one seat is told."""
        if event.type == "absent":
            return f"{name_of(event.seat)} has stopped answering"
        if event.type == "returned":
            return f"{name_of(event.seat)} answers again"
        if event.type == "rejected":
            return _rejection_in_words(event)
        if event.type == "model_call":
            # hundreds of calls go well, and say nothing of the game
            return "" if event.error is None else self._failures.add(event)
        return in_plain_words(plain(event)) if event.type in _WITHOUT_BEAT else ""


def _seats(beat: Beat) -> dict[SeatName, SeatStatus]:
    return {seat.name: seat for seat in beat.seats}


def _silence_in_words(beat: Beat, unsaid: Unsaid) -> str:
    reason = "" if unsaid.outcome in {None, "accepted"} else f" ({unsaid.fault or unsaid.outcome})".replace("_", " ")
    return f"{wording.with_role(_seats(beat), unsaid.seat)} says nothing{reason}"


def _rejection_in_words(event: Rejected) -> str:
    sender, note = printable(event.sender, 64), printable(event.note, NOTE_SHOWN)
    return f"rejected a message of {sender} ({event.size} bytes): {note}"
