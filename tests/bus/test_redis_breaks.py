"""Broken connections and restarted servers: nothing lands twice, nothing is lost in silence."""

from __future__ import annotations

import socket
import sys
import time
from collections.abc import Iterator
from contextlib import closing
from functools import partial

import pytest

from tests.bus.conftest import wait_blocked
from tests.bus.parts import (
    AT_ONCE_S,
    GAME,
    HOUSE,
    IN_ANN,
    OUT,
    RECORD,
    SOON_S,
    InThread,
    claim,
    entries,
    entry,
    following,
    head,
    ids,
    message,
    one_landing,
    read_all,
    step,
    whole,
)
from tests.proxy import Proxy
from tests.waiting import wait_until
from wolfbus.bus import Bus, open_bus, streams
from wolfbus.errors import BusDown, BusUnsaved, Fenced, StreamLost
from wolfbus.testing.redis_server import RedisServer


@pytest.fixture
def own_server(redis_server: RedisServer) -> Iterator[RedisServer]:
    """A server to kill, that keeps nothing."""
    with RedisServer() as server:
        yield server


@pytest.fixture
def lasting_server(redis_server: RedisServer) -> Iterator[RedisServer]:
    """A server to kill, that keeps everything."""
    with RedisServer(persist=True) as server:
        yield server


def test_a_server_whose_disk_is_full_is_told_of_at_once_and_waited_for_like_one_that_is_away(
    own_server: RedisServer, caplog: pytest.LogCaptureFixture
) -> None:
    with closing(open_bus(f"{own_server.url}?patience=0.2")) as hasty, closing(open_bus(own_server.url)) as bus:
        claim(bus)
        own_server.stop_saving()
        unsaved = "MISCONF: it takes no writes until it can save them; make room on its disk"
        with pytest.raises(BusUnsaved, match=rf"takes no writes \(tried for 0\.2 s\): {unsaved}"):
            hasty.append(OUT, entries(1))
        caplog.clear()
        committing = InThread(lambda: bus.commit([step(1)]))
        wait_until(lambda: unsaved in caplog.text)
        own_server.command("CONFIG", "SET", "stop-writes-on-bgsave-error", "no")
        one_landing(committing.result())


def test_an_append_whose_reply_is_lost_again_and_again_lands_once(far_bus: Bus, proxy: Proxy) -> None:
    far_bus.append(OUT, entries(1))
    proxy.lose_replies(5)
    far_bus.append(OUT, entries(20, start=2))
    assert proxy.wait_lost(5)
    assert whole(far_bus, OUT) == entries(21)


def test_an_append_cut_in_the_middle_of_its_replies_lands_once(far_bus: Bus, proxy: Proxy) -> None:
    far_bus.append(OUT, entries(1))
    proxy.lose_replies(passing=37)
    far_bus.append(OUT, entries(400, start=2))
    assert whole(far_bus, OUT) == entries(401)


def test_an_append_at_once_needs_a_connection_that_stands_and_waits_for_no_server(proxy: Proxy, redis_bus: Bus) -> None:
    bus = open_bus(f"redis://127.0.0.1:{proxy.port}?patience={SOON_S}")
    bus.append(OUT, entries(1), 1.0)
    proxy.refuse()
    proxy.cut()
    began = time.monotonic()
    for _ in range(2):
        with pytest.raises(BusDown):
            bus.append(OUT, entries(1, start=2), 1.0)
    assert time.monotonic() - began < AT_ONCE_S
    proxy.refuse(False)
    bus.append(OUT, entries(1, start=2))
    bus.append(OUT, entries(2, start=2), 1.0)
    bus.close()
    with pytest.raises(BusDown, match="closed"):
        bus.append(OUT, entries(1, start=4), 1.0)
    assert whole(redis_bus, OUT) == entries(3)


def test_a_commit_whose_reply_is_lost_lands_once(far_bus: Bus, proxy: Proxy) -> None:
    claim(far_bus)
    one_landing(far_bus.commit([step(1)]))
    proxy.lose_replies()
    one_landing(far_bus.commit([step(2), step(3), step(4)]))
    assert proxy.wait_lost()
    assert ids(far_bus.entries(RECORD)) == ["1-0", "2-0", "3-0", "4-0"]
    assert ids(far_bus.entries(IN_ANN)) == ["1-0", "1-1", "1-2", "1-3"]
    assert far_bus.head(HOUSE, GAME) == head(4)


def test_a_commit_whose_reply_is_lost_after_another_moderator_claimed_is_fenced(
    far_bus: Bus, proxy: Proxy, redis_bus: Bus
) -> None:
    claim(far_bus)
    one_landing(far_bus.commit([step(1)]))
    proxy.hold()
    committing = InThread(lambda: far_bus.commit([step(2)]))
    claim(redis_bus, "usurper")
    proxy.release()
    (result,) = committing.result()
    assert isinstance(result, Fenced)
    assert ids(redis_bus.entries(RECORD)) == ["1-0"]


