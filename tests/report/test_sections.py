"""What a report says of findings: every section stands on whole, undefined and missing ones, and says what holds."""

import copy
import html
import itertools
import json
import re
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest
from scipy.stats import norm

from analytics.gather import FileNote, StudySource
from analytics.report.report import Report
from tests.analytics.script import gathered
from tests.llm.tables import tables as cases
from tests.report import sample
from tests.report.sample import line, sections, tables
from wolfbus.files.document import Figure, TableBlock

READ = gathered(sample.games())


@pytest.fixture
def findings():
    """Findings to be changed."""
    return sample.findings()


def markdown(findings, read=READ) -> dict[str, str]:
    written = re.split(r"^(?=## )", Report(findings, read).markdown(), flags=re.MULTILINE)[1:]
    return dict(zip((*sections(findings, read), "cite"), written, strict=True))


@pytest.mark.parametrize(
    "change", [lambda findings: findings, sample.undefined, lambda _: {}], ids=["whole", "none", "missing"]
)
def test_a_report_stands_on_whole_undefined_and_missing_findings(change, findings):
    report = Report(change(findings), READ)
    page, text = report.html().partition("<script>")[0], report.markdown()
    for written in (page, text):
        assert not re.search(r"None\b|\bnan\b", written)
    assert page.count("<table") == page.count("<caption")
    assert "style=" not in page
    for section in sections(change(findings), READ).values():
        assert section.title in html.unescape(page)
        assert f"## {section.title}" in text
        rows = [row for block in section.blocks if isinstance(block, TableBlock) for row in block.rows]
        empty = [cell for row in rows for cell in row.cells if cell.text == "–" and not cell.under]
        assert all(cell.reason is not None or cell.link is None for cell in empty)


def test_numbers_stand_beside_the_papers_and_lead_to_their_statements(findings):
    tables_made = tables(findings, READ)
    row, wolf = findings["table1"]["Werewolf"], line(tables_made["table1-table"], "Werewolf")
    assert (wolf[0].text, wolf[0].paper) == (f"{row['statements']:,}", "74")
    assert wolf[0].link.anchor == "statements?role=Werewolf"
    assert wolf[1].link.anchor == "statements?role=Werewolf&label=deceptive"
    assert wolf[2].paper == "53.3\u00a0%"
    assert f"n {row['suspicion_n']}" in wolf[2].under
    seer = line(tables_made["table3-table"], "Seer")
    assert seer[2].text == str(findings["table3"]["Seer"]["fp"])
    assert seer[2].link.anchor == "statements?observer=Seer&judged=fp"
    assert [cell.paper for cell in tables_made["table3-baselines"].rows[-1].cells[1:3]] == [
        "71.8\u00a0%",
        "71.8\u00a0%",
    ]


def test_what_is_left_out_lacking_or_contradicts_itself_is_told(findings):
    lacking = {"low": None, "high": None, "interval_reason": "one game"}
    findings["events"]["seer"]["before"] = {**sample.estimate(), **lacking}
    findings["votes"]["own_argmax"]["unjudged"] = 7
    findings["claims"]["by_kind"]["role"]["given"] |= {
        "n": 6,
        "true": 3,
        "lie": 2,
        "mistake": 1,
        "insincere": 0,
        "uncheckable": 0,
    }
    (first, *_) = (row for name, row in findings["variability"]["metrics"].items() if "/" not in name)
    first |= {**sample.estimate(), "unit": "share", "paper_mean": 0.5, "paper_half": 0.05}
    written, tables_made = markdown(findings), tables(findings, READ)
    assert "0.616" in written["paper"]
    assert "".join(written.values()).count("7,230") == 1
    assert "No interval: one game." in tables_made["events-table"].remarks()
    assert "7 votes by players who had judged nobody alive" in written["votes"]
    assert "of those that exiled somebody" in written["votes"]
    assert written["votes"].count("\n| Votes of non-wolves that hit a Werewolf, in round ") == len(
        findings["votes"]["hits_by_round"]
    )
    counts = line(tables_made["claims"], "Role, attached, and heard in the words")
    assert [cell.text for cell in counts] == ["6", "3", "2", "1", "0", "0"]
    assert tables_made["claims"].rows[-1].head.text == "All"
    # a headline shows our interval and the paper's way
    pooled, _, spread = tables_made["headlines"].rows[0].cells
    assert (pooled.under, spread.text) == ("40.0–60.0\u00a0% · n 40", "50.0\u00a0% ± 5.0")


