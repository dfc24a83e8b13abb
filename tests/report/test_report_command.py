"""`wolfbus report` on records that were really played."""

import json
import re
from collections.abc import Iterable
from pathlib import Path

import pytest

from analytics.results import ResultRow, Results
from wolfbus.cli import run


@pytest.fixture(scope="module")
def records(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("records")
    for seed in ("1", "2", "3"):
        played = ["play", "--seed", seed, "--game", f"g-{seed}", "--players", "scripted*5,random*3"]
        assert run([*played, "--out", str(folder), "--quiet", "--json"]) == 0
    return folder


@pytest.fixture
def report(records: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch):
    """A folder of its own with the records, to work in, and a way to run the command there."""
    for record in records.glob("*.ndjson"):
        (tmp_path / record.name).write_bytes(record.read_bytes())
    monkeypatch.chdir(tmp_path)
    capsys.readouterr()

    def report(*arguments: str) -> tuple[int, str, str]:
        code = run(["report", *arguments])
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return report


def test_a_folders_page_goes_into_it_and_five_headlines_are_printed(report, tmp_path: Path):
    code, out, err = report(str(tmp_path))
    lines = out.splitlines()
    assert (code, err) == (0, "")
    assert lines[0] == f"Report: {tmp_path / 'report.html'}"
    assert len(lines) == 6
    assert "3 games, 3 of them finished, by 2 agents (random, scripted)" in lines[1]
    page = (tmp_path / "report.html").read_text("utf-8")
    assert page.startswith("<!doctype html>")
    assert "Content-Security-Policy" in page
    assert page.rstrip().endswith("</html>")
    assert str(tmp_path.parent) not in page, "the page tells nobody where the files are"


def test_files_are_reported_on_where_one_stands_and_give_equal_pages_in_any_order(report, tmp_path: Path):
    code, out, _ = report("g-1.ndjson", "g-2.ndjson")
    assert code == 0
    assert out.startswith("Report: report.html\n")
    assert "2 games" in out
    report("g-1.ndjson", "g-2.ndjson", "--md", "report.md", "--findings", "report.json")
    report("g-2.ndjson", "g-1.ndjson", "--html", "b.html", "--md", "b.md", "--findings", "b.json")
    for suffix in ("html", "md", "json"):
        assert (tmp_path / f"report.{suffix}").read_bytes() == (tmp_path / f"b.{suffix}").read_bytes()


def test_markdown_bibtex_and_tables_are_written_where_they_are_asked_for(report, tmp_path: Path):
    code, out, _ = report("g-1.ndjson", "--md", "-", "--findings", "f.json", "--alpha", "0.3", "--prior", "0.2")
    rows = json.loads((tmp_path / "f.json").read_text())["table1"]["Werewolf"]
    assert code == 0
    assert f"| Werewolf | {rows['statements']:,} (paper 74) |" in out
    assert "α = 0.30, before any judgement 0.20" in out
    assert report(".", "--bibtex", "--csv", "tables")[1].startswith("@misc{wolf2025,")
    assert (tmp_path / "tables" / "statements.csv").exists()
    code, out, err = report("g-1.ndjson", "--json")
    assert (code, err, json.loads(out)["outcomes"]["games"]) == (0, "", 1)
    assert {"table1", "table4", "truth", "abilities", "variability"} <= set(json.loads(out))
    assert not (tmp_path / "report.html").exists()


def test_a_page_and_tables_of_the_same_games_compute_their_figures_once(report, tmp_path: Path, monkeypatch):
    made = []

    def counted(rows: Iterable[ResultRow]) -> Results:
        made.append(Results(rows))
        return made[-1]

    monkeypatch.setattr("analytics.findings.Results", counted)
    assert report(".", "--findings", "f.json", "--csv", "tables", "--parquet", "more")[0] == 0
    assert len(made) == 1
    rows = (tmp_path / "tables" / "results.csv").read_text("utf-8").splitlines()
    assert len(rows) == 1 + len(list(made[0]))


def test_equal_games_of_two_studies_are_both_among_the_statements_where_their_figures_were_kept(report, tmp_path: Path):
    for design in ("fixed", "shuffle"):
        played = ["run", "--players", "scripted*8", "--games", "2", "--seed", "3", "--design", design, "--quiet"]
        assert run([*played, "--out", str(tmp_path / "studies" / design)]) == 0
    assert report("studies", "--json")[0] == 0
    assert report("studies", "--html", "again.html")[0] == 0
    assert re.search(r"All [\d,]+ statements of 4 games are here", (tmp_path / "again.html").read_text("utf-8"))


def test_bad_files_are_named_counted_and_the_rest_is_reported(report, tmp_path: Path):
    lines = (tmp_path / "g-1.ndjson").read_bytes().splitlines(keepends=True)
    (tmp_path / "torn.ndjson").write_bytes(b"".join(lines[: len(lines) // 2]).replace(b'"game":"g-1"', b'"game":"g-9"'))
    (tmp_path / "edited.ndjson").write_bytes(
        (tmp_path / "g-2.ndjson").read_bytes().replace(b"suspicion", b"suspicioN", 1)
    )
    (tmp_path / "g-2.ndjson").unlink()
    (tmp_path / "notes.txt").write_text("no record at all \x1b[2J\n")
    (tmp_path / "empty.ndjson").write_bytes(b"")
    names = [str(path.name) for path in sorted(tmp_path.iterdir()) if path.suffix in {".ndjson", ".txt"}]
    code, out, err = report(*names)
    assert code == 1
    assert "\x1b" not in err
    for name in ("torn.ndjson", "edited.ndjson", "notes.txt", "empty.ndjson"):
        assert len([line for line in err.splitlines() if name in line]) == 1
    assert err.splitlines()[-1] == "wolfbus: something is wrong with 4 files"
    assert out.startswith("Report: report.html")
    page = (tmp_path / "report.html").read_text("utf-8")
    assert "Something is wrong with 4 files" in page
    assert "empty; there is no record in it" in page


def test_nothing_to_read_is_one_line(report, tmp_path: Path):
    (tmp_path / "notes.txt").write_text("no record\n")
    code, out, err = report("notes.txt")
    assert (code, out) == (2, "")
    assert err.splitlines()[-1].endswith(": no game could be read")
    assert not (tmp_path / "report.html").exists()


def test_a_published_log_is_reported_on_in_both_readings(report, tmp_path: Path):
    log = Path(__file__).parents[1] / "paper_log" / "data" / "small-events.ndjson"
    for path in log.parent.glob("small*"):
        (tmp_path / path.name).write_bytes(path.read_bytes())
    assert "Labels and judgements are read again" in report(log.name, "--md", "-")[1]
    assert "as the paper's code stored it" in report(log.name, "--md", "-", "--as-recorded")[1]
