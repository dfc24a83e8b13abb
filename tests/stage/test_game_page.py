"""The page of a game in a browser: read by keys and links, by any eyes, on any screen, and safe before any words."""

import json
import re
import shlex
import statistics
import tomllib
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from tests.golden.running import wolfbus
from tests.stage.looking import findings
from tests.stage.served import viewed
from tests.stage.watching import sized

STATIC = Path(__file__).parents[2] / "wolfbus" / "stage" / "static"
HOSTILE = (
    "<script>window.hacked = 1</script><img src=x onerror='window.hacked=1'> \u202egnp.evil\u2066 "
    "\x1b[2J\x1b[31m ${window.hacked=1} </p></article>\U000e0041"
)
STEP = """() => {
    document.body.dispatchEvent(new KeyboardEvent("keydown", { key: "ArrowRight", bubbles: true }));
    document.body.getBoundingClientRect();
}"""
HEADING_COVERS = """() => {
    document.querySelector(".status h1").textContent = "Game 20261128-164201-8d4141";
    const box = (name) => document.querySelector(name).getBoundingClientRect();
    const [heading, tools] = [box(".status h1"), box(".tools")];
    return heading.right > tools.left && heading.bottom > tools.top;
}"""
SMALL = """[...document.querySelectorAll("button:not(.marks *, .bands *)")]
    .filter((button) => button.offsetParent && button.offsetHeight < 43)
    .map((button) => button.outerHTML.slice(0, 80))"""


def test_a_game_is_read_by_keys(watched, stage):
    seen = watched(f"{stage}/g/seven")
    assert seen.at() == "before the game"
    seen.press("ArrowRight", "ArrowRight")
    assert seen.at() == "day 1, turn 1: Bruno speaks"
    seen.press("Shift+ArrowRight")
    assert seen.at().startswith("night 2")
    seen.press("Shift+ArrowLeft", "ArrowLeft")
    assert seen.at() == "night 1: Jonas is killed"
    seen.press("m", "m")
    assert seen.page.locator("[aria-current=true]").count() > 0
    seen.press("End")
    assert seen.at() == "the end: the Werewolves win"
    assert seen.page.get_by_role("heading", level=1).inner_text() == "The Werewolves win"
    seen.press("Home")
    assert seen.place() == 0
    seen.press("ArrowRight", "Home", "End")
    assert seen.page.locator(".beat.now").count() == 1
    seen.press("Home", "?")
    assert seen.page.get_by_role("dialog").get_by_text("next key moment").is_visible()
    seen.press("Escape", "ArrowRight", "t")
    assert not seen.page.locator(".now .thought").first.is_visible()
    seen.press("t")
    assert seen.page.locator(".now .thought").first.is_visible()


def test_faces_have_letters_that_tell_them_apart_however_alike_names_begin(watched, stage):
    seen = watched(f"{stage}/g/seven")
    letters = "names => import('/static/faces.js').then(({ letters }) => letters(names))"
    for names, expected in (
        (["Raj", "Bea"], ["R", "B"]),
        (["Minato", "Minako", "Mio"], ["Mt", "Mk", "Mio"]),
        ([f"Player {number}" for number in range(1, 9)], [f"P{number}" for number in range(1, 9)]),
        (["Al", "Alan"], ["Al", "Ala"]),
    ):
        assert seen.page.evaluate(letters, names) == expected


def test_it_plays_by_itself_and_stops_when_told(watched, stage):
    seen = watched(f"{stage}/g/seven#n=26", alone=True)
    seen.page.clock.install()
    seen.press(" ")
    seen.page.clock.run_for(60_000)
    assert seen.at() == "the end: the Werewolves win"
    assert seen.page.get_by_role("button", name="play", exact=True).is_visible()


def test_a_link_opens_a_moment_with_somebodys_eyes_and_the_page_keeps_it(watched, stage):
    seen = watched(f"{stage}/g/seven#n=16&as=seat:Ada")
    assert seen.place() == 16
    assert seen.page.get_by_label("See as").input_value() == "seat:Ada"
    assert seen.page.locator(".now .thought, .now .chip, .now .dot").count() == 0
    assert seen.page.locator(".players small", has_text="Werewolf").count() == 0
    seen.press("0", "ArrowLeft", "4")
    seen.page.locator(".player[aria-pressed=true]", has_text="Kira").wait_for()
    seen.page.wait_for_function("() => location.hash === '#n=15&as=seat%3AKira'")
    assert seen.page.locator(".players small", has_text="Werewolf").count() == 2
    seen.page.locator(".player", has_text="Kira").click()
    seen.page.locator(".player", has_text="Seer").wait_for()