def test_a_server_that_a_script_keeps_busy_is_waited_for_and_its_streams_are_followed_on(
    redis_server: RedisServer,
) -> None:
    with (
        RedisServer("--busy-reply-threshold", "50") as server,
        closing(open_bus(f"{server.url}?patience=0.2")) as bus,
    ):
        reader = following(bus, OUT, IN_ANN)
        busy = InThread(lambda: server.command("EVAL", "while true do end", "0"))
        wait_until(lambda: server.command("PING").startswith(b"-BUSY"))
        for act in (lambda: reader.read(0.05), lambda: bus.append(OUT, entries(1))):
            with pytest.raises(BusDown, match="BUSY"):
                act()
        server.command("SCRIPT", "KILL")
        busy.result()
        for stream in (OUT, IN_ANN):
            bus.append(stream, entries(1))
        assert read_all(reader, 2) == {OUT: entries(1), IN_ANN: entries(1)}


def test_a_post_whose_reply_is_lost_stands_twice_at_worst(far_bus: Bus, proxy: Proxy) -> None:
    lobby = streams.lobby(HOUSE)
    far_bus.post(lobby, entry(body=b"first"))
    proxy.lose_replies()
    entry_id = far_bus.post(lobby, entry(body=b"second"))
    assert [one.body for one in far_bus.entries(lobby)] == [b"first", b"second", b"second"]
    assert far_bus.last_id(lobby) == entry_id


def test_an_outage_shorter_than_the_patience_costs_only_time(far_bus: Bus, proxy: Proxy) -> None:
    proxy.refuse()
    proxy.cut()
    appending = InThread(lambda: far_bus.append(OUT, entries(3)))
    proxy.refuse(False)
    appending.result()
    assert whole(far_bus, OUT) == entries(3)


def test_an_outage_longer_than_the_patience_is_told(proxy: Proxy) -> None:
    bus = open_bus(f"redis://127.0.0.1:{proxy.port}?patience=0.2")
    reader = following(bus, OUT)
    proxy.refuse()
    proxy.cut()
    for act in (lambda: bus.append(OUT, entries(1)), lambda: bus.commit([step(1)]), lambda: reader.read(SOON_S)):
        started = time.monotonic()
        with pytest.raises(BusDown, match=rf"127\.0\.0\.1:{proxy.port} cannot be reached \(tried for 0\.2 s\)"):
            act()
        assert 0.2 <= time.monotonic() - started < AT_ONCE_S
    proxy.refuse(False)
    bus.append(OUT, entries(1))
    assert reader.read(SOON_S) == [(OUT, entries(1))]
    bus.close()


def test_a_server_that_falls_silent_counts_as_broken(proxy: Proxy) -> None:
    bus = open_bus(f"redis://127.0.0.1:{proxy.port}?patience=0.2")
    proxy.hold()
    with pytest.raises(BusDown):
        bus.append(OUT, entries(1))
    proxy.release()
    bus.append(OUT, entries(1))
    assert whole(bus, OUT) == entries(1)
    bus.close()


def test_closing_the_bus_ends_its_patience(far_bus: Bus, proxy: Proxy) -> None:
    reader = following(far_bus, OUT)
    proxy.refuse()
    proxy.cut()
    appending = InThread(lambda: far_bus.append(OUT, entries(1)))
    reading = InThread(lambda: reader.read(SOON_S))
    started = time.monotonic()
    far_bus.close()
    with pytest.raises(BusDown, match="closed"):
        appending.result()
    assert reading.result() == []
    assert time.monotonic() - started < AT_ONCE_S


def test_a_blocked_read_that_is_cut_goes_on_where_it_was(
    far_bus: Bus, proxy: Proxy, redis_bus: Bus, redis_server: RedisServer
) -> None:
    reader = following(far_bus, OUT)
    redis_bus.append(OUT, entries(3))
    assert reader.read(SOON_S) == [(OUT, entries(3))]
    for start in (4, 6, 8):
        reading = InThread(lambda: reader.read(SOON_S))
        wait_blocked(redis_server)
        assert proxy.cut() >= 1
        redis_bus.append(OUT, entries(2, start=start))
        batches = reading.result()
        if len(batches[0][1]) == 1:
            batches[0][1].extend(reader.read(SOON_S)[0][1])
        assert batches == [(OUT, entries(2, start=start))]


def test_a_reply_to_a_read_that_is_lost_or_torn_is_read_again(far_bus: Bus, proxy: Proxy, redis_bus: Bus) -> None:
    redis_bus.append(OUT, entries(300))
    reader = following(far_bus, OUT)
    assert reader.read(0, limit=100) == [(OUT, entries(100))]
    proxy.lose_replies()
    assert reader.read(0, limit=100) == [(OUT, entries(100, start=101))]
    proxy.lose_replies(passing=500)
    assert reader.read(0, limit=100) == [(OUT, entries(100, start=201))]