VERDICTS = cases(__file__)


@pytest.mark.parametrize("name", VERDICTS)
def test_a_primary_metric_lets_say_what_its_adjusted_test_does(findings, name):
    def written() -> str:
        return markdown(findings)["primary"] + "\n".join(Report(findings, READ).headlines())

    row, texts_written = findings["primary"]["metrics"].pop(name), set()
    for verdict, words in zip(("above", "below", "unclear", "few"), VERDICTS[name], strict=True):
        findings["primary"]["metrics"] = {name: row | {"verdict": verdict}}
        texts_written.add(text := written())
        assert words in text
    assert len(texts_written) == 4
    # whatever its interval: nobody declared it
    findings["primary"]["metrics"] = {}
    text = written()
    assert not any(words in text for words in VERDICTS[name])


@pytest.mark.parametrize(("verdict", "held"), [("above", True), ("unclear", False), ("below", False), ("few", False)])
def test_no_round_is_said_to_stand_out_beside_a_test_that_does_not_say_so(findings, verdict, held):
    findings["trends"]["separable"]["round"] = 3
    findings["primary"]["metrics"]["suspicion_gap"]["verdict"] = verdict
    said = " ".join(Report(findings, READ).headlines()[4].split())
    assert (
        "from round 3 on the interval of suspicion of them minus that of Villagers in the same game is above 0" in said
    )
    assert ("by itself that does not say that they stand out" in said) != held
    assert "From round 3 on the interval is above 0" in markdown(findings)["figure1"]


def test_what_is_not_clear_though_its_interval_leaves_out_guessing_has_its_p_beside_it(findings):
    row = findings["primary"]["metrics"]["balanced_accuracy"]
    row |= {"verdict": "unclear", "p_adjusted": 0.0503, "difference": sample.estimate(0.06, 0.05)}
    findings["variability"]["metrics"]["auc"] |= sample.estimate(0.6, 0.05)

    def said() -> str:
        return " ".join(" ".join(Report(findings, READ).headlines()).split())

    beside = "what they call truthful (adjusted p 0.050, and clear is below .02): balanced accuracy"
    assert beside in said()
    assert "suspect a statement that its speaker calls deceptive more than one called truthful" in said()
    assert "(95 % interval 0.550 to 0.650) (exploratory); chance is 0.5" in said().replace("\u00a0", " ")
    row["difference"] = sample.estimate(0.06, 0.07)
    assert "adjusted p" not in said()


def test_how_far_two_aucs_are_apart_is_in_one_unit_wherever_it_is_said(findings):
    findings["primary"]["metrics"]["best_detector"] |= {
        "agent": sample.AGENTS[0],
        "second": sample.AGENTS[1],
        "difference": sample.estimate(0.105, 0.098),
    }
    written = markdown(findings)
    assert "+0.105 (+0.007 to +0.203 · n 40)" in written["primary"]
    size = (norm.ppf(0.99) + norm.ppf(0.8)) * 0.098 / norm.ppf(0.975)
    assert f"the first agent's AUC of suspicion minus the second's: +{size:.3f}" in written["limitations"]


def test_a_design_that_tells_detection_and_concealment_not_apart_ranks_nobody_in_its_figure_either(findings):
    def caption() -> str:
        return sample.blocks(findings, READ, Figure)["answer-figure"].caption

    assert "they rank nobody" not in caption()
    for row in findings["abilities"]["role"]["agents"].values():
        row["sensitivity"] = {
            **sample.estimate(None),
            "reason": "not identified in this design: its judgements cannot tell who detects well from who "
            "conceals badly",
        }
    assert "In this design they rank nobody" in " ".join(caption().split())


@pytest.mark.parametrize(
    ("blocks", "kind", "written"),
    [
        (1, "game", "There is only 1 game: too few"),
        (7, "block", "There are only 7 blocks of games: too few"),
        (7, "deal", "There are only 7 deals: too few"),
        *((8, "game", None), (0, "game", None)),
    ],
)
def test_few_blocks_are_a_caveat(findings, blocks, kind, written):
    findings["variability"] |= {"blocks": blocks, "block_kind": kind}
    warned = re.findall(r"There (?:is|are) only [^:]*: too few", markdown(findings)["answer"])
    assert warned == ([] if written is None else [written])


