"""How scripted players label their own statements: fixed rules over what the words said and what the speaker knows."""

from __future__ import annotations

from players.scripted import tuning
from players.scripted.cues import Cues
from players.scripted.standpoint import Standpoint
from wolfbus.messages.content import Label
from wolfbus.vocabulary import Deception

Verdict = tuple[Deception, float, str]
"""Kind of deception, confidence in the label, and the reason for it."""


def label(at: Standpoint) -> Label:
    """Return the label of this seat's own statement `ask.about`."""
    cues = at.notes.cues.get(at.ask.about or 0)
    if cues is None:
        return Label(deceptive=False, confidence=0.5, reasoning="I do not recall saying this.")
    if at.wolf:
        kind, confidence, why = _wolf(at, cues)
    elif at.view.role == "Seer":
        kind, confidence, why = _seer(at, cues)
    elif at.view.role == "Doctor":
        kind, confidence, why = _doctor(at, cues)
    else:
        kind, confidence, why = _villager(at, cues)
    confidence = round(confidence + 0.1 * (_chance(at, "sure") - 0.5), 2)
    return Label(deceptive=kind != "none", confidence=confidence, kind=kind, reasoning=why[:80])


def _chance(at: Standpoint, purpose: str) -> float:
    return at.chance(f"label {purpose}", at.ask.about or 0)


def _wolf(at: Standpoint, cues: Cues) -> Verdict:
    if cues.results:
        return "fabrication", 0.95, "I inspected nobody; the report is invented."
    if cues.claimed is not None and cues.claimed != "Werewolf":
        return "fabrication", 0.93, f"I said I am the {cues.claimed}; I am a Werewolf."
    return _wolf_talk(at, cues)


def _wolf_talk(at: Standpoint, cues: Cues) -> Verdict:
    """Label a Werewolf's statement without a false claim of its own role."""
    if cues.deflects:
        return "misdirection", 0.88, "I moved the talk away from me."
    innocent = next((name for name in cues.accused if at.known(name) is False), None)
    if innocent is not None:
        return "misdirection", 0.9, f"I accused {innocent}, who is no Werewolf."
    if any(name in at.view.partners for name in cues.trusted):
        return "distortion", 0.85, "I made a partner look better than the truth."
    doubted = next((name for name in cues.doubted if at.known(name) is False), None)
    if doubted is not None:
        exaggerated = _chance(at, "doubt") < 0.5
        return ("distortion" if exaggerated else "misdirection"), 0.75, f"I blew up a trifle against {doubted}."
    if any(name in at.view.partners for name in cues.accused):
        return "none", 0.6, "What I said of my partner is true."
    if cues.pleads:
        return "omission", 0.8, "I left out what I am."
    if _chance(at, "omission") < tuning.WOLF_ADMITS_OMISSION:
        return "omission", 0.65, "I kept back what happened in the night."
    return "none", 0.6, "Small talk; nothing in it was false."


def _seer(at: Standpoint, cues: Cues) -> Verdict:
    if cues.claimed == "Villager":
        return "fabrication", 0.9, "I called myself a Villager to stay hidden."
    if cues.claimed == "Seer" or cues.results or at.me in at.notes.seers:
        return "none", 0.95, "I told what I know."
    if at.view.inspections and _chance(at, "hiding") < 0.75:
        return "omission", 0.8, "I held back what I saw in the night."
    return _honest(at, cues)


def _doctor(at: Standpoint, cues: Cues) -> Verdict:
    if cues.claimed == "Villager":
        return "fabrication", 0.9, "I called myself a Villager to stay hidden."
    if cues.claimed == "Doctor":
        return "none", 0.93, "I told them what I am."
    if (cues.pleads or cues.grounded) and _chance(at, "hiding") < 0.6:
        return "omission", 0.75, "I did not say whom I protect."
    return _honest(at, cues)


def _villager(at: Standpoint, cues: Cues) -> Verdict:
    if cues.claimed in {"Seer", "Doctor"}:
        return "fabrication", 0.9, "I claimed a role I do not have."
    return _honest(at, cues)


def _honest(at: Standpoint, cues: Cues) -> Verdict:
    if cues.accused and cues.absolutes and at.belief_of(cues.accused[0]) < tuning.HARD_AT:
        return "distortion", 0.65, "I sounded surer than I am."
    if cues.hedges >= 2 and _chance(at, "hedge") < 0.35:
        return "omission", 0.6, "I kept my suspicions to myself."
    if _chance(at, "omission") < 0.08:
        return "omission", 0.55, "I did not say all that I think."
    if cues.hedges:
        return "none", 0.75, "I was unsure, and said so."
    return "none", 0.88, ""
