"""Methods: the units of the measurement, and the paper's tables and figures."""

from __future__ import annotations

from typing import Final

from analytics.definitions.entry import GAMES, NONE, SINGLE_GAMES, Definition

UNITS: Final = (
    Definition(
        name="statement",
        section="settings",
        title="Statement",
        words=(
            "One public utterance: a debate turn, or the public reason given for a vote. It has a game, a round, a "
            "phase, a speaker with role and agent. A turn in which nothing is said is no statement."
        ),
        units="statements",
        baseline=NONE,
        interval=NONE,
        source="4.1, 4.2",
        code="analytics.rows.StatementRow",
    ),
    Definition(
        name="self_label",
        section="settings",
        title="Self-label",
        words=(
            "What the speaker says of its own statement in private: deceptive or not (d), its confidence (c), the "
            "kind of deception. Metrics leave out labels that were defaulted, timed out or declined, unless they are "
            "asked to include them."
        ),
        formula="d ∈ {0, 1}, c ∈ [0, 1]",
        units="labels",
        baseline=NONE,
        interval=NONE,
        source="4.2",
        code="analytics.rows.StatementRow",
        choices=(
            "Of d and the kind, d decides; deceptive without a kind is “unspecified”.",
            (
                "Every mean has its own number of statements: those with a label that counts for d, those with at "
                "least one judgement that counts for suspicion."
            ),
        ),
    ),
    Definition(
        name="judgement",
        section="settings",
        title="Judgement",
        words=(
            "What a living observer says of another's statement: a flag (deceptive or not) and suspicion s. "
            "Defaulted, timed-out and declined judgements stay in the record and out of the metrics; including them, "
            "as the paper's code does, counts them as “truthful, suspicion 0.5”."
        ),
        formula="s ∈ [0, 1]",
        units="judgements",
        baseline=NONE,
        interval=NONE,
        source="4.2",
        code="analytics.rows.JudgementRow",
        choices=("What was defaulted never moves smoothed suspicion, included or not.",),
    ),
    Definition(
        name="smoothed_suspicion",
        section="settings",
        title="Smoothed suspicion D",
        words=(
            "Suspicion of observer o towards target t after each judgement that counts, in the order of the "
            "statements. It freezes when either leaves the game."
        ),
        formula="D ← α·s + (1 − α)·D, α = 0.7, D₀ = 0.5",
        units="suspicion, in [0, 1]",
        baseline="the prior D₀",
        interval=NONE,
        source="4.1",
        code="wolfbus.suspicion.Suspicion",
        choices=("The paper gives no prior; D₀ is the 0.5 of its code.",),
    ),
    Definition(
        name="labels",
        section="labels",
        title="How labels were come by",
        words=(
            "Numbers of self-labels and judgements that were accepted as they stood, accepted after repair, and lost "
            "(defaulted, timed out, declined)."
        ),
        units="labels and judgements",
        baseline=NONE,
        interval=NONE,
        source="ours",
        code="analytics.measures.tables.labels",
    ),
)

