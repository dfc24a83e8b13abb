"""The tables agree with themselves, with each other, and with the metrics."""

import gzip
import json
import math
from statistics import fmean

import pytest

from analytics.export import TABLES, write_parquet
from analytics.gather import Criteria
from tests.export.records import figures_of, rows_of
from wolfbus.record.digest import digest_of
from wolfbus.record.reader import open_lines, read_record


@pytest.fixture(scope="module")
def figures(records):
    return figures_of(records)


def test_cells_are_what_their_columns_say_and_ids_lead_to_rows(tables):
    kinds = {"text": str, "category": str, "boolean": bool, "integer": int, "real": float}
    ids = {name: {row.get(f"{name[:-1]}_id") for row in rows} for name, rows in tables.items()}
    for name, table in TABLES.items():
        assert tables[name], name
        keys = [tuple(row[column] for column in table.key) for row in tables[name]]
        assert len(set(keys)) == len(keys), name
        for column in table.columns:
            cells = {row[column.name] for row in tables[name]}
            assert column.null is not None or None not in cells, (name, column.name)
            assert {type(cell) for cell in cells - {None}} <= {kinds[column.kind]}, (name, column.name)
            assert not column.values or cells - {None} <= set(column.values), (name, column.name)
            assert "" not in cells
            assert not any(isinstance(cell, float) and not math.isfinite(cell) for cell in cells)
            assert column.refers is None or cells - {None} <= ids[column.refers], (name, column.name)
    for row in tables["statements"]:
        assert row["statement_id"] == f"{row['game_id']}:{row['number']:03d}"
        assert row["seat_id"] == f"{row['game_id']}:{row['speaker']}"
    for row in tables["judgements"]:
        assert row["judgement_id"] == f"{row['statement_id']}:{row['observer']}"


def test_lines_lead_back_to_the_record(records, tables):
    files = {row["game_id"]: row["file"] for row in tables["games"]}
    lines = {
        path.name: (gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()).split(b"\n")
        for path in records.rglob("*.ndjson*")
    }

    def at(row):
        return json.loads(lines[files[row["game_id"]]][row["line"] - 1])

    for row in (row for row in tables["judgements"] if row["line"] is not None):
        line = at(row)
        judged = ("assess_other", int(row["statement_id"][-3:]), row["observer"])
        assert (line["kind"], line["about"], line["seat"]) == judged
        assert line.get("content", {}).get("reasoning") == row["reasoning"]
    for row in (row for row in tables["statements"] if row["line"] is not None):
        assert at(row)["text"] == row["text"]
    for row in (row for row in tables["votes"] if row["line"] is not None):
        assert at(row).get("content", {}).get("target") == row["target"]
    for row in tables["calls"]:
        assert at(row)["latency_s"] == row["latency"]


def test_statements_and_judgements_are_as_many_as_the_metrics_count(tables, figures):
    statements, judgements = tables["statements"], tables["judgements"]
    assert len(statements) == figures["table1"]["overall"]["statements"]
    production = figures["production"]["overall"]
    labelled = [row["self_deceptive"] for row in statements if row["self_deceptive"] is not None]
    assert (sum(labelled), len(labelled)) == (production["deceptive"], production["n"])
    labels = [row["outcome"] for row in (*statements, *judgements) if row["outcome"] is not None]
    assert len(labels) == figures["labels"]["total"]


def test_games_and_seats_are_as_many_as_the_metrics_count(tables, figures):
    outcomes, games = figures["outcomes"], tables["games"]
    assert (len(games), sum(row["finished"] for row in games)) == (outcomes["games"], outcomes["finished"])
    assert sum(row["winner"] == "villagers" for row in games) == outcomes["winners"]["villagers"]["k"]
    for name in ("seats", "statements", "judgements", "calls"):
        assert len(tables[name]) == sum(row[name] for row in games)


