"""All figures together: they stream, merge, ignore order and names, keep little of a game; what holds of them all."""

from __future__ import annotations

import gc
import json
import math
import random
import tracemalloc
from collections.abc import Iterator
from dataclasses import replace

import pytest

import analytics.findings as module
from analytics.findings import TABLES, Metrics, findings, metrics
from analytics.gather import GameRows, fold
from analytics.measures import Study, columns_of
from tests.analytics.script import TABLE, Script, gathered, held_by, leaves, random_game

GAMES = [random_game(seed).rows() for seed in range(10)]
METRICS = metrics(GAMES)


def found(games):
    return findings(gathered(games))


@pytest.fixture(scope="module")
def whole():
    return found(GAMES)


@pytest.mark.parametrize("seed", range(6))
def test_any_order_and_any_partition_gives_equal_results_to_the_last_bit(seed, monkeypatch):
    monkeypatch.setattr("analytics.findings.AT_ONCE", seed + 1)
    total = Metrics()
    for game in random.Random(seed).sample(GAMES, len(GAMES)):
        total.add(game)
        if seed % 2:
            # what is asked in between leaves no trace
            total.result()
    assert total.result() == METRICS


def test_names_and_the_order_of_answers_within_a_batch_do_not_matter():
    renamed = dict(zip([f"P{place}" for place in range(8)], TABLE.values(), strict=True))
    assert metrics([random_game(3, table=renamed).rows()]) == metrics([random_game(3).rows()])
    script = random_game(8)
    shuffled = script.events[:]
    start = 0
    while start < len(shuffled):
        end = start
        while end < len(shuffled) and shuffled[end].type == "answered" and shuffled[end].batch == shuffled[start].batch:
            end += 1
        shuffled[start:end] = reversed(shuffled[start:end])
        start = max(end, start + 1)
    assert metrics([fold(shuffled)]) == metrics([script.rows(aware=True)])


def test_neither_order_nor_partition_nor_seating_leave_a_trace(whole):
    turned = found([replace(game, seats=dict(reversed(game.seats.items()))) for game in reversed(GAMES)])
    # whether the place at the table counts is of places
    for name in whole.keys() - {"bias", "files"}:
        assert json.dumps(turned[name]) == json.dumps(whole[name]), name


def test_two_processes_find_what_one_finds(monkeypatch):
    one = found(GAMES[:3])
    monkeypatch.setattr(module, "LARGE", 0)
    assert found(GAMES[:3]) == one


def silent(name: str, **options) -> GameRows:
    """A game in which nothing is answered."""
    script = Script(name)
    for _ in range(2):
        script.dawn()
        script.said("Wim", "timed_out", dict.fromkeys(["Vic", "Sia", "Wes"], "declined"))
        script.exile()
    return script.end().rows(**options)


def of_one_label(name: str, label: bool):
    script = Script(name).dawn()
    for speaker in ("Wim", "Vic"):
        script.said(speaker, label, {"Sia": (True, 0.9), "Val": (False, 0.2)})
    return script.rows()


def test_a_game_in_which_everything_is_missing_gives_nulls_and_no_zeros():
    result, filled = metrics([silent("g")]), metrics([silent("g", include_defaulted=True)])
    assert result["labels"] == filled["labels"] == {"total": 8, "clean": 0, "repaired": 0, "defaulted": 8}
    counts = {"n", "pairs", "tp", "tn", "fp", "fn", "statements", "labelled", "deceptive", "count"}
    counts |= {"suspicion_n", "flagged_n", "paper_reading_rounds", "reason"}
    for name in ("table1", "table2", "table3", "table5", "figure1", "trends"):
        for path, leaf in leaves(result[name]):
            assert leaf is None or path[-1] in counts, (name, path)
    assert result["production"]["overall"]["rate"] is None
    assert (filled["table3"]["overall"]["tn"], filled["table1"]["Werewolf"]["suspicion"]) == (6, 0.5)
    assert filled["figure1"]["suspicion"]["Werewolf"] == []


