"""What is measured: one module a family of metrics, each from frames (`analytics.tables`) to rows of the one table of
results.

- `study`: games as figures need them; whose rows count; figures of sums with their intervals.
- `sums`: what is added up of every game, by group; `formulas`: what is computed of sums; `bootstrap`: the one
  bootstrap, of sums and of penalised fits.
- `headlines`: the registry of headline metrics; `primary`: what a study is judged by, tested and adjusted together.
- `games`, `statements`, `detection`, `suspicion`, `votes`: the paper's tables and figures, and how deception goes.
- `scores`, `recalibration`: suspicion as a probability, and made into flags.
- `abilities`, `joint_model`, `likelihood`: detectors and deceivers on one scale; `agents`, `skill`: by agent, and who
  wins; `bias`: what suspicion follows that it should not.
- `selections`, `beyond`: sections of the findings.
"""
