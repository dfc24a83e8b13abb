"""What was recorded is what is played, and damage is told, never guessed over."""

from __future__ import annotations

import dataclasses
import json
import logging
import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import wolfbus
from players.llm import cassette as module
from players.llm.cassette import Cassette, key_of
from players.llm.provider import Completion, Form, Message
from players.llm.settings import Endpoint, Price, Timeouts
from wolfbus.canonical import canonical, sha256_hex
from wolfbus.errors import CassetteError

from .calls import PRICE, model, question, reply

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


OF_ITS_RECORDING = {"cost_usd", "url", "failures", "charged", "cassette"}


def test_all_of_a_completion_but_what_is_of_its_recording_alone_is_kept() -> None:
    assert {field.name for field in dataclasses.fields(Completion)} - OF_ITS_RECORDING == set(module._Came.model_fields)


@pytest.mark.parametrize("way", [Cassette.play, Cassette.record])
def test_a_reply_that_is_played_took_no_attempt_and_cost_nothing(tmp_path: Path, way: Any) -> None:
    asked = question(asked=model(price=Price(input=1.0, output=0.0)))
    came = reply(cost_usd=123.0, attempts=3, url="http://host.invalid/v1", failures=("500",), served="tiny fp_1")
    record(tmp_path, (asked, came))
    with way(tmp_path) as cassette:
        assert cassette.find(asked) == reply(attempts=0, served="tiny fp_1", cassette=True)


def test_a_reply_recorded_just_now_is_played_as_any_other(tmp_path: Path) -> None:
    with Cassette.record(tmp_path) as cassette:
        came = reply(cost_usd=123.0, url="http://host.invalid/v1", failures=("500",))
        assert cassette.keep(question(), came) == came
        assert cassette.find(question()) == reply(attempts=0, cassette=True)


def test_a_call_that_was_never_sent_does_not_count_as_one_that_ran_out_of_time_when_it_is_played(
    tmp_path: Path,
) -> None:
    waited = Completion(error="waited 9.0 s and was never sent", timed_out=True, queue_s=9.0)
    sent = Completion(error="no reply in time", timed_out=True, attempts=1)
    record(tmp_path, (question("a"), waited), (question("b"), sent))
    cassette = Cassette.play(tmp_path)
    found = [cassette.find(question(each)) for each in "ab"]
    assert [each.timed_out for each in found if each is not None] == [False, True]


def test_its_length_is_the_number_of_replies_it_knows(tmp_path: Path) -> None:
    with Cassette.record(tmp_path) as cassette:
        assert len(cassette) == 0
        assert cassette, "there is one, though it is empty"
        for text, came in (("a", reply()), ("b", reply()), ("c", FAILED), ("a", reply())):
            cassette.keep(question(text), came)
        assert len(cassette) == 2
    assert len(Cassette.play(tmp_path)) == 2


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


def test_where_a_model_runs_and_what_it_costs_does_not_shape_the_key() -> None:
    elsewhere = model(price=PRICE, timeouts=Timeouts(bid=3.0), structured="auto").model_copy(
        update={"endpoint": Endpoint(url="http://localhost:1/v1", key_env="MINE")}
    )
    assert key_of(question(asked=elsewhere, label="x", deadline=1.0, purpose="vote")) == key_of(question())


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


def test_of_failures_the_last_one_counts(tmp_path: Path) -> None:
    record(tmp_path, (question(), FAILED), (question(), dataclasses.replace(FAILED, timed_out=True)))
    found = Cassette.play(tmp_path).find(question())
    assert found is not None
    assert found.timed_out


def test_two_processes_record_into_one_folder_at_once(tmp_path: Path) -> None:
    with Cassette.record(tmp_path) as one, Cassette.record(tmp_path) as two:
        for number in range(20):
            (one, two)[number % 2].keep(question(str(number)), reply(number, number))
    assert len(files(tmp_path)) == 2
    cassette = Cassette.play(tmp_path)
    assert all(cassette.find(question(str(number))) == played(reply(number, number)) for number in range(20))


def test_a_process_that_recorded_nothing_leaves_no_file(tmp_path: Path) -> None:
    Cassette.record(tmp_path).close()
    assert files(tmp_path) == []


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


def test_a_cassette_of_another_version_of_wolfbus_says_so_where_a_call_is_missing(tmp_path: Path) -> None:
    file = record(tmp_path, (question(), reply()))
    file.write_bytes(file.read_bytes().replace(f'"wolfbus":"{wolfbus.__version__}"'.encode(), b'"wolfbus":"0.0.7"'))
    with pytest.raises(CassetteError, match=rf"recorded with 0\.0\.7, this is {wolfbus.__version__}"):
        Cassette.play(tmp_path).find(question("Who?"))


