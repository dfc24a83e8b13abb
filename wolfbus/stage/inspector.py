"""Model calls of a record: what was asked and what came back; for the page, each prompt in pieces; and, as a game goes
on, which call answered which request (`CallLines`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from wolfbus.messages.base import SeatName
from wolfbus.messages.calls import ModelCall
from wolfbus.messages.events import Answered, AnyAnswered, Asked
from wolfbus.record.line import Recorded
from wolfbus.record.prompts import PromptBook, RequestNames, WholeCalls
from wolfbus.record.served import ServedModels

_QUESTION = "\nQUESTION"
_TEXTS = frozenset({"prompt", "type", "source", "like", "answered_as"})


@dataclass(frozen=True, slots=True)
class RecordedCall:
    """A model call in its record.

    Attributes:
        line: number of its line.
        time: seconds since the opening when it was recorded.
        call: the call, with all that the record says of it elsewhere.
        readings: per request, how its reply was read, or what became of the request; "asked again" where a later call
            answered it, None while it is open.
    """

    line: int
    time: float
    call: ModelCall
    readings: tuple[str | None, ...]

    @property
    def place(self) -> tuple[int, str, int] | None:
        """Round, phase and turn of the first request; None where its name does not say."""
        parts = self.call.requests[0].split("/", 4)
        if len(parts) < 5 or not (parts[0].isdecimal() and parts[2].isdecimal()):
            return None
        return int(parts[0]), parts[1], int(parts[2])

    @property
    def about(self) -> list[int]:
        """Numbers of the statements that the requests are about."""
        parts = (name.split("/", 5) for name in self.call.requests)
        return [int(name[5]) for name in parts if len(name) > 5 and name[5].isdecimal()]


def calls_of(records: Iterable[Recorded]) -> list[RecordedCall]:
    """Return the model calls of a record, each with what became of its requests."""
    names, calls = RequestNames(), WholeCalls()
    closed: dict[str, str] = {}
    latest: dict[str, int] = {}
    recorded_calls: list[tuple[Recorded, ModelCall]] = []
    for recorded in records:
        event = recorded.event
        calls.feed(event, recorded.n)
        if isinstance(event, Asked):
            names.ask(event)
        elif isinstance(event, Answered):
            if (name := names.of(event)) is not None:
                closed[name] = _read(event)
        elif isinstance(event, ModelCall):
            latest |= dict.fromkeys(event.requests, recorded.n)
            recorded_calls.append((recorded, event))
    return [
        RecordedCall(
            recorded.n,
            recorded.time,
            calls.whole(call, recorded.n),
            tuple(closed.get(name) if latest[name] == recorded.n else "asked again" for name in call.requests),
        )
        for recorded, call in recorded_calls
    ]


def _read(event: AnyAnswered) -> str:
    if event.outcome == "accepted":
        return event.reading
    return event.outcome.replace("_", " ") + (f" ({event.fault})" if event.fault is not None else "")


def exchanges(records: Sequence[Recorded]) -> dict[int, dict[str, Any]]:
    """Return all model calls of a record by their lines, each with its prompt in pieces, as a page shows them.

    Raises:
        RecordError: a prompt is not in the record.
    """
    calls = calls_of(records)
    book = PromptBook()
    prompts: dict[int, list[tuple[str, str]]] = {}
    seats_told: dict[tuple[str, str], set[SeatName]] = {}
    by_seat: dict[SeatName, list[RecordedCall]] = {}
    for recorded in records:
        book.feed(recorded.event, recorded.n)
        if isinstance(recorded.event, ModelCall):
            prompts[recorded.n] = [(piece.role, piece.text) for piece in book.pieces(recorded.event, recorded.n)]
            for piece in prompts[recorded.n]:
                seats_told.setdefault(piece, set()).add(recorded.event.seat)
    for call in calls:
        by_seat.setdefault(call.call.seat, []).append(call)
    by_line: dict[int, dict[str, Any]] = {}
    for seat_calls in by_seat.values():
        for index, call in enumerate(seat_calls):
            before = seat_calls[index - 1].line if index else None
            after = seat_calls[index + 1].line if index + 1 < len(seat_calls) else None
            shown_before = set(prompts[before]) if before is not None else set()
            by_line[call.line] = {
                **_facts(call),
                "place": index + 1,
                "of": len(seat_calls),
                "segments": [
                    {"role": piece[0], "share": share, "new": piece not in shown_before, "text": piece[1]}
                    for piece, share in zip(prompts[call.line], _shares(prompts[call.line], seats_told), strict=True)
                ],
                **({"before": before} if before is not None else {}),
                **({"after": after} if after is not None else {}),
            }
    return {call.line: by_line[call.line] for call in calls}


def _facts(recorded: RecordedCall) -> dict[str, Any]:
    call, place = recorded.call, recorded.place
    return {
        "line": recorded.line,
        **call.model_dump(mode="json", exclude_none=True, exclude=set(_TEXTS)),
        **(dict(zip(("round", "phase", "turn"), place, strict=True)) if place is not None else {}),
        **({"about": recorded.about} if recorded.about else {}),
        "failures": list(call.failures),
        "read": [reading or "open" for reading in recorded.readings],
    }


def _shares(pieces: Sequence[tuple[str, str]], seats_told: Mapping[tuple[str, str], set[SeatName]]) -> Iterator[str]:
    """Yield whose text each piece is: all prompts' from the start, the question's, what all were told, or this seat's.

    From the last piece on that begins a question, all is of this moment, or of its form.
    """
    begins = [number for number, (_, text) in enumerate(pieces) if text.startswith(_QUESTION)]
    question = begins[-1] if begins else len(pieces) - 1
    for number, piece in enumerate(pieces):
        if piece[0] == "system":
            yield "rules"
        elif number >= question or piece[0] == "assistant":
            yield "question"
        else:
            yield "public" if len(seats_told[piece]) > 1 else "seat"


class CallLines:
    """Keeps, for the requests of a game, the line of the model call that answered each last.

    Attributes:
        models: the model that each seat called last, and which one answered if that was another.
    """

    def __init__(self) -> None:
        self.models: dict[SeatName, str] = {}
        self._served = ServedModels()
        self._names = RequestNames()
        self._lines: dict[str, int] = {}
        self._took: dict[int, float] = {}
        self._labelling: set[int] = set()

    def ask(self, event: Asked) -> None:
        """Take in a batch of requests."""
        self._names.ask(event)

    def call(self, line: int, event: ModelCall) -> None:
        """Take in a model call."""
        other = self._served.feed(event)
        self.models[event.seat] = event.model if other is None else f"{event.model} (answered by {other})"
        self._took[line] = event.latency_s
        if event.labels:
            self._labelling.add(line)
        self._lines |= dict.fromkeys(event.requests, line)

    def line(self, event: AnyAnswered) -> int | None:
        """Return the line of the call that made an answer; None where no model did."""
        name = self._names.of(event)
        return self._lines.get(name) if name is not None else None

    def labels(self, line: int | None) -> bool:
        """Return whether the call at `line` also labelled the statement that it made."""
        return line in self._labelling

    def latency_s(self, line: int | None) -> float | None:
        """Return the seconds that the call at `line` took; None where there was none."""
        return self._took.get(line) if line is not None else None
