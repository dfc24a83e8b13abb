"""Games are pulled turn by turn, and the field's environments are thin adapters of that."""

import importlib
import re
import subprocess
import sys
import threading
import types
import warnings
from functools import partial
from typing import Any, Generic, TypeVar

import pytest
from pydantic import BaseModel

import wolfbus
from tests.golden.running import wolfbus as command
from tests.waiting import wait_until
from wolfbus.agent import Agent
from wolfbus.env import Env, Learner, Turn
from wolfbus.errors import ConfigError, WolfError
from wolfbus.game.config import GameConfig

SHORT = GameConfig(debate_turns=2, max_rounds=2)


def answer_to(kind: str, seat: str, legal: tuple[str | None, ...] | None) -> Any:
    if legal is not None:
        return {"target": next(name for name in legal if name is not None)}
    return {
        "bid": {"bid": 3},
        "speak": {"text": f"I am {seat}."},
        "assess_own": {"deceptive": False, "confidence": 0.5},
        "assess_other": {"deceptive": False, "suspicion": 0.5, "confidence": 0.5},
    }[kind]


class Steady(Agent):
    """Answers as `pulled` does."""

    def answer(self, ask, view):
        return answer_to(ask.kind, view.me, ask.legal)


def pulled(env: Env, seed: int) -> list[tuple[str, str | None, float]]:
    turns = []
    turn: Turn | None = env.reset(seed)
    while turn is not None:
        turns.append((turn.seat, turn.kind, turn.reward))
        turn = env.step(None if turn.ended else answer_to(turn.kind, turn.seat, turn.legal))
    return turns


def test_a_pulled_game_is_the_game_that_agents_play_and_its_turns_repeat(tmp_path):
    with Env(config=SHORT, out=tmp_path) as env:
        turns, again = pulled(env, 7), pulled(env, 7)
        game = env.game
    assert turns == again
    assert command(tmp_path, "replay", game.record.name).code == 0
    answered = {
        recorded.event.kind: recorded.event.outcome for recorded in game.events if recorded.event.type == "answered"
    }
    assert set(answered.values()) == {"accepted"}
    played = wolfbus.play([Steady] * 8, seed=7, config=SHORT)

    def told(events: Any) -> list[Any]:
        return [recorded.event for recorded in events if recorded.event.type != "opened"]

    assert told(played.events) == told(game.events)


def test_every_learner_is_told_the_end_last_and_in_seating_order_with_its_reward():
    with Env("learner*3,scripted*5", config=SHORT) as env:
        turns = pulled(env, 3)
        game = env.game
    ends = [(seat, reward) for seat, kind, reward in turns if kind is None]
    assert [kind is None for _, kind, _ in turns] == [False] * (len(turns) - 3) + [True] * 3
    assert [seat for seat, _ in ends] == [seat.name for seat in game.seats[:3]]
    sides = {seat.name: "werewolves" if seat.role == "Werewolf" else "villagers" for seat in game.seats}
    won = {name: 0.0 if game.winner is None else 1.0 if side == game.winner else -1.0 for name, side in sides.items()}
    assert ends == [(name, won[name]) for name, _ in ends]
    assert {reward for _, kind, reward in turns if kind is not None} == {0.0}


def test_text_is_read_as_a_model_s_reply_and_what_is_no_answer_leaves_the_turn_open():
    with Env("learner*1,scripted*7", config=SHORT) as env:
        turn = env.reset(4)
        while turn.kind != "bid":
            turn = env.step(answer_to(turn.kind, turn.seat, turn.legal))
        assert turn.observation["kind"] == "bid"
        assert turn.observation["you"]["role"] == turn.view.role
        assert "Bid for the floor" in turn.prompt
        with pytest.raises(TypeError, match="bid is answered with a whole number"):
            env.step(b"seven")
        with pytest.raises(ValueError, match="bid"):
            env.step({"bed": 3})
        assert turn.read('Well, I think: ```json\n{"bid": 4}\n```').content.bid == 4
        assert turn.read("mumble").fault == "unparseable"
        while turn is not None:
            turn = env.step(None if turn.ended else "mumble")
        assert env.game is not None
        with pytest.raises(WolfError, match="begin a game with reset"):
            env.step(3)


def test_a_game_that_is_left_is_broken_off_and_its_record_says_so(tmp_path):
    env = Env("learner*1,scripted*7", config=SHORT, out=tmp_path)
    env.reset(4)
    env.reset(5)
    env.close()
    with pytest.raises(WolfError, match="closed"):
        env.reset(6)
    lasts = [path.read_text().splitlines()[-1] for path in tmp_path.glob("*.ndjson")]
    assert len(lasts) == 2
    assert all("whoever pulled the game has left it" in last for last in lasts)


def test_a_game_that_nobody_closes_is_broken_off_when_its_environment_is_dropped(tmp_path):
    threads = threading.active_count()
    env = Env("learner*1,scripted*7", config=SHORT, out=tmp_path)
    env.reset(4)
    del env
    (record,) = tmp_path.glob("*.ndjson")
    wait_until(lambda: "whoever pulled the game has left it" in record.read_text())
    wait_until(lambda: threading.active_count() <= threads + 1)


