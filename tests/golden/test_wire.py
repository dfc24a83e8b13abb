"""A session on Redis is the same messages, byte for byte."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.golden import wire
from tests.golden.unchanged import assert_unchanged

pytestmark = pytest.mark.timeout(300)


def test_a_session_on_redis_is_the_messages_it_was(tmp_path: Path, redis_url: str):
    assert_unchanged("wire", wire.values(tmp_path, redis_url))
