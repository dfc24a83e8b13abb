"""What a report says of findings: every section stands on whole, undefined and missing ones, and says what holds."""

from __future__ import annotations

import itertools
import json
import re
from dataclasses import replace
from pathlib import Path

import pytest

from analytics.gather import FileNote, StudySource
from analytics.report.caveats import caveats
from analytics.report.html import section_html, selections_of
from analytics.report.report import ORDER, Report
from analytics.report.sections import answer
from tests.report import sample
from wolfbus.document.blocks import TableBlock
from wolfbus.document.formats import between
from wolfbus.document.writers import section_markdown

NAMES = [made.__name__ for made in ORDER]


@pytest.fixture
def whole():
    """Findings to be changed, and what is known beside them."""
    return sample.findings(), sample.context(sample.gathered(sample.games()))


def sections(findings, context):
    return {section.key: section for section in (made(findings, context) for made in ORDER)}


def markdown(findings, context) -> dict[str, str]:
    return {key: section_markdown(section) for key, section in sections(findings, context).items()}


def tables(findings, context) -> dict[str, TableBlock]:
    blocks = [block for section in sections(findings, context).values() for block in section.blocks]
    return {block.key: block for block in blocks if isinstance(block, TableBlock)}


def line(table: TableBlock, head: str):
    return next(row.cells for row in table.rows if row.head.text == head)


@pytest.mark.parametrize(
    "change", [lambda found: found, sample.undefined, lambda _: {}], ids=["whole", "none", "missing"]
)
@pytest.mark.parametrize("made", ORDER, ids=NAMES)
def test_a_section_stands_on_whole_undefined_and_missing_findings(made, change, whole):
    section = made(change(whole[0]), whole[1])
    page, text = str(section_html(section)), section_markdown(section)
    assert text.startswith("## ")
    for told in (page, text):
        assert section.title.split(":")[0] in told
        assert not re.search(r"None|\bnan\b", told)
    assert page.count("<table") == page.count("<caption")
    assert "style=" not in page
    cells = [
        cell for block in section.blocks if isinstance(block, TableBlock) for row in block.rows for cell in row.cells
    ]
    assert all(cell.reason is not None or cell.link is None for cell in cells if cell.text == "–" and not cell.under)


def test_numbers_stand_beside_the_papers_and_lead_to_their_statements(whole):
    findings, context = whole
    made = tables(findings, context)
    ours, wolf = findings["table1"]["Werewolf"], line(made["table1-table"], "Werewolf")
    assert (wolf[0].text, wolf[0].paper) == (f"{ours['statements']:,}", "74")
    assert wolf[0].link.anchor == "statements?role=Werewolf"
    assert wolf[1].link.anchor == "statements?role=Werewolf&said=deceptive"
    assert wolf[2].paper == "53.3\u00a0%"
    assert f"n {ours['suspicion_n']}" in wolf[2].under
    seer = line(made["table3-table"], "Seer")
    assert seer[2].text == str(findings["table3"]["Seer"]["fp"])
    assert seer[2].link.anchor == "statements?observer=Seer&judged=fp"
    assert [cell.paper for cell in made["table3-baselines"].rows[-1].cells[1:3]] == ["71.8\u00a0%", "71.8\u00a0%"]
    for selection in selections_of(sections(findings, context).values()):
        assert selection.in_words(context.shown)


def test_what_contradicts_itself_in_the_paper_is_told_once(whole):
    told = markdown(*whole)
    assert "0.616" in told["paper"]
    assert "".join(told.values()).count("7,230") == 1


def test_an_interval_that_is_lacking_is_explained(whole):
    findings, context = whole
    lacking = {"low": None, "high": None, "interval_reason": "one game"}
    findings["events"]["seer"]["before"] = {**sample.estimate(), **lacking}
    assert "No interval: one game." in tables(findings, context)["events-table"].remarks()


