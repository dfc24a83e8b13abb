"""A report's material made by hand: played games with their metrics, and the other sections as issue's shapes have
them.
"""

from __future__ import annotations

import copy
from dataclasses import replace
from functools import cache
from typing import Any

from analytics.columns import ColumnsBuilder
from analytics.findings import tables_of
from analytics.fold import fold
from analytics.gather import FileNote, Gathered, StudySource
from analytics.measures.ledger import Ledger
from analytics.measures.primary import PRIMARY
from analytics.report.context import Context, Indexed
from analytics.report.report import Report
from analytics.rows import GameRows
from tests.analytics.script import held_by
from tests.game.driver import play
from wolfbus.vocabulary import DECEPTIONS, ROLES

AGENTS = ("llm:big", "llm:small")


def games(n: int = 4, agents: tuple[str, ...] = AGENTS) -> list[GameRows]:
    """Games played by the rules, whose seats the agents share in turn."""
    return [_shared(_played(number), f"g{number}", agents) for number in range(n)]


@cache
def _played(number: int) -> GameRows:
    return fold(play(seed=f"report {number}").events, keep_text=True)


def _shared(rows: GameRows, game: str, agents: tuple[str, ...]) -> GameRows:
    brains = {name: agents[place % len(agents)] for place, name in enumerate(rows.seats)}
    rows = held_by(rows, brains)
    return replace(
        rows,
        game=game,
        statements=tuple(replace(row, game=game) for row in rows.statements),
        judgements=tuple(replace(row, game=game) for row in rows.judgements),
        replies={(agents[0], *key[1:]): count for key, count in rows.replies.items()},
    )


def gathered(
    found: list[GameRows], problems: tuple[FileNote, ...] = (), studies: tuple[StudySource, ...] = ()
) -> Gathered:
    ledger, builder = Ledger(), ColumnsBuilder()
    for rows in found:
        ledger.add(rows)
        builder.add(rows)
    notes = tuple(FileNote(f"{rows.game}.ndjson", rows.game, 9, True, None) for rows in found)
    return Gathered(builder.columns(), ledger, (*notes, *problems), studies)


def estimate(value: float | None = 0.5, n: int = 40, **more: Any) -> dict[str, Any]:
    if value is None:
        return {"value": None, "low": None, "high": None, "n": 0, "reason": "no game has it", **more}
    return {"value": value, "low": value - 0.1, "high": value + 0.1, "n": n, "reason": None, **more}


def primary(agents: tuple[str, ...]) -> dict[str, Any]:
    """A primary metric that is tested and not clear of its baseline."""
    return {
        "label": "a headline",
        "unit": "share",
        "value": 0.5,
        "baseline": 0.4,
        "difference": estimate(0.1),
        "agent": agents[0] if agents else None,
        "second": agents[-1] if agents else None,
        "p": 0.2,
        "p_adjusted": 0.4,
        "verdict": "unclear",
    }


def headline(value: float | None = 0.5, unit: str = "share", **more: Any) -> dict[str, Any]:
    return {
        **estimate(value),
        "label": "a headline",
        "unit": unit,
        "games": 4,
        "undefined_draws": 0,
        "baseline": 0.4,
        "baseline_label": "constant guess",
        "better": "high",
        "paper_mean": value,
        "paper_half": 0.05,
        "paper_games": 4,
        **more,
    }


