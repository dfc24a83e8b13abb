from __future__ import annotations

import contextlib

import pytest

from tests.services.fed import ArchiveReports, FedHouse, Record, Site
from tests.services.guests import Stage
from tests.whole.house import play_many
from wolfbus.bus import open_bus
from wolfbus.game.config import GameConfig


@pytest.fixture(scope="session")
def records(tmp_path_factory):
    """Records of two games, as `wolfbus play` writes them."""
    folder = tmp_path_factory.mktemp("played")
    proofs = play_many(folder, [1, 2], ["scripted"] * 8, GameConfig())
    assert all(proof.verified for proof in proofs)
    return [Record(folder / f"{seed}.ndjson") for seed in (1, 2)]


@pytest.fixture
def bus(redis_url):
    with contextlib.closing(open_bus(redis_url)) as bus:
        yield bus


@pytest.fixture
def house(bus):
    return FedHouse(bus)


@pytest.fixture
def reports(bus):
    with contextlib.closing(ArchiveReports(bus)) as reports:
        yield reports


@pytest.fixture
def site(redis_url, bus, house, reports, records, tmp_path):
    with Site(redis_url, bus, house, reports, records, tmp_path) as site:
        yield site


@pytest.fixture
def stage(redis_url, bus):
    with Stage(redis_url, bus) as stage:
        yield stage


@pytest.fixture
def local(tmp_path):
    """The same on a bus of this process."""
    with contextlib.closing(open_bus(f"memory://{tmp_path.name}")) as bus, Stage(bus.url, bus) as stage:
        yield stage
