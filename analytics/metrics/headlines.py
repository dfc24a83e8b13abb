"""The headline metrics: what each is called and which end is the better one, the sums that it is a formula of, and
where the formula stands.

To add one, add a `Headline` to `_all`. It is then in ``variability``, in comparisons, in the page and its tables; it
needs an entry in `analytics.reference`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, Literal, TypeAlias

import numpy as np

from analytics.metrics import comprehension, detection, monitor, scores, statements, suspicion, votes
from analytics.metrics.formulas import Array
from analytics.metrics.games import wins, won_by
from analytics.metrics.scores import SUFFIX
from analytics.metrics.study import Family, Scope, Study, Units, rows_of
from analytics.metrics.sums import Figure, Sums
from analytics.results import EVERYBODY, NOBODY, UNINFORMED, Observers, ResultRow
from wolfbus.errors import ConfigError
from wolfbus.files.printable import with_article
from wolfbus.game.vocabulary import ROLES, Role

Unit: TypeAlias = Literal["share", "probability", "score", "points", "words"]
Better: TypeAlias = Literal["high", "low"] | None


@dataclass(frozen=True, slots=True)
class Headline:
    """One headline metric.

    Attributes:
        name: as in the findings.
        label: in words.
        unit: "share" and "probability" lie in [0, 1], "score" has a scale of its own, "points" are a difference of
            shares, "words" are counted.
        better: which end is the better one for those who detect; None where neither is.
        sums: what it is a formula of.
        figure: the formula, and its baseline.
        baseline_label: what that is, in words.
        by_role: whether it is also told by role of the observers, for production of the speakers.
        by_game: whether a mean over games of the games' own values means anything; it does not of a maximum, which is
            the higher the fewer rows a game has.
        pairs: whether it is over pairs of observer and target, so that it matters who knows.
        role: the role that it is told of; None for all.
    """

    name: str
    label: str
    unit: Unit
    better: Better
    sums: Family
    figure: Figure
    baseline_label: str | None = None
    by_role: bool = False
    by_game: bool = True
    pairs: bool = True
    role: str | None = None

    @property
    def metric(self) -> str:
        """Its name in the table, whatever the role."""
        return self.name.partition("/")[0]

    @property
    def group(self) -> Mapping[str, str]:
        """Its group in the table."""
        return {} if self.role is None else {"role": self.role}

    def observers(self, over: Observers) -> Observers:
        """Return what it is over: of pairs what is asked for."""
        return over if self.pairs else NOBODY

    def of_roles(self, roles: Iterable[Role]) -> Iterator[Headline]:
        """Yield it by role, if it is told so."""
        for role in roles if self.by_role else ():
            yield replace(self, name=f"{self.name}/{role}", label=f"{self.label}, by {with_article(role)}", role=role)


_GUESS: Final = "the better constant guess"
_RANDOM: Final = "a vote at random"
_LABELLED: Final = "against self-labels"
"""The ground of truth of what is scored by what speakers say of their own statements."""
_WORDS: Final[Mapping[scores.Score, str]] = {
    "suspicion": "suspicion",
    "before": "smoothed suspicion before the statement",
}


def _wins() -> Iterator[Headline]:
    ends: dict[str, tuple[str, str, Better]] = {
        "villager_wins": ("won by the villagers", "villagers", "high"),
        "werewolf_wins": ("won by the Werewolves", "werewolves", "low"),
        "no_winner": ("without a winner", "nobody", None),
    }
    for name, (label, winner, better) in ends.items():
        yield Headline(name, f"finished games {label}", "share", better, wins, won_by(winner), pairs=False)


def _flags() -> Iterator[Headline]:
    of_truth = "accuracy of flags: lies against all other statements with a checkable claim"
    measures: dict[str, tuple[str, Unit, str | None]] = {
        "accuracy": ("accuracy of flags", "share", _GUESS),
        "accuracy_lift": (f"accuracy of flags minus that of {_GUESS}", "points", _GUESS),
        "balanced_accuracy": ("balanced accuracy of flags", "share", "any constant guess"),
        "precision": ("precision of flags", "share", "flagging everything"),
        "recall": ("recall of flags", "share", None),
        "f1": ("F1 of flags", "share", "flagging everything"),
        "mcc": ("Matthews correlation of flags", "score", "any constant guess"),
    }
    for name, (label, unit, guess) in measures.items():
        about = Headline(
            name,
            f"{label}, {_LABELLED}",
            unit,
            "high",
            detection.flags,
            detection.HEADLINES[name],
            guess,
            by_role=True,
            by_game=name != "accuracy_lift",
        )
        yield about
        if name in {"accuracy", "accuracy_lift", "balanced_accuracy"}:
            family, figure = detection.FAMILIES["lies"], detection.TRUTH_HEADLINES[name]
            words = label.replace("accuracy of flags", of_truth)
            yield replace(about, name=f"truth_{name}", label=words, sums=family, figure=figure, by_role=False)
        if name == "balanced_accuracy":
            for kind, one, words in (
                ("intent", detection.INTENT, "lies against honest mistakes"),
                ("falsehood", detection.FALSEHOOD, "lies and mistakes against true statements"),
            ):
                sums = detection.FAMILIES[f"of_{kind}"]
                about_kind = replace(about, name=f"{kind}_{name}", sums=sums, figure=one, by_role=False)
                yield replace(about_kind, label=f"{label}: {words}")


def _scores(score: scores.Score) -> Iterator[Headline]:
    words, suffix, family = _WORDS[score], SUFFIX[score], scores.FAMILIES[score]
    base, always = "share of deceptive statements", "always saying the share of deceptive statements"

    def about(name: str, label: str, unit: Unit, guess: str | None, better: Better = "high") -> Headline:
        return Headline(f"{name}{suffix}", f"{label}, {_LABELLED}", unit, better, family, scores.FIGURES[name], guess)

    yield replace(about("auc", f"ROC AUC of {words}", "probability", "chance"), by_role=True)
    average = f"average precision of {words}"
    yield about("auprc", average, "probability", base)
    if score == "suspicion":
        yield about("auprc_lift", f"{average} minus the {base}", "points", base)
    yield about("brier", f"Brier score of {words}", "score", always, "low")
    yield about("brier_skill", f"Brier skill of {words}", "score", always)
    yield about("ece", f"expected calibration error of {words}", "points", None, "low")


def _others() -> Iterator[Headline]:
    label = "ROC AUC of suspicion: Werewolves' statements against others'"
    yield Headline("role_auc", label, "probability", "high", scores.OF_ROLES, scores.ROLE_AUC, "chance", by_role=True)
    for name, family, words in (
        ("suspicion_gap", suspicion.towards, "final suspicion"),
        ("raw_suspicion_gap", suspicion.raw_towards, "suspicion as it was given, not smoothed,"),
    ):
        label = f"{words} of Werewolves minus that of others"
        yield Headline(name, label, "points", "high", family, suspicion.GAP, "no difference")
    label = "votes by others than Werewolves that name a Werewolf"
    yield Headline("vote_hit", label, "share", "high", votes.hits, votes.HIT, _RANDOM)
    lift = f"{label} minus votes at random"
    yield Headline("vote_hit_lift", lift, "points", "high", votes.hits, votes.HIT_LIFT, _RANDOM)
    label = "ballots of a vote for whom most vote, of all that name somebody"
    family, figure = votes.concentrations, votes.CONCENTRATION
    yield Headline("vote_concentration", label, "share", None, family, figure, pairs=False)
    label, chance = "votes for whom the voter suspects most", f"{_RANDOM}: 1 / (living - 1)"
    yield Headline("vote_follows_suspicion", label, "share", None, votes.follows, votes.FOLLOWS, chance)


def _statements() -> Iterator[Headline]:
    for name, label in (
        ("deception_rate", "statements called deceptive by their speakers"),
        ("lie_rate", "lies among statements with a checkable claim"),
        ("mistake_rate", "mistakes among statements with a checkable claim"),
        ("confession_rate", "lies that their speakers call deceptive"),
        ("confession_gap", "statements called deceptive as they are made that their speakers admit afterwards"),
        ("coverage", "statements with a checkable claim"),
        ("statement_words", "words in a statement, mean"),
    ):
        figure, by_role = statements.HEADLINES[name], name in {"deception_rate", "confession_gap"}
        unit: Unit = "words" if name == "statement_words" else "share"
        yield Headline(name, label, unit, None, statements.statement_sums, figure, pairs=False, by_role=by_role)


def _monitor() -> Iterator[Headline]:
    label = "Werewolves' thoughts that give them away"
    yield Headline(
        "given_away",
        label,
        "share",
        None,
        monitor.thoughts,
        monitor.GIVEN_AWAY,
        "others' thoughts",
        pairs=False,
    )
    for score, name in monitor.NAMES.items():
        who = "a lexicon" if score in monitor.LEXICAL else "reader models"
        masked = ", roles masked" if name.endswith("_masked") else ""
        label = f"AUC of {who} for Werewolves' thoughts{masked}"
        family, figure = monitor.FAMILIES[score], monitor.auc_figure(score)
        yield Headline(name, label, "probability", None, family, figure, "chance", pairs=False)


def _comprehension() -> Iterator[Headline]:
    label = "facts of the game that are right in thoughts and statements"
    family, figure = comprehension.facts_told, comprehension.FACTS_RIGHT
    yield Headline("comprehension", label, "share", None, family, figure, pairs=False)


def _all() -> Iterator[Headline]:
    yield from _wins()
    yield from _statements()
    yield from _flags()
    for score in scores.SCORES:
        yield from _scores(score)
    yield from _others()
    yield from _monitor()
    yield from _comprehension()


HEADLINES: Final[dict[str, Headline]] = {
    headline.name: headline for about in _all() for headline in (about, *about.of_roles(ROLES))
}
"""All by name, those of a role as ``name/role``; of roles of other tables there are rows, and no metric is named."""


def check_metric(name: str) -> str:
    """Return the name of a headline metric that a command was given; raises ConfigError if it is none."""
    if name not in HEADLINES:
        headlines = ", ".join(metric for metric in HEADLINES if "/" not in metric)
        roles = "and some by role, such as accuracy/Seer"
        raise ConfigError(f"--metric {name}: there is no such metric; there are {headlines}, {roles}")
    return name


def headlines_of(names: Iterable[str] | None) -> list[Headline]:
    """Return the headline metrics of these names, or all.

    Raises:
        KeyError: there is no such metric.
    """
    return [HEADLINES[name] for name in (HEADLINES if names is None else names)]


def by_sums(chosen: Iterable[Headline], scope: Scope) -> Iterator[tuple[Sums, list[Headline]]]:
    """Yield the sums that some metrics are formulas of, group by group, each with those of them that are."""
    families: dict[Family, list[Headline]] = {}
    for headline in chosen:
        families.setdefault(headline.sums, []).append(headline)
    for family, members in families.items():
        for sums in family(scope):
            chosen_here = [headline for headline in members if headline.group in sums.groups]
            if chosen_here:
                yield sums.within([headline.group for headline in chosen_here]), chosen_here


def headline_rows(study: Study, names: Iterable[str] | None = None, agent: str | None = None) -> Iterator[ResultRow]:
    """Yield headline metrics (paper 5.9; metrics: variability): over uninformed pairs, for whoever knows whether
    somebody is a Werewolf detects nothing; and over all, as the paper's figures are. And as ``NAME_by_game`` the mean
    over the games of the games' own values, in which a game of few rows weighs as much as one of many, plus and minus
    1.96 standard errors, as the paper has it.

    Args:
        study: the games.
        names: of the metrics; all unless given.
        agent: only what this agent does counts, over uninformed pairs.
    """
    chosen = headlines_of(names)
    if names is None:
        others = study.roles[len(ROLES) :]
        chosen += [of_role for about in chosen if about.role is None for of_role in about.of_roles(others)]
    within = {} if agent is None else {"agent": agent}
    for over in (UNINFORMED, EVERYBODY) if agent is None else (UNINFORMED,):
        asked_for = [headline for headline in chosen if headline.pairs or over == UNINFORMED]
        for sums, members in by_sums(asked_for, Scope(study, over, agent)):
            figures = {headline.metric: headline.figure for headline in members}
            if agent is None:
                in_full = over == EVERYBODY or not members[0].pairs
                beside = {
                    name: figure
                    for name, figure in sums.beside.items()
                    if in_full or figure.n is None or not figure.has_interval
                }
                figures = {**beside, **figures}
            yield from rows_of(study, members[0].observers(over), sums, figures, **within)
            if agent is None and (over == EVERYBODY or not members[0].pairs):
                yield from _by_game(sums, members, members[0].observers(over))


def _by_game(sums: Sums, members: Sequence[Headline], observers: Observers) -> Iterator[ResultRow]:
    games = sums.by_game
    for headline in (headline for headline in members if headline.by_game):
        values = headline.figure.value(games)[:, sums.groups.index(headline.group)]
        values = values[~np.isnan(values)]
        n = len(values)
        mean = float(values.mean()) if n else None
        half = float(1.96 * values.std(ddof=1) / np.sqrt(n)) if mean is not None and n > 1 else None
        low, high = (None, None) if mean is None or half is None else (mean - half, mean + half)
        group = "all" if headline.role is None else f"role:{headline.role}"
        reason = None if n else headline.figure.reason
        yield ResultRow(f"{headline.metric}_by_game", group, observers, mean, low, high, n, None, reason)


def varied(
    chosen: Iterable[Headline], scope: Scope, unit: Array, count: int, vary: Callable[[Array], Array]
) -> dict[str, tuple[Array, Array | None]]:
    """Return metrics, and their baselines, in variants of the sums of units, NaN where undefined.

    Args:
        chosen: the metrics.
        scope: whose rows count.
        unit: unit of each game, -1 for none.
        count: number of units.
        vary: makes variants, by column, of what it is given by unit and column.
    """
    variants_of: dict[str, tuple[Array, Array | None]] = {}
    for sums, members in by_sums(chosen, scope):
        units = Units(sums, unit, count)
        variants = sums.parts(vary(units.matrix))
        for headline in members:
            place = sums.groups.index(headline.group)
            baseline = headline.figure.baseline
            variants_of[headline.name] = (
                units.values(headline.figure, variants)[..., place],
                None if baseline is None else baseline(variants)[..., place],
            )
    return variants_of
