"""Abilities in the findings: estimates by agent and role, components, what is undefined and why."""

import json
from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import norm
from sklearn.metrics import roc_auc_score

from tests.analytics.arrays import LIE, MISTAKE, NO_CLAIM, TRUE
from tests.analytics.script import measured, tables_of
from tests.simulator import Curve, draw_agents, judged_by, simulate
from wolfbus.game.vocabulary import ROLES

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
    for how, label in (("denier", 0), ("boaster", 1), ("silent", -1)):
        statements["d"] = np.where(said == how, label, statements["d"]).astype("i1")
    return replace(columns, statements=statements, judgements={**judgements, "d": flags})


@pytest.mark.parametrize("deceives", [0.25, 0.8])
def test_who_flags_everything_admits_nothing_tosses_a_coin_or_is_silent_does_not_lead(deceives):
    kinds = ("good", "eager", "denier", "coin", "silent", "trusting")
    columns = played_by(*kinds, deceptive=(deceives,) * 4, hit=0.6, alarm=-0.6, statements=16)
    section = measured("abilities", (columns))
    check(section)
    for ground in ("truth", "label"):
        rows = {kind: section[ground]["agents"][f"agent-{at:02d}"] for at, kind in enumerate(kinds)}
        found = {kind: row["sensitivity"]["value"] for kind, row in rows.items()}
        best = {"agent-00", "agent-02"}  # the denier judges like the good one
        assert section[ground]["leads"]["sensitivity"]["agent"] in best
        for kind in ("eager", "coin", "trusting"):
            assert abs(found[kind]) < 0.5, (ground, kind)
            assert found[kind] < found["good"] - 0.5
        assert found["silent"] is None
        assert rows["eager"]["criterion"]["value"] < -1.5
        assert rows["trusting"]["criterion"]["value"] > 1.5
    # who admits nothing has deceived nobody by its own account, and is measured by its claims
    assert section["label"]["agents"]["agent-02"]["concealment"]["reason"] == "it made no judged deceptive statement"
    assert section["truth"]["agents"]["agent-02"]["concealment"]["value"] == pytest.approx(0, abs=0.5)
    assert section["label"]["agents"]["agent-02"]["confession_rate"]["value"] == 0.0


def test_the_only_agent_that_admits_anything_has_no_other_whose_concealment_compares():
    section = measured("abilities", played_by("good", "denier", deceptive=(0.5,) * 4, statements=16))
    good = section["label"]["agents"]["agent-00"]
    assert good["concealment"]["reason"] == "no other agent to compare it with"
    assert good["suspected"]["value"] is not None
    assert None not in values(section["truth"], "concealment")


@pytest.mark.parametrize(("kind", "lacks"), [("denier", "deceptive"), ("boaster", "honest")])
def test_who_made_statements_of_one_class_alone_conceals_nothing_that_could_be_measured(kind, lacks):
    agents = measured("abilities", played_by("good", "good", kind, deceptive=(0.5,) * 4))["label"]["agents"]
    assert agents["agent-02"]["concealment"]["reason"] == f"it made no judged {lacks} statement"
    assert agents["agent-02"]["suspected"]["value"] is not None


@pytest.mark.parametrize("judging", [("Villager",), ("Villager", "Seer")])
def test_what_roles_add_is_told_where_another_role_is_there(judging):
    columns = simulate(draw_agents(3, seed=2), games=20, seed=2)
    inside = np.isin(columns.judgements["observer_role"], [ROLES.index(role) for role in judging])
    judgements = {name: column[inside] for name, column in columns.judgements.items()}
    roles = measured("abilities", replace(columns, judgements=judgements))["role"]["roles"]["observer"]
    told = {role for role in roles if roles[role]["sensitivity"]["value"] is not None}
    assert told == (set(judging) if judging[1:] else set())


def test_observers_who_know_the_roles_do_not_count():
    columns = simulate(draw_agents(3, seed=2), games=20, seed=2)
    wolves = columns.judgements["observer_role"] == ROLES.index("Werewolf")
    columns = replace(columns, judgements={**columns.judgements, "informed": wolves})
    flags = np.where(wolves, columns.judgements["target_role"] == ROLES.index("Werewolf"), columns.judgements["d"])
    knowing = replace(columns, judgements={**columns.judgements, "d": flags.astype("i1")})
    assert measured("abilities", (knowing)) == measured("abilities", (columns))


def test_an_honest_mistake_is_no_lie_and_counts_among_what_is_no_lie():
    columns = simulate(draw_agents(4, seed=2), games=20, seed=2)

    def with_truth(value: int):
        truth = columns.statements["truth"].copy()
        truth[np.flatnonzero(truth == LIE)[::2]] = value
        return measured("abilities", (replace(columns, statements={**columns.statements, "truth": truth})))["truth"]

    mistaken, true, unknown = (with_truth(value) for value in (MISTAKE, TRUE, NO_CLAIM))
    assert [values(mistaken, key) for key in KEYS] == [values(true, key) for key in KEYS]
    assert values(mistaken, "sensitivity") != values(unknown, "sensitivity")


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


