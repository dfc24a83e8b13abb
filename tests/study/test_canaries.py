"""Canary questions before and after a study's games: whether models stayed what they were."""

import json
import random
from pathlib import Path

import pytest

from players.llm.provider import ProviderReply
from tests.golden.running import wolfbus
from tests.llm.whole.playing import obliging, scripted
from wolfbus.study.canaries import canaries_in_words

STUDY = """
games = 2
seed = 1
players = "llm:m*1,scripted*7"
canaries = true
at_once = 1
[rules]
debate_turns = 1
max_rounds = 1
[endpoints.here]
provider = "tests.llm.whole.playing"
[models.m]
endpoint = "here"
"""


def noted(*rounds: list[str | None]) -> list[dict[str, object]]:
    days = range(1, len(rounds) + 1)
    return [
        {"at": f"2026-11-{day:02}T10:00:00+00:00", "model": "m", "version": 1, "answers": answers}
        for day, answers in zip(days, rounds, strict=True)
    ]


def play(folder: Path, changes: str) -> tuple[list[dict[str, object]], str]:
    """Play the study with a model that stays the same, changes once it plays, or never repeats itself; return what was
    noted, and said.
    """
    has_played, draws, temperatures = [], random.Random(3), set()

    def script(request):
        if request.form.name != "canary":
            has_played.append(True)
            return obliging(request)
        temperatures.add(request.model.temperature)
        question = request.messages[-1].content
        version = draws.random() if changes == "always" else bool(has_played) and changes == "once"
        return ProviderReply(json.dumps({"answer": f"{version}: {question.partition(chr(10))[0]}"}))

    (folder / "study.toml").write_text(STUDY)
    with scripted(script):
        said = wolfbus(folder, "run", "study.toml", "--out", "out", "--quiet", "--no-probe")
    assert said.code == 0, said.err
    assert temperatures == {0.0}
    return json.loads((folder / "out" / "study.json").read_bytes())["canaries"], said.err


@pytest.mark.parametrize("changes", ["never", "once", "always"])
def test_a_model_that_changed_while_games_were_played_is_found_out(tmp_path: Path, changes: str) -> None:
    rounds, said = play(tmp_path, changes)
    assert [len(one["answers"]) for one in rounds] == [16, 16, 16]
    assert (rounds[0]["answers"] == rounds[1]["answers"]) == (changes != "always")
    line = "something about the model changed under way"
    assert (line in said) == (changes == "once")
    report = wolfbus(tmp_path, "report", "out", "--md", "report.md")
    assert report.code == 0, report.err
    text = (tmp_path / "report.md").read_text()
    assert "canary questions" in text
    assert (line in text) == (changes == "once")
    calls = wolfbus(tmp_path, "report", "out", "--json").out
    assert "canary" not in json.dumps(json.loads(calls)["cost"]), "no call of the games"


def test_a_study_that_goes_on_asks_once_more_and_one_without_canaries_never(tmp_path: Path) -> None:
    play(tmp_path, "never")
    with scripted(obliging):
        assert wolfbus(tmp_path, "run", "--resume", "--out", "out", "--games", "3", "--quiet", "--no-probe").code == 0
    rounds = json.loads((tmp_path / "out" / "study.json").read_bytes())["canaries"]
    assert len(rounds) == 5
    (tmp_path / "study.toml").write_text(STUDY.replace("canaries = true", ""))

    def script(request):
        assert request.form.name != "canary"
        return obliging(request)

    with scripted(script):
        assert wolfbus(tmp_path, "run", "study.toml", "--out", "without", "--quiet", "--no-probe").code == 0
    assert "canaries" not in json.loads((tmp_path / "without" / "study.json").read_bytes())


def test_a_model_that_stays_the_same_is_hardly_ever_said_to_have_changed() -> None:
    draws, alarms = random.Random(1), {}
    for repeats in (0.0, 0.5, 0.8, 1.0):
        for _ in range(1_000):
            rounds = [[("a" if draws.random() < repeats else str(draws.random())) for _ in range(16)] for _ in range(3)]
            alarms[repeats] = alarms.get(repeats, 0) + next(changed for _, changed in canaries_in_words(noted(*rounds)))
    assert max(alarms.values()) <= 20, alarms


def test_what_was_asked_too_seldom_or_in_other_words_is_compared_with_nothing() -> None:
    answers = ["a"] * 16
    assert list(canaries_in_words(noted(answers, answers))) == []
    newer = noted(answers, answers, ["b"] * 16)
    newer[2]["version"] = 2
    assert list(canaries_in_words(newer)) == []
    # as somebody has edited the file
    assert list(canaries_in_words(noted(answers, answers, answers[1:]))) == []
    ((line, changed),) = canaries_in_words(noted(answers, answers, ["b"] * 12 + ["a"] * 4, answers))
    assert changed
    assert "of 16 canary questions 16 were answered alike twice as the study began (2026-11-01)" in line
    assert "and 4 at the worst of 2 later times (2026-11-03): something about the model changed under way" in line


def test_questions_that_a_server_left_unanswered_tell_nothing_of_its_model() -> None:
    answers: list[str | None] = ["a"] * 16
    ((line, changed),) = canaries_in_words(noted(answers, answers, [None] * 16))
    assert not changed
    assert line.endswith("no canary question had an answer each time, so none can be compared")
    ((line, changed),) = canaries_in_words(noted(answers, answers, [None] * 4 + ["b"] * 10 + ["a"] * 2))
    assert changed
    assert "of 12 canary questions that had an answer each time 12 were answered alike twice" in line
    assert "and 2 later" in line


def test_a_manifest_with_more_answers_than_anybody_asks_for_is_refused_in_place_of_hours_of_counting(tmp_path):
    answers = ["y", "n"] * 600
    study = {"format": "wolfbus-study", "version": 1, "canaries": noted(answers, answers, answers)}
    (tmp_path / "study.json").write_text(json.dumps(study))
    (tmp_path / "records").mkdir()
    said = wolfbus(tmp_path, "report", ".")
    assert said.code == 2
    assert said.err.startswith("wolfbus: study.json: canaries.0.answers: ")
