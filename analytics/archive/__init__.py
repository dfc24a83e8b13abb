"""The archive service: carries the records of a house's session from the bus to disk, shows how its games stand while
they run, and reports when the house has closed.

::

    games stream --session.SessionNews--+
                                        +--> archive.SessionArchive --> index.ArchiveIndex --> results
    records -----record.GameArchive-----+                                      |
                                             house's live stream <-------+

`service` puts the archive into a house, as a member of it.
"""

from analytics.archive.archive import SessionArchive
from analytics.archive.results import SessionResults
from analytics.archive.service import AnalyticsSettings, serve

__all__ = ["AnalyticsSettings", "SessionArchive", "SessionResults", "serve"]
