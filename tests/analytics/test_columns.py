"""Rows as columns: nothing is lost, moved or dependent on the order of games."""

from __future__ import annotations

import pickle
import random

import numpy as np
import pytest

from analytics.gather import GameRows, fold
from analytics.measures import Columns, ColumnsBuilder, columns_of, joined
from tests.analytics.script import named
from tests.game.driver import play
from wolfbus.vocabulary import ROLES


@pytest.fixture(scope="module")
def games() -> list[GameRows]:
    # ids must differ, and not be in the order of playing
    return [named(fold(play(seed=f"columns {n}").events), name) for n, name in enumerate("fbdace")]


def same(one: Columns, other: Columns) -> bool:
    return (
        (one.ids, one.seeds, one.block_names, one.agents) == (other.ids, other.seeds, other.block_names, other.agents)
        and np.array_equal(one.blocks, other.blocks)
        and all(
            np.array_equal(getattr(one, table)[name], values, equal_nan=values.dtype.kind == "f")
            for table in ("games", "seats", "statements", "judgements", "votes", "pairs")
            for name, values in getattr(other, table).items()
        )
    )


def test_every_row_stands_in_the_columns_as_it_is(games):
    columns = columns_of(games)
    by_id = {game.game: game for game in games}
    assert columns.ids == tuple("abcdef")
    statements = [row for name in columns.ids for row in by_id[name].statements]
    judgements = [row for name in columns.ids for row in by_id[name].judgements]
    said, judged = columns.statements, columns.judgements
    assert [(columns.ids[game], number, ROLES[role], columns.agents[agent]) for game, number, role, agent in zip(
        *(said[name].tolist() for name in ("game", "number", "role", "agent")), strict=True)
    ] == [(row.game, row.number, row.role, row.agent) for row in statements]  # fmt: skip
    assert said["d"].tolist() == [-1 if row.d is None else int(row.d) for row in statements]
    assert judged["s"].tolist() == [row.s for row in judgements]
    assert said["number"][judged["statement"]].tolist() == [row.statement for row in judgements]
    names = [list(by_id[columns.ids[game]].seats) for game in judged["game"]]
    assert [own[seat] for own, seat in zip(names, judged["observer"], strict=True)] == [
        row.observer for row in judgements
    ]
    assert len(columns.votes["voter"]) == sum(len(game.votes) for game in games)
    assert len(columns.pairs["d"]) == sum(len(game.suspicion) for game in games)


def test_suspicions_before_that_differ_in_the_last_bit_are_ties(games):
    exact = [row.before for game in games for row in game.judgements]
    held = columns_of(games).judgements["before"].tolist()
    assert len(set(held)) == len({round(value, 9) for value in exact}) < len(set(exact))


def test_games_may_come_in_any_order_and_in_any_number_of_parts(games, monkeypatch):
    whole = columns_of(games)
    assert whole.seeds == tuple(game.seed for game in sorted(games, key=lambda game: game.game))
    for seed in range(5):
        mixed = random.Random(seed).sample(games, len(games))
        parts = [columns_of(mixed[start : start + 2]) for start in range(0, len(mixed), 2)]
        assert same(joined(pickle.loads(pickle.dumps(parts))), whole)
    monkeypatch.setattr("analytics.measures.columns._LOOSE", 1)
    assert same(columns_of(games), whole)


def test_blocks_join_games_that_are_resampled_together(games):
    builder = ColumnsBuilder()
    for game in games:
        builder.add(game, "one" if game.game in "ab" else None)
    columns = builder.columns()
    names = [columns.block_names[block] for block in columns.blocks]
    assert names == ["one", "one", "c", "d", "e", "f"]
