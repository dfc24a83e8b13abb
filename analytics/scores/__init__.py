"""Suspicion as a probability: how well it ranks, how well it is calibrated, what mends it (paper, sections 4.5, 5.7).

- `table4`: Brier score, ROC AUC, AUPRC and calibration, each beside its baseline.
- `curves`: ROC and precision-recall points.
- `thresholds`: flags made of suspicion, with thresholds fitted on other games than they are scored on.
- `recalibration`: Platt and isotonic maps from suspicion to a probability, scored on held-out games.
- `saved_map`: such a map as a file; `replayed`: what it does to one record.

All rest on `predictions`, judgements in order of their scores, and on `tied`, what of them a figure depends on.
"""
