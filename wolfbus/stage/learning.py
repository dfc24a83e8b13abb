"""What the page ``/learn`` teaches: the rules, the words, the numbers that it plays with."""

from __future__ import annotations

from typing import Any, Final

from wolfbus.config import GameConfig
from wolfbus.package_data import PackageData, Prose, read_data
from wolfbus.rules import rules_text
from wolfbus.stage.document import FORMAT
from wolfbus.suspicion import smooth

JUDGEMENTS: Final = (0.6, 0.7, 0.2, 0.3, 0.9, 0.8, 0.85, 0.1)
"""Suspicion of one player by another, statement by statement, as an example."""


class Term(PackageData):
    """A word and what it means."""

    term: str
    words: Prose


class Glossary(PackageData):
    """The words of the game, in the order in which they are best read."""

    terms: tuple[Term, ...]


def learning() -> dict[str, Any]:
    """Return the page's data."""
    config = GameConfig()
    glossary = read_data("wolfbus.stage", "glossary", Glossary)
    return {
        "format": FORMAT,
        "rules": rules_text(config),
        "glossary": [{"term": each.term, "words": each.words} for each in glossary.terms],
        "alpha": config.alpha,
        "prior": config.prior,
        "example": _example(config.prior),
    }


def _example(prior: float) -> dict[str, Any]:
    """Return how suspicion follows the same judgements with each weight."""
    curves = []
    for tenths in range(11):
        values = [prior]
        for suspicion in JUDGEMENTS:
            values.append(smooth(values[-1], suspicion, tenths / 10))
        curves.append({"alpha": tenths / 10, "values": [round(value, 4) for value in values]})
    return {"prior": prior, "judgements": JUDGEMENTS, "curves": curves}
