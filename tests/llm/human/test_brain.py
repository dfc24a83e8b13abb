"""One question after the other, each for as long as there is time: what is typed, read, told, dropped."""

import asyncio
import os
import pty
import re
import threading
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any, BinaryIO

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from players.spec import BrainContext, build
from tests.llm.human.person import PROMPT, Paper
from tests.llm.tables import tables
from wolfbus import cli
from wolfbus.agent import NO_ANSWER, Answer
from wolfbus.errors import ConfigError
from wolfbus.game.config import Deadlines, GameConfig
from wolfbus.game.vocabulary import DECEPTIONS, KINDS, Kind
from wolfbus.knowledge.view import SeatView
from wolfbus.messages.content import CONTENT, Ballot, Bid, Choice, Consent, Judgement, Label, Proposal, Speech
from wolfbus.messages.events import Statement
from wolfbus.messages.requests import Ask, Public
from wolfbus.stage.serving import People

TABLES: Any = tables(__file__)
NAMES = ("Ana", "Bram", "Chioma", "Christa", "Dilara", "Ann Marie")
LEGAL = ("Bram", "Chioma", "Christa", "Ann Marie", None)


def ask_for(kind: Kind, seconds: float = 60.0, legal: Any = LEGAL, turn: int = 1) -> Ask:
    about = 1 if kind.startswith("assess") else None
    legal = legal if kind in {"vote", "kill", "protect", "inspect", "whisper"} else None
    name = f"g/1/debate/{turn}/{kind}/Ana"
    return Ask(id=name, kind=kind, round=1, phase="debate", turn=turn, about=about, legal=legal, deadline_s=seconds)


def statement_of(number: int, text: str) -> Public:
    fact = Statement(statement=number, round=1, phase="debate", turn=number, speaker="Bram", text=text)
    return Public(n=number, fact=fact)


def view_of(deadlines: dict[str, float] | None = None, **rules: Any) -> SeatView:
    view = SeatView("Ana", names=NAMES, config=GameConfig(deadlines=Deadlines(**deadlines or {}), **rules))
    view.hear_public(statement_of(1, "I saw nothing."))
    return view


class Seat:
    """A person's brain with a pipe to type into and paper to read from; also where it answers."""

    def __init__(self, typing: BinaryIO, paper: Paper) -> None:
        self.typing = typing
        self.paper = paper
        self.brain = build("human")
        self.seen = 0
        self.answered: list[tuple[str, Answer]] = []
        self.changed = threading.Condition()

    def type(self, text: str) -> None:
        self.typing.write(text.encode())

    def prompted(self) -> str:
        """Wait for the next prompt and return what is new on the screen."""
        text = self.paper.wait(PROMPT.search, self.seen)
        self.seen += len(text)
        return text

    def answer(self, ask: Ask, answer: Answer) -> None:
        with self.changed:
            self.answered.append((ask.id, answer))
            self.changed.notify_all()

    def ask(self, ask: Ask, view: SeatView | None = None) -> Answer:
        """Put one question and wait for the answer."""
        before = len(self.answered)
        self.brain.start((ask,), view or view_of(), self)
        return self.answers(before + 1)[-1]

    def answers(self, number: int) -> list[Answer]:
        with self.changed:
            assert self.changed.wait_for(lambda: len(self.answered) >= number, 30), self.paper.text
            return [answer for _, answer in self.answered]


@contextmanager
def sitting(read_end: int, write_end: int) -> Iterator[Seat]:
    """Sit a person down who types at `write_end` what comes out at `read_end`."""
    with (
        os.fdopen(write_end, "wb", buffering=0) as typing,
        os.fdopen(read_end) as keyboard,
        pytest.MonkeyPatch.context() as patched,
    ):
        paper = Paper()
        patched.setattr("sys.stdin", keyboard)
        patched.setattr("sys.stderr", paper)
        seat = Seat(typing, paper)
        yield seat
        seat.brain.close()


@pytest.fixture
def seat() -> Iterator[Seat]:
    with sitting(*os.pipe()) as seat:
        yield seat


@pytest.mark.parametrize("kind", TABLES["read"])
def test_a_line_is_read_as_it_was_meant(seat: Seat, kind: Kind) -> None:
    for line, content in TABLES["read"][kind].items():
        seat.type(f"{line}\n")
        answer = seat.ask(ask_for(kind))
        assert answer.content == CONTENT[kind].model_validate(content), line
        assert answer.raw == (None if kind in {"bid", "speak"} else line.strip())


@pytest.mark.parametrize(("kind", "line", "why"), TABLES["typos"])
def test_a_typo_is_told_and_asked_again(seat: Seat, kind: Kind, line: str, why: str) -> None:
    seat.brain.start((ask_for(kind),), view_of(), seat)
    seat.prompted()
    seat.type(f"{line}\n")
    text = " ".join(seat.prompted().split())
    assert why in text
    assert text.isprintable()
    assert seat.answered == []


