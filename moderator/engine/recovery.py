"""Recovery: a record is read back and executed again, and its game goes on where the record ends."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from moderator.engine.night_time import NightTime
from moderator.engine.presence import Presence
from moderator.engine.referee import Referee
from moderator.engine.verify import Verifier
from moderator.rules.steps import Steps
from wolfbus.audience import Herald
from wolfbus.bus import streams
from wolfbus.bus.protocol import Bus, Entry, every_entry
from wolfbus.errors import MessageError, RecordError, RulesError
from wolfbus.messages.codec import unpack
from wolfbus.messages.events import Ended, Opened
from wolfbus.record.digest import Digest
from wolfbus.record.line import Recorded, parse_flat, seal

_BESIDE: Final = frozenset({"rejected", "segment", "prompt_text", "model_call"})


@dataclass(slots=True)
class Recovered:
    """A game as its record leaves it: what its moderator needs to go on.

    Attributes:
        opened: the game's opening event.
        steps: the rules, at the join that the record ends before.
        waits_for: batches whose requests must be closed before the next step; () when the game is over.
        referee: with the requests that no recorded answer closes, open; those that are declined among them.
        herald: numbering of the facts told so far.
        presence: who is absent.
        night: how long answers took, as far as the record tells: a step's answers stand in it at
            one time.
        digest: over the events so far.
        head: hash of the last event.
        count: events.
        seconds: time of the last event; the moderator's clock stands still while nobody moderates.
        rejections: rejected messages, by sender.
        ended: the game's end, if it is recorded.
        stopped: why the game was broken off, if it was.
        cut: events at the end of what was given that are no whole step, and are not part of the game.
    """

    opened: Opened
    steps: Steps
    waits_for: tuple[int, ...]
    referee: Referee
    herald: Herald
    presence: Presence
    night: NightTime
    digest: Digest
    head: str
    count: int
    seconds: float
    rejections: Counter[str]
    ended: Ended | None
    stopped: str | None
    cut: int


def recover(recordeds: Iterable[Recorded]) -> Recovered:
    """Re-execute a record, checking every seal, and return the game as it stands at its end.

    A record on the bus ends where a step ends, for steps land whole. A file may end within one: the events of a step
    that is not whole are left out.

    Args:
        recordeds: all events of the record, in order.

    Raises:
        RecordError: with the line, where a seal or an event is not what it must be; or no step is whole.
    """
    record = list(recordeds)
    verifier, whole = _execute(record)
    if not whole:
        raise RecordError("the record ends within the first step of its game; there is nothing to go on from")
    cut = len(record) - whole
    if cut:
        # the rules cannot be taken back, only played again
        del record[whole:]
        verifier, _ = _execute(record)
    opened, steps = verifier.opened, verifier.rules
    if opened is None or steps is None:
        raise RecordError("no game was opened in this record")
    referee, presence, night = Referee(opened), Presence(), NightTime(opened)
    rejections: Counter[str] = Counter()
    for recorded in record:
        event = recorded.event
        referee.recall(event)
        presence.feed(event)
        night.feed(event, recorded.time)
        if event.type == "rejected":
            rejections[event.sender] += 1
    night.interrupt()
    return Recovered(
        opened=opened,
        steps=steps,
        waits_for=verifier.waits_for or (),
        referee=referee,
        herald=verifier.herald,
        presence=presence,
        night=night,
        digest=verifier.digest,
        head=record[-1].hash,
        count=whole,
        seconds=record[-1].time,
        rejections=rejections,
        ended=verifier.ended,
        stopped=verifier.stopped,
        cut=cut,
    )


def _execute(record: Sequence[Recorded]) -> tuple[Verifier, int]:
    """Run a record through the rules; returns them at its end, and how many events its whole steps have."""
    verifier = Verifier()
    head, whole = "", 0
    for number, recorded in enumerate(record, 1):
        if recorded.n != number:
            raise RecordError(f"number {recorded.n} stands where {number} was expected", number)
        sealed, _, _ = seal(head, recorded)
        if sealed.hash != recorded.hash:
            raise RecordError("the hash does not match: this event was edited, or one before it", number)
        head = sealed.hash
        try:
            verifier.feed(recorded)
        except RulesError as error:
            raise RecordError(str(error), number) from None
        # what stands beside the game never lands without a step behind it
        if verifier.waits_for is not None and recorded.event.type not in _BESIDE:
            whole = number
    return verifier, whole


def read_back(bus: Bus, house: str, game: str, types: Collection[str] | None = None) -> Iterator[Recorded]:
    """Yield the events of a game's record stream, in order.

    Args:
        bus: where it is.
        house: house name.
        game: the game's id.
        types: event types that are wanted; None for all.

    Raises:
        RecordError: there is none, it was trimmed, or an entry is no event; with the line, where there is one.
        BusError: it cannot be read now.
    """
    stream = streams.record(house, game)
    number = 0
    for entry in every_entry(bus, stream):
        number += 1
        if entry.id != f"{number}-0":
            raise RecordError(f"{stream}: entry {entry.id} stands here; what was before it was trimmed", number)
        if types is None or entry.type in types:
            yield _parse(entry, number)
    if not number:
        raise RecordError(f"{stream}: there is no record")


def _parse(entry: Entry, number: int) -> Recorded:
    try:
        value = unpack(entry.body)
    except MessageError as error:
        raise RecordError(str(error), number) from None
    recorded = parse_flat(value, number)
    if recorded.n != number:
        raise RecordError(f"number {recorded.n} stands under entry {entry.id}", number)
    return recorded
