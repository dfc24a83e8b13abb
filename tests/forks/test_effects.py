"""What is said of lies, against studies whose true effect is known by construction."""

from dataclasses import replace

import numpy as np
import polars as pl
import pytest

from analytics.findings import results_of
from analytics.metrics.forks import fork_rows, forks
from analytics.metrics.study import Study
from analytics.results import Results
from analytics.tables import SCHEMAS, TablesBuilder
from tests.analytics.script import Script
from wolfbus.messages.events import Fork

OUTCOMES = ("suspicion", "dusk", "votes", "exiled", "won")
BLOCKS = 30


def study_of(rows: list[dict], blocks: dict[str, str] | None = None, *, loose: bool = False) -> Study:
    """Return a study of nothing but forks, each a game of its own; a parent is its own block unless told, and loose
    ones are of no study.
    """
    usual = {"number": 1, "round": 1, "role": "Werewolf", "agent": "a", "kind": "fabrication", "k": 1, "tries": 1}
    usual |= {"labelled": None, **dict.fromkeys(OUTCOMES)}
    filled = [{**usual, **row, "game": place} for place, row in enumerate(rows)]
    ids = [f"fork-{place:06d}" for place in range(len(rows))]
    belong = ids if loose else [(blocks or {}).get(row["parent"], row["parent"]) for row in rows]
    games = pl.DataFrame({"game_id": ids, "block": belong}).with_columns(
        pl.lit(None, dtype).alias(name) for name, dtype in SCHEMAS["games"].items() if name not in {"game_id", "block"}
    )
    frame = pl.DataFrame(filled, schema=SCHEMAS["forks"])
    return Study(replace(TablesBuilder().tables(), games=games, forks=frame))


def told(study: Study) -> dict:
    return forks(study, Results(fork_rows(study)))


def simulated(seed: int, effect: float) -> Study:
    """Return forks of 30 games with one to five lies, twice each; games and lies differ in how much a lie does, and
    games with many lies are not those of the mean effect.
    """
    draw = np.random.default_rng(seed)
    rows = []
    for game in range(BLOCKS):
        lies = int(draw.integers(1, 6))
        of_game = effect + draw.normal(0, 0.15)
        for number in range(1, lies + 1):
            of_lie = of_game + draw.normal(0, 0.1)
            for k in (1, 2):
                luck = draw.normal(0, 0.1)
                for arm, lift in (("keep", of_lie), ("honest", 0.0)):
                    level = 0.3 + luck + lift
                    values = {name: level + draw.normal(0, 0.1) for name in ("suspicion", "dusk", "votes")}
                    values |= {name: bool(draw.random() < 0.3 + effect * (arm == "keep")) for name in ("exiled", "won")}
                    rows.append({"parent": f"game-{game:02d}", "number": number, "arm": arm, "k": k, **values})
    return study_of(rows)


MANY = [pytest.param(2_000, 0.015, id="2000", marks=[pytest.mark.soak, pytest.mark.timeout(3_000)])]


@pytest.mark.parametrize(("studies", "margin"), [pytest.param(40, 0.055, id="40"), *MANY])
def test_intervals_cover_the_true_effect(studies, margin):
    covered = dict.fromkeys(OUTCOMES, 0)
    for seed in range(studies):
        results = Results(fork_rows(simulated(seed, 0.1)))
        for name in OUTCOMES:
            row = results.row(f"lie_effect_{name}")
            covered[name] += row.low <= 0.1 <= row.high
    assert all(abs(count / studies - 0.95) <= margin for count in covered.values()), covered


@pytest.mark.parametrize("studies", [30, *[pytest.param(2_000, marks=[pytest.mark.soak, pytest.mark.timeout(3_000)])]])
def test_where_a_lie_does_nothing_an_effect_is_stated_in_one_of_twenty_studies_at_most(studies):
    stated = 0
    for seed in range(studies):
        effects = told(simulated(seed, 0.0))["effects"]
        stated += any(effect["verdict"] in {"above", "below"} for effect in effects.values())
    assert stated / studies <= 0.05


def came_of(script: Script, arm: str = "keep", number: int = 2, seat: str = "Wes"):
    """Return the row of a fork of the second statement of the first day, as it stands."""
    of = {"parent": "g", "event": 9, "head": "0" * 64, "batch": 9, "k": 1, "seed": "s", "kind": "omission"}
    fork = Fork(**of, arm=arm, statement=number, seat=seat, round=1)
    rows = script.rows(aware=True)
    (row,) = replace(rows, opened=rows.opened.model_copy(update={"fork": fork})).forks()
    return row