def test_what_arrow_keys_send_is_no_part_of_a_line_and_what_was_understood_is_told(seat: Seat) -> None:
    seat.type("twelve\n12\n\x1b[A7\n")
    assert seat.ask(ask_for("bid")) == Answer(Bid(bid=7))
    assert 'not "twelve"' in seat.paper.text
    assert '"12" is outside 0 to 10' in seat.paper.text
    assert "You bid 7." in seat.paper.text


def test_words_are_labelled_before_anybody_hears_them_where_the_rules_ask_for_it(seat: Seat) -> None:
    seat.type("I saw nothing.\nd omission 0.9 because I did\nBram he is quiet\nh\nBram\n\nWhat?\n\n")
    said = seat.ask(ask_for("speak"), view_of(label="with")).content
    assert isinstance(said, Speech)
    assert said.label == Label(deceptive=True, confidence=0.9, kind="omission", reasoning="I did")
    vote = seat.ask(ask_for("vote"), view_of(label="with")).content
    assert isinstance(vote, Ballot)
    assert (vote.reason, vote.label) == ("he is quiet", Label(deceptive=False, confidence=1.0))
    without = [seat.ask(ask_for("vote"), view_of(label="with")).content]
    assert without == [Ballot(target="Bram")]
    assert "was it meant to deceive?" in seat.paper.text


def test_words_that_no_reply_would_hold_are_refused_and_not_lost_on_the_way(seat: Seat) -> None:
    seat.type(f"{'ö' * 200}\n{'ö' * 150}\n")
    assert seat.ask(ask_for("speak"), view_of(max_reply_bytes=1000)).content == Speech(text="ö" * 150)
    assert "That is too long; 300 bytes are read at most." in seat.paper.text
    seat.type(f"{'x' * 50_000}\nAna\n")
    assert seat.ask(ask_for("speak")).content == Speech(text="Ana")
    assert "That line is too long." in seat.paper.text


def test_words_and_their_label_that_no_reply_holds_together_are_told_before_they_count(seat: Seat) -> None:
    view = view_of(max_reply_bytes=1300, label="with")
    seat.type(f"{'w' * 590}\nd because {'r' * 580}\nd because I must\n")
    said = seat.ask(ask_for("speak"), view).content
    assert isinstance(said, Speech)
    assert said.text == "w" * 590
    assert said.label == Label(deceptive=True, confidence=1.0, kind="unspecified", reasoning="I must")
    assert re.search(r"That is too long: the answer has 1\d\d\d bytes; the limit is 1300\.", seat.paper.text)
    # rules may allow so little that what is beside the words takes it up
    seat.brain.game = "g" * 64
    seat.type(f"{'w' * 100}\nhm\n")
    assert seat.ask(ask_for("speak"), view_of(max_reply_bytes=256)).content == Speech(text="hm")
    assert "the limit is 256." in seat.paper.text


def test_of_a_vote_the_reason_alone_is_bounded_as_a_statement_is(seat: Seat) -> None:
    view = view_of(max_statement=40)
    seat.type(f"Christa because {'x' * 41}\nChrista because {'x' * 40}\n{'y' * 41}\n{'y' * 40}\n")
    assert seat.ask(ask_for("vote"), view).content == Ballot(target="Christa", reason="x" * 40)
    assert seat.ask(ask_for("speak"), view).content == Speech(text="y" * 40)
    assert seat.paper.text.count("That is too long; a statement has at most 40 characters.") == 2


