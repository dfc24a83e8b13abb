"""Parquet holds the same rows with types of their own."""

from __future__ import annotations

import importlib

import pyarrow.parquet as pq
import pytest

from analytics.export import TABLES, write_parquet
from tests.export.test_csv import BY_GAME, rows_of
from wolfbus.errors import ConfigError


@pytest.fixture(scope="module")
def out(records, tmp_path_factory):
    folder = tmp_path_factory.mktemp("parquet")
    write_parquet([records], folder)
    return folder


@pytest.mark.parametrize("name", BY_GAME)
def test_polars_reads_every_cell_as_it_was(records, out, name):
    import polars as pl

    assert pl.read_parquet(out / f"{name}.parquet").rows() == rows_of(records, name)


@pytest.mark.parametrize("name", BY_GAME)
def test_pandas_reads_every_cell_as_it_was(records, out, name):
    import pandas as pd

    found = pd.read_parquet(out / f"{name}.parquet")
    cells = [tuple(None if pd.isna(cell) else cell for cell in row) for row in found.itertuples(index=False, name=None)]
    assert cells == rows_of(records, name)


@pytest.mark.parametrize("name", BY_GAME)
def test_columns_have_types_meanings_and_nulls_only_where_they_may(out, name):
    schema = pq.read_schema(out / f"{name}.parquet")
    types = {
        "text": "string",
        "category": "dictionary<values=string, indices=int32, ordered=0>",
        "boolean": "bool",
        "integer": "int64",
        "real": "double",
    }
    for column, field in zip(TABLES[name].columns, schema, strict=True):
        assert field.name == column.name
        assert str(field.type) == types[column.kind]
        assert field.nullable == (column.null is not None)
        assert field.metadata[b"meaning"].decode() == column.meaning


def test_rows_are_written_in_groups(records, tmp_path, monkeypatch):
    monkeypatch.setattr("analytics.export.table_files.GROUP_ROWS", 100)
    write_parquet([records], tmp_path, tables=["judgements"])
    file = pq.ParquetFile(tmp_path / "judgements.parquet")
    assert file.metadata.num_row_groups > 3
    assert file.metadata.row_group(0).num_rows == 100
    assert [tuple(row.values()) for row in file.read().to_pylist()] == rows_of(records, "judgements")


def test_long_words_end_a_group_early(records, tmp_path, monkeypatch):
    monkeypatch.setattr("analytics.export.table_files.GROUP_CHARACTERS", 500)
    write_parquet([records], tmp_path, tables=["statements"])
    assert pq.ParquetFile(tmp_path / "statements.parquet").metadata.num_row_groups > 3


def test_equal_sources_give_equal_bytes(records, out, tmp_path):
    write_parquet([records], tmp_path)
    for name in TABLES:
        assert (tmp_path / f"{name}.parquet").read_bytes() == (out / f"{name}.parquet").read_bytes()


def test_without_pyarrow_one_line_says_what_to_install(records, tmp_path, monkeypatch):
    def missing(name):
        raise ImportError(name=name)

    monkeypatch.setattr(importlib, "import_module", missing)
    with pytest.raises(ConfigError, match=r'needs pyarrow: pip install "wolfbus\[parquet\]"'):
        write_parquet([records], tmp_path / "out")
    assert not (tmp_path / "out").exists()
