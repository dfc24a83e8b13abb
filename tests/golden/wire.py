"""Every message of a session on Redis: one game between a moderator, a player of eight seats and analytics; and what is
said where a record is published again.
"""

import codecs
import json
import re
import socket
import subprocess
import sys
import threading
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import msgpack
from redis import Redis

from tests.golden.played import unpacked
from tests.golden.running import shown, wolfbus
from wolfbus import __version__

RECORD: Final = "scripted/records/study-bb220112-00002.ndjson"
RULES: Final = "max_rounds = 2\ndebate_turns = 2\n"
SERVICES: Final = (
    ("moderator", "--games", "1", "--seed", "7", "--config", "rules.toml", "--archive"),
    ("player", "--seats", "8", "--name", "alice"),
    ("analytics", "--out", "runs"),
)
PATIENCE_S: Final = 60.0
LAST: Final = "golden:last"
"""A key that is written when all is over: what was recorded before it is the whole session."""
WORD: Final = re.compile(rb'"((?:[^"\\]|\\.)*)"')


@dataclass(frozen=True, slots=True)
class Message:
    """An entry of a stream: the words before its fields, such as its id, the fields, and its unpacked body."""

    words: tuple[str, ...]
    fields: dict[str, str]
    body: Any


def values(folder: Path, redis_url: str) -> dict[str, str]:
    """Play the session, and return its streams, and what `wolfbus status` and `replay --to-bus` say afterwards."""
    (folder / "rules.toml").write_text(RULES)
    streams = _session(folder, redis_url)
    found = {}
    for key, messages in streams.items():
        name = re.sub(r"^wolf:\{main\}:", "", _nameless(key)).replace(":", "-")
        found[f"wire/{name}.txt"] = "".join(f"{line}\n" for line in _lines(name, messages))
    page = shown(folder, "status", "--bus", redis_url, "--house", "main")
    page = re.sub(r"(last moderated by) \S+ under epoch \d+", r"\1 NAME under epoch N", _nameless(page))
    page = re.sub(r"Memory .*", "Memory  N", re.sub(r"\d+ (s|min) ago +\d+ (s|min) ago .*", "N s ago", page))
    found["wire/status.txt"] = re.sub(r" +", " ", page)
    assert wolfbus(folder, "status", "--bus", redis_url, "--house", "nobody").code == 1
    unpacked("scripted", folder)
    found["wire/replay-to-bus.txt"] = shown(folder, "replay", RECORD, "--to-bus", redis_url)
    return found


def _session(folder: Path, redis_url: str) -> dict[str, list[Message]]:
    client = Redis.from_url(redis_url)
    host, port = (client.get_connection_kwargs()[name] for name in ("host", "port"))
    with socket.create_connection((host, port), PATIENCE_S) as wire:
        wire.sendall(b"MONITOR\r\n")
        said = wire.makefile("rb")
        said.readline()
        recorded: list[bytes] = []

        def record() -> None:
            for line in said:
                if LAST.encode() in line:
                    return
                recorded.append(line)

        recording = threading.Thread(target=record)
        recording.start()
        services = [_service(folder, words, redis_url) for words in SERVICES]
        try:
            for service in services:
                _, error = service.communicate(timeout=PATIENCE_S)
                assert service.returncode == 0, error
        finally:
            for service in services:
                service.kill()
            client.set(LAST, "")
            client.delete(LAST)
            client.close()
            recording.join(PATIENCE_S)
    streams: dict[str, list[Message]] = defaultdict(list)
    for line in recorded:
        words = [codecs.escape_decode(word)[0] for word in WORD.findall(line)]
        if words and words[0].upper() == b"XADD":
            streams[words[1].decode()].append(_message(words[2:]))
    return streams


def _service(folder: Path, words: tuple[str, ...], redis_url: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "wolfbus", words[0], "--bus", redis_url, *words[1:]]
    return subprocess.Popen(command, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)


def _message(words: list[bytes]) -> Message:
    start = words.index(b"type")
    pairs = dict(zip(words[start::2], words[start + 1 :: 2], strict=True))
    packed = pairs.pop(b"body")
    body = msgpack.unpackb(packed)
    assert msgpack.packb(body) == packed, "a body is packed in another way than msgpack's shortest"
    fields = {name.decode(): value.decode() for name, value in pairs.items()}
    return Message(tuple(word.decode() for word in words[:start]), fields, body)


def _lines(name: str, messages: list[Message]) -> Iterator[str]:
    """Return a stream in lines: in its order where the order is the protocol's, else sorted."""
    if name.startswith(("record", "table", "games")):
        for message in messages:
            yield f"{_words(message)} {_line(message.body)}"
    elif name == "live":
        # how often rolling metrics are told depends on the machine; what they come to does not
        yield f"{_words(messages[-1], counted=False)} {_line(messages[-1].body)}"
    else:
        if name.startswith("out"):
            counts = [int(message.fields["n"]) for message in messages]
            assert counts == list(range(1, len(counts) + 1)), "an agent's messages are counted without a gap"
        # whoever hears the goodbye of a house first does not say that it leaves
        said = [message for message in messages if message.fields["type"] != "leave"]
        parts = ((message, part) for message in said for part in _parts(message))
        yield from sorted({f"{_words(message, counted=False)} {part}" for message, part in parts})


def _words(message: Message, *, counted: bool = True) -> str:
    fields = {key: value for key, value in message.fields.items() if key != "n" or counted}
    # which lines are committed together depends on when replies arrive
    fields.pop("head", None)
    return _nameless(json.dumps([re.sub(r"^\d{13}", "START", message.words[-1] if message.words else "")
                                 if counted else "ID", fields]))  # fmt: skip


def _parts(message: Message) -> Iterator[str]:
    """Return a message in lines that do not tell what was delivered together, which depends on when replies arrive."""
    body = message.body
    if body.get("type") not in {"delivery", "catch_up"}:
        yield _line({key: value for key, value in body.items() if key != "seen"})
        return
    yield "members " + ", ".join(body)
    for fact in body["facts"]:
        yield f"public {fact['n']:03} {_line(fact)}"
    for seat in body["seats"]:
        yield from (f"{seat['seat']} {fact['n']:03} {_line(fact)}" for fact in seat.get("facts", ()))
        yield from (f"{seat['seat']} asked {_line(ask)}" for ask in seat.get("asks", ()))


def _line(body: Any) -> str:
    return _nameless(json.dumps(_timeless(body), ensure_ascii=False))


def _timeless(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: 0 if key in {"time", "started"} else _timeless(each) for key, each in value.items()}
    if isinstance(value, list):
        return [_timeless(each) for each in value]
    return float(f"{value:.9g}") if isinstance(value, float) else value


def _nameless(text: str) -> str:
    """Return text without what every session has anew: ids, hashes and the version."""
    text = re.sub(r"\b\d{8}-\d{6}-[0-9a-f]{6}\b", "SESSION", text)
    text = re.sub(r"\b[0-9a-f]{64}\b", "HASH", text)
    text = re.sub(r'("instance": )"[0-9a-f]{16}"', r'\1"INSTANCE"', text)
    return text.replace(f'"{__version__}"', '"VERSION"').replace(f"wolfbus {__version__}", "wolfbus VERSION")
