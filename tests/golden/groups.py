"""The groups of values, and what makes each of them."""

from collections.abc import Callable
from pathlib import Path
from typing import Final

from tests.golden import digests, findings, terminal, wire

ALONE: Final[dict[str, Callable[[Path], dict[str, str]]]] = {"findings": findings.values, "terminal": terminal.values}
"""Groups by name: from an empty folder to values by name."""
ON_REDIS: Final[dict[str, Callable[[Path, str], dict[str, str]]]] = {"digests": digests.values, "wire": wire.values}
"""The same of groups that need a server: from an empty folder and the address of an empty Redis."""
GROUPS: Final = (*ALONE, *ON_REDIS)
