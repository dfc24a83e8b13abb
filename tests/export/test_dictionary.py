"""docs/data.md is what the tables say of themselves, and what it shows works."""

import re
import runpy
from pathlib import Path

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
