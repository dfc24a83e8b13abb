"""The numbers that the paper prints, from `values.toml`; it says what each of them is."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import TypeAlias

from wolfbus.package_data import PackageData, read_data
from wolfbus.vocabulary import Deception, Role

Row: TypeAlias = Mapping[str, int | float]


class Figure1(PackageData):
    """Suspicion by round, as the text describes the figure."""

    suspicion: Mapping[Role, Row]
    flagged: Row
    final_round: Mapping[Role, Row]


class Passing(PackageData):
    """What abstract and text say in passing."""

    statements: int
    werewolves: float
    precision: Row
    recall: Row


class PublishedValues(PackageData):
    """All of them, by the section of the findings that they belong to."""

    games: int
    places: Mapping[str, str]
    winners: Mapping[str, Row]
    per_game: Mapping[str, Row]
    production: Row
    table1: Mapping[Role, Row]
    events: Mapping[str, Row]
    table2: Mapping[Role, Row]
    table3: Mapping[str, Row]
    figure1: Figure1
    trends: Mapping[str, Row]
    table4: Mapping[Role, Row]
    table5: Mapping[Deception, Row]
    passing: Passing


@cache
def values() -> PublishedValues:
    """Return the paper's values.

    Raises:
        ConfigError: their file is not as it should be.
    """
    return read_data("analytics.published", "values", PublishedValues)
