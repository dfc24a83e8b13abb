"""What the page ``/learn`` teaches: the rules, the words, the numbers that it plays with."""

from __future__ import annotations

from typing import Any

from wolfbus.config import GameConfig
from wolfbus.package_data import PackageData, Prose, read_data
from wolfbus.rules import rules_text
from wolfbus.stage.document import FORMAT


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
    }
