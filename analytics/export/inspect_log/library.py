"""inspect_ai, imported when it is needed and named in one line when it is not there."""

from __future__ import annotations

import importlib
from typing import Any

from wolfbus.errors import ConfigError


class InspectLibrary:
    """The modules of inspect_ai that make a log.

    Attributes:
        log: ``inspect_ai.log``.
        model: ``inspect_ai.model``.
        event: ``inspect_ai.event``.
        scorer: ``inspect_ai.scorer``.
        version: of the package.

    Raises:
        ConfigError: it is not installed, or too old.
    """

    def __init__(self) -> None:
        try:
            package: Any = importlib.import_module("inspect_ai")
            self.log: Any = importlib.import_module("inspect_ai.log")
            self.model: Any = importlib.import_module("inspect_ai.model")
            self.event: Any = importlib.import_module("inspect_ai.event")
            self.scorer: Any = importlib.import_module("inspect_ai.scorer")
        except ImportError as error:
            if error.name == "inspect_ai":
                raise ConfigError('Inspect logs need inspect-ai: pip install "wolfbus[inspect]"') from None
            reason = f'inspect-ai cannot be imported ({error}): pip install --upgrade "wolfbus[inspect]"'
            raise ConfigError(reason) from None
        self.version: str = package.__version__