def test_at_a_page_half_a_character_leaves_the_thought_readable_and_what_cannot_be_sent_is_asked_for_again() -> None:
    requests: list[Any] = []
    person = SimpleNamespace(add_questions=requests.extend)
    brain = build("human", BrainContext(people=SimpleNamespace(sit=lambda _game, _seat: person)))  # type: ignore[arg-type]
    brain.game, brain.seat = "g", "Ana"
    answers: list[Answer] = []
    replies: Any = SimpleNamespace(answer=lambda _ask, answer: answers.append(answer))
    # replies as short as the rules allow still hold a few words
    brain.start((ask_for("speak"),), view_of(max_reply_bytes=256), replies)
    assert requests[0].take({"text": "Hello \ud83d"}, None, None).startswith("speak: ")
    assert answers == []
    assert requests[0].take({"text": "ö" * 60}, None, None) == "that is too long; 100 bytes are read at most"
    assert requests[0].take({"text": "Hello 😀"}, "Hm \ud83d", None) is None
    labelled = {"text": "Hello", "label": {"deceptive": False, "confidence": 1, "kind": "none"}}
    assert requests[0].take(labelled, None, None) is None
    assert getattr(answers.pop().content, "label", None) == Label(deceptive=False, confidence=1.0)
    brain.start((ask_for("assess_other"),), view_of(max_reply_bytes=256), replies)
    judged = {"deceptive": True, "suspicion": 0.8, "confidence": 0.75, "kind": "misdirection"}
    assert (
        requests[1].take(judged | {"reasoning": "x" * 100}, None, None)
        == "that is too long; 100 bytes are read at most"
    )
    assert requests[1].take(judged | {"reasoning": "They look away."}, None, None) is None
    judgement = Judgement.model_validate(judged | {"reasoning": "They look away."})
    assert answers == [Answer(Speech(text="Hello 😀"), thought="Hm ?"), Answer(judgement)]
    # what a person agreed to goes with whatever it says first, be it nothing
    consent = Consent(words="x" * 200)
    assert requests[1].take(None, None, consent).startswith("that is too long: the answer has ")
    assert len(answers) == 2


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(kind=st.sampled_from(KINDS), line=st.text(min_size=1).filter(str.strip))
def test_no_line_makes_reading_raise_and_what_it_gives_is_legal(seat: Seat, kind: Kind, line: str) -> None:
    # where it is a typo, or a command, the blank line answers
    seat.type(re.sub(r"[\r\n]", " ", line) + "\n\n")
    answer = seat.ask(ask_for(kind), view_of())
    assert answer.note in {None, "the person gave no answer"}
    if isinstance(answer.content, Ballot | Choice | Proposal):
        assert answer.content.target in LEGAL
    elif isinstance(answer.content, Label | Judgement):
        assert answer.content.kind in DECEPTIONS
    elif isinstance(answer.content, Bid):
        assert 0 <= answer.content.bid <= 10
    if answer.raw is not None or isinstance(answer.content, Bid | Speech):
        seat.type("0\n")
        seat.ask(ask_for("bid"))


@pytest.mark.parametrize(("kind", "content", "says"), TABLES["empty"])
def test_an_empty_line_counts_as_the_conservative_default(seat: Seat, kind: Kind, content: Any, says: str) -> None:
    seat.type(" \n")
    answer = seat.ask(ask_for(kind, legal=("Bram", None)))
    assert answer.content == (None if content is False else CONTENT[kind].model_validate(content))
    assert f"That counts as {says}." in seat.paper.text


def test_who_gives_no_judgement_has_refused_it_and_whose_input_has_ended_cannot_be_had(seat: Seat) -> None:
    seat.type("\n")
    faults = [seat.ask(ask_for("assess_other")).fault]
    seat.typing.close()
    faults += [seat.ask(ask_for(kind)).fault for kind in ("assess_other", "assess_own")]
    # the last two are for want of a reply, of which too many spoil a game
    assert faults == ["refused", "failed", "failed"]


def test_where_somebody_has_to_be_chosen_an_empty_line_is_told(seat: Seat) -> None:
    seat.type("\nbram\n")
    assert seat.ask(ask_for("kill", legal=("Bram", "Emil"))) == Answer(Choice(target="Bram"), raw="bram")
    assert "You have to choose somebody" in seat.paper.text


def test_when_the_time_is_up_a_half_typed_line_is_dropped_and_the_next_question_starts_fresh(seat: Seat) -> None:
    seat.type("9")
    # long enough to be asked at all on a machine with much else to do
    assert seat.ask(ask_for("bid", 0.5), view_of({"bid": 0.5})) is NO_ANSWER
    assert "Time is up: this counts as a bid of 0." in seat.paper.text
    seat.type("9\n4\n")
    assert seat.ask(ask_for("bid")) == Answer(Bid(bid=4))


def test_questions_are_asked_one_after_the_other_with_the_time_they_have_left(seat: Seat) -> None:
    seat.brain.start((ask_for("bid"), ask_for("assess_other", 45.0)), view_of({"assess_other": 45.0}), seat)
    assert "your bid" in seat.prompted()
    seat.type("3\n")
    text = seat.prompted()
    assert re.search(r"judgement \([34]\d s left", text)
    assert "#1 Bram: “I saw nothing.”" in text
    seat.type("?\n")
    assert "h 0.2" in seat.prompted()
    seat.type("0.2\n")
    bid, judgement = seat.answers(2)
    assert bid == Answer(Bid(bid=3))
    assert isinstance(judgement.content, Judgement)


