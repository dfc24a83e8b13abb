"""A real server of pages, asked over HTTP: live, resumed, walled off, and honest about what is broken."""

from __future__ import annotations

import json
import os
import re
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from urllib.parse import quote

import pytest

from tests.stage.served import Events, data, fetched, leave, names, sealed, server, slowed

RECORDS, LINES = sealed()
SECRET = re.compile(rb"(?:secret|whisper|prompt|reply|model|raw)-of-\w+")


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    (tmp_path / "whole.ndjson").write_bytes(b"".join(LINES))
    return tmp_path


def put(runs: Path, lines: tuple[bytes, ...] | list[bytes], name: str = "live") -> None:
    with (runs / f"{name}.ndjson").open("ab") as file:
        file.writelines(lines)


def followed(events: Events, beats: list) -> tuple[list, int]:
    """Take in a stream to its end; the last line that it told."""
    last = 0
    for name, line, step in events:
        assert name == "step"
        assert step["from"] == len(beats)
        beats = beats + step["beats"]
        last = line or 0
        if step["over"]:
            break
    return beats, last


def test_a_record_that_grows_is_watched_to_its_end(runs):
    put(runs, LINES[:100])
    with server(runs) as stage:
        page = data(stage.url, "/g/live/data.json")
        assert page["line"] == 100
        assert page["proof"]["sealed"] is False, "its end is not sealed yet"
        assert page["live"]["waiting"]
        events = Events(stage.url, f"/g/live/events?after={page['line']}")
        # a line that is half written is no line yet
        with (runs / "live.ndjson").open("ab") as file:
            file.write(LINES[100][:40])
            file.flush()
            file.write(LINES[100][40:])
        put(runs, LINES[101:])
        beats, last = followed(events, page["beats"])
        events.close()
        whole = data(stage.url, "/g/whole/data.json")
        assert beats == whole["beats"]
        assert last == len(LINES)
        assert data(stage.url, "/g/live/data.json")["proof"] == whole["proof"]


def test_a_file_is_read_by_one_at_a_time_and_wholly_even_if_whoever_asked_is_gone(runs, monkeypatch):
    working = slowed(monkeypatch)
    put(runs, LINES[:60])
    with server(runs) as stage, ThreadPoolExecutor() as browsers:
        for page in browsers.map(lambda _: data(stage.url, "/g/live/data.json"), range(6)):
            assert (page["line"], page["problems"]) == (60, [])
        put(runs, LINES[60:])
        leave(stage.url, "/g/live/data.json")
        assert data(stage.url, "/g/live/data.json")["line"] == len(LINES)
    assert max(threads.count("read") for threads in working) == 1


def test_a_record_that_is_written_anew_while_it_is_watched_is_opened_anew_however_far_it_has_grown_since(runs):
    put(runs, LINES[:60])
    with server(runs) as stage, Events(stage.url, "/g/live/events") as events:
        steps = iter(events)
        assert next(steps)[0] == "step"
        again = sealed("8")[1]
        (runs / "live.ndjson").write_bytes(b"".join(again[:10]))
        assert [(name, step["words"]) for name, _, step in steps] == [("gone", "the file was written anew")]
        put(runs, again[10:100])
        page = data(stage.url, "/g/live/data.json")
        assert (page["line"], page["problems"], page["over"]) == (100, [], False)


@pytest.mark.parametrize("viewer", ["everything", "public", f"seat:{names()[0]}"])
def test_a_stream_that_broke_goes_on_where_it_stopped_even_on_a_server_that_was_started_again(runs, viewer):
    put(runs, LINES[:60])
    with server(runs) as stage:
        port = int(stage.url.rpartition(":")[2])
        events = Events(stage.url, f"/g/live/events?as={viewer}")
        name, line, step = next(iter(events))
        beats = step["beats"]
        assert name == "step"
    events.close()
    put(runs, LINES[60:])
    with server(runs, port=port) as stage:
        events = Events(stage.url, f"/g/live/events?as={viewer}&after=1", Last_Event_ID=str(line))
        beats, _ = followed(events, beats)
        events.close()
        assert beats == data(stage.url, f"/g/whole/data.json?as={viewer}")["beats"]


