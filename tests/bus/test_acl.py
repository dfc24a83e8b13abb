"""Rights on a real Redis: every kind of participant can do its work, and leaves no denial behind."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence

import pytest
import redis
from redis.connection import parse_url
from redis.exceptions import NoPermissionError, ResponseError

from tests.bus.conftest import wait_blocked
from tests.bus.parts import (
    AT_ONCE_S,
    GAME,
    HOUSE,
    IN_ANN,
    IN_BOB,
    OUT,
    RECORD,
    SOON_S,
    TABLE,
    InThread,
    claim,
    counted,
    entries,
    entry,
    epoch_of,
    following,
    ids,
    message,
    one_landing,
    step,
)
from wolfbus.bus import Bus, Commit, open_bus, streams
from wolfbus.errors import BusDown, BusError, HouseHeld, NotAllowed, StaleWriter
from wolfbus.testing.redis_server import RedisServer
from wolfbus.tickets import Holder, Service

OUT_BOB = streams.outbox(HOUSE, "bob")
OUT_ANALYTICS = streams.outbox(HOUSE, "counter")
IN_ANALYTICS = streams.inbox(HOUSE, "counter")
GAMES = streams.games(HOUSE)
LIVE = streams.live(HOUSE)
Enter = Callable[[Sequence[str]], str]


@pytest.fixture
def enter(redis_server: RedisServer, redis_url: str) -> Iterator[Enter]:
    """Give a user exactly these rights and return the address by which it comes in."""

    def admit(rules: Sequence[str]) -> str:
        reply = redis_server.command("ACL", "SETUSER", "guest", "reset", "on", ">pw", *rules)
        assert reply == b"+OK\r\n", reply
        redis_server.command("ACL", "LOG", "RESET")
        return redis_url.replace("redis://", "redis://guest:pw@")

    yield admit
    redis_server.command("ACL", "DELUSER", "guest")


@pytest.fixture
def a_game(redis_bus: Bus) -> Bus:
    """A house with a game on it, and the bus of whoever may do all."""
    claim(redis_bus)
    posts = ((IN_ANN, entry()), (IN_BOB, entry()), (IN_ANALYTICS, entry()), (TABLE, entry("1-0")), (GAMES, entry()))
    one_landing(redis_bus.commit([step(1, posts=posts)]))
    redis_bus.append(OUT_BOB, entries(1))
    redis_bus.post(streams.lobby(HOUSE), entry())
    return redis_bus


def nothing_was_denied(server: RedisServer) -> None:
    assert server.command("ACL", "LOG") == b"*0\r\n"


def answers(url: str, commands: Sequence[Sequence[str]]) -> list[object]:
    """Send commands as they are, past our client's own manners."""
    connection = redis.Connection(**parse_url(url), protocol=2)
    for name in ("driver_info", "lib_name", "lib_version"):
        # else it would tell them as it connects, which nobody here may
        setattr(connection, name, None)
    replies: list[object] = []
    for command in commands:
        connection.send_command(*command)
        try:
            replies.append(connection.read_response())
        except ResponseError as error:
            replies.append(error)
    connection.disconnect()
    return replies


def rights(service: Service, name: str, database: int = 0) -> tuple[str, ...]:
    return Holder(HOUSE, service, name).rules(database)


def test_an_agent_can_do_its_work(enter: Enter, a_game: Bus, redis_server: RedisServer) -> None:
    bus = open_bus(enter(rights("agent", "ann")))
    assert (counted(bus.last_id(IN_ANN)), bus.last_id(OUT)) == ("1-0", "0-0")
    bus.append(OUT, entries(2))
    bus.append(OUT, entries(3))
    assert bus.last_id(OUT) == "1000-3"
    assert bus.length(OUT) == 3
    with pytest.raises(StaleWriter) as caught:
        bus.append(OUT, [entry("900-1")])
    assert caught.value.stream == OUT
    reader = following(bus, IN_ANN)
    assert ids(reader.read(SOON_S)[0][1]) == ["1-0"]
    reading = InThread(lambda: reader.read(SOON_S))
    wait_blocked(redis_server)
    one_landing(a_game.commit([message(1)]))
    assert ids(reading.result()[0][1]) == ["1-1"]
    reading = InThread(lambda: reader.read(SOON_S))
    wait_blocked(redis_server)
    reader.close()
    assert reading.result() == []
    nothing_was_denied(redis_server)
    bus.close()


@pytest.mark.usefixtures("one_slice")
def test_an_agent_that_may_not_unblock_is_woken_at_once_without_trying(
    enter: Enter, redis_bus: Bus, redis_server: RedisServer
) -> None:
    bus = open_bus(enter(rights("agent", "ann")))
    reader = following(bus, IN_ANN)
    redis_bus.append(IN_ANN, entries(3))
    redis_bus.append(OUT, entries(1))
    assert reader.read(SOON_S) == [(IN_ANN, entries(3))]
    for _ in range(2):
        reading = InThread(lambda: reader.read(SOON_S))
        wait_blocked(redis_server)
        started = time.monotonic()
        reader.follow(OUT)
        assert reading.result() == [(OUT, entries(1))]
        assert time.monotonic() - started < AT_ONCE_S
    redis_bus.append(IN_ANN, entries(1, start=4))
    assert reader.read(SOON_S) == [(IN_ANN, entries(1, start=4))]
    nothing_was_denied(redis_server)
    bus.close()


