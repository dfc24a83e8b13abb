"""Who may do what to which stream: every kind of ticket, every stream of a house, every class of command.

What ``acl.toml`` allows is all that is. Everything else must be NOPERM, by the server, over real connections.
"""

from __future__ import annotations

import contextlib
import re
import tomllib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from redis import Redis
from redis.exceptions import AuthenticationError, NoPermissionError, ResponseError

from tests.isolation.conftest import HOUSE, Guarded, client, exchange
from wolfbus.bus import Commit, Entry, open_bus, streams
from wolfbus.errors import BusError, NotAllowed
from wolfbus.tickets import read_bus

TABLE = tomllib.loads(Path(__file__).with_name("acl.toml").read_text("utf-8"))
KEYS, FOREIGN, WITHOUT_A_KEY = TABLE["keys"], TABLE["foreign"], TABLE["without_a_key"]
WITH_A_KEY: dict[str, str] = TABLE["with_a_key"]
ALLOWED: dict[str, dict[str, Any]] = TABLE["allowed"]


@pytest.fixture(scope="module")
def logged_in(guarded: Guarded) -> Iterator[dict[str, Redis]]:
    with contextlib.ExitStack() as stack:
        yield {name: stack.enter_context(guarded.login(name)) for name in ALLOWED}


@pytest.fixture
def links(guarded: Guarded, logged_in: dict[str, Redis]) -> dict[str, Redis]:
    """A connection of every ticket's, in a house where every key is a stream with something on it."""
    with guarded.login("admin") as admin:
        for key in KEYS:
            exchange(admin, [("DEL", name_of(key)), ("XADD", name_of(key), "*", "type", "x")])
    return logged_in


def name_of(key: str) -> str:
    """Return the name of a key; one that begins with a tilde is of a worker's house."""
    suffix, _, rest = key.partition(":") if key.startswith("~") else ("", "", key)
    return streams.house_key(f"{HOUSE}{suffix}", rest)


def allowed(link: Redis, commands: Sequence[str]) -> set[str]:
    """Send all commands at once; return those that the server did not answer with NOPERM."""
    replies = exchange(link, [command.split(" ") for command in commands])
    return {command for command, reply in zip(commands, replies, strict=True) if not is_noperm(reply)}


def is_noperm(reply: object) -> bool:
    # a refused EXEC says so behind a word of its own
    return isinstance(reply, NoPermissionError) or (isinstance(reply, ResponseError) and "NOPERM" in str(reply))


def expected(name: str) -> set[str]:
    return {
        WITH_A_KEY[command].format(key=name_of(key))
        for right in ALLOWED[name]["keys"]
        for command in right["commands"]
        for key in (KEYS if right["keys"] == ["*"] else right["keys"])
    }


@pytest.mark.parametrize("name", ALLOWED)
def test_every_ticket_may_do_what_the_table_says_and_nothing_else(name: str, links: dict[str, Redis]) -> None:
    of_house = [words.format(key=name_of(key)) for words in WITH_A_KEY.values() for key in KEYS]
    assert allowed(links[name], of_house) == expected(name)
    # another house, or any other key
    assert allowed(links[name], [words.format(key=key) for words in WITH_A_KEY.values() for key in FOREIGN]) == set()
    assert allowed(links[name], WITHOUT_A_KEY) == set(ALLOWED[name]["without_a_key"])


def test_the_server_lists_no_command_for_an_agent_but_these(guarded: Guarded) -> None:
    with guarded.login("admin") as admin:
        facts = admin.acl_getuser("wolf-agent~main~ada")
    granted = {word for word in facts["commands"] if word.startswith("+")}
    reading = {"+xread", "+xrange", "+xinfo|stream", "+xlen"}
    assert granted == {"+hello", "+auth", "+ping", "+client|setname", "+client|id", "+xadd"} | reading
    assert facts["selectors"] == facts["channels"] == []
    assert "nopass" not in facts["flags"]


@pytest.mark.parametrize("key", ["out:ada", "in:ada"])
@pytest.mark.parametrize("other", ["in:bruno", "record:G", "lobby", "tickets"])
def test_a_foreign_stream_beside_ones_own_spoils_the_whole_call(key: str, other: str, links: dict[str, Redis]) -> None:
    own_stream, theirs = streams.house_key(HOUSE, key), streams.house_key(HOUSE, other)
    for block in ("", "BLOCK 1 "):
        assert allowed(links["ada"], [f"XREAD {block}STREAMS {own_stream} {theirs} 0-0 0-0"]) == set()
        assert allowed(links["ada"], [f"XREAD {block}STREAMS {theirs} {own_stream} $ $"]) == set()