VERDICTS = {
    "balanced_accuracy": (
        "tell deceptive",
        "take truthful",
        "do not clearly tell deceptive",
        "whether observers tell dec",
    ),
    "suspicion_gap": ("Suspicion separates", "points away", "does not clearly separate", "whether suspicion separates"),
    "vote_hit_lift": (
        "Votes find Werewolves more",
        "Votes find Werewolves less",
        "do not clearly find",
        "whether votes find",
    ),
    "truth_balanced_accuracy": ("tell false", "take true", "do not clearly tell false", "whether observers tell false"),
}


@pytest.mark.parametrize("name", VERDICTS)
def test_a_primary_metric_lets_say_what_its_adjusted_test_does(whole, name):
    findings, context = whole
    row = findings["primary"]["metrics"].pop(name)
    said = {}
    for verdict in ("above", "below", "unclear", "few"):
        findings["primary"]["metrics"] = {name: row | {"verdict": verdict}}
        said[verdict] = markdown(findings, context)["primary"] + "\n".join(answer.headlines(findings, context))
        assert VERDICTS[name][("above", "below", "unclear", "few").index(verdict)] in said[verdict]
    assert len(set(said.values())) == 4
    # whatever its interval: nobody declared it
    findings["primary"]["metrics"] = {}
    told = markdown(findings, context)["primary"] + "\n".join(answer.headlines(findings, context))
    assert not any(words in told for words in VERDICTS[name])


@pytest.mark.parametrize(
    ("blocks", "kind", "told"),
    [(1, "game", "There is only 1 game: too few"), (7, "block", "There are only 7 blocks of games: too few"),
     (8, "game", None), (0, "game", None)],
)  # fmt: skip
def test_few_blocks_are_a_caveat(whole, blocks, kind, told):
    findings, context = whole
    findings["variability"] |= {"blocks": blocks, "block_kind": kind}
    found = [line for line in caveats(findings, context) if "only" in line]
    assert [line[: len(told or "")] for line in found] == ([] if told is None else [told])


def test_the_answer_names_the_best_agent_only_where_the_test_says_so(whole):
    findings, context = whole
    ability, tested = findings["abilities"]["role"], findings["primary"]["metrics"]["best_detector"]
    ability["agents"]["llm:big"]["sensitivity"] = sample.estimate(0.5)

    def answered() -> str:
        return markdown(findings, context)["answer"]

    assert "**" not in answered().splitlines()[2], "nothing is bold where nobody leads"
    tested |= {"agent": "llm:big", "verdict": "above"}
    assert "big** detects best** (d′ +0.50); nobody clearly conceals best" in answered()
    tested["verdict"] = "few"
    assert "nobody clearly detects best (too few games)" in answered()
    ability["components"] = 2
    assert "fall into 2 groups that never met" in answered()
    assert "detects best" not in answered()


def test_the_first_screen_has_six_columns_and_three_caveats_and_says_what_a_script_is(whole):
    findings, context = whole
    context = replace(context, agents=("scripted", "llm:big@http://host/v1", "llm:big"))
    findings["settings"]["include_defaulted"] = [False, True]
    findings["outcomes"]["mixed_protocols"] = True
    assert len(tables(findings, context)["answer-table"].columns) == 6
    told = markdown(findings, context)["answer"]
    assert "scripted is a script, not a model" in told
    assert told.count("**Warning:**") == 3
    assert context.shown == ("scripted", "llm:big@http://host/v1", "llm:big"), "two servers' models are told apart"
    assert replace(context, agents=("llm:maker/big@http://host/v1", "exec:bot")).shown == ("big", "bot")


def test_the_headlines_of_nothing_say_so():
    lines = answer.headlines({}, sample.context(sample.gathered([])))
    assert lines[0] == "No game could be read."
    assert len(lines) == 5


