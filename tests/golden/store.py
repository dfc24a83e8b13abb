"""The folder of values: text as it is where it is small, compressed where it is large; what of it is compared by how
close its numbers are.
"""

import difflib
import lzma
import math
import re
from collections.abc import Callable, Mapping
from functools import partial
from itertools import islice
from pathlib import Path

VALUES = Path(__file__).with_name("values")
LARGE = 40_000
"""Bytes from which a value is kept compressed."""
LINES = 40
"""Lines of a difference that are shown."""
CALCULATED = ("findings", "terminal")
"""Groups whose numbers are compared by closeness: their last digits are another processor's."""
RELATIVE, ABSOLUTE = 1e-6, 1e-7
"""How far two numbers may be apart that are the same."""
_FULL = re.compile(r"[-+]?\b\d+(?:\.\d+(?:[eE][+-]?\d+)?|[eE][+-]?\d+)\b")
_PRINTED = re.compile(r"[-−+]?(?:\b\d+)?\.\d+\b|[-−+]?\b\d+(?:[eE][+-]?\d+\b|(?= ?%))")
"""Numbers that are no counts, as JSON has them and as people are shown them."""


def read(name: str) -> str | None:
    """Return the value of that name, such as ``digests/embedded.txt``; None where there is none."""
    if (plain := VALUES / name).is_file():
        return plain.read_bytes().decode()
    if (packed := VALUES / f"{name}.xz").is_file():
        return lzma.decompress(packed.read_bytes()).decode()
    return None


def names(group: str) -> set[str]:
    """Return the names of all values of a group."""
    found = (path.relative_to(VALUES).as_posix() for path in (VALUES / group).rglob("*") if path.is_file())
    return {name.removesuffix(".xz") for name in found}


def write(group: str, found: Mapping[str, str]) -> list[str]:
    """Make `found` the values of a group, and return what changed, in lines."""
    changed = changes(group, found)
    for name in names(group) | set(found):
        before = read(name)
        if before is not None and name in found and _equality(name)(before, found[name]):
            continue
        for path in (VALUES / name, VALUES / f"{name}.xz"):
            path.unlink(missing_ok=True)
        if name in found:
            path = VALUES / name
            path.parent.mkdir(parents=True, exist_ok=True)
            content = found[name].encode()
            if len(content) < LARGE:
                path.write_bytes(content)
            else:
                packed = lzma.compress(content, format=lzma.FORMAT_XZ, preset=9)
                path.with_name(f"{path.name}.xz").write_bytes(packed)
    return changed


def changes(group: str, found: Mapping[str, str]) -> list[str]:
    """Return the first lines that differ between the values of a group and what was found; empty if none does."""
    lines = []
    for name in sorted(names(group) | set(found)):
        before, now = read(name), found.get(name)
        equal = _equality(name)
        if before is None or now is None or not equal(before, now):
            lines += _difference(name, before or "", now or "", equal)
    return lines


def _equality(name: str) -> Callable[[str, str], bool]:
    """Return what says whether two values of that name are the same."""
    if not name.startswith(CALCULATED):
        return str.__eq__
    return partial(close, printed=name.endswith((".md", ".txt")) and "json" not in name)


def close(one: str, other: str, *, printed: bool) -> bool:
    """Return whether two texts are equal but for numbers that are close, by `RELATIVE` or `ABSOLUTE`.

    Args:
        one: a text.
        other: another.
        printed: whether numbers are shown with few digits. Rounding has an edge wherever it is, so two of them are also
            close that are one unit of their last place apart.
    """
    numbers = _PRINTED if printed else _FULL
    if numbers.sub("#", one) != numbers.sub("#", other):
        return False
    pairs = zip(numbers.findall(one), numbers.findall(other), strict=True)
    return all(a == b or _close(a, b, printed=printed) for a, b in pairs)


def _close(one: str, other: str, *, printed: bool) -> bool:
    a, b = (float(number.replace("−", "-")) for number in (one, other))
    if math.isclose(a, b, rel_tol=RELATIVE, abs_tol=ABSOLUTE):
        return True
    unit = _unit(one)
    # floats that are a unit apart may come out a hair further
    return printed and unit == _unit(other) and abs(a - b) < 1.001 * unit


def _unit(number: str) -> float:
    """Return one step of the last digit, as .01 for 3.14."""
    mantissa, _, exponent = number.lower().partition("e")
    return float(10.0 ** (int(exponent or 0) - len(mantissa.partition(".")[2])))


def _difference(name: str, before: str, now: str, equal: Callable[[str, str], bool]) -> list[str]:
    # a whole comparison of long texts takes minutes; what follows the first difference is compared for a while
    old, new = before.splitlines(), now.splitlines()
    same = next((n for n, (a, b) in enumerate(zip(old, new, strict=False)) if not equal(a, b)), min(len(old), len(new)))
    start = max(0, same - 2)
    old, new = old[start : start + 400], new[start : start + 400]
    # what is close is shown as it was pinned
    new = [a if n < len(old) and equal(a := old[n], b) else b for n, b in enumerate(new)]
    compared = difflib.unified_diff(old, new, f"{name} as pinned", f"{name} now", lineterm="", n=2)
    shown = [line[:300] for line in islice(compared, LINES)]
    return [*shown, f"  (lines from {start + 1} on)"]
