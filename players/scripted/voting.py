"""Whom scripted players vote for, and what they say about it in public."""

from __future__ import annotations

from players.scripted import tuning
from players.scripted.evidence import choose_evidence
from players.scripted.phrasing import phrase
from players.scripted.standpoint import Standpoint
from players.scripted.wolfish import lost_partner, prey
from players.scripted.words import VoteReason, words
from wolfbus.messages.base import SeatName
from wolfbus.messages.claims import AccusationClaim, Claim, InspectionClaim, RoleClaim
from wolfbus.messages.content import Ballot

Vote = tuple[SeatName | None, VoteReason]
"""Whom, and on what ground."""


def ballot(at: Standpoint) -> tuple[Ballot, str | None]:
    """Return a legal ballot, and the thought behind it where no reason says as much."""
    target, ground = _wolf_vote(at) if at.wolf else _honest_vote(at)
    legal = at.ask.legal or ()
    if target not in legal:
        target = None
    if target is None:
        # abstaining is the moderator's default too, so it is sound even where nothing is legal
        ground = "abstain"
    thought = ground[:1].upper() + ground[1:] + "."
    if at.chance("reason") >= tuning.GIVES_REASON:
        return Ballot(target=target), thought
    other = _seer_behind(at, target) if target else None
    if ground == "believe seer" and other is None:
        ground = "evidence"
    grounds = choose_evidence(at, target) if target else None
    reason = phrase(at, words().vote_reasons[ground], target, other, grounds)
    return Ballot(target=target, reason=reason, claims=_claims(at, target, ground)), None


def _claims(at: Standpoint, target: SeatName | None, ground: VoteReason) -> tuple[Claim, ...]:
    if target is None:
        return ()
    if ground == "own result":
        return (RoleClaim(target=at.me, role="Seer"), InspectionClaim(target=target, role="Werewolf"))
    return (AccusationClaim(target=target),)


def _seer_behind(at: Standpoint, target: SeatName) -> SeatName | None:
    return next((seer for seer, wolf in at.notes.reported.get(target, ()) if wolf and seer != at.me), None)


def _honest_vote(at: Standpoint) -> Vote:
    suspects = at.suspects()
    if not suspects:
        return None, "abstain"
    target, belief = suspects[0]
    if at.view.role == "Seer" and at.view.inspections.get(target) == "Werewolf":
        return target, "own result" if at.me in at.notes.seers else "wolf"
    if belief >= tuning.HARD_AT and _seer_behind(at, target) is not None:
        return target, "believe seer"
    if belief < tuning.VOTE_AT and at.chance("abstain") < tuning.ABSTAINS:
        return None, "abstain"
    joined = _joined(at, suspects)
    if joined is not None and joined != target:
        return joined, "join"
    return target, "evidence" if belief >= tuning.SOFT_AT else "feeling"


def _joined(at: Standpoint, suspects: list[tuple[SeatName, float]]) -> SeatName | None:
    """Return the most accused player of the day, if this seat does not mind much: a split vote exiles nobody."""
    best, voices = None, max(at.voices(suspects[0][0]), 1)
    top = suspects[0][1]
    for name, belief in suspects:
        count = at.voices(name)
        if count > voices and belief >= top - tuning.JOINS and belief > tuning.TRUST_AT:
            best, voices = name, count
    return best


def _wolf_vote(at: Standpoint) -> Vote:
    partner = lost_partner(at)
    if partner is not None:
        return partner, "evidence"
    ranked = prey(at)
    if not ranked or at.chance("abstain") < tuning.WOLF_ABSTAINS:
        return None, "abstain"
    target = ranked[0][0]
    if at.voices(target) >= 2 and at.me not in at.notes.voices[target]:
        return target, "join"
    return target, "wolf" if at.ask.round > 1 and at.chance("hard") < 0.4 else "evidence"
