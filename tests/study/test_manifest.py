"""The manifest, the journal, and what plays a study."""

from __future__ import annotations

import json
import os
import subprocess

import pytest

import wolfbus
from analytics.gather import find
from moderator.engine.seating import deal
from wolfbus.cli.studying.study_run import git_commit, prompts_hash
from wolfbus.config import GameConfig
from wolfbus.errors import ConfigError, RecordError
from wolfbus.study.folder import StudyFolder, differences
from wolfbus.study.journal import GameResult, Spent, read_line
from wolfbus.study.manifest import Manifest, load_manifest, read_manifest
from wolfbus.study.plan import Plan
from wolfbus.study.scheduler import StudyProgress

PLAN = Plan(GameConfig(), "1", "fixed", ("scripted",) * 8, None, deal)


def result(number: int, **more) -> GameResult:
    told = {"state": "ended", "winner": "villagers", "rounds": 3, "digest": "d" * 64, "head": "h"} | more
    return GameResult(number=number, game=PLAN.game(number).game, **told)


def manifest_of(games: int) -> Manifest:
    head = {"format": "wolfbus-study", "version": 1, "design": {"kind": "fixed", "games": games}}
    return Manifest(head, PLAN.games(games), "2026-01-01T00:00:00+00:00")


def read(manifest: Manifest):
    return read_manifest("".join(manifest.pieces("2026-01-02T00:00:00+00:00")), "study.json")


def test_totals_are_sums_over_the_games_whatever_was_known_of_them_before():
    manifest = manifest_of(4)
    manifest.put(result(1, statements=20, judgements=100, calls=3, cost_usd=0.5))
    manifest.put(GameResult(number=2, game=PLAN.game(2).game, state="failed", error="no"))
    manifest.put(result(2, winner="werewolves", statements=10, judgements=50))
    manifest.put(result(3, winner=None))
    assert manifest.totals() == {
        "games": 4, "ended": 3, "stopped": 0, "failed": 0, "pending": 1,
        "villagers": 1, "werewolves": 1, "nobody": 1,
        "statements": 30, "judgements": 150, "calls": 3, "cost_usd": 0.5,
    }  # fmt: skip
    assert (manifest.done, manifest.complete) == (3, False)
    manifest.put(GameResult(number=4, game=PLAN.game(4).game, state="failed", error="no"))
    told = read(manifest)
    assert told["totals"]["failed"] == 1
    assert not told["complete"]
    assert [game["state"] for game in told["games"]] == ["ended", "ended", "ended", "failed"]
    assert told["games"][3]["error"] == "no"


def test_a_pending_game_has_all_that_is_planned_of_it():
    told = read(manifest_of(2))["games"][1]
    planned = PLAN.game(2)
    assert told == {
        "number": 2, "game": planned.game, "seed": planned.seed, "block": planned.game,
        "record": f"records/{planned.game}.ndjson", "brains": ["scripted"] * 8,
        "state": "pending", "winner": None, "rounds": None, "digest": None, "head": None, "error": None,
        "seconds": None,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("{", "not JSON"),
        ("[]", "no manifest"),
        ('{"format": "wolfbus-study", "version": 2}', "version 2"),
        ('{"format": "wolfbus-study", "version": true}', "version True"),
        ("[" * 100_000, "not JSON"),
        ("\x00", "not JSON"),
    ],
)
def test_what_is_no_manifest_is_refused_with_its_name(text, words):
    with pytest.raises(ConfigError, match=f"study.json: .*{words}"):
        read_manifest(text, "study.json")


