"""Issuing and revoking tickets on real servers: who is let in, what is written where, and that nobody is locked out."""

from __future__ import annotations

import contextlib
import shlex
import stat
import subprocess
import sys
from pathlib import Path
from urllib.parse import urlencode, urlsplit

import pytest
import redis
from redis.exceptions import AuthenticationError, NoPermissionError
from redis.exceptions import ConnectionError as Disconnected

from tests.bus.parts import InThread
from tests.isolation.conftest import Clerk, client, exchange, opens, password_of, url_of
from tests.waiting import wait_until
from wolfbus.bus import Entry, open_bus, streams
from wolfbus.cli import run
from wolfbus.errors import ConfigError, NotAllowed
from wolfbus.testing.redis_server import RedisServer
from wolfbus.tickets import Holder, holder_of, services

ADA, BRUNO = Holder("main", "agent", "ada").user, Holder("main", "agent", "bruno").user


def is_cut_off(connection: redis.Redis) -> bool:
    """Return whether the very connection that a client has was ended: another might be refused all the same."""
    try:
        connection.ping()
    except Disconnected as error:
        return not isinstance(error, AuthenticationError)
    return False


def test_the_command_line_issues_lists_and_revokes(server: RedisServer, folder: Path, tickets: Clerk) -> None:
    output = tickets("issue --agents 'ada, bruno' --players own --analytics keeper --spectator watcher")
    for name in ("ada", "bruno", "own", "keeper", "watcher", "moderator", "admin"):
        assert f"{name}.ticket" in output
        assert opens(url_of(folder, name))
    assert "`default` is switched off" in output
    assert "no aclfile" in output
    assert server.command("PING").startswith(b"-NOAUTH")

    with contextlib.closing(open_bus(url_of(folder, "ada"))):
        listed = tickets("list", "admin")
    assert [line.split()[:2] for line in listed.splitlines()] == [
        ["ada", "agent"], ["bruno", "agent"], ["keeper", "analytics"], ["moderator", "moderator"],
        ["own", "player"], ["watcher", "spectator"],
    ]  # fmt: skip
    assert "1 connection\n" in listed

    assert "no ticket in house main for mallory" in tickets("revoke mallory bruno", "admin", status=2)
    tickets("revoke bruno", "admin")
    assert not (folder / "bruno.ticket").exists()
    tickets("issue --agents bruno", "admin")
    assert opens(url_of(folder, "bruno"))
    tickets("revoke --all", "admin")
    assert sorted(path.name for path in folder.glob("*.ticket")) == ["admin.ticket"]
    assert "no tickets" in tickets("list", "admin")


