"""docs/data.md is what the tables say of themselves, and what it shows works."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from analytics.export import TABLES, write_csv, write_parquet
from analytics.export.dictionary import dictionary
from analytics.export.inspect_log import write_inspect

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "data.md"


def test_the_page_is_up_to_date():
    made = subprocess.run(
        [sys.executable, "-m", "analytics.export.dictionary"], cwd=ROOT, capture_output=True, check=True
    )
    assert made.stdout == PAGE.read_bytes(), "run: python -m analytics.export.dictionary > docs/data.md"


def test_every_column_is_explained():
    page = dictionary()
    for table in TABLES.values():
        assert f"### {table.name}\n" in page
        for column in table.columns:
            assert f"| `{column.name}` | {column.kind}" in page


def test_every_row_of_a_table_of_the_page_has_as_many_cells_as_its_header():
    for block in re.findall(r"(?:^\|.*\n)+", dictionary(), re.MULTILINE):
        counts = {len(re.findall(r"(?<!\\)\|", line)) for line in block.splitlines()}
        assert len(counts) == 1, block


BLOCKS = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)


@pytest.fixture(scope="module")
def exports(records, tmp_path_factory):
    folder = tmp_path_factory.mktemp("exports")
    write_csv([records], folder / "tables")
    write_parquet([records], folder / "parquet")
    write_inspect([records], folder / "logs")
    return folder


@pytest.mark.parametrize("block", BLOCKS)
def test_every_block_of_the_page_runs(exports, monkeypatch, block, capsys):
    monkeypatch.chdir(exports)
    names: dict[str, object] = {}
    exec(compile(block, "data.md", "exec"), names)
    if "print(" in block:
        assert capsys.readouterr().out.strip()


def test_the_page_shows_table_3_as_the_metrics_have_it(exports, records, monkeypatch, capsys):
    from tests.export.test_tables import metrics_of

    (block,) = (block for block in BLOCKS if "table3 =" in block)
    monkeypatch.chdir(exports)
    names: dict[str, object] = {}
    exec(compile(block, "data.md", "exec"), names)
    expected = metrics_of(records)["table3"]
    found = {row.pop("observer_role"): row for row in names["table3"].to_dicts()}
    assert found
    for role, counts in found.items():
        row = expected["by_observer"][role] if "by_observer" in expected else expected[role]
        assert counts == {name: row[name] for name in counts}