def test_a_link_with_eyes_that_nobody_has_opens_the_game_and_says_so(window, stage):
    window.goto(f"{stage}/g/seven#n=16&as=seat:Zed")
    window.locator(".beat").first.wait_for()
    assert window.locator(".beat").last.get_attribute("data-beat") == "16"
    assert "The link's as='seat:Zed': give everything, public or one of" in window.locator(".problem").inner_text()


HOLDS_BACK_SEATS = """() => {
  const { fetch } = window;
  const released = new Promise((release) => (window.release = release));
  let ask;
  window.asked = new Promise((done) => (ask = done));
  window.fetch = (url, ...options) => {
    if (!url.includes("as=seat")) return fetch(url, ...options);
    window.answer = released.then(() => fetch(url, ...options)).then(async (response) => {
      const data = await response.json();
      return { ok: response.ok, json: async () => data };
    });
    ask();
    return window.answer;
  };
}"""
RELEASES_THEM = """async () => {
  window.release();
  await window.answer;
  await new Promise((done) => setTimeout(done));
}"""


def test_the_eyes_asked_for_last_are_lent_however_late_those_before_come(watched, stage):
    seen = watched(f"{stage}/g/seven#n=16")
    seen.page.evaluate(HOLDS_BACK_SEATS)
    seen.press("1")
    seen.page.evaluate("() => window.asked")
    seen.press("0")
    seen.page.evaluate(RELEASES_THEM)
    assert seen.page.get_by_label("See as").input_value() == "everything"


SPOILERS = (
    "Werewolf ",
    "◆",
    "fabrication",
    "A false report",
    "falsely",
    "win",
    "calls it a lie",
    "believed by",
    "of 29",
)


def spoilers(page: Any) -> list[str]:
    text = page.locator("body").inner_text()
    return [word for word in SPOILERS if word in text]


@pytest.mark.parametrize("how", ["link", "key", "file"])
def test_nothing_of_what_comes_is_told_before_the_end_where_somebody_wants_none(watched, stage, games, tmp_path, how):
    address = f"{stage}/g/seven"
    if how == "file":
        written = wolfbus(games, "page", "seven.ndjson", "--spoiler-free", "-o", str(tmp_path / "page.html"))
        assert written.code == 0, written.err
        address = f"file://{tmp_path}/page.html"
    seen = watched(address + ("?hide=1" if how == "link" else ""))
    if how == "key":
        seen.press("h")
    # only one goes all the way: it is the same page
    for place in range(29 if how == "file" else 3):
        assert seen.place() == place
        assert spoilers(seen.page) == []
        assert seen.page.locator(".dot, .value, .meter, .curve, .chip, [name=as]").count() == 0
        assert int(seen.page.get_by_label("place in the game").get_attribute("max")) == place + 1
        seen.press("ArrowRight", "End")
    if how == "file":
        assert seen.page.locator(".now .cast small", has_text="Werewolf").count() == 2
        assert "none of the 3 who had to find out doubts it" in seen.page.locator(".now .headline").inner_text()
        seen.press("ArrowLeft", "ArrowLeft")
        assert seen.page.locator(".curve").count() == 1, "who has come to the end may look back at everything"


def test_the_first_and_the_last_frame_tell_the_story_with_a_picture_to_share(watched, stage):
    seen = watched(f"{stage}/g/seven")
    first = seen.page.locator(".now")
    assert first.locator(".headline").inner_text() == (
        "Kira, a Werewolf, claims to be the Seer and reports Leon a Werewolf; none of the 3 who had to find out doubts "
        "it, and the Werewolves win."
    )
    assert first.locator(".plot-beats li").count() == 3
    assert "believed by" in first.locator(".lies").inner_text()
    first.get_by_role("button", name="Watch from the lie").click()
    assert seen.place() == 15
    seen.press("End")
    assert findings(seen.page) == []
    seen.page.locator(".now").get_by_role("button", name="Save a picture").click()
    assert findings(seen.page) == []
    with seen.page.expect_download() as got:
        seen.page.get_by_role("button", name="Save as PNG").click()
    assert sized(got.value.path().read_bytes()) == (1200, 630)


