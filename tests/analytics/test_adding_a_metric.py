"""A new headline metric is one `Headline`, and one entry of the definitions; everything else follows."""

import pytest

from analytics.compare import as_csv, compare, compare_agents, render
from analytics.findings import results_of
from analytics.metrics.detection import flags
from analytics.metrics.formulas import judged, ratio
from analytics.metrics.headlines import HEADLINES, Headline
from analytics.metrics.study import Study
from analytics.metrics.sums import Figure
from tests.analytics.script import headlines, random_game, tables_of

GAMES = [random_game(seed).rows() for seed in range(9)]


TOY = Headline(
    "eagerness",
    "judgements that flag",
    "share",
    None,
    flags,
    Figure(lambda s: ratio(s.tp + s.fp, judged(s)), judged, "nothing to judge"),
)


@pytest.fixture(autouse=True)
def added(monkeypatch):
    monkeypatch.setitem(HEADLINES, TOY.name, TOY)


def share(games) -> float:
    flags = [
        judgement.d
        for game in games
        for labels in ({statement.number: statement.d for statement in game.statements},)
        for judgement in game.judgements
        if judgement.d is not None and labels[judgement.statement] is not None
    ]
    return sum(flags) / len(flags)


def test_a_toy_metric_has_a_value_and_an_interval_from_the_same_sums():
    row = headlines(tables_of(GAMES), "eagerness")["eagerness"]
    assert row["value"] == pytest.approx(share(GAMES))
    assert row["low"] < row["value"] < row["high"]
    assert (row["label"], row["paper_games"], row["undefined_draws"]) == ("judgements that flag", 9, 0)


def test_a_toy_metric_is_compared_between_studies_and_between_agents():
    whole = tables_of(GAMES)
    found = compare(tables_of(GAMES[:6]), tables_of(GAMES[3:]), permutations=50)
    row = found["metrics"]["eagerness"]
    assert (row["a"], row["b"]) == (pytest.approx(share(GAMES[:6])), pytest.approx(share(GAMES[3:])))
    assert row["difference"]["value"] == pytest.approx(row["b"] - row["a"])
    assert row["p"] is not None
    assert "eagerness" in render(found)
    assert "eagerness,judgements that flag" in as_csv(found)
    agents = compare_agents(whole, "one", "two", permutations=50)["metrics"]["eagerness"]
    assert agents["n_a"] + agents["n_b"] == headlines(whole, "eagerness")["eagerness"]["n"]


def test_a_toy_metric_is_in_the_one_table_over_those_who_have_to_find_out_and_over_all():
    results = results_of(Study(tables_of(GAMES)))
    for observers in ("uninformed", "all"):
        row = results.row("eagerness", observers)
        assert row.value == pytest.approx(share(GAMES))
        assert row.low < row.value < row.high


def test_a_metric_by_role_is_labelled_with_the_article_that_goes_with_the_role():
    labels = [about.label for about in HEADLINES["accuracy"].of_roles(["Werewolf", "Other villager"])]
    assert [label.rpartition(", ")[2] for label in labels] == ["by a Werewolf", "by an Other villager"]
