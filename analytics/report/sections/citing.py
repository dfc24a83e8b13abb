"""How to cite the paper, the software, and these games."""

from __future__ import annotations

from collections.abc import Sequence

from analytics.report.cite import bibtex
from analytics.report.context import Context
from wolfbus.document.blocks import Listing, Section, plain


def section(context: Context, games: Sequence[str]) -> Section:
    """Return the BibTeX entries; `games` are ids."""
    told = plain(
        "Cite the paper for the benchmark, and this study for its numbers. “wolfbus report --bibtex” prints the same."
    )
    return Section("cite", "How to cite", (told, Listing(bibtex(context, games))))
