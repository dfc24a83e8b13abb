"""What happens in a game, in words that the line view, the live view and the pages all use; and the line view, which is
nothing but words (`PlainLines`): for pipes, logs and screen readers.

Everything that comes from outside (names, words, notes) leaves here fit to print.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, TextIO

from wolfbus.audience import PRIVATE_TYPES, PUBLIC_TYPES
from wolfbus.formats import listed
from wolfbus.messages.base import SeatName
from wolfbus.messages.calls import Call, ModelCall
from wolfbus.messages.codec import plain
from wolfbus.messages.content import Label
from wolfbus.messages.events import AnyEvent, Ended, NightOutcome, Opened, Statement, Stopped, Tally
from wolfbus.printable import NOTE_SHOWN, counted, in_plain_words, name_of, printable, shortened, spoken
from wolfbus.record.line import Recorded
from wolfbus.roles import ACTS
from wolfbus.state import GameState, Utterance
from wolfbus.usage import Usage
from wolfbus.vocabulary import Ending, Kind, Outcome, Winner

WINNERS: Final[dict[Winner, str]] = {
    "villagers": "the villagers win",
    "werewolves": "the Werewolves win",
    None: "nobody wins",
}
ENDINGS: Final[dict[Ending, str]] = {
    "no_wolves_left": "no Werewolf is left",
    "wolves_reach_parity": "they are as many as the others",
    "max_rounds": "the last round is over",
}
ASKED_FOR: Final[dict[Kind, str]] = {
    "bid": "bid",
    "speak": "statement",
    "assess_own": "self-label",
    "assess_other": "judgement",
    "vote": "vote",
    **{kind: act.noun for kind, act in ACTS.items()},
    "whisper": "whisper",
}
"""What each kind of request asks for, in the singular."""

_OUTCOMES: Final[tuple[Outcome, ...]] = ("accepted", "defaulted", "timed_out", "declined")


def aligned(rows: Sequence[Sequence[str]], right: Collection[str] = ()) -> list[str]:
    """Return rows as lines of columns, two blanks apart; to the right stand those whose heads, in the first row, are in
    `right`.
    """
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    sides = [str.rjust if head in right else str.ljust for head in rows[0]]
    return [
        "  ".join(side(cell, width) for side, cell, width in zip(sides, row, widths, strict=True)).rstrip()
        for row in rows
    ]


def names_of(names: Iterable[SeatName]) -> str:
    """Return names as a list in words: "Ada, Hugo and Mona"; "nobody" for none."""
    return listed([name_of(name) for name in names]) or "nobody"


def with_role(state: GameState, name: SeatName) -> str:
    """Return a name with its role: "Ada (Seer)"."""
    role = state.role(name)
    return f"{name_of(name)} ({role})" if role is not None else name_of(name)


def opening_lines(opened: Opened) -> list[str]:
    """Return the game's id, seed and version, and its seats with roles and brains."""
    brains: dict[str, list[SeatName]] = {}
    for seat in opened.seats:
        brains.setdefault(seat.brain, []).append(seat.name)
    played = "; ".join(
        shortened(brain, NOTE_SHOWN) + ("" if len(brains) == 1 else f": {', '.join(map(name_of, names))}")
        for brain, names in brains.items()
    )
    return [
        f"game {opened.game} · seed {printable(opened.seed, NOTE_SHOWN)} · wolfbus {printable(opened.version, 32)}",
        "players: " + ", ".join(f"{name_of(seat.name)} ({seat.role})" for seat in opened.seats),
        f"played by {played}" + (" · compact protocol" if opened.config.protocol == "compact" else ""),
    ]


def night_in_words(state: GameState, outcome: NightOutcome) -> str:
    """Return what really happened in a night: "the wolves go for Hugo; Kira protects Mona; Hugo died"."""
    night = state.nights.get(outcome.round)
    parts = [f"the wolves go for {name_of(outcome.target)}"]
    if outcome.round == 1 and not state.config.first_night_kill:
        parts = ["the wolves do not kill in the first night"]
    elif outcome.target is None and not (night and night.proposals):
        parts = ["the wolves propose nobody"]
    if night is not None and night.protections:
        parts += [f"{name_of(doctor)} protects {name_of(saved)}" for doctor, saved in night.protections.items()]
    elif outcome.protected:
        parts.append(f"protected: {names_of(outcome.protected)}")
    parts.append(f"{name_of(outcome.died)} died")
    return "; ".join(parts)


def votes_by_target(tally: Tally) -> list[tuple[SeatName | None, list[SeatName]]]:
    """Return who voted for whom, the most voted first; abstentions, under None, come last."""
    supporters: dict[SeatName | None, list[SeatName]] = {}
    for voter, target in tally.votes.items():
        supporters.setdefault(target, []).append(voter)
    return sorted(supporters.items(), key=lambda item: (item[0] is None, -len(item[1])))