def test_a_picture_holds_words_without_blanks_and_everybody_who_heard_them(watched, stage):
    def crowded(route):
        game = route.fetch().json()
        story = game["story"]
        story["headline"] = "狼" * 130
        lie = next(lie for lie in story["lies"] if lie["beat"] == story["lie"])
        everybody = [seat["name"] for seat in game["game"]["seats"]]
        lie["believed"], lie["doubted"] = everybody[:1], [*everybody, *everybody[:5]]
        route.fulfill(json=game)

    seen = watched(f"{stage}/learn", ".round")
    seen.page.route("**/data.json*", crowded)
    seen.page.goto(f"{stage}/g/seven")
    seen.page.get_by_role("button", name="Save a picture").first.click()
    right = "texts => texts.map(text => { const box = text.getBoundingClientRect(); return [box.left, box.right]; })"
    picture = seen.page.locator("#story svg")
    (_, edge), *_ = picture.evaluate_all(right)
    assert all(end <= edge for _, end in picture.locator("text").evaluate_all(right))
    (_, end), (start, _) = picture.locator("text", has_text=re.compile(" by$")).evaluate_all(right)
    assert start > end, "whom it was believed by, and doubted, stands apart"


def test_the_timeline_is_the_curve_with_lies_and_deaths_on_it_and_leads_to_the_place(watched, stage):
    seen = watched(f"{stage}/g/seven")
    curve = seen.page.locator(".curve")
    assert len((curve.locator("polyline").get_attribute("points") or "").split()) == 29
    box = curve.bounding_box()
    curve.click(position={"x": box["width"] * 10 / 29, "y": 40}, force=True)
    assert seen.place() == 10
    assert seen.page.locator(".marks .lie").count() == 2
    assert seen.page.locator(".marks .death, .marks .exile").count() == 4


def test_a_hall_is_asked_before_it_sees_what_the_table_thought_and_knows_no_more_than_the_table(watched, stage):
    seen = watched(f"{stage}/g/seven?hall=1#n=16")
    heard = seen.page.locator(".now .heard")
    assert not heard.is_visible()
    assert spoilers(seen.page) == []
    assert findings(seen.page) == []
    seen.press("b", "b", "l")
    assert re.search(r"Believe it b 2\s+A lie l 1", seen.page.locator(".hands").inner_text())
    seen.press("ArrowRight")
    assert seen.place() == 16
    assert heard.is_visible()
    assert heard.locator(".dot").count() == 5
    assert spoilers(seen.page) == [], "who could know, and what it is, tells the end"
    assert seen.page.locator(".hands").inner_text() == "The hall: 2 believe it, 1 call it a lie"
    assert seen.page.locator(".now .text").first.evaluate("node => parseFloat(getComputedStyle(node).fontSize)") >= 28
    seen.press("ArrowRight")
    assert seen.place() == 17
    assert not heard.is_visible()
    while seen.place() < 29:
        seen.press("ArrowRight")
    assert seen.page.locator(".hands").inner_text() == "The hall called 0 of 1 lie a lie, and 0 of 0 other statements."
    assert seen.page.locator(".now .headline").is_visible()


@pytest.mark.parametrize(("width", "height"), [(390, 844), (844, 390), (640, 400)])
def test_the_transcript_keeps_its_height_on_a_phone_either_way_and_at_twice_the_size(watched, stage, width, height):
    seen = watched(f"{stage}/g/seven#n=16", viewport={"width": width, "height": height})
    assert seen.page.evaluate("document.querySelector('.log').clientHeight / innerHeight") >= 0.4
    assert not seen.overflows()
    assert findings(seen.page) == []
    assert seen.page.evaluate(HEADING_COVERS) is False


