"""What is said in the debate: the ordinary talk of a day and how much it presses, the villagers' side, the Werewolves'.

Villagers are frank, Seers choose their moment, Doctors stay hidden; Werewolves frame, pose as the Seer, shield or drop
a partner, and else blend in.
"""

from __future__ import annotations

from collections.abc import Iterator

from players.scripted import tuning
from players.scripted.phrasing import SpeechPlan
from players.scripted.player import Player
from wolfbus.game.vocabulary import Role
from wolfbus.messages.base import SeatName
from wolfbus.messages.content import AccusationClaim, Claim, InspectionClaim, ProtectionClaim, RoleClaim

Weighted = tuple[SpeechPlan, int]
"""Something to say and how much it presses, at least 1."""


def accusing(target: SeatName) -> tuple[Claim, ...]:
    """Return the claim that `target` is a Werewolf."""
    return (AccusationClaim(target=target),)


def inspecting(
    player: Player, target: SeatName, role: Role, *, first: bool, round_: int | None = None
) -> tuple[Claim, ...]:
    """Return the claim to have seen a role, and to be the Seer where this seat says so for the first time."""
    inspection = InspectionClaim(target=target, role=role, round=round_)
    return (RoleClaim(target=player.me, role="Seer"), inspection) if first else (inspection,)


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


def last_accuser(player: Player) -> SeatName | None:
    """Return who accused this seat today since it last spoke, the latest of them."""
    last = player.notes.latest.get(player.me, 0)
    pressed = [(number, name) for name, number in player.notes.pressure.get(player.me, {}).items() if number > last]
    living = [pair for pair in pressed if pair[1] not in player.view.dead]
    return max(living)[1] if living else None


def small_talk(player: Player) -> Iterator[Weighted]:
    """Yield what can be said without accusing anybody; never empty."""
    yield SpeechPlan("hedge"), 2
    if player.ask.turn <= 2:
        if player.notes.died is not None:
            yield SpeechPlan("death", thought=f"Why {player.notes.died}?"), 6
        elif player.ask.round > 1 or player.view.config.first_night_kill:
            yield SpeechPlan("quiet night", thought="A life saved; by whom?"), 6
        if player.ask.round == 1:
            yield SpeechPlan("first day"), 5
    quiet = [name for name in player.view.others if name not in player.notes.spoken]
    if quiet and player.ask.turn >= 2:
        name = player.pick("quiet one", quiet)
        yield SpeechPlan("ask", name, thought=f"{name} has not spoken today."), 3
    voters = [
        (name, against)
        for name, against in player.notes.votes.items()
        if against is not None and player.me not in {name, against} and name not in player.view.dead
    ]
    if voters and player.ask.turn <= 4:
        name, against = voters[int(player.chance("voter") * len(voters))]
        yield SpeechPlan("ask vote", name, against, thought=f"Make {name} explain the vote."), 3


def backing(player: Player, suspects: list[tuple[SeatName, float]]) -> Iterator[Weighted]:
    """Yield what can be said on claims to be the Seer: follow a report, or choose between rivals."""
    for target, belief in suspects:
        for seer in player.reporters(target) if belief >= tuning.HARD_AT else ():
            plan = SpeechPlan("back seer", target, seer, accusing(target), f"I believe {seer}.")
            yield plan, 6
    rivals = [pair for pair in suspects if pair[0] in player.notes.seers]
    if player.contested() and rivals:
        target = rivals[0][0]
        other = next((name for name in player.notes.seers if name != target), None)
        if other is not None and rivals[0][1] >= tuning.SOFT_AT:
            thought = f"Of the Seers I believe {other}."
            yield SpeechPlan("weigh seers", target, other, accusing(target), thought), 5


