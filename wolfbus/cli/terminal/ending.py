"""How a game ended, in at most 25 lines: who won and why, who was what, the lies told and who saw through them."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final

from wolfbus.cli.terminal.words import ENDINGS, WINNERS, names_of
from wolfbus.cli.viewing import WordClaims
from wolfbus.document.blocks import Cell, Row, TableBlock, TableColumn
from wolfbus.document.formats import percent
from wolfbus.document.writers import written
from wolfbus.messages.events import Answered, Ended, Opened
from wolfbus.printable import counted, name_of, printable, shortened
from wolfbus.record.line import Recorded
from wolfbus.stage.beats import Beat, SeatStatus, ShownClaim, Spoken
from wolfbus.stage.document import GameFeed
from wolfbus.stage.eyes import EVERYTHING
from wolfbus.stage.fold import find_claims_with

logger = logging.getLogger(__name__)

LINES: Final = 25
"""Lines that an ending takes at most."""
_WIDTH: Final = 118
_REASON: Final = 160
"""Characters of a reason that are told."""
_BUILT_IN: Final = frozenset({"scripted", "random", "silent", "llm"})


class GameEnding:
    """Watches one game and tells its end.

    Attributes:
        opened: the opening; None before it.
        ended: the end; None while there is none.
        statements: statements made.
        judgements: usable self-labels apart, judgements that were had.
        brains: what became of the answers, by brain: ``replies``, ``declined``, ``defaulted``,
            ``timed_out`` and ``faults``, as the repair table counts them.

    Args:
        see: sees every event as well; None for nobody.
    """

    def __init__(self, see: Callable[[Recorded], None] | None = None) -> None:
        self._see = see
        self._notes: dict[str, Counter[str]] = {}
        self.opened: Opened | None = None
        self.ended: Ended | None = None
        self.statements = 0
        self.judgements = 0
        self.brains: dict[str, dict[str, Any]] = {}
        # lies are those of the measurements: what can be heard in the words
        find_claims_with(WordClaims)
        self._feed = GameFeed(EVERYTHING)
        self._answered: Counter[str] = Counter()
        self._brain_of: dict[str, str] = {}

    def take(self, recorded: Recorded) -> None:
        """Take in the next event of the record."""
        event = recorded.event
        self._feed.feed(recorded)
        if isinstance(event, Opened):
            self.opened = event
            self._brain_of = {seat.name: seat.brain for seat in event.seats}
        elif isinstance(event, Ended):
            self.ended = event
        elif isinstance(event, Answered):
            self._count(event)
        elif event.type == "statement":
            self.statements += 1
        if self._see is not None:
            try:
                self._see(recorded)
            except Exception:
                # a terminal that takes nothing must not cost the game its end
                self._see = None
                logger.exception("the game cannot be shown any more")

    def _count(self, event: Any) -> None:
        self._answered[event.seat] += 1
        if event.kind == "assess_other" and event.outcome == "accepted":
            self.judgements += 1
        brain = self._brain_of.get(event.seat, "")
        empty = {"replies": 0, "declined": 0, "defaulted": 0, "timed_out": 0, "faults": Counter()}
        counts = self.brains.setdefault(brain, empty)
        counts["replies"] += 1
        if event.outcome != "accepted":
            counts[event.outcome] += 1
        if event.outcome == "defaulted" and event.fault is not None:
            counts["faults"][event.fault] += 1
        if event.outcome in {"defaulted", "timed_out"} and event.note:
            self._notes.setdefault(brain, Counter())[event.note] += 1

    def warnings(self) -> list[str]:
        """Return a line for each brain of whose answers more than a tenth is missing, and why."""
        from analytics.report.caveats import missing_answers

        by_brain = {brain: {"overall": counts} for brain, counts in self.brains.items()}
        reasons = {
            brain: printable(notes.most_common(1)[0][0], _REASON).encode("ascii", "backslashreplace").decode()
            for brain, notes in self._notes.items()
        }
        return missing_answers({"repair": {"by_brain": by_brain}}, reasons)

    @property
    def beats(self) -> Sequence[Beat]:
        """The game's beats so far."""
        return self._feed.beats

    def lines(self, calls: Sequence[str] = ()) -> list[str]:
        """Return what a newcomer asks of a game that is over, in at most `LINES` - 4 lines.

        Args:
            calls: what calls of models took, a line each.
        """
        beats = self.beats
        last = beats[-1]
        after = [*_detection(beats), *_suspected(last), *self._own_seats(), *calls]
        table = written([self._table(last)]).splitlines()
        course = _fitted(list(_course(beats)), LINES - 4 - len(table) - len(after))
        return [*table, *course, *after]

    def _headline(self, last: Beat) -> str:
        over = last.over
        if over is None or over.reason is None:
            why = f": {printable(over.stopped)}" if over is not None and over.stopped else ""
            return f"THE GAME WAS BROKEN OFF in round {last.round}{why}."
        rounds = counted(over.rounds or 0, "round")
        return f"{WINNERS[over.winner].upper()} after {rounds}: {_reason(last)}."

    def _table(self, last: Beat) -> TableBlock:
        said, deceptive, lies = Counter[str](), Counter[str](), Counter[str]()
        for spoken in (beat.spoken for beat in self.beats if beat.spoken is not None):
            said[spoken.speaker] += 1
            deceptive[spoken.speaker] += bool(spoken.label and spoken.label.deceptive)
            lies[spoken.speaker] += any(claim.verdict == "lie" for claim in spoken.claims)
        several = len(set(self._brain_of.values())) > 1
        heads = ("", "Role", "In the end", "Statements", "Deceptive*", "With a lie", "Suspected")
        columns = tuple(TableColumn(head, wide=place < 3) for place, head in enumerate(heads))
        if several:
            columns += (TableColumn("Played by", wide=True),)
        rows = []
        for seat in sorted(last.seats, key=_by_side):
            numbers = (said[seat.name], deceptive[seat.name], lies[seat.name])
            words = [seat.role or "?", _fate(seat), *map(str, numbers), percent(seat.suspected, 0)]
            if several:
                words.append(shortened(self._brain_of.get(seat.name, ""), 24))
            rows.append(Row(Cell(name_of(seat.name)), tuple(map(Cell, words))))
        return TableBlock("ending", self._headline(last), columns, tuple(rows))

    def _own_seats(self) -> Iterator[str]:
        """Yield what became of the seats of people and of agents of the user's own."""
        last = self.beats[-1]
        own = [seat for seat in last.seats if self._brain_of.get(seat.name, "").partition(":")[0] not in _BUILT_IN]
        if not 0 < len(own) <= 2:
            return
        for seat in own:
            brain = shortened(self._brain_of[seat.name], 32)
            asked = self._answered[seat.name]
            answers = f"it was asked {counted(asked, 'time')}" if asked else "it was never asked"
            fate = "lived to the end" if seat.left is None else f"was {_left(seat)}"
            yield f"{brain} played {name_of(seat.name)}, the {seat.role}: {fate}; {answers}."


