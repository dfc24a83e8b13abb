"""Rows as columns: nothing is lost, moved or dependent on the order of games."""

import pickle
import random
from dataclasses import fields

import pytest

from analytics.gather import GameRows, fold
from analytics.tables import Tables, TablesBuilder, joined, restored
from tests.analytics.script import named, tables_of
from tests.game.driver import play


@pytest.fixture(scope="module")
def games() -> list[GameRows]:
    # ids must differ, and not be in the order of playing
    return [named(fold(play(seed=f"columns {n}").events), name) for n, name in enumerate("fbdace")]


def same(one: Tables, other: Tables) -> bool:
    return all(getattr(one, field.name).equals(getattr(other, field.name)) for field in fields(Tables))


def test_every_row_stands_in_the_columns_as_it_is(games):
    tables = tables_of(games)
    by_id = {game.game: game for game in games}
    assert tables.ids == tuple("abcdef")
    statements = [row for name in tables.ids for row in by_id[name].statements]
    judgements = [row for name in tables.ids for row in by_id[name].judgements]
    said = tables.statements.select("game", "number", "role", "agent", "self_deceptive").rows()
    assert [(tables.ids[game], *row) for game, *row in said] == [
        (row.game, row.number, row.role, row.agent, row.d) for row in statements
    ]
    judged = tables.judgements.select("game", "statement", "observer", "suspicion").rows()
    assert [(tables.ids[game], *row) for game, *row in judged] == [
        (row.game, row.statement, row.observer, row.s) for row in judgements
    ]
    assert len(tables.votes) == sum(len(game.votes) for game in games)
    assert tables.suspicion["round"].null_count() == sum(len(game.suspicion) for game in games)


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
