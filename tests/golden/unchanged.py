"""The one assertion: what is found now is what was pinned."""

from __future__ import annotations

from collections.abc import Mapping

from tests.golden import store


def assert_unchanged(group: str, found: Mapping[str, str]) -> None:
    """Compare the values of a group with what was found; a failure shows the first lines that differ."""
    assert found
    changed = store.changes(group, found)
    if changed:
        how = f"If this is on purpose: python -m tests.golden.make {group}"
        raise AssertionError("\n".join([f"{group} is not what it was", *changed, how]))
