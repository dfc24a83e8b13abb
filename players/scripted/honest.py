"""What the villagers' side says in the debate: Villagers are frank, Seers choose their moment, Doctors stay hidden."""

from __future__ import annotations

from players.scripted import tuning
from players.scripted.phrasing import SpeechPlan
from players.scripted.standpoint import Standpoint
from players.scripted.talk import Weighted, accuse, backing, last_accuser, say_one, small_talk, suspicion_talk
from wolfbus.messages.base import SeatName
from wolfbus.messages.claims import AccusationClaim, Claim, InspectionClaim, ProtectionClaim, RoleClaim


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
        claims = _result(at, wolves[0], hidden)
        thought = f"I saw that {wolves[0]} is a Werewolf."
        return SpeechPlan("reveal wolf" if hidden else "report wolf", wolves[0], claims=claims, thought=thought)
    rival = next((name for name in at.notes.seers if at.caught(name) and name not in at.view.dead), None)
    if rival is not None and (hidden or at.chance("rival") < 0.5):
        return SpeechPlan("expose", rival, claims=_role(at, rival), thought=f"{rival} poses as the Seer; so a Wolf.")
    known = found_wolves(at)
    if known and at.chance("repeat") < 0.7:
        return SpeechPlan("repeat seer", known[0], claims=_role(at, known[0]), thought=f"{known[0]} must go.")
    if news:
        claims = _result(at, news[-1], hidden)
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


def _result(at: Standpoint, name: SeatName, hidden: bool) -> tuple[Claim, ...]:
    inspection = InspectionClaim(target=name, role=at.view.inspections[name])
    return (RoleClaim(target=at.me, role="Seer"), inspection) if hidden else (inspection,)


def _role(at: Standpoint, accused: SeatName) -> tuple[Claim, ...]:
    return (RoleClaim(target=at.me, role="Seer"), AccusationClaim(target=accused))


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
