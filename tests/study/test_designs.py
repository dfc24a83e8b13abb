"""Who sits where: designs, and the balance that they promise, as manifests of studies say them."""

from __future__ import annotations

import itertools
import math
import re
import shlex
import tempfile
from collections import Counter
from pathlib import Path

import pytest
import tomli_w
from hypothesis import given, settings
from hypothesis import strategies as st

from moderator.rules.game import deal
from tests.study.runs import manifest, run_here, study_file
from wolfbus.game.config import GameConfig
from wolfbus.game.draws import game_seed
from wolfbus.game.vocabulary import ROLES

EIGHT = "abcdefgh"


@pytest.fixture(scope="module")
def plan(tmp_path_factory):
    """Plan a study for agents, one a seat or else in turns; returns its manifest. Nothing is played: no model may be
    asked anything.
    """
    folder = tmp_path_factory.mktemp("planned")

    def plan(agents, games, design="balanced", seed="1", **rules):
        out = Path(tempfile.mkdtemp(dir=folder))
        table = {
            "games": games,
            "seed": seed,
            "design": design,
            "players" if len(agents) == GameConfig(**rules).seats else "agents": [f"llm:{agent}" for agent in agents],
            "budget_tokens": 0,
            "rules": rules,
            "models": {agent: {"endpoint": "here"} for agent in agents},
            "endpoints": {"here": {"provider": "mock"}},
        }
        (folder / "study.toml").write_text(tomli_w.dumps(table), "utf-8")
        run_here(folder / "study.toml", "--out", out, code=1)
        planned = manifest(out)
        for game in planned["games"]:
            # of games to come no seed is told; it is theirs by the definition of draws
            assert "seed" not in game
            game["seed"] = game_seed(seed, (game["number"] - 1) // (2 if design == "mirrored" else 1) + 1)
        return planned

    return plan


def seats_of(game):
    """Return agent and role of every seat of a planned game."""
    roles = [role for _, role in deal(GameConfig(), game["seed"])]
    return list(zip((brain.removeprefix("llm:") for brain in game["brains"]), roles, strict=True))


def test_eight_agents_play_every_role_equally_often_after_8_games_and_meet_equally_after_56(plan):
    after = plan(EIGHT, 8)["design"]
    assert (after["rotation"], after["cycle"], after["roles_equal"]) == (8, 56, True)
    assert after["roles"]["llm:a"] == {"Villager": 4, "Werewolf": 2, "Seer": 1, "Doctor": 1}
    study = plan(EIGHT, 56)
    whole = study["design"]
    assert whole["meetings_equal"]
    # 56 games have 56 pairs of Werewolves, and there are 28 pairs of agents
    assert {pair["both_wolves"] for pair in whole["pairs"]} == {2}
    assert {pair["first_wolf"] for pair in whole["pairs"]} == {pair["second_wolf"] for pair in whole["pairs"]} == {12}
    assert (whole["allies"], whole["opponents"]) == ({"min": 32.0, "max": 32.0}, {"min": 24.0, "max": 24.0})
    # any two agents hold any two roles equally often
    met: Counter[tuple[str, str, str, str]] = Counter()
    for game in study["games"]:
        for (one, as_), (other, as_other) in itertools.permutations(seats_of(game), 2):
            met[one, other, as_, as_other] += 1
    for as_, as_other in itertools.product(ROLES, repeat=2):
        assert len({met[one, other, as_, as_other] for one, other in itertools.permutations(EIGHT, 2)}) == 1


@pytest.mark.parametrize(
    ("agents", "rotation", "cycle"),
    [("ab" * 4, 2, 14), ("abc", 3, 24), ("abcd" * 2, 4, 28), ("aaab" * 2, 4, 28), ("aaaaabbb", 8, 56), ("a" * 8, 1, 1)]
    + [([f"{place}" for place in range(count)], count, count * (count - 1)) for count in (9, 11, 16, 25, 27, 32)],
)  # fmt: skip
def test_a_cycle_is_exactly_balanced_for_fewer_and_more_agents_than_seats(plan, agents, rotation, cycle):
    whole = plan(agents, cycle)["design"]
    assert (whole["rotation"], whole["cycle"]) == (rotation, cycle)
    assert whole["roles_equal"]
    assert whole["meetings_equal"]


@settings(max_examples=15, deadline=None)
@given(
    agents=st.lists(st.sampled_from("abcdefg"), min_size=12, max_size=12),
    seed=st.text(max_size=4),
    wolves=st.integers(1, 2),
    villagers=st.integers(3, 7),
)
def test_every_rotation_of_any_study_gives_everybody_every_role_by_its_share(plan, agents, seed, wolves, villagers):
    # with a Seer and a Doctor
    agents = agents[: wolves + villagers + 2]
    rotation = len(agents) // math.gcd(*Counter(agents).values())
    result = plan(agents, 2 * rotation, seed=seed, werewolves=wolves, villagers=villagers)["design"]
    assert (result["rotation"], result["roles_equal"], result["roles_apart"]) == (rotation, True, 0)


def test_without_an_exact_design_a_search_leaves_meetings_nearly_even(plan):
    result = plan("abcdef", 60)["design"]
    assert (result["cycle"], result["roles_equal"]) == (None, True)
    assert result["allies"]["max"] - result["allies"]["min"] <= 6


def test_mirrored_games_are_one_deal_with_sides_swapped(plan):
    study = plan("abc", 12, "mirrored")
    assert (study["design"]["rotation"], study["design"]["cycle"]) == (2, 6)
    games, meetings = study["games"], []
    for one, other in zip(games[::2], games[1::2], strict=True):
        assert one["block"] == other["block"]
        wolves, village = (
            {agent for agent, role in seats_of(one) if (role == "Werewolf") == side} for side in (True, False)
        )
        assert len(wolves) == len(village) == 1
        swapped = dict(zip((*wolves, *village), (*village, *wolves), strict=True))
        assert seats_of(other) == [(swapped[agent], role) for agent, role in seats_of(one)]
        meetings.append(frozenset(wolves | village))
    assert Counter(meetings) == {frozenset(pair): 2 for pair in itertools.combinations("abc", 2)}
    assert plan("abc", 6, "mirrored")["design"]["roles_equal"]


@pytest.mark.parametrize(("design", "seeds"), [("mirrored", [1, 1, 2, 2]), ("fixed", [1, 2, 3, 4])])
def test_mirrored_games_have_one_seed_and_it_is_that_of_a_game_of_any_other_study(design, seeds, tmp_path):
    study = study_file(tmp_path, f'games = 4\nseed = 1\ndesign = "{design}"\nplayers = "scripted*4,random*4"')
    run_here(study, "--out", tmp_path / "out", code=0)
    assert [game["seed"] for game in manifest(tmp_path / "out")["games"]] == [game_seed("1", n) for n in seeds]


def test_the_games_of_a_rotation_are_one_block_and_the_same_however_many_there_are(plan):
    games = plan(EIGHT, 17)["games"]
    blocks = [game["block"] for game in games]
    assert (len(set(blocks[:8])), len(set(blocks[8:16])), len(set(blocks))) == (1, 1, 3)
    assert games[:7] == plan(EIGHT, 7)["games"]
    (alone,) = plan("a" * 8, 1)["games"]
    assert alone["block"] == alone["game"]


def test_balance_counts_the_roles_that_were_dealt_and_who_met_whom_on_which_side(plan):
    study = plan("aaabbbcd", 9, "shuffle")
    dealt: Counter[tuple[str, str]] = Counter()
    met: Counter[tuple[str, str]] = Counter()
    for game in study["games"]:
        dealt.update(seats_of(game))
        for (one, as_), (other, as_other) in itertools.combinations(seats_of(game), 2):
            wolf, wolves = (one if as_ == "Werewolf" else other), [as_, as_other].count("Werewolf")
            side = ("both_others", f"{wolf} wolf", "both_wolves")[wolves]
            met["".join(sorted((one, other))), side] += 1
    result = study["design"]
    counts = {(agent[-1], role): n for agent, roles in result["roles"].items() for role, n in roles.items() if n}
    assert counts == dealt
    assert not result["roles_equal"]
    assert result["roles_apart"] > 0
    for pair in result["pairs"]:
        one, other = (agent[-1] for agent in pair["agents"])
        name = "".join(sorted((one, other)))
        assert (pair["both_wolves"], pair["both_others"]) == (met[name, "both_wolves"], met[name, "both_others"])
        assert pair["first_wolf"] == met[name, f"{one} wolf"]
        assert one == other or pair["second_wolf"] == met[name, f"{other} wolf"]


def test_a_shuffle_keeps_who_plays_and_draws_where_and_the_fixed_design_never_moves_anybody(plan):
    games = [game["brains"] for game in plan(EIGHT, 20, "shuffle")["games"]]
    agents = [f"llm:{agent}" for agent in EIGHT]
    assert all(sorted(brains) == agents for brains in games)
    assert len(set(map(tuple, games))) > 10
    assert plan(EIGHT, 1, "shuffle", "2")["games"][0]["brains"] != games[0]
    assert [game["brains"] for game in plan(EIGHT, 5, "fixed")["games"]] == [agents] * 5


def test_the_study_id_depends_on_rules_agents_seed_and_design_alone(plan):
    base = plan(EIGHT, 1, "fixed")["study"]
    assert base == plan(EIGHT, 2, "fixed", debate_turns=GameConfig().debate_turns)["study"]
    others = [plan(EIGHT, 1, "fixed", debate_turns=2), plan(EIGHT, 1, "fixed", "2"), plan(EIGHT, 1, "shuffle")]
    assert len({base, plan(EIGHT[::-1], 1, "fixed")["study"], *(study["study"] for study in others)}) == 5


@pytest.mark.parametrize(
    ("brains", "spec"),
    [
        (["scripted"] * 8, "scripted*8"),
        (["random", *["scripted"] * 2, "random", "exec:false *", *["scripted"] * 3],
         "random,scripted*2,random,exec:false **1,scripted*3"),
        (["exec:false a,b", *["scripted"] * 7], None),
    ],
)  # fmt: skip
def test_the_players_of_a_game_are_said_as_the_command_line_takes_them(tmp_path, brains, spec):
    file = study_file(tmp_path, f'games = 1\nseed = 3\ndesign = "fixed"\nplayers = {brains}')
    again = re.search("^Again +(.*)$", run_here(file, "--out", tmp_path / "out").stdout, re.MULTILINE)[1]
    if spec is None:
        assert again.endswith("study.json has its brains, which go into a config file as `players`)")
    else:
        words = shlex.split(again)
        assert words[words.index("--players") + 1] == spec
