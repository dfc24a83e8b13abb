"""Platt and isotonic maps: fitted, saved by `report --save-map`, refused in one line, applied by `replay --map`."""

from __future__ import annotations

import errno
import json

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import expit, logit
from sklearn.isotonic import IsotonicRegression
from sklearn.metrics import brier_score_loss

from analytics.gather import gather
from analytics.measures import Study
from tests.analytics.script import measured
from tests.analytics.synthetic import linked, synthetic
from tests.golden.played import unpacked
from wolfbus import __version__
from wolfbus.cli import run

KINDS = ("platt", "isotonic")


def maps_of(scores, labels, games=None):
    """Both maps, fitted on all games."""
    found = measured("recalibration", synthetic(scores, labels, np.arange(len(labels)) % 6 if games is None else games))
    return {kind: found[kind]["map"] for kind in KINDS}


def applied(found, scores):
    if found["kind"] == "isotonic":
        return np.interp(scores, *np.transpose(found["points"]))
    return expit(found["slope"] * logit(np.clip(scores, found["clip"], 1 - found["clip"])) + found["intercept"])


@pytest.mark.parametrize(("slope", "intercept"), [(0.4, 0.8), (1.0, 0.0), (2.0, -1.0), (-0.7, 0.2)])
def test_platt_recovers_the_link_that_judgements_were_drawn_from(slope, intercept):
    fitted = maps_of(*linked(200, 200, slope=slope, intercept=intercept, seed=5))["platt"]
    assert (fitted["slope"], fitted["intercept"]) == pytest.approx((slope, intercept), abs=0.05)


def test_platt_is_the_minimum_of_the_likelihood_of_platts_labels_and_isotonic_is_scikit_learns():
    s, d, game = linked(20, 30, slope=0.6, intercept=0.4, seed=7)
    yes, no = int(d.sum()), int((1 - d).sum())
    aim = np.where(d == 1, (yes + 1) / (yes + 2), 1 / (no + 2))
    at = logit(np.clip(s, 0.005, 0.995))

    def loss(ab):
        return np.mean(np.logaddexp(0, ab[0] * at + ab[1]) - aim * (ab[0] * at + ab[1]))

    least = minimize(loss, [0.0, 0.0], method="Nelder-Mead", options={"xatol": 1e-9, "fatol": 1e-14, "maxiter": 2_000})
    found = maps_of(s, d, game)
    own = [found["platt"]["slope"], found["platt"]["intercept"]]
    assert own == pytest.approx(least.x, abs=1e-5)
    assert loss(own) <= least.fun + 1e-12
    plain = IsotonicRegression(y_min=0, y_max=1, out_of_bounds="clip").fit(s, d)
    grid = np.linspace(0, 1, 501)
    assert applied(found["isotonic"], grid) == pytest.approx(plain.predict(grid), abs=1e-12)


@pytest.mark.parametrize(
    ("scores", "labels"),
    [
        ([0.499, 0.499, 0.5, 0.5] * 6, [0, 0, 1, 1] * 6),
        *(([score] * 200, [1] * 60 + [0] * 140) for score in (0.0, 0.5, 1.0)),
        ([0.0, 1.0] * 12, [1, 0] * 12),
        (np.linspace(0, 1, 60), [1, 0, 0] * 20),
    ],
)
def test_maps_are_finite_probabilities_that_preserve_the_base_rate_where_they_were_fitted(scores, labels):
    found = maps_of(scores, labels, np.random.default_rng(1).permutation(len(labels)) % 6)
    grid, yes, no = np.linspace(0, 1, 101), sum(labels), len(labels) - sum(labels)
    for each in found.values():
        made = applied(each, grid)
        assert np.isfinite(made).all()
        assert ((made >= 0) & (made <= 1)).all()
    # Platt's labels are drawn in by one judgement of each
    aim = (yes * (yes + 1) / (yes + 2) + no / (no + 2)) / len(labels)
    assert applied(found["platt"], scores).mean() == pytest.approx(aim, abs=1e-6)
    assert applied(found["isotonic"], scores).mean() == pytest.approx(yes / len(labels), abs=1e-9)
    assert (np.diff(applied(found["isotonic"], grid)) >= 0).all()


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    """A study's folder, the map that a report saves of it, and what its findings say."""
    folder = unpacked("scripted", tmp_path_factory.mktemp("maps"))
    assert (
        run(["report", str(folder), "--findings", str(folder / "f.json"), "--save-map", str(folder / "map.json")]) == 0
    )
    return folder, json.loads((folder / "map.json").read_text()), json.loads((folder / "f.json").read_text())


@pytest.fixture(scope="module")
def record(saved):
    return min((saved[0] / "records").glob("*.ndjson"))


def test_the_file_carries_the_better_map_on_held_out_games_and_where_it_comes_from(saved):
    folder, told, findings = saved
    section = findings["recalibration"]
    briers = {kind: section[kind]["after"]["brier"] for kind in KINDS}
    own = section[min(briers, key=briers.__getitem__)]
    assert list(told) == ["format", "version", "wolfbus", "map", "held_out", "n", "games"]
    assert (told["format"], told["version"], told["wolfbus"]) == ("wolfbus-map", 1, __version__)
    assert (told["map"], told["n"], told["games"]) == (own["map"], own["before"]["n"], 12)
    assert told["held_out"] == {
        **{when: {name: own[when][name] for name in ("brier", "ece", "auc")} for when in ("before", "after")},
        "folds": 5,
        "blocks": section["blocks"],
    }
    assert not [path for path in folder.iterdir() if "map" in path.name and path.name != "map.json"]


