"""Sample games, a lively one and one whose every word is hostile to terminals, and what views show of them."""

import contextlib
import functools
import io
import random
import unicodedata
from collections.abc import Iterable, Iterator, Sequence

import pytest
from rich.cells import cell_len

from tests.game.driver import Missing, Question, play
from tests.game.living import left_in
from tests.players.table import Hearers
from wolfbus.cli.terminal.playback import Display, open_display
from wolfbus.game.config import GameConfig
from wolfbus.knowledge.audience import AudienceFilter
from wolfbus.knowledge.departure import departure
from wolfbus.knowledge.truth import GameFacts
from wolfbus.knowledge.view import SeatView
from wolfbus.messages.content import AccusationClaim, Ballot, Judgement, Label, Proposal, Speech
from wolfbus.messages.events import Answered, AnyEvent
from wolfbus.record.line import Recorded

NAMES = ("Ada", "Hugo", "Mona", "Kira", "Wim", "Raj", "Sofia", "Bartholomew")
SEEDS = ("1", "7", "23")
KINDS = ("none", "omission")
"""Kinds of deception of what is honest, and of what is not."""

HOSTILE = (
    "\x1b[31mred\x1b[0m \x1b]0;title\x07 \x1b]8;;http://a\x1b\\link\x1b]8;;\x1b\\ \x1bP1$q\x1b\\ \x9b31m \x9d0;x\x9c",
    "[bold red]markup[/] [link=http://a]here[/link] [/] [[[",
    "two\nlines\r\nand\ttabs\x00\x07\x08\x85\u2028\u2029 \x7f",
    "\u202eback\u202c \u2066wards\u2069 \u200b\u200d\ufeff\u00ad\u061c",
    "\U0001f469\u200d\U0001f469\u200d\U0001f467 \U0001f1e9\U0001f1ea \u2764\ufe0f \U0001f44d\U0001f3fd " * 40,
    "z" + "\u0301" * 50_000,
    "x" * 50_000,
    "\u6f22\u5b57" * 25_000,
    "\x1b[" * 25_000,
    "\x1b]" * 25_000,
    "\x9d" * 25_000,
    "\u3164\u115f",
    " \n ",
)
HOSTILE_NAMES = ("[red]Ada[b]", "漢字漢字漢字漢字漢字漢字漢字漢字", "A" * 32, "Ben (Seer)", "Zoë", "x", "Ж", "r1 vote")


def recorded(events: Iterable[AnyEvent]) -> list[Recorded]:
    audiences, records = AudienceFilter(), []
    for number, event in enumerate(events, 1):
        records.append(Recorded(number, number / 4, audiences.audience(event), event))
        audiences.feed(event)
    return records


@functools.cache
def lively(seed: str) -> tuple[Recorded, ...]:
    """Return a game with silences, missing judgements and claims; every private word names its author and its batch."""

    def answer(question: Question):
        draws = random.Random(f"{seed} {question}")
        secret = f"secret-of-{question.seat}"
        if question.kind == "speak":
            if draws.random() < 0.1:
                return Missing("timed_out")
            other = draws.choice([name for name in NAMES if name != question.seat])
            return Speech(text=f"Look at {other}, all of you.", claims=(AccusationClaim(target=other),))
        if question.kind == "assess_own":
            deceptive = draws.random() < 0.4
            return Label(deceptive=deceptive, confidence=0.8, kind=KINDS[deceptive], reasoning=secret)
        if question.kind == "assess_other":
            if draws.random() < 0.1:
                return Missing("defaulted", "unparseable")
            judged = {"deceptive": draws.random() < 0.4, "suspicion": draws.random(), "confidence": 0.5}
            return Judgement(**judged, kind=KINDS[judged["deceptive"]], reasoning=secret)
        if question.kind == "vote":
            return Ballot(
                target=draws.choice(question.legal[:2]), reason="A feeling." if draws.random() < 0.6 else None
            )
        if question.kind == "whisper":
            return Proposal(target=draws.choice(question.legal), word=f"whisper-of-{question.seat}")
        return None

    return tuple(recorded(_thinking(play(GameConfig(names=NAMES), seed, answer).events)))


@functools.cache
def hostile(seed: str) -> tuple[Recorded, ...]:
    """Return a game in which everybody says, whispers and thinks what a terminal must not be shown."""

    def answer(question: Question):
        draws = random.Random(f"{seed} {question}")
        words = draws.choice(HOSTILE)
        if question.kind == "speak":
            # each in its turn, so that in two days all are said but the last, which is no statement
            return Speech(text=HOSTILE[(6 * question.round + question.turn) % (len(HOSTILE) - 1)])
        if question.kind == "vote":
            return Ballot(target=draws.choice(question.legal), reason=words)
        if question.kind == "whisper":
            return Proposal(target=draws.choice(question.legal), word=words)
        if question.kind == "assess_other":
            return Judgement(deceptive=True, suspicion=1.0, confidence=1.0, kind=KINDS[True], reasoning=words)
        return None

    named = GameConfig(names=HOSTILE_NAMES, bid_max=1000, max_rounds=2)
    opened, *rest = play(named, f"{seed}{HOSTILE[0]}{HOSTILE[1]}", answer).events
    seats = tuple(seat.model_copy(update={"brain": HOSTILE[0], "agent": HOSTILE[3]}) for seat in opened.seats)
    return tuple(recorded([opened.model_copy(update={"version": HOSTILE[2], "seats": seats}), *rest]))


