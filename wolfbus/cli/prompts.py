"""Model calls of a record: a list of all, and one prompt as the model was sent it, with the reply as it came."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

from wolfbus.cli.wording import expense_in_words, name_of
from wolfbus.errors import ConfigError
from wolfbus.expense import Expense
from wolfbus.messages.calls import ModelCall
from wolfbus.messages.events import Answered, AnyAnswered, Asked
from wolfbus.printable import NOTE_SHOWN, printable
from wolfbus.record.line import Recorded
from wolfbus.record.prompts import PromptBook
from wolfbus.record.requests import RequestNames

_UNKNOWN: Final = "-"
_HEAD: Final = ("line", "time", "seat", "asked for", "model", "tries", "queue", "latency", "tokens", "read", "")
_RIGHT: Final = frozenset({"line", "time", "tries", "queue", "latency", "tokens"})


@dataclass(frozen=True, slots=True)
class CallMade:
    """A model call in its record.

    Attributes:
        line: number of its line.
        time: seconds since the opening when it was recorded.
        call: the call.
        read: per request, how its reply was read, or what became of the request; "asked again" where a later call
            answered it, None while it is open.
    """

    line: int
    time: float
    call: ModelCall
    read: tuple[str | None, ...]

    def as_json(self) -> dict[str, Any]:
        """Return everything but prompt and reply, absent fields as None."""
        call = self.call.model_dump(mode="json", exclude={"type", "prompt", "reply"})
        return {"line": self.line, "time": self.time, "reask": False, **call, "read": list(self.read)}


def calls_of(records: Iterable[Recorded]) -> list[CallMade]:
    """Return the model calls of a record, each with what became of its requests."""
    names = RequestNames()
    closed: dict[str, str] = {}
    latest: dict[str, int] = {}
    made: list[tuple[Recorded, ModelCall]] = []
    for recorded in records:
        event = recorded.event
        if isinstance(event, Asked):
            names.ask(event)
        elif isinstance(event, Answered):
            if (name := names.of(event)) is not None:
                closed[name] = _read(event)
        elif isinstance(event, ModelCall):
            latest |= dict.fromkeys(event.requests, recorded.n)
            made.append((recorded, event))
    return [
        CallMade(
            recorded.n,
            recorded.time,
            call,
            tuple(closed.get(name) if latest[name] == recorded.n else "asked again" for name in call.requests),
        )
        for recorded, call in made
    ]


def _read(event: AnyAnswered) -> str:
    if event.outcome == "accepted":
        return event.reading
    return event.outcome + (f" ({event.fault})" if event.fault is not None else "")


def calls_page(records: Iterable[Recorded]) -> str:
    """Return a table of all model calls, one line each, and their sums."""
    made = calls_of(records)
    if not made:
        return "No model was called in this game.\n"
    rows = [_HEAD, *map(_row, made)]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = [
        "  ".join(
            cell.rjust(width) if head in _RIGHT else cell.ljust(width)
            for cell, width, head in zip(row, widths, _HEAD, strict=True)
        ).rstrip()
        for row in rows
    ]
    expense = Expense()
    for each in made:
        expense.add(each.call)
    tokens = "Tokens are prompt/of it cached/reply; times are seconds; --prompt LINE shows a prompt and its reply."
    return "\n".join([*lines, "", expense_in_words(expense), tokens]) + "\n"


def _row(made: CallMade) -> tuple[str, ...]:
    call = made.call
    kinds = [name.split("/", 4)[3] if name.count("/") >= 4 else name for name in call.requests] or [call.kind]
    tokens = [call.prompt_tokens, call.cached_tokens, call.completion_tokens]
    counts = "/".join(_UNKNOWN if count is None else str(count) for count in tokens)
    read = dict.fromkeys(each or "open" for each in made.read)
    error = "" if call.error is None else f"no reply: {printable(call.error, NOTE_SHOWN)}"
    return (
        str(made.line),
        f"{made.time:.3f}",
        name_of(call.seat),
        printable("+".join(dict.fromkeys(kinds)) + (", again" if call.reask else ""), 48),
        printable(call.model, 32),
        str(call.attempts),
        f"{call.queue_s:.2f}",
        f"{call.latency_s:.2f}",
        _UNKNOWN if counts == "-/-/-" else counts,
        ", ".join(read) or _UNKNOWN,
        error,
    )


@dataclass(frozen=True, slots=True)
class Exchange:
    """A prompt and what came back.

    Attributes:
        call: the call.
        messages: (role, text) as the model was sent them.
    """

    call: ModelCall
    messages: list[tuple[str, str]]

    def as_json(self) -> dict[str, Any]:
        """Return messages and reply exactly as they stand in the record."""
        return {
            "messages": [{"role": role, "content": text} for role, text in self.messages],
            "reply": self.call.reply,
        }

    def page(self) -> str:
        """Return messages and reply under headings, line by line, fit to print.

        Text is indented, so that no line of it can pass for a heading.
        """
        call = self.call
        lines: list[str] = []
        for role, text in self.messages:
            lines += [f"{role}:", *_shown(text), ""]
        if call.reply is None:
            reason = printable(call.error or "the record does not say why", NOTE_SHOWN)
            return "\n".join([*lines, f"no reply: {reason}"]) + "\n"
        lines += [f"reply of {printable(call.model, 64)} to {name_of(call.seat)}:", *_shown(call.reply)]
        if call.reply_length is not None and call.reply_length > len(call.reply):
            lines.append(
                f"(… and {call.reply_length - len(call.reply)} characters more, which the record does not keep)"
            )
        if call.error is not None:
            lines.append(f"(error: {printable(call.error, NOTE_SHOWN)})")
        return "\n".join(lines) + "\n"


def _shown(text: str) -> Iterator[str]:
    for line in text.split("\n"):
        indent = len(line) - len(line.lstrip(" "))
        yield f"  {' ' * indent}{printable(line, max(1, len(line)))}".rstrip()


def exchange_at(records: Sequence[Recorded], line: int) -> Exchange:
    """Return the prompt and reply of the model call at `line`.

    Args:
        records: a record's events in order, from the first.
        line: number of the call's line, from 1.

    Raises:
        ConfigError: there is no such line, or it holds something else; the message names what.
        RecordError: the prompt's text is not in the record, or is not what its hash says.
    """
    if not 1 <= line <= len(records):
        raise ConfigError(f"--prompt {line}: the record has {len(records)} readable lines")
    event = records[line - 1].event
    if not isinstance(event, ModelCall):
        raise ConfigError(f"--prompt {line}: no model call; line {line} is {_named(records[line - 1])}")
    book = PromptBook()
    for recorded in records[:line]:
        book.feed(recorded.event, recorded.n)
    return Exchange(event, [(role, text) for role, text in book.messages(event, line)])


def _named(recorded: Recorded) -> str:
    event = recorded.event
    if isinstance(event, Answered):
        return f"{name_of(event.seat)}'s answer to {event.kind}"
    if event.type == "statement":
        return f"a statement of {name_of(event.speaker)}"
    return f"prompt text ({event.role})" if event.type == "segment" else f"an event of type {event.type}"
