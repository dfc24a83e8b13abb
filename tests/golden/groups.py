"""The groups of values, and what makes each of them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Final

from tests.golden import digests, findings, terminal, wire

GROUPS: Final[dict[str, Callable[[Path, str], dict[str, str]]]] = {
    "digests": digests.values,
    "findings": findings.values,
    "terminal": terminal.values,
    "wire": wire.values,
}
"""By name: from an empty folder and the address of an empty Redis to values by name."""
