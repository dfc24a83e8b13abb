"""Another model than was asked for answers: whoever reads a game or a study learns of it."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from tests.golden.running import wolfbus as command
from tests.llm.whole.playing import obliging, scripted
from tests.proving import prove
from tests.study.runs import run_here
from wolfbus.stage import GameFeed

MODELS = '[endpoints.here]\nprovider = "tests.llm.whole.playing"\n[models.m]\nmodel = "big-70b"\nendpoint = "here"\n'
RULES = "villagers = 3\nwerewolves = 1\ndoctors = 0\ndebate_turns = 1\nmax_rounds = 1\n"
LINE = "big-70b was asked, and by its server's word tiny-1b answered"


def served_by(name):
    return scripted(lambda request: replace(obliging(request), served=name))


@pytest.mark.parametrize(
    ("asked", "served", "another"),
    [
        ("gpt-4o-mini", "gpt-4o-mini-2024-07-18 fp_0aa8d3e20b", False),
        ("claude-3-5-sonnet-latest", "claude-3-5-sonnet-20241022", False),
        ("gemini-1.5-flash", "models/gemini-1.5-flash-002", False),
        ("llama3", "llama3:latest", False),
        ("org/Mistral-7B", "mistral-7b", False),
        ("big-70b", "/models/big-70b.gguf", False),
        ("big-70b", "fp_0aa8d3e20b", False),
        ("big-70b", None, False),
        ("gpt-4o", "gpt-4o-mini", True),
        ("gpt-4", "gpt-4.1", True),
        ("llama3:70b", "llama3:8b", True),
        ("big-70b", "tiny-1b", True),
    ],
)
def test_only_another_name_is_another_model(tmp_path, asked, served, another):
    (tmp_path / "game.toml").write_text(RULES + MODELS.replace("big-70b", asked))
    with served_by(served):
        done = command(
            tmp_path, "play", "--config", "game.toml", "--players", "llm:m*5", "--seed", "1", "--no-probe", "--quiet"
        )
    assert done.code == 0, done.err
    assert (f"WARNING: {asked} was asked, and by its server's word" in done.out) is another


def test_a_study_of_another_model_says_so_at_its_end_in_its_report_and_on_the_page_of_a_game(tmp_path):
    (tmp_path / "study.toml").write_text(
        f'games = 2\nseed = 3\nplayers = "llm:m*5"\n[rules]\n{RULES}{MODELS}',
    )
    out = tmp_path / "out"
    with served_by("tiny-1b fp_1"):
        done = run_here(tmp_path / "study.toml", "--no-probe", "--out", out, code=0)
    assert f"wolfbus: {LINE}" in done.stderr
    report = command(tmp_path, "report", str(out), "--html", "page.html", "--no-cache")
    assert f"WARNING: {LINE}" in report.out
    assert LINE.replace("'", "&#39;") in (tmp_path / "page.html").read_text().replace("&#x27;", "&#39;")
    record = next((out / "records").iterdir())
    for viewer, shows in (("everything", True), ("public", False)):
        seats = GameFeed(viewer, prove(record).records).game()["seats"]
        assert ("big-70b (answered by tiny-1b)" in {seat.get("model") for seat in seats}) is shows
    assert json.loads(command(tmp_path, "report", str(out), "--json").out)["cost"]["served"] == {"big-70b": ["tiny-1b"]}
