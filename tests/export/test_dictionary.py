"""docs/data.md is what the tables say of themselves, and what it shows works."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from analytics.export import TABLES
from analytics.export.dictionary import dictionary
from tests.export.test_tables import metrics_of

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "data.md"


def test_the_page_is_up_to_date():
    made = subprocess.run(
        [sys.executable, "-m", "analytics.export.dictionary"], cwd=ROOT, capture_output=True, check=True
    )
    assert made.stdout == PAGE.read_bytes(), "run: python -m analytics.export.dictionary > docs/data.md"


def test_every_column_is_explained_in_a_row_as_long_as_its_header():
    page = dictionary()
    for table in TABLES.values():
        assert f"### {table.name}\n" in page
        for column in table.columns:
            assert f"| `{column.name}` | {column.kind}" in page
    for block in re.findall(r"(?:^\|.*\n)+", page, re.MULTILINE):
        assert len({len(re.findall(r"(?<!\\)\|", line)) for line in block.splitlines()}) == 1, block


BLOCKS = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)


@pytest.mark.parametrize("block", BLOCKS)
def test_every_block_of_the_page_runs_and_table_3_is_the_metrics(exports, records, monkeypatch, block, capsys):
    monkeypatch.chdir(exports)
    names: dict[str, object] = {}
    exec(compile(block, "data.md", "exec"), names)
    if "print(" in block:
        assert capsys.readouterr().out.strip()
    if "table3 =" in block:
        expected = metrics_of(records)["table3"]
        for counts in names["table3"].to_dicts():
            row = expected[counts.pop("observer_role")]
            assert counts == {name: row[name] for name in counts}
