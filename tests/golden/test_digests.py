"""Fifty games are what they were, on either bus."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.golden import digests
from tests.golden.unchanged import assert_unchanged

pytestmark = pytest.mark.timeout(300)


def test_fifty_games_have_the_digests_they_had_on_both_buses(tmp_path: Path, redis_url: str):
    found = digests.values(tmp_path, redis_url)
    assert_unchanged("digests", found)
    assert len(set(found.values())) == 1
