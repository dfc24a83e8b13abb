"""Numbers and names as figures and their descriptions say them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, Literal, TypeAlias

from wolfbus.printable import told_apart

Score: TypeAlias = Literal["suspicion", "before"]
"""Which score of a judgement is meant: the suspicion that it states, or smoothed suspicion D just before it."""

SCORE_WORDS: Final[dict[Score, str]] = {
    "suspicion": "stated suspicion",
    "before": "smoothed suspicion before the statement",
}
LABEL_SHOWN: Final = 26
"""Characters of an agent's name within a figure."""


def percent(share: float | None) -> str:
    """Return a share as whole per cent, "undefined" for None."""
    return "undefined" if share is None else f"{100 * share:z.0f} %"


def decimal(value: float | None, places: int = 2) -> str:
    """Return a number with a real minus sign, which what rounds to 0 has not, "undefined" for None."""
    return "undefined" if value is None else f"{value:z.{places}f}".replace("-", "−")


def labels_of(names: Iterable[str], limit: int = LABEL_SHOWN) -> dict[str, str]:
    """Return strangers' names fit to draw: visible characters only, short, and still told apart."""
    return {name: shown or "?" for name, shown in told_apart(names, limit).items()}


def listed(parts: Iterable[str]) -> str:
    """Return "a, b and c"."""
    held = list(parts)
    return held[0] if len(held) == 1 else f"{', '.join(held[:-1])} and {held[-1]}" if held else ""
