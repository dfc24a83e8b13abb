"""The paper's Tables 1, 2, 3 and 5, who wins, how long games are, and how often speakers admit to deceive."""

from dataclasses import replace

import pytest
from scipy.stats import binomtest
from sklearn import metrics as sk

from tests.analytics.script import Script, measured, random_game, section
from tests.analytics.synthetic import confusion, decided
from wolfbus.game.vocabulary import DECEPTIONS, ROLES


@pytest.mark.parametrize("include_defaulted", [False, True])
def test_both_tables_agree_with_plain_loops(include_defaulted):
    games = [random_game(seed).rows(include_defaulted=include_defaulted) for seed in range(15)]
    one, five = section("table1")(games), section("table5")(games)
    for table, known, attribute in ((one, ROLES, "role"), (five, DECEPTIONS, "kind")):
        for key in (*known, "overall"):
            suspicion, flagged, count, deceptive = [], [], 0, 0
            for game in games:
                for statement in game.statements:
                    own = getattr(statement, attribute)
                    if own != key and (key != "overall" or own is None):
                        continue
                    count += 1
                    deceptive += bool(statement.d)
                    heard = [j for j in game.judgements if j.statement == statement.number and j.usable]
                    if heard:
                        suspicion.append(sum(j.s for j in heard) / len(heard))
                        flagged.append(sum(j.d for j in heard) / len(heard))
            row = table[key]
            assert row.get("statements", row.get("count")) == count
            assert row.get("deceptive", deceptive) == deceptive
            assert row["suspicion_n"] == row["flagged_n"] == len(suspicion)
            assert row["suspicion"] == pytest.approx(sum(suspicion) / len(suspicion), rel=1e-12)
            assert row["flagged"] == pytest.approx(sum(flagged) / len(flagged), rel=1e-12)


def test_the_matrix_agrees_with_a_plain_loop():
    games = [random_game(seed).rows(alpha=0.4, prior=0.1) for seed in range(15)]
    result = section("table2")(games)
    for observer_role in ROLES:
        for target_role in ROLES:
            means, pairs = [], 0
            for game in games:
                last = {}
                for row in game.judgements:
                    if row.usable and (row.observer_role, row.target_role) == (observer_role, target_role):
                        before = last.get((row.observer, row.target), 0.1)
                        last[row.observer, row.target] = 0.4 * row.s + 0.6 * before
                if last:
                    means.append(sum(last.values()) / len(last))
                    pairs += len(last)
            cell = result[observer_role][target_role]
            assert (cell["n"], cell["pairs"]) == (len(means), pairs)
            assert cell["mean"] == (pytest.approx(sum(means) / len(means), rel=1e-12) if means else None)


ONE_CLASS = ("balanced_accuracy", "mcc", "dprime", "criterion")


def test_signal_detection_uses_the_log_linear_correction():
    # hits 9 of 10, false alarms 1 of 10: rates 9.5/11 and 1.5/11, z = +-1.096804
    measures = confusion(tp=9, fn=1, fp=1, tn=9)
    assert measures["dprime"] == pytest.approx(2.193607, abs=1e-6)
    assert measures["criterion"] == pytest.approx(0.0, abs=1e-12)
    eager = confusion(tp=10, fp=10)
    assert eager["dprime"] == pytest.approx(0.0, abs=1e-12)
    assert eager["criterion"] == pytest.approx(-1.690622, abs=1e-6)


def test_table3_agrees_with_scikit_learn():
    games = [random_game(seed).rows() for seed in range(20)]
    result = section("table3")(games)
    for observer, row in result.items():
        flags, truth = [], []
        for game in games:
            labels = {statement.number: statement.d for statement in game.statements}
            for judgement in game.judgements:
                known = labels[judgement.statement] is not None and judgement.usable
                if known and observer in {"overall", judgement.observer_role}:
                    flags.append(judgement.d)
                    truth.append(labels[judgement.statement])
        tn, fp, fn, tp = (int(count) for count in sk.confusion_matrix(truth, flags).ravel())
        assert [row[name] for name in ("n", "tp", "tn", "fp", "fn")] == [len(flags), tp, tn, fp, fn]
        names = ("accuracy_score", "precision_score", "recall_score", "f1_score", "balanced_accuracy_score")
        for name in names:
            assert row[name.removesuffix("_score")] == pytest.approx(getattr(sk, name)(truth, flags)), name
        assert row["mcc"] == pytest.approx(sk.matthews_corrcoef(truth, flags))
        guesses = (sk.accuracy_score(truth, [guess] * len(truth)) for guess in (True, False))
        assert row["constant_accuracy"] == pytest.approx(max(guesses))


