"""Who owns a house: one holder at a time while its lease runs, and epochs that only ever go up."""

from __future__ import annotations

import pytest

from tests.bus.conftest import Place, wait_until
from tests.bus.parts import HOUSE, OUT, InThread, entries, entry, message, one_landing
from wolfbus.bus import Bus, open_bus, streams
from wolfbus.bus.protocol import Owner
from wolfbus.errors import BusError, Fenced, HouseHeld
from wolfbus.testing.proxy import Proxy
from wolfbus.testing.redis_server import RedisServer

LONG_S = 60.0
SHORT_S = 0.05


def run_out(bus: Bus) -> None:
    wait_until(lambda: bus.owner(HOUSE).left_s == 0)


def test_a_house_nobody_claimed_has_no_owner(bus: Bus) -> None:
    assert bus.owner(HOUSE) == Owner("", 0, 0.0)
    assert bus.houses() == []


def test_a_claim_without_a_lease_can_be_taken_over_at_once(bus: Bus) -> None:
    assert bus.claim(HOUSE, "first") == 1
    assert bus.owner(HOUSE) == Owner("first", 1, 0.0)
    assert bus.claim(HOUSE, "second") == 2
    assert bus.owner(HOUSE) == Owner("second", 2, 0.0)


@pytest.mark.parametrize("lease_s", [0.0, LONG_S])
def test_nobody_else_gets_a_house_while_its_lease_runs(bus: Bus, place: Place, lease_s: float) -> None:
    assert bus.claim(HOUSE, "first", LONG_S) == 1
    with pytest.raises(HouseHeld, match="held by first for another") as caught:
        place.open().claim(HOUSE, "second", lease_s)
    assert caught.value.holder == "first"
    assert LONG_S - 5 < caught.value.left_s <= LONG_S
    owner = bus.owner(HOUSE)
    assert (owner.holder, owner.epoch) == ("first", 1)
    assert LONG_S - 5 < owner.left_s <= LONG_S
    one_landing(bus.commit([message(0)]))


def test_the_holder_itself_may_claim_again_under_a_new_epoch(bus: Bus) -> None:
    assert bus.claim(HOUSE, "first", LONG_S) == 1
    assert bus.claim(HOUSE, "first", LONG_S) == 2
    with pytest.raises(HouseHeld):
        bus.claim(HOUSE, "second", LONG_S)
    assert bus.claim(HOUSE, "first") == 3
    assert bus.owner(HOUSE) == Owner("first", 3, 0.0)


def test_a_lease_that_ran_out_lets_the_next_one_in(bus: Bus) -> None:
    bus.claim(HOUSE, "first", SHORT_S)
    run_out(bus)
    assert bus.claim(HOUSE, "second", LONG_S) == 2
    with pytest.raises(Fenced, match="epoch 1 is not the current one of house house \\(2\\)"):
        bus.renew(HOUSE, 1, LONG_S)
    (result,) = bus.commit([message(0, 1)])
    assert isinstance(result, Fenced)


def test_a_renewed_lease_goes_on(bus: Bus) -> None:
    epoch = bus.claim(HOUSE, "first", SHORT_S)
    bus.renew(HOUSE, epoch, LONG_S)
    assert bus.owner(HOUSE).left_s > LONG_S - 5
    with pytest.raises(HouseHeld):
        bus.claim(HOUSE, "second")


def test_a_lease_that_ran_out_unclaimed_can_still_be_renewed(bus: Bus) -> None:
    epoch = bus.claim(HOUSE, "first", SHORT_S)
    run_out(bus)
    bus.renew(HOUSE, epoch, LONG_S)
    with pytest.raises(HouseHeld):
        bus.claim(HOUSE, "second")


def test_renewing_what_the_bus_knows_nothing_of_is_fenced(bus: Bus) -> None:
    with pytest.raises(Fenced, match="no owner any more"):
        bus.renew(HOUSE, 1, LONG_S)
    assert bus.houses() == []


