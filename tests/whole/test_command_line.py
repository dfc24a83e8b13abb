"""What a user types, what comes back, and what survives."""

import gzip
import json
import os
import re
import shutil
import subprocess
import sys
import threading
from pathlib import Path

import click
import pytest

from tests.golden.running import wolfbus
from tests.ops.commands import run
from tests.study.forged import forge
from wolfbus.bus import open_bus, streams
from wolfbus.cli import COMMANDS, GROUPS, cli
from wolfbus.testing.redis_server import RedisServer

WOLFBUS = [sys.executable, "-m", "wolfbus"]
ENVIRONMENT = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}


def started(*arguments: str, environment: dict[str, str] | None = None, **more) -> subprocess.CompletedProcess[bytes]:
    """Run a command as a process of its own: for what pipes, signals or its end are part of."""
    streams_ = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **more}
    return subprocess.run([*WOLFBUS, *arguments], env={**ENVIRONMENT, **(environment or {})}, check=False, **streams_)


@pytest.fixture(scope="module")
def record(tmp_path_factory) -> Path:
    out = tmp_path_factory.mktemp("records")
    result = wolfbus(out, "play", "--seed", "7", "--json", "--out", ".", "--game", "kept")
    assert result.code == 0, result.err
    return out / "kept.ndjson"


def replayed(path: Path, *arguments: str) -> dict:
    """Return what `replay --json` tells of a record, and the code with which it ends."""
    result = wolfbus(path.parent, "replay", path.name, "--json", *arguments)
    return {**json.loads(result.out), "code": result.code}


def test_a_redis_that_is_not_there_or_not_ours_is_one_line_without_its_password(tmp_path):
    result = wolfbus(tmp_path, "play", "--bus", "redis://user:secret@127.0.0.1:1/0?patience=0.2")
    assert result.code in {1, 2}
    assert "127.0.0.1:1" in result.err
    with RedisServer() as server:
        server.command("ACL", "SETUSER", "reader", "on", ">secret", "~*", "+@read", "+@connection")
        # a process of its own, which would not end if a thread were left
        refused = started("play", "--bus", server.url.replace("redis://", "redis://reader:secret@"), cwd=tmp_path)
    assert refused.returncode == 1
    for stderr in (result.err, refused.stderr.decode()):
        assert "secret" not in stderr
        assert "Traceback" not in stderr


def test_a_record_is_never_overwritten(record):
    before = record.read_bytes()
    result = wolfbus(record.parent, "play", "--seed", "2", "--game", "kept", "--json", "--out", ".")
    assert (result.code, record.read_bytes()) == (2, before)
    assert "kept.ndjson" in result.err.splitlines()[-1]


def test_replay_agrees_with_play_and_reads_standard_input_and_gzip(record, tmp_path):
    plain = replayed(record)
    assert (plain["code"], plain["source"], plain["verified"], plain["problems"]) == (0, "wolfbus", True, [])
    assert set(plain["labels"]) >= {"total", "clean", "repaired", "defaulted"}
    assert set(plain["metrics"]) >= {"production", "table1", "table2", "table3", "table5", "trends"}
    packed = tmp_path / "kept.ndjson.gz"
    packed.write_bytes(gzip.compress(record.read_bytes()))
    assert replayed(packed) == plain
    piped = wolfbus(tmp_path, "replay", "-", "--json", stdin=record.read_bytes())
    assert {**json.loads(piped.out), "code": piped.code} == plain
    again = json.loads(wolfbus(tmp_path, "play", "--seed", "7", "--json").out)
    for name in ("digest", "winner", "reason", "rounds", "statements", "judgements"):
        assert again[name] == plain[name]


def test_tables_of_a_game_are_those_of_its_record(tmp_path):
    played = wolfbus(tmp_path, "play", "--seed", "7", "--game", "seven", "--quiet", "--tables")
    replay = wolfbus(tmp_path, "replay", "--tables")
    assert (played.code, replay.code) == (0, 0)
    # behind the proof come the tables, and before how it ended
    tables = replay.out.split("\n\n", 1)[1]
    assert played.out.startswith(tables)


def test_replay_recomputes_under_other_criteria(record):
    usual, flat = (replayed(record, *more)["metrics"] for more in ((), ("--alpha", "0", "--prior", "0.25")))
    assert usual["table2"] != flat["table2"]
    assert usual["table3"] == flat["table3"]


