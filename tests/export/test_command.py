"""`wolfbus export` as users type it."""

import pytest

from analytics.export import TABLES
from tests.export.records import game, write
from wolfbus.cli import run


@pytest.fixture
def whole(tmp_path):
    write(tmp_path / "in", game("g", "1"))
    return tmp_path / "in"


def test_tables_are_written_and_counted(whole, tmp_path, capsys):
    assert run(["export", "csv", str(whole), "--out", str(tmp_path / "out")]) == 0
    output = capsys.readouterr()
    assert [line.split(":")[0] for line in output.out.splitlines()[:-1]] == list(TABLES)
    assert output.out.splitlines()[-1] == f"1 game of 1 file, written to {tmp_path / 'out'}"
    assert output.err == ""
    assert {path.stem for path in (tmp_path / "out").iterdir()} >= set(TABLES)


@pytest.mark.parametrize("kind", ["csv", "inspect"])
def test_a_damaged_record_is_named_in_one_line_and_the_exit_code_is_1(whole, tmp_path, capsys, kind):
    # a file's name cannot speak to the terminal
    write(whole, game("cut", "2")[:50], name="\x1b[2Jred\nwolfbus: fine")
    assert run(["export", kind, str(whole), "--out", str(tmp_path / "out")]) == 1
    output = capsys.readouterr()
    first, last = output.err.splitlines()
    assert "\x1b" not in first
    assert ": line 51: missing" in first
    assert (": 2 samples" if kind == "inspect" else "games: 2") in output.out
    assert last == "wolfbus: something is wrong with 1 file"
    assert any((tmp_path / "out").iterdir())


def test_files_that_are_there_are_refused_with_exit_2(whole, tmp_path, capsys):
    command = ["export", "csv", str(whole), "--out", str(tmp_path / "out"), "--tables", "games"]
    assert run([*command, "--alpha", "0.25", "--prior", "0.125", "--include-defaulted"]) == 0
    assert ",0.25,0.125,true," in (tmp_path / "out" / "games.csv").read_text()
    assert run(command) == 2
    assert "exists already; `wolfbus export … --force` replaces it" in capsys.readouterr().err
    assert run([*command, "--force"]) == 0


def test_options_can_be_set_by_environment_variables(whole, tmp_path, monkeypatch):
    monkeypatch.setenv("WOLFBUS_EXPORT_OUT", str(tmp_path / "out"))
    monkeypatch.setenv("WOLFBUS_EXPORT_TABLES", "votes")
    assert run(["export", "parquet", str(whole)]) == 0
    files = {path.name for path in (tmp_path / "out").iterdir()}
    assert files == {"votes.parquet", "croissant.json", "README.md"}
