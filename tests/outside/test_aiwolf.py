"""Clients of AIWolf's protocol, written to its document alone, play whole games in a house through the gateway."""

import contextlib
import json
import queue
import socket
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.golden.running import wolfbus
from tests.outside.test_whole_games import play_out, record
from tests.waiting import PATIENCE_S
from wolfbus.knowledge.view import SeatView
from wolfbus.messages.events import Statement
from wolfbus.messages.requests import Public
from wolfbus.service.lifecycle import Stopping

pytest.importorskip("websockets", reason='no websockets: pip install "wolfbus[aiwolf]"')
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import connect
from websockets.sync.server import serve

from players.aiwolf import AiwolfBrain, Client, Gateway

COMMON = "first_night_kill = false\ndebate_turns = 4\nmax_rounds = 2\nseers = 1\n"
FIVE = f"villagers = 3\nwerewolves = 1\ndoctors = 0\n{COMMON}"
SIX = f"villagers = 2\nwerewolves = 2\ndoctors = 1\n{COMMON}"
Answer = Callable[[dict[str, Any]], str | None]


def others(packet: dict[str, Any]) -> list[str]:
    info = packet["info"]
    return [agent for agent, status in info["statusMap"].items() if status == "ALIVE" and agent not in info["roleMap"]]


def sensible(packet: dict[str, Any]) -> str | None:
    if packet["request"] in {"TALK", "WHISPER"}:
        return f"{others(packet)[0]}が怪しい。\n"
    return others(packet)[-1] if packet["request"] in {"VOTE", "DIVINE", "GUARD", "ATTACK"} else None


class ClientOfAiwolf:
    """Connects, tells its name, and answers until it is told FINISH; what it was sent is kept."""

    def __init__(self, port: int, name: str, answer: Answer = sensible) -> None:
        self.packets: list[dict[str, Any]] = []
        self._name, self._answer = name, answer
        self._url = f"ws://127.0.0.1:{port}/ws"
        self.thread = threading.Thread(target=self._run, daemon=True)
        self.thread.start()

    def _run(self) -> None:
        with connect(self._url) as connection:
            while not self.packets or self.packets[-1]["request"] != "FINISH":
                try:
                    packet = json.loads(connection.recv())
                except ConnectionClosed:
                    return
                self.packets.append(packet)
                answer = self._name if packet["request"] == "NAME" else self._answer(packet)
                if answer == "leave":
                    return
                if answer is not None:
                    connection.send(answer)

    def requests(self) -> list[str]:
        return [packet["request"] for packet in self.packets]

    def last(self, request: str) -> dict[str, Any]:
        return next(packet for packet in reversed(self.packets) if packet["request"] == request)


@contextlib.contextmanager
def listening(redis_url: str, host: str = "127.0.0.1") -> Iterator[int]:
    """Run a gateway at an address; its port."""
    gateway, ports = Gateway(redis_url, "aiwolf", host, 0, 1.0), queue.SimpleQueue[int]()
    with Stopping() as stopping:
        thread = threading.Thread(target=gateway.run, args=(stopping, ports.put))
        thread.start()
        yield ports.get(timeout=PATIENCE_S)
        stopping.ask("the test is over")
        thread.join()


@pytest.fixture
def port(redis_url: str) -> Iterator[int]:
    """The port of a gateway."""
    with listening(redis_url) as port:
        yield port


def played(redis_url: str, folder: Path, rules: str) -> list[dict[str, Any]]:
    (result,) = play_out(redis_url, "aiwolf", folder, rules=rules)
    assert result["error"] is None
    return record(redis_url, "aiwolf", result["game"])


def read_by_newer_names(client: ClientOfAiwolf) -> None:
    """Find what clients of aiwolf-nlp-common 0.6.10 and 0.7.0 cannot do without, by the names that they read it by."""
    setting = client.last("INITIALIZE")["setting"]
    assert setting["agent_count"] == sum(setting["role_num_map"].values()) == 5
    assert setting["role_num_map"]["BODYGUARD"] == 0
    assert setting["talk"]["max_count"] == setting["talk"]["max_count"] | {"per_agent": 4, "per_day": 4}
    assert setting["attack_vote"]["allow_no_target"] is False
    assert setting["timeout"]["action"] == setting["actionTimeout"] > 0
    for packet in client.packets[1:]:
        info = packet["info"]
        assert (info["game_id"], info["status_map"], info["role_map"]) == (
            info["gameID"],
            info["statusMap"],
            info["roleMap"],
        )
        assert info.get("divine_result") == info.get("divineResult")
        assert packet.get("talk_history") == packet.get("talkHistory")


