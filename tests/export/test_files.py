"""What is written as CSV and Parquet is what pandas, polars and the csv module read."""

from __future__ import annotations

import csv
import hashlib
import importlib
import json
from functools import cache

import pandas as pd
import polars as pl
import pyarrow.parquet as pq
import pytest
import yaml

from analytics.export import TABLES, write_csv, write_parquet
from analytics.export.table_files import CsvFile
from analytics.export.tables import read_games
from analytics.findings import findings
from analytics.gather import collect, gather
from tests.export.records import HOSTILE, game, write
from wolfbus.errors import ConfigError

BY_GAME = [name for name, table in TABLES.items() if not table.whole]
BESIDE = {"croissant.json", "README.md"}
WRITERS = {"csv": write_csv, "parquet": write_parquet}
TYPES = {
    # kind of a column: Frictionless, pandas, polars, Arrow
    "text": ("string", "string", pl.String, "string"),
    "category": ("string", "string", pl.String, "dictionary<values=string, indices=int32, ordered=0>"),
    "boolean": ("boolean", "boolean", pl.Boolean, "bool"),
    "integer": ("integer", "Int64", pl.Int64, "int64"),
    "real": ("number", "float64", pl.Float64, "double"),
}


@cache
def rows_of(folder, name):
    """All rows of a table, as the table itself gives them."""
    return [row for _, each in read_games(collect([folder])) if each is not None for row in TABLES[name].rows(each)]


def types(name, place):
    return {column.name: TYPES[column.kind][place] for column in TABLES[name].columns}


READERS = {
    ("csv", "pandas"): lambda path, name: pd.read_csv(
        path, dtype=types(name, 1), keep_default_na=False, na_values=[""]
    ),
    ("csv", "polars"): lambda path, name: pl.read_csv(path, schema=types(name, 2)),
    ("parquet", "pandas"): lambda path, _: pd.read_parquet(path),
    ("parquet", "polars"): lambda path, _: pl.read_parquet(path),
}


@pytest.mark.parametrize("name", BY_GAME)
@pytest.mark.parametrize(("suffix", "library"), READERS)
def test_libraries_read_every_cell_as_it_was(records, exports, suffix, library, name):
    found = READERS[suffix, library](exports / suffix / f"{name}.{suffix}", name)
    rows = found.itertuples(index=False, name=None) if library == "pandas" else found.rows()
    assert [tuple(None if pd.isna(cell) else cell for cell in row) for row in rows] == rows_of(records, name)


def test_the_csv_module_reads_the_text_of_every_cell_hostile_ones_too(records, exports):
    with (exports / "csv" / "judgements.csv").open(encoding="utf-8", newline="") as file:
        header, *found = csv.reader(file)
    assert header == [column.name for column in TABLES["judgements"].columns]
    words = {None: "", True: "true", False: "false"}
    assert found == [
        [words[cell] if cell is None or isinstance(cell, bool) else str(cell) for cell in row]
        for row in rows_of(records, "judgements")
    ]
    assert {row[header.index("reasoning")] for row in found} >= set(HOSTILE)


def test_lines_end_as_rfc_4180_says_and_a_lone_surrogate_becomes_a_question_mark(tmp_path):
    write(tmp_path / "in", game("g", words=("plain words",)))
    write_csv([tmp_path / "in"], tmp_path / "out")
    content = (tmp_path / "out" / "votes.csv").read_bytes()
    assert content.startswith(b"vote_id,")
    assert content.endswith(b"\r\n")
    assert content.count(b"\n") == content.count(b"\r\n")
    with (tmp_path / "x.csv").open("wb") as file:
        table = CsvFile(TABLES["nights"], file)
        table.add([("g", 1, None, "\ud83d cut", None, 0, None, None)])
        table.finish()
    assert b"? cut" in (tmp_path / "x.csv").read_bytes()


@pytest.mark.parametrize("suffix", WRITERS)
def test_equal_sources_give_equal_bytes(records, exports, tmp_path, suffix):
    WRITERS[suffix]([records], tmp_path)
    files = {path.name: path.read_bytes() for path in (exports / suffix).iterdir()}
    beside = BESIDE | ({"datapackage.json"} if suffix == "csv" else set())
    assert files.keys() == {f"{name}.{suffix}" for name in TABLES} | beside
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == files


