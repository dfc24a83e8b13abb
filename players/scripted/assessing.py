"""The mock analyser (paper, section 4.4): fixed rules that turn a statement's cues into a judgement or a label.

For others' statements, each rule adds to a plain statement's suspicion; what the observer knows for certain then bends
the sum, and a small seeded spread keeps observers who know the same from being copies of each other. For its own, a
player goes by what the words said and what it knows.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

from players.scripted import tuning
from players.scripted.cues import Cues
from players.scripted.player import Player
from wolfbus.agent.answer import Answer
from wolfbus.game.vocabulary import Deception
from wolfbus.messages.base import SeatName, unchecked
from wolfbus.messages.content import Judgement, Label

Cue = tuple[float, Deception, str]
"""What a rule adds to suspicion, the kind of deception it hints at, and its reason in words."""


def judge(player: Player) -> Answer:
    """Return this seat's judgement of statement `ask.about`."""
    number = player.ask.about or 0
    statement = player.view.statements.get(number)
    cues = player.notes.cues.get(number)
    if statement is None or cues is None:
        return Answer(Judgement(deceptive=False, suspicion=0.5, confidence=0.0, reasoning="I did not hear this."))
    speaker = statement.speaker
    value, kind, why = _contradiction(player, speaker, cues) or _impression(player, number, speaker, cues)
    value += tuning.JUDGING_NOISE * (2.0 * player.chance("judge", number) - 1.0)
    suspicion, confidence = _grades(round(min(max(value, 0.02), 0.98), 2))
    deceptive = suspicion >= tuning.FLAG_AT
    if not deceptive:
        kind = "none"
    elif kind == "none":
        kind = "omission"
    fields = {"deceptive": deceptive, "suspicion": suspicion, "confidence": confidence}
    return Answer(unchecked(Judgement, fields | {"kind": kind, "stated_kind": None, "reasoning": why}))


@cache
def _grades(suspicion: float) -> tuple[float, float]:
    """Return a suspicion of two digits and the confidence in it, the same objects for all who keep them."""
    return suspicion, round(0.5 + 0.45 * abs(2.0 * suspicion - 1.0), 2)


def _contradiction(player: Player, speaker: SeatName, cues: Cues) -> Cue | None:
    """Return certainty where the words contradict what the observer knows."""
    is_wolf = player.is_wolf
    for target, wolf in cues.results:
        if is_wolf(target) is (not wolf) and is_wolf(speaker) is not False:
            return 0.95, "fabrication", "A false report."
    role = player.view.role
    if cues.claimed == role and role in _SPECIAL and player.view.config.count(role) == 1:
        return 0.95, "fabrication", f"I am the {role}."
    if is_wolf(speaker):
        if cues.claimed is not None:
            return 0.95, "fabrication", "A Werewolf in disguise."
        if any(is_wolf(target) is False for target in cues.accused):
            return 0.9, "misdirection", "A Werewolf framing somebody."
        return 0.72, "omission", "A Werewolf, hiding."
    return None


_SPECIAL = frozenset({"Seer", "Doctor"})


def _impression(player: Player, number: int, speaker: SeatName, cues: Cues) -> Cue:
    """Return what the cues of a statement add up to, with the strongest of them as the kind and the reason."""
    before = player.view.suspicion.of(player.me, speaker)
    value = tuning.PLAIN + tuning.HABIT * (before - player.view.suspicion.prior)
    strongest: Cue = (0.0, "none", "")
    for mark in (*_tone(cues), *_content(player, number, speaker, cues)):
        value += mark[0]
        if mark[0] > strongest[0]:
            strongest = mark
    if player.is_wolf(speaker) is False:
        # an innocent player may still keep things back
        value = 0.5 * value
        return value, strongest[1], "No Werewolf, I know."
    return value, strongest[1], strongest[2]


def _tone(cues: Cues) -> Iterator[Cue]:
    if cues.hedges:
        yield tuning.CUE_HEDGE * min(cues.hedges, 3), "omission", "Hedges."
    if cues.absolutes:
        yield tuning.CUE_ABSOLUTE * min(cues.absolutes, 2), "distortion", "Too sure."
    if cues.deflects:
        yield tuning.CUE_DEFLECTS, "misdirection", "Deflects."
    if cues.pleads:
        yield tuning.CUE_PLEADS, "omission", "Pleads."
    if cues.grounded:
        yield tuning.CUE_GROUNDED, "none", "Can be checked."


