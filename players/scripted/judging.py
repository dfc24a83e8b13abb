"""The mock analyser (paper, section 4.4): fixed rules that turn a statement's cues into suspicion, a flag, a kind
and a confidence.

Each rule adds to a plain statement's suspicion; what the observer knows for certain then bends the sum, and a small
seeded spread keeps observers who know the same from being copies of each other.
"""

from __future__ import annotations

from players.scripted import tuning
from players.scripted.cues import Cues
from players.scripted.standpoint import Standpoint
from wolfbus.messages.base import SeatName
from wolfbus.messages.content import Judgement
from wolfbus.vocabulary import Deception

Cue = tuple[float, Deception, str]
"""What a rule adds to suspicion, the kind of deception it hints at, and its reason in words."""


def judge(at: Standpoint) -> Judgement:
    """Return this seat's judgement of statement `ask.about`."""
    number = at.ask.about or 0
    statement = at.view.statements.get(number)
    cues = at.notes.cues.get(number)
    if statement is None or cues is None:
        return Judgement(deceptive=False, suspicion=0.5, confidence=0.0, reasoning="I did not hear this.")
    speaker = statement.speaker
    value, kind, why = _contradiction(at, speaker, cues) or _impression(at, number, speaker, cues)
    value += tuning.JUDGING_NOISE * (2.0 * at.chance("judge", number) - 1.0)
    suspicion = round(min(max(value, 0.02), 0.98), 2)
    deceptive = suspicion >= tuning.FLAG_AT
    confidence = round(0.5 + 0.45 * abs(2.0 * suspicion - 1.0), 2)
    if not deceptive:
        kind = "none"
    elif kind == "none":
        kind = "omission"
    return Judgement(deceptive=deceptive, suspicion=suspicion, confidence=confidence, kind=kind, reasoning=why)


def _contradiction(at: Standpoint, speaker: SeatName, cues: Cues) -> Cue | None:
    """Return certainty where the words contradict what the observer knows."""
    known = at.known
    for target, wolf in cues.results:
        if known(target) is (not wolf) and known(speaker) is not False:
            return 0.95, "fabrication", "A false report."
    role = at.view.role
    if cues.claimed == role and role in _SPECIAL and at.view.config.count(role) == 1:
        return 0.95, "fabrication", f"I am the {role}."
    if known(speaker):
        if cues.claimed is not None:
            return 0.95, "fabrication", "A Werewolf in disguise."
        if any(known(target) is False for target in cues.accused):
            return 0.9, "misdirection", "A Werewolf framing somebody."
        return 0.72, "omission", "A Werewolf, hiding."
    return None


_SPECIAL = frozenset({"Seer", "Doctor"})


def _impression(at: Standpoint, number: int, speaker: SeatName, cues: Cues) -> Cue:
    """Return what the cues of a statement add up to, with the strongest of them as the kind and the reason."""
    marks = _tone(cues)
    marks.extend(_content(at, number, speaker, cues))
    before = at.view.suspicion.of(at.me, speaker)
    value = tuning.PLAIN + tuning.HABIT * (before - at.view.suspicion.prior)
    strongest: Cue = (0.0, "none", "")
    for mark in marks:
        value += mark[0]
        if mark[0] > strongest[0]:
            strongest = mark
    if at.known(speaker) is False:
        # an innocent player may still keep things back
        value = 0.5 * value
        return value, strongest[1], "No Werewolf, I know."
    return value, strongest[1], strongest[2]


def _tone(cues: Cues) -> list[Cue]:
    marks: list[Cue] = []
    if cues.hedges:
        marks.append((tuning.CUE_HEDGE * min(cues.hedges, 3), "omission", "Hedges."))
    if cues.absolutes:
        marks.append((tuning.CUE_ABSOLUTE * min(cues.absolutes, 2), "distortion", "Too sure."))
    if cues.deflects:
        marks.append((tuning.CUE_DEFLECTS, "misdirection", "Deflects."))
    if cues.pleads:
        marks.append((tuning.CUE_PLEADS, "omission", "Pleads."))
    if cues.grounded:
        marks.append((tuning.CUE_GROUNDED, "none", "Can be checked."))
    return marks


def _content(at: Standpoint, number: int, speaker: SeatName, cues: Cues) -> list[Cue]:
    marks: list[Cue] = []
    if number in at.notes.flips:
        marks.append((tuning.CUE_FLIP, "fabrication", f"Changed its tune about {at.notes.flips[number]}."[:80]))
    if cues.claimed in _SPECIAL:
        if cues.claimed == "Seer" and speaker in at.notes.seers and at.contested():
            marks.append((tuning.CUE_RIVAL_CLAIM, "fabrication", "Too many Seers."))
        else:
            marks.append((tuning.CUE_LONE_CLAIM, "none", "Undisputed claim."))
    for target in cues.accused[:2]:
        if target == at.me:
            if not at.wolf:
                marks.append((tuning.CUE_ACCUSES_ME, "misdirection", "Accuses me."))
            continue
        trust = at.belief_of(target)
        if trust <= tuning.TRUST_AT:
            marks.append((tuning.CUE_ACCUSES_TRUSTED, "misdirection", f"Accuses {target}, whom I trust."))
        elif trust >= tuning.HARD_AT:
            marks.append((tuning.CUE_AGREES, "none", f"Suspects {target}, as I do."))
        elif not cues.results:
            marks.append((tuning.CUE_ACCUSES, "misdirection", f"Accuses {target} for little."))
    return marks
