"""Sections of the findings: selections of the one table of results.

Undefined is None, never 0 and never NaN; every mean has its own denominator beside it.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, Final

import polars as pl

from analytics import Result
from analytics.metrics.games import LENGTHS, WITH_WOLVES
from analytics.metrics.statements import SOURCES
from analytics.metrics.study import Study
from analytics.results import EVERYBODY, PAIRS, Observers, Results, group_of
from analytics.rows.course import NIGHTS
from analytics.rows.fields import HOW
from analytics.rows.talk import CLAIMS, VERDICTS
from wolfbus.game.vocabulary import ASSESSMENT_TIMES, DECEPTIONS, LABEL_TIMES, PROTOCOLS

FLAGS: Final = (
    "accuracy",
    "precision",
    "recall",
    "f1",
    "balanced_accuracy",
    "mcc",
    "base_rate",
    "constant_accuracy",
    "dprime",
    "criterion",
)
"""What Table 3 tells of flags beside counts."""

Section = Callable[[Study, Results], Result]


def over_both(section: Callable[[Results, Observers], Result]) -> Section:
    """Return a section over uninformed pairs, with the same over all under ``all_observers``."""

    @wraps(section)
    def both(_study: Study, results: Results) -> Result:
        uninformed, everybody = (section(results, observers) for observers in PAIRS)
        return {**uninformed, "all_observers": everybody}

    return both


def with_overall(results: Results) -> tuple[str, ...]:
    """Return the names of the rows of a table by role."""
    return (*results.roles, "overall")


def group_named(axis: str, name: str) -> dict[str, str]:
    """Return the group of a row of a table, "overall" for all."""
    return {} if name == "overall" else {axis: name}


# -- games and statements

_WINS: Final = {"villagers": "villager_wins", "werewolves": "werewolf_wins", "nobody": "no_winner"}


def outcomes(study: Study, results: Results) -> Result:
    """Return shares with Wilson 95 % intervals on the effective number of games, and mean ± sd per game (paper 5.2;
    metrics: outcomes); see `analytics.metrics.games`.

    ``labels`` counts all games by when speakers labelled their words, ``assessments`` by when labels and judgements
    were asked for, ``without_feedback`` those in which seats do not see their own again; ``protocols`` counts all games
    by how model players were asked; ``mixed_protocols`` tells that there are games of more than one, whose numbers are
    not of one measurement. ``mixed_teams``: in some game a side's seats are several
    agents', so that its wins are no single agent's.
    """

    def winner(name: str) -> Result:
        row = results.row(_WINS[name])
        k = round((row.value or 0.0) * (row.n or 0))
        return {"k": k, "n": row.n, "share": row.value, "low": row.low, "high": row.high}

    def length(name: str) -> Result:
        row, sd = results.row(f"{name}_per_game"), results.value(f"{name}_sd")
        return {"mean": row.value, "sd": sd, "n": row.n, "total": results.count(f"{name}_total")}

    games, finished = results.count("games"), results.count("finished_games")
    protocols = {name: results.count("games", protocol=name) for name in PROTOCOLS}
    endings = results.groups("ending", "games")
    sides = study.tables.seats.group_by("game", WITH_WOLVES).agg(agents=pl.col("agent").n_unique())
    return {
        "games": games,
        "finished": finished,
        "unfinished": games - finished,
        "protocols": protocols,
        "labels": {name: results.count("games", label=name) for name in LABEL_TIMES},
        "assessments": {name: results.count("games", assess=name) for name in ASSESSMENT_TIMES},
        "without_feedback": results.count("games", feedback="no"),
        "mixed_protocols": sum(count > 0 for count in protocols.values()) > 1,
        "mixed_teams": bool((sides["agents"] > 1).any()),
        "winners": {name: winner(name) for name in _WINS},
        "endings": {name: results.count("games", ending=name) for name in endings},
        "per_game": {name: length(name) for name in LENGTHS},
    }


_SPLITS: Final = {"role": "role", "brain": "speaking", "agent": "process", "round": "round", "phase": "phase"}
"""What production is split by, and the axis of each."""


def production_groups(results: Results) -> dict[str, list[dict[str, str]]]:
    """Return the groups of each split of production; of agents, processes and rounds only those with labels."""
    groups_of = {}
    for name, axis in _SPLITS.items():
        groups = [{axis: value} for value in results.groups(axis, "deception_rate")]
        fixed = name in {"role", "phase"}
        groups_of[name] = [group for group in groups if fixed or results.row("deception_rate", **group).n]
    return groups_of


def production(_study: Study, results: Results) -> Result:
    """Return how often speakers call their own statements deceptive (paper 4.5, 5.2, 5.3; metrics: production).

    The mean of d over statements with a self-label that counts: overall (the base rate) and by role, brain, agent
    (process), round and phase. Roles and phases are all there, with a null rate where n = 0.
    """

    def rate(**group: str) -> Result:
        row = results.row("deception_rate", **group)
        return {"rate": row.value, "deceptive": round((row.value or 0.0) * (row.n or 0)), "n": row.n}

    by = {
        f"by_{name}": {value: rate(**group) for group in groups for value in group.values()}
        for name, groups in production_groups(results).items()
    }
    return {"overall": rate(), **by}


def _received(results: Results, prefix: str = "", **group: str) -> Result:
    rows = {name: results.row(f"{prefix}received_{metric}", **group) for name, metric in RECEIVED.items()}
    return {key: value for name, row in rows.items() for key, value in ((name, row.value), (f"{name}_n", row.n))}


RECEIVED: Final = {"suspicion": "suspicion", "flagged": "flags"}


def table1(_study: Study, results: Results) -> Result:
    """Return deception and its reception, a row per speaker role and one overall (paper 5.3, Table 1).

    ``statements`` are all, ``labelled`` those with a self-label that counts, ``deceptive`` the sum of d over these;
    ``suspicion_n`` and ``flagged_n`` are statements with at least one judgement that counts.
    """
    return {
        name: {
            **{
                part: results.count(part, **group_named("role", name))
                for part in ("statements", "labelled", "deceptive")
            },
            **_received(results, **group_named("role", name)),
        }
        for name in with_overall(results)
    }


def table5(_study: Study, results: Results) -> Result:
    """Return how each self-labelled kind is received, and all of them (paper 5.8, Table 5; metrics: Table 5).

    Only statements with a self-label that counts; "unspecified" are those called deceptive without a kind.
    """
    return {
        name: {
            "count": results.count("kind_statements", **group_named("kind", name)),
            **_received(results, "kind_", **group_named("kind", name)),
        }
        for name in (*DECEPTIONS, "overall")
    }


def claims(_study: Study, results: Results) -> Result:
    """Return ``given``, ``unheard`` and ``extracted`` (totals), and ``by_kind``: for each kind of claim the same three,
    each with its total ``n`` and the verdicts (metrics: objective truth).

    ``given`` were attached and can be heard in the words, ``unheard`` were attached and cannot: they count here only.
    Extracted ones that repeat what the speaker attached do not count twice.
    """

    def verdicts(kind: str, source: str) -> Result:
        counts: Result = {name: results.count("claims", claim=kind, source=source, verdict=name) for name in VERDICTS}
        return {"n": sum(counts.values()), **counts}

    by_kind = {kind: {source: verdicts(kind, source) for source in SOURCES} for kind in CLAIMS}
    totals = {source: sum(row[source]["n"] for row in by_kind.values()) for source in SOURCES}
    return {**totals, "by_kind": by_kind}


def labels(_study: Study, results: Results) -> Result:
    """Return how self-labels and judgements were come by: ``total`` = ``clean`` + ``repaired`` (accepted, but not
    clean) + ``defaulted`` (all others). What is still awaited is not counted.
    """
    counts = {name: results.count("labels", how=name) for name in HOW}
    return {"total": sum(counts.values()), **counts}


# -- flags


def confusion(results: Results, observers: Observers, prefix: str = "", /, **group: str) -> Result:
    """Return flags against truth: counts by name, and everything that follows from them."""
    counts = {name: results.count(f"{prefix}{name}", observers, **group) for name in ("tp", "tn", "fp", "fn")}
    values = {name: results.value(f"{prefix}{name}", observers, **group) for name in FLAGS}
    return {"n": sum(counts.values()), **counts, **values}


def table3(_study: Study, results: Results) -> Result:
    """Return how well observers find the deception that speakers admit, by observer role and ``overall`` (paper 4.5,
    5.5, Table 3; metrics: Table 3).

    Every judgement that counts against the self-label of its statement, where that counts too.

    - ``f1`` needs precision and recall to be defined: an observer who never flags has none.
    - ``balanced_accuracy`` (mean of both classes' recall), ``dprime`` and ``criterion`` need both classes; ``mcc`` also
      needs an observer that both flags and does not.
    - ``base_rate`` is the share of deceptive statements among those judged; ``constant_accuracy`` that of the better of
      the guesses "always deceptive" and "never", which detection has to beat.
    - ``dprime`` = z(hit rate) - z(false-alarm rate) and ``criterion`` = minus their mean, with the log-linear
      correction: 0.5 more of each count, 1 more of each total.
    """
    return {name: confusion(results, EVERYBODY, **group_named("role", name)) for name in with_overall(results)}


_OF_HEADLINE: Final = (
    "accuracy",
    "balanced_accuracy",
    "precision",
    "recall",
    "f1",
    "base_rate",
    "constant_accuracy",
)


@over_both
def headline(results: Results, observers: Observers) -> Result:
    """Return detection accuracy and suspicion's AUC against self-labels over ``all`` replies and over ``clean`` ones,
    each with its n (metrics: repair report).

    A judgement is clean if it and the self-label that it is held against were accepted as they stood. Over uninformed
    pairs; ``all_observers``: the same over all.
    """
    rows = {}
    for name, prefix in (("all", ""), ("clean", "clean_")):
        flags = confusion(results, observers, prefix)
        area = results.row("auc", observers)
        n = (area.n or 0) if not prefix else results.count("clean_scored", observers)
        value = results.value(f"{prefix}auc", observers)
        rows[name] = {"n": flags["n"], **{key: flags[key] for key in _OF_HEADLINE}, "auc": value, "auc_n": n}
    return rows


# -- suspicion


def table2(_study: Study, results: Results) -> Result:
    """Return ``[observer role][target role]`` cells of mean, n games and number of pairs (paper 4.5, 5.4; metrics:
    Table 2).

    Mean final D over the pairs of a cell within a game, then over the games that have the cell. D is final because it
    froze: when one of the pair left, or when the game ended. A game that still runs counts with D as it stands.
    Villager-Villager and Werewolf-Werewolf are filled; a cell without pairs has a null mean.
    """

    def cell(observer: str, target: str) -> Result:
        row = results.row("final_suspicion", EVERYBODY, observer=observer, target=target)
        pairs = results.count("final_pairs", EVERYBODY, observer=observer, target=target)
        return {"mean": row.value, "n": row.n, "pairs": pairs}

    return {observer: {target: cell(observer, target) for target in results.roles} for observer in results.roles}


@over_both
def figure1(results: Results, observers: Observers) -> Result:
    """Return Figure 1's lines (paper 5.6; metrics: Figure 1).

    ``suspicion[target role]``: per round the mean over games of the game's mean D over pairs alive when the round's
    last judgement was joined, with a judgement so far; sem over games (null below 2), n games. ``raw``: the same of the
    round's suspicions as they were given, not smoothed. ``flagged``: per round the share of judgements that flag, n
    judgements.

    Lines also move because of who is left. ``moved[target role]`` takes the change from the round before apart, in
    games that have a pair in both rounds: ``within`` these pairs, the mean over games of the mean change of their D,
    and by the ``makeup`` of the pairs, the rest.

    Over uninformed pairs; ``all_observers``: the same over all, as in the paper.
    """

    def line(role: str, metric: str, name: str) -> list[Result]:
        points = []
        for round_ in rounds_of(results, metric, observers, target=role):
            row = results.row(metric, observers, target=role, round=round_)
            sem = results.value(f"{metric}_sem", observers, target=role, round=round_)
            points.append({"round": round_, name: row.value, f"{name}_sem".removeprefix("mean_"): sem, "n": row.n})
        return points

    def moved(role: str) -> list[Result]:
        parts = (line(role, f"moved_{name}", name) for name in ("within", "makeup"))
        return [{**within, **makeup} for within, makeup in zip(*parts, strict=True)]

    flagged = []
    for round_ in rounds_of(results, "flagged_share", observers):
        row = results.row("flagged_share", observers, round=round_)
        share, n = row.value or 0.0, row.n or 0
        flagged.append({"round": round_, "share": row.value, "flagged": round(share * n), "n": n})
    return {
        "suspicion": {role: line(role, "suspicion", "mean") for role in results.roles},
        "raw": {role: line(role, "raw_suspicion", "mean") for role in results.roles},
        "moved": {role: moved(role) for role in results.roles},
        "flagged": flagged,
    }


def rounds_of(results: Results, metric: str, observers: Observers, **group: str) -> list[int]:
    """Return the rounds in which there is anything of a metric."""
    groups = (group_of(row.group) for row in results if row.metric == metric and row.observers == observers)
    return sorted(int(other["round"]) for other in groups if {**group, "round": other.get("round")} == other)


@over_both
def trends(results: Results, observers: Observers) -> Result:
    """Return slopes per round and the first separable round (paper 5.6; metrics: trend).

    ``slopes[target role]``: ``median`` over games of at least two rounds of the Theil-Sen slope within the game, its
    game-bootstrap 95 % interval (games are resampled, not blocks), n games; ``paper_reading`` is the slope of the
    per-round means over games, in which rounds of few, long games weigh as much as others. Units: D per round.

    ``separable``: the first round whose game-bootstrap 95 % interval of the mean paired difference Werewolf - Villager
    lies above 0, and so in every later round; only rounds with at least 10 games that have both are judged. Where every
    draw gives the same difference, that is what has to lie above 0. ``round`` is null where there is none, and
    ``reason`` says why.

    Over uninformed pairs; ``all_observers``: the same over all, as in the paper.
    """
    slopes = {}
    for role in results.roles:
        slope = results.row("suspicion_slope", observers, target=role).estimate()
        means = results.row("slope_of_means", observers, target=role)
        reading = {"paper_reading": means.value, "paper_reading_rounds": means.n}
        slopes[role] = {"median": slope.pop("value"), **slope, **reading}
    rounds = []
    for round_ in rounds_of(results, "suspicion_difference", observers):
        row = results.row("suspicion_difference", observers, round=round_).estimate()
        del row["reason"]
        rounds.append({"round": round_, "difference": row.pop("value"), **row})
    first = results.row("first_separable_round", observers)
    at = None if first.value is None else round(first.value)
    return {"slopes": slopes, "separable": {"round": at, "reason": first.reason, "rounds": rounds}}


def events(_study: Study, results: Results) -> Result:
    """Return suspicion around events, each an estimate with its block-bootstrap 95 % interval (paper 5.3; metrics:
    events).

    Suspicion of a statement is the mean over its observers, as in Table 1. Whoever claims while really a Seer counts; a
    Seer who never does has no "before" and is left out **[choice]**. A claim is a role claim about oneself that can be
    heard in the words, whether attached or not.

    ``seer``: statements ``before``, and from, the claim (``after``), pooled over games; ``difference`` is the mean over
    the ``games`` that have both of after minus before. ``doctor``: statements of a day after a night whose kill was
    ``blocked``, and of one whose kill went through (``killed``), pooled; ``difference`` is blocked minus killed. n
    counts statements, for the Seer's difference games. Nights are counted whether or not a Doctor spoke on the day
    after; those ``without_attempt`` count for neither.
    """

    def estimate(name: str) -> Result:
        return results.row(f"event_{name}").estimate()

    change = estimate("seer_difference")
    nights = {f"nights_{name}": results.count("nights", result=name) for name in NIGHTS}
    return {
        "seer": {
            "before": estimate("before"),
            "after": estimate("after"),
            "difference": change,
            "games": change["n"],
            "claimed": results.count("seers", claimed="yes"),
            "silent": results.count("seers", claimed="no"),
        },
        "doctor": {
            "blocked": estimate("blocked"),
            "killed": estimate("killed"),
            "difference": estimate("doctor_difference"),
            **nights,
        },
    }


@over_both
def votes(results: Results, observers: Observers) -> Result:
    """Return whether suspicion drives votes, and what would have been had it, as estimates with their block-bootstrap
    95 % intervals (paper 4.5; metrics: does suspicion drive votes, thresholds); see `analytics.metrics.votes`.

    - ``own_argmax``: share of votes for whom the voter itself suspects most by its smoothed D after the day's last
      debate statement; of m equals each counts 1/m. ``chance`` is that of a vote at random, 1 / (living - 1).
    - ``hits``: share of votes by others than Werewolves that name a Werewolf, also ``hits_by_round``.
    - ``counterfactual``: had suspicion exiled.

    Over votes for those of whom the voter cannot tell whether they are Werewolves, and for the counterfactual vote over
    suspicion by observers who could not tell when they last judged; ``all_observers``: the same over all, as in the
    paper.
    """

    def estimate(metric: str, **group: Any) -> Result:
        row = results.row(metric, observers, **group)
        return {**row.estimate(), "chance": row.baseline}

    def hits(**group: Any) -> Result:
        return {**estimate("vote_hit", **group), "abstentions": results.count("abstentions", observers, **group)}

    rounds = {str(round_): hits(round=round_) for round_ in rounds_of(results, "vote_hit", observers)}
    exiles = ("suspicion_exile", "real_exile", "real_exile_of_exiles")
    exile = results.row("suspicion_exile", observers)
    return {
        "own_argmax": {
            **estimate("vote_follows_suspicion"),
            "abstentions": results.count("follow_abstentions", observers),
            "unjudged": results.count("follow_unjudged", observers),
        },
        "hits": hits(),
        "hits_by_round": {name: row for name, row in rounds.items() if row["n"] or row["abstentions"]},
        "counterfactual": {
            **{name: results.row(name, observers).estimate() for name in exiles},
            "chance": exile.baseline,
            "votes": exile.n,
        },
    }