def test_what_came_of_a_fork_is_told_by_whom_did_not_know_the_speaker_and_as_far_as_the_game_came():
    script = Script().dawn()
    script.said("Vic", False, {"Val": (True, 0.8), "Wes": (False, 0.0)})
    # Wim is its partner, and knows
    script.said("Wes", True, {"Vic": (True, 0.9), "Val": (False, 0.4), "Wim": (False, 0.0), "Sia": "timed_out"})
    row = came_of(script)
    assert (row.label, row.suspicion) == (True, pytest.approx((0.9 + 0.4) / 2))
    assert (row.votes, row.exiled, row.won) == (None, None, None)
    script.said("Wes", False, {"Vic": (False, 0.1)})
    script.vote({"Wes": "Vic", "Wim": "Vic", "Vic": "Wes", "Val": "Wes", "Sia": "Wes", "Doc": None})
    script.exile("Wes").dawn("Val").said("Wim", True, {"Vic": (True, 1.0)})
    script.vote({"Vic": "Wim", "Wim": "Vic"}).exile("Wim").end("villagers", "no_wolves_left")
    row = came_of(script)
    assert row.suspicion == pytest.approx((0.9 + 0.4) / 2)
    # each new judgement weighs 0.7
    of_vic, of_val = 0.3 * (0.3 * 0.5 + 0.7 * 0.9) + 0.7 * 0.1, 0.3 * 0.5 + 0.7 * 0.4
    assert row.dusk == pytest.approx((of_vic + of_val) / 2)
    assert (row.votes, row.exiled, row.won) == (pytest.approx(3 / 5), True, False)
    assert (row.speaker, row.role, row.kind, row.arm, row.k) == ("Wes", "Werewolf", "omission", "keep", 1)


def test_what_a_speaker_says_later_does_not_stand_in_the_place_of_its_silence():
    script = Script().dawn()
    script.said("Vic", False, {"Val": (True, 0.8)})
    # nothing was said in the last turn: the first reason of the vote has the number that the statement had
    script.silence("Wes")
    script.vote({"Wes": "Vic", "Vic": "Wes"}).said("Wes", True, {"Vic": (True, 0.9)}, phase="vote")
    script.exile().dawn("Val").said("Wes", False, {"Vic": (False, 0.0)})
    row = came_of(script, "silence")
    assert (row.label, row.suspicion) == (None, None)
    assert row.dusk == pytest.approx(0.3 * 0.5 + 0.7 * 0.9)


def test_an_effect_that_is_there_is_stated():
    effects = told(simulated(1, 0.3))["effects"]
    assert {name: effect["verdict"] for name, effect in effects.items()} == dict.fromkeys(OUTCOMES, "above")


def test_blocks_without_an_honest_fork_do_not_make_up_for_those_that_are_too_few():
    arms = {"keep": 0.9, "honest": 0.3}
    rows = [
        {"parent": f"game-{game}", "arm": arm, "suspicion": suspicion + 0.01 * game * (arm == "keep")}
        for game in range(8)
        for arm, suspicion in arms.items()
        # of the last game every honest one was refused
        if (game, arm) != (7, "honest")
    ]
    effect = told(study_of(rows))["effects"]["suspicion"]
    assert effect["p_adjusted"] == 2 / 2**7
    assert (effect["difference"]["n"], effect["verdict"]) == (7, "few")


def test_forks_of_a_game_are_one_of_a_sample_however_many_they_are():
    def forks_of(parents: int, blocks: int, *, loose: bool = False) -> Study:
        names = [f"game-{parent}" for parent in range(parents)]
        rows = [{"parent": name, "arm": arm, "k": k} for name in names for arm in ("keep", "honest") for k in (1, 2)]
        of_parents = {name: f"block-{place % blocks}" for place, name in enumerate(names)}
        return study_of(rows, of_parents, loose=loose)

    # where the design has too few blocks, single games are resampled: the parents, and not each of their forks
    assert forks_of(9, 2).blocks == 9
    assert forks_of(3, 2).blocks == 2
    assert forks_of(12, 10).blocks == 10
    # a fork of a record is of no study
    assert [forks_of(parents, 2, loose=True).blocks for parents in (2, 9)] == [2, 9]


def test_forks_of_a_study_of_few_blocks_have_an_interval_over_its_games():
    rows = [
        {"parent": f"game-{game}", "arm": arm, "suspicion": 0.3 + 0.01 * game * (arm == "keep")}
        for game in range(9)
        for arm in ("keep", "honest")
    ]
    study = study_of(rows, {f"game-{game}": f"block-{game % 2}" for game in range(9)})
    found = told(study)
    effect = found["effects"]["suspicion"]["difference"]
    assert (found["blocks"], effect["n"], effect["low"] is not None) == (9, 9, True)
    assert effect["value"] == pytest.approx(0.04)


