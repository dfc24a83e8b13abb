"""A game as plain lines, one per event that is worth one: for pipes, logs and screen readers."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, TextIO

from wolfbus.cli.terminal import wording
from wolfbus.messages.calls import ModelCall
from wolfbus.messages.events import AnyEvent
from wolfbus.printable import NOTE_SHOWN, counted, name_of, printable, spoken
from wolfbus.record.line import Recorded
from wolfbus.state import GameState, Utterance

_PLACE: Final = 13
"""Characters of the column that says where in the game a line belongs."""
_SORTS: Final = 24
"""Sorts of failure that are told apart; a server that never says the same twice must not fill lines and memory."""
_TOLD: Final = 6
"""Sorts of failure that the closing lines name."""
_DIGITS: Final = re.compile(r"\d+")
_PLACES: Final = {
    "night_outcome": "r{0.round} night",
    "inspection": "r{0.round} night",
    "silence": "r{0.round} debate {0.turn}",
    "tally": "r{0.round} vote",
    "exile": "r{0.round} vote",
    **dict.fromkeys(("absent", "returned", "rejected"), ""),
    "ended": "end",
    "stopped": "stopped",
}
"""Where in the game an event belongs that has a line of its own."""


class Failures:
    """Failed model calls, told so that a server that died does not drown the game: of each sort (the same words up to
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
        return f"no reply of models: {self._words[sort]} … {count - 1} more like this"

    def total(self) -> str:
        """Return how many calls failed in all and of what, "" if no more did than were told."""
        if all(count == 1 for count in self._counts.values()):
            return ""
        sorts = sorted(self._counts.items(), key=lambda item: -item[1])
        parts = [f"{count} × {self._words[sort] or 'no reason given'}" for sort, count in sorts[:_TOLD]]
        if left := sum(count for _, count in sorts[_TOLD:]):
            parts.append(f"{left} of other sorts")
        calls = counted(sum(self._counts.values()), "model call")
        return f"{calls} without a reply: {'; '.join(parts)}"


class PlainLines:
    """Writes what happens in one game, line by line: no colour, no wrapping, no cursor movement.

    A statement's assessment is a line of its own, once it is complete.

    Args:
        stream: text stream to write to; characters that its encoding lacks become question marks.

    Attributes:
        gone: whether the stream's reader has gone; nothing is written from then on.
    """

    def __init__(self, stream: TextIO) -> None:
        self.gone = False
        self._stream = stream
        self._encoding = getattr(stream, "encoding", None) or "utf-8"
        self._state = GameState()
        self._mute = ""
        self._failures = Failures()

    def see(self, recorded: Recorded) -> None:
        """Take in the next event of the game and write what it is worth."""
        self._state.feed(recorded.event)
        text = "".join(f"{place:<{_PLACE - 1}} {told}\n" for place, told in self._lines(recorded.event))
        if not text or self.gone:
            return
        try:
            self._stream.write(text.encode(self._encoding, "replace").decode(self._encoding))
            self._stream.flush()
        except BrokenPipeError:
            # `wolfbus play 2>&1 | head`: the caller may be an actor in the middle of a game, which goes on
            self.gone = True

    def _lines(self, event: AnyEvent) -> Iterator[tuple[str, str]]:
        """Give the lines of an event: where in the game it belongs, and the words."""
        state = self._state
        if event.type == "answered" and event.kind == "speak":
            self._mute = "" if event.outcome == "accepted" else f" ({(event.fault or event.outcome).replace('_', ' ')})"
        elif event.type == "answered":
            statement = state.statements.get(event.about or 0)
            if statement is not None and statement.assessed:
                yield "", self._assessment(statement)
        elif event.type == "opened":
            yield from (("", line) for line in wording.opening_lines(event))
        elif event.type == "statement":
            turn = "" if event.phase == "vote" else f" {event.turn}"
            speaker = f"{wording.who(state, event.speaker)}{wording.vote_of(state, event)}"
            yield f"r{event.round} {event.phase}{turn}", f"{speaker}: “{spoken(event.text)}”"
        elif event.type == "model_call":
            # hundreds of calls go well, and say nothing of the game
            if event.error is not None and (told := self._failures.add(event)):
                yield "", told
        elif event.type in _PLACES:
            mute = self._mute if event.type == "silence" else ""
            yield _PLACES[event.type].format(event), wording.event_in_words(state, event) + mute
            if event.type in {"ended", "stopped"}:
                sums = (wording.answers_in_words(state), self._failures.total(), wording.usage_in_words(state.usage))
                yield from (("", told) for told in sums if told)

    def _assessment(self, statement: Utterance) -> str:
        # the reasons of a vote are all published before the first of them is assessed
        whose = "" if statement.said.phase == "debate" else f"{name_of(statement.said.speaker)} · "
        return f"  {whose}{wording.assessment_in_words(statement)}"