def _thinking(events: Iterable[AnyEvent]) -> Iterable[AnyEvent]:
    for event in events:
        if isinstance(event, Answered):
            yield event.model_copy(update={"thought": f"secret-of-{event.seat}", "raw": f"raw-of-{event.seat}"})
        else:
            yield event


def is_harmless(text: str) -> bool:
    """Return whether nothing of a line is obeyed by a terminal."""
    return all(unicodedata.category(c) not in {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"} for c in text)


def suspicion_of(records: Sequence[Recorded], until: int | None = None) -> dict[tuple[str, str], float]:
    """Return the smoothed suspicion of every pair with a judgement, from what each observer is told."""
    hearers = Hearers()
    for entry in records[:until]:
        hearers.tell(entry.event)
    views = hearers.views
    return {
        (observer, target): view.suspicion.of(observer, target)
        for observer, view in views.items()
        for target in views
        if view.suspicion.judged(observer, target)
    }


def names_in(records: Sequence[Recorded]) -> list[str]:
    """Return the players of a game, in seating order."""
    return [seat.name for seat in records[0].event.seats]


def mean_suspicion(records: Sequence[Recorded], until: int | None = None) -> dict[str, float | None]:
    """Return what each player is suspected on the mean by those who had to find out: the living by the living, others
    by all who have judged them.
    """
    left, knew = left_in(records, until), informed_pairs(records, until)
    values: dict[str, list[float]] = {name: [] for name in names_in(records)}
    for (observer, target), value in suspicion_of(records, until).items():
        if (target in left or observer not in left) and not knew[observer, target]:
            values[target].append(value)
    return {name: sum(these) / len(these) if these else None for name, these in values.items()}


def informed_pairs(records: Sequence[Recorded], until: int | None = None) -> dict[tuple[str, str], bool]:
    """Return of every pair with a judgement whether the observer knew what the target is as it last judged it."""
    opened = records[0].event
    facts = GameFacts({seat.name: seat.role for seat in opened.seats}, opened.config.reveal_on_death)
    speakers: dict[int, str] = {}
    pairs: dict[tuple[str, str], bool] = {}
    for event in (entry.event for entry in records[:until]):
        if event.type == "statement":
            speakers[event.statement] = event.speaker
        elif event.type == "inspection":
            facts.inspect(event.round, event.seat, event.target, event.role)
        elif departed := departure(event):
            facts.leave(departed.seat, departed.how)
        elif event.type == "answered" and event.kind == "assess_other" and event.content is not None:
            target = speakers[event.about]
            pairs[event.seat, target] = facts.informed(event.seat, target)
    return pairs


def view_of(records: Sequence[Recorded], seat: str, until: int | None = None) -> SeatView:
    """Return what a seat knows after so many events, from what it is told."""
    audiences, view = AudienceFilter(), SeatView(seat)
    for entry in records[:until]:
        facts = audiences.feed(entry.event)
        for public in facts.public:
            view.hear_public(public)
        for private in (fact for name, fact in facts.private if name == seat):
            view.hear_private(private)
    return view


class Terminal(io.StringIO):
    """What a terminal was sent."""

    def isatty(self) -> bool:
        return True


@contextlib.contextmanager
def at_terminal(width: int, height: int, **environment: str) -> Iterator[tuple[Terminal, Display]]:
    """Show a game on a terminal that knows no escape sequences, unless the environment tells of another one."""
    with pytest.MonkeyPatch.context() as patch:
        for name in ("NO_COLOR", "FORCE_COLOR", "COLORTERM"):
            patch.delenv(name, raising=False)
        for name, value in {"TERM": "dumb", "COLUMNS": str(width), "LINES": str(height), **environment}.items():
            patch.setenv(name, value)
        patch.setattr("sys.stderr", terminal := Terminal())
        with open_display(quiet=False, plain=False) as display:
            yield terminal, display


def lines_of(records: Sequence[Recorded]) -> list[str]:
    """Return a game in plain lines."""
    with contextlib.redirect_stderr(io.StringIO()) as stream, open_display(quiet=False, plain=True) as display:
        for entry in records:
            display.show(entry)
    return stream.getvalue().splitlines()


def drawn(records: Sequence[Recorded], width: int = 120, height: int = 40) -> list[str]:
    """Return the last frame of the live view, which fits."""
    with at_terminal(width, height) as (terminal, display):
        for entry in records:
            display.show(entry)
    lines = terminal.getvalue().splitlines()
    assert len(lines) <= max(1, height - 1)
    assert max(map(cell_len, lines)) <= width
    return lines
