"""What was recorded is what is played, and damage is told, never guessed over."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import logging
import resource
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from players.llm.gateway import Cassette
from players.llm.provider import Completion, Form, Message, ProviderReply
from wolfbus.errors import CassetteError

from .conftest import Clock, Mocked, Step, rejected

OPEN: dict[str, Callable[[Path], Cassette]] = {"play": Cassette.play, "record": Cassette.record}
KEY = "6eb2f0be4071c7bef0c9789423152b34de53f0dd0d99f1a31d54b479c204745d"
FIRST = ProviderReply('{"bid": 2}', finish="stop", prompt_tokens=1000, completion_tokens=100)
FAILED = rejected("500: broken")
MISSING = "no reply to g/1/debate/1/bid/Ann (bid, tiny, key "


def files(folder: Path) -> list[Path]:
    return sorted(folder.glob("*.ndjson"))


def record(folder: Path, *steps: tuple[str, Step], **fields: Any) -> Path:
    """Record some calls; return the file."""
    before, clock = set(files(folder)), Clock()
    with Cassette.record(folder) as cassette:
        for text, step in steps:
            Mocked(clock, step, cassette=cassette).one(text, **fields)
    clock.close()
    (new,) = set(files(folder)) - before
    return new


def play(folder: Path, *texts: str, clock: Clock | None = None, **fields: Any) -> list[Completion]:
    """What comes of calls whose gateway has nothing but the cassette."""
    mocked = Mocked(clock or Clock(), cassette=Cassette.play(folder))
    came = [mocked.one(text, **fields) for text in texts]
    assert mocked.prompts == []
    mocked.clock.close()
    return came


def with_hash(entry: bytes) -> bytes:
    """An entry's line, with the hash that it should have."""

    def canonical(value: Any) -> bytes:
        return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()

    value = {name: member for name, member in json.loads(entry).items() if name != "hash"}
    return canonical(value | {"hash": hashlib.sha256(canonical(value)).hexdigest()}) + b"\n"


def test_what_was_recorded_is_played_with_its_failures(tmp_path: Path) -> None:
    record(tmp_path, ("bid?", (0.5, FIRST)), ("Who?", FAILED))
    reply, failed = play(tmp_path, "bid?", "Who?")
    assert (reply.text, reply.prompt_tokens, reply.completion_tokens, reply.latency_s) == (FIRST.text, 1000, 100, 0.5)
    assert (reply.cassette, reply.attempts, reply.cost_usd, reply.url) == (True, 0, None, None)
    assert (failed.text, failed.error, failed.cassette) == (None, FAILED.line, True)


TEXT = st.text(st.characters(codec=None), max_size=40)  # lone surrogates too
COUNT = st.none() | st.integers(0, 10**9)
REPLIES = st.builds(
    ProviderReply,
    TEXT,
    thought=st.none() | TEXT,
    refusal=st.none() | TEXT,
    finish=st.none() | TEXT,
    prompt_tokens=COUNT,
    cached_tokens=COUNT,
    completion_tokens=COUNT,
    served=st.none() | TEXT,
)