def test_a_person_s_colour_is_no_side_s_and_pages_and_report_have_one_palette_and_one_scale_of_type(watched, stage):
    seen = watched(f"{stage}/g/seven")
    fills = "nodes => nodes.map((node) => getComputedStyle(node).fill)"
    strokes = "nodes => nodes.map((node) => getComputedStyle(node).stroke)"
    everybody, wolves = ".player .face path", ".player .face.wolf path"
    assert len(set(seen.page.locator(everybody).evaluate_all(fills))) == 8
    assert seen.page.locator(wolves).count() == 2
    assert set(seen.page.locator(wolves).evaluate_all(strokes)) == {"rgb(176, 63, 0)"}
    palette = (STATIC / "palette.css").read_text("utf-8")
    sheets = [STATIC / "page.css", STATIC / "sheets.css", STATIC.parents[2] / "analytics" / "report" / "page.css"]
    for sheet in sheets:
        text = sheet.read_text("utf-8")
        assert not re.findall(r"font(?:-size)?:[^;{]*\d(?:rem|px)", text), sheet.name
    roles = tomllib.loads((STATIC.parents[1] / "game" / "roles.toml").read_text("utf-8"))
    for role, name in {"Werewolf": "flag", "Villager": "trust", "Seer": "seer", "Doctor": "doctor"}.items():
        figure = roles[role]["figure"]
        assert f"--{name}: light-dark({figure['light']}, {figure['dark']});" in palette


def test_a_number_leads_to_the_statements_that_made_it(watched, stage):
    seen = watched(f"{stage}/g/seven#n=16")
    cell = seen.page.get_by_role("button", name="Leon about Kira: 79%")
    cell.click()
    assert cell.evaluate("node => node === document.activeElement")
    steps = seen.page.locator(".history li")
    assert "45% ↗ 79%" in steps.last.inner_text()
    assert "I am the Seer" in steps.last.inner_text()
    steps.first.get_by_role("button").click()
    assert seen.place() == 3
    seen.page.get_by_role("button", name="Who moved").click()
    assert "Nils about Kira" in seen.page.locator(".movers").inner_text()
    seen.page.get_by_role("button", name="Over time").click()
    assert seen.page.locator(".lines svg.spark").count() == 8
    seen.page.get_by_role("button", name=re.compile("lie, day 2, turn 1")).click()
    assert seen.place() == 16
    assert [name.inner_text() for name in seen.page.locator(".votes .for b").all()] == ["Ada", "Kira", "Nils"]
    seen.page.locator(".now summary").click()
    assert "the report is invented" in seen.page.locator(".now .why").inner_text()


def test_what_a_model_was_asked_can_be_read(watched, stage, games):
    game = next(iter(sorted((games / "models").rglob("*.ndjson*")))).name.split(".")[0]
    seen = watched(f"{stage}/g/models~{game}")
    seen.page.evaluate("navigator.clipboard.writeText = async (text) => { window.copied = text; }")
    evil = {"url": "http://x/'; touch pwned #"}
    seen.page.route("**/call/*", lambda route: route.fulfill(json=route.fetch().json() | evil))
    while seen.page.locator(".now [data-call]").count() == 0:
        seen.press("ArrowRight")
    seen.press("p")
    box = seen.page.get_by_role("dialog")
    box.get_by_text(re.compile(r"call \d+ of \d+ of this seat")).wait_for()
    assert box.get_by_role("heading", name="Reply").is_visible()
    box.get_by_role("button", name="curl").click()
    words = shlex.split(seen.page.evaluate("window.copied"))
    assert words[:2] == ["curl", f"{evil['url']}/chat/completions"], "whoever wrote the record runs nothing in a shell"
    assert words[-2] == "-d"
    before = box.locator("nav").first.inner_text()
    box.get_by_role("button", name="next call").click()
    seen.page.wait_for_function("before => document.querySelector('.call nav').innerText !== before", arg=before)
    box.get_by_role("button", name="Close").click()
    assert seen.page.get_by_role("dialog").count() == 0
    call = seen.page.locator(".now [data-call]").first.get_attribute("data-call")
    # a link to a call opens it; who goes on from there has the address of the place
    seen.page.unroute_all()
    seen.page.goto(f"{stage}/g/models~{game}/call/{call}")
    box.get_by_role("button", name="Close").click()
    seen.press("ArrowLeft")
    place = seen.place()
    seen.page.wait_for_function("place => location.hash.startsWith(`#n=${place}&`)", arg=place)
    seen.page.reload()
    seen.page.locator(".beat").first.wait_for()
    assert (seen.place(), seen.page.get_by_role("dialog").count()) == (place, 0)


