"""A saved map applied to one record, by `wolfbus replay --map`."""

from __future__ import annotations

import json

import numpy as np
import pytest
from click.testing import CliRunner
from sklearn import metrics as sk

from analytics.columns import columns_of
from analytics.fold import fold
from analytics.measures.maps import PlattMap, load_map, save_map
from analytics.measures.recalibration import recalibrated, recalibration, thresholds
from analytics.measures.study import Study
from analytics.measures.table4 import curves, table4
from analytics.report.terminal import recalibration_table
from tests.analytics.scores.synthetic import linked, synthetic
from tests.analytics.script import Script, random_game
from tests.game.driver import play
from wolfbus.cli import cli
from wolfbus.document.writers import written
from wolfbus.errors import ConfigError


@pytest.fixture(scope="module")
def map_file(tmp_path_factory):
    path = tmp_path_factory.mktemp("maps") / "map.json"
    save_map(recalibration(Study(synthetic(*linked(30, 40, slope=0.5, intercept=0.6, seed=1)))), path, "platt")
    return path


def halved(map_file):
    """The saved map with another map in it, whose effect is plain."""
    return load_map(map_file).model_copy(update={"map": PlattMap(slope=0.0, intercept=0.0)})


def test_scores_before_and_after_by_hand(map_file):
    script = Script().dawn()
    script.said("Wim", True, {"Vic": (True, 0.9), "Val": (False, 0.2)})
    script.said("Doc", False, {"Vic": (True, 0.6), "Val": "timed_out"})
    found = recalibrated(script.rows(), halved(map_file))
    assert found["before"]["brier"] == pytest.approx((0.01 + 0.64 + 0.36) / 3)
    assert found["before"]["ece"] == pytest.approx((0.1 + 0.8 + 0.6) / 3)
    assert (found["before"]["auc"], found["before"]["n"]) == (0.5, 3)
    # everything becomes 0.5, and two of three statements judged are deceptive
    assert found["after"] == {"brier": 0.25, "ece": pytest.approx(1 / 6), "auc": 0.5, "n": 3, "undefined": {}}
    assert (found["map"]["kind"], found["map"]["n"], found["map"]["games"]) == ("platt", 1200, 30)


def test_scores_are_scikit_learns_of_the_mapped_suspicions(map_file):
    rows, saved = random_game(5).rows(), load_map(map_file)
    own = {statement.number: statement.d for statement in rows.statements}
    held = [(row.s, own[row.statement]) for row in rows.judgements if row.d is not None]
    scores, labels = zip(*[(s, label) for s, label in held if label is not None], strict=True)
    found = recalibrated(rows, saved)
    for when, values in (("before", np.array(scores)), ("after", saved.map.apply(np.array(scores)))):
        assert found[when]["n"] == len(labels)
        assert found[when]["brier"] == pytest.approx(sk.brier_score_loss(labels, values), rel=1e-12)
        assert found[when]["auc"] == pytest.approx(sk.roc_auc_score(labels, values), rel=1e-12)


def test_what_is_undefined_of_a_record_says_why(map_file):
    script = Script().dawn()
    empty = recalibrated(script.rows(), halved(map_file))
    assert (empty["before"]["n"], empty["after"]["brier"]) == (0, None)
    assert set(empty["before"]["undefined"]) == {"brier", "ece", "auc"}
    script.said("Wim", True, {"Vic": (True, 0.9)})
    found = recalibrated(script.rows(), halved(map_file))
    assert list(found["after"]["undefined"]) == ["auc"]
    text = written([recalibration_table(found, "map.json")])
    assert "– undefined: every statement judged is labelled deceptive" in text


def test_lines_are_plain_and_narrow(map_file):
    found = recalibrated(random_game(5).rows(), halved(map_file))
    lines = written([recalibration_table(found, "a\x1b[2J/ä" + "x" * 200)]).splitlines()
    assert all(len(line) <= 100 and line.isprintable() for line in lines)
    assert any(line.split()[:3] == ["This", "record,", "after"] for line in lines)
    assert any("flatter" in line for line in lines)


@pytest.fixture(scope="module")
def record(tmp_path_factory):
    folder = tmp_path_factory.mktemp("records")
    arguments = ["play", "--seed", "7", "--json", "--out", str(folder), "--game", "kept"]
    assert CliRunner().invoke(cli, arguments).exit_code == 0
    return folder / "kept.ndjson"


def test_replay_shows_the_scores_of_a_record_before_and_after(record, map_file):
    told = CliRunner().invoke(cli, ["replay", str(record), "--json", "--map", str(map_file)], standalone_mode=False)
    plain = CliRunner().invoke(cli, ["replay", str(record), "--json"], standalone_mode=False)
    found = json.loads(told.stdout)
    section = found.pop("recalibrated")
    assert found == json.loads(plain.stdout)
    assert set(section) == {"before", "after", "map"}
    assert section["before"]["n"] == section["after"]["n"] == found["metrics"]["table3"]["overall"]["n"]
    assert section["before"]["brier"] != section["after"]["brier"]
    shown = CliRunner().invoke(cli, ["replay", str(record), "--map", str(map_file)], standalone_mode=False)
    assert f"{section['after']['brier']:.3f}" in shown.stdout
    assert "Suspicion recalibrated by" in shown.stdout


def test_replay_refuses_a_map_that_is_none_before_it_reads_the_record(tmp_path):
    (tmp_path / "map.json").write_text("{}")
    result = CliRunner().invoke(
        cli, ["replay", str(tmp_path / "gone.ndjson"), "--map", str(tmp_path / "map.json")], standalone_mode=False
    )
    assert isinstance(result.exception, ConfigError)
    assert "map.json: format:" in str(result.exception)


@pytest.mark.parametrize("view", [["--until", "3"], ["--as", "Ada"], ["--calls"], ["--prompt", "3"]])
def test_views_that_show_no_metrics_take_no_map(record, map_file, view):
    result = CliRunner().invoke(cli, ["replay", str(record), "--map", str(map_file), *view])
    assert result.exit_code == 2


def test_every_section_takes_games_as_they_are_really_played():
    games = columns_of([fold(play(seed="scores").events)])
    for section in (table4, curves, thresholds, recalibration):
        json.dumps(section(Study(games)), allow_nan=False)
