"""Who sits where: designs, and the balance that they promise."""

from __future__ import annotations

import itertools
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from moderator.rules.game import deal
from wolfbus.config import GameConfig
from wolfbus.study.plan import Plan, players_spec
from wolfbus.vocabulary import ROLES

CONFIG = GameConfig()
EIGHT = tuple(f"agent-{letter}" for letter in "abcdefgh")


def plan_of(kind, seats=EIGHT, seed="1", config=CONFIG):
    return Plan(config, seed, kind, tuple(seats), None, deal)


def roles_of(game, config=CONFIG):
    return [role for _, role in deal(config, game.seed)]


def test_eight_agents_play_every_role_equally_often_after_8_games_and_meet_equally_after_56():
    plan = plan_of("balanced")
    assert (plan.design.rotation, plan.design.cycle) == (8, 56)
    after = plan.balance(8)
    assert after["roles_equal"]
    assert after["roles"]["agent-a"] == {"Villager": 4, "Werewolf": 2, "Seer": 1, "Doctor": 1}
    whole = plan.balance(56)
    assert whole["meetings_equal"]
    # 56 games have 56 pairs of Werewolves, and there are 28 pairs of agents
    assert {pair["both_wolves"] for pair in whole["pairs"]} == {2}
    assert {pair["first_wolf"] for pair in whole["pairs"]} == {pair["second_wolf"] for pair in whole["pairs"]} == {12}
    assert (whole["allies"], whole["opponents"]) == ({"min": 32.0, "max": 32.0}, {"min": 24.0, "max": 24.0})


def test_over_a_cycle_any_two_agents_hold_any_two_roles_equally_often():
    met: Counter[tuple[str, str, str, str]] = Counter()
    for game in plan_of("balanced").games(56):
        seats = zip(game.brains, roles_of(game), strict=True)
        for (one, as_), (other, as_other) in itertools.permutations(seats, 2):
            met[one, other, as_, as_other] += 1
    for as_, as_other in itertools.product(ROLES, repeat=2):
        assert len({met[one, other, as_, as_other] for one, other in itertools.permutations(EIGHT, 2)}) == 1


@pytest.mark.parametrize(
    ("seats", "rotation", "cycle"),
    [("ab", 2, 14), ("abc", 3, 24), ("abcd", 4, 28), ("aaab", 4, 28), ("aaaaabbb", 8, 56), ("aaaaaaaa", 1, 1)]
    + [([f"{place}" for place in range(count)], count, count * (count - 1)) for count in (9, 11, 16, 25, 27, 32)],
)  # fmt: skip
def test_a_cycle_is_exactly_balanced_for_fewer_and_more_agents_than_seats(seats, rotation, cycle):
    plan = plan_of("balanced", seats)
    assert (plan.design.rotation, plan.design.cycle) == (rotation, cycle)
    whole = plan.balance(cycle)
    assert whole["roles_equal"]
    assert whole["meetings_equal"]


@settings(max_examples=15, deadline=None)
@given(
    shares=st.lists(st.integers(1, 4), min_size=1, max_size=7),
    seed=st.text(max_size=4),
    wolves=st.integers(1, 2),
    villagers=st.integers(3, 7),
)
def test_every_rotation_of_any_study_gives_everybody_every_role_by_its_share(shares, seed, wolves, villagers):
    config = GameConfig(werewolves=wolves, villagers=villagers)
    plan = plan_of("balanced", [f"agent {place}" for place, n in enumerate(shares) for _ in range(n)], seed, config)
    result = plan.balance(2 * plan.design.rotation)
    assert result["roles_equal"]
    assert result["roles_apart"] == 0


def test_without_an_exact_design_a_search_leaves_meetings_nearly_even():
    plan = plan_of("balanced", "abcdef")
    assert plan.design.cycle is None
    result = plan.balance(60)
    assert result["roles_equal"]
    assert result["allies"]["max"] - result["allies"]["min"] <= 6


