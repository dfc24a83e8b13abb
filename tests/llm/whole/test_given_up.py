"""Games of which nothing can be read are not played to their last round, nor called a success."""

from __future__ import annotations

import json
import queue
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from players.context import BrainContext
from players.llm.budget import NOTHING
from players.llm.gateway import Unread
from players.llm.settings import Model
from tests.study.runs import manifest, run_here
from wolfbus import cli
from wolfbus.cli.studying.agenda_player import Orders
from wolfbus.cli.studying.workers import LocalPlayers
from wolfbus.config import GameConfig
from wolfbus.study.journal import GameResult
from wolfbus.study.plan import PlannedGame
from wolfbus.study.scheduler import StudyNews
from wolfbus.testing.model_server import ModelServer

RULES = "debate_turns = 2\nmax_rounds = 2\n"
STUDY = f"games = 4\nseed = 5\nat_once = 2\n[rules]\n{RULES}"


@pytest.fixture
def babbling() -> Iterator[ModelServer]:
    """A server none of whose replies can be read."""
    with ModelServer(ugly={"html": 1.0}) as server:
        yield server


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def play(server: ModelServer, folder: Path, *more: str) -> int:
    rules = folder / "rules.toml"
    rules.write_text(RULES)
    words = ["--players", f"llm:any@{server.url}", "--config", str(rules), "--out", str(folder), "--game", "g", *more]
    return cli.run(["play", "--seed", "3", "--quiet", "--no-probe", *words])


def test_a_game_of_which_nothing_can_be_read_ends_with_the_reason_in_its_record(
    babbling: ModelServer, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert play(babbling, tmp_path) == 1
    said = capsys.readouterr()
    (reason,) = [line for line in said.err.splitlines() if "given up" in line]
    why = "30 replies in a row could not be read, and none before (the last: the reply is a web page, not an answer)"
    assert reason == f"wolfbus: any at {babbling.url} is given up: {why}; --give-up 0 plays on all the same"
    assert said.out == ""
    *_, last = lines(tmp_path / "g.ndjson")
    assert (last["type"], f"wolfbus: {last['reason']}") == ("stopped", reason)
    # those that were under way with the thirtieth, and no others
    assert 30 <= babbling.stats().calls < 60


def test_a_model_of_which_anything_was_ever_read_is_never_given_up() -> None:
    unread, model = Unread(2), Model(model="a")
    assert unread.take(model, None, None) is None
    assert [unread.take(model, None, "no") for _ in range(9)] == [None] * 9
    assert unread.given_up(model) is None


def test_games_of_other_models_go_on_where_one_is_given_up(babbling: ModelServer, tmp_path: Path) -> None:
    said: queue.SimpleQueue[StudyNews] = queue.SimpleQueue()
    (tmp_path / "records").mkdir()
    config = GameConfig(debate_turns=1, max_rounds=1)
    with ModelServer() as good, BrainContext(give_up=5) as brain_context:
        players = LocalPlayers(
            Orders("memory://", config, tmp_path, []), brain_context, NOTHING, lambda _game: None, said
        )
        for number, server in enumerate((babbling, good, babbling), 1):
            brains = (f"llm:any@{server.url}",) * 8
            players.post([PlannedGame(number, f"g-{number}", str(number), str(number), brains)])
        came = [said.get(timeout=60) for _ in range(3)]
        calls = babbling.stats().calls
        # of a model that was given up, no more is asked
        players.post([PlannedGame(4, "g-4", "4", "4", (f"llm:any@{babbling.url}",) * 8)])
        came.append(said.get(timeout=60))
        players.close(hasty=False)
    assert babbling.stats().calls == calls
    results = {word.number: word for word in came if isinstance(word, GameResult)}
    assert [results[number].state for number in (1, 2, 3, 4)] == ["failed", "ended", "failed", "failed"]
    assert {"5 replies in a row could not be read" in str(results[number].error) for number in (1, 3, 4)} == {True}


@pytest.mark.parametrize("workers", [2])
def test_a_study_counts_each_game_that_failed_so_and_tries_it_once_more_when_resumed(
    babbling: ModelServer, tmp_path: Path, workers: int
) -> None:
    study, out = tmp_path / "study.toml", tmp_path / "out"
    study.write_text(f"workers = {workers}\n{STUDY}")
    came = run_here(study, "--players", f"llm:any@{babbling.url}", "--out", out, "--no-probe", "--give-up", "4")
    assert came.returncode == 1
    assert "wolfbus: 4 of 4 games failed; try them again with: wolfbus run --resume --out" in came.stderr
    assert came.stderr.rstrip().endswith(" --give-up 4")
    assert "4 replies in a row could not be read" in came.stdout
    told = manifest(out)
    assert [game["state"] for game in told["games"]] == ["failed"] * 4
    assert all("given up" in game["error"] for game in told["games"])
    babbling.behave(ugly=0.0)
    again = run_here("--resume", "--out", out, "--no-probe", "--workers", "1")
    assert (again.returncode, [game["state"] for game in manifest(out)["games"]]) == (0, ["ended"] * 4)
