"""An agent at an address plays whole games, and what goes wrong on the way there costs it no more than it has to."""

import contextlib
import json
import runpy
import socket
import ssl
import threading
from collections.abc import Callable, Iterator
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

import wolfbus
from tests.golden.running import wolfbus as command
from wolfbus.errors import ConfigError, WolfError
from wolfbus.game.config import GameConfig
from wolfbus.game.vocabulary import KINDS

EXAMPLE = Path(__file__).parents[2] / "examples" / "http_agent.py"
SHORT = GameConfig(debate_turns=2, max_rounds=2)

Reply = tuple[int, dict[str, str], bytes]


class Agents:
    """A server of agents: what it was asked, and how it answers."""

    def __init__(self) -> None:
        self.asks: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self.paths: set[str] = set()
        self.first: Callable[[dict[str, Any], int], Reply | None] = lambda _ask, _times: None
        self.closed = threading.Event()
        self._times: dict[str, int] = {}
        self._lock = threading.Lock()
        agents, example = self, runpy.run_path(str(EXAMPLE))

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                agents.paths.add(self.path)
                ask = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                status, headers, body = agents.reply(ask, dict(self.headers), example["answer"])
                # somebody may wait no longer
                with contextlib.suppress(ConnectionError):
                    while status == HTTPStatus.PROCESSING and not agents.closed.wait(0.02):
                        self.send_response_only(status)
                        self.end_headers()
                    self.send_response(status)
                    for name, value in {**headers, "Content-Length": str(len(body))}.items():
                        self.send_header(name, value)
                    self.end_headers()
                    self.wfile.write(body)

            def log_message(self, *_words: object) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}/wolf"
        self._thread = threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.02})
        self._thread.start()

    def reply(self, ask: dict[str, Any], headers: dict[str, str], answer: Callable[[Any], Any]) -> Reply:
        with self._lock:
            self.asks.append(ask)
            self.headers.append(headers)
            times = self._times[ask["id"]] = self._times.get(ask["id"], 0) + 1
        return self.first(ask, times) or (200, {}, json.dumps(answer(ask)).encode())

    def close(self) -> None:
        self.closed.set()
        self.server.shutdown()
        self.server.server_close()
        self._thread.join()


@pytest.fixture
def agents() -> Iterator[Agents]:
    with contextlib.closing(Agents()) as agents:
        yield agents


def events_of(game: wolfbus.PlayedGame, kind: str) -> list[Any]:
    return [recorded.event for recorded in game.events if recorded.event.type == kind]


def outcomes(game: wolfbus.PlayedGame) -> set[str]:
    return {event.outcome for event in events_of(game, "answered")}


def notes(game: wolfbus.PlayedGame) -> set[str]:
    return {event.note for event in events_of(game, "answered") if event.note}


def test_the_example_plays_every_kind_of_request_in_every_seat(agents, tmp_path):
    game = wolfbus.play(f"{agents.url}*8", seed=7, out=tmp_path)
    assert outcomes(game) == {"accepted"}
    assert {ask["kind"] for ask in agents.asks} >= set(KINDS) - {"kill"}
    assert {ask["game"] for ask in agents.asks} == {game.game}
    assert {ask["seat"] for ask in agents.asks} == {seat.name for seat in game.seats}
    assert all(ask["rules_text"] for ask in agents.asks)
    assert command(tmp_path, "replay", game.record.name).code == 0
    one, two = (wolfbus.play(f"{agents.url}*8", seed=7, config=SHORT).digest for _ in "ab")
    assert one == two


def test_a_request_that_fails_is_sent_again_with_the_same_id_and_no_answer_is_lost(agents):
    agents.first = lambda _ask, times: (503, {}, b"busy") if times == 1 else None
    game = wolfbus.play(f"{agents.url}*2,scripted*6", seed=7, config=SHORT)
    assert outcomes(game) == {"accepted"}
    ids = [ask["id"] for ask in agents.asks]
    assert len(ids) == 2 * len(set(ids))


def test_why_a_request_is_sent_again_is_told_once_and_again_where_the_agent_is_given_up(agents, tmp_path, caplog):
    agents.first = lambda _ask, _times: (503, {}, b"no room")
    deadlines = "".join(f"{kind} = 0.5\n" for kind in KINDS)
    (tmp_path / "short.toml").write_text(f"[rules]\ndebate_turns = 1\n[rules.deadlines]\n{deadlines}")
    players = f"{agents.url}*4,scripted*4"
    done = command(tmp_path, "play", "--players", players, "--seed", "3", "--give-up", "3", "--config", "short.toml")
    why = f"{agents.url}: it answers with status 503: no room"
    told = [message for message in caplog.messages if agents.url in message]
    assert told == [f"{why}; the request is sent again until its deadline"]
    assert f"(the last: {why}); --give-up 0 plays on all the same" in done.err


def test_no_cookie_of_one_seat_comes_back_with_another(agents):
    agents.first = lambda ask, times: None if times > 1 else (307, {"Location": "/", "Set-Cookie": "seat=\xff"}, b"")
    game = wolfbus.play(f"{agents.url}*2,scripted*6", seed=7, config=SHORT)
    assert outcomes(game) == {"accepted"}
    assert not any("Cookie" in headers for headers in agents.headers)


