"""How a game ended, in at most 25 lines: who won and why, who was what, the lies told and who saw through them."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from typing import Any, Final

from wolfbus.cli.terminal.wording import ENDINGS, WINNERS, names_of
from wolfbus.cli.view import WordClaims
from wolfbus.files.document import Cell, Row, TableBlock, TableColumn, written
from wolfbus.files.formats import number, percent
from wolfbus.files.printable import counted, name_of, printable, shortened
from wolfbus.game.roles import FACTS, team_of
from wolfbus.game.vocabulary import ROLES, SCRIPTS, Kind
from wolfbus.knowledge.departure import WAYS
from wolfbus.messages.defaults import is_silenced, never_given, spoilt_in_words
from wolfbus.messages.events import AnyAnswered, Ended, Opened
from wolfbus.record.line import Recorded
from wolfbus.record.served import ServedModels, served_in_words
from wolfbus.stage.beats import Beat, Exiled, NightShown, SeatStatus, Spoken
from wolfbus.stage.fold import BeatFold
from wolfbus.stage.story import lie_in_words
from wolfbus.stage.viewers import EVERYTHING

LINES: Final = 25
"""Lines that an ending takes at most."""
_WIDTH: Final = 118
_REASON: Final = 160
"""Characters of a reason that are printed."""
_BUILT_IN: Final = SCRIPTS | {"llm"}
_COLUMNS: Final = (
    *(TableColumn(name, wide=True) for name in ("", "Role", "In the end")),
    *(TableColumn(name) for name in ("Statements", "Deceptive*", "With a lie", "Suspected")),
    TableColumn("Played by", wide=True),
)


class GameEnding:
    """Follows one game and says how it ended.

    Args:
        beats: whether `lines` will be asked for; without, only what is counted is kept.

    Attributes:
        opened: the opening; None before it.
        ended: the end; None while there is none.
        statements: statements made.
        judgements: judgements that were given and could be used.
        brains: what became of the answers, by brain: ``replies``, ``declined``, ``defaulted``,
            ``timed_out`` and ``faults``, as the repair table counts them.
    """

    def __init__(self, *, beats: bool = True) -> None:
        self._notes: dict[str, Counter[str]] = {}
        self._served = ServedModels()
        self.opened: Opened | None = None
        self.ended: Ended | None = None
        self.statements = 0
        self.judgements = 0
        self.brains: dict[str, dict[str, Any]] = {}
        # lies are those of the measurements: found in the words of statements
        self._fold = BeatFold(EVERYTHING, WordClaims()) if beats else None
        # of each seat, by kind: answers that were asked for, and those of them that are defaults
        self._answers: defaultdict[str, Counter[Kind]] = defaultdict(Counter)
        self._defaults: defaultdict[str, Counter[Kind]] = defaultdict(Counter)
        self._brain_of: dict[str, str] = {}

    def feed(self, recorded: Recorded) -> None:
        """Follow the next event of the record."""
        event = recorded.event
        if self._fold is not None:
            self._fold.feed(recorded.n, recorded.time, (event,))
        if event.type == "opened":
            self.opened = event
            self._brain_of = {seat.name: seat.brain for seat in event.seats}
        elif event.type == "ended":
            self.ended = event
        elif event.type == "answered":
            self._count(event)
        elif event.type == "statement":
            self.statements += 1
        elif event.type == "model_call":
            self._served.feed(event)

    def _count(self, event: AnyAnswered) -> None:
        if is_silenced(event):
            return
        if event.outcome != "declined":
            self._answers[event.seat][event.kind] += 1
            self._defaults[event.seat][event.kind] += event.outcome != "accepted"
        self.judgements += event.kind == "assess_other" and event.outcome == "accepted"
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
        """Return a line for each brain of whose answers any is missing, with why; what kind of answer a seat never
        gave; if the game is spoilt; if another model answered than was asked, or not the same all the time.
        """
        from analytics.report.caveats import missing_answers

        by_brain = {brain: {"overall": counts} for brain, counts in self.brains.items()}
        reasons = {brain: printable(notes.most_common(1)[0][0], _REASON) for brain, notes in self._notes.items()}
        lines = missing_answers({"repair": {"by_brain": by_brain}}, reasons, bearable=0.0)
        for seat, answers in self._answers.items():
            if self._brain_of.get(seat, "").partition(":")[0] not in SCRIPTS:
                lines += filter(None, [never_given(name_of(seat), self._defaults[seat], answers)])
        if self.ended is not None and self.ended.spoilt:
            lines.append(f"the game {spoilt_in_words(self.ended.spoilt)}")
        return [*lines, *(printable(line, _REASON) for line in served_in_words(self._served.answered))]

    def lines(self, calls: Sequence[str] = ()) -> list[str]:
        """Return what a newcomer asks of a game that is over, in at most `LINES` - 4 lines; none if nothing happened.

        Args:
            calls: what calls of models took, a line each.
        """
        beats = () if self._fold is None else self._fold.beats
        if not beats:
            return []
        last = beats[-1]
        closing = [*_detection(beats), *_suspected(last), *self._own_seats(last), *calls]
        table = written([self._table(beats)]).splitlines()
        course = _fitted(list(_course(beats)), LINES - 4 - len(table) - len(closing))
        return [*table, *course, *closing]

    def _table(self, beats: Sequence[Beat]) -> TableBlock:
        statements, labels, deceptive, lies = Counter[str](), Counter[str](), Counter[str](), Counter[str]()
        for spoken in (beat.spoken for beat in beats if beat.spoken is not None):
            statements[spoken.speaker] += 1
            if spoken.label is not None and spoken.label.deceptive is not None:
                labels[spoken.speaker] += 1
                deceptive[spoken.speaker] += spoken.label.deceptive
            lies[spoken.speaker] += any(claim.verdict == "lie" for claim in spoken.claims)
        several = len(set(self._brain_of.values())) > 1
        columns = _COLUMNS if several else _COLUMNS[:-1]
        rows = []
        for seat in sorted(beats[-1].seats, key=_by_side):
            # who was never heard on its own words, as where that is asked when the game is over, has no number of them
            is_told = labels[seat.name] or not statements[seat.name]
            counts = (statements[seat.name], deceptive[seat.name] if is_told else None, lies[seat.name])
            numbers = (*(number(count, 0) for count in counts), percent(seat.suspected, 0))
            brain = shortened(self._brain_of.get(seat.name, ""), 24)
            words = (seat.role or "?", _fate(seat), *numbers, brain)
            rows.append(Row(Cell(name_of(seat.name)), tuple(map(Cell, words[: len(columns) - 1]))))
        return TableBlock("ending", _headline(beats[-1]), columns, tuple(rows))

    def _own_seats(self, last: Beat) -> Iterator[str]:
        """Yield what became of the seats of people and of agents of the user's own."""
        seats = [seat for seat in last.seats if self._brain_of.get(seat.name, "").partition(":")[0] not in _BUILT_IN]
        for seat in seats if len(seats) <= 2 else ():
            brain = shortened(self._brain_of[seat.name], 32)
            requests = self._answers[seat.name].total()
            answers = f"it was asked {counted(requests, 'time')}" if requests else "it was never asked"
            fate = "lived to the end"
            if seat.left is not None and seat.left_round is not None:
                fate = f"was {WAYS[seat.left].fate_in(seat.left_round)}"
            yield f"{brain} played {name_of(seat.name)}, the {seat.role}: {fate}; {answers}."


