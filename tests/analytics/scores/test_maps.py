"""Platt and isotonic maps: fitted, saved as files, refused in one line, applied to a record by `replay --map`."""

from __future__ import annotations

import json

import numpy as np
import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize
from scipy.special import expit, logit
from sklearn.isotonic import IsotonicRegression

from analytics.columns import columns_of
from analytics.measures.maps import (
    CLIP,
    KINDS,
    IsotonicMap,
    PlattMap,
    fit,
    fit_isotonic,
    fit_platt,
    load_map,
    save_map,
    saved_map,
)
from analytics.measures.recalibration import recalibrated, recalibration
from analytics.measures.scores import scores_of, tied
from analytics.measures.study import Study
from analytics.report.terminal import recalibration_table
from tests.analytics.scores.synthetic import linked, synthetic
from tests.analytics.script import Script
from wolfbus import __version__
from wolfbus.cli import cli
from wolfbus.document.writers import written
from wolfbus.errors import ConfigError

ROWS = st.lists(
    st.tuples(st.integers(0, 100).map(lambda score: score / 100), st.booleans()), min_size=2, max_size=80
).filter(lambda rows: len({label for _, label in rows}) == 2)


def split(rows):
    return np.array([row[0] for row in rows]), np.array([row[1] for row in rows])


@pytest.mark.parametrize(("slope", "intercept"), [(0.4, 0.8), (1.0, 0.0), (2.0, -1.0), (-0.7, 0.2)])
def test_platt_recovers_the_link_that_judgements_were_drawn_from(slope, intercept):
    s, d, _ = linked(200, 200, slope=slope, intercept=intercept, seed=5)
    fitted = fit_platt(tied(s, d == 1))
    assert fitted.slope == pytest.approx(slope, abs=0.05)
    assert fitted.intercept == pytest.approx(intercept, abs=0.05)


def test_platt_is_the_minimum_of_the_likelihood_of_platts_labels():
    s, d, _ = linked(20, 30, slope=0.6, intercept=0.4, seed=7)
    yes, no = int(d.sum()), int((1 - d).sum())
    aim = np.where(d == 1, (yes + 1) / (yes + 2), 1 / (no + 2))
    at = logit(np.clip(s, CLIP, 1 - CLIP))

    def loss(ab):
        return np.mean(np.logaddexp(0, ab[0] * at + ab[1]) - aim * (ab[0] * at + ab[1]))

    least = minimize(loss, [0.0, 0.0], method="Nelder-Mead", options={"xatol": 1e-9, "fatol": 1e-14, "maxiter": 2_000})
    fitted = fit_platt(tied(s, d == 1))
    assert [fitted.slope, fitted.intercept] == pytest.approx(least.x, abs=1e-5)
    assert loss([fitted.slope, fitted.intercept]) <= least.fun + 1e-12


def test_isotonic_is_scikit_learns_of_the_judgements_one_by_one():
    s, d, _ = linked(20, 60, slope=0.6, intercept=0.4, seed=8)
    plain = IsotonicRegression(y_min=0, y_max=1, out_of_bounds="clip").fit(s, d)
    grid = np.linspace(0, 1, 501)
    assert fit_isotonic(tied(s, d == 1)).apply(grid) == pytest.approx(plain.predict(grid), abs=1e-12)


@settings(deadline=None)
@given(ROWS)
def test_maps_are_finite_probabilities_that_preserve_the_base_rate_where_they_were_fitted(rows):
    scores, labels = split(rows)
    grid = np.linspace(0, 1, 101)
    for kind in KINDS:
        fitted = fit(tied(scores, labels), kind)
        found = fitted.apply(grid)
        assert np.isfinite(found).all()
        assert ((found >= 0) & (found <= 1)).all()
    yes, no = labels.sum(), (~labels).sum()
    aim = (yes * (yes + 1) / (yes + 2) + no / (no + 2)) / len(labels)
    assert fit_platt(tied(scores, labels)).apply(scores).mean() == pytest.approx(aim, abs=1e-6)
    isotonic = fit_isotonic(tied(scores, labels))
    assert isotonic.apply(scores).mean() == pytest.approx(labels.mean(), abs=1e-9)
    assert (np.diff(isotonic.apply(grid)) >= 0).all()


def test_suspicion_that_separates_gives_a_finite_map():
    scores = np.array([0.499, 0.499, 0.5, 0.5])
    labels = np.array([False, False, True, True])
    fitted = fit_platt(tied(scores, labels))
    assert np.isfinite([fitted.slope, fitted.intercept]).all()
    # Platt's labels of two each: 3/4 and 1/4
    assert fitted.apply(scores) == pytest.approx([0.25, 0.25, 0.75, 0.75], abs=1e-6)


@pytest.mark.parametrize("score", [0.0, 0.5, 1.0])
def test_suspicion_that_is_always_the_same_becomes_the_base_rate(score):
    scores, labels = np.full(200, score), np.arange(200) < 60
    for kind in KINDS:
        assert fit(tied(scores, labels), kind).apply(np.array([0.0, score, 1.0])) == pytest.approx(0.3, abs=0.01)


def test_extreme_coefficients_stay_probabilities():
    found = PlattMap(slope=1e308, intercept=1e308).apply(np.array([0.0, 0.5, 1.0]))
    assert found.tolist() == [0.0, 1.0, 1.0]
    assert IsotonicMap(points=((0.5, 0.3),)).apply(np.array([0.0, 1.0])).tolist() == [0.3, 0.3]
    assert expit(PlattMap(slope=0.0, intercept=-2.0).intercept) == PlattMap(slope=0.0, intercept=-2.0).apply(0.7)


