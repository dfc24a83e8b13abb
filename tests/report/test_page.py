"""The page in a browser: it shows hostile words as words, asks nobody for anything, and its links find statements."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from analytics.gather import FileNote, Gathered, StudySource
from analytics.report.report import Report
from tests.analytics.script import gathered, paper_tables_of
from tests.report import sample
from tests.stage.watching import USUAL, Watched

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

SCRIPT = "<script>window.hacked = 1</script>"
IMAGE = '"><img src=x onerror="window.hacked = 1">'
CLOSING = "</script></style></title></textarea><script>window.hacked = 1</script>"
BIDI = "\u202egnp.\u2066evil\u2069\u200b"
SPELLS = (SCRIPT, IMAGE, CLOSING, BIDI, "x" * 100_000, "javascript:window.hacked=1", "${window.hacked=1}")
AGENTS = (IMAGE, BIDI + SCRIPT)


def written(path: Path, read: Gathered, agents: tuple[str, ...]) -> Path:
    """Write a report whose index holds these games."""
    path.write_text(Report({**sample.findings(agents), **paper_tables_of(read)}, read).html(), "utf-8")
    return path


@pytest.fixture(scope="module")
def usual(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A report of games in which nothing is strange."""
    return written(tmp_path_factory.mktemp("usual") / "report.html", gathered(sample.games(3)), sample.AGENTS)


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A report in which everything that comes from outside is hostile."""
    games = []
    for number, rows in enumerate(sample.games(2, AGENTS)):
        statements = tuple(replace(row, text=SPELLS[place % len(SPELLS)]) for place, row in enumerate(rows.statements))
        games.append(replace(rows, game=f"g{number}{SCRIPT}", seed=IMAGE, statements=statements))
    problems = (FileNote(f"{IMAGE}.ndjson", SCRIPT, 2, True, CLOSING),)
    manifest = {
        "study": SCRIPT,
        "name": IMAGE + BIDI,
        "seed": CLOSING,
        "wolfbus": SCRIPT,
        "totals": {"games": 2, "failed": 1},
        "config": {SCRIPT: IMAGE},
        "design": {"kind": SCRIPT, "pairs": [{"agents": [SCRIPT, IMAGE], "both_wolves": CLOSING}]},
        "git": {"commit": IMAGE, "dirty": True},
        "games": [{"game": SCRIPT, "state": "failed", "error": CLOSING}],
    }
    read = gathered(games, problems, (StudySource(Path("s"), manifest),))
    return written(tmp_path_factory.mktemp("page") / "report.html", read, AGENTS)


@pytest.fixture
def opened(browser: Browser, window: Page, report: Path) -> Iterator[Callable[..., Watched]]:
    """A way to open the report, or another page."""
    with contextlib.ExitStack() as stack:

        def opened(path: Path = report, fragment: str = "", **context: object) -> Watched:
            own = browser.new_context(**{**USUAL, **context}).new_page() if context else None
            seen = Watched(own or window, shared=own is None)
            stack.callback(seen.close)
            seen.page.goto(f"file://{path}{fragment}")
            return seen

        yield opened


def unfold(page: Page) -> None:
    """Open all that is folded, as a reader would who opens one after the other."""
    page.evaluate("for (const each of document.querySelectorAll('main details')) each.open = true")


def test_no_script_runs_but_our_own_and_nothing_is_asked_for(opened, report: Path):
    seen = opened()
    assert seen.page.evaluate("window.hacked") is None
    assert seen.requested == [f"file://{report}"]
    assert seen.page.locator("main img, main script, main iframe").count() == 0
    unfold(seen.page)
    assert seen.page.locator("form#filter").is_visible()
    visible = seen.page.locator("main").inner_text()
    for words in ("<script>window.hacked", "onerror=", "[U+202E]", "[U+2066]"):
        assert words in visible
    assert "\u202e" not in seen.page.content()


def test_the_policy_stops_scripts_styles_and_pictures_that_somebody_adds(opened, window, report: Path, tmp_path: Path):
    planted = tmp_path / "planted.html"
    text = report.read_text("utf-8")
    evil = f'<main id="main" tabindex="-1">{SCRIPT}<p style="color:red" onclick="hacked=1">x</p><img src="http://127.0.0.1:9/x">'
    assert text.count('<main id="main" tabindex="-1">') == 1
    planted.write_text(text.replace('<main id="main" tabindex="-1">', evil), "utf-8")
    refused: dict[str, str | None] = {}
    window.on("requestfailed", lambda request: refused.update({request.url: request.failure}))
    seen = opened(planted)
    assert seen.page.evaluate("window.hacked") is None
    assert len([line for line in seen.console if "Content Security Policy" in line]) >= 3
    assert set(seen.requested) - {f"file://{planted}"} == set(refused)
    assert set(refused.values()) <= {"csp"}
    seen.console.clear()


def test_a_number_leads_to_its_statements(opened):
    seen = opened()
    page = seen.page
    unfold(page)
    link = page.locator("#table3-table tr:has(th:has-text('Seer')) td:nth-of-type(3) a")
    count = int(link.inner_text())
    link.click()
    page.locator("#found:has-text('match')").wait_for()
    assert page.url.endswith("#statements?observer=Seer&judged=fp")
    visible = page.locator("ol.statements > li:not([hidden])")
    assert page.locator("details li.hit").count() == count
    assert 0 < visible.count() <= count
    assert page.locator("select[name=observer]").input_value() == "Seer"
    assert page.evaluate("document.activeElement.id") == "statements-title"
    page.locator("#filter a").click()
    page.locator("#found:has-text('All')").wait_for()
    assert page.locator("ol.statements > li[hidden]").count() == 0


def test_script_and_report_select_the_same_statements(opened):
    seen = opened()
    page = seen.page
    links = page.locator("#selections li").evaluate_all("items => items.map(item => [item.id, item.textContent])")
    assert len(links) > 50
    counts = {anchor: int(words.split(" in the index")[0].split(": ")[-1].replace(",", "")) for anchor, words in links}
    visible = page.evaluate(
        """anchors => anchors.map(anchor => {
            history.replaceState(null, "", "#" + anchor);
            dispatchEvent(new HashChangeEvent("hashchange"));
            return [anchor, document.querySelectorAll("ol.statements > li:not([hidden])").length];
        })""",
        list(counts),
    )
    assert dict(visible) == counts


def test_the_filter_is_kept_in_the_address(opened):
    page = opened(fragment="#statements?role=Werewolf&nonsense=1&agent=%3Cscript%3E").page
    assert page.evaluate("window.hacked") is None
    page.locator("select[name=agent]").select_option("1")
    page.locator("select[name=role]").select_option("Seer")
    assert page.url.endswith("#statements?role=Seer&agent=1")
    visible = page.locator("ol.statements > li:not([hidden])")
    assert visible.count() == page.locator('ol.statements > li[data-r="Seer"][data-a="1"]').count()
    page.goto(page.url.partition("#")[0] + "#g1s1")
    assert page.locator("#g1s1").is_visible()


@pytest.mark.parametrize(
    ("query", "label"),
    [
        ("said=deceptive", "deceptive"),
        ("said=deceptive&label=truthful", "truthful"),
        ("label=truthful&said=deceptive", "truthful"),
    ],
)
def test_an_address_of_before_filters_by_label(opened, query: str, label: str):
    seen = opened(fragment=f"#statements?role=Werewolf&{query}")
    page = seen.page
    visible = page.locator("ol.statements > li:not([hidden])")
    assert visible.count() == page.locator(f'ol.statements > li[data-r="Werewolf"][data-d="{label}"]').count() > 0
    assert page.locator("select[name=label]").input_value() == label
    page.locator("select[name=role]").select_option("Seer")
    assert page.url.endswith(f"#statements?role=Seer&label={label}")


def test_without_scripts_the_page_is_whole_and_links_lead_somewhere(opened, report: Path):
    seen = opened(java_script_enabled=False)
    page = seen.page
    assert page.locator("#filter").is_hidden()
    unfold(page)
    assert page.locator("ol.statements > li").first.is_visible()
    link = page.locator("#table5-table tbody tr").first.locator("td a").first
    target = link.get_attribute("href").removeprefix("#")
    link.click()
    item = page.locator(f'[id="{target}"]')
    assert item.is_visible()
    assert "in the index: g" in item.inner_text()
    assert seen.requested == [f"file://{report}"]


@pytest.mark.parametrize(("width", "scheme"), [(360, "dark"), (1400, "light")])
def test_nothing_overflows_the_window(opened, width: int, scheme: str):
    seen = opened(viewport={"width": width, "height": 900}, color_scheme=scheme)
    assert seen.page.evaluate("document.documentElement.scrollWidth") <= width
    ground = seen.page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert ground == {"light": "rgb(250, 248, 244)", "dark": "rgb(22, 23, 27)"}[scheme]


def test_in_print_the_statements_are_left_out_and_the_ground_is_white(opened):
    page = opened(color_scheme="dark").page
    page.emulate_media(media="print")
    assert page.locator("ol.statements > li").first.is_hidden()
    assert page.locator("#table3-table table").is_visible()
    assert page.locator("#statements .print").is_visible()
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert len(page.pdf()) > 20_000


def test_the_page_can_be_used_by_keyboard_and_by_ear_and_every_link_within_it_has_a_target(opened, report: Path):
    page = opened().page
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Skip to the report"
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "main"
    assert page.evaluate("document.documentElement.lang") == "en-GB"
    for table in page.locator("table").all():
        assert table.locator("caption").count() == 1
    assert page.locator("tbody tr:not(:has(th[scope=row]))").count() == 0
    assert page.locator("thead th:not([scope=col])").count() == 0
    assert page.locator("svg:not([role=img])").count() == 0
    assert page.locator("svg:not(:has(title))").count() == 0
    assert page.locator("h1").count() == 1
    missing = page.evaluate(
        """() => [...document.querySelectorAll('a[href^="#"]')].map(a => a.getAttribute('href').slice(1))
        .filter(id => !document.getElementById(id))"""
    )
    assert missing == []
    assert page.locator('a:not([href^="#"])').count() == 0
    doubles = page.evaluate(
        """() => { const ids = [...document.querySelectorAll('[id]')].map(e => e.id);
        return ids.filter((id, place) => ids.indexOf(id) !== place); }"""
    )
    assert doubles == []
    unfold(page)
    spoken = page.locator("#events-table .spoken").first
    reason = "undefined: no Seer who claims in public to be one has a judged statement of this sort"
    assert spoken.inner_text() == reason
    assert f"– {reason}." in page.locator("#events-table .notes").inner_text()


_WORDS = "document.body.innerText.split(/\\s+/).length"


def test_the_first_screen_is_short_and_all_that_is_folded_is_not_long_and_fits(opened, usual: Path):
    page = opened(usual, viewport={"width": 1280, "height": 800}).page
    assert page.evaluate(_WORDS) < 500
    assert page.locator("#answer table thead th").count() == 7
    page.locator("#unfold").click()
    assert page.evaluate(_WORDS) < 6_000
    unfold(page)
    frames = "[...document.querySelectorAll('.frame')].filter(f => f.scrollWidth > f.clientWidth)"
    assert page.evaluate(f"{frames}.map(f => f.parentElement.id)") == []
    outside = usual.read_text("utf-8")
    index = outside[outside.index('<details id="statements"') : outside.index('<details id="cite"')]
    assert len(outside.encode()) - len(index.encode()) < 1_500_000


def test_an_address_with_a_stray_sign_leaves_the_page_its_tools(opened, usual: Path):
    seen = opened(usual, "#100%")
    assert seen.page.locator("#find").is_visible()
    assert seen.console == []


def test_tables_are_sorted_searched_and_saved_and_figures_saved(opened, usual: Path, tmp_path: Path):
    seen = opened(usual)
    page = seen.page
    page.locator("#find").fill("Doctor")
    assert page.locator("#table3-table tbody tr:visible").count() == 1
    folded = page.locator("#main .part .more tbody tr")
    place = page.evaluate("[...document.querySelectorAll('#main .part .more tbody tr')].findIndex(row => row.cells[0])")
    page.locator("#find").fill(folded.nth(place).locator("th").text_content() or "")
    assert folded.nth(place).is_visible(), "what is found in a table that is folded is shown"
    page.locator("#find").fill("")
    assert not folded.nth(place).is_visible()
    unfold(page)
    heads = page.locator("#table3-table thead th")
    heads.nth(1).click()
    hits = page.locator("#table3-table tbody tr:not(.total) td:nth-child(2) bdi").all_inner_texts()
    assert [int(hit) for hit in hits] == sorted((int(hit) for hit in hits), reverse=True)
    assert heads.nth(1).get_attribute("aria-sort") == "descending"
    page.locator("#table3-table tbody td").first.evaluate(
        "cell => cell.innerHTML = '<span>–</span><span class=spoken>undefined: fewer than 5000 games</span>'"
    )
    heads.nth(1).click()
    heads.nth(1).click()
    shown = page.locator("#table3-table tbody tr:not(.total) td:nth-child(2)").all_text_contents()
    assert ["undefined" in text for text in shown] == [False] * (len(shown) - 1) + [True]
    rounds = page.locator("#production-round tbody tr:not(.total) th")
    rounds.evaluate_all("heads => heads.forEach((head, place) => head.textContent = 12 - place)")
    page.locator("#production-round thead th").first.click()
    assert rounds.all_text_contents() == [str(13 - rounds.count() + place) for place in range(rounds.count())]
    rounds.first.evaluate("head => head.textContent = 100")
    page.locator("#production-round thead th").nth(1).click()
    page.locator("#production-round thead th").first.click()
    assert rounds.all_text_contents()[-1] == "100"
    for block, name, opening in (
        ("#table3-table", "CSV", "Role,TP,"),
        ("#table3-table", "SVG", "<svg "),
        ("#answer-figure", "SVG", "<svg "),
        ("#answer-figure", "CSV", "Agent,Games,"),
    ):
        with page.expect_download() as download:
            page.locator(f"{block} .save button", has_text=name).click()
        download.value.save_as(tmp_path / "saved")
        saved = (tmp_path / "saved").read_text("utf-8")
        assert saved.startswith(opening)
        assert "var(" not in saved
    with page.expect_download() as download:
        page.locator("#events-table .save button", has_text="CSV").click()
    download.value.save_as(tmp_path / "saved")
    assert ",–,undefined: no Seer who claims in public to be one has a judged statement of this sort" in (
        tmp_path / "saved"
    ).read_text("utf-8"), "why a value is undefined stands beside it, as its interval does"
    page.evaluate("window.print = () => { window.printed = getComputedStyle(document.body).display; }")
    page.locator("#answer-figure .save button", has_text="PDF").click()
    assert page.evaluate("window.printed") == "block"
    page.emulate_media(media="print")
    assert page.locator("#answer-figure").is_visible()
    assert page.locator("#answer-table table").is_hidden()
