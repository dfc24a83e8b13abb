"""Who may know what: the one rule that every event's audience follows, and the facts that seats are told.

Deliveries, views, the table stream and `replay --as` are all built from here, so the rule holds in all of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Final, TypeVar, get_args

from wolfbus.game.draws import brain_seed
from wolfbus.knowledge.departure import departure
from wolfbus.messages.base import Audience, FrozenDict, SeatName, unchecked
from wolfbus.messages.events import Answered, AnyAnswered, AnyEvent, Asked, Departing, Opened, PrivateEvent, PublicEvent
from wolfbus.messages.requests import Private, PrivateFact, Public, PublicFact, Revealed, Seated, Whispered

E = TypeVar("E")


def _types_of(events: Any) -> frozenset[str]:
    """Return the names of the types of one event, or of a union of them."""
    return frozenset(event.model_fields["type"].default for event in get_args(events) or (events,))


PUBLIC_TYPES: Final = _types_of(PublicEvent)
"""Types of the events that everybody may know."""
PRIVATE_TYPES: Final = _types_of(PrivateEvent)
"""Types of the events that one seat alone may know, beside what became of its own requests."""


@dataclass(slots=True)
class NewFacts:
    """What one event tells: at most a few public facts, and private facts by seat."""

    public: list[Public] = field(default_factory=list)
    private: list[tuple[SeatName, Private]] = field(default_factory=list)


class AudienceFilter:
    """Folds a record into numbered facts: who is told what, in which order.

    Feed it every event of a game in record order; those of types that are not in `EVENT_TYPES` may be left out. It
    keeps only what numbering and addressing need.
    """

    def __init__(self) -> None:
        self._opened: Opened | None = None
        self._wolves: tuple[SeatName, ...] = ()
        self._batches: dict[int, Asked] = {}
        self._public = 0
        self._private: dict[SeatName, int] = {}

    def audience(self, event: AnyEvent) -> Audience:
        """Return who may know `event`, given all that was fed before."""
        # a whisper too: its thought is private, and partners are told of the proposal in a fact of its own
        if isinstance(event, Answered | PrivateEvent):
            return (event.seat,)
        return "everybody" if isinstance(event, PublicEvent) else "researchers"

    def feed(self, event: AnyEvent) -> NewFacts:
        """Take in the next event and return the facts it makes."""
        facts = NewFacts()
        handler = self._HANDLERS.get(event.type)
        if handler is not None:
            handler(self, facts, event)
        elif isinstance(event, Departing):
            # logs of other tables have ways to leave that no record has
            self._add_public_event(facts, event)
        return facts

    def _open(self, facts: NewFacts, event: Opened) -> None:
        self._opened = event
        self._wolves = tuple(seat.name for seat in event.seats if seat.role == "Werewolf")
        for name, seated in _seated(event):
            self._add_private(facts, name, seated)

    def _ask(self, _facts: NewFacts, event: Asked) -> None:
        # only whispers need their batch again, and only until the night is over
        if event.phase == "night":
            self._batches[event.batch] = event

    def _add_private_event(self, facts: NewFacts, event: PrivateEvent) -> None:
        self._add_private(facts, event.seat, event)

    def _add_public_event(self, facts: NewFacts, event: PublicEvent) -> None:
        self._add_public(facts, event)
        if (departed := departure(event)) is not None:
            self._wolves = tuple(seat for seat in self._wolves if seat != departed.seat)
        if event.type == "dawn":
            self._batches.clear()
        elif event.type == "ended":
            self._reveal(facts)

    def _add_answer(self, facts: NewFacts, event: AnyAnswered) -> None:
        answer = event
        if event.raw is not None or event.note is not None:
            answer = event.model_copy(update={"raw": None, "note": None})
        self._add_private(facts, event.seat, answer)
        # a wolf without a valid proposal keeps its earlier one, so its partners hear nothing new
        if event.kind != "whisper" or event.content is None:
            return
        batch = self._batches.get(event.batch)
        whispered = Whispered(
            round=batch.round if batch else 0,
            turn=batch.turn if batch else 0,
            seat=event.seat,
            target=event.content.target,
            word=event.content.word,
        )
        for partner in self._wolves:
            if partner != event.seat:
                self._add_private(facts, partner, whispered)

    def _reveal(self, facts: NewFacts) -> None:
        if self._opened is not None:
            roles = FrozenDict(
                {seat.name: seat.role for seat in sorted(self._opened.seats, key=lambda seat: seat.name)}
            )
            # not checked again: in a log of another table there are roles that no record has
            revealed = unchecked(Revealed, {"type": "revealed", "seed": self._opened.seed, "roles": roles})
            self._add_public(facts, revealed)

    def _add_public(self, facts: NewFacts, fact: PublicFact) -> None:
        self._public += 1
        facts.public.append(unchecked(Public, {"n": self._public, "fact": fact}))

    def _add_private(self, facts: NewFacts, seat: SeatName, fact: PrivateFact) -> None:
        number = self._private[seat] = self._private.get(seat, 0) + 1
        facts.private.append((seat, unchecked(Private, {"n": number, "after": self._public, "fact": fact})))

    _HANDLERS: ClassVar[Mapping[str, Callable[[AudienceFilter, NewFacts, Any], None]]] = {
        "opened": _open,
        "asked": _ask,
        "answered": _add_answer,
        **dict.fromkeys(PRIVATE_TYPES, _add_private_event),
        **dict.fromkeys(PUBLIC_TYPES, _add_public_event),
    }
    EVENT_TYPES: ClassVar[frozenset[str]] = frozenset(_HANDLERS)
    """Types of event from which what seats are told follows; all others may be left out of what it is fed."""


class PrivateThoughts:
    """Leaves out of a game what people think who agreed to play only if nobody is shown it; fed its events in order.

    The record holds it all the same, for who runs the game.
    """

    def __init__(self) -> None:
        self.seats: set[SeatName] = set()
        """Whose thoughts are private."""

    def without(self, event: E) -> E:
        """Return the next event, without such a thought."""
        if not isinstance(event, Answered):
            return event
        if event.consent is not None and event.consent.thoughts == "private":
            self.seats.add(event.seat)
        if event.thought is None or event.seat not in self.seats:
            return event
        return event.model_copy(update={"thought": None})


def _seated(opened: Opened) -> Iterator[tuple[SeatName, Seated]]:
    names = tuple(seat.name for seat in opened.seats)
    wolves = tuple(seat.name for seat in opened.seats if seat.role == "Werewolf")
    config = opened.config.model_copy(update={"roles": None})
    # a fork's brains draw anew; what they answered before is in the record, and is not asked for again
    seed = opened.seed if opened.fork is None else opened.fork.seed
    for seat in opened.seats:
        partners = tuple(name for name in wolves if name != seat.name) if seat.role == "Werewolf" else ()
        yield (
            seat.name,
            # not checked again: in a log of another table there are roles that no record has
            unchecked(
                Seated,
                {
                    "type": "seated",
                    "game": opened.game,
                    "seat": seat.name,
                    "role": seat.role,
                    "partners": partners,
                    "names": names,
                    "config": config,
                    "brain": seat.brain,
                    "brain_seed": brain_seed(seed, seat.name) if seat.in_house else None,
                },
            ),
        )
