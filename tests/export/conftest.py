"""A folder of records of every sort."""

import gzip
import shutil
from pathlib import Path
from typing import Any

import pytest

from analytics.export import TABLES, write_csv, write_parquet
from tests.analytics.script import random_game
from tests.export.records import annotate, believe, forked, game, rows_of, study, with_calls, write
from wolfbus.cli import run

PAPER = Path(__file__).parent.parent / "paper_log" / "data"


@pytest.fixture(scope="session")
def records(tmp_path_factory) -> Path:
    """Games, one with calls, one compressed, one unfinished, a fork, two of a study, one annotated and
    asked what it believed; a published log.
    """
    folder = tmp_path_factory.mktemp("records")
    write(folder, game("plain", "1"))
    write(folder, with_calls(game("called", "2", brains=("llm:one", "llm:two", "scripted"))))
    packed = write(folder, game("packed", "3"))
    (folder / "packed.ndjson.gz").write_bytes(gzip.compress(packed.read_bytes(), mtime=0))
    packed.unlink()
    write(folder, game("unfinished", "4")[:150])
    write(folder, forked(game("forked", "5")))
    for seed in (11, 12):
        write(folder / "study" / "records", random_game(seed).events)
    study(folder / "study", ["g11", "g12"])
    annotate(folder / "study" / "records" / "g11.ndjson")
    believe(folder / "study" / "records" / "g11.ndjson")
    (folder / "paper").mkdir()
    shutil.copy(PAPER / "small-events.ndjson", folder / "paper")
    shutil.copy(PAPER / "small-run_meta.json", folder / "paper")
    return folder


@pytest.fixture(scope="session")
def exports(tmp_path_factory) -> Path:
    """The folder in which the records are exported, by those of the following fixtures that a test needs."""
    return tmp_path_factory.mktemp("exports")


@pytest.fixture(scope="session")
def csv_files(exports, records) -> Path:
    """The records as CSV, in a folder that is called "tables", too."""
    write_csv([records], exports / "csv")
    (exports / "tables").symlink_to("csv")
    return exports / "csv"


@pytest.fixture(scope="session")
def parquet_files(exports, records) -> Path:
    """The records as Parquet."""
    write_parquet([records], exports / "parquet")
    return exports / "parquet"


@pytest.fixture(scope="session")
def inspect_logs(exports, records) -> Path:
    """The records as logs for Inspect."""
    # one of them is unfinished
    assert run(["export", "inspect", str(records), "--out", str(exports / "logs")]) == 1
    return exports / "logs"


@pytest.fixture(scope="session")
def tables(parquet_files) -> dict[str, list[dict[str, Any]]]:
    """All rows of the records, by table and column, as Parquet holds them."""
    return {name: rows_of(parquet_files / f"{name}.parquet") for name in TABLES}
