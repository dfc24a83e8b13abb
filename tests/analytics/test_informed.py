"""Who has to find out: headlines computed once more, by pandas from exported tables alone."""

import json
from pathlib import Path

import pandas as pd
import pytest
from sklearn.metrics import brier_score_loss, roc_auc_score

from analytics.export import write_csv
from analytics.findings import findings
from analytics.gather import gather
from tests.golden.played import unpacked

KINDS = {"string": "string", "boolean": "boolean", "integer": "Int64", "number": "float64"}


@pytest.fixture(scope="module")
def exported(tmp_path_factory) -> tuple[dict[str, pd.DataFrame], dict]:
    folder = tmp_path_factory.mktemp("informed")
    unpacked("models", folder)
    write_csv([folder / "models"], folder / "out")
    package = json.loads((folder / "out" / "datapackage.json").read_text("utf-8"))
    return {
        each["name"]: _table(folder / "out" / each["path"], each["schema"]["fields"]) for each in package["resources"]
    }, findings(gather([folder / "models"], workers=1))


def _table(path: Path, fields: list[dict]) -> pd.DataFrame:
    kinds = {field["name"]: KINDS[field["type"]] for field in fields}
    return pd.read_csv(path, dtype=kinds, keep_default_na=False, na_values=[""])


def test_werewolves_always_know_and_villagers_do_where_all_wolves_or_none_are_told(exported):
    tables, _ = exported
    judged = tables["judgements"]
    assert judged[judged["observer_role"] == "Werewolf"]["informed"].all()
    seen = tables["inspections"].set_index(["seer_id", "target_id"])["round"].to_dict()
    seers = judged[judged["observer_role"] == "Seer"]
    told = [
        (row.observer_id, row.target_id) in seen and seen[row.observer_id, row.target_id] <= row.round
        for row in seers.itertuples()
    ]
    # what a Seer inspected it knows; it may work out more
    assert seers["informed"][told].all()
    assert 0 < len(seers[told]) < len(seers)
    plain = judged[judged["observer_role"].isin(["Villager", "Doctor"])]
    assert not plain["informed"].all()


@pytest.mark.parametrize("everybody", [False, True])
def test_detection_and_suspicion_are_those_of_uninformed_pairs_and_of_all(exported, everybody):
    tables, found = exported
    judged = tables["judgements"].merge(tables["statements"][["statement_id", "self_deceptive"]], on="statement_id")
    final = tables["suspicion"].query("moment == 'final'")
    if not everybody:
        judged, final = judged[~judged["informed"]], final[~final["informed"]]
    scored = judged.dropna(subset=["flagged", "self_deceptive"])
    label = scored["self_deceptive"].astype(int)
    gaps = {}
    for name, rows in (("suspicion_gap", final), ("raw_suspicion_gap", judged)):
        means = rows.groupby(rows["target_role"] == "Werewolf")["suspicion"].mean()
        gaps[name] = means[True] - means[False]
    expected = {
        "accuracy": (scored["flagged"] == scored["self_deceptive"]).mean(),
        "auc": roc_auc_score(label, scored["suspicion"]),
        "brier": brier_score_loss(label, scored["suspicion"]),
        "auc_before": roc_auc_score(label, scored["before"].round(12)),
        **gaps,
    }
    for name, value in expected.items():
        row = found["variability"]["metrics"][name]
        row = row["all_observers"] if everybody else row
        assert row["value"] == pytest.approx(float(value)), name
    stands = tables["results"].query("group == 'all'").set_index(["metric", "observers"])["value"]
    for name, value in expected.items():
        assert stands[name, "all" if everybody else "uninformed"] == pytest.approx(float(value))


def test_figure_1_and_what_moves_it_follow_from_the_rounds_suspicion(exported):
    tables, found = exported
    rows = tables["suspicion"].query("moment == 'round' and not informed")
    by_game = rows.groupby(["target_role", "round", "game_id"])["suspicion"].mean()
    lines = {
        (role, point["round"]): (point["mean"], point["n"])
        for role, points in found["figure1"]["suspicion"].items()
        for point in points
    }
    means = by_game.groupby(["target_role", "round"]).agg(["mean", "count"])
    assert lines == {key: (pytest.approx(row["mean"]), row["count"]) for key, row in means.iterrows()}
    keys = ["game_id", "observer_id", "target_id", "target_role", "round"]
    before = rows.assign(round=rows["round"] + 1)[[*keys, "suspicion"]]
    both = rows.merge(before, on=keys, suffixes=("", "_before"))
    both["change"] = both["suspicion"] - both["suspicion_before"]
    within = both.groupby(["target_role", "round", "game_id"])["change"].mean()
    told = {
        (role, step["round"]): (step["within"], step["within"] + step["makeup"])
        for role, steps in found["figure1"]["moved"].items()
        for step in steps
    }
    assert told
    for (role, round_), (change, whole) in told.items():
        own = within[role, round_]
        assert change == pytest.approx(own.mean())
        steps = by_game[role, round_][own.index] - by_game[role, round_ - 1][own.index]
        assert whole == pytest.approx(steps.mean())


def test_votes_are_held_against_those_of_whom_the_voter_cannot_tell(exported):
    tables, found = exported
    votes = tables["votes"].query("voter_role != 'Werewolf'").dropna(subset=["target_role"])
    for rows, stands in ((votes[~votes["informed"]], found["votes"]), (votes, found["votes"]["all_observers"])):
        hit = stands["hits"]
        assert (hit["value"], hit["n"]) == (pytest.approx((rows["target_role"] == "Werewolf").mean()), len(rows))
    mine = votes[~votes["informed"]]
    assert found["votes"]["hits"]["chance"] == pytest.approx((mine["unknown_wolves"] / mine["unknown"]).mean())