def test_follow_takes_effect_even_while_the_server_is_away(far_bus: Bus, proxy: Proxy, redis_bus: Bus) -> None:
    redis_bus.append(OUT, entries(2))
    reader = following(far_bus, IN_ANN)
    assert reader.read(0) == []
    proxy.refuse()
    proxy.cut()
    reading = InThread(lambda: reader.read(SOON_S))
    reader.follow(OUT)
    proxy.refuse(False)
    assert reading.result() == [(OUT, entries(2))]


def test_the_commit_script_is_loaded_again_when_the_server_forgot_it(redis_bus: Bus, redis_server: RedisServer) -> None:
    claim(redis_bus)
    one_landing(redis_bus.commit([step(1)]))
    redis_server.command("SCRIPT", "FLUSH")
    one_landing(redis_bus.commit([message(1), step(2), step(3)]))
    assert ids(redis_bus.entries(IN_ANN)) == ["1-0", "1-1", "1-2", "1-3"]


def test_a_restart_that_kept_everything_costs_only_time(lasting_server: RedisServer) -> None:
    bus = open_bus(lasting_server.url + "?patience=10")
    claim(bus)
    one_landing(bus.commit([step(1), step(2)]))
    reader = following(bus, RECORD)
    assert ids(read_all(reader, 2)[RECORD]) == ["1-0", "2-0"]
    reading = InThread(lambda: read_all(reader, 2))
    wait_blocked(lasting_server)
    lasting_server.restart()
    one_landing(bus.commit([step(2), step(3), step(4)]))
    assert ids(reading.result()[RECORD]) == ["3-0", "4-0"]
    assert ids(bus.entries(IN_ANN)) == ["1-0", "1-1", "1-2", "1-3"]
    bus.close()


def test_a_restart_that_lost_everything_is_told_by_readers_and_commits(own_server: RedisServer) -> None:
    bus = open_bus(own_server.url + "?patience=10")
    claim(bus)
    one_landing(bus.commit([step(1), step(2)]))
    reader = following(bus, RECORD, OUT)
    read_all(reader, 2)
    reading = InThread(lambda: reader.read(SOON_S))
    wait_blocked(own_server)
    own_server.restart()
    with pytest.raises(StreamLost, match="record:game-1 was read up to 2-0, but it is gone"):
        reading.result()
    (result,) = bus.commit([step(3)])
    assert isinstance(result, Fenced)
    bus.append(OUT, entries(1))
    assert reader.read(SOON_S) == [(OUT, entries(1))]
    bus.close()


@pytest.mark.parametrize(("start", "lost"), [(3, "it now ends at 1000-3"), (8, "it was cut and now begins at 1000-8")])
def test_a_restart_while_nobody_reads_is_told_by_the_next_read(own_server: RedisServer, start: int, lost: str) -> None:
    bus = open_bus(own_server.url + "?patience=10")
    bus.append(OUT, entries(5))
    reader = following(bus, OUT)
    read_all(reader, 5)
    own_server.restart()
    bus.append(OUT, entries(1, start=start))
    with pytest.raises(StreamLost, match=f"read up to 1000-5, but {lost}"):
        reader.read(SOON_S)
    bus.close()


def test_many_writers_and_games_under_cuts_arrive_once_and_in_order(far_bus: Bus, proxy: Proxy, redis_bus: Bus) -> None:
    outs = [streams.outbox(HOUSE, f"agent-{n}") for n in range(3)]
    games = [f"game-{n}" for n in range(10)]
    records = [streams.record(HOUSE, game) for game in games]
    claim(redis_bus)
    reader = far_bus.reader()
    for name in [*outs, *records, IN_ANN]:
        reader.follow(name)

    def append(name: str) -> None:
        for start in range(1, 301, 3):
            far_bus.append(name, entries(3, start=start))

    def commit() -> None:
        for number in range(1, 31):
            one_landing(far_bus.commit([step(number, game=game, posts=((IN_ANN, entry()),)) for game in games]))

    def grown(seen: int) -> bool:
        return seen == 300 or len(whole(redis_bus, outs[0])) > seen

    def cut() -> None:
        for _ in range(15):
            seen = len(whole(redis_bus, outs[0]))
            proxy.cut()
            wait_until(partial(grown, seen))

    threads = [*(InThread(append, name) for name in outs), InThread(commit), InThread(cut)]
    by_stream = read_all(reader, 3 * 300 + 10 * 30 * 2, limit=37)
    for thread in threads:
        thread.result()
    assert [by_stream[name] for name in outs] == [entries(300)] * 3
    assert [ids(by_stream[name]) for name in records] == [[f"{n}-0" for n in range(1, 31)]] * 10
    assert ids(by_stream[IN_ANN]) == [f"1-{n}" for n in range(300)]


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux lets a server listen where another socket is bound")
def test_a_server_that_is_down_has_its_port_still(own_server: RedisServer) -> None:
    own_server.kill()
    with socket.socket() as other, pytest.raises(OSError, match="Address already in use"):
        other.bind(("127.0.0.1", own_server.port))
    own_server.start()
    with socket.create_connection(("127.0.0.1", own_server.port)) as connection:
        connection.sendall(b"PING\r\n")
        assert connection.recv(16) == b"+PONG\r\n"