BINS = [
    {"low": 0.0, "high": 0.4, "mean_score": 0.3, "share": 0.4, "n": 20},
    {"low": 0.5, "high": 1.0, "mean_score": 0.7, "share": 0.6, "n": 30},
]
SCORE = {
    "n": 50,
    "deceptive": 26,
    "base_rate": 0.52,
    "brier": 0.26,
    "brier_skill": -0.04,
    "auc": 0.56,
    "auprc": 0.58,
    "auprc_lift": 0.06,
    "ece": 0.08,
    "reliability": BINS,
    "undefined": {},
}
CURVE = {
    "n": 50,
    "roc": [[0, 0, None], [0.3, 0.4, 0.6], [1, 1, 0.1]],
    "pr": [[0, 1, None], [0.5, 0.6, 0.5], [1, 0.52, 0.1]],
    "auc": 0.56,
    "auprc": 0.58,
    "base_rate": 0.52,
    "reason": None,
}
MEASURES = {"balanced_accuracy": 0.55, "f1": 0.6, "precision": 0.58, "recall": 0.62, "accuracy": 0.56, "n": 50}
THRESHOLD = {
    "threshold": 0.45,
    "all_games": 0.44,
    "held_out": MEASURES,
    "at_half": MEASURES,
    "flags": MEASURES,
    "fold_thresholds": [0.41, 0.45, 0.45, 0.46, 0.5],
    "folds": 5,
    "reason": None,
}
MAP = {
    "before": {"brier": 0.26, "ece": 0.08, "auc": 0.56, "n": 50},
    "after": {"brier": 0.24, "ece": 0.02, "auc": 0.56, "n": 50},
    "map": {},
    "reliability": BINS,
}
CONFUSION = {
    "n": 40,
    "tp": 10,
    "tn": 12,
    "fp": 8,
    "fn": 10,
    "accuracy": 0.55,
    "precision": 0.55,
    "recall": 0.5,
    "f1": 0.53,
    "balanced_accuracy": 0.55,
    "mcc": 0.1,
    "base_rate": 0.5,
    "constant_accuracy": 0.5,
    "dprime": 0.2,
    "criterion": 0.1,
}
TRUTH = {
    "statements": 40,
    "checkable": 12,
    "coverage": 0.3,
    "true": 7,
    "mistakes": 1,
    "lies": 4,
    "lie_rate": estimate(0.33, 12),
    "labelled_lies": 4,
    "admitted": 1,
    "confession_rate": estimate(0.25, 4),
    "false_confessions": 1,
}


def findings(found: Gathered, agents: tuple[str, ...] = AGENTS) -> dict[str, Any]:
    """All sections, the beyond-the-paper ones with made-up numbers."""
    scores = {"overall": SCORE, "by_observer": dict.fromkeys(ROLES, SCORE), "by_speaker": dict.fromkeys(ROLES, SCORE)}
    curves = {"overall": CURVE, "by_observer": dict.fromkeys(ROLES, CURVE)}
    ability = {
        **{
            name: estimate(0.3, 30)
            for name in ("sensitivity", "criterion", "concealment", "suspected", "confession_rate")
        },
        "n_judged": 30,
        "n_statements": 12,
        "component": 1,
        "checkable": 4,
    }
    abilities = {
        "agents": {agent: copy.deepcopy(ability) for agent in agents},
        "roles": {
            "observer": {role: {"sensitivity": estimate(0.1), "criterion": estimate(0.2)} for role in ROLES},
            "speaker": {role: {"concealment": estimate(-0.1), "suspected": estimate(None)} for role in ROLES},
        },
        "leads": {
            ability: {"agent": agents[0], "second": agents[-1], "difference": estimate(0.1)}
            for ability in ("sensitivity", "concealment")
        },
        "statement_sd": 0.42,
        "components": 1,
        "draws": 200,
        "reason": None,
    }
    one = {
        "games": 4,
        "seats": 16,
        "roles": {"Villager": 8, "Seer": 4, "Doctor": 4},
        "statements": 40,
        "judgements": 90,
        "wins": {"villagers": estimate(), "werewolves": estimate(None)},
        **{name: estimate() for name in ("deception_rate", "accuracy", "balanced_accuracy", "auc", "caught")},
        **{name: estimate() for name in ("suspicion_as_wolf", "suspicion_as_villager", "vote_hit")},
    }
    metrics = {
        **{
            name: headline()
            for name in (
                *("villager_wins", "deception_rate", "accuracy", "balanced_accuracy", "vote_hit"),
                "truth_balanced_accuracy",
            )
        },
        "suspicion_gap": headline(0.2, "points"),
        "auc": headline(0.6, "score"),
        "truth_accuracy": headline(0.5),
        **{
            f"{name}_lift": headline(0.2, "points", baseline=0.0) for name in ("accuracy", "vote_hit", "truth_accuracy")
        },
        "accuracy/Seer": headline(0.5),
    }
    against = {"against_truth": CONFUSION, "against_label": CONFUSION}
    return copy.deepcopy({
        **tables_of(found),
        "table4": {"suspicion": scores, "before": scores},
        "curves": {"suspicion": curves, "before": curves},
        "thresholds": {key: {"youden": THRESHOLD, "best_f1": THRESHOLD} for key in ("suspicion", "before")},
        "recalibration": {"platt": MAP, "isotonic": MAP, "folds": 5, "blocks": 5, "reason": None},
        "truth": {
            "overall": TRUTH, "by_agent": dict.fromkeys(agents, TRUTH), "by_role": dict.fromkeys(ROLES, TRUTH),
            "detection": {**against, "against_truth_all": CONFUSION, "by_observer": dict.fromkeys(ROLES, against)},
        },
        "abilities": {
            **dict.fromkeys(("role", "label"), abilities), "truth": {**abilities, "mistakes_left_out": 3}, "model": {},
        },
        "primary": {
            "metrics": {name: primary(agents) for name in PRIMARY}, "declared": False, "blocks": 40, "flips": 200,
            "exact": False,
        },
        "variability": {"metrics": metrics, "draws": 2000, "blocks": 40, "games": 40, "block_kind": "game"},
        "agents": dict.fromkeys(agents, one),
        "intervals": intervals(agents),
        "events": {
            "seer": {"before": estimate(), "after": estimate(None), "difference": estimate(None), "games": 2},
            "doctor": {
                "blocked": estimate(), "killed": estimate(), "difference": estimate(),
                "nights_blocked": 3, "nights_killed": 5, "nights_without_attempt": 1,
            },
        },
        "votes": {
            "own_argmax": estimate(0.4, abstentions=2, unjudged=7, chance=0.2),
            "hits": estimate(0.4, chance=0.3),
            "hits_by_round": {"1": estimate(0.4, chance=0.3)},
            "counterfactual": {
                **{name: estimate() for name in ("suspicion_exile", "real_exile", "real_exile_of_exiles")},
                "chance": 0.3, "votes": 12,
            },
        },
    })  # fmt: skip