@pytest.mark.parametrize("act", ["link", "curl"])
def test_what_is_copied_is_copied_on_a_page_of_plain_http_from_another_machine_too(watched, stage, games, act):
    game = next(iter(sorted((games / "models").rglob("*.ndjson*")))).name.split(".")[0]
    seen = watched(f"{stage}/g/models~{game}")
    # browsers have no clipboard there
    seen.page.evaluate("""() => {
        delete Navigator.prototype.clipboard;
        addEventListener("copy", (event) => (window.copied = event.clipboardData.getData("text/plain")));
    }""")
    while seen.page.locator(".now [data-copy]").count() == 0:
        seen.press("ArrowRight")
    if act == "link":
        seen.page.locator(".now [data-copy]").click()
        assert seen.page.locator(".now [data-copy]").inner_text() == "copied"
        assert seen.page.evaluate("window.copied").endswith(f"#n={seen.place()}&as=everything")
    else:
        seen.press("p")
        seen.page.get_by_role("dialog").get_by_role("button", name="curl").click()
        assert seen.page.evaluate("window.copied").startswith("curl ")


def test_what_is_switched_on_can_be_told_where_colours_are_the_reader_s_own(watched, stage):
    seen = watched(f"{stage}/g/seven", forced_colors="active")
    looks = "button => [getComputedStyle(button).borderTopColor, getComputedStyle(button).outlineStyle].join()"
    on = seen.page.get_by_role("button", name="Thoughts", exact=True)
    off = seen.page.get_by_role("button", name="No spoilers", exact=True)
    assert on.evaluate(looks) != off.evaluate(looks)
    on.click()
    seen.page.mouse.move(0, 0)
    assert "solid" not in on.evaluate("button => (button.blur(), getComputedStyle(button).outlineStyle)")


def test_the_seal_says_what_it_does_not_prove(watched, stage):
    seen = watched(f"{stage}/g/seven")
    seen.page.get_by_role("button", name="sealed").click()
    assert "nor that the moderator was honest" in seen.page.get_by_role("dialog").inner_text()
    seen.press("Escape")
    seen.page.get_by_role("button", name="Share", exact=True).click()
    with seen.page.expect_download() as got:
        seen.page.get_by_role("link", name="Download the record").click()
    assert got.value.suggested_filename == "seven.ndjson"
    seen.press("Escape", "End", "ArrowLeft", "ArrowLeft", "ArrowLeft")
    seen.page.get_by_role("button", name="Share", exact=True).click()
    with seen.page.expect_download() as got:
        seen.page.get_by_role("button", name="Picture of this statement").click()
    assert got.value.path().read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize("screen", ["light", "dark", "phone"])
def test_everybody_can_use_it(watched, stage, screen):
    how: dict[str, Any] = {"color_scheme": screen}
    if screen == "phone":
        how = {"viewport": {"width": 390, "height": 844}, "has_touch": True}
    seen = watched(f"{stage}/g/seven#n=22", **how)
    assert findings(seen.page) == []
    if screen == "phone":
        assert not seen.overflows()
        assert not seen.page.locator(".heat").is_visible()
        seen.page.get_by_role("button", name="Suspicion", exact=True).click()
        assert seen.page.locator(".heat").is_visible()
        assert seen.page.evaluate(SMALL) == []
        seen.page.get_by_role("button", name="Moments").click()
        seen.page.get_by_role("button", name="Kira falsely claims").click()
        assert seen.place() == 16
        assert not seen.overflows()
    seen.press("End", "Home")
    assert findings(seen.page) == []


def test_printed_it_holds_the_whole_game(watched, stage):
    seen = watched(f"{stage}/g/seven")
    assert len(re.findall(rb"/Type\s*/Page\b", seen.page.pdf())) >= 3
    assert seen.place() == 0
    seen.page.emulate_media(media="print")
    assert not seen.page.locator(".game > .bar").is_visible()
    seen.press("ArrowRight", "ArrowRight")
    seen.page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert seen.at() == "the end: the Werewolves win"
    seen.page.evaluate("dispatchEvent(new Event('afterprint'))")
    assert seen.place() == 2


