"""What a study cannot show is said from the study itself."""

import shutil
from pathlib import Path
from types import SimpleNamespace

import pytest
from scipy.stats import norm

from analytics.report.report import Report
from tests.analytics.script import gathered
from tests.llm.tables import tables
from tests.report import sample
from wolfbus.cli import run
from wolfbus.files.document import section_markdown

TABLES = tables(__file__)
LOG = Path(__file__).parents[1] / "paper_log" / "data" / "small-events.ndjson"


def limits(findings) -> str:
    report = Report(findings, gathered(sample.games(1)))
    (section,) = [each for each in report._sections(report.context) if each.key == "limitations"]
    return " ".join(section_markdown(section).split())


def test_the_smallest_difference_is_that_of_four_studies_in_five():
    findings = sample.findings()
    metrics = findings["primary"]["metrics"]
    for row in metrics.values():
        row["difference"] = sample.estimate(None)
    assert "How small a difference these games could show is unknown" in limits(findings)
    metrics["suspicion_gap"]["difference"] = {**sample.estimate(0.1, 0.0), "low": 0.002, "high": 0.198}
    # a standard error of 5 points: four studies in five of the size told are beyond 2.33 of them
    size = (norm.ppf(0.99) + norm.ppf(0.8)) * 0.05
    assert norm.sf(norm.ppf(0.99) - size / 0.05) == pytest.approx(0.8)
    assert f"+{100 * size:.1f} points. A smaller one is found less often" in limits(findings)


@pytest.mark.parametrize(("times", "said"), TABLES["labels"])
def test_when_labels_were_asked_for_is_told(times, said):
    findings = sample.findings()
    findings["outcomes"]["labels"] = times
    findings["truth"]["overall"]["confession_gap"] = {"value": 0.25, "low": 0.12, "high": 0.4, "n": 40}
    assert said in limits(findings)
    assert "Agreement with people: none measured" in limits(findings)


@pytest.mark.parametrize(("times", "said"), TABLES["assessments"])
def test_whether_asking_can_have_changed_the_games_is_told(times, said):
    findings = sample.findings()
    findings["outcomes"]["assessments"] = times
    assert said in limits(findings)


def test_where_nobody_was_asked_no_sentence_says_that_somebody_was():
    findings = sample.findings()
    findings["outcomes"]["assessments"] = {"none": 6}
    assert "self-label was asked" not in limits(findings)
    assert "Observers were asked" not in limits(findings)
    findings["outcomes"]["assessments"] = {"none": 3, "live": 3}
    assert "self-label was asked" in limits(findings)
    assert "Observers were asked" in limits(findings)


def test_scripts_are_called_no_models_and_models_are_only_names():
    findings = sample.findings(("scripted", "llm:big"))
    read = gathered(sample.games(1, ("scripted", "llm:big")))
    study = SimpleNamespace(
        manifest={
            "name": "one",
            "created": "2026-11-20T10:00:00Z",
            "updated": "2026-11-22T10:00:00Z",
            "prompts": "48ea3a87" + 28 * "0f",
            "models": {"big": {"model": "big-1"}},
        }
    )
    report = Report(findings, read)
    object.__setattr__(report.context, "studies", (study.manifest,))
    (section,) = [each for each in report._sections(report.context) if each.key == "limitations"]
    text = " ".join(section_markdown(section).split())
    assert "Scripts (scripted) are no models" in text
    assert "One set of prompts (48ea3a…0f0f0f0f), played between 2026-11-20 and 2026-11-22" in text
    assert "(big-1)" in text
    object.__setattr__(report.context, "studies", (study.manifest, study.manifest | {"prompts": "77" * 32}))
    (section,) = [each for each in report._sections(report.context) if each.key == "limitations"]
    assert "2 sets of prompts (48ea3a…0f0f0f0f, 777777…77777777), played" in section_markdown(section)


def test_a_published_log_is_never_called_sealed(tmp_path: Path, capsys):
    for path in LOG.parent.glob("small*"):
        shutil.copy(path, tmp_path)
    output = tmp_path / "report.md"
    assert run(["report", str(tmp_path / LOG.name), "--md", str(output)]) == 0
    text = " ".join(output.read_text("utf-8").split())
    first = text[: text.index("## What can be said")]
    assert "without seals" in first
    assert "sealed" not in first
    assert "Logs of other code than wolfbus have no seals: nothing proves" in text
