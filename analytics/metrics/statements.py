"""What is said: how often speakers call their own statements deceptive, how statements are received (paper 5.2, 5.3 and
5.8; Tables 1 and 5), what they claim and how much of that is true (metrics: objective truth), how labels were come by.

Three grounds of truth, in this order: who speaks is a Werewolf; what is claimed against what the speaker's view
entails, accusations included; what the speaker says of it. A statement is *checkable* when a claim can be heard in it
that the hidden state confirms or refutes; else it is left out, and coverage says how many were. Who
speaks for or against a player without saying what it is takes a *stance*, which is insincere if the speaker knows the
contrary: columns of their own, no lies. A false claim makes it
a *lie* if the speaker's own view entailed that it is false, else a *mistake*: always two columns.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

import polars as pl

from analytics.metrics.study import Scope, Study, rows_of
from analytics.metrics.sums import Axes, Figure, Sums, count, in_order, share, sums_of
from analytics.results import NOBODY, ResultRow, group_text
from analytics.rows.fields import HOW
from analytics.rows.talk import CLAIMS, TRUTHS, VERDICTS

SOURCES: Final = ("given", "unheard", "extracted")
"""Where claims come from: attached and heard in the words, attached only, found in the words only."""

_UNCHECKED: Final = "no statement makes a checkable claim"


def statement_sums(scope: Scope, axes: Axes | None = None) -> Iterator[Sums]:
    """Yield statements by what their speakers call them and by what they are; of speakers by role unless told
    otherwise, and of all.
    """
    label, truth = pl.col("self_deceptive"), pl.col("truth").cast(pl.String)
    insincere = pl.col("insincere")
    intended, admitted = pl.col("intended"), pl.col("admitted")
    lie, true = (truth == "lie").fill_null(value=False), (truth == "true").fill_null(value=False)
    agents = pl.col("agent").cast(pl.Enum(scope.study.agents))
    yield sums_of(
        scope.of(scope.study.statements, "agent").with_columns(agents),
        scope.study.games,
        {"role": "role"} if axes is None else axes,
        total=True,
        beside=BESIDE,
        statements=1.0,
        words=pl.col("words"),
        labelled=label.is_not_null(),
        deceptive=label,
        checkable=truth.is_not_null(),
        true=true,
        mistakes=truth == "mistake",
        lies=lie,
        labelled_lies=lie & label.is_not_null(),
        admitted=lie & label,
        labelled_true=true & label.is_not_null(),
        false_confessions=true & label,
        stances=insincere.is_not_null(),
        insincere=insincere,
        intended=intended,
        labelled_with=intended.is_not_null(),
        admitted_after=admitted,
        labelled_after=admitted.is_not_null(),
        asked_twice=intended & admitted.is_not_null(),
        owned_up=intended & admitted,
    )


PRODUCTION: Final = share("deceptive", "labelled", "no such statement has a self-label")
HONESTY: Final = (
    "checkable",
    "true",
    "mistakes",
    "lies",
    "labelled_lies",
    "admitted",
    "labelled_true",
    "false_confessions",
    "stances",
    "insincere",
)
"""Counts of statements by what is so, and by what their speakers say of them."""
COUNTS: Final = ("statements", "labelled", "deceptive", *HONESTY)
HEADLINES: Final[Mapping[str, Figure]] = {
    "deception_rate": PRODUCTION,
    "lie_rate": share("lies", "checkable", _UNCHECKED),
    "mistake_rate": share("mistakes", "checkable", _UNCHECKED),
    "confession_rate": share("admitted", "labelled_lies", "no lie has a self-label"),
    "confession_gap": share(
        "owned_up", "asked_twice", "no statement that is called deceptive as it is made has a label asked afterwards"
    ),
    "coverage": share("checkable", "statements", "there is no statement"),
    "statement_words": share("words", "statements", "there is no statement"),
}
BESIDE: Final[Mapping[str, Figure]] = {
    **{name: count(name) for name in COUNTS},
    "stance_coverage": share("stances", "statements", "there is no statement"),
    "intended_rate": share("intended", "labelled_with", "no label was asked with the words"),
    "admitted_rate": share("admitted_after", "labelled_after", "no label was asked afterwards"),
    "insincere_rate": share("insincere", "stances", "no statement speaks for or against a player"),
    "false_confession_rate": share("false_confessions", "labelled_true", "no true statement has a self-label"),
}
"""What is told of statements beside the headline metrics."""


def statement_rows(study: Study) -> Iterator[ResultRow]:
    """Yield what the headline metrics do not hold: how honest speakers are, by agent; production by round and phase,
    and by process; how statements are received; their claims; how labels and judgements were come by.
    """
    (by_agent,) = statement_sums(Scope(study), {"speaking": "agent"})
    speaking = by_agent.within(by_agent.groups[1:])
    yield from rows_of(study, NOBODY, speaking, {**BESIDE, **HEADLINES})
    truth = pl.when("wolf").then(pl.col("truth").cast(pl.String))
    as_wolf = sums_of(
        study.statements,
        study.games,
        {"speaking": "agent"},
        total=True,
        lies=truth == "lie",
        checkable=truth.is_not_null(),
    )
    untold = "no statement of it as a Werewolf makes a checkable claim"
    yield from rows_of(study, NOBODY, as_wolf, {"wolf_lie_rate": share("lies", "checkable", untold)})
    process = study.tables.seats.select("game", "process", speaker="name")
    label = pl.col("self_deceptive")
    spoken = study.statements.join(process, on=["game", "speaker"], how="left", maintain_order="left")
    for axis in ("round", "phase", "process"):
        labelled = spoken.filter(label.is_not_null()) if axis != "phase" else spoken
        sums = sums_of(labelled, study.games, {axis: axis}, labelled=label.is_not_null(), deceptive=label)
        yield from rows_of(study, NOBODY, sums, {"deception_rate": PRODUCTION})
    yield from _received_rows(study)
    yield from _claim_rows(study)
    how = pl.concat([study.statements["how"], study.judgements["how"]]).drop_nulls().cast(pl.String)
    counts = {name: int((how == name).sum()) for name in HOW}
    for name, number in counts.items():
        yield ResultRow("labels", group_text({"how": name}), NOBODY, number)
    n = len(how)
    share_clean, why = (counts["clean"] / n, None) if n else (None, "there are no self-labels and judgements")
    yield ResultRow("clean_share", "all", NOBODY, share_clean, n=n, reason=why)


def received(study: Study) -> pl.DataFrame:
    """Return statements with their mean suspicion, and the share of observers that flag; null where nobody judged."""

    def make() -> pl.DataFrame:
        means = study.judged.group_by("said", maintain_order=True).agg(
            heard_suspicion=in_order(pl.col("suspicion")).mean(), heard_flags=pl.col("flagged").mean()
        )
        return study.statements.join(means, on="said", how="left", maintain_order="left")

    return study.cached("received", make)


def _received_rows(study: Study) -> Iterator[ResultRow]:
    """Yield average suspicion and average share of flags: means over statements of the mean over observers, so that a
    statement heard by many weighs no more than one heard by few; by the speaker's role, and by the kind of deception
    that speakers name.
    """
    statements = received(study)
    suspicion, flags = pl.col("heard_suspicion"), pl.col("heard_flags")
    unjudged = "no statement of this row has a judgement that counts"
    figures = {
        "received_suspicion": share("suspicion", "suspicion_n", unjudged),
        "received_flags": share("flags", "flags_n", unjudged),
    }
    kinds = statements.filter(pl.col("kind").is_not_null())
    for prefix, frame, axis, more in (
        ("", statements, "role", {}),
        ("kind_", kinds, "kind", {"kind_statements": count("statements")}),
    ):
        sums = sums_of(
            frame,
            study.games,
            {axis: axis},
            total=True,
            statements=1.0,
            suspicion=suspicion,
            suspicion_n=suspicion.is_not_null(),
            flags=flags,
            flags_n=flags.is_not_null(),
        )
        named = {f"{prefix}{name}": figure for name, figure in figures.items()}
        yield from rows_of(study, NOBODY, sums, {**named, **more})


def claims(study: Study) -> pl.DataFrame:
    """Return claims with the ``role``, ``phase`` and ``round`` of their statements, ``source``, one of `SOURCES`, and
    whether a Seer says it is one.
    """
    spoken = study.statements.select("game", "speaker", "phase", "round", "said", statement="number", by="role")
    source = pl.when("extracted").then(pl.lit("extracted")).otherwise(pl.lit("given"))
    reveals = (pl.col("claim") == "role") & (pl.col("role") == "Seer") & ~pl.col("denied") & (pl.col("by") == "Seer")
    return (
        study.tables.claims.join(spoken, on=["game", "statement"], how="left", maintain_order="left")
        .with_columns(source=pl.when("heard").then(source).otherwise(pl.lit("unheard")))
        .with_columns(reveals=reveals & (pl.col("target").cast(pl.String) == pl.col("speaker").cast(pl.String)))
    )


def _claim_rows(study: Study) -> Iterator[ResultRow]:
    """Yield how many claims of each kind there are, by source and verdict. Extracted ones that repeat what the speaker
    attached do not count twice; those attached that cannot be heard in the words count here only.
    """
    counts = claims(study).group_by("claim", "source", "verdict").len().rows()
    number = {(kind, source, verdict): n for kind, source, verdict, n in counts}
    for kind in CLAIMS:
        for source in SOURCES:
            for verdict in VERDICTS:
                group = group_text({"claim": kind, "source": source, "verdict": verdict})
                yield ResultRow("claims", group, NOBODY, number.get((kind, source, verdict), 0))


def lying_rows(study: Study) -> Iterator[ResultRow]:
    """Yield how deception goes: what is lied about when, which kinds speakers admit when, and what is thought before it
    is said (beyond the paper; all of it exploratory).

    - ``lie_share``: by kind of claim, phase and round, the share of lies among checkable claims.
    - ``kind_share``: by kind of deception that speakers admit, phase and round, its share of labelled statements.
    - ``thought_contradicted``: of statements before which the speaker's private thought says something of the same
      player, the share that contradict it; ``contradiction_admitted``, of those, the share that their speakers call
      deceptive. By Werewolves and by others.
    """
    checkable_claims = claims(study).filter(pl.col("heard") & pl.col("verdict").cast(pl.String).is_in(TRUTHS))
    axes = {name: name for name in ("claim", "phase", "round")}
    verdict = pl.col("verdict")
    sums = sums_of(
        checkable_claims, study.games, axes, claims=1.0, lies=verdict == "lie", mistakes=verdict == "mistake"
    )
    counted = {"lie_share": share("lies", "claims", "no such claim"), "lie_share_mistakes": count("mistakes")}
    yield from rows_of(study, NOBODY, _present(sums, "claims"), counted)

    labelled = study.statements.filter(pl.col("self_deceptive").is_not_null())
    for kind in labelled.filter(pl.col("self_deceptive"))["kind"].drop_nulls().unique().cast(pl.String):
        of_kind = pl.col("self_deceptive") & (pl.col("kind") == kind)
        by_time = {name: name for name in ("phase", "round")}
        sums = sums_of(labelled, study.games, by_time, labelled=1.0, deceptive=of_kind.fill_null(value=False))
        figures = {"kind_share": share("deceptive", "labelled", "no such statement")}
        yield from rows_of(study, NOBODY, _present(sums, "deceptive"), figures, kind=kind)

    against = pl.col("contradicts_thought")
    judged = against & pl.col("self_deceptive").is_not_null()
    sums = sums_of(
        study.statements,
        study.games,
        {"wolf": "wolf"},
        total=True,
        against=against,
        comparable=against.is_not_null(),
        admitted=judged & pl.col("self_deceptive"),
        labelled=judged,
    )
    unthought = "no recorded thought says anything of a player of whom the words say something"
    unlabelled = "no labelled statement contradicts the thought before it"
    figures = {
        "thought_contradicted": share("against", "comparable", unthought),
        "contradiction_admitted": share("admitted", "labelled", unlabelled),
    }
    yield from rows_of(study, NOBODY, sums, figures)


def _present(sums: Sums, name: str) -> Sums:
    """Return the groups in which there is anything of a sum."""
    is_present = getattr(sums.total, name) > 0
    return sums.within([group for group, present in zip(sums.groups, is_present, strict=True) if present])
