"""Biases that were planted are found, and no others; deception round by round; thoughts against words."""

from dataclasses import replace

import numpy as np
import polars as pl
import pytest

from analytics.gather import gather
from tests.analytics.script import Script, measured, random_game, tables_of
from tests.claims.corpus import CLAIMS
from tests.llm.tables import tables
from tests.simulator import draw_agents, simulate
from wolfbus.cli import run
from wolfbus.game.vocabulary import ROLES
from wolfbus.messages.content import ScoredClaim
from wolfbus.messages.events import Fork

SLOPES = ("seat", "turn", "length", "own_agent", "own_flag")


def games(**planted: float):
    """Games in which suspicion, and flags, lean by so much."""
    columns = simulate(draw_agents(3, 1, spread=0.0), 60, 1, statement_sd=0.2)
    judgements, statements, seats = dict(columns.judgements), columns.statements, dict(columns.seats)
    rng = np.random.default_rng(0)
    # names go round the table, so that a name is no seat
    names = rng.permuted(np.tile(np.arange(8, dtype="i4"), (60, 1)), axis=1)
    seats["name"] = names.ravel()
    of = judgements["statement"]
    own = judgements["observer_agent"] == judgements["target_agent"]
    lean = {
        "seat": judgements["target"] - 3.5,
        "turn": statements["turn"][of] - 12.5,
        "length": statements["length"][of] / 10 - 3.2,
        "own_agent": own - own.mean(),
        "name": (names[judgements["game"], judgements["target"]] == 5) * 1.0,
    }
    judgements["s"] = judgements["s"] * 0.5 + 0.25 + sum(by * lean[name] for name, by in planted.items())
    return replace(columns, judgements=judgements, seats=seats)


@pytest.mark.parametrize(("name", "by"), [("seat", 0.01), ("turn", -0.004), ("length", 0.02), ("own_agent", -0.03)])
def test_a_planted_bias_is_found_in_its_size_and_no_other(name, by):
    found = measured("bias", games(**{name: by}))
    assert found[name]["value"] == pytest.approx(by, abs=0.012 if name == "own_agent" else 0.004)
    assert found[name]["low"] < by < found[name]["high"]
    assert not found[name]["low"] < 0 < found[name]["high"]
    others = [each for each in SLOPES if each != name]
    # one of several 95 % intervals may leave out 0 by chance
    assert sum(found[each]["low"] < 0 < found[each]["high"] for each in others) >= len(others) - 1
    assert found["names"]["p"] > 0.05


def test_a_name_that_meets_more_suspicion_is_found_among_all():
    found = measured("bias", games(name=0.06))["names"]
    assert found["p"] < 0.01
    row = found["by_name"]["Name 5"]
    assert row["low"] > 0
    assert row["value"] == pytest.approx(0.06, abs=0.02)


def test_names_that_were_judged_in_one_game_alone_tell_nothing_of_names():
    columns = games(name=0.06)
    first = {name: column[columns.judgements["game"] == 0] for name, column in columns.judgements.items()}
    names = measured("bias", replace(columns, judgements=first))["names"]
    assert names["p"] is None
    assert names["by_name"]["Name 5"]["value"] is not None


def test_where_nobody_judged_anything_no_bias_is_called_the_same_everywhere():
    found = measured("bias", tables_of([]))
    assert {found[name]["reason"] for name in SLOPES[:3]} == {"no judgement counts by an observer who has to find out"}


def of_werewolves(columns):
    """Return which judgements are of statements of Werewolves."""
    wolf = columns.statements["role"] == ROLES.index("Werewolf")
    return wolf[columns.judgements["statement"]]


def test_who_knows_the_roles_has_no_part_in_it():
    columns = games(seat=0.05)
    informed = columns.judgements["target"] > 0
    knowing = replace(columns, judgements={**columns.judgements, "informed": informed})
    assert measured("bias", knowing)["seat"]["reason"] == "it is the same everywhere"


def test_what_a_role_is_suspected_of_is_no_bias():
    # Werewolves speak later, and are suspected more
    columns = games()
    wolf = columns.statements["role"] == ROLES.index("Werewolf")
    turn = np.where(wolf, columns.statements["turn"] + 20, columns.statements["turn"]).astype("i2")
    s = columns.judgements["s"] + 0.2 * wolf[columns.judgements["statement"]]
    later = replace(columns, statements={**columns.statements, "turn": turn}, judgements={**columns.judgements, "s": s})
    found = measured("bias", later)["turn"]
    assert found["value"] == pytest.approx(0, abs=0.002)


