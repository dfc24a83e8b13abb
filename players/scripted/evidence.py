"""What can be held against a player with everybody as witness: reports, votes, tone. All of it really happened."""

from __future__ import annotations

from typing import Literal, TypeAlias

from players.scripted.cues import Cues
from players.scripted.standpoint import Standpoint
from wolfbus.messages.base import SeatName

Ground: TypeAlias = Literal[
    "result",
    "rival",
    "voted me",
    "voted innocent",
    "voted",
    "abstained",
    "flipped",
    "pressed me",
    "pressed",
    "deflects",
    "certain",
    "hedges",
    "silent",
    "feeling",
]
"""Why somebody is suspected."""

Evidence: TypeAlias = tuple[Ground, SeatName | None]
"""A ground, and the other player it is about."""


def evidence(at: Standpoint, target: SeatName) -> list[Evidence]:
    """Return what speaks against `target`, weightier things first; a mere feeling is always there, last."""
    found = _reports(at, target)
    found += _votes(at, target)
    if target in at.notes.flipped:
        found.append(("flipped", at.notes.flipped[target]))
    latest = at.notes.latest.get(target)
    if latest is not None:
        found += _tone(at, at.notes.cues[latest])
    if target not in at.notes.spoken and (at.ask.phase == "vote" or at.ask.turn > at.view.config.debate_turns // 2):
        found.append(("silent", None))
    found.append(("feeling", None))
    return found


def choose_evidence(at: Standpoint, target: SeatName) -> Evidence:
    """Return one of the two weightiest grounds, drawn."""
    found = evidence(at, target)
    first, *rest = found
    if not rest or first[0] == "result" or rest[0][0] == "feeling":
        return first
    return first if at.chance("evidence") < 0.6 else rest[0]


def _reports(at: Standpoint, target: SeatName) -> list[Evidence]:
    found: list[Evidence] = []
    for seer, wolf in at.notes.reported.get(target, ()):
        if wolf and seer != at.me and at.credibility(seer) > 0.0:
            found.append(("result", seer))
            break
    if target in at.notes.seers and at.contested():
        rival = next((seer for seer in at.notes.seers if seer != target), None)
        if rival is not None:
            found.append(("rival", rival))
    return found


def _votes(at: Standpoint, target: SeatName) -> list[Evidence]:
    votes = at.notes.votes
    if target not in votes:
        return []
    against = votes[target]
    if against is None:
        return [("abstained", None)]
    if against == at.me:
        return [("voted me", None)]
    if against in at.notes.victims or against in at.view.revealed:
        return [("voted innocent", against)] if at.known(against) is False else []
    # whoever the village exiled may well have deserved it
    return [] if against in at.view.dead else [("voted", against)]


def _tone(at: Standpoint, cues: Cues) -> list[Evidence]:
    found: list[Evidence] = []
    if at.me in cues.accused:
        found.append(("pressed me", None))
    elif cues.accused:
        found.append(("pressed", cues.accused[0]))
    if cues.deflects:
        found.append(("deflects", None))
    if cues.absolutes >= 2:
        found.append(("certain", None))
    if cues.hedges >= 2:
        found.append(("hedges", None))
    return found
