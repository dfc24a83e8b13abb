"""The methods appendix: what every number of the findings is, where it comes from, and where its code is.

Reports and documents render these entries; a test holds that every section and headline metric has one, and that the
code they name exists.
"""

from __future__ import annotations

from typing import Final

from analytics.definitions.apparatus import APPARATUS
from analytics.definitions.beyond import ABILITIES, EVENTS, TRUTH, VOTES
from analytics.definitions.detection import DETECTION
from analytics.definitions.entry import Definition
from analytics.definitions.scores import BEYOND_TABLE_4, TABLE_4
from analytics.definitions.tables import TABLES, UNITS

__all__ = ["DEFINITIONS", "Definition", "definition_of", "definitions"]

DEFINITIONS: Final[tuple[Definition, ...]] = (
    *(*UNITS, *TABLES, *DETECTION, *TABLE_4, *BEYOND_TABLE_4),
    *(*EVENTS, *VOTES, *TRUTH, *ABILITIES, *APPARATUS),
)
"""All entries, in the order in which an appendix gives them."""


def definitions(section: str | None = None) -> tuple[Definition, ...]:
    """Return the entries of a section of the findings, or all."""
    return tuple(each for each in DEFINITIONS if section is None or each.section == section)


def definition_of(metric: str) -> Definition:
    """Return the entry of a headline metric.

    Args:
        metric: its name in the ``variability`` section, with or without a role, as in ``accuracy/Seer``.

    Raises:
        KeyError: there is no such metric.
    """
    name = metric.partition("/")[0]
    for each in DEFINITIONS:
        if name in each.headline:
            return each
    raise KeyError(metric)
