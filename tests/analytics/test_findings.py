"""All figures of a set of games as one value."""

from __future__ import annotations

import json

import analytics.findings as module
from analytics.columns import columns_of
from analytics.findings import findings
from analytics.gather import Gathered
from analytics.headlines.table_intervals import table_intervals
from analytics.metrics import Metrics
from analytics.scores.curves import curves
from analytics.scores.recalibration import recalibration
from analytics.scores.table4 import table4
from analytics.scores.thresholds import thresholds
from tests.analytics.script import random_game


def gathered(games) -> Gathered:
    metrics = Metrics()
    for game in games:
        metrics.add(game)
    return Gathered(metrics=metrics, columns=columns_of(games), files=(), studies=())


def test_sections_that_share_their_sorting_say_what_each_says_alone():
    found = gathered([random_game(seed).rows() for seed in range(7)])
    told = findings(found)
    for section in (table4, curves, thresholds, recalibration):
        assert told[section.__name__] == section(found.columns)
    assert told["intervals"] == table_intervals(found.columns)


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
