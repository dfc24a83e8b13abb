"""A game in which few answers were usable does not look like a success."""

import re

import pytest

from analytics.findings import Metrics, metrics
from analytics.gather import fold
from analytics.report.report import Report, terminal_text
from tests.analytics.script import gathered
from tests.game.driver import Missing, play
from wolfbus.agent import Agent
from wolfbus.cli import run
from wolfbus.game.config import GameConfig
from wolfbus.knowledge.view import SeatView
from wolfbus.messages.defaults import never_given
from wolfbus.messages.requests import Ask

CONFIG = GameConfig(debate_turns=2, max_rounds=2)
MODEL = "llm:any@http://127.0.0.1:8102/v1"
SPOILT = 4
"""The exit code."""
LOST = {
    "bid": Missing("defaulted", "failed"),
    "assess_other": Missing("timed_out"),
    "vote": Missing("defaulted", "refused"),
}


def played_by(lost: dict[str, Missing], *brains: str):
    opened, *rest = play(CONFIG, "1", lambda question: lost.get(question.kind)).events
    for brain in brains:
        seats = tuple(seat.model_copy(update={"brain": brain}) for seat in opened.seats)
        yield fold([opened.model_copy(update={"seats": seats}), *rest])


def warned(result) -> list[str]:
    text = " ".join(terminal_text(result).partition("smoothed suspicion")[0].split())
    return re.findall(r"WARNING: (.*?the model)", text)


def test_a_brain_that_rarely_answered_is_named_first_with_what_was_wrong():
    result = metrics(played_by(LOST, MODEL))
    row = result["repair"]["by_brain"][MODEL]["overall"]
    faults, lost = row["faults"], row["defaulted"] + row["timed_out"]
    assert row["defaulted"] == faults["failed"] + faults["refused"]
    assert row["lost_share"] == lost / row["replies"] > 0.1
    assert row["refused_share"] == faults["refused"] / row["replies"] > 0
    causes = {"failed": faults["failed"], "refused": faults["refused"], "timed out": row["timed_out"]}
    details = ", ".join(f"{cause} {count}" for cause, count in sorted(causes.items(), key=lambda pair: -pair[1]))
    assert warned(result) == [
        f"{lost} of {row['replies']} answers of {MODEL} are defaults ({details}): what follows says little of the model"
    ]
    assert terminal_text(result).startswith("WARNING: ")
    *headlines, warning, never, defaults = Report(result, gathered([])).headlines()
    assert (len(headlines), warning) == (5, f"WARNING: {' '.join(warned(result))}")
    assert re.fullmatch(
        rf"WARNING: none of \d+ bids, \d+ judgements and \d+ votes asked of {MODEL} could be used", never
    )
    assert defaults.startswith(f"{lost} of {row['replies']} answers are defaults (")


def test_the_share_that_each_agent_refused_or_a_filter_kept_back_stands_in_the_report():
    kept_back = {"vote": Missing("defaulted", "filtered"), "speak": Missing("defaulted", "refused")}
    result = metrics(played_by(kept_back, MODEL, "llm:other"))
    row = result["repair"]["by_brain"][MODEL]["overall"]
    assert row["refused_share"] == (row["faults"]["filtered"] + row["faults"]["refused"]) / row["replies"]
    page = Report(result, gathered([])).markdown()
    (line,) = [line for line in page.splitlines() if line.startswith("| llm:other | ") and line.count("|") == 13]
    assert line.endswith(f"| {100 * row['refused_share']:.1f}\u00a0% |")


@pytest.mark.parametrize("brain", ["scripted", "random", "silent", "random:7"])
def test_built_in_brains_are_not_warned_of(brain):
    assert "WARNING" not in terminal_text(metrics(played_by(LOST, brain)))


def test_brains_that_mostly_answer_and_requests_that_an_agent_declines_are_not_warned_of():
    result = metrics(played_by({"inspect": Missing("timed_out")}, MODEL))
    row = result["repair"]["by_brain"][MODEL]["overall"]
    assert 0 < row["lost_share"] <= 0.1
    assert warned(result) == []
    row.update(replies=100, declined=95, defaulted=0, timed_out=0)
    assert warned(result) == warned(Metrics().result()) == []
    row.update(timed_out=1)
    assert warned(result) == [
        f"1 of 5 answers of {MODEL} is a default (timed out 1): what follows says little of the model"
    ]


def test_a_kind_of_answer_that_an_agent_never_gave_is_named_however_few_of_its_answers_they_are():
    result = metrics(played_by({"inspect": Missing("timed_out")}, MODEL))
    tables = result["repair"]["by_brain"][MODEL]
    assert 0 < tables["overall"]["lost_share"] <= 0.1
    nights = tables["by_kind"]["inspect"]["replies"]
    line = f"none of {nights} inspections asked of {MODEL} could be used"
    assert line in " ".join(terminal_text(result).split())


@pytest.mark.parametrize(("votes", "bids", "named"), [(2, 0, True), (1, 0, False), (2, 9, False), (2, 3, True)])
def test_one_missing_answer_is_no_habit_and_who_answers_nothing_is_named_otherwise(votes, bids, named):
    line = never_given("Nils", {"vote": votes, "bid": bids}, {"vote": votes, "bid": 9})
    assert line == ("none of 2 votes asked of Nils could be used" if named else "")


def test_brains_whose_names_differ_in_the_middle_stay_apart_in_every_table():
    brains = [f"llm:any@http://a.very.long.host.example:{port}/v1/of/a/very/deep/path/{'x' * 60}" for port in (81, 82)]
    result = metrics(played_by(LOST, *brains))
    assert len(set(warned(result))) == 2
    text = terminal_text(result)
    report = text[text.index("Replies by agent") :]
    head = next(line for line in report.splitlines() if line.startswith("  Agent "))
    names = "".join(line[: head.index("Replies")].strip() for line in report.splitlines())
    assert names.count("llm:any@http") == 2
    assert "xx #2" in names
    assert "Extracted: JSON taken out of prose" in report
    assert "Timed out: too late" in " ".join(report.split())


class Quiet(Agent):
    """Declines all that it is asked."""


class Clumsy(Agent):
    """Fails on all that it is asked, and is long about it."""

    def answer(self, _ask: Ask, _view: SeatView, /) -> str:
        raise RuntimeError("é" * 999)


def ended(tmp_path, capsys, brain: type[Agent], code: int = 0) -> str:
    players = f"{__name__}:{brain.__name__},scripted*7"
    assert run(["play", "--players", players, "--seed", "1", "--quiet", "--out", str(tmp_path)]) == code
    return capsys.readouterr().out


def test_the_end_of_a_game_counts_no_request_that_a_brain_declines(tmp_path, capsys):
    assert re.search("Quiet played .*; it was never asked", ended(tmp_path, capsys, Quiet))


def test_the_end_of_a_game_says_why_a_brain_did_not_answer_cut_short(tmp_path, capsys):
    details = ended(tmp_path, capsys, Clumsy, code=SPOILT)
    assert re.search("most often: the brain failed: RuntimeError: é{90,}…\\)", details)
    assert "it was never asked" not in details
