"""What agents' own models say after the games that the agents believed, and what statements do to that."""

from __future__ import annotations

from collections.abc import Iterator

from analytics import Result
from analytics.metrics.beliefs import MOMENTS
from analytics.report.context import Context
from analytics.report.specs import Line, phrase, specs, table
from wolfbus.files.document import Cell, Section, plain


def beliefs(findings: Result, context: Context) -> Section:
    """Return how well beliefs tell Werewolves, whether they add up, whether votes follow them, and how statements move
    them; empty where nobody was asked.
    """
    data = findings.get("beliefs") or {}
    if not data:
        return Section("beliefs", "Beliefs, asked outright", ())
    return Section("beliefs", "Beliefs, asked outright", (
        plain(phrase("beliefs/intro")),
        table("beliefs/scores", findings, context, lines=_scores(data)),
        table("beliefs/agents", findings, context, lines=_agents(data, context)),
        table("beliefs/swings", findings, context, lines=_swings(data)),
    ))  # fmt: skip


def _scores(data: Result) -> Iterator[Line]:
    labels = specs("beliefs").words
    for moment, rungs in MOMENTS.items():
        for rung in rungs:
            if data["scores"][moment][rung]["brier"]["n"]:
                yield Line(Cell(f"{labels[moment]}: {labels[rung]}"), data["scores"][moment][rung])


def _agents(data: Result, context: Context) -> Iterator[Line]:
    for agent, row in data["by_agent"].items():
        yield Line(Cell(context.name(agent)), row)
    yield Line(Cell("All"), data["overall"], total=True)


def _swings(data: Result) -> Iterator[Line]:
    swings = data["swings"]
    for by, label in (("by_truth", "{}"), ("by_role", "of a {}")):
        for value, row in swings[by].items():
            yield Line(Cell(label.format(value)), row)
    if swings["overall"]["vote_swing"]["n"]:
        yield Line(Cell("All"), swings["overall"], total=True)
