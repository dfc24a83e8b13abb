"""What is measured: tidy rows become sums of every game, sums become figures, and the same sums
give their intervals.

- `sums`: sums by game and group; `frames`: any combination of them (totals, blocks, draws).
- `families`: what is summed; `summing`: how, of `analytics.columns`; `ballots`: what voters thought
  when they voted.
- `formulas`: figures of counts, areas under curves among them; `bootstrap`: the one bootstrap.
- `estimates`: a figure of the totals with its interval from draws of the blocks.
- `tables`: the paper's tables and figures by name; `outcomes`, `reception`, `rounds`, `events`: the
  same by subject; `intervals`: of what has none in them; `truth`: claims against the hidden state.
- `headlines`: the registry of headline metrics, each a `measure`; `study`, `variability`: their values,
  intervals, comparisons; `agents`: by agent.
- `scores`, `thresholds`, `maps`, `recalibration`: suspicion as a probability.
- `abilities`, `joint_model`, `likelihood`: detectors and deceivers on one scale; `skill`: who wins;
  `penalised`: intervals of such models.
- `primary`, `rearranging`: what a study is judged by, tested and adjusted together; `bias`, `lying`:
  checks and explorations.
- `ledger`, `calls`: how replies were read, what model calls took.
"""
