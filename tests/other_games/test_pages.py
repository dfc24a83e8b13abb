"""Logs of other tables on a page, as a file and served; and what is said of a file without a game."""

import base64
import gzip
import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.other_games.games import BEA, files
from tests.other_games.test_measured import TABLE
from tests.paper_log.test_small_log import LOG, META
from tests.stage.served import data, viewed
from wolfbus.cli import run


@pytest.fixture
def data_of(tmp_path: Path) -> Callable[..., dict[str, Any]]:
    """Write a page, and return the data that it holds."""

    def page(path: Path, *words: str) -> dict[str, Any]:
        out = tmp_path / "page.html"
        assert run(["page", str(path), "-o", str(out), *words]) == 0
        return data_in(out)

    return page


def data_in(page: Path) -> dict[str, Any]:
    """Return the data that a page holds."""
    packed = re.search(r'id="wolfbus-data">([^<]*)<', page.read_text("utf-8"))
    assert packed is not None
    content: dict[str, Any] = json.loads(gzip.decompress(base64.b64decode(packed[1])))
    return content


def beats_of(page: dict[str, Any], kind: str) -> list[dict[str, Any]]:
    return [beats[0] for beats in page["beats"] if beats[0] is not None and beats[0]["kind"] == kind]


@pytest.mark.parametrize("name", files())
def test_a_page_shows_a_game_of_another_table_and_says_that_it_is_a_log(name, file_of, imported, data_of):
    source = file_of(name)
    _, (path,) = imported(name.split()[0], source)
    page = data_of(path)
    head = page["heads"][0]
    assert head["problems"] == []
    assert (head["game"]["origin"]["kind"], head["game"]["origin"]["file"]) == (name.split()[0], source.name)
    assert "proof" not in head
    assert "seed" not in head["game"]
    (night,), (exile,), (over,) = (beats_of(page, kind) for kind in ("night", "exile", "ended"))
    assert (night["night"]["died"], exile["exile"]["seat"], over["over"]["winner"]) == ("Dan", "Ada", "villagers")
    if name != "arena on AgentBeats":
        assert next(beat["spoken"]["text"] for beat in beats_of(page, "statement")) == BEA


def test_nobody_is_shown_to_suspect_anybody_where_nobody_was_asked(file_of, imported, data_of):
    _, (path,) = imported("kaggle", file_of("kaggle"))
    page = data_of(path)
    statements = beats_of(page, "statement")
    assert statements[0]["spoken"]["thought"] == "They must hear it."
    assert all("gap" not in beat and "mean" not in beat["spoken"] for beat in statements)


def test_roles_ways_to_leave_and_results_of_other_tables_are_shown(tmp_path, imported, data_of):
    source = tmp_path / "table.csv"
    source.write_text(TABLE, encoding="utf-8")
    _, (path,) = imported("table", source)
    page = data_of(path)
    (over,), (news,), (night,) = (beats_of(page, kind) for kind in ("ended", "news", "night"))
    assert {seat["name"]: seat["role"] for seat in over["seats"]}["Pos"] == "Possessed"
    assert news["news"] == "Fay is out of the game"
    assert [move["role"] for move in night["night"]["moves"]] == ["villagers"]
    seer = next(place for place, viewer in enumerate(page["heads"][0]["viewers"]) if viewer == "seat:Sam")
    final = [beats[seer] for beats in page["beats"] if beats[seer] is not None][-2]
    assert "role" not in {seat["name"]: seat for seat in final["seats"]}["Pos"]


def test_a_log_of_the_paper_is_shown_with_its_labels_and_judgements(data_of):
    page = data_of(LOG)
    assert page["heads"][0]["game"]["origin"] | {"words": ""} == {"kind": "wolf", "file": LOG.name, "words": ""}
    statements = [beat["spoken"] for beat in beats_of(page, "statement")]
    assert len(statements) == 5
    assert any("label" in spoken for spoken in statements)
    assert any(judgement.get("suspicion") for spoken in statements for judgement in spoken.get("judgements", ()))
    assert beats_of(page, "ended")[0]["over"]["winner"] == "villagers"