def _content(player: Player, number: int, speaker: SeatName, cues: Cues) -> Iterator[Cue]:
    if number in player.notes.flips:
        yield tuning.CUE_FLIP, "fabrication", f"Changed its tune about {player.notes.flips[number]}."[:80]
    if cues.claimed in _SPECIAL:
        if cues.claimed == "Seer" and speaker in player.notes.seers and player.contested():
            yield tuning.CUE_RIVAL_CLAIM, "fabrication", "Too many Seers."
        else:
            yield tuning.CUE_LONE_CLAIM, "none", "Undisputed claim."
    for target in cues.accused[:2]:
        if target == player.me:
            if not player.wolf:
                yield tuning.CUE_ACCUSES_ME, "misdirection", "Accuses me."
            continue
        trust = player.belief_of(target)
        if trust <= tuning.TRUST_AT:
            yield tuning.CUE_ACCUSES_TRUSTED, "misdirection", f"Accuses {target}, whom I trust."
        elif trust >= tuning.HARD_AT:
            yield tuning.CUE_AGREES, "none", f"Suspects {target}, as I do."
        elif not cues.results:
            yield tuning.CUE_ACCUSES, "misdirection", f"Accuses {target} for little."


Verdict = tuple[Deception, float, str]
"""Kind of deception, confidence in the label, and the reason for it."""


def label(player: Player) -> Answer:
    """Return the label of this seat's own statement `ask.about`."""
    cues = player.notes.cues.get(player.ask.about or 0)
    if cues is None:
        return Answer(Label(deceptive=False, confidence=0.5, reasoning="I do not recall saying this."))
    if player.wolf:
        kind, confidence, why = _wolf(player, cues)
    elif player.view.role == "Seer":
        kind, confidence, why = _seer(player, cues)
    elif player.view.role == "Doctor":
        kind, confidence, why = _doctor(player, cues)
    else:
        kind, confidence, why = _villager(player, cues)
    confidence = round(confidence + 0.1 * (_chance(player, "sure") - 0.5), 2)
    fields = {"deceptive": kind != "none", "confidence": confidence}
    return Answer(unchecked(Label, fields | {"kind": kind, "stated_kind": None, "reasoning": why[:80]}))


def _chance(player: Player, purpose: str) -> float:
    return player.chance(f"label {purpose}", player.ask.about or 0)


def _wolf(player: Player, cues: Cues) -> Verdict:
    if cues.results:
        return "fabrication", 0.95, "I inspected nobody; the report is invented."
    if cues.claimed is not None and cues.claimed != "Werewolf":
        return "fabrication", 0.93, f"I said I am the {cues.claimed}; I am a Werewolf."
    return _wolf_talk(player, cues)


def _wolf_talk(player: Player, cues: Cues) -> Verdict:
    """Label a Werewolf's statement without a false claim of its own role."""
    if cues.deflects:
        return "misdirection", 0.88, "I moved the talk away from me."
    innocent = next((name for name in cues.accused if player.is_wolf(name) is False), None)
    if innocent is not None:
        return "misdirection", 0.9, f"I accused {innocent}, who is no Werewolf."
    if any(name in player.view.partners for name in cues.trusted):
        return "distortion", 0.85, "I made a partner look better than the truth."
    doubted = next((name for name in cues.doubted if player.is_wolf(name) is False), None)
    if doubted is not None:
        exaggerated = _chance(player, "doubt") < 0.5
        return ("distortion" if exaggerated else "misdirection"), 0.75, f"I blew up a trifle against {doubted}."
    if any(name in player.view.partners for name in cues.accused):
        return "none", 0.6, "What I said of my partner is true."
    if cues.pleads:
        return "omission", 0.8, "I left out what I am."
    if _chance(player, "omission") < tuning.WOLF_ADMITS_OMISSION:
        return "omission", 0.65, "I kept back what happened in the night."
    return "none", 0.6, "Small talk; nothing in it was false."


def _seer(player: Player, cues: Cues) -> Verdict:
    if cues.claimed == "Villager":
        return "fabrication", 0.9, "I called myself a Villager to stay hidden."
    if cues.claimed == "Seer" or cues.results or player.me in player.notes.seers:
        return "none", 0.95, "I told what I know."
    if player.view.inspections and _chance(player, "hiding") < 0.75:
        return "omission", 0.8, "I held back what I saw in the night."
    return _honest(player, cues)


def _doctor(player: Player, cues: Cues) -> Verdict:
    if cues.claimed == "Villager":
        return "fabrication", 0.9, "I called myself a Villager to stay hidden."
    if cues.claimed == "Doctor":
        return "none", 0.93, "I told them what I am."
    if (cues.pleads or cues.grounded) and _chance(player, "hiding") < 0.6:
        return "omission", 0.75, "I did not say whom I protect."
    return _honest(player, cues)


def _villager(player: Player, cues: Cues) -> Verdict:
    if cues.claimed in {"Seer", "Doctor"}:
        return "fabrication", 0.9, "I claimed a role I do not have."
    return _honest(player, cues)


def _honest(player: Player, cues: Cues) -> Verdict:
    if cues.accused and cues.absolutes and player.belief_of(cues.accused[0]) < tuning.HARD_AT:
        return "distortion", 0.65, "I sounded surer than I am."
    if cues.hedges >= 2 and _chance(player, "hedge") < 0.35:
        return "omission", 0.6, "I kept my suspicions to myself."
    if _chance(player, "omission") < 0.08:
        return "omission", 0.55, "I did not say all that I think."
    if cues.hedges:
        return "none", 0.75, "I was unsure, and said so."
    return "none", 0.88, ""
