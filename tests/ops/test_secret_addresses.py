"""No command tells user and password of a bus: not on its terminal, in its logs or in any file."""

from __future__ import annotations

import contextlib
import os
import re
import sys
from pathlib import Path

import pytest

from tests.ops.commands import run
from wolfbus import cli
from wolfbus.testing.redis_server import RedisServer, ReservedPort
from wolfbus.tickets import redis_address

WAITING = {
    "analytics": "redis://***@",
    "gateway": "clients are taken on ws://",
    "join": "redis://***@",
    "player": "redis://***@",
    "up": "redis://***@",
    "view": "http://127.0.0.1:",
    "worker": "waiting for agenda mine",
}
"""Commands that stay until somebody ends them, and what they say once they are at the bus."""
USER, PASSWORD = "wolfuser", "xyzzy-plugh"
OTHERS = frozenset(
    {"annotate", "beliefs", "compare", "export", "fake-model", "fork", "import", "page"}
    | {"plan", "report", "rules", "schema", "verify"}
)
"""Commands that take no bus; they may be given an address all the same, where they want a file."""
AGENT = "--seats 8 --name ann --once --grace 0"
COMMANDS = {
    "analytics": "--bus {url} --house h --out {out}/analytics",
    "check-agent": "--bus {url} --house check --wait 0.1",
    "gateway": "aiwolf --bus {url} --house h --port 0 --grace 0",
    "join": f"--bus {{url}} --house h {AGENT} -- {sys.executable} -c pass",
    "moderator": "--bus {url} --house h --wait 0.1",
    "play": "--bus {url} --seed 7 --out {out}/play --plain",
    "player": f"--bus {{url}} --house h {AGENT}",
    "replay": "--to-bus {url} {out}/there.ndjson",
    "run": "--bus {url} --games 1 --out {out}/run --plain",
    "status": "--bus {url} --json",
    "tickets": "list --bus {url}",
    "up": "--redis {url} --house up-1 --players scripted*7,open --out {out}/up",
    "view": "--bus {url} --house h --no-open --port 0",
    "watch": "--bus {url} --house h --once --json",
    "worker": "--bus {url} --agenda mine",
}
"""The words of every command that takes a bus."""


def words_of(text):
    """Return what tells whether these words were said."""
    return lambda output: text in output


def with_secret(url):
    return url.replace("://", f"://{USER}:{PASSWORD}@", 1)


def assert_untold(output, folder=None):
    """No line that was said tells a secret, and no file below a folder, by name or within."""
    assert not [line for line in output.splitlines() if USER in line or PASSWORD in line]
    paths = [path for path in folder.rglob("*") if path.is_file()] if folder is not None else []
    assert not [path for path in paths if PASSWORD in str(path) or PASSWORD.encode() in path.read_bytes()]


@pytest.fixture(autouse=True)
def all_is_logged(monkeypatch):
    monkeypatch.setenv("WOLFBUS_LOG_LEVEL", "debug")


@pytest.fixture(scope="module")
def guarded():
    """The address of a Redis that lets one user in, with user and password."""
    with RedisServer() as server:
        server.command("ACL", "SETUSER", USER, "on", f">{PASSWORD}", "~*", "&*", "+@all")
        server.command("CONFIG", "SET", "requirepass", "of-somebody-else")
        yield with_secret(server.url)


@pytest.fixture(scope="module")
def record(tmp_path_factory):
    out = tmp_path_factory.mktemp("played")
    assert run("play", "--seed", "7", "--quiet", "--out", str(out))[0] == 0
    (path,) = out.glob("*.ndjson")
    return path.read_bytes()


@pytest.fixture
def words(tmp_path, record):
    """Return a command's words with an address."""
    (tmp_path / "there.ndjson").write_bytes(record)
    return lambda command, url: [command, *(word.format(url=url, out=tmp_path) for word in COMMANDS[command].split())]


def test_every_command_is_tried():
    assert COMMANDS.keys() | OTHERS == cli.COMMANDS.keys()


@pytest.mark.parametrize("command", COMMANDS)
def test_no_command_tells_the_password_of_a_bus_that_is_away(command, words, tmp_path):
    with ReservedPort() as unused:
        place = f"127.0.0.1:{unused.number}"
        code, output = run(*words(command, with_secret(f"redis://{place}?patience=0.1")))
    assert code == 1, output
    assert f"Redis at {place} cannot be reached" in output
    assert_untold(output, tmp_path)


@pytest.mark.parametrize("command", COMMANDS)
def test_no_command_tells_the_password_of_a_bus_that_is_there(command, guarded, words, tmp_path):
    _, output = run(*words(command, guarded), until=words_of(WAITING[command]) if command in WAITING else None)
    assert WAITING.get(command, "") in output
    assert output
    assert "Traceback" not in output
    assert "cannot be reached" not in output
    assert_untold(output, tmp_path)


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize(
    "url",
    [
        f"{USER}:{PASSWORD}@localhost:6379",
        f"kafka://{USER}:{PASSWORD}@localhost",
        f"redis://{USER}:{PASSWORD}/@localhost",
        f"redis://{USER}:{PASSWORD}@localhost:port",
        f"redis://{USER}:{PASSWORD}@localhost/zero",
        f"redis://{USER}:{PASSWORD}@localhost?name=x",
    ],
)
def test_no_command_repeats_the_password_of_an_address_that_is_wrong(command, url, words, tmp_path):
    code, output = run(*words(command, url))
    assert code == 2, output
    assert "Traceback" not in output
    assert_untold(output, tmp_path)


