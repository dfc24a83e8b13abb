"""What lies did: games played on from one of their statements, as it was and with others in its place."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import Any, Final

from analytics import Result, look
from analytics.report.caveats import only_forks
from analytics.report.context import Context, estimate_cell, value_cell, with_interval
from analytics.report.specs import Line, phrase, specs, table
from wolfbus.files.document import Block, Cell, Section, plain
from wolfbus.files.formats import count, listed, percent, quantity

_OUTCOMES: Final = {
    "suspicion": "suspicion right after",
    "dusk": "smoothed suspicion at dusk",
    "votes": "share of that day's votes",
    "exiled": "exiled that day",
    "won": "its side won",
}
_NOUNS: Final = {"forks": "fork", "statements": "statement", "parents": "game"}
_AXES: Final = {"by_kind": "Kind of deception", "by_role": "Role", "by_agent": "Agent"}


def forks(findings: Result, context: Context) -> Section:
    """Return the effect of lies, by outcome; and by kind, role and agent. It is empty where no game is a fork."""
    data = findings.get("forks") or {}
    blocks: list[Block] = []
    if data.get("statements"):
        refused = look(data, "refused", "value")
        numbers = {name: count(data[name]) for name in ("statements", "forks", "parents", "blocks")}
        share = "an unknown share" if refused is None else percent(refused)
        blocks = [
            plain(phrase("forks/intro", **numbers, refused=share)),
            table("forks/effects", findings, context, lines=_effects(data)),
            table("forks/arms", findings, context),
            table("forks/by", findings, context, lines=_by(data, context)),
            plain(phrase("forks/limits")),
        ]
    return Section("forks", "What lies did: forks", tuple(blocks))


def fork_headlines(findings: Result) -> list[str]:
    """Return what forks tell in sentences, one for each verdict, and what not; nothing where any game is no fork."""
    if not only_forks(findings):
        return []
    data = findings["forks"]
    verdicts, outcomes = specs("forks").verdicts["any"], defaultdict[str, list[str]](list)
    for name, row in data["effects"].items():
        effect = f" ({with_interval(row['difference'], 'points')})" if row["verdict"] in {"above", "below"} else ""
        outcomes[row["verdict"]].append(f"{_OUTCOMES[name]}{effect}")
    numbers = {name: quantity(data[name], noun) for name, noun in _NOUNS.items()}
    return [
        phrase("forks/played", **numbers),
        *(f"{words.format(label=listed(outcomes[name]))}." for name, words in verdicts.items() if name in outcomes),
        phrase("forks/no_sample"),
    ]


def _effects(data: Mapping[str, Any]) -> Iterator[Line]:
    for name, row in data["effects"].items():
        sentence = specs("forks").verdicts["any"][row["verdict"]].format(label=_OUTCOMES[name])
        difference = estimate_cell(row["difference"], "points")
        cells = {"keep": value_cell(row["keep"], "share"), "honest": value_cell(row["honest"], "share")}
        yield Line(Cell(sentence), {**cells, "difference": difference, "p_adjusted": row["p_adjusted"]})


def _by(data: Mapping[str, Any], context: Context) -> Iterator[Line]:
    for axis, title in _AXES.items():
        for value, row in data[axis].items():
            yield _contrast(f"{title}: {context.name(value) if axis == 'by_agent' else value}", row)
    for arm, row in data["contrasts"].items():
        yield _contrast(f"All, against {arm}", row)


def _contrast(label: str, row: Mapping[str, Any]) -> Line:
    cells = {name: estimate_cell(row[name], "points") for name in _OUTCOMES}
    return Line(Cell(label), {**cells, "n": max(row[name]["n"] for name in _OUTCOMES)})
