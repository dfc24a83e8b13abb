"""The analytics service: what it keeps of a session, and what it says of it."""

from __future__ import annotations

import json
import os
import resource
import runpy
import sys
from pathlib import Path

import msgpack
import pytest

from analytics.archive import SessionResults
from analytics.findings import metrics
from analytics.gather import fold
from tests.proving import prove
from tests.services.fed import HOUSE, FedHouse, Record, ask
from tests.waiting import wait_until
from wolfbus.bus import streams
from wolfbus.errors import ConfigError
from wolfbus.messages.codec import unpack
from wolfbus.messages.house import RollCall, Welcome
from wolfbus.record.reader import read_record


def has_lines(lines):
    return lambda entry: any(game["lines"] == lines for game in unpack(entry.body)["games"])


def assert_measured(site, *records):
    rows = [fold(one.event for one in read_record(record.lines)) for record in records]
    expected = json.loads(json.dumps({**metrics(rows), "cost": None}))
    assert {**site.metrics["metrics"], "cost": None} == expected


def test_a_session_leaves_its_records_byte_by_byte_proved_and_measured(site):
    first, second, house = site.first, site.second, site.house
    house.begin(first, 1, 30)
    with site.service() as service:
        house.begin(second, 2, 40)
        house.feed(first, 200)
        house.end(second, 2)
        assert site.reports.next().game == second.game
        house.end(first, 1)
        archived = site.reports.next()
        house.close()
        assert service.code() == 0
    assert (archived.game, archived.lines, archived.hash) == (first.game, len(first), first.heads[-1])
    assert archived.error is None
    for record in (first, second):
        assert site.path(record).read_bytes() == record.path.read_bytes()
        assert prove(site.path(record)).verified
    metrics = site.metrics
    assert metrics["closed"]
    assert (metrics["session"], metrics["games"], metrics["archived"], metrics["failed"]) == ("s-1", 2, 2, 0)
    assert [one["game"] for one in metrics["records"]] == [first.game, second.game]
    assert_measured(site, first, second)
    report = (site.folder / "report.txt").read_text()
    assert "2 games, 2 finished" in report
    assert report.endswith(service.results[0].summary() + "\n")


def test_stopped_and_started_again_it_goes_on_and_counts_nothing_twice(site):
    first, second, house = site.first, site.second, site.house
    house.play(first, 1)
    house.begin(second, 2, 100)
    with site.service() as service:
        assert site.reports.next().game == first.game
        assert service.stop() == 1, "the session is not over"
    assert not site.metrics["closed"]
    house.feed(second, 150)
    with site.service() as service:
        again = site.reports.next()
        assert (again.game, again.lines, again.error) == (first.game, len(first), None)
        house.end(second, 2)
        assert site.reports.next().game == second.game
        house.close()
        assert service.code() == 0
    assert site.is_kept(first)
    assert site.is_kept(second)
    assert_measured(site, first, second)


def test_killed_before_its_results_were_written_it_writes_them_when_it_comes_back(site):
    site.house.play(site.first)
    site.house.close()
    site.path(site.first).write_bytes(site.first.path.read_bytes())
    with site.service() as service:
        assert service.code() == 0
    assert site.metrics["session"] == "s-1"
    # and with the results there, that session is of no concern any more; stopped before any game it writes nothing
    times = sorted(path.stat().st_mtime_ns for path in site.folder.iterdir())
    joined = site.tail(streams.outbox(HOUSE, "second"))
    with site.service("second") as service:
        joined.next(lambda entry: entry.type == "join")
        assert service.stop() == 1, "no game was played"
        assert service.results[0].session == ""
    assert sorted(path.stat().st_mtime_ns for path in site.folder.iterdir()) == times


@pytest.mark.parametrize("lines", [None, 99], ids=["whole", "in-part"])
def test_a_record_that_is_gone_from_the_bus_is_an_error_unless_it_was_archived(site, lines):
    record = site.first
    site.path(record).write_bytes(b"".join(record.lines[:lines]))
    site.house.play(record)
    site.bus.expire(HOUSE, record.game, 0)
    with site.service() as service:
        error = site.reports.next().error
        site.house.close(failed=0 if lines is None else 1)
        assert service.code() == (0 if lines is None else 1)
    assert site.is_kept(record, lines)
    expected = None if lines is None else f"{site.path(record)}: ends with line 99: the record is gone from the bus"
    assert error == expected
    assert expected is None or expected in (site.folder / "report.txt").read_text()