def test_labels_are_counted_by_how_they_were_read_and_games_folded_differently_are_told_apart():
    script = Script().dawn()
    number = script.say("Wim")
    script.label(number, "Wim", True, reading="clean")
    readings = ("clean", "extracted", "repaired", "coerced", "reasked")
    for observer, reading in zip(("Vic", "Val", "Vox", "Von", "Sia"), readings, strict=True):
        script.judge(number, observer, (True, 0.5), reading=reading)
    script.judge(number, "Doc", "timed_out")
    script.say("Vic")
    found = metrics([script.rows(), random_game(1).rows(alpha=0.2, include_defaulted=True)])
    assert found["settings"] == {"alpha": [0.2, 0.7], "prior": [0.5], "include_defaulted": [False, True]}
    assert metrics([script.rows()])["labels"] == {"total": 7, "clean": 2, "repaired": 4, "defaulted": 1}


PARTS = 16
"""Games are summed up so many at a time."""


@pytest.fixture
def in_small_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("analytics.findings.AT_ONCE", PARTS)


def drawn(count: int, agents: int = 8) -> Iterator[GameRows]:
    """Yield that many drawn, each seat held by one of some agents."""
    for number in range(count):
        game = GAMES[number % len(GAMES)]
        agent_of = {name: f"agent{(3 * number + place) % agents}" for place, name in enumerate(game.seats)}
        yield replace(held_by(game, agent_of), game=f"game-{number:032}")


def kept(count: int) -> int:
    """Return the bytes that metrics hold after that many drawn."""
    gc.collect()
    before = tracemalloc.get_traced_memory()[0]
    held = Metrics()
    for game in drawn(count):
        held.add(game)
    gc.collect()
    return tracemalloc.get_traced_memory()[0] - before


def test_a_game_leaves_a_kilobyte_and_a_half_even_where_eight_agents_play(in_small_parts):
    kept(2 * PARTS)
    tracemalloc.start()
    try:
        a_game = (kept(6 * PARTS) - kept(2 * PARTS)) / (4 * PARTS)
    finally:
        tracemalloc.stop()
    assert 0 < a_game < 1600


def test_values_equal_those_of_every_single_entry_to_the_last_bit_and_intervals_to_the_twelfth_digit(in_small_parts):
    many = list(drawn(3 * PARTS + 1))
    estimates, streamed = Study(columns_of(many)).estimates, metrics(many)
    expected = dict(leaves({name: table(estimates) for name, table in TABLES.items()}))
    told = dict(leaves({name: streamed[name] for name in TABLES}))
    assert told.keys() == expected.keys()
    for path, value in expected.items():
        end = value is not None and path[0] in {"events", "votes"} and path[-1] in {"low", "high"}
        assert told[path] == (pytest.approx(value, rel=1e-12) if end else value), path


def test_metrics_that_keep_no_single_games_refuse_what_needs_them():
    held = Metrics(pooled=True)
    for game in GAMES:
        held.add(game)
    assert held.sections("outcomes", "headline") == {name: METRICS[name] for name in ("outcomes", "headline")}
    with pytest.raises(ValueError, match="only totals"):
        held.sections("votes")


FEW = {
    "no games": [],
    "one game": GAMES[:1],
    "nothing answered": [silent(f"g{at}") for at in range(6)],
    "only truthful": [of_one_label(f"g{at}", False) for at in range(6)],
    "only deceptive": [of_one_label(f"g{at}", True) for at in range(6)],
    "fillers": [random_game(seed).rows(include_defaulted=True) for seed in range(3)],
}


def estimates(value, path=()):
    """Yield every estimate of nested findings, with its path."""
    if isinstance(value, dict) and {"value", "low", "high", "n"} <= value.keys():
        yield path, value
    for name, each in value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ():
        yield from estimates(each, (*path, name))


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
        missing = {name for name in row if row[name] is None and name not in ("reliability", "undefined")}
        assert set(row["undefined"]) == missing
    if not games:
        assert told["agents"] == told["truth"]["by_agent"] == told["skill"]["agents"] == {}


def test_intervals_hold_the_values_that_they_are_of(whole):
    for path, row in estimates(whole):
        if row["value"] is not None and row["low"] is not None and not str(path[-1]).startswith("ece"):
            assert math.isfinite(row["value"])
            assert row["low"] - 1e-9 <= row["value"] <= row["high"] + 1e-9, path
