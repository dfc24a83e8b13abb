"""docs/data.md is what the tables say of themselves, and what it shows works."""

import re
import runpy
from pathlib import Path

import polars as pl
import pytest

from tests.export.records import figures_of

PAGE = Path(__file__).parents[2] / "docs" / "data.md"


def test_the_page_is_up_to_date_and_every_row_of_its_tables_as_long_as_its_header(capfdbinary):
    runpy.run_module("analytics.export.dictionary", run_name="__main__")
    assert capfdbinary.readouterr().out == PAGE.read_bytes(), (
        "run: python -m analytics.export.dictionary > docs/data.md"
    )
    for block in re.findall(r"(?:^\|.*\n)+", PAGE.read_text("utf-8"), re.MULTILINE):
        assert len({len(re.findall(r"(?<!\\)\|", line)) for line in block.splitlines()}) == 1, block


BLOCKS = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)


@pytest.mark.usefixtures("csv_files", "parquet_files", "inspect_logs")
@pytest.mark.parametrize("block", BLOCKS)
def test_every_block_of_the_page_runs_and_table_3_is_the_metrics(exports, records, monkeypatch, block, capsys):
    monkeypatch.chdir(exports)
    names: dict[str, object] = {}
    exec(compile(block, "data.md", "exec"), names)
    if "print(" in block:
        assert capsys.readouterr().out.strip()
    if "table3 =" in block:
        expected = figures_of(records)["table3"]
        for counts in names["table3"].to_dicts():
            row = expected[counts.pop("observer_role")]
            assert counts == {name: row[name] for name in counts}


def test_table_3_as_the_page_counts_it_leaves_out_what_models_copied(parquet_files, tmp_path, monkeypatch):
    (block,) = (block for block in BLOCKS if "table3 =" in block)
    (tmp_path / "parquet").mkdir()
    for name in ("statements", "judgements"):
        rows = pl.read_parquet(parquet_files / f"{name}.parquet")
        # as if every second statement stood in its model's prompt
        odd = {"copied": pl.col("number") % 2 == 1} if name == "statements" else {}
        rows.with_columns(**odd).write_parquet(tmp_path / "parquet" / f"{name}.parquet")
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    exec(compile(block, "data.md", "exec"), names)
    counted = rows.filter(pl.col("statement") % 2 == 0, pl.col("flagged").is_not_null())
    labelled = pl.read_parquet("parquet/statements.parquet").filter(pl.col("self_deceptive").is_not_null())
    expected = counted.join(labelled, on="statement_id", how="semi").height
    assert names["table3"].select(pl.sum_horizontal("tp", "tn", "fp", "fn").sum()).item() == expected > 0
