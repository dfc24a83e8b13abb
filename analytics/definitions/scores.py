"""Methods: suspicion as a probability, its curves, thresholds and recalibration."""

from __future__ import annotations

from typing import Final

from analytics.definitions.entry import GAMES, NONE, Definition

TABLE_4: Final = (
    Definition(
        name="scored",
        section="table4",
        title="Table 4: what is scored",
        words=(
            "Judgements whose suspicion and whose statement's self-label both count, by role of the observer, by role "
            "of the speaker, and over all: once with suspicion s as stated, once with smoothed suspicion D just "
            "before the statement, which is a prediction."
        ),
        units="judgements",
        baseline="the base rate b, the share of deceptive statements among them",
        interval=NONE,
        source="5.7, Table 4",
        code="analytics.measures.scores.scores_of",
        choices=("The paper only says “by role”; we read that as the observer's, as in Table 3.",),
    ),
    Definition(
        name="brier",
        section="table4",
        title="Brier score",
        words=(
            "Mean squared distance of suspicion s, taken as the probability of deception, from the self-label; "
            "smaller is better."
        ),
        formula="mean of (s − d)²",
        units="squared probability, in [0, 1]",
        baseline="b·(1 − b) for base rate b; 0.25 for a constant 0.5",
        interval=GAMES,
        source="4.5, 5.7, Table 4",
        code="analytics.measures.scores.brier",
        headline=("brier", "brier_before"),
    ),
    Definition(
        name="brier_skill",
        section="table4",
        title="Brier skill",
        words="How much better the Brier score is than that of a constant base rate; undefined with one class only.",
        formula="1 − Brier / (b·(1 − b))",
        units="score, at most 1",
        baseline="0: no better than the base rate",
        interval=GAMES,
        source="ours",
        code="analytics.measures.scores.brier_skill",
        headline=("brier_skill", "brier_skill_before"),
    ),
    Definition(
        name="auc",
        section="table4",
        title="ROC AUC",
        words=(
            "How often a deceptive statement meets more suspicion than a truthful one, equals counted half; undefined "
            "with one class only."
        ),
        formula="P(s⁺ > s⁻) + ½·P(s⁺ = s⁻)",
        units="probability",
        baseline="0.5: guessing",
        interval=GAMES,
        source="4.5, 5.7, Table 4",
        code="analytics.measures.scores.auc",
        headline=("auc", "auc_before"),
    ),
    Definition(
        name="auprc",
        section="table4",
        title="AUPRC",
        words=(
            "Average precision: precision at each threshold, weighted by the recall that it adds; undefined if "
            "nothing is deceptive."
        ),
        formula="Σ (R_i − R_{i−1})·P_i",
        units="share",
        baseline="the base rate: guessing reaches it",
        interval=GAMES,
        source="4.5, 5.7, Table 4",
        code="analytics.measures.scores.auprc",
        choices=(
            "The paper does not say how it interpolates; this is scikit-learn's average precision, which does not.",
        ),
        headline=("auprc", "auprc_before"),
    ),
    Definition(
        name="auprc_lift",
        section="table4",
        title="AUPRC above the base rate",
        words="AUPRC minus the base rate.",
        formula="AUPRC − b",
        units="points",
        baseline="0: guessing",
        interval=GAMES,
        source="ours",
        code="analytics.measures.table4.row",
        headline=("auprc_lift",),
    ),
    Definition(
        name="ece",
        section="table4",
        title="Expected calibration error",
        words=(
            "Mean over judgements of the distance between their bin's mean suspicion and its share of deceptive "
            "statements. At most ten bins by rank that never part equal values. Chance alone keeps it above 0."
        ),
        formula="Σ n_b·|s̄_b − d̄_b| / n",
        units="probability",
        baseline="0: calibrated",
        interval=GAMES,
        source="ours, after “calibration” in 4.5",
        code="analytics.measures.scores.expected_calibration_error",
        choices=("The bins.",),
        headline=("ece", "ece_before"),
    ),
    Definition(
        name="reliability",
        section="table4",
        title="Reliability curve",
        words="Per bin of the calibration error, mean suspicion against the share of deceptive statements.",
        units="probability",
        baseline="the diagonal: calibrated",
        interval=NONE,
        source="ours, after “calibration” in 4.5",
        code="analytics.measures.scores.reliability",
    ),
)

BEYOND_TABLE_4: Final = (
    Definition(
        name="curves",
        section="curves",
        title="ROC and precision–recall curves",
        words=(
            "Shares of deceptive and of truthful statements flagged, and precision against recall, at every threshold "
            "of suspicion and of D before the statement; thinned to at most 200 points without moving the curve by "
            "more than 0.002."
        ),
        units="shares",
        baseline="the diagonal; the base rate",
        interval=NONE,
        source="4.5, 5.7",
        code="analytics.measures.table4.curves",
    ),
    Definition(
        name="thresholds",
        section="thresholds",
        title="Thresholds",
        words=(
            "The suspicion from which to flag that makes Youden's J or F1 greatest, fitted on four fifths of the "
            "blocks of games and scored on the fifth, in turn; beside 0.5, which nobody has to fit, and the "
            "observers' own flags."
        ),
        formula="J = TPR − FPR; F1",
        units="suspicion; shares",
        baseline="the threshold 0.5 and the flags themselves",
        interval=GAMES,
        source="ours, after 4.5",
        code="analytics.measures.thresholds.thresholds",
        choices=("Five folds by block; the threshold shown is the median of the folds'; null under five blocks.",),
    ),
    Definition(
        name="recalibration",
        section="recalibration",
        title="Recalibration",
        words=(
            "Platt's and an isotonic map from suspicion to the probability of deception, fitted on four fifths of the "
            "blocks of games and scored on the fifth, in turn: Brier, calibration error and AUC before and after. "
            "Platt's map is a logistic regression on the logit of suspicion."
        ),
        formula="P(d = 1 | s) = 1 / (1 + exp(−(a + b·logit s))); or the best map that never falls",
        units="probability",
        baseline="the same scores before",
        interval=GAMES,
        source="ours; 5.7 asks for it",
        code="analytics.measures.recalibration.recalibration",
        choices=(
            "GroupKFold(5) by block; null under five blocks; a saved map fits all games and carries these scores.",
        ),
    ),
)