@pytest.mark.parametrize(
    ("counts", "values"),
    [
        (
            {"tn": 3, "fp": 2},
            {"accuracy": 0.6, "precision": 0.0, "base_rate": 0.0, "constant_accuracy": 1.0}
            | dict.fromkeys(("recall", "f1", *ONE_CLASS)),
        ),
        ({"tp": 1, "fn": 3}, {"precision": 1.0, "recall": 0.25, "base_rate": 1.0} | dict.fromkeys(ONE_CLASS)),
        # who never flags has no precision and no F1, but a recall of 0
        ({"tn": 3, "fn": 2}, {"precision": None, "f1": None, "mcc": None, "recall": 0.0, "balanced_accuracy": 0.5}),
        ({"fp": 3, "fn": 2}, {"precision": 0.0, "recall": 0.0, "f1": 0.0}),
    ],
)
def test_what_is_undefined_is_null_and_never_0(counts, values):
    measures = confusion(**counts)
    assert {name: measures[name] for name in values} == values


def game(winner, nights, finished=True):
    script = Script()
    for _ in range(nights):
        script.dawn()
        script.said("Vic", False, {"Wim": (False, 0.1), "Wes": "timed_out"})
        script.silence("Val").vote({"Vic": None}).exile()
    if finished:
        script.end(winner)
    return script.rows()


def test_win_shares_are_over_finished_games():
    games = (
        [game("werewolves", 3)] * 7 + [game("villagers", 2)] + [game(None, 10)] * 2 + [game(None, 1, finished=False)]
    )
    result = section("outcomes")(replace(rows, game=f"g{at}") for at, rows in enumerate(games))
    assert (result["games"], result["finished"], result["unfinished"]) == (11, 10, 1)
    assert {winner: row["k"] for winner, row in result["winners"].items()} == {
        "villagers": 1,
        "werewolves": 7,
        "nobody": 2,
    }
    assert result["winners"]["werewolves"]["share"] == 0.7
    assert result["endings"] == {"max_rounds": 10}


def test_lengths_have_mean_and_spread_over_finished_games_and_a_total_over_all():
    result = section("outcomes")([game("werewolves", 1), game("villagers", 3), game(None, 5, finished=False)])[
        "per_game"
    ]
    assert result["nights"] == {"mean": 2.0, "sd": pytest.approx(2**0.5), "n": 2, "total": 9}
    assert result["debate_turns"]["mean"] == 4.0
    assert result["statements"]["mean"] == 2.0
    assert result["voting_rounds"]["mean"] == 2.0
    assert result["judgements"] == {"mean": 2.0, "sd": pytest.approx(2**0.5), "n": 2, "total": 9}


@pytest.mark.parametrize(("k", "n"), [(0, 1), (1, 1), (0, 40), (40, 40), (70, 100), (10, 100), (3, 7)])
def test_win_shares_of_games_that_are_their_own_blocks_have_scipys_wilson_interval(k, n):
    row = measured("outcomes", decided([1] * k + [0] * (n - k), 1))["winners"]["villagers"]
    expected = binomtest(k, n).proportion_ci(0.95, method="wilson")
    assert (row["low"], row["high"]) == pytest.approx((expected.low, expected.high), abs=1e-12)


def test_production_is_the_share_of_labelled_statements_called_deceptive():
    script = Script(brains={"Wim": "gpt", "Vic": "claude", "Sia": "claude"}).dawn()
    script.said("Wim", True, {})
    script.said("Wim", False, {})
    script.said("Vic", False, {})
    script.said("Sia", "timed_out", {})
    script.exile().dawn()
    script.said("Wim", True, {}, phase="vote")
    result = section("production")([script.rows()])
    shares = {
        ("overall",): (2, 4),
        ("by_role", "Werewolf"): (2, 3),
        ("by_role", "Villager"): (0, 1),
        ("by_role", "Seer"): (0, 0),
        ("by_brain", "claude"): (0, 1),
        ("by_brain", "gpt"): (2, 3),
        ("by_agent", "house"): (2, 4),
        ("by_round", "1"): (1, 3),
        ("by_round", "2"): (1, 1),
        ("by_phase", "vote"): (1, 1),
    }
    for path, (deceptive, n) in shares.items():
        row = result[path[0]] if len(path) == 1 else result[path[0]][path[1]]
        assert row == {"rate": deceptive / n if n else None, "deceptive": deceptive, "n": n}, path
    assert (len(result["by_brain"]), len(result["by_agent"]), len(result["by_round"])) == (2, 1, 2)
