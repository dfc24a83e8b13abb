"""Every section stands on whole, undefined and missing findings."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from analytics.gather import FileNote, Study
from analytics.report.blocks import Table
from analytics.report.markdown import section_markdown
from analytics.report.markup import section_markup
from analytics.report.page import selections_of
from analytics.report.report import ORDER, Report
from analytics.report.sections import agents, events, summary, table1, table3, table4, variability
from tests.report import sample

NAMES = [made.__module__.rpartition(".")[2] for made in ORDER]


@pytest.fixture(scope="module")
def found():
    gathered = sample.gathered(sample.games())
    return sample.findings(gathered), sample.context(gathered)


@pytest.mark.parametrize("made", ORDER, ids=NAMES)
def test_a_section_stands_on_whole_findings(made, found):
    section = made(*found)
    html, text = str(section_markup(section)), section_markdown(section)
    for told in (html, text):
        assert section.title.split(":")[0] in told
        assert "None" not in told
        assert not re.search(r"\bnan\b", told)
    assert html.count("<table") == html.count("<caption")
    assert "style=" not in html


@pytest.mark.parametrize("made", ORDER, ids=NAMES)
def test_a_section_stands_on_undefined_findings_and_says_why(made, found):
    section = made(sample.undefined(found[0]), found[1])
    told = str(section_markup(section)) + section_markdown(section)
    assert "None" not in told
    for block in section.blocks:
        if isinstance(block, Table):
            undefined = [cell for row in block.rows for cell in row.cells if cell.text == "–" and not cell.under]
            assert all(cell.reason is not None or cell.link is None for cell in undefined)


@pytest.mark.parametrize("made", ORDER, ids=NAMES)
def test_a_section_stands_where_its_findings_are_missing(made, found):
    section = made({}, found[1])
    assert str(section_markup(section))
    assert section_markdown(section).startswith("## ")


def test_table_1_has_the_papers_values_beside_ours_and_leads_to_the_statements(found):
    findings, context = found
    (table, *_) = table1.section(findings, context).blocks
    wolf = next(row for row in table.rows if row.head.text == "Werewolf")
    ours = findings["table1"]["Werewolf"]
    assert wolf.cells[0].text == f"{ours['statements']:,}"
    assert wolf.cells[0].paper == "74"
    assert wolf.cells[0].link.anchor == "statements?role=Werewolf"
    assert wolf.cells[1].link.anchor == "statements?role=Werewolf&said=deceptive"
    assert wolf.cells[2].paper == "53.3\u00a0%"
    assert f"n {ours['suspicion_n']}" in wolf.cells[2].under
    assert any("7,230" in told for told in table.contradictions)


def test_table_3_leads_from_a_count_to_those_judgements_and_has_its_baselines(found):
    findings, context = found
    paper, baselines, *_ = table3.section(findings, context).blocks
    seer = next(row for row in paper.rows if row.head.text == "Seer")
    assert seer.cells[2].text == str(findings["table3"]["Seer"]["fp"])
    assert seer.cells[2].link.anchor == "statements?observer=Seer&judged=fp"
    overall = baselines.rows[-1]
    assert [cell.paper for cell in overall.cells[1:3]] == ["71.8\u00a0%", "71.8\u00a0%"]
    assert any("0.616" in told for told in paper.contradictions)


def test_table_4_says_whose_scores_the_paper_has(found):
    tables = [block for block in table4.section(*found).blocks if isinstance(block, Table)]
    assert [bool(table.contradictions) for table in tables] == [True, False, False, False]


def test_an_interval_that_is_lacking_is_explained():
    gathered = sample.gathered(sample.games(1))
    findings = sample.findings(gathered)
    findings["events"]["seer"]["before"] = {
        "value": 0.5,
        "low": None,
        "high": None,
        "n": 1,
        "reason": None,
        "interval_reason": "one game",
    }
    (table,) = events.section(findings, sample.context(gathered)).blocks
    assert "No interval: one game." in table.remarks()


def test_the_summary_says_plainly_whether_observers_beat_the_constant_guess(found):
    findings, context = found
    overall = findings["table3"]["overall"]
    for low, high, told in (
        (overall["constant_accuracy"] + 0.01, 0.99, "Observers beat the constant guess"),
        (0.01, overall["constant_accuracy"] - 0.01, "Observers do worse than the constant guess"),
        (0.01, 0.99, "Observers do not beat the constant guess"),
    ):
        findings["variability"]["metrics"]["accuracy"] |= {"low": low, "high": high}
        assert any(told in line for line in summary.headlines(findings, context))


def test_the_summary_says_plainly_whether_suspicion_separates_werewolves(found):
    findings, context = found
    for low, high, told in (
        (0.01, 0.2, "Suspicion separates Werewolves"),
        (-0.1, 0.2, "does not clearly separate"),
        (-0.2, -0.1, "points away from Werewolves"),
    ):
        findings["variability"]["metrics"]["suspicion_gap"] |= {"low": low, "high": high}
        assert any(told in line for line in summary.headlines(findings, context))


def test_the_summary_of_nothing_says_so():
    gathered = sample.gathered([])
    lines = summary.headlines(gathered.metrics.result(), sample.context(gathered))
    assert lines[0] == "No game could be read."
    assert len(lines) == 5


def test_failures_of_a_study_and_of_files_stand_above_the_summary():
    study = Study(
        folder=Path("s"),
        manifest={"study": "study-00000000", "totals": {"games": 9, "failed": 2, "pending": 1, "ended": 6}},
    )
    broken = (FileNote("torn.ndjson", "g9", 3, True, "line 4: not JSON"), FileNote("no.ndjson", None, 0, False, "no"))
    context = sample.context(sample.gathered(sample.games(1), broken, (study,)))
    told = list(summary.caveats({}, context))
    assert "Something is wrong with 2 files; of 1 nothing is counted" in told[0]
    assert "2 failed, 1 pending" in told[1]


def test_agents_that_never_met_are_told_apart(found):
    findings, context = found
    findings["abilities"]["label"]["components"] = 2
    findings["abilities"]["label"]["agents"]["llm:big"]["component"] = 2
    table = next(
        block
        for block in agents.section(findings, context).blocks
        if isinstance(block, Table) and block.key == "abilities-label-table"
    )
    assert table.columns[-1].name == "Component"
    assert any("never met" in told for told in table.notes)


def test_a_headline_shows_our_interval_and_the_papers_way(found):
    (table, *_) = variability.section(*found).blocks
    first = table.rows[0]
    assert first.cells[0].under == "40.0–60.0\u00a0% · n 40"
    assert first.cells[3].text == "50.0\u00a0% ± 5.0"


def test_every_link_of_a_number_names_an_agent_that_is_there(found):
    findings, context = found
    for section in (made(findings, context) for made in ORDER):
        for selection in selections_of([section]):
            assert selection.in_words(context.shown)


def test_findings_are_shown_as_json_made_them(found):
    findings, context = found
    again = json.loads(json.dumps(findings, allow_nan=False))
    for made in ORDER:
        assert section_markdown(made(again, context)) == section_markdown(made(findings, context))


def test_equal_games_give_equal_pages():
    gathered = sample.gathered(sample.games(2))
    findings = sample.findings(gathered)
    assert Report(findings, gathered).markdown() == Report(findings, gathered).markdown()