def _headline(last: Beat) -> str:
    over = last.over
    if over is None or over.reason is None:
        why = f": {printable(over.stopped)}" if over is not None and over.stopped else ""
        return f"THE GAME WAS BROKEN OFF in round {last.round}{why}."
    reason = ENDINGS[over.reason]
    if over.reason == "wolves_reach_parity":
        roles = Counter(seat.role == "Werewolf" for seat in last.seats if seat.left is None)
        reason = f"{_number(roles[True])} of them against {_number(roles[False])} other{'s' * (roles[False] != 1)}"
    return f"{WINNERS[over.winner].upper()} after {counted(over.rounds or 0, 'round')}: {reason}."


def _by_side(seat: SeatStatus) -> tuple[int, str]:
    order = sorted(ROLES, key=lambda role: (team_of(role) != "werewolves", not FACTS[role].acts))
    return (next((place for place, role in enumerate(order) if role == seat.role), len(order)), seat.name)


def _fate(seat: SeatStatus) -> str:
    if seat.left is None:
        return "absent" if seat.absent else "alive"
    way = WAYS[seat.left]
    return f"{way.verb}, {way.span} {seat.left_round}"


def _number(count: int) -> str:
    words = ("none", "one", "two", "three", "four")
    return words[count] if count < len(words) else str(count)


