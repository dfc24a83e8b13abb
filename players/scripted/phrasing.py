"""From a plan to the sentence said: with which evidence, in which words, so that nobody parrots anybody.

What can be held against a player has everybody as witness, and really happened; the sentences are those of
`words.toml`, which says what stands in them in braces.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Literal, TypeAlias, get_args

from pydantic import ValidationInfo, field_validator

from players.scripted.cues import Cues, read
from players.scripted.standpoint import Standpoint
from wolfbus.draws import draw
from wolfbus.messages.base import SeatName
from wolfbus.messages.content import Claim
from wolfbus.package_data import Lines, PackageData, read_data

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


Intent: TypeAlias = Literal[
    "first day",
    "death",
    "quiet night",
    "hedge",
    "doubt",
    "accuse",
    "accuse boldly",
    "agree",
    "ask",
    "ask vote",
    "defend self",
    "defend self as villager",
    "deflect",
    "defend other",
    "back seer",
    "weigh seers",
    "reveal wolf",
    "report wolf",
    "reveal clear",
    "report clear",
    "counterclaim",
    "expose",
    "repeat seer",
    "hint trust",
    "doctor hint",
    "doctor claim",
    "doctor claim saved",
]
"""What a turn of the debate is used for."""

VoteReason: TypeAlias = Literal["own result", "wolf", "believe seer", "evidence", "feeling", "join", "abstain"]
"""What the reason of a ballot rests on."""


class Wordings(PackageData):
    """All wordings."""

    sentences: Mapping[Intent, Lines]
    """By what a turn of the debate is used for."""
    evidence: Mapping[Ground, Lines]
    """By its ground."""
    vote_reasons: Mapping[VoteReason, Lines]
    """By what the reason rests on."""
    whispers: Mapping[str, Lines]
    """By why a Werewolf proposes a victim."""

    @field_validator("sentences", "evidence", "vote_reasons")
    @classmethod
    def _whole(cls, value: Mapping[str, Lines], info: ValidationInfo) -> Mapping[str, Lines]:
        keys = {"sentences": Intent, "evidence": Ground, "vote_reasons": VoteReason}[info.field_name or ""]
        if missing := [key for key in get_args(keys) if not value.get(key)]:
            raise ValueError(f"nothing is said for {missing[0]!r}")
        return value


@cache
def words() -> Wordings:
    """Return the wordings.

    Raises:
        ConfigError: their file is not as it should be.
    """
    return read_data("players.scripted", "words", Wordings)


@dataclass(frozen=True, slots=True)
class SpeechPlan:
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


def sentence(at: Standpoint, plan: SpeechPlan) -> str:
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
