"""What scripted players do at night: wolves hunt threats, the Doctor guesses the hunt, the Seer tests suspicions."""

from __future__ import annotations

from players.scripted import tuning
from players.scripted.standpoint import Standpoint
from players.scripted.words import words
from wolfbus.draws import choose
from wolfbus.messages.base import SeatName
from wolfbus.messages.content import Choice, Proposal


def kill(at: Standpoint) -> tuple[Choice, str]:
    """Return the lone Werewolf's victim."""
    target, why = _threat(at)
    return Choice(target=target), f"Kill {target}: {why}."[:80]


def whisper(at: Standpoint) -> tuple[Proposal, str]:
    """Return a proposal: the greatest threat first, then whatever the first of the pack in seating order proposed."""
    if at.ask.turn > 1:
        heard = at.view.proposals()
        pack = [name for name in at.view.names if name == at.me or name in at.living_partners()]
        for wolf in pack:
            proposal = heard.get(wolf)
            if proposal is None or not _legal(at, proposal.target):
                continue
            own = wolf == at.me
            word = _word(at, "firm" if own else "agreed")
            return Proposal(target=proposal.target, word=word), f"One mind on {proposal.target}."[:80]
    target, why = _threat(at)
    return Proposal(target=target, word=_word(at, why)), f"Propose {target}: {why}."[:80]


def protect(at: Standpoint) -> tuple[Choice, str]:
    """Return whom the Doctor protects: a believed Seer most likely, else anybody the wolves may fear, drawn."""
    names = _names(at)
    if not names:
        return Choice(target=None), "Nobody to protect."
    last = at.view.protections[-1] if at.view.protections else None
    options = []
    for name in names:
        weight = 2
        if name in at.notes.seers and not at.caught(name):
            weight = tuning.PROTECTS_SEER if not at.contested() else tuning.PROTECTS_SEER // 2
        elif name == at.me:
            weight = tuning.PROTECTS_SELF
        elif at.belief_of(name) >= tuning.HARD_AT:
            weight = 1
        if last is not None and last == (at.ask.round - 1, name):
            weight = max(weight // 2, 1)
        options.append((name, weight))
    target = at.weigh("protect", options)
    return Choice(target=target), f"Watch over {target} tonight."


def inspect(at: Standpoint) -> Choice:
    """Return whom the Seer inspects: the most suspicious player it does not know yet."""
    names = _names(at)
    unknown = [name for name in names if at.known(name) is None] or names
    if not unknown:
        return Choice(target=None)
    # without a lead in the first night, anybody
    return Choice(target=at.pick("inspect", unknown) if at.ask.round == 1 else max(unknown, key=at.belief))


def _threat(at: Standpoint) -> tuple[SeatName | None, str]:
    """Return the prey that threatens the pack most, and the sort of threat."""
    pack = [at.me, *at.living_partners()]
    best: SeatName | None = None
    why, most = "any", -1.0
    for name in at.view.names:
        if not _legal(at, name) or name in pack:
            continue
        sort, value = _sort_of_threat(at, name, pack)
        value += 0.8 * at.leaning(name)
        if value > most:
            best, why, most = name, sort, value
    if best is None:
        names = _names(at)
        return (names[0] if names else None), "any"
    return best, why


def _sort_of_threat(at: Standpoint, name: SeatName, pack: list[SeatName]) -> tuple[str, float]:
    notes = at.notes
    if name in notes.seers:
        return "seer", 2.0
    if name in notes.doctors:
        return "doctor", 1.4
    pressing = sum(1 for wolf in pack if name in notes.pressure.get(wolf, ()))
    if pressing:
        return "hunter", 0.8 + 0.3 * pressing
    if at.ask.round > 1 and not notes.pressure.get(name):
        return "trusted", 0.4
    return "any", 0.0


def _word(at: Standpoint, why: str) -> str:
    return choose(at.seed, "word", words().whispers[why], at.ask.round, at.ask.turn)


def _names(at: Standpoint) -> list[SeatName]:
    return [name for name in at.ask.legal or () if name is not None]


def _legal(at: Standpoint, name: SeatName | None) -> bool:
    return name is not None and name in (at.ask.legal or ())
