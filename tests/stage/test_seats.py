"""People play at pages: each sees what its seat may see, answers everything, and nobody sits on another's chair."""

import asyncio
import base64
import contextlib
import gzip
import json
import queue
import re
import subprocess
import sys
import threading
from pathlib import Path
from typing import IO, Self

import pytest

from tests.stage.person import THOUGHT, Person
from tests.stage.served import Events, fetched
from wolfbus.cli import run
from wolfbus.record.reader import open_lines, read_record
from wolfbus.stage import GameFeed
from wolfbus.stage.serving import People

OTHERS = "tests.llm.human.person:Canary"
CANARY = re.compile(rb"CANARY-(?:reason|thought|raw|whisper)")


class Table(contextlib.ExitStack):
    """A game of `wolfbus play` with people at the page that it is served on."""

    game = "persons"

    def __init__(self, out: Path, people: int, *words: str) -> None:
        super().__init__()
        self.path = out / f"{self.game}.ndjson"
        self.links: queue.Queue[str] = queue.Queue()
        self.is_over = threading.Event()
        self.persons: list[Person] = []
        options = {"players": f"human*{people},{OTHERS}*{8 - people}", "seed": 3, "game": self.game, "out": out}
        rules = out / "rules.toml"
        rules.write_text("debate_turns = 3\nmax_rounds = 2\n")
        options |= {"port": 0, "patience": "60s", "config": rules}
        self.words = ["play", "--view", *words, *(f"--{name}={value}" for name, value in options.items())]

    def __enter__(self) -> Self:
        self.callback(self.part)
        process = subprocess.Popen([sys.executable, "-m", "wolfbus", *self.words], stderr=subprocess.PIPE, text=True)
        reader = threading.Thread(target=self.read, args=(process.stderr,), daemon=True)
        reader.start()
        self.process = self.enter_context(process)
        self.callback(reader.join, 20)
        # it stays for no Ctrl-C
        self.callback(process.terminate)
        self.callback(self.leave)
        return self

    def read(self, stderr: IO[str]) -> None:
        """Read the links to seats, and when the game is over."""
        for line in stderr:
            if link := re.match(r"wolfbus: .* (http\S+/seat#\S+)\n", line):
                self.links.put(link[1])
            elif "stays until Ctrl-C" in line:
                self.is_over.set()

    def leave(self) -> None:
        for person in self.persons:
            person.leave()

    def part(self) -> None:
        for person in self.persons:
            if person.ident is not None:
                person.join(60)

    def person(self) -> Person:
        self.persons.append(Person(self.links.get(timeout=60)))
        return self.persons[-1]


def moved(table: Table, person: Person) -> Person:
    """Open a link again that was used: it is issued anew to who runs the game, and moves the seat."""
    with Events(person.url, f"{person.place}/events", Cookie=person.cookie) as before:
        events = iter(before)
        next(events)
        for _ in range(3):
            status, _, body = person.post("/seat/sit", {"token": person.token})
            error = json.loads(body)["error"]
            assert (status, error.startswith("this link was used already"), "http" in error) == (403, True, False)
            assert table.links.qsize() <= 1, "one at a time"
        assert len(json.loads(fetched(person.url, "/library.json")[2])["seats"]) == 1, "nobody waits for this one"
        again = table.person()
        assert again.token != person.token
        assert again.sit()[0] == 200
        assert again.place == person.place
        name, _, news = next(events)
        assert (name, "another browser" in news["words"]) == ("gone", True)
    assert person.get("/data.json")[0] == 403
    assert person.post(f"{person.place}/answer", {"id": "x", "content": None})[0] == 403
    return again


