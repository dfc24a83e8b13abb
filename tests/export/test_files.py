"""What is written as CSV and Parquet is what pandas, polars and the csv module read."""

import csv
import hashlib
import importlib
import json

import pandas as pd
import polars as pl
import pyarrow.parquet as pq
import pytest
import yaml

from analytics.export import TABLES, write_csv, write_parquet
from analytics.findings import findings
from analytics.gather import gather
from analytics.metrics.study import Study
from tests.export.records import HOSTILE, game, rows_of, write
from wolfbus.errors import ConfigError

BESIDE = {"croissant.json", "README.md"}
TYPES = {
    # kind of a column: Frictionless, pandas, polars, Arrow
    "text": ("string", "string", pl.String, "string"),
    "category": ("string", "string", pl.String, "dictionary<values=string, indices=int32, ordered=0>"),
    "boolean": ("boolean", "boolean", pl.Boolean, "bool"),
    "integer": ("integer", "Int64", pl.Int64, "int64"),
    "real": ("number", "float64", pl.Float64, "double"),
}


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


@pytest.mark.parametrize(("suffix", "library"), READERS)
@pytest.mark.usefixtures("csv_files", "parquet_files")
def test_libraries_read_every_cell_of_either_format_alike(tables, exports, suffix, library):
    for name, expected in tables.items():
        frame = READERS[suffix, library](exports / suffix / f"{name}.{suffix}", name)
        rows = frame.itertuples(index=False, name=None) if library == "pandas" else frame.rows()
        cells = [tuple(None if pd.isna(cell) else cell for cell in row) for row in rows]
        assert cells == [tuple(row.values()) for row in expected], name


def test_the_csv_module_reads_the_text_of_every_cell_hostile_ones_too(tables, csv_files):
    with (csv_files / "judgements.csv").open(encoding="utf-8", newline="") as file:
        header, *rows = csv.reader(file)
    assert header == [column.name for column in TABLES["judgements"].columns]
    words = {None: "", True: "true", False: "false"}
    assert rows == [
        [words[cell] if cell is None or isinstance(cell, bool) else str(cell) for cell in row.values()]
        for row in tables["judgements"]
    ]
    assert {row[header.index("reasoning")] for row in rows} >= set(HOSTILE)


@pytest.mark.usefixtures("csv_files", "parquet_files")
def test_equal_sources_give_equal_bytes_with_lines_as_rfc_4180_has_them(exports, tmp_path):
    for suffix, writer in (("csv", write_csv), ("parquet", write_parquet)):
        beside = BESIDE | ({"datapackage.json"} if suffix == "csv" else set())
        assert {path.name for path in (exports / suffix).iterdir()} == {f"{name}.{suffix}" for name in TABLES} | beside
        write(tmp_path / "in", game("g"))
        written = []
        for again in (1, 2):
            folder = tmp_path / f"{suffix}{again}"
            writer([tmp_path / "in"], folder)
            written.append({path.name: path.read_bytes() for path in folder.iterdir()})
        assert written[0] == written[1]
    votes = (exports / "csv" / "votes.csv").read_bytes()
    assert votes.startswith(b"vote_id,")
    assert votes.endswith(b"\r\n")


def test_half_a_character_of_a_published_log_becomes_a_question_mark(records, tmp_path):
    for path in (records / "paper").iterdir():
        (tmp_path / path.name).write_bytes(path.read_bytes().replace(b"That is absurd.", rb"\ud83d absurd."))
    for suffix, writer in (("csv", write_csv), ("parquet", write_parquet)):
        assert writer([tmp_path], tmp_path / suffix, tables=["statements"]).problems == ()
        assert b"? absurd." in (tmp_path / suffix / f"statements.{suffix}").read_bytes()


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


