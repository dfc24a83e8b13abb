"""`abilities`: one scale for deceivers and detectors (metrics: beyond the paper)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from analytics.abilities.cells import Cells, cells_of
from analytics.abilities.draws import draws_for, intervals
from analytics.abilities.fit import PRIOR_SD, Fit, fit
from analytics.accumulator import Result
from analytics.columns import LIE, MISTAKE, TRUE, UNKNOWN, Columns
from analytics.intervals import FEW_BLOCKS
from analytics.truth import confessions
from wolfbus.vocabulary import ROLES

if TYPE_CHECKING:
    from analytics.columns import Array

MODEL: Final[Result] = {
    "deceptive": "logit P(flag | deceptive) = intercept + detects(observing agent) + effect(its role) "
    "- conceals(speaking agent) - effect(its role) + effect(statement)",
    "truthful": "logit P(flag | truthful) = intercept + false_alarm(observing agent) + effect(its role) "
    "+ suspected(speaking agent) + effect(its role) + effect(statement)",
    "prior_sd": PRIOR_SD,
    "statement_effect": "normal, integrated out by quadrature; its standard deviation is estimated",
    "constraint": "effects of the agents of one connected component, and those of the roles, add up to 0",
    "estimate": "most probable value",
    "interval": "bootstrap of blocks of games, one Newton step a draw, with the prior's centre drawn anew; never "
    "narrower than the model's own",
    "label": "deceptive and truthful by the speaker's own label",
    "truth": "lies are deceptive, statements whose checkable claims are all true are truthful; mistakes deceive nobody "
    "on purpose and are left out",
}
"""The model in words."""

_ALONE: Final = "no other agent to compare it with"


@dataclass(frozen=True, slots=True, eq=False)
class _Side:
    """Judgements of one class of statements (deceptive or truthful) and what was made of them."""

    word: str
    cells: Cells
    fit: Fit | None
    ends: tuple[Array, Array] | None


def abilities(columns: Columns) -> Result:
    """Return how well agents detect and conceal, fitted on self-labels and on claim truth (metrics: one scale for
    deceivers and detectors).

    In logits. Higher ``detects``: flags more of the deceptions; higher ``conceals``: its own are flagged less; higher
    ``false_alarm``: flags more truthful statements; higher ``suspected``: its own truthful ones are flagged more. An
    ``n`` counts judgements for observers and judged statements for speakers. Agents are comparable within a connected
    component of the graph of observing and speaking agents, and their effects add up to 0 there: components are told
    apart by ``component`` (of the fit to deceptive statements) and ``components_of`` (by ability). An agent without
    statements that it calls deceptive has no ``conceals`` on self-labels; the fit on truth, its ``confession_rate``
    (share of its lies that it labels deceptive) and ``checkable`` stand beside. ``draws`` are 2,000, above 5,000 blocks
    400; below five blocks there are no intervals.
    """
    label, claimed = columns.statements["d"], columns.statements["truth"]
    bases = {"label": (label == 1, label == 0), "truth": (claimed == LIE, claimed == TRUE)}
    sides = [
        (basis, word, cells_of(columns, wanted))
        for basis, both in bases.items()
        for word, wanted in zip(("deceptive", "truthful"), both, strict=True)
    ]
    fits = [fit(cells) if len(cells) else None for _, _, cells in sides]
    ends = iter(intervals([found for found in fits if found is not None]))
    done: dict[tuple[str, str], _Side] = {
        (basis, word): _Side(word, cells, found, None if found is None else next(ends))
        for (basis, word, cells), found in zip(sides, fits, strict=True)
    }
    admitted = confessions(columns)
    result: Result = {
        basis: _basis(columns, done[basis, "deceptive"], done[basis, "truthful"], admitted) for basis in bases
    }
    result["truth"]["mistakes_left_out"] = int((claimed == MISTAKE).sum())
    return {**result, "model": MODEL}


def _basis(columns: Columns, deceptive: _Side, truthful: _Side, admitted: dict[str, Result]) -> Result:
    agents = {}
    for at, name in enumerate(columns.agents):
        found = {
            "detects": _agent(deceptive, at, observing=True),
            "conceals": _agent(deceptive, at, observing=False),
            "false_alarm": _agent(truthful, at, observing=True),
            "suspected": _agent(truthful, at, observing=False),
        }
        components = {ability: estimate.pop("component") for ability, estimate in found.items()}
        agents[name] = {
            **found,
            "n_judged": found["detects"]["n"] + found["false_alarm"]["n"],
            "n_statements": found["conceals"]["n"] + found["suspected"]["n"],
            "component": components["detects"] if components["detects"] is not None else components["conceals"],
            "components_of": components,
            **admitted[name],
        }
    fitted = deceptive.fit is not None or truthful.fit is not None
    compared = any(agent[key]["value"] is not None for agent in agents.values() for key in _SIGNS)
    reason = None if compared else "one agent alone: nobody to compare it with" if fitted else "no judged statement"
    return {
        "agents": agents,
        "roles": _roles(deceptive),
        "false_alarm_roles": _roles(truthful),
        "components": 0 if deceptive.fit is None else deceptive.fit.layout.groups,
        "intercepts": {side.word: _intercepts(side) for side in (deceptive, truthful)},
        "statement_sd": {side.word: _spread(side) for side in (deceptive, truthful)},
        "draws": draws_for(len(columns.block_names)),
        "blocks": len(columns.block_names),
        "reason": reason,
    }


_SIGNS: Final = {"detects": 1, "conceals": -1, "false_alarm": 1, "suspected": 1}


def _agent(side: _Side, at: int, *, observing: bool) -> Result:
    """Return one agent's ability as an estimate, with its component."""
    cells = side.cells
    here = (cells.observer if observing else cells.speaker) // len(ROLES) == at
    if observing:
        here &= cells.observer != UNKNOWN
    n = int(here.sum())
    found = side.fit
    if found is None or not n:
        verb = "judged no" if observing else "made no judged"
        return {**_undefined(f"it {verb} {side.word} statement", n), "component": None}
    layout = found.layout
    member = layout.as_observer if observing else layout.as_speaker
    component = int(member[at])
    if int((member == component).sum()) < 2:
        return {**_undefined(_ALONE, n), "component": component}
    watching, _, talking, _ = layout.places
    place = (watching if observing else talking).start + at
    turned = not observing and side.word == "deceptive"
    return {**_estimate(found, side.ends, place, n, turned=turned), "component": component}


