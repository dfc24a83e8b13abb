"""Abilities in the findings: estimates by agent and role, components, what is undefined and why."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

from analytics.measures import LIE, MISTAKE, NO_CLAIM, columns_of
from tests.analytics.script import measured
from tests.simulator import draw_agents, simulate
from wolfbus.vocabulary import ROLES

KEYS = ("sensitivity", "criterion", "concealment", "suspected")


GROUNDS = ("role", "truth", "label")


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


def played_by(*kinds, games=40, seed=4, **changes):
    """Games between agents that flag, and label, as their kind does: each is dealt everything equally often."""
    columns = simulate(draw_agents(len(kinds), seed, spread=0.0, role_spread=0.0), games, seed, **changes)
    judgements, statements = columns.judgements, dict(columns.statements)
    kind = np.array(kinds)[judgements["observer_agent"]]
    lot = np.random.default_rng(seed).random(len(kind))
    flags = judgements["d"].copy()
    flags[kind == "eager"] = 1
    flags[kind == "trusting"] = 0
    flags[kind == "coin"] = (lot < 0.5)[kind == "coin"]
    flags[kind == "silent"] = -1
    said = np.array(kinds)[statements["agent"]]
    statements["d"] = np.where(said == "denier", 0, np.where(said == "silent", -1, statements["d"])).astype("i1")
    return replace(columns, statements=statements, judgements={**judgements, "d": flags})


@pytest.mark.parametrize("deceives", [0.25, 0.8])
def test_who_flags_everything_admits_nothing_tosses_a_coin_or_is_silent_does_not_lead(deceives):
    kinds = ("good", "eager", "denier", "coin", "silent", "trusting")
    columns = played_by(*kinds, deceptive=(deceives,) * 4, hit=1.0, alarm=-1.0, statements=16)
    section = measured("abilities", (columns))
    check(section)
    for ground in ("truth", "label"):
        rows = {kind: section[ground]["agents"][f"agent-{at:02d}"] for at, kind in enumerate(kinds)}
        found = {kind: row["sensitivity"]["value"] for kind, row in rows.items()}
        best = {"agent-00", "agent-02"}  # the denier judges like the good one
        assert section[ground]["leads"]["sensitivity"]["agent"] in best
        for kind in ("eager", "coin", "trusting"):
            assert abs(found[kind]) < 0.35, (ground, kind)
            assert found[kind] < found["good"] - 0.5
        assert found["silent"] is None
        assert rows["eager"]["criterion"]["value"] < -1.5
        assert rows["trusting"]["criterion"]["value"] > 1.5
    # who admits nothing has deceived nobody by its own account, and is measured by its claims
    assert section["label"]["agents"]["agent-02"]["concealment"]["reason"] == "it made no judged deceptive statement"
    assert section["truth"]["agents"]["agent-02"]["concealment"]["value"] == pytest.approx(0, abs=0.4)
    assert section["label"]["agents"]["agent-02"]["confession_rate"]["value"] == 0.0


def test_observers_who_know_the_roles_do_not_count():
    columns = simulate(draw_agents(3, seed=2), games=20, seed=2)
    wolves = columns.judgements["observer_role"] == ROLES.index("Werewolf")
    columns = replace(columns, judgements={**columns.judgements, "informed": wolves})
    flags = np.where(wolves, columns.judgements["target_role"] == ROLES.index("Werewolf"), columns.judgements["d"])
    knowing = replace(columns, judgements={**columns.judgements, "d": flags.astype("i1")})
    assert measured("abilities", (knowing)) == measured("abilities", (columns))


def test_mistakes_deceive_nobody():
    columns = simulate(draw_agents(4, seed=2), games=20, seed=2)
    truth = columns.statements["truth"].copy()
    lies = np.flatnonzero(truth == LIE)[::2]
    truth[lies] = MISTAKE
    dropped = truth.copy()
    dropped[lies] = NO_CLAIM
    one = measured("abilities", (replace(columns, statements={**columns.statements, "truth": truth})))["truth"]
    other = measured("abilities", (replace(columns, statements={**columns.statements, "truth": dropped})))["truth"]
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
    section = measured("abilities", (columns))["label"]
    assert section["components"] == 2
    rows = section["agents"]
    assert {name: row["component"] for name, row in rows.items()} == {
        **{f"agent-{at:02d}": 0 for at in range(3)},
        **{f"twin-agent-{at:02d}": 1 for at in range(3)},
    }
    for key in KEYS:
        found = [row[key]["value"] for row in rows.values()]
        assert found[:3] == pytest.approx(found[3:], abs=1e-5)
    assert section["leads"] == {"sensitivity": None, "concealment": None}


def test_one_agent_alone_is_sensitive_or_not_and_has_nobody_to_be_compared_with():
    section = measured("abilities", (simulate(draw_agents(1, seed=1), games=5, seed=1)))
    check(section)
    for ground in GROUNDS:
        (agent,) = section[ground]["agents"].values()
        assert agent["sensitivity"]["value"] is not None
        assert {agent[key]["reason"] for key in ("concealment", "suspected")} == {"no other agent to compare it with"}
        assert section[ground]["leads"] == {"sensitivity": None, "concealment": None}
    assert section["label"]["roles"]["observer"]["Seer"]["sensitivity"]["value"] is not None


def test_of_very_many_blocks_fewer_draws_are_made_and_the_number_is_told(monkeypatch):
    few = simulate(draw_agents(2, seed=3), games=30, seed=3, statements=4, rounds=1)
    assert measured("abilities", few)["label"]["draws"] == 2_000
    monkeypatch.setattr("analytics.measures.bootstrap.MANY_BLOCKS", 29)
    section = measured("abilities", few)
    assert section["label"]["draws"] == section["truth"]["draws"] == 400
    assert next(iter(section["label"]["agents"].values()))["sensitivity"]["low"] is not None


NEVER = {
    "no games": lambda columns: columns_of([]),
    "all defaulted": lambda columns: with_all(columns, "judgements", -1),
    "no labels": lambda columns: with_all(columns, "statements", -1),
    "only truthful": lambda columns: with_all(columns, "statements", 0),
    "nobody flags": lambda columns: with_all(columns, "judgements", 0),
    "all flag": lambda columns: with_all(columns, "judgements", 1),
}


def with_all(columns, table, label):
    """The same games with every label, or every flag, alike."""
    held = getattr(columns, table)
    return replace(columns, **{table: {**held, "d": np.full_like(held["d"], label)}})


@pytest.mark.parametrize("case", NEVER)
def test_what_cannot_be_fitted_is_null_with_a_reason(case):
    section = measured("abilities", NEVER[case](simulate(draw_agents(3, seed=6), games=6, seed=6)))
    check(section)
    json.dumps(section, allow_nan=False)
    label = section["label"]
    unjudged = case in {"no games", "all defaulted", "no labels"}
    assert label["reason"] == ("no judged statement" if unjudged else None)
    assert (label["components"] == 0) == unjudged
    if case == "only truthful":
        assert set(values(label, "sensitivity")) == {None}
        assert None not in values(label, "criterion")
