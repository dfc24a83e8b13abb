"""Logs that the paper's own code wrote, in two readings: as it counted them, and with the raw replies read again."""

from wolfbus.record.published_log.log import (
    PaperAction,
    PaperAnalysis,
    PaperCounts,
    PaperDay,
    PaperLabel,
    PaperLog,
    PaperNight,
    PaperStatement,
    PaperVote,
    meta_beside,
    read_meta,
)
from wolfbus.record.published_log.reader import is_paper_log, read_paper_log

__all__ = [
    "PaperAction",
    "PaperAnalysis",
    "PaperCounts",
    "PaperDay",
    "PaperLabel",
    "PaperLog",
    "PaperNight",
    "PaperStatement",
    "PaperVote",
    "is_paper_log",
    "meta_beside",
    "read_meta",
    "read_paper_log",
]
