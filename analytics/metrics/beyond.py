"""Sections of the findings beyond the paper's own tables, and Table 4 with the intervals of all tables: selections of
the one table of results, as those of `analytics.metrics.selections`.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from analytics import Result
from analytics.metrics.bootstrap import draws_of
from analytics.metrics.headlines import HEADLINES, Headline
from analytics.metrics.primary import described
from analytics.metrics.recalibration import KINDS, MEASURES, RULES
from analytics.metrics.scores import SCORES, SUFFIX, Score, Scored, by_role, reliability
from analytics.metrics.selections import (
    FLAGS,
    RECEIVED,
    confusion,
    group_named,
    production_groups,
    rounds_of,
    with_overall,
)
from analytics.metrics.statements import HONESTY
from analytics.metrics.study import Study
from analytics.results import EVERYBODY, NOBODY, UNINFORMED, Observers, Results, group_of
from analytics.rows.talk import CLAIMS
from wolfbus.game.vocabulary import DECEPTIONS


def truth(study: Study, results: Results) -> Result:
    """Return how true statements are and how honest their speakers, overall and by speaking agent and role, and
    detection against truth (metrics: objective truth; beyond the paper).

    A row has ``statements``; ``checkable`` and ``coverage``, its share; of the checkable ones ``true``, ``mistakes``,
    ``lies``, ``lie_rate`` and ``mistake_rate``; ``wolf_lie_rate``, the share of lies among those made
    as a Werewolf; ``labelled_lies``, lies whose self-label counts, of which ``admitted`` are labelled deceptive,
    ``confession_rate``; ``labelled_true``, true statements whose self-label counts, of which
    ``false_confessions`` are labelled deceptive, ``false_confession_rate`` (no contradiction: a true claim may
    mislead); ``stances``, statements that speak for or against a player, their share of all, ``stance_coverage``, and
    of these ``insincere`` and ``insincere_rate``, which count for none of the above; ``intended_rate``, of labels asked
    with the words the share that say deceptive, ``admitted_rate``, the same of labels asked afterwards, and
    ``confession_gap``, of statements called deceptive with the words the share that are afterwards. A speaker who lies
    and never confesses stands out by a rate of 0 with its n. Rates are estimates with 95 % intervals of the block
    bootstrap: statements of one game are not independent of each other.

    ``detection`` scores flags on each ground, in order: who speaks is a Werewolf; the statement is a lie; its
    speaker labels it deceptive. ``against_role``, ``against_truth`` and ``against_label`` are of the very same
    judgements: of statements with a checkable claim and a label that counts. In ``against_role_all`` every
    judgement counts, in ``against_truth_all`` the label does not matter: lies against all other statements with a
    checkable claim. ``against_intent`` holds lies against honest mistakes, ``against_falsehood`` both against
    statements whose checkable claims are all true. ``mistakes``: how many judgements are of mistakes, and the share
    that flags. Judgements are those of observers who do not know whether the speaker is a Werewolf.
    """
    return {
        "overall": _honesty(results),
        "by_agent": {
            name: _honesty(results, speaking=name)
            for name in study.agents
            if results.count("statements", speaking=name)
        },
        "by_role": {role: _honesty(results, role=role) for role in results.roles},
        "detection": {
            **_grounds(results),
            "by_observer": {role: _grounds(results, role=role) for role in results.roles},
        },
    }


_RATES: Final = (
    "lie_rate",
    "wolf_lie_rate",
    "mistake_rate",
    "confession_rate",
    "false_confession_rate",
    "insincere_rate",
    "intended_rate",
    "admitted_rate",
    "confession_gap",
)


def _honesty(results: Results, **group: str) -> Result:
    return {
        "statements": results.count("statements", **group),
        "coverage": results.value("coverage", **group),
        "stance_coverage": results.value("stance_coverage", **group),
        **{name: results.count(name, **group) for name in HONESTY},
        **{name: results.row(name, **group).estimate() for name in _RATES},
    }


_GROUNDS: Final = {
    "against_role": "same_role_",
    "against_truth": "same_truth_",
    "against_label": "same_label_",
    "against_role_all": "role_",
    "against_truth_all": "lies_",
    "against_intent": "of_intent_",
    "against_falsehood": "of_falsehood_",
}


def _grounds(results: Results, **group: str) -> Result:
    mistakes = {
        "n": results.count("judged_mistakes", UNINFORMED, **group),
        "flagged": results.value("mistakes_flagged", UNINFORMED, **group),
    }
    grounds = {name: confusion(results, UNINFORMED, prefix, **group) for name, prefix in _GROUNDS.items()}
    return {**grounds, "mistakes": mistakes}


def lying(_study: Study, results: Results) -> Result:
    """Return how long deception lasts, and of what it is made (beyond the paper).

    - ``retention``: by round, mean smoothed suspicion of living Werewolves (``werewolves``) and of living ``others``,
      by observers who have to find out, and their ``difference``.
    - ``lies``: by kind of claim, phase and round, its checkable ``claims``, of which ``lies`` and ``mistakes``;
      ``share`` is that of lies.
    - ``kinds``: by kind of deception that speakers admit, phase and round, ``deceptive`` statements of those
      ``labelled``.
    - ``thoughts``: see `analytics.metrics.statements.lying_rows`.
    """
    retention = [
        {
            "round": round_,
            **{
                name: results.row(f"retention_{name}", UNINFORMED, round=round_).estimate()
                for name in ("others", "werewolves", "difference")
            },
        }
        for round_ in rounds_of(results, "retention_difference", UNINFORMED)
    ]
    lies = []
    for place in _places(results, "lie_share", "claim", CLAIMS):
        row = results.row("lie_share", **place)
        counts = {"claims": row.n, "lies": round((row.value or 0.0) * (row.n or 0))}
        mistakes = results.count("lie_share_mistakes", **place)
        lies.append({**_place(place, "claim"), **counts, "mistakes": mistakes, "share": row.estimate()})
    kinds = []
    for place in _places(results, "kind_share", "kind", DECEPTIONS):
        row = results.row("kind_share", **place)
        counts = {"labelled": row.n, "deceptive": round((row.value or 0.0) * (row.n or 0))}
        kinds.append({**_place(place, "kind"), **counts, "share": row.estimate()})
    sides: dict[str, dict[str, Any]] = {"overall": {}, "werewolves": {"wolf": True}, "others": {"wolf": False}}
    thoughts = {
        name: {
            "contradict": results.row("thought_contradicted", **group).estimate(),
            "admitted": results.row("contradiction_admitted", **group).estimate(),
        }
        for name, group in sides.items()
    }
    return {"retention": retention, "lies": lies, "kinds": kinds, "thoughts": thoughts}


def _places(results: Results, metric: str, axis: str, kinds: Iterable[str]) -> list[dict[str, str]]:
    order = list(kinds)
    groups = [group_of(row.group) for row in results if row.metric == metric]
    return sorted(groups, key=lambda group: (order.index(group[axis]), group["phase"], int(group["round"])))


def _place(group: dict[str, str], axis: str) -> Result:
    return {"kind": group[axis], "phase": group["phase"], "round": int(group["round"])}


def table4(study: Study, results: Results) -> Result:
    """Return Table 4 (paper 5.7; metrics: Table 4), for suspicion and for D before the statement.

    ``suspicion`` takes the s of each judgement for P(deceptive), ``before`` the smoothed D of observer and speaker
    before it, which is a prediction. Each has rows ``overall``, ``by_observer`` and ``by_speaker`` (by role). The paper
    prints ``by_observer``, and no base rate: an AUPRC beside it is skill only as far as ``auprc_lift`` is above 0. What
    is undefined is None, with its reason in ``undefined``.
    """
    return {score: _table4(study, results, score) for score in SCORES}


_TABLE4: Final = ("brier", "brier_skill", "auc", "auprc", "auprc_lift", "ece")


def _table4(study: Study, results: Results, score: Score) -> Result:
    def curve_of(rows: Scored) -> Result:
        return {"reliability": reliability(rows), "reason": rows.one_sided()}

    beside = by_role(study, score, curve_of, ("observer", "speaker"))

    def row(curve: Result, **group: str) -> Result:
        n, deceptive = (results.count(f"{name}{SUFFIX[score]}", EVERYBODY, **group) for name in _COUNTED)
        values = {name: results.value(f"{name}{SUFFIX[score]}", EVERYBODY, **group) for name in _TABLE4}
        values = {"base_rate": deceptive / n if n else None, **values}
        undefined = {name: curve["reason"] for name, value in values.items() if value is None}
        return {"n": n, "deceptive": deceptive, **values, "reliability": curve["reliability"], "undefined": undefined}

    return {
        "overall": row(beside["overall"]),
        "by_observer": {role: row(beside["by_observer"][role], role=role) for role in results.roles},
        "by_speaker": {role: row(beside["by_speaker"][role], target=role) for role in results.roles},
    }


_COUNTED: Final = ("scored", "scored_deceptive")


def intervals(_study: Study, results: Results) -> Result:
    """Return a 95 % interval for the figures of the tables, few of which ``variability`` holds (paper 5.9; metrics:
    variability), in a tree like the sections that they belong to.

    A leaf is ``[low, high]``, or None where the figure has no interval. Thresholds and maps are not fitted anew in the
    draws.
    """

    def ends(metric: str, observers: Observers = NOBODY, /, **group: Any) -> list[float] | None:
        return results.row(metric, observers, **group).ends

    def received(prefix: str, **group: str) -> Result:
        return {name: ends(f"{prefix}received_{metric}", **group) for name, metric in RECEIVED.items()}

    def of_score(score: Score, **group: str) -> Result:
        return {name: ends(f"{name}{SUFFIX[score]}", EVERYBODY, **group) for name in _TABLE4}

    groups = {name: group_named("role", name) for name in with_overall(results)}
    measures = [name for name in MEASURES if name != "n"]
    return {
        "table1": {
            name: {**received("", **group), "deceptive_share": ends("deception_rate", **group)}
            for name, group in groups.items()
        },
        "table2": {
            observer: {
                target: ends("final_suspicion", EVERYBODY, observer=observer, target=target) for target in results.roles
            }
            for observer in results.roles
        },
        "table4": {
            score: {
                "overall": of_score(score),
                "by_observer": {role: of_score(score, role=role) for role in results.roles},
                "by_speaker": {role: of_score(score, target=role) for role in results.roles},
            }
            for score in SCORES
        },
        "table5": {name: received("kind_", **group_named("kind", name)) for name in (*DECEPTIONS, "overall")},
        "production": {
            f"by_{name}": {value: ends("deception_rate", **group) for group in groups for value in group.values()}
            for name, groups in production_groups(results).items()
            if name != "agent"
        },
        "thresholds": {
            score: {
                rule: {name: ends(f"held_out_{name}", EVERYBODY, rule=rule, score=score) for name in measures}
                for rule in RULES
            }
            for score in SCORES
        },
        "recalibration": {
            kind: {
                "before": {name: ends(name, EVERYBODY) for name in _MAPPED},
                "after": {name: ends(f"recalibrated_{name}", EVERYBODY, map=kind) for name in _MAPPED},
            }
            for kind in KINDS
        },
        "truth_detection": {"against_truth": {name: ends(f"same_truth_{name}", UNINFORMED) for name in FLAGS}},
    }


_MAPPED: Final = ("brier", "ece", "auc")


def variability(study: Study, results: Results) -> Result:
    """Return every headline metric with a 95 % interval (paper 5.9; metrics: variability).

    ``value`` is pooled over games. ``low`` and ``high`` are the bootstrap's: 2,000 draws with a fixed seed resample
    whole blocks and recompute the pooled value from summed counts; the quantiles allow for few blocks, see
    `analytics.metrics.bootstrap.tail_of`. ``undefined_draws`` counts the draws in which it is undefined; above 5 %
    there is no interval, nor below five blocks that have anything to do with the metric, nor where every draw gives the
    same. Rates of games have Wilson's interval instead (`analytics.metrics.bootstrap.rate_of_games`). Point estimates
    and values of single games are exact; in draws, areas under curves come from histograms (see
    `analytics.metrics.scores`), and the calibration error keeps to the bins of all games; like any calibration error it
    is biased upwards in draws, so its interval may lie above its value.

    A ``*_lift`` is a metric minus its baseline, both computed anew in every draw: only its interval tells whether the
    baseline, which is estimated from the same games, is beaten. The better constant guess is known with hindsight only:
    where classes are about even, the chance that makes it look better pulls a lift a little below 0.

    ``paper_mean`` ± ``paper_half`` is the paper's way: mean and 1.96 SEM over the ``paper_games`` in which the metric
    is defined; a game of few rows weighs as much as one of many. A metric that is held against a maximum over each game
    has none.

    What is over pairs of observer and target is over the uninformed ones, for whoever knows whether somebody is a
    Werewolf detects nothing. ``all_observers`` beside it is over all pairs, as the paper's figures are, and
    ``paper_mean`` is, too. ``raw_suspicion_gap`` is of suspicion as it was given, ``suspicion_gap`` of final D.
    ``lie_rate``, ``mistake_rate``, ``confession_rate``, ``coverage`` and ``truth_*`` rest on statements with a
    checkable claim; detection against truth is of lies among all of these, whatever the self-label.
    ``design_blocks`` are the blocks of the design, which are fewer than ``blocks`` where there are too few of them and
    single games are resampled instead, or deals, where several games are of one; ``block_kind`` says which.
    """
    return {
        "metrics": {name: _varying(HEADLINES[name], results, study.games) for name in HEADLINES},
        "draws": draws_of(study.blocks).draws,
        "blocks": study.blocks,
        "design_blocks": study.design_blocks,
        "games": study.games,
        "block_kind": _block_kind(study),
    }


def _block_kind(study: Study) -> str:
    if study.blocks == study.games:
        return "game"
    return "block" if study.blocks == study.design_blocks else "deal"


def _varying(about: Headline, results: Results, games: int) -> Result:
    def over(observers: Observers) -> Result:
        row = results.row(about.metric, about.observers(observers), **about.group)
        return {**described(about, row.baseline), **row.estimate(), "undefined_draws": row.undefined_draws}

    by_game = results.row(f"{about.metric}_by_game", about.observers(EVERYBODY), **about.group)
    half = None if by_game.high is None or by_game.value is None else by_game.high - by_game.value
    figures = {**over(UNINFORMED), "games": games}
    everybody = {"all_observers": over(EVERYBODY)} if about.pairs else {}
    return {**figures, **everybody, "paper_mean": by_game.value, "paper_half": half, "paper_games": by_game.n}
