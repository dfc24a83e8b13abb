"""What is measured: tidy rows become sums of every game, sums become figures, and the same sums
give their intervals.

- `sums`: sums by game and group, and `Frame`: any combination of them (totals, blocks, draws).
- `families`: what is summed of `analytics.columns`; `ballots`: what voters thought when they voted.
- `formulas`: figures of counts, areas under curves among them; `bootstrap`: the one bootstrap.
- `estimates`: a figure of the totals with its interval from draws of the blocks.
- `tables`: the paper's tables and figures; `truth`: claims against the hidden state.
- `headlines`: the registry of headline metrics; `study`: their values, intervals, comparisons, by
  agent or over all.
- `scores`, `thresholds`, `maps`, `recalibration`: suspicion as a probability.
- `abilities`, `rasch`: detectors and deceivers on one scale.
- `ledger`, `calls`: how replies were read, what model calls took.
"""
