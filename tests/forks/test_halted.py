"""Forks whose model can be asked no more for now: they halt, wherever it was asked for something, and go on later."""

from __future__ import annotations

import os
from collections import Counter

import pytest
import tomli_w

import wolfbus
from tests.forks.brains import LIE
from tests.golden.running import wolfbus as command
from tests.proving import prove
from tests.study.credits import FOLDER, SPENT, answered
from tests.study.runs import manifest, run_here

MODELS = {
    "endpoints": {"here": {"provider": "tests.study.credits"}},
    "models": {"poor": {"endpoint": "here"}, "speaker": {"endpoint": "here"}},
}
CONFIG = {"rules": {"debate_turns": 2, "max_rounds": 1, "whispers": 1}, **MODELS}
HALTED = 3
"""The exit code."""


@pytest.fixture
def credits_of(tmp_path, monkeypatch):
    """Set how many replies a model has, from now on; None for any number."""
    folder = tmp_path / "credits"
    folder.mkdir()
    monkeypatch.setenv(FOLDER, str(folder))

    def set_credits(model, replies):
        (folder / model).unlink(missing_ok=True)
        if replies is not None:
            (folder / model).write_text(str(len(answered(model)) + replies))

    return set_credits


@pytest.fixture
def parents(tmp_path, credits_of):
    players = "tests.forks.brains:Insists*5,llm:poor*3"
    out = tmp_path / "parents"
    study = wolfbus.run_study(CONFIG, players=players, games=1, seed=1, out=out, workers=1, probe=False)
    assert (study.complete, bool(answered("poor"))) == (True, True)
    return out


def lie_in(parents):
    """Return the record of the game, and the number of a lie that no model told."""
    (record,) = (parents / "records").glob("*.ndjson")
    events = [one.event for one in prove(record).records]
    spoken = (event for event in events if event.type == "statement" and event.phase == "debate")
    return record, next(event.statement for event in spoken if event.text == LIE)


def forks_of(parents, folder):
    record, number = lie_in(parents)
    study = wolfbus.forks_of(parents, times=1, arms=["by:llm:speaker"])
    study["forks"]["statements"] = [f"{record.stem}:{number}"]
    path = folder / "forks.toml"
    path.write_text(tomli_w.dumps(study))
    return path


def played(out):
    return {game["game"]: (game["state"], game["digest"]) for game in manifest(out)["games"]}


@pytest.mark.parametrize(("model", "replies", "halts"), [("poor", 3, 3), ("speaker", 0, 1)])
def test_forks_halt_and_go_on_once_there_are_credits_again(tmp_path, parents, credits_of, model, replies, halts):
    study, out, paid_before = forks_of(parents, tmp_path), tmp_path / "out", Counter(answered())
    run_here(study, "--no-probe", "--out", tmp_path / "whole", code=0)
    paid = Counter(answered()) - paid_before
    assert paid
    credits_of(model, replies)
    done = run_here(study, "--no-probe", "--out", out, code=HALTED)
    states = Counter(state for state, _ in played(out).values())
    assert states == {"halted": halts, "ended": 3 - halts} if halts < 3 else states == {"halted": 3}
    assert SPENT in done.stdout
    assert "refused" not in done.stdout
    credits_of(model, None)
    run_here("--resume", "--no-probe", "--out", out, code=0)
    assert played(out) == played(tmp_path / "whole")
    # nothing but a statement whose draw was broken off is asked for again
    again = Counter(answered()) - paid_before - paid - paid
    assert sum(again.values()) <= 1


@pytest.mark.parametrize(
    ("model", "replies", "budget", "code", "line"),
    [
        ("poor", 3, "1000000", HALTED, SPENT),
        ("speaker", 0, "1000000", HALTED, SPENT),
        ("speaker", None, "1", 1, "the budget ends here: 0 of 1 tokens spent"),
    ],
)
def test_forks_of_one_record_that_cannot_be_played_on_say_so_at_once(
    tmp_path, parents, credits_of, model, replies, budget, code, line
):
    record, number = lie_in(parents)
    config = tmp_path / "models.toml"
    config.write_text(tomli_w.dumps(MODELS))
    credits_of(model, replies)
    words = ["fork", str(record), "--at", str(number), "--config", str(config), "--trust", "--arm", "by:llm:speaker"]
    words += ["--no-probe", "--budget-tokens", budget, "--out", "forks"]
    done = command(tmp_path, *words, **{FOLDER: os.environ[FOLDER]})
    assert (done.code, done.out) == (code, "")
    assert done.err.splitlines()[-1].startswith(f"wolfbus: {line}")
