"""What was recorded is what is played, and damage is told, never guessed over."""

from __future__ import annotations

import dataclasses
import json
import logging
import resource
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from players.llm import cassette as module
from players.llm.cassette import Cassette, key_of
from players.llm.provider import Completion, Form, Message
from players.llm.settings import Endpoint
from wolfbus.canonical import canonical, sha256_hex
from wolfbus.errors import CassetteError

from .calls import model, question, reply

KEY = "24ba1026dd7523b962817316d36d64cbad73b368a7b6775b71c02a613c88fb05"
FAILED = Completion(error="the server said 500", attempts=6, latency_s=3.5)


def files(folder: Path) -> list[Path]:
    return sorted(folder.glob("*.ndjson"))


def record(folder: Path, *pairs: tuple[Any, Completion]) -> Path:
    """Record some calls; return the file."""
    before = set(files(folder))
    with Cassette.record(folder) as cassette:
        for asked, came in pairs:
            cassette.keep(asked, came)
    (new,) = set(files(folder)) - before
    return new


def played(came: Completion) -> Completion:
    """What a cassette makes of what it recorded."""
    timed_out = came.timed_out and came.attempts > 0
    return dataclasses.replace(came, attempts=0, timed_out=timed_out, cassette=True)


def with_hash(entry: bytes) -> bytes:
    """An entry's line, with the hash that it should have."""
    value = json.loads(entry)
    value.pop("hash", None)
    return canonical(value | {"hash": sha256_hex(canonical(value))}) + b"\n"


def test_what_was_recorded_is_played(tmp_path: Path) -> None:
    record(tmp_path, (question(), reply()), (question("Who?"), FAILED))
    with Cassette.play(tmp_path) as cassette:
        assert cassette.plays
        assert cassette.find(question()) == played(reply())
        assert cassette.find(question("Who?")) == played(FAILED)


