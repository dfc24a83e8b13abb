"""The ordinary talk of a day, Werewolves included: what there is to say, and how much it presses."""

from __future__ import annotations

from players.scripted import tuning
from players.scripted.phrasing import SpeechPlan
from players.scripted.standpoint import Standpoint
from wolfbus.draws import choose_weighted
from wolfbus.messages.base import SeatName
from wolfbus.messages.claims import AccusationClaim

Weighted = tuple[SpeechPlan, int]
"""Something to say and how much it presses, at least 1."""


def say_one(at: Standpoint, options: list[Weighted]) -> SpeechPlan:
    """Return one of the options, drawn by weight."""
    return choose_weighted(at.seed, "say", options, at.ask.round, at.ask.turn)


def accuse(target: SeatName, *, boldly: bool = False) -> SpeechPlan:
    """Return the plan to call `target` a Werewolf."""
    return SpeechPlan(
        "accuse boldly" if boldly else "accuse",
        target,
        claims=(AccusationClaim(target=target),),
        thought=f"I want {target} exiled.",
    )


def doubt(target: SeatName) -> SpeechPlan:
    """Return the plan to voice a doubt about `target`."""
    return SpeechPlan("doubt", target, thought=f"{target} could be a Wolf; test the water.")


def last_accuser(at: Standpoint) -> SeatName | None:
    """Return who accused this seat today since it last spoke, the latest of them."""
    mine = at.notes.latest.get(at.me, 0)
    pressed = [(number, name) for name, number in at.notes.pressure.get(at.me, {}).items() if number > mine]
    living = [pair for pair in pressed if pair[1] not in at.view.dead]
    return max(living)[1] if living else None


def small_talk(at: Standpoint) -> list[Weighted]:
    """Return what can be said without accusing anybody; never empty."""
    options: list[Weighted] = [(SpeechPlan("hedge"), 2)]
    if at.ask.turn <= 2:
        if at.notes.died is not None:
            options.append((SpeechPlan("death", thought=f"Why {at.notes.died}?"), 6))
        elif at.ask.round > 1 or at.view.config.first_night_kill:
            options.append((SpeechPlan("quiet night", thought="A life saved; by whom?"), 6))
        if at.ask.round == 1:
            options.append((SpeechPlan("first day"), 5))
    quiet = [name for name in at.view.others if name not in at.notes.spoken]
    if quiet and at.ask.turn >= 2:
        name = at.pick("quiet one", quiet)
        options.append((SpeechPlan("ask", name, thought=f"{name} has not spoken today."), 3))
    voters = [
        (name, against)
        for name, against in at.notes.votes.items()
        if against is not None and at.me not in {name, against} and name not in at.view.dead
    ]
    if voters and at.ask.turn <= 4:
        name, against = voters[int(at.chance("voter") * len(voters))]
        options.append((SpeechPlan("ask vote", name, against, thought=f"Make {name} explain the vote."), 3))
    return options


def backing(at: Standpoint, suspects: list[tuple[SeatName, float]]) -> list[Weighted]:
    """Return what can be said on claims to be the Seer: follow a report, or choose between rivals."""
    options: list[Weighted] = []
    for target, belief in suspects:
        for seer, wolf in at.notes.reported.get(target, ()):
            if wolf and seer != at.me and belief >= tuning.HARD_AT:
                claims = (AccusationClaim(target=target),)
                options.append((SpeechPlan("back seer", target, seer, claims=claims, thought=f"I believe {seer}."), 6))
    rivals = [pair for pair in suspects if pair[0] in at.notes.seers]
    if at.contested() and rivals:
        target = rivals[0][0]
        other = next((name for name in at.notes.seers if name != target), None)
        if other is not None and rivals[0][1] >= tuning.SOFT_AT:
            claims = (AccusationClaim(target=target),)
            thought = f"Of the Seers I believe {other}."
            options.append((SpeechPlan("weigh seers", target, other, claims=claims, thought=thought), 5))
    return options


def suspicion_talk(at: Standpoint, suspects: list[tuple[SeatName, float]]) -> list[Weighted]:
    """Return accusations, doubts and words of trust that follow from what this seat believes of the others."""
    options: list[Weighted] = []
    if not suspects:
        return options
    target, belief = suspects[0]
    if belief >= tuning.HARD_AT:
        options.append((accuse(target), 8))
    elif belief >= tuning.SOFT_AT:
        options.append((doubt(target), 6))
    floor = at.notes.floor
    if floor is not None and floor.speaker != at.me:
        beliefs = dict(suspects)
        for accused in at.notes.cues[floor.statement].accused:
            if accused not in beliefs:
                continue
            if beliefs[accused] >= tuning.SOFT_AT + 0.06:
                claims = (AccusationClaim(target=accused),)
                thought = f"{floor.speaker} is right about {accused}."
                options.append((SpeechPlan("agree", accused, floor.speaker, claims, thought), 5))
            elif beliefs[accused] <= tuning.TRUST_AT:
                thought = f"I do not believe the case against {accused}."
                options.append((SpeechPlan("defend other", accused, floor.speaker, thought=thought), 4))
    return options
