"""What Werewolves say in the debate: they frame, pose as the Seer, shield or drop a partner, and else blend in."""

from __future__ import annotations

from players.scripted import tuning
from players.scripted.phrasing import SpeechPlan
from players.scripted.standpoint import Standpoint
from players.scripted.talk import Weighted, accuse, doubt, last_accuser, say_one, small_talk
from wolfbus.messages.base import SeatName
from wolfbus.messages.claims import AccusationClaim, Claim, InspectionClaim, RoleClaim


def plan_wolf(at: Standpoint) -> SpeechPlan:
    """Return what a Werewolf says."""
    return _as_seer(at) or say_one(at, _options(at))


def prey(at: Standpoint) -> list[tuple[SeatName, float]]:
    """Return the living others that are no Wolves with how well a case against each would go down, best first."""
    ranked = []
    for name in at.view.names:
        if name in at.view.dead or name == at.me or name in at.view.partners:
            continue
        value = 0.2 * min(at.voices(name), 3)
        value += 0.3 if any(wolf for _, wolf in at.notes.reported.get(name, ())) else 0.0
        value += 0.15 if name in at.notes.seers else 0.0
        value += 0.15 if at.me in at.notes.pressure and name in at.notes.pressure[at.me] else 0.0
        value -= 0.6 if at.notes.results.get((at.me, name)) is False else 0.0
        value += 0.3 * at.leaning(name)
        ranked.append((name, value))
    return sorted(ranked, key=lambda pair: -pair[1])


def lost_partner(at: Standpoint) -> SeatName | None:
    """Return a living partner that the village is about to exile, for a Werewolf that would turn on it."""
    if at.nature("busses") >= tuning.WOLF_BUSSES:
        return None
    for partner in at.living_partners():
        reports = [seer for seer, wolf in at.notes.reported.get(partner, ()) if wolf]
        accusers = [name for name in at.accusers(partner) if name != at.me]
        if (reports and not at.contested()) or len(accusers) * 2 >= len(at.view.living) - 1:
            return partner
    return None


def poses_as_seer(at: Standpoint) -> bool:
    """Return whether this Werewolf, not yet claiming anything, would pose as the Seer now."""
    notes = at.notes
    if at.me in notes.seers or at.view.config.seers == 0 or any(name in notes.seers for name in at.view.partners):
        return False
    if at.me in notes.doctors or not prey(at):
        return False
    if reporter_of(at, at.me) is not None:
        return at.nature("counterclaims") < tuning.WOLF_COUNTERCLAIMS
    return at.ask.round >= 2 and at.nature("poses") < tuning.WOLF_FAKES_SEER


def reporter_of(at: Standpoint, name: SeatName) -> SeatName | None:
    """Return a living player who told everybody to have seen that `name` is a Werewolf."""
    return next(
        (seer for seer, wolf in at.notes.reported.get(name, ()) if wolf and seer not in at.view.dead and seer != at.me),
        None,
    )


def _as_seer(at: Standpoint) -> SpeechPlan | None:
    first = poses_as_seer(at)
    if not first and at.me not in at.notes.seers:
        return None
    if at.me in at.notes.latest and not first and at.notes.latest[at.me] in _reports_of_today(at):
        return None
    accuser = reporter_of(at, at.me)
    if accuser is not None and (at.me, accuser) not in at.notes.results:
        claims = _claims(at, accuser, "Werewolf", first=True)
        return SpeechPlan("counterclaim", accuser, claims=claims, thought=f"{accuser} has me; my word against that.")
    fresh = [name for name, _ in prey(at) if (at.me, name) not in at.notes.results]
    partners = [name for name in at.living_partners() if (at.me, name) not in at.notes.results]
    if fresh and (not partners or at.chance("frame") < tuning.WOLF_FRAMES):
        claims = _claims(at, fresh[0], "Werewolf", first=first)
        thought = f"A false report on {fresh[0]} may carry the day."
        return SpeechPlan("reveal wolf" if first else "report wolf", fresh[0], claims=claims, thought=thought)
    if partners:
        claims = _claims(at, partners[0], "Villager", first=first)
        thought = f"Clear {partners[0]}, my partner, with a false report."
        return SpeechPlan("reveal clear" if first else "report clear", partners[0], claims=claims, thought=thought)
    return None


def _reports_of_today(at: Standpoint) -> set[int]:
    """Return this seat's statements of the day that reported an inspection; one lie a day is enough."""
    return {
        number
        for number, statement in at.view.statements.items()
        if statement.round == at.ask.round and statement.speaker == at.me and at.notes.cues[number].results
    }


def _claims(at: Standpoint, target: SeatName, role: str, *, first: bool) -> tuple[Claim, ...]:
    inspection = InspectionClaim(
        target=target, role="Werewolf" if role == "Werewolf" else "Villager", round=at.ask.round
    )
    return (RoleClaim(target=at.me, role="Seer"), inspection) if first else (inspection,)


def _options(at: Standpoint) -> list[Weighted]:
    ranked = prey(at)
    attack = at.chance("attack") < tuning.WOLF_ATTACKS
    options = _attacks(at, ranked) if attack and ranked else small_talk(at)
    accuser = last_accuser(at)
    if accuser is not None:
        defence = _defence(at, accuser, ranked)
        options = defence if at.in_danger(at.me) else options + defence
    partner = lost_partner(at)
    if partner is not None:
        options.append((accuse(partner), 12))
    else:
        options.extend(_cover(at))
    return options


def _attacks(at: Standpoint, ranked: list[tuple[SeatName, float]]) -> list[Weighted]:
    target, value = ranked[0]
    options: list[Weighted] = [(doubt(target), 5)]
    if at.ask.round > 1 or value > 0.3:
        options.append((accuse(target), 4))
        options.append((accuse(target, boldly=True), 4))
    floor = at.notes.floor
    if floor is not None and floor.speaker != at.me:
        names = {name for name, _ in ranked}
        for accused in at.notes.cues[floor.statement].accused:
            if accused in names and floor.speaker != accused:
                claims = (AccusationClaim(target=accused),)
                thought = f"{floor.speaker} does our work; push {accused}."
                options.append((SpeechPlan("agree", accused, floor.speaker, claims, thought), 6))
    return options


def _defence(at: Standpoint, accuser: SeatName, ranked: list[tuple[SeatName, float]]) -> list[Weighted]:
    options: list[Weighted] = [
        (SpeechPlan("defend self", None, accuser, thought=f"{accuser} is on to me; stay calm."), 6)
    ]
    if at.me not in at.notes.seers:
        claims = (RoleClaim(target=at.me, role="Villager"),)
        thought = "Play the harmless Villager."
        options.append((SpeechPlan("defend self as villager", None, accuser, claims, thought), 6))
    if ranked:
        target = ranked[0][0]
        options.append((SpeechPlan("deflect", target, thought=f"Point them at {target}."), 8))
    return options


def _cover(at: Standpoint) -> list[Weighted]:
    """Speak up for a partner under fire."""
    options: list[Weighted] = []
    for partner in at.living_partners():
        accusers = [name for name in at.accusers(partner) if name != at.me]
        if accusers:
            thought = f"{partner} needs a voice; not too loud."
            options.append((SpeechPlan("defend other", partner, accusers[-1], thought=thought), 3))
    return options
