"""A game in which few answers were usable does not look like a success."""

from __future__ import annotations

from analytics.findings import Metrics, metrics
from analytics.fold import fold
from analytics.report.caveats import missing_answers
from analytics.report.terminal import text
from tests.game.driver import Missing, play
from wolfbus.config import GameConfig
from wolfbus.messages.events import AnyEvent, Opened

CONFIG = GameConfig(debate_turns=2, max_rounds=2)
MODEL = "llm:any@http://127.0.0.1:8102/v1"


def played_by(brain: str, lost: dict[str, Missing]) -> list[AnyEvent]:
    opened, *rest = play(CONFIG, "1", lambda question: lost.get(question.kind)).events
    assert isinstance(opened, Opened)
    seats = tuple(seat.model_copy(update={"brain": brain}) for seat in opened.seats)
    return [opened.model_copy(update={"seats": seats}), *rest]


LOST = {
    "bid": Missing("defaulted", "failed"),
    "assess_other": Missing("timed_out"),
    "vote": Missing("defaulted", "refused"),
}


def test_a_brain_that_rarely_answered_is_named_first_with_what_was_wrong():
    result = metrics([fold(played_by(MODEL, LOST))])
    row = result["repair"]["by_brain"][MODEL]["overall"]
    faults, lost = row["faults"], row["defaulted"] + row["timed_out"]
    assert row["defaulted"] == faults["failed"] + faults["refused"]
    assert row["lost_share"] == lost / row["replies"] > 0.1
    (warning,) = missing_answers(result)
    told = sorted(
        [(faults["failed"], "failed"), (faults["refused"], "refused"), (row["timed_out"], "timed out")], reverse=True
    )
    causes = ", ".join(f"{cause} {count}" for count, cause in told)
    assert warning == (
        f"{lost} of {row['replies']} answers of {MODEL} are defaults ({causes}): what follows says little of the model"
    )
    shown = text(result)
    assert " ".join(shown.split()).startswith(f"WARNING: {warning}")
    assert max(map(len, shown.splitlines())) <= 100


def test_built_in_brains_and_brains_that_mostly_answer_are_not_warned_of():
    for brain in ("scripted", "random", "silent", "random:7"):
        assert missing_answers(metrics([fold(played_by(brain, LOST))])) == []
    result = metrics([fold(played_by(MODEL, {"inspect": Missing("timed_out")}))])
    row = result["repair"]["by_brain"][MODEL]["overall"]
    assert 0 < row["lost_share"] <= 0.1
    assert missing_answers(result) == []
    assert missing_answers(Metrics().result()) == []


def test_requests_that_an_agent_declines_are_no_missing_answers():
    result = metrics([fold(played_by(MODEL, {}))])
    row = result["repair"]["by_brain"][MODEL]["overall"]
    row.update(replies=100, declined=95, defaulted=0, timed_out=0)
    assert missing_answers(result) == []
    row.update(timed_out=1)
    assert missing_answers(result) == [
        f"1 of 5 answers of {MODEL} are defaults (timed out 1): what follows says little of the model"
    ]


def test_brains_whose_names_differ_in_the_middle_stay_apart_in_every_table():
    brains = [f"llm:any@http://a.very.long.host.example:{port}/v1/of/a/very/deep/path/{'x' * 60}" for port in (81, 82)]
    result = metrics([fold(played_by(brain, LOST)) for brain in brains])
    one, two = missing_answers(result)
    assert one != two
    shown = text(result)
    report = shown[shown.index("Replies by agent") :]
    head = next(line for line in report.splitlines() if line.startswith("  Agent "))
    names = "".join(line[: head.index("Replies")].strip() for line in report.splitlines())
    assert names.count("llm:any@http") == 2
    assert "xx #2" in names
    assert "Extracted: JSON taken out of prose" in report
    assert "Timed out: too late" in " ".join(report.split())