def test_where_every_agent_meets_the_other_s_werewolves_alone_neither_ability_is_told():
    columns = simulate(draw_agents(2, seed=5), games=40, seed=5)
    wolves, games = columns.seats["role"] == ROLES.index("Werewolf"), columns.seats["game"]
    # in every second game the one plays the Werewolves and the other everybody else
    seated = np.where(wolves, games % 2, 1 - games % 2).astype(columns.seats["agent"].dtype)
    of = dict(zip(zip(games.tolist(), columns.seats["name"].tolist(), strict=True), seated.tolist(), strict=True))

    def by_seat(table, name: str):
        return np.array([of[at] for at in zip(table["game"].tolist(), table[name].tolist(), strict=True)])

    judgements = {
        **columns.judgements,
        "observer_agent": by_seat(columns.judgements, "observer"),
        "target_agent": by_seat(columns.judgements, "target"),
        "informed": columns.judgements["observer_role"] == ROLES.index("Werewolf"),
    }
    statements = {**columns.statements, "agent": by_seat(columns.statements, "speaker")}
    mirrored = replace(columns, seats={**columns.seats, "agent": seated}, statements=statements, judgements=judgements)
    section = measured("abilities", mirrored)["role"]
    for row in section["agents"].values():
        assert row["sensitivity"]["value"] is None
        assert row["sensitivity"]["reason"].startswith("not identified in this design")
        assert row["concealment"]["reason"].startswith("not identified in this design")
    tested = measured("primary", mirrored)["metrics"]
    for question in ("best_detector", "best_deceiver"):
        assert tested[question]["p"] is None
        assert tested[question]["difference"]["reason"].startswith("not identified in this design")
    # with teams of both, all of it is told
    whole = measured("abilities", columns)["role"]["agents"]["agent-00"]
    assert None not in (whole["sensitivity"]["value"], whole["concealment"]["value"])


ORACLE, SPARSE = (0.75, 0.25), (0.2, 0.02)
"""Rates of flags on what Werewolves say and on what others say: d′ 1.349 and 1.212."""


def flagging(rates, games: int, seed: int):
    """Games between agents that flag what Werewolves say and what others say at rates of their own, and whose suspicion
    orders nothing beyond their flags.
    """
    columns = simulate(draw_agents(len(rates), seed, spread=0.0, role_spread=0.0), games, seed)
    judgements = judged_by(columns, [Curve.of_rates(*pair) for pair in rates], seed).judgements
    return replace(columns, judgements={**judgements, "s": np.where(judgements["d"] == 1, 0.8, 0.2)})


def test_d_prime_is_that_of_the_normal_distribution_and_sparing_flaggers_gain_nothing_by_it():
    section = measured("abilities", flagging((ORACLE, SPARSE, (0.5, 0.5), (0.98, 0.8)), 160, 8))["role"]
    known = [norm.ppf(hit) - norm.ppf(alarm) for hit, alarm in (ORACLE, SPARSE, (0.5, 0.5), (0.98, 0.8))]
    for agent, true in zip(section["agents"].values(), known, strict=True):
        assert agent["sensitivity"]["value"] == pytest.approx(true, abs=0.15)
    assert section["leads"]["sensitivity"]["agent"] == "agent-00"


@pytest.mark.soak
@pytest.mark.timeout(3_000)
def test_who_tells_more_stands_before_who_flags_sparingly_in_study_after_study():
    first, studies = {"d′": 0, "AUC": 0}, 200
    for seed in range(studies):
        columns = flagging((ORACLE, SPARSE, (0.5, 0.5)), 160, 3_000 + seed)
        found = measured("abilities", columns, ground="role")["agents"]
        tested = measured("primary", columns, ["best_detector"])["metrics"]["best_detector"]
        first["d′"] += found["agent-00"]["sensitivity"]["value"] > found["agent-01"]["sensitivity"]["value"]
        first["AUC"] += (tested["agent"], tested["verdict"]) == ("agent-00", "above")
    print(f"of {studies} studies Oracle stands before Sparse in {first}")
    assert first["AUC"] == studies
    # d′ of 1.349 and 1.212, two standard errors apart
    assert first["d′"] >= 0.93 * studies


def test_agents_are_ranked_as_detectors_by_the_whole_curve_of_their_suspicion():
    # both flag alike; what the second says of how suspicious it is orders more
    columns = flagging((ORACLE, ORACLE, (0.5, 0.5)), 60, 3)
    judgements = columns.judgements
    wolf = judgements["target_role"] == ROLES.index("Werewolf")
    finer = judgements["observer_agent"] == 1
    finer_scores = np.clip(judgements["s"] + np.where(wolf, 0.15, -0.15), 0, 1)
    scores = np.where(finer, finer_scores, judgements["s"])
    columns = replace(columns, judgements={**judgements, "s": scores})
    tested = measured("primary", columns)["metrics"]["best_detector"]
    assert (tested["agent"], tested["second"], tested["verdict"]) == ("agent-01", "agent-00", "above")
    uninformed = (judgements["observer_agent"] == 1) & (judgements["informed"] == 0)
    of_second, of_wolf = scores[uninformed], wolf[uninformed]
    area = roc_auc_score(of_wolf, of_second)
    assert measured("agents", columns)["agent-01"]["role_auc"]["value"] == pytest.approx(area)


