"""`wolfbus watch`, and that what is shown live is what the records say."""

from __future__ import annotations

import json
import sys
import threading

import pytest

from analytics.gather import GameFold, gather
from tests.analytics.script import paper_tables_of
from tests.services.fed import HOUSE
from tests.waiting import wait_until
from wolfbus.bus import Entry, streams
from wolfbus.cli import run
from wolfbus.messages.codec import pack, unpack
from wolfbus.record.reader import open_lines, read_record


@pytest.fixture
def watch(redis_url, capsys):
    def watch(*words):
        capsys.readouterr()
        code = run(["watch", "--bus", redis_url, "--house", HOUSE, *words])
        return code, *capsys.readouterr()

    return watch


def test_the_last_picture_the_results_and_the_record_files_tell_the_same_figures(site, watch):
    with site.service() as service:
        for number, record in enumerate((site.first, site.second), 1):
            site.house.play(record, number)
            site.reports.next()
        site.house.close()
        assert service.code() == 0
    code, out, err = watch("--json")
    assert (code, err) == (0, "")
    picture = json.loads(out.splitlines()[-1])
    batch = paper_tables_of(gather([site.folder]))
    assert (picture["closed"], picture["over"], picture["running"]) == (True, 2, 0)
    assert picture["headline"] == batch["headline"]["all"]
    assert picture["winners"] == {name: row["k"] for name, row in batch["outcomes"]["winners"].items()}
    assert site.metrics["metrics"] == json.loads(json.dumps(batch))


def test_suspicion_in_a_running_game_is_that_of_its_record_so_far(site, watch):
    record, live = site.first, site.tail(streams.live(HOUSE))
    with site.service():
        site.house.begin(record, 1, 250)
        live.next(lambda entry: any(game["lines"] == 250 for game in unpack(entry.body)["games"]))
        code, out, err = watch("--once", "--json")
        plain = watch("--once")
    assert (code, err) == (0, "")
    (game,) = json.loads(out)["games"]
    most, name = max((value, name) for name, value in game["suspicion"].items() if value is not None)
    fold = GameFold()
    for recorded in list(read_record(open_lines(record.path)))[:250]:
        fold.feed(recorded.event, recorded.time)
    # the mean over the living that have judged a living seat
    rows = fold.rows()
    living = set(rows.seats) - {death.seat for death in rows.deaths}
    for seat in living:
        values = [value for (by, of), value in rows.suspicion.items() if of == seat and by in living]
        assert game["suspicion"].pop(seat) == (round(sum(values) / len(values), 4) if values else None)
    assert (game["suspicion"], len(game["left"])) == ({}, 8 - len(living))
    assert (game["game"], game["round"]) == (record.game, 2)
    assert plain[0] == 0
    assert f": {name} {most:.2f}, " in plain[1]
    assert record.game in plain[1]


def test_it_follows_a_house_until_it_closes(site, watch):
    live = site.tail(streams.live(HOUSE))
    with site.service() as service:
        site.house.begin(site.first, 1, 250)
        live.next()

        def go_on():
            wait_until(lambda: "1 game running" in sys.stdout.getvalue())
            site.house.end(site.first, 1)
            site.reports.next()
            site.house.close()

        moderator = threading.Thread(target=go_on)
        moderator.start()
        code, out, err = watch()
        moderator.join()
        assert service.code() == 0
    assert (code, err) == (0, "")
    assert "1 game running" in out
    assert "Session s-1: 1 over, has closed" in out
    assert "AUC of suspicion 0." in out


def test_a_house_in_which_nothing_is_shown_is_told_in_one_line(house, watch):
    line = f"wolfbus: nothing is posted in house {HOUSE} yet; waiting for its analytics\n"
    assert watch("--once") == (1, "", line)
    house.close()
    code, _, err = watch()
    assert (code, err) == (1, f"wolfbus: nothing was ever shown of house {HOUSE}\n")


@pytest.mark.parametrize("strange", [float("nan"), float("inf"), b"\xff"])
def test_a_picture_that_json_cannot_hold_is_told_and_not_printed(bus, watch, strange):
    picture = {"v": 1, "type": "live", "session": "s", "running": 0, "over": strange, "games": []}
    bus.post(streams.live(HOUSE), Entry(pack(picture), "live", "analytics"))
    _, out, err = watch("--once", "--json")
    assert out == ""
    assert err.startswith("wolfbus: a picture cannot be told: ")


@pytest.mark.parametrize(
    "part",
    [{"running": "x"}, {"winners": ["x"]}, {"games": [{"statements": 1}]}, {"games": 1}, {"headline": {"n": "x"}}],
)
def test_a_picture_of_another_analytics_is_told_in_one_line(bus, watch, part):
    bus.post(streams.live(HOUSE), Entry(pack({"v": 1, **part}), "live", "analytics"))
    _, out, err = watch("--once")
    assert out == ""
    assert err.startswith("wolfbus: a picture cannot be told: ")
    assert err.count("\n") == 1


def test_words_of_a_picture_are_shown_and_not_obeyed(bus, watch):
    hostile = "x\x1b]0;evil\x07\u202ey"
    bus.post(streams.live(HOUSE), Entry(pack({"v": 1, "over": hostile, "winners": {hostile: 1}}), "live", "analytics"))
    _, out, err = watch("--once")
    assert not {"\x1b", "\x07", "\u202e"} & set(out + err)