def test_two_people_play_a_whole_game_and_each_sees_only_its_own_seat(tmp_path):
    with Table(tmp_path, 2) as table:
        one, other = (table.person() for _ in range(2))
        for person in (one, other):
            status, headers, _ = person.sit()
            assert status == 200
            assert "HttpOnly" in headers["Set-Cookie"]
            assert "SameSite=Strict" in headers["Set-Cookie"]
            if person is one:
                page = json.loads(one.get("/data.json")[2])
                assert (page["asks"], page["beats"]) == ([], []), "no clock runs before everybody sits"
                one = moved(table, one)

        # a stranger, a foreign cookie and another site get one sentence
        assert fetched(one.url, f"{one.place}/data.json")[0] == 403
        for cookie in (one.cookie, f"wolfbus-seat-{other.place.rpartition('/')[2]}=\xff"):
            assert fetched(one.url, f"{other.place}/data.json", Cookie=cookie)[0] == 403
        for wrong in ({"token": "x"}, {"token": None}, {"token": "\ud800"}, {}, [1]):
            assert one.post("/seat/sit", wrong)[0] in {400, 403}
        reply = one.post(f"{other.place}/answer", {"id": "x", "content": None})
        assert reply[0] == 403
        answer = {"id": "x", "content": None}
        elsewhere = fetched(
            one.url, f"{one.place}/answer", "POST", answer, Origin="http://evil.example", Cookie=one.cookie
        )
        assert elsewhere[0] == 403

        # nobody may look on, not by the game's own page either, which is there once the game has begun
        for place in (one.place, f"/g/{table.game}"):
            with Events(one.url, f"{place}/events", Cookie=one.cookie) as steps:
                assert any(line for _, line, _ in steps)
        refused = {"data.json?as=everything": 400, "events?as=everything": 400, "record.ndjson": 403}
        for path in ("data.json", "page.html", *refused):
            status, _, body = fetched(one.url, f"/g/{table.game}/{path}")
            assert status == refused.get(path, 200), path
            assert not CANARY.search(body)
        assert one.get("/data.json?as=public")[0] == 403, "no ghost before death"

        for person in (one, other):
            person.start()
        for person in (one, other):
            person.join(60)
            assert person.failure is None
            assert not person.is_alive()
            assert not person.refused
        assert table.is_over.wait(60)

        records = list(read_record(open_lines(table.path)))
        roles = {seat.name: seat.role for seat in records[0].event.seats}
        for person in (one, other):
            me = person.last["me"]
            assert person.last["role"] == roles[me]
            canaries = {canary.decode() for canary in CANARY.findall(person.raw)}
            assert canaries <= ({"CANARY-whisper"} if roles[me] == "Werewolf" else set())
            expected = GameFeed(f"seat:{me}", records).page()["beats"]
            assert without_time(person.last["beats"]) == without_time(expected)
            answers = [
                recorded.event
                for recorded in records
                if recorded.event.type == "answered" and recorded.event.seat == me
            ]
            accepted = {event.kind for event in answers if event.outcome == "accepted"}
            assert accepted == person.kinds
            assert "assess_other" in accepted
            # the end: now everything may be seen
            assert person.last["watch"] == ["public", "everything"]
            for viewer in person.last["watch"]:
                seen = json.loads(person.get(f"/data.json?as={viewer}")[2])
                assert (seen["viewer"], seen["me"], seen["watch"]) == (viewer, me, ["public", "everything"])


@pytest.mark.parametrize("words", [(), ("--private-thoughts",)])
def test_what_a_person_agreed_to_is_in_the_record_and_its_thoughts_are_shown_or_not_as_it_says(tmp_path, words):
    with Table(tmp_path, 1, *words) as table:
        person = table.person()
        asked = json.loads(person.post("/seat/sit", {"token": person.token, "agreed": "anything"})[2])
        assert set(asked) == {"consent", "me", "game"}, "nobody sits who did not agree to this very sentence"
        assert person.sit()[0] == 200
        person.start()
        person.join(60)
        assert table.is_over.wait(60)
        records = list(read_record(open_lines(table.path)))
        me = person.last["me"]
        answered = [entry.event for entry in records if entry.event.type == "answered" and entry.event.seat == me]
        first = next(place for place, event in enumerate(answered) if event.outcome == "accepted")
        assert answered[first].consent.words == person.consent == asked["consent"]
        assert all(event.consent is None for event in answered if event.batch > answered[first].batch + 2)
        assert THOUGHT in {event.thought for event in answered}, "the record holds it"

        url = person.url
        shown = b"".join(
            fetched(url, f"/g/{table.game}/{path}")[2]
            for path in ("data.json", f"data.json?as=seat:{me}", "events", "page.html")
        )
        shown += b"".join(gzip.decompress(base64.b64decode(data)) for data in re.findall(rb">(H4sI[^<]*)<", shown))
        record = fetched(url, f"/g/{table.game}/record.ndjson")
        assert run(["export", "csv", str(table.path), "--out", str(tmp_path / "out")]) == 0
        exported = b"".join(path.read_bytes() for path in (tmp_path / "out").rglob("*") if path.is_file())
        assert run(["page", str(table.path), "-o", str(tmp_path / "page.html")]) == 0
        for text in (shown, exported, person.get("/data.json?as=everything")[2]):
            assert (THOUGHT.encode() in text) == (not words)
        assert record[0] == (403 if words else 200)


