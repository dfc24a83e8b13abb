"""The model calls of a record: their prompts put together again from segments, and which request each answers."""

from __future__ import annotations

from collections.abc import Iterator

from wolfbus.errors import RecordError
from wolfbus.messages.calls import Call, ChatRole, ModelCall, Segment, segment_hash
from wolfbus.messages.events import AnyAnswered, AnyEvent, Asked


class SegmentCheck:
    """Checks that segments are what their names say and that nothing refers to one that is not there.

    It keeps the names only, 64 characters a segment.
    """

    def __init__(self) -> None:
        self._names: set[str] = set()

    def check(self, event: AnyEvent, line: int | None = None) -> None:
        """Check the next event of a record; all but segments and model calls pass.

        Args:
            event: the event.
            line: number of its line, for the error.

        Raises:
            RecordError: a segment has another text than its hash says or follows one that is not there, or a call
                names one that is not there.
        """
        if isinstance(event, Segment):
            if event.after is not None and event.after not in self._names:
                raise RecordError(f"segment {event.segment[:12]}… follows one that is not there", line)
            if segment_hash(event.after, event.role, event.text) != event.segment:
                raise RecordError(f"segment {event.segment[:12]}… has another text than its hash says", line)
            self._names.add(event.segment)
        elif isinstance(event, ModelCall):
            for name in event.prompt:
                if name not in self._names:
                    raise RecordError(f"a model call names segment {name[:12]}…, which is not there", line)


class PromptBook:
    """Keeps the prompt text of one game and gives the prompt of any call as the messages that the model was sent.

    Feed it every event in record order. Each distinct text is kept once, whatever the number of calls.
    """

    def __init__(self) -> None:
        self._check = SegmentCheck()
        self._segments: dict[str, Segment] = {}

    def feed(self, event: AnyEvent, line: int | None = None) -> None:
        """Take in the next event; see `SegmentCheck.check`.

        Raises:
            RecordError: with `line`, if a segment or a call is not what it claims to be.
        """
        self._check.check(event, line)
        if isinstance(event, Segment):
            self._segments.setdefault(event.segment, event)

    def messages(self, call: Call, line: int | None = None) -> list[tuple[ChatRole, str]]:
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
        for segment in self.pieces(call, line):
            if not messages or messages[-1][0] != segment.role:
                messages.append((segment.role, []))
            messages[-1][1].append(segment.text)
        return [(role, "".join(texts)) for role, texts in messages]

    def pieces(self, call: Call, line: int | None = None) -> Iterator[Segment]:
        """Yield the pieces of the prompt of a call, in order; see `messages`."""
        for head in call.prompt:
            yield from self._chain(head, line)

    def _chain(self, head: str, line: int | None) -> Iterator[Segment]:
        chain: list[Segment] = []
        name: str | None = head
        while name is not None:
            segment = self._segments.get(name)
            if segment is None:
                raise RecordError(f"a model call names segment {name[:12]}…, which is not there", line)
            chain.append(segment)
            name = segment.after
        return reversed(chain)


class RequestNames:
    """Names requests as ``round/phase/turn/kind/seat[/about]``, from the batches that they went out with."""

    def __init__(self) -> None:
        self._stems: dict[int, str] = {}

    def ask(self, event: Asked) -> str:
        """Take in a batch and return what the names of its requests begin with: ``round/phase/turn/``."""
        stem = self._stems[event.batch] = f"{event.round}/{event.phase}/{event.turn}/"
        return stem

    def of(self, event: AnyAnswered) -> str | None:
        """Return the name of the request that `event` closes; None for one of a batch that was not taken in."""
        stem = self._stems.get(event.batch)
        if stem is None:
            return None
        return f"{stem}{event.kind}/{event.seat}" + ("" if event.about is None else f"/{event.about}")
