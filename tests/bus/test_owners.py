"""Who owns a house: one holder at a time while its lease runs, and epochs that only ever go up."""

from __future__ import annotations

import time
from contextlib import closing

import pytest

from tests.bus.conftest import Place, full_memory
from tests.bus.parts import (
    HOUSE,
    IN_ANN,
    InThread,
    claim,
    entry,
    epoch_of,
    message,
    one_landing,
    owner_of,
    step,
)
from tests.proxy import Proxy
from tests.waiting import wait_until
from wolfbus.bus import Bus, Commit, Owner, open_bus, streams
from wolfbus.errors import BusError, Fenced, HouseHeld
from wolfbus.testing.redis_server import RedisServer

LONG_S = 60.0
SHORT_S = 0.05


def run_out(bus: Bus) -> None:
    wait_until(lambda: bus.owner(HOUSE).left_s == 0)


@pytest.mark.parametrize("lease_s", [0.0, LONG_S])
def test_nobody_else_gets_a_house_while_its_lease_runs(bus: Bus, place: Place, lease_s: float) -> None:
    assert claim(bus, "first", LONG_S) == 1
    with pytest.raises(HouseHeld, match="held by first for another") as caught:
        claim(place.open(), "second", lease_s)
    assert caught.value.holder == "first"
    assert LONG_S - 5 < caught.value.left_s <= LONG_S
    owner = owner_of(bus)
    assert (owner.holder, owner.epoch) == ("first", 1)
    assert LONG_S - 5 < owner.left_s <= LONG_S
    one_landing(bus.commit([message(0)]))


def test_the_holder_itself_may_claim_again_under_a_new_epoch(bus: Bus) -> None:
    assert bus.owner(HOUSE) == Owner("", 0, 0.0)
    assert claim(bus, "first", LONG_S) == 1
    assert claim(bus, "first", LONG_S) == 2
    with pytest.raises(HouseHeld):
        claim(bus, "second", LONG_S)
    assert claim(bus, "first") == 3
    assert owner_of(bus) == Owner("first", 3, 0.0)


def test_a_lease_that_ran_out_lets_the_next_one_in(bus: Bus) -> None:
    claim(bus, "first", SHORT_S)
    run_out(bus)
    assert claim(bus, "second", LONG_S) == 2
    with pytest.raises(Fenced, match=f"epoch {epoch_of(1)} is not the current one of house house \\({epoch_of(2)}\\)"):
        bus.renew(HOUSE, "first", epoch_of(1), LONG_S)
    (result,) = bus.commit([message(0, 1)])
    assert isinstance(result, Fenced)


def test_a_lease_that_ran_out_unclaimed_can_still_be_renewed(bus: Bus) -> None:
    epoch = claim(bus, "first", SHORT_S)
    run_out(bus)
    bus.renew(HOUSE, "first", epoch_of(epoch), LONG_S)
    with pytest.raises(HouseHeld):
        claim(bus, "second")


def test_renewing_what_the_bus_knows_nothing_of_is_fenced(bus: Bus) -> None:
    with pytest.raises(Fenced, match="no owner any more"):
        bus.renew(HOUSE, "first", epoch_of(1), LONG_S)


def test_a_released_house_can_be_claimed_at_once(bus: Bus) -> None:
    epoch = claim(bus, "first", LONG_S)
    bus.release(HOUSE, "first", epoch_of(epoch))
    assert owner_of(bus) == Owner("first", 1, 0.0)
    assert claim(bus, "second", LONG_S) == 2


def test_who_is_owner_no_more_releases_nothing(bus: Bus) -> None:
    bus.release(HOUSE, "first", epoch_of(1))
    claim(bus, "first")
    claim(bus, "second", LONG_S)
    bus.release(HOUSE, "first", epoch_of(1))
    with pytest.raises(HouseHeld):
        claim(bus, "third")


def test_of_many_claimants_one_holds_the_house(bus: Bus, place: Place) -> None:
    def try_to(holder: str) -> int:
        try:
            return claim(place.open(), holder, LONG_S)
        except HouseHeld:
            return 0

    claiming = [InThread(try_to, f"moderator-{n}") for n in range(8)]
    assert sorted(one.result() for one in claiming) == [0] * 7 + [1]


@pytest.mark.parametrize("lease_s", [-1.0, float("inf"), float("nan")])
def test_a_lease_that_is_no_time_is_refused(bus: Bus, lease_s: float) -> None:
    with pytest.raises(BusError, match="no number of seconds"):
        claim(bus, "first", lease_s)
    assert bus.owner(HOUSE).epoch == 0


def test_a_leased_claim_whose_reply_is_lost_is_held_by_the_one_that_sent_it(
    far_bus: Bus, proxy: Proxy, redis_bus: Bus
) -> None:
    far_bus.owner(HOUSE)
    proxy.lose_replies(2)
    epoch = claim(far_bus, "first", LONG_S)
    assert proxy.wait_lost(2)
    assert owner_of(far_bus).epoch == epoch
    far_bus.renew(HOUSE, "first", epoch_of(epoch), LONG_S)
    with pytest.raises(HouseHeld):
        claim(redis_bus, "second")


