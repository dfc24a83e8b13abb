"""Services and their Redis come up in any order; what waiting cannot mend is said at once."""

from collections.abc import Iterator

import pytest

from tests.agents.parts import HOUSE, Awaited, Bidder, Moderator, served
from tests.ops.commands import run
from wolfbus.errors import BusDown
from wolfbus.service.lifecycle import Stopping, await_bus
from wolfbus.testing.redis_server import RedisServer


@pytest.fixture(autouse=True)
def soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("wolfbus.bus.redis.bus.OPENING_S", 0.05)
    monkeypatch.setattr("wolfbus.service.lifecycle._PAUSE_S", 0.02)


@pytest.fixture
def closed() -> Iterator[RedisServer]:
    """A server that is not up yet."""
    server = RedisServer()
    try:
        yield server
    finally:
        server.close()


def test_a_player_that_starts_before_redis_waits_for_it_and_says_so_once(closed, caplog):
    with Awaited("waiting for it") as message, served(Bidder, f"{closed.url}?patience=120") as ann:
        message.wait()
        with closed.start(), Moderator(closed.url) as moderator:
            moderator.welcome("ann")
            moderator.goodbye("ann")
            assert ann.end() == "all games are played"
    (line,) = [record.getMessage() for record in caplog.records if "waiting for it" in record.getMessage()]
    assert f"127.0.0.1:{closed.port} cannot be reached" in line
    assert line.endswith("waiting for it up to 120 s")


def test_a_wrong_address_is_a_clear_line_when_patience_is_over(closed: RedisServer) -> None:
    with pytest.raises(
        BusDown, match=rf"^Redis at 127\.0\.0\.1:{closed.port} cannot be reached \(tried for 0\.2 s\): "
    ):
        await_bus(f"{closed.url}?patience=0.2", Stopping())
    with pytest.raises(BusDown, match=r"^Redis at no-such-host\.invalid:6379 cannot be reached"):
        await_bus("redis://no-such-host.invalid?patience=0.01", Stopping())


# results that nobody has seen closed are no success
@pytest.mark.parametrize(("command", "code"), [("player --name ann", 0), ("moderator", 0), ("analytics --out {}", 1)])
def test_every_service_that_is_told_to_stop_while_it_waits_for_the_bus_ends_well(closed, tmp_path, command, code):
    words = [*command.format(tmp_path).split(), "--bus", f"{closed.url}?patience=30", "--house", HOUSE]
    ended, output = run(*words, until=lambda output: "waiting for it" in output)
    assert (ended, "waiting for it" in output) == (code, True)
