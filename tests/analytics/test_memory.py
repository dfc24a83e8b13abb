"""What metrics that run for weeks keep of a game."""

from __future__ import annotations

import gc
import tracemalloc
from collections.abc import Iterator
from dataclasses import replace

import pytest

from analytics.columns import columns_of
from analytics.findings import TABLES, Metrics, metrics, tables
from analytics.measures.summing import sums_of
from analytics.measures.sums import Estimates
from analytics.rows import GameRows
from tests.analytics.script import held_by, random_game

PLAYED = [random_game(seed).rows() for seed in range(16)]


@pytest.fixture
def in_small_parts(monkeypatch: pytest.MonkeyPatch) -> int:
    """Games are summed up sixteen by sixteen; returns how many that is."""
    monkeypatch.setattr("analytics.findings.AT_ONCE", 16)
    return 16


def games(count: int, agents: int) -> Iterator[GameRows]:
    """Yield that many games, each seat held by one of some agents."""
    for number in range(count):
        game = PLAYED[number % len(PLAYED)]
        agent_of = {name: f"agent{(3 * number + place) % agents}" for place, name in enumerate(game.seats)}
        yield replace(held_by(game, agent_of), game=f"game-{number:032}")


def kept(count: int, agents: int) -> int:
    """Return the bytes that metrics hold after that many games."""
    gc.collect()
    before = tracemalloc.get_traced_memory()[0]
    held = Metrics()
    for game in games(count, agents):
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


def leaves(value: object, *path: object) -> Iterator[tuple[tuple[object, ...], object]]:
    """Yield every value of nested results, with its path."""
    if not isinstance(value, dict | list):
        yield path, value
        return
    for name, item in value.items() if isinstance(value, dict) else enumerate(value):
        yield from leaves(item, *path, name)


def test_values_equal_those_of_every_single_entry_to_the_last_bit_and_intervals_to_the_twelfth_digit(in_small_parts):
    many = list(games(3 * in_small_parts + 1, 8))
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