def test_mirrored_games_are_one_deal_with_sides_swapped():
    plan = Plan(CONFIG, "1", "mirrored", None, ("a", "b", "c"), deal)
    assert (plan.design.rotation, plan.design.cycle) == (2, 6)
    games = list(plan.games(12))
    meetings = []
    for one, other in zip(games[::2], games[1::2], strict=True):
        assert (one.seed, one.block) == (other.seed, other.block)
        wolves, village = (
            {brain for brain, role in zip(one.brains, roles_of(one), strict=True) if (role == "Werewolf") == side}
            for side in (True, False)
        )
        assert len(wolves) == len(village) == 1
        swapped = dict(zip((*wolves, *village), (*village, *wolves), strict=True))
        assert other.brains == tuple(swapped[brain] for brain in one.brains)
        meetings.append(frozenset(wolves | village))
    assert Counter(meetings) == {frozenset(pair): 2 for pair in itertools.combinations("abc", 2)}
    assert len({game.seed for game in games}) == 6
    assert plan.balance(6)["roles_equal"]
    assert [game.seed for game in plan_of("fixed").games(2)] == [games[0].seed, games[2].seed]


def test_the_games_of_a_rotation_are_one_block_and_the_same_however_many_there_are():
    games = list(plan_of("balanced").games(17))
    blocks = [game.block for game in games]
    assert (len(set(blocks[:8])), len(set(blocks[8:16])), len(set(blocks))) == (1, 1, 3)
    assert games[:7] == list(plan_of("balanced").games(7))
    alone = plan_of("balanced", ["scripted"] * 8).game(1)
    assert alone.block == alone.game


def test_balance_counts_the_roles_that_were_dealt_and_who_met_whom_on_which_side():
    plan = plan_of("shuffle", "aaabbbcd")
    dealt: Counter[tuple[str, str]] = Counter()
    met: Counter[tuple[str, str]] = Counter()
    for game in plan.games(9):
        seats = list(zip(game.brains, roles_of(game), strict=True))
        dealt.update(seats)
        for (one, as_), (other, as_other) in itertools.combinations(seats, 2):
            wolf, wolves = (one if as_ == "Werewolf" else other), [as_, as_other].count("Werewolf")
            side = ("both_others", f"{wolf} wolf", "both_wolves")[wolves]
            met["".join(sorted((one, other))), side] += 1
    result = plan.balance(9)
    assert {(agent, role): n for agent, roles in result["roles"].items() for role, n in roles.items() if n} == dealt
    assert not result["roles_equal"]
    assert result["roles_apart"] > 0
    for pair in result["pairs"]:
        (one, other), name = pair["agents"], "".join(sorted(pair["agents"]))
        assert (pair["both_wolves"], pair["both_others"]) == (met[name, "both_wolves"], met[name, "both_others"])
        assert pair["first_wolf"] == met[name, f"{one} wolf"]
        assert one == other or pair["second_wolf"] == met[name, f"{other} wolf"]


def test_a_shuffle_keeps_who_plays_and_draws_where_and_the_fixed_design_never_moves_anybody():
    games = [game.brains for game in plan_of("shuffle").games(20)]
    assert all(sorted(brains) == sorted(EIGHT) for brains in games)
    assert len(set(games)) > 10
    assert plan_of("shuffle", seed="2").game(1).brains != games[0]
    assert {game.brains for game in plan_of("fixed").games(5)} == {EIGHT}


def test_the_study_id_depends_on_rules_agents_seed_and_design_alone():
    base = plan_of("fixed").study
    assert base == plan_of("fixed", config=GameConfig()).study
    others = [plan_of("fixed", config=GameConfig(debate_turns=2)), plan_of("fixed", seed="2"), plan_of("shuffle")]
    assert len({base, plan_of("fixed", EIGHT[::-1]).study, *(plan.study for plan in others)}) == 5


@pytest.mark.parametrize(
    ("brains", "spec"),
    [
        (["scripted"] * 8, "scripted*8"),
        (["llm:mini", "m:Class", "m:Class", "llm:mini"], "llm:mini,m:Class*2,llm:mini"),
        (["exec:./a.py *", "scripted"], "exec:./a.py **1,scripted"),
        (["exec:agent a,b", "scripted"], None),
    ],
)
def test_the_players_of_a_game_can_be_told_on_the_command_line(brains, spec):
    assert players_spec(brains) == spec
