"""What a study cannot show, said from the study itself: how small a difference it could find, which label was asked
when, who else labelled, what was asked of which models, and what was not tested.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from scipy.special import ndtri

from analytics import Result, look
from analytics.metrics.agreement import agreement_sentence
from analytics.metrics.primary import ALPHA
from analytics.report.caveats import ASKED
from analytics.report.context import Context, with_interval
from analytics.report.specs import phrase
from wolfbus.files.document import Bullets, Section
from wolfbus.files.formats import count, difference_unit, in_unit, listed
from wolfbus.files.printable import counted, shortened, visible
from wolfbus.game.vocabulary import SCRIPTS

_POWER: Final = 0.8
_NAMED: Final = 8
"""Models that are named."""
_LONGEST: Final = 60
_HASH: Final = 15
"""Characters that tell one set of prompts from another."""


def limitations(findings: Result, context: Context) -> Section:
    """Return what the study cannot show."""
    return Section(
        "limitations", "What this study cannot show", (Bullets(tuple((line,) for line in _lines(findings, context))),)
    )


def _lines(findings: Result, context: Context) -> Iterator[str]:
    smallest = [
        f"{row.get('label') or name}: {in_unit(size, difference_unit(str(row.get('unit') or 'share')))}"
        for name, row in (look(findings, "primary", "metrics") or {}).items()
        if (size := smallest_difference(row.get("difference") or {})) is not None
    ]
    yield phrase("limitations/smallest", metrics="; ".join(smallest)) if smallest else phrase("limitations/no_smallest")
    if set(_times(findings, "assessments")) != {"none"}:
        yield from _labels(findings)
        yield phrase("limitations/statement_and_role")
    yield agreement_sentence(findings)
    yield from _prompts_and_models(context)
    yield _reactivity(findings)
    yield phrase("limitations/contamination")
    if scripts := [context.name(agent) for agent in context.agents if agent.partition(":")[0] in SCRIPTS]:
        yield phrase("limitations/scripts", scripts=listed(scripts))
    if any(note.published for note in context.files):
        yield phrase("limitations/logs")


def smallest_difference(difference: Mapping[str, Any]) -> float | None:
    """Return the smallest true difference that such games find in four studies of five at the level of a verdict, None
    without an interval: (z(1 - α/2) + z(power)) standard errors, of the width of the 95 % interval.

    Args:
        difference: an estimate.
    """
    low, high = difference.get("low"), difference.get("high")
    if low is None or high is None:
        return None
    error = (high - low) / (2 * ndtri(0.975))
    return float((ndtri(1 - ALPHA / 2) + ndtri(_POWER)) * error)


def _labels(findings: Result) -> Iterator[str]:
    times = _times(findings, "labels")
    if len(times) > 1:
        yield phrase("limitations/label_mixed", times=_listed(times, ASKED["label"]))
        return
    for name in times:
        gap = look(findings, "truth", "overall", "confession_gap") or {}
        yield phrase(f"limitations/label_{name}", n=count(gap.get("n")), gap=with_interval(gap))


def _reactivity(findings: Result) -> str:
    times = _times(findings, "assessments")
    if len(times) > 1:
        return phrase("limitations/reactivity_tested", times=_listed(times, ASKED["assess"]))
    return phrase({"after": "limitations/asked_after", "none": "limitations/asked_never"}.get(
        next(iter(times), ""), "limitations/reactivity"
    ))  # fmt: skip


def _times(findings: Result, what: str) -> dict[str, int]:
    return {name: games for name, games in (look(findings, "outcomes", what) or {}).items() if games}


def _listed(times: Mapping[str, int], words: Mapping[str, str]) -> str:
    return listed([f"{words[name]} in {counted(games, 'game')}" for name, games in times.items()])


def _prompts_and_models(context: Context) -> Iterator[str]:
    prompts = sorted({shortened(str(study["prompts"]), _HASH) for study in context.studies if study.get("prompts")})
    days = sorted(
        {str(study.get(name))[:10] for study in context.studies for name in ("created", "updated") if study.get(name)}
    )
    if days:
        dates = f"on {days[0]}" if len(days) == 1 else f"between {days[0]} and {days[-1]}"
        sets = "One set" if len(prompts) == 1 else f"{len(prompts)} sets"
        named = phrase("limitations/prompts", sets=sets, prompts=", ".join(prompts), dates=dates)
        yield named if prompts else phrase("limitations/no_prompts", dates=dates)
    models = sorted(
        {
            visible(str(model.get("model") or alias))[:_LONGEST]
            for study in context.studies
            for alias, model in _models(study).items()
            if isinstance(model, Mapping)
        }
    )
    if models:
        more = ", …" if len(models) > _NAMED else ""
        yield phrase("limitations/models", models=", ".join(models[:_NAMED]) + more)


def _models(study: Mapping[str, Any]) -> Mapping[str, Any]:
    models = study.get("models")
    return models if isinstance(models, Mapping) else {}
