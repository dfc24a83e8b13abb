"""A double that behaves."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from wolfbus.testing.model_server import ModelServer


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with ModelServer() as running:
        yield running
