"""Methods: intervals, tables by agent, and what measuring took."""

from __future__ import annotations

from typing import Final

from analytics.definitions.entry import GAMES, NONE, Definition

APPARATUS: Final = (
    Definition(
        name="variability",
        section="variability",
        title="Headline metrics and their intervals",
        words=(
            "Each is pooled over games. 2,000 draws with a fixed seed resample blocks of games (the game; the "
            "rotation block or seed pair of designs that have one) and recompute the pooled value; draws in which it "
            "is undefined are counted, and above 5 % there is no interval; nor is there one of fewer than five "
            "blocks, or where every draw gives the same. The paper's way stands beside it: "
            "mean ± 1.96 SEM over the games in which the metric is defined."
        ),
        formula="2.5 % and 97.5 % quantiles of the draws; x̄ ± 1.96·SEM",
        units="those of each metric",
        baseline="of each metric that has one",
        interval=GAMES,
        source="5.9",
        code="analytics.measures.study.variability",
        choices=(
            (
                "The bootstrap, since judgements of one game are not independent; the paper's normal approximation is "
                "kept."
            ),
            (
                "Below 10 blocks nothing is called better than anything else; below 30 the page says that intervals "
                "are somewhat too narrow: in simulations they hold .85 with 5 blocks, .87 with 8, .92 with 20, .95 "
                "with 50."
            ),
        ),
    ),
    Definition(
        name="table_intervals",
        section="intervals",
        title="Intervals of the tables' cells",
        words=(
            "Intervals of the cells of Tables 1, 2, 4 and 5, of production, of measures at held-out thresholds, of "
            "scores before and after recalibration, and of detection against truth, from the very draws of the "
            "headline metrics. Thresholds and maps are not fitted anew: held-out flags and probabilities stay as they "
            "are, and only the games that are scored vary."
        ),
        units="those of each cell",
        baseline=NONE,
        interval=GAMES,
        source="ours, after 5.9",
        code="analytics.findings.table_intervals",
        choices=("With fewer than five blocks, or above 5 % of draws undefined, a cell has none.",),
    ),
    Definition(
        name="agents",
        section="agents",
        title="By agent",
        words=(
            "Wins by side, deception rate, detection scores, share of its deceptions that are flagged (caught), final "
            "D towards it as a Werewolf and otherwise, votes that hit a Werewolf. An agent is a brain, whichever "
            "process answered for it."
        ),
        units="as in the tables",
        baseline="as in the tables",
        interval=GAMES,
        source="ours, after 5.5",
        code="analytics.measures.study.agents",
    ),
    Definition(
        name="headline",
        section="headline",
        title="With and without what was not clean",
        words=(
            "Accuracy and AUC over all judgements and over those that, with their statement's self-label, were "
            "accepted as they stood."
        ),
        units="share; probability",
        baseline="the other of the two",
        interval=NONE,
        source="ours",
        code="analytics.measures.tables.headline",
    ),
    Definition(
        name="repair",
        section="repair",
        title="Repair report",
        words=(
            "By agent and kind of reply: how it was read (clean, extracted, repaired, coerced, reasked) and what "
            "became of it (accepted, defaulted, timed out, declined)."
        ),
        units="replies",
        baseline=NONE,
        interval=NONE,
        source="ours; 4.3 mentions conservative defaults",
        code="analytics.measures.ledger.Ledger.repair",
    ),
    Definition(
        name="cost",
        section="cost",
        title="Cost",
        words=(
            "Model calls, prompt, cached and completion tokens, money where prices are configured, wall time, and the "
            "longest chain of calls that had to wait for one another; per game and per statement."
        ),
        units="calls, tokens, US dollars, seconds",
        baseline=NONE,
        interval=NONE,
        source="ours, after 5.1",
        code="analytics.measures.ledger.Ledger.cost",
    ),
)
