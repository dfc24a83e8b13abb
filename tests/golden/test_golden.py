"""What is answered now is what was answered before: the one assertion, for every group of values."""

import os
import platform
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pytest

from tests.golden import store
from tests.golden.findings import leaves
from tests.golden.groups import ALONE, ON_REDIS
from tests.golden.played import unpacked

pytestmark = pytest.mark.timeout(300)


def assert_as_it_was(group: str, found: Mapping[str, str]) -> None:
    assert found
    changed = store.changes(group, found)
    how = f"If this is on purpose: python -m tests.golden.make {group}"
    assert not changed, "\n".join([f"{group} is not what it was", *changed, how])


@pytest.mark.parametrize("group", ALONE)
def test_it_is_what_it_was(group: str, tmp_path: Path):
    assert_as_it_was(group, ALONE[group](tmp_path))


@pytest.mark.parametrize("group", ON_REDIS)
def test_it_is_what_it_was_on_redis(group: str, tmp_path: Path, redis_url: str):
    found = ON_REDIS[group](tmp_path, redis_url)
    assert_as_it_was(group, found)
    if group == "digests":
        assert len(set(found.values())) == 1, "the two buses played other games"


def test_findings_are_what_they_were_by_the_arithmetic_of_another_processor(tmp_path: Path):
    kernels = {"x86_64": "Prescott", "AMD64": "Prescott", "aarch64": "ARMV8", "arm64": "ARMV8"}
    better = np.show_config(mode="dicts")["SIMD Extensions"].get("found", [])
    other = {"OPENBLAS_CORETYPE": kernels.get(platform.machine(), ""), "NPY_DISABLE_CPU_FEATURES": " ".join(better)}
    unpacked("models", tmp_path)
    report = [sys.executable, "-m", "wolfbus", "report", "models", "--findings", "f.json", "--workers", "1"]
    subprocess.run(report, cwd=tmp_path, env={**os.environ, **other}, check=True, capture_output=True)
    name = "findings/models.json"
    found = leaves((tmp_path / "f.json").read_text("utf-8"))
    assert not store.changes(name, {name: found})
