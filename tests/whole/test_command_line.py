"""What a user types, what comes back, and what survives."""

from __future__ import annotations

import gzip
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.golden import running
from wolfbus.testing.redis_server import RedisServer

WOLFBUS = [sys.executable, "-m", "wolfbus"]


def wolfbus(*arguments: str, cwd: Path | None = None) -> subprocess.CompletedProcess[bytes]:
    """Run a command in this process, which is quicker: for what neither pipes, signals nor its end are part of."""
    said = running.wolfbus(cwd or Path(), *arguments)
    return subprocess.CompletedProcess(arguments, said.code, said.out.encode(), said.err.encode())


def started(*arguments: str, cwd: Path | None = None, stdin: bytes | None = None, **environment: str):
    """Run a command as a process of its own."""
    return subprocess.run(
        [*WOLFBUS, *arguments],
        capture_output=True,
        cwd=cwd,
        input=stdin,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2]), **environment},
        check=False,
    )


@pytest.fixture(scope="module")
def record(tmp_path_factory) -> Path:
    out = tmp_path_factory.mktemp("records")
    result = wolfbus("play", "--seed", "7", "--json", "--out", str(out), "--game", "kept")
    assert result.returncode == 0, result.stderr
    return out / "kept.ndjson"


def one_line(result, status: int, *words: str) -> str:
    text = result.stderr.decode()
    assert result.returncode == status, (result.returncode, text)
    assert "Traceback" not in text
    last = text.strip().splitlines()[-1]
    for word in words:
        assert word in last, text
    return last


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["play", "--players", "scripted*7"], ["7", "8"]),
        (["play", "--players", "wizard"], ["wizard", "scripted"]),
        (["play", "--players", "nosuchmodule:Brain"], ["nosuchmodule"]),
        (["play", "--bus", "carrier-pigeon://roof"], ["carrier-pigeon"]),
        (["play", "--game", "../../etc/passwd"], ["--game"]),
        (["play", "--config", "missing.toml"], ["missing.toml"]),
        (["replay", "missing.ndjson"], ["missing.ndjson"]),
        (["replay", os.devnull], ["empty"]),
        (["schema", "Bidd"], ["Bid"]),
        (["rules", "--config", os.devnull + "/x"], ["/x"]),
    ],
)
def test_bad_input_is_one_line_and_exit_2(tmp_path, arguments, words):
    one_line(wolfbus(*arguments, cwd=tmp_path), 2, *words)
    assert not list(tmp_path.rglob("*.ndjson"))


@pytest.mark.parametrize(
    ("toml", "words"),
    [
        ("werewolves = 7", ["werewolves", "fewer"]),
        ("debate_turn = 3", ["debate_turn", "debate_turns"]),
        ("alpha = 1.5", ["alpha", "1.5"]),
        ("names = [", ["not TOML"]),
        ('players = ["scripted"]', ["players", "1", "8"]),
        ("[deadlines]\nbid = 0", ["deadlines.bid"]),
        ('[model.mini]\nmodel = "x"', ["model", "did you mean 'models'"]),
        ('[endpoint.here]\nurl = "x"', ["endpoint", "did you mean 'endpoints'"]),
        ('player = "random"', ["player", "did you mean 'players'"]),
        ('[models.mini]\nmodle = "x"', ["models.mini", "modle", "did you mean 'model'"]),
        (
            'names = ["A", "B", "C", "D", "E", "F", "G", "H"]\n[players]\nA = "random"',
            ["players", "nobody plays B, C"],
        ),
    ],
)
def test_an_impossible_config_is_refused_with_field_and_reason(tmp_path, toml, words):
    (tmp_path / "game.toml").write_text(toml)
    one_line(wolfbus("play", "--config", "game.toml", cwd=tmp_path), 2, "game.toml", *words)


