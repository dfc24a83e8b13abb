"""Studies on the page: their findings, their games, two of them beside each other."""

import base64
import gzip
import json
import os
import re
import shutil
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest import mock

import pytest

from analytics.gather import gather
from tests.export.records import write
from tests.stage.served import data, fetched, viewed
from wolfbus.cli import run
from wolfbus.record.reader import open_lines, read_record
from wolfbus.stage.serving import Served, StageServer

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
    # a stance is heard in words, and the moderator is told of none
    assert {key: moderator.get(key, verdict) for key, verdict in from_words.items()} == from_words
    assert {claim for _, claim, *_ in from_words.keys() & moderator.keys()} == {"role", "inspection"}
    assert {claim for _, claim, *_ in from_words.keys() - moderator.keys()} == {"stance"}


@pytest.mark.parametrize("name", ["here", os.fsdecode(b"not-utf-8-\xff")])
def test_the_page_of_the_folder_one_is_in_is_called_as_that_folder_is(runs, tmp_path, monkeypatch, name):
    folder = shutil.copytree(runs / "a", tmp_path / name)
    monkeypatch.chdir(folder)
    before = {*folder.iterdir()}
    assert run(["page", "."]) == 0
    (page,) = {*folder.iterdir()} - before
    assert page.name == f"{name}.html"
    assert f"<title>{name.replace(chr(0xDCFF), '?')} · wolfbus</title>" in page.read_text("utf-8")


def test_games_that_a_design_deals_from_one_seed_each_stand_beside_one_of_the_other_study(tmp_path):
    for name in "ab":
        words = ["--games=4", "--design=mirrored", "--seed=1", "--players=scripted*4,random*4"]
        rules = tmp_path / "rules.toml"
        rules.write_text("[rules]\nmax_rounds = 1\n")
        assert run(["run", str(rules), *words, f"--out={tmp_path / name}"]) == 0
    with viewed(tmp_path) as url:
        one, other = data(url, "/library.json")["studies"]
        pairs = data(url, f"/c.json?a={one['id']}&b={other['id']}")["pairs"]
    assert len({pair["seed"] for pair in pairs}) == 2
    assert len({pair["a"] for pair in pairs}) == len({pair["b"] for pair in pairs}) == len(pairs) == 4


def test_a_study_s_page_has_findings_and_the_games_behind_them(runs):
    with viewed(runs) as url:
        listed = data(url, "/library.json")
        a, b = listed["studies"]
        assert (a["name"], a["games"], a["ended"]) == ("a", 2, 2)
        study = data(url, f"/s/{a['id']}.json")
        assert measured(url, a["id"])["findings"]["agents"]
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


def test_the_file_of_a_study_says_on_a_damaged_game_s_page_where_it_breaks(runs, tmp_path):
    folder = shutil.copytree(runs / "a", tmp_path / "a")
    whole, cut = sorted((folder / "records").glob("*.ndjson"))
    cut.write_bytes(cut.read_bytes()[:-500])
    page = tmp_path / "a.html"
    assert run(["page", str(folder), "-o", str(page)]) == 0
    (packed,) = re.findall(r'id="wolfbus-data">([^<]*)<', page.read_text("utf-8"))
    pages = json.loads(gzip.decompress(base64.b64decode(packed)))["pages"]
    problems = {name.rpartition("~")[2]: page["problems"] for name, page in pages.items()}
    assert problems[whole.stem] == []
    assert [re.sub(r"\d+", "N", problem) for problem in problems[cut.stem]] == [
        "line N: cut off in the middle; N whole lines before it"
    ]


def measured(url: str, study: str) -> Any:
    """Ask for a study's numbers until they are there."""
    while (answer := fetched(url, f"/s/{study}/measured.json"))[0] == 202:
        assert json.loads(answer[2]).keys() == {"read", "of"}
    assert answer[0] == 200, answer[2]
    return json.loads(answer[2])


def test_a_study_s_page_stands_before_its_numbers_which_are_those_that_a_report_kept(runs, tmp_path):
    shutil.copytree(runs, tmp_path, dirs_exist_ok=True)
    go_on = threading.Event()

    def slow(*arguments: Any, tell: Callable[[int, int], None], **how: Any) -> Any:
        tell(1_000_000, 3_000_000)
        assert go_on.wait(60)
        return gather(*arguments, tell=tell, **how)

    with viewed(tmp_path) as url, mock.patch("analytics.gather.gather", slow):
        study = data(url, "/library.json")["studies"][0]["id"]
        page = data(url, f"/s/{study}.json?seconds=0")
        assert (page["ended"], len(page["games"])) == (2, 2)
        for _ in range(2):
            status, _, body = fetched(url, f"/s/{study}/measured.json")
            assert (status, json.loads(body)) == (202, {"read": 1_000_000, "of": 3_000_000})
        go_on.set()
        assert measured(url, study)["answer"]
    assert run(["report", str(tmp_path / "b")]) == 0
    with (
        viewed(tmp_path) as url,
        mock.patch("analytics.findings.findings", side_effect=AssertionError("computed anew")),
    ):
        for listed in data(url, "/library.json")["studies"]:
            assert measured(url, listed["id"])["numbers"]


