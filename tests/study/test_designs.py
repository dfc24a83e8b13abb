"""Who sits where: fields, designs, and the balance that they promise."""

from __future__ import annotations

import itertools
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from moderator.engine.seating import deal
from wolfbus.config import GameConfig
from wolfbus.study.designs import Balanced, field_of, role_slots, shares_of
from wolfbus.study.plan import Balance, Plan, players_spec
from wolfbus.vocabulary import ROLES

CONFIG = GameConfig()
EIGHT = tuple(f"agent-{letter}" for letter in "abcdefgh")


def design_of(shares, config=CONFIG, seed="7"):
    return Balanced(shares, role_slots({role: config.count(role) for role in ROLES}), seed)


def balance_of(design, shares, games, config=CONFIG):
    balance = Balance()
    for number in range(1, games + 1):
        roles = [role for _, role in deal(config, f"game {number}")]
        balance.add(roles, design.places(number, roles))
    return balance.result(shares)


@pytest.mark.parametrize("order", [5, 7, 8, 9, 11, 13, 16, 25, 27, 32])
def test_a_field_multiplies_without_a_divisor_of_zero_and_distributes(order):
    field = field_of(order)
    assert field is not None
    assert field.order == order
    for one in range(1, order):
        assert sorted(field.multiply(one, other) for other in range(order)) == list(range(order))
        assert sorted(field.add(one, other) for other in range(order)) == list(range(order))
    some = range(0, order, max(1, order // 5))
    for a, b, c in itertools.product(some, repeat=3):
        assert field.multiply(a, field.add(b, c)) == field.add(field.multiply(a, b), field.multiply(a, c))
        assert field.multiply(a, field.multiply(b, c)) == field.multiply(field.multiply(a, b), c)

    assert [field_of(order) for order in (1, 6, 10, 12, 14, 15, 24)] == [None] * 7


def test_eight_agents_play_every_role_equally_often_after_8_games_and_meet_equally_after_56():
    shares = tuple((agent, 1) for agent in EIGHT)
    design = design_of(shares)
    assert (design.rotation, design.cycle) == (8, 56)
    after = balance_of(design, shares, 8)
    assert after["roles_equal"]
    assert after["roles"]["agent-a"] == {"Villager": 4, "Werewolf": 2, "Seer": 1, "Doctor": 1}
    whole = balance_of(design, shares, 56)
    assert whole["meetings_equal"]
    # 56 games have 56 pairs of Werewolves, and there are 28 pairs of agents
    assert {pair["both_wolves"] for pair in whole["pairs"]} == {2}
    assert {pair["first_wolf"] for pair in whole["pairs"]} == {pair["second_wolf"] for pair in whole["pairs"]} == {12}
    assert (whole["allies"], whole["opponents"]) == ({"min": 32.0, "max": 32.0}, {"min": 24.0, "max": 24.0})


def test_over_a_cycle_any_two_agents_hold_any_two_roles_equally_often():
    design = design_of([(agent, 1) for agent in EIGHT])
    met: Counter[tuple[str, str, str, str]] = Counter()
    for number in range(1, 57):
        roles = [role for _, role in deal(CONFIG, str(number))]
        seats = zip(design.places(number, roles), roles, strict=True)
        for (one, as_), (other, as_other) in itertools.permutations(seats, 2):
            met[one, other, as_, as_other] += 1
    for as_, as_other in itertools.product(ROLES, repeat=2):
        assert len({met[one, other, as_, as_other] for one, other in itertools.permutations(EIGHT, 2)}) == 1


@pytest.mark.parametrize(
    ("shares", "rotation", "cycle"),
    [
        ([("a", 1), ("b", 1)], 2, 14),
        ([("a", 1), ("b", 1), ("c", 1)], 3, 24),
        ([("a", 1), ("b", 1), ("c", 1), ("d", 1)], 4, 28),
        ([("a", 3), ("b", 1)], 4, 28),
        ([("a", 5), ("b", 3)], 8, 56),
        ([(str(agent), 1) for agent in range(9)], 9, 72),
        ([(str(agent), 1) for agent in range(11)], 11, 110),
    ],
)
def test_a_cycle_is_exactly_balanced_for_fewer_and_more_agents_than_seats(shares, rotation, cycle):
    design = design_of(shares)
    assert (design.rotation, design.cycle) == (rotation, cycle)
    whole = balance_of(design, shares, cycle)
    assert whole["roles_equal"]
    assert whole["meetings_equal"]


@settings(max_examples=25, deadline=None)
@given(
    shares=st.lists(st.integers(1, 4), min_size=1, max_size=7),
    seed=st.text(max_size=4),
    wolves=st.integers(1, 2),
    villagers=st.integers(3, 7),
)
def test_every_rotation_of_any_study_gives_everybody_every_role_by_its_share(shares, seed, wolves, villagers):
    config = GameConfig(werewolves=wolves, villagers=villagers)
    agents = tuple((f"agent {place}", share) for place, share in enumerate(shares))
    design = Balanced(agents, role_slots({role: config.count(role) for role in ROLES}), seed)
    result = balance_of(design, agents, 2 * design.rotation, config)
    assert result["roles_equal"]
    assert result["roles_apart"] == 0
    if design.cycle is not None and design.cycle <= 120:
        assert balance_of(design, agents, design.cycle, config)["meetings_equal"]


def test_without_an_exact_design_a_search_leaves_meetings_nearly_even():
    shares = tuple((f"agent {place}", 1) for place in range(6))
    design = design_of(shares)
    assert design.cycle is None
    result = balance_of(design, shares, 60)
    assert result["roles_equal"]
    assert result["allies"]["max"] - result["allies"]["min"] <= 6


def test_mirrored_games_are_one_deal_with_sides_swapped():
    plan = Plan(CONFIG, "1", "mirrored", None, ("a", "b", "c"), deal)
    assert (plan.design.rotation, plan.design.cycle) == (2, 6)
    games = list(plan.games(12))
    meetings = []
    for one, other in zip(games[::2], games[1::2], strict=True):
        assert (one.seed, one.block) == (other.seed, other.block)
        roles = [role for _, role in deal(CONFIG, one.seed)]
        wolves, village = (
            {brain for brain, role in zip(one.brains, roles, strict=True) if (role == "Werewolf") == side}
            for side in (True, False)
        )
        assert len(wolves) == len(village) == 1
        swapped = dict(zip((*wolves, *village), (*village, *wolves), strict=True))
        assert other.brains == tuple(swapped[brain] for brain in one.brains)
        meetings.append(frozenset(wolves | village))
    assert Counter(meetings) == {frozenset(pair): 2 for pair in itertools.combinations("abc", 2)}
    assert len({game.seed for game in games}) == 6
    assert plan.balance(6)["roles_equal"]
    assert [game.seed for game in plan_of("fixed").games(2)] == [
        games[0].seed,
        games[2].seed,
    ]


def plan_of(kind, seats=EIGHT, seed="1", config=CONFIG):
    return Plan(config, seed, kind, seats, None, deal)


def test_one_agent_is_a_design_of_single_games():
    plan = plan_of("balanced", ("scripted",) * 8)
    assert plan.design.rotation == 1
    assert plan.game(1).block == plan.game(1).game
    assert plan.balance(5)["meetings_equal"]


def test_the_games_of_a_rotation_are_one_block_and_the_same_however_many_there_are():
    games = list(plan_of("balanced").games(17))
    blocks = [game.block for game in games]
    assert (len(set(blocks[:8])), len(set(blocks[8:16])), len(set(blocks))) == (1, 1, 3)
    assert games[:7] == list(plan_of("balanced").games(7))


def test_balance_counts_the_roles_that_were_dealt():
    plan = plan_of("balanced")
    dealt: Counter[tuple[str, str]] = Counter()
    for game in plan.games(9):
        for (_, role), brain in zip(deal(CONFIG, game.seed), game.brains, strict=True):
            dealt[brain, role] += 1
    result = plan.balance(9)
    assert {(agent, role): n for agent, roles in result["roles"].items() for role, n in roles.items() if n} == dealt
    assert not result["roles_equal"]
    assert result["roles_apart"] == 1


def test_a_shuffle_keeps_who_plays_and_draws_where_and_the_fixed_design_never_moves_anybody():
    games = [game.brains for game in plan_of("shuffle").games(20)]
    assert all(sorted(brains) == sorted(EIGHT) for brains in games)
    assert len(set(games)) > 10
    assert plan_of("shuffle", seed="2").game(1).brains != games[0]
    assert {game.brains for game in plan_of("fixed").games(5)} == {EIGHT}


def test_the_study_id_depends_on_rules_agents_seed_and_design_alone():
    base = plan_of("fixed").study
    assert base == plan_of("fixed", config=GameConfig()).study
    others = [
        plan_of("fixed", config=GameConfig(debate_turns=2)),
        plan_of("fixed", seed="2"),
        plan_of("shuffle"),
        plan_of("fixed", EIGHT[::-1]),
    ]
    assert len({base, *(plan.study for plan in others)}) == 5


def test_meetings_of_a_small_game_counted_by_hand():
    balance = Balance()
    balance.add(["Werewolf", "Werewolf", "Seer", "Villager", "Villager"], ["a", "b", "b", "c", "a"])
    met = {tuple(pair["agents"]): pair for pair in balance.result([("b", 1), ("a", 1), ("c", 1)])["pairs"]}
    # b has a Werewolf and the Seer, a has a Werewolf and a Villager
    assert {name: met["b", "a"][name] for name in ("both_wolves", "both_others", "first_wolf", "second_wolf")} == {
        "both_wolves": 1, "both_others": 1, "first_wolf": 1, "second_wolf": 1,
    }  # fmt: skip
    assert (met["a", "c"]["first_wolf"], met["a", "c"]["both_others"]) == (1, 1)
    assert met["a", "a"]["first_wolf"] == 1


@given(st.lists(st.sampled_from(["scripted", "llm:mini", "exec:./a.py *", "m:Class"]), min_size=8, max_size=8))
def test_the_players_of_a_game_can_be_told_on_the_command_line(brains):
    from players.spec import expand

    spec = players_spec(brains)
    assert spec is not None
    assert expand(spec, 8) == tuple(brains)


def test_a_brain_with_a_comma_has_no_spec():
    assert players_spec(("exec:agent a,b",)) is None


def test_shares_are_what_seats_have_in_common():
    assert shares_of(["a"] * 6 + ["b"] * 2) == (("a", 3), ("b", 1))
    assert shares_of(["a"] * 8) == (("a", 1),)
