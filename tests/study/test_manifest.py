"""The manifest, the journal, and what plays a study."""

from __future__ import annotations

import os
import subprocess
import tomllib
from pathlib import Path

import pytest

from analytics.gather import find
from moderator.engine.seating import deal
from wolfbus.cli.studying.study_run import git_commit, prompts_hash
from wolfbus.config import GameConfig
from wolfbus.errors import ConfigError, RecordError
from wolfbus.study.folder import Manifest, StudyFolder, differences
from wolfbus.study.journal import GameResult, Spent, read_line
from wolfbus.study.manifest import load_manifest
from wolfbus.study.plan import Plan
from wolfbus.study.scheduler import StudyProgress

PLAN = Plan(GameConfig(), "1", "fixed", ("scripted",) * 8, None, deal)
REFUSED = tomllib.loads(Path(__file__).with_name("refused.toml").read_text("utf-8"))
FORMAT = '"format": "wolfbus-study", "version": 1'


def filled(text):
    return text.replace("{nines}", "9" * 5000).replace("{few nines}", "9" * 400).replace("{deep}", "[" * 100_000)


def result(number, **more):
    told = {"state": "ended", "winner": "villagers", "rounds": 3, "digest": "d" * 64, "head": "h"} | more
    return GameResult(number=number, game=PLAN.game(number).game, **told)


def failed(number):
    return GameResult(number=number, game=PLAN.game(number).game, state="failed", error="no")


def manifest_of(games):
    head = {"format": "wolfbus-study", "version": 1, "design": {"kind": "fixed", "games": games}}
    return Manifest(head, PLAN.games(games), "2026-01-01T00:00:00+00:00")


@pytest.fixture
def read(tmp_path):
    def read(manifest):
        (tmp_path / "study.json").write_text("".join(manifest.pieces("2026-01-02T00:00:00+00:00")))
        return load_manifest(tmp_path / "study.json")

    return read


def test_totals_are_sums_over_the_games_whatever_was_known_of_them_before(read):
    manifest = manifest_of(4)
    manifest.put(result(1, statements=20, judgements=100, calls=3, cost_usd=0.5))
    manifest.put(failed(2))
    manifest.put(result(2, winner="werewolves", statements=10, judgements=50))
    manifest.put(result(3, winner=None))
    assert manifest.totals() == {
        "games": 4, "ended": 3, "stopped": 0, "failed": 0, "pending": 1,
        "villagers": 1, "werewolves": 1, "nobody": 1,
        "statements": 30, "judgements": 150, "calls": 3, "cost_usd": 0.5,
    }  # fmt: skip
    assert (manifest.done, manifest.complete) == (3, False)
    manifest.put(failed(4))
    told = read(manifest)
    assert (told["totals"]["failed"], told["complete"]) == (1, False)
    assert [game["state"] for game in told["games"]] == ["ended", "ended", "ended", "failed"]
    assert told["games"][3]["error"] == "no"


def test_a_pending_game_has_all_that_is_planned_of_it_on_a_line_of_its_own(read, tmp_path):
    told, planned = read(manifest_of(2))["games"][1], PLAN.game(2)
    assert told == {
        "number": 2, "game": planned.game, "seed": planned.seed, "block": planned.game,
        "record": f"records/{planned.game}.ndjson", "brains": ["scripted"] * 8,
        "state": "pending", "winner": None, "rounds": None, "digest": None, "head": None, "error": None,
        "seconds": None,
    }  # fmt: skip
    lines = (tmp_path / "study.json").read_text().splitlines()
    assert sum(line.startswith('  {"number"') for line in lines) == 2


@pytest.mark.parametrize(
    ("text", "words"),
    [*REFUSED["no_manifest"], *([f"{{{FORMAT}, {member}}}", words] for member, words in REFUSED["manifest"])],
)
def test_what_no_manifest_holds_is_named_in_one_line(tmp_path, text, words):
    path = tmp_path / "study.json"
    path.write_text(filled(text))
    with pytest.raises(ConfigError) as caught:
        load_manifest(path)
    line = str(caught.value)
    assert line.startswith(f"{path}: {words}")
    assert line.isprintable()
    assert len(line) < 600
    # and whoever reads games says the same
    with pytest.raises(RecordError) as other:
        find([tmp_path])
    assert str(other.value) == line


def test_members_may_be_missing_and_others_may_be_there(tmp_path):
    path = tmp_path / "study.json"
    path.write_text(f'{{{FORMAT}, "later": [1, {{"a": null}}]}}')
    assert load_manifest(path)["later"] == [1, {"a": None}]
    path.write_text("[]")
    assert load_manifest(path) is None