def test_numbers_that_nobody_came_back_for_are_measured_anew_for_who_asks_much_later(runs, monkeypatch):
    go_on = threading.Event()

    reader = mock.Mock()
    reader.measured = mock.Mock(side_effect=lambda *_: go_on.wait(60) and {"answer": "of then"})
    with StageServer(Served(runs, studies=reader), port=0) as stage:
        path = f"/s/{data(stage.url, '/library.json')['studies'][0]['id']}/measured.json"
        assert fetched(stage.url, path)[0] == 202
        # much later, as far as this server can tell
        monkeypatch.setattr("wolfbus.stage.app._COLLECTED_S", -1.0)
        monkeypatch.setattr("wolfbus.stage.app._PROGRESS_S", 0.0)
        go_on.set()
        while reader.measured.call_count == 1:
            assert fetched(stage.url, path)[0] == 202


def test_a_number_s_arithmetic_comes_to_the_number_and_its_statements_are_three(runs):
    with viewed(runs) as url:
        study = data(url, "/library.json")["studies"][0]["id"]
        numbers = measured(url, study)["numbers"]
    assert [number["title"] for number in numbers] == ["Detects", "Flags right", "Lies told", "Lies confessed"]
    for number in numbers:
        terms, _, value = number["sum"].rpartition(": ")[2].rpartition(" = ")
        result = eval(re.sub(r"[a-zA-Z]+|,", "", terms))
        share = "%" in number["value"]
        assert value == number["value"]
        assert number["value"] == (f"{100 * result:.1f}\u00a0%" if share else f"{result:.3f}")
        said = [(example["game"], example["statement"]) for example in number["examples"]]
        assert len(set(said)) == len(said) == 3


def test_games_that_nobody_has_read_yet_are_listed_at_once_with_what_their_study_noted(runs, tmp_path):
    shutil.copytree(runs / "a", tmp_path / "a", ignore=shutil.ignore_patterns(".wolfbus"))
    with viewed(tmp_path) as url:
        study = data(url, "/library.json?seconds=0")["studies"][0]["id"]
        noted = data(url, f"/s/{study}.json?seconds=0")["games"]
        assert {game["state"] for game in noted} == {"new"}
        read = data(url, f"/s/{study}.json")["games"]
        assert [game["winner"] for game in noted] == [game["winner"] for game in read]
        assert all(game["curve"] for game in read)
        assert fetched(url, f"/s/{study}.json?seconds=soon")[0] == 400


def test_spectators_are_told_nothing_of_a_study_that_goes_on(runs, tmp_path):
    shutil.copytree(runs, tmp_path, dirs_exist_ok=True)
    manifest = tmp_path / "a" / "study.json"
    written = json.loads(manifest.read_bytes())
    with viewed(tmp_path, "--public") as url:
        a, b = (study["id"] for study in data(url, "/library.json")["studies"])
        addresses = (f"/s/{a}.json", f"/s/{a}/report.html", f"/s/{a}/measured.json", f"/c.json?a={b}&b={a}")
        assert {fetched(url, path)[0] for path in addresses} <= {200, 202}

        # one game is still played
        record = tmp_path / "a" / written["games"][1]["record"]
        record.write_bytes(b"".join(record.read_bytes().splitlines(keepends=True)[:-20]))
        # of a game that does not end, as of a copy that was put there, not even a finished study's page tells more
        _, open_one = data(url, addresses[0])["games"]
        assert open_one["state"] == "open"
        assert not open_one.keys() & {"players", "lies", "moment", "moment_beat", "curve"}

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
        a, b = (f"/s/{study}/report.html" for study in studies)
        compared = f"/c.json?a={studies[0]}&b={studies[1]}"

        def gathered(*paths: str) -> list[str]:
            """Return the folders whose records are read for these pages."""
            with mock.patch("analytics.gather.gather", wraps=gather) as reading:
                for path in paths:
                    assert fetched(url, path)[0] == 200
            return [Path(call.args[0][0]).name for call in reading.call_args_list]

        assert gathered(a, b, a, compared, a) == ["a", "b", "a", "b"]
        assert gathered(b, compared, b) == ["b", "a", "b"]
        record = next((tmp_path / "b" / "records").glob("*.ndjson*"))
        os.utime(record, (record.stat().st_atime, record.stat().st_mtime + 1))
        assert gathered(b) == ["b"]
        # what it came to before does not stay in the place of what another came to
        assert gathered(a, b) == ["a"]
        os.utime(record, (record.stat().st_atime, record.stat().st_mtime + 1))
        assert gathered(b, a) == ["b"]


def test_a_study_s_page_takes_in_what_people_judge_while_it_is_served(runs, tmp_path):
    study = shutil.copytree(runs / "a", tmp_path / "a")
    for rater in ("anna", "late-rater"):
        sheet = tmp_path / f"{rater}.csv"
        assert run(["annotate", str(study), "--export", str(sheet), "--statements", "5"]) == 0
        sheet.write_bytes(re.sub(rb",,,,(\r?\n)", rb",yes,,,\1", sheet.read_bytes()))
    assert run(["annotate", str(study), "--import", str(tmp_path / "anna.csv"), "--rater", "anna"]) == 0
    with viewed(tmp_path) as url:
        page = f"/s/{data(url, '/library.json')['studies'][0]['id']}/report.html"
        assert "late-rater" not in fetched(url, page)[2].decode()
        assert run(["annotate", str(study), "--import", str(tmp_path / "late-rater.csv"), "--rater", "late-rater"]) == 0
        assert "late-rater" in fetched(url, page)[2].decode()