def test_clients_play_a_game_of_their_own_each_an_agent_of_its_name(port, redis_url, tmp_path):
    clients = [ClientOfAiwolf(port, f"kanolab{number}") for number in range(1, 6)]
    events = played(redis_url, tmp_path, FIVE)
    for client in clients:
        client.thread.join(20)
    assert {seat["brain"] for seat in events[0]["seats"]} == {f"outside:kanolab{number}" for number in range(1, 6)}
    answered = [event for event in events if event["type"] == "answered"]
    outcomes = {event["kind"]: event.get("outcome", "accepted") for event in answered}
    assert outcomes == {
        **dict.fromkeys(("bid", "assess_own", "assess_other"), "declined"),
        **dict.fromkeys(("speak", "vote", "kill", "inspect"), "accepted"),
    }
    names = [seat["name"] for seat in events[0]["seats"]]
    said = [event["text"] for event in events if event["type"] == "statement"]
    assert said
    assert all(text.endswith("が怪しい。") and text.removesuffix("が怪しい。") in names for text in said)
    for client in clients:
        assert client.requests()[:5] == ["NAME", "INITIALIZE", "DAILY_INITIALIZE", "DAILY_FINISH", client.requests()[4]]
        assert client.requests()[-1] == "FINISH"
        assert len(client.packets[-1]["info"]["roleMap"]) == 5
        assert client.last("INITIALIZE")["setting"]["roleNumMap"]["WEREWOLF"] == 1
        read_by_newer_names(client)
    heard = [talk["text"] for client in clients for packet in client.packets for talk in packet.get("talkHistory", ())]
    assert heard
    assert all(text.startswith("Agent[0") for text in heard)
    seer = next(client for client in clients if "DIVINE" in client.requests())
    results = [packet["info"].get("divineResult") for packet in seer.packets if "info" in packet]
    assert {result["result"] for result in results if result} <= {"HUMAN", "WEREWOLF"}
    assert any(results)
    assert not any(
        "divineResult" in packet.get("info", {})
        for client in clients
        if client is not seer
        for packet in client.packets
    )


def test_werewolves_whisper_and_ugly_answers_cost_a_client_its_answer_and_nobody_the_game(port, redis_url, tmp_path):
    def ugly(packet: dict[str, Any]) -> str | None:
        wanted = sensible(packet)
        return (
            None
            if wanted is None
            else {"TALK": "Over", "VOTE": "Agent[99]", "GUARD": "me"}.get(packet["request"], wanted)
        )

    def leaving(packet: dict[str, Any]) -> str | None:
        return "leave" if packet["request"] in {"TALK", "VOTE"} else sensible(packet)

    clients = [ClientOfAiwolf(port, "やまだ", answer) for answer in (sensible, ugly, ugly, sensible, leaving, sensible)]
    gone = ClientOfAiwolf(port, "gone", lambda _packet: "leave")
    silent = ClientOfAiwolf(port, "  ")
    silent.thread.join(20)
    assert silent.requests() == ["NAME"]
    events = played(redis_url, tmp_path, SIX)
    for client in (*clients, gone):
        client.thread.join(20)
    assert {seat["brain"] for seat in events[0]["seats"]} <= {"outside:やまだ", "outside:gone"}
    answered = [event for event in events if event["type"] == "answered"]
    notes = " ".join(event.get("note") or "" for event in answered)
    assert "'Agent[99]' names no agent of this game" in notes
    assert events[-1]["type"] == "ended"
    asked = {request for client in clients for request in client.requests()}
    assert {"WHISPER", "ATTACK", "GUARD"} <= asked


class EchoingConnection:
    """A client's connection: each request is answered by its own word, behind what the client says of itself."""

    def __init__(self) -> None:
        self.messages = queue.Queue[str | None]()

    def send(self, text: str) -> None:
        self.messages.put(json.loads(text)["request"])

    def __iter__(self) -> Iterator[str]:
        while (message := self.messages.get()) is not None:
            yield message
            self.messages.task_done()

    def close(self) -> None:
        self.messages.put(None)


def test_what_a_client_says_unasked_is_no_answer_to_what_it_is_asked_next_and_is_not_kept():
    connection = EchoingConnection()
    client, until = Client(connection), time.monotonic() + PATIENCE_S
    for request in ("NAME", "TALK", "VOTE"):
        for _ in range(3):
            connection.messages.put("x" * 60_000)
        connection.messages.join()
        assert client._incoming.empty()
        assert client.ask(until, request) == request
    client.close()