def test_a_program_that_ends_in_the_middle_of_a_game_ends_at_once_and_without_a_word(tmp_path):
    program = "import sys\nfrom wolfbus.env import Env\nenv = Env(out=sys.argv[1])\nenv.reset(4)\n"
    ended = subprocess.run([sys.executable, "-c", program, tmp_path], check=False, capture_output=True, text=True)
    assert (ended.returncode, ended.stderr) == (0, "")
    (record,) = tmp_path.glob("*.ndjson")
    assert '"type":"stopped"' not in record.read_text()


FORKED = """
import os, signal, sys
from wolfbus.env import Env
from wolfbus.errors import WolfError
env = Env()
seat = env.reset(7).seat
if child := os.fork():
    sys.exit(os.waitpid(child, 0)[1] or env.step() is None)
signal.alarm(30)
try:
    env.step()
except WolfError as error:
    print(error)
print(env.reset(7).seat == seat)
env.close()
"""


def test_a_forked_process_is_told_that_a_game_is_not_its_own_and_begins_another():
    ended = subprocess.run([sys.executable, "-W", "ignore", "-c", FORKED], check=False, capture_output=True, text=True)
    said = "this game goes on in the process that began it; begin another with reset\nTrue\n"
    assert (ended.stdout, ended.stderr, ended.returncode) == (said, "", 0)


def test_an_environment_without_a_learner_is_refused_and_so_is_a_learner_without_one():
    with pytest.raises(ConfigError, match="no seat is a learner's"):
        Env("scripted*8")
    game = wolfbus.play(["wolfbus.env:Learner", *["scripted"] * 7], seed=4, config=SHORT)
    notes = {recorded.event.note for recorded in game.events if recorded.event.type == "answered"}
    assert any("plays in a wolfbus.env.Env only" in (note or "") for note in notes)


def test_a_learner_is_named_by_its_class_too():
    with Env([Learner, *["scripted"] * 6, "learner"], config=SHORT) as env:
        assert env.places == (1, 8)


def test_an_environment_of_pettingzoo_that_is_seeded_once_goes_on_by_that_seed():
    pytest.importorskip("pettingzoo", reason='no PettingZoo: pip install "wolfbus[pettingzoo]"')
    from wolfbus.env.pettingzoo import WolfAEC

    def begun() -> list[str]:
        env, prompts = WolfAEC("learner*2,scripted*6", config=SHORT), []
        for seed in (7, None, None):
            env.reset(seed=seed)
            prompts.append(env.last()[0]["prompt"])
        env.close()
        return prompts

    games = begun()
    assert len({*games}) == 3
    assert begun() == games


def test_pettingzoo_s_own_checkers_find_nothing_wrong_and_the_same_in_every_game_of_a_seed():
    pytest.importorskip("pettingzoo", reason='no PettingZoo: pip install "wolfbus[pettingzoo]"')
    from pettingzoo.test import api_test, seed_test

    from wolfbus.env.pettingzoo import WolfAEC

    make = partial(WolfAEC, "learner*2,scripted*6", config=SHORT)
    env = make()
    with warnings.catch_warnings():
        # it would rather have numbers than words
        warnings.simplefilter("ignore", UserWarning)
        api_test(env, num_cycles=40)
        seed_test(make, num_cycles=40)
    env.reset(3)
    rewards: dict[str, float] = {}
    for agent in env.agent_iter():
        observation, reward, ended, _, info = env.last()
        rewards[agent] = reward
        assert ended == observation["prompt"].startswith("The game is over")
        assert info["ask"]["type"] == ("bye" if ended else "ask")
        env.step(None if ended else env.action_space(agent).sample())
    env.close()
    assert list(rewards) == sorted(rewards) == ["seat_1", "seat_2"]


@pytest.mark.parametrize(("extra", "module"), [("pettingzoo", "pettingzoo"), ("openenv", "openenv.core.env_server")])
def test_a_missing_extra_is_one_line_with_the_command_that_installs_it(monkeypatch, extra, module):
    monkeypatch.setitem(sys.modules, module, None)
    monkeypatch.delitem(sys.modules, f"wolfbus.env.{extra}", raising=False)
    line = f'this needs {extra}, which is not installed: pip install "wolfbus[{extra}]"'
    with pytest.raises(ConfigError, match=f"^{re.escape(line)}$"):
        importlib.import_module(f"wolfbus.env.{extra}")


A, B, C = TypeVar("A"), TypeVar("B"), TypeVar("C")


class Environment(Generic[A, B, C]):
    """OpenEnv's, as far as it matters which application is made."""


@pytest.mark.parametrize("sessions", ["many", "0", "-1", "2.5"])
def test_a_number_of_sessions_that_is_none_is_named_with_its_variable(monkeypatch, sessions):
    server = types.ModuleType("openenv.core.env_server")
    server.Action = server.Observation = server.State = BaseModel
    server.Environment, server.create_app = Environment, lambda *_, **options: options
    monkeypatch.setitem(sys.modules, server.__name__, server)
    monkeypatch.delitem(sys.modules, "wolfbus.env.openenv", raising=False)
    monkeypatch.setenv("WOLFBUS_ENV_SESSIONS", sessions)
    with pytest.raises(ConfigError, match=f"^WOLFBUS_ENV_SESSIONS: {sessions} is no number of sessions"):
        importlib.import_module("wolfbus.env.openenv")
    monkeypatch.setenv("WOLFBUS_ENV_SESSIONS", "3")
    assert importlib.import_module("wolfbus.env.openenv").app["max_concurrent_envs"] == 3
    monkeypatch.delitem(sys.modules, "wolfbus.env.openenv")