def forged(record):
    """A record with a line that its seal does not hold."""
    forged = Record(record.path)
    entry = forged.entries[150]
    forged.entries[150] = entry._replace(content=msgpack.packb({**unpack(entry.body), "time": 0.5}))
    return forged


@pytest.mark.parametrize("spoilt", ["forged", "no file"])
def test_one_record_that_cannot_be_kept_is_one_line_and_the_other_game_goes_on(site, spoilt, caplog):
    first, second = site.first, site.second
    if spoilt == "no file":
        site.path(first).mkdir()
    with site.service() as service:
        site.house.play(forged(first) if spoilt == "forged" else first, 1)
        site.house.play(second, 2)
        error, fine = site.archived(first, second)
        site.house.close(failed=1)
        assert service.code() == 1
    assert fine is None
    assert site.is_kept(second)
    assert site.metrics["metrics"]["outcomes"]["games"] == 1
    if spoilt == "no file":
        assert error == f"{site.path(first)}: is a directory; it is left alone"
        assert [record.getMessage() for record in caplog.records if record.levelname == "ERROR"] == [error]
    else:
        assert "ends with line 150" in error
        assert "the hash does not match" in error
        assert site.is_kept(first, 150)


def test_a_full_disk_is_one_line_and_the_game_that_fits_is_kept(site, caplog, monkeypatch):
    # bytecode that is cut short would be found by whoever imports that module next
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    small, large = sorted((site.first, site.second), key=lambda record: record.path.stat().st_size)
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    limit = (small.path.stat().st_size + large.path.stat().st_size) // 2
    site.callback(resource.setrlimit, resource.RLIMIT_FSIZE, limits)
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limits[1]))
    with site.service() as service:
        site.house.play(large, 1)
        site.house.play(small, 2)
        error = f"{site.path(large)}: cannot be written: file too large"
        assert site.archived(large, small) == [error, None]
        site.house.close(failed=1)
        assert service.code() == 1
    assert [record.getMessage() for record in caplog.records if record.levelname == "ERROR"] == [error]
    assert site.is_kept(small)
    assert large.path.read_bytes().startswith(site.path(large).read_bytes())
    told_of = {game["game"]: game["error"] for game in site.metrics["records"]}
    assert told_of == {large.game: error, small.game: None}


@pytest.mark.parametrize(
    ("played", "killed"),
    [(False, False), (True, False), (True, True)],
    ids=["no-game", "a-stopped-game", "killed-half-way"],
)
def test_a_session_without_a_game_that_ended_fails_and_loses_no_results_of_another(site, played, killed):
    with site.service() as service:
        site.house.play(site.first)
        site.reports.next()
        site.house.close()
        assert service.code() == 0
    before = {path.name: path.read_bytes() for path in site.folder.iterdir()}
    if killed:
        # between the two files that stay under the session's name
        (site.folder / "report.txt").rename(site.folder / "report.s-1.txt")
    other, joined = FedHouse(site.bus, "s-2"), site.tail(streams.outbox(HOUSE, "second"))
    with site.service("second") as service:
        joined.next(lambda entry: entry.type == "join")
        if played:
            other.begin(site.second, 1, 50)
            other.end(site.second, 1, "stopped")
            joined.next(lambda entry: entry.type == "archived" and unpack(entry.body)["game"] == site.second.game)
        other.close("" if played else "too few agents", failed=int(played))
        assert service.code() == 1
    files = {path.name: path.read_bytes() for path in site.folder.iterdir()}
    if played:
        assert (site.metrics["session"], site.metrics["failed"]) == ("s-2", 1)
        earlier = [files[name] for name in ("metrics.s-1.json", "report.s-1.txt")]
        assert earlier == [before[name] for name in ("metrics.json", "report.txt")]
    else:
        summary = service.results[0].summary()
        assert summary.endswith("; no game was played: too few agents")
        assert service.results[0].report == f"{summary}\n", "the reason stands alone, without tables of nothing"
        assert files == before