def _course(beats: Sequence[Beat]) -> Iterator[str]:
    """Yield a line for each night and each day."""
    lies: list[str] = []
    for beat in beats:
        if beat.night is not None:
            yield f"  night {beat.round}  {_night(beat, beat.night)}"
        elif beat.spoken is not None and (text := _lies(beat.spoken)):
            lies.append(text)
        elif beat.exile is not None:
            yield _day(beat.round, lies, _exile(beat, beat.exile))
            lies = []
        elif beat.news is not None and "death" in beat.marks:
            yield _day(beat.round, [], printable(beat.news))
    if lies:
        yield _day(beats[-1].round, lies, "")


def _day(round_: int, lies: list[str], vote: str) -> str:
    """Return a day in a line: as many of its lies as fit, and its vote."""
    for count in range(len(lies), -1, -1):
        left = len(lies) - count
        more = f"{counted(left, 'more lie' if count else 'lie')}" if left else ""
        line = f"  day {round_}    " + "; ".join(part for part in (*lies[:count], more, vote) if part)
        if len(line) <= _WIDTH:
            break
    return line


def _night(beat: Beat, night: NightShown) -> str:
    if night.died is not None:
        role = beat.role_of(night.died)
        return f"{name_of(night.died)}{f', the {role},' if role not in {None, 'Villager'} else ''} is killed"
    if night.blocked:
        return f"the Werewolves go for {name_of(night.target)}; a Doctor is there, and nobody dies"
    return "nobody dies"


def _exile(beat: Beat, exile: Exiled) -> str:
    if exile.seat is None:
        return "nobody has a majority"
    leaving = sum(seat.left is None for seat in beat.seats) + 1
    return f"{exile.votes} of {leaving} vote out {name_of(exile.seat)}, the {beat.role_of(exile.seat)}"


def _lies(spoken: Spoken) -> str:
    """Return a statement's lies and how many of those who had to find out doubt them, "" where it holds none: "Ada
    claims to be the Seer, 2 of 3 doubt it".
    """
    claims = [claim for claim in spoken.claims if claim.verdict == "lie"]
    if not claims:
        return ""
    doubt = f", {spoken.flagged} of {spoken.judged} doubt it" if spoken.judged else ""
    return f"{name_of(spoken.speaker)} {printable(lie_in_words(claims))}{doubt}"


def _detection(beats: Sequence[Beat]) -> Iterator[str]:
    """Yield in how many judgements those who had to find out flagged what speakers call deceptive, and honest."""
    flagged, judged = Counter[bool](), Counter[bool]()
    for beat in beats:
        spoken = beat.spoken
        if spoken is None or spoken.label is None or spoken.label.deceptive is None:
            continue
        for judgement in spoken.judgements:
            if judgement.deceptive is not None and judgement.listener == "finds_out":
                judged[spoken.label.deceptive] += 1
                flagged[spoken.label.deceptive] += judgement.deceptive
    if judged[True]:
        yield (
            f"Those who had to find out flagged deceptive* words {flagged[True]} of {judged[True]} times, honest ones "
            f"{flagged[False]} of {judged[False]} (* by the speaker's account)."
        )
    elif judged[False]:
        yield (
            "No speaker called a statement of its own deceptive (*); those who had to find out flagged one "
            f"{flagged[False]} of {judged[False]} times."
        )


def _suspected(last: Beat) -> Iterator[str]:
    seats = [seat for seat in last.seats if seat.suspected is not None]
    top = sorted(seats, key=lambda seat: -(seat.suspected or 0.0))[:2]
    if top:
        names = [f"{name_of(seat.name)}, the {seat.role} ({percent(seat.suspected, 0)})" for seat in top]
        yield f"Only who had to find out is counted; most suspected: {names_of(names)}."


def _fitted(course: list[str], room: int) -> list[str]:
    """Return the lines of the course that fit: the first and the last ones, and how many are left out between."""
    room = max(3, room)
    if len(course) <= room:
        return course
    tail = (room - 1) // 2
    head = room - 1 - tail
    left = len(course) - head - tail
    return [*course[:head], f"  … {left} nights and days more: --tables, or wolfbus view", *course[-tail:]]