def suspicion_talk(player: Player, suspects: list[tuple[SeatName, float]]) -> Iterator[Weighted]:
    """Yield accusations, doubts and words of trust that follow from what this seat believes of the others."""
    if not suspects:
        return
    target, belief = suspects[0]
    if belief >= tuning.HARD_AT:
        yield accuse(target), 8
    elif belief >= tuning.SOFT_AT:
        yield doubt(target), 6
    floor = player.floor
    if floor is not None:
        beliefs = dict(suspects)
        for accused in player.notes.cues[floor.statement].accused:
            if accused not in beliefs:
                continue
            if beliefs[accused] >= tuning.SOFT_AT + 0.06:
                thought = f"{floor.speaker} is right about {accused}."
                yield SpeechPlan("agree", accused, floor.speaker, accusing(accused), thought), 5
            elif beliefs[accused] <= tuning.TRUST_AT:
                thought = f"I do not believe the case against {accused}."
                yield SpeechPlan("defend other", accused, floor.speaker, thought=thought), 4


def plan_honest(player: Player) -> SpeechPlan:
    """Return what a seat of the villagers' side says."""
    role = player.view.role
    special = None
    if role == "Seer":
        special = _seer(player)
    elif role == "Doctor":
        special = _doctor(player)
    return special or player.weigh("say", _options(player))


def _options(player: Player) -> list[Weighted]:
    suspects = player.suspects()
    options = [*backing(player, suspects), *suspicion_talk(player, suspects)]
    accuser = last_accuser(player)
    if accuser is None or not player.in_danger(player.me):
        options.extend(small_talk(player))
    if accuser is not None:
        plain = player.view.role == "Villager" and player.chance("plain") < 0.5
        if plain:
            claims = (RoleClaim(target=player.me, role="Villager"),)
            options.append((SpeechPlan("defend self as villager", None, accuser, claims, f"{accuser} is wrong."), 10))
        else:
            options.append((SpeechPlan("defend self", None, accuser, thought=f"{accuser} is wrong about me."), 10))
    return options


def found_wolves(player: Player) -> list[SeatName]:
    """Return the living Werewolves that this Seer knows of, in the order it found them."""
    view = player.view
    return [name for name, role in view.inspections.items() if role == "Werewolf" and name not in view.dead]


def wants_to_reveal(player: Player) -> bool:
    """Return whether this Seer, still hidden, would come forward if it had the floor now."""
    if not player.view.inspections:
        return False
    if player.in_danger(player.me) or any(player.caught(name) for name in player.notes.seers):
        return True
    if player.ask.round >= tuning.SEER_REVEALS_BY:
        return True
    share = tuning.SEER_BOLD_FIRST_DAY if player.ask.round == 1 else tuning.SEER_BOLD_LATER
    return bool(found_wolves(player)) and player.trait("bold", player.ask.round) < share


def _seer(player: Player) -> SpeechPlan | None:
    view, notes = player.view, player.notes
    hidden = player.me not in notes.seers
    if hidden and not wants_to_reveal(player):
        return _hidden_seer(player)
    news = [name for name in view.inspections if (player.me, name) not in notes.results and name not in view.dead]
    wolves = found_wolves(player)
    untold = next((name for name in wolves if name in news), None)
    if untold is not None:
        claims = inspecting(player, untold, "Werewolf", first=hidden)
        thought = f"I saw that {untold} is a Werewolf."
        return SpeechPlan("reveal wolf" if hidden else "report wolf", untold, claims=claims, thought=thought)
    rival = next((name for name in notes.seers if player.caught(name) and name not in view.dead), None)
    if rival is not None and (hidden or player.chance("rival") < 0.5):
        thought = f"{rival} poses as the Seer; so a Wolf."
        return SpeechPlan("expose", rival, claims=_accusing_as_seer(player, rival), thought=thought)
    if wolves and player.chance("repeat") < 0.7:
        claims = _accusing_as_seer(player, wolves[0])
        return SpeechPlan("repeat seer", wolves[0], claims=claims, thought=f"{wolves[0]} must go.")
    if news:
        claims = inspecting(player, news[-1], view.inspections[news[-1]], first=hidden)
        thought = f"{news[-1]} is no Werewolf; that helps."
        return SpeechPlan("reveal clear" if hidden else "report clear", news[-1], claims=claims, thought=thought)
    return None


