"""The main numbers of a study, each with what it is, three statements of this very study, and its arithmetic."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

import numpy as np
import polars as pl

from analytics import Result, look
from analytics.metrics.study import Scope, Study
from analytics.report.context import ends, metric
from analytics.report.specs import phrase
from wolfbus.files.formats import between, in_unit

_EXAMPLES: Final = 3
_WOLF: Final = pl.col("wolf")
_LIE: Final = pl.col("truth").cast(pl.String) == "lie"
_CHECKED: Final = pl.col("truth").is_not_null()


def explained(findings: Result, study: Study) -> list[Result]:
    """Return the main numbers, those of judgements over observers who had to find out.

    Each has ``title``, ``unit`` in words, ``value`` and ``interval`` as they are shown ("" where there is none), ``n``,
    ``is``, what it is, ``sum``, its arithmetic, and three ``examples``: statements by ``game`` and ``statement``, with
    ``speaker``, ``role``, and in ``words`` what they count. A number that is undefined is left out.
    """
    lying = {"wolf_lie_rate": look(findings, "truth", "overall", "wolf_lie_rate") or {}}
    numbers = []
    for name, (unit, explain) in _NUMBERS.items():
        estimate = lying.get(name) or metric(findings, name)
        if estimate.get("value") is not None:
            counts, examples = explain(study)
            value = in_unit(estimate["value"], unit)
            numbers.append(
                {
                    "title": phrase(f"explained/{name}"),
                    "unit": phrase(f"explained/{name}_unit"),
                    "value": value,
                    "interval": between(*ends(estimate), unit),
                    "n": estimate["n"],
                    "is": phrase(f"explained/{name}_is"),
                    "sum": phrase(f"explained/{name}_sum", **counts, value=value),
                    "examples": examples,
                }
            )
    return numbers


_Explained = tuple[Mapping[str, int], list[Result]]


def _detection(study: Study) -> _Explained:
    judged = _judged(study, pl.col("suspicion").is_not_null())
    of_wolves = judged.filter(_WOLF)["suspicion"].to_numpy()
    of_others = np.sort(judged.filter(~_WOLF)["suspicion"].to_numpy())
    # never all pairs at once: a study has more of them than a memory holds
    less = int(np.searchsorted(of_others, of_wolves, "left").sum())
    up_to = int(np.searchsorted(of_others, of_wolves, "right").sum())
    sizes = {"wolves": len(of_wolves), "others": len(of_others), "pairs": len(of_wolves) * len(of_others)}
    counts = {**sizes, "more": less, "equal": up_to - less}
    # the first of a Werewolf's that stands between two of others in its game
    others = judged.filter(~_WOLF).group_by("game").agg(low=pl.col("suspicion").min(), high=pl.col("suspicion").max())
    between_them = (
        judged.filter(_WOLF)
        .join(others, on="game", maintain_order="left")
        .filter(pl.col("suspicion").is_between("low", "high", closed="none"))
    )
    examples: list[Result] = []
    for row in between_them.head(1).iter_rows(named=True):
        of_game, s = judged.filter(~_WOLF, pl.col("game") == row["game"]), row["suspicion"]
        kinds = {"less": pl.col("suspicion") < s, "more": pl.col("suspicion") > s}
        examples = [_example(study, row, "wolf"), *_three(study, of_game, kinds)]
    return counts, examples[:_EXAMPLES]


def _flags(study: Study) -> _Explained:
    label, flagged = pl.col("label"), pl.col("flagged")
    kinds = {"tp": label & flagged, "fp": ~label & flagged, "fn": label & ~flagged, "tn": ~label & ~flagged}
    judged = _judged(study, label.is_not_null())
    counts = {kind: judged.filter(rows).height for kind, rows in kinds.items()}
    deceptive, truthful = counts["tp"] + counts["fn"], counts["fp"] + counts["tn"]
    return {**counts, "deceptive": deceptive, "truthful": truthful}, list(_three(study, judged, kinds))


def _lies(study: Study) -> _Explained:
    kinds = {"lie": _LIE, "honest": _CHECKED & ~_LIE, "unchecked": ~_CHECKED}
    statements = _statements(study).filter(_WOLF)
    counts = {"k": statements.filter(_LIE).height, "n": statements.filter(_CHECKED).height}
    return counts, list(_three(study, statements, kinds))


def _confessions(study: Study) -> _Explained:
    label = pl.col("self_deceptive")
    kinds = {"admitted": label, "denied": ~label, "unlabelled": label.is_null()}
    lies = _statements(study).filter(_LIE)
    counts = {"k": lies.filter(label).height, "n": lies.filter(label.is_not_null()).height}
    return counts, list(_three(study, lies, kinds))


_NUMBERS: Final = {
    "role_auc": ("score", _detection),
    "balanced_accuracy": ("share", _flags),
    "wolf_lie_rate": ("share", _lies),
    "confession_rate": ("share", _confessions),
}


def _judged(study: Study, rows: pl.Expr) -> pl.DataFrame:
    columns = {"number": "statement", "speaker": "target", "role": "target_role"}
    return Scope(study).judged.filter(rows).with_columns(**{name: pl.col(of) for name, of in columns.items()})


def _statements(study: Study) -> pl.DataFrame:
    return study.statements.sort("game", "number")


def _three(study: Study, frame: pl.DataFrame, kinds: Mapping[str, pl.Expr]) -> Iterator[Result]:
    """Yield the first statements of each kind, in turn, no statement twice."""
    chosen: list[int] = []
    for kind, rows in [*kinds.items()] * _EXAMPLES:
        for row in frame.filter(rows & ~pl.col("said").is_in(chosen)).head(1).iter_rows(named=True):
            if len(chosen) < _EXAMPLES:
                chosen.append(row["said"])
                yield _example(study, row, kind)


def _example(study: Study, row: Mapping[str, Any], kind: str) -> Result:
    words = {"observer": row.get("observer", ""), "s": in_unit(row.get("suspicion"), "share")}
    return {
        "game": study.tables.ids[row["game"]],
        "statement": row["number"],
        "speaker": row["speaker"],
        "role": row["role"],
        "words": phrase(f"explained/{kind}", **words),
    }