TEXT = st.text(st.characters(codec=None), max_size=40)  # lone surrogates too
COUNT = st.none() | st.integers(0, 10**9)
SECONDS = st.floats(0, 1e6)
SCALAR = (
    TEXT
    | st.booleans()
    | st.none()
    | st.integers(-(2**53) + 1, 2**53 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
)
COMPLETIONS = st.builds(
    Completion,
    text=st.none() | TEXT,
    thought=st.none() | TEXT,
    refusal=st.none() | TEXT,
    finish=st.none() | TEXT,
    error=st.none() | TEXT,
    timed_out=st.booleans(),
    attempts=st.integers(0, 20),
    queue_s=SECONDS,
    latency_s=SECONDS,
    prompt_tokens=COUNT,
    cached_tokens=COUNT,
    completion_tokens=COUNT,
    parameters=st.dictionaries(TEXT, SCALAR, max_size=3),
    served=st.none() | TEXT,
)


@settings(max_examples=60, deadline=None)
@given(st.dictionaries(st.tuples(TEXT, TEXT), COMPLETIONS, max_size=5).filter(bool))
def test_anything_recorded_comes_back_equal(calls: dict[tuple[str, str], Completion]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        asked = [(question(text, label=text, scope=scope), came) for (text, scope), came in calls.items()]
        with Cassette.record(folder) as recording:
            for each, came in asked:
                assert recording.keep(each, came) == came
        cassette = Cassette.play(folder)
        for each, came in asked:
            assert cassette.find(each) == played(came)


@pytest.mark.parametrize(("old", "new"), [(b'"bid\\": 2', b'"bid\\": 0'), (b":1000", b":1001"), (b"Ann", b"Bob")])
def test_a_line_that_was_changed_is_told_with_its_file_and_number(tmp_path: Path, old: bytes, new: bytes) -> None:
    file = record(tmp_path, (question("Who?"), reply()), (question(), reply()))
    head, first, second = file.read_bytes().splitlines(keepends=True)
    assert old in second
    file.write_bytes(head + first + second.replace(old, new))
    for way in (Cassette.play, Cassette.record):
        with pytest.raises(CassetteError, match=rf"{file.name}: line 3: its hash is not that of its content"):
            way(tmp_path)
    file.write_bytes(head + first + with_hash(second.replace(old, new)))
    assert len(Cassette.play(tmp_path)) == 2


def test_an_entry_without_members_that_came_later_is_read(tmp_path: Path) -> None:
    file = record(tmp_path, (question(), reply()))
    header, entry = file.read_bytes().splitlines(keepends=True)
    value = json.loads(entry)
    assert "served" not in value["completion"]
    file.write_bytes(header + with_hash(entry))
    assert Cassette.play(tmp_path).find(question()) == played(reply())


@pytest.mark.parametrize(
    "other",
    [
        question("How much do you want to speak? "),
        question(messages=(Message("user", "You play a game."), Message("user", "How much do you want to speak?"))),
        question(form=Form("bids", question().form.schema)),
        question(form=Form("bid", {"type": "object"})),
        question(scope="game-2"),
        question(asked=model("other")),
        question(asked=model(max_tokens=101)),
        question(asked=model(temperature=0.0)),
        question(asked=model(top_p=0.5)),
        question(asked=model(reasoning_effort="low")),
        question(asked=model(extra={"seed": 1})),
        question(asked=model(structured="text")),
    ],
)
def test_what_shapes_the_reply_shapes_the_key(other: Any) -> None:
    assert key_of(other) != key_of(question())


def test_a_key_is_the_same_in_every_version_that_plays_this_format() -> None:
    assert module.FORMAT == 2
    assert key_of(question()) == KEY


def test_an_interrupted_run_uses_again_what_it_has(tmp_path: Path) -> None:
    record(tmp_path, (question(), reply()), (question("Who?"), FAILED))
    with Cassette.record(tmp_path) as cassette:
        assert not cassette.plays
        assert cassette.find(question()) == played(reply())
        assert cassette.find(question("Who?")) is None, "a failure is tried again"
        cassette.keep(question("Who?"), reply(7, 7))
    assert Cassette.play(tmp_path).find(question("Who?")) == played(reply(7, 7))


def test_of_equal_calls_at_once_the_first_reply_counts_for_both(tmp_path: Path) -> None:
    with Cassette.record(tmp_path) as cassette:
        assert cassette.find(question()) is None
        assert cassette.keep(question(), reply(text="first")).text == "first"
        second = cassette.keep(question(), reply(7, 7, text="second", cost_usd=0.5))
        assert second == reply(7, 7, text="first", cost_usd=0.5), "it was asked, and paid"
        third = cassette.keep(question(), FAILED)
        assert (third.text, third.error, third.attempts, third.cassette) == ("first", None, 6, False)
    found = Cassette.play(tmp_path).find(question())
    assert found is not None
    assert found.text == "first"


def test_a_missing_call_is_named_with_what_may_differ(tmp_path: Path) -> None:
    record(tmp_path, (question(), reply()))
    cassette = Cassette.play(tmp_path)
    asked = question("Who?", label="2/vote/0/vote/Bob", purpose="vote")
    with pytest.raises(CassetteError) as caught:
        cassette.find(asked)
    message = str(caught.value)
    assert f"no reply to 2/vote/0/vote/Bob (vote, tiny, key {key_of(asked)[:12]}); no call of that name" in message
    assert "the seed" in message
    assert "\n" not in message
    with pytest.raises(CassetteError, match="recorded, but asked otherwise"):
        cassette.find(question("Who?"))


@pytest.mark.parametrize("cut", [1, 10, 200])
def test_a_last_line_that_was_cut_off_is_left_out(tmp_path: Path, cut: int, caplog: pytest.LogCaptureFixture) -> None:
    file = record(tmp_path, (question(), reply()), (question("Who?"), reply()))
    file.write_bytes(file.read_bytes()[:-cut])
    with caplog.at_level(logging.WARNING):
        cassette = Cassette.play(tmp_path)
    assert cassette.find(question()) == played(reply())
    assert "line 3 was cut off" in caplog.text
    with pytest.raises(CassetteError):
        cassette.find(question("Who?"))
    with Cassette.record(tmp_path) as again:
        assert again.find(question("Who?")) is None


@pytest.mark.parametrize(
    "damage",
    [
        b"\n",
        b"\x00\x00\n",
        b'{"key": 1}\n',
        b"[]\n",
        b'"\xff"\n',
        b"[" * 100_000 + b"\n",
        b'{"key":"a","model":"m","purpose":"bid","label":"l","asked":"","completion":{"latency_s":NaN}}\n',
        b'{"key":"a","model":"m","purpose":"bid","label":"l","asked":"","completion":{"words":"x"}}\n',
        b'{"key":"a","model":"m","purpose":"bid","label":"l","asked":"","completion":{"attempts":"1"}}\n',
    ],
)
def test_any_other_damage_is_told_with_its_file_and_line(tmp_path: Path, damage: bytes) -> None:
    file = record(tmp_path, (question(), reply()), (question("Who?"), reply()))
    lines = file.read_bytes().splitlines(keepends=True)
    file.write_bytes(b"".join([*lines[:2], damage, *lines[2:]]))
    for way in (Cassette.play, Cassette.record):
        with pytest.raises(CassetteError, match=rf"{file.name}: line 3: ") as caught:
            way(tmp_path)
        assert "\n" not in str(caught.value)


def test_a_file_of_another_kind_or_format_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.ndjson").write_text('{"type":"opened"}\n')
    with pytest.raises(CassetteError, match=r"a\.ndjson: line 1: "):
        Cassette.play(tmp_path)
    (tmp_path / "a.ndjson").write_text('{"type":"cassette","format":1,"more":[]}\n')
    with pytest.raises(CassetteError, match=r"a\.ndjson: its format is 1, this wolfbus reads format 2"):
        Cassette.record(tmp_path)


def test_a_full_disk_is_told_and_harms_nothing(tmp_path: Path) -> None:
    cassette = Cassette.record(tmp_path)
    cassette.keep(question(), reply())
    (file,) = files(tmp_path)
    whole = file.read_bytes()
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (len(whole) + 100, limits[1]))
    try:
        with pytest.raises(CassetteError, match=rf"{file.name}: cannot be written: .*recorded before is whole"):
            cassette.keep(question("Who?"), reply())
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert file.read_bytes() == whole, "the part of a line that was written is taken back"
    assert cassette.find(question("Who?")) is None
    cassette.keep(question("Who?"), reply())
    cassette.close()
    assert Cassette.play(tmp_path).find(question("Who?")) == played(reply())


def test_what_a_killed_process_recorded_is_there(tmp_path: Path) -> None:
    code = (
        "import os, signal, sys\n"
        "from players.llm.cassette import Cassette\n"
        "from tests.llm.accounts.calls import question, reply\n"
        "cassette = Cassette.record(sys.argv[1])\n"
        "for number in range(50): cassette.keep(question(str(number)), reply())\n"
        "os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    root = Path(__file__).parents[3]
    done = subprocess.run([sys.executable, "-c", code, str(tmp_path)], cwd=root, check=False, timeout=60)
    assert done.returncode == -9
    cassette = Cassette.play(tmp_path)
    assert all(cassette.find(question(str(number))) == played(reply()) for number in range(50))


def test_nothing_of_an_endpoint_stands_in_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PLANTED_KEY", "sk-planted-canary")
    asked = model().model_copy(update={"endpoint": Endpoint(url="http://host.invalid/v1", key_env="PLANTED_KEY")})
    text = record(tmp_path, (question(asked=asked), reply())).read_text()
    for each in ("sk-planted-canary", "PLANTED_KEY", "host.invalid"):
        assert each not in text
