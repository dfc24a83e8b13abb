"""A game is watched in a browser while it goes on: to its end, through a restart of the server, by people at seats."""

import json
import os
import signal
from functools import partial

import pytest

from tests.stage.looking import findings
from tests.stage.served import sealed, server
from tests.stage.test_seats import Table
from tests.stage.watching import watch
from wolfbus.record.reader import open_lines, read_record

LINES = sealed()[1]
CLICKING = """() => {
    const kinds = (window.kinds = new Set());
    const answer = () => {
        for (const form of document.querySelectorAll("form.ask:not([data-tried])")) {
            form.dataset.tried = 1;
            kinds.add(form.className.split(" ").at(-1));
            const go = form.querySelector(".targets button") ?? form.querySelector("button.go");
            if (go.disabled !== go.matches(".go")) kinds.add("could be sent untouched");
            const answers = { text: "I am here.", suspicion: 80, bid: 9, kind: "none", confidence: 70 };
            for (const [name, value] of Object.entries(answers)) {
                const input = form.elements[name];
                if (!input || (name === "kind" && form.elements.suspicion)) continue;
                input.value = value;
                input.dispatchEvent(new Event("input", { bubbles: true }));
            }
            go.click();
        }
    };
    new MutationObserver(answer).observe(document, { childList: true, subtree: true });
    answer();
}"""


SKIPPING = """() => {
    const skip = () => document.querySelectorAll("form.ask:not([data-tried])").forEach((form) => {
        form.dataset.tried = 1;
        (form.querySelector("button.go + button") ?? form.querySelector(".targets button:last-child")).click();
    });
    new MutationObserver(skip).observe(document, { childList: true, subtree: true });
    skip();
}"""


TRANSCRIPT = "document.querySelector('.log').clientHeight / innerHeight"


def sit(page) -> None:
    """Agree, sit down, and put the role card away."""
    page.get_by_role("button", name="I agree, and sit down").click()
    page.locator("form.ask, .idle, .top h1").first.wait_for()


def refuse(status: int, words: str, route) -> None:
    route.fulfill(status=status, content_type="application/json", body=json.dumps({"error": words}))


def put(folder, lines) -> None:
    with (folder / "live.ndjson").open("ab") as file:
        file.writelines(lines)


def test_a_game_that_goes_on_is_followed_to_its_end_through_a_restart_of_the_server(browser, tmp_path, kept_port):
    put(tmp_path, LINES[:120])
    with server(tmp_path, port=kept_port) as first:
        seen = watch(browser, f"{first.url}/g/live")
        page = seen.page
        before = seen.place()
        assert page.locator(".log").get_attribute("aria-live") == "polite"
        put(tmp_path, LINES[120:200])
        page.wait_for_function("before => Number(document.querySelector('.now').dataset.beat) > before", arg=before)
        seen.press("ArrowLeft", "ArrowLeft")
        page.get_by_role("button", name="2 beats behind").wait_for()
        assert page.locator(".log").get_attribute("aria-live") == "off"
        stays = seen.place()
    page.get_by_text("The connection is lost").wait_for()
    with server(tmp_path, port=kept_port):
        put(tmp_path, LINES[200:])
        page.get_by_role("button", name="LIVE").wait_for(state="detached", timeout=60_000)
        assert page.get_by_text("The connection is lost").count() == 0
        assert seen.place() == stays, "who looks at something is not torn away"
        seen.press("End")
        assert seen.at().startswith("the end")
    assert [
        line for line in seen.console if "ERR_CONNECTION_REFUSED" not in line and "ERR_INCOMPLETE" not in line
    ] == []
    page.context.close()


def test_a_game_that_the_server_shows_no_longer_is_not_called_live(browser, tmp_path, kept_port):
    put(tmp_path, LINES[:120])
    with server(tmp_path, port=kept_port) as first:
        page = watch(browser, f"{first.url}/g/live").page
        page.get_by_role("button", name="LIVE").wait_for()
    (tmp_path / "live.ndjson").unlink()
    with server(tmp_path, port=kept_port):
        page.get_by_text("The server shows this no longer").wait_for(timeout=60_000)
        assert page.get_by_role("button", name="LIVE").count() == 0
    page.context.close()


def test_a_game_that_nobody_goes_on_with_is_not_called_live_until_somebody_does(browser, tmp_path):
    put(tmp_path, LINES[:120])
    os.utime(tmp_path / "live.ndjson", (1, 1))
    with server(tmp_path) as stage:
        seen = watch(browser, f"{stage.url}/g/live")
        page = seen.page
        assert "not finished" in page.locator(".status").inner_text()
        assert "nobody has written" in page.locator(".problem").inner_text().lower()
        put(tmp_path, LINES[120:200])
        page.get_by_role("button", name="LIVE").wait_for()
        assert page.locator(".problem").count() == 0
        seen.close()


