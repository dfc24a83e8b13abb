"""Where a model can be asked no more for now, as when its credits are spent, its games halt, and go on later."""

from __future__ import annotations

import json
import os
import subprocess
from collections import Counter
from contextlib import ExitStack
from functools import partial

import pytest

import wolfbus
from tests.golden.running import wolfbus as command
from tests.study.credits import FOLDER, SPENT, answered, turned_away
from tests.study.runs import WOLFBUS, journal, manifest, run_here, run_here_while
from wolfbus.errors import ModelHalted

MODELS = """
[endpoints.here]
provider = "tests.study.credits"
[models.poor]
endpoint = "here"
[models.rich]
endpoint = "here"
"""
RULES = "villagers = 3\nwerewolves = 1\ndoctors = 0\ndebate_turns = 1\nmax_rounds = 1\n"
STUDY = f"""games = 12
seed = 3
at_once = 2
design = "mirrored"
players = "llm:poor*2,llm:rich*2,scripted"
[rules]
{RULES}
{MODELS}"""
HALTED = 3
"""The exit code."""


@pytest.fixture
def have(tmp_path, monkeypatch):
    """Set how many replies a model has; None for any number."""
    folder = tmp_path / "credits"
    folder.mkdir()
    monkeypatch.setenv(FOLDER, str(folder))

    def set_credits(model, replies):
        if replies is None:
            (folder / model).unlink()
        else:
            (folder / model).write_text(str(replies))

    return set_credits


@pytest.fixture
def study(tmp_path):
    return study_in(tmp_path)


def study_in(folder):
    path = folder / "study.toml"
    path.write_text(STUDY)
    return path


def states(out):
    """Return how many games are in each state, of those that a model without credits plays in, and of the others."""
    games = manifest(out)["games"]
    return tuple(
        Counter(game["state"] for game in games if ("llm:poor" in game["brains"]) is poor) for poor in (True, False)
    )


def assert_gone_on_with(out, digests):
    assert {game["game"]: game["digest"] for game in manifest(out)["games"]} == digests
    assert [prompt for prompt, times in Counter(answered()).items() if times > 1] == []
    assert not (out / "said").exists()
    done = command(out, "verify", str(out))
    assert done.code == 0, done.out + done.err


@pytest.fixture(scope="module")
def digests(tmp_path_factory):
    """Play the study undisturbed; returns its games' digests."""
    folder = tmp_path_factory.mktemp("undisturbed")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(FOLDER, str(folder))
        run_here(study_in(folder), "--no-probe", "--out", folder / "whole", code=0)
    return {game["game"]: game["digest"] for game in manifest(folder / "whole")["games"]}


@pytest.mark.parametrize("workers", ["1", "2"])
def test_games_of_a_model_without_credits_halt_and_the_others_are_played(study, tmp_path, have, digests, workers):
    out = tmp_path / "out"
    have("poor", 20)
    words = ["--no-probe", "--workers", workers]
    done = run_here(study, *words, "--out", out, code=HALTED)
    of_poor, of_others = states(out)
    assert (of_others, set(of_poor)) == ({"ended": 4}, {"ended", "halted"} & set(of_poor))
    assert f"Halted  {of_poor['halted']} games halted, and can go on" in done.stdout
    assert SPENT in done.stdout
    assert f"go on with: wolfbus run --resume --out {out} --no-probe" in done.stderr
    # no more were begun than were under way
    begun = [game for game in manifest(out)["games"] if game["state"] == "halted" and (out / game["record"]).exists()]
    assert 1 <= len(begun) <= 2 < of_poor["halted"]
    have("poor", None)
    run_here("--resume", "--out", out, "--no-probe", "--workers", "1", code=0)
    assert_gone_on_with(out, digests)


def test_a_study_goes_on_without_asking_models_that_are_through(study, tmp_path, have):
    words = [study, "--games", "8", "--at-once", "1", "--no-probe", "--out"]
    run_here(*words, tmp_path / "whole", code=0)
    have("rich", 2 * len(answered("rich")) - 1)
    run_here(*words, tmp_path / "out", code=HALTED)
    assert [game["state"] for game in manifest(tmp_path / "out")["games"]] == ["ended"] * 7 + ["halted"]
    have("rich", None)
    have("poor", 0)
    run_here("--resume", "--out", tmp_path / "out", code=0)
    assert turned_away()["poor"] == 0


