"""Another model than was asked for answers: whoever reads a game or a study learns of it."""

from __future__ import annotations

import itertools
import json
from dataclasses import replace

import pytest

from tests.golden.running import wolfbus as command
from tests.llm.gateway.server import ScriptedServer, Step, reply
from tests.llm.scripted import URL
from tests.llm.whole.playing import obliging, scripted
from tests.proving import prove
from tests.study.runs import run_here
from wolfbus.stage import GameFeed

MODELS = '[endpoints.here]\nprovider = "tests.llm.whole.playing"\n[models.m]\nmodel = "big-70b"\nendpoint = "here"\n'
RULES = "villagers = 3\nwerewolves = 1\ndoctors = 0\ndebate_turns = 1\nmax_rounds = 1\n"
LINE = f"big-70b at {URL} was asked, and by its server's word tiny-1b answered"
CHANGED = "by its server's word, something about it changed under way"


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
        ("Big Model.gguf", "Big Model.gguf fp_1", False),
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
    assert (f"WARNING: {asked} at {URL} was asked, and by its server's word" in done.out) is another


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
    assert json.loads(command(tmp_path, "report", str(out), "--json").out)["cost"]["served"] == {
        f"big-70b at {URL}": ["tiny-1b fp_1"]
    }


def test_a_model_that_changes_under_way_is_told_of_at_the_end_and_in_the_report(tmp_path):
    (tmp_path / "study.toml").write_text(f'games = 2\nat_once = 1\nplayers = "llm:m*5"\n[rules]\n{RULES}{MODELS}')
    out, calls = tmp_path / "out", itertools.count()
    # some replies are without the fingerprint, which is no change
    prints = ("big-70b fp_1", "big-70b", "big-70b fp_1")

    def script(request):
        number = next(calls)
        return replace(obliging(request), served=prints[number % 3] if number < 60 else "big-70b fp_2")

    with scripted(script):
        done = run_here(tmp_path / "study.toml", "--no-probe", "--out", out, code=0)
    assert next(calls) > 60
    line = f"big-70b at {URL} answered as big-70b fp_1 and big-70b fp_2: {CHANGED}"
    assert f"wolfbus: {line}" in done.stderr
    assert f"WARNING: {line}" in command(tmp_path, "report", str(out), "--no-cache").out
    (tmp_path / "game.toml").write_text(RULES + MODELS)
    with scripted(lambda request: replace(obliging(request), served=f"big-70b fp_{next(calls) % 2}")):
        done = command(tmp_path, "play", "--config", "game.toml", "--players", "llm:m*5", "--no-probe", "--quiet")
    assert CHANGED in done.out


def test_two_servers_of_one_model_are_not_one_that_changes(tmp_path):
    servers = [ScriptedServer(), ScriptedServer()]
    for name, server in zip("ab", servers, strict=True):
        server.plan(default=Step(json.dumps(json.loads(reply()) | {"system_fingerprint": f"fp_{name}"}).encode()))
    (tmp_path / "game.toml").write_text(RULES)
    players = ",".join(f"llm:tiny@{server.url}*{count}" for server, count in zip(servers, (2, 3), strict=True))
    done = command(
        tmp_path, "play", "--config", "game.toml", "--players", players, "--no-probe", "--give-up", "0", "--quiet"
    )
    for server in servers:
        server.close()
    assert all(server.bodies for server in servers)
    assert done.code == 0, done.err
    assert CHANGED not in done.out + done.err