@pytest.mark.parametrize(
    ("names", "text", "expected"),
    [
        ("123", "In round 12 of 30 I vote for 3.", "In round 12 of 30 I vote for Agent[03]."),
        (
            ("P1", "P12", "Ada"),
            "P12 and P1, not P123: AdaはP1です",
            "Agent[02] and Agent[01], not P123: Agent[03]はAgent[01]です",
        ),
    ],
)
def test_a_name_is_put_for_no_part_of_a_word_or_a_number(names, text, expected):
    view = SeatView(names[0], names=tuple(names))
    said = Statement(statement=1, round=1, phase="debate", turn=1, speaker=names[0], text=text)
    view.hear_public(Public(n=1, fact=said))
    (talk,) = AiwolfBrain(None)._fresh_talk(view)
    assert talk["text"] == expected


def test_a_client_that_stops_reading_does_not_hold_up_whoever_ends_its_game(monkeypatch):
    monkeypatch.setattr("players.aiwolf._FAREWELL_S", 0.1)
    is_closed = threading.Event()

    def end(connection: Any) -> None:
        client = Client(connection)
        for _ in range(1000):
            client.tell("TALK", text="x" * 20_000)
        client.close()
        is_closed.set()

    with serve(end, "127.0.0.1", 0, compression=None) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        # of messages that nobody takes it keeps a few, and then reads no more; nor does it ask whether it is heard
        url = f"ws://127.0.0.1:{server.socket.getsockname()[1]}"
        with connect(url, compression=None, max_queue=1, ping_interval=None, close_timeout=0):
            assert is_closed.wait(PATIENCE_S)


def test_a_gateway_without_its_package_says_how_to_install_it(tmp_path, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "websockets.sync.server", None)
    done = wolfbus(tmp_path, "gateway", "aiwolf", "--port", "0")
    assert done.code == 2
    assert 'this needs websockets, which is not installed: pip install "wolfbus[aiwolf]"' in done.err


def test_a_port_that_is_taken_is_one_line(port, redis_url, tmp_path):
    done = wolfbus(tmp_path, "gateway", "aiwolf", "--bus", redis_url, "--port", str(port))
    assert (done.code, done.err.splitlines()[-1][:53]) == (2, "wolfbus: clients cannot be taken: address already in ")


@pytest.mark.parametrize(
    ("name", "origin", "taken"),
    [
        ("127.0.0.1", None, True),
        ("localhost", None, True),
        # as websocket-client sends it
        ("127.0.0.1", "http://127.0.0.1:{port}", True),
        ("127.0.0.1", "https://elsewhere.example", False),
        ("127.0.0.1", "null", False),
        # a site that calls itself by this machine's address
        ("elsewhere.example", "http://elsewhere.example:{port}", False),
    ],
)
def test_no_page_of_a_website_takes_a_seat(port, name, origin, taken):
    place, origin = f"ws://{name}:{port}/ws", origin and origin.format(port=port)
    with socket.create_connection(("127.0.0.1", port)) as asked:
        if not taken:
            with pytest.raises(InvalidStatus, match="403"):
                connect(place, sock=asked, origin=origin, proxy=None)
            return
        with connect(place, sock=asked, origin=origin, proxy=None) as connection:
            assert json.loads(connection.recv(timeout=PATIENCE_S))["request"] == "NAME"


def test_clients_come_by_ipv6_too_where_there_is_one_and_pages_of_websites_do_not(redis_url, tmp_path):
    try:
        socket.create_server(("::1", 0), family=socket.AF_INET6).close()
    except OSError:
        done = wolfbus(tmp_path, "gateway", "aiwolf", "--bus", redis_url, "--host", "::1", "--port", "0")
        assert (done.code, done.err.splitlines()[-1][:34]) == (2, "wolfbus: clients cannot be taken: ")
        return
    with listening(redis_url, "::1") as port:
        with connect(f"ws://[::1]:{port}/ws", proxy=None) as connection:
            assert json.loads(connection.recv(timeout=PATIENCE_S))["request"] == "NAME"
        site = f"elsewhere.example:{port}"
        with socket.create_connection(("::1", port)) as asked, pytest.raises(InvalidStatus, match="403"):
            connect(f"ws://{site}/ws", sock=asked, origin=f"http://{site}", proxy=None)