def test_a_redis_that_is_not_there_is_one_line_and_exit_1_or_2(tmp_path):
    result = wolfbus("play", "--bus", "redis://user:secret@127.0.0.1:1/0?patience=0.2", cwd=tmp_path)
    assert result.returncode in {1, 2}
    assert b"127.0.0.1:1" in result.stderr
    assert b"secret" not in result.stderr
    assert b"Traceback" not in result.stderr


def test_a_record_is_never_overwritten(tmp_path):
    first = wolfbus("play", "--seed", "1", "--game", "same", "--json", cwd=tmp_path)
    assert first.returncode == 0
    before = (tmp_path / "runs" / "same.ndjson").read_bytes()
    again = wolfbus("play", "--seed", "2", "--game", "same", "--json", cwd=tmp_path)
    one_line(again, 2, "same.ndjson")
    assert (tmp_path / "runs" / "same.ndjson").read_bytes() == before


def test_replay_reads_standard_input_and_gzip(record, tmp_path):
    plain = wolfbus("replay", str(record), "--json")
    packed = tmp_path / "kept.ndjson.gz"
    packed.write_bytes(gzip.compress(record.read_bytes()))
    assert wolfbus("replay", str(packed), "--json").stdout == plain.stdout
    assert started("replay", "-", "--json", stdin=record.read_bytes()).stdout == plain.stdout


def test_replay_recomputes_under_other_criteria(record):
    def metrics(*arguments):
        return json.loads(wolfbus("replay", str(record), "--json", *arguments).stdout)["metrics"]

    usual, flat = metrics(), metrics("--alpha", "0", "--prior", "0.25")
    assert usual["table2"] != flat["table2"]
    assert usual["table3"] == flat["table3"]


def test_replay_shows_the_state_at_an_event_and_one_seats_view_of_it(record):
    state = wolfbus("replay", str(record), "--until", "40").stdout.decode()
    assert "Werewolf" in state
    name = json.loads(record.read_text().splitlines()[0])["seats"][0]["name"]
    view = wolfbus("replay", str(record), "--until", "40", "--as", name).stdout.decode()
    assert name in view
    one_line(wolfbus("replay", str(record), "--as", "Nemo"), 2, "Nemo", name)
    one_line(wolfbus("replay", str(record), "--until", "99999"), 2, "99999")


def test_replay_plays_back_in_plain_lines(record):
    result = wolfbus("replay", str(record), "--speed", "100000", "--plain")
    assert result.returncode == 0
    assert result.stderr.decode().count("\n") > 20


def test_replay_publishes_to_a_bus_once_however_often(record, redis_url):
    from wolfbus.bus import open_bus, streams

    for _ in range(2):
        result = wolfbus("replay", str(record), "--to-bus", redis_url, "--house", "shown", "--json")
        assert result.returncode == 0, result.stderr
    bus = open_bus(redis_url)
    try:
        entries = bus.entries(streams.record("shown", "kept"), limit=10_000)
        assert [entry.number for entry in entries] == list(range(1, len(record.read_text().splitlines()) + 1))
        assert bus.entries(streams.table("shown", "kept"))
    finally:
        bus.close()


def test_every_line_that_is_edited_dropped_doubled_or_swapped_is_named(tmp_path):
    from wolfbus.cli.proof import ProofCriteria, open_source, prove
    from wolfbus.errors import RecordError

    (tmp_path / "short.toml").write_text("debate_turns = 3\nmax_rounds = 1\n")
    played = wolfbus("play", "--seed", "7", "--config", "short.toml", "--game", "short", "--json", cwd=tmp_path)
    assert played.returncode == 0, played.stderr
    lines = (tmp_path / "runs" / "short.ndjson").read_bytes().splitlines(keepends=True)
    path = tmp_path / "edited.ndjson"

    def problem(edited: list[bytes]) -> str:
        path.write_bytes(b"".join(edited))
        try:
            proof = prove(open_source(str(path)), ProofCriteria(), keep=False)
        except RecordError as error:
            return str(error)
        assert not proof.verified
        return proof.problems[0]

    assert len(lines) > 80
    for at, line in enumerate(lines):
        before, after = lines[:at], lines[at + 1 :]
        # another byte of each line, so that in the end every part of a line was hit
        place = at * 37 % (len(line) - 1)
        flipped = line[:place] + bytes([line[place] ^ 1]) + line[place + 1 :]
        assert f"line {at + 1}" in problem([*before, flipped, *after])
        # and one of these in turn
        if at % 3 == 0:
            assert f"line {at + 1}" in problem([*before, *after])
        elif at % 3 == 1:
            assert f"line {at + 2}" in problem([*before, line, line, *after])
        elif after:
            assert f"line {at + 1}" in problem([*before, after[0], line, *after[1:]])