def test_the_answer_names_the_best_agent_only_where_the_test_says_so(findings):
    ability, tested = findings["abilities"]["role"], findings["primary"]["metrics"]["best_detector"]
    findings["agents"]["llm:big"]["role_auc"] = sample.estimate(0.71)

    def answered() -> str:
        return markdown(findings)["answer"]

    assert "**" not in answered().splitlines()[2], "nothing is bold where nobody leads"
    tested |= {"agent": "llm:big", "verdict": "above"}
    assert "big **detects best** (AUC of suspicion 0.710); nobody clearly conceals best" in answered()
    tested["verdict"] = "few"
    assert "nobody clearly detects best (too few games)" in answered()
    tested |= {"agent": None, "verdict": "undefined"}
    assert "nobody clearly detects best (no two of them can be held against each other)" in answered()
    tested["difference"]["reason"] = "not identified in this design: its judgements cannot tell who detects well"
    assert "nobody clearly detects best (not identified in this design:" in answered()
    ability["components"] = 2
    assert "fall into 2 groups that never met" in answered()
    assert "detects best" not in answered()


def test_the_first_screen_has_seven_columns_and_three_caveats_and_says_what_a_script_is(findings):
    findings["settings"]["include_defaulted"] = [False, True]
    findings["outcomes"]["mixed_protocols"] = True

    def names(*agents: str) -> tuple[str, ...]:
        return Report(findings, gathered(sample.games(1, agents))).context.names

    written = markdown(findings, gathered(sample.games(1, ("scripted", "llm:big"))))["answer"]
    assert len(tables(findings, READ)["answer-table"].columns) == 7
    assert "scripted is a script, not a model" in written
    assert written.count("**Warning:**") == 3
    servers = ("llm:big", "llm:big@http://host/v1", "scripted")
    assert names(*servers) == servers, "two servers' models are told apart"
    assert names("exec:bot", "llm:maker/big@http://host/v1") == ("bot", "big")


def test_the_pairs_of_an_auc_are_counted_without_being_made_one_by_one(findings, monkeypatch):
    (rows,) = sample.games(1)
    spread = tuple(replace(row, s=(7 * place % 100) / 100) for place, row in enumerate(rows.judgements))
    read = gathered([replace(rows, judgements=spread)])
    heights: list[int] = []
    joined = pl.DataFrame.join

    def watched(*arguments, **options):
        result = joined(*arguments, **options)
        heights.append(result.height)
        return result

    monkeypatch.setattr(pl.DataFrame, "join", watched)
    (detects,) = [number for number in Report(findings, read).first_screen()["numbers"] if number["title"] == "Detects"]
    roles = {row.number: row.role for row in rows.statements}
    sides = {True: [], False: []}
    for row in (row for row in spread if row.d is not None and not row.informed):
        sides[roles[row.statement] == "Werewolf"].append(row.s)
    pairs = list(itertools.product(*sides.values()))
    assert f"make {len(pairs):,} pairs" in detects["sum"]
    assert f"In {sum(a > b for a, b in pairs):,} of them" in detects["sum"]
    assert f"in {sum(a == b for a, b in pairs):,} as much" in detects["sum"]
    assert max(heights) <= len(spread)


def test_the_first_screen_tells_no_d_prime_without_an_interval_and_of_few_games_not_who_is_before_whom(findings):
    lacking = {**sample.estimate(), "low": None, "high": None, "interval_reason": "one game"}
    for row in findings["abilities"]["role"]["agents"].values():
        row |= {"sensitivity": lacking, "criterion": lacking}
    names = [column.name for column in tables(findings, READ)["answer-table"].columns]
    for row in tables(findings, READ)["answer-table"].rows:
        cell = row.cells[names.index("The same by flags: d′ / criterion") - 1]
        assert (cell.text, cell.reason) == ("– / –", "one game")
    findings["primary"]["metrics"]["best_detector"] |= {
        "agent": sample.AGENTS[0],
        "second": sample.AGENTS[1],
        "verdict": "few",
    }
    assert (
        "big before small in AUC of suspicion against the role: too few games to tell" in markdown(findings)["primary"]
    )


