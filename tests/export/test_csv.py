"""What is written as CSV is what pandas, polars and the csv module read."""

from __future__ import annotations

import csv
import json
import math
from functools import lru_cache

import pytest

from analytics.export import TABLES, write_csv
from analytics.export.game import read_games
from analytics.gather import collect
from tests.export.records import HOSTILE, game, write


@lru_cache(maxsize=1)
def games_of(folder):
    return [each for _, each in read_games(collect([folder])) if each is not None]


def rows_of(folder, name):
    """All rows of a table, as the table itself gives them."""
    return [row for each in games_of(folder) for row in TABLES[name].rows(each)]


@pytest.fixture(scope="module")
def out(records, tmp_path_factory):
    folder = tmp_path_factory.mktemp("csv")
    write_csv([records], folder)
    return folder


@pytest.fixture(scope="module")
def schemas(out):
    package = json.loads((out / "datapackage.json").read_bytes())
    return {each["name"]: each["schema"]["fields"] for each in package["resources"]}


@pytest.mark.parametrize("name", list(TABLES))
def test_pandas_reads_every_cell_as_it_was(records, out, schemas, name):
    import pandas as pd

    kinds = {"string": "string", "boolean": "boolean", "integer": "Int64", "number": "float64"}
    types = {field["name"]: kinds[field["type"]] for field in schemas[name]}
    found = pd.read_csv(out / f"{name}.csv", dtype=types, keep_default_na=False, na_values=[""])
    cells = [tuple(None if pd.isna(cell) else cell for cell in row) for row in found.itertuples(index=False, name=None)]
    assert cells == rows_of(records, name)


@pytest.mark.parametrize("name", list(TABLES))
def test_polars_reads_every_cell_as_it_was(records, out, schemas, name):
    import polars as pl

    kinds = {"string": pl.String, "boolean": pl.Boolean, "integer": pl.Int64, "number": pl.Float64}
    types = {field["name"]: kinds[field["type"]] for field in schemas[name]}
    assert pl.read_csv(out / f"{name}.csv", schema=types).rows() == rows_of(records, name)


def test_the_csv_module_reads_the_text_of_every_cell(records, out):
    with (out / "judgements.csv").open(encoding="utf-8", newline="") as file:
        header, *found = csv.reader(file)
    assert header == [column.name for column in TABLES["judgements"].columns]
    words = {None: "", True: "true", False: "false"}
    assert found == [
        [words[cell] if cell is None or cell is True or cell is False else str(cell) for cell in row]
        for row in rows_of(records, "judgements")
    ]


def test_hostile_words_are_all_among_what_was_read(records):
    at = [column.name for column in TABLES["judgements"].columns].index("reasoning")
    assert {row[at] for row in rows_of(records, "judgements")} >= set(HOSTILE)


def test_lines_end_as_rfc_4180_says_and_there_is_no_byte_order_mark(tmp_path):
    write(tmp_path / "in", game("g", words=("plain words",)))
    write_csv([tmp_path / "in"], tmp_path / "out")
    content = (tmp_path / "out" / "votes.csv").read_bytes()
    assert content.startswith(b"vote_id,")
    assert content.endswith(b"\r\n")
    assert content.count(b"\n") == content.count(b"\r\n")


def test_no_number_is_undefined_and_no_text_is_empty(records):
    for name in TABLES:
        for row in rows_of(records, name):
            assert all(cell != "" for cell in row)
            assert not any(isinstance(cell, float) and not math.isfinite(cell) for cell in row)


def test_lone_surrogates_of_a_foreign_log_become_question_marks(tmp_path):
    from analytics.export.csv_file import CsvFile

    with (tmp_path / "x.csv").open("wb") as file:
        table = CsvFile(TABLES["nights"], file)
        table.add([("g", 1, None, "\ud83d cut", None, 0, None, None)])
        table.finish()
    assert b"? cut" in (tmp_path / "x.csv").read_bytes()


def test_equal_sources_give_equal_bytes(records, out, tmp_path):
    write_csv([records], tmp_path)
    files = sorted(path.name for path in out.iterdir())
    assert files == sorted([*(f"{name}.csv" for name in TABLES), "datapackage.json"])
    for name in files:
        assert (tmp_path / name).read_bytes() == (out / name).read_bytes()


def test_chosen_tables_are_the_ones_written(records, tmp_path):
    exported = write_csv([records], tmp_path, tables=["votes", "games"])
    assert sorted(path.name for path in tmp_path.iterdir()) == ["datapackage.json", "games.csv", "votes.csv"]
    assert list(exported.counts) == ["games", "votes"]
    package = json.loads((tmp_path / "datapackage.json").read_bytes())
    assert [each["name"] for each in package["resources"]] == ["games", "votes"]
    (votes,) = [each for each in package["resources"] if each["name"] == "votes"]
    assert {link["reference"]["resource"] for link in votes["schema"]["foreignKeys"]} == {"games"}
