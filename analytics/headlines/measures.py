"""The headline metrics: what each is called, the formula over sums, its baseline, and why it may be undefined."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

from analytics.headlines import formulas
from analytics.headlines.cells import average_precision, average_precision_lift, roc_area
from analytics.headlines.sums import SCORES, Score
from analytics.headlines.ties import Ties, average_precision_lifts, average_precisions, roc_areas
from analytics.resampling import ratio
from wolfbus.vocabulary import ROLES

if TYPE_CHECKING:
    from analytics.columns import Array

    Sums: TypeAlias = Mapping[str, Array]
    Part: TypeAlias = Callable[[Sums], Array]

Unit: TypeAlias = Literal["share", "probability", "score", "points"]
Better: TypeAlias = Literal["high", "low"] | None


@dataclass(frozen=True, slots=True)
class Measure:
    """One headline metric.

    Attributes:
        name: as in the findings; behind a slash the role of the observers, for production of the speakers.
        label: in words.
        unit: "share" and "probability" lie in [0, 1], "score" has a scale of its own, "points" are a difference of
            shares.
        better: which end is the better one for those who detect; None where neither is.
        reason: why it is undefined where it is.
        n: of the sums, how many rows it is over.
        value: of the sums; None for an area under a curve.
        baseline: of the sums, what needs no skill; None if there is no such thing.
        baseline_label: what that is, in words.
        score: for an area: which score.
        role: for an area: the observers' role; None for all.
        area: for an area: of counts by class and cell.
        by_game: for an area: of ties, that of every game.
    """

    name: str
    label: str
    unit: Unit
    better: Better
    reason: str
    n: Part
    value: Part | None = None
    baseline: Part | None = None
    baseline_label: str | None = None
    score: Score | None = None
    role: int | None = None
    area: Callable[[Array], Array] | None = None
    by_game: Callable[[Ties], Array] | None = None


_CLASSES: Final = "there are no judged statements of both self-labels"
_CLAIMS: Final = "there are no judged statements with true and with false claims"
_SUSPICION: Final = {"suspicion": "suspicion", "before": "smoothed suspicion before the statement"}
_SUFFIX: Final = {"suspicion": "", "before": "_before"}
_FLAGS: Final[tuple[tuple[str, str, Unit, str, str | None, str], ...]] = (
    ("accuracy", "accuracy of flags", "share", "constant_accuracy", "the better constant guess", "nothing to judge"),
    (
        *("accuracy_lift", "accuracy of flags minus that of the better constant guess", "points"),
        *("zero", "the better constant guess", "nothing to judge"),
    ),
    ("balanced_accuracy", "balanced accuracy of flags", "share", "half", "any constant guess", _CLASSES),
    ("precision", "precision of flags", "share", "base_rate", "flagging everything", "nothing is flagged"),
    ("recall", "recall of flags", "share", "", None, "no judged statement is labelled deceptive"),
    ("f1", "F1 of flags", "share", "constant_f1", "flagging everything", "precision or recall is undefined"),
    ("mcc", "Matthews correlation of flags", "score", "zero", "any constant guess", "flags or labels are all alike"),
)


def _ratio(name: str, above: int, below: int) -> Part:
    return lambda sums: ratio(sums[name][..., above], sums[name][..., below])


def _column(name: str, place: int) -> Part:
    return lambda sums: sums[name][..., place]


def _whole(name: str) -> Part:
    return lambda sums: sums[name]


def _of(formula: Callable[[Array], Array], counts: Part) -> Part:
    return lambda sums: formula(counts(sums))


def _role(name: str, role: int | None, behind: int) -> Part:
    """Return the part that takes the sums of one role, or of all; `behind` axes follow that of the roles."""

    def of(sums: Sums) -> Array:
        axis = -1 - behind
        found: Array = sums[name].sum(axis=axis) if role is None else sums[name].take(role, axis=axis)
        return found

    return of


def _named(role: int | None) -> str:
    return "" if role is None else f"/{ROLES[role]}"


def _wins() -> Iterator[Measure]:
    sides: tuple[tuple[str, str, Better], ...] = (
        ("villager_wins", "won by the villagers", "high"),
        ("werewolf_wins", "won by the Werewolves", "low"),
        ("no_winner", "without a winner", None),
    )
    for name, label, better in sides:
        yield Measure(
            *(name, f"finished games {label}", "share", better, "no game is finished"),
            n=_column(name, 1),
            value=_ratio(name, 0, 1),
        )


def _production() -> Iterator[Measure]:
    for role in (None, *range(len(ROLES))):
        counts = _role("deceptive", role, 1)
        yield Measure(
            "deception_rate" + _named(role),
            "statements called deceptive by their speakers" + ("" if role is None else f", by a {ROLES[role]}"),
            *("share", None, "no such statement has a self-label"),
            n=_of(lambda found: found[..., 1], counts),
            value=_of(lambda found: ratio(found[..., 0], found[..., 1]), counts),
        )


def _detection() -> Iterator[Measure]:
    for name, label, unit, baseline, told, reason in _FLAGS:
        for role in (None, *range(len(ROLES))):
            counts = _role("flags", role, 2)
            yield Measure(
                name + _named(role),
                label + ("" if role is None else f", by a {ROLES[role]}"),
                *(unit, "high", reason),
                n=_of(lambda found: found.sum(axis=(-1, -2)), counts),
                value=_of(getattr(formulas, name), counts),
                baseline=_of(getattr(formulas, baseline), counts) if baseline else None,
                baseline_label=told,
            )


def _areas(score: Score) -> Iterator[Measure]:
    def error(place: int) -> Part:
        return lambda sums: sums[f"error_{score}"][..., place]

    def base(sums: Sums) -> Array:
        return ratio(error(2)(sums), error(1)(sums))

    what, suffix = _SUSPICION[score], _SUFFIX[score]
    for role in (None, *range(len(ROLES))):
        judged = _role(f"judged_{score}", role, 0)
        yield Measure(
            "auc" + suffix + _named(role),
            f"ROC AUC of {what}" + ("" if role is None else f", by a {ROLES[role]}"),
            *("probability", "high", _CLASSES),
            n=judged,
            baseline=lambda sums: 0 * error(1)(sums) + 0.5,
            baseline_label="chance",
            score=score,
            role=role,
            area=roc_area,
            by_game=roc_areas,
        )
    yield Measure(
        *("auprc" + suffix, f"average precision of {what}", "probability", "high", _CLASSES, error(1)),
        baseline=base,
        baseline_label="share of deceptive statements",
        score=score,
        area=average_precision,
        by_game=average_precisions,
    )
    if score == "suspicion":
        yield Measure(
            *("auprc_lift", f"average precision of {what} minus the share of deceptive statements", "points"),
            *("high", _CLASSES, error(1)),
            baseline=lambda sums: 0 * error(1)(sums),
            baseline_label="share of deceptive statements",
            score=score,
            area=average_precision_lift,
            by_game=average_precision_lifts,
        )


def _calibration(score: Score) -> Iterator[Measure]:
    errors, bins = f"error_{score}", f"bins_{score}"
    what, suffix = _SUSPICION[score], _SUFFIX[score]
    n = _column(errors, 1)

    def constant(sums: Sums) -> Array:
        share = ratio(sums[errors][..., 2], sums[errors][..., 1])
        found: Array = share * (1 - share)
        return found

    def skill(sums: Sums) -> Array:
        return 1 - ratio(ratio(sums[errors][..., 0], sums[errors][..., 1]), constant(sums))

    def error(sums: Sums) -> Array:
        return ratio(abs(sums[bins][..., 0] - sums[bins][..., 1]).sum(axis=-1), sums[bins][..., 2].sum(axis=-1))

    unjudged = "no judgement counts whose statement has a self-label"
    told = "always saying the share of deceptive statements"
    yield Measure(
        *("brier" + suffix, f"Brier score of {what}", "score", "low", unjudged, n, _ratio(errors, 0, 1)),
        baseline=constant,
        baseline_label=told,
    )
    yield Measure(
        *("brier_skill" + suffix, f"Brier skill of {what}", "score", "high", _CLASSES, n, skill),
        baseline=lambda sums: 0 * n(sums),
        baseline_label=told,
    )
    yield Measure("ece" + suffix, f"expected calibration error of {what}", "points", "low", unjudged, n, error)


def _gap() -> Iterator[Measure]:
    yield Measure(
        *("suspicion_gap", "final suspicion of Werewolves minus that of others", "points", "high"),
        reason="there is no final suspicion of both Werewolves and others",
        n=lambda sums: sums["towards"][..., 1].sum(axis=-1),
        value=lambda sums: (
            ratio(sums["towards"][..., 1, 0], sums["towards"][..., 1, 1])
            - ratio(sums["towards"][..., 0, 0], sums["towards"][..., 0, 1])
        ),
        baseline=lambda sums: 0 * sums["towards"][..., 0, 0],
        baseline_label="no difference",
    )


def _ballots() -> Iterator[Measure]:
    yield Measure(
        *("vote_hit", "votes by others than Werewolves that name a Werewolf", "share", "high"),
        reason="nobody but Werewolves voted for anybody",
        n=_column("hits", 1),
        value=_ratio("hits", 0, 1),
        baseline=_ratio("hits", 2, 1),
        baseline_label="a vote at random: wolves / (living - 1)",
    )
    yield Measure(
        *(
            "vote_hit_lift",
            "votes by others than Werewolves that name a Werewolf minus votes at random",
            "points",
            "high",
        ),
        reason="nobody but Werewolves voted for anybody",
        n=_column("hits", 1),
        value=lambda sums: ratio(sums["hits"][..., 0] - sums["hits"][..., 2], sums["hits"][..., 1]),
        baseline=lambda sums: 0 * sums["hits"][..., 1],
        baseline_label="a vote at random: wolves / (living - 1)",
    )
    yield Measure(
        *("vote_follows_suspicion", "votes for whom the voter suspects most", "share", None),
        reason="nobody who had judged somebody alive voted for anybody",
        n=_column("follows", 1),
        value=_ratio("follows", 0, 1),
        baseline=_ratio("follows", 2, 1),
        baseline_label="a vote at random: 1 / (living - 1)",
    )


def _truth() -> Iterator[Measure]:
    unchecked = "no statement makes a checkable claim"
    yield _claimed("lie_rate", "lies among statements with a checkable claim", 2, 1, unchecked)
    yield _claimed("confession_rate", "lies that their speakers call deceptive", 4, 3, "no lie has a self-label")
    flags, unjudged, guess = _whole("truth_flags"), "no judged statement makes a checkable claim", "any constant guess"
    better = "the better constant guess"
    against: tuple[tuple[str, str, Unit, str, str, str], ...] = (
        ("accuracy", "accuracy of flags against objective truth", "share", "constant_accuracy", better, unjudged),
        (
            *("accuracy_lift", "accuracy of flags against objective truth minus that of the better constant guess"),
            *("points", "zero", better, unjudged),
        ),
        ("balanced_accuracy", "balanced accuracy of flags against objective truth", "share", "half", guess, _CLAIMS),
    )
    for name, label, unit, baseline, told, reason in against:
        yield Measure(
            *(f"truth_{name}", label, unit, "high", reason),
            n=_of(lambda found: found.sum(axis=(-1, -2)), flags),
            value=_of(getattr(formulas, name), flags),
            baseline=_of(getattr(formulas, baseline), flags),
            baseline_label=told,
        )
    yield _claimed("coverage", "statements with a checkable claim", 1, 0, "there is no statement")


def _claimed(name: str, label: str, above: int, below: int, reason: str) -> Measure:
    return Measure(
        *(name, label, "share", None, reason), n=_column("truth", below), value=_ratio("truth", above, below)
    )


def _all() -> Iterator[Measure]:
    yield from _wins()
    yield from _production()
    yield from _detection()
    for score in SCORES:
        yield from _areas(score)
        yield from _calibration(score)
    yield from _gap()
    yield from _ballots()
    yield from _truth()


MEASURES: Final[Mapping[str, Measure]] = {measure.name: measure for measure in _all()}
"""All headline metrics by name, in the order of the findings."""
