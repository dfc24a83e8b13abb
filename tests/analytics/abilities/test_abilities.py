"""The section: estimates by agent and role, components, what is undefined and why."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

from analytics.columns import LIE, MISTAKE, NO_CLAIM, columns_of
from analytics.measures.abilities import abilities, draws_for
from analytics.measures.study import Study
from tests.analytics.script import Script
from tests.simulator import draw_agents, simulate

KEYS = ("detects", "conceals", "false_alarm", "suspected")


def values(section, key):
    return [agent[key]["value"] for agent in section["agents"].values()]


def check(value):
    """Every estimate has a value or a reason, and an interval around the value or a reason."""
    if not isinstance(value, dict):
        return
    if "value" in value:
        assert (value["value"] is None) == (value["reason"] is not None)
        if value["value"] is not None and value["low"] is None:
            assert value["interval_reason"]
        elif value["value"] is not None:
            assert value["low"] <= value["value"] <= value["high"]
    for each in value.values():
        check(each)


def test_two_agents_stand_opposite_each_other_by_hand():
    # every statement is labelled deceptive; agent "keen" flags three in four, "blind" one in four, whoever speaks
    games = []
    for at in range(8):
        game = Script(f"g{at}", brains={"Wim": "keen", "Vic": "blind", "Val": "keen", "Vox": "blind"}).dawn()
        for turn, speaker in enumerate(("Wim", "Vic")):
            number = game.say(speaker)
            game.label(number, speaker, True)
            game.judge(number, "Val", ((at + turn) % 4 != 0, 0.5))
            game.judge(number, "Vox", ((at + turn) % 4 == 0, 0.5))
        games.append(game.rows())
    found = abilities(Study(columns_of(games)))["label"]
    detects = {name: agent["detects"]["value"] for name, agent in found["agents"].items()}
    # log odds of 3 and of 1/3 are 2.2 apart; half of that each, pulled in by the prior and the spread
    assert detects["keen"] == pytest.approx(-detects["blind"], abs=1e-4)
    assert 0.7 < detects["keen"] < 1.3
    assert found["agents"]["keen"]["conceals"]["value"] == pytest.approx(0, abs=1e-3)
    assert found["agents"]["keen"]["false_alarm"]["reason"] == "it judged no truthful statement"
    assert (found["agents"]["keen"]["n_judged"], found["agents"]["keen"]["n_statements"]) == (16, 8)


def test_abilities_are_found_in_order_and_within_their_intervals():
    agents = draw_agents(5, seed=8, spread=1.2)
    section = abilities(Study(simulate(agents, games=60, seed=8, statements=20)))
    check(section)
    for basis in ("label", "truth"):
        for key in KEYS:
            true, found = getattr(agents, key), np.array(values(section[basis], key))
            assert np.corrcoef(true, found)[0, 1] > 0.9
    conceals = values(section["label"], "conceals")
    assert np.argmax(conceals) == np.argmax(agents.conceals)
    inside = [
        estimate[key]["low"] <= getattr(agents, key)[at] <= estimate[key]["high"]
        for at, estimate in enumerate(section["label"]["agents"].values())
        for key in KEYS
    ]
    assert np.mean(inside) >= 0.8
    assert section["label"]["statement_sd"]["deceptive"] == pytest.approx(0.8, abs=0.3)
    assert section["label"]["components"] == 1
    speaker = section["label"]["roles"]["speaker"]
    assert np.corrcoef([row["value"] for row in speaker.values()], agents.speaker_roles)[0, 1] > 0.9


def test_who_never_confesses_has_a_place_on_claim_truth():
    columns = simulate(draw_agents(4, seed=2), games=40, seed=2, confesses=(1.0, 1.0, 1.0, 0.0))
    section = abilities(Study(columns))
    silent = section["label"]["agents"]["agent-03"]
    assert silent["conceals"]["reason"] == "it made no judged deceptive statement"
    assert silent["confession_rate"]["value"] == 0.0
    assert silent["checkable"] > 50
    assert section["truth"]["agents"]["agent-03"]["conceals"]["value"] is not None


def test_mistakes_deceive_nobody():
    columns = simulate(draw_agents(4, seed=2), games=20, seed=2)
    truth = columns.statements["truth"].copy()
    lies = np.flatnonzero(truth == LIE)[::2]
    truth[lies] = MISTAKE
    dropped = truth.copy()
    dropped[lies] = NO_CLAIM
    one = abilities(Study(replace(columns, statements={**columns.statements, "truth": truth})))["truth"]
    other = abilities(Study(replace(columns, statements={**columns.statements, "truth": dropped})))["truth"]
    assert one["mistakes_left_out"] == len(lies)
    assert [values(one, key) for key in KEYS] == [values(other, key) for key in KEYS]


def apart(columns):
    """The same games once more with other agents, who never meet the first ones."""

    def both(table, shifted, **also):
        return {
            name: np.concatenate([column, column + shifted[name] if name in shifted else column])
            for name, column in table.items()
        }

    agents, games, statements = len(columns.agents), len(columns.ids), len(columns.statements["d"])
    shift = {"game": games, "agent": agents, "observer_agent": agents, "target_agent": agents, "statement": statements}
    twin = tuple(f"twin-{name}" for name in columns.ids)
    return replace(
        columns,
        ids=columns.ids + twin,
        seeds=columns.seeds + twin,
        blocks=np.concatenate([columns.blocks, columns.blocks + len(columns.block_names)]),
        block_names=columns.block_names + twin,
        agents=columns.agents + tuple(f"twin-{name}" for name in columns.agents),
        **{name: both(getattr(columns, name), shift) for name in ("games", "seats", "statements", "judgements")},
    )


def test_agents_that_never_met_are_not_compared():
    columns = apart(simulate(draw_agents(3, seed=5), games=15, seed=5))
    section = abilities(Study(columns))["label"]
    assert section["components"] == 2
    rows = section["agents"]
    assert {name: row["component"] for name, row in rows.items()} == {
        **{f"agent-{at:02d}": 0 for at in range(3)},
        **{f"twin-agent-{at:02d}": 1 for at in range(3)},
    }
    for key in KEYS:
        found = [row[key]["value"] for row in rows.values()]
        assert sum(found[:3]) == pytest.approx(0, abs=1e-3)
        assert found[:3] == pytest.approx(found[3:], abs=1e-5)


def test_one_agent_alone_has_nobody_to_be_compared_with():
    section = abilities(Study(simulate(draw_agents(1, seed=1), games=5, seed=1)))
    check(section)
    for basis in ("label", "truth"):
        assert section[basis]["reason"] == "one agent alone: nobody to compare it with"
        (agent,) = section[basis]["agents"].values()
        assert {agent[key]["reason"] for key in KEYS} == {"no other agent to compare it with"}
    assert section["label"]["roles"]["observer"]["Seer"]["value"] is not None


def test_a_single_game_has_no_intervals():
    section = abilities(Study(simulate(draw_agents(3, seed=3), games=1, seed=3)))
    check(section)
    found = next(iter(section["label"]["agents"].values()))["detects"]
    assert found["low"] is None
    assert found["interval_reason"] == "fewer than 5 games (blocks) to resample"


@pytest.mark.parametrize("games", [4, 5])
def test_five_blocks_are_the_fewest_with_intervals(games):
    section = abilities(Study(simulate(draw_agents(3, seed=3), games=games, seed=3)))
    check(section)
    found = next(iter(section["label"]["agents"].values()))["detects"]
    assert (found["low"] is None) == (games < 5)


def test_of_very_many_blocks_fewer_draws_are_made_and_the_number_is_told():
    assert (draws_for(5_000), draws_for(5_001)) == (2_000, 400)
    few = simulate(draw_agents(2, seed=3), games=30, seed=3, statements=4, rounds=1)
    assert abilities(Study(few))["label"]["draws"] == 2_000
    # empty blocks are drawn, too
    many = replace(few, block_names=tuple(f"b{at:05d}" for at in range(5_001)))
    section = abilities(Study(many))
    assert section["label"]["draws"] == section["truth"]["draws"] == 400
    assert next(iter(section["label"]["agents"].values()))["detects"]["low"] is not None


@pytest.mark.parametrize(
    "case", ["no games", "all defaulted", "no labels", "only truthful", "nobody flags", "all flag"]
)
def test_what_cannot_be_fitted_is_null_with_a_reason(case):
    columns = simulate(draw_agents(3, seed=6), games=6, seed=6)
    statements, judgements = dict(columns.statements), dict(columns.judgements)
    if case == "no games":
        columns = columns_of([])
    elif case == "all defaulted":
        columns = replace(columns, judgements={**judgements, "d": np.full_like(judgements["d"], -1)})
    elif case == "no labels":
        columns = replace(columns, statements={**statements, "d": np.full_like(statements["d"], -1)})
    elif case == "only truthful":
        columns = replace(columns, statements={**statements, "d": np.zeros_like(statements["d"])})
    else:
        flags = np.full_like(judgements["d"], int(case == "all flag"))
        columns = replace(columns, judgements={**judgements, "d": flags})
    section = abilities(Study(columns))
    check(section)
    json.dumps(section, allow_nan=False)
    label = section["label"]
    if case in {"no games", "all defaulted", "no labels"}:
        assert label["reason"] == "no judged statement"
        assert label["components"] == 0
    else:
        assert label["reason"] is None
    if case == "only truthful":
        assert set(values(label, "detects")) == {None}
        assert None not in values(label, "false_alarm")


def test_order_of_rows_and_names_of_blocks_leave_no_trace():
    columns = simulate(draw_agents(4, seed=9), games=10, seed=9)
    order = np.random.default_rng(1).permutation(len(columns.judgements["d"]))
    shuffled = replace(columns, judgements={name: column[order] for name, column in columns.judgements.items()})
    assert abilities(Study(columns)) == abilities(Study(shuffled)) == abilities(Study(columns))


def test_seats_that_change_places_change_nothing():
    columns = simulate(draw_agents(4, seed=9), games=10, seed=9)
    places = np.random.default_rng(2).permutation(8).astype("i1")
    moved = replace(
        columns,
        seats={**columns.seats, "seat": places[columns.seats["seat"]]},
        statements={**columns.statements, "speaker": places[columns.statements["speaker"]]},
        judgements={
            **columns.judgements,
            **{name: places[columns.judgements[name]] for name in ("observer", "target")},
        },
    )
    assert abilities(Study(columns)) == abilities(Study(moved))


def test_games_of_one_block_are_resampled_together():
    columns = simulate(draw_agents(4, seed=9), games=24, seed=9, game_sd=1.5, pair_sd=1.0)
    # the same twelve games twice over are twelve blocks: no more is known of the agents than from those
    half = simulate(draw_agents(4, seed=9), games=12, seed=10, game_sd=1.5, pair_sd=1.0)
    shift = {"game": 12, "statement": len(half.statements["d"])}

    def twice(table):
        return {
            name: np.concatenate([column, column + shift[name] if name in shift else column])
            for name, column in table.items()
        }

    doubled = replace(
        columns,
        blocks=np.concatenate([half.blocks, half.blocks]),
        block_names=half.block_names,
        statements=twice(half.statements),
        judgements=twice(half.judgements),
    )
    apart_blocks = replace(doubled, blocks=np.arange(24, dtype="i4"), block_names=columns.block_names)

    def width(section):
        found = [agent["detects"] for agent in section["label"]["agents"].values()]
        return np.mean([estimate["high"] - estimate["low"] for estimate in found])

    assert width(abilities(Study(doubled))) > 1.2 * width(abilities(Study(apart_blocks)))
