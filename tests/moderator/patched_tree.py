"""The tree with something added to it, as a patch says: what is put behind which words of which file."""

import os
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
PACKAGES = ("wolfbus", "moderator", "players", "analytics", "tests")


def patch_of(name: str) -> dict[str, Any]:
    """Return a patch of this folder: for each file, the places where something is added."""
    return tomllib.loads(Path(__file__).with_name(f"{name}.toml").read_text("utf-8"))


def patched_by(name: str, folder: Path) -> Path:
    """Copy the tree into a folder, and add what a patch of this folder says."""
    for package in PACKAGES:
        # with its bytecode, which holds for every file that stays as it is
        shutil.copytree(ROOT / package, folder / package, ignore=shutil.ignore_patterns("golden"))
    for path, places in patch_of(name).items():
        text = (folder / path).read_text("utf-8")
        for place in places:
            assert text.count(place["behind"]) == 1, place
            text = text.replace(place["behind"], place["behind"] + place["put"])
        (folder / path).write_text(text, "utf-8")
    return folder


def run_in(tree: Path, code: str, *words: str) -> str:
    """Run a program in such a tree, with some words as its command line, and return what it prints."""
    done = subprocess.run(
        [sys.executable, "-c", code, *words], cwd=tree, env=os.environ | {"PYTHONPATH": str(tree)},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-3000:]
    return done.stdout
