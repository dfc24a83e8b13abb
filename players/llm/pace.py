"""`Pace`: how long an endpoint's replies take, and so when an attempt has taken too long to be worth waiting for."""

from __future__ import annotations

from collections import deque
from typing import Final

from players.llm.call import Purpose

_KEPT: Final = 64
_LEAST: Final = 8
_SHARE: Final = 0.9


class Pace:
    """Remembers how long the last attempts took, by model and purpose.

    An attempt that hangs should be cut in time for another one; a model that is merely slow should not be. Only what
    was seen tells them apart: attempts are cut after half the time if most replies come in less than a quarter of it.
    """

    def __init__(self) -> None:
        self._took: dict[tuple[str, Purpose], deque[float]] = {}

    def add(self, model: str, purpose: Purpose, seconds: float) -> None:
        """Take in an attempt that brought a reply, or was cut."""
        self._took.setdefault((model, purpose), deque(maxlen=_KEPT)).append(seconds)

    def cut_after(self, model: str, purpose: Purpose, given: float) -> float | None:
        """Return after how many seconds to give an attempt up.

        Args:
            model: who is asked.
            purpose: for what.
            given: seconds that the call has in all.

        Returns:
            Half of that; None, for no cut, while little is known or replies are that slow.
        """
        took = self._took.get((model, purpose), ())
        if len(took) < _LEAST:
            return None
        usual = sorted(took)[int(_SHARE * len(took))]
        return given / 2 if usual < given / 4 else None
