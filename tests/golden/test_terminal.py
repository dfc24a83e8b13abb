"""Commands print about records of before what they printed."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.golden import terminal
from tests.golden.unchanged import assert_unchanged

pytestmark = pytest.mark.timeout(300)


def test_commands_print_what_they_printed(tmp_path: Path, redis_url: str):
    assert_unchanged("terminal", terminal.values(tmp_path, redis_url))
