"""A real Redis Cluster of three nodes: the core of the bus contract, a slot that moves, a node that is replaced."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace

import pytest

from benchmarks.redis_cluster import RedisClusterServers
from tests.bus.conftest import Place, wait_blocked
from tests.bus.parts import HOUSE, SOON_S, InThread, entry, following, head
from tests.bus.test_appends import (  # noqa: F401 - the contract, here at another place
    test_a_batch_sent_again_lands_once_in_order_and_whole,
)
from tests.bus.test_commits import (  # noqa: F401
    owned,
    test_a_call_of_which_a_part_had_landed_is_completed,
    test_a_step_lands_in_all_its_streams,
    test_after_a_failure_nothing_later_of_that_game_lands,
    test_an_older_epoch_is_fenced,
)
from tests.bus.test_owners import (  # noqa: F401
    test_nobody_else_gets_a_house_while_its_lease_runs,
    test_of_many_claimants_one_holds_the_house,
)
from tests.bus.test_readers import (  # noqa: F401
    test_a_stream_cut_beyond_the_cursor_is_noticed_before_newer_entries_are_handed_out,
    test_close_ends_a_blocked_read_at_once,
    test_follow_takes_effect_while_a_read_blocks,
    test_writers_and_a_reader_in_many_threads_lose_and_double_nothing,
)
from tests.bus.test_streams import (  # noqa: F401
    test_expiring_a_game_at_once_removes_its_record_table_and_head_only,
    test_trimming_drops_what_is_older_says_how_much_and_leaves_the_last_id,
)
from wolfbus.bus import Commit, open_bus, streams
from wolfbus.errors import BusDown, BusError, ConfigError
from wolfbus.testing.redis_server import RedisServer

HOUSES = tuple(f"house-{number}" for number in range(30))
"""Enough that every node has some."""


@pytest.fixture(scope="module")
def cluster(redis_server: RedisServer) -> Iterator[RedisClusterServers]:
    with RedisClusterServers() as cluster:
        yield cluster


@pytest.fixture
def place(cluster: RedisClusterServers) -> Iterator[Place]:
    cluster.flush()
    place = Place(cluster.url, cluster.serving(streams.owner(HOUSE)))
    yield place
    place.close()


def step(house: str, epoch: int, number: int) -> Commit:
    """Step `number` of a game of one record entry each, which is posted to ann too, and leaves a cursor."""
    record = (entry(f"{number}-0", number=number),)
    posts = ((streams.inbox(house, "ann"), entry(number=number)),)
    return Commit(house, "g", epoch, head(number - 1), head(number), record, posts, {"out": f"{number}-0"})


def test_houses_of_all_nodes_are_on_one_bus(place: Place, cluster: RedisClusterServers) -> None:
    assert {cluster.serving(streams.owner(house)) for house in HOUSES} == set(cluster.masters)
    bus = place.open()
    steps = [step(house, bus.claim(house, "moderator"), 1) for house in HOUSES]
    assert bus.commit(steps) == [None] * len(HOUSES)
    reader = following(bus, streams.inbox(HOUSES[0], "ann"))
    assert len(reader.read(SOON_S)) == 1
    with pytest.raises(BusError, match="follows streams of one house"):
        reader.follow(streams.inbox(HOUSES[1], "ann"))
    astray = replace(steps[0], posts=((streams.inbox(HOUSES[1], "ann"), entry()),))
    (refused,) = bus.commit([astray])
    assert "only keys of one house go together" in str(refused)


def test_a_house_is_followed_while_its_slot_moves_to_another_node(place: Place, cluster: RedisClusterServers) -> None:
    house = "moving"
    source = cluster.serving(streams.owner(house))
    slot = source.command("CLUSTER", "KEYSLOT", streams.owner(house)).decode()[1:].strip()
    target = next(node for node in cluster.masters if node is not source)
    ids = {node: node.command("CLUSTER", "MYID").split(b"\r\n")[1].decode() for node in (source, target)}
    bus = place.open()
    epoch = bus.claim(house, "moderator")
    assert bus.commit([step(house, epoch, 1)]) == [None]
    reader = following(bus, streams.inbox(house, "ann"))
    assert len(reader.read(SOON_S)) == 1
    reading = InThread(reader.read, SOON_S)
    wait_blocked(source)

    target.command("CLUSTER", "SETSLOT", slot, "IMPORTING", ids[source])
    source.command("CLUSTER", "SETSLOT", slot, "MIGRATING", ids[target])
    keys = source.command("CLUSTER", "GETKEYSINSLOT", slot, "100").decode().split("\r\n")[2::2]
    assert len(keys) == 5
    source.command("MIGRATE", "127.0.0.1", str(target.port), "", "0", "5000", "KEYS", *keys)
    # now ASK sends everybody there, and then MOVED
    assert bus.commit([step(house, epoch, 2)]) == [None]
    assert bus.last_id(streams.record(house, "g")) == "2-0"
    for node in (target, source):
        node.command("CLUSTER", "SETSLOT", slot, "NODE", ids[target])
    assert bus.commit([step(house, epoch, 3)]) == [None]
    bus.renew(house, "moderator", epoch, 5.0)

    numbers = [item.number for _, news in reading.result() for item in news]
    while len(numbers) < 2:
        numbers += [item.number for _, news in reader.read(SOON_S) for item in news]
    assert numbers == [2, 3]


def test_a_house_goes_on_at_the_replica_of_a_node_that_died(redis_server: RedisServer) -> None:
    with RedisClusterServers(replicas=1) as cluster, closing(open_bus(cluster.url)) as bus:
        dying = cluster.masters[-1]
        house = next(house for house in HOUSES if cluster.serving(streams.owner(house)) is dying)
        epoch = bus.claim(house, "moderator", 60.0)
        assert bus.commit([step(house, epoch, 1)]) == [None]
        reader = following(bus, streams.inbox(house, "ann"))
        assert len(reader.read(SOON_S)) == 1
        reading = InThread(reader.read, SOON_S)
        wait_blocked(dying)
        cluster.await_ready()
        dying.kill()
        assert bus.commit([step(house, epoch, 2)]) == [None]
        assert [item.number for _, news in reading.result() for item in news] == [2]
        bus.renew(house, "moderator", epoch, 5.0)
        # whoever comes new reaches the others by the nodes that are named and live
        with closing(open_bus(cluster.url)) as late:
            assert late.head(house, "g") == head(2)


def test_an_address_of_a_cluster_that_cannot_be_is_told(redis_url: str) -> None:
    port = redis_url.rpartition(":")[2]
    with pytest.raises(BusError, match="is no node of a cluster: its address begins with redis://"):
        open_bus(f"redis+cluster://127.0.0.1:{port}")
    with pytest.raises(BusDown, match=r"Redis at 127.0.0.1:1,\[::1\]:2 cannot be reached .*these nodes of the cluster"):
        open_bus("redis+cluster://127.0.0.1:1,[::1]:2?patience=0.1")
    for wrong, why in (
        ("redis+cluster://a:1,b:2/1", "a cluster has no databases"),
        ("redis+cluster://a:1,:2", "names a node without a host"),
        ("redis+cluster://user:secret@a:1,b:x", "host and port cannot be read"),
    ):
        with pytest.raises(ConfigError, match=why):
            open_bus(wrong)
