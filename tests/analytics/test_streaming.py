"""All figures together: they stream, merge, ignore order and names, and keep little of a game."""

from __future__ import annotations

import gc
import math
import random
import tracemalloc
from collections.abc import Iterator
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from analytics.columns import columns_of
from analytics.findings import TABLES, Metrics, metrics, tables
from analytics.measures.summing import sums_of
from analytics.measures.sums import Estimates
from analytics.rows import GameRows
from tests.analytics.script import TABLE, Script, held_by, leaves, random_game
from wolfbus.usage import Mean

GAMES = [random_game(seed).rows() for seed in range(14)]


WHOLE = metrics(GAMES)


@given(st.integers(0, 2**32))
@settings(max_examples=15, deadline=None)
def test_any_order_and_any_partition_gives_equal_results_to_the_last_bit(seed):
    rng = random.Random(seed)
    games = GAMES[:]
    rng.shuffle(games)
    parts = [Metrics() for _ in range(rng.randint(1, 5))]
    for game in games:
        rng.choice(parts).add(game)
    rng.shuffle(parts)
    whole = Metrics()
    for part in parts:
        whole.merge(part)
    assert whole.result() == WHOLE


def test_merging_leaves_what_was_merged_as_it_was():
    one, other = Metrics(), Metrics()
    one.add(GAMES[0])
    other.add(GAMES[1])
    before = other.result()
    one.merge(other)
    one.add(GAMES[2])
    assert other.result() == before
    assert one.result() == metrics(GAMES[:3])


def test_a_metrics_may_be_merged_with_itself():
    doubled = Metrics()
    doubled.add(GAMES[0])
    doubled.merge(doubled)
    assert doubled.result() == metrics([GAMES[0]] * 2)


def test_names_do_not_matter():
    renamed = dict(zip([f"P{place}" for place in range(8)], TABLE.values(), strict=True))
    assert metrics([random_game(3, table=renamed).rows()]) == metrics([random_game(3).rows()])


def test_the_order_of_answers_within_a_batch_does_not_matter():
    script = random_game(8)
    shuffled = script.events[:]
    start = 0
    while start < len(shuffled):
        end = start
        while end < len(shuffled) and shuffled[end].type == "answered" and shuffled[end].batch == shuffled[start].batch:
            end += 1
        shuffled[start:end] = reversed(shuffled[start:end])
        start = max(end, start + 1)
    from analytics.fold import fold

    assert metrics([fold(shuffled)]) == metrics([script.rows(aware=True)])


def test_a_game_in_which_everything_is_missing_gives_nulls_and_no_zeros():
    script = Script()
    for _ in range(2):
        script.dawn()
        script.said("Wim", "timed_out", dict.fromkeys(["Vic", "Sia", "Wes"], "declined"))
        script.exile()
    result = metrics([script.end().rows()])
    assert result["labels"] == {"total": 8, "clean": 0, "repaired": 0, "defaulted": 8}
    for name in ("table1", "table2", "table3", "table5", "figure1", "trends"):
        for path, leaf in leaves(result[name]):
            counts = {"n", "pairs", "tp", "tn", "fp", "fn", "statements", "labelled", "deceptive", "count"}
            if path[-1] not in counts | {"suspicion_n", "flagged_n", "paper_reading_rounds", "reason"}:
                assert leaf is None, (name, path)
    assert result["production"]["overall"]["rate"] is None
    filled = metrics([script.rows(include_defaulted=True)])
    assert filled["table3"]["overall"]["tn"] == 6
    assert filled["table1"]["Werewolf"]["suspicion"] == 0.5
    assert filled["figure1"]["suspicion"]["Werewolf"] == []
    assert filled["labels"] == result["labels"]


def test_labels_are_counted_by_how_they_were_read():
    script = Script().dawn()
    number = script.say("Wim")
    script.label(number, "Wim", True, reading="clean")
    for observer, reading in zip(
        ("Vic", "Val", "Vox", "Von", "Sia"), ("clean", "extracted", "repaired", "coerced", "reasked"), strict=True
    ):
        script.judge(number, observer, (True, 0.5), reading=reading)
    script.judge(number, "Doc", "timed_out")
    script.say("Vic")
    assert metrics([script.rows()])["labels"] == {"total": 7, "clean": 2, "repaired": 4, "defaulted": 1}


def test_games_folded_differently_are_told_apart():
    script = random_game(1)
    mixed = metrics([script.rows(), script.rows(alpha=0.2, include_defaulted=True)])["settings"]
    assert mixed == {"alpha": [0.2, 0.7], "prior": [0.5], "include_defaulted": [False, True]}


@given(st.lists(st.floats(-1e6, 1e6)), st.integers(0, 10))
def test_a_mean_is_the_correctly_rounded_sum_over_the_count_in_any_partition(values, cut):
    one, other = Mean(), Mean()
    for place, value in enumerate(values):
        (one if place < cut else other).add(value)
    other.merge(one)
    assert other.total() == math.fsum(values)
    assert other.mean() == (math.fsum(values) / len(values) if values else None)


PLAYED = [random_game(seed).rows() for seed in range(16)]


@pytest.fixture
def in_small_parts(monkeypatch: pytest.MonkeyPatch) -> int:
    """Games are summed up sixteen by sixteen; returns how many that is."""
    monkeypatch.setattr("analytics.findings.AT_ONCE", 16)
    return 16


def drawn(count: int, agents: int) -> Iterator[GameRows]:
    """Yield that many drawn, each seat held by one of some agents."""
    for number in range(count):
        game = PLAYED[number % len(PLAYED)]
        agent_of = {name: f"agent{(3 * number + place) % agents}" for place, name in enumerate(game.seats)}
        yield replace(held_by(game, agent_of), game=f"game-{number:032}")


def kept(count: int, agents: int) -> int:
    """Return the bytes that metrics hold after that many drawn."""
    gc.collect()
    before = tracemalloc.get_traced_memory()[0]
    held = Metrics()
    for game in drawn(count, agents):
        held.add(game)
    gc.collect()
    return tracemalloc.get_traced_memory()[0] - before


def test_a_game_leaves_a_kilobyte_and_a_half_even_where_eight_agents_play(in_small_parts):
    few, many = 2 * in_small_parts, 6 * in_small_parts
    kept(few, 8)
    tracemalloc.start()
    try:
        a_game = (kept(many, 8) - kept(few, 8)) / (many - few)
    finally:
        tracemalloc.stop()
    assert 0 < a_game < 1600


def test_values_equal_those_of_every_single_entry_to_the_last_bit_and_intervals_to_the_twelfth_digit(in_small_parts):
    many = list(drawn(3 * in_small_parts + 1, 8))
    whole = dict(leaves(tables(Estimates(sums_of(columns_of(many))))))
    streamed = metrics(many)
    found = dict(leaves({name: streamed[name] for name in TABLES}))
    assert found.keys() == whole.keys()
    for path, value in whole.items():
        end = value is not None and path[0] in {"events", "votes"} and path[-1] in {"low", "high"}
        assert found[path] == (pytest.approx(value, rel=1e-12) if end else value), path


def test_metrics_that_keep_no_single_games_refuse_what_needs_them():
    held = Metrics(pooled=True)
    for game in PLAYED:
        held.add(game)
    whole = metrics(PLAYED)
    assert held.sections("outcomes", "headline") == {name: whole[name] for name in ("outcomes", "headline")}
    with pytest.raises(ValueError, match="only totals"):
        held.sections("votes")
