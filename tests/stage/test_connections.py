"""Who may be connected to a server of pages, for how long, and what it tells of requests that are none."""

import contextlib
import http.client
import json
import resource
import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from tests.stage.served import Events, data, fetched, sealed, server
from tests.whole.test_command_line import ENVIRONMENT, WOLFBUS

_, LINES = sealed()
HEAD = "GET /library.json HTTP/1.1\r\nHost: {}\r\n"
POST = "POST /seat/sit HTTP/1.1\r\nHost: {0}\r\nOrigin: http://{0}\r\nContent-Type: application/json\r\n"


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    (tmp_path / "live.ndjson").write_bytes(b"".join(LINES[:20]))
    return tmp_path


@contextlib.contextmanager
def connected(url: str, sent: str | bytes) -> Iterator[socket.socket]:
    """A connection that has sent something; ``{}`` stands for the server."""
    parts = urlsplit(url)
    with socket.create_connection((parts.hostname or "", parts.port or 0), timeout=60) as connection:
        connection.sendall(sent if isinstance(sent, bytes) else sent.format(parts.netloc).encode())
        yield connection


def test_slow_connections_keep_nobody_out_and_are_not_complained_of(runs):
    words = ["sh", "-c", 'ulimit -n 256; exec "$@"', "sh", *WOLFBUS, "view", str(runs), "--port", "0", "--no-open"]
    with (
        (runs / "told").open("w+") as told,
        subprocess.Popen(words, env=ENVIRONMENT, stdout=subprocess.PIPE, stderr=told, text=True) as viewing,
    ):
        try:
            assert viewing.stdout is not None
            url = viewing.stdout.readline().strip()
            with contextlib.ExitStack() as held:
                for _ in range(400):
                    held.enter_context(connected(url, HEAD))
                for _ in range(3):
                    assert data(url, "/library.json")["games"]
        finally:
            viewing.terminate()
            viewing.wait()
        told.seek(0)
        assert "Traceback" not in told.read()


def test_a_connection_that_asks_nothing_in_time_is_closed(runs, monkeypatch):
    monkeypatch.setattr("wolfbus.stage.connections.ASKING_S", 0.2)
    with server(runs) as stage, connected(stage.url, "") as silent, connected(stage.url, HEAD) as unfinished:
        assert (silent.recv(1), unfinished.recv(1)) == (b"", b"")
        # who watches is not one of those
        with Events(stage.url, "/g/live/events") as watching:
            events = iter(watching)
            assert next(events)[1] == 20
            with connected(stage.url, "") as another:
                assert another.recv(1) == b""
            with (runs / "live.ndjson").open("ab") as record:
                record.writelines(LINES[20:40])
            assert next(events)[1] == 40


def test_an_answer_that_does_not_come_in_time_is_refused(runs, monkeypatch):
    monkeypatch.setattr("wolfbus.stage.connections.SENDING_S", 0.2)
    with server(runs) as stage, connected(stage.url, POST + 'Content-Length: 99\r\n\r\n{{"token"') as unfinished:
        assert unfinished.recv(12) == b"HTTP/1.1 408"


def test_where_all_are_being_answered_who_comes_is_refused_and_nobody_cut_off(runs, monkeypatch):
    monkeypatch.setattr("wolfbus.stage.connections._MOST", 3)
    with server(runs) as stage:
        with contextlib.ExitStack() as watched:
            watching = [watched.enter_context(Events(stage.url, "/g/live/events")) for _ in range(3)]
            events = [iter(each) for each in watching]
            assert [next(each)[1] for each in events] == [20] * 3
            status, headers, body = fetched(stage.url, "/library.json")
            assert (status, headers["Retry-After"], b"too many" in body) == (503, "5", True)
            with (runs / "live.ndjson").open("ab") as record:
                record.writelines(LINES[20:40])
            assert [next(each)[1] for each in events] == [40] * 3
        (runs / "live.ndjson").write_bytes(b"".join(LINES[:30]))
    with server(runs) as stage:
        for _ in range(10):
            assert data(stage.url, "/library.json")["games"]


def test_a_connection_asks_for_one_thing_after_another_a_record_among_them(runs, caplog):
    whole = b"".join(LINES[:20])
    with server(runs) as stage:
        parts = urlsplit(stage.url)
        with contextlib.closing(http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=60)) as connection:

            def asked(path: str, **headers: str) -> tuple[int, bytes]:
                connection.request("GET", path, headers=headers)
                with connection.getresponse() as response:
                    return response.status, response.read()

            connection.connect()
            first = connection.sock
            for _ in range(2):
                assert asked("/g/live/record.ndjson") == (200, whole)
                assert asked("/g/live/record.ndjson", Range="bytes=3-5") == (206, whole[3:6])
                assert asked("/g/live/record.ndjson", **{"If-None-Match": "*"}) == (304, b"")
                assert [asked(path)[0] for path in ("/", "/g/live/page.html", "/library.json")] == [200] * 3
                assert asked("/none")[0] == 404
            assert connection.sock is first
    assert caplog.records == []


@pytest.mark.parametrize(
    "sent",
    [
        b"\x00\xff\xfe\r\n\r\n",
        b"GET / HTTP/9.9\r\n\r\n",
        b"GET /\x00 HTTP/1.1\r\n\r\n",
        b"GET http://[bad/ HTTP/1.1\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost\r\n\r\n",
        b"GET / HTTP/1.1\r\nContent-Length: -1\r\n\r\n",
        b"GET / HTTP/1.1\r\nX: " + b"x" * 20_000 + b"\r\n\r\n",
        b"GET / HTTP/1.1\r\n" + b"X: x\r\n" * 500 + b"\r\n",
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
        POST + "Transfer-Encoding: chunked\r\n\r\nzz\r\n",
        POST + "Content-Encoding: gzip\r\nContent-Length: 5\r\n\r\nabcde",
        POST + "Content-Length: 3\r\n\r\n{{}}}}",
    ],
)
def test_what_is_no_request_is_answered_so_and_nothing_is_logged(runs, caplog, sent):
    with server(runs) as stage:
        with connected(stage.url, sent) as connection:
            assert connection.recv(100).split()[1] == b"400"
        assert data(stage.url, "/library.json")["games"]
    assert caplog.records == []


def test_an_error_of_our_own_is_told_with_where_it_happened(runs, monkeypatch, caplog):
    monkeypatch.delattr("wolfbus.stage.app.last_line")
    with server(runs) as stage:
        status, _, body = fetched(stage.url, "/g/live/events")
    assert (status, b"last_line" in body) == (500, False)
    assert "last_line" in caplog.text


def test_a_process_may_have_as_many_files_open_as_its_user_lets_it():
    code = "import json, resource; from wolfbus.cli import main\ntry: main(['--version'])\n"
    code += "finally: print(json.dumps(resource.getrlimit(resource.RLIMIT_NOFILE)))"
    words = ["sh", "-c", 'ulimit -Sn 200; exec "$@"', "sh", WOLFBUS[0], "-c", code]
    told = subprocess.run(words, env=ENVIRONMENT, capture_output=True, text=True, check=True).stdout.splitlines()[-1]
    soft, hard = json.loads(told)
    assert soft == (min(hard, 65_536) if hard != resource.RLIM_INFINITY else 65_536)