def test_who_is_away_is_asked_the_newest_question_with_its_full_time(seat: Seat) -> None:
    view = view_of()
    seat.brain.start((ask_for("bid"),), view, seat)
    seat.prompted()
    # the game waits no longer for this seat: both are closed when the first is answered
    seat.brain.start((ask_for("bid", 1e-6, turn=2), ask_for("bid", 1e-6, turn=3)), view, seat)
    seat.type("1\n")
    text = seat.prompted()
    assert "The game goes on without you" in text
    assert "1 question went by without you." in text
    assert "60 s left" in text
    seat.type("3\n")
    seat.answers(2)
    assert seat.answered == [(f"g/1/debate/{turn}/bid/Ana", Answer(Bid(bid=turn))) for turn in (1, 3)]


def test_closing_gives_up_the_question_and_tells_the_last_news(seat: Seat) -> None:
    view = view_of()
    seat.brain.start((ask_for("bid"),), view, seat)
    seat.prompted()
    view.hear_public(statement_of(2, "Too late."))
    seat.brain.close()
    seat.brain.close()
    assert "Too late." in seat.paper.text
    assert seat.answers(1) == [NO_ANSWER]
    seat.brain.start((ask_for("bid"),), view, seat)
    assert seat.answered == [("g/1/debate/1/bid/Ana", NO_ANSWER)]


def test_a_question_that_fails_costs_one_answer_and_not_the_seat(seat: Seat) -> None:
    answer = seat.ask(ask_for("vote").model_copy(update={"legal": (5,)}))
    assert answer.fault == "failed"
    assert "could not be asked: " in (answer.note or "")
    seat.type("5\n")
    assert seat.ask(ask_for("bid")) == Answer(Bid(bid=5))


def test_only_one_person_plays_at_one_terminal_and_nobody_without_a_keyboard(seat, monkeypatch):
    with pytest.raises(ConfigError, match="only one person can play at one terminal"):
        build("human")
    seat.brain.close()
    build("human").close()
    for nothing in (None, SimpleNamespace(fileno=lambda: 10_000)):
        monkeypatch.setattr("sys.stdin", nothing)
        with pytest.raises(ConfigError, match="no standard input"):
            build("human")


def test_a_person_whose_input_has_ended_plays_from_the_command_line_and_is_told_once(tmp_path, monkeypatch, capsys):
    with Path(os.devnull).open() as nothing:
        monkeypatch.setattr("sys.stdin", nothing)
        words = ["--players", "human,scripted*7", "--seed", "4", "--json", "--out", str(tmp_path)]
        assert cli.run(["play", *words]) == cli.SPOILT
    output = capsys.readouterr()
    assert '"rounds"' in output.out
    assert output.err.count("Your input has ended") == 1
    assert "Who was who" in output.err


def test_lines_come_one_by_one_however_they_are_written_and_the_last_one_counts(seat: Seat) -> None:
    def spoken() -> tuple[object, str | None]:
        answer = seat.ask(ask_for("speak"))
        return answer.content, answer.fault

    seat.type("Bram ist’s\n\r\nAn")
    assert [spoken(), spoken()] == [(Speech(text="Bram ist’s"), None), (Speech(text=""), None)]
    seat.type("a\nBram")
    seat.typing.close()
    assert [spoken() for _ in range(4)] == [(Speech(text=text), None) for text in ("Ana", "Bram", "", "")]
    assert seat.paper.text.count("Your input has ended") == 1


def test_at_a_terminal_a_half_typed_line_is_dropped_and_so_is_what_came_unasked() -> None:
    master, slave = pty.openpty()
    with sitting(slave, master) as seat:

        def typed(text: str, seconds: float = 60.0) -> Answer:
            before = len(seat.answered)
            seat.brain.start((ask_for("speak", seconds),), view_of({"speak": seconds}), seat)
            seat.prompted()
            seat.type(text)
            return seat.answers(before + 1)[-1]

        assert typed("\x04").content == Speech(text=""), "Ctrl-D leaves out one answer only"
        assert typed("Br", 0.5) is NO_ANSWER
        assert typed("Ana\n").content == Speech(text="Ana")
        seat.type("too early\n")
        assert typed("Bram\n").content == Speech(text="Bram")


def test_a_clock_that_is_set_takes_no_question_off_a_page_and_shows_none_as_late(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    people = People(lambda _seat, _link: None)
    brain = build("human", BrainContext(people=people))
    brain.game, brain.seat = "g", "Ana"
    wall_clock = time.time
    for kind, ahead_s in (("speak", 0), ("vote", 3600)):
        monkeypatch.setattr("time.time", lambda ahead_s=ahead_s: wall_clock() + ahead_s)
        replies: Any = None
        brain.start((ask_for(kind),), view_of(), replies)
    with closing(asyncio.new_event_loop()) as loop:
        people.start(loop)
    status = people.sit("g", "Ana").status()
    assert [(ask["kind"], "late" in ask) for ask in status["asks"]] == [("speak", False), ("vote", False)]
    assert all(0 < ask["due"] - status["now"] <= 60 for ask in status["asks"])
