"""One question after the other, each for as long as there is time."""

from __future__ import annotations

import gc
import io
import json
import os
import pty
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
from wolfbus.agent.outbox import ReplyWriter
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


def test_a_name_may_be_shortened_and_a_reason_follows_it(seat: Seat) -> None:
    seat.type("zoe\nCHI because she hides\n")
    given = seat.ask(ask_for("vote", legal=("Bram", "Chioma", None)), view_of())
    assert given == Answer(Ballot(target="Chioma", reason="she hides"), raw="CHI because she hides")
    assert "“zoe” is no legal answer; one of: Bram, Chioma, nobody" in seat.paper.text


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


def test_what_comes_while_a_question_is_asked_does_not_change_it(seat: Seat) -> None:
    view = view_of()
    seat.brain.start((ask_for("bid"),), view, seat)
    assert "I saw nothing" in seat.prompted()
    later = Statement(statement=2, round=1, phase="debate", turn=2, speaker="Emil", text="Nor did I.")
    view.hear_public(PublicNews(2, later))
    seat.type("log\n")
    assert "Nor did I" not in seat.prompted()
    seat.brain.start((ask_for("bid", turn=2),), view, seat)
    seat.type("1\n")
    assert "#2 Emil: “Nor did I.”" in seat.prompted()
    seat.type("2\n")
    assert seat.answers(2) == [Answer(Bid(bid=1)), Answer(Bid(bid=2))]


def test_questions_whose_time_went_by_are_counted_and_not_asked(seat: Seat) -> None:
    view = view_of(assess_other=1e-6)
    stale = tuple(ask_for("assess_other", 1e-6, turn=turn) for turn in (1, 2))
    seat.brain.start((ask_for("bid"), *stale, ask_for("bid", turn=3)), view, seat)
    seat.prompted()
    seat.type("1\n")
    shown = seat.prompted()
    assert "2 questions went by without you." in shown
    assert "your bid" in shown
    seat.type("2\n")
    assert seat.answers(2) == [Answer(Bid(bid=1)), Answer(Bid(bid=2))]


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


def test_a_brain_that_was_only_tried_out_keeps_nobody_from_the_terminal(seat: Seat) -> None:
    seat.brain.close()
    tried = HumanBrain(Keyboard(seat.read_end), Screen(seat.paper))
    del tried
    gc.collect()
    HumanBrain(Keyboard(seat.read_end), Screen(seat.paper)).close()


def test_a_screen_that_is_closed_ends_nothing(seat: Seat) -> None:
    gone = io.StringIO()
    seat.brain.close()
    brain = HumanBrain(Keyboard(seat.read_end), Screen(gone))
    gone.close()
    seat.type("6\n")
    assert seat.ask(ask_for("bid"), view_of(), brain) == Answer(Bid(bid=6))
    brain.close()


@pytest.mark.parametrize("colours", [True, False])
def test_only_a_real_terminal_has_colours_and_none_of_them_under_no_color(
    seat: Seat, monkeypatch: pytest.MonkeyPatch, colours: bool
) -> None:
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.delenv("NO_COLOR", raising=False)
    if not colours:
        monkeypatch.setenv("NO_COLOR", "1")
    master, slave = pty.openpty()
    with os.fdopen(slave, "w", encoding="utf-8") as stream:
        brain = HumanBrain(Keyboard(slave), Screen(stream))
        written, reading = bytearray(), threading.Event()

        def read() -> None:
            typed = False
            while not written.endswith(b"You bid 8.\x1b[0m\r\n"):
                written.extend(os.read(master, 4096))
                if not typed and b"> " in written.replace(b"\x1b[0m", b""):
                    os.write(master, b"7\x7f8\n")
                    typed = True
            reading.set()

        reader = threading.Thread(target=read, daemon=True)
        reader.start()
        assert seat.ask(ask_for("bid"), view_of("\x1b[31mred\x1b[2J"), brain) == Answer(Bid(bid=8))
        assert reading.wait(20), bytes(written)
        brain.close()
    os.close(master)
    assert (b"\x1b[36m" in written) == colours
    assert b"\x1b[31m" not in written
    assert b"\x1b[2J" not in written
    seat.type("2\n")
    seat.ask(ask_for("bid"), view_of())
    assert "\x1b" not in seat.paper.text


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


def test_a_reply_takes_what_a_person_answers(seat: Seat) -> None:
    sent: list[bytes] = []

    class Desk:
        def send(self, _game: str, body: bytes, _kind: str = "reply") -> None:
            sent.append(body)

        def send_segments(self, _game, _seat, _texts) -> None: ...

    ask = ask_for("vote", legal=("Bram", None))
    seat.type("bram so there\n")
    ReplyWriter("g", "Ada", Desk()).answer(ask, seat.ask(ask, view_of()))
    assert b"so there" in sent[0]