def test_a_password_stands_in_its_ticket_and_nowhere_else(
    server: RedisServer, folder: Path, tickets: Clerk, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("DEBUG")
    server.command("CONFIG", "SET", "slowlog-log-slower-than", "0")
    output = tickets("issue --agents ada")
    passwords = [password_of(folder, name) for name in ("ada", "moderator", "admin")]
    assert len(set(passwords)) == 3
    assert all(len(bytes.fromhex(password)) == 32 for password in passwords)
    with client(url_of(folder, "admin")) as admin:
        server_state = f"{admin.slowlog_get(1000)} {admin.acl_list()} {admin.client_list()}"
    for password in passwords:
        assert password not in output + caplog.text + server_state
    for path in folder.glob("*.ticket"):
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert (folder / ".gitignore").read_text() == "*\n"


def test_a_ticket_is_a_file_that_a_shell_and_docker_read_alike(folder: Path, tickets: Clerk) -> None:
    tickets("issue --agents ada --address redis://redis.example:6380/0 --keep-default")
    ticket = folder / "ada.ticket"
    script = f'set -a; . "{ticket}"; printf "%s\\n" "$WOLFBUS_BUS" "$WOLFBUS_HOUSE" "$WOLFBUS_NAME"'
    shell = subprocess.run(["sh", "-c", script], capture_output=True, text=True, check=True).stdout.splitlines()
    docker = [line.partition("=")[2] for line in ticket.read_text().splitlines() if not line.startswith("#")]
    assert shell == docker
    address = urlsplit(shell[0])
    assert (address.hostname, address.port, address.username) == ("redis.example", 6380, ADA)
    assert shell[1:] == ["main", "ada"]


def test_a_ticket_that_is_there_is_replaced_only_by_force_and_then_cuts_its_holder_off(
    folder: Path, tickets: Clerk
) -> None:
    tickets("issue --agents ada")
    old = url_of(folder, "ada")
    assert "there already for ada (--force" in tickets("issue --agents bruno,ada", "admin", status=2)
    assert url_of(folder, "ada") == old
    assert not (folder / "bruno.ticket").exists()
    for other in ("analytics", "players", "spectator"):
        assert "for something else" in tickets(f"issue --{other} ada --force", "admin", status=2)
    with client(old) as connection:
        assert connection.ping()
        tickets("issue --agents ada --force", "admin")
        assert is_cut_off(connection)
    assert not opens(old)
    assert opens(url_of(folder, "ada"))


def test_revoking_ends_even_a_read_that_blocks_and_takes_the_name_off_the_list(folder: Path, tickets: Clerk) -> None:
    tickets("issue --agents ada,bruno --spectator watcher")
    key = streams.tickets("main")
    with client(url_of(folder, "admin")) as listed, client(url_of(folder, "ada")) as ada:
        assert listed.smembers(key) == {b"ada", b"bruno"}
        reading = InThread(lambda: ada.xread({streams.inbox("main", "ada"): "$"}, block=30_000))
        wait_until(lambda: listed.info("clients")["blocked_clients"] == 1)
        old = url_of(folder, "ada")
        tickets("revoke ada", "admin")
        with pytest.raises(Disconnected):
            reading.result()
        assert listed.smembers(key) == {b"bruno"}
        assert listed.hgetall(services("main")) == {b"bruno": b"agent"}
    assert not opens(old)
    assert opens(url_of(folder, "bruno"))


def test_the_moderator_may_revoke_when_the_house_closes_if_its_ticket_says_so(folder: Path, tickets: Clerk) -> None:
    tickets("issue --agents ada,bruno")
    with client(url_of(folder, "moderator")) as moderator:
        assert exchange(moderator, [("ACL", "DELUSER", ADA)]) == [1]
    assert not opens(url_of(folder, "ada"))
    tickets("issue --moderator --moderator-keeps --force", "admin")
    with client(url_of(folder, "moderator")) as moderator:
        (refused,) = exchange(moderator, [("ACL", "DELUSER", BRUNO)])
    assert isinstance(refused, NoPermissionError)
    assert opens(url_of(folder, "bruno"))


def test_an_agent_revokes_and_issues_nothing(folder: Path, tickets: Clerk) -> None:
    tickets("issue --agents ada,bruno")
    for words in ("revoke bruno", "issue --agents mallory"):
        assert "may not" in tickets(words, "ada", status=1)
    assert opens(url_of(folder, "bruno"))


def test_nobody_is_locked_out_when_a_ticket_cannot_be_written_or_does_not_open(
    server: RedisServer, folder: Path, tickets: Clerk
) -> None:
    (folder / "admin.ticket").mkdir(parents=True)
    assert "admin.ticket" in tickets("issue --agents ada", status=1)
    (folder / "admin.ticket").rmdir()
    # one may come, and nobody beside it: what was issued cannot be tried
    server.command("CONFIG", "SET", "maxclients", "1")
    tickets(f"issue --agents ada --bus {server.url}?patience=0.1", status=1)
    server.command("CONFIG", "SET", "maxclients", "100")
    with client(server.url) as default:
        assert not {ADA, Holder("main", "moderator", "moderator").user} & set(default.acl_users())
    assert not (folder / "ada.ticket").exists()

    tickets("issue --agents ada --force")
    with client(url_of(folder, "admin")) as admin:
        admin.config_set("maxclients", 2)
        tickets(f"issue --agents bruno --bus {url_of(folder, 'admin')}?patience=0.1", status=1)
        admin.config_set("maxclients", 100)
        assert BRUNO not in admin.acl_users()
    assert not (folder / "bruno.ticket").exists()


def test_who_holds_an_old_ticket_is_cut_off_though_redis_has_no_memory_left_for_the_list(
    folder: Path, tickets: Clerk
) -> None:
    tickets("issue --agents ada")
    with client(url_of(folder, "ada")) as connection, client(url_of(folder, "admin")) as admin:
        assert connection.ping()
        admin.config_set("maxmemory", 1)
        assert "out of memory" in tickets("issue --agents ada --force", "admin", status=1)
        assert is_cut_off(connection)


def test_an_administrator_that_is_there_is_used_or_asked_for_and_never_replaced_unasked(
    server: RedisServer, folder: Path, tickets: Clerk, tmp_path: Path
) -> None:
    tickets("issue --agents ada")
    old = url_of(folder, "admin")
    with client(old) as admin:
        admin.execute_command("ACL", "SETUSER", "default", "on")
    other = tmp_path / "second"
    output = tickets(f"issue --agents ada --house second --out {other}", status=2)
    assert "wolf-admin is there already: come with its ticket" in output
    assert opens(server.url)
    assert "`default` is switched off" in tickets("issue --agents bruno")
    assert url_of(folder, "admin") == old
    assert opens(old)


def test_default_stays_on_if_it_is_to_and_is_told_of(server: RedisServer, folder: Path, tickets: Clerk) -> None:
    assert "needs no ticket" in tickets("issue --agents ada --keep-default")
    assert opens(server.url)
    assert not (folder / "admin.ticket").exists()


def test_connections_that_were_open_before_are_ended_with_default(server: RedisServer, tickets: Clerk) -> None:
    with client(server.url) as connection:
        connection.ping()
        assert "(1 other connection of it ended)" in tickets("issue --agents ada")
        assert is_cut_off(connection)


def test_tickets_outlive_a_restart_where_the_server_has_an_aclfile(
    server: RedisServer, folder: Path, tickets: Clerk
) -> None:
    aclfile = folder.parent / "users.acl"
    assert "this server has no aclfile" in tickets("issue --agents ada")
    assert f"saved in {aclfile}" in tickets(f"issue --agents bruno --aclfile {aclfile}", "admin")
    assert stat.S_IMODE(aclfile.stat().st_mode) == 0o600
    assert password_of(folder, "ada") not in aclfile.read_text()
    with RedisServer("--aclfile", str(aclfile)) as second:

        def url_at(name: str) -> str:
            return url_of(folder, name).replace(f":{server.port}", f":{second.port}")

        old = url_at("bruno")
        assert opens(url_at("ada"))
        assert "saved in the server's aclfile" in tickets(f"revoke bruno --bus {url_at('admin')}")
        second.restart()
        assert opens(url_at("ada"))
        assert not opens(old)
        assert second.command("PING").startswith(b"-NOAUTH")


@pytest.mark.parametrize(
    ("way", "begins"),
    [
        ("database", "redis://"),
        ("valkey", "redis://"),
        ("unix", "unix://"),
        ("tls", "rediss://"),
        ("both", "rediss://"),
    ],
)
def test_tickets_lead_to_the_database_of_their_house_over_a_unix_socket_and_under_tls(
    way: str, begins: str, request: pytest.FixtureRequest, folder: Path
) -> None:
    with contextlib.ExitStack() as stack:
        tls = request.getfixturevalue("tls_files") if begins == "rediss://" else None
        # "both": the server asks for a certificate of the client's, too
        server = stack.enter_context(RedisServer("--tls-auth-clients", "yes" if way == "both" else "no", tls=tls))
        urls = {"database": f"{server.url}/2", "valkey": f"valkey{server.url.removeprefix('redis')}"}
        urls |= {"unix": server.unix_url, "tls": server.url}
        if tls is not None:
            urls["both"] = f"{server.url}&{urlencode({'ssl_certfile': tls[0], 'ssl_keyfile': tls[1]})}"
        assert run(["tickets", "issue", "--bus", urls[way], "--out", str(folder), "--agents", "ada"]) == 0
        ticket = folder / "ada.ticket"
        sourced = subprocess.check_output(["sh", "-c", f'. {shlex.quote(str(ticket))}; printf %s "$WOLFBUS_BUS"'])
        assert sourced.decode() == url_of(folder, "ada")
        assert url_of(folder, "ada").startswith(begins)
        agent, moderator = (
            stack.enter_context(contextlib.closing(open_bus(url_of(folder, name)))) for name in ("ada", "moderator")
        )
        sent = Entry(b"hello", "reply", "ada", id="1-1")
        agent.append(streams.outbox("main", "ada"), [sent])
        assert moderator.entries(streams.outbox("main", "ada")) == [sent]
        assert agent.url.endswith("/2") == (way == "database")
        with pytest.raises(NotAllowed):
            agent.entries(streams.inbox("main", "bruno"))


def test_a_house_and_an_agenda_of_one_name_share_a_folder_and_take_no_ticket_of_each_other(
    folder: Path, tickets: Clerk
) -> None:
    tickets("issue --agents north")
    first = url_of(folder, "north")
    issue = "issue --agenda main --workers north --force"
    refusal = "north.ticket is a ticket of another house or agenda: give --out another folder"
    assert refusal in tickets(issue, "admin", status=2)
    assert url_of(folder, "north") == first
    other = folder.with_name("agenda")
    tickets(f"{issue} --out {other}", "admin")
    tickets("revoke north --agenda main", "admin")
    assert url_of(folder, "north") == first
    assert opens(first)
    assert not opens(url_of(other, "north"))


def test_users_of_different_houses_and_services_never_collide() -> None:
    words = ("a", "a-b", "b", "b-c", "c", "a-b-c", "A", "a.b", "agent", "main")
    kinds = ("agent", "analytics", "player", "spectator")
    holders = [Holder(house, service, name) for house in words for service in kinds for name in words]
    assert len({holder.user for holder in holders}) == len(holders)
    assert [holder_of(holder.user) for holder in holders] == holders
    for user in ("default", "wolf-admin", "wolf-agent~main", "wolf-king~main~ada", "wolf-agent~main~a b"):
        assert holder_of(user) is None


@pytest.mark.parametrize(
    "name", ["", "*", "a*", "a?", "[ab]", "a b", "a\\", "ann\n", "a:b", "{a}", "a~b", "../ada", "x" * 65]
)
def test_what_would_match_others_is_no_name(name: str) -> None:
    for house, holder in ((name, "ada"), ("main", name)):
        with pytest.raises(ConfigError, match="is no name"):
            Holder(house, "agent", holder)


@pytest.mark.parametrize("name", ["admin", "ada", "Moderator"])
def test_a_house_has_one_moderator_whose_ticket_is_no_others(name: str) -> None:
    for taken in ("moderator", "Admin"):
        with pytest.raises(ConfigError):
            Holder("main", "agent", taken)
    with pytest.raises(ConfigError):
        Holder("main", "moderator", name)
    assert holder_of(f"wolf-moderator~main~{name}") is None


@pytest.mark.parametrize(
    ("arguments", "output"),
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
    arguments: list[str], output: str, redis_url: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    bus = [] if "--bus" in arguments else ["--bus", redis_url]
    assert run(["tickets", *arguments, *bus, "--out", str(tmp_path)]) == 2
    assert output in capsys.readouterr().err
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
    assert len(commands) == 6
    assert "wolf-admin" in (tmp_path / "users.acl").read_text()


@pytest.mark.parametrize("service", [["player", "--seats", "2"], ["analytics", "--out", "{}"]], ids=["agent", "keeper"])
def test_whoever_loses_its_ticket_leaves_and_says_why(
    service: list[str], folder: Path, tickets: Clerk, tmp_path: Path
) -> None:
    tickets("issue --agents ada --analytics keeper")
    name = "ada" if service[0] == "player" else "keeper"
    words = [word.format(tmp_path / "runs") for word in service]
    place = ["--bus", url_of(folder, name), "--house", "main", "--name", name]
    with subprocess.Popen([sys.executable, "-m", "wolfbus", *words, *place], stderr=subprocess.PIPE, text=True) as left:
        with client(url_of(folder, "admin")) as admin:
            wait_until(lambda: admin.exists(streams.outbox("main", name)))
        tickets(f"revoke {name}", "admin")
        said = left.communicate(timeout=60)[1]
    assert left.returncode == 1
    assert f"does not let this user be {name} in house main" in said
    assert said.count("does not accept this user and password") == 1
