"""No command tells user and password of a bus: not on its terminal, in its logs or in any file."""

from __future__ import annotations

import socket
import sys

import pytest

from tests.ops.heard import run
from wolfbus import cli
from wolfbus.testing.redis_server import RedisServer, redis_installed

WAITING = {
    "analytics": "ArchiveActor",
    "join": "redis://***@",
    "player": "redis://***@",
    "up": "redis://***@",
    "view": "http://127.0.0.1:",
    "worker": "waiting for agenda mine",
}
"""Commands that stay until somebody ends them, and what they say once they are at the bus."""
USER, PASSWORD = "wolfuser", "xyzzy-plugh"
OTHERS = frozenset({"compare", "export", "fake-model", "page", "report", "rules", "schema", "verify"})
"""Commands that take no bus; they may be given an address all the same, where they want a file."""
AGENT = "--seats 8 --name ann --once --grace 0"
COMMANDS = {
    "analytics": "--bus {url} --house h --out {out}/analytics",
    "bench": "--bus {url} --games 1 --no-records",
    "check-agent": "--bus {url} --house check --wait 0.1",
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
    return lambda said: text in said


def with_secret(url):
    return url.replace("://", f"://{USER}:{PASSWORD}@", 1)


def assert_untold(said, folder=None):
    """No line that was said tells a secret, and no file below a folder, by name or within."""
    assert not [line for line in said.splitlines() if USER in line or PASSWORD in line]
    paths = [path for path in folder.rglob("*") if path.is_file()] if folder is not None else []
    assert not [path for path in paths if PASSWORD in str(path) or PASSWORD.encode() in path.read_bytes()]


@pytest.fixture(autouse=True)
def all_is_logged(monkeypatch):
    monkeypatch.setenv("WOLFBUS_LOG_LEVEL", "debug")


@pytest.fixture(scope="module")
def guarded():
    """The address of a Redis that lets one user in, with user and password."""
    if not redis_installed():
        pytest.skip("redis-server is not installed")
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
    with socket.create_server(("127.0.0.1", 0)) as listener:
        place = f"127.0.0.1:{listener.getsockname()[1]}"
    code, said = run(*words(command, with_secret(f"redis://{place}?patience=0.1")))
    assert code == 1, said
    assert f"Redis at {place} cannot be reached" in said
    assert_untold(said, tmp_path)


@pytest.mark.parametrize("command", COMMANDS)
def test_no_command_tells_the_password_of_a_bus_that_is_there(command, guarded, words, tmp_path):
    _, said = run(*words(command, guarded), until=words_of(WAITING[command]) if command in WAITING else None)
    assert WAITING.get(command, "") in said
    assert said
    assert "Traceback" not in said
    assert "cannot be reached" not in said
    assert_untold(said, tmp_path)