@pytest.mark.parametrize("command", sorted(cli.COMMANDS))
def test_no_command_repeats_the_password_of_an_address_that_stands_where_none_is_wanted(command):
    for more in ((), ("--no-such-option",)):
        code, output = run(command, with_secret("redis://localhost"), *more)
        assert code != 0
        assert_untold(output)
    assert code == 2


@pytest.mark.parametrize("command", ["moderator", "player", "analytics --out {out}", "status", "watch"])
def test_an_address_without_a_scheme_is_told_the_right_form_in_one_line(tmp_path, command):
    for address, shown_as in (("localhost:6379", "localhost:6379"), ("u:p@h:6379", "***@h:6379")):
        expected = f"wolfbus: bus address: '{shown_as}' has no scheme; write redis://{shown_as}/0\n"
        assert run(*command.format(out=tmp_path).split(), "--bus", address) == (2, expected)


def test_the_hint_how_to_go_on_shows_the_bus_without_its_password(guarded, tmp_path):
    out = tmp_path / "out"
    # nobody has joined, and it is ended while it waits
    words = f"run --games 1 --house h --bus {guarded}?patience=7 --out {out}".split()
    code, output = run(*words, until=words_of("waiting for agents"))
    assert code == 130
    bus = f"redis://***@{guarded.partition('@')[2]}?patience=7"
    assert f"go on with: wolfbus run --resume --out {out} --house h --bus '{bus}'" in output
    assert_untold(output, tmp_path)


def started(house):
    """Return command, command line and environment of the processes that this one has started for a house."""
    processes = []
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if int((folder / "stat").read_text().rpartition(")")[2].split()[1]) == os.getpid():
                words = (folder / "cmdline").read_text().split("\0")
                if house in words:
                    command = words[words.index("wolfbus") + 1]
                    processes.append((command, " ".join(words), (folder / "environ").read_text().split("\0")))
    return processes


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux shows the command lines of others")
def test_up_starts_its_processes_and_asks_others_in_without_telling_seed_and_password(guarded, tmp_path):
    processes = []

    def look(output):
        if "2 of 8 seats covered" in output:
            processes.extend(started("up-1"))
        return bool(processes)

    game = "--players scripted*2,open*6 --games 3 --at-once 2 --seed long-s33d-of-mine"
    _, output = run("up", *game.split(), "--house", "up-1", "--redis", guarded, "--out", str(tmp_path), until=look)
    assert sorted(name for name, *_ in processes) == ["analytics", "moderator", *["player"] * 2]
    for name, words, variables in processes:
        assert not re.search(f"{PASSWORD}|s33d", words)
        # one that is started again while Redis is away waits for it
        assert f"WOLFBUS_BUS={guarded}?patience=30" in variables
        assert ("WOLFBUS_MODERATOR_SEED=long-s33d-of-mine" in variables) == (name == "moderator")
    where = f"redis://***@{guarded.partition('@')[2]}"
    expected = f"a password is needed: type {where}, user and password in place of the stars; it is not shown"
    assert f"  read -rs WOLFBUS_BUS; export WOLFBUS_BUS      ({expected})\n" in output
    # who takes a seat plays as many games at a time as the others
    for way in ("-- COMMAND ", "--human "):
        assert f"  wolfbus join --house up-1 --place 3 --seats 2 {way}" in output


def test_an_address_does_not_tell_its_password_when_it_is_printed():
    assert PASSWORD not in repr(redis_address(with_secret("redis://h:1")))


@pytest.mark.parametrize(
    ("url", "shown_as"),
    [
        ("memory://", "memory://"),
        ("redis://h:1/2?patience=3", "redis://h:1/2?patience=3"),
        ("redis://u:p@h:1/2?patience=3", "redis://***@h:1/2?patience=3"),
        ("redis://:p@h", "redis://***@h"),
        ("rediss://u:p@h?ssl_ca_certs=/ca", "rediss://***@h?ssl_ca_certs=/ca"),
        ("unix://u:p@/run/redis.sock?db=2", "unix://***@/run/redis.sock?db=2"),
        ("unix:///run/redis@main.sock", "unix:///run/redis@main.sock"),
        # what should have been quoted
        ("redis://u:p@q@h", "redis://***@h"),
        ("redis://u:p/q@h", "redis://***@h"),
        ("redis://u:p?q@h", "redis://***@h"),
        ("redis://u:p#q@h", "redis://***@h"),
        ("redis://u:p?db=q@h", "redis://***@h"),
        # wherever they stand in a text
        (
            "no file 'redis://u:p@h:1/0' beside unix://u:p@/run/redis.sock, nor a@b at http://h",
            "no file 'redis://***@h:1/0' beside unix://***@/run/redis.sock, nor a@b at http://h",
        ),
    ],
)
def test_an_address_is_shown_without_user_and_password(url, shown_as):
    assert run("replay", url) == (2, f"wolfbus: {shown_as}: no such file or directory\n")
