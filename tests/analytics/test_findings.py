"""All figures together: they stream, merge, ignore order and names, keep little of a game; what holds of them all."""

import json
import math
import random
import re
from dataclasses import replace

import pytest

from analytics.findings import Metrics, findings, metrics, results_of
from analytics.gather import GameRows, fold
from analytics.metrics.study import Study
from tests.analytics.script import TABLE, Script, gathered, leaves, random_game

GAMES = [random_game(seed).rows() for seed in range(10)]
METRICS = metrics(GAMES)


def found(games):
    return findings(gathered(games))


@pytest.fixture(scope="module")
def whole():
    return found(GAMES)


@pytest.mark.parametrize("games", [0, 1, 8])
def test_a_figure_says_what_it_is_over_and_why_it_is_undefined(games):
    uncounted = re.compile("first_separable_round|names_p|(fold_|whole_)?threshold")
    for row in results_of(Study(gathered(GAMES[:games]).tables)):
        assert row.reason if row.value is None else row.reason != "", row
        assert row.n is not None or uncounted.fullmatch(row.metric) or row.value == int(row.value), row


@pytest.mark.parametrize("seed", range(2))
def test_any_order_and_any_partition_gives_equal_results_to_the_last_bit(seed, monkeypatch):
    monkeypatch.setattr("analytics.tables._LOOSE", seed + 1)
    total = Metrics()
    for game in random.Random(seed).sample(GAMES, len(GAMES)):
        total.add(game)
        if seed % 2:
            # what is asked in between leaves no trace
            total.live()
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
