"""Modules of users: agents and providers of models that a spec or a table names."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from types import ModuleType


def import_user_module(name: str) -> ModuleType:
    """Import a module from where Python looks, and then from the current directory.

    Args:
        name: its dotted name.

    Raises:
        ModuleNotFoundError: it, or one that it needs, is not there.
        Exception: whatever importing it raises; `SystemExit`, too.
    """
    folder = str(Path.cwd())
    if folder not in sys.path:
        # last, so that a file here cannot stand in for an installed module
        sys.path.append(folder)
        importlib.invalidate_caches()
    return importlib.import_module(name)


def is_missing(name: str, error: Exception | SystemExit) -> bool:
    """Return whether an error that importing a module raised says that it, or a package of it, is not there."""
    missing = error.name if isinstance(error, ModuleNotFoundError) else None
    return missing is not None and f"{name}.".startswith(f"{missing}.")