def test_printed_a_long_statement_is_there_to_its_end(watched, stage):
    def long(page: dict[str, Any]) -> dict[str, Any]:
        for beat in page["beats"]:
            if "spoken" in beat:
                beat["spoken"]["text"] = "word " * 600 + "the last"
        return page

    seen = watched(f"{stage}/g/seven#n=2", changed=long)
    words = seen.page.locator(".long")
    seen.page.get_by_text("All 3,008 characters").wait_for()
    assert not words.is_visible()
    seen.page.emulate_media(media="print")
    assert words.is_visible()
    assert words.evaluate("words => words.scrollHeight <= words.clientHeight + 1")


def test_names_of_any_script_stand_for_themselves_and_turn_no_sentence_around(watched, stage):
    def renamed(data: Any) -> Any:
        text = json.dumps(data, ensure_ascii=False).replace("Kira", "\u05e7\u05d9\u05e8\u05d4")
        data = json.loads(text.replace("Bruno", "\u0644\u064a\u0644\u0649"))
        statements = [beat["spoken"] for beat in data["beats"] if beat.get("spoken")]
        statements[0]["text"] = "\u05e7\u05d9\u05e8\u05d4 is a wolf, I say."
        statements[1]["text"] = (
            "Ada \u05d4\u05d9\u05d0 \u05d6\u05d0\u05d1, \u05d0\u05e0\u05d9 \u05d0\u05d5\u05de\u05e8."
        )
        return data

    seen = watched(f"{stage}/g/seven#n=29", changed=renamed)
    assert [bubble.get_attribute("dir") for bubble in seen.page.locator(".bubble > .text").all()[:2]] == ["ltr", "rtl"]
    voters = seen.page.locator(".log .bars small", has=seen.page.locator("bdi")).first
    assert " and " in voters.inner_text()
    assert voters.locator("bdi").count() == len(re.split(", | and ", voters.inner_text()))
    moment = seen.page.locator(".moments span", has_text="falsely claims to be the Seer")
    assert moment.locator("bdi").inner_text() == "\u05e7\u05d9\u05e8\u05d4"
    seen.press("Home", "ArrowRight", "ArrowRight")
    assert seen.page.title() == "Day 1, turn 1: \u2068\u0644\u064a\u0644\u0649\u2069 speaks · seven"
    assert seen.page.locator(".marks [title*=\u2068]").count() > 0


def test_a_long_game_names_the_days_that_have_room_on_a_phone(watched, stage):
    def lengthened(data: Any) -> Any:
        first = data["beats"][1:-1]
        days = max(beat["round"] for beat in first)
        rounds = [beat | {"round": beat["round"] + turn * days} for turn in range(8) for beat in first]
        beats = [data["beats"][0], *rounds, data["beats"][-1]]
        data["beats"] = [beat | {"n": n} for n, beat in enumerate(beats)]
        return data | {"moments": []}

    phone = {"width": 390, "height": 844}
    seen = watched(f"{stage}/g/seven", changed=lengthened, viewport=phone)
    bands = seen.page.locator(".bands button").all()
    assert [band.get_attribute("aria-label") for band in bands[1:3]] == ["Night 1", "Day 1, turn 1"]
    assert seen.page.locator(".bands span", has_text="D4").is_visible()
    assert not seen.page.locator(".bands span", has_text="D10").is_visible()
    named = [band for band in seen.page.locator(".bands span").all() if band.is_visible() and band.inner_text()]
    assert all(band.evaluate("node => node.getBoundingClientRect().height") < 20 for band in named)
    assert all(band.evaluate("node => node.offsetWidth <= node.parentNode.clientWidth") for band in named)
    seen.page.set_viewport_size({"width": 2000, "height": 900})
    assert seen.page.locator(".bands span", has_text="D10").is_visible()


