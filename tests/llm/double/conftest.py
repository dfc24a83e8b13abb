"""A double that behaves, and keeps what it was asked."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from wolfbus.testing.model_server import ModelServer


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with ModelServer(keep=True) as running:
        yield running