@settings(max_examples=30, deadline=None)
@example({"?\ud83d": ProviderReply("\ud83d")})
@given(st.dictionaries(TEXT, REPLIES, min_size=1, max_size=4))
def test_anything_recorded_comes_back_equal(calls: dict[str, ProviderReply]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        clock = Clock()
        with Cassette.record(folder) as cassette:
            recording = Mocked(clock, *calls.values(), cassette=cassette)
            came = [recording.one(text) for text in calls]
        playing = Mocked(clock, cassette=Cassette.play(folder))
        again = [playing.one(text) for text in calls]
        clock.close()
    assert again == [dataclasses.replace(completion, attempts=0, url=None, cassette=True) for completion in came]


@pytest.mark.parametrize(
    "other",
    [
        {"text": "How much do you want to speak? "},
        {"messages": (Message("user", "You play a game."), Message("user", "bid?"))},
        {"form": Form("bids", {"type": "object"})},
        {"form": Form("bid", {"type": "object"})},
        {"model": "other"},
        {"max_tokens": 101},
        {"temperature": 0.0},
        {"top_p": 0.5},
        {"reasoning_effort": "low"},
        {"extra": {"seed": 1}},
        {"structured": "text"},
        {"draw": "the seed of another seat"},
    ],
    ids=str,
)
def test_what_shapes_the_reply_shapes_the_key(tmp_path: Path, other: dict[str, Any]) -> None:
    record(tmp_path, ("bid?", FIRST))
    (came,) = play(tmp_path, other.pop("text", "bid?"), **other)
    assert "recorded, but asked otherwise" in str(came.error)


def test_a_key_is_the_same_in_every_version_that_plays_this_format(tmp_path: Path) -> None:
    header = {"type": "cassette", "format": 3, "wolfbus": "0.1.0", "created": "2026-01-01T00:00:00+00:00"}
    entry = {"key": KEY, "model": "tiny", "purpose": "bid", "label": "l", "asked": "", "completion": {"text": "kept"}}
    lines = json.dumps(header).encode() + b"\n" + with_hash(json.dumps(entry).encode())
    (tmp_path / "old.ndjson").write_bytes(lines)
    fields = {"form": Form("bid", {"type": "object", "properties": {"bid": {"type": "integer"}}}), "max_tokens": 100}
    (came,) = play(tmp_path, "How much do you want to speak?", **fields)
    assert (came.text, came.served) == ("kept", None), "members that came later are left out"


def test_an_interrupted_run_uses_again_what_it_has(tmp_path: Path, clock: Clock) -> None:
    record(tmp_path, ("bid?", FIRST), ("Who?", FAILED))
    with Cassette.record(tmp_path) as cassette:
        mocked = Mocked(clock, dataclasses.replace(FIRST, text="again"), cassette=cassette)
        assert [mocked.one(text).text for text in ("bid?", "Who?")] == [FIRST.text, "again"]
    assert mocked.prompts == ["Who?"], "a failure is tried again"
    assert play(tmp_path, "Who?")[0].text == "again"
    Cassette.record(tmp_path).close()
    assert len(files(tmp_path)) == 2, "who recorded nothing leaves nothing"


def test_what_a_filter_kept_back_is_a_result_and_the_room_that_was_learned_is_no_part_of_a_key(
    tmp_path: Path, clock: Clock
) -> None:
    cut, filtered = ProviderReply(None, finish="length"), ProviderReply(None, finish="content_filter")
    with Cassette.record(tmp_path) as cassette:
        mocked = Mocked(clock, cut, FIRST, filtered, cassette=cassette)
        first = mocked.one("bid?", max_tokens=16)
        second = mocked.one("Who?", max_tokens=16)
    assert [request.max_tokens for request in mocked.provider.requests] == [16, 32, 32]
    with Cassette.record(tmp_path) as cassette:
        again = Mocked(clock, cassette=cassette)
        came = [again.one(text, max_tokens=16) for text in ("bid?", "Who?")]
    assert not again.prompts
    assert [(each.text, each.fault, each.error) for each in came] == [
        (each.text, each.fault, each.error) for each in (first, second)
    ]
    assert second.fault == "filtered"


def test_of_equal_calls_at_once_the_first_reply_counts_for_both(tmp_path: Path, clock: Clock) -> None:
    with Cassette.record(tmp_path) as cassette:
        steps = [(delay, dataclasses.replace(FIRST, text=f"after {delay:g}")) for delay in (2.0, 1.0)]
        mocked = Mocked(clock, *steps, (3.0, FAILED), cassette=cassette)
        second, first, failed = mocked.run(*(mocked.question(price={"input": 1, "output": 1}) for _ in range(3)))
    assert (first.text, second.text, first.latency_s, second.latency_s) == ("after 1", "after 1", 1.0, 2.0)
    assert second.cost_usd, "it was asked, and paid"
    assert (failed.text, failed.error, failed.attempts, failed.cassette) == ("after 1", None, 1, False)
    assert play(tmp_path, "?")[0].text == "after 1"


def test_a_missing_call_is_named_with_what_may_differ_and_ends_the_games(tmp_path: Path, clock: Clock) -> None:
    record(tmp_path, ("bid?", FIRST))
    ends: list[Any] = []
    mocked = Mocked(clock, cassette=Cassette.play(tmp_path), fatal=ends.append)
    came = mocked.one("Who?", label="2/vote/0/vote/Bob", purpose="vote")
    assert "no reply to 2/vote/0/vote/Bob (vote, tiny, key " in str(came.error)
    assert "; no call of that name was recorded: the seed, " in str(came.error)
    assert [str(end) for end in ends] == [came.error]


def test_of_several_missing_calls_none_counts_as_an_answer_and_all_say_what_ended_the_games(
    tmp_path: Path, clock: Clock
) -> None:
    record(tmp_path, ("bid?", FIRST))
    mocked = Mocked(clock, cassette=Cassette.play(tmp_path))
    came = mocked.run(*(mocked.question("Who?", label=f"g/1/vote/0/vote/{name}") for name in ("Ann", "Bob")))
    assert [mocked.gateway.has_ended(each) for each in came] == [True, True]
    assert all("no reply to g/1/vote/0/vote/Ann (" in str(each.error) for each in came)


@pytest.mark.parametrize("cut", [1, 10, 200])
def test_a_last_line_that_was_cut_off_is_left_out(tmp_path: Path, cut: int, caplog: pytest.LogCaptureFixture) -> None:
    file = record(tmp_path, ("bid?", FIRST), ("Who?", FIRST))
    file.write_bytes(file.read_bytes()[:-cut])
    with caplog.at_level(logging.WARNING):
        whole, cut_off = play(tmp_path, "bid?", "Who?")
    assert (whole.text, MISSING in str(cut_off.error)) == (FIRST.text, True)
    assert "line 3 was cut off" in caplog.text
    assert Cassette.record(tmp_path).replies == 1


ENTRY = b'{"key":"a","model":"m","purpose":"bid","label":"l","asked":"","completion":'
CHANGED = [(b'"bid\\": 2', b'"bid\\": 0'), (b":1000", b":1001"), (b"Ann", b"Bob")]
LINES = [b"\n", b"\x00\x00\n", b'{"key": 1}\n', b"[]\n", b'"\xff"\n', b"[" * 100_000 + b"\n"]
LINES += [ENTRY + more + b"}\n" for more in (b'{"latency_s":NaN}', b'{"words":"x"}', b'{"attempts":"1"}')]
DAMAGE = [
    *((3, line, r"line 3: [^\n]+") for line in LINES),
    *((3, words, "line 3: its hash is not that of its content: .+") for words in CHANGED),
    (1, b'{"type":"opened"}\n', r"line 1: [^\n]+"),
    (1, b'{"type":"cassette","format":1,"more":[]}\n', "its format is 1, this wolfbus reads format 3"),
]


@pytest.mark.parametrize("way", OPEN.values(), ids=OPEN)
@pytest.mark.parametrize(("number", "damage", "why"), DAMAGE)
def test_damage_is_told_with_its_file_and_line(
    tmp_path: Path, number: int, damage: bytes | tuple[bytes, bytes], why: str, way: Callable[[Path], Cassette]
) -> None:
    file = record(tmp_path, *((text, FIRST) for text in ("bid?", "Who?", "What?")))
    lines = file.read_bytes().splitlines(keepends=True)
    line = damage if isinstance(damage, bytes) else lines[2].replace(*damage)
    file.write_bytes(b"".join([*lines[: number - 1], line, *lines[number:]]))
    with pytest.raises(CassetteError, match=rf"{file.name}: {why}$"):
        way(tmp_path)


def test_a_full_disk_is_told_and_harms_nothing(tmp_path: Path, clock: Clock) -> None:
    mocked = Mocked(clock, FIRST, cassette=Cassette.record(tmp_path))
    mocked.one("bid?")
    (file,) = files(tmp_path)
    whole, limits = file.read_bytes(), resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (len(whole) + 100, limits[1]))
    try:
        came = mocked.one("Who?")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert f"{file.name}: cannot be written: " in str(came.error)
    assert str(came.error).endswith("what was recorded before is whole")
    assert file.read_bytes() == whole, "the part of a line that was written is taken back"
    # whole lines are there whatever becomes of the process: nothing was closed
    assert play(tmp_path, "bid?")[0].text == FIRST.text
    assert mocked.one("Who?").error, "the games are ended, and nothing more is kept"


def test_nothing_of_an_endpoint_stands_in_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PLANTED_KEY", "sk-planted-canary")
    endpoint = {"url": "http://host.invalid/v1", "key_env": "PLANTED_KEY"}
    text = record(tmp_path, ("bid?", FIRST), endpoint=endpoint).read_text()
    assert not [secret for secret in ("sk-planted-canary", "PLANTED_KEY", "host.invalid") if secret in text]
