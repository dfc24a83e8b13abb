"""Children that print more than their answers: told once, noted, and never taken for an answer while one may come."""

from __future__ import annotations

import logging

from tests.llm.child.table import ask, command, sit
from tests.whole.house import play_many
from wolfbus.agent import NO_ANSWER
from wolfbus.config import GameConfig
from wolfbus.messages.content import Bid

CHATTY = """
    print("Agent 7 of 9, version 2", flush=True)
    for each in asks():
        print("thinking...", flush=True)
        say(id=each["id"], bid=each["turn"], text="So it is.", target=(each.get("legal") or [None])[0],
            deceptive=False, confidence=0.5, suspicion=0.5)
        print("done: [1, 2]", flush=True)
"""


def test_an_agent_that_also_chats_loses_no_answer_of_a_game(tmp_path, caplog):
    spec = "exec:" + command(tmp_path, CHATTY)
    (proof,) = play_many(tmp_path, [5], (spec, *("scripted",) * 7), GameConfig(max_rounds=2))
    assert proof.verified, proof.problems
    seat = next(seat.name for seat in proof.records[0].event.seats if seat.brain == spec)
    answered = [each.event for each in proof.records if each.event.type == "answered" and each.event.seat == seat]
    assert len(answered) > 10
    assert {each.outcome for each in answered} == {"accepted"}
    assert all("thinking..." in each.note or "Agent 7" in each.note or "done" in each.note for each in answered)
    told = [each.getMessage() for each in caplog.records if "no answer" in each.getMessage()]
    assert len(told) == 1
    assert told[0].startswith(f"{seat}: exec:")
    assert 'printed "Agent 7 of 9, version 2", which is no answer' in told[0]


def test_a_reply_without_its_id_answers_nothing_and_its_author_is_told_why(brain_of, caplog):
    brain = brain_of("""
        for each in asks():
            print('{"bid": 3}', flush=True)
            print("4", flush=True)
    """)
    view = sit(0.3)
    assert [brain.answer(ask(number, deadline=0.3), view) for number in (1, 2)] == [NO_ANSWER] * 2
    (told,) = [each.getMessage() for each in caplog.records if each.levelno == logging.WARNING]
    assert told.endswith("""printed "{"bid": 3}", which is no answer: it lacks the request's id""")


def test_what_is_printed_is_shown_without_what_a_terminal_would_obey(brain_of, caplog):
    brain = brain_of("""
        os.write(1, b"\\x1b[2J\\x1b[31mred" + b"x" * 500 + b"\\n")
        for each in asks(): say(id=each["id"], bid=1)
    """)
    answer = brain.answer(ask(), sit())
    assert answer.content == Bid(bid=1)
    assert len(answer.note) < 120
    assert "\x1b" not in answer.note + caplog.text
