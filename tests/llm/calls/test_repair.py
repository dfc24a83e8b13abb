"""How replies were read, what became of them, and what the scores are without those that were not clean."""

from __future__ import annotations

import pytest
from sklearn.metrics import roc_auc_score

from analytics.findings import Metrics, metrics
from analytics.fold import fold
from analytics.report.terminal import text
from tests.analytics.script import Script, random_game, section
from tests.game.driver import Missing, play
from tests.record.synthetic import small_game
from wolfbus.config import GameConfig
from wolfbus.messages.events import Answered, Opened


def test_replies_of_every_kind_are_counted_by_reading_outcome_and_fault():
    report = section("repair")([fold(small_game())])
    assert report["overall"]["replies"] == sum(isinstance(event, Answered) for event in small_game())
    by_kind = report["by_kind"]
    assert list(by_kind) == ["bid", "speak", "assess_own", "assess_other", "vote", "protect", "inspect", "whisper"]
    assert (by_kind["bid"]["coerced"], by_kind["bid"]["timed_out"], by_kind["bid"]["clean"]) == (1, 1, 0)
    judged = by_kind["assess_other"]
    assert (judged["accepted"], judged["clean"], judged["repaired"], judged["defaulted"]) == (2, 1, 1, 1)
    assert judged["faults"] == {"unparseable": 1, "illegal": 0, "ambiguous": 0, "refused": 0, "failed": 0}
    assert report["by_brain"] == {"scripted": {"overall": report["overall"], "by_kind": by_kind}}


def test_counts_add_up_in_any_game():
    config = GameConfig(debate_turns=2, max_rounds=2)
    lost = {"bid": Missing("timed_out"), "vote": Missing("defaulted", "ambiguous")}
    games = [random_game(3).rows(), fold(play(config, "1", lambda question: lost.get(question.kind)).events)]
    report = section("repair")(games)
    rows = [report["overall"], *report["by_kind"].values()]
    for brain in report["by_brain"].values():
        rows += [brain["overall"], *brain["by_kind"].values()]
    for row in rows:
        assert row["replies"] == sum(row[name] for name in ("accepted", "defaulted", "timed_out", "declined"))
        assert row["accepted"] == sum(row[name] for name in ("clean", "extracted", "repaired", "coerced", "reasked"))
    assert sum(row["replies"] for row in report["by_kind"].values()) == report["overall"]["replies"]
    assert set(report["by_brain"]) == {"one", "two", "test"}
    vote = report["by_brain"]["test"]["by_kind"]["vote"]
    assert vote["faults"]["ambiguous"] == vote["defaulted"] == vote["replies"] > 0


def mixed() -> Script:
    """Two statements; of their judgements some were not read as they stood."""
    script = Script().dawn()
    for speaker, d, label in (("Wim", True, "clean"), ("Sia", False, "clean"), ("Wes", True, "extracted")):
        number = script.say(speaker)
        script.label(number, speaker, d, reading=label)
        script.judge(number, "Vic", (d, 0.8 if d else 0.1), reading="clean")
        script.judge(number, "Val", (not d, 0.3), reading="reasked")
        script.judge(number, "Vox", "timed_out")
    return script


def test_scores_are_told_with_and_without_what_was_not_clean():
    scores = section("headline")([mixed().rows()])
    assert (scores["all"]["n"], scores["all"]["accuracy"]) == (6, 0.5)
    assert (scores["clean"]["n"], scores["clean"]["accuracy"], scores["clean"]["auc"]) == (2, 1.0, 1.0)
    filled = section("headline")([mixed().rows(include_defaulted=True)])
    assert filled["all"]["n"] == 9
    assert filled["clean"] == scores["clean"]
    nothing = section("headline")([])
    assert (nothing["clean"]["n"], nothing["clean"]["accuracy"], nothing["clean"]["auc"]) == (0, None, None)


def test_the_area_under_the_curve_agrees_with_scikit_learn():
    games = [random_game(seed).rows() for seed in range(10)]
    truth, suspicion = [], []
    for game in games:
        labels = {statement.number: statement.d for statement in game.statements}
        for judgement in game.judgements:
            if judgement.s is not None and labels[judgement.statement] is not None:
                truth.append(labels[judgement.statement])
                suspicion.append(judgement.s)
    scores = section("headline")(games)["all"]
    assert scores["auc_n"] == len(truth)
    assert scores["auc"] == pytest.approx(roc_auc_score(truth, suspicion))


def test_text_shows_the_report_only_where_there_is_something_to_repair():
    clean = fold(play(GameConfig(debate_turns=1, max_rounds=1), "1").events)
    assert "Replies by agent" not in text(metrics([clean]))
    shown = text(metrics([mixed().rows()]))
    part = shown[shown.index("The same by kind of reply") :]
    (judged,) = [line.split() for line in part.splitlines() if line.startswith("  Judgements")]
    assert judged[:10] == ["Judgements", "9", "3", "0", "0", "0", "3", "0", "3", "0"]
    (only,) = [line.split() for line in part.splitlines() if "clean" in line and "label" in line]
    assert [cell for cell in only if cell[0].isdigit()] == ["2", "100.0", "100.0", "50.0", "50.0", "1.000"]
    both = text(metrics([mixed().rows(), Script(brains=dict.fromkeys(("Wim", "Vic"), "x" * 99)).rows(), clean]))
    assert max(map(len, both.splitlines())) <= 100


def compact(script: Script) -> Script:
    opened = script.events[0]
    assert isinstance(opened, Opened)
    config = opened.config.model_copy(update={"protocol": "compact"})
    script.events[0] = opened.model_copy(update={"config": config})
    return script


def test_protocols_are_counted_and_never_mixed_silently():
    paper, other = random_game(1).rows(), compact(random_game(2)).rows()
    assert "protocol" not in text(metrics([paper]))
    assert "compact protocol" in text(metrics([other]))
    one = Metrics()
    one.add(paper)
    two = Metrics()
    two.add(other)
    assert one.result()["outcomes"]["mixed_protocols"] is two.result()["outcomes"]["mixed_protocols"] is False
    one.merge(two)
    assert one.result()["outcomes"]["protocols"] == {"paper": 1, "compact": 1}
    assert one.result()["outcomes"]["mixed_protocols"] is True
    assert text(one.result()).startswith("WARNING: Games of different protocols are mixed")
