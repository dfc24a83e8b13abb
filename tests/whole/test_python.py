"""Games and studies are played from Python as they are from the command line."""

import asyncio
import json
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar

import pytest

import wolfbus
from tests.golden.running import wolfbus as command
from wolfbus.agent import Agent
from wolfbus.bus import open_bus
from wolfbus.errors import ConfigError, PlayerError, WolfError
from wolfbus.game.config import GameConfig
from wolfbus.messages.events import Tally
from wolfbus.messages.requests import Revealed
from wolfbus.record.line import Recorded
from wolfbus.testing.model_server import ModelServer

SHORT = GameConfig(debate_turns=1, max_rounds=1)


class Quiet(Agent):
    """An agent of the user's own, in the user's own module."""

    def bid(self, ask: Any, view: Any) -> Any:
        return 9

    def speak(self, ask: Any, view: Any) -> Any:
        return "I have nothing to hide."


def test_a_game_from_python_is_the_command_s_game(tmp_path: Path) -> None:
    game = wolfbus.play("scripted", seed=7, game="g", out=tmp_path)
    told = json.loads(command(tmp_path, "play", "--seed", "7", "--json", "--out", "runs", "--quiet").out)
    assert (game.digest, game.winner, game.rounds) == (told["digest"], told["winner"], told["rounds"])
    assert game.record == tmp_path / "g.ndjson"
    assert len(game.record.read_text().splitlines()) == len(game.events)
    proof = command(tmp_path, "replay", "g.ndjson", "--json")
    assert json.loads(proof.out)["digest"] == game.digest


def test_without_a_folder_nothing_is_written_and_all_is_known(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    seen: list[Recorded] = []
    game = wolfbus.play(seed="7", config=SHORT, watch=seen.append)
    assert game.record is None
    assert list(tmp_path.iterdir()) == []
    assert seen == list(game.events)
    assert game.findings()["outcomes"]["games"] == 1


def test_a_class_of_agents_takes_a_seat() -> None:
    game = wolfbus.play([*["scripted"] * 7, Quiet], seed=7, config={"debate_turns": 2})
    assert game.seats[7].brain == f"{__name__}:Quiet"
    statements = [recorded.event for recorded in game.events if recorded.event.type == "statement"]
    own = {said.text for said in statements if said.speaker == game.seats[7].name}
    assert own == {"I have nothing to hide."}


def test_a_class_takes_the_seat_of_a_name() -> None:
    table = GameConfig(villagers=2, werewolves=1, names=("Ada", "Bea", "Cem", "Dan", "Eva"), max_rounds=1)
    game = wolfbus.play({"Cem": Quiet, "default": "scripted"}, seed=7, config=table)
    assert [seat.name for seat in game.seats if seat.brain == f"{__name__}:Quiet"] == ["Cem"]


@pytest.mark.parametrize("ends", [lambda _: sys.exit("enough"), lambda _: pytest.fail("not so")])
def test_a_watcher_that_raises_anything_at_all_is_left_behind(
    ends: Callable[[Recorded], None], caplog: pytest.LogCaptureFixture
) -> None:
    assert wolfbus.play(seed=7, config=SHORT, watch=ends).digest == wolfbus.play(seed=7, config=SHORT).digest
    assert "goes on unseen" in caplog.text


class Forger(Quiet):
    """Writes into the votes and roles that everybody was told."""

    def heard(self, news: Any, view: Any) -> Any:
        for fact in news:
            if isinstance(fact, Tally | Revealed):
                (fact.votes if isinstance(fact, Tally) else fact.roles).clear()


class Reader(Quiet):
    """Keeps the roles that it was told at the end."""

    told: ClassVar[Any] = None

    def heard(self, news: Any, view: Any) -> Any:
        Reader.told = next((dict(fact.roles) for fact in news if isinstance(fact, Revealed)), Reader.told)


def test_no_agent_writes_into_what_others_are_told_nor_into_the_events_that_are_handed_back() -> None:
    game = wolfbus.play([Forger, *["scripted"] * 6, Reader], seed=7, config=SHORT)
    assert [len(recorded.event.votes) for recorded in game.events if recorded.event.type == "tally"] == [7]
    assert len(Reader.told) == 8


def test_a_class_inside_a_function_is_refused_with_where_it_belongs() -> None:
    class Inner(Agent):
        pass

    with pytest.raises(ConfigError, match="top of its module"):
        wolfbus.play([Inner, *["scripted"] * 7])


PROCESSES = """
import asyncio
import multiprocessing
import sys
from wolfbus import play
from wolfbus.agent import Agent

class Later(Agent):
    async def bid(self, ask, view):
        return 9

    async def speak(self, ask, view):
        await asyncio.sleep(0)
        return "I have nothing to hide."

def played(_=None):
    return play([Later] * 8, seed=7, config={"debate_turns": 1, "max_rounds": 1}).digest

if __name__ == "__main__":
    here = played()
    with multiprocessing.get_context(sys.argv[1]).Pool(1) as pool:
        print(pool.map(played, [0])[0] == here)
"""


@pytest.mark.parametrize("how", ["fork", "spawn"])
def test_a_process_of_multiprocessing_plays_the_game_that_its_parent_plays(tmp_path: Path, how: str) -> None:
    (tmp_path / "script.py").write_text(PROCESSES)
    words = [sys.executable, "-W", "ignore", "script.py", how]
    said = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False)
    assert (said.returncode, said.stdout) == (0, "True\n"), said.stderr


def test_a_class_of_a_script_that_another_process_does_not_run_belongs_into_a_module() -> None:
    with pytest.raises(ConfigError, match=r"module '__main__' has no 'Elsewhere'; .* put it in a module"):
        wolfbus.play(["__main__:Elsewhere", *["scripted"] * 7])