def test_a_script_of_the_moderators_reaches_no_other_house(links: dict[str, Redis]) -> None:
    script = "return redis.pcall('XADD', ARGV[1], '*', 'type', 'x')"
    sha = links["moderator"].script_load(script)
    own_stream, foreign = streams.inbox(HOUSE, "ada"), streams.inbox("other", "ada")
    # the key is no KEYS[], so the check of the call itself does not see it
    landed, refused = exchange(links["moderator"], [("EVALSHA", sha, 0, own_stream), ("EVALSHA", sha, 0, foreign)])
    assert isinstance(landed, bytes)
    assert isinstance(refused, ResponseError)
    # in the words of Redis, and of Valkey
    assert re.search("can't access|No permissions to access a key", str(refused))


def test_nobody_gets_in_without_a_ticket(guarded: Guarded) -> None:
    tried = [words.format(key=streams.house_key(HOUSE, "in:ada")) for words in WITH_A_KEY.values()]
    for command in (*tried, *WITHOUT_A_KEY):
        if command != "HELLO 2":
            assert b"NOAUTH" in guarded.server.command(*command.split(" ")), command
    for words in (
        ("wolf-agent~main~ada", "guess"),
        ("wolf-agent~main~ada", ""),
        ("default", ""),
        ("wolf-admin", "admin"),
    ):
        assert guarded.server.command("AUTH", *words).startswith(b"-WRONGPASS"), words
    assert guarded.server.command("AUTH", "guess").startswith(b"-")


def test_a_revoked_ticket_no_longer_opens(guarded: Guarded) -> None:
    with pytest.raises(AuthenticationError), client(guarded.revoked) as revoked:
        revoked.ping()
    with pytest.raises(BusError, match="does not accept this user"):
        open_bus(guarded.revoked)


def test_a_connection_that_is_reset_is_nobodys(guarded: Guarded) -> None:
    with guarded.login("ada") as link:
        assert exchange(link, [("RESET",)]) == [b"RESET"]
        with pytest.raises(AuthenticationError):
            exchange(link, [("XLEN", streams.inbox(HOUSE, "ada"))])


def test_a_ticket_of_another_house_opens_only_that_house(guarded: Guarded) -> None:
    tried = [words.format(key=name_of(key)) for words in WITH_A_KEY.values() for key in KEYS]
    with client(read_bus(f"@{guarded.folder.parent / 'other' / 'ada.ticket'}")) as link:
        assert allowed(link, tried) == set()
        assert allowed(link, [f"XLEN {streams.inbox('other', 'ada')}"])


def test_no_refusal_tells_whether_a_stream_exists(guarded: Guarded, links: dict[str, Redis]) -> None:
    with guarded.login("moderator") as moderator:
        moderator.xadd(streams.record(HOUSE, "there"), {"type": "x"})
    existing, nowhere = (
        exchange(
            links["ada"],
            [("XLEN", streams.record(HOUSE, game)), ("XADD", streams.record(HOUSE, game), "*", "a", "b")],
        )
        for game in ("there", "nowhere")
    )
    assert list(map(str, existing)) == list(map(str, nowhere))


def test_an_agent_that_trims_its_own_replies_away_harms_itself_alone(guarded: Guarded, links: dict[str, Redis]) -> None:
    # XADD cannot be granted without MAXLEN; what is lost that way are the agent's own replies, and they time out
    own_stream, other = streams.outbox(HOUSE, "ada"), streams.outbox(HOUSE, "bruno")
    for name, stream in (("ada", own_stream), ("bruno", other)):
        exchange(links[name], [("XADD", stream, "*", "type", "reply")] * 3)
    before = links["bruno"].xlen(other)
    links["ada"].execute_command("XADD", own_stream, "MAXLEN", 0, "*", "type", "reply")
    assert links["ada"].xlen(own_stream) == 0
    assert links["bruno"].xlen(other) == before


def test_the_bus_says_in_one_line_what_a_ticket_does_not_allow(guarded: Guarded) -> None:
    bus, foreign = open_bus(guarded.url("ada")), streams.outbox(HOUSE, "bruno")
    entry = Entry(b"", "reply", "bruno", id="1-1")
    for act in (
        lambda: bus.entries(streams.inbox(HOUSE, "bruno")),
        lambda: bus.post(streams.lobby(HOUSE), Entry(b"", "join", "ada")),
        lambda: bus.claim(HOUSE, "ada"),
    ):
        with pytest.raises(NotAllowed) as caught:
            act()
        assert "\n" not in str(caught.value)
    (result,) = bus.commit([Commit(HOUSE, "", 1, "", "", (), ((foreign, entry),))])
    assert isinstance(result, NotAllowed)
    with pytest.raises(NotAllowed) as caught:
        bus.append(foreign, [entry])
    assert caught.value.stream == foreign
    reader = bus.reader()
    reader.follow(foreign)
    with pytest.raises(NotAllowed):
        reader.read(0)
    bus.close()