TABLES: Final = (
    Definition(
        name="winners",
        section="outcomes",
        title="Who wins",
        words=(
            "Shares of finished games won by the villagers' side, by the Werewolves, by nobody. A game that was cut "
            "off has no outcome."
        ),
        formula="k / n",
        units="share of finished games",
        baseline="the paper's shares",
        interval=f"Wilson over finished games, 95 %; in the headline metrics {GAMES}",
        source="5.2",
        code="analytics.measures.tables.outcomes",
        headline=("villager_wins", "werewolf_wins", "no_winner"),
    ),
    Definition(
        name="per_game",
        section="outcomes",
        title="Lengths of games",
        words=(
            "Mean and standard deviation over finished games of nights, debate turns, voting rounds, statements, and "
            "judgements that count; totals are over all games."
        ),
        formula="x̄ ± sd (n − 1)",
        units="per game",
        baseline="the paper's means",
        interval=NONE,
        source="5.2",
        code="analytics.measures.tables.outcomes",
        choices=("The paper does not name its ±; we read it as the standard deviation.",),
    ),
    Definition(
        name="deception_rate",
        section="production",
        title="Deception production",
        words=(
            "Share of statements that their own speakers call deceptive, of those with a self-label that counts; by "
            "role, agent, round and phase. Over all it is the base rate."
        ),
        formula="Σ d / n",
        units="share of labelled statements",
        baseline="the base rate over all",
        interval=GAMES,
        source="4.5, 5.2, 5.3",
        code="analytics.measures.tables.production",
        headline=("deception_rate",),
    ),
    Definition(
        name="table1",
        section="table1",
        title="Table 1: deception and its reception by role",
        words=(
            "By role of the speaker: statements, those called deceptive, average suspicion and average share of "
            "observers that flag. Averages are first over the observers of a statement, then over statements."
        ),
        formula="mean over k of (mean over o of s(o, k)); the same with flags",
        units="statements; shares",
        baseline="the overall row",
        interval=GAMES,
        source="5.3, Table 1",
        code="analytics.measures.tables.table1",
    ),
    Definition(
        name="table2",
        section="table2",
        title="Table 2: cross-perception",
        words=(
            "Final smoothed suspicion of observers of one role towards targets of another: mean over the ordered "
            "pairs of a game with at least one judgement, then over the games that have such a pair."
        ),
        formula="mean over games of (mean over pairs o ≠ t of D(o, t))",
        units="suspicion, in [0, 1]",
        baseline="the prior D₀",
        interval=GAMES,
        source="4.5, 5.4, Table 2",
        code="analytics.measures.tables.table2",
        choices=("Cells of equal roles, which the paper leaves out, are filled; cells without pairs are null.",),
    ),
    Definition(
        name="suspicion_gap",
        section="table2",
        title="Suspicion gap",
        words="Mean final D towards Werewolves minus mean final D towards all others, over the pairs of all observers.",
        formula="mean D(·, Werewolf) − mean D(·, other)",
        units="points of suspicion",
        baseline="0: Werewolves are suspected no more than others",
        interval=GAMES,
        source="ours, after 5.4 and 5.9",
        code="analytics.measures.study.variability",
        headline=("suspicion_gap",),
    ),
    Definition(
        name="figure1",
        section="figure1",
        title="Figure 1: suspicion by round",
        words=(
            "Per round and role of the target, mean D over the pairs that are alive when the round's last judgement "
            "is in and have a judgement so far; mean within a game, then over games. Beside it the share of "
            "judgements that flag."
        ),
        formula="x̄ ± 1 SEM over games",
        units="suspicion, in [0, 1]; share of judgements",
        baseline="the prior D₀",
        interval="± 1 standard error over games, null below 2",
        source="5.6, Figure 1",
        code="analytics.measures.tables.figure1",
        choices=("The paper does not say which pairs a round's average is over.",),
    ),
    Definition(
        name="slopes",
        section="trends",
        title="Trend of suspicion",
        words=(
            "Theil–Sen slope of D towards a role within each game of at least two rounds, the median of the slopes "
            "between all pairs of rounds; then the median over games. The paper's reading, the slope of the per-round "
            "means over games, stands beside it."
        ),
        formula="median over games of median over i < j of (D_j − D_i) / (j − i)",
        units="points of suspicion per round",
        baseline="0: no trend",
        interval=SINGLE_GAMES,
        source="5.6",
        code="analytics.measures.tables.trends",
        choices=(
            "Slopes are taken within games, so that the long games that alone reach late rounds do not make a trend.",
        ),
    ),
    Definition(
        name="separable",
        section="trends",
        title="First separable round",
        words=(
            "First round from which suspicion of Werewolves stays above that of Villagers: the interval of the mean "
            "difference within games lies above 0 there and in every later round with at least 10 games. Null if none "
            "does."
        ),
        units="round",
        baseline=NONE,
        interval=SINGLE_GAMES,
        source="5.6",
        code="analytics.measures.tables.trends",
        choices=(
            "Differences are paired within games, where the paper compares two intervals; 10 games is our limit.",
        ),
    ),
    Definition(
        name="table5",
        section="table5",
        title="Table 5: reception of kinds of deception",
        words=(
            "By self-labelled kind: statements, average suspicion and average share of observers that flag, as in "
            "Table 1."
        ),
        units="statements; shares",
        baseline="the kind “none”",
        interval=GAMES,
        source="5.8, Table 5",
        code="analytics.measures.tables.table5",
        choices=("“Unspecified” is a row of its own: called deceptive without a kind.",),
    ),
)