def test_failures_of_a_study_and_of_files_stand_above_the_numbers():
    totals = {"games": 9, "failed": 2, "pending": 1, "ended": 6}
    study = StudySource(Path("s"), {"study": "study-00000000", "totals": totals})
    broken = (FileNote("torn.ndjson", "g9", 3, True, "line 4: not JSON"), FileNote("no.ndjson", None, 0, False, "no"))
    told = list(caveats({}, sample.context(sample.gathered(sample.games(1), broken, (study,)))))
    assert "Something is wrong with 2 files; of 1 nothing is counted" in told[0]
    assert "2 failed, 1 pending" in told[1]


def test_agents_that_never_met_are_told_apart_and_one_without_an_ability_is_not_an_average_one(whole):
    findings, context = whole
    found = findings["abilities"]["label"]
    big, small = (found["agents"][agent] for agent in sample.AGENTS)
    for agent in (big, small):
        agent |= {"sensitivity": sample.estimate(-0.5), "concealment": sample.estimate(-0.5)}
    small |= {"sensitivity": sample.estimate(-0.1), "concealment": sample.estimate(None)}
    table = tables(findings, context)["abilities-label-table"]
    assert [row.head.text for row in table.rows] == ["big", "small"]
    found["components"] = 2
    big["component"], small["component"] = 2, 1
    table = tables(findings, context)["abilities-label-table"]
    assert table.columns[-1].name == "Component"
    assert any("never met" in told for told in table.notes)
    assert [row.head.text for row in table.rows] == ["small", "big"]


def test_every_interval_of_a_cell_is_shown_and_none_that_is_null_or_missing(whole):
    findings, context = whole
    # where a headline has an interval of its own, that one stands
    findings["variability"]["metrics"] = {}
    without = {**findings, "intervals": {}}
    ends, counter = {}, itertools.count(1)

    def numbered(found, path=""):
        if isinstance(found, dict):
            return {name: numbered(each, f"{path}.{name}") for name, each in found.items()}
        ends[path] = [(low := next(counter) / 1000), low + 0.0004]
        return ends[path]

    findings["intervals"] = numbered(findings["intervals"])
    told = "".join(markdown(findings, context).values())
    hidden = [
        path
        for path, (low, high) in ends.items()
        if not any(between(low, high, unit) in told for unit in ("share", "score"))
    ]
    # no table has a column of the first; what was before is the same for both maps
    assert [path for path in hidden if not re.search(r"(base_rate|dprime|criterion)$|isotonic.before", path)] == []
    assert len(ends) > 200
    empty = markdown(without, context)
    findings["intervals"] = json.loads(re.sub(r"\[[0-9., ]+\]", "null", json.dumps(findings["intervals"])))
    assert markdown(findings, context) == empty


def test_votes_that_are_left_out_and_nights_without_an_exile_are_told(whole):
    whole[0]["votes"]["own_argmax"]["unjudged"] = 7
    told = markdown(*whole)["votes"]
    assert "7 votes by players who had judged nobody alive" in told
    assert "of those that exiled somebody" in told


def test_claims_are_counted_by_kind_source_and_verdict(whole):
    findings, context = whole
    findings["claims"]["by_kind"]["role"]["given"] |= {"n": 6, "true": 3, "lie": 2, "mistake": 1, "uncheckable": 0}
    table = tables(findings, context)["claims"]
    assert [cell.text for cell in line(table, "Role, attached, and heard in the words")] == ["6", "3", "2", "1", "0"]
    assert table.rows[-1].head.text == "All"


def test_a_headline_shows_our_interval_and_the_papers_way(whole):
    findings, context = whole
    (first, *_) = (row for name, row in findings["variability"]["metrics"].items() if "/" not in name)
    first |= {**sample.estimate(), "unit": "share", "paper_mean": 0.5, "paper_half": 0.05}
    pooled, _, spread = tables(findings, context)["headlines"].rows[0].cells
    assert pooled.under == "40.0–60.0\u00a0% · n 40"
    assert spread.text == "50.0\u00a0% ± 5.0"


def test_equal_findings_give_equal_reports():
    gathered = sample.gathered(sample.games(2))
    assert Report(sample.findings(), gathered).markdown() == Report(sample.findings(), gathered).markdown()
