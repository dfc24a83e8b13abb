"""Studies on the page: their findings, their games, two of them beside each other."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from unittest import mock

import pytest

from analytics.gather import gather
from tests.export.records import write
from tests.stage.served import data, fetched, viewed
from wolfbus.cli import run
from wolfbus.record.reader import open_lines, read_record

ACCUSED = {"accusation": "Werewolf"}
"""The role that a page shows of claims that name none."""


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("runs")
    toml = folder / "study.toml"
    toml.write_text('[report]\nprimary = ["accuracy"]\n')
    for name, players in (("a", "scripted"), ("b", "scripted*6,random*2")):
        options = {"games": 2, "seed": 1, "design": "fixed", "players": players, "out": folder / name}
        words = [f"--{option}={value}" for option, value in options.items()]
        assert run(["run", str(toml), *words]) == 0
    return folder


def test_a_game_s_title_stands_in_the_library_and_on_its_page(tmp_path):
    assert run(["play", "--seed", "7", "--game", "g", "--title", "Seven", "--out", str(tmp_path), "--json"]) == 0
    with viewed(tmp_path) as url:
        assert [game["title"] for game in data(url, "/library.json")["games"]] == ["Seven"]
        assert data(url, "/g/g/data.json")["game"]["title"] == "Seven"
        assert "title" not in data(url, "/g/g/data.json?as=public")["game"]


def test_claims_that_are_heard_in_words_alone_have_the_moderator_s_verdicts(tmp_path):
    assert run(["play", "--seed", "7", "--game", "given", "--out", str(tmp_path), "--json"]) == 0
    events = [recorded.event for recorded in read_record(open_lines(tmp_path / "given.ndjson"))]
    write(tmp_path, [event for event in events if event.type != "claim_truth"], "heard")
    with viewed(tmp_path) as url:
        from_speaker, from_words = (
            {
                (beat["spoken"]["statement"], claim["claim"], claim["target"], claim.get("role")): claim["verdict"]
                for beat in data(url, f"/g/{name}/data.json")["beats"]
                for claim in beat.get("spoken", {}).get("claims", ())
                if claim["found"] == (name == "heard")
            }
            for name in ("given", "heard")
        )
    moderator = {
        (event.statement, claim.claim, claim.target, getattr(claim, "role", ACCUSED.get(claim.claim))): scored.verdict
        for event in events
        if event.type == "claim_truth"
        for scored in event.claims
        for claim in [scored.claim]
    }
    assert {key: verdict for key, verdict in from_speaker.items() if key in moderator} == moderator
    assert from_words == {key: moderator[key] for key in from_words}
    assert {claim for _, claim, *_ in from_words} == {"role", "inspection"}


def test_a_study_s_page_has_findings_and_the_games_behind_them(runs):
    with viewed(runs) as url:
        listed = data(url, "/library.json")
        a, b = listed["studies"]
        assert (a["name"], a["games"], a["ended"]) == ("a", 2, 2)
        study = data(url, f"/s/{a['id']}.json")
        assert study["findings"]["outcomes"]
        assert [game["number"] for game in study["games"]] == [1, 2]
        for game in study["games"]:
            page = data(url, f"/g/{game['id']}/data.json")
            assert page["beats"][-1]["over"]["rounds"] == game["rounds"]
        compared = data(url, f"/c.json?a={a['id']}&b={b['id']}")
        metrics = compared["comparison"]["metrics"]
        assert [name for name, row in metrics.items() if row["p_adjusted"] is not None] == ["accuracy"]
        assert len(compared["pairs"]) == 2
        assert all(fetched(url, f"/g/{pair[side]}/data.json")[0] == 200
                   for pair in compared["pairs"] for side in "ab")  # fmt: skip
        assert {game["study"] for game in listed["games"]} == {a["id"], b["id"]}


def test_spectators_are_told_nothing_of_a_study_that_goes_on(runs, tmp_path):
    shutil.copytree(runs, tmp_path, dirs_exist_ok=True)
    manifest = tmp_path / "a" / "study.json"
    written = json.loads(manifest.read_bytes())
    with viewed(tmp_path, "--public") as url:
        a, b = (study["id"] for study in data(url, "/library.json")["studies"])
        addresses = (f"/s/{a}.json", f"/s/{a}/report.html", f"/c.json?a={b}&b={a}")
        assert [fetched(url, path)[0] for path in addresses] == [200, 200, 200]

        # one game is still played
        record = tmp_path / "a" / written["games"][1]["record"]
        record.write_bytes(b"".join(record.read_bytes().splitlines(keepends=True)[:-20]))
        # of a game that does not end, as of a copy that was put there, not even a finished study's page tells more
        _, open_one = data(url, addresses[0])["games"]
        assert open_one["state"] == "open"
        assert not open_one.keys() & {"players", "lies", "moment", "moment_beat"}

        manifest.write_text(json.dumps({**written, "complete": False}))
        for path in addresses:
            status, _, body = fetched(url, path)
            assert (status, json.loads(body)["error"]) == (403, "a study can be seen when all its games have ended")
    with viewed(tmp_path) as url:
        assert fetched(url, addresses[0])[0] == 200


def test_what_was_measured_last_is_cached_until_its_study_changes_and_not_all_that_visitors_ever_asked_for(
    runs, tmp_path, monkeypatch
):
    shutil.copytree(runs, tmp_path, dirs_exist_ok=True)
    monkeypatch.setattr("wolfbus.cli.view._MEASURES_CACHED", 2)
    with viewed(tmp_path) as url:
        studies = [study["id"] for study in data(url, "/library.json")["studies"]]
        a, b = (f"/s/{study}.json" for study in studies)
        compared = f"/c.json?a={studies[0]}&b={studies[1]}"

        def measured(*paths: str) -> list[str]:
            """Return the folders whose records are read for these pages."""
            with mock.patch("analytics.gather.gather", wraps=gather) as reading:
                for path in paths:
                    data(url, path)
            return [Path(call.args[0][0]).name for call in reading.call_args_list]

        assert measured(a, b, a, compared, a) == ["a", "b", "a", "b"]
        assert measured(b, compared, b) == ["b", "a", "b"]
        record = next((tmp_path / "b" / "records").iterdir())
        os.utime(record, (record.stat().st_atime, record.stat().st_mtime + 1))
        assert measured(b) == ["b"]
        # what it came to before does not stay in the place of what another came to
        assert measured(a, b) == ["a"]
        os.utime(record, (record.stat().st_atime, record.stat().st_mtime + 1))
        assert measured(b, a) == ["b"]