def test_it_plays_where_a_loop_of_the_notebook_runs_already() -> None:
    async def cell() -> str:
        return wolfbus.play(seed=7, config=SHORT).digest

    assert asyncio.run(cell()) == wolfbus.play(seed=7, config=SHORT).digest


def test_a_game_of_models_tells_its_calls(tmp_path: Path) -> None:
    with ModelServer() as server:
        game = wolfbus.play(f"llm:double@{server.url}", seed=7, config=SHORT)
    assert game.calls is not None
    assert game.calls["total"]["calls"] > 8


def test_a_game_that_cannot_be_played_raises_its_reason() -> None:
    with pytest.raises(ConfigError, match="did you mean 'scripted'"):
        wolfbus.play("scriptd")
    with pytest.raises(ConfigError, match="debate_turn"):
        wolfbus.play(config={"debate_turn": 1})
    with pytest.raises(PlayerError):
        wolfbus.play("llm:none@http://127.0.0.1:9/v1")
    with ModelServer() as server, pytest.raises(WolfError, match="budget"):
        wolfbus.play(f"llm:double@{server.url}", config=SHORT, budget_tokens=2000)


def test_a_study_from_python_is_resumed_by_the_command_and_the_other_way(tmp_path: Path) -> None:
    out = tmp_path / "study"
    study = wolfbus.run_study(players="scripted*4,random*4", games=2, seed=1, out=out, workers=1)
    assert (study.ended, study.complete, study.halted, len(study.records)) == (2, True, None, 2)
    assert sum(study.wins.values()) == 2
    more = command(tmp_path, "run", "--resume", "--out", "study", "--games", "3", "--json")
    assert json.loads(more.out)["ended"] == 3
    again = wolfbus.run_study(out=out, resume=True)
    assert (again.ended, again.study_hash) == (3, json.loads(more.out)["study_hash"])
    assert again.findings()["outcomes"]["games"] == 3


def test_a_study_may_be_a_table(tmp_path: Path) -> None:
    table = {"games": 1, "seed": "5", "rules": {"debate_turns": 1, "max_rounds": 1}}
    assert wolfbus.run_study(table, out=tmp_path / "a").ended == 1
    with pytest.raises(ConfigError, match="no study to resume"):
        wolfbus.run_study(out=tmp_path / "b", resume=True)


@pytest.mark.parametrize(
    ("given", "named"),
    [
        ({"game": "../elsewhere"}, "game"),
        ({"title": 201 * "x"}, "title"),
        ({"title": "a\nb"}, "title"),
        ({"players": [Quiet()] * 8}, "players: .*give the class"),
        ({"players": Quiet}, "players: .*every seat"),
        ({"players": 8}, "players: .*every seat"),
        ({"players": ["scripted"]}, r"players: 1 brains for 8 seats$"),
        ({"players": {"Ada": "scripted"}}, "players by name need"),
        ({"config": 8}, "config: input should be GameConfig"),
        ({"bus": None}, r"bus: input should be str \(given NoneType\)"),
        ({"seed": 1.5}, "seed: "),
        ({"budget": "5"}, "budget: "),
        ({"budget_tokens": True}, "budget_tokens: "),
        ({"out": b"runs"}, "out: "),
        ({"watch": 8}, "watch: "),
        ({"seed": "\ud800"}, "seed"),
        ({"players": "llm:m", "cassette": Path("a"), "replay_cassette": Path("b")}, "--cassette"),
    ],
)
def test_what_a_game_cannot_be_given_is_one_line_that_names_it(given: dict[str, Any], named: str) -> None:
    with pytest.raises(ConfigError, match=f"^{named}") as refused:
        wolfbus.play(**{"config": SHORT, **given})
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    "given", [{"study": 8}, {"config": {}}, {"bus": 8}, {"games": "2"}, {"workers": 1.5}, {"cassette": 8}, {"quiet": 1}]
)
def test_what_a_study_cannot_be_given_is_one_line_that_names_it(given: dict[str, Any], tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=f"^{next(iter(given))}: input should be") as refused:
        wolfbus.run_study(**{"out": tmp_path / "study", **given})
    assert "\n" not in str(refused.value)


def test_a_study_that_cannot_be_dealt_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"^seed: "):
        wolfbus.run_study(games=1, seed="\ud800", out=tmp_path / "study")
    with pytest.raises(ConfigError, match=r"^lies: "):
        wolfbus.forks_of(tmp_path, lies=0)


class Mourner(Agent):
    """Notes how its games ended."""

    quick = True
    ends: ClassVar[list[Any]] = []

    def ended(self, view: Any) -> None:
        self.ends.append(view.ended)


def test_whoever_plays_hears_how_the_game_ended_however_late_that_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    reader: type[Any] = type(open_bus("memory://").reader())
    read, close, closed = reader.read, reader.close, threading.Event()

    def read_late(self: Any, seconds: float) -> Any:
        batches = read(self, seconds)
        mail = [entry.body for stream, entries in batches if ":in:" in stream for entry in entries]
        if any(b"\xa5ended" in body for body in mail):
            assert closed.wait(60)
        return batches

    def close_first(self: Any) -> None:
        closed.set()
        close(self)

    monkeypatch.setattr(reader, "read", read_late)
    monkeypatch.setattr(reader, "close", close_first)
    monkeypatch.setattr(Mourner, "ends", [])
    game = wolfbus.play([*["scripted"] * 7, Mourner], seed=7, config=SHORT)
    assert [ended.winner for ended in Mourner.ends] == [game.winner]
