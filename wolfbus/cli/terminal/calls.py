"""Model calls of a record: a list of all, and one prompt as the model was sent it, with the reply as it came."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final, NamedTuple

from wolfbus.cli.terminal.wording import usage_in_words
from wolfbus.errors import ConfigError
from wolfbus.files.formats import aligned
from wolfbus.files.printable import NOTE_SHOWN, counted, name_of, printable, shortened, told_apart
from wolfbus.messages.calls import Call, ChatRole, ModelCall
from wolfbus.messages.events import Answered
from wolfbus.record.line import Recorded
from wolfbus.record.prompts import PromptBook
from wolfbus.record.usage import Usage, sort_of
from wolfbus.stage.inspector import RecordedCall, calls_of

_ABSENT: Final = "-"
_NOTES: Final = (
    "When is round, phase and turn; about is the statements that are judged or labelled; failed counts attempts.",
    "Tokens are prompt/of it cached/reply; times are seconds; --prompt LINE shows a prompt and its reply.",
)
_FACT: Final = 600
"""Characters of one fact about a call that a page shows."""
_HEAD: Final = (
    "line",
    "time",
    "when",
    "seat",
    "asked for",
    "about",
    "model",
    "tries",
    "failed",
    "queue",
    "latency",
    "tokens",
    "read",
    "",
)
_RIGHT: Final = frozenset({"line", "time", "tries", "failed", "queue", "latency", "tokens"})
_DEFAULTS: Final[dict[str, Any]] = {
    "reask": False,
    "labels": False,
    "charged": True,
    "cassette": False,
    "failures": [],
    "attempts": 1,
    "queue_s": 0.0,
}
"""Values in JSON of fields that a record leaves out."""
_LINE_REFERENCES: Final = frozenset({"like", "answered_as"})
"""Fields that refer to other lines of the record."""


def call_as_json(entry: RecordedCall) -> dict[str, Any]:
    """Return everything of a call but prompt, reasoning and reply, absent fields as None."""
    return {"line": entry.line, "time": entry.time, **_fields(entry, "prompt", "reasoning", "reply")}


def _fields(entry: RecordedCall, *without: str) -> dict[str, Any]:
    fields = entry.call.model_dump(mode="json", exclude={"type", *_LINE_REFERENCES, *without})
    return {**_DEFAULTS, **fields, "read": list(entry.readings)}


def calls_page(records: Iterable[Recorded]) -> str:
    """Return a table of all model calls, one line each, and their sums."""
    entries = calls_of(records)
    if not entries:
        return "No model was called in this game.\n"
    models = told_apart((entry.call.model for entry in entries), 32)
    usage = Usage()
    for entry in entries:
        usage.add(entry.call)
    table = aligned([_HEAD, *(_row(entry, models[entry.call.model]) for entry in entries)], _RIGHT)
    return "\n".join([*table, "", usage_in_words(usage), *_NOTES]) + "\n"


def _row(entry: RecordedCall, model: str) -> tuple[str, ...]:
    call = entry.call
    return (
        str(entry.line),
        f"{entry.time:.3f}",
        _when(entry),
        name_of(call.seat),
        _purpose(call),
        printable(",".join(map(str, entry.about)), 24) or _ABSENT,
        model,
        str(call.attempts),
        str(len(call.failures) + (call.error is not None)),
        f"{call.queue_s:.2f}",
        f"{call.latency_s:.2f}",
        _tokens(call) or _ABSENT,
        ", ".join(dict.fromkeys(reading or "open" for reading in entry.readings)) or _ABSENT,
        "; ".join(["from a cassette"] * call.cassette + ([_no_reply(call)] if _is_empty(call) else [])),
    )


def _purpose(call: Call) -> str:
    return sort_of(call) + (", again" if call.reask else "")


def _tokens(call: Call) -> str:
    """Return tokens of the prompt, those of it that were cached, and those of the reply: "900/0/50"; "" if unknown."""
    tokens = (call.prompt_tokens, call.cached_tokens, call.completion_tokens)
    if all(count is None for count in tokens):
        return ""
    return "/".join(_ABSENT if count is None else str(count) for count in tokens)


def _when(entry: RecordedCall) -> str:
    """Return round, phase and turn of the first request: "r1 debate 2", "r2 night"."""
    if entry.place is None:
        return _ABSENT
    round_, phase, turn = entry.place
    return printable(f"r{round_} {phase}{f' {turn}' if phase == 'debate' else ''}", 24)


def _is_empty(call: ModelCall) -> bool:
    return call.error is not None or not ((call.reply or "").strip() or call.answered_as)


def _no_reply(call: Call) -> str:
    if call.error is not None:
        return f"no reply: {printable(call.error, NOTE_SHOWN)}"
    finish = f"finish: {printable(call.finish, 32)}" if call.finish is not None else "the server does not say why"
    return f"the reply was empty ({finish})"


def _indented(text: str) -> Iterator[str]:
    for line in text.split("\n"):
        indent = len(line) - len(line.lstrip(" "))
        yield f"  {' ' * indent}{printable(line, max(1, len(line)))}".rstrip()


class Exchange(NamedTuple):
    """A model call with its prompt, as (role, text) messages that the model was sent."""

    entry: RecordedCall
    messages: list[tuple[ChatRole, str]]

    def as_json(self) -> dict[str, Any]:
        """Return all that the record holds of the call, messages and reply exactly as they stand there."""
        messages = [{"role": role, "content": text} for role, text in self.messages]
        call = {"line": self.entry.line, **_fields(self.entry)}
        return {"call": call, "messages": messages, "reply": self.entry.call.reply}

    def page(self) -> str:
        """Return what is known of the call, messages, hidden reasoning and reply under headings, fit to print.

        Text is indented, so that no line of it can pass for a heading.
        """
        call = self.entry.call
        lines = [f"call at line {self.entry.line}:", *_facts(self.entry), ""]
        for heading, text in (*self.messages, ("hidden reasoning", call.reasoning)):
            if text is not None:
                lines += [f"{heading}:", *_indented(text), ""]
        if call.reply is None or not call.reply.strip():
            return "\n".join([*lines, _no_reply(call)]) + "\n"
        lines += [f"reply of {shortened(call.model, 64)} to {name_of(call.seat)}:", *_indented(call.reply)]
        if call.reply_length is not None and call.reply_length > len(call.reply):
            lines.append(
                f"(… and {call.reply_length - len(call.reply)} characters more, which the record does not keep)"
            )
        if call.error is not None:
            lines.append(f"(error: {printable(call.error, NOTE_SHOWN)})")
        return "\n".join(lines) + "\n"


def _facts(entry: RecordedCall) -> Iterator[str]:
    call, tokens = entry.call, _tokens(entry.call)
    tries = counted(call.attempts, "attempt")
    for label, words in (
        ("asked for", _purpose(call)),
        *(("request", name) for name in call.requests),
        ("seat", name_of(call.seat)),
        ("model", call.model),
        ("url", call.url),
        ("served by", call.served),
        ("parameters", json.dumps(call.parameters, ensure_ascii=False, sort_keys=True)),
        ("attempts", f"{tries}; played from a cassette, nothing was sent or paid" if call.cassette else tries),
        *(("failed", failure) for failure in call.failures),
        ("error", call.error),
        ("times", f"{call.queue_s:.2f} s waiting for limits, {call.latency_s:.2f} s on its way"),
        ("tokens", f"{tokens} (prompt/of it cached/reply)" if tokens else None),
        ("finish", call.finish),
        ("price", None if call.cost_usd is None else f"${call.cost_usd:.6f}"),
        ("billed", None if call.billed_usd is None else f"${call.billed_usd:.6f} by the server's own count"),
        ("read", ", ".join(reading or "open" for reading in entry.readings)),
    ):
        if words:
            yield f"  {label:<10}  {printable(words, _FACT)}".rstrip()


def exchange_at(records: Sequence[Recorded], line: int) -> Exchange:
    """Return the prompt and reply of the model call at `line`.

    Args:
        records: a record's events in order, from the first.
        line: number of the call's line, from 1.

    Raises:
        ConfigError: there is no such line, or it holds something else; the message names what.
        RecordError: the prompt's text is not in the record.
    """
    if not 1 <= line <= len(records):
        raise ConfigError(f"--prompt {line}: the record has {len(records)} readable lines")
    event = records[line - 1].event
    if not isinstance(event, ModelCall):
        raise ConfigError(f"--prompt {line}: no model call; line {line} is {_event_name(records[line - 1])}")
    book = PromptBook()
    for recorded in records[:line]:
        book.feed(recorded.event, recorded.n)
    entry = next(entry for entry in calls_of(records) if entry.line == line)
    return Exchange(entry, book.messages(event, line))


def _event_name(recorded: Recorded) -> str:
    event = recorded.event
    if isinstance(event, Answered):
        return f"{name_of(event.seat)}'s answer to {event.kind}"
    if event.type == "statement":
        return f"a statement of {name_of(event.speaker)}"
    return f"an event of type {event.type}"