def intervals(agents: tuple[str, ...] = AGENTS) -> dict[str, Any]:
    """An interval for every cell of the tables, each with other ends."""
    row = {"suspicion": [0.11, 0.12], "flagged": [0.13, 0.14]}
    score = {name: [0.21, 0.22] for name in ("brier", "brier_skill", "auc", "auprc", "auprc_lift", "ece")}
    table4 = {
        "overall": score, "by_observer": dict.fromkeys(ROLES, score), "by_speaker": dict.fromkeys(ROLES, score),
    }  # fmt: skip
    held = {name: [0.31, 0.32] for name in MEASURES if name != "n"}
    fitted = {when: {name: [0.41, 0.42] for name in ("brier", "ece", "auc")} for when in ("before", "after")}
    return {
        "table1": {role: {**row, "deceptive_share": [0.15, 0.16]} for role in (*ROLES, "overall")},
        "table2": {observer: {target: [0.51, 0.52] for target in ROLES} for observer in ROLES},
        "table4": {"suspicion": table4, "before": table4},
        "table5": dict.fromkeys((*DECEPTIONS, "overall"), row),
        "production": {
            "by_role": {role: [0.61, 0.62] for role in ROLES}, "by_brain": {agent: [0.63, 0.64] for agent in agents},
            "by_round": {"1": [0.65, 0.66]}, "by_phase": {"debate": [0.67, 0.68]},
        },
        "thresholds": {name: {"youden": held, "best_f1": held} for name in ("suspicion", "before")},
        "recalibration": {"platt": fitted, "isotonic": fitted},
        "truth_detection": {"against_truth": {name: [0.71, 0.72] for name in ("accuracy", "recall")}},
    }  # fmt: skip


def undefined(value: Any) -> Any:
    """The same findings with nothing in them: numbers become None or 0, as where nobody was judged."""
    if isinstance(value, dict):
        return {key: undefined(each) for key, each in value.items()}
    if isinstance(value, list):
        return []
    if isinstance(value, bool) or value is None or isinstance(value, str):
        return value
    return 0 if isinstance(value, int) else None


def context(found: Gathered) -> Context:
    return replace(Report({}, found).context, indexed=Indexed(1, 1, 10, 10))
