"""One question after the other, each for as long as there is time."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from players.human import HumanBrain
from players.human.terminal import Keyboard, Screen
from tests.llm.human.person import PROMPT, Paper
from wolfbus.agent.answer import NO_ANSWER, Answer
from wolfbus.audience import PublicNews
from wolfbus.config import Deadlines, GameConfig
from wolfbus.errors import PlayerError
from wolfbus.messages.content import Ballot, Bid, Choice, Speech
from wolfbus.messages.events import Statement
from wolfbus.messages.requests import Ask
from wolfbus.view import SeatView
from wolfbus.vocabulary import Kind

NAMES = ("Ada", "Bram", "Chioma", "Dilara", "Emil")


def ask_for(kind: Kind, seconds: float = 60.0, legal: tuple[str | None, ...] | None = None, turn: int = 1) -> Ask:
    about = 1 if kind.startswith("assess") else None
    name = f"g/1/debate/{turn}/{kind}/Ada"
    return Ask(id=name, kind=kind, round=1, phase="debate", turn=turn, about=about, legal=legal, deadline_s=seconds)


def view_of(text: str = "I saw nothing.", **deadlines: float) -> SeatView:
    view = SeatView("Ada", names=NAMES, config=GameConfig(deadlines=Deadlines(**deadlines)))
    fact = Statement(statement=1, round=1, phase="debate", turn=1, speaker="Bram", text=text)
    view.hear_public(PublicNews(1, fact))
    return view


class Seat:
    """A person's brain with a pipe to type into and paper to read from; also an outlet."""

    def __init__(self) -> None:
        self.read_end, self.write_end = os.pipe()
        self.paper = Paper()
        self.brain = HumanBrain(Keyboard(self.read_end), Screen(self.paper))
        self.seen = 0
        self.given: list[tuple[str, Answer]] = []
        self.changed = threading.Condition()

    def type(self, text: str) -> None:
        os.write(self.write_end, text.encode())

    def prompted(self) -> str:
        """Wait for the next prompt and return what is new on the screen."""
        shown = self.paper.wait(PROMPT.search, self.seen)
        self.seen += len(shown)
        return shown

    def answer(self, ask: Ask, given: Answer) -> None:
        with self.changed:
            self.given.append((ask.id, given))
            self.changed.notify_all()

    def ask(self, ask: Ask, view: SeatView, brain: HumanBrain | None = None) -> Answer:
        """Put one question and wait for the answer."""
        before = len(self.given)
        (brain or self.brain).start((ask,), view, self)
        return self.answers(before + 1)[-1]

    def answers(self, number: int) -> list[Answer]:
        with self.changed:
            assert self.changed.wait_for(lambda: len(self.given) >= number, 30), self.paper.text
            return [given for _, given in self.given]

    def segments(self, _texts) -> None: ...

    def called(self, _call) -> None: ...


@pytest.fixture
def seat() -> Iterator[Seat]:
    seat = Seat()
    yield seat
    seat.brain.close()
    for end in (seat.read_end, seat.write_end):
        try:
            os.close(end)
        except OSError:
            continue


def test_a_typo_is_told_and_asked_again(seat: Seat) -> None:
    seat.type("twelve\n12\n\x1b[A7\n")
    assert seat.ask(ask_for("bid"), view_of()) == Answer(Bid(bid=7))
    assert 'not "twelve"' in seat.paper.text
    assert '"12" is outside 0 to 10' in seat.paper.text
    assert "You bid 7." in seat.paper.text


@pytest.mark.parametrize(
    ("kind", "legal", "content", "says"),
    [
        ("bid", None, Bid(bid=0), "a bid of 0"),
        ("speak", None, Speech(text=""), "silence"),
        ("assess_own", None, None, "no label"),
        ("assess_other", None, None, "no judgement"),
        ("vote", ("Bram", None), Ballot(target=None), "abstaining"),
        ("kill", ("Bram", None), Choice(target=None), "no kill"),
        ("protect", ("Bram", None), Choice(target=None), "protecting nobody"),
        ("whisper", ("Bram", None), None, "no proposal"),
    ],
)
def test_an_empty_line_counts_as_the_conservative_default(seat: Seat, kind: Kind, legal, content, says: str) -> None:
    seat.type(" \n")
    given = seat.ask(ask_for(kind, legal=legal), view_of())
    assert isinstance(given, Answer)
    assert given.content == content
    assert f"That counts as {says}." in seat.paper.text


def test_where_somebody_has_to_be_chosen_an_empty_line_is_told(seat: Seat) -> None:
    seat.type("\nbram\n")
    assert seat.ask(ask_for("kill", legal=("Bram", "Emil")), view_of()) == Answer(Choice(target="Bram"), raw="bram")
    assert "You have to choose somebody" in seat.paper.text