def test_figures_of_other_games_than_those_exported_are_not_written(tmp_path):
    results = []
    write(tmp_path / "one", game("one"))
    write(tmp_path / "two", game("two", brains=("three", "four")))
    for measured in (None, Study(gather([tmp_path / "two"]).tables)):
        write_csv([tmp_path / "one"], tmp_path / "out", tables=["results"], measured=measured, force=True)
        results.append((tmp_path / "out" / "results.csv").read_bytes())
    assert results[0] == results[1]


def test_a_shared_folder_says_what_it_is_to_hugging_face_and_in_croissant(records, tmp_path):
    write_csv([records / "study"], tmp_path, licence="CC-BY-4.0")
    _, header, text = (tmp_path / "README.md").read_text("utf-8").split("---\n", 2)
    card = yaml.safe_load(header)
    assert card["license"] == "cc-by-4.0"
    assert {config["config_name"]: config["data_files"] for config in card["configs"]} == {
        n: f"{n}.csv" for n in TABLES
    }
    assert "informed" in text
    croissant = json.loads((tmp_path / "croissant.json").read_bytes())
    assert croissant["license"] == "https://spdx.org/licenses/CC-BY-4.0.html"
    for file, table in zip(croissant["distribution"], croissant["recordSet"], strict=True):
        content = (tmp_path / file["contentUrl"]).read_bytes()
        assert file["sha256"] == hashlib.sha256(content).hexdigest()
        header, _, _ = content.decode().partition("\r\n")
        assert [field["source"]["extract"]["column"] for field in table["field"]] == header.split(",")
    with pytest.raises(ConfigError, match="SPDX"):
        write_csv([records], tmp_path / "other", licence="do as you like")


def test_results_are_the_figures_of_a_report(records, tables):
    rows = {(row["metric"], row["group"], row["observers"]): row for row in tables["results"]}
    report = findings(gather([records], workers=1))
    for name, metric in report["variability"]["metrics"].items():
        base, _, role = name.partition("/")
        row = rows[base, f"role:{role}" if role else "all", "uninformed" if "all_observers" in metric else "none"]
        assert (row["value"], row["low"], row["n"]) == (metric["value"], metric["low"], metric["n"])
    for agent, figures in report["agents"].items():
        assert rows["accuracy", f"agent:{agent}", "uninformed"]["n"] == figures["accuracy"]["n"]


def test_files_of_parquet_are_named_in_croissant_as_its_readers_know_them(parquet_files):
    croissant = json.loads((parquet_files / "croissant.json").read_bytes())
    assert {file["encodingFormat"] for file in croissant["distribution"]} == {"application/x-parquet"}


def test_parquets_columns_have_types_meanings_and_nulls_only_where_they_may(parquet_files):
    for name, table in TABLES.items():
        schema = pq.read_schema(parquet_files / f"{name}.parquet")
        for column, field in zip(table.columns, schema, strict=True):
            assert (field.name, str(field.type)) == (column.name, TYPES[column.kind][3])
            assert field.nullable == (column.null is not None)
            assert field.metadata[b"meaning"].decode() == column.meaning


@pytest.mark.parametrize(("limit", "most", "table"), [("ROWS", 100, "judgements"), ("CHARACTERS", 500, "statements")])
def test_rows_and_long_words_are_written_in_groups(records, tables, tmp_path, monkeypatch, limit, most, table):
    monkeypatch.setattr(f"analytics.export.table_files.GROUP_{limit}", most)
    write_parquet([records], tmp_path, tables=[table])
    metadata = pq.ParquetFile(tmp_path / f"{table}.parquet").metadata
    assert metadata.num_row_groups > 3
    assert metadata.row_group(0).num_rows <= 100
    assert rows_of(tmp_path / f"{table}.parquet") == tables[table]


def test_without_pyarrow_one_line_says_what_to_install(records, tmp_path, monkeypatch):
    def missing(name):
        raise ImportError(name=name)

    monkeypatch.setattr(importlib, "import_module", missing)
    with pytest.raises(ConfigError, match=r'needs pyarrow: pip install "wolfbus\[parquet\]"'):
        write_parquet([records], tmp_path / "out")
    assert not (tmp_path / "out").exists()