def tally_in_words(tally: Tally) -> str:
    """Return the opened votes: "Hugo 3 (Ada, Kira, Wim); Mona 1 (Hugo); 1 abstains (Mona); 3 needed"."""
    parts = []
    for target, voters in votes_by_target(tally):
        names = ", ".join(map(name_of, voters))
        if target is None:
            parts.append(f"{len(voters)} abstain{'s' if len(voters) == 1 else ''} ({names})")
        else:
            parts.append(f"{name_of(target)} {len(voters)} ({names})")
    return "; ".join([*parts, f"{tally.needed} needed"])


def vote_of(state: GameState, statement: Statement) -> str:
    """Return whom the speaker of a vote's reason voted for, to stand after its name (" for Hugo"); "" in a debate."""
    tally = state.tallies.get(statement.round)
    if statement.phase != "vote" or tally is None or statement.speaker not in tally.votes:
        return ""
    return f" for {name_of(tally.votes[statement.speaker])}"


def label_in_words(label: Label) -> str:
    """Return a self-label as "honest", "fabrication", or "deceptive" where its kind was not said."""
    if not label.deceptive:
        return "honest"
    return "deceptive" if label.kind in {"none", "unspecified"} else label.kind


def assessment_in_words(statement: Utterance) -> str:
    """Return how a statement was assessed: "self: honest · suspected 0.42 by 6, flagged by 2 · claims: 1 true"."""
    label = "none" if statement.label is None else label_in_words(statement.label)
    parts = [f"self: {label}"]
    if statement.suspicion is not None:
        parts.append(f"suspected {statement.suspicion:.2f} by {statement.judged}, flagged by {statement.flagged}")
    if statement.missing:
        parts.append(f"{counted(statement.missing, 'judgement')} missing")
    if statement.verdicts:
        parts.append(claims_in_words(statement))
    return " · ".join(parts)


def claims_in_words(statement: Utterance) -> str:
    """Return the moderator's verdicts on a statement's claims: "claims: 1 true, 2 lies"."""
    words = {"lie": "lies", "mistake": "mistakes"}
    counts = (
        f"{number} {verdict if number == 1 else words.get(verdict, verdict)}"
        for verdict, number in sorted(statement.verdicts.items())
    )
    return "claims: " + ", ".join(counts)


def ending_in_words(event: Ended) -> str:
    """Return how the game ended: "the villagers win after 3 rounds: no Werewolf is left"."""
    return f"{WINNERS[event.winner]} after {counted(event.rounds, 'round')}: {ENDINGS[event.reason]}"


def stop_in_words(event: Stopped) -> str:
    """Return that the game was broken off, and why."""
    return f"the game was broken off: {printable(event.reason, NOTE_SHOWN) or 'nobody said why'}"


_EVENTS: Final[Mapping[str, Callable[[GameState, Any], str]]] = {
    "night_outcome": night_in_words,
    "inspection": lambda state, event: (
        f"{with_role(state, event.seat)} sees that {name_of(event.target)} is a {event.role}"
    ),
    "silence": lambda state, event: f"{with_role(state, event.seat)} says nothing",
    "tally": lambda _, event: tally_in_words(event),
    "exile": lambda state, event: (
        "nobody is exiled" if event.seat is None else f"{with_role(state, event.seat)} is exiled"
    ),
    "absent": lambda _, event: f"{name_of(event.seat)} has stopped answering",
    "returned": lambda _, event: f"{name_of(event.seat)} answers again",
    "rejected": lambda _, event: (
        f"rejected a message of {printable(event.sender, 64)} ({event.size} bytes): {printable(event.note, NOTE_SHOWN)}"
    ),
    "ended": lambda _, event: ending_in_words(event),
    "stopped": lambda _, event: stop_in_words(event),
}

_WITHOUT_WORDS: Final = (PUBLIC_TYPES | PRIVATE_TYPES) - _EVENTS.keys() - {"statement", "dawn"}
"""Types of event that seats may see and that have no words here; a statement is quoted, and a dawn is part of the
night's outcome.
"""


def event_in_words(state: GameState, event: AnyEvent) -> str:
    """Return what happened: "Ada (Seer) sees that Wim is a Werewolf", "nobody is exiled"; "" where nothing is seen.

    An event that has no words here gives its bare values if a seat may see it.
    """
    words = _EVENTS.get(event.type)
    if words is not None:
        return words(state, event)
    return in_plain_words(plain(event)) if event.type in _WITHOUT_WORDS else ""


def answers_in_words(state: GameState) -> str:
    """Return how the requests were answered: "412 answers: 410 accepted, 2 timed out; 400 clean, 10 repaired"."""
    by_outcome = dict.fromkeys(_OUTCOMES, 0)
    for (_, outcome), number in state.outcomes.items():
        by_outcome[outcome] += number
    parts = [f"{number} {outcome.replace('_', ' ')}" for outcome, number in by_outcome.items() if number]
    text = counted(sum(by_outcome.values()), "answer") + (": " + ", ".join(parts) if parts else "")
    if state.readings:
        text += "; read " + ", ".join(f"{number} {reading}" for reading, number in state.readings.most_common())
    if state.faults:
        text += "; " + ", ".join(f"{number} {fault}" for fault, number in state.faults.most_common())
    return "; ".join([text, *rejections_in_words(state)])