def test_a_flag_without_a_suspicion_is_counted_among_those_who_judged(tmp_path, data_of):
    shutil.copy(META, tmp_path)
    log = tmp_path / LOG.name
    # whose flag came without one, had to find out then
    log.write_text(LOG.read_text("utf-8").replace("Quinn is a Werewolf", "Rosa is a Werewolf"), "utf-8")
    spoken = next(beat["spoken"] for beat in beats_of(data_of(log), "statement") if beat["spoken"]["statement"] == 2)
    assert (spoken["flagged"], spoken["judged"], spoken["mean"]) == (3, 3, 0.8)


def test_the_story_of_a_log_says_one_vote_where_one_exiles(tmp_path, imported, data_of):
    source = tmp_path / "table.csv"
    source.write_text(re.sub(r"(?m)^g,vote,(?:Med|Pos).*\n", "", TABLE), encoding="utf-8")
    _, (path,) = imported("table", source)
    told = [part["words"] for part in data_of(path)["heads"][0]["story"]["beats"]]
    assert "Vic, the Villager, is exiled by 1 vote" in told


def test_a_log_of_the_paper_without_its_roles_says_what_is_missing(tmp_path, capsys):
    log = tmp_path / "events.ndjson"
    log.write_bytes(LOG.read_bytes())
    assert run(["page", str(log), "-o", str(tmp_path / "page.html")]) == 2
    assert "its run_meta.json, which has the roles, is not beside it" in capsys.readouterr().err


@pytest.mark.parametrize("content", ['{"a": 1}', "hello", "{}\n"])
def test_a_line_of_something_else_is_not_called_cut_off(content, tmp_path, capsys):
    path = tmp_path / "some.json"
    path.write_text(content, encoding="utf-8")
    assert run(["page", str(path), "-o", str(tmp_path / "page.html")]) == 2
    told = capsys.readouterr().err
    assert "not a wolfbus record" in told
    assert "cut off" not in told


def test_a_view_of_what_holds_no_game_says_so_and_ends(tmp_path, file_of, capsys):
    folder = tmp_path / "nothing"
    folder.mkdir()
    assert run(["view", str(folder), "--no-open"]) == 1
    assert f"wolfbus: {folder}: there is no game in it" in capsys.readouterr().err
    assert run(["view", str(file_of("aiwolf")), "--no-open"]) == 1
    assert "wolfbus import aiwolf game.log --out DIR" in capsys.readouterr().err


def test_a_folder_of_logs_is_served_and_searched(tmp_path, file_of, imported):
    imported("kaggle", file_of("kaggle"))
    imported("aiwolf", file_of("aiwolf"))
    with viewed(tmp_path / "logs") as url:
        listed = data(url, "/library.json")["games"]
        assert sorted(game["origin"]["kind"] for game in listed) == ["aiwolf", "kaggle"]
        assert {(game["state"], game["winner"], game["rounds"]) for game in listed} == {("ended", "villagers", 1)}
        assert "curve" not in listed[0]
        page = data(url, f"/g/{listed[0]['id']}/data.json")
        assert page["game"]["origin"]["kind"] == listed[0]["origin"]["kind"]
        assert page["over"]
        assert page["problems"] == []
        assert "proof" not in page
        found = data(url, "/library.json?q=bea+lies")["games"]
        assert len(found) == 2


def test_a_page_says_that_a_log_does_not_tell_how_many_votes_exile(tmp_path, file_of, imported, watched):
    _, (path,) = imported("kaggle", file_of("kaggle"))
    with viewed(tmp_path / "logs") as url:
        seen = watched(f"{url}/g/{path.stem}")
        seen.press("End")
        text = seen.page.locator("body").inner_text()
        assert "how many exile, the log does not tell" in text
        assert "?" not in text.partition("The votes of day 1")[2].partition("abstain")[0]
        assert seen.page.locator(".enough").count() == 0
        assert not [beat for beat in data(url, f"/g/{path.stem}/data.json")["beats"] if "one decides" in str(beat)]
