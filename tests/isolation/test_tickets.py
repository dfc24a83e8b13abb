"""Issuing and revoking tickets on real servers: who is let in, what is written where, and that nobody is locked out."""

from __future__ import annotations

import contextlib
import shlex
import shutil
import stat
import subprocess
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from redis.exceptions import ConnectionError as Disconnected

from tests.bus.conftest import wait_until
from tests.bus.parts import InThread
from tests.isolation.conftest import client, exchange
from wolfbus.bus import open_bus, streams
from wolfbus.bus.protocol import Entry
from wolfbus.cli import run
from wolfbus.errors import BusError, ConfigError, NotAllowed
from wolfbus.testing.redis_server import RedisServer, redis_installed
from wolfbus.tickets.holders import Holder, holder_of, read_bus, redis_address, services
from wolfbus.tickets.issuing import Office, issue, revoke

pytestmark = pytest.mark.skipif(not redis_installed(), reason="redis-server is not installed")

ADA, BRUNO = Holder("main", "agent", "ada"), Holder("main", "agent", "bruno")
CHAIR = Holder("main", "moderator", "moderator")


@pytest.fixture
def server() -> Iterator[RedisServer]:
    with RedisServer() as server:
        yield server


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "tickets" / "main"


def url_of(folder: Path, name: str) -> str:
    return read_bus(f"@{folder / name}.ticket")


def password_of(folder: Path, name: str) -> str:
    return urlsplit(url_of(folder, name)).password or ""


def opens(url: str) -> bool:
    try:
        open_bus(url).close()
    except BusError as error:
        if "does not accept this user" not in str(error):
            raise
        return False
    return True


