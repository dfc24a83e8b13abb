from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.services.fed import FedHouse, Record, Told
from tests.whole.house import play_many
from wolfbus.bus import open_bus
from wolfbus.bus.protocol import Bus
from wolfbus.config import GameConfig


@pytest.fixture(scope="session")
def records(tmp_path_factory: pytest.TempPathFactory) -> list[Record]:
    """Records of two games, as `wolfbus play` writes them."""
    folder = tmp_path_factory.mktemp("played")
    proofs = play_many(folder, [1, 2], ["scripted"] * 8, GameConfig())
    assert all(proof.verified for proof in proofs)
    return [Record(folder / f"{seed}.ndjson") for seed in (1, 2)]


@pytest.fixture
def bus(redis_url: str) -> Iterator[Bus]:
    bus = open_bus(redis_url)
    yield bus
    bus.close()


@pytest.fixture
def house(bus: Bus) -> FedHouse:
    return FedHouse(bus)


@pytest.fixture
def told(bus: Bus) -> Iterator[Told]:
    told = Told(bus)
    yield told
    told.close()