def test_a_judgement_that_is_made_twice_is_held_against_itself():
    once = tables_of(replace(random_game(seed).rows(), game=f"a{seed}", seed=f"seed {seed}") for seed in range(6))
    assert measured("bias", once)["retest"]["n"] == 0
    both = [replace(random_game(s).rows(), game=f"{copy}{s}", seed=f"seed {s}") for s in range(6) for copy in "ab"]
    counted = sum(row.d is not None for game in both[::2] for row in game.judgements)
    found = measured("bias", tables_of(both))["retest"]
    assert (found["n"], found["difference"]["value"], found["agreement"]["value"]) == (counted, 0.0, 1.0)
    assert found["correlation"] == pytest.approx(1.0)
    other = tables_of(both)
    noise = pl.Series(np.random.default_rng(1).normal(0, 0.1, len(other.judgements)))
    shaken = other.judgements.with_columns(suspicion=(pl.col("suspicion") + noise).clip(0, 1))
    found = measured("bias", replace(other, judgements=shaken))["retest"]
    assert found["correlation"] < 0.99
    assert found["difference"]["value"] > 0.05
    single = shaken.group_by("game", maintain_order=True).head(1).filter(pl.col("game").is_in([0, 6]))
    found = measured("bias", replace(other, judgements=single))["retest"]
    assert (found["n"], found["correlation"]) == (1, None)
    # the mean of so many 0.3 is another number in its last bit
    level = other.judgements.with_columns(suspicion=pl.lit(0.3))
    assert measured("bias", replace(other, judgements=level))["retest"]["correlation"] is None


@pytest.mark.parametrize(("assess", "before"), [("live", False), ("after", True)])
def test_of_forks_judgements_that_stand_in_their_parent_are_not_made_twice(assess, before):
    def fork(k: int):
        rows = random_game(3).rows()
        said = rows.statements[4]
        of = {"parent": "g", "event": 9, "head": "0" * 64, "batch": 9, "kind": None, "arm": "keep", "k": k, "seed": "s"}
        forked = Fork(**of, statement=said.number, seat=said.speaker, round=said.round)
        return replace(rows, game=f"fork{k}", opened=rows.opened.model_copy(update={"fork": forked}), assess=assess)

    forks = [fork(1), fork(2)]
    at = next(forks[0].forks()).number
    judged = [row.statement for row in forks[0].judgements if row.d is not None]
    made = [number for number in judged if before or number >= at]
    assert measured("bias", tables_of(forks))["retest"]["n"] == len(made)
    assert len(made) == len(judged) or not before


def test_a_study_played_again_is_judged_twice_if_a_setting_that_changes_no_game_differs(tmp_path):
    (tmp_path / "rules.toml").write_text("max_reply_bytes = 20_000\n")
    again = {"first": [], "same": [], "other": ["--config", str(tmp_path / "rules.toml")]}
    for name, options in again.items():
        study = ["--games", "2", "--players", "scripted", "--seed", "1", "--out", str(tmp_path / name), *options]
        assert run(["run", "--quiet", *study]) == 0

    def judged_twice(*names: str) -> int:
        columns = gather([tmp_path / name for name in names], workers=1).tables
        return measured("bias", columns)["retest"]["n"]

    assert (judged_twice("first", "same"), judged_twice("first", "other") > 0) == (0, True)


def test_suspicion_of_living_werewolves_round_by_round_is_a_plain_mean():
    games = tables_of(random_game(seed).rows() for seed in range(8))
    for row in measured("lying", games)["retention"]:
        living = games.suspicion.filter(round=row["round"], informed=False)
        sides = {"werewolves": pl.col("target_role") == "Werewolf", "others": pl.col("target_role") != "Werewolf"}
        for side, of in sides.items():
            values = living.filter(of)["suspicion"]
            assert (row[side]["value"], row[side]["n"]) == (pytest.approx(values.mean()), len(values))
        assert row["difference"]["value"] == pytest.approx(row["werewolves"]["value"] - row["others"]["value"])
        assert row["difference"]["n"] == len(living)


@pytest.mark.parametrize("name", ["own_agent", "own_flag"])
def test_of_ones_own_agent_is_taken_what_the_role_is_suspected_and_flagged_for(name):
    columns = games()
    judgements, wolf = columns.judgements, of_werewolves(columns)
    # every Werewolf is flagged, and nobody else, whoever's agent it is
    all_alike = {**judgements, "s": np.where(wolf, 0.9, 0.1), "d": wolf.astype(np.int8)}
    assert measured("bias", replace(columns, judgements=all_alike))[name]["value"] == pytest.approx(0, abs=1e-9)


@pytest.mark.parametrize("name", ["own_agent", "own_flag"])
def test_where_ones_own_agent_is_never_what_others_are_nothing_is_told_of_it(name):
    columns = games()
    judgements = columns.judgements
    own = judgements["observer_agent"] == judgements["target_agent"]
    apart = of_werewolves(columns) != own
    mirrored = {key: column[apart] for key, column in judgements.items()}
    row = measured("bias", replace(columns, judgements=mirrored))[name]
    assert (row["value"], row["low"], row["n"] > 0) == (None, None, True)
    assert row["reason"].startswith("of Werewolves as of others")


@pytest.mark.parametrize(("thought", "said", "told"), tables(__file__)["thoughts"])
def test_a_thought_contradicts_what_gives_the_same_player_another_side_or_role(thought, said, told):
    script = Script().dawn()
    script.said("Vic", False, {})
    rows = script.rows()
    claims = tuple(ScoredClaim(claim=claim, verdict="true") for claim in CLAIMS.validate_python(said))
    statements = (replace(rows.statements[0], claims=claims, thought_claims=CLAIMS.validate_python(thought)),)
    found = measured("lying", tables_of([replace(rows, statements=statements)]))["thoughts"]["overall"]["contradict"]
    assert (found["value"], found["n"]) == (None if told == "" else told, int(told != ""))
