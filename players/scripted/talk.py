"""What is said in the debate: the ordinary talk of a day and how much it presses, the villagers' side, the Werewolves'.

Villagers are frank, Seers choose their moment, Doctors stay hidden; Werewolves frame, pose as the Seer, shield or drop
a partner, and else blend in.
"""

from __future__ import annotations

from players.scripted import tuning
from players.scripted.phrasing import SpeechPlan
from players.scripted.standpoint import Standpoint
from wolfbus.draws import choose_weighted
from wolfbus.messages.base import SeatName
from wolfbus.messages.content import AccusationClaim, Claim, InspectionClaim, ProtectionClaim, RoleClaim
from wolfbus.vocabulary import Role

Weighted = tuple[SpeechPlan, int]
"""Something to say and how much it presses, at least 1."""


def say_one(at: Standpoint, options: list[Weighted]) -> SpeechPlan:
    """Return one of the options, drawn by weight."""
    return choose_weighted(at.seed, "say", options, at.ask.round, at.ask.turn)


def accusing(target: SeatName) -> tuple[Claim, ...]:
    """Return the claim that `target` is a Werewolf."""
    return (AccusationClaim(target=target),)


def inspecting(
    at: Standpoint, target: SeatName, role: Role, *, first: bool, round_: int | None = None
) -> tuple[Claim, ...]:
    """Return the claim to have seen a role, and to be the Seer where this seat says so for the first time."""
    inspection = InspectionClaim(target=target, role=role, round=round_)
    return (RoleClaim(target=at.me, role="Seer"), inspection) if first else (inspection,)


