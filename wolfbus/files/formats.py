"""How numbers and strangers' words look, wherever people read them: in the terminal, on the page, in figures.

Every hidden character is shown as a code, and nothing is dropped but combining marks beyond two;
`wolfbus.files.printable` drops hidden characters, for the line of an error has no room for codes.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Final, Literal, TypeAlias

from wolfbus.files.printable import columns_of, in_columns

UNDEFINED: Final = "–"
Ends: TypeAlias = tuple[float | None, float | None]
"""An interval's lower and upper end, both None where there is none."""
Unit: TypeAlias = Literal["share", "score", "p", "mean", "points", "difference", "logit", "count", "money", "seconds"]
"""share: as a percentage · points: a difference of shares · difference: of scores · score, mean and logit: as it stands
· p: of a test, never 0 · count: whole. A unit that is none of these, such as "probability", is shown as a score."""

_DIGITS: Final = {"logit": 2, "mean": 1}
_SIGNED: Final = frozenset({"difference", "logit"})


def percent(value: float | None, digits: int = 1) -> str:
    """Return a share as "47.9 %"."""
    return UNDEFINED if value is None else f"{number(100 * value, digits)}\u00a0%"


def number(value: float | None, digits: int = 3, *, signed: bool = False) -> str:
    """Return a number with so many decimals, and a true minus sign; what rounds to 0 has no sign."""
    if value is None:
        return UNDEFINED
    text = f"{value:z.{digits}f}"
    if signed and float(text) > 0:
        text = f"+{text}"
    return text.replace("-", "−")


def count(value: float | None) -> str:
    """Return a whole number, thousands apart."""
    return UNDEFINED if value is None else f"{round(value):,}"


def money(usd: float | None) -> str:
    """Return dollars; sums below one have four decimals, for a call costs fractions of a cent."""
    if usd is None:
        return UNDEFINED
    return f"${usd:,.4f}" if usd < 1 else f"${usd:,.2f}"


def seconds(value: float | None) -> str:
    """Return seconds, with two decimals below ten."""
    if value is None:
        return UNDEFINED
    return f"{value:.2f} s" if value < 10 else f"{value:,.1f} s"


def ago(seconds_: float | None) -> str:
    """Return how long ago something was, in the largest unit of which there are two: "3 min ago"."""
    if seconds_ is None:
        return UNDEFINED
    for size, unit in ((86_400, "d"), (3_600, "h"), (60, "min")):
        if seconds_ >= 2 * size:
            return f"{seconds_ // size:.0f} {unit} ago"
    return f"{seconds_:.0f} s ago"


def size(bytes_: int) -> str:
    """Return a number of bytes: "12 kB", "3.4 MB"."""
    return f"{bytes_ / 1024:.0f} kB" if bytes_ < 1 << 20 else f"{bytes_ / (1 << 20):.1f} MB"


def in_unit(value: float | None, unit: str, *, signed: bool = False) -> str:
    """Return a value in its unit; logits and differences always have a sign."""
    if value is None:
        return UNDEFINED
    if unit == "share":
        return f"{number(100 * value, 1, signed=signed)}\u00a0%"
    if unit == "points":
        return f"{number(100 * value, 1, signed=True)} points"
    if unit == "p" and value < 0.001:
        return "< 0.001"
    if unit == "count":
        return count(value)
    if unit == "money":
        return money(value)
    if unit == "seconds":
        return seconds(value)
    return number(value, _DIGITS.get(unit, 3), signed=signed or unit in _SIGNED)


def between(low: float | None, high: float | None, unit: str = "share", *, signed: bool = False) -> str:
    """Return an interval as "45.1–53.2 %", "" where there is none."""
    if low is None or high is None:
        return ""
    if unit == "share" and not signed:
        return f"{number(100 * low, 1)}–{number(100 * high, 1)}\u00a0%"
    if unit == "share" or unit == "points":
        return f"{number(100 * low, 1, signed=True)} to {number(100 * high, 1, signed=True)}"
    return f"{in_unit(low, unit, signed=signed)} to {in_unit(high, unit, signed=signed)}"


def difference_unit(unit: str) -> str:
    """Return the unit of the difference of two values: percentage points of shares alone. An AUC is shown as a score,
    and so is how far two of them are apart.
    """
    if unit in {"share", "points"}:
        return "points"
    return unit if unit == "logit" else "difference"


def span(seconds: float) -> str:
    """Return a time as "1 h 5 min", "2 min 3 s" or "4 s"."""
    minutes, seconds = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return f"{hours} h {minutes} min"
    return f"{minutes} min {seconds} s" if minutes else f"{seconds} s"


def listed(names: Sequence[str]) -> str:
    """Return "a, b and c"."""
    if len(names) < 2:
        return "".join(names)
    return f"{', '.join(names[:-1])} and {names[-1]}"


def first_of(names: Sequence[str], most: int) -> str:
    """Return "a, b and 3 more", with so many names at most."""
    more = len(names) - most
    return ", ".join(names[:most]) + (f" and {more} more" if more > 0 else "")


def aligned(rows: Sequence[Sequence[str]], right: Collection[str] = ()) -> list[str]:
    """Return rows as lines of columns, two blanks apart; to the right stand those whose heads, in the first row, are in
    `right`.
    """
    widths = [max(map(columns_of, column)) for column in zip(*rows, strict=True)]
    return [
        "  ".join(
            in_columns(cell, width, right=head in right) for head, cell, width in zip(rows[0], row, widths, strict=True)
        ).rstrip()
        for row in rows
    ]
