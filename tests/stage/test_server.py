"""A real server of pages, asked over HTTP: live, resumed, walled off, and honest about what is broken."""

import gzip
import json
import os
import re
import shutil
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from urllib.parse import quote

import pytest

from tests.record.synthetic import lines_of
from tests.stage.served import Events, data, fetched, leave, names, sealed, server, slowed
from wolfbus.cli import run
from wolfbus.messages.events import AnsweredAssessOther, Stopped
from wolfbus.record.line import Recorded

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
        assert [(name, step["words"]) for name, _, step in steps] == [("gone", "the file was written anew, or is gone")]
        put(runs, again[10:100])
        page = data(stage.url, "/g/live/data.json")
        assert (page["line"], page["problems"], page["over"]) == (100, [], False)


@pytest.mark.parametrize("is_another_file", [True, False])
def test_a_longer_game_in_the_place_of_one_that_was_seen_to_its_end_is_shown_instead(runs, is_another_file):
    path = runs / "whole.ndjson"
    other = sealed("8")[1]
    short = b"".join(min(LINES, other, key=len))
    long = b"".join(max(LINES, other, key=len))
    path.write_bytes(short)
    with server(runs) as stage:
        before = data(stage.url, "/g/whole/data.json")
        if is_another_file:
            path.unlink()
        path.write_bytes(long)
        after = data(stage.url, "/g/whole/data.json")
    assert {page["game"]["seed"] for page in (before, after)} == {"7", "8"}
    assert (after["over"], after["problems"]) == (True, [])


@pytest.mark.parametrize("viewer", ["everything", "public", f"seat:{names()[0]}"])
def test_a_stream_that_broke_goes_on_where_it_stopped_even_on_a_server_that_was_started_again(runs, viewer, kept_port):
    put(runs, LINES[:60])
    with server(runs, port=kept_port) as stage:
        events = Events(stage.url, f"/g/live/events?as={viewer}")
        name, line, step = next(iter(events))
        beats = step["beats"]
        assert name == "step"
    events.close()
    put(runs, LINES[60:])
    with server(runs, port=kept_port) as stage:
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


def test_a_game_that_was_broken_off_stays_hidden_from_spectators_for_its_deal_is_played_again(runs):
    (runs / "whole.ndjson").unlink()
    cut = [(recorded.audience, recorded.event) for recorded in RECORDS[:200]]
    ending = [*cut, ("researchers", Stopped(reason="secret-of-Ada"))]
    put(runs, lines_of(Recorded(number, number / 4, *told) for number, told in enumerate(ending, 1)))
    with server(runs, public=True) as stage:
        page = data(stage.url, "/g/live/data.json")
        assert (page["viewer"], page["viewers"], page["over"], page["live"]) == ("public", ["public"], True, None)
        with Events(stage.url, "/g/live/events") as events:
            assert [name for name, _, _ in events] == ["step", "gone"]
        seen = json.dumps(page).encode()
        for path in ("data.json?as=everything", f"data.json?as={names()[0]}", "record.ndjson", "page.html"):
            seen += fetched(stage.url, f"/g/live/{path}")[2]
        seen += fetched(stage.url, "/library.json?q=live")[2]
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
        assert "`wolfbus view --name`" in json.loads(body)["error"], "no other command takes one"
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


def test_an_edited_record_with_an_answer_of_nobody_at_the_table_is_shown_and_hides_no_other(runs):
    first = next(line for line in RECORDS if isinstance(line.event, AnsweredAssessOther))
    edited = first._replace(event=first.event.model_copy(update={"seat": "Zed"}))
    (runs / "edited.ndjson").write_bytes(b"".join(lines_of(edited if line is first else line for line in RECORDS)))
    with server(runs) as stage:
        assert {game["id"] for game in data(stage.url, "/library.json")["games"]} == {"edited", "whole"}
        whole = data(stage.url, "/g/whole/data.json")["beats"]
        shown = data(stage.url, "/g/edited/data.json")["beats"]
    assert [beat["kind"] for beat in shown] == [beat["kind"] for beat in whole]


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
            assert listed == {"whole", "caf=e9~=ff"}
            page = data(stage.url, "/g/caf=e9~=ff/data.json")
            assert page["line"] == len(LINES)
            for link, saved in (("record", "%FF.ndjson"), ("page", "caf%3De9~%3Dff.html")):
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
        assert game["id"] == name.replace("=", "=3d")
        links = data(stage.url, f"/g/{quote(game['id'])}/data.json?as={names()[0]}")["links"]
        assert links["page"].endswith(f"page.html?as=seat%3A{names()[0]}")
        for link, saved in ((links["record"], f"{name}.ndjson"), (links["page"], f"{game['id']}.html")):
            status, headers, _ = fetched(stage.url, link)
            assert (status, "X-Set" in headers) == (200, False)
            assert headers["Content-Disposition"] == f"attachment; filename*=UTF-8''{quote(saved)}"


