"""What is answered now is what was answered before: the one assertion, for every group of values."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.golden import store
from tests.golden.groups import GROUPS

pytestmark = pytest.mark.timeout(300)


@pytest.mark.parametrize("group", GROUPS)
def test_it_is_what_it_was(group: str, tmp_path: Path, redis_url: str):
    found = GROUPS[group](tmp_path, redis_url)
    assert found
    changed = store.changes(group, found)
    how = f"If this is on purpose: python -m tests.golden.make {group}"
    assert not changed, "\n".join([f"{group} is not what it was", *changed, how])
    if group == "digests":
        assert len(set(found.values())) == 1, "the two buses played other games"
