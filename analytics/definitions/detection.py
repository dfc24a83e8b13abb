"""Methods: Table 3, how well observers find what speakers admit."""

from __future__ import annotations

from typing import Final

from analytics.definitions.entry import GAMES, NONE, Definition

DETECTION: Final = (
    Definition(
        name="counts",
        section="table3",
        title="Table 3: counts",
        words=(
            "Deceptive and flagged (TP), truthful and not (TN), truthful and flagged (FP), deceptive and not (FN): "
            "the judgements whose flag and whose statement's self-label both count. All measures of this table are "
            "over these counts."
        ),
        formula="n = TP + TN + FP + FN",
        units="judgements",
        baseline=NONE,
        interval=NONE,
        source="5.5, Table 3",
        code="analytics.measures.tables.table3",
    ),
    Definition(
        name="accuracy",
        section="table3",
        title="Accuracy",
        words="Share of judgements whose flag agrees with the self-label.",
        formula="(TP + TN) / n",
        units="share",
        baseline="the better constant guess",
        interval=GAMES,
        source="4.5, 5.5, Table 3",
        code="analytics.measures.tables.table3",
        headline=("accuracy",),
    ),
    Definition(
        name="precision",
        section="table3",
        title="Precision",
        words="Share of flags that are right; undefined if nothing is flagged.",
        formula="TP / (TP + FP)",
        units="share",
        baseline="the base rate, the precision of flagging everything",
        interval=GAMES,
        source="5.5, Table 3",
        code="analytics.measures.tables.table3",
        headline=("precision",),
    ),
    Definition(
        name="recall",
        section="table3",
        title="Recall",
        words="Share of deceptive statements that are flagged; undefined if none is deceptive.",
        formula="TP / (TP + FN)",
        units="share",
        baseline="the share flagged of truthful statements",
        interval=GAMES,
        source="5.5, Table 3",
        code="analytics.measures.tables.table3",
        headline=("recall",),
    ),
    Definition(
        name="f1",
        section="table3",
        title="F1",
        words="Harmonic mean of precision and recall; undefined where one of them is.",
        formula="2·TP / (2·TP + FP + FN)",
        units="share",
        baseline="2b / (1 + b) for base rate b: F1 of flagging everything",
        interval=GAMES,
        source="5.5, Table 3",
        code="analytics.measures.tables.table3",
        headline=("f1",),
    ),
    Definition(
        name="balanced_accuracy",
        section="table3",
        title="Balanced accuracy",
        words=(
            "Mean of the shares of deceptive statements that are flagged and of truthful ones that are not; undefined "
            "with one class only."
        ),
        formula="½·TP / (TP + FN) + ½·TN / (TN + FP)",
        units="share",
        baseline="0.5, that of any constant guess",
        interval=GAMES,
        source="ours",
        code="analytics.measures.tables.table3",
        headline=("balanced_accuracy",),
    ),
    Definition(
        name="mcc",
        section="table3",
        title="Matthews correlation",
        words="Correlation of flag and self-label; undefined where one of them is constant.",
        formula="(TP·TN − FP·FN) / √((TP+FP)(TN+FN)(TP+FN)(TN+FP))",
        units="correlation, in [−1, 1]",
        baseline="0, that of guessing",
        interval=GAMES,
        source="ours",
        code="analytics.measures.tables.table3",
        headline=("mcc",),
    ),
    Definition(
        name="base_rate",
        section="table3",
        title="Base rate of what is judged",
        words=(
            "Share of judgements whose statement is deceptive. It may differ from production's, for statements are "
            "judged by different numbers of observers."
        ),
        formula="(TP + FN) / n",
        units="share",
        baseline=NONE,
        interval=NONE,
        source="ours",
        code="analytics.measures.tables.table3",
    ),
    Definition(
        name="constant_accuracy",
        section="table3",
        title="Better constant guess",
        words=(
            "Accuracy of always saying “deceptive” or of never saying it, whichever is higher. Accuracy minus it, both "
            "computed anew in every draw, says whether observers beat it."
        ),
        formula="max(TP + FN, TN + FP) / n",
        units="share",
        baseline="none: it is one",
        interval=f"of the difference: {GAMES}",
        source="ours",
        code="analytics.measures.tables.table3",
        choices=(
            (
                "The guess is made on the same games and moves with the accuracy, so that the interval of their "
                "difference decides and not whether the accuracy's interval holds the guess."
            ),
        ),
        headline=("accuracy_lift",),
    ),
    Definition(
        name="dprime",
        section="table3",
        title="Sensitivity d′",
        words=(
            "How far apart flags of deceptive and of truthful statements are, whatever the readiness to flag; with "
            "the log-linear correction; undefined with one class only."
        ),
        formula="z((TP + ½) / (TP + FN + 1)) − z((FP + ½) / (TN + FP + 1))",
        units="standard deviations",
        baseline="0, that of guessing",
        interval=NONE,
        source="ours",
        code="analytics.measures.tables.table3",
    ),
    Definition(
        name="criterion",
        section="table3",
        title="Criterion",
        words="Readiness to flag: below 0 an observer flags more readily than not; corrected as d′ is.",
        formula="−½·(z(hit rate) + z(false-alarm rate))",
        units="standard deviations",
        baseline="0, no leaning",
        interval=NONE,
        source="ours",
        code="analytics.measures.tables.table3",
    ),
)