def test_replay_publishes_to_a_bus_once_however_often(record, redis_url):
    for _ in range(2):
        proof = replayed(record, "--to-bus", redis_url, "--house", "shown")
        assert proof["code"] == 0
    bus = open_bus(redis_url)
    entries = bus.entries(streams.record("shown", "kept"), limit=10_000)
    assert [entry.number for entry in entries] == list(range(1, proof["events"] + 1))
    assert bus.entries(streams.table("shown", "kept"))
    bus.close()


def test_damage_in_the_first_line_is_a_finding_like_any_other(record, tmp_path):
    lines = record.read_bytes().splitlines(keepends=True)
    path = tmp_path / "edited.ndjson"
    for edited in ([lines[0].replace(b'"started"', b'"starred"'), *lines[1:]], lines[1:]):
        path.write_bytes(b"".join(edited))
        proof = replayed(path)
        assert (proof["code"], proof["verified"]) == (1, False)
        assert "line 1" in proof["problems"][0]
    packed = tmp_path / "cut.ndjson.gz"
    whole = gzip.compress(record.read_bytes())
    packed.write_bytes(whole[: len(whole) // 2])
    proof = replayed(packed)
    assert proof["code"] == 1
    assert proof["events"] > 20


@pytest.mark.parametrize("words", [("games",), ("games", "--bus", "redis://127.0.0.1:1"), ("games/a.ndjson",)])
def test_a_folder_or_record_that_may_not_be_read_is_named_with_the_remedy(tmp_path, monkeypatch, words):
    (tmp_path / "games").mkdir()
    (tmp_path / "games" / "a.ndjson").touch()
    # whoever runs the tests may read anything
    monkeypatch.setattr(os, "access", lambda path, mode: False)
    result = wolfbus(tmp_path, "view", "--no-open", *words)
    assert (result.code, len(result.err.splitlines())) == (2, 1), result.err
    assert result.err.startswith(f"wolfbus: {words[0]}: not readable by the user of this process")
    assert result.err.endswith("chmod -R o+rX\n")


@pytest.mark.parametrize("words", ["replay kept.ndjson", "replay kept.ndjson --as x", "page kept.ndjson --as x"])
def test_no_terminal_obeys_the_names_of_a_record_that_is_refused(record, tmp_path, words):
    shutil.copy(record, tmp_path)

    def rename(event):
        if event.type != "opened":
            return event
        first = event.seats[0].model_copy(update={"name": "\x1b]0;mine\x07\u202e\nwolfbus:"})
        return event.model_copy(update={"seats": (first, *event.seats[1:])})

    forge(tmp_path / "kept.ndjson", rename)
    result = wolfbus(tmp_path, *words.split())
    assert result.code in {1, 2}
    assert "[U+001B]]0;mine[U+0007][U+202E]" in result.err
    assert not {"\x1b", "\x07", "\u202e"}.intersection(result.err)


def test_a_number_that_is_too_long_for_python_is_text_as_a_seed_and_a_mistake_in_a_file(tmp_path):
    digits = "1" * 5000
    assert json.loads(wolfbus(tmp_path, "play", "--seed", digits, "--json").out)["seed"] == digits
    (tmp_path / "game.toml").write_text(f"max_rounds = {digits}")
    result = wolfbus(tmp_path, "rules", "--config", "game.toml")
    assert (result.code, result.err.startswith("wolfbus: game.toml: not TOML: ")) == (2, True), result.err


def test_options_come_from_the_environment(tmp_path):
    result = wolfbus(tmp_path, "play", "--json", WOLFBUS_PLAY_SEED="7", WOLFBUS_PLAY_OUT="elsewhere")
    value = json.loads(result.out)
    assert value["seed"] == 7
    assert value["record"].startswith("elsewhere")
    for name in COMMANDS:
        for option in cli.get_command(click.Context(cli), name).params:
            if isinstance(option, click.Option):
                word = f"{name}_{max(option.opts, key=len).lstrip('-')}".replace("-", "_").upper()
                assert f"WOLFBUS_{word}" in (option.envvar or ())


LOCAL = {"url": "redis://127.0.0.1:6379", "house": "main", "health": None, "log": "auto"}
ELSEWHERE = {"url": "redis://redis", "house": "h2", "health": ("0.0.0.0", 8080), "log": "json"}


@pytest.mark.parametrize(
    ("words", "environment", "options"),
    [
        ("", {}, LOCAL),
        ("", {"REDIS_URL": "redis://redis", "WOLFBUS_HOUSE": "h2", "WOLFBUS_HEALTH": "0.0.0.0:8080",
              "WOLFBUS_LOG": "json"}, ELSEWHERE),
        ("--health 8080", {}, {**LOCAL, "health": ("127.0.0.1", 8080)}),
        ("--health [::1]:80", {}, {**LOCAL, "health": ("::1", 80)}),
        ("--health box.lan:1", {}, {**LOCAL, "health": ("box.lan", 1)}),
    ],
)  # fmt: skip
def test_a_service_needs_no_option_on_a_machine_with_redis_and_takes_all_from_the_environment(
    words, environment, options, monkeypatch
):
    for name in ("REDIS_URL", *(f"WOLFBUS_{name}" for name in ("BUS", "HOUSE", "HEALTH", "LOG"))):
        monkeypatch.delenv(name, raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    for name in ("moderator", "player", "analytics"):
        command = cli.get_command(click.Context(cli), name)
        parsed = command.make_context(name, words.split()).params
        assert {option: parsed[option] for option in options} == options


def test_a_command_that_is_interrupted_says_so_and_exits_130(record):
    code, output = run("replay", str(record), "--speed", "0.01", "--plain", until=lambda output: "players: " in output)
    assert (code, output.splitlines()[-1]) == (130, "wolfbus: interrupted")


def test_a_closed_pipe_ends_quietly(record):
    with subprocess.Popen(
        [*WOLFBUS, "replay", str(record)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=ENVIRONMENT
    ) as process:
        process.stdout.close()
        assert process.wait(timeout=60) == 1
        assert process.stderr.read() == b""


def test_the_config_template_is_the_config(tmp_path):
    (tmp_path / "game.toml").write_text(wolfbus(tmp_path, "rules", "--toml").out)
    assert wolfbus(tmp_path, "rules", "--config", "game.toml").out == wolfbus(tmp_path, "rules").out


def test_no_thread_outlives_the_game(tmp_path):
    before = threading.enumerate()
    assert wolfbus(tmp_path, "play", "--seed", "1", "--json").code == 0
    assert set(threading.enumerate()) <= set(before)


def test_the_help_groups_every_command_by_what_it_is_for(tmp_path):
    blocks = dict(re.findall(r"^([A-Z][\w ]+):\n((?:  .*\n?)+)", wolfbus(tmp_path, "--help").out, re.MULTILINE))
    for title, group in GROUPS.items():
        assert re.findall(r"^  ([a-z][a-z-]*) ", blocks[title], re.MULTILINE) == list(group)
    assert "did you mean" not in wolfbus(tmp_path, "xyzzy").err


def test_what_a_brain_prints_is_no_result(tmp_path):
    (tmp_path / "loud.py").write_text(
        "from players.scripted import RandomBrain\nprint('imported')\n\n\nclass Loud(RandomBrain):\n"
        "    def answer(self, ask, view):\n        print('thinking')\n        return super().answer(ask, view)\n"
    )
    result = wolfbus(tmp_path, "play", "--players", "loud:Loud*2,random*6", "--json", "--seed", "1")
    assert result.code == 0
    assert json.loads(result.out)["seed"] == 1
    assert "thinking" in result.err


def test_an_output_that_takes_nothing_is_one_line_and_does_not_stop_a_game(tmp_path):
    unbuffered = {"cwd": tmp_path, "environment": {"PYTHONUNBUFFERED": "1"}}
    with Path("/dev/full").open("wb") as full:
        for more in ({"cwd": tmp_path}, unbuffered):
            lost = started("rules", stdout=full, **more)
            assert (lost.returncode, lost.stderr) == (1, b"wolfbus: the output: no space left on device\n")
        unseen = started("play", "--seed", "1", "--game", "unseen", "--plain", stderr=full, **unbuffered)
        refused = started("replay", "nowhere.ndjson", stderr=full, cwd=tmp_path)
    assert unseen.returncode == 0
    assert b"Digest" in unseen.stdout
    assert (refused.returncode, refused.stdout) == (2, b"")