def test_a_model_call_is_shown_with_its_prompt_in_pieces(runs):
    (line,) = [recorded.n for recorded in RECORDS if recorded.event.type == "model_call"]
    with server(runs) as stage:
        call = data(stage.url, f"/g/whole/call/{line}.json")
    assert call["segments"] == [{"role": "system", "share": "rules", "new": True, "text": "prompt-of-Ada"}]
    assert (call["place"], call["of"], call["reply"], call["read"]) == (1, 1, "reply-of-Ada", ["clean"])
    assert (call["round"], call["phase"], call["turn"]) == (1, "debate", 1)


def test_a_library_finds_games_by_what_was_said_and_reads_a_record_once(runs, monkeypatch):
    with server(runs) as stage:
        (game,) = data(stage.url, "/library.json?q=all%20OF%20you")["games"]
        assert data(stage.url, "/library.json?q=nobody+said+this")["games"] == []
    with server(runs / "whole.ndjson") as stage:
        assert data(stage.url, "/library.json")["games"] == [game]
    assert game["id"] == "whole"
    assert game["names"] == list(names())
    assert game["state"] == "ended"
    monkeypatch.delattr("wolfbus.stage.library.summary_of")
    with server(runs) as stage:
        assert data(stage.url, "/library.json")["games"] == [game]


NAMES = [
    *("a~b", "a/b", "a/records/b", "records/a/b", "records/b", "b", "a~/b", "a/~b", "~~b", "~b", "a~~b", "a=7eb"),
    *("a=7e/b", "records~b", "records/records/b", "b.ndjson", "b=gz", os.fsdecode(b"\xff"), "\\xff", "=ff"),
]


@pytest.fixture
def named(tmp_path: Path) -> Path:
    """Games whose names and folders are easily taken for one another, each of its own length, plain and compressed."""
    for number, name in enumerate(NAMES, 1):
        path = tmp_path / f"{name}.ndjson"
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            path.write_bytes(b"".join(LINES[:number]))
        except OSError:
            pytest.skip("a file system whose names are Unicode")
        path.with_name(f"{path.name}.gz").write_bytes(gzip.compress(b"".join(LINES[: len(NAMES) + number])))
    return tmp_path


def test_no_two_records_have_one_address(named):
    with server(named) as stage:
        listed = [game["id"] for game in data(stage.url, "/library.json")["games"]]
        assert len(listed) == len(set(listed)) == 2 * len(NAMES)
        shown = [data(stage.url, f"/g/{quote(game)}/data.json")["line"] for game in listed]
        assert sorted(shown) == list(range(1, 2 * len(NAMES) + 1))


def test_a_game_of_a_study_is_found_without_the_name_of_its_folder_where_no_other_is_called_so(runs):
    (runs / "first" / "records").mkdir(parents=True)
    put(runs, LINES[:20], "first/records/1")
    with server(runs) as stage:
        for name in ("first~~1", "first~1", "1"):
            assert data(stage.url, f"/g/{name}/data.json")["line"] == 20
    put(runs, LINES[:30], "first/1")
    with server(runs) as stage:
        assert [data(stage.url, f"/g/{name}/data.json")["line"] for name in ("first~~1", "first~1")] == [20, 30]
        assert fetched(stage.url, "/g/1/data.json")[0] == 404


def test_a_copy_of_a_study_has_an_address_of_its_own(games, tmp_path):
    for name in ("one", "two"):
        shutil.copytree(games / "scripted", tmp_path / name)
    with server(tmp_path) as stage:
        studies = [study["id"] for study in data(stage.url, "/library.json")["studies"]]
        assert studies == [studies[0], f"{studies[0]}~two"]