def test_means_are_over_k_then_statements_then_games_then_blocks():
    def pair(parent: str, number: int, k: int, keep: float, honest: float):
        yield {"parent": parent, "number": number, "k": k, "arm": "keep", "suspicion": keep}
        yield {"parent": parent, "number": number, "k": k, "arm": "honest", "suspicion": honest}

    rows = [
        *pair("a", 1, 1, 0.9, 0.1),
        *pair("a", 1, 2, 0.5, 0.1),
        *pair("a", 2, 1, 0.3, 0.1),
        *pair("b", 1, 1, 0.2, 0.2),
        *pair("c", 1, 1, 0.1, 0.2),
    ]
    by_hand = (((0.8 + 0.4) / 2 + 0.2) / 2 + 0.0) / 2
    row = Results(fork_rows(study_of(rows, {"a": "one", "b": "one"}))).row("lie_effect_suspicion")
    assert row.value == pytest.approx((by_hand - 0.1) / 2)
    assert row.n == 4


def test_a_statement_that_was_forked_twice_with_one_number_counts_with_all_of_its_forks():
    forked = [("keep", 0.9), ("honest", 0.1), ("honest", 0.3), ("say", 0.5), ("say", 0.8)]
    rows = [{"parent": "a", "arm": arm, "suspicion": suspicion} for arm, suspicion in forked]
    data = told(study_of(rows))
    assert data["effects"]["suspicion"]["difference"]["value"] == pytest.approx(0.9 - 0.2)
    assert data["contrasts"]["say"]["suspicion"]["value"] == pytest.approx(0.9 - 0.65)
    assert {arm: row["forks"] for arm, row in data["arms"].items()} == {"keep": 1, "honest": 2, "say": 2}
    assert data["refused"] == {"value": 0.0, "n": 1}


def test_a_statement_without_an_honest_fork_counts_for_nothing_and_is_told_as_refused():
    rows = [
        {"parent": "a", "arm": "keep", "suspicion": 0.9},
        {"parent": "a", "arm": "honest", "suspicion": 0.4},
        {"parent": "b", "arm": "keep", "suspicion": 0.9},
        {"parent": "c", "arm": "keep", "suspicion": 0.9},
        {"parent": "c", "arm": "silence", "suspicion": None},
    ]
    data = told(study_of(rows))
    assert data["refused"] == {"value": pytest.approx(2 / 3), "n": 3}
    assert data["effects"]["suspicion"]["difference"]["value"] == pytest.approx(0.5)
    assert data["effects"]["suspicion"]["difference"]["n"] == 1
    assert data["contrasts"]["silence"]["suspicion"]["value"] is None


def test_arms_are_told_by_their_means_and_effects_apart_by_kind_role_and_agent():
    other = {"parent": "b", "kind": "omission", "role": "Seer", "agent": "b"}
    rows = [
        {"parent": "a", "arm": "keep", "suspicion": 0.9, "labelled": True},
        {"parent": "a", "arm": "honest", "suspicion": 0.4, "labelled": False, "tries": 3},
        {**other, "arm": "keep", "suspicion": 0.5, "labelled": True},
        {**other, "arm": "honest", "suspicion": 0.3, "labelled": True, "tries": 2},
        # without an honest one, and without a label that counts
        {**other, "parent": "c", "arm": "keep", "suspicion": 0.1},
    ]
    data = told(study_of(rows))
    assert data["arms"] == {
        "keep": {"forks": 3, "tries": 1.0, "labelled": 1.0},
        "honest": {"forks": 2, "tries": 2.5, "labelled": 0.5},
    }
    effect = data["effects"]["suspicion"]
    assert (effect["keep"], effect["honest"]) == (pytest.approx(0.7), pytest.approx(0.35))
    for axis, first, second in (("kind", "fabrication", "omission"), ("role", "Werewolf", "Seer"), ("agent", "a", "b")):
        apart = {name: row["suspicion"]["value"] for name, row in data[f"by_{axis}"].items()}
        assert apart == {first: pytest.approx(0.5), second: pytest.approx(0.2)}
    nothing = data["effects"]["won"]
    assert (nothing["keep"], nothing["honest"], nothing["difference"]["value"]) == (None, None, None)
    assert (nothing["difference"]["n"], nothing["difference"]["reason"]) == (0, "no statement has both arms")


def test_of_games_that_are_no_forks_nothing_is_told():
    study = Study(TablesBuilder().tables())
    data = forks(study, results_of(study, (fork_rows,)))
    assert (data["statements"], data["forks"], data["effects"], data["by_agent"]) == (0, 0, {}, {})
