"""What else takes logs of other tables: `annotate`, `plan`; and what refuses them, as nobody can run their rules."""

import csv
import json

import pytest

from analytics.gather import each_game
from tests.annotate.conftest import SPY
from tests.other_games.games import BEA, TABLE
from tests.paper_log.test_small_log import LOG, META
from wolfbus.cli import run


@pytest.fixture
def logs(tmp_path, imported, file_of):
    """A folder with three logs, of which two have the same words."""
    first = file_of("table")
    other = tmp_path / "other.csv"
    other.write_text(TABLE.replace("g1,vote,Eve,Ada", "g1,vote,Eve,Bea"), encoding="utf-8")
    imported("table", first, other)
    imported("kaggle", file_of("kaggle"))
    return tmp_path / "logs"


def filled(sheet, path, answer, **members):
    """Fill in a sheet, in every row alike but for the answer."""
    with sheet.open(encoding="utf-8-sig", newline="") as file:
        rows = list(csv.DictReader(file))
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, rows[0].keys())
        writer.writeheader()
        writer.writerows({**row, "deceptive": answer(row), **members} for row in rows)
    return rows


def test_a_sheet_of_logs_goes_out_and_comes_back(logs, tmp_path, capsys):
    sheet, back = tmp_path / "sheet.csv", tmp_path / "back.csv"
    assert run(["annotate", str(logs), "--export", str(sheet)]) == 0
    rows = filled(sheet, back, lambda row: "no" if row["statement"] == BEA else "yes")
    # the same words in two games are two rows
    assert len({row["row"] for row in rows}) == len(rows) == 6
    assert {row["before"] for row in rows if row["statement"] == BEA} == {"Round 1. Dan died in the night."}
    for rater in ("anna", "ben"):
        assert run(["annotate", str(logs), "--import", str(back), "--rater", rater]) == 0
    capsys.readouterr()
    assert run(["annotate", str(logs), "--agreement", "--json"]) == 0
    agreement = json.loads(capsys.readouterr().out)
    assert {name: who["statements"] for name, who in agreement["annotators"].items()} == {"anna": 6, "ben": 6}
    assert agreement["pairs"]["deceptive"]["anna & ben"]["agreement"]["value"] == 1.0


def test_a_reader_model_reads_logs_and_is_given_neither_roles_nor_thoughts(logs, tmp_path, monkeypatch, capsys):
    (tmp_path / "spy.py").write_text(SPY, "utf-8")
    (tmp_path / "models.toml").write_text('[endpoints.s]\nprovider = "spy"\n[models.spy]\nendpoint = "s"\n')
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.chdir(tmp_path)
    reading = ["annotate", str(logs), "--reader", "llm:spy", "--config", "models.toml", "--yes", "--json"]
    assert run(reading) == 0
    assert json.loads(capsys.readouterr().out.splitlines()[-1])["written"] == 6
    asked = (tmp_path / "asked.jsonl").read_text("utf-8")
    assert "They must hear it." not in asked
    assert "Doctor" not in asked
    # thoughts are read by a monitor alone, and only where the log has them
    assert run([*reading, "--private"]) == 0
    assert json.loads(capsys.readouterr().out.splitlines()[-1])["written"] == 1


def test_no_sheet_is_written_of_logs_without_a_statement(tmp_path, imported, file_of, capsys):
    imported("arena", file_of("arena on AgentBeats"))
    assert run(["annotate", str(tmp_path / "logs"), "--export", str(tmp_path / "sheet.csv")]) == 2
    assert "no statement was recorded" in capsys.readouterr().err
    assert not (tmp_path / "sheet.csv").exists()


def test_who_left_before_a_statement_by_a_way_of_that_table_is_nobody_it_is_for_or_against(
    tmp_path, imported, file_of, capsys
):
    source = file_of("table")
    left = TABLE.replace("g1,statement,Ada", "g1,left,Eve,,,,,,\ng1,statement,Ada")
    source.write_text(left, "utf-8")
    _, (log,) = imported("table", source)
    sheet, back = tmp_path / "sheet.csv", tmp_path / "back.csv"
    assert run(["annotate", str(log.parent), "--export", str(sheet)]) == 0
    filled(sheet, back, lambda _row: "no", stance_target="Eve", stance_side="for")
    assert run(["annotate", str(log.parent), "--import", str(back), "--rater", "anna"]) == 2
    # Bea spoke while Eve was there, and Ada when she was not
    assert capsys.readouterr().err.count("'Eve' is none of Bea, Cleo") == 1
    ((_, game),) = each_game([log])
    departures = [step.event for step in game.course if step.event.type in {"left_otherwise", "exile"}]
    assert [event.seat for event in departures] == ["Eve", "Ada"]


def test_no_night_is_told_before_a_day_that_a_log_begins_with(tmp_path, imported, file_of):
    source = file_of("table")
    nights = ("attack", "protection", "inspection", "killed")
    lines = [line for line in source.read_text("utf-8").splitlines() if line.split(",")[1] not in nights]
    source.write_text("\n".join(lines), "utf-8")
    imported("table", source)
    sheet = tmp_path / "sheet.csv"
    assert run(["annotate", str(tmp_path / "logs"), "--export", str(sheet)]) == 0
    rows = filled(sheet, tmp_path / "back.csv", lambda _row: "")
    assert {row["before"] for row in rows if row["statement"] == BEA} == {"Round 1."}


def test_annotations_that_nobody_would_find_again_are_refused(logs, tmp_path, capsys):
    assert run(["annotate", str(tmp_path), "--export", str(tmp_path / "sheet.csv")]) == 2
    assert f"are kept with {logs}; annotate that folder" in capsys.readouterr().err


def test_a_plan_is_made_of_logs_where_its_metric_is_defined_there(tmp_path, imported, capsys):
    header, *rows = TABLE.splitlines()
    games = [row.replace("g1,", f"g{n},", 1).replace("Dan", "Dan" + "n" * n) for n in range(8) for row in rows]
    source = tmp_path / "many.csv"
    source.write_text("\n".join([header, *games]).replace("g5,vote,Eve,Ada", "g5,vote,Eve,Bea"), encoding="utf-8")
    imported("table", source)
    logs = tmp_path / "logs"
    assert run(["plan", "--from", str(logs), "--metric", "vote_hit_lift", "--games", "100"]) == 0
    assert "100 games" in capsys.readouterr().out
    assert run(["plan", "--from", str(logs), "--metric", "accuracy_lift", "--games", "100"]) == 2
    assert "it cannot be planned by this pilot" in capsys.readouterr().err


@pytest.mark.parametrize("command", [("fork", "--at", "1"), ("verify",), ("replay", "--as", "Ada")])
@pytest.mark.parametrize("of", ["table", "paper"])
def test_what_runs_rules_again_refuses_a_log_in_one_line_with_the_reason(command, of, logs, tmp_path, capsys):
    path = min(logs.glob("*"))
    if of == "paper":
        path = tmp_path / LOG.name
        path.write_bytes(LOG.read_bytes())
        (tmp_path / META.name).write_bytes(META.read_bytes())
    capsys.readouterr()
    assert run([command[0], str(path), *command[1:]]) == 2
    told = [line for line in capsys.readouterr().err.splitlines() if "log" in line]
    assert len(told) == 1
    reasons = {
        "fork": "nobody can run its rules again",
        "verify": "nothing to verify",
        "replay": "needs a wolfbus record",
    }
    assert reasons[command[0]] in told[0]
