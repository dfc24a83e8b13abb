"""A comparison as blocks, for the terminal and as a page, and as CSV."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Sequence
from functools import partial
from statistics import median
from typing import Final, Literal

from analytics import Result
from analytics.metrics.bootstrap import TELLING
from analytics.metrics.primary import verdict
from analytics.report.caveats import ASKED
from wolfbus.files.document import (
    Block,
    Cell,
    Figure,
    Prose,
    Row,
    Section,
    TableBlock,
    TermList,
    columns,
    plain,
    warning,
    written,
)
from wolfbus.files.formats import UNDEFINED, between, count, difference_unit, in_unit, listed, number
from wolfbus.files.printable import counted, shortened

_COLUMNS: Final = (
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
    "low",
    "high",
    "variance_left",
    "margin",
    "equivalent",
    "p",
    "p_adjusted",
    "exploratory",
    "reason",
)
_NAME: Final = 60
_SCALES: Final = {"share": "points", "points": "points", "words": "words"}
"""What differences are drawn in, by the metric's unit; of all others as scores."""
_TITLES: Final = {"comparison": "Primary metrics", "exploratory": "Exploratory metrics"}


def render(result: Result) -> str:
    """Return what `compare` or `compare_agents` found as text for the terminal."""
    return written(_blocks(result))


def compared_page(result: Result, version: str) -> str:
    """Return the same as a page of HTML, with the differences as a forest plot.

    Args:
        result: what `compare` or `compare_agents` found.
        version: of wolfbus.
    """
    from analytics.report.context import Context
    from analytics.report.html import page

    names = [shortened(result[side]["name"], _NAME) for side in "ab"]
    first: list[Block] = [
        plain(_answer(result, names)),
        *_equivalence(result, names),
        *_warnings(result),
        *_figures(result, names, exploratory=False),
    ]
    drawn = {"comparison": (), "exploratory": tuple(_figures(result, names, exploratory=True))}
    about = Section("about", "What was compared", (_sides(result), plain(_pairing(result))))
    folded = [
        Section(f"{table.key}-section", _TITLES[table.key], (*drawn[table.key], table)) for table in _tables(result)
    ]
    over = tuple(_over(result))
    folded += [Section("over-section", f"Over {result['over']['factor']}", over)] if over else []
    answer = Section("answer", "In short", tuple(first))
    return page(f"WOLF: {names[1]} against {names[0]}", [answer, *folded, about], Context(version=version))


def _answer(result: Result, names: Sequence[str]) -> str:
    """Return in a sentence in which primary metrics one side is clear of the other."""
    tested = {name: row for name, row in result["metrics"].items() if row["p_adjusted"] is not None}
    parts = []
    for side, way in ((1, "above"), (0, "below")):
        ahead = [row["label"] for row in tested.values() if verdict(row, enough=row["units"] >= TELLING) == way]
        if ahead:
            parts.append(f"{names[side]} is clearly higher in {listed(ahead)}")
    if not parts:
        return f"No primary metric clearly tells {names[1]} from {names[0]} ({counted(len(tested), 'metric')} tested)."
    return f"{'; '.join(parts)}; adjusted for {counted(len(tested), 'primary metric')} together."


def _figures(result: Result, names: Sequence[str], *, exploratory: bool) -> Iterator[Figure]:
    """Yield the differences of primary or of exploratory metrics as forest plots, one for each scale."""
    from analytics.figures.tables import Panel, forest
    from analytics.report.context import drawing

    kind = "exploratory" if exploratory else "comparison"
    for key, scale in (("points", "percentage points"), ("score", "scores"), ("words", "words")):
        rows = {
            name: row["difference"]
            for name, row in result["metrics"].items()
            if "/" not in name and row["exploratory"] == exploratory and _SCALES.get(row["unit"], "score") == key
        }
        heading = f"In {scale}, {names[1]} minus {names[0]}"
        panel = Panel(heading, "bars are 95 % intervals; 0: no difference", difference_unit(key), rows)
        title = f"Differences in {scale}"
        if rows:
            drawn = partial(forest, f"{kind}-{key}", title, [panel])
            yield drawing(f"{kind}-{key}", drawn, f"{title}, {_TITLES[kind].lower()}.", table=kind)


def _blocks(result: Result) -> Iterator[Block]:
    yield _sides(result)
    yield plain(_pairing(result))
    yield from _warnings(result)
    yield from _equivalence(result, ("A", "B"))
    yield from _tables(result)
    yield from _over(result)