@pytest.fixture(scope="module")
def columns():
    return synthetic(*linked(30, 40, slope=0.5, intercept=0.6, seed=1))


@pytest.fixture(scope="module")
def section(columns):
    return recalibration(Study(columns))


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_read_is_what_was_fitted(columns, section, kind, tmp_path):
    path = tmp_path / "map.json"
    written = save_map(section, path, kind)
    assert load_map(path) == written
    held = scores_of(columns, "suspicion")
    grid = np.linspace(0, 1, 101)
    assert load_map(path).map.apply(grid).tolist() == fit(held.tied(), kind).apply(grid).tolist()
    assert [entry.name for entry in tmp_path.iterdir()] == ["map.json"]


def test_the_file_carries_where_it_comes_from(section, tmp_path):
    save_map(section, tmp_path / "map.json", "platt")
    told = json.loads((tmp_path / "map.json").read_text())
    assert list(told) == ["format", "version", "wolfbus", "map", "held_out", "n", "games"]
    assert (told["format"], told["version"], told["wolfbus"]) == ("wolfbus-map", 1, __version__)
    assert (told["n"], told["games"], told["held_out"]["folds"], told["held_out"]["blocks"]) == (1200, 30, 5, 30)
    assert told["map"] == section["platt"]["map"]
    for when in ("before", "after"):
        assert told["held_out"][when] == {name: section["platt"][when][name] for name in ("brier", "ece", "auc")}


def test_unless_told_which_the_better_on_held_out_games_is_kept(section):
    briers = {kind: section[kind]["after"]["brier"] for kind in KINDS}
    assert saved_map(section).map.kind == min(briers, key=briers.__getitem__)
    worse = {**section, "platt": {**section["platt"], "after": {**section["platt"]["after"], "brier": 0.9}}}
    assert saved_map(worse).map.kind == "isotonic"
    even = {**section, "isotonic": {**section["isotonic"], "after": section["platt"]["after"]}}
    assert saved_map(even).map.kind == "platt"


def test_without_enough_games_there_is_nothing_to_save(tmp_path):
    with pytest.raises(ConfigError, match=r"map\.json: not written: there is no map to save: no judgement"):
        save_map(recalibration(Study(columns_of([]))), tmp_path / "map.json")
    assert not list(tmp_path.iterdir())


def test_a_place_that_cannot_be_written_is_named(section, tmp_path):
    with pytest.raises(ConfigError, match=r"nowhere.*cannot be written: no such file or directory"):
        save_map(section, tmp_path / "nowhere" / "map.json")


GONE = object()


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"format": "other"}, "format: no map of wolfbus"),
        ({"version": 2}, "version: this wolfbus reads version 1, the file has 2"),
        ({"version": True}, "version: this wolfbus reads version 1, the file has True"),
        ({"version": "1\n\x1b[2J"}, "version: this wolfbus reads version 1"),
        ({"version": GONE}, "version: this wolfbus reads version 1, the file has None"),
        ({"map": GONE}, "map: "),
        ({"map": {"kind": "cubic"}}, "map: "),
        ({"map": {"kind": "platt", "slope": 1.0}}, "map.platt.intercept: "),
        ({"map": {"kind": "platt", "slope": "1", "intercept": 0.0}}, "map.platt.slope: "),
        ({"map": {"kind": "platt", "slope": float("nan"), "intercept": 0.0}}, "map.platt.slope: "),
        ({"map": {"kind": "platt", "slope": float("inf"), "intercept": 0.0}}, "map.platt.slope: "),
        ({"map": {"kind": "platt", "slope": 1.0, "intercept": 0.0, "clip": 0.0}}, "map.platt.clip: "),
        ({"map": {"kind": "isotonic", "points": []}}, "map.isotonic.points: "),
        (
            {"map": {"kind": "isotonic", "points": [[0.1, 0.2], [0.1, 0.3]]}},
            "map.isotonic.points: .*point 1: susp.* rise",
        ),
        (
            {"map": {"kind": "isotonic", "points": [[0.1, 0.2], [0.2, 0.1]]}},
            "map.isotonic.points: .*point 1: prob.* fall",
        ),
        ({"map": {"kind": "isotonic", "points": [[0.1, 1.2]]}}, "map.isotonic.points.0.1: "),
        ({"map": {"kind": "isotonic", "points": [[0.1]]}}, "map.isotonic.points.0.1: "),
        ({"held_out": {}}, "held_out.before: "),
        ({"n": 0}, "n: "),
        ({"games": 1.5}, "games: "),
        ({"colour": "blue"}, "colour: "),
    ],
)
def test_a_file_that_is_no_map_is_refused_in_one_line_that_names_file_and_member(section, tmp_path, change, named):
    path = tmp_path / "map.json"
    save_map(section, path)
    told = json.loads(path.read_text()) | change
    path.write_text(json.dumps({name: value for name, value in told.items() if value is not GONE}))
    with pytest.raises(ConfigError, match=named) as caught:
        load_map(path)
    assert str(caught.value).startswith(f"{path}: ")
    assert str(caught.value).isprintable()


@pytest.mark.parametrize("content", [b"", b"{", b"\xff\xfe", b"[" * 100_000, b"[]", b"7", b"null"])
def test_what_is_no_json_object_is_refused_in_one_line(tmp_path, content):
    path = tmp_path / "map.json"
    path.write_bytes(content)
    with pytest.raises(ConfigError, match=r"map\.json: (not JSON|format: no map of wolfbus)"):
        load_map(path)


def test_a_file_that_is_not_there_is_named(tmp_path):
    with pytest.raises(ConfigError, match=r"gone\.json: no such file"):
        load_map(tmp_path / "gone.json")
    with pytest.raises(ConfigError, match=": is a directory"):
        load_map(tmp_path)


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
