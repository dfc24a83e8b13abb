"""Scripts on Redis: loaded once, called by their sum, loaded again when the server forgot them."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import resources
from typing import Any

from wolfbus.bus.redis.link import Link, NoScriptError, Word


class Script:
    """One of the scripts that lie beside this file; whatever it does must be safe to repeat.

    Args:
        name: name of the file, without ``.lua``.
    """

    def __init__(self, name: str) -> None:
        self._name = name
        self._text = resources.files("wolfbus.bus.redis").joinpath(f"{name}.lua").read_text("utf-8")
        self._sum = ""

    def run(self, link: Link, calls: Sequence[Sequence[Word]]) -> list[Any]:
        """Call it once for each of `calls` (number of keys, keys, arguments), all in one round trip.

        Returns:
            The replies; a refusal is returned, not raised.

        Raises:
            BusError: it cannot be loaded.
        """
        if not self._sum:
            self._load(link)
        replies = link.exchange([("EVALSHA", self._sum, *words) for words in calls])
        if any(isinstance(reply, NoScriptError) for reply in replies):
            # A restarted or flushed server. Calls that were carried out all the same come twice.
            self._load(link)
            replies = link.exchange([("EVALSHA", self._sum, *words) for words in calls])
        return replies

    def _load(self, link: Link) -> None:
        self._sum = link.ask("SCRIPT", "LOAD", self._text, doing=f"loading the {self._name} script").decode()
