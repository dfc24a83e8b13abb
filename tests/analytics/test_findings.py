"""All figures of a set of games as one value."""

from __future__ import annotations

import json

import analytics.findings as module
from analytics.columns import columns_of
from analytics.findings import findings, table_intervals
from analytics.gather import Gathered
from analytics.measures.ledger import Ledger
from analytics.measures.recalibration import recalibration, thresholds
from analytics.measures.study import Study
from analytics.measures.table4 import curves, table4
from tests.analytics.script import random_game


def gathered(games) -> Gathered:
    ledger = Ledger()
    for game in games:
        ledger.add(game)
    return Gathered(columns_of(games), ledger, (), ())


def test_sections_that_share_their_sorting_say_what_each_says_alone():
    found = gathered([random_game(seed).rows() for seed in range(7)])
    told = findings(found)
    for section in (table4, curves, thresholds, recalibration):
        assert told[section.__name__] == section(Study(found.columns))
    assert told["intervals"] == table_intervals(Study(found.columns))


def test_no_games_have_every_section_and_no_number_that_json_lacks():
    none, some = findings(gathered([])), findings(gathered([random_game(1).rows()]))
    assert set(none) == set(some)
    for told in (none, some):
        json.dumps(told, allow_nan=False)


def test_two_processes_find_what_one_finds(monkeypatch):
    found = gathered([random_game(seed).rows() for seed in range(7)])
    alone = findings(found)
    monkeypatch.setattr(module, "LARGE", 0)
    assert findings(found) == alone