def test_when_the_time_is_up_a_half_typed_line_is_dropped_and_the_next_question_starts_fresh(seat: Seat) -> None:
    seat.type("9")
    assert seat.ask(ask_for("bid", 0.03), view_of(bid=0.03)) is NO_ANSWER
    assert "Time is up: this counts as a bid of 0." in seat.paper.text
    seat.type("9\n4\n")
    assert seat.ask(ask_for("bid"), view_of()) == Answer(Bid(bid=4))


def test_the_end_of_the_input_is_told_once_and_counts_for_all_that_follows(seat: Seat) -> None:
    os.close(seat.write_end)
    assert seat.ask(ask_for("bid"), view_of()) == Answer(Bid(bid=0))
    shown = seat.paper.text
    assert "Your input has ended" in shown
    given = seat.ask(ask_for("kill", legal=("Bram",)), view_of())
    assert given == Answer(None, fault="failed", note="the person gave no answer")
    assert seat.paper.text == shown


def test_questions_are_asked_one_after_the_other_with_the_time_they_have_left(seat: Seat) -> None:
    view = view_of(assess_other=45.0)
    seat.brain.start((ask_for("bid"), ask_for("assess_other", 45.0)), view, seat)
    assert "your bid" in seat.prompted()
    seat.type("3\n")
    shown = seat.prompted()
    assert re.search(r"judgement \([34]\d s left", shown)
    assert "#1 Bram: “I saw nothing.”" in shown
    seat.type("?\n")
    assert "h 0.2" in seat.prompted()
    seat.type("0.2\n")
    bid, judgement = seat.answers(2)
    assert bid == Answer(Bid(bid=3))
    assert isinstance(judgement, Answer)


def test_who_is_away_is_asked_the_newest_question_with_its_full_time(seat: Seat) -> None:
    view = view_of()
    seat.brain.start((ask_for("bid"),), view, seat)
    seat.prompted()
    # the game waits no longer for this seat: both are closed when the first is answered
    seat.brain.start((ask_for("bid", 1e-6, turn=2), ask_for("bid", 1e-6, turn=3)), view, seat)
    seat.type("1\n")
    shown = seat.prompted()
    assert "The game goes on without you" in shown
    assert "1 question went by without you." in shown
    assert "60 s left" in shown
    seat.type("3\n")
    seat.answers(2)
    assert seat.given == [
        ("g/1/debate/1/bid/Ada", Answer(Bid(bid=1))),
        ("g/1/debate/3/bid/Ada", Answer(Bid(bid=3))),
    ]


def test_closing_gives_up_the_question_and_tells_the_last_news(seat: Seat) -> None:
    view = view_of()
    seat.brain.start((ask_for("bid"),), view, seat)
    seat.prompted()
    last = Statement(statement=2, round=1, phase="debate", turn=2, speaker="Emil", text="Too late.")
    view.hear_public(PublicNews(2, last))
    seat.brain.close()
    seat.brain.close()
    assert "Too late." in seat.paper.text
    assert seat.answers(1) == [NO_ANSWER]
    seat.brain.start((ask_for("bid"),), view, seat)
    assert seat.given == [("g/1/debate/1/bid/Ada", NO_ANSWER)]


def test_a_screen_that_fails_costs_one_answer_and_not_the_seat(seat: Seat, monkeypatch, caplog) -> None:
    def broken(*_):
        raise RuntimeError("ink")

    monkeypatch.setattr("players.human.brain.question_in_words", broken)
    seat.brain.start((ask_for("bid"),), view_of(), seat)
    (given,) = seat.answers(1)
    assert isinstance(given, Answer)
    assert given.fault == "failed"
    assert "ink" in (given.note or "")
    monkeypatch.undo()
    seat.brain.start((ask_for("bid"),), view_of(), seat)
    seat.type("5\n")
    assert seat.answers(2)[1] == Answer(Bid(bid=5))


def test_only_one_person_plays_at_one_terminal(seat: Seat) -> None:
    with pytest.raises(PlayerError, match="only one person can play at one terminal"):
        HumanBrain(Keyboard(seat.read_end), Screen(seat.paper))
    seat.brain.close()
    HumanBrain(Keyboard(seat.read_end), Screen(seat.paper)).close()


def test_a_person_without_any_input_plays_from_the_command_line_and_sees_no_secret(tmp_path: Path) -> None:
    root = Path(__file__).parents[3]
    command = [sys.executable, "-m", "wolfbus", "play", "--players", "human,scripted*7", "--seed", "4", "--json"]
    done = subprocess.run(
        command,
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(root)},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["rounds"] > 0
    assert done.stderr.count("Your input has ended") == 1
    assert "Who was who" in done.stderr
