"""A moderator that a test leads by the hand, and agents that are served to its house until the test is over."""

import contextlib
from collections.abc import Iterator

import pytest

from tests.agents.parts import Moderator, Serve, served


@pytest.fixture
def moderator(redis_url: str) -> Iterator[Moderator]:
    with Moderator(redis_url) as moderator:
        yield moderator


@pytest.fixture
def serve(redis_url: str) -> Iterator[Serve]:
    """Serves an agent under the name ann, unless told otherwise."""
    with contextlib.ExitStack() as ending:
        yield lambda agent, **more: ending.enter_context(served(agent, redis_url, **more))


@pytest.fixture(autouse=True)
def prompt(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody waits long before it joins anew."""
    monkeypatch.setattr("wolfbus.agent.member.REJOIN_S", 0.02)
