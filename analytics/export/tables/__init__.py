"""The exported tables, a module each."""

from __future__ import annotations

from typing import Final

from analytics.export.column import ExportTable
from analytics.export.tables.bids import BIDS
from analytics.export.tables.calls import CALLS
from analytics.export.tables.claims import CLAIMS
from analytics.export.tables.games import GAMES
from analytics.export.tables.judgements import JUDGEMENTS
from analytics.export.tables.nights import NIGHTS
from analytics.export.tables.seats import SEATS
from analytics.export.tables.statements import STATEMENTS
from analytics.export.tables.suspicion import SUSPICION
from analytics.export.tables.votes import VOTES

TABLES: Final[dict[str, ExportTable]] = {
    table.name: table for table in (GAMES, SEATS, STATEMENTS, JUDGEMENTS, VOTES, BIDS, SUSPICION, CALLS, CLAIMS, NIGHTS)
}
"""All tables by name; every one refers only to others among them."""

__all__ = ["TABLES"]
