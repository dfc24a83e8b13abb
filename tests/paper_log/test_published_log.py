"""The log that the paper's authors published."""

import json
from typing import Any

import pytest

from tests.published_log import PUBLISHED
from wolfbus.messages.content import Judgement, Label
from wolfbus.record.published_log import PaperAnalysis, PaperLog, is_paper_log, meta_beside, read_paper_log
from wolfbus.record.reader import open_lines

pytestmark = pytest.mark.published_log


@pytest.fixture(scope="module")
def log() -> PaperLog:
    return read_paper_log(open_lines(PUBLISHED), meta_beside(PUBLISHED))


def analyses(log: PaperLog) -> list[tuple[str, PaperAnalysis]]:
    own = [(f"{each.number} own", each.own_analysis) for each in log.statements if each.own_analysis is not None]
    return own + [(f"{each.number} {name}", other) for each in log.statements for name, other in each.others.items()]


def within_fence(raw: str) -> Any:
    """Read it independently: take the fence away, closed or not, and parse strictly; None for what that cannot read."""
    try:
        return json.loads(raw.removeprefix("```json\n").removesuffix("```"))
    except ValueError:
        return None


def test_its_course_is_recovered(log: PaperLog) -> None:
    with PUBLISHED.open("rb") as lines:
        assert is_paper_log(next(lines))
    assert (log.rounds, log.winner, log.ended, log.unknown) == (2, None, False, 0)
    assert [night.died for night in log.nights] == [None, "Raj"]
    assert [(day.round, day.named) for day in log.days] == [(1, None)]
    phases = [(1, "debate")] * 6 + [(1, "vote")] + [(2, "debate")] * 5
    assert [(each.round, each.phase) for each in log.statements] == phases


def test_of_91_analyses_recorded_as_fillers_our_reading_recovers_all_86_whole_and_5_in_part(log: PaperLog) -> None:
    counts = log.counts()
    assert (counts.analyses, counts.fillers) == (91, 91)
    assert {(each.recorded.deceptive, each.recorded.confidence) for _, each in analyses(log)} == {(False, 0.0)}
    assert (counts.recovered, counts.partial, counts.lost) == (91, 5, 0)
    assert dict(counts.readings) == {"extracted": 86, "repaired": 5}


def test_every_whole_reply_says_what_an_independent_parser_reads_in_it(log: PaperLog) -> None:
    whole = 0
    for name, analysis in analyses(log):
        assert analysis.raw is not None
        says = within_fence(analysis.raw)
        if says is None:
            continue
        whole += 1
        assert analysis.read is not None
        content = analysis.read.content
        assert isinstance(content, Judgement if "suspicion_level" in says else Label), name
        assert content.deceptive == bool(says["is_deceptive"]), name
        assert content.confidence == says["confidence"], name
        assert (content.stated_kind or content.kind) == says["deception_type"], name
        assert content.reasoning == says["reasoning"], name
        assert analysis.read.thought == says["chain_of_thought"], name
        if isinstance(content, Judgement):
            assert content.suspicion == says["suspicion_level"], name
    assert whole == 86


def test_every_cut_off_reply_keeps_what_its_text_says_and_nothing_else(log: PaperLog) -> None:
    cut = [(name, analysis) for name, analysis in analyses(log) if within_fence(analysis.raw or "") is None]
    assert len(cut) == 5
    for name, analysis in cut:
        raw, label = analysis.raw or "", analysis.reread
        assert label is not None, name
        assert f'"is_deceptive": {int(label.deceptive is True)},' in raw, name
        assert f'"confidence": {label.confidence},' in raw, name
        assert f'"deception_type": "{label.stated_kind or label.kind}",' in raw, name
        assert label.reasoning, name
        assert f'"reasoning": "{label.reasoning}' in raw, name
        # one text ends in `"suspicion_level": 0.4`, where a digit may be missing
        assert label.suspicion is None, name
        assert label.reading == "repaired", name
