"""The methods appendix against the findings and the code."""

from __future__ import annotations

import pkgutil
import re
from collections import Counter

import pytest

from analytics.columns import columns_of
from analytics.definitions import definitions
from analytics.findings import findings
from analytics.gather import Gathered
from analytics.measures.formulas import Confusion
from analytics.measures.headlines import MEASURES
from analytics.measures.ledger import Ledger


@pytest.mark.parametrize("path", sorted({each.code for each in definitions()}))
def test_the_code_that_is_named_exists(path):
    assert callable(pkgutil.resolve_name(path))


def test_every_section_of_the_findings_has_an_entry():
    nothing = findings(Gathered(columns_of([]), Ledger(), (), ()))
    assert nothing.keys() - {"format", "version", "files", "studies"} <= {each.section for each in definitions()}


def test_every_headline_metric_has_exactly_one_entry():
    names = Counter(name for each in definitions() for name in each.headline)
    assert set(names.values()) == {1}
    assert {name.partition("/")[0] for name in MEASURES} == set(names)


def test_every_measure_of_table_3_has_an_entry():
    counts = {"n", "tp", "tn", "fp", "fn"}
    named = {each.name for each in definitions() if each.section == "table3"}
    assert named - {"counts"} == set(Confusion().measures()) - counts


def test_names_are_unique_in_their_section_and_nothing_is_left_empty():
    assert len({(each.section, each.name) for each in definitions()}) == len(definitions())
    for each in definitions():
        for text in (each.title, each.words, each.units, each.baseline, each.interval, each.source):
            assert text.strip() == text != "", each.name
        assert each.words.endswith("."), each.name
        assert all(choice.endswith(".") for choice in each.choices), each.name


def test_every_source_is_a_place_in_the_paper_or_ours():
    for each in definitions():
        assert each.source.startswith("ours") or re.match(r"\d\.\d", each.source), each.name


@pytest.mark.parametrize("each", definitions(), ids=lambda each: f"{each.section}-{each.name}")
def test_texts_are_plain(each):
    for text in (each.words, each.formula, *each.choices):
        assert not re.search(r"[<>&]{2}|\*\*|`|\\", text)
