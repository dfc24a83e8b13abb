"""Children that answer, and children that crash, hang, babble or will not leave: each request still ends in time."""

import json
import logging
import re
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from players.spec import build
from tests.agents.parts import NAMES, ask
from tests.waiting import PATIENCE_S
from wolfbus.agent import NO_ANSWER
from wolfbus.errors import ConfigError
from wolfbus.messages.content import Bid, Speech
from wolfbus.messages.events import Dawn, Ended
from wolfbus.messages.requests import Public, Revealed

from .conftest import Lifeline, bid_of, command, farewells_said, sit

ROOT = Path(__file__).parents[3]


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ("   ", "lacks a command"),
        ("no-such-program x", "'no-such-program'"),
        ("cat 'x", "no closing"),
        ("no-such-program\n\x1b[2J x", "'no-such-program'"),
        (f"{'no' * 9_000}\n '", "no closing"),
    ],
)
def test_a_command_that_cannot_run_is_refused_in_one_line_before_the_game(words, says):
    with pytest.raises(ConfigError, match=says) as refused:
        build(f"exec:{words}")
    line = str(refused.value)
    assert line.isprintable()
    assert len(line) < 1000


def test_a_reply_is_read_with_its_thought_and_no_shell_sees_the_command(brain_of):
    code = 'for each in asks(): say(id=each["id"], text=" ".join(sys.argv[1:]), thought="quietly")'
    answer = brain_of(code, " '$HOME ; *' x").answer(ask("speak"), sit())
    assert answer.content == Speech(text="$HOME ; * x")
    assert (answer.thought, answer.reading, answer.raw, answer.note) == ("quietly", "clean", None, None)


def test_a_child_gets_neither_the_way_to_the_bus_nor_keys(brain_of, monkeypatch):
    bus = ("WOLFBUS_BUS", "WOLFBUS_PLAYER_BUS", "REDIS_URL")
    secret = ("OPENAI_API_KEY", "AWS_SECRET_ACCESS_KEY", "GH_TOKEN", "TOKEN", "APP_SECRET", "pg_password")
    for name in (*bus, *secret, "MY_REDIS_URL", "MY_API_KEYS"):
        monkeypatch.setenv(name, "hunter2")
    code = 'for each in asks(): say(id=each["id"], text=" ".join(n for n, v in os.environ.items() if v == "hunter2"))'
    answer = brain_of(code).answer(ask("speak"), sit())
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
    line = line.replace(b"ID", ask("bid").id.encode())
    answer = brain_of(f"next(asks()); os.write(1, {line!r} + b'\\n'); next(asks())").answer(ask("bid"), sit())
    assert (answer.content, answer.fault) == (None, fault)
    assert note in (answer.note or "")
    assert answer.raw.encode()[:3] == line.decode("utf-8", "replace").encode()[:3]


def test_a_late_reply_is_passed_over_and_the_next_one_counts(brain_of):
    # once it runs, it answers a request only when it has heard the next one
    brain = brain_of("""
        everything = asks()
        say(id=next(everything)["id"], bid=9)
        first, second = next(everything), next(everything)
        for n, each in enumerate((first, second)): say(id=each["id"], bid=n)
        for each in everything: say(bid=7)
    """)
    assert brain.answer(ask("bid", 0), sit()).content == Bid(bid=9)
    began = time.monotonic()
    assert brain.answer(ask("bid", 1, deadline_s=0.2), sit(0.2)) is NO_ANSWER
    assert 0.2 <= time.monotonic() - began < PATIENCE_S
    answer = brain.answer(ask("bid", 2), sit())
    assert (answer.content, answer.note) == (Bid(bid=1), "1 line was passed over, late or not asked for")
    assert brain.answer(ask("bid", 3), sit()).note is None


def test_a_reply_without_its_id_answers_nothing_and_its_author_is_told_why(brain_of, caplog):
    brain = brain_of("""
        everything = asks()
        say(id=next(everything)["id"], bid=9)
        for _ in range(2):
            next(everything)
            print('{"bid": 3}', flush=True)
            print("4", flush=True)
        for each in everything: say(bid=5)
    """)
    assert brain.answer(ask("bid", 0), sit()).content == Bid(bid=9)
    assert [brain.answer(ask("bid", number, deadline_s=0.3), sit(0.3)) for number in (1, 2)] == [NO_ANSWER] * 2
    assert brain.answer(ask("bid", 3), sit()).content == Bid(bid=5)
    (warning,) = [record.getMessage() for record in caplog.records if record.levelno == logging.WARNING]
    assert warning.endswith("""printed "{"bid": 3}", which is no answer: it lacks the request's id""")


@pytest.mark.parametrize("printed", [b"\x1b[2J\x1b[31mred" + b"x" * 500, b"x" * 1_500_000])
def test_what_is_printed_is_shown_in_part_and_without_what_a_terminal_would_obey(brain_of, caplog, printed):
    brain = brain_of(f"""
        sys.stdout.buffer.write({printed[:20]!r} + b"x" * {len(printed) - 20} + b"\\n")
        for each in asks(): say(id=each["id"], bid=1)
    """)
    answer = brain.answer(ask("bid"), sit())
    assert answer.content == Bid(bid=1)
    assert "it printed " in answer.note
    assert len(answer.note) < 120
    assert "\x1b" not in answer.note + caplog.text


