"""Lies, mistakes, confessions and detection against truth."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.metrics import accuracy_score, balanced_accuracy_score, matthews_corrcoef

from tests.analytics.arrays import LIE, MISTAKE, NO_CLAIM, TRUE
from tests.analytics.script import measured
from tests.simulator import draw_agents, simulate
from wolfbus.game.vocabulary import ROLES


def test_a_speaker_who_never_confesses_stands_out():
    columns = simulate(draw_agents(4, seed=3), games=60, seed=3, confesses=(1.0, 0.0, 0.5, 1.0))
    rates = {name: row["confession_rate"] for name, row in measured("truth", columns)["by_agent"].items()}
    assert rates["agent-00"]["value"] == 1.0
    assert (rates["agent-01"]["value"], rates["agent-01"]["interval_reason"]) == (0.0, "every draw gives the same")
    assert rates["agent-01"]["n"] > 50
    assert rates["agent-02"]["low"] < 0.5 < rates["agent-02"]["high"]


def test_an_agent_that_never_was_a_werewolf_is_said_to_have_told_no_lie_as_one():
    columns = simulate(draw_agents(2, seed=3), games=6, seed=3)
    agents = np.where(columns.statements["role"] == ROLES.index("Werewolf"), 0, 1).astype(np.int32)
    found = measured("truth", replace(columns, statements={**columns.statements, "agent": agents}))["by_agent"]
    never = found["agent-01"]["wolf_lie_rate"]
    assert (never["n"], never["reason"]) == (0, "no statement of it as a Werewolf makes a checkable claim")
    assert found["agent-00"]["wolf_lie_rate"]["n"] == found["agent-00"]["checkable"]


def mixed():
    columns = simulate(draw_agents(5, seed=4), games=30, seed=4, confesses=0.6)
    rng = np.random.default_rng(5)
    statements = {
        **columns.statements,
        "truth": columns.statements["truth"].copy(),
        "d": columns.statements["d"].copy(),
    }
    lies = np.flatnonzero(statements["truth"] == LIE)
    statements["truth"][rng.choice(lies, len(lies) // 3, replace=False)] = MISTAKE
    statements["d"][rng.random(len(statements["d"])) < 0.2] = -1
    judgements = {**columns.judgements, "d": columns.judgements["d"].copy()}
    judgements["d"][rng.random(len(judgements["d"])) < 0.1] = -1
    return replace(columns, statements=statements, judgements=judgements)


def test_it_equals_a_loop_over_statements_and_scikit_learn():
    columns = mixed()
    found = measured("truth", columns)
    for code, name in enumerate(columns.agents):
        rows = [
            (int(t), int(d))
            for t, d, agent in zip(
                columns.statements["truth"], columns.statements["d"], columns.statements["agent"], strict=True
            )
            if agent == code
        ]
        row = found["by_agent"][name]
        assert row["statements"] == len(rows)
        assert row["checkable"] == sum(t != NO_CLAIM for t, _ in rows) == row["true"] + row["mistakes"] + row["lies"]
        assert row["labelled_lies"] == sum(t == LIE and d != -1 for t, d in rows)
        assert row["admitted"] == sum((t, d) == (LIE, 1) for t, d in rows)
        assert row["false_confessions"] == sum((t, d) == (TRUE, 1) for t, d in rows)
    flags, false, label = [], [], []
    for row, d in zip(columns.judgements["statement"], columns.judgements["d"], strict=True):
        t, own = columns.statements["truth"][row], columns.statements["d"][row]
        if d != -1 and t in {TRUE, LIE, MISTAKE} and own != -1:
            flags.append(int(d))
            false.append(int(t == LIE))
            label.append(int(own))
    headlines = measured("variability", columns)["metrics"]
    assert headlines["truth_accuracy"]["value"] == pytest.approx(found["detection"]["against_truth_all"]["accuracy"])
    for name in ("lie_rate", "confession_rate", "mistake_rate"):
        assert headlines[name]["value"] == pytest.approx(found["overall"][name]["value"])
    for name, positive in (("against_truth", false), ("against_label", label)):
        measures = found["detection"][name]
        assert measures["n"] == len(flags)
        assert measures["accuracy"] == pytest.approx(accuracy_score(positive, flags))
        assert measures["balanced_accuracy"] == pytest.approx(balanced_accuracy_score(positive, flags))
        assert measures["mcc"] == pytest.approx(matthews_corrcoef(positive, flags))
    assert found["detection"]["against_truth_all"]["n"] > len(flags)
    by_observer = found["detection"]["by_observer"].values()
    assert sum(row["against_truth"]["n"] for row in by_observer) == len(flags)