def test_a_full_memory_takes_no_house_from_its_owner(redis_bus: Bus, redis_server: RedisServer) -> None:
    epoch = claim(redis_bus, "first", LONG_S)
    with full_memory(redis_server):
        redis_bus.renew(HOUSE, "first", epoch_of(epoch), LONG_S)
        redis_bus.release(HOUSE, "first", epoch_of(epoch))
        assert claim(redis_bus, "second", LONG_S) == 2


def test_a_lease_outlives_a_restart_that_kept_everything(redis_server: RedisServer) -> None:
    with RedisServer(persist=True) as server:
        bus = open_bus(server.url + "?patience=10")
        epoch = claim(bus, "first", LONG_S)
        server.restart()
        with pytest.raises(HouseHeld):
            claim(bus, "second")
        bus.renew(HOUSE, "first", epoch_of(epoch), LONG_S)
        server.command("FLUSHALL")
        with pytest.raises(Fenced, match="lost its data"):
            bus.renew(HOUSE, "first", epoch_of(epoch), LONG_S)
        bus.close()


# -- a bus that has gone backwards


def test_an_epoch_does_not_come_again_although_the_claim_was_lost(
    redis_bus: Bus, redis_url: str, redis_server: RedisServer
) -> None:
    bus = redis_bus
    epoch = bus.claim(HOUSE, "first", LONG_S)
    one_landing(bus.commit([Commit(HOUSE, "", epoch, "", "", posts=((IN_ANN, entry()),))]))
    wait_until(lambda: time.time() * 1000 > epoch + 2)
    redis_server.command("DEL", streams.owner(HOUSE))
    with closing(open_bus(redis_url)) as other:
        again = other.claim(HOUSE, "second", LONG_S)
    assert again > epoch
    # the first finds out, and takes nothing from the second
    with pytest.raises(Fenced):
        bus.renew(HOUSE, "first", epoch, LONG_S)
    bus.release(HOUSE, "first", epoch)
    assert bus.owner(HOUSE).left_s > 0
    # what the second says stands behind what anybody has read
    one_landing(bus.commit([Commit(HOUSE, "", again, "", "", posts=((IN_ANN, entry()),))]))
    assert [one.id for one in bus.entries(IN_ANN)] == [f"{epoch}-0", f"{again}-0"]


def test_nobody_renews_or_releases_for_another_under_the_same_epoch(bus: Bus) -> None:
    epoch = bus.claim(HOUSE, "first", LONG_S)
    with pytest.raises(Fenced, match=f"belongs to first under this epoch \\({epoch}\\)"):
        bus.renew(HOUSE, "second", epoch, 2 * LONG_S)
    bus.release(HOUSE, "second", epoch)
    assert 0 < bus.owner(HOUSE).left_s <= LONG_S


def test_a_server_that_came_back_without_steps_it_had_confirmed_takes_no_more_under_that_epoch() -> None:
    with RedisServer(persist=True) as server, closing(open_bus(server.url + "?patience=10")) as bus:
        claim(bus, "first", LONG_S)
        one_landing(bus.commit([step(1)]))
        mark = server.mark()
        one_landing(bus.commit([step(2), step(1, game="other")]))
        server.forget_since(mark)
        # not even what was left as it was goes on: its moderator counts on what is gone
        results = bus.commit([step(2), step(1, game="third"), message(1)])
        assert all(isinstance(result, Fenced) for result in results)
        assert "the bus has lost steps that had landed" in str(results[0])
        with pytest.raises(Fenced, match="lost steps"):
            bus.renew(HOUSE, "first", epoch_of(1), LONG_S)
        assert claim(bus, "first", LONG_S) == 2
        one_landing(bus.commit([step(2, 2), step(1, 2, game="other")]))
        bus.renew(HOUSE, "first", epoch_of(2), LONG_S)


def test_a_clock_that_was_set_back_makes_no_lease_longer(redis_server: RedisServer, redis_url: str) -> None:
    hour_ms = 3_600_000
    with closing(open_bus(redis_url)) as bus:
        claim(bus, "dead", SHORT_S)
        later = str(int(time.time() * 1000) + hour_ms)
        redis_server.command("HSET", streams.owner(HOUSE), "until", later)
        assert bus.owner(HOUSE).left_s <= SHORT_S
        with pytest.raises(HouseHeld) as caught:
            claim(bus, "next", SHORT_S)
        assert caught.value.left_s <= SHORT_S
        run_out(bus)
        assert claim(bus, "next") == 2


def test_a_script_that_a_server_does_not_keep_is_sent_whole(redis_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    # as behind a proxy of several servers, where it was loaded into another
    forget = "wolfbus.bus.redis.connection.Script._load"
    monkeypatch.setattr(forget, lambda script, _link: setattr(script, "_sum", "0" * 40))
    with closing(open_bus(redis_url)) as bus:
        assert claim(bus, "first", LONG_S) == 1