def _hidden_seer(player: Player) -> SpeechPlan | None:
    """Push what it knows without saying how, now and then."""
    wolves = found_wolves(player)
    if wolves and player.chance("push") < 0.6:
        return accuse(wolves[0])
    inspected = [name for name in player.view.inspections if name not in player.view.dead]
    pressed = [name for name in inspected if name in player.notes.pressure and player.is_wolf(name) is False]
    if pressed and player.chance("hint") < 0.5:
        return SpeechPlan("hint trust", pressed[0], thought=f"I inspected {pressed[0]}; do not waste the day there.")
    return None


def _accusing_as_seer(player: Player, accused: SeatName) -> tuple[Claim, ...]:
    return (RoleClaim(target=player.me, role="Seer"), *accusing(accused))


def _doctor(player: Player) -> SpeechPlan | None:
    nights = [(round_, name) for round_, name in player.view.protections if round_ == player.ask.round]
    if not nights:
        return None
    round_, name = nights[-1]
    saved = player.notes.died is None
    wants = player.in_danger(player.me) and player.trait("claims") < tuning.DOCTOR_CLAIMS
    if wants and name != player.me and name not in player.view.dead and player.me not in player.notes.doctors:
        claims = (RoleClaim(target=player.me, role="Doctor"), ProtectionClaim(target=name, round=round_))
        return SpeechPlan(
            "doctor claim saved" if saved else "doctor claim",
            name,
            claims=claims,
            thought="They would exile their Doctor; I have to speak.",
        )
    if saved and player.ask.round > 1 and player.ask.turn <= 3 and player.chance("hint") < 0.35:
        return SpeechPlan("doctor hint", thought=f"It was I who watched over {name}.")
    return None


def plan_wolf(player: Player) -> SpeechPlan:
    """Return what a Werewolf says."""
    return _as_seer(player) or player.weigh("say", _wolf_options(player))


def innocents(player: Player) -> list[tuple[SeatName, float]]:
    """Return the living others that are no Wolves with how well a case against each would go down, best first."""
    ranked = []
    for name in player.view.names:
        if name in player.view.dead or name == player.me or name in player.view.partners:
            continue
        value = 0.2 * min(player.voices(name), 3)
        value += 0.3 if player.notes.is_reported(name) else 0.0
        value += 0.15 if name in player.notes.seers else 0.0
        value += 0.15 if name in player.notes.pressure.get(player.me, ()) else 0.0
        value -= 0.6 if player.notes.results.get((player.me, name)) is False else 0.0
        value += 0.3 * player.leaning(name)
        ranked.append((name, value))
    return sorted(ranked, key=lambda pair: -pair[1])


def lost_partner(player: Player) -> SeatName | None:
    """Return a living partner that the village is about to exile, for a Werewolf that would turn on it."""
    if player.trait("busses") >= tuning.WOLF_BUSSES:
        return None
    for partner in player.living_partners():
        reported = player.notes.is_reported(partner) and not player.contested()
        accusers = [name for name in player.accusers(partner) if name != player.me]
        if reported or len(accusers) * 2 >= len(player.view.living) - 1:
            return partner
    return None


def poses_as_seer(player: Player) -> bool:
    """Return whether this Werewolf, not yet claiming anything, would pose as the Seer now."""
    notes, pack = player.notes, (player.me, *player.view.partners)
    if player.view.config.seers == 0 or any(name in notes.seers for name in pack):
        return False
    if player.me in notes.doctors or not innocents(player):
        return False
    if reporter_of(player, player.me) is not None:
        return player.trait("counterclaims") < tuning.WOLF_COUNTERCLAIMS
    return player.ask.round >= 2 and player.trait("poses") < tuning.WOLF_FAKES_SEER


def reporter_of(player: Player, name: SeatName) -> SeatName | None:
    """Return a living player who told everybody to have seen that `name` is a Werewolf."""
    return next((seer for seer in player.reporters(name) if seer not in player.view.dead), None)


