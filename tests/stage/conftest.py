"""A server of pages with finished games: a scripted one, one of many events, and studies, one with prompts."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.golden.played import unpacked
from tests.golden.running import wolfbus
from tests.stage.served import viewed
from wolfbus.testing.redis_server import ReservedPort


@pytest.fixture(scope="session")
def games(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the games `seven` and `many`, and the studies `scripted` and `models`."""
    folder = tmp_path_factory.mktemp("games")
    (folder / "many.toml").write_text("debate_turns = 14\n")
    for name, config in (("seven", ()), ("many", ("--config", "many.toml"))):
        played = wolfbus(folder, "play", "--seed", "7", "--game", name, "--out", ".", "--quiet", "--json", *config)
        assert played.code == 0, played.err
    for study in ("scripted", "models"):
        unpacked(study, folder)
    return folder


@pytest.fixture(scope="session")
def stage(games: Path) -> Iterator[str]:
    """The address of a server that shows them."""
    with viewed(games) as url:
        yield url


@pytest.fixture
def kept_port() -> Iterator[int]:
    """A port for a server that is started again."""
    with ReservedPort() as port:
        yield port.number
