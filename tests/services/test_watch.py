"""`wolfbus watch`, and that what is shown live is what the records say."""

from __future__ import annotations

import json
import threading
from pathlib import Path

import pytest

from analytics.archive.index import picture
from analytics.findings import tables_of
from analytics.fold import GameFold
from analytics.gather import gather
from tests.services.fed import HOUSE, FedHouse, Heard, Record, Service, Told
from wolfbus.bus import streams
from wolfbus.bus.protocol import Bus
from wolfbus.cli import run
from wolfbus.messages.codec import unpack
from wolfbus.record.reader import open_lines, read_record


def watch(capsys: pytest.CaptureFixture[str], url: str, *words: str) -> tuple[int, str, str]:
    capsys.readouterr()
    code = run(["watch", "--bus", url, "--house", HOUSE, *words])
    said = capsys.readouterr()
    return code, said.out, said.err


def test_the_last_picture_the_results_and_the_record_files_tell_the_same_figures(
    redis_url: str,
    bus: Bus,
    house: FedHouse,
    records: list[Record],
    told: Told,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    for number, record in enumerate(records, 1):
        house.play(record, number)
    with Service(redis_url, tmp_path) as service:
        for _ in records:
            told.next()
        house.close()
        assert service.wait() == 0
    code, out, err = watch(capsys, redis_url, "--json")
    assert (code, err) == (0, "")
    shown = json.loads(out.splitlines()[-1])
    batch = tables_of(gather([tmp_path]))
    assert shown["closed"] is True
    assert shown["over"] == 2
    assert shown["headline"] == batch["headline"]["all"]
    assert shown["winners"] == {name: row["k"] for name, row in batch["outcomes"]["winners"].items()}
    live = json.loads((tmp_path / "metrics.json").read_text())["metrics"]
    assert live == json.loads(json.dumps(batch))


def test_suspicion_in_a_running_game_is_that_of_its_record_so_far(
    redis_url: str,
    bus: Bus,
    house: FedHouse,
    records: list[Record],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    record = records[0]
    heard = Heard(bus, streams.live(HOUSE))
    with Service(redis_url, tmp_path):
        house.begin(record, 1, 250)
        heard.next(lambda entry: any(game["lines"] == 250 for game in unpack(entry.body)["games"]))
        code, out, err = watch(capsys, redis_url, "--once", "--json")
        plain = watch(capsys, redis_url, "--once")
    heard.close()
    assert (code, err) == (0, "")
    (game,) = json.loads(out)["games"]
    fold = GameFold()
    for recorded in list(read_record(open_lines(record.path)))[:250]:
        fold.feed(recorded.event, recorded.time)
    expected = picture(fold.rows(), None, 250)
    assert game["suspicion"] == expected["suspicion"]
    assert any(value is not None for value in game["suspicion"].values())
    most = max((value, name) for name, value in game["suspicion"].items() if value is not None)
    assert plain[0] == 0
    assert f": {most[1]} {most[0]:.2f}, " in plain[1]
    assert record.game in plain[1]


def test_it_follows_a_house_until_it_closes(
    redis_url: str,
    bus: Bus,
    house: FedHouse,
    records: list[Record],
    told: Told,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    heard = Heard(bus, streams.live(HOUSE))
    with Service(redis_url, tmp_path) as service:
        house.begin(records[0], 1, 250)
        heard.next()

        def go_on() -> None:
            house.end(records[0], 1)
            told.next()
            house.close()

        moderator = threading.Thread(target=go_on)
        moderator.start()
        code, out, err = watch(capsys, redis_url, "--plain")
        moderator.join()
        assert service.wait() == 0
    heard.close()
    assert (code, err) == (0, "")
    assert "1 game running" in out
    assert "Session s-1: 1 over, has closed" in out
    assert "AUC of suspicion 0." in out


def test_a_house_in_which_nothing_is_shown_is_told_in_one_line(
    redis_url: str, house: FedHouse, capsys: pytest.CaptureFixture[str]
) -> None:
    code, out, err = watch(capsys, redis_url, "--once")
    assert (code, out) == (1, "")
    assert err == f"wolfbus: nothing is posted in house {HOUSE} yet; waiting for its analytics\n"
    house.close()
    code, out, err = watch(capsys, redis_url)
    assert (code, err) == (1, f"wolfbus: nothing was ever shown of house {HOUSE}\n")