def test_the_command_line_issues_lists_and_revokes(
    server: RedisServer, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = ["--out", str(folder)]
    names = ["--agents", "ada, bruno", "--players", "own", "--analytics", "keeper", "--spectator", "watcher"]
    assert run(["tickets", "issue", "--bus", server.url, *out, *names]) == 0
    said = capsys.readouterr()
    for name in ("ada", "bruno", "own", "keeper", "watcher", "moderator", "admin"):
        assert f"{name}.ticket" in said.out
        assert opens(url_of(folder, name))
    assert "`default` is switched off" in said.out
    assert "no aclfile" in said.err
    assert server.command("PING").startswith(b"-NOAUTH")

    admin = ["--bus", f"@{folder}/admin.ticket"]
    bus = open_bus(url_of(folder, "ada"))
    assert run(["tickets", "list", *admin]) == 0
    listed = capsys.readouterr().out
    assert [line.split()[:2] for line in listed.splitlines()] == [
        ["ada", "agent"], ["bruno", "agent"], ["keeper", "analytics"], ["moderator", "moderator"],
        ["own", "player"], ["watcher", "spectator"],
    ]  # fmt: skip
    assert "1 connection\n" in listed
    bus.close()

    assert run(["tickets", "revoke", "mallory", "bruno", *admin, *out]) == 2
    assert "no ticket in house main for mallory" in capsys.readouterr().err
    assert run(["tickets", "revoke", "bruno", *admin, *out]) == 0
    assert not (folder / "bruno.ticket").exists()
    assert run(["tickets", "issue", "--agents", "bruno", *admin, *out]) == 0
    assert opens(url_of(folder, "bruno"))
    assert run(["tickets", "revoke", "--all", *admin, *out]) == 0
    assert sorted(path.name for path in folder.glob("*.ticket")) == ["admin.ticket"]
    capsys.readouterr()
    assert run(["tickets", "list", *admin]) == 0
    assert "no tickets" in capsys.readouterr().out


def test_a_password_stands_in_its_ticket_and_nowhere_else(
    server: RedisServer, folder: Path, capfd: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("DEBUG")
    server.command("CONFIG", "SET", "slowlog-log-slower-than", "0")
    assert run(["tickets", "issue", "--bus", server.url, "--out", str(folder), "--agents", "ada"]) == 0
    passwords = [password_of(folder, name) for name in ("ada", "moderator", "admin")]
    assert len(set(passwords)) == 3
    assert all(len(bytes.fromhex(password)) == 32 for password in passwords)
    said = "".join(capfd.readouterr())
    with client(url_of(folder, "admin")) as admin:
        kept = f"{admin.slowlog_get(1000)} {admin.acl_list()} {admin.client_list()}"
    for password in passwords:
        assert password not in said + caplog.text + kept
    for path in folder.glob("*.ticket"):
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert (folder / ".gitignore").read_text() == "*\n"


def test_a_ticket_is_a_file_that_a_shell_and_docker_read_alike(server: RedisServer, folder: Path) -> None:
    issue(server.url, [ADA], folder, reached_at="redis://redis.example:6380/0")
    ticket = folder / "ada.ticket"
    script = f'set -a; . "{ticket}"; printf "%s\\n" "$WOLFBUS_BUS" "$WOLFBUS_HOUSE" "$WOLFBUS_NAME"'
    shell = subprocess.run(["sh", "-c", script], capture_output=True, text=True, check=True).stdout.splitlines()
    docker = [line.partition("=")[2] for line in ticket.read_text().splitlines() if not line.startswith("#")]
    assert shell == docker
    address = urlsplit(shell[0])
    assert (address.hostname, address.port, address.username) == ("redis.example", 6380, ADA.user)
    assert shell[1:] == ["main", "ada"]


def test_a_ticket_that_is_there_is_replaced_only_by_force_and_then_cuts_its_holder_off(
    server: RedisServer, folder: Path
) -> None:
    issue(server.url, [ADA], folder)
    old, admin = url_of(folder, "ada"), url_of(folder, "admin")
    with pytest.raises(ConfigError, match=r"there already for ada .*--force"):
        issue(admin, [BRUNO, ADA], folder)
    assert url_of(folder, "ada") == old
    assert not (folder / "bruno.ticket").exists()
    for other in ("analytics", "player", "spectator"):
        with pytest.raises(ConfigError, match="for something else"):
            issue(admin, [Holder("main", other, "ada")], folder, force=True)
    with client(old) as held:
        issue(admin, [ADA], folder, force=True)
        with pytest.raises(Disconnected):
            exchange(held, [("PING",)])
    assert not opens(old)
    assert opens(url_of(folder, "ada"))


def test_revoking_ends_even_a_read_that_blocks_and_takes_the_name_off_the_list(
    server: RedisServer, folder: Path
) -> None:
    issue(server.url, [ADA, BRUNO, Holder("main", "spectator", "watcher")], folder)
    admin = url_of(folder, "admin")
    key = streams.tickets("main")
    with client(admin) as listed, client(url_of(folder, "ada")) as ada:
        assert listed.smembers(key) == {b"ada", b"bruno"}
        reading = InThread(lambda: ada.xread({streams.inbox("main", "ada"): "$"}, block=30_000))
        wait_until(lambda: listed.info("clients")["blocked_clients"] == 1)
        assert revoke(admin, "main", ["ada"]).users == 1
        with pytest.raises(Disconnected):
            reading.result()
        assert listed.smembers(key) == {b"bruno"}
        assert listed.hgetall(services("main")) == {b"bruno": b"agent"}
    assert not opens(url_of(folder, "ada"))
    assert opens(url_of(folder, "bruno"))
    assert revoke(admin, "main", ["ada", "never-there"]).users == 0


def test_the_moderator_revokes_when_the_house_closes_if_its_ticket_says_so(server: RedisServer, folder: Path) -> None:
    issue(server.url, [CHAIR, ADA], folder)
    issue(url_of(folder, "admin"), [BRUNO], folder)
    assert revoke(url_of(folder, "moderator"), "main", ["ada", "bruno"]).users == 2
    assert not opens(url_of(folder, "ada"))
    assert opens(url_of(folder, "moderator"))
    issue(url_of(folder, "admin"), [CHAIR], folder, revoking=False, force=True)
    with pytest.raises(NotAllowed):
        revoke(url_of(folder, "moderator"), "main", ["ada"])


def test_an_agent_revokes_and_issues_nothing(server: RedisServer, folder: Path) -> None:
    issue(server.url, [ADA, BRUNO], folder)
    with pytest.raises(NotAllowed):
        revoke(url_of(folder, "ada"), "main", ["bruno"])
    with pytest.raises(NotAllowed):
        issue(url_of(folder, "ada"), [Holder("main", "agent", "mallory")], folder)
    assert opens(url_of(folder, "bruno"))


def test_nobody_is_locked_out_when_the_administrators_ticket_fails(
    server: RedisServer, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "admin.ticket").mkdir(parents=True)
    with pytest.raises(OSError, match="admin"):
        issue(server.url, [ADA], folder)
    assert opens(server.url)
    (folder / "admin.ticket").rmdir()

    for refused in ("wolf-admin", BRUNO.user):

        def fails(_office: Office, user: str, _password: str, refused: str = refused) -> None:
            if user == refused:
                raise BusError("no entry")

        monkeypatch.setattr(Office, "prove", fails)
        with pytest.raises(BusError, match="no entry"):
            issue(server.url, [ADA, BRUNO], folder, force=True)
        assert opens(server.url)
        with Office(redis_address(server.url)) as office:
            assert office.holders() == ()
            assert office.is_on("default")
        assert not (folder / "ada.ticket").exists()


def test_an_administrator_that_is_there_is_used_or_asked_for_and_never_replaced_unasked(
    server: RedisServer, folder: Path, tmp_path: Path
) -> None:
    issue(server.url, [ADA], folder)
    admin = url_of(folder, "admin")
    with Office(redis_address(admin)) as office:
        office.set_users([("default", ("on",))])
    with pytest.raises(ConfigError, match="wolf-admin is there already: come with its ticket"):
        issue(server.url, [Holder("second", "agent", "ada")], tmp_path / "second")
    assert opens(server.url)
    issued = issue(server.url, [BRUNO], folder)
    assert issued.closed
    assert url_of(folder, "admin") == admin
    assert opens(admin)


def test_default_stays_on_if_it_is_to_and_is_told_of(
    server: RedisServer, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["--bus", server.url, "--out", str(folder), "--agents", "ada", "--keep-default"]
    assert run(["tickets", "issue", *words]) == 0
    assert "needs no ticket" in capsys.readouterr().err
    assert opens(server.url)
    assert not (folder / "admin.ticket").exists()


def test_connections_that_were_open_before_are_ended_with_default(server: RedisServer, folder: Path) -> None:
    with client(server.url) as early:
        early.ping()
        assert issue(server.url, [ADA], folder).ended == 1
        with pytest.raises(Disconnected):
            exchange(early, [("PING",)])


def test_tickets_outlive_a_restart_where_the_server_has_an_aclfile(server: RedisServer, folder: Path) -> None:
    aclfile = folder.parent / "users.acl"
    assert issue(server.url, [ADA, BRUNO], folder).saved == "nowhere"
    assert revoke(url_of(folder, "admin"), "main", [], aclfile).saved == "file"
    assert stat.S_IMODE(aclfile.stat().st_mode) == 0o600
    assert password_of(folder, "ada") not in aclfile.read_text()
    with RedisServer("--aclfile", str(aclfile)) as second:

        def there(name: str) -> str:
            return url_of(folder, name).replace(f":{server.port}", f":{second.port}")

        assert opens(there("ada"))
        assert revoke(there("admin"), "main", ["bruno"]).saved == "server"
        second.restart()
        assert opens(there("ada"))
        assert not opens(there("bruno"))
        assert second.command("PING").startswith(b"-NOAUTH")


@pytest.mark.parametrize(("way", "begins"), [("database", "redis://"), ("unix", "unix://"), ("tls", "rediss://")])
def test_tickets_lead_to_the_database_of_their_house_over_a_unix_socket_and_under_tls(
    way: str, begins: str, tmp_path: Path, folder: Path
) -> None:
    with contextlib.ExitStack() as around:
        server = around.enter_context(RedisServer(tls=certificate(tmp_path) if way == "tls" else None))
        urls = {"database": f"{server.url}/2", "unix": server.unix_url, "tls": server.url}
        issue(urls[way], [ADA, CHAIR], folder)
        assert url_of(folder, "ada").startswith(begins)
        agent, moderator = (
            around.enter_context(contextlib.closing(open_bus(url_of(folder, name)))) for name in ("ada", "moderator")
        )
        sent = Entry(b"hello", "reply", "ada", id="1-1")
        agent.append(streams.outbox("main", "ada"), [sent])
        assert moderator.entries(streams.outbox("main", "ada")) == [sent]
        assert agent.url.endswith("/2") == (way == "database")
        with pytest.raises(NotAllowed):
            agent.entries(streams.inbox("main", "bruno"))


def certificate(folder: Path) -> tuple[Path, Path, Path]:
    openssl = shutil.which("openssl")
    if openssl is None:
        pytest.skip("openssl is not installed")
    key, made = folder / "key.pem", folder / "made of a CA's own.pem"
    words = "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=wolfbus"
    names = ["-addext", "subjectAltName=IP:127.0.0.1", "-keyout", str(key), "-out", str(made)]
    subprocess.run([openssl, *words.split(), *names], check=True, capture_output=True)
    return made, key, made


def test_users_of_different_houses_and_services_never_collide() -> None:
    words = ("a", "a-b", "b", "b-c", "c", "a-b-c", "A", "a.b", "agent", "main")
    kinds = ("agent", "analytics", "player", "spectator")
    holders = [Holder(house, service, name) for house in words for service in kinds for name in words]
    assert len({holder.user for holder in holders}) == len(holders)
    assert [holder_of(holder.user) for holder in holders] == holders
    for user in ("default", "wolf-admin", "wolf-agent~main", "wolf-king~main~ada", "wolf-agent~main~a b"):
        assert holder_of(user) is None


@pytest.mark.parametrize("name", ["moderator", "Admin", "a b", "*", "a~b", "", "../ada", "x" * 65])
def test_names_that_would_be_taken_for_others_are_refused(name: str) -> None:
    with pytest.raises(ConfigError):
        Holder("main", "agent", name)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["issue", "--agents", "ada,Ada"], "twice"),
        (["issue", "--agents", "ada", "--bus", "memory://"], "tickets are for a Redis"),
        (["issue", "--agents", "ada", "--bus", "@/no/such.ticket"], "/no/such.ticket"),
        (["issue", "--agents", "ada", "--address", "redis://ada:pw@host"], "without user and password"),
        (["issue", "--agents", "ada", "--address", "redis://host/3"], "database 3"),
        (["revoke"], "--all"),
        (["revoke", "ada", "--all"], "--all"),
    ],
)
def test_what_makes_no_sense_is_refused_in_one_line(
    arguments: list[str], said: str, redis_url: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    bus = [] if "--bus" in arguments else ["--bus", redis_url]
    assert run(["tickets", *arguments, *bus, "--out", str(tmp_path)]) == 2
    assert said in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_the_commands_of_the_guide_work_in_their_order(
    server: RedisServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    guide = Path(__file__).parents[2] / "docs" / "security.md"
    commands = [line for line in guide.read_text("utf-8").splitlines() if line.startswith("wolfbus tickets ")]
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("WOLFBUS_BUS", server.url)
    for command in commands:
        assert run(shlex.split(command)[1:]) == 0, capsys.readouterr().err
    assert len(commands) == 5
    assert "wolf-admin" in (tmp_path / "users.acl").read_text()