def _by_side(seat: SeatStatus) -> tuple[int, str]:
    order = ("Werewolf", "Seer", "Doctor", "Villager")
    return (order.index(seat.role) if seat.role in order else len(order), seat.name)


def _left(seat: SeatStatus) -> str:
    return f"killed in night {seat.left_round}" if seat.left == "night" else f"exiled on day {seat.left_round}"


def _fate(seat: SeatStatus) -> str:
    if seat.left is None:
        return "absent" if seat.absent else "alive"
    how = "killed, night" if seat.left == "night" else "exiled, day"
    return f"{how} {seat.left_round}"


def _reason(last: Beat) -> str:
    over = last.over
    if over is None or over.reason is None:
        return ""
    if over.reason == "wolves_reach_parity":
        living = [seat for seat in last.seats if seat.left is None]
        wolves = sum(seat.role == "Werewolf" for seat in living)
        others = len(living) - wolves
        return f"{_number(wolves)} of them against {_number(others)} other{'' if others == 1 else 's'}"
    return ENDINGS[over.reason]


def _number(count: int) -> str:
    words = ("none", "one", "two", "three", "four")
    return words[count] if count < len(words) else str(count)


def _course(beats: Sequence[Beat]) -> Iterator[str]:
    """Yield a line for each night and each day."""
    said: list[str] = []
    votes = ""
    for beat in beats:
        if beat.night is not None:
            yield f"  night {beat.round}  {_night(beat)}"
        elif beat.spoken is not None and (told := _lies(beat.spoken)):
            said.append(told)
        elif beat.exile is not None:
            yield _day(beat.round, said, _exile(beat))
            said, votes = [], ""
    if said or votes:
        yield _day(beats[-1].round, said, votes)


