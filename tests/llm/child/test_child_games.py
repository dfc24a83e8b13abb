"""Whole games with children in some seats, good ones and bad ones: finished, proved, and nobody left behind."""

from __future__ import annotations

import pytest

from tests.llm.child.table import command
from tests.whole.house import HASTY, play_many
from wolfbus.config import GameConfig

BAD = {
    "crashes": "next(asks()); sys.exit(3)",
    "hangs": "signal.pause()",
    "babbles": "for each in asks(): print('Hmm ...', flush=True)",
    "says one thing to everything": "for each in asks(): say(bid=3, text='So?', target='Nobody At All')",
    "answers the one before": """
        before = None
        for each in asks():
            if before: say(id=before, bid=1, text="Late.")
            before = each["id"]
    """,
    "answers twice": """
        for each in asks():
            line = json.dumps({"id": each["id"], "bid": 2, "text": "Twice."}) + "\\n"
            os.write(1, line.encode() * 2)
    """,
    "is binary": "for each in asks(): os.write(1, os.urandom(300) + b'\\n')",
    "closes its output": "next(asks()); os.close(1); signal.pause()",
    "will not leave": """
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        if os.fork() == 0: signal.pause()
        for each in asks(): say(id=each["id"], bid=1)
        while True: signal.pause()
    """,
}


@pytest.mark.parametrize("name", BAD)
def test_a_bad_child_costs_its_own_seat_and_nobody_else(tmp_path, name):
    spec = "exec:" + command(tmp_path, BAD[name])
    rules = HASTY if name in {"hangs", "babbles", "is binary", "answers the one before"} else GameConfig()
    config = rules.model_copy(update={"max_rounds": 2, "debate_turns": 3})
    (proof,) = play_many(tmp_path, [5], (spec, spec, *("scripted",) * 6), config)
    assert proof.verified, proof.problems
    bad = {seat.name for seat in proof.records[0].event.seats if seat.brain == spec}
    answered = [recorded.event for recorded in proof.records if recorded.event.type == "answered"]
    assert {event.seat for event in answered if event.outcome != "accepted"} <= bad
    assert any(event.outcome != "accepted" for event in answered)
    assert all(event.note or event.outcome == "timed_out" for event in answered if event.outcome != "accepted")


def test_the_command_line_seats_a_child_and_keeps_its_error_output(tmp_path):
    from click.testing import CliRunner

    from wolfbus.cli import cli

    child = command(tmp_path, "for each in asks(): sys.stderr.write(each['kind'] + '\\n'); say(id=each['id'], bid=1)")
    arguments = ["play", "--players", f"exec:{child}*1,scripted*7", "--seed", "1", "--game", "g", "--quiet"]
    result = CliRunner().invoke(cli, [*arguments, "--out", str(tmp_path / "runs")])
    assert result.exit_code == 0, result.output
    (file,) = (tmp_path / "runs" / "g.stderr").glob("*.stderr")
    assert "bid" in file.read_text().splitlines()
