"""What is written as CSV is what pandas, polars and the csv module read."""

from __future__ import annotations

import csv
import hashlib
import json
import math
from functools import lru_cache

import pytest
import yaml

from analytics.export import TABLES, write_csv
from analytics.export.tables import read_games
from analytics.gather import collect
from tests.export.records import HOSTILE, game, write
from wolfbus.errors import ConfigError


@lru_cache(maxsize=1)
def games_of(folder):
    return [each for _, each in read_games(collect([folder])) if each is not None]


def rows_of(folder, name):
    """All rows of a table, as the table itself gives them."""
    return [row for each in games_of(folder) for row in TABLES[name].rows(each)]


BY_GAME = [name for name, table in TABLES.items() if not table.whole]
BESIDE = ("datapackage.json", "croissant.json", "README.md")


@pytest.fixture(scope="module")
def out(records, tmp_path_factory):
    folder = tmp_path_factory.mktemp("csv")
    write_csv([records], folder)
    return folder


@pytest.fixture(scope="module")
def schemas(out):
    package = json.loads((out / "datapackage.json").read_bytes())
    return {each["name"]: each["schema"]["fields"] for each in package["resources"]}


@pytest.mark.parametrize("name", BY_GAME)
def test_pandas_reads_every_cell_as_it_was(records, out, schemas, name):
    import pandas as pd

    kinds = {"string": "string", "boolean": "boolean", "integer": "Int64", "number": "float64"}
    types = {field["name"]: kinds[field["type"]] for field in schemas[name]}
    found = pd.read_csv(out / f"{name}.csv", dtype=types, keep_default_na=False, na_values=[""])
    cells = [tuple(None if pd.isna(cell) else cell for cell in row) for row in found.itertuples(index=False, name=None)]
    assert cells == rows_of(records, name)


@pytest.mark.parametrize("name", BY_GAME)
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
    from analytics.export.table_files import CsvFile

    with (tmp_path / "x.csv").open("wb") as file:
        table = CsvFile(TABLES["nights"], file)
        table.add([("g", 1, None, "\ud83d cut", None, 0, None, None)])
        table.finish()
    assert b"? cut" in (tmp_path / "x.csv").read_bytes()


def test_equal_sources_give_equal_bytes(records, out, tmp_path):
    write_csv([records], tmp_path)
    files = sorted(path.name for path in out.iterdir())
    assert files == sorted([*(f"{name}.csv" for name in TABLES), *BESIDE])
    for name in files:
        assert (tmp_path / name).read_bytes() == (out / name).read_bytes()


def test_chosen_tables_are_the_ones_written(records, tmp_path):
    exported = write_csv([records], tmp_path, tables=["votes", "games"])
    assert {path.name for path in tmp_path.iterdir()} == {"games.csv", "votes.csv", *BESIDE}
    assert list(exported.counts) == ["games", "votes"]
    package = json.loads((tmp_path / "datapackage.json").read_bytes())
    assert [each["name"] for each in package["resources"]] == ["games", "votes"]
    (votes,) = [each for each in package["resources"] if each["name"] == "votes"]
    assert {link["reference"]["resource"] for link in votes["schema"]["foreignKeys"]} == {"games"}


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


def test_results_are_the_figures_of_a_report(records, out):
    from analytics.findings import findings
    from analytics.gather import gather

    with (out / "results.csv").open(encoding="utf-8", newline="") as file:
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