SEVEN = {
    "oracle": ORACLE,
    "sparse": SPARSE,
    "eager": (1.0, 1.0),
    "coin": (0.5, 0.5),
    **dict.fromkeys(("denier", "informed", "hider"), (0.5, 0.4)),
}
"""Kinds of agents by their rates of flags: who calls nothing of its own deceptive, who knows as a Werewolf who its
partner is, and of whom others notice little judge others alike.
"""


def seven_kinds(games: int, seed: int):
    """Games between agents of these kinds, who know as Werewolves who the Werewolves are."""
    columns = simulate(draw_agents(len(SEVEN), seed, spread=0.0, role_spread=0.0), games, seed)
    judgements, statements, kinds = columns.judgements, columns.statements, list(SEVEN)
    observer, wolf = judgements["observer_agent"], judgements["target_role"] == ROLES.index("Werewolf")
    knows = judgements["observer_role"] == ROLES.index("Werewolf")
    hit, alarm = (np.array([rates[place] for rates in SEVEN.values()])[observer] for place in (0, 1))
    hidden = judgements["target_agent"] == kinds.index("hider")
    rate = np.where(wolf, norm.cdf(norm.ppf(hit) - 1.2 * hidden), alarm)
    flags = np.random.default_rng([seed, 9]).random(len(wolf)) < rate
    flags = np.where(knows & (observer == kinds.index("informed")), wolf, flags)
    denied = np.where(statements["agent"] == kinds.index("denier"), 0, statements["d"]).astype("i1")
    told = {"d": flags.astype("i1"), "s": np.where(flags, 0.8, 0.2), "informed": knows}
    names = tuple(f"{place}-{kind}" for place, kind in enumerate(kinds))
    return replace(columns, agents=names, statements={**statements, "d": denied}, judgements={**judgements, **told})


def test_who_tells_most_detects_best_and_whose_words_are_noticed_least_conceals_best_of_seven_kinds():
    columns = seven_kinds(80, 5)
    tested, agents = measured("primary", columns)["metrics"], measured("agents", columns)
    assert (tested["best_detector"]["agent"], tested["best_detector"]["verdict"]) == ("0-oracle", "above")
    assert (tested["best_deceiver"]["agent"], tested["best_deceiver"]["verdict"]) == ("6-hider", "above")
    section = measured("abilities", columns)
    by_role = section["role"]["agents"]
    # the curve has one point: few flags, though nearly all of them right, tell less than many that mostly are
    wolf, judgements = columns.judgements["target_role"] == ROLES.index("Werewolf"), columns.judgements
    areas = [agents[f"{place}-{kind}"]["role_auc"]["value"] for place, kind in enumerate(SEVEN)]
    for place, area in enumerate(areas):
        own = (judgements["observer_agent"] == place) & ~judgements["informed"]
        hits, alarms = (judgements["d"][own & is_wolf].mean() for is_wolf in (wolf, ~wolf))
        assert area == pytest.approx((1 + hits - alarms) / 2)
    assert areas[0] > areas[1] > areas[2] == 0.5
    assert by_role["1-sparse"]["criterion"]["value"] > 1 > -1.5 > by_role["2-eager"]["criterion"]["value"]
    assert max(abs(by_role[name]["sensitivity"]["value"]) for name in ("2-eager", "3-coin")) < 0.5
    # what it knows as a Werewolf would make it the second best
    own = judgements["observer_agent"] == list(SEVEN).index("informed")
    assert roc_auc_score(wolf[own], judgements["s"][own]) > areas[5] + 0.05
    # to deny everything gains nothing: by its labels it deceived nobody, by its role it conceals as others do
    denier = section["label"]["agents"]["4-denier"]
    assert (denier["concealment"]["value"], denier["confession_rate"]["value"]) == (None, 0.0)
    assert by_role["4-denier"]["concealment"]["value"] < by_role["6-hider"]["concealment"]["value"] - 0.5


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
    monkeypatch.setattr("analytics.metrics.bootstrap.MANY_BLOCKS", 29)
    section = measured("abilities", few)
    assert section["label"]["draws"] == section["truth"]["draws"] == 400
    assert next(iter(section["label"]["agents"].values()))["sensitivity"]["low"] is not None


NEVER = {
    "no games": lambda columns: tables_of([]),
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


def test_a_lead_rests_on_the_games_of_whoever_of_the_two_is_in_fewer():
    columns = simulate(draw_agents(2, 1), 20, 1)
    # the first agent judges in the first few games alone
    few = 4
    kept = (columns.judgements["observer_agent"] == 1) | (columns.judgements["game"] < few)
    judgements = {name: column[kept] for name, column in columns.judgements.items()}
    found = measured("primary", replace(columns, judgements=judgements), ["best_detector"])["metrics"]["best_detector"]
    assert {found["agent"], found["second"]} == {"agent-00", "agent-01"}
    assert found["difference"]["interval_reason"] == "fewer than 5 games (blocks) in which it occurs"
    assert found["verdict"] == "few"
