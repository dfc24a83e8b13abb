"""Rows as columns: nothing is lost, moved or dependent on the order of games."""

from __future__ import annotations

import pickle
import random
from dataclasses import fields

import pytest

from analytics.gather import GameRows, fold
from analytics.tables import Tables, TablesBuilder, joined, restored, tables_of
from tests.analytics.arrays import columns_of
from tests.analytics.script import named
from tests.game.driver import play
from wolfbus.game.vocabulary import ROLES


@pytest.fixture(scope="module")
def games() -> list[GameRows]:
    # ids must differ, and not be in the order of playing
    return [named(fold(play(seed=f"columns {n}").events), name) for n, name in enumerate("fbdace")]


def same(one: Tables, other: Tables) -> bool:
    return all(getattr(one, field.name).equals(getattr(other, field.name)) for field in fields(Tables))


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
    held = [row.before for game in games for row in game.judgements]
    assert tables_of(games).judgements["before"].n_unique() == len({round(value, 9) for value in held})


def test_games_may_come_in_any_order_and_in_any_number_of_parts(games, monkeypatch):
    whole = tables_of(games)
    assert list(whole.games["seed"]) == [game.seed for game in sorted(games, key=lambda game: game.game)]
    for seed in range(5):
        mixed = random.Random(seed).sample(games, len(games))
        parts = [tables_of(mixed[start : start + 2]) for start in range(0, len(mixed), 2)]
        assert same(joined(pickle.loads(pickle.dumps(parts))), whole)
    assert same(restored(whole.state()), whole)
    monkeypatch.setattr("analytics.tables._LOOSE", 1)
    assert same(tables_of(games), whole)


def test_blocks_join_games_that_are_resampled_together(games):
    builder = TablesBuilder()
    for game in games:
        builder.add(game, "one" if game.game in "ab" else None)
    assert list(builder.tables().games["block"]) == ["one", "one", "c", "d", "e", "f"]
