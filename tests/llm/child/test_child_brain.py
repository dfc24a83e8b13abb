"""Children that answer, and children that crash, hang, babble or will not leave: each request still ends in time."""

from __future__ import annotations

import json
import logging
import re
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from players.program.brain import ChildBrain
from tests.llm.child.table import NAMES, Lifeline, ask, bid_of, command, farewells_said, sit
from wolfbus.agent import NO_ANSWER
from wolfbus.errors import ConfigError
from wolfbus.messages.content import Bid, Speech
from wolfbus.messages.events import Dawn, Ended
from wolfbus.messages.requests import Public, Revealed

ROOT = Path(__file__).parents[3]


@pytest.mark.parametrize(
    ("words", "says"),
    [("", "no command"), ("   ", "no command"), ("no-such-program x", "'no-such-program'"), ("cat 'x", "no closing")],
)
def test_a_command_that_cannot_run_is_refused_before_the_game(words, says):
    with pytest.raises(ConfigError, match=says):
        ChildBrain(words)


def test_a_reply_is_read_with_its_thought_and_no_shell_sees_the_command(tmp_path):
    code = 'for each in asks(): say(id=each["id"], text=" ".join(sys.argv[1:]), thought="quietly")'
    brain = ChildBrain(command(tmp_path, code) + " '$HOME ; *' x", tmp_path)
    answer = brain.answer(ask(kind="speak"), sit())
    brain.close()
    assert answer.content == Speech(text="$HOME ; * x")
    assert (answer.thought, answer.reading, answer.raw, answer.note) == ("quietly", "clean", None, None)


def test_a_child_gets_neither_the_way_to_the_bus_nor_keys(tmp_path, monkeypatch):
    ours = ("WOLFBUS_BUS", "WOLFBUS_PLAYER_BUS", "REDIS_URL")
    secret = ("OPENAI_API_KEY", "GH_TOKEN", "APP_SECRET", "pg_password")
    for name in (*ours, *secret, "MY_REDIS_URL", "MY_API_KEYS"):
        monkeypatch.setenv(name, "hunter2")
    code = 'for each in asks(): say(id=each["id"], text=" ".join(n for n, v in os.environ.items() if v == "hunter2"))'
    brain = ChildBrain(command(tmp_path, code), tmp_path)
    answer = brain.answer(ask(kind="speak"), sit())
    brain.close()
    assert set(answer.content.text.split()) == {"MY_REDIS_URL", "MY_API_KEYS"}


@pytest.mark.parametrize(
    ("line", "fault", "note"),
    [
        (b'{"id": "ID", "bid": 99}', "illegal", "99"),
        (b'{"id": "g/9/x", "bid": 3}', "unparseable", "names a request that never was: g/9/x"),
        (b'{"id": 7, "bid": 3}', "unparseable", "names a request that never was: 7"),
        (b'{"id": "ID", "bid": "caf\xe9"}', "unparseable", "not UTF-8"),
        (b'{"id": "ID", ' + b'"a": {' * 5000, "unparseable", ""),
    ],
)
def test_what_is_meant_as_a_reply_and_cannot_be_used_closes_its_request_and_is_kept(brain_of, line, fault, note):
    line = line.replace(b"ID", ask().id.encode())
    brain = brain_of(f"""
        for n, each in enumerate(asks()):
            if n == 0: os.write(1, {line!r} + b"\\n")
            else: say(bid=4)
    """)
    answer = brain.answer(ask(), sit())
    assert answer.content is None
    assert answer.fault == fault
    assert note in (answer.note or "")
    assert answer.raw
    assert answer.raw.encode()[:3] == line.decode("utf-8", "replace").encode()[:3]


def test_silence_is_no_answer_at_the_deadline(brain_of):
    brain = brain_of("for each in asks(): pass")
    began = time.monotonic()
    assert brain.answer(ask(deadline=0.2), sit(0.2)) is NO_ANSWER
    assert 0.2 <= time.monotonic() - began < 5


