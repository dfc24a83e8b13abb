"""What is said where an extra's package is not installed."""

from __future__ import annotations

from wolfbus.errors import ConfigError


def not_installed(package: str, extra: str) -> ConfigError:
    """Return the error that says how to install a package that is missing."""
    return ConfigError(f'this needs {package}, which is not installed: pip install "wolfbus[{extra}]"')
