"""The pages around the games: what there is, what a study found, two studies, and what the words mean."""

from __future__ import annotations

import contextlib
import json
import re
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

import pytest

from tests.golden.played import unpacked
from tests.golden.running import wolfbus
from tests.stage.looking import findings as obstacles
from tests.stage.served import data, fetched, viewed

if TYPE_CHECKING:
    from playwright.sync_api import Route

    from tests.stage.watching import Watched

PHONE = {"viewport": {"width": 390, "height": 844}}


def study_of(games, name: str) -> str:
    return next((games / name / "records").glob("*.ndjson*")).name.rsplit("-", 1)[0]


def test_games_are_found_by_words_and_opened_at_their_best_moment(watched, stage):
    seen = watched(f"{stage}/", ".games")
    page = seen.page
    assert obstacles(page) == []
    page.get_by_label("Search").fill("seven")
    page.get_by_text("many", exact=True).wait_for(state="detached")
    page.get_by_role("link", name="Kira falsely claims to be the Seer").click()
    page.locator(".beat").first.wait_for()
    assert seen.at() == "day 2, turn 1: Kira speaks"


def test_games_are_filtered_and_put_in_order_with_the_reader_s_own_first(watched, stage):
    seen = watched(f"{stage}/", ".games")
    page, rows = seen.page, seen.page.locator(".games tbody tr")
    page.locator(".games .curve").first.wait_for()
    assert [heading.inner_text() for heading in page.locator("h2").all()] == ["STUDIES", "GAMES", "GAMES OF STUDIES"]
    assert page.locator("section", has=page.get_by_text("seven", exact=True)).locator("tbody tr").count() == 2

    def asked_for(**values: str) -> list[str]:
        query = "&".join(f"{name}={value}" for name, value in values.items())
        return [game["id"] for game in data(stage, f"/library.json?{query}")["games"]]

    everything = asked_for()
    assert set(everything[:2]) == {"seven", "many"}, "what belongs to no study comes first"
    page.get_by_label("Won by").select_option("villagers")
    page.get_by_text("seven", exact=True).wait_for(state="detached")
    assert rows.count() == len(asked_for(winner="villagers")) < len(everything)
    page.get_by_label("Won by").select_option("")
    page.get_by_label("Played by").select_option("scripted")
    page.get_by_text("seven", exact=True).wait_for()
    assert set(asked_for(model="scripted")) < set(everything)
    assert asked_for(since="2999-01-01") == []
    own = [game["started"] for game in data(stage, "/library.json?order=oldest")["games"] if "study" not in game]
    assert own == sorted(own)
    lies = [game["lies"] for game in data(stage, "/library.json?order=lies&lies=on")["games"] if "study" in game]
    assert lies == sorted(lies, reverse=True)
    assert 0 not in lies
    assert fetched(stage, "/library.json?since=yesterday")[0] == 400


def test_a_study_opens_with_the_report_s_first_screen_and_leads_to_the_games_behind_it(watched, stage, games):
    study = study_of(games, "models")
    seen = watched(f"{stage}/s/{study}", ".board")
    page = seen.page
    assert obstacles(page) == []
    measured = data(stage, f"/s/{study}/measured.json")
    sentence = "".join(part if isinstance(part, str) else part["text"] for part in measured["answer"][0]["parts"])
    assert page.locator(".headline").inner_text() == sentence
    warnings = [block for block in measured["answer"] if block.get("tone") == "warning"]
    assert page.locator(".problem").count() == len(warnings) > 0
    row = page.get_by_role("row").filter(has_text="llm:big").first
    detects = measured["findings"]["agents"]["llm:big"]["role_auc"]
    assert row.get_by_role("cell").first.locator("b").inner_text() == f"{detects['value']:.3f}"
    page.get_by_role("button", name="Conceals").click()
    assert page.locator("th[aria-sort=descending]").inner_text().startswith("Conceals")
    page.get_by_label("Won by").select_option("villagers")
    assert page.locator(".squares a").count() == 1
    behind = row.get_by_role("cell").first.get_by_role("link", name=f"n {detects['n']}").get_attribute("href")
    page.locator(".squares a").click()
    page.locator(".beat").first.wait_for()
    page.goto(f"{stage}{behind}")
    page.locator("#found", has_text="match").wait_for()
    assert page.locator("select[name=by] option:checked").inner_text() == "big"
    assert page.locator("ol.statements > li:not([hidden])").count() > 0


