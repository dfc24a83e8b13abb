"""What plays a study: the versions, the commit and the prompts that its manifest names."""

from __future__ import annotations

import hashlib
import platform
import subprocess
from collections.abc import Iterable
from importlib import resources
from pathlib import Path
from typing import Any, Final

import wolfbus

_PATIENCE_S: Final = 5.0


def versions() -> dict[str, Any]:
    """Return the members of a manifest that say what plays it."""
    return {"wolfbus": wolfbus.__version__, "python": platform.python_version(), "git": git_commit()}


def git_commit(folder: Path | None = None) -> dict[str, Any] | None:
    """Return commit and state of the git checkout that wolfbus runs from; None if it is none, or there is no git.

    Args:
        folder: the checkout's folder; the one above the package unless given.
    """
    root = folder if folder is not None else Path(wolfbus.__file__).resolve().parent.parent
    # an installed copy may lie below somebody else's checkout, and its commit would say nothing
    if not (root / ".git").exists():
        return None
    commit = _git(root, "rev-parse", "HEAD")
    if not commit:
        return None
    changed = _git(root, "status", "--porcelain", "--untracked-files=no")
    return {"commit": commit, "dirty": None if changed is None else bool(changed)}


def _git(root: Path, *words: str) -> str | None:
    try:
        done = subprocess.run(  # noqa: S603 - words of our own, and no shell
            ["git", "-C", str(root), *words],  # noqa: S607 - whichever git the user has
            capture_output=True,
            timeout=_PATIENCE_S,
            check=False,
            text=True,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.strip() if done.returncode == 0 else None


def prompts_hash(brains: Iterable[str]) -> str | None:
    """Return the SHA-256 of what prompts are made from, 64 hex digits; None where no brain is a language model.

    Prompts are written by the modules of `players.llm.prompts`, so it covers their source, in the order of their names,
    each name and source with a zero byte behind it.
    """
    if not any(brain.startswith("llm:") for brain in brains):
        return None
    digest = hashlib.sha256()
    sources = [each for each in resources.files("players.llm.prompts").iterdir() if each.name.endswith(".py")]
    for source in sorted(sources, key=lambda each: each.name):
        digest.update(source.name.encode() + b"\0" + source.read_bytes() + b"\0")
    return digest.hexdigest()