def test_options_come_from_the_environment(tmp_path):
    result = started("play", "--json", cwd=tmp_path, WOLFBUS_PLAY_SEED="7", WOLFBUS_PLAY_OUT="elsewhere")
    value = json.loads(result.stdout)
    assert value["seed"] == 7
    assert value["record"].startswith("elsewhere")


def test_a_closed_pipe_ends_quietly(record):
    process = subprocess.Popen([*WOLFBUS, "replay", str(record)], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert process.stdout is not None
    process.stdout.close()
    assert process.wait(timeout=30) == 1
    assert process.stderr is not None
    assert process.stderr.read() == b""
    process.stderr.close()


def test_the_config_template_is_the_config(tmp_path):
    template = wolfbus("rules", "--toml").stdout
    (tmp_path / "game.toml").write_bytes(template)
    assert wolfbus("rules", "--config", "game.toml", cwd=tmp_path).stdout == wolfbus("rules").stdout


def test_no_thread_outlives_the_game(tmp_path):
    code = (
        "import threading\nfrom wolfbus.cli import run\n"
        f"assert run(['play', '--seed', '1', '--json', '--out', {str(tmp_path)!r}]) == 0\n"
        "assert threading.enumerate() == [threading.main_thread()], threading.enumerate()\n"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, check=False)
    assert result.returncode == 0, result.stderr


def test_damage_in_the_first_line_is_a_finding_like_any_other(record, tmp_path):
    lines = record.read_bytes().splitlines(keepends=True)
    path = tmp_path / "edited.ndjson"
    for edited in ([lines[0].replace(b'"started"', b'"starred"'), *lines[1:]], lines[1:]):
        path.write_bytes(b"".join(edited))
        result = wolfbus("replay", str(path), "--json")
        assert result.returncode == 1
        value = json.loads(result.stdout)
        assert value["verified"] is False
        assert "line 1" in value["problems"][0]


def test_a_cut_gzip_gives_the_lines_before_the_cut(record, tmp_path):
    packed = tmp_path / "cut.ndjson.gz"
    whole = gzip.compress(record.read_bytes())
    packed.write_bytes(whole[: len(whole) // 2])
    result = wolfbus("replay", str(packed), "--json")
    assert result.returncode == 1
    assert json.loads(result.stdout)["events"] > 20


def test_every_option_has_a_variable_by_the_name_that_users_type():
    import click

    from wolfbus.cli import COMMANDS, cli

    for name in COMMANDS:
        command = cli.get_command(click.Context(cli), name)
        assert command is not None
        for option in command.params:
            if isinstance(option, click.Option):
                word = max(option.opts, key=len).lstrip("-").replace("-", "_").upper()
                assert f"WOLFBUS_{name.upper().replace(chr(45), chr(95))}_{word}" in (option.envvar or ())


def test_a_mistyped_command_is_told_what_it_might_have_been():
    one_line(wolfbus("plya"), 2, "there is no command 'plya'; did you mean 'play'?")
    one_line(wolfbus("chek-agent", "--", "true"), 2, "did you mean 'check-agent'?")
    assert "did you mean" not in one_line(wolfbus("xyzzy"), 2, "there is no command 'xyzzy'")


def test_a_mistyped_option_is_told_what_it_might_have_been():
    one_line(wolfbus("play", "--sede", "7"), 2, "--sede", "--seed")


def test_the_help_groups_every_command_by_what_it_is_for():
    from wolfbus.cli import COMMANDS, GROUPS

    text = wolfbus("--help").stdout.decode()
    assert sorted(COMMANDS) == sorted(name for group in GROUPS.values() for name in group)
    blocks = dict(re.findall(r"^([A-Z][\w ]+):\n((?:  .*\n?)+)", text, re.MULTILINE))
    for title, group in GROUPS.items():
        assert re.findall(r"^  ([a-z][a-z-]*) ", blocks[title], re.MULTILINE) == list(group)


def test_what_a_brain_prints_is_no_result(tmp_path):
    (tmp_path / "loud.py").write_text(
        "from players.baselines import RandomBrain\nprint('imported')\n\n\nclass Loud(RandomBrain):\n"
        "    def answer(self, ask, view):\n        print('thinking')\n        return super().answer(ask, view)\n"
    )
    result = started("play", "--players", "loud:Loud*2,random*6", "--json", "--seed", "1", cwd=tmp_path)
    assert result.returncode == 0
    assert json.loads(result.stdout)["seed"] == 1
    assert b"thinking" in result.stderr


@pytest.mark.parametrize("command", [["play", "--seed", "1", "--json"], ["rules"]])
def test_an_output_that_takes_nothing_is_one_line(tmp_path, command):
    with Path("/dev/full").open("wb") as full:
        result = subprocess.run(
            [*WOLFBUS, *command],
            cwd=tmp_path,
            stdout=full,
            stderr=subprocess.PIPE,
            env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])},
            check=False,
        )
    assert result.returncode != 0
    assert b"Traceback" not in result.stderr