def test_a_place_is_told_only_of_an_agent_that_stands_apart_from_all_others(watched, stage, games):
    seen = watched(f"{stage}/s/{study_of(games, 'models')}", ".board")
    intervals: list[tuple[float, float]] = []

    def moved(route: Route) -> None:
        response = route.fetch()
        data = response.json()
        for (low, high), row in zip(intervals, data["findings"]["agents"].values(), strict=True):
            row["role_auc"] |= {"value": (low + high) / 2, "low": low, "high": high}
        route.fulfill(response=response, body=json.dumps(data))

    seen.page.route("**/measured.json", moved)
    for intervals[:], places in (([(0.4, 0.6), (0.55, 0.7)], []), ([(0.4, 0.5), (0.55, 0.7)], ["place 1", "place 2"])):
        seen.page.reload()
        seen.page.locator(".board").wait_for()
        told = seen.page.locator(".board th small").all_inner_texts()
        assert [words for words in told if words.startswith("place")] == places


@pytest.fixture(scope="module")
def study_file(games: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The study of models in one file."""
    path = tmp_path_factory.mktemp("written") / "study.html"
    with pytest.MonkeyPatch.context() as patch:
        # a library reads so many at once; a file has to hold all
        patch.setattr("wolfbus.stage.library._READ_LIMIT", 1)
        written = wolfbus(games, "page", "models", "-o", str(path))
    assert (written.code, written.out.startswith(f"{path}  (")) == (0, True), written
    return path


@pytest.mark.parametrize("where", ["server", "file"])
def test_every_number_of_a_study_is_explained_by_three_of_its_statements(
    watched, study_file, tmp_path, monkeypatch, where
):
    address = f"file://{study_file}"
    with contextlib.ExitStack() as stack:
        if where == "server":
            unpacked("models", tmp_path)
            # most of the records are not read yet when the numbers are there
            monkeypatch.setattr("wolfbus.stage.library._READ_LIMIT", 1)
            address = f"{stack.enter_context(viewed(tmp_path))}/s/{study_of(tmp_path, 'models')}"
        explained(watched(address, ".numbers"))


def explained(seen: Watched) -> None:
    """See that a study's page explains a number by statements that are links to their places."""
    assert seen.page.locator(".numbers li").count() == 2, "its models tell no lies"
    seen.page.get_by_role("button", name="What is this? Detects").click()
    box = seen.page.get_by_role("dialog")
    box.locator(".examples a").nth(2).wait_for()
    assert obstacles(seen.page) == []
    said = box.locator(".examples a").first.inner_text().strip("“”")
    box.locator(".examples a").first.click()
    seen.page.locator(".now").wait_for()
    assert seen.page.locator(".now .text").first.inner_text() == said


def test_what_is_next_to_nothing_looks_it_and_every_number_of_a_picture_is_whole(watched, stage, games):
    seen = watched(f"{stage}/s/{study_of(games, 'models')}", ".board")

    def lessened(route: Route) -> None:
        response = route.fetch()
        data = response.json()
        for place, abilities in enumerate(data["findings"]["abilities"]["role"]["agents"].values()):
            abilities["concealment"] = {"value": 0.0007 - place / 1000, "n": 9}
        route.fulfill(response=response, body=json.dumps(data))

    seen.page.route("**/measured.json", lessened)
    seen.page.reload()
    seen.page.locator(".plot").first.wait_for()
    assert not re.search("[-−]0.00", seen.page.locator(".board").inner_text())
    assert (
        seen.page.evaluate("Math.min(...[...document.querySelectorAll('.plot text')].map((t) => t.getBBox().x))") >= 0
    )


def test_two_studies_are_compared(watched, stage, games):
    address = f"{stage}/c?a={study_of(games, 'models')}&b={study_of(games, 'scripted')}"
    seen = watched(address, ".rows", **PHONE)
    assert obstacles(seen.page) == []
    assert not seen.overflows()
    assert (
        "n 64" in seen.page.get_by_role("row").filter(has_text="called deceptive by their speakers").first.inner_text()
    )
    metrics = data(stage, address.removeprefix(stage).replace("/c?", "/c.json?"))["comparison"]["metrics"]
    for name in ("suspicion_gap", "auc"):
        p = metrics[name]["p_adjusted"]
        row = seen.page.get_by_role("row").filter(has_text=re.compile(re.escape(metrics[name]["label"]), re.IGNORECASE))
        assert row.first.get_by_role("cell").last.inner_text() == ("–" if p is None else f"{p:.3f}")
    assert metrics["suspicion_gap"]["p_adjusted"] is not None


@pytest.mark.parametrize("name", ["parent-s3-silence-1", "what silence did, ö"])
def test_a_fork_leads_to_itself_and_its_parent_beside_each_other_from_where_they_part(watched, tmp_path, name):
    """Whatever its file is called."""
    played = wolfbus(tmp_path, "play", "--seed", "7", "--game", "parent", "--out", ".", "--quiet")
    assert played.code == 0, played.err
    said = wolfbus(tmp_path, "fork", "parent.ndjson", "--at", "3", "--arm", "silence", "--out", "forks")
    assert said.code == 0, said.err
    (file,) = tmp_path.rglob("parent-s3-silence-1.ndjson")
    file.rename(file.with_stem(name))
    with viewed(tmp_path) as url:
        parent = data(url, "/g/parent/data.json")["beats"]
        fork = data(url, f"/g/{quote(name)}/data.json")
        place = next(n for n, beat in enumerate(parent) if (beat.get("spoken") or {}).get("statement") == 3)
        assert fork["beats"][place]["kind"] == "silence"
        seen = watched(f"{url}/g/{quote(name)}", ".card")
        seen.page.get_by_role("link", name="Played on from parent at statement 3: silence, fork 1").click()
        seen.page.locator(".pair .beat").first.wait_for()
        first = [column.locator(".beat").first.inner_text() for column in seen.page.locator(".pair > div").all()]
        counts = [column.locator(".beat").count() for column in seen.page.locator(".pair > div").all()]
        assert obstacles(seen.page) == []
        seen.page.goto(f"{url}/f/parent")
        assert seen.page.locator(".problem").inner_text() == "This is no fork"
        saved = fetched(url, f"/g/{quote(name)}/page.html")[2].decode()
        seen.page.route("**/games/fork.html", lambda route: route.fulfill(body=saved, content_type="text/html"))
        seen.page.goto(f"{url}/games/fork.html")
        seen.page.get_by_text("Played on from parent at statement 3").first.wait_for()
        assert seen.page.locator(".card a[href]").count() == 0, "a file leads to no server, wherever it lies"
    speaker = parent[place]["spoken"]["speaker"]
    assert speaker in first[0]
    assert parent[place]["spoken"]["text"] in first[0]
    assert speaker in first[1]
    assert parent[place]["spoken"]["text"] not in first[1]
    assert counts == [len(parent) - place, len(fork["beats"]) - place]


def test_a_fork_whose_parent_is_not_there_says_so_and_leads_to_itself(window, tmp_path):
    for words in (("play", "--seed=7", "--game=parent", "--quiet", "--out=."), ("fork", "parent.ndjson", "--at=3")):
        assert wolfbus(tmp_path, *words).code == 0
    (tmp_path / "parent.ndjson").unlink()
    fork = next(tmp_path.rglob("parent-s3-keep-1.ndjson"))
    with viewed(tmp_path) as url:
        window.goto(f"{url}/f/{fork.stem}")
        window.get_by_text("Its parent, parent, is not here").wait_for()
        assert window.get_by_role("heading", name="Played on from parent at statement 3: keep, fork 1").is_visible()
        window.get_by_role("link", name="The fork alone").click()
        window.locator(".beat").first.wait_for()


def test_a_study_that_cannot_be_read_is_named_and_hides_no_game(watched, games, tmp_path):
    (tmp_path / "cut").mkdir()
    (tmp_path / "cut" / "study.json").write_text('{"study":')
    (tmp_path / "seven.ndjson").write_bytes((games / "seven.ndjson").read_bytes())
    with viewed(tmp_path) as url:
        seen = watched(url, ".games")
        entry = seen.page.locator("a.entry").inner_text()
        assert "cut" in entry
        assert "study.json: not JSON" in entry
        assert seen.page.locator(".games th a").count() == 1
        seen.page.goto(f"{url}/?hide=1")
        assert "study.json: not JSON" in seen.page.locator("a.entry").inner_text()


def test_a_study_of_which_no_game_has_ended_yet_shows_its_games_and_why_it_has_no_numbers(window, tmp_path):
    unpacked("scripted", tmp_path)
    study = tmp_path / "scripted"
    (study / "journal.jsonl").unlink()
    for record in (study / "records").iterdir():
        record.write_bytes(b"".join(record.read_bytes().splitlines(keepends=True)[:40]))
    with viewed(tmp_path) as url:
        (listed,) = data(url, "/library.json")["studies"]
        window.goto(f"{url}/s/{listed['id']}")
        window.locator(".problem", has_text="no game could be read").wait_for()
        window.locator(".squares a").first.click()
        window.locator(".beat").first.wait_for()


def test_rules_words_and_the_weight_of_a_judgement_can_be_learnt(watched, stage):
    seen = watched(f"{stage}/learn", ".round", **PHONE)
    page = seen.page
    assert obstacles(page) == []
    assert not seen.overflows()
    slider = page.get_by_label("weight of a new judgement")
    assert slider.get_attribute("aria-valuetext") == "0.7"
    slider.fill("0")
    assert page.get_by_role("img").get_attribute("aria-label").endswith(", ".join(["50%"] * 9))


def test_an_address_that_is_not_there_says_so(window, stage):
    window.goto(f"{stage}/s/nothing")
    window.locator(".problem").wait_for()
    assert window.get_by_role("link", name="wolfbus").is_visible()


def test_a_study_in_a_file_holds_its_games(watched, study_file):
    address = f"file://{study_file}"
    seen = watched(address, ".board")
    titles = [square.get_attribute("title") for square in seen.page.locator(".squares a").all()]
    assert len(titles) == 4
    assert all(re.match(r"Game \d: (Villagers|Werewolves|Nobody), ", title) for title in titles), titles
    seen.page.locator(".squares a").first.click()
    seen.page.locator(".beat").first.wait_for()
    seen.press("Home", "ArrowRight")
    assert seen.place() == 1
    seen.page.evaluate("navigator.clipboard.writeText = async (text) => { window.copied = text; }")
    game = re.search(r"#(g=[^&]+&)", seen.page.url)
    assert game is not None
    seen.page.get_by_role("button", name="Share").click()
    seen.page.get_by_role("button", name="Copy a link without spoilers").click()
    assert seen.page.evaluate("window.copied") == f"{address}?hide=1#{game[1]}"
    seen.press("Escape")
    seen.page.set_viewport_size(PHONE["viewport"])
    assert not seen.overflows()
    seen.page.get_by_role("link", name="wolfbus").click()
    seen.page.locator(".board").wait_for()
    assert not seen.overflows()
    assert {url.split("#")[0] for url in seen.requested} == {address}


def test_a_library_without_spoilers_tells_no_outcome_and_opens_games_without_what_comes(watched, stage):
    seen = watched(f"{stage}/?hide=1", ".games")
    text = seen.page.locator("body").inner_text()
    for word in ("Werewolves", "Villagers", "claims", "Lies", "Rounds"):
        assert word not in text, word
    assert obstacles(seen.page) == []
    seen.page.get_by_role("row", name="seven").get_by_role("link").click()
    seen.page.locator(".beat").first.wait_for()
    assert "/g/seven?hide=1" in seen.page.url
    assert seen.page.locator(".headline").count() == 0
