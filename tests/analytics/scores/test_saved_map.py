"""A map as a file: what is written, what is read, and what is refused in one line."""

from __future__ import annotations

import json

import numpy as np
import pytest

from analytics.columns import columns_of
from analytics.measures.maps import KINDS, fit, load_map, save_map, saved_map
from analytics.measures.recalibration import recalibration
from analytics.measures.scores import scores_of
from analytics.measures.study import Study
from tests.analytics.scores.synthetic import linked, synthetic
from wolfbus import __version__
from wolfbus.errors import ConfigError


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


def test_a_section_that_json_gave_back_is_as_good(section):
    assert saved_map(json.loads(json.dumps(section))) == saved_map(section)


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