def test_hostile_words_stay_words(watched, stage):
    def worsen(data: Any) -> Any:
        for beat in data["beats"]:
            if (spoken := beat.get("spoken")) is not None:
                # one is as long as can be: more of them take time, and nothing else
                spoken["text"] = "x" * 999 + "🐺" * 99_500 + "x" if spoken["statement"] == 2 else HOSTILE
                spoken["thought"] = HOSTILE
                for judgement in spoken.get("judgements", ()):
                    judgement["reasoning"] = HOSTILE
            for seat in beat["seats"]:
                if seat["name"] == "Bruno":
                    seat["role"] = HOSTILE
        data["game"]["title"] = HOSTILE
        data["moments"][0]["words"] = HOSTILE
        data["problems"] = [HOSTILE]
        return data

    seen = watched(f"{stage}/g/seven#n=29", changed=worsen)
    seen.page.locator(".now").wait_for()
    for summary in seen.page.locator("summary").all()[:6]:
        summary.click()
    assert seen.page.evaluate("window.hacked") is None
    text = seen.page.locator("main").inner_text()
    for words in ("<script>window.hacked", "[U+202E]", "[U+E0041]", "[U+001B][2J", "All 200,000 characters"):
        assert words in text, words
    assert "\u202e" not in seen.page.content()
    assert "[U+D83D]" not in text, "no character is cut in two"
    assert seen.page.locator("main img, main script").count() == 0
    assert not seen.overflows()


def test_a_game_with_an_empty_title_that_was_broken_off_for_an_empty_reason_is_shown(watched, stage):
    def emptied(data: Any) -> Any:
        data["game"]["title"] = ""
        data["beats"][-1] |= {"kind": "stopped", "over": {"stopped": ""}}
        return data

    seen = watched(f"{stage}/g/seven#n=29", changed=emptied)
    seen.page.locator(".beat").first.wait_for()
    seen.press("End")
    seen.page.locator(".beat.stopped").wait_for()


def test_eyes_that_see_no_curve_are_told_of_none_and_a_seat_s_suspicion_is_called_its_own(watched, stage):
    panels = {}
    for eyes in ("everything", "public", "seat:Ada"):
        seen = watched(f"{stage}/g/seven#n=999&as={eyes}")
        if eyes != "public":
            seen.page.get_by_role("button", name="Over time").click()
        panels[eyes] = seen.page.locator(".panels").inner_text()
    assert [eyes for eyes, text in panels.items() if "The curve below" in text] == ["everything"]
    assert [eyes for eyes, text in panels.items() if "by those who had to find out" in text] == ["everything"]
    assert "This player's suspicion of the others, from" in panels["seat:Ada"]


def test_a_damaged_record_says_where_it_breaks(watched, games, tmp_path):
    lines = (games / "seven.ndjson").read_bytes().splitlines(keepends=True)
    (tmp_path / "broken.ndjson").write_bytes(
        b"".join([*lines[:200], lines[200].replace(b"0.", b"1.", 1), *lines[201:]])
    )
    with viewed(tmp_path) as url:
        seen = watched(f"{url}/g/broken", ".problem")
        assert "line 201" in seen.page.locator(".problem").inner_text()
        assert seen.page.locator(".beat").count() == 1
        assert seen.page.get_by_role("button", name="not sealed").count() == 1
        # at 200 %, too
        seen.page.set_viewport_size({"width": 640, "height": 400})
        assert seen.page.locator(".problem").is_visible()


def test_an_unknown_game_is_told_to_be_none_and_leads_to_those_there_are(window, stage):
    window.goto(f"{stage}/g/nothing")
    assert "no game of that name" in window.locator(".problem").inner_text()
    window.get_by_role("link", name="seven").click()
    window.locator(".beat").first.wait_for()


def test_opening_and_stepping_take_time_in_step_with_the_length_of_a_game(watched, stage):
    (short, short_step), (many, many_step) = (cost_of(watched, f"{stage}/g/{name}") for name in ("seven", "many"))
    # it has more than twice the beats: work that grows with their square would take five times as long
    assert many < 4 * short
    assert many_step < 4 * short_step


def cost_of(watched, url: str) -> tuple[float, float]:
    """Return the CPU in seconds of a page's thread to open a game and, at the median, to go one beat on."""
    page = watched(url, alone=True).page
    tools = page.context.new_cdp_session(page)
    tools.send("Performance.enable", {"timeDomain": "threadTicks"})

    def spent() -> float:
        metrics = tools.send("Performance.getMetrics")["metrics"]
        return next(metric["value"] for metric in metrics if metric["name"] == "TaskDuration")

    page.reload(wait_until="networkidle")
    # it counts from the reload on
    opened = spent()
    steps = []
    for _ in range(60):
        page.evaluate(STEP)
        steps.append(spent())
    costs = [after - before for before, after in pairwise([opened, *steps])]
    return opened, statistics.median(costs)
