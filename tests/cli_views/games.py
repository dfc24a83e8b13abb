"""Sample games, a lively one and one whose every word is hostile to terminals, and what views make of them."""

from __future__ import annotations

import functools
import io
import random
import unicodedata
from collections.abc import Iterable, Sequence

from rich.cells import cell_len
from rich.console import Console, Group

from tests.game.driver import Missing, Question, play
from wolfbus.audience import Herald
from wolfbus.cli.terminal.ending import GameEnding
from wolfbus.cli.terminal.lines import PlainLines
from wolfbus.cli.terminal.live import frame
from wolfbus.cli.terminal.pages import state_page
from wolfbus.config import GameConfig
from wolfbus.messages.content import AccusationClaim, Ballot, Judgement, Label, Proposal, Speech
from wolfbus.messages.events import Answered, AnyEvent
from wolfbus.record.line import Recorded
from wolfbus.state import GameState

NAMES = ("Ada", "Hugo", "Mona", "Kira", "Wim", "Raj", "Sofia", "Bartholomew")
SEEDS = ("1", "7", "23")

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
    herald, records = Herald(), []
    for number, event in enumerate(events, 1):
        records.append(Recorded(number, number / 4, herald.audience(event), event))
        herald.tell(event)
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
            return Label(deceptive=draws.random() < 0.4, confidence=0.8, reasoning=secret)
        if question.kind == "assess_other":
            if draws.random() < 0.1:
                return Missing("defaulted", "unparseable")
            return Judgement(deceptive=draws.random() < 0.4, suspicion=draws.random(), confidence=0.5, reasoning=secret)
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
            return Speech(text=words)
        if question.kind == "vote":
            return Ballot(target=draws.choice(question.legal), reason=words)
        if question.kind == "whisper":
            return Proposal(target=draws.choice(question.legal), word=words)
        if question.kind == "assess_other":
            return Judgement(deceptive=True, suspicion=1.0, confidence=1.0, reasoning=words)
        return None

    events = play(GameConfig(names=HOSTILE_NAMES, bid_max=1000), seed, answer).events
    opened = events[0].model_copy(update={"seed": HOSTILE[0] + HOSTILE[1], "version": HOSTILE[2]})
    seats = tuple(seat.model_copy(update={"brain": HOSTILE[0], "agent": HOSTILE[3]}) for seat in opened.seats)
    return tuple(recorded([opened.model_copy(update={"seats": seats}), *events[1:]]))


def _thinking(events: Iterable[AnyEvent]) -> Iterable[AnyEvent]:
    for event in events:
        if isinstance(event, Answered):
            yield event.model_copy(update={"thought": f"secret-of-{event.seat}", "raw": f"raw-of-{event.seat}"})
        else:
            yield event


def is_harmless(text: str) -> bool:
    """Return whether nothing of a line is obeyed by a terminal."""
    return all(unicodedata.category(c) not in {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"} for c in text)


def state_of(records: Sequence[Recorded], until: int | None = None) -> GameState:
    state = GameState()
    for each in records[:until]:
        state.feed(each.event)
    return state


def lines_of(records: Sequence[Recorded]) -> list[str]:
    stream = io.StringIO()
    view = PlainLines(stream)
    for each in records:
        view.see(each)
    return stream.getvalue().splitlines()


def drawn(state: GameState, width: int = 120, height: int = 40) -> list[str]:
    """Return a frame of the live view, which fits."""
    console = Console(file=io.StringIO(), width=width, height=height, color_system=None)
    console.print(Group(*frame(state, console, width, height, 754.2)))
    lines = console.file.getvalue().splitlines()
    assert len(lines) <= height
    assert max(map(cell_len, lines)) <= width
    return lines


def ending_of(records: Sequence[Recorded]) -> list[str]:
    ending = GameEnding()
    for each in records:
        ending.take(each)
    return ending.lines()


def views_of(records: Sequence[Recorded]) -> dict[str, list[str]]:
    """Return all that views of researchers show of a game."""
    state = state_of(records)
    return {
        "lines": lines_of(records),
        "live": drawn(state),
        "page": state_page(state).split("\n"),
        "ending": ending_of(records),
    }
