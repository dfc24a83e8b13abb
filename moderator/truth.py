"""Objective truth: claims scored against the hidden state and against what the speaker itself knows.

A false claim is a *lie* when the speaker's own view at that moment entails that it is false, a *mistake* when it does
not. What a view entails is computed exactly from: the own role, partners, inspections, protections, revealed roles
and teams, the role counts, night victims (no wolf is a legal kill), and that the game goes on now (at least one
wolf lives, fewer than the others); what only an earlier moment would rule out is not.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from moderator.table import Table
from wolfbus.messages.base import SeatName
from wolfbus.messages.claims import Claim, InspectionClaim, ProtectionClaim, RoleClaim, ScoredClaim
from wolfbus.messages.events import ClaimTruth, Statement
from wolfbus.vocabulary import ROLES, Role, Verdict


def claim_truth(table: Table, statement: Statement, claims: Sequence[Claim]) -> ClaimTruth:
    """Return the verdicts on all claims of a statement."""
    scored = tuple(ScoredClaim(claim=claim, verdict=verdict(table, statement.speaker, claim)) for claim in claims)
    return ClaimTruth(statement=statement.statement, claims=scored)


def verdict(table: Table, speaker: SeatName, claim: Claim) -> Verdict:
    """Return what a claim by `speaker` is, now."""
    if claim.target not in table.roles:
        return "uncheckable"
    if isinstance(claim, InspectionClaim):
        # who inspected whom, and with what result, its maker always knows
        return "true" if _inspected(table, speaker, claim) else "lie"
    if isinstance(claim, ProtectionClaim):
        return "true" if _protected(table, speaker, claim) else "lie"
    role = claim.role if isinstance(claim, RoleClaim) else "Werewolf"
    if table.roles[claim.target] == role:
        return "true"
    return "mistake" if thinkable(table, speaker, claim.target, role) else "lie"


def _inspected(table: Table, speaker: SeatName, claim: InspectionClaim) -> bool:
    return table.inspected.get(speaker, {}).get(claim.target) == claim.role and (
        claim.round is None or table.inspected_in.get((speaker, claim.target)) == claim.round
    )


def _protected(table: Table, speaker: SeatName, claim: ProtectionClaim) -> bool:
    nights = table.protected.get(speaker, {})
    if claim.round is None:
        return claim.target in nights.values()
    return nights.get(claim.round) == claim.target


def thinkable(table: Table, observer: SeatName, target: SeatName, role: Role) -> bool:
    """Return whether, for all that `observer` knows, `target` could be the `role`.

    Exact: it asks whether any deal of the role counts agrees with what the observer knows and has `target` as `role`.
    """
    known, not_wolves = knowledge(table, observer)
    if target in known:
        return known[target] == role
    if role == "Werewolf" and target in not_wolves:
        return False
    known[target] = role
    left = Counter({each: table.config.count(each) for each in ROLES})
    left.subtract(known.values())
    if min(left.values()) < 0:
        return False
    return _wolves_fit(table, known, not_wolves, left["Werewolf"])


def _wolves_fit(table: Table, known: dict[SeatName, Role], not_wolves: set[SeatName], wolves_left: int) -> bool:
    """Return whether the unknown wolves can be seated so that the game goes on: 1 ≤ living wolves < living others."""
    open_seats = [name for name in table.roles if name not in known and name not in not_wolves]
    open_living = sum(1 for name in open_seats if name in table.living)
    open_dead = len(open_seats) - open_living
    known_living = sum(1 for name in table.living if known.get(name) == "Werewolf")
    for living in range(min(wolves_left, open_living) + 1):
        wolves = known_living + living
        if wolves_left - living <= open_dead and 1 <= wolves < len(table.living) - wolves:
            return True
    return False


def knowledge(table: Table, observer: SeatName) -> tuple[dict[SeatName, Role], set[SeatName]]:
    """Return what `observer` knows for certain: roles by name, and who is no Werewolf though the role is unknown."""
    known: dict[SeatName, Role] = {observer: table.roles[observer]}
    known.update(table.inspected.get(observer, {}))
    not_wolves = set(table.night_victims)
    if table.roles[observer] == "Werewolf":
        for name, role in table.roles.items():
            if role == "Werewolf":
                known[name] = role
            else:
                not_wolves.add(name)
    for name, shown in table.revealed.items():
        if shown == "villagers":
            not_wolves.add(name)
        else:
            known[name] = "Werewolf" if shown == "werewolves" else shown
    if table.config.werewolves == sum(1 for role in known.values() if role == "Werewolf"):
        not_wolves.update(name for name in table.roles if name not in known)
    return known, not_wolves - known.keys()