def test_a_late_reply_is_passed_over_and_the_next_one_counts(brain_of):
    # it answers the first request only when it has heard the second
    brain = brain_of("""
        everything = asks()
        first, second = next(everything), next(everything)
        for n, each in enumerate((first, second)): say(id=each["id"], bid=n)
        for each in everything: say(bid=7)
    """)
    assert brain.answer(ask(1, deadline=0.2), sit(0.2)) is NO_ANSWER
    answer = brain.answer(ask(2), sit())
    assert answer.content == Bid(bid=1)
    assert answer.note == "1 line was passed over, late or not asked for"
    assert brain.answer(ask(3), sit()).note is None


def test_an_exit_closes_the_request_and_says_how(brain_of, caplog):
    brain = brain_of("""
        next(asks())
        sys.stderr.write("first\\nno \\x1b[31mmore tokens\\n\\n")
        sys.exit(3)
    """)
    answer = brain.answer(ask(), sit())
    assert answer.content is None
    assert answer.fault == "failed"
    assert re.fullmatch(r"`.*` exited with code 3: no more tokens", answer.note), answer.note
    assert [record.levelno for record in caplog.records] == [logging.WARNING]


def test_a_child_is_started_again_three_times_and_then_no_more(brain_of, tmp_path):
    brain = brain_of("sys.exit(1)")
    answers = [brain.answer(ask(number), sit()) for number in range(1, 7)]
    notes = [answer.note for answer in answers]
    assert {answer.fault for answer in answers} == {"failed"}
    assert all("exited with code 1" in note for note in notes)
    assert ["not again" in note for note in notes] == [False] * 4 + [True] * 2
    assert len(list((tmp_path / "logs").iterdir())) == 4


def test_a_child_that_ignores_everything_is_killed(brain_of, tmp_path):
    lifeline = Lifeline(tmp_path)
    brain = brain_of(f"""
        line = os.open({str(lifeline.path)!r}, os.O_WRONLY)
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        next(asks())
        say(bid=1)
        while True: signal.pause()
    """)
    assert bid_of(brain, sit()) == 1
    process = brain._process._popen
    brain.close()
    brain.close()
    # nobody waited for the child, which is still there
    assert process.poll() is None
    farewells_said()
    assert process.returncode == -9
    lifeline.wait()


@pytest.mark.parametrize("leaves", ["sys.exit(0)", "signal.pause()", "next(everything)"])
def test_a_grandchild_goes_with_its_group(brain_of, tmp_path, leaves):
    # it inherits all pipes, so the child's end does not show in them
    lifeline = Lifeline(tmp_path)
    brain = brain_of(f"""
        line = os.open({str(lifeline.path)!r}, os.O_WRONLY)
        if os.fork() == 0:
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
            while True: signal.pause()
        everything = asks()
        next(everything)
        say(bid=1)
        {leaves}
    """)
    assert bid_of(brain, sit()) == 1
    brain.close()
    lifeline.wait()


def test_a_child_hears_hello_first_and_bye_last_and_may_leave_in_its_own_time(tmp_path, monkeypatch):
    monkeypatch.setattr("players.program.process.MOMENT", 30.0)
    code = f"""
        with open({str(tmp_path / "heard")!r}, "w") as heard:
            for line in sys.stdin:
                heard.write(line)
                if json.loads(line)["type"] == "ask": say(id=json.loads(line)["id"], bid=1)
            heard.write('{{"type": "end"}}')
    """
    brain = ChildBrain(command(tmp_path, code), tmp_path)
    assert [bid_of(brain, sit(), number) for number in (1, 2)] == [1, 1]
    process = brain._process._popen
    brain.close()
    farewells_said()
    heard = [json.loads(line) for line in (tmp_path / "heard").read_text().splitlines()]
    assert [line["type"] for line in heard] == ["hello", "ask", "ask", "bye", "end"]
    assert process.returncode == 0


def out_of_the_game(view):
    """Let the view hear that its seat was killed in the first night."""
    view.hear_public(Public(n=len(view.public) + 1, fact=Dawn(round=1, died="Ada")))


