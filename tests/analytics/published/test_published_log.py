"""Table 3 of the authors' published log, as it was recorded and as its raw replies read; skipped where it is absent."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from analytics.findings import metrics
from analytics.paper import rows_of_paper_log
from wolfbus.record.published_log import read_paper_log

PUBLISHED = Path(__file__).parents[4] / "shared" / "data" / "wolf-20250810-192402-events.ndjson"

pytestmark = pytest.mark.skipif(not PUBLISHED.is_file(), reason="the published log is not here")


def table3(*, as_recorded):
    return metrics([rows_of_paper_log(read_paper_log(PUBLISHED), as_recorded)])["table3"]["overall"]


def counts_of(row):
    return tuple(row[name] for name in ("n", "tp", "tn", "fp", "fn"))


def by_hand():
    """The counts, straight from the file: replies parsed on their own, cut-off ones searched for their flag."""
    found = {"tp": 0, "tn": 0, "fp": 0, "fn": 0}

    def flag(analysis):
        raw = analysis["_raw_response"]
        return int(raw[raw.index('"is_deceptive":') + 15 :].lstrip()[0])

    with PUBLISHED.open() as lines:
        for event in map(json.loads, lines):
            if event["event"] != "deception_analysis":
                continue
            truth = flag(event["details"]["self_analysis"])
            for other in event["details"]["other_analyses"].values():
                found[("tn", "fp", "fn", "tp")[2 * truth + flag(other)]] += 1
    return found


def test_as_recorded_every_flag_and_label_is_a_filler_that_says_truthful():
    row = table3(as_recorded=True)
    assert counts_of(row) == (79, 0, 79, 0, 0)
    assert row["accuracy"] == 1.0
    assert row["base_rate"] == 0.0
    assert [row[name] for name in ("precision", "recall", "f1", "balanced_accuracy", "mcc", "dprime")] == [None] * 6


def test_read_again_observers_flag_36_of_79_statements_that_their_speakers_call_truthful():
    row = table3(as_recorded=False)
    assert counts_of(row) == (79, 0, 43, 36, 0)
    assert row["accuracy"] == pytest.approx(43 / 79)
    assert (row["precision"], row["recall"], row["constant_accuracy"]) == (0.0, None, 1.0)


def test_the_counts_are_those_of_the_file():
    row = table3(as_recorded=False)
    assert by_hand() == {name: row[name] for name in ("tp", "tn", "fp", "fn")}