def test_a_manifest_that_is_no_file_or_too_large_is_not_opened(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(ConfigError, match="pipe: not a file"):
        load_manifest(tmp_path / "pipe")
    with (tmp_path / "large").open("wb") as file:
        file.truncate(1 << 30)
    with pytest.raises(ConfigError, match="large: too large: more than 256 MiB"):
        load_manifest(tmp_path / "large")


def test_more_games_and_another_budget_are_the_same_study_and_what_differs_is_named_with_both_values(read):
    def told(games=2, **more):
        return {"design": {"kind": "fixed", "games": games}, **more}

    there = {**read(manifest_of(2)), "budget_usd": 1.0}
    assert differences(told(5, budget_usd=9.0), there) is None
    assert "can only grow" in (differences(told(1), there) or "")
    there |= {"config": {"deadlines": {"bid": 60.0}}, "models": {"m": {"top_p": 0.5}}}
    config = {"deadlines": {"bid": 5.0}}
    assert differences(told(config=config), there) == (
        "config.deadlines.bid: 5.0 is told, and the folder's study has 60.0"
    )
    assert differences(told(config=there["config"], models={"m": {}}), there) == (
        "models.m.top_p: null is told, and the folder's study has 0.5"
    )


# -- the journal


@pytest.mark.parametrize(("line", "words"), REFUSED["journal"])
def test_a_journal_that_does_not_say_what_is_spent_is_refused_with_line_and_member(tmp_path, line, words):
    with StudyFolder(tmp_path) as folder:
        folder.note(result(1))
        with (tmp_path / "journal.jsonl").open("a") as journal:
            journal.write(f"{line}\n")
        with pytest.raises(ConfigError) as caught:
            folder.read_journal()
    assert str(caught.value).startswith(f"{tmp_path / 'journal.jsonl'}: line 2: {words}")


def test_a_line_of_a_journal_that_says_nothing_or_what_no_manifest_could_hold_is_no_result():
    results = [f'{{"number": 1, "game": "g", "state": "ended", {each}}}' for each in REFUSED["journal_results"]]
    for line in ("", "[]", "nonsense", '{"number": "x"}', '{"number": 1, "game": "g"}', "{deep}", *results):
        assert read_line(filled(line).encode()) is None, line
    assert read_line(b"\xff") is None


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


def test_a_manifest_that_cannot_be_written_leaves_the_old_one_and_a_killed_run_nothing(tmp_path):
    def breaks():
        yield "half"
        raise OSError(28, "No space left on device")

    (tmp_path / ".study.json.1.new").write_text("half")
    (tmp_path / "mine.new").write_text("kept")
    with StudyFolder(tmp_path) as folder:
        folder.write("study.json", ["whole"])
        with pytest.raises(OSError, match="No space"):
            folder.write("study.json", breaks())
    assert (tmp_path / "study.json").read_text() == "whole"
    assert [path.name for path in tmp_path.glob("*.new")] == ["mine.new"]


# -- what plays it


def test_the_commit_is_told_for_a_checkout_and_for_nothing_else(tmp_path, monkeypatch):
    assert git_commit(tmp_path) is None
    git = ["git", "-C", str(tmp_path), "-c", "user.name=n", "-c", "user.email=e@example.org"]
    try:
        subprocess.run([*git, "init", "-q"], check=True, capture_output=True)
    except OSError:
        pytest.skip("git is not installed")
    (tmp_path / "file").write_text("a")
    subprocess.run([*git, "add", "file"], check=True)
    subprocess.run([*git, "commit", "-qm", "first"], check=True)
    told = git_commit(tmp_path)
    assert (len(told["commit"]), told["dirty"]) == (40, False)
    (tmp_path / "file").write_text("b")
    assert git_commit(tmp_path)["dirty"] is True
    monkeypatch.setenv("PATH", "")
    assert git_commit(tmp_path) is None


def test_prompts_have_a_hash_where_a_language_model_plays():
    assert prompts_hash(["scripted", "exec:x"]) is None
    assert prompts_hash(["scripted", "llm:m"]) == prompts_hash(["llm:other"])


def test_progress_tells_rate_time_left_wins_failures_and_cost():
    manifest = manifest_of(10)
    telling = StudyProgress(manifest, quiet=True)
    began = telling._finished[0]
    assert telling.line(began) == "0 of 10 games, wolves 0, villagers 0, nobody 0"
    for number in (1, 2):
        manifest.put(result(number, cost_usd=0.25, calls=1))
        telling.game()
    manifest.put(failed(3))
    assert telling.line(began + 4) == (
        "3 of 10 games, 0.5 games/s, 14 s left, wolves 0, villagers 2, nobody 0, 1 failed, $0.50"
    )