def _as_seer(player: Player) -> SpeechPlan | None:
    first = poses_as_seer(player)
    if not first and player.me not in player.notes.seers:
        return None
    if not first and player.notes.latest.get(player.me) in _reports_of_today(player):
        return None
    accuser = reporter_of(player, player.me)
    if accuser is not None and (player.me, accuser) not in player.notes.results:
        claims = inspecting(player, accuser, "Werewolf", first=True, round_=player.ask.round)
        return SpeechPlan("counterclaim", accuser, claims=claims, thought=f"{accuser} has me; my word against that.")
    fresh = [name for name, _ in innocents(player) if (player.me, name) not in player.notes.results]
    partners = [name for name in player.living_partners() if (player.me, name) not in player.notes.results]
    if fresh and (not partners or player.chance("frame") < tuning.WOLF_FRAMES):
        claims = inspecting(player, fresh[0], "Werewolf", first=first, round_=player.ask.round)
        thought = f"A false report on {fresh[0]} may carry the day."
        return SpeechPlan("reveal wolf" if first else "report wolf", fresh[0], claims=claims, thought=thought)
    if partners:
        claims = inspecting(player, partners[0], "Villager", first=first, round_=player.ask.round)
        thought = f"Clear {partners[0]}, my partner, with a false report."
        return SpeechPlan("reveal clear" if first else "report clear", partners[0], claims=claims, thought=thought)
    return None


def _reports_of_today(player: Player) -> set[int]:
    """Return this seat's statements of the day that reported an inspection; one lie a day is enough."""
    return {
        number
        for number, statement in player.view.statements.items()
        if statement.round == player.ask.round and statement.speaker == player.me and player.notes.cues[number].results
    }


def _wolf_options(player: Player) -> list[Weighted]:
    ranked = innocents(player)
    attack = player.chance("attack") < tuning.WOLF_ATTACKS
    options = [*(_attacks(player, ranked) if attack and ranked else small_talk(player))]
    accuser = last_accuser(player)
    if accuser is not None:
        if player.in_danger(player.me):
            options.clear()
        options.extend(_defence(player, accuser, ranked))
    partner = lost_partner(player)
    if partner is not None:
        options.append((accuse(partner), 12))
    else:
        options.extend(_defend_partners(player))
    return options


def _attacks(player: Player, ranked: list[tuple[SeatName, float]]) -> Iterator[Weighted]:
    target, value = ranked[0]
    yield doubt(target), 5
    if player.ask.round > 1 or value > 0.3:
        yield accuse(target), 4
        yield accuse(target, boldly=True), 4
    floor = player.floor
    if floor is not None:
        names = {name for name, _ in ranked}
        for accused in player.notes.cues[floor.statement].accused:
            if accused in names and floor.speaker != accused:
                thought = f"{floor.speaker} does our work; push {accused}."
                yield SpeechPlan("agree", accused, floor.speaker, accusing(accused), thought), 6


def _defence(player: Player, accuser: SeatName, ranked: list[tuple[SeatName, float]]) -> Iterator[Weighted]:
    yield SpeechPlan("defend self", None, accuser, thought=f"{accuser} is on to me; stay calm."), 6
    if player.me not in player.notes.seers:
        claims = (RoleClaim(target=player.me, role="Villager"),)
        thought = "Play the harmless Villager."
        yield SpeechPlan("defend self as villager", None, accuser, claims, thought), 6
    if ranked:
        target = ranked[0][0]
        yield SpeechPlan("deflect", target, thought=f"Point them at {target}."), 8


def _defend_partners(player: Player) -> Iterator[Weighted]:
    """Speak up for a partner under fire."""
    for partner in player.living_partners():
        accusers = [name for name in player.accusers(partner) if name != player.me]
        if accusers:
            thought = f"{partner} needs a voice; not too loud."
            yield SpeechPlan("defend other", partner, accusers[-1], thought=thought), 3
