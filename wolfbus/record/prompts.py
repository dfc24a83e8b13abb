"""The model calls of a record: their prompts put together again from segments, and which request each answers."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from typing import Any, Final, NamedTuple

from wolfbus.errors import RecordError
from wolfbus.messages.calls import (
    ChainAddition,
    ChatRole,
    ModelCall,
    PromptAddition,
    ReplyStyle,
    Scalar,
)
from wolfbus.messages.events import AnyAnswered, AnyEvent, Asked

_STYLES: Final[dict[ReplyStyle, dict[str, Any]]] = {
    "spaced": {"separators": (", ", ": ")},
    "dense": {"separators": (",", ":")},
    "indented": {"indent": 2},
}
_DERIVED: Final = frozenset({"claims", "stated_kind"})


class SegmentCheck:
    """Checks that nothing refers to a segment, or to a call, that is not there; it counts them only."""

    def __init__(self) -> None:
        self._count = self._calls = 0

    def check(self, event: AnyEvent, line: int | None = None) -> None:
        """Check the next event of a record; all but prompt text and model calls pass.

        Args:
            event: the event.
            line: number of its line, for the error.

        Raises:
            RecordError: a segment follows one that is not there or has the text of one, or a call names one.
        """
        if event.type == "prompt_text":
            for chain in event.chains:
                self._check_chain(chain, line)
        elif event.type == "model_call":
            for number in event.prompt:
                self._check_named(number, line)
            if event.like is not None and event.like > self._calls:
                raise RecordError(f"a model call is like call {event.like}, which is not there", line)
            self._calls += 1

    def _check_named(self, number: int, line: int | None) -> None:
        if number >= self._count:
            raise RecordError(f"a model call names segment {number}, which is not there", line)

    def _check_chain(self, chain: ChainAddition, line: int | None) -> None:
        if chain.after is not None and chain.after >= self._count:
            raise RecordError(f"segment {self._count} follows {chain.after}, which is not there", line)
        for text in chain.texts:
            if isinstance(text, int) and text >= self._count:
                raise RecordError(f"segment {self._count} has the text of {text}, which is not there", line)
            self._count += 1


class PromptPiece(NamedTuple):
    """A segment of a prompt: what it follows, whose words it holds, and these."""

    after: int | None
    role: ChatRole
    text: str


class PromptBook(SegmentCheck):
    """Keeps the prompt text of one game and gives the prompt of any call as the messages that the model was sent.

    Feed it every event in record order. Each distinct text is kept once, whatever the number of calls.
    """

    def __init__(self) -> None:
        super().__init__()
        self._pieces: list[PromptPiece] = []

    def feed(self, event: AnyEvent, line: int | None = None) -> None:
        """Take in the next event; see `SegmentCheck.check`.

        Raises:
            RecordError: with `line`, if prompt text or a call refers to what is not there.
        """
        self.check(event, line)
        if event.type == "prompt_text":
            self._add(event)

    def messages(self, call: ModelCall, line: int | None = None) -> list[tuple[ChatRole, str]]:
        """Return the prompt of a call as (role, text) messages.

        The chains follow each other as the call names them. Text of one role makes one message, across chains too; a
        change of role begins the next message.

        Args:
            call: a call, of this game.
            line: number of its line, for the error.

        Raises:
            RecordError: with `line`, if it names a segment that has not been fed.
        """
        messages: list[tuple[ChatRole, list[str]]] = []
        for piece in self.pieces(call, line):
            if not messages or messages[-1][0] != piece.role:
                messages.append((piece.role, []))
            messages[-1][1].append(piece.text)
        return [(role, "".join(texts)) for role, texts in messages]

    def pieces(self, call: ModelCall, line: int | None = None) -> Iterator[PromptPiece]:
        """Yield the pieces of the prompt of a call, in order; see `messages`."""
        for head in call.prompt:
            yield from self._chain(head, line)

    def _add(self, event: PromptAddition) -> None:
        for chain in event.chains:
            after = chain.after
            for text in chain.texts:
                words = self._pieces[text].text if isinstance(text, int) else text
                self._pieces.append(PromptPiece(after, chain.role, words))
                after = len(self._pieces) - 1

    def _chain(self, head: int, line: int | None) -> Iterator[PromptPiece]:
        self._check_named(head, line)
        chain: list[PromptPiece] = []
        number: int | None = head
        while number is not None:
            piece = self._pieces[number]
            chain.append(piece)
            number = piece.after
        return reversed(chain)


def reply_of(answered: AnyAnswered, style: ReplyStyle) -> str | None:
    """Return the reply that an answer stands for: its thought, then its content, as one JSON object.

    Args:
        answered: what was recorded of the request.
        style: how the JSON is set.

    Returns:
        The text; None if the answer has no content.
    """
    if answered.content is None:
        return None
    members: dict[str, Any] = {} if answered.thought is None else {"thought": answered.thought}
    for name in type(answered.content).model_fields:
        if name not in _DERIVED:
            members[name] = getattr(answered.content, name)
    return json.dumps(members, ensure_ascii=False, **_STYLES[style])


def style_of(reply: str, answered: AnyAnswered) -> ReplyStyle | None:
    """Return in which style an answer gives a reply again, character for character; None if in none."""
    return next((style for style in _STYLES if reply_of(answered, style) == reply), None)


class RequestNames:
    """Names requests as ``round/phase/turn/kind/seat[/about]``, from the batches that they went out with."""

    def __init__(self) -> None:
        self._stems: dict[int, str] = {}

    def ask(self, event: Asked) -> str:
        """Take in a batch and return what the names of its requests begin with: ``round/phase/turn/``."""
        # games ask much the same: what they share is kept once
        stem = self._stems[event.batch] = sys.intern(f"{event.round}/{event.phase}/{event.turn}/")
        return stem

    def of(self, event: AnyAnswered) -> str | None:
        """Return the name of the request that `event` closes; None for one of a batch that was not taken in."""
        stem = self._stems.get(event.batch)
        if stem is None:
            return None
        return f"{stem}{event.kind}/{event.seat}" + ("" if event.about is None else f"/{event.about}")


class CallOrigin(NamedTuple):
    """With which server, settings and model a call was made; see `Call` for what each means."""

    url: str | None
    parameters: dict[str, Scalar]
    served: str | None


class CallOrigins:
    """Follows where the model calls of one game come from, which an earlier call may say. Add them in record order."""

    def __init__(self) -> None:
        self._origins: list[CallOrigin] = []

    def add(self, call: ModelCall) -> CallOrigin:
        """Take in the next call, and return its origin."""
        self._origins.append(self.of(call))
        return self._origins[-1]

    def of(self, call: ModelCall) -> CallOrigin:
        """Return the origin of a call; what it says itself where the call that it names is not there."""
        if call.like is not None and call.like <= len(self._origins):
            return self._origins[call.like - 1]
        return CallOrigin(call.url, call.parameters, call.served)


class WholeCalls:
    """Gives the model calls of one game with all that its record says of them elsewhere. Feed it in record order."""

    def __init__(self) -> None:
        self._origins = CallOrigins()
        self._requests = RequestNames()
        self._unanswered: dict[str, list[tuple[int, ModelCall]]] = {}
        self._replies: dict[int, str | None] = {}

    def feed(self, event: AnyEvent, line: int) -> None:
        """Take in the next event, which stands on that line."""
        if event.type == "model_call":
            self._origins.add(event)
            if event.answered_as is not None:
                self._unanswered.setdefault(event.requests[0], []).append((line, event))
        elif event.type == "asked":
            self._requests.ask(event)
        elif event.type == "answered" and self._unanswered:
            for call_line, call in self._unanswered.pop(self._requests.of(event) or "", ()):
                if call.answered_as is not None:
                    self._replies[call_line] = reply_of(event, call.answered_as)

    def whole(self, call: ModelCall, line: int) -> ModelCall:
        """Return a call that was fed with its server and settings; and its reply, once its answer was fed, too."""
        changes: dict[str, object] = {}
        if call.like is not None:
            changes |= {**self._origins.of(call)._asdict(), "like": None}
        if (reply := self._replies.get(line)) is not None:
            changes |= {"reply": reply, "reply_length": None, "answered_as": None}
        return call.model_copy(update=changes) if changes else call
