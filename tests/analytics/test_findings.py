"""All findings together: their sections, and what holds of every one of them whatever the games are."""

from __future__ import annotations

import json
import math
from dataclasses import replace

import pytest

import analytics.findings as module
from analytics.columns import ColumnsBuilder
from analytics.findings import findings
from analytics.gather import Gathered
from analytics.measures.ledger import Ledger
from tests.analytics.script import Script, leaves, random_game

GAMES = [random_game(seed).rows() for seed in range(10)]


def gathered(games) -> Gathered:
    """The games, taken in by two processes."""
    ledger, parts = Ledger(), (ColumnsBuilder(), ColumnsBuilder())
    for at, game in enumerate(games):
        ledger.add(game)
        parts[at % 3 == 1].add(game)
    parts[1].merge(parts[0])
    return Gathered(parts[1].columns(), ledger, (), ())


def found(games):
    return findings(gathered(games))


@pytest.fixture(scope="module")
def whole():
    return found(GAMES)


def test_neither_order_nor_partition_nor_seating_leave_a_trace(whole):
    turned = found([replace(game, seats=dict(reversed(game.seats.items()))) for game in reversed(GAMES)])
    # whether the place at the table counts is of places
    for name in whole.keys() - {"bias"}:
        assert json.dumps(turned[name]) == json.dumps(whole[name]), name


def test_two_processes_find_what_one_finds(monkeypatch, whole):
    monkeypatch.setattr(module, "LARGE", 0)
    assert found(GAMES) == whole


def missing(name: str):
    script = Script(name).dawn()
    script.said("Wim", "timed_out", dict.fromkeys(["Vic", "Sia", "Wes"], "declined"))
    return script.exile().end().rows()


def of_one_label(name: str, label: bool):
    script = Script(name).dawn()
    for speaker in ("Wim", "Vic"):
        script.said(speaker, label, {"Sia": (True, 0.9), "Val": (False, 0.2)})
    return script.rows()


FEW = {
    "no games": [],
    "one game": GAMES[:1],
    "two games": GAMES[:2],
    "nothing answered": [missing(f"g{at}") for at in range(6)],
    "only truthful": [of_one_label(f"g{at}", False) for at in range(6)],
    "only deceptive": [of_one_label(f"g{at}", True) for at in range(6)],
    "fillers": [random_game(seed).rows(include_defaulted=True) for seed in range(3)],
    "a game twice": [GAMES[0], replace(GAMES[0], game="again")],
}


def estimates(value, path=()):
    """Yield every estimate of nested findings, with its path."""
    if isinstance(value, dict):
        if {"value", "low", "high", "n"} <= value.keys():
            yield path, value
        for name, each in value.items():
            yield from estimates(each, (*path, name))
    elif isinstance(value, list):
        for each in value:
            yield from estimates(each, path)


@pytest.mark.parametrize("games", FEW.values(), ids=FEW)
def test_what_is_undefined_is_null_with_its_reason_and_json_takes_everything(whole, games):
    told = found(games)
    assert set(told) == set(whole)
    assert json.loads(json.dumps(told, allow_nan=False)) == told
    for path, row in estimates(told):
        if "reason" in row:
            assert (row["value"] is None) == (row["reason"] is not None), path
        if row["value"] is None:
            assert (row["low"], row["high"]) == (None, None), path
        elif row["low"] is None and "wins" not in path[-1]:
            assert row["interval_reason"], path
    if len(games) < 5:
        assert not [path for path, leaf in leaves(told["intervals"]) if leaf is not None]
        few = told["variability"]["metrics"]["accuracy"]
        assert few["value"] is None or few["interval_reason"].startswith("fewer than 5 games (blocks)")
    for row in told["table4"]["suspicion"]["by_observer"].values():
        assert set(row["undefined"]) == {
            name for name in row if row[name] is None and name not in ("reliability", "undefined")
        }
    if not games:
        assert told["agents"] == told["truth"]["by_agent"] == told["skill"]["agents"] == {}


def test_intervals_hold_the_values_that_they_are_of(whole):
    for path, row in estimates(whole):
        if row["value"] is not None and row["low"] is not None and not str(path[-1]).startswith("ece"):
            assert math.isfinite(row["value"])
            assert row["low"] - 1e-9 <= row["value"] <= row["high"] + 1e-9, path
