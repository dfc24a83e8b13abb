"""What is measured: tidy rows become sums of every game, sums become figures, and the same sums
give their intervals.

- `columns`: games as flat arrays of numbers.
- `frames`: what is summed, any combination of sums (totals, blocks, draws), and a `Formula` of them; `sums`: sums by
  game and group, and the intervals of figures; `summing`: how columns are summed.
- `formulas`: figures of counts, areas under curves among them; `bootstrap`: the one bootstrap, of sums
  and of penalised fits.
- `tables`, `rounds`: the paper's tables and figures; `truth`: claims against the hidden state, and how
  deception goes.
- `headlines`: the registry of headline metrics, each a `Measure`; `study`: their values and intervals;
  `agents`: by agent, and who wins; `primary`: what a study is judged by, tested and adjusted together.
- `scores`, `table4`, `maps`, `recalibration`: suspicion as a probability, and made into flags.
- `abilities`, `joint_model`, `likelihood`: detectors and deceivers on one scale.
- `bias`: what suspicion follows that it should not; `ledger`: how replies were read, what calls took.
"""

from analytics.measures.columns import (
    DTYPES,
    LIE,
    MISTAKE,
    NO_CLAIM,
    TRUE,
    Columns,
    ColumnsBuilder,
    columns_of,
    joined,
)
from analytics.measures.headlines import MEASURES, Measure
from analytics.measures.study import Sheet, Study, variability

__all__ = [
    "DTYPES",
    "LIE",
    "MEASURES",
    "MISTAKE",
    "NO_CLAIM",
    "TRUE",
    "Columns",
    "ColumnsBuilder",
    "Measure",
    "Sheet",
    "Study",
    "columns_of",
    "joined",
    "variability",
]