def test_calls_add_up_to_the_cost_of_the_metrics(tables, figures):
    calls, total = tables["calls"], figures["cost"]["total"]
    assert len(calls) == total["calls"] > 10
    for name in ("prompt_tokens", "cached_tokens", "completion_tokens"):
        assert sum(row[name] or 0 for row in calls) == total[name]
    paid = [row["cost_usd"] or 0.0 for row in calls if not row["cassette"]]
    assert sum(paid) == pytest.approx(total["cost_usd"])
    assert sum(row["attempts"] for row in calls) == total["attempts"]


def test_final_suspicion_gives_table_2(tables, figures):
    for observer, cells in figures["table2"].items():
        for target, cell in cells.items():
            by_game: dict[str, list[float]] = {}
            for row in tables["suspicion"]:
                if (row["moment"], row["observer_role"], row["target_role"]) == ("final", observer, target):
                    by_game.setdefault(row["game_id"], []).append(row["suspicion"])
            expected = fmean(map(fmean, by_game.values())) if by_game else None
            assert cell["mean"] == pytest.approx(expected)


def test_suspicion_by_round_counts_the_judgements_so_far(tables):
    judged = [row for row in tables["judgements"] if row["suspicion"] is not None]
    for row in tables["suspicion"]:
        until = [
            judgement
            for judgement in judged
            if (judgement["observer_id"], judgement["target_id"]) == (row["observer_id"], row["target_id"])
            and (row["round"] is None or judgement["round"] <= row["round"])
        ]
        assert len(until) == row["judgements"] > 0
        assert until[-1]["after"] == row["suspicion"]


def test_other_parameters_move_suspicion_and_fill_in_what_is_missing(records, tables, tmp_path):
    criteria, chosen = Criteria(alpha=1.0, prior=0.25, include_defaulted=True), ["games", "judgements"]
    write_parquet([records], tmp_path, criteria, tables=chosen)
    other = {name: rows_of(tmp_path / f"{name}.parquet") for name in chosen}
    assert {row["alpha"] for row in other["games"]} == {1.0}
    missing = [row for row in tables["judgements"] if row["flagged"] is None and row["line"] is not None]
    filled = {row["judgement_id"]: row for row in other["judgements"]}
    assert missing
    for row in missing:
        assert (filled[row["judgement_id"]]["flagged"], filled[row["judgement_id"]]["suspicion"]) == (False, 0.5)
        assert filled[row["judgement_id"]]["outcome"] == row["outcome"] != "accepted"
    assert all(
        row["after"] == pytest.approx(row["suspicion"], abs=1e-12)
        for row in other["judgements"]
        if row["outcome"] == "accepted" and row["suspicion"] is not None
    )


def test_bids_say_who_got_the_floor(tables):
    by_turn: dict[tuple[str, int, int], list[bool]] = {}
    for row in tables["bids"]:
        if row["got_floor"] is not None:
            by_turn.setdefault((row["game_id"], row["round"], row["turn"]), []).append(row["got_floor"])
    assert by_turn
    assert all(sum(floors) == 1 for floors in by_turn.values())


def test_a_study_gives_its_games_number_and_block(tables):
    games = {row["game_id"]: row for row in tables["games"]}
    assert [(games[name]["study"], games[name]["number"], games[name]["block"]) for name in ("g11", "g12")] == [
        ("study-0a1b2c3d", 1, "b1"),
        ("study-0a1b2c3d", 2, "b1"),
    ]
    assert (games["plain"]["study"], games["plain"]["block"]) == (None, "plain")


def test_claims_give_a_statement_its_truth(tables):
    truths = {row["statement_id"]: row["truth"] for row in tables["statements"]}
    lies = {row["statement_id"] for row in tables["claims"] if row["verdict"] == "lie" and row["heard"]}
    assert lies
    assert {name for name, truth in truths.items() if truth == "lie"} == lies


def test_prompts_replies_and_addresses_stay_in_the_record(tables):
    everything = repr(tables)
    assert "You are at a table" not in everything
    assert "secret" not in everything
    assert 'a "reply"' not in everything


def test_digests_are_those_of_whole_games_only(records, tables):
    games = {row["game_id"]: row for row in tables["games"]}
    events = [recorded.event for recorded in read_record(open_lines(records / "plain.ndjson"))]
    assert games["plain"]["digest"] == digest_of(events)
    assert games["unfinished"]["digest"] is None
