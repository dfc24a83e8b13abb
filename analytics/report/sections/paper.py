"""Where the paper's own numbers contradict each other, once each."""

from __future__ import annotations

from analytics import Result
from analytics.published import contradictions
from analytics.report.context import Context
from wolfbus.document.blocks import Section, TermList


def section(_: Result, context: Context) -> Section:
    """Return every contradiction that was found, with what is done here."""
    told = contradictions() if context.published else ()
    return Section(
        "paper",
        "Where the paper contradicts itself",
        (TermList(tuple((each.says, (f"{each.but} {each.ours}",)) for each in told)),),
    )
