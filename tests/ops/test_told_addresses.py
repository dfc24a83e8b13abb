"""No command tells user and password of a bus: not on its terminal, in its logs or in any file."""

from __future__ import annotations

import io
import os
import re
import socket
import subprocess
import sys
import threading
import traceback
from collections.abc import Iterator, Sequence
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

import pytest

from moderator.house.settings import ModeratorSettings
from wolfbus import cli
from wolfbus.bus.url import masked, read_address, shown_url
from wolfbus.service.plan import OPEN, HousePlan
from wolfbus.testing.redis_server import RedisServer, redis_installed

SOON_S = 30.0
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
WOLFBUS = (sys.executable, "-m", "wolfbus")
ENVIRONMENT = {
    **os.environ,
    "PYTHONPATH": str(Path(__file__).parents[2]),
    "WOLFBUS_LOG_LEVEL": "debug",
}
OTHERS = frozenset({"compare", "export", "fake-model", "page", "report", "rules", "schema", "verify"})
"""Commands that take no bus; they may be given an address all the same, where they want a file."""


def commands(url: str, folder: Path) -> dict[str, Sequence[str]]:
    """Return the words of every command that takes a bus."""
    bus, out = ("--bus", url), str(folder)
    agent = ("--seats", "8", "--name", "ann", "--once", "--grace", "0")
    return {
        "analytics": (*bus, "--house", "h", "--out", f"{out}/analytics"),
        "bench": (*bus, "--games", "1", "--no-records"),
        "check-agent": (*bus, "--house", "check", "--wait", "0.1"),
        "join": (*bus, "--house", "h", *agent, "--", sys.executable, "-c", "pass"),
        "moderator": (*bus, "--house", "h", "--wait", "0.1"),
        "play": (*bus, "--seed", "7", "--out", f"{out}/play", "--plain"),
        "player": (*bus, "--house", "h", *agent),
        "replay": ("--to-bus", url, f"{out}/there.ndjson"),
        "run": (*bus, "--games", "1", "--out", f"{out}/run", "--plain"),
        "status": (*bus, "--json"),
        "tickets": ("list", *bus),
        "up": (
            "--redis",
            url,
            "--house",
            "up-1",
            "--players",
            "scripted*7,open",
            "--out",
            f"{out}/up",
        ),
        "view": (*bus, "--house", "h", "--no-open", "--port", "0"),
        "watch": (*bus, "--house", "h", "--once", "--json"),
        "worker": (*bus, "--agenda", "mine"),
    }


def run(*words: str) -> tuple[int, str]:
    """Run a command in this process; returns its exit code and all that it said."""
    with redirect_stdout(io.StringIO()) as said, redirect_stderr(said):
        try:
            code = cli.run(list(words))
        except Exception:
            # what a user would see of it
            code = -1
            said.write(traceback.format_exc())
    return code, said.getvalue()


def run_apart(*words: str, until: str = "") -> tuple[int, str]:
    """Run a command as a process, to its end or until it has said something.

    Returns:
        Its exit code and all it said.
    """
    with subprocess.Popen(
        [*WOLFBUS, *words], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        env=ENVIRONMENT, start_new_session=True,
    ) as process:  # fmt: skip
        assert process.stdout is not None
        ending = threading.Timer(SOON_S, process.terminate)
        ending.start()
        said = []
        for line in process.stdout:
            said.append(line)
            if until and until in line:
                process.terminate()
        ending.cancel()
    return process.returncode, "".join(said)


def secrets_in(text: str) -> list[str]:
    """Return the lines that tell a secret."""
    return [line for line in text.splitlines() if USER in line or PASSWORD in line]


def files_telling(folder: Path) -> list[Path]:
    """Return the files below a folder that hold a secret, by name or within."""
    paths = [path for path in folder.rglob("*") if path.is_file()]
    return [path for path in paths if PASSWORD in str(path) or PASSWORD.encode() in path.read_bytes()]


def with_secret(url: str, user: str = USER, password: str = PASSWORD) -> str:
    return url.replace("://", f"://{user}:{password}@", 1)


@pytest.fixture(scope="module")
def closed_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port: int = listener.getsockname()[1]
    return port


@pytest.fixture(scope="module")
def guarded() -> Iterator[str]:
    """The address of a Redis that lets one user in, with user and password."""
    if not redis_installed():
        pytest.skip("redis-server is not installed")
    with RedisServer() as server:
        server.command("ACL", "SETUSER", USER, "on", f">{PASSWORD}", "~*", "&*", "+@all")
        server.command("CONFIG", "SET", "requirepass", "of-somebody-else")
        yield with_secret(server.url)


@pytest.fixture
def folder(tmp_path: Path, record: bytes) -> Path:
    (tmp_path / "there.ndjson").write_bytes(record)
    return tmp_path