def test_chosen_tables_are_the_ones_written(records, tmp_path):
    exported = write_csv([records], tmp_path, tables=["votes", "games"])
    assert {path.name for path in tmp_path.iterdir()} == {"games.csv", "votes.csv", "datapackage.json"} | BESIDE
    assert list(exported.counts) == ["games", "votes"]
    games, votes = json.loads((tmp_path / "datapackage.json").read_bytes())["resources"]
    assert (games["name"], votes["name"]) == ("games", "votes")
    assert {link["reference"]["resource"] for link in votes["schema"]["foreignKeys"]} == {"games"}
    for table in (games, votes):
        fields = {field["name"]: field["type"] for field in table["schema"]["fields"]}
        assert fields == types(table["name"], 0)


def test_a_shared_folder_says_what_it_is_to_hugging_face_and_in_croissant(records, tmp_path):
    write_csv([records], tmp_path, licence="CC-BY-4.0")
    _, header, text = (tmp_path / "README.md").read_text("utf-8").split("---\n", 2)
    card = yaml.safe_load(header)
    assert card["license"] == "cc-by-4.0"
    assert {each["config_name"]: each["data_files"] for each in card["configs"]} == {n: f"{n}.csv" for n in TABLES}
    assert "informed" in text
    told = json.loads((tmp_path / "croissant.json").read_bytes())
    assert told["license"] == "https://spdx.org/licenses/CC-BY-4.0.html"
    for file, table in zip(told["distribution"], told["recordSet"], strict=True):
        content = (tmp_path / file["contentUrl"]).read_bytes()
        assert file["sha256"] == hashlib.sha256(content).hexdigest()
        header, _, _ = content.decode().partition("\r\n")
        assert [field["source"]["extract"]["column"] for field in table["field"]] == header.split(",")
    with pytest.raises(ConfigError, match="SPDX"):
        write_csv([records], tmp_path / "other", licence="do as you like")


def test_results_are_the_figures_of_a_report(records, exports):
    with (exports / "csv" / "results.csv").open(encoding="utf-8", newline="") as file:
        rows = {(row["metric"], row["group"], row["observers"]): row for row in csv.DictReader(file)}
    told = findings(gather([records], workers=1))
    for name, metric in told["variability"]["metrics"].items():
        base, _, role = name.partition("/")
        group = f"role:{role}" if role else "all"
        row = rows[base, group, "uninformed" if "all_observers" in metric else "none"]
        assert row["value"] == ("" if metric["value"] is None else repr(metric["value"]))
        assert (row["low"], int(row["n"])) == ("" if metric["low"] is None else repr(metric["low"]), metric["n"])
    for agent, own in told["agents"].items():
        assert rows["accuracy", f"agent:{agent}", "uninformed"]["n"] == str(own["accuracy"]["n"])


@pytest.mark.parametrize("name", BY_GAME)
def test_parquets_columns_have_types_meanings_and_nulls_only_where_they_may(exports, name):
    schema = pq.read_schema(exports / "parquet" / f"{name}.parquet")
    for column, field in zip(TABLES[name].columns, schema, strict=True):
        assert (field.name, str(field.type)) == (column.name, TYPES[column.kind][3])
        assert field.nullable == (column.null is not None)
        assert field.metadata[b"meaning"].decode() == column.meaning


@pytest.mark.parametrize(("limit", "most", "table"), [("ROWS", 100, "judgements"), ("CHARACTERS", 500, "statements")])
def test_rows_and_long_words_are_written_in_groups(records, tmp_path, monkeypatch, limit, most, table):
    monkeypatch.setattr(f"analytics.export.table_files.GROUP_{limit}", most)
    write_parquet([records], tmp_path, tables=[table])
    file = pq.ParquetFile(tmp_path / f"{table}.parquet")
    assert file.metadata.num_row_groups > 3
    assert file.metadata.row_group(0).num_rows <= 100
    assert [tuple(row.values()) for row in file.read().to_pylist()] == rows_of(records, table)


def test_without_pyarrow_one_line_says_what_to_install(records, tmp_path, monkeypatch):
    def missing(name):
        raise ImportError(name=name)

    monkeypatch.setattr(importlib, "import_module", missing)
    with pytest.raises(ConfigError, match=r'needs pyarrow: pip install "wolfbus\[parquet\]"'):
        write_parquet([records], tmp_path / "out")
    assert not (tmp_path / "out").exists()