def _roles(side: _Side) -> Result:
    """Return the effects of the observer's and the speaker's role, in the direction of the agents' abilities."""
    found: Result = {}
    for who, cells in (("observer", side.cells.observer), ("speaker", side.cells.speaker)):
        found[who] = {}
        for code, role in enumerate(ROLES):
            n = int(((cells != UNKNOWN) & (cells % len(ROLES) == code)).sum())
            if side.fit is None or not n:
                found[who][role] = _undefined(f"no judged {side.word} statement with a {role} as {who}", n)
                continue
            layout = side.fit.layout
            present = layout.observer_roles if who == "observer" else layout.speaker_roles
            if int(present.sum()) < 2:
                found[who][role] = _undefined("no other role to compare it with", n)
                continue
            place = layout.places[1 if who == "observer" else 3].start + code
            turned = who == "speaker" and side.word == "deceptive"
            found[who][role] = _estimate(side.fit, side.ends, place, n, turned=turned)
    return found


def _intercepts(side: _Side) -> list[Result]:
    """Return the logit of a flag between average agents in average roles, by component."""
    if side.fit is None:
        return []
    return [_estimate(side.fit, side.ends, at, len(side.cells), turned=False) for at in range(side.fit.layout.groups)]


def _spread(side: _Side) -> float | None:
    return None if side.fit is None else abs(float(side.fit.at[-1]))


def _estimate(found: Fit, ends: tuple[Array, Array] | None, place: int, n: int, *, turned: bool) -> Result:
    """Return a parameter as an estimate, with its sign turned for concealment."""
    value = float(found.at[place])
    low, high = (None, None) if ends is None else (float(ends[0][place]), float(ends[1][place]))
    if turned:
        value, low, high = -value, None if high is None else -high, None if low is None else -low
    estimate = {"value": value, "low": low, "high": high, "n": n, "reason": None}
    return estimate if ends is not None else {**estimate, "interval_reason": FEW_BLOCKS}


def _undefined(reason: str, n: int) -> Result:
    return {"value": None, "low": None, "high": None, "n": n, "reason": reason}