HOSTILE = [
    ('"games": null', "games: "),
    ('"games": 5', "games: "),
    ('"games": Infinity', "not JSON"),
    ('"games": {"a": 1}', "games: "),
    ('"games": [1, null, "x"]', "games.0: "),
    ('"games": [{"game": "a b"}]', "games.0.game: "),
    ('"games": [{"game": "g", "block": [1]}]', "games.0.block: "),
    ('"games": [{"game": "g", "record": "../../etc/passwd"}]', "games.0.record: "),
    ('"games": [{"game": "g", "state": "won"}]', "games.0.state: "),
    ('"games": [{"game": "g", "seconds": 1e999}]', "games.0.seconds: "),
    ('"seed": NaN', "not JSON"),
    ('"seed": 7', "seed: "),
    (f'"seed": {"9" * 5000}', "not JSON"),
    ('"name": "\\ud800"', "not JSON"),
    ('"name": {"a": ["<script>"]}', "name: "),
    ('"totals": "x"', "totals: "),
    ('"totals": {"ended": -1}', "totals.ended: "),
    ('"design": "<b>"', "design: "),
    ('"design": {"kind": 7}', "design.kind: "),
    ('"design": {"allies": {"min": 1e999}}', "design.allies.min: "),
    (f'"design": {{"allies": {{"min": {"9" * 400}}}}}', "design.allies.min: "),
    ('"git": "abc"', "git: "),
    ('"created": 5', "created: "),
    ('"created": "yesterday"', "created: "),
    ('"continued_with": 5', "continued_with: "),
    ('"continued_with": ["x"]', "continued_with.0: "),
    ('"agents": {"a": 1}', "agents: "),
    ('"config": "x"', "config: "),
    ('"config": {"\\u001b[2J": 1e999}', "config."),
    ('"models": [1]', "models: "),
    ('"budget_usd": "lots"', "budget_usd: "),
]


@pytest.mark.parametrize(("member", "words"), HOSTILE)
def test_a_member_that_is_not_what_it_should_be_is_named_in_one_line(tmp_path, member, words):
    text = f'{{"format": "wolfbus-study", "version": 1, {member}}}'
    (tmp_path / "study.json").write_text(text)
    with pytest.raises(ConfigError) as caught:
        load_manifest(tmp_path / "study.json")
    line = str(caught.value)
    assert line.startswith(f"{tmp_path / 'study.json'}: {words}")
    assert line.isprintable()
    assert len(line) < 600
    # and whoever reads games says the same
    with pytest.raises(RecordError) as other:
        find([tmp_path])
    assert str(other.value) == line


def test_members_may_be_missing_and_others_may_be_there():
    text = '{"format": "wolfbus-study", "version": 1, "later": [1, {"a": null}]}'
    assert read_manifest(text, "study.json")["later"] == [1, {"a": None}]


def test_a_manifest_that_is_no_file_or_too_large_is_not_opened(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(ConfigError, match="pipe: not a file"):
        load_manifest(tmp_path / "pipe")
    with (tmp_path / "large").open("wb") as file:
        file.truncate(1 << 30)
    with pytest.raises(ConfigError, match="large: too large: more than 256 MiB"):
        load_manifest(tmp_path / "large")


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ('{"spent_usd": "x", "spent_tokens": 1}', "spent_usd: "),
        ('{"spent_usd": null}', "spent_usd: "),
        ('{"spent_usd": 1e999}', "spent_usd: "),
        ('{"spent_usd": -1.0}', "spent_usd: "),
        ('{"spent_usd": 1.0, "spent_tokens": "z"}', "spent_tokens: "),
    ],
)
def test_a_journal_that_does_not_say_what_is_spent_is_refused_with_line_and_member(tmp_path, line, words):
    with StudyFolder(tmp_path) as folder:
        folder.note(result(1))
        with (tmp_path / "journal.jsonl").open("a") as journal:
            journal.write(f"{line}\n")
        with pytest.raises(ConfigError) as caught:
            folder.read_journal()
    assert str(caught.value).startswith(f"{tmp_path / 'journal.jsonl'}: line 2: {words}")


def test_results_in_a_journal_that_no_manifest_could_hold_are_none():
    for member in (
        '"seconds": NaN',
        '"seconds": 1e999',
        '"cost_usd": -1.0',
        '"error": "\\ud800"',
        f'"rounds": {"9" * 99}',
    ):
        line = f'{{"number": 1, "game": "g", "state": "ended", {member}}}'
        assert read_line(line.encode()) is None
    assert read_line(b"[" * 100_000) is None


def test_more_games_and_another_budget_are_the_same_study():
    there = {**read(manifest_of(2)), "budget_usd": 1.0}
    assert differences({"design": {"kind": "fixed", "games": 5}, "budget_usd": 9.0}, there) is None
    assert "can only grow" in (differences({"design": {"kind": "fixed", "games": 1}}, there) or "")


