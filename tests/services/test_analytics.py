"""The analytics service: what it keeps of a session, and what it says of it."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
from pathlib import Path

import msgpack
import pytest

from analytics.findings import metrics
from analytics.fold import fold
from tests.services.fed import HOUSE, FedHouse, Heard, Record, Service, Told, metrics_of
from wolfbus.bus import streams
from wolfbus.bus.protocol import Bus
from wolfbus.cli.proof import ProofCriteria, open_source, prove
from wolfbus.errors import ConfigError
from wolfbus.messages.codec import unpack
from wolfbus.messages.house import Welcome
from wolfbus.record.reader import read_record


def kept(folder: Path, record: Record) -> bytes:
    return (folder / f"{record.game}.ndjson").read_bytes()


def expected_metrics(*records: Record) -> object:
    rows = [fold(one.event for one in read_record(record.lines)) for record in records]
    return json.loads(json.dumps({**metrics(rows), "cost": None}))


def test_a_session_leaves_its_records_byte_by_byte_proved_and_measured(
    redis_url: str, house: FedHouse, told: Told, records: list[Record], tmp_path: Path
) -> None:
    first, second = records
    house.begin(first, 1, 30)
    with Service(redis_url, tmp_path) as service:
        house.begin(second, 2, 40)
        house.feed(first, 200)
        house.end(second, 2)
        assert told.next().game == second.game
        house.end(first, 1)
        archived = told.next()
        house.close()
        assert service.wait() == 0
    assert (archived.game, archived.lines, archived.hash) == (first.game, len(first), first.heads[-1])
    assert archived.error is None
    for record in records:
        assert kept(tmp_path, record) == record.path.read_bytes()
        proof = prove(open_source(str(tmp_path / f"{record.game}.ndjson")), ProofCriteria(), keep=False)
        assert proof.verified, proof.problems
    found = metrics_of(tmp_path)
    assert found["closed"]
    assert (found["session"], found["games"], found["archived"], found["failed"]) == ("s-1", 2, 2, 0)
    assert [one["game"] for one in found["records"]] == [first.game, second.game]
    assert {**found["metrics"], "cost": None} == expected_metrics(first, second)
    report = (tmp_path / "report.txt").read_text()
    assert "2 games, 2 finished" in report
    assert report.endswith(service.told[0].summary() + "\n")


def test_stopped_and_started_again_it_goes_on_and_counts_nothing_twice(
    redis_url: str, house: FedHouse, told: Told, records: list[Record], tmp_path: Path
) -> None:
    first, second = records
    house.play(first, 1)
    house.begin(second, 2, 100)
    with Service(redis_url, tmp_path) as service:
        assert told.next().game == first.game
        assert service.stop() == 1, "the session is not over"
    assert not metrics_of(tmp_path)["closed"]
    house.feed(second, 150)
    with Service(redis_url, tmp_path) as service:
        again = told.next()
        assert (again.game, again.lines, again.error) == (first.game, len(first), None)
        house.end(second, 2)
        assert told.next().game == second.game
        house.close()
        assert service.wait() == 0
    assert [kept(tmp_path, record) for record in records] == [record.path.read_bytes() for record in records]
    assert {**metrics_of(tmp_path)["metrics"], "cost": None} == expected_metrics(first, second)


def test_killed_in_the_middle_of_a_line_it_goes_on_behind_the_last_whole_one(
    redis_url: str, bus: Bus, house: FedHouse, told: Told, records: list[Record], tmp_path: Path
) -> None:
    record = records[0]
    live = Heard(bus, streams.live(HOUSE))
    house.begin(record, 1, 120)
    command = [sys.executable, "-m", "analytics", "--bus", redis_url, "--house", HOUSE, "--out", str(tmp_path)]
    killed = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    try:
        live.next(lambda entry: any(game["lines"] == 120 for game in unpack(entry.body)["games"]))
    finally:
        killed.send_signal(signal.SIGKILL)
        logs = killed.communicate()[1].splitlines()
        live.close()
    assert json.loads(logs[0])["service"] == "analytics"
    assert kept(tmp_path, record) == b"".join(record.lines[:120])
    with (tmp_path / f"{record.game}.ndjson").open("ab") as file:
        file.write(record.lines[120][:50])
    house.end(record)
    with Service(redis_url, tmp_path) as service:
        told.next(record.game)
        house.close()
        assert service.wait() == 0
    assert kept(tmp_path, record) == record.path.read_bytes()
    assert {**metrics_of(tmp_path)["metrics"], "cost": None} == expected_metrics(record)


def test_killed_before_its_results_were_written_it_writes_them_when_it_comes_back(
    redis_url: str, house: FedHouse, records: list[Record], tmp_path: Path
) -> None:
    record = records[0]
    house.play(record)
    house.close()
    (tmp_path / f"{record.game}.ndjson").write_bytes(record.path.read_bytes())
    with Service(redis_url, tmp_path) as service:
        assert service.wait() == 0
    assert metrics_of(tmp_path)["session"] == "s-1"
    # and with the results there, that session is of no concern any more
    with Service(redis_url, tmp_path) as service:
        assert service.stop() == 1, "no game was played"
        assert service.told[0].session == ""


def test_steps_that_the_bus_lost_and_did_anew_are_cut_out_of_the_file(
    redis_url: str, bus: Bus, house: FedHouse, told: Told, records: list[Record], tmp_path: Path
) -> None:
    record = records[0]
    anew = record.done_anew(since=181)
    live = Heard(bus, streams.live(HOUSE))
    house.begin(record, 1, 200)
    with Service(redis_url, tmp_path) as service:
        live.next(lambda entry: any(game["lines"] == 200 for game in unpack(entry.body)["games"]))
        house.lose(record, 180)
        house.end(anew)
        archived = told.next()
        house.close()
        assert service.wait() == 0
    live.close()
    assert (archived.hash, archived.error) == (anew.heads[-1], None)
    assert kept(tmp_path, anew) == b"".join(anew.lines) != b"".join(record.lines)


def test_steps_that_were_done_anew_while_it_was_away_are_cut_out_too(
    redis_url: str, house: FedHouse, told: Told, records: list[Record], tmp_path: Path
) -> None:
    record = records[0]
    anew = record.done_anew(since=181)
    (tmp_path / f"{record.game}.ndjson").write_bytes(b"".join(record.lines[:300]))
    house.play(anew)
    with Service(redis_url, tmp_path) as service:
        assert told.next().error is None
        house.close()
        assert service.wait() == 0
    assert kept(tmp_path, anew) == b"".join(anew.lines)


def test_a_record_that_was_archived_is_not_needed_on_the_bus_any_more(
    redis_url: str, bus: Bus, house: FedHouse, told: Told, records: list[Record], tmp_path: Path
) -> None:
    record = records[0]
    (tmp_path / f"{record.game}.ndjson").write_bytes(record.path.read_bytes())
    house.play(record)
    bus.expire(HOUSE, record.game, 0)
    with Service(redis_url, tmp_path) as service:
        assert told.next().error is None
        house.close()
        assert service.wait() == 0


def test_a_record_that_is_gone_before_it_was_kept_is_an_error_and_what_is_there_stays(
    redis_url: str, bus: Bus, house: FedHouse, told: Told, records: list[Record], tmp_path: Path
) -> None:
    record = records[0]
    (tmp_path / f"{record.game}.ndjson").write_bytes(b"".join(record.lines[:99]))
    house.play(record)
    bus.expire(HOUSE, record.game, 0)
    with Service(redis_url, tmp_path) as service:
        archived = told.next()
        assert archived.error is not None
        assert re.search(r"\.ndjson: ends with line 99: the record is gone from the bus$", archived.error)
        house.close(failed=1)
        assert service.wait() == 1
    assert kept(tmp_path, record) == b"".join(record.lines[:99])
    assert "the record is gone from the bus" in (tmp_path / "report.txt").read_text()


def test_a_line_that_its_seal_does_not_hold_ends_that_record_and_no_other(
    redis_url: str, house: FedHouse, told: Told, records: list[Record], tmp_path: Path
) -> None:
    first, second = records
    forged = Record(first.path)
    body = forged.entries[150].body
    forged.entries[150] = type(forged.entries[150])(
        msgpack.packb({**unpack(body), "time": 0.5}), *(getattr(forged.entries[150], n) for n in _REST)
    )
    with Service(redis_url, tmp_path) as service:
        house.play(forged, 1)
        house.play(second, 2)
        heard = {archived.game: archived for archived in (told.next(), told.next())}
        house.close(failed=1)
        assert service.wait() == 1
    assert heard[second.game].error is None
    error = heard[first.game].error
    assert error is not None
    assert "ends with line 150" in error
    assert "the hash does not match" in error
    assert kept(tmp_path, first) == b"".join(first.lines[:150])
    assert metrics_of(tmp_path)["metrics"]["outcomes"]["games"] == 1


_REST = ("type", "sender", "game", "number", "id")


def test_a_file_that_is_none_is_one_line_and_the_other_game_goes_on(
    redis_url: str,
    house: FedHouse,
    told: Told,
    records: list[Record],
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
) -> None:
    first, second = records
    (tmp_path / f"{first.game}.ndjson").mkdir()
    with Service(redis_url, tmp_path) as service:
        house.play(first, 1)
        house.play(second, 2)
        heard = {archived.game: archived for archived in (told.next(), told.next())}
        house.close()
        assert service.wait() == 1
    assert heard[second.game].error is None
    assert kept(tmp_path, second) == second.path.read_bytes()
    error = f"{tmp_path / first.game}.ndjson: is a directory; it is left alone"
    assert heard[first.game].error == error
    assert [record.getMessage() for record in caplog.records if record.levelname == "ERROR"] == [error]


SMALL_DISK = """
import resource, sys
from wolfbus.cli import main
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[1]), resource.RLIM_INFINITY))
main(["analytics", "--json", *sys.argv[2:]])
"""


def test_a_full_disk_is_one_line_and_the_game_that_fits_is_kept(
    redis_url: str, house: FedHouse, told: Told, records: list[Record], tmp_path: Path
) -> None:
    small, large = sorted(records, key=lambda record: record.path.stat().st_size)
    limit = (small.path.stat().st_size + large.path.stat().st_size) // 2
    house.play(large, 1)
    house.play(small, 2)
    words = [str(limit), "--bus", redis_url, "--house", HOUSE, "--out", str(tmp_path)]
    service = subprocess.Popen(
        [sys.executable, "-c", SMALL_DISK, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    heard = {archived.game: archived for archived in (told.next(), told.next())}
    house.close(failed=1)
    printed, logs = service.communicate(timeout=20)
    assert service.returncode == 1
    error = f"{tmp_path / large.game}.ndjson: cannot be written: file too large"
    assert heard[large.game].error == error
    assert heard[small.game].error is None
    assert [json.loads(line)["event"] for line in logs.splitlines() if '"error"' in line] == [error]
    assert kept(tmp_path, small) == small.path.read_bytes()
    assert large.path.read_bytes().startswith(kept(tmp_path, large))
    told_of = {game["game"]: game["error"] for game in json.loads(printed)["records"]}
    assert told_of == {large.game: error, small.game: None}


def test_a_failed_game_is_archived_and_makes_the_exit_code_1(
    redis_url: str, house: FedHouse, told: Told, records: list[Record], tmp_path: Path
) -> None:
    with Service(redis_url, tmp_path) as service:
        house.begin(records[0], 1, 50)
        house.end(records[0], 1, "stopped")
        assert told.next().error is None
        house.close(failed=1)
        assert service.wait() == 1
    assert metrics_of(tmp_path)["failed"] == 1


def keep_a_session(redis_url: str, house: FedHouse, told: Told, record: Record, folder: Path) -> None:
    """Have a service keep a session of one game, which ends well."""
    with Service(redis_url, folder) as service:
        house.play(record)
        told.next()
        house.close()
        assert service.wait() == 0


def test_a_session_without_a_game_fails_and_leaves_the_results_of_another_as_they_are(
    redis_url: str, house: FedHouse, told: Told, records: list[Record], tmp_path: Path
) -> None:
    keep_a_session(redis_url, house, told, records[0], tmp_path)
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    empty, joined = FedHouse(house.bus, "s-2"), Heard(house.bus, streams.outbox(HOUSE, "second"))
    with Service(redis_url, tmp_path, "second") as service:
        joined.next()
        joined.close()
        empty.close("too few agents")
        assert service.wait() == 1
    assert service.told[0].summary().endswith("; no game was played: too few agents")
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_a_session_of_which_no_game_ended_keeps_the_results_of_another_under_its_name(
    redis_url: str, house: FedHouse, told: Told, records: list[Record], tmp_path: Path
) -> None:
    keep_a_session(redis_url, house, told, records[0], tmp_path)
    before = [(tmp_path / name).read_bytes() for name in ("metrics.json", "report.txt")]
    failed = FedHouse(house.bus, "s-2")
    with Service(redis_url, tmp_path) as service:
        failed.begin(records[1], 1, 50)
        failed.end(records[1], 1, "stopped")
        told.next(records[1].game)
        failed.close(failed=1)
        assert service.wait() == 1
    assert metrics_of(tmp_path)["session"] == "s-2"
    assert [(tmp_path / name).read_bytes() for name in ("metrics.s-1.json", "report.s-1.txt")] == before


def test_stopped_before_any_game_it_fails_and_writes_nothing(redis_url: str, tmp_path: Path) -> None:
    with Service(redis_url, tmp_path) as service:
        assert service.stop() == 1
    assert list(tmp_path.iterdir()) == []


def test_two_services_under_two_names_both_keep_everything(
    redis_url: str, bus: Bus, house: FedHouse, told: Told, records: list[Record], tmp_path: Path
) -> None:
    other = Told(bus, "other")
    with Service(redis_url, tmp_path / "a") as one, Service(redis_url, tmp_path / "b", "other") as two:
        house.play(records[0])
        assert told.next() == other.next()
        house.close()
        assert (one.wait(), two.wait()) == (0, 0)
    other.close()
    assert kept(tmp_path / "a", records[0]) == kept(tmp_path / "b", records[0])


def test_a_moderator_that_is_new_hears_again_what_is_archived(
    redis_url: str, bus: Bus, house: FedHouse, told: Told, records: list[Record], tmp_path: Path
) -> None:
    joined = Heard(bus, streams.outbox(HOUSE, "analytics"))
    with Service(redis_url, tmp_path) as service:
        instance = str(unpack(joined.next().body)["instance"])
        joined.close()
        house.play(records[0])
        first = told.next()
        house.tell_mailbox("analytics", Welcome(house=HOUSE, agent="analytics", instance=instance, again_s=5.0))
        assert told.next() == first
        assert service.stop() == 1


def test_the_picture_shows_suspicion_while_the_game_runs_and_figures_when_it_is_over(
    redis_url: str, bus: Bus, house: FedHouse, records: list[Record], tmp_path: Path
) -> None:
    record = records[0]
    live = Heard(bus, streams.live(HOUSE))
    with Service(redis_url, tmp_path) as service:
        house.begin(record, 1, 200)
        seen = unpack(live.next(lambda entry: bool(unpack(entry.body)["games"])).body)
        game = seen["games"][0]
        assert (game["game"], game["lines"], game["round"]) == (record.game, 200, 2)
        assert all(0 <= value <= 1 for value in game["suspicion"].values() if value is not None)
        assert len(game["suspicion"]) + len(game["left"]) == 8
        house.end(record)
        done = unpack(live.next(lambda entry: unpack(entry.body)["over"] == 1).body)
        assert (done["running"], sum(done["winners"].values())) == (0, 1)
        assert done["headline"]["n"] > 0
        assert service.stop() == 1
    live.close()


def test_a_house_that_lost_its_data_is_a_clear_end(
    redis_url: str, bus: Bus, house: FedHouse, records: list[Record], tmp_path: Path
) -> None:
    live = Heard(bus, streams.live(HOUSE))
    house.begin(records[0], 1, 100)
    with Service(redis_url, tmp_path) as service:
        live.next(lambda entry: bool(unpack(entry.body)["games"]))
        live.close()
        bus._links.run("", lambda link: link.ask("FLUSHALL", doing="losing all"))  # type: ignore[attr-defined]
        assert service.wait() == 1
    assert "the bus lost its data" in service.told[0].summary()
    assert kept(tmp_path, records[0]) == b"".join(records[0].lines[:100])


def test_a_second_process_under_the_same_name_takes_over(redis_url: str, house: FedHouse, tmp_path: Path) -> None:
    joined = Heard(house.bus, streams.outbox(HOUSE, "analytics"))
    with Service(redis_url, tmp_path / "a", again_s=0.1) as old:
        joined.next()
        with Service(redis_url, tmp_path / "b") as new:
            with pytest.raises(
                ConfigError, match=r"^another process plays as analytics in house fed; this one leaves$"
            ):
                old.wait()
            assert new.stop() == 1
    joined.close()