@pytest.mark.parametrize(
    "left",
    ["[" * 200_000, '{"session": "../other", "settled": 1}', '{"session": "a\\u0000b", "settled": 1}'],
    ids=["nested-too-deeply", "another-folder", "no-name-of-a-file"],
)
def test_what_somebody_has_put_in_the_place_of_results_costs_none(site, left):
    (site.folder / "metrics.json").write_text(left)
    with site.service() as service:
        site.house.begin(site.first, 1, 50)
        site.house.end(site.first, 1, "stopped")
        site.reports.next()
        site.house.close(failed=1)
        assert service.code() == 1
    assert (site.metrics["session"], site.metrics["failed"]) == ("s-1", 1)
    assert (site.folder / "report.txt").read_text().endswith(service.results[0].summary() + "\n")


def test_results_can_be_written_and_printed_in_a_folder_whose_name_is_no_text():
    results = SessionResults("den", "s-1", closed=True, folder=Path("runs\udcff"), games=[], metrics={})
    assert results.report.encode().decode() == f"{results.summary()}\n"


def test_a_moderator_that_is_new_hears_again_what_is_archived(site):
    joined = site.tail(streams.outbox(HOUSE, "analytics"))
    with site.service() as service:
        instance = str(unpack(joined.next().body)["instance"])
        site.house.play(site.first)
        first = site.reports.next()
        site.house.tell_mailbox("analytics", Welcome(house=HOUSE, agent="analytics", instance=instance, again_s=5.0))
        assert site.reports.next() == first
        assert service.stop() == 1


def test_a_house_that_lost_its_data_is_a_clear_end(site):
    live = site.tail(streams.live(HOUSE))
    site.house.begin(site.first, 1, 100)
    with site.service() as service:
        live.next(has_lines(100))
        ask(site.bus, "FLUSHALL")
        assert service.code() == 1
    assert "the bus lost its data" in service.results[0].summary()
    assert site.is_kept(site.first, 100)


def test_a_second_process_under_the_same_name_takes_over(site):
    joined = site.tail(streams.outbox(HOUSE, "analytics"))
    site.house.play(site.first)
    with site.service(folder="a") as old:
        joined.next()
        assert site.archived(site.first) == [None]
        with site.service(folder="b") as new:
            joined.next(lambda entry: entry.type == "join")
            site.house.tell_mailbox("analytics", RollCall())
            with pytest.raises(
                ConfigError, match=r"^another process plays as analytics in house fed; this one leaves$"
            ):
                old.code()
            assert new.stop() == 1
    # it leaves the results so far
    results = json.loads((site.folder / "a" / "metrics.json").read_text())
    assert ([game["game"] for game in results["records"]], results["closed"]) == ([site.first.game], False)


def test_the_package_itself_is_the_command(monkeypatch, capsys):
    monkeypatch.setattr("sys.argv", ["analytics", "--help"])
    with pytest.raises(SystemExit) as left:
        runpy.run_module("analytics", run_name="__main__")
    assert left.value.code == 0
    assert capsys.readouterr().out.startswith("Usage: wolfbus analytics")


@pytest.mark.parametrize("change", ["cut", "moved", "written"])
def test_a_record_whose_file_somebody_else_changes_is_taken_from_the_bus_again(site, change, caplog):
    with site.service() as service:
        site.house.begin(site.first, lines=30)
        wait_until(lambda: site.path(site.first).exists() and site.is_kept(site.first, 30))
        if change == "cut":
            os.truncate(site.path(site.first), 100)
        elif change == "moved":
            site.path(site.first).rename(site.folder / "rotated.1")
        else:
            with site.path(site.first).open("ab") as file:
                file.write(b"nonsense\n")
        site.house.end(site.first)
        assert site.archived(site.first) == [None]
        site.house.close()
        assert service.code() == 0
    assert site.is_kept(site.first)
    assert "somebody else has changed the file; the record is read again from its beginning" in caplog.text