def test_spectators_get_no_secret_from_any_address_while_a_game_goes_on_and_all_of_it_after(runs):
    put(runs, LINES[:-1])
    (runs / "whole.ndjson").unlink()
    seen = b""
    with server(runs, public=True) as stage:
        for path in (
            *("/", "/library.json", "/library.json?q=secret-of", "/g/live", "/g/live/data.json", "/learn.json"),
            *(f"/g/live/data.json?as={eyes}" for eyes in ("everything", "public", *names())),
            *(f"/g/live/events?as={eyes}" for eyes in ("everything", names()[0])),
            *("/g/live/record.ndjson", "/g/live/page.html", "/g/live/page.html?as=everything", "/g/live/nothing"),
            *(f"/g/live/call/{recorded.n}.json" for recorded in RECORDS if recorded.event.type == "model_call"),
        ):
            status, headers, body = fetched(stage.url, path)
            seen += body + json.dumps(headers).encode()
            assert status in {200, 400, 403, 404}, path
        events = Events(stage.url, "/g/live/events")
        lines = iter(events)
        _, line, _ = next(lines)
        put(runs, LINES[-1:])
        event_names = [name for name, _, _ in lines]
        seen += events.raw
        events.close()
        assert event_names == ["step", "reload"]
        assert line < len(LINES) / 3
        assert data(stage.url, "/g/live/data.json")["viewer"] == "everything"
        assert b"secret-of" in fetched(stage.url, "/g/live/data.json")[2]
    assert not SECRET.findall(seen)
    assert b'"seed"' not in seen


def test_a_record_that_nobody_goes_on_with_is_said_to_be_so_until_somebody_does(runs):
    put(runs, LINES[:100])
    record, deadline_s = runs / "live.ndjson", max(RECORDS[0].event.config.deadlines.model_dump().values())
    for age_s, abandoned in ((deadline_s, False), (deadline_s + 60, True)):
        os.utime(record, (time.time() - age_s,) * 2)
        with server(runs) as stage:
            page = data(stage.url, "/g/live/data.json")
            assert ("nobody has written" in (page["stalled"] or "")) == abandoned
            assert (page["over"], page["problems"]) == (False, [])
    os.utime(runs / "whole.ndjson", (1, 1))
    with server(runs) as stage, Events(stage.url, f"/g/live/events?after={page['line']}") as events:
        steps = iter(events)
        assert next(steps)[2]["stalled"]
        put(runs, LINES[100:])
        assert next(steps)[2]["stalled"] is None
        assert data(stage.url, "/g/whole/data.json")["stalled"] is None, "it has its end"


def test_pages_of_other_sites_and_other_names_are_refused(runs):
    with server(runs) as stage:
        location = stage.url.removeprefix("http://")
        for path in ("/", "/g/whole/data.json", "/g/whole/events", "/static/page.css"):
            assert fetched(stage.url, path, Host="evil.example")[0] == 403
            assert fetched(stage.url, path, Host=f"evil.example:{location.partition(':')[2]}")[0] == 403
            assert fetched(stage.url, path, Origin="http://evil.example")[0] == 403
            assert fetched(stage.url, path, Origin="null")[0] == 403
            assert fetched(stage.url, path, Origin="http://[")[0] == 403
            assert fetched(stage.url, path, Host=location.replace("127.0.0.1", "localhost"))[0] in {200, 404}
        _, headers, body = fetched(stage.url, "/", Host="evil.example")
        assert json.loads(body)["error"].startswith("this server is not known by that name")
        assert "default-src 'none'" in headers["Content-Security-Policy"]
        assert fetched(stage.url, "/g/whole/data.json", "POST", {})[0] == 403


def test_a_damaged_record_shows_what_is_whole_and_says_where_it_breaks(runs):
    broken = [*LINES[:80], LINES[80].replace(b'"n":81', b'"n":82'), *LINES[81:]]
    (runs / "below").mkdir()
    put(runs, broken, "below/broken")
    with server(runs) as stage:
        # an id leads there alone, where there is only one
        page = data(stage.url, "/g/broken/data.json")
        assert fetched(stage.url, "/g/broken/record.ndjson")[2] == b"".join(broken)
        assert page["line"] == 80
        assert page["beats"] == [beat for beat in data(stage.url, "/g/whole/data.json")["beats"] if beat["line"] <= 80]
        assert "line 81" in page["problems"][0]
        assert page["proof"]["sealed"] is False
        (broken_game,) = [game for game in data(stage.url, "/library.json")["games"] if game["id"] == "below~broken"]
        assert "line 81" in broken_game["error"]