def test_an_exit_closes_the_request_and_says_how_and_after_three_more_starts_there_is_no_other(
    brain_of, tmp_path, caplog
):
    brain = brain_of("next(asks()); sys.stderr.write('first\\nno \\x1b[31mmore tokens\\n\\n'); sys.exit(3)")
    answers = [brain.answer(ask("bid", number), sit()) for number in range(1, 7)]
    assert {(answer.content, answer.fault) for answer in answers} == {(None, "failed")}
    assert re.fullmatch(r"`.*` exited with code 3: no more tokens", answers[0].note), answers[0].note
    assert ["not again" in answer.note for answer in answers] == [False] * 4 + [True] * 2
    assert len(list((tmp_path / "logs").iterdir())) == 4
    assert [record.levelno for record in caplog.records] == [logging.WARNING] * 4


@pytest.mark.parametrize("leaves", ["sys.exit(0)", "signal.pause()", "next(everything)", "while True: signal.pause()"])
def test_a_child_that_ignores_everything_is_killed_and_a_grandchild_goes_with_its_group(brain_of, tmp_path, leaves):
    # the grandchild inherits all pipes, so the child's end does not show in them
    lifeline = Lifeline(tmp_path)
    brain = brain_of(f"""
        {lifeline.code}
        if os.fork() == 0 or {leaves.startswith("while")}: signal.signal(signal.SIGTERM, signal.SIG_IGN)
        if os.getpid() != os.getsid(0):
            while True: signal.pause()
        everything = asks()
        next(everything)
        say(bid=1)
        {leaves}
    """)
    assert bid_of(brain, sit()) == 1
    brain.close()
    brain.close()
    lifeline.wait()


def lines_of(folder):
    return [json.loads(line) for line in (folder / "heard").read_text().splitlines()]


LISTENING = """
with open(sys.argv[1], "w") as heard:
    for line in sys.stdin:
        heard.write(line)
        if json.loads(line)["type"] == "ask": say(id=json.loads(line)["id"], bid=1)
    heard.write('{"type": "end"}')
"""


@pytest.mark.parametrize("requests", [0, 2])
def test_a_child_hears_hello_first_and_how_it_ended_last_and_may_leave_in_its_own_time(
    brain_of, tmp_path, monkeypatch, requests
):
    monkeypatch.setattr("players.program.process.GRACE_S", 30.0)
    brain, view = brain_of(LISTENING, f" {tmp_path / 'heard'}"), sit()
    assert [bid_of(brain, view, number) for number in range(1, requests + 1)] == [1] * requests
    roles = dict(zip(NAMES, ["Villager"] * 6 + ["Werewolf"] * 2, strict=True))
    ended = Ended(winner="werewolves", reason="wolves_reach_parity", rounds=3)
    for fact in (Dawn(round=1, died="Ada"), ended, Revealed(seed="s", roles=roles)):
        view.hear_public(Public(n=len(view.public) + 1, fact=fact))
    brain.heard((), view)
    brain.close()
    farewells_said()
    # killed before it was ever asked, it is started to be told of it
    hello, *asks, bye, end = lines_of(tmp_path)
    assert [line["type"] for line in (hello, *asks, bye, end)] == ["hello", *["ask"] * requests, "bye", "end"]
    assert bye["you_died"] == {"round": 1, "how": "night"}
    assert (bye["winner"], bye["you_won"], bye["roles"]) == ("werewolves", False, roles)


def test_closing_frees_whoever_waits_for_the_child(brain_of, tmp_path):
    lifeline = Lifeline(tmp_path)
    brain = brain_of(f"{lifeline.code}\nfor each in asks(): os.write(line, b'!')")
    answers = []
    waiting = threading.Thread(target=lambda: answers.append(brain.answer(ask("bid"), sit(1000.0))))
    waiting.start()
    lifeline.word()
    brain.close()
    waiting.join(60)
    assert answers == [NO_ANSWER]
    assert brain.answer(ask("bid", 2), sit()) is NO_ANSWER
    lifeline.wait()


def test_error_output_without_a_folder_comes_through_with_the_seat_before_it(tmp_path, capfd):
    brain = build("exec:" + command(tmp_path, "sys.stderr.write('one\\n\\x1b[2Jtwo\\nthree'); sys.exit(4)"))
    assert brain.answer(ask("bid"), sit()).note.endswith("exited with code 4: three")
    brain.close()
    farewells_said()
    assert capfd.readouterr().err == "Ada: one\nAda: two\nAda: three\n"


def test_no_child_outlives_the_process_that_asked_it(tmp_path):
    lifeline = Lifeline(tmp_path)
    child = command(
        tmp_path,
        f"""
        {lifeline.code}
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        next(asks())
        say(bid=1)
        while True: signal.pause()
        """,
    )
    program = f"""
import players.program.process
players.program.process.GRACE_S = 0.05
from tests.llm.child.conftest import bid_of, sit
from players.spec import build
brains = [build("exec:" + {child!r}) for _ in range(2)]
assert [bid_of(brain, sit()) for brain in brains] == [1, 1]
brains[0].close()
"""
    result = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=False)
    assert (result.returncode, result.stderr) == (0, "")
    lifeline.wait()
