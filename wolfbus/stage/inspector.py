"""The prompt inspector's data: one model call of a record, its prompt in pieces, and what came back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from wolfbus.messages.base import SeatName
from wolfbus.messages.calls import ModelCall
from wolfbus.messages.events import Answered, AnyAnswered, Asked
from wolfbus.record.line import Recorded
from wolfbus.record.prompts import PromptBook, RequestNames, WholeCalls

_QUESTION = "\nQUESTION"
_TEXTS = frozenset({"prompt", "type", "source", "like", "answered_as"})


@dataclass(frozen=True, slots=True)
class _Made:
    line: int
    call: ModelCall
    pieces: tuple[tuple[str, str], ...]
    """Role and text of every piece of the prompt."""

    @property
    def question(self) -> int:
        """Where the question begins: the piece from which on all is of this moment, or of its form."""
        begins = [number for number, (_, text) in enumerate(self.pieces) if text.startswith(_QUESTION)]
        return begins[-1] if begins else len(self.pieces) - 1


class CallIndex:
    """All model calls of a record, for looking at them one by one.

    Args:
        records: the record's lines, from the first.
    """

    def __init__(self, records: Sequence[Recorded]) -> None:
        self._made: dict[int, _Made] = {}
        self._of: dict[SeatName, list[int]] = {}
        self._seen: dict[tuple[str, str], set[SeatName]] = {}
        self._read: dict[str, str] = {}
        self._latest: dict[str, int] = {}
        book, names = PromptBook(), RequestNames()
        self._calls = WholeCalls()
        for recorded in records:
            event = recorded.event
            book.feed(event, recorded.n)
            self._calls.feed(event, recorded.n)
            if isinstance(event, Asked):
                names.ask(event)
            elif isinstance(event, Answered):
                if (name := names.of(event)) is not None:
                    self._read[name] = event.reading if event.outcome == "accepted" else event.fault or event.outcome
            elif isinstance(event, ModelCall):
                pieces = tuple((piece.role, piece.text) for piece in book.pieces(event, recorded.n))
                self._made[recorded.n] = _Made(recorded.n, event, pieces)
                self._of.setdefault(event.seat, []).append(recorded.n)
                self._latest |= dict.fromkeys(event.requests, recorded.n)
                for piece in pieces:
                    self._seen.setdefault(piece, set()).add(event.seat)

    @property
    def lines(self) -> list[int]:
        """Lines of all calls."""
        return list(self._made)

    def call(self, line: int) -> dict[str, Any] | None:
        """Return the call at a line; None if there is none."""
        made = self._made.get(line)
        if made is None:
            return None
        call = self._calls.whole(made.call, line)
        of = self._of[call.seat]
        place = of.index(line)
        before = set(self._made[of[place - 1]].pieces) if place else set()
        found: dict[str, Any] = {
            "line": line,
            **call.model_dump(mode="json", exclude_none=True, exclude=set(_TEXTS)),
            **_where(call),
            "failures": list(call.failures),
            "read": [
                self._read.get(name, "open") if self._latest[name] == line else "asked again" for name in call.requests
            ],
            "place": place + 1,
            "of": len(of),
            "segments": [
                {
                    "role": role,
                    "share": self._share(number, made, role, text),
                    "new": (role, text) not in before,
                    "text": text,
                }
                for number, (role, text) in enumerate(made.pieces)
            ],
        }
        if place:
            found["before"] = of[place - 1]
        if place + 1 < len(of):
            found["after"] = of[place + 1]
        return found

    def _share(self, number: int, made: _Made, role: str, text: str) -> str:
        """Return whose text a piece is: all prompts' from the start, the question's, what all were told, or this
        seat's.
        """
        if role == "system":
            return "rules"
        if number >= made.question or role == "assistant":
            return "question"
        return "public" if len(self._seen[role, text]) > 1 else "seat"


def exchange_data(records: Sequence[Recorded], line: int) -> dict[str, Any] | None:
    """Return the model call at a line of a record; None if there is none.

    Raises:
        RecordError: its prompt is not in the record, or not what its hash says.
    """
    if not 1 <= line <= len(records) or not isinstance(records[line - 1].event, ModelCall):
        return None
    return CallIndex(records).call(line)


def _where(call: ModelCall) -> dict[str, Any]:
    """Return round, phase and turn of the first request, and the statements that the requests are about."""
    parts = call.requests[0].split("/", 4)
    found: dict[str, Any] = {}
    if len(parts) == 5 and parts[0].isdecimal() and parts[2].isdecimal():
        found = {"round": int(parts[0]), "phase": parts[1], "turn": int(parts[2])}
    about = [parts[5] for name in call.requests if len(parts := name.split("/", 5)) > 5]
    numbers = [int(each) for each in about if each.isdecimal()]
    return {**found, "about": numbers} if numbers else found


class CallLines:
    """Keeps, for the requests of a game, the line of the model call that answered each last.

    Attributes:
        models: the model that each seat called last.
    """

    def __init__(self) -> None:
        self.models: dict[SeatName, str] = {}
        self._names = RequestNames()
        self._lines: dict[str, int] = {}
        self._took: dict[int, float] = {}
        self._labelling: set[int] = set()

    def ask(self, event: Asked) -> None:
        """Take in a batch of requests."""
        self._names.ask(event)

    def call(self, line: int, event: ModelCall) -> None:
        """Take in a model call."""
        self.models[event.seat] = event.model
        self._took[line] = event.latency_s
        if event.labels:
            self._labelling.add(line)
        self._lines |= dict.fromkeys(event.requests, line)

    def of(self, event: AnyAnswered) -> int | None:
        """Return the line of the call that made an answer; None where no model did."""
        name = self._names.of(event)
        return self._lines.get(name) if name is not None else None

    def labels(self, line: int | None) -> bool:
        """Return whether the call at `line` also labelled the statement that it made."""
        return line in self._labelling

    def took(self, line: int | None) -> float | None:
        """Return the seconds that the call at `line` took; None where there was none."""
        return self._took.get(line) if line is not None else None
