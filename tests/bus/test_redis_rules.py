"""What only a Redis has: users with few rights, other people's keys, a limit of memory, TLS."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.bus.conftest import full_memory, wait_blocked
from tests.bus.parts import (
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
    entries,
    entry,
    following,
    ids,
    one_landing,
    step,
    whole,
)
from wolfbus.bus import Bus, open_bus, streams
from wolfbus.errors import BusDown, BusError
from wolfbus.service.lifecycle import Stopping, await_bus
from wolfbus.testing.redis_server import RedisServer


@pytest.mark.parametrize(
    "name",
    [
        streams.owner(HOUSE),
        streams.heads(HOUSE),
        streams.cursors(HOUSE),
        streams.record(HOUSE, GAME),
        TABLE,
        IN_ANN,
        IN_BOB,
    ],
)
def test_a_key_of_another_type_refuses_the_step_whole(redis_bus: Bus, redis_server: RedisServer, name: str) -> None:
    if name != streams.owner(HOUSE):
        claim(redis_bus)
    redis_server.command("SET", name, "somebody else's")
    before = redis_server.command("DBSIZE")
    posts = ((IN_ANN, entry()), (TABLE, entry("1-0")), (IN_BOB, entry()))
    (result,) = redis_bus.commit([step(1, posts=posts, cursors={"a": "1-1"})])
    assert isinstance(result, BusError)
    assert "nothing written" in str(result)
    assert name in str(result)
    assert redis_server.command("DBSIZE") == before
    with pytest.raises(BusError) as caught:
        claim(redis_bus) if name == streams.owner(HOUSE) else redis_bus.append(name, entries(1))
    assert name in str(caught.value)


def test_a_full_memory_refuses_a_step_whole_and_is_survived(redis_bus: Bus, redis_server: RedisServer) -> None:
    claim(redis_bus)
    one_landing(redis_bus.commit([step(1)]))
    redis_bus.append(OUT, entries(1))
    with full_memory(redis_server):
        results = redis_bus.commit([step(2), step(3), step(1, game="other")])
        assert all(isinstance(result, BusError) for result in results)
        assert "out of memory" in str(results[0])
        assert "nothing written" in str(results[0])
        with pytest.raises(BusError, match="out of memory"):
            redis_bus.append(OUT, entries(2))
        assert ids(redis_bus.entries(RECORD)) == ids(redis_bus.entries(IN_BOB)) == ["1-0"]
    one_landing(redis_bus.commit([step(2), step(3), step(1, game="other")]))
    redis_bus.append(OUT, entries(2))
    assert ids(redis_bus.entries(RECORD)) == ["1-0", "2-0", "3-0"]
    assert whole(redis_bus, OUT) == entries(2)


def test_entries_are_readable_words_on_redis(redis_bus: Bus, redis_server: RedisServer) -> None:
    redis_bus.append(OUT, [entry("5-1", b"BODY", 42)])
    raw = redis_server.command("XRANGE", OUT, "-", "+")
    words = [word for word in raw.split(b"\r\n") if word[:1] not in (b"*", b"$", b"")]
    assert words == [b"5-1", b"type", b"bid", b"from", b"ann", b"game", b"game-1", b"n", b"42", b"body", b"BODY"]


def test_what_a_stranger_wrote_is_handed_on_as_far_as_it_can_be_read(redis_bus: Bus, redis_server: RedisServer) -> None:
    reader = following(redis_bus, OUT)
    redis_server.command("XADD", OUT, "1-1", "hello", "there")
    redis_server.command("XADD", OUT, "1-2", "body", "B", "n", "many", "type", "bid")
    redis_server.command("XADD", OUT, "1-3", "n", "9" * 400)
    ((_, batch),) = reader.read(SOON_S)
    assert [(one.id, one.type, one.body) for one in batch] == [("1-1", "", b""), ("1-2", "bid", b"B"), ("1-3", "", b"")]


def test_connections_bear_a_name_and_readers_have_their_own(redis_bus: Bus, redis_server: RedisServer) -> None:
    reader = following(redis_bus, OUT)
    reader.read(0)
    named = redis_server.command("CLIENT", "LIST").count(b" name=wolfbus ")
    assert named == 2


@pytest.fixture(scope="module")
def tls_server(tls_files: tuple[Path, Path, Path]) -> Iterator[RedisServer]:
    with RedisServer(tls=tls_files) as server:
        yield server


def test_tls_with_a_certificate_of_ones_own_will_do(tls_server: RedisServer) -> None:
    assert tls_server.url.startswith("rediss://")
    bus = open_bus(tls_server.url)
    claim(bus)
    one_landing(bus.commit([step(1)]))
    reader = following(bus, RECORD)
    assert reader.read(SOON_S) == [(RECORD, bus.entries(RECORD))]
    reading = InThread(lambda: reader.read(SOON_S))
    wait_blocked(tls_server)
    reader.follow(OUT)
    bus.append(OUT, entries(500))
    assert sum(len(batch) for _, batch in reading.result()) > 0
    reader.close()
    bus.close()


def test_a_tls_server_nobody_vouches_for_is_refused(tls_server: RedisServer) -> None:
    with pytest.raises(BusDown, match=r"(?i)certificate.verify.failed.*add \?ssl_ca_certs=FILE") as caught:
        # at once: trying again would not help
        open_bus(f"rediss://127.0.0.1:{tls_server.port}?patience=120")
    assert "\n" not in str(caught.value)
    assert "tried for" not in str(caught.value)
    with pytest.raises(BusDown, match=r"ssl_ca_certs=FILE"):
        await_bus(f"rediss://127.0.0.1:{tls_server.port}?patience=120", Stopping())


def test_a_tls_server_of_another_name_is_told_apart(tls_server: RedisServer) -> None:
    with pytest.raises(BusDown, match="its certificate is for another host"):
        open_bus(tls_server.url.replace("127.0.0.1", "localhost"))


def test_a_server_without_tls_is_told_apart(redis_url: str) -> None:
    with pytest.raises(BusDown, match=r"speaks TLS \(without TLS an address begins with redis://\)"):
        open_bus(redis_url.replace("redis://", "rediss://") + "?patience=0.1")