def test_a_file_whose_name_is_not_utf_8_hides_no_game_and_is_shown_itself(runs):
    folder = runs / os.fsdecode(b"caf\xe9")
    try:
        folder.mkdir()
    except OSError:
        pytest.skip("a file system whose names are Unicode")
    put(folder, LINES, os.fsdecode(b"\xff"))
    for _ in ("anew", "from the index"):
        with server(runs) as stage:
            listed = {game["id"] for game in data(stage.url, "/library.json")["games"]}
            assert listed == {"whole", r"caf\xe9~\xff"}
            page = data(stage.url, r"/g/caf%5Cxe9~%5Cxff/data.json")
            assert page["line"] == len(LINES)
            for link, saved in (("record", "%FF.ndjson"), ("page", "caf%5Cxe9~%5Cxff.html")):
                status, headers, _ = fetched(stage.url, page["links"][link])
                assert (status, headers["Content-Disposition"].partition("''")[2]) == (200, saved)
    with server(folder) as stage:
        assert len(data(stage.url, "/library.json")["games"]) == 1


@pytest.mark.parametrize(("lines", "why"), [([], "no whole line"), ([b"no record\n"], "line 1")])
def test_a_record_of_which_nothing_can_be_read_says_why(runs, lines, why):
    put(runs, lines)
    with server(runs) as stage:
        status, _, body = fetched(stage.url, "/g/live/data.json")
    assert status == 404
    assert why in json.loads(body)["error"]


def test_a_link_to_a_seat_of_a_server_that_is_gone_is_told_so_by_the_next(runs):
    with server(runs) as stage:
        headers = {"Origin": stage.url, "Content_Type": "application/json"}
        sat = fetched(stage.url, "/seat/sit", "POST", {"token": "x"}, **headers)
        for status, _, body in (sat, fetched(stage.url, "/seat/x/data.json")):
            assert status == 403
            assert "link" in json.loads(body)["error"]


def test_a_game_that_is_not_there_answers_with_what_there_is(runs):
    with server(runs) as stage:
        status, _, body = fetched(stage.url, "/g/nothing/data.json")
        assert status == 404
        assert json.loads(body)["games"] == ["whole"]
        assert fetched(stage.url, "/g/nothing")[0] == 404
        assert fetched(stage.url, f"/g/whole/call/{'9' * 5000}.json")[0] == 404
        assert fetched(stage.url, "/s/nothing.json")[0] == 404
        for name in ("..%2fapp.py", "..%2fstatic%2fpage.js", f"{'x' * 300}.js", "%00.js"):
            status, _, body = fetched(stage.url, f"/static/{name}")
            assert (status, json.loads(body)["error"]) == (404, "there is no such file")


def test_a_file_of_any_name_is_served_and_saved_under_it(runs):
    name = 'a "b"\r\nX-Set: 1 ü?as=#%41&c'
    (runs / "whole.ndjson").rename(runs / f"{name}.ndjson")
    with server(runs) as stage:
        (game,) = data(stage.url, "/library.json")["games"]
        assert game["id"] == name
        links = data(stage.url, f"/g/{quote(name)}/data.json?as={names()[0]}")["links"]
        assert links["page"].endswith(f"page.html?as=seat%3A{names()[0]}")
        for link, ending in ((links["record"], "ndjson"), (links["page"], "html")):
            status, headers, _ = fetched(stage.url, link)
            assert (status, "X-Set" in headers) == (200, False)
            assert headers["Content-Disposition"] == f"attachment; filename*=UTF-8''{quote(name)}.{ending}"


def test_a_model_call_is_shown_with_its_prompt_in_pieces(runs):
    (line,) = [recorded.n for recorded in RECORDS if recorded.event.type == "model_call"]
    with server(runs) as stage:
        call = data(stage.url, f"/g/whole/call/{line}.json")
    assert call["segments"] == [{"role": "system", "share": "rules", "new": True, "text": "prompt-of-Ada"}]
    assert (call["place"], call["of"], call["reply"], call["read"]) == (1, 1, "reply-of-Ada", ["clean"])
    assert (call["round"], call["phase"], call["turn"]) == (1, "debate", 1)


def test_a_library_finds_games_by_what_was_said_and_reads_a_record_once(runs):
    with server(runs) as stage:
        (game,) = data(stage.url, "/library.json?q=all%20OF%20you")["games"]
        assert data(stage.url, "/library.json?q=nobody+said+this")["games"] == []
    with server(runs / "whole.ndjson") as stage:
        assert data(stage.url, "/library.json")["games"] == [game]
    assert game["id"] == "whole"
    assert game["names"] == list(names())
    assert game["state"] == "ended"
    # another file, but nothing that shows from outside
    record = runs / "whole.ndjson"
    before = record.stat()
    record.write_bytes(b"x" * before.st_size)
    os.utime(record, ns=(before.st_atime_ns, before.st_mtime_ns))
    with server(runs) as stage:
        assert data(stage.url, "/library.json")["games"] == [game]
