"""Records of before are measured as they were."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.golden import findings
from tests.golden.unchanged import assert_unchanged

pytestmark = pytest.mark.timeout(300)


def test_findings_tables_and_reports_of_three_studies_are_what_they_were(tmp_path: Path):
    assert_unchanged("findings", findings.values(tmp_path, ""))
