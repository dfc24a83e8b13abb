"""analytics watches: it folds records into rows, rows into columns, columns into sums, and sums into the tables,
figures and verdicts of the paper and beyond.

::

    events of a game --fold.GameFold--+
    a log of the paper's own code ----+--> rows.GameRows --> columns.Columns --> measures
        --paper.rows_of_paper_log                                                   |
                      report, compare <-- findings.findings: a JSON-able dict <----+

Live and finished games go the same way: `findings.Metrics` sums games up as they come, `findings.findings` all at
once. Games can be added in any order, in any number of processes, and the numbers come out equal.
"""

from typing import Any, TypeAlias

Result: TypeAlias = dict[str, Any]
"""Plain values that JSON takes as they stand; keys are strings, undefined is None, never NaN."""