def test_a_released_house_can_be_claimed_at_once(bus: Bus) -> None:
    epoch = bus.claim(HOUSE, "first", LONG_S)
    bus.release(HOUSE, epoch)
    assert bus.owner(HOUSE) == Owner("first", 1, 0.0)
    assert bus.claim(HOUSE, "second", LONG_S) == 2


def test_who_is_owner_no_more_releases_nothing(bus: Bus) -> None:
    bus.release(HOUSE, 1)
    assert bus.houses() == []
    bus.claim(HOUSE, "first")
    bus.claim(HOUSE, "second", LONG_S)
    bus.release(HOUSE, 1)
    with pytest.raises(HouseHeld):
        bus.claim(HOUSE, "third")


def test_of_many_claimants_one_holds_the_house(bus: Bus, place: Place) -> None:
    def claim(holder: str) -> int:
        try:
            return place.open().claim(HOUSE, holder, LONG_S)
        except HouseHeld:
            return 0

    claiming = [InThread(claim, f"moderator-{n}") for n in range(8)]
    assert sorted(one.result() for one in claiming) == [0] * 7 + [1]


def test_houses_are_all_that_were_claimed_and_nothing_else(bus: Bus) -> None:
    for house in ("b", "a.b-c_d", HOUSE, "b"):
        bus.claim(house, "moderator")
    bus.append(OUT, entries(1))
    bus.append(streams.house_key("stream", "owner"), [entry("1-1")])
    assert bus.houses() == ["a.b-c_d", "b", HOUSE]


@pytest.mark.parametrize("lease_s", [-1.0, float("inf"), float("nan")])
def test_a_lease_that_is_no_time_is_refused(bus: Bus, lease_s: float) -> None:
    with pytest.raises(BusError, match="no number of seconds"):
        bus.claim(HOUSE, "first", lease_s)
    assert bus.owner(HOUSE).epoch == 0


def test_a_leased_claim_whose_reply_is_lost_is_held_by_the_one_that_sent_it(
    far_bus: Bus, proxy: Proxy, redis_bus: Bus
) -> None:
    far_bus.owner(HOUSE)
    proxy.lose_replies(2)
    epoch = far_bus.claim(HOUSE, "first", LONG_S)
    assert proxy.wait_lost(2)
    assert far_bus.owner(HOUSE).epoch == epoch
    far_bus.renew(HOUSE, epoch, LONG_S)
    with pytest.raises(HouseHeld):
        redis_bus.claim(HOUSE, "second")


def test_houses_among_many_other_keys_are_found(redis_bus: Bus, redis_server: RedisServer) -> None:
    redis_server.command("EVAL", "for n = 1, 5000 do redis.call('SET', 'other:' .. n, n) end", "0")
    for n in range(30):
        redis_bus.claim(f"house-{n:02}", "moderator")
    assert redis_bus.houses() == [f"house-{n:02}" for n in range(30)]


def test_a_full_memory_takes_no_house_from_its_owner(redis_bus: Bus, redis_server: RedisServer) -> None:
    epoch = redis_bus.claim(HOUSE, "first", LONG_S)
    redis_server.command("CONFIG", "SET", "maxmemory", "1")
    try:
        redis_bus.renew(HOUSE, epoch, LONG_S)
        redis_bus.release(HOUSE, epoch)
        assert redis_bus.claim(HOUSE, "second", LONG_S) == 2
    finally:
        redis_server.command("CONFIG", "SET", "maxmemory", "0")


def test_a_lease_outlives_a_restart_that_kept_everything(redis_server: RedisServer) -> None:
    with RedisServer(persist=True) as server:
        bus = open_bus(server.url + "?patience=10")
        epoch = bus.claim(HOUSE, "first", LONG_S)
        server.restart()
        with pytest.raises(HouseHeld):
            bus.claim(HOUSE, "second")
        bus.renew(HOUSE, epoch, LONG_S)
        server.command("FLUSHALL")
        with pytest.raises(Fenced, match="lost its data"):
            bus.renew(HOUSE, epoch, LONG_S)
        bus.close()