def test_an_address_is_asked_as_it_is_written_with_its_last_slash(agents):
    wolfbus.play(f"{agents.url}/*1,scripted*7", seed=3, config=SHORT)
    assert agents.paths == {"/wolf/"}


def test_a_redirect_to_what_is_no_address_closes_the_request_and_stands_in_the_record(agents):
    agents.first = lambda _ask, _times: (307, {"Location": "/\x01"}, b"")
    (note,) = notes(wolfbus.play(f"{agents.url}*1,scripted*7", seed=3, config=SHORT))
    assert note.startswith(f"{agents.url}: it leads to what is no address: ")


def test_what_will_not_be_different_next_time_closes_the_request_and_stands_in_the_record(agents):
    agents.first = lambda _ask, _times: (403, {}, b"go away, \x1b[31mplease")
    game = wolfbus.play(f"{agents.url}*1,scripted*7", seed=3, config=SHORT)
    asked = [ask["id"] for ask in agents.asks]
    assert len(asked) == len(set(asked)) > 0
    (note,) = notes(game)
    assert "it answers with status 403: go away" in note
    assert "\x1b" not in note


def test_headers_go_to_their_own_origin_alone_and_into_no_record(agents, monkeypatch, tmp_path):
    with contextlib.closing(Agents()) as others:
        elsewhere = others.url
        monkeypatch.setenv("WOLFBUS_HTTP_HEADERS", json.dumps({agents.url: {"Authorization": "Bearer hush-hush-1"}}))
        agents.first = lambda ask, _times: (307, {"Location": elsewhere}, b"") if ask["kind"] == "vote" else None
        game = wolfbus.play(f"{agents.url}*1,{elsewhere}*1,scripted*6", seed=3, config=SHORT, out=tmp_path)
    assert {headers["Authorization"] for headers in agents.headers} == {"Bearer hush-hush-1"}
    assert all("Authorization" not in headers for headers in others.headers)
    assert {ask["seat"] for ask in others.asks} == {game.seats[1].name}
    assert any("it redirects elsewhere, where nothing is sent" in note for note in notes(game))
    assert "hush-hush" not in game.record.read_text()


def test_a_redirect_within_its_own_origin_is_followed(agents):
    agents.first = lambda _ask, times: (307, {"Location": "/elsewhere"}, b"") if times == 1 else None
    game = wolfbus.play(f"{agents.url}*1,scripted*7", seed=3, config=SHORT)
    assert outcomes(game) == {"accepted"}


def test_an_agent_that_is_silent_runs_out_of_time_and_the_game_goes_on(agents):
    gate = threading.Event()

    def wait(_ask: dict[str, Any], _times: int) -> None:
        gate.wait(60)

    agents.first = wait
    config = {"debate_turns": 1, "max_rounds": 1, "deadlines": dict.fromkeys(KINDS, 0.3)}
    try:
        game = wolfbus.play(f"{agents.url}*1,scripted*7", seed=3, config=config)
    finally:
        gate.set()
    assert "timed_out" in outcomes(game)
    assert game.rounds == 1


def test_an_answer_that_is_announced_without_end_costs_its_seat_no_other(agents):
    agents.first = lambda _ask, _times: (HTTPStatus.PROCESSING, {}, b"") if len(agents.asks) == 1 else None
    config = {"debate_turns": 3, "max_rounds": 1, "deadlines": dict.fromkeys(KINDS, 0.25)}
    game = wolfbus.play(f"{agents.url}*1,scripted*7", seed=3, config=config)
    assert {"timed_out", "accepted"} <= {
        event.outcome for event in events_of(game, "answered") if event.seat == agents.asks[0]["seat"]
    }


def test_an_address_where_nobody_listens_is_told_before_the_game_and_else_ends_it(tmp_path, redis_url, monkeypatch):
    monkeypatch.setattr("players.spec._LISTEN_S", 0.1)
    # bound, but deaf: the port refuses, and no other server of this machine can come by it
    with socket.socket() as deaf:
        deaf.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{deaf.getsockname()[1]}/x"
        config = {"deadlines": dict.fromkeys(KINDS, 0.2)}
        with pytest.raises(WolfError, match=f"{url}: connection refused; start the agent first"):
            wolfbus.play(f"{url}*4,scripted*4", seed=3, config=config)
        for words in (["check-agent"], ["join", "--bus", redis_url]):
            tried = command(tmp_path, *words, "--", url)
            assert (tried.code, tried.out) == (1, "")
            assert tried.err.endswith(f"wolfbus: {url}: connection refused; start the agent first\n")
        with pytest.raises(WolfError) as ended:
            wolfbus.play(f"{url}*4,scripted*4", seed=3, config=config, probe=False)
    why = "30 replies in a row could not be had or read, and none before"
    assert str(ended.value).startswith(f"{url} is given up: {why} (the last: ")


