"""From a plan to the sentence said: with which evidence, in which words, so that nobody parrots anybody.

What can be held against a player has everybody as witness, and really happened; the sentences are those of
`words.toml`, which says what stands in them in braces.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Literal, TypeAlias, get_args

from pydantic import ValidationInfo, field_validator

from players.scripted.cues import Cues, read
from players.scripted.player import Player
from wolfbus.files.package_data import Lines, PackageData, read_data
from wolfbus.game.draws import draw
from wolfbus.messages.base import SeatName
from wolfbus.messages.content import Claim

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


def evidence(player: Player, target: SeatName) -> Iterator[Evidence]:
    """Yield what speaks against `target`, weightier things first; a mere feeling is always there, last."""
    yield from _reports(player, target)
    yield from _votes(player, target)
    if target in player.notes.flipped:
        yield "flipped", player.notes.flipped[target]
    latest = player.notes.latest.get(target)
    if latest is not None:
        yield from _tone(player, player.notes.cues[latest])
    late = player.ask.phase == "vote" or player.ask.turn > player.view.config.debate_turns // 2
    if late and target not in player.notes.spoken:
        yield "silent", None
    yield "feeling", None


def choose_evidence(player: Player, target: SeatName) -> Evidence:
    """Return one of the two weightiest grounds, drawn."""
    first, *others = evidence(player, target)
    if not others or first[0] == "result" or others[0][0] == "feeling":
        return first
    return first if player.chance("evidence") < 0.6 else others[0]


def _reports(player: Player, target: SeatName) -> Iterator[Evidence]:
    believed = next((seer for seer in player.reporters(target) if player.credibility(seer) > 0.0), None)
    if believed is not None:
        yield "result", believed
    if target in player.notes.seers and player.contested():
        rival = next((seer for seer in player.notes.seers if seer != target), None)
        if rival is not None:
            yield "rival", rival


def _votes(player: Player, target: SeatName) -> list[Evidence]:
    votes = player.notes.votes
    if target not in votes:
        return []
    against = votes[target]
    if against is None:
        return [("abstained", None)]
    if against == player.me:
        return [("voted me", None)]
    if against in player.notes.victims or against in player.view.revealed:
        return [("voted innocent", against)] if player.is_wolf(against) is False else []
    # whoever the village exiled may well have deserved it
    return [] if against in player.view.dead else [("voted", against)]


def _tone(player: Player, cues: Cues) -> Iterator[Evidence]:
    if player.me in cues.accused:
        yield "pressed me", None
    elif cues.accused:
        yield "pressed", cues.accused[0]
    if cues.deflects:
        yield "deflects", None
    if cues.absolutes >= 2:
        yield "certain", None
    if cues.hedges >= 2:
        yield "hedges", None


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


def sentence(player: Player, plan: SpeechPlan) -> str:
    """Return the plan in words nobody used before in this game, as far as the wordings reach."""
    wordings = words().sentences[plan.intent]
    grounded = plan.target is not None and any("{e}" in wording for wording in wordings)
    evidence = choose_evidence(player, plan.target) if plan.target is not None and grounded else None
    return phrase(player, wordings, plan.target, plan.other, evidence)


def phrase(
    player: Player,
    wordings: Sequence[str],
    target: SeatName | None,
    other: SeatName | None = None,
    evidence: Evidence | None = None,
) -> str:
    """Return one of `wordings` filled in: a drawn one, or the first after it that nobody used before; "" where the
    rules let none of them be said.
    """
    number = draw(player.seed, f"wording {player.ask.kind}", player.ask.round, player.ask.turn)
    text = ""
    names = player.view.names
    for step in range(len(wordings)):
        wording = wordings[(number + step) % len(wordings)].format(
            t=target or "somebody",
            o=other or "somebody",
            d=player.notes.died or "somebody",
            e=_evidence(number // 1009 + step, target, evidence),
        )
        if not player.view.config.may_be_said(wording):
            continue
        text = wording
        if read(text, names).skeleton not in player.notes.skeletons:
            break
    return text


def _evidence(number: int, target: SeatName | None, evidence: Evidence | None) -> str:
    if evidence is None:
        return ""
    ground, other = evidence
    wordings = words().evidence[ground]
    return wordings[number % len(wordings)].format(t=target, o=other or "somebody")