def listed(root: Path) -> list:
    """What a server that has just been started tells of the games below a folder."""
    with server(root) as stage:
        return data(stage.url, "/library.json")["games"]


def kept(root: Path) -> Path:
    """The file in which a library keeps what it knows."""
    return root / ".wolfbus" / "library"


def test_what_a_library_keeps_was_read_by_this_user_and_anything_else_is_read_again(
    runs, tmp_path_factory, monkeypatch
):
    true = listed(runs)
    whole = kept(runs).read_bytes()
    # forged as an index of earlier versions, and of others
    status = (runs / "whole.ndjson").stat()
    stamp = [status.st_size, status.st_mtime_ns]
    forged = {"v": 1, "games": {"whole": {"stamp": stamp, "summary": {**true[0], "winner": "nobody"}}}}
    (runs / ".index.json").write_text(json.dumps(forged))
    changed = whole.replace(b'"winner": "villagers"', b'"winner": "werewolf "').replace(b'"ended"', b'"edned"')
    assert changed != whole
    for content in (changed, whole[:-1], b"", b"{}", b"\xff" * 100):
        kept(runs).write_bytes(content)
        assert listed(runs) == true
        assert kept(runs).read_bytes() == whole
    # by somebody else, who has another secret
    monkeypatch.setattr("wolfbus.files.cache.user_secret", lambda: b"another" * 4 + b"user")
    assert listed(runs) == true
    sealed_by_another = kept(runs).read_bytes()
    assert sealed_by_another != whole
    monkeypatch.undo()
    assert listed(runs) == true
    assert kept(runs).read_bytes() == whole


def test_a_record_that_was_changed_to_one_of_the_same_size_and_time_is_read_again(runs):
    path = runs / "whole.ndjson"
    (before,), status = listed(runs), path.stat()
    assert before["state"] == "ended"
    path.write_bytes(path.read_bytes().replace(b'"type":"ended"', b'"type":"edned"'))
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
    assert (path.stat().st_size, path.stat().st_mtime_ns) == (status.st_size, status.st_mtime_ns)
    (after,) = listed(runs)
    assert after["state"] == "open"
    assert "hash does not match" in after["error"]


def test_a_library_that_cannot_keep_anything_tells_the_same(runs, monkeypatch):
    true = listed(runs)
    for none in (lambda: None, lambda: b"x" * 32):
        shutil.rmtree(runs / ".wolfbus", ignore_errors=True)
        (runs / ".wolfbus").symlink_to("nowhere")
        monkeypatch.setattr("wolfbus.files.cache.user_secret", none)
        assert listed(runs) == true
        (runs / ".wolfbus").unlink()


def test_a_record_that_grows_without_line_ends_is_given_up_at_the_limit_of_all_readers(runs, monkeypatch, capsys):
    monkeypatch.setattr("wolfbus.record.reader.LINE_LIMIT", 2 << 20)
    put(runs, LINES[:10])
    refusal = "line 11: longer than 2 MiB"
    with server(runs) as stage:
        for pieces in range(3):
            page = data(stage.url, "/g/live/data.json")
            assert (page["line"], page["problems"]) == (10, []), f"after {pieces} MiB"
            put(runs, [b"x" * (1 << 20)])
        page = data(stage.url, "/g/live/data.json")
        assert (page["line"], page["problems"], page["over"]) == (10, [refusal], True)
    record = str(runs / "live.ndjson")
    for words in (["page", record, "-o", str(runs / "page.html")], ["replay", record], ["verify", record]):
        assert run(words) == 1
        out, err = capsys.readouterr()
        assert refusal in out + err


def test_a_server_ends_while_a_file_that_goes_on_for_ever_is_read(runs, monkeypatch):
    reading, ending = threading.Event(), threading.Event()

    def endless(*_: object) -> Iterator[bytes]:
        while True:
            yield b""

    def take(*_: object) -> object:
        reading.set()
        assert ending.wait(60)
        return RECORDS[0]

    monkeypatch.setattr("wolfbus.record.reader.LineReader.read", endless)
    monkeypatch.setattr("wolfbus.record.reader.RecordReader.read_line", take)
    with ThreadPoolExecutor() as browsers, server(runs) as stage:
        browsers.submit(fetched, stage.url, "/g/whole/data.json")
        assert reading.wait(60)
        ending.set()