def _day(round_: int, said: list[str], vote: str) -> str:
    """Return a day in a line: as many of its lies as fit, and its vote."""
    for kept in range(len(said), -1, -1):
        left = len(said) - kept
        more = f"{counted(left, 'more lie' if kept else 'lie')}" if left else ""
        line = f"  day {round_}    " + "; ".join(part for part in (*said[:kept], more, vote) if part)
        if len(line) <= _WIDTH:
            break
    return line


def _night(beat: Beat) -> str:
    night = beat.night
    if night is None:
        return ""
    if night.died is not None:
        role = next((seat.role for seat in beat.seats if seat.name == night.died), None)
        return f"{name_of(night.died)}{f', the {role},' if role not in {None, 'Villager'} else ''} is killed"
    if night.blocked:
        return f"the Werewolves go for {name_of(night.target)}; a Doctor is there, and nobody dies"
    return "nobody dies"


def _exile(beat: Beat) -> str:
    exile = beat.exile
    if exile is None or exile.seat is None:
        return "nobody has a majority"
    role = next((seat.role for seat in beat.seats if seat.name == exile.seat), None)
    leaving = sum(seat.left is None for seat in beat.seats) + 1
    return f"{exile.votes} of {leaving} vote out {name_of(exile.seat)}, the {role}"


def _lies(spoken: Spoken) -> str:
    """Return a statement's lies and who doubted them, "" where it holds none."""
    lies = [claim for claim in spoken.claims if claim.verdict == "lie"]
    if not lies:
        return ""
    told = _claims_in_words(lies, spoken.speaker)
    if not spoken.judged:
        return f"{name_of(spoken.speaker)} {told}"
    return f"{name_of(spoken.speaker)} {told}, {spoken.flagged} of {spoken.judged} doubt it"


def _claims_in_words(lies: Sequence[ShownClaim], speaker: str) -> str:
    """Return false claims of one statement in words: "claims to be the Seer and calls Leon a Werewolf"."""
    parts: dict[str, None] = {}
    for claim in lies:
        target = name_of(claim.target)
        if claim.claim == "role" and claim.target == speaker:
            parts[f"claims to be the {claim.role}"] = None
        elif claim.claim == "protection":
            parts[f"claims to have protected {target}"] = None
        else:
            parts[f"calls {target} a {claim.role or 'Werewolf'}"] = None
    return " and ".join(parts)


def _detection(beats: Sequence[Beat]) -> Iterator[str]:
    """Yield how often listeners who are no Werewolves flagged what speakers call deceptive, and honest."""
    flagged, heard = Counter[bool](), Counter[bool]()
    for beat in beats:
        spoken = beat.spoken
        if spoken is None or spoken.label is None or spoken.label.deceptive is None:
            continue
        wolves = {seat.name for seat in beat.seats if seat.role == "Werewolf"}
        for judgement in spoken.judgements:
            if judgement.deceptive is not None and judgement.seat not in wolves:
                heard[spoken.label.deceptive] += 1
                flagged[spoken.label.deceptive] += judgement.deceptive
    if heard[True]:
        yield (
            f"The village flagged {flagged[True]} of {heard[True]} deceptive* statements it heard, and "
            f"{flagged[False]} of {heard[False]} honest ones (* by the speaker's own account)."
        )
    elif heard[False]:
        yield (
            f"No speaker called a statement of its own deceptive (*); the village flagged {flagged[False]} of "
            f"{heard[False]} that it heard."
        )


def _suspected(last: Beat) -> Iterator[str]:
    seats = [seat for seat in last.seats if seat.suspected is not None]
    top = sorted(seats, key=lambda seat: -(seat.suspected or 0.0))[:2]
    if top:
        told = [f"{name_of(seat.name)}, the {seat.role} ({percent(seat.suspected, 0)})" for seat in top]
        yield f"Most suspected in the end: {names_of(told)}."


def _fitted(course: list[str], room: int) -> list[str]:
    """Return the lines of the course that fit: the first and the last ones, and how many are left out between."""
    room = max(3, room)
    if len(course) <= room:
        return course
    tail = (room - 1) // 2
    head = room - 1 - tail
    left = len(course) - head - tail
    return [*course[:head], f"  … {left} nights and days more: --tables, or wolfbus view", *course[-tail:]]
