"""`wolfbus player` and `wolfbus join` as processes, and what they say when they cannot begin."""

import json
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.agents.parts import HOUSE, SOON_S, Moderator, ask, catch_up
from wolfbus.cli import FAILED, run

ROOT = Path(__file__).parents[2]
NO_BUS = ("player", "--bus", "redis://127.0.0.1:1")


@contextmanager
def process(*words: str) -> Iterator[subprocess.Popen[str]]:
    with subprocess.Popen(
        [sys.executable, "-m", *words], cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as running:
        try:
            yield running
        finally:
            running.kill()


def test_a_program_that_speaks_the_line_protocol_joins_as_an_outside_agent(moderator: Moderator, redis_url: str):
    words = ["--bus", redis_url, "--house", HOUSE, "--name", "ann", "--label", "lines", "--seats", "2"]
    program = ["--declines", "speak", "--", sys.executable, "examples/agent.py"]
    with process("wolfbus", "join", *words, *program) as running:
        joined = moderator.welcome("ann")
        assert (joined["brain"], joined["in_house"]) == ("outside:lines", False)
        assert (joined["seats"], joined["declines"]) == (2, ("speak",))
        assert str(ROOT) not in str(joined)
        moderator.deliver("ann", catch_up(ask("bid"), ask("vote")))
        assert moderator.hear("ann", "reply")["content"]["bid"] in range(11)
        assert moderator.hear("ann", "reply")["kind"] == "vote"
        moderator.goodbye("ann")
        out, err = running.communicate(timeout=SOON_S)
        assert (running.returncode, out) == (0, ""), err
        lines = [json.loads(line) for line in err.splitlines()]
        assert {line["agent"] for line in lines} == {"ann"}
        assert lines[-1]["event"] == "ann leaves house inn: all games are played"


def test_a_function_from_text_to_text_joins_and_declines_what_it_has_no_word_for(moderator: Moderator, redis_url: str):
    words = ["--bus", redis_url, "--house", HOUSE, "--name", "ann", "--declines", "bid"]
    with process("wolfbus", "join", *words, "--", "text:string:capwords") as running:
        assert moderator.welcome("ann")["declines"] == ("bid", "assess_own", "assess_other")
        moderator.deliver("ann", catch_up(ask("vote")))
        assert moderator.hear("ann", "reply")["kind"] == "vote"
        moderator.goodbye("ann")
        out, err = running.communicate(timeout=SOON_S)
        assert (running.returncode, out) == (0, ""), err


def test_a_player_leaves_with_0_when_it_is_terminated(moderator: Moderator, redis_url: str) -> None:
    words = ["--bus", redis_url, "--house", HOUSE, "--name", "ann", "--place", "3", "--place", "1", "--log", "text"]
    with process("players", *words) as running:
        joined = moderator.welcome("ann")
        assert (joined["brain"], joined["in_house"], joined["places"], joined["seats"]) == ("scripted", True, (1, 3), 2)
        running.send_signal(signal.SIGTERM)
        moderator.hear("ann", "join", seats=0)
        moderator.hear("ann", "leave")
        out, err = running.communicate(timeout=SOON_S)
        assert (running.returncode, out) == (0, ""), err


def test_a_person_who_joined_leaves_with_the_page_when_it_is_terminated(moderator: Moderator, redis_url: str) -> None:
    words = ["--bus", redis_url, "--house", HOUSE, "--name", "ann", "--human", "--port", "0"]
    with process("wolfbus", "join", *words) as running:
        moderator.welcome("ann")
        running.send_signal(signal.SIGTERM)
        moderator.hear("ann", "leave")
        out, err = running.communicate(timeout=SOON_S)
        assert (running.returncode, out) == (0, ""), err
        assert "stays until" not in err


def test_a_model_without_a_key_is_one_line_where_no_house_can_hear_of_it(capsys, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    assert run([*NO_BUS, "--brain", "llm:gpt-4o-mini"]) == FAILED
    err = capsys.readouterr().err
    assert "OPENAI_API_KEY" in err
    assert err.count("\n") == 1


@pytest.mark.parametrize("words", [["player"], ["join", "--", "true"]])
def test_a_ticket_in_the_environment_says_where_and_as_whom_to_play(words: list[str], monkeypatch: pytest.MonkeyPatch):
    seen: list[Any] = []

    def keep(*arguments: object) -> int:
        seen.extend(arguments)
        return 0

    monkeypatch.setattr("wolfbus.cli.player.run", keep)
    ticket = {"BUS": "redis://ann:secret@redis.example:6379", "HOUSE": "inn", "NAME": "ann", "BRAIN": "random"}
    for name, value in ticket.items():
        monkeypatch.setenv(f"WOLFBUS_{name}", value)
    assert run(words) == 0
    place, brain, *_ = seen
    assert (place.url, place.house, place.introduction.agent) == tuple(ticket.values())[:3]
    assert brain == ("random" if words == ["player"] else "exec:true")