def test_the_first_setting_that_differs_is_named_with_both_values():
    there = {**read(manifest_of(2)), "config": {"deadlines": {"bid": 60.0}}, "models": {"m": {"top_p": 0.5}}}
    told = {"design": {"kind": "fixed", "games": 2}, "config": {"deadlines": {"bid": 5.0}}}
    assert differences(told, there) == "config.deadlines.bid: 5.0 is told, and the folder's study has 60.0"
    told = {"design": {"kind": "fixed", "games": 2}, "config": {"deadlines": {"bid": 60.0}}, "models": {"m": {}}}
    assert differences(told, there) == "models.m.top_p: null is told, and the folder's study has 0.5"


def test_a_journal_holds_the_latest_result_and_survives_a_line_that_was_cut_off(tmp_path):
    with StudyFolder(tmp_path) as folder:
        folder.note(result(1, error="first", state="failed"))
        folder.note({"spent_usd": 0.25, "spent_tokens": 7})
        folder.note(result(1))
    with (tmp_path / "journal.jsonl").open("ab") as journal:
        journal.write(b'{"number":2,"ga')
    with StudyFolder(tmp_path) as folder:
        folder.note(result(3))
        results, spent = folder.read_journal()
    assert results == {1: result(1), 3: result(3)}
    assert spent == Spent(spent_usd=0.25, spent_tokens=7)


@pytest.mark.parametrize("line", [b"", b"[]", b"nonsense", b'{"number": "x"}', b'{"number": 1, "game": "g"}', b"\xff"])
def test_a_line_of_a_journal_that_says_nothing_is_no_result(line):
    assert not isinstance(read_line(line), GameResult)


def test_a_manifest_that_cannot_be_written_leaves_the_old_one(tmp_path):
    def breaks():
        yield "half"
        raise OSError(28, "No space left on device")

    with StudyFolder(tmp_path) as folder:
        folder.write("study.json", ["whole"])
        with pytest.raises(OSError, match="No space"):
            folder.write("study.json", breaks())
    assert (tmp_path / "study.json").read_text() == "whole"
    assert not list(tmp_path.glob("*.new"))


def test_what_a_killed_run_left_half_written_is_gone(tmp_path):
    (tmp_path / ".study.json.1.new").write_text("half")
    (tmp_path / "mine.new").write_text("kept")
    with StudyFolder(tmp_path):
        assert [path.name for path in tmp_path.glob("*.new")] == ["mine.new"]


def test_the_commit_is_told_for_a_checkout_and_for_nothing_else(tmp_path, monkeypatch):
    assert git_commit(tmp_path) is None
    git = ["git", "-C", str(tmp_path), "-c", "user.name=n", "-c", "user.email=e@example.org"]
    try:
        subprocess.run(["git", "init", "-q", str(tmp_path)], check=True, capture_output=True)
    except OSError:
        pytest.skip("git is not installed")
    (tmp_path / "file").write_text("a")
    subprocess.run([*git, "add", "file"], check=True)
    subprocess.run([*git, "commit", "-qm", "first"], check=True)
    told = git_commit(tmp_path)
    assert told is not None
    assert (len(told["commit"]), told["dirty"]) == (40, False)
    (tmp_path / "file").write_text("b")
    assert (git_commit(tmp_path) or {})["dirty"] is True
    monkeypatch.setenv("PATH", "")
    assert git_commit(tmp_path) is None


def test_prompts_have_a_hash_where_a_language_model_plays():
    assert prompts_hash(["scripted", "exec:x"]) is None
    assert prompts_hash(["scripted", "llm:m"]) == prompts_hash(["llm:other"])
    assert wolfbus.__version__


def test_progress_tells_rate_time_left_wins_failures_and_cost():
    manifest = manifest_of(10)
    telling = StudyProgress(manifest, quiet=True)
    began = telling._finished[0]
    assert telling.line(began) == "0 of 10 games, wolves 0, villagers 0, nobody 0"
    for number in (1, 2):
        manifest.put(result(number, cost_usd=0.25, calls=1))
        telling.game()
    manifest.put(GameResult(number=3, game="g", state="failed", error="no"))
    assert telling.line(began + 4) == (
        "3 of 10 games, 0.5 games/s, 14 s left, wolves 0, villagers 2, nobody 0, 1 failed, $0.50"
    )


def test_the_manifest_is_json_with_a_line_a_game():
    text = "".join(manifest_of(3).pieces("now"))
    assert sum(line.startswith('  {"number"') for line in text.splitlines()) == 3
    assert json.loads(text)["updated"] == "now"
