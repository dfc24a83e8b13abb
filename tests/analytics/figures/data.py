"""Findings to draw: small, whole, and made by hand or from drawn games."""

from __future__ import annotations

import copy
import random

from analytics.findings import metrics
from tests.analytics.script import random_game
from wolfbus.vocabulary import ROLES

HOSTILE = (
    "<script>alert(1)</script>",
    'a"b\' onload="x" & <b>',
    "cost$\\frac{1}{2}$_x^2",
    "\u202eevil\u202c\x1b[31m\x00name",
    "日本語のモデル🎲",
    "openai:a-model-with-a-name-that-goes-on-and-on-and-never-ends-2026-01-01",
    "openai:a-model-with-a-name-that-goes-on-and-on-and-never-ends-2026-01-02",
    "",
)


def estimate(value, half=0.2):
    bounds = (
        {"low": None, "high": None} if value is None or half is None else {"low": value - half, "high": value + half}
    )
    return {"value": value, **bounds, "n": 100, "reason": None if value is not None else "too little"}


def agent(sensitivity, concealment, component=0, half=0.2):
    return {
        "sensitivity": estimate(sensitivity, half),
        "concealment": estimate(concealment, half),
        "component": component,
    }


def agents(names, components=1, seed=1):
    rng = random.Random(seed)
    return {name: agent(rng.gauss(0, 0.6), rng.gauss(0, 0.6), place % components) for place, name in enumerate(names)}


def curve(n, base_rate=0.4):
    if not n:
        missing = dict.fromkeys(("auc", "auprc", "base_rate"))
        return {"n": 0, "roc": [], "pr": [], **missing, "reason": "nothing to draw"}
    return {
        "n": n,
        "roc": [[0.0, 0.0, None], [0.2, 0.4, 0.7], [0.6, 0.8, 0.4], [1.0, 1.0, 0.0]],
        "pr": [[1.0, 0.4, 0.0], [0.8, 0.47, 0.4], [0.4, 0.57, 0.7], [0.0, 1.0, None]],
        "auc": 0.64,
        "auprc": 0.52,
        "base_rate": base_rate,
        "reason": None,
    }


def bins(*rows):
    keys = ("low", "high", "mean_score", "share", "n")
    return [dict(zip(keys, row, strict=True)) for row in rows]


def scores(*rows):
    held = bins(*rows)
    values = {"base_rate": 0.4, "brier": 0.26, "ece": 0.1} if held else dict.fromkeys(("base_rate", "brier", "ece"))
    return {"overall": {"n": sum(row["n"] for row in held), "reliability": held, **values}}


def whole(games=20, names=HOSTILE):
    """Findings in which every figure has something to draw."""
    found = metrics([random_game(seed).rows() for seed in range(games)])
    curves = {"overall": curve(900), "by_observer": {role: curve(0 if role == "Seer" else 200) for role in ROLES}}
    table4 = scores((0.0, 0.2, 0.1, 0.2, 300), (0.3, 0.3, 0.3, 0.5, 300), (0.5, 1.0, 0.8, 0.6, 300))
    abilities = {"agents": agents(names)}
    return {
        **found,
        "table4": {"suspicion": table4, "before": copy.deepcopy(table4)},
        "curves": {"suspicion": curves, "before": copy.deepcopy(curves)},
        "abilities": {ground: copy.deepcopy(abilities) for ground in ("role", "truth", "label")},
        "variability": {"metrics": {f"deception_rate/{role}": estimate(0.4, 0.1) for role in ROLES}},
    }


def empty():
    """Findings over no games."""
    none = {"overall": curve(0), "by_observer": {role: curve(0) for role in ROLES}}
    return {
        **metrics([]),
        "table4": {"suspicion": scores(), "before": scores()},
        "curves": {"suspicion": none, "before": none},
        "abilities": {ground: {"agents": {}} for ground in ("role", "truth", "label")},
        "variability": {"metrics": {}},
    }