def test_an_agent_whose_authority_the_environment_names_plays_and_another_is_told_before_the_game(
    agents, tls_files, monkeypatch
):
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(*tls_files[:2])
    agents.server.socket = context.wrap_socket(agents.server.socket, server_side=True)
    url = agents.url.replace("http:", "https:")
    monkeypatch.delenv("SSL_CERT_DIR", raising=False)
    monkeypatch.delenv("SSL_CERT_FILE", raising=False)
    with pytest.raises(WolfError, match=f"{url}: no secure connection: .*; SSL_CERT_FILE names a file of authorities"):
        wolfbus.play(f"{url}*2,scripted*6", seed=7, config=SHORT)
    monkeypatch.setenv("SSL_CERT_FILE", f"{tls_files[2]}.none")
    with pytest.raises(WolfError, match=f"{url}: .*none, which cannot be read: no such file"):
        wolfbus.play(f"{url}*2,scripted*6", seed=7, config=SHORT)
    monkeypatch.setenv("SSL_CERT_FILE", str(tls_files[2]))
    game = wolfbus.play(f"{url}*2,scripted*6", seed=7, config=SHORT)
    assert agents.asks
    assert outcomes(game) == {"accepted"}


def test_an_address_that_holds_a_secret_is_refused_without_showing_it(monkeypatch):
    for url in ("http://user:hush@127.0.0.1/x", "http://127.0.0.1/x?key=hush"):
        with pytest.raises(ConfigError) as refused:
            wolfbus.play([url, *["scripted"] * 7])
        assert "key=hush" not in str(refused.value)
    monkeypatch.setenv("WOLFBUS_HTTP_HEADERS", "Bearer hush")
    with pytest.raises(ConfigError, match="WOLFBUS_HTTP_HEADERS is no JSON object of origin to headers"):
        wolfbus.play(["http://127.0.0.1:9/x", *["scripted"] * 7])


@pytest.mark.parametrize("origin", ["127.0.0.1:9", "ftp://127.0.0.1", "https://hush hush:x", ""])
def test_headers_for_what_is_no_origin_are_refused_and_not_left_out(monkeypatch, origin):
    by_origin = {"https://agents.example": {}, origin: {"Authorization": "Bearer hush"}}
    monkeypatch.setenv("WOLFBUS_HTTP_HEADERS", json.dumps(by_origin))
    with pytest.raises(ConfigError, match="WOLFBUS_HTTP_HEADERS: name 2 of its members is no origin") as refused:
        wolfbus.play(["http://127.0.0.1:9/x", *["scripted"] * 7])
    assert "hush" not in str(refused.value)


@pytest.mark.parametrize("header", [{"X Y": "hush"}, {"Schlüssel": "hush"}, {"X": "hush "}, {"Content-Length": "3"}])
def test_a_header_that_cannot_be_sent_is_refused_before_the_game_without_showing_it(monkeypatch, header):
    monkeypatch.setenv("WOLFBUS_HTTP_HEADERS", json.dumps({"https://agents.example": {"X": "", **header}}))
    with pytest.raises(ConfigError, match=r"WOLFBUS_HTTP_HEADERS: header [12] of member 1 has a name") as refused:
        wolfbus.play(["http://127.0.0.1:9/x", *["scripted"] * 7])
    assert "hush" not in str(refused.value)


def test_check_agent_finds_nothing_in_the_example(agents, tmp_path):
    done = command(tmp_path, "check-agent", "--json", "--deadline", "5", "--", agents.url)
    findings = json.loads(done.out)
    assert (done.code, findings["failed"]) == (0, 0), [f for f in findings["findings"] if f["verdict"] != "ok"]


def test_a_function_from_text_to_text_takes_a_seat_and_declines_what_it_has_no_word_for(tmp_path, monkeypatch):
    (tmp_path / "texts.py").write_text(
        "class Parrot:\n"
        "    def __call__(self, observation):\n"
        "        if 'Bid for the floor' in observation: return 'I bid 7.'\n"
        "        if 'public statement' in observation: return 'I saw nothing, and I heard nothing.'\n"
        "        return 'null'\n"
        "def broken(observation):\n"
        "    return 5\n"
    )
    monkeypatch.chdir(tmp_path)
    game = wolfbus.play("text:texts:Parrot*2,scripted*6", seed=3, config=SHORT)
    parrots = {seat.name for seat in game.seats if seat.brain == "text:texts:Parrot"}
    ours = [event for event in events_of(game, "answered") if event.seat in parrots]
    assert {event.kind for event in ours if event.outcome == "accepted"} >= {"bid", "vote"}
    assert {event.kind for event in ours if event.outcome == "declined"} >= {"assess_other"}
    texts = {event.text for event in events_of(game, "statement") if event.speaker in parrots}
    assert "I saw nothing, and I heard nothing." in texts
    broken = wolfbus.play("text:texts:broken*1,scripted*7", seed=3, config=SHORT)
    assert "it returned an int, which is no text" in notes(broken)
    with pytest.raises(ConfigError, match="has no 'Nobody'"):
        wolfbus.play("text:texts:Nobody*1,scripted*7")