def test_a_stderr_that_takes_nothing_does_not_stop_the_game(tmp_path):
    with Path("/dev/full").open("wb") as full:
        result = subprocess.run(
            [*WOLFBUS, "play", "--seed", "1", "--game", "unseen", "--plain"],
            cwd=tmp_path,
            stdout=subprocess.PIPE,
            stderr=full,
            env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])},
            check=False,
            timeout=60,
        )
    assert result.returncode == 0
    assert b"Digest" in result.stdout


@pytest.mark.parametrize(
    "arguments",
    [
        ["--alpha", "nan"],
        ["--speed", "1e-300"],
        ["--until", "5", "--json"],
        ["--to-bus", "memory://"],
        ["--to-bus", "redis://localhost", "--house", "a{b}"],
    ],
)
def test_options_that_make_no_sense_are_refused(record, arguments):
    result = wolfbus("replay", str(record), *arguments)
    assert result.returncode == 2
    assert b"Traceback" not in result.stderr
    assert arguments[-2].encode() in result.stderr or arguments[0].encode() in result.stderr


def test_a_house_that_cannot_be_opened_leaves_no_thread_behind(tmp_path, redis_server):
    with RedisServer() as server:
        server.command("ACL", "SETUSER", "reader", "on", ">secret", "~*", "+@read", "+@connection")
        url = server.url.replace("redis://", "redis://reader:secret@")
        result = started("play", "--bus", url, cwd=tmp_path)
    assert result.returncode == 1
    assert b"secret" not in result.stderr
    assert b"Traceback" not in result.stderr


def test_several_processes_play_the_games_that_one_plays_and_say_what_they_took():
    told = []
    for workers in (1, 2):
        result = wolfbus("bench", "--games", "4", "--workers", str(workers), "--json")
        assert result.returncode == 0, result.stderr
        told.append(json.loads(result.stdout))
    one, two = told
    assert [each["workers"] for each in told] == [1, 2]
    for name in ("games", "failed", "statements", "wins"):
        assert one[name] == two[name]
    assert two["cpu_ms_per_statement"] > 0