def test_a_declared_metric_that_has_no_baseline_is_not_called_undefined(findings):
    tested = findings["primary"]["metrics"]["balanced_accuracy"]
    findings["primary"]["metrics"] = {"recall": tested | {"label": "recall", "baseline": None, "verdict": "undefined"}}
    assert "| Recall (not tested) |" in markdown(findings)["primary"]
    findings["primary"]["metrics"]["recall"] |= {"value": None, "difference": sample.estimate(None)}
    written = markdown(findings)["primary"]
    assert "| Recall (undefined) |" in written
    assert "– undefined: no game has it." in written
    assert "undefined: undefined" not in written


def test_no_p_is_shown_as_0(findings):
    findings["primary"]["metrics"]["suspicion_gap"]["p_adjusted"] = findings["bias"]["names"]["p"] = 0.0002
    tables_made = tables(findings, READ)
    assert tables_made["primary-table"].rows[0].cells[-1].text == "< 0.001"
    assert "p < 0.001, over all names" in " ".join(tables_made["bias-names"].remarks())


def test_a_gap_below_0_is_not_said_to_be_above(findings):
    findings["variability"]["metrics"]["suspicion_gap"] |= {"value": -0.015, "low": None, "high": None}
    written = Report(findings, READ).headlines()[-1]
    assert "minus that towards the others is −1.5 points among those who do not know" in written
    assert "above" not in written


def test_an_interval_that_is_not_known_is_not_spoken_of(findings):
    result = copy.deepcopy(findings)
    for side in result["outcomes"]["winners"].values():
        side.update(low=None, high=None)
    won = Report(result, READ).headlines()[1]
    assert "interval" in Report(findings, READ).headlines()[1]
    assert "interval" not in won
    assert re.search(r"finished games?, the (villagers|Werewolves) ", won)


def test_the_headlines_of_nothing_say_so():
    lines = Report({}, gathered([])).headlines()
    assert (lines[0], len(lines)) == ("No game could be read.", 5)


def test_failures_of_a_study_and_of_files_stand_above_the_numbers():
    totals = {"games": 9, "failed": 2, "pending": 1, "ended": 6}
    study = StudySource(Path("s"), {"study": "study-00000000", "totals": totals})
    torn, lost = FileNote("torn.ndjson", "g9", 3, True, "line 4: not JSON"), FileNote("no.ndjson", None, 0, False, "no")
    for broken, words in (
        ((torn, lost, lost), "3 files: 2 are left out and 1 is counted as far as it holds."),
        ((torn,), "1 file: it is counted as far as it holds."),
        ((lost,), "1 file: it is left out."),
    ):
        written = markdown({}, gathered(sample.games(1), broken, (study,)))["answer"]
        assert f"Something is wrong with {words}" in written
    assert "2 failed, 1 pending" in written


def test_games_that_halted_stand_among_those_planned():
    totals = {"games": 9, "ended": 5, "halted": 3, "stopped": 0, "failed": 1, "pending": 0}
    study = StudySource(Path("s"), {"study": "study-00000000", "totals": totals})
    written = markdown({}, gathered(sample.games(1), (), (study,)))["design"]
    assert "| Games | Ended | Halted | Stopped | Failed | Pending |" in written
    assert "| Games | 9 | 5 | 3 | 0 | 1 | 0 |" in written


def test_agents_that_never_met_are_told_apart_and_one_without_an_ability_is_not_an_average_one(findings):
    abilities = findings["abilities"]["label"]
    big, small = (abilities["agents"][agent] for agent in sample.AGENTS)
    for agent in (big, small):
        agent |= {"sensitivity": sample.estimate(-0.5), "concealment": sample.estimate(-0.5)}
    small |= {"sensitivity": sample.estimate(-0.1), "concealment": sample.estimate(None)}
    table = tables(findings, READ)["abilities-label-table"]
    assert [row.head.text for row in table.rows] == ["big", "small"]
    abilities["components"] = 2
    big["component"], small["component"] = 2, 1
    table = tables(findings, READ)["abilities-label-table"]
    assert table.columns[-1].name == "Component"
    assert any("never met" in written for written in table.notes)
    assert [row.head.text for row in table.rows] == ["small", "big"]