def replayed(record, path, capsys):
    capsys.readouterr()
    assert run(["replay", str(record), "--json", "--map", str(path)]) == 0
    return json.loads(capsys.readouterr().out)


@pytest.mark.parametrize(
    "mapped",
    [
        {"kind": "platt", "slope": 0.0, "intercept": 0.0},
        {"kind": "platt", "slope": 0.5, "intercept": -1.0},
        {"kind": "platt", "slope": 1e308, "intercept": 1e308},
        {"kind": "isotonic", "points": [[0.5, 0.3]]},
        {"kind": "isotonic", "points": [[0.2, 0.1], [0.4, 0.6], [0.9, 0.7]]},
    ],
)
def test_replay_shows_the_scores_of_a_record_before_and_after(saved, record, mapped, tmp_path, capsys):
    (tmp_path / "map.json").write_text(json.dumps(saved[1] | {"map": mapped}))
    told = replayed(record, tmp_path / "map.json", capsys)["recalibrated"]
    held = Study(gather([record], workers=1).columns).scores("suspicion")
    with np.errstate(over="ignore"):
        made = applied({"clip": 0.005, **mapped}, held.scores)
    assert told["before"]["brier"] == pytest.approx(brier_score_loss(held.deceptive, held.scores))
    assert told["after"]["brier"] == pytest.approx(brier_score_loss(held.deceptive, made))
    assert told["before"]["n"] == told["after"]["n"] == len(held.scores)
    assert (told["map"]["kind"], told["map"]["n"]) == (mapped["kind"], saved[1]["n"])


def test_a_map_adds_its_scores_to_a_replay_and_changes_nothing_else(saved, record, capsys):
    found = replayed(record, saved[0] / "map.json", capsys)
    section = found.pop("recalibrated")
    assert run(["replay", str(record), "--json"]) == 0
    assert found == json.loads(capsys.readouterr().out)
    assert run(["replay", str(record), "--map", str(saved[0] / "map.json")]) == 0
    shown = capsys.readouterr().out
    assert f"{section['after']['brier']:.3f}" in shown
    assert "Suspicion recalibrated by" in shown


GONE = object()
CHANGES = [
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
    ({"map": {"kind": "isotonic", "points": [[0.1, 0.2], [0.1, 0.3]]}}, "point 1: suspicions must rise"),
    ({"map": {"kind": "isotonic", "points": [[0.1, 0.2], [0.2, 0.1]]}}, "point 1: probabilities must not fall"),
    ({"map": {"kind": "isotonic", "points": [[0.1, 1.2]]}}, "map.isotonic.points.0.1: "),
    ({"map": {"kind": "isotonic", "points": [[0.1]]}}, "map.isotonic.points.0.1: "),
    ({"held_out": {}}, "held_out.before: "),
    ({"n": 0}, "n: "),
    ({"games": 1.5}, "games: "),
    ({"colour": "blue"}, "colour: "),
]
NO_MAPS = [
    *((content, "not JSON") for content in (b"", b"{", b"\xff\xfe", b"[" * 100_000)),
    *((content, "format: no map of wolfbus") for content in (b"[]", b"7", b"null")),
    (None, "no such file"),
]


@pytest.mark.parametrize(("content", "named"), [*CHANGES, *NO_MAPS])
def test_what_is_no_map_is_refused_in_one_line_that_names_file_and_member_before_a_record_is_read(
    saved, tmp_path, capsys, content, named
):
    path = tmp_path / "map.json"
    if isinstance(content, dict):
        told = saved[1] | content
        content = json.dumps({name: value for name, value in told.items() if value is not GONE}).encode()
    if content is not None:
        path.write_bytes(content)
    assert run(["replay", str(tmp_path / "gone.ndjson"), "--map", str(path)]) == 2
    line = capsys.readouterr().err.removesuffix("\n")
    assert line.startswith(f"wolfbus: {path}: ")
    assert named in line
    assert line.isprintable()


def test_without_enough_games_or_a_place_to_write_there_is_nothing_to_save(record, tmp_path, capsys):
    for place, why in (("map.json", "not written: there is no map to save: "), ("nowhere/map.json", "no such folder")):
        assert run(["report", str(record), "--save-map", str(tmp_path / place)]) == 2
        line = capsys.readouterr().err
        assert why in line
        assert line.count("\n") == 1
    assert not list(tmp_path.iterdir())


def test_a_disk_that_is_full_is_one_line(saved, tmp_path, capsys, monkeypatch):
    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("analytics.measures.maps.write_whole", full)
    assert run(["report", str(saved[0]), "--save-map", str(tmp_path / "map.json")]) == 2
    assert capsys.readouterr().err == f"wolfbus: {tmp_path / 'map.json'}: cannot be written: no space left on device\n"


@pytest.mark.parametrize("view", [["--until", "3"], ["--as", "Ada"], ["--calls"], ["--prompt", "3"]])
def test_views_that_show_no_metrics_take_no_map(record, saved, view):
    assert run(["replay", str(record), "--map", str(saved[0] / "map.json"), *view]) == 2