def at_the_end(view):
    """Let the view hear how the game ended."""
    roles = dict(zip(NAMES, ["Villager"] * 6 + ["Werewolf"] * 2, strict=True))
    for fact in (Ended(winner="werewolves", reason="wolves_reach_parity", rounds=3), Revealed(seed="s", roles=roles)):
        view.hear_public(Public(n=len(view.public) + 1, fact=fact))
    return roles


@pytest.mark.parametrize("asked", [True, False])
def test_a_child_whose_seat_was_killed_is_told_so_and_how_the_game_ended(tmp_path, asked):
    code = f"""
        with open({str(tmp_path / "heard")!r}, "w") as heard:
            for line in sys.stdin:
                heard.write(line)
                if json.loads(line)["type"] == "ask": say(id=json.loads(line)["id"], bid=1)
    """
    brain, view = ChildBrain(command(tmp_path, code), tmp_path), sit()
    brain.heard((), view)
    if asked:
        assert bid_of(brain, view) == 1
    out_of_the_game(view)
    brain.heard((), view)
    roles = at_the_end(view)
    brain.heard((), view)
    brain.close()
    farewells_said()
    heard = [json.loads(line) for line in (tmp_path / "heard").read_text().splitlines()]
    # killed before it was ever asked, it is started to be told of it
    assert [line["type"] for line in heard] == ["hello", *["ask"][: int(asked)], "bye"]
    bye = heard[-1]
    assert bye["you_died"] == {"round": 1, "how": "night"}
    assert (bye["winner"], bye["you_won"], bye["roles"]) == ("werewolves", False, roles)


def test_closing_frees_whoever_waits_for_the_child(brain_of, tmp_path):
    lifeline = Lifeline(tmp_path)
    brain = brain_of(f"""
        line = os.open({str(lifeline.path)!r}, os.O_WRONLY)
        for each in asks(): os.write(line, b"!")
    """)
    given = []
    waiting = threading.Thread(target=lambda: given.append(brain.answer(ask(), sit(1000.0))))
    waiting.start()
    lifeline.word()
    brain.close()
    waiting.join(30)
    assert given == [NO_ANSWER]
    assert brain.answer(ask(2), sit()) is NO_ANSWER
    lifeline.wait()


def test_error_output_goes_to_a_file_of_the_seat(brain_of, tmp_path):
    brain = brain_of("for each in asks(): sys.stderr.write('thinking\\n'); sys.stderr.flush(); say(bid=1)")
    assert bid_of(brain, sit()) == 1
    (file,) = (tmp_path / "logs").iterdir()
    assert file.name == f"Ada-{brain._process.pid}.stderr"
    assert file.read_text() == "thinking\n"


def test_error_output_without_a_folder_comes_through_with_the_seat_before_it(tmp_path, capfd):
    brain = ChildBrain(command(tmp_path, "sys.stderr.write('one\\n\\x1b[2Jtwo\\nthree'); sys.exit(4)"))
    assert brain.answer(ask(), sit()).note.endswith("exited with code 4: three")
    brain.close()
    farewells_said()
    assert capfd.readouterr().err == "Ada: one\nAda: two\nAda: three\n"


@pytest.mark.parametrize("closes", [True, False])
def test_no_child_outlives_the_process_that_asked_it(tmp_path, closes):
    lifeline = Lifeline(tmp_path)
    child = command(
        tmp_path,
        f"""
        line = os.open({str(lifeline.path)!r}, os.O_WRONLY)
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        next(asks())
        say(bid=1)
        while True: signal.pause()
        """,
    )
    program = f"""
import players.program.process
players.program.process.MOMENT = 0.05
from tests.llm.child.table import bid_of, sit
from players.program.brain import ChildBrain
brain = ChildBrain({child!r})
assert bid_of(brain, sit()) == 1
if {closes}: brain.close()
"""
    result = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=False)
    assert (result.returncode, result.stderr) == (0, "")
    lifeline.wait()
