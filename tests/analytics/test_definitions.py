"""The methods appendix, as a report prints it, against the findings and the code."""

import pkgutil
import re
from collections import Counter

import pytest

from analytics.findings import findings, metrics
from analytics.metrics.headlines import HEADLINES
from analytics.report.report import Report
from tests.analytics.script import gathered

NOTHING = gathered([])
(METHODS,) = (part for part in Report({}, NOTHING).markdown().split("\n## ") if part.startswith("Methods\n"))
ENTRIES = re.findall(r"^- \*\*(.+?)\*\*: (.+)$", re.sub(r"\\(.)", r"\1", METHODS), re.MULTILINE)
"""Title and text of each definition."""


def told(name: str) -> list[str]:
    """What the entries that have such a fact say of it."""
    return [found for _, text in ENTRIES for found in re.findall(rf"\*\*{name}:\*\* (.+?)\.(?= \*\*|$)", text)]


@pytest.mark.parametrize("path", sorted(set(told("Code"))))
def test_the_code_that_is_named_exists(path):
    assert callable(pkgutil.resolve_name(path))


def test_every_section_and_every_headline_metric_has_an_entry():
    sections = set(re.findall(r'id="methods-(\w+)"', Report({}, NOTHING).html()))
    assert findings(NOTHING).keys() - {"format", "version", "files", "studies"} <= sections
    names = Counter(name for line in told("Headline") for name in re.split(", | and ", line))
    assert set(names.values()) == {1}
    assert {name.partition("/")[0] for name in HEADLINES} == set(names)


def test_every_measure_of_table_3_is_told_of():
    (table3,) = (part for part in METHODS.split("\n### ") if "selections.table3." in part)
    assert table3.count("\n- **") >= len(set(metrics([])["table3"]["overall"]) - {"n", "tp", "tn", "fp", "fn"})


def test_every_entry_says_what_it_is_in_what_unit_and_where_it_comes_from_in_plain_words():
    assert len(ENTRIES) > 60
    assert len(told("Code")) == len(told("Unit")) == len(told("Source")) == len(ENTRIES)
    assert all(re.match(r"ours|paper \d\.\d", source) for source in told("Source"))
    for title, text in ENTRIES:
        words = text.split(" **", 1)[0]
        assert words.endswith("."), title
        assert not re.search(r"[<>&]{2}|`|\*\*\*", text), title