def _sides(result: Result) -> TermList:
    return TermList(
        tuple((side.upper(), (f"{shortened(result[side]['name'], _NAME)} ({_about(result[side])})",)) for side in "ab")
    )


def _equivalence(result: Result, names: Sequence[str]) -> Iterator[Prose]:
    """Yield of each metric with a margin whether the two are as good as equal in it."""
    for row in result["metrics"].values():
        if "margin" not in row:
            continue
        margin = in_unit(row["margin"], difference_unit(row["unit"])).removeprefix("+")
        answer = {
            True: f"{names[1]} differs from {names[0]} by less than {margin}",
            False: f"not shown that {names[1]} differs from {names[0]} by less than {margin}",
            None: f"whether the difference is below {margin} is unknown: it has no interval",
        }[row["equivalent"]]
        yield plain(f"{row['label']}: {answer} (two one-sided tests at .025: the 95 % interval within the margin).")


_WHAT: Final = {"label": "labels", "assess": "labels and judgements"}


def asked_differently(what: Literal["label", "assess"], a: Result, b: Result) -> str:
    """Return in words when something was asked for in two sides' games, "" if it was at one time in all, or never in
    those of one side.

    Args:
        what: the labels, or labels and judgements.
        a: what `asked_in` tells of one side.
        b: of the other.
    """
    if not a[what] or not b[what] or len({*a[what], *b[what]}) < 2:
        return ""
    in_a = listed([ASKED[what][time] for time in a[what]])
    in_b = listed([ASKED[what][time] for time in b[what]])
    return f"{_WHAT[what]} were asked for {in_a} in A, {in_b} in B"


def _warnings(result: Result) -> Iterator[Prose]:
    pairing, needed = result["pairing"], result["needed"]
    if result["kind"] == "studies":
        for what in ("label", "assess"):
            if line := asked_differently(what, result["a"], result["b"]):
                yield warning(f"{line}: what rests on them is of two measurements")
    fewest = pairing["pairs"] + min(pairing["unpaired_a"], pairing["unpaired_b"])
    if fewest < needed:
        unit = "pair" if pairing["pairs"] else "game or block on each side"
        units = counted(needed, unit, None if pairing["pairs"] else "games or blocks on each side")
        yield warning(
            f"these games cannot tell which side is better, whatever they show: the smallest p that they can give is "
            f"{number(result['lowest_p'], 4)}, and nothing is called higher or lower below {units}"
        )
    if _dealt_differently(result):
        yield warning("the two were dealt roles in different shares; differences may be those of the roles")


def _tables(result: Result) -> Iterator[TableBlock]:
    caption = (
        "B minus A with its bootstrap 95 % interval; p: permutation test, adjusted for "
        f"{counted(result['adjusted'], 'primary metric')} together. One side is called higher only where the adjusted "
        "p is below .02 and the interval leaves out 0"
    )
    note = "Exploratory: no p is adjusted, and some of so many are small by chance alone"
    heads = ("Metric", "A", "B", "n A", "n B", "B − A", "Interval", "p")
    points = "Numbers of one decimal without % are percentage points."
    undefined = f"{UNDEFINED} undefined: see --json for the reason of each."
    for key, words, names in (("comparison", caption, (*heads, "Adjusted")), ("exploratory", note, heads)):
        metrics = {name: row for name, row in result["metrics"].items() if row["exploratory"] == (key == "exploratory")}
        rows = tuple(_row(name, row) for name, row in metrics.items())
        is_lacking = any(cell.text == UNDEFINED for row in rows for cell in row.cells)
        if rows:
            yield TableBlock(key, words, columns(*names), rows, (points, undefined) if is_lacking else (points,))


def _over(result: Result) -> Iterator[TableBlock]:
    """Yield the differences of primary metrics over the levels of a further factor."""
    if "over" not in result:
        return
    factor, rows = result["over"]["factor"], []
    chosen = [name for name, row in result["metrics"].items() if not row["exploratory"]] or list(result["metrics"])
    for name in chosen:
        unit, row = result["metrics"][name]["unit"], result["over"]["metrics"][name]
        interval = between(row["low"], row["high"], unit, signed=True) or UNDEFINED
        cells = (_difference(value, unit) for value in (row["value"], *row["levels"].values()))
        mean, *at_levels = cells
        rows.append(Row(Cell(name), tuple(Cell(cell) for cell in (mean, interval, *at_levels))))
    levels = list(result["over"]["metrics"][chosen[0]]["levels"])
    yield TableBlock(
        "over",
        f"B minus A at each level of {factor}, and their mean with Student's 95 % interval over the levels, as if they "
        "were drawn from many",
        columns("Metric", "Mean", "Interval", *levels),
        tuple(rows),
        ("With few levels the interval is wide: a level more is one more draw. If all are alike there is none.",),
    )


