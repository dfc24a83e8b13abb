"""Every section stands on whole, undefined and missing findings."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest

from analytics.findings import tables_of
from analytics.gather import FileNote, StudySource
from analytics.report.caveats import caveats
from analytics.report.html import section_html, selections_of
from analytics.report.report import ORDER, Report
from analytics.report.sections import agents, answer, evidence, methods, rounds, tables, truth
from tests.report import sample
from wolfbus.document.blocks import TableBlock
from wolfbus.document.formats import number
from wolfbus.document.writers import section_markdown

NAMES = [made.__module__.rpartition(".")[2] for made in ORDER]


@pytest.fixture(scope="module")
def found():
    gathered = sample.gathered(sample.games())
    return sample.findings(gathered), sample.context(gathered)


@pytest.fixture
def whole(found):
    """The same, to be changed."""
    return json.loads(json.dumps(found[0])), found[1]


@pytest.mark.parametrize("made", ORDER, ids=NAMES)
def test_a_section_stands_on_whole_findings(made, found):
    section = made(*found)
    html, text = str(section_html(section)), section_markdown(section)
    for told in (html, text):
        assert section.title.split(":")[0] in told
        assert "None" not in told
        assert not re.search(r"\bnan\b", told)
    assert html.count("<table") == html.count("<caption")
    assert "style=" not in html


@pytest.mark.parametrize("made", ORDER, ids=NAMES)
def test_a_section_stands_on_undefined_findings_and_says_why(made, found):
    section = made(sample.undefined(found[0]), found[1])
    told = str(section_html(section)) + section_markdown(section)
    assert "None" not in told
    for block in section.blocks:
        if isinstance(block, TableBlock):
            undefined = [cell for row in block.rows for cell in row.cells if cell.text == "–" and not cell.under]
            assert all(cell.reason is not None or cell.link is None for cell in undefined)


@pytest.mark.parametrize("made", ORDER, ids=NAMES)
def test_a_section_stands_where_its_findings_are_missing(made, found):
    section = made({}, found[1])
    assert str(section_html(section))
    assert section_markdown(section).startswith("## ")


def test_table_1_has_the_papers_values_beside_ours_and_leads_to_the_statements(found):
    findings, context = found
    (table, *_) = tables.table1(findings, context).blocks
    wolf = next(row for row in table.rows if row.head.text == "Werewolf")
    ours = findings["table1"]["Werewolf"]
    assert wolf.cells[0].text == f"{ours['statements']:,}"
    assert wolf.cells[0].paper == "74"
    assert wolf.cells[0].link.anchor == "statements?role=Werewolf"
    assert wolf.cells[1].link.anchor == "statements?role=Werewolf&said=deceptive"
    assert wolf.cells[2].paper == "53.3\u00a0%"
    assert f"n {ours['suspicion_n']}" in wolf.cells[2].under


def test_table_3_leads_from_a_count_to_those_judgements_and_has_its_baselines(found):
    findings, context = found
    paper, baselines, *_ = tables.table3(findings, context).blocks
    seer = next(row for row in paper.rows if row.head.text == "Seer")
    assert seer.cells[2].text == str(findings["table3"]["Seer"]["fp"])
    assert seer.cells[2].link.anchor == "statements?observer=Seer&judged=fp"
    overall = baselines.rows[-1]
    assert [cell.paper for cell in overall.cells[1:3]] == ["71.8\u00a0%", "71.8\u00a0%"]


def test_what_contradicts_itself_in_the_paper_is_told_once(found):
    told = str(section_html(methods.paper(*found)))
    assert told.count("7,230") == 1
    assert "0.616" in told
    everything = "".join(section_markdown(made(*found)) for made in ORDER)
    assert everything.count("7,230") == 1


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
    (table,) = rounds.events(findings, sample.context(gathered)).blocks
    assert "No interval: one game." in table.remarks()


VERDICTS = {
    "balanced_accuracy": (
        "Observers tell deceptive statements from", "Observers take truthful statements for",
        "Observers do not clearly tell deceptive", "Too few games to tell whether observers tell deceptive",
    ),
    "suspicion_gap": (
        "Suspicion separates Werewolves", "points away from Werewolves",
        "does not clearly separate", "Too few games to tell whether suspicion separates",
    ),
    "vote_hit_lift": (
        "Votes find Werewolves more often", "Votes find Werewolves less often",
        "Votes do not clearly find", "Too few games to tell whether votes find",
    ),
    "truth_balanced_accuracy": (
        "Observers tell false statements from", "Observers take true statements for",
        "Observers do not clearly tell false", "Too few games to tell whether observers tell false",
    ),
}  # fmt: skip


def said(findings, context) -> str:
    return "\n".join(
        "".join(getattr(part, "text", part) for part in each) for each in answer.sentences(findings, context)
    )


@pytest.mark.parametrize("name", VERDICTS)
def test_the_summary_says_of_a_primary_metric_what_its_adjusted_test_lets_it_say(whole, name):
    findings, context = whole
    words = dict(zip(("above", "below", "unclear", "few"), VERDICTS[name], strict=True))
    for found, told in words.items():
        findings["primary"]["metrics"][name]["verdict"] = found
        assert told in said(findings, context)
        assert not any(other in said(findings, context) for other in set(words.values()) - {told})
    # whatever its interval: nobody declared it
    del findings["primary"]["metrics"][name]
    told = said(findings, context)
    assert not any(other in told for other in words.values())
    assert sum("(exploratory)" in line for line in told.splitlines()) == 1


def test_few_blocks_are_a_caveat(whole):
    findings, context = whole
    for blocks, kind, told in (
        (1, "game", "There is only 1 game: too few"),
        (7, "block", "There are only 7 blocks of games: too few"),
        (8, "game", None),
        (0, "game", None),
    ):
        findings["variability"] |= {"blocks": blocks, "block_kind": kind}
        found = [line for line in caveats(findings, context) if "only" in line]
        assert [line[: len(told or "")] for line in found] == ([] if told is None else [told])


def _abilities(findings, basis: str, ability: str, **found):
    for agent, (value, half) in found.items():
        row = findings["abilities"][basis]["agents"][f"llm:{agent}"]
        row[ability] = sample.estimate(None) if value is None else (
            sample.estimate(value) | {"low": value - half, "high": value + half}
        )  # fmt: skip


def answered(findings, context) -> str:
    return section_markdown(answer.section(findings, context))


def test_the_answer_names_the_best_agent_only_where_the_test_says_so(whole):
    findings, context = whole
    _abilities(findings, "role", "sensitivity", big=(0.5, 0.1), small=(-0.5, 0.2))
    rows = findings["primary"]["metrics"]
    assert "**" not in answered(findings, context).splitlines()[2], "nothing is bold where nobody leads"
    rows["best_detector"] |= {"agent": "llm:big", "verdict": "above"}
    assert "big** detects best** (d′ +0.50); nobody clearly conceals best" in answered(findings, context)
    rows["best_detector"]["verdict"] = "few"
    assert "nobody clearly detects best (too few games)" in answered(findings, context)
    findings["abilities"]["role"]["components"] = 2
    assert "fall into 2 groups that never met" in answered(findings, context)
    assert "detects best" not in answered(findings, context)


def test_the_first_screen_has_six_columns_and_three_caveats_and_says_what_a_script_is(whole):
    findings, context = whole
    context = replace(context, agents=("scripted", "llm:big@http://host/v1", "llm:big"))
    findings["variability"]["blocks"] = 3
    findings["settings"]["include_defaulted"] = [False, True]
    findings["outcomes"]["mixed_protocols"] = True
    section = answer.section(findings, context)
    (table,) = (block for block in section.blocks if isinstance(block, TableBlock))
    assert len(table.columns) == 6
    told = section_markdown(section)
    assert "scripted is a script, not a model" in told
    assert told.count("**Warning:**") == 3
    assert context.shown == ("scripted", "llm:big@http://host/v1", "llm:big"), "two servers' models are told apart"
    assert replace(context, agents=("llm:maker/big@http://host/v1", "exec:bot")).shown == ("big", "bot")


def test_the_summary_of_nothing_says_so():
    gathered = sample.gathered([])
    lines = answer.headlines(tables_of(gathered), sample.context(gathered))
    assert lines[0] == "No game could be read."
    assert len(lines) == 5


def test_failures_of_a_study_and_of_files_stand_above_the_summary():
    study = StudySource(
        folder=Path("s"),
        manifest={"study": "study-00000000", "totals": {"games": 9, "failed": 2, "pending": 1, "ended": 6}},
    )
    broken = (FileNote("torn.ndjson", "g9", 3, True, "line 4: not JSON"), FileNote("no.ndjson", None, 0, False, "no"))
    context = sample.context(sample.gathered(sample.games(1), broken, (study,)))
    told = list(caveats({}, context))
    assert "Something is wrong with 2 files; of 1 nothing is counted" in told[0]
    assert "2 failed, 1 pending" in told[1]


def table_of(section, key):
    return next(block for block in section.blocks if isinstance(block, TableBlock) and block.key == key)


def test_agents_that_never_met_are_told_apart_and_sorted_by_component(whole):
    findings, context = whole
    found = findings["abilities"]["label"]
    found["components"] = 2
    found["agents"]["llm:big"] |= {"component": 2, "sensitivity": sample.estimate(9.0)}
    table = table_of(agents.agents(findings, context), "abilities-label-table")
    assert table.columns[-1].name == "Component"
    assert any("never met" in told for told in table.notes)
    assert [row.cells[-1].text for row in table.rows] == ["1", "2"]


def test_an_agent_without_an_ability_is_not_taken_for_an_average_one(whole):
    findings, context = whole
    _abilities(findings, "label", "sensitivity", big=(-0.5, 0.1), small=(-0.1, 0.1))
    _abilities(findings, "label", "concealment", big=(-0.5, 0.1), small=(None, 0))
    table = table_of(agents.agents(findings, context), "abilities-label-table")
    assert [row.head.text for row in table.rows] == ["big", "small"]


def test_every_cell_of_the_tables_has_the_interval_that_was_found_for_it(found):
    findings, context = found
    sections = [make(findings, context) for make in ORDER]
    shown = {section.key: section_markdown(section) for section in sections}
    for name, ends in (
        ("table1", ("11.0–12.0", "13.0–14.0", "15.0–16.0")),
        ("table2", ("51.0–52.0",)),
        ("table4", ("0.210 to 0.220",)),
        ("table5", ("11.0–12.0", "13.0–14.0")),
        ("outcomes", ("61.0–62.0", "63.0–64.0", "65.0–66.0", "67.0–68.0")),
        ("calibration", ("31.0–32.0", "0.410 to 0.420", "folds 0.410 to 0.500")),
        ("truth", ("71.0–72.0",)),
    ):
        for told in ends:
            assert told in shown[name], (name, told)


def test_intervals_that_are_null_or_missing_leave_the_cells_as_they_are(whole):
    findings, context = whole
    findings["intervals"] = json.loads(re.sub(r"\[[0-9., ]+\]", "null", json.dumps(findings["intervals"])))
    null = [section_markdown(made(findings, context)) for made in ORDER]
    del findings["intervals"]
    assert [section_markdown(made(findings, context)) for made in ORDER] == null
    assert "11.0–12.0" not in "".join(null)


def test_votes_that_are_left_out_and_nights_without_an_exile_are_told(found):
    told = section_markdown(rounds.votes(*found))
    assert "7 votes by players who had judged nobody alive" in told
    assert "of those that exiled somebody" in told


def test_claims_are_counted_by_kind_source_and_verdict(whole):
    findings, context = whole
    findings["claims"]["by_kind"]["role"]["given"] |= {"n": 6, "true": 3, "lie": 2, "mistake": 1, "uncheckable": 0}
    table = table_of(truth.section(findings, context), "claims")
    row = next(row for row in table.rows if row.head.text == "Role, attached, and heard in the words")
    assert [cell.text for cell in row.cells] == ["6", "3", "2", "1", "0"]
    assert table.rows[-1].head.text == "All"


@pytest.mark.parametrize(
    ("value", "signed", "told"),
    [
        *((-0.0004, False, "0.000"), (-0.0004, True, "0.000"), (0.0004, True, "0.000")),
        *((-0.002, True, "−0.002"), (0.002, True, "+0.002"), (0.002, False, "0.002")),
    ],
)
def test_what_rounds_to_nothing_has_no_sign(value, signed, told):
    assert number(value, signed=signed) == told


def test_a_headline_shows_our_interval_and_the_papers_way(found):
    (table,) = evidence.variability(*found).blocks
    first = table.rows[0]
    assert first.cells[0].under == "40.0–60.0\u00a0% · n 40"
    assert first.cells[2].text == "50.0\u00a0% ± 5.0"


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
