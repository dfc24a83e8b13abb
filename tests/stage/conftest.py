"""A server of pages with finished games: scripted ones, one with prompts, one of many events."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner

from tests.golden.played import unpacked
from wolfbus.cli.main import main
from wolfbus.stage.library import Library
from wolfbus.stage.serving import Served, StageServer
from wolfbus.stage.sources import FolderSource


@pytest.fixture(scope="session")
def games(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the games `seven` and `many`, and the studies `scripted` and `models`."""
    folder = tmp_path_factory.mktemp("games")
    rules = folder / "many.toml"
    rules.write_text("debate_turns = 14\n")
    for name, config in (("seven", ()), ("many", ("--config", str(rules)))):
        options = ["play", "--seed", "7", "--game", name, "--out", str(folder), "--quiet", "--json", *config]
        played = CliRunner().invoke(main, options)
        assert played.exit_code == 0, played.output
    for study in ("scripted", "models"):
        unpacked(study, folder)
    return folder


@pytest.fixture(scope="session")
def stage(games: Path) -> Iterator[str]:
    """The address of a server that shows them."""
    with StageServer(Served([FolderSource(games)], Library(games)), port=0) as server:
        yield server.url
