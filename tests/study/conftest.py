"""What tests of whole runs share."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path

import pytest

from benchmarks.redis_cluster import RedisClusterServers
from tests.study.houses import HOUSE
from tests.study.runs import STUDY, run_here, study_file
from wolfbus.bus import Bus, open_bus
from wolfbus.testing.redis_server import RedisServer


@pytest.fixture(scope="session")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A study that nothing happened to."""
    folder = tmp_path_factory.mktemp("whole")
    run_here(study_file(folder, STUDY), "--out", folder / "out", code=0)
    return folder / "out"


@pytest.fixture
def study(tmp_path: Path) -> Path:
    return study_file(tmp_path, STUDY)


@pytest.fixture
def out(tmp_path: Path) -> Path:
    return tmp_path / "out"


@pytest.fixture
def gate(tmp_path: Path) -> Path:
    """See `tests.study.brains`: open once it is touched."""
    return tmp_path / "gate"


@pytest.fixture
def at(redis_url: str) -> tuple[str, ...]:
    """Options that have a house's agents play."""
    return ("--house", HOUSE, "--bus", redis_url)


@pytest.fixture(scope="session")
def cluster(redis_server: RedisServer) -> Iterator[RedisClusterServers]:
    """Three nodes; `redis_server` is asked for to skip where there is none."""
    with RedisClusterServers() as cluster:
        yield cluster


@pytest.fixture
def bus(redis_url: str) -> Iterator[Bus]:
    with contextlib.closing(open_bus(redis_url)) as bus:
        yield bus
