"""Tables of cases, which stand in a TOML file beside their test."""

import tomllib
from pathlib import Path
from typing import Any


def tables(test: str) -> dict[str, list[Any]]:
    """Return the tables of a test file by their names: one of each test that is tried with several cases."""
    return tomllib.loads(Path(test).with_suffix(".toml").read_text("utf-8"))
