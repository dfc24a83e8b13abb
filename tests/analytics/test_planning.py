"""How many games a study needs: against the textbook where it applies, and the verdict rule where it does not."""

import json
import shutil
from dataclasses import replace
from functools import cache
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.stats import norm

from analytics.metrics import planning
from analytics.metrics.planning import Pilot
from tests.golden.running import wolfbus
from tests.llm.tables import tables
from wolfbus.errors import ConfigError


def pilot(metrics: int = 1) -> Pilot:
    """200 blocks of a game that differ as normal numbers do, with mean 0 and standard deviation 1."""
    drawn = np.random.default_rng(5).standard_normal((metrics, 200))
    deviations = drawn - drawn.mean(axis=1, keepdims=True)
    return Pilot("auc", "probability", deviations / deviations.std(axis=1, keepdims=True), 1.0, np.ones((1, 200), bool))


@cache
def needed(difference: float, metrics: int = 1) -> int:
    return min(blocks for blocks, power in pilot(metrics).curve(difference) if power >= 0.8)


def test_one_metric_needs_about_the_blocks_that_a_test_of_a_normal_mean_needs():
    textbook = ((norm.ppf(0.99) + norm.ppf(0.8)) / 0.4) ** 2
    assert needed(0.4) == pytest.approx(textbook, rel=0.2)


def test_smaller_differences_more_metrics_and_either_direction():
    assert needed(0.8) < min(needed(0.4), needed(0.8, 6))
    assert needed(-0.8) == pytest.approx(needed(0.8), rel=0.2)


def test_what_so_many_games_find_is_the_difference_that_needs_them():
    blocks = needed(0.8, 6)
    assert pilot(6).smallest(blocks) == pytest.approx(0.8, rel=0.1)
    # as often as a study states it where there is none, and less often
    assert all(0 < pilot(6).smallest(blocks, power) < 0.8 for power in (0.01, 0.001))


def test_blocks_that_cannot_be_told_apart_from_their_mirror_have_no_power():
    assert pilot().power(6, 100.0) == 0
    # no game, and too few of them
    assert pilot().smallest(0) is pilot().smallest(6) is None


def test_no_difference_is_hardly_ever_stated():
    assert pilot(6).power(40, 1e-9) < 0.03


def test_a_difference_is_stated_where_eight_blocks_tell_of_it_as_a_report_states_it():
    half = replace(pilot(), telling=np.arange(200)[None, :] % 2 == 0)
    half.deviations[:, 1::2] = 0
    # of 8 blocks eight tell in one study of 256, of 16 in six of ten
    assert half.power(8, 100.0) < 0.02
    assert 0.5 < half.power(16, 100.0) < 0.7
    assert half.smallest(16) is None
    blocks = min(blocks for blocks, power in half.curve(0.4) if power >= 0.8)
    assert blocks == pytest.approx(2 * needed(0.4), rel=0.2)


def test_a_side_that_is_too_rare_for_an_interval_leaves_nothing_to_state():
    rare = replace(pilot(), telling=np.stack([np.ones(200, bool), np.arange(200) % 20 == 0]))
    assert rare.power(40, 100.0) < 0.1
    assert rare.power(200, 100.0) > 0.9


def test_a_pilot_in_which_fewer_than_eight_blocks_tell_of_a_metric_is_refused(monkeypatch):
    parts = np.where(np.arange(16) < 7, np.linspace(0.2, 0.4, 16), 0)
    told = {}, {"auc": parts}, {"auc": parts[None, :] > 0}
    monkeypatch.setattr(planning, "metrics_by_block", lambda _study, _chosen: told)
    with pytest.raises(ConfigError, match="7 blocks of games tell of it; 8 do"):
        planning.pilot_of(SimpleNamespace(blocks=16, games=16), "auc", [])


def test_a_pilot_whose_blocks_are_all_alike_is_refused(monkeypatch):
    alike = {}, {"auc": np.full(16, 0.3)}, {"auc": np.ones((1, 16), bool)}
    monkeypatch.setattr(planning, "metrics_by_block", lambda _study, _chosen: alike)
    with pytest.raises(ConfigError, match="all its blocks are alike"):
        planning.pilot_of(SimpleNamespace(blocks=16, games=16), "auc", [])


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("planned")
    words = "run --players scripted*4,random*4 --design mirrored --games 16 --seed 2 --out pilot --quiet"
    assert wolfbus(folder, *words.split()).code == 0
    return folder


def test_a_pilot_tells_games_a_curve_and_what_so_many_games_would_find(folder):
    asked = ("plan", "--from", "pilot", "--metric", "vote_hit_lift", "--json")
    told = json.loads(wolfbus(folder, *asked, "--difference", "0.2").out)
    games = [point["games"] for point in told["curve"]]
    assert games == sorted(games)
    assert told["games"] % 2 == 0
    assert next(point["power"] for point in told["curve"] if point["games"] == told["games"]) >= 0.8
    found = json.loads(wolfbus(folder, *asked, "--games", str(told["games"])).out)["difference"]
    assert found == pytest.approx(0.2, rel=0.2)
    said = wolfbus(folder, *asked[:-1], "--difference", "0.6").out
    assert said.splitlines()[-1].endswith("+60.0 points in 80% of studies")


@pytest.mark.parametrize(("words", "fault"), tables(__file__)["refused"])
def test_what_cannot_be_planned_is_one_line(folder, words, fault):
    said = wolfbus(folder, "plan", "--from", "pilot", *words.split())
    assert said.code == 2
    assert fault in said.err.splitlines()[-1]


def test_a_pilot_that_lacks_a_record_is_planned_from_and_exits_as_a_report_of_it_does(folder, tmp_path):
    shutil.copytree(folder / "pilot", tmp_path / "pilot")
    lost = min((tmp_path / "pilot" / "records").glob("*.ndjson"))
    lost.unlink()
    said = wolfbus(tmp_path, "plan", "--from", "pilot", "--metric", "vote_hit_lift", "--games", "40")
    assert said.code == wolfbus(tmp_path, "report", "pilot", "--json").code == 1
    assert "in 80% of studies" in said.out
    assert f"{lost.name}: missing" in said.err
    assert said.err.splitlines()[-1] == "wolfbus: something is wrong with 1 file"
