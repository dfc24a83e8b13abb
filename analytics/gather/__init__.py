"""From folders and files to games: what there is to read, reading one of them, and all of them at once.

`gather` is what a report, a comparison and an export rest on.
"""

from analytics.gather.cache import Basis, once
from analytics.gather.games import Gathered, each_game, gather
from analytics.gather.reading import Criteria
from analytics.gather.sources import Collection, FileNote, Planned, Source, StudySource, collect, find

__all__ = [
    "Basis",
    "Collection",
    "Criteria",
    "FileNote",
    "Gathered",
    "Planned",
    "Source",
    "StudySource",
    "collect",
    "each_game",
    "find",
    "gather",
    "once",
]