def test_a_player_of_a_cassette_never_writes(tmp_path: Path) -> None:
    file = record(tmp_path, (question(), reply()))
    before = file.read_bytes()
    cassette = Cassette.play(tmp_path)
    with pytest.raises(CassetteError, match="not open for recording"):
        cassette.keep(question("Who?"), reply())
    cassette.close()
    assert [each.read_bytes() for each in files(tmp_path)] == [before]


def test_there_must_be_something_to_play(tmp_path: Path) -> None:
    with pytest.raises(CassetteError, match="there is no such folder"):
        Cassette.play(tmp_path / "nowhere")
    with pytest.raises(CassetteError, match="no model reply was recorded here"):
        Cassette.play(tmp_path)


def test_a_folder_that_is_none_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(CassetteError, match="the folder cannot be made"):
        Cassette.record(tmp_path / "file")


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


def test_a_file_cut_off_in_its_first_line_holds_nothing(tmp_path: Path) -> None:
    record(tmp_path, (question(), reply()))
    (tmp_path / "0.ndjson").write_bytes(b"")
    (tmp_path / "1.ndjson").write_bytes(b'{"type":"cass')
    assert Cassette.play(tmp_path).find(question()) == played(reply())


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


def test_no_line_follows_one_that_is_cut_off(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cassette = Cassette.record(tmp_path)
    cassette.keep(question(), reply())
    real = os.write

    def write(fd: int, rest: Any) -> int:
        if len(rest) > 50:
            return real(fd, rest[:50])
        raise OSError(28, "No space left on device")

    def truncate(fd: int, size: int) -> None:
        raise OSError(5, "Input/output error")

    with monkeypatch.context() as broken:
        broken.setattr(os, "write", write)
        broken.setattr(os, "ftruncate", truncate)
        with pytest.raises(CassetteError, match="no space left"):
            cassette.keep(question("Who?"), reply())
    with pytest.raises(CassetteError, match="an earlier line is cut off"):
        cassette.keep(question("Who?"), reply())
    cassette.close()
    assert Cassette.play(tmp_path).find(question()) == played(reply())


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


def test_a_file_can_be_read_by_people_and_holds_no_whole_prompt(tmp_path: Path) -> None:
    file = record(tmp_path, (question("secret of another page " + "x" * 600 + " How much?"), reply()))
    header, entry = (json.loads(line) for line in file.read_text().splitlines())
    assert (header["format"], header["wolfbus"]) == (2, wolfbus.__version__)
    assert (entry["label"], entry["purpose"], entry["model"]) == ("1/debate/1/bid/Ann", "bid", "tiny")
    assert entry["asked"].endswith("xx How much?")
    assert len(entry["asked"]) == 500
    assert entry["completion"]["text"] == '{"bid": 2}'


def test_nothing_of_an_endpoint_stands_in_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PLANTED_KEY", "sk-planted-canary")
    asked = model().model_copy(update={"endpoint": Endpoint(url="http://host.invalid/v1", key_env="PLANTED_KEY")})
    text = record(tmp_path, (question(asked=asked), reply())).read_text()
    for each in ("sk-planted-canary", "PLANTED_KEY", "host.invalid"):
        assert each not in text


def test_a_number_that_json_lacks_is_told(tmp_path: Path) -> None:
    wrong = reply(parameters={"top_k": float("nan")})
    with (
        Cassette.record(tmp_path) as cassette,
        pytest.raises(CassetteError, match=r"1/debate/1/bid/Ann: "),
    ):
        cassette.keep(question(), wrong)


def test_what_could_not_be_read_again_is_not_written(tmp_path: Path) -> None:
    wrong = reply(parameters={"stop": ["a"]})
    with Cassette.record(tmp_path) as cassette:
        with pytest.raises(CassetteError, match=r"1/debate/1/bid/Ann: cannot be kept: parameters"):
            cassette.keep(question(), wrong)
        cassette.keep(question(), reply())
    assert Cassette.play(tmp_path).find(question()) == played(reply())


def test_a_closed_cassette_records_no_more(tmp_path: Path) -> None:
    cassette = Cassette.record(tmp_path)
    cassette.close()
    cassette.close()
    with pytest.raises(CassetteError, match="not open for recording"):
        cassette.keep(question(), reply())
