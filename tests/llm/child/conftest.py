"""A child that is given up soon, and brains that are closed behind each test."""

from __future__ import annotations

import pytest

from players.program.brain import ChildBrain
from tests.llm.child.table import command, farewells_said


@pytest.fixture(autouse=True)
def _hasty_farewells(monkeypatch):
    monkeypatch.setattr("players.program.process.MOMENT", 0.2)
    yield
    farewells_said()


@pytest.fixture
def brain_of(tmp_path):
    """Makes brains whose child runs some code, and closes them."""
    made: list[ChildBrain] = []

    def make(code: str) -> ChildBrain:
        made.append(ChildBrain(command(tmp_path, code), tmp_path / "logs"))
        return made[-1]

    yield make
    for brain in made:
        brain.close()