def rejections_in_words(state: GameState) -> list[str]:
    """Return how many answers came after their requests were closed, and how many messages were rejected otherwise."""
    late = state.rejected["closed"]
    rejected = state.rejected.total() - late
    parts = [f"{counted(late, 'answer')} came too late"] if late else []
    return parts + ([f"{counted(rejected, 'message')} rejected"] if rejected else [])


def call_in_words(call: Call) -> str:
    """Return that a model call failed: "no reply of Ada's model (bid): connection refused"."""
    again = ", asked again" if call.reask else ""
    return f"no reply of {name_of(call.seat)}'s model ({call.kind}{again}): {printable(call.error or '', NOTE_SHOWN)}"


def usage_in_words(usage: Usage) -> str:
    """Return what model calls took: "412 model calls (3 failed) · 1,234,567 tokens · $0.1234"; "" without any."""
    if not usage.calls:
        return ""
    failed = f" ({usage.failed} failed)" if usage.failed else ""
    parts = [f"{counted(usage.calls, 'model call')}{failed}"]
    if usage.cassette:
        parts.append(f"{usage.cassette} from a cassette")
    if (tokens := usage.tokens("prompt_tokens", "completion_tokens")) is not None:
        without = f" (without {counted(usage.uncounted, 'uncounted call')})" if usage.uncounted else ""
        parts.append(f"{tokens:,} tokens{without}")
    if (cost := usage.cost.total()) is not None:
        parts.append(f"{'at least ' if usage.cost.missing else ''}${cost:.4f}")
    elif usage.cassette == usage.calls:
        parts.append("$0")
    return " · ".join(parts)


_PLACE: Final = 13
"""Characters of the column that says where in the game a line belongs."""
_SORTS: Final = 24
"""Sorts of failure that are told apart; a server that never says the same twice must not fill lines and memory."""
_SORTS_NAMED: Final = 6
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
            return call_in_words(call)
        if str(count).strip("0") != "1":
            return ""
        return f"no reply of models: {self._words[sort]} … {count - 1} more like this"

    def total(self) -> str:
        """Return how many calls failed in all and of what, "" if no more did than were printed."""
        if all(count == 1 for count in self._counts.values()):
            return ""
        sorts = sorted(self._counts.items(), key=lambda item: -item[1])
        parts = [f"{count} × {self._words[sort] or 'no reason given'}" for sort, count in sorts[:_SORTS_NAMED]]
        if left := sum(count for _, count in sorts[_SORTS_NAMED:]):
            parts.append(f"{left} of other sorts")
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
        self._state = GameState()
        self._silence_reason = ""
        self._failures = Failures()

    def show(self, recorded: Recorded) -> None:
        """Write the lines of the game's next event, if it has any."""
        self._state.feed(recorded.event)
        text = "".join(f"{place:<{_PLACE - 1}} {words}\n" for place, words in self._lines(recorded.event))
        if not text or self.closed:
            return
        try:
            self._stream.write(text.encode(self._encoding, "replace").decode(self._encoding))
            self._stream.flush()
        except BrokenPipeError:
            # `wolfbus play 2>&1 | head`: the caller may be an actor in the middle of a game, which goes on
            self.closed = True

    def _lines(self, event: AnyEvent) -> Iterator[tuple[str, str]]:
        """Give the lines of an event: where in the game it belongs, and the words."""
        state = self._state
        if event.type == "answered" and event.kind == "speak":
            reason = (event.fault or event.outcome).replace("_", " ")
            self._silence_reason = "" if event.outcome == "accepted" else f" ({reason})"
        elif event.type == "answered":
            statement = state.statements.get(event.about or 0)
            if statement is not None and statement.assessed:
                yield "", self._assessment(statement)
        elif event.type == "opened":
            yield from (("", line) for line in opening_lines(event))
        elif event.type == "statement":
            turn = "" if event.phase == "vote" else f" {event.turn}"
            speaker = f"{with_role(state, event.speaker)}{vote_of(state, event)}"
            yield f"r{event.round} {event.phase}{turn}", f"{speaker}: “{spoken(event.text)}”"
        elif event.type == "model_call":
            # hundreds of calls go well, and say nothing of the game
            if event.error is not None and (text := self._failures.add(event)):
                yield "", text
        elif text := event_in_words(state, event):
            reason = self._silence_reason if event.type == "silence" else ""
            yield _PLACES.get(event.type, "").format(event), text + reason
            if event.type in {"ended", "stopped"}:
                sums = (answers_in_words(state), self._failures.total(), usage_in_words(state.usage))
                yield from (("", text) for text in sums if text)

    def _assessment(self, statement: Utterance) -> str:
        # the reasons of a vote are all published before the first of them is assessed
        speaker = "" if statement.spoken.phase == "debate" else f"{name_of(statement.spoken.speaker)} · "
        return f"  {speaker}{assessment_in_words(statement)}"