def without_time(beats: list[dict]) -> list[dict]:
    return [{name: value for name, value in beat.items() if name != "time"} for beat in beats]


def test_an_answer_that_is_not_legal_is_told_and_may_be_given_again(tmp_path):
    with Table(tmp_path, 2) as table:
        people = [table.person() for _ in range(2)]
        for person in people:
            person.sit()
        # who is asked nothing in the first night bids, and both do in the end
        people[1].start()
        one = people[0]
        ask = next(iter(first_asks(one)))
        wrong = {"bid": 99} if ask["kind"] == "bid" else {"target": "Nobody at all"}
        status, _, body = one.post(f"{one.place}/answer", {"id": ask["id"], "content": wrong})
        assert status == 422
        assert json.loads(body)["error"]
        assert one.post(f"{one.place}/answer", {"id": ask["id"], "content": {"what": 1}})[0] == 422
        # half a character, which nothing can hold, costs the person nothing either
        for half in (
            {"thought": "\ud800"},
            {"content": {"text": "I \ud83d"}},
            {"content": {"\ud83d": 1}},
            {"id": "\udc00"},
        ):
            assert one.post(f"{one.place}/answer", {"id": ask["id"], "content": None, **half})[0] == 400
        assert [question["id"] for question in first_asks(one)] == [ask["id"]]
        assert one.post(f"{one.place}/answer", {"id": ask["id"], "content": None})[0] == 200
        assert one.post(f"{one.place}/answer", {"id": ask["id"], "content": None})[0] == 409


def test_nobody_plays_at_a_page_where_no_reply_can_hold_what_they_agree_to(tmp_path, capsys):
    rules = tmp_path / "small.toml"
    rules.write_text("max_reply_bytes = 300\n")
    words = ["--players=human,scripted*7", "--port=0", f"--config={rules}", f"--out={tmp_path}", "--patience=1s"]
    assert run(["play", "--view", *words]) == 2
    assert "max_reply_bytes: 1024 or more with people at a page" in capsys.readouterr().err


def first_asks(person: Person) -> list[dict]:
    page = json.loads(person.get("/data.json")[2])
    if page["asks"]:
        return page["asks"]
    with Events(person.url, f"{person.place}/events?after={page['line']}", Cookie=person.cookie) as events:
        for _, _, step in events:
            if step["asks"]:
                return step["asks"]
    raise AssertionError("nothing was ever asked")


def test_seats_of_games_long_over_are_forgotten_and_no_other():
    links: list[str] = []
    people = People(lambda _seat, link: links.append(link))

    async def sit() -> None:
        people.start(asyncio.get_running_loop())
        people.sit("goes on", "Ada")
        for number in range(66):
            seat = people.sit(f"over {number}", "Ada")
            seat.leave()
            await seat.change(20)

    asyncio.run(sit())
    going_on, *over = (people.redeem(link.partition("#")[2]) for link in links)
    assert going_on is not None
    assert people.seat(going_on.id, going_on.secret) is going_on
    assert over[0] is None
    assert None not in over[2:]


def test_a_seat_whose_game_was_broken_off_before_anybody_sat_there_waits_for_nobody():
    people = People(lambda _seat, _link: None)

    async def sit() -> None:
        people.start(asyncio.get_running_loop())
        seat = people.sit("broken off", "Ada")
        assert people.waiting() == [{"game": "broken off", "seat": "Ada"}]
        seat.leave()
        await seat.change(20)

    asyncio.run(sit())
    assert people.waiting() == []