@pytest.fixture(scope="module")
def record(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    out = tmp_path_factory.mktemp("played")
    assert run("play", "--seed", "7", "--quiet", "--out", str(out))[0] == 0
    (path,) = out.glob("*.ndjson")
    return path.read_bytes()


def test_every_command_is_tried() -> None:
    assert commands("", Path()).keys() | OTHERS == cli.COMMANDS.keys()


@pytest.mark.parametrize("command", sorted(commands("", Path())))
def test_no_command_tells_the_password_of_a_bus_that_is_away(command: str, closed_port: int, folder: Path) -> None:
    url = with_secret(f"redis://127.0.0.1:{closed_port}?patience=0.1")
    apart = command in {"analytics", "join", "moderator", "player", "view", "watch", "worker", "up"}
    code, said = (run_apart if apart else run)(command, *commands(url, folder)[command])
    assert code == 1, said
    assert f"Redis at 127.0.0.1:{closed_port} cannot be reached" in said
    assert not secrets_in(said)
    assert not files_telling(folder)


@pytest.mark.parametrize("command", sorted(commands("", Path())))
def test_no_command_tells_the_password_of_a_bus_that_is_there(command: str, guarded: str, folder: Path) -> None:
    words = commands(guarded, folder)[command]
    if command in WAITING:
        _, said = run_apart(command, *words, until=WAITING[command])
        assert WAITING[command] in said
    else:
        _, said = run(command, *words)
    assert "Traceback" not in said
    assert "cannot be reached" not in said
    assert said
    assert not secrets_in(said)
    assert not files_telling(folder)


@pytest.mark.parametrize("command", sorted(commands("", Path())))
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
def test_no_command_repeats_the_password_of_an_address_that_is_wrong(command: str, url: str, folder: Path) -> None:
    code, said = run(command, *commands(url, folder)[command])
    assert code == 2, said
    assert "Traceback" not in said
    assert not secrets_in(said)
    assert not files_telling(folder)


@pytest.mark.parametrize("command", sorted(cli.COMMANDS))
def test_no_command_repeats_the_password_of_an_address_that_stands_where_none_is_wanted(
    command: str,
) -> None:
    code, said = run(command, with_secret("redis://localhost"), "--no-such-option")
    assert code == 2
    assert not secrets_in(said)


def test_an_address_without_a_scheme_is_told_the_right_form_in_one_line(tmp_path: Path) -> None:
    for command in ("moderator", "player", "analytics", "status", "watch"):
        out = ("--out", str(tmp_path)) if command == "analytics" else ()
        code, said = run(command, "--bus", "localhost:6379", *out)
        assert code == 2
        assert said == "wolfbus: bus address: 'localhost:6379' has no scheme; write redis://localhost:6379/0\n"


def test_the_hint_how_to_go_on_shows_the_bus_without_its_password(guarded: str, tmp_path: Path) -> None:
    out = tmp_path / "out"
    words = (
        "run",
        "--games",
        "1",
        "--house",
        "h",
        "--bus",
        f"{guarded}?patience=7",
        "--out",
        str(out),
    )
    # nobody has joined, and it is ended while it waits
    code, said = run_apart(*words, until="waiting for agents")
    place = guarded.partition("@")[2]
    assert code == 130
    assert f"go on with: wolfbus run --resume --out {out} --house h --bus 'redis://***@{place}?patience=7'" in said
    assert not secrets_in(said)
    assert not files_telling(tmp_path)


def test_an_open_seat_of_up_says_that_a_password_is_needed_and_how_to_give_it_unseen() -> None:
    plan = HousePlan(with_secret("redis://h:1/2"), "up-1", ("scripted", OPEN), Path("runs"))
    _, password, join, person, *_ = plan.invitation()
    assert password.strip().startswith("read -rs WOLFBUS_BUS; export WOLFBUS_BUS  ")
    assert "a password is needed: type redis://***@h:1/2, user and password in place of the stars" in password
    assert join.strip().startswith("wolfbus join --house up-1 --place 2 -- ")
    assert person.strip().startswith("wolfbus join --house up-1 --place 2 --human ")


def test_what_holds_an_address_does_not_tell_it_when_it_is_printed(tmp_path: Path) -> None:
    url = with_secret("redis://h:1")
    plan = HousePlan(url, "h", ("scripted",), tmp_path)
    for held in (ModeratorSettings(url, "h"), plan, plan.programs(), read_address(url)):
        assert not re.search(PASSWORD, repr(held))


@pytest.mark.parametrize(
    ("url", "shown"),
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
        ("u:p@h:6379", "***@h:6379"),
    ],
)
def test_an_address_is_shown_without_user_and_password(url: str, shown: str) -> None:
    assert shown_url(url) == shown


def test_addresses_are_masked_wherever_they_stand_in_a_text() -> None:
    text = "no file 'redis://u:p@h:1/0' beside unix://u:p@/run/redis.sock, nor a@b at http://h"
    assert masked(text) == "no file 'redis://***@h:1/0' beside unix://***@/run/redis.sock, nor a@b at http://h"
