"""A comparison as text for the terminal and as CSV."""

from __future__ import annotations

import csv
import io
from typing import Final

from analytics import Result
from analytics.grid import between, grid, note, number, percent, shortened
from wolfbus.printable import printable

_SHARES: Final = frozenset({"share", "points"})
_COLUMNS: Final = (
    *(
        "metric",
        "label",
        "unit",
        "better",
        "a",
        "b",
        "n_a",
        "n_b",
        "baseline_a",
        "baseline_b",
        "difference",
    ),
    *("low", "high", "p", "p_holm", "reason"),
)


def render(result: Result) -> str:
    """Return what `compare` or `compare_agents` found as text that ends in a newline."""
    a, b = (shortened(printable(result[side]["name"], 200), 60) for side in "ab")
    rows = [
        [
            name,
            *(_value(row[side], row["unit"]) for side in "ab"),
            *(str(row[f"n_{side}"]) for side in "ab"),
            _value(row["difference"]["value"], row["unit"], signed=True),
            _interval(row),
            _p(row["p"]),
            _p(row["p_holm"]),
        ]
        for name, row in result["metrics"].items()
    ]
    lines = [
        *note(f"A: {a} ({_about(result['a'])})", indent=""),
        *note(f"B: {b} ({_about(result['b'])})", indent=""),
    ]
    lines += [*note(_pairing(result), indent=""), *_warnings(result), ""]
    lines += grid(
        "B minus A with its bootstrap 95 % interval; shares and their differences in percent; p: permutation test, "
        f"Holm: adjusted for all {result['tested']} tests",
        ["metric", "A", "B", "n A", "n B", "B - A", "interval", "p", "Holm"],
        rows,
        "see --json for the reason of each.",
    )
    return "\n".join(lines).rstrip() + "\n"


def as_csv(result: Result) -> str:
    """Return the same as CSV, a row a metric; undefined is empty, with the reason in the last
    column.
    """
    out = io.StringIO()
    writer = csv.DictWriter(out, _COLUMNS, lineterminator="\n")
    writer.writeheader()
    for name, row in result["metrics"].items():
        difference = row["difference"]
        reasons = (difference["reason"], difference.get("interval_reason"), row["p_reason"])
        told = {
            "metric": name,
            **{column: row[column] for column in _COLUMNS if column in row and column != "difference"},
            "difference": difference["value"],
            "low": difference["low"],
            "high": difference["high"],
            "reason": "; ".join(dict.fromkeys(reason for reason in reasons if reason)),
        }
        writer.writerow({column: "" if value is None else value for column, value in told.items()})
    return out.getvalue()


def _value(value: float | None, unit: str, *, signed: bool = False) -> str:
    if unit in _SHARES:
        return percent(value, signed)
    shown = number(value, 3)
    return f"+{shown}" if signed and value is not None and not shown.startswith("-") else shown


def _interval(row: Result) -> str:
    low, high = row["difference"]["low"], row["difference"]["high"]
    if row["unit"] in _SHARES:
        return between(low, high, signed=True)
    if low is None or high is None:
        return number(None)
    return f"{_value(low, row['unit'], signed=True)} to {_value(high, row['unit'], signed=True)}"


def _p(value: float | None) -> str:
    return "<.0001" if value is not None and value < 0.0001 else number(value, 4)


def _about(side: Result) -> str:
    games = f"{side['games']} game{'' if side['games'] == 1 else 's'}"
    if "seats" not in side:
        return games
    roles = ", ".join(f"{role} {count}" for role, count in side["roles"].items())
    return f"{games}, {side['seats']} seats: {roles}"


def _pairing(result: Result) -> str:
    pairing = result["pairing"]
    tested = f"{result['permutations']} rearrangements" + (", all there are" if result["exact"] else "")
    if pairing["by"] == "block":
        return f"swapped within {pairing['pairs']} games or blocks; {tested}"
    if pairing["by"] is None:
        against = f"{pairing['unpaired_a']} against {pairing['unpaired_b']}"
        return f"no seed in common, so nothing is paired: {against}; {tested}"
    alone = pairing["unpaired_a"] + pairing["unpaired_b"]
    games = f"{pairing['paired_games_a']} games of A, {pairing['paired_games_b']} of B"
    told = f"{pairing['pairs']} pairs by seed ({games})"
    left = f", {pairing['unpaired_a']} of A and {pairing['unpaired_b']} of B without a partner" if alone else ""
    return f"{told}{left}; {tested}"


def _warnings(result: Result) -> list[str]:
    if result["kind"] != "agents":
        return []
    shares = [
        [count / side["seats"] if side["seats"] else 0.0 for count in side["roles"].values()]
        for side in (result["a"], result["b"])
    ]
    if max(abs(one - other) for one, other in zip(*shares, strict=True)) <= 0.05:
        return []
    return note(
        "WARNING: the two were dealt roles in different shares; differences may be those of the roles",
        indent="",
    )