def test_every_interval_of_a_cell_is_shown_and_none_that_is_null_or_missing(findings):
    # where a headline has an interval of its own, that one stands
    findings["variability"]["metrics"] = {}
    without = {**findings, "intervals": {}}
    ends, counter = {}, itertools.count(1)

    def numbered(node, path=""):
        if isinstance(node, dict):
            return {name: numbered(child, f"{path}.{name}") for name, child in node.items()}
        ends[path] = [(low := next(counter) / 1000), low + 0.0004]
        return ends[path]

    findings["intervals"] = numbered(findings["intervals"])
    written = "".join(markdown(findings).values())
    intervals = {(100 * low, 100 * high, "{:.1f}–{:.1f}\u00a0%"): path for path, (low, high) in ends.items()}
    intervals |= {(low, high, "{:.3f} to {:.3f}"): path for path, (low, high) in ends.items()}
    shown_paths = {path for (low, high, form), path in intervals.items() if form.format(low, high) in written}
    # no table has a column of the first; what was before is the same for both maps
    assert [
        p for p in ends.keys() - shown_paths if not re.search(r"(base_rate|dprime|criterion)$|isotonic.before", p)
    ] == []
    assert len(ends) > 200
    empty = markdown(without)
    findings["intervals"] = json.loads(re.sub(r"\[[0-9., ]+\]", "null", json.dumps(findings["intervals"])))
    assert markdown(findings) == empty


def test_agents_rates_are_beside_a_guess_over_the_same_judgements_and_who_said_nothing_is_told(findings):
    findings["headline"]["all"] |= {"base_rate": 0.511, "constant_accuracy": 0.523}
    findings["truth"]["by_agent"].pop("llm:big")
    written = markdown(findings)
    assert "51.1\u00a0% of these judgements are of deceptive statements" in written["agents"]
    assert "the constant guess has accuracy 52.3\u00a0%;" in written["agents"]
    assert "– undefined: it said nothing." in written["answer"]
    assert "not computed" not in written["answer"]


@pytest.mark.parametrize(("games", "is_known"), [(4, False), (5, True)])
def test_a_mean_of_figure_1_has_an_interval_from_five_games_on(findings, games, is_known):
    findings["figure1"]["suspicion"]["Seer"] = [{"round": 1, "mean": 0.4, "sem": 0.1, "n": games}]
    seer = line(tables(findings, READ)["figure1-points"], "Round 1")[2]
    assert seer.under == (f"12.2–67.8\u00a0% · n {games}" if is_known else f"n {games}")


MANIFEST = {
    "study": "study-0123abcd",
    "name": "Big & small {100 %}",
    "seed_sha256": "00ff",
    "wolfbus": "0.1.0",
    "created": "2026-11-21",
    "git": {"commit": "abc123", "dirty": True},
    "totals": {"ended": 98},
    "prompts": None,
}


def cited(manifest=None, games=()) -> str:
    studies = () if manifest is None else (StudySource(Path("s"), manifest),)
    return Report({}, gathered(games, studies=studies)).bibtex()


def test_a_study_is_cited_with_version_commit_and_seed_and_games_of_none_by_their_ids():
    written = cited(MANIFEST)
    assert written.startswith("@misc{wolf2025,")
    assert "@misc{study-0123abcd," in written
    assert r"Big \& small \{100 \%\}" in written
    assert (
        "98 games played to their end; SHA-256 of its seed 00ff; wolfbus 0.1.0; commit abc123 with changes" in written
    )
    assert "year = {2026}" in written
    assert written.count("{") == written.count("}")
    first, second = (cited(games=sample.games(n)) for n in (1, 2))
    assert "@misc{wolfbus-games-" in first
    assert first != second
    assert "2 games of WOLF" in second


def test_entries_are_accepted_by_a_parser_of_braces_whatever_a_study_is_called():
    written = cited({**MANIFEST, "study": "}{evil, @misc{", "name": "}}@string{x}\u202e\n\\end"})
    assert "@misc{--evil---misc-," in written
    assert r"\}\}@string\{x\}[U+202E][U+000A]\textbackslash{}end" in written
