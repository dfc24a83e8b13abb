"""From a plan to the sentence said: in which words, with which evidence, so that nobody parrots anybody."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from players.scripted.cues import read
from players.scripted.evidence import Evidence, choose_evidence
from players.scripted.standpoint import Standpoint
from players.scripted.words import Intent, words
from wolfbus.draws import draw
from wolfbus.messages.base import SeatName
from wolfbus.messages.claims import Claim


@dataclass(frozen=True, slots=True)
class Plan:
    """What a seat means to say.

    Attributes:
        intent: what the turn is used for.
        target: the player it is about.
        other: another player in it.
        claims: what the words will assert.
        thought: private reason for saying it.
    """

    intent: Intent
    target: SeatName | None = None
    other: SeatName | None = None
    claims: tuple[Claim, ...] = ()
    thought: str = ""


def sentence(at: Standpoint, plan: Plan) -> str:
    """Return the plan in words nobody used before in this game, as far as the wordings reach."""
    wordings = words().sentences[plan.intent]
    grounded = plan.target is not None and any("{e}" in wording for wording in wordings)
    evidence = choose_evidence(at, plan.target) if plan.target is not None and grounded else None
    return phrase(at, wordings, plan.target, plan.other, evidence)


def phrase(
    at: Standpoint,
    wordings: Sequence[str],
    target: SeatName | None,
    other: SeatName | None = None,
    evidence: Evidence | None = None,
) -> str:
    """Return one of `wordings` filled in: a drawn one, or the first after it that nobody used before."""
    number = draw(at.seed, f"wording {at.ask.kind}", at.ask.round, at.ask.turn)
    text = ""
    names = at.view.names
    for step in range(len(wordings)):
        text = wordings[(number + step) % len(wordings)].format(
            t=target or "somebody",
            o=other or "somebody",
            d=at.notes.died or "somebody",
            e=_evidence(number // 1009 + step, target, evidence),
        )
        if read(text, names).skeleton not in at.notes.said:
            break
    return text


def _evidence(number: int, target: SeatName | None, evidence: Evidence | None) -> str:
    if evidence is None:
        return ""
    ground, other = evidence
    wordings = words().evidence[ground]
    return wordings[number % len(wordings)].format(t=target, o=other or "somebody")