def _row(name: str, row: Result) -> Row:
    difference, unit = row["difference"], row["unit"]
    tested = ("p",) if row["exploratory"] else ("p", "p_adjusted")
    interval = between(difference["low"], difference["high"], unit, signed=True)
    cells = (
        *(_difference(row[side], unit) if unit == "points" else in_unit(row[side], unit) for side in "ab"),
        *(count(row[f"n_{side}"]) for side in "ab"),
        _difference(difference["value"], unit),
        interval or UNDEFINED,
        *("< 0.0001" if row[p] is not None and row[p] < 0.0001 else number(row[p], 4) for p in tested),
    )
    return Row(Cell(name), tuple(Cell(cell) for cell in cells))


def _difference(value: float | None, unit: str) -> str:
    """Return a difference as its interval stands beside it."""
    if difference_unit(unit) == "points" and value is not None:
        return number(100 * value, 1, signed=True)
    return in_unit(value, difference_unit(unit))


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
        cells = {
            "metric": name,
            **{column: row[column] for column in _COLUMNS if column in row and column != "difference"},
            "difference": difference["value"],
            "low": difference["low"],
            "high": difference["high"],
            "reason": "; ".join(dict.fromkeys(reason for reason in reasons if reason)),
        }
        writer.writerow({column: "" if value is None else value for column, value in cells.items()})
    return out.getvalue()


def _about(side: Result) -> str:
    games = counted(side["games"], "game")
    if "seats" not in side:
        return games
    roles = ", ".join(f"{role} {number_}" for role, number_ in side["roles"].items())
    return f"{games}, {counted(side['seats'], 'seat')}: {roles}"


def _pairing(result: Result) -> str:
    """Return in a line what belongs together, how it was tested, and what pairing gained."""
    left = [row["variance_left"] for row in result["metrics"].values() if not row["exploratory"]]
    shares = sorted(share for share in left if share is not None)
    if not shares:
        return _paired(result)
    most = f" ({in_unit(shares[0], 'share')} to {in_unit(shares[-1], 'share')})" if len(shares) > 1 else ""
    return (
        f"{_paired(result)}. Pairing leaves {in_unit(median(shares), 'share')} of the variance that a difference would "
        f"have between games drawn apart, in the median of {counted(len(shares), 'primary metric')}{most}"
    )


def _paired(result: Result) -> str:
    pairing = result["pairing"]
    tested = counted(result["permutations"], "rearrangement") + (", all there are" if result["exact"] else "")
    if result["kind"] == "agents":
        nouns = ("block of games", "blocks of games") if pairing["by"] == "block" else ("game", "games")
        return f"swapped within {counted(pairing['pairs'], *nouns)}; {tested}"
    if pairing["by"] is None:
        against = " against ".join(_unpaired(result, side) for side in "ab")
        return f"no seed in common, so nothing is paired: {against}; {tested}"
    alone = pairing["unpaired_a"] + pairing["unpaired_b"]
    games = f"{counted(pairing['paired_games_a'], 'game')} of A, {pairing['paired_games_b']} of B"
    pairs = f"{counted(pairing['pairs'], 'pair')} by seed ({games})"
    left_a = result["a"]["games"] - pairing["paired_games_a"]
    left_b = result["b"]["games"] - pairing["paired_games_b"]
    left = f", {left_a} of A and {left_b} of B without a partner" if alone else ""
    return f"{pairs}{left}; {tested}"


def _unpaired(result: Result, side: str) -> str:
    games, units = result[side]["games"], result["pairing"][f"unpaired_{side}"]
    within = "" if units == games else f" in {counted(units, 'block')}"
    return f"{counted(games, 'game')} of {side.upper()}{within}"


def _dealt_differently(result: Result) -> bool:
    if result["kind"] != "agents":
        return False
    shares = [
        [dealt / side["seats"] if side["seats"] else 0.0 for dealt in side["roles"].values()]
        for side in (result["a"], result["b"])
    ]
    return bool(max(abs(one - other) for one, other in zip(*shares, strict=True)) > 0.05)