def test_a_house_in_a_numbered_database_lets_its_agents_choose_it(enter: Enter) -> None:
    bus = open_bus(enter(rights("agent", "ann", 3)) + "/3")
    bus.append(OUT, entries(1))
    assert bus.entries(OUT) == entries(1)
    bus.close()


def test_analytics_can_do_its_work(enter: Enter, a_game: Bus, redis_server: RedisServer) -> None:
    bus = open_bus(enter(rights("analytics", "counter")))
    reader = bus.reader()
    for name in (RECORD, TABLE, GAMES, IN_ANALYTICS):
        assert counted(bus.last_id(name)) == "1-0"
        reader.follow(name)
    assert {name for name, _ in reader.read(SOON_S)} == {RECORD, TABLE, GAMES, IN_ANALYTICS}
    reader.follow(streams.record(HOUSE, "not-yet"))
    assert reader.read(0) == []
    bus.append(OUT_ANALYTICS, entries(1))
    bus.append(OUT_ANALYTICS, entries(2))
    bus.post(LIVE, entry())
    bus.post(LIVE, entry())
    assert bus.cap(LIVE, 1) == 1
    assert bus.owner(HOUSE).holder == "moderator"
    nothing_was_denied(redis_server)
    bus.close()


def test_a_moderator_can_do_its_work(enter: Enter, redis_server: RedisServer) -> None:
    bus = open_bus(enter(rights("moderator", "moderator")))
    redis_server.command("SCRIPT", "FLUSH")
    redis_server.command("SADD", streams.tickets(HOUSE), "ann")
    epoch = claim(bus, "first", 60)
    bus.renew(HOUSE, "first", epoch_of(epoch), 60)
    assert bus.owner(HOUSE).holder == "first"
    with pytest.raises(HouseHeld):
        claim(bus, "second")
    posts = ((IN_ANN, entry()), (TABLE, entry("1-0")), (GAMES, entry()))
    one_landing(bus.commit([step(1, posts=posts, cursors={OUT: "1-1"}), message(1)]))
    one_landing(bus.commit([Commit(HOUSE, "", epoch_of(epoch), "", "", (), ((IN_ANN, entry()),), {OUT: "2-2"})]))
    (refused,) = bus.commit([step(2, posts=((GAMES, entry()), (IN_ANN, entry("1-0"))))])
    assert isinstance(refused, BusError)
    assert not isinstance(refused, NotAllowed)
    assert bus.cursors(HOUSE) == {OUT: "2-2"}
    assert bus.head(HOUSE, GAME) != ""
    bus.post(streams.lobby(HOUSE), entry())
    bus.append(OUT, entries(5))
    assert (bus.trim(OUT, "1000-3"), bus.cap(OUT, 1), bus.length(OUT)) == (2, 2, 1)
    reader = bus.reader()
    for name in (streams.lobby(HOUSE), OUT, OUT_BOB):
        reader.follow(name)
    assert len(reader.read(SOON_S)) == 2
    bus.expire(HOUSE, GAME, 60)
    bus.expire(HOUSE, GAME, 0)
    bus.release(HOUSE, "first", epoch_of(epoch))
    assert answers(enter(rights("moderator", "moderator")), [("SMEMBERS", streams.tickets(HOUSE))]) == [[b"ann"]]
    nothing_was_denied(redis_server)
    bus.close()


def test_a_step_that_takes_back_its_posts_needs_no_more_rights(
    enter: Enter, redis_bus: Bus, redis_server: RedisServer
) -> None:
    bus = open_bus(enter(rights("moderator", "moderator")))
    claim(bus)
    redis_bus.append(IN_BOB, [entry(f"{epoch_of(1) + 1}-4")])
    (result,) = bus.commit([step(1)])
    assert "ids do not go on" in str(result)
    assert bus.entries(IN_ANN) == []
    nothing_was_denied(redis_server)
    bus.close()


def test_a_spectator_sees_the_tables(enter: Enter, a_game: Bus, redis_server: RedisServer) -> None:
    bus = open_bus(enter(rights("spectator", "eve")))
    reader = following(bus, TABLE, GAMES)
    assert len(reader.read(SOON_S)) == 2
    nothing_was_denied(redis_server)
    bus.close()


def test_rights_given_anew_take_the_old_ones_away(enter: Enter, redis_server: RedisServer, a_game: Bus) -> None:
    url = enter(("~*", "&*", "+@all", "(+get ~*)"))
    redis_server.command("ACL", "SETUSER", "guest", *rights("agent", "ann"))
    replies = answers(url, [("KEYS", "*"), ("XREAD", "STREAMS", IN_BOB, "0"), ("PUBLISH", "c", "x"), ("GET", "a")])
    assert {type(reply) for reply in replies} == {NoPermissionError}


def test_an_agent_whose_rights_are_revoked_is_told_and_not_kept_waiting(
    enter: Enter, redis_server: RedisServer
) -> None:
    bus = open_bus(enter(rights("agent", "ann")))
    reader = following(bus, IN_ANN)
    reading = InThread(lambda: reader.read(SOON_S))
    wait_blocked(redis_server)
    redis_server.command("ACL", "DELUSER", "guest")
    with pytest.raises(BusError, match="does not accept this user") as caught:
        reading.result()
    assert not isinstance(caught.value, BusDown)
    with pytest.raises(BusError, match="does not accept this user"):
        bus.append(OUT, entries(1))
    bus.close()