def test_games_that_halt_at_a_worker_anywhere_go_on_at_another(study, tmp_path, have, digests, redis_url):
    out, models = tmp_path / "out", tmp_path / "models.toml"
    models.write_text(MODELS)
    share = ["--bus", redis_url, "--share", "halting"]
    words = [*WOLFBUS, "worker", "--bus", redis_url, "--agenda", "halting", "--config", models, "--no-probe"]

    def work(code=HALTED):
        worker = subprocess.run(words, capture_output=True, text=True, timeout=60, check=False)
        assert worker.returncode == code, worker.stderr
        assert (f"games halted here, for others or for later: {SPENT}" in worker.stderr) is (code == HALTED)

    have("poor", 20)
    done = run_here_while(work, study, "--out", out, *share)
    assert done.returncode == HALTED, done.stderr
    of_poor, of_others = states(out)
    assert (of_others, of_poor["halted"] > 4, of_poor["failed"]) == ({"ended": 4}, True, 0)
    assert SPENT in done.stdout
    have("poor", None)
    assert run_here_while(partial(work, 0), "--resume", "--out", out, *share).returncode == 0
    assert_gone_on_with(out, digests)


def test_a_worker_without_credits_leaves_its_games_to_one_that_has_some(study, tmp_path, have, digests, redis_url):
    out, models, other = tmp_path / "out", tmp_path / "models.toml", tmp_path / "other"
    models.write_text(MODELS)
    other.mkdir()
    words = [*WOLFBUS, "worker", "--bus", redis_url, "--agenda", "halting", "--config", models, "--no-probe"]
    have("poor", 20)

    with ExitStack() as stack:
        poor, rich = (
            stack.enter_context(
                subprocess.Popen(
                    [*words, "--lease", "2"], stderr=subprocess.PIPE, text=True, env={**os.environ, FOLDER: str(at)}
                )
            )
            for at in (tmp_path / "credits", other)
        )
        # where one is there alone, games that halt at it have nobody who could go on with them
        for worker in (poor, rich):
            assert any("waiting for agenda halting" in line for line in worker.stderr)
        run_here(study, "--out", out, "--bus", redis_url, "--share", "halting", code=0)
        error = poor.communicate(timeout=60)[1]
        assert (poor.returncode, rich.wait(60)) == (HALTED, 0), error
    assert {game["game"]: game["digest"] for game in manifest(out)["games"]} == digests


def test_a_study_from_python_tells_which_games_halted(study, tmp_path, have):
    have("poor", 0)
    played = wolfbus.run_study(study, out=tmp_path / "out", probe=False)
    assert (played.ended, played.failed, played.halted, played.complete) == (4, 0, None, False)
    assert set(played.halted_games.values()) == {SPENT}
    assert len(played.halted_games) == 8
    assert [note["state"] for note in journal(tmp_path / "out") if "state" in note].count("halted") == 8


def test_one_game_that_halts_says_so_in_one_line_and_its_record_does(tmp_path, have):
    (tmp_path / "game.toml").write_text(RULES + MODELS)
    have("poor", 5)
    game = ["play", "--config", "game.toml", "--players", "llm:poor*5", "--seed", "1", "--no-probe", "--game", "g"]
    done = command(tmp_path, *game, "--quiet", **{FOLDER: str(tmp_path / "credits")})
    assert (done.code, done.err.splitlines()[0]) == (HALTED, f"wolfbus: {SPENT}")
    events = [json.loads(line) for line in (tmp_path / "runs" / "g.ndjson").read_text().splitlines()]
    assert (events[-1]["type"], events[-1]["reason"]) == ("stopped", SPENT)
    assert [
        event
        for event in events
        if event["type"] == "answered" and event.get("outcome", "accepted") not in {"accepted", "declined"}
    ] == []
    with pytest.raises(ModelHalted, match="no credits left"):
        wolfbus.play("llm:poor*5", seed=1, config=tmp_path / "game.toml", probe=False)
