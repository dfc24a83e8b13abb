"""Agreement about statements: of people with each other, and with what speakers, reader models and the grammar of
claims say of the same statements.

Each question has its units: of "deceptive" and "kind" statements, of "stance" a statement and another living player. A
reader model that gives a probability says yes from one half; a hedged stance counts as a stance. Every coefficient is a
formula of sums by game, so that its interval is the one bootstrap's (`analytics.metrics.bootstrap`).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import combinations, product
from typing import Any, Final

import numpy as np
import polars as pl

from analytics import Result, look
from analytics.metrics.formulas import Array, Parts, ratio
from analytics.metrics.study import Study, rows_of
from analytics.metrics.sums import Figure, sums_of
from analytics.results import NOBODY, ResultRow, Results, group_of
from wolfbus.files.printable import counted
from wolfbus.game.vocabulary import DECEPTIONS

SELF_LABEL: Final = "self-label"
CLAIMS: Final = "claims"
"""How the speaker's own label, and what the claims heard in the words come to, are called beside annotators' names."""

QUESTIONS: Final[Mapping[str, Sequence[str]]] = {
    "deceptive": ("no", "yes"),
    "kind": DECEPTIONS,
    "stance": ("against", "none", "for"),
}
"""What may be answered to each question."""

_ALIKE: Final = "all answers are the same"
_UNIT: Final = ("game", "statement", "target")

# `pairs` are sums of pairs of answers to the same unit, answers by answers


def _agreed(pairs: Array) -> Array:
    return ratio(np.trace(pairs, axis1=-2, axis2=-1), pairs.sum(axis=(-1, -2)))


def cohen_kappa(pairs: Array) -> Array:
    """Return Cohen's κ: (agreed - expected) / (1 - expected), expected of answers drawn by each one's own shares.

    Args:
        pairs: units by the one's answer and the other's.
    """
    one, other = pairs.sum(axis=-1), pairs.sum(axis=-2)
    expected = ratio((one * other).sum(axis=-1), pairs.sum(axis=(-1, -2)) ** 2)
    return ratio(_agreed(pairs) - expected, 1 - expected)


def fleiss_kappa(pairs: Array) -> Array:
    """Return Fleiss' κ: as Cohen's, expected of answers drawn by the shares of all together.

    Args:
        pairs: of units that all raters answered, all with all others, in both orders.
    """
    answers = pairs.sum(axis=-1)
    expected = ratio((answers**2).sum(axis=-1), pairs.sum(axis=(-1, -2)) ** 2)
    return ratio(_agreed(pairs) - expected, 1 - expected)


def krippendorff_alpha(pairs: Array) -> Array:
    """Return Krippendorff's α for nominal answers: 1 - observed / expected disagreement.

    Args:
        pairs: coincidences: of a unit that m answered each pair counts 1 / (m - 1), in both orders.
    """
    answers, n = pairs.sum(axis=-1), pairs.sum(axis=(-1, -2))
    expected = ratio(n**2 - (answers**2).sum(axis=-1), n - 1)
    return 1 - ratio(n - np.trace(pairs, axis1=-2, axis2=-1), expected)


def _figure(value: Callable[[Array], Array], size: int, reason: str) -> Figure:
    def of_sums(s: Parts) -> Array:
        cells = np.stack([getattr(s, f"pair_{cell}") for cell in range(size**2)], axis=-1)
        return value(cells.reshape(*cells.shape[:-1], size, size))

    return Figure(of_sums, lambda s: s.units, f"{reason}, or {_ALIKE}")


def agreement_rows(study: Study) -> Iterator[ResultRow]:
    """Yield agreement by question: ``agreement`` (share of equal answers) and ``cohen_kappa`` of every two of whom one
    annotates; ``fleiss_kappa`` and ``krippendorff_alpha`` of all people who rated; and ``annotated``, the statements of
    each annotator.
    """
    frame = study.tables.annotations.filter(pl.col("sort").cast(pl.String) != "monitor")
    frame = frame.with_columns(pl.col("annotator", "sort", "kind").cast(pl.String))
    sorts: dict[str, str] = dict(frame.select("annotator", "sort").unique().sort("annotator").iter_rows())
    for name, sort in sorts.items():
        yield ResultRow("annotated", f"sort:{sort} annotator:{name}", NOBODY, len(frame.filter(annotator=name)))
    raters = [name for name, sort in sorts.items() if sort == "rater"]
    for question, options in QUESTIONS.items() if sorts else ():
        answers = _answers(study, frame, question)
        # an annotator may be called as one of these columns is
        named = answers.with_columns(who=pl.format("@{}", "who"))
        table = named.pivot("who", index=_UNIT, values="answer").sort(_UNIT)
        for one, other in combinations(sorted((name[1:] for name in table.columns[len(_UNIT) :]), key=_order), 2):
            if {one, other} != {SELF_LABEL, CLAIMS}:
                yield from _two(study, question, options, table, one, other)
        if len(raters) > 1:
            yield from _together(study, question, options, answers.filter(pl.col("who").is_in(raters)), len(raters))


def _order(name: str) -> tuple[bool, str]:
    return name in {SELF_LABEL, CLAIMS}, name


def _two(
    study: Study, question: str, options: Sequence[str], table: pl.DataFrame, one: str, other: str
) -> Iterator[ResultRow]:
    by_one, by_other = pl.col(f"@{one}"), pl.col(f"@{other}")
    both = table.filter(by_one.is_not_null() & by_other.is_not_null())
    pairs = ((by_one == first) & (by_other == second) for first, second in product(options, repeat=2))
    cells: dict[str, Any] = {f"pair_{cell}": pair for cell, pair in enumerate(pairs)}
    sums = sums_of(both, study.games, units=1.0, **cells)
    figures = {
        name: _figure(value, len(options), "nothing was answered by both")
        for name, value in (("agreement", _agreed), ("cohen_kappa", cohen_kappa))
    }
    yield from rows_of(study, NOBODY, sums, figures, question=question, between=f"{one} & {other}")


def _together(
    study: Study, question: str, options: Sequence[str], answers: pl.DataFrame, raters: int
) -> Iterator[ResultRow]:
    counts = answers.group_by(_UNIT, maintain_order=True).agg(
        pl.len().alias("number"), *((pl.col("answer") == option).sum().alias(option) for option in options)
    )
    weights = {
        "fleiss_kappa": (fleiss_kappa, pl.col("number") == raters, pl.lit(1.0), "nothing was answered by all"),
        "krippendorff_alpha": (
            krippendorff_alpha,
            pl.col("number") >= 2,
            1 / (pl.col("number") - 1),
            "nothing was answered by two",
        ),
    }
    for name, (value, usable, weight, reason) in weights.items():
        pairs = (
            weight * pl.col(first) * (pl.col(second).cast(pl.Int64) - (first == second))
            for first, second in product(options, repeat=2)
        )
        cells: dict[str, Any] = {f"pair_{cell}": pair for cell, pair in enumerate(pairs)}
        sums = sums_of(counts.filter(usable), study.games, units=1.0, **cells)
        yield from rows_of(study, NOBODY, sums, {name: _figure(value, len(options), reason)}, question=question)


def _answers(study: Study, annotations: pl.DataFrame, question: str) -> pl.DataFrame:
    """Return answers to a question: game, statement, target ("" where it is about nobody), who and the answer."""
    statements = study.tables.statements.rename({"number": "statement"})
    if question == "stance":
        return _stances(study, annotations)
    answer = pl.col("kind").cast(pl.String)
    if question == "deceptive":
        answer = _yes(pl.col("deceptive") >= 0.5)
    parts = [annotations.select("game", "statement", who="annotator", answer=answer)]
    truth = pl.col("truth").cast(pl.String)
    by_label = _yes(pl.col("self_deceptive")) if question == "deceptive" else pl.col("kind").cast(pl.String)
    beside = {SELF_LABEL: by_label, **({CLAIMS: _yes(truth == "lie")} if question == "deceptive" else {})}
    annotated = statements.join(annotations, on=["game", "statement"], how="semi")
    parts += [annotated.select("game", "statement", who=pl.lit(who), answer=value) for who, value in beside.items()]
    rows = pl.concat(parts).filter(pl.col("answer").is_not_null())
    return rows.select("game", "statement", pl.lit("").alias("target"), "who", "answer")


def _yes(flag: pl.Expr) -> pl.Expr:
    return pl.when(flag).then(pl.lit("yes")).when(~flag).then(pl.lit("no"))


def _stances(study: Study, annotations: pl.DataFrame) -> pl.DataFrame:
    rows = [
        (game, statement, target, who, stance.rpartition(" ")[2])
        for game, statement, who, text in annotations.select("game", "statement", "annotator", "stances").iter_rows()
        for target, stance in json.loads(text or "{}").items()
    ]
    schema = {"game": pl.Int32, "statement": pl.Int64, "target": pl.String, "who": pl.String, "answer": pl.String}
    by_annotators = pl.DataFrame(rows, schema, orient="row")
    spoken = study.tables.statements.select("game", "speaker", statement="number")
    claims = study.tables.claims.join(spoken, on=["game", "statement"]).filter("heard")
    words = {name: pl.col(name).cast(pl.String) for name in ("claim", "target", "role", "speaker", "side")}
    is_wolf, denied = words["role"] == "Werewolf", pl.col("denied")
    # that somebody has not another role says nothing of its side
    of_role = pl.when(is_wolf & ~denied).then(pl.lit("against")).when(is_wolf | ~denied).then(pl.lit("for"))
    side: pl.Expr = (
        pl.when(words["claim"] == "accusation")
        .then(pl.lit("against"))
        .when(words["side"].is_not_null())
        .then(words["side"])
        .when(words["role"].is_not_null() & (words["target"] != words["speaker"]))
        .then(of_role)
    )
    # of several about one player the hardest counts: "against" stands before "for"
    by_words = claims.select("game", "statement", target=words["target"], answer=side).drop_nulls().sort("answer")
    units = by_annotators.select(_UNIT).unique(maintain_order=True)
    by_claims = units.join(by_words.unique(_UNIT, keep="first", maintain_order=True), on=_UNIT, how="left").select(
        *_UNIT, who=pl.lit(CLAIMS), answer=pl.col("answer").fill_null("none")
    )
    return pl.concat([by_annotators, by_claims])


def agreement(_study: Study, results: Results) -> Result:
    """Return agreement about statements, of those who annotated them.

    - ``annotators``: by name, of what ``sort`` and how many ``statements``.
    - ``together``: by question, ``fleiss_kappa`` and ``krippendorff_alpha`` of all people who rated.
    - ``pairs``: by question and two of them, their names with " & " between, ``agreement`` and ``cohen_kappa``.
    """
    annotators = {}
    for row in (row for row in results if row.metric == "annotated"):
        group = group_of(row.group)
        annotators[group["annotator"]] = {"sort": group["sort"], "statements": round(row.value or 0)}
    together: dict[str, dict[str, Any]] = {}
    pairs: dict[str, dict[str, dict[str, Any]]] = {}
    for row in results:
        group = group_of(row.group)
        if row.metric in {"fleiss_kappa", "krippendorff_alpha"}:
            together.setdefault(group["question"], {})[row.metric] = row.estimate()
        elif row.metric in {"agreement", "cohen_kappa"}:
            of_question = pairs.setdefault(group["question"], {})
            of_question.setdefault(group["between"], {})[row.metric] = row.estimate()
    return {"annotators": annotators, "together": together, "pairs": pairs}


def agreement_sentence(findings: Result) -> str:
    """Return how far people agree with each other and with the speakers' own labels, in one sentence for a list of
    limitations.
    """
    people = findings.get("agreement") or {}
    raters = [name for name, row in (people.get("annotators") or {}).items() if row["sort"] == "rater"]
    if not raters:
        return "Agreement with people: none measured."
    statements = max(people["annotators"][name]["statements"] for name in raters)
    kappa_of = partial(_kappa, people)
    among = kappa_of("together", "deceptive", "krippendorff_alpha", "Krippendorff's α among them")
    with_labels = [
        kappa_of("pairs", "deceptive", between, "cohen_kappa", f"Cohen's κ of {between}")
        for between in (people["pairs"].get("deceptive") or {})
        if SELF_LABEL in between.split(" & ") and set(raters) & set(between.split(" & "))
    ]
    facts = "; ".join(filter(None, [among, *with_labels]))
    who = f"{counted(len(raters), 'person', 'people')} rated up to {counted(statements, 'statement')}"
    return f"Agreement with people on what is deceptive: {who}{f'; {facts}' if facts else ''}."


def _kappa(people: Result, *path: str) -> str:
    *steps, words = path
    estimate = look(people, *steps) or {}
    if estimate.get("value") is None:
        return ""
    low, high = estimate.get("low"), estimate.get("high")
    within = "" if low is None or high is None else f" ({low:.2f} to {high:.2f})"
    return f"{words} {estimate['value']:.2f}{within}"
