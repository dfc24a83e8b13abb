"""The pages around the games: what there is, what a study found, two studies, and what the words mean."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

import pytest

from tests.golden.running import wolfbus
from tests.stage.looking import serious
from tests.stage.served import data

if TYPE_CHECKING:
    from playwright.sync_api import Route

PHONE = {"viewport": {"width": 390, "height": 844}}


def study_of(games, name: str) -> str:
    return next((games / name / "records").glob("*.ndjson*")).name.rsplit("-", 1)[0]


def test_games_are_found_by_words_and_opened_at_their_best_moment(watched, stage):
    seen = watched(f"{stage}/", ".games")
    page = seen.page
    assert serious(page) == []
    page.get_by_label("Search").fill("seven")
    page.get_by_text("many", exact=True).wait_for(state="detached")
    page.get_by_role("link", name="Kira falsely claims to be the Seer").click()
    page.locator(".beat").first.wait_for()
    assert seen.at() == "day 2, turn 1: Kira speaks"


def test_a_study_leads_from_its_leaderboard_to_the_games_behind_it(watched, stage, games):
    seen = watched(f"{stage}/s/{study_of(games, 'models')}", ".board")
    page = seen.page
    assert serious(page) == []
    assert page.locator(".board svg.forest").count() == 8
    row = page.get_by_role("row").filter(has_text="llm:big").first
    findings = data(stage, f"/s/{study_of(games, 'models')}.json")["findings"]
    chance = findings["votes"]["hits"]["chance"]
    share = findings["agents"]["llm:big"]["vote_hit"]["value"]
    drawn = row.locator("td").last.locator("svg.forest")
    at_chance, at_share = (float(drawn.locator(f"line.{kind}").get_attribute("x1")) for kind in ("zero", "value"))
    # the best of all, and chance below all: six hundredths of their distance are left beside either
    assert at_share - at_chance == pytest.approx(200 / 1.12, abs=0.1)
    assert share > chance > 0
    detects = row.get_by_role("cell").first.locator("b")
    of_roles = detects.inner_text()
    page.get_by_role("button", name="Statements called deceptive").click()
    assert detects.inner_text() != of_roles
    page.get_by_role("button", name="Hides lies").click()
    assert page.locator("th[aria-sort=descending]").inner_text().startswith("Hides lies")
    page.get_by_label("Won by").select_option("villagers")
    assert page.locator(".squares a").count() == 1
    behind = row.get_by_role("cell").first.get_by_role("link", name="n 136").get_attribute("href")
    page.locator(".squares a").click()
    page.locator(".beat").first.wait_for()
    page.goto(f"{stage}{behind}")
    page.locator("#found", has_text="match").wait_for()
    assert page.locator("select[name=by] option:checked").inner_text() == "big"
    assert page.locator("ol.statements > li:not([hidden])").count() > 0


def test_what_is_next_to_nothing_looks_it_and_every_number_of_a_picture_is_whole(watched, stage, games):
    seen = watched(f"{stage}/s/{study_of(games, 'models')}", ".board")

    def lessened(route: Route) -> None:
        response = route.fetch()
        data = response.json()
        for agents in data["findings"]["abilities"].values():
            for place, abilities in enumerate(agents.get("agents", {}).values()):
                abilities["concealment"] = {"value": 0.0007 - place / 1000, "n": 9}
        route.fulfill(response=response, body=json.dumps(data))

    seen.page.route("**/s/*.json", lessened)
    seen.page.reload()
    seen.page.locator(".plot").first.wait_for()
    assert "-0.00" not in seen.page.locator(".board").inner_text()
    assert (
        seen.page.evaluate("Math.min(...[...document.querySelectorAll('.plot text')].map((t) => t.getBBox().x))") >= 0
    )


def test_two_studies_are_compared(watched, stage, games):
    address = f"{stage}/c?a={study_of(games, 'models')}&b={study_of(games, 'scripted')}"
    seen = watched(address, ".rows", **PHONE)
    assert serious(seen.page) == []
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


def test_rules_words_and_the_weight_of_a_judgement_can_be_learnt(watched, stage):
    seen = watched(f"{stage}/learn", ".round", **PHONE)
    page = seen.page
    assert serious(page) == []
    assert not seen.overflows()
    slider = page.get_by_label("weight of a new judgement")
    assert slider.get_attribute("aria-valuetext") == "0.7"
    slider.fill("0")
    assert page.get_by_role("img").get_attribute("aria-label").endswith(", ".join(["50%"] * 9))


def test_an_address_that_is_not_there_says_so(browser, stage):
    page = browser.new_page()
    page.goto(f"{stage}/s/nothing")
    page.locator(".problem").wait_for()
    assert page.get_by_role("link", name="wolfbus").is_visible()
    page.close()


def test_a_study_in_a_file_holds_its_games(watched, games, tmp_path, monkeypatch):
    # a library reads so many at once; a file has to hold all
    monkeypatch.setattr("wolfbus.stage.library._READ_LIMIT", 1)
    written = wolfbus(games, "page", "models", "-o", str(tmp_path / "study.html"))
    assert written.code == 0, written.err
    address = f"file://{tmp_path}/study.html"
    seen = watched(address, ".board")
    titles = [square.get_attribute("title") for square in seen.page.locator(".squares a").all()]
    assert len(titles) == 4
    assert all(re.match(r"Game \d: (Villagers|Werewolves|Nobody), ", title) for title in titles), titles
    seen.page.locator(".squares a").first.click()
    seen.page.locator(".beat").first.wait_for()
    seen.press("ArrowRight")
    assert seen.place() == 1
    seen.page.set_viewport_size(PHONE["viewport"])
    assert not seen.overflows()
    seen.page.get_by_role("link", name="wolfbus").click()
    seen.page.locator(".board").wait_for()
    assert not seen.overflows()
    assert {url.split("#")[0] for url in seen.requested} == {address}