@pytest.mark.timeout(120)
def test_two_people_play_a_whole_game_at_their_pages(browser, tmp_path):
    with Table(tmp_path, 2) as table:
        links = [table.links.get(timeout=60) for _ in range(2)]
        sizes = ({"width": 390, "height": 844}, {"width": 844, "height": 390})
        phones = [{"viewport": size, "has_touch": True, "is_mobile": True} for size in sizes]
        people = [watch(browser, link, ".consent", **phone) for link, phone in zip(links, phones, strict=True)]
        for person in people:
            assert "is kept in the record" in person.page.locator(".agreed").inner_text()
            assert findings(person.page) == []
            sit(person.page)
        for person in people:
            card = person.page.get_by_role("dialog", name="Your role")
            card.wait_for()
            assert "You win with" in card.inner_text()
            assert card.get_by_role("link", name="Learn").count() == 1
            assert findings(person.page) == []
            card.get_by_role("button", name="Close").click()
            assert "#" not in person.page.url, "the token is used up and gone from the address"
        people[0].page.locator("form.ask").first.wait_for()
        assert "Day 0" not in people[0].page.locator(".top").inner_text()
        for person in people:
            assert findings(person.page) == []
            assert not person.overflows()
            assert person.page.evaluate(TRANSCRIPT) >= 0.4
            person.page.get_by_role("button", name="Your role").click()
            person.press("Escape")
        people[0].page.reload()
        people[0].page.locator("form.ask").first.wait_for()
        for person in people:
            person.page.evaluate(CLICKING)
        for person in people:
            person.page.get_by_text("Thank you for playing").wait_for(timeout=60_000)
            kinds = set(person.page.evaluate("[...kinds]"))
            assert {"bid", "assess_other", "vote"} <= kinds
            assert "could be sent untouched" not in kinds
            assert person.page.evaluate(TRANSCRIPT) >= 0.4
            person.page.get_by_role("button", name="See everything").click()
            person.page.locator(".players small", has_text="Werewolf").nth(1).wait_for(state="attached")
        assert table.is_over.wait(60)
        for person in people:
            person.close()
        page = browser.new_page()
        page.goto(links[0])
        assert "leads to no seat" in page.locator(".problem").inner_text()
        page.close()


def test_a_seat_goes_on_after_its_connection_was_lost_says_nothing_by_a_button_and_looks_on_till_it_is_told_not_to(
    browser, tmp_path
):
    with Table(tmp_path, 1) as table:
        link = table.links.get(timeout=60)
        person = watch(browser, link, ".consent", viewport={"width": 320, "height": 640})
        page = person.page
        sit(page)
        page.get_by_role("button", name="Close").click()
        # the same link leads there again, without an answer of the person's; another browser is refused
        page.goto("about:blank")
        page.goto(link)
        page.locator("form.ask").first.wait_for()
        assert table.links.empty()
        boxes = [page.locator(f".ask {part}").first.bounding_box() for part in (".left", ":nth-child(2)")]
        assert boxes[0]["y"] + boxes[0]["height"] <= boxes[1]["y"], "the time left covers no question"
        wake = "document.dispatchEvent(new Event('visibilitychange'))"
        page.route("**/events*", lambda route: route.abort())
        page.reload()
        page.get_by_text("The connection is lost").wait_for()
        page.route("**/data.json*", lambda route: route.abort())
        with page.expect_event("requestfailed", lambda request: "data.json" in request.url):
            page.evaluate(wake)
        page.unroute_all()
        page.get_by_text("The connection is lost").wait_for(state="detached")
        person.console.clear()
        page.evaluate(SKIPPING)
        page.get_by_text("Thank you for playing").wait_for(timeout=60_000)
        me = page.locator("h1").inner_text()
        look = page.get_by_role("button", name="See everything")
        for act, address in (
            (look.click, "as=everything"),
            (lambda: page.evaluate(wake), "as=everything"),
            (look.click, "?"),
        ):
            with page.expect_response(lambda response, address=address: response.url.endswith(address)):
                act()
            page.locator(f"[data-do=watch][aria-pressed={str(address != '?').lower()}]").wait_for()
            assert page.locator("h1").inner_text() == me
        assert table.is_over.wait(60)
    events = (one.event for one in read_record(open_lines(table.path)) if one.event.type == "answered")
    own = [event for event in events if event.seat == me.split()[2]]
    assert {"bid", "assess_other"} <= {event.kind for event in own}
    assert not [event for event in own if event.outcome == "timed_out"]
    assert not [event for event in own if event.kind == "assess_other" and event.content is not None]
    person.close()


def test_who_sits_is_told_of_a_refused_answer_that_time_is_up_and_that_the_game_was_broken_off(browser, tmp_path):
    with Table(tmp_path, 1) as table:
        page = watch(browser, table.links.get(timeout=60), ".consent").page
        sit(page)
        page.get_by_role("button", name="Close").click()
        page.locator("form.ask").first.wait_for()
        for status, words in ((422, "a bid is a whole number from 0 to 10"), (409, "its time is over")):
            page.unroute_all()
            page.route("**/answer", partial(refuse, status, words))
            if page.locator("form.bid").count():
                page.locator("form.ask input[type=range]").first.press("ArrowRight")
            page.locator("form.ask nav button").first.click()
            page.get_by_role("alert").filter(has_text=words[1:]).wait_for()
            assert page.locator("form.ask nav button").first.is_enabled() == (status == 422), "one can be mended"
        page.reload()
        page.locator("form.ask").first.wait_for(state="attached")
        # an hour passes from look to look, whatever the server says meanwhile of the time
        page.evaluate("() => { let now = Date.now(); Date.now = () => (now += 3_600_000) }")
        page.get_by_text("Time is up; any answer").first.wait_for()
        table.process.send_signal(signal.SIGINT)
        page.get_by_text("The game was broken off").wait_for()
    page.context.close()