def accuse(target: SeatName, *, boldly: bool = False) -> SpeechPlan:
    """Return the plan to call `target` a Werewolf."""
    return SpeechPlan(
        "accuse boldly" if boldly else "accuse",
        target,
        claims=accusing(target),
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
                plan = SpeechPlan("back seer", target, seer, accusing(target), f"I believe {seer}.")
                options.append((plan, 6))
    rivals = [pair for pair in suspects if pair[0] in at.notes.seers]
    if at.contested() and rivals:
        target = rivals[0][0]
        other = next((name for name in at.notes.seers if name != target), None)
        if other is not None and rivals[0][1] >= tuning.SOFT_AT:
            thought = f"Of the Seers I believe {other}."
            options.append((SpeechPlan("weigh seers", target, other, accusing(target), thought), 5))
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
                thought = f"{floor.speaker} is right about {accused}."
                options.append((SpeechPlan("agree", accused, floor.speaker, accusing(accused), thought), 5))
            elif beliefs[accused] <= tuning.TRUST_AT:
                thought = f"I do not believe the case against {accused}."
                options.append((SpeechPlan("defend other", accused, floor.speaker, thought=thought), 4))
    return options


def plan_honest(at: Standpoint) -> SpeechPlan:
    """Return what a seat of the villagers' side says."""
    role = at.view.role
    special = None
    if role == "Seer":
        special = _seer(at)
    elif role == "Doctor":
        special = _doctor(at)
    return special or say_one(at, _options(at))


def _options(at: Standpoint) -> list[Weighted]:
    suspects = at.suspects()
    options = backing(at, suspects) + suspicion_talk(at, suspects)
    accuser = last_accuser(at)
    if accuser is None or not at.in_danger(at.me):
        options += small_talk(at)
    if accuser is not None:
        plain = at.view.role == "Villager" and at.chance("plain") < 0.5
        if plain:
            claims = (RoleClaim(target=at.me, role="Villager"),)
            options.append((SpeechPlan("defend self as villager", None, accuser, claims, f"{accuser} is wrong."), 10))
        else:
            options.append((SpeechPlan("defend self", None, accuser, thought=f"{accuser} is wrong about me."), 10))
    return options


def found_wolves(at: Standpoint) -> list[SeatName]:
    """Return the living Werewolves that this Seer knows of, in the order it found them."""
    return [name for name, role in at.view.inspections.items() if role == "Werewolf" and name not in at.view.dead]


def wants_to_reveal(at: Standpoint) -> bool:
    """Return whether this Seer, still hidden, would come forward if it had the floor now."""
    if not at.view.inspections:
        return False
    if at.in_danger(at.me) or any(at.caught(name) for name in at.notes.seers):
        return True
    if at.ask.round >= tuning.SEER_REVEALS_BY:
        return True
    share = tuning.SEER_BOLD_FIRST_DAY if at.ask.round == 1 else tuning.SEER_BOLD_LATER
    return bool(found_wolves(at)) and at.nature("bold", at.ask.round) < share


def _seer(at: Standpoint) -> SpeechPlan | None:
    hidden = at.me not in at.notes.seers
    if hidden and not wants_to_reveal(at):
        return _hidden_seer(at)
    news = [name for name in at.view.inspections if (at.me, name) not in at.notes.results and name not in at.view.dead]
    wolves = [name for name in found_wolves(at) if name in news]
    if wolves:
        claims = inspecting(at, wolves[0], "Werewolf", first=hidden)
        thought = f"I saw that {wolves[0]} is a Werewolf."
        return SpeechPlan("reveal wolf" if hidden else "report wolf", wolves[0], claims=claims, thought=thought)
    rival = next((name for name in at.notes.seers if at.caught(name) and name not in at.view.dead), None)
    if rival is not None and (hidden or at.chance("rival") < 0.5):
        return SpeechPlan("expose", rival, claims=_role(at, rival), thought=f"{rival} poses as the Seer; so a Wolf.")
    known = found_wolves(at)
    if known and at.chance("repeat") < 0.7:
        return SpeechPlan("repeat seer", known[0], claims=_role(at, known[0]), thought=f"{known[0]} must go.")
    if news:
        claims = inspecting(at, news[-1], at.view.inspections[news[-1]], first=hidden)
        thought = f"{news[-1]} is no Werewolf; that helps."
        return SpeechPlan("reveal clear" if hidden else "report clear", news[-1], claims=claims, thought=thought)
    return None


def _hidden_seer(at: Standpoint) -> SpeechPlan | None:
    """Push what it knows without saying how, now and then."""
    wolves = found_wolves(at)
    if wolves and at.chance("push") < 0.6:
        return accuse(wolves[0])
    pressed = [name for name in at.view.inspections if name in at.notes.pressure and at.known(name) is False]
    pressed = [name for name in pressed if name not in at.view.dead]
    if pressed and at.chance("hint") < 0.5:
        return SpeechPlan("hint trust", pressed[0], thought=f"I inspected {pressed[0]}; do not waste the day there.")
    return None


def _role(at: Standpoint, accused: SeatName) -> tuple[Claim, ...]:
    return (RoleClaim(target=at.me, role="Seer"), *accusing(accused))


def _doctor(at: Standpoint) -> SpeechPlan | None:
    nights = [(round_, name) for round_, name in at.view.protections if round_ == at.ask.round]
    if not nights:
        return None
    round_, name = nights[-1]
    saved = at.notes.died is None
    wants = at.in_danger(at.me) and at.nature("claims") < tuning.DOCTOR_CLAIMS
    if wants and name != at.me and name not in at.view.dead and at.me not in at.notes.doctors:
        claims = (RoleClaim(target=at.me, role="Doctor"), ProtectionClaim(target=name, round=round_))
        return SpeechPlan(
            "doctor claim saved" if saved else "doctor claim",
            name,
            claims=claims,
            thought="They would exile their Doctor; I have to speak.",
        )
    if saved and at.ask.round > 1 and at.ask.turn <= 3 and at.chance("hint") < 0.35:
        return SpeechPlan("doctor hint", thought=f"It was I who watched over {name}.")
    return None


def plan_wolf(at: Standpoint) -> SpeechPlan:
    """Return what a Werewolf says."""
    return _as_seer(at) or say_one(at, _wolf_options(at))


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
        claims = inspecting(at, accuser, "Werewolf", first=True, round_=at.ask.round)
        return SpeechPlan("counterclaim", accuser, claims=claims, thought=f"{accuser} has me; my word against that.")
    fresh = [name for name, _ in prey(at) if (at.me, name) not in at.notes.results]
    partners = [name for name in at.living_partners() if (at.me, name) not in at.notes.results]
    if fresh and (not partners or at.chance("frame") < tuning.WOLF_FRAMES):
        claims = inspecting(at, fresh[0], "Werewolf", first=first, round_=at.ask.round)
        thought = f"A false report on {fresh[0]} may carry the day."
        return SpeechPlan("reveal wolf" if first else "report wolf", fresh[0], claims=claims, thought=thought)
    if partners:
        claims = inspecting(at, partners[0], "Villager", first=first, round_=at.ask.round)
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


def _wolf_options(at: Standpoint) -> list[Weighted]:
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
                thought = f"{floor.speaker} does our work; push {accused}."
                options.append((SpeechPlan("agree", accused, floor.speaker, accusing(accused), thought), 6))
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
