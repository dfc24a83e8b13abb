"""What is no study to begin or to go on with is one line, and touches nothing."""

from __future__ import annotations

import pytest

from tests.study.runs import (
    STUDY,
    run_here,
)


def test_a_folder_with_a_study_is_not_begun_again(whole):
    done = run_here("--games", "16", "--out", whole)
    assert done.returncode == 2
    assert "add --resume" in done.stderr


def test_resuming_where_nothing_is_creates_nothing(out):
    done = run_here("--resume", "--out", out)
    assert done.returncode == 2
    assert "no study to resume" in done.stderr
    assert not out.exists()


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--seed", "12"], ["seed", '"12"', '"11"']),
        (["--players", "random"], ["agents"]),
        (["--players", "scripted*2,tests.study.gate:Gated*6"], ["seats"]),
        (["--design", "fixed"], ["design", '"fixed"', '"balanced"']),
        (["--games", "15"], ["games", "15", "16", "only grow"]),
    ],
)
def test_another_study_is_not_taken_for_this_one(whole, options, words):
    before = (whole / "study.json").read_bytes()
    done = run_here("--resume", "--out", whole, *options)
    assert done.returncode == 2
    line = done.stderr.strip()
    assert "\n" not in line
    for word in words:
        assert word in line
    assert (whole / "study.json").read_bytes() == before


def test_other_rules_are_another_study(whole, tmp_path):
    (tmp_path / "other.toml").write_text(STUDY + "\n[rules]\ndebate_turns = 3\nmax_rounds = 2")
    done = run_here(tmp_path / "other.toml", "--resume", "--out", whole)
    assert done.returncode == 2
    assert "config.debate_turns: 3 is told" in done.stderr


def test_brains_that_cannot_be_made_are_told_before_anything_is_played(tmp_path):
    for workers in ("1", "2"):
        done = run_here("--players", "nosuchmodule:Brain", "--workers", workers, "--out", tmp_path / workers)
        assert done.returncode == 2
        assert "nosuchmodule" in done.stderr.strip().splitlines()[-1]
        assert not (tmp_path / workers / "study.json").exists()
