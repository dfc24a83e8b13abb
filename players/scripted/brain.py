"""`ScriptedBrain`, and what scripted players choose: how much they want the floor, whom they vote for and why, and what
they do at night.

Answers to accusations and news bid first, then temperament. Wolves hunt threats, the Doctor guesses the hunt, the Seer
tests suspicions.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from players.scripted import tuning
from players.scripted.assessing import judge, label
from players.scripted.phrasing import VoteReason, choose_evidence, phrase, sentence, words
from players.scripted.standpoint import GameNotes, Standpoint
from players.scripted.talk import (
    accusing,
    found_wolves,
    inspecting,
    lost_partner,
    plan_honest,
    plan_wolf,
    poses_as_seer,
    prey,
    reporter_of,
    wants_to_reveal,
)
from wolfbus.agent import Agent
from wolfbus.agent.answer import Answer
from wolfbus.draws import choose
from wolfbus.messages.base import SeatName, unchecked
from wolfbus.messages.content import (
    Ballot,
    Bid,
    Choice,
    Claim,
    Proposal,
    Speech,
)
from wolfbus.messages.requests import Ask
from wolfbus.view import SeatView
from wolfbus.vocabulary import Kind

Vote = tuple[SeatName | None, VoteReason]
"""Whom, and on what ground."""


def speak(at: Standpoint) -> Answer:
    """Return what the role and the talk so far suggest to say."""
    plan = plan_wolf(at) if at.wolf else plan_honest(at)
    return Answer(Speech(text=sentence(at, plan), claims=plan.claims), plan.thought[:80] or None)


def bid(at: Standpoint) -> Answer:
    """Return the bid, and the thought behind it where it has a reason."""
    urgency, thought = _urgency(at)
    most = at.view.config.bid_max
    return Answer(unchecked(Bid, {"bid": min(max(round(urgency * most / 10), 0), most)}), thought)


def _urgency(at: Standpoint) -> tuple[int, str | None]:
    """Return urgency from 0 to 10."""
    urgent = _news(at)
    if urgent is not None:
        return urgent
    spoken = at.notes.spoken.get(at.me, 0)
    temper = 1 + int(2.0 * at.nature("temper") + 3.0 * at.chance("bid"))
    floor = at.notes.floor
    if floor is not None and floor.speaker != at.me:
        cues = at.notes.cues[floor.statement]
        if at.me in cues.accused:
            return 7 if spoken < 2 else 6, f"{floor.speaker} accuses me; answer."
        if at.me in cues.named:
            return min(temper + 3, 7) - spoken, f"{floor.speaker} spoke of me."
    pressed = at.notes.pressure.get(at.me)
    if pressed and any(number > at.notes.latest.get(at.me, 0) for number in pressed.values()):
        return 6, "There is an accusation to answer."
    return max(temper - 2 * spoken, 0), None


def _news(at: Standpoint) -> tuple[int, str] | None:
    role = at.view.role
    if role == "Seer" and at.view.inspections:
        untold = [name for name in found_wolves(at) if (at.me, name) not in at.notes.results]
        hidden = at.me not in at.notes.seers
        if (untold and not hidden) or (hidden and wants_to_reveal(at)):
            return 9, "What I saw has to be said today."
    elif role == "Werewolf":
        exposed = at.me not in at.notes.spoken and reporter_of(at, at.me) is not None
        if exposed or (at.ask.round >= 2 and poses_as_seer(at)):
            return 8, "Get my story out before theirs settles."
    return None


def vote(at: Standpoint) -> Answer:
    """Return a legal ballot, and the thought behind it where no reason says as much."""
    target, ground = _wolf_vote(at) if at.wolf else _honest_vote(at)
    legal = at.ask.legal or ()
    if target not in legal:
        target = None
    if target is None:
        # abstaining is the moderator's default too, so it is sound even where nothing is legal
        ground = "abstain"
    thought = ground[:1].upper() + ground[1:] + "."
    if at.chance("reason") >= tuning.GIVES_REASON:
        return Answer(Ballot(target=target), thought)
    other = _seer_behind(at, target) if target else None
    if ground == "believe seer" and other is None:
        ground = "evidence"
    grounds = choose_evidence(at, target) if target else None
    reason = phrase(at, words().vote_reasons[ground], target, other, grounds)
    return Answer(Ballot(target=target, reason=reason, claims=_claims(at, target, ground)))


def _claims(at: Standpoint, target: SeatName | None, ground: VoteReason) -> tuple[Claim, ...]:
    if target is None:
        return ()
    if ground == "own result":
        return inspecting(at, target, "Werewolf", first=True)
    return accusing(target)


def _seer_behind(at: Standpoint, target: SeatName) -> SeatName | None:
    return next((seer for seer, wolf in at.notes.reported.get(target, ()) if wolf and seer != at.me), None)


def _honest_vote(at: Standpoint) -> Vote:
    suspects = at.suspects()
    if not suspects:
        return None, "abstain"
    target, belief = suspects[0]
    if at.view.role == "Seer" and at.view.inspections.get(target) == "Werewolf":
        return target, "own result" if at.me in at.notes.seers else "wolf"
    if belief >= tuning.HARD_AT and _seer_behind(at, target) is not None:
        return target, "believe seer"
    if belief < tuning.VOTE_AT and at.chance("abstain") < tuning.ABSTAINS:
        return None, "abstain"
    joined = _joined(at, suspects)
    if joined is not None and joined != target:
        return joined, "join"
    return target, "evidence" if belief >= tuning.SOFT_AT else "feeling"


def _joined(at: Standpoint, suspects: list[tuple[SeatName, float]]) -> SeatName | None:
    """Return the most accused player of the day, if this seat does not mind much: a split vote exiles nobody."""
    best, voices = None, max(at.voices(suspects[0][0]), 1)
    top = suspects[0][1]
    for name, belief in suspects:
        count = at.voices(name)
        if count > voices and belief >= top - tuning.JOINS and belief > tuning.TRUST_AT:
            best, voices = name, count
    return best


def _wolf_vote(at: Standpoint) -> Vote:
    partner = lost_partner(at)
    if partner is not None:
        return partner, "evidence"
    ranked = prey(at)
    if not ranked or at.chance("abstain") < tuning.WOLF_ABSTAINS:
        return None, "abstain"
    target = ranked[0][0]
    if at.voices(target) >= 2 and at.me not in at.notes.voices[target]:
        return target, "join"
    return target, "wolf" if at.ask.round > 1 and at.chance("hard") < 0.4 else "evidence"


def kill(at: Standpoint) -> Answer:
    """Return the lone Werewolf's victim."""
    target, why = _threat(at)
    return Answer(Choice(target=target), f"Kill {target}: {why}."[:80])


def whisper(at: Standpoint) -> Answer:
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
            return Answer(Proposal(target=proposal.target, word=word))
    target, why = _threat(at)
    thought = f"Propose {target}: {why}."[:80] if at.ask.turn == 1 else None
    return Answer(Proposal(target=target, word=_word(at, why)), thought)


def protect(at: Standpoint) -> Answer:
    """Return whom the Doctor protects: a believed Seer most likely, else anybody the wolves may fear, drawn."""
    names = _names(at)
    if not names:
        return Answer(Choice(target=None), "Nobody to protect.")
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
    return Answer(Choice(target=target), f"Watch over {target} tonight.")


def inspect(at: Standpoint) -> Answer:
    """Return whom the Seer inspects: the most suspicious player it does not know yet."""
    names = _names(at)
    unknown = [name for name in names if at.known(name) is None] or names
    if not unknown:
        return Answer(Choice(target=None))
    # without a lead in the first night, anybody
    return Answer(Choice(target=at.pick("inspect", unknown) if at.ask.round == 1 else max(unknown, key=at.belief)))


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


def anybody(at: Standpoint) -> Answer:
    """Return a player drawn, for a role that no rule here is about."""
    names = _names(at)
    return Answer(Choice(target=at.pick(at.ask.kind, names) if names else None))


_BY_KIND: Final[dict[Kind, Callable[[Standpoint], Answer]]] = {
    "bid": bid,
    "speak": speak,
    "assess_own": label,
    "assess_other": judge,
    "vote": vote,
    "kill": kill,
    "whisper": whisper,
    "protect": protect,
    "inspect": inspect,
}


class ScriptedBrain(Agent):
    """Plays any role by fixed rules; its answers depend on the view and the request alone.

    The notes it keeps are a fold over the view's public facts, replaced as the view grows and begun anew for another
    view: they save time and decide nothing.
    """

    quick = True

    def __init__(self) -> None:
        self._view: SeatView | None = None
        self._names: tuple[str, ...] = ()
        self._notes: GameNotes | None = None
        self._traits: dict[tuple[str, int], float] = {}

    def answer(self, ask: Ask, view: SeatView, /) -> Answer:
        """Answer by the rule for the kind of request, at random where there is none."""
        return _BY_KIND.get(ask.kind, anybody)(self._standpoint(ask, view))

    def _standpoint(self, ask: Ask, view: SeatView) -> Standpoint:
        if view is not self._view or view.names != self._names:
            self._view, self._names = view, view.names
            self._notes = None
            self._traits = {}
        facts = view.public
        notes = self._notes or GameNotes.of(facts, view.names)
        if facts:
            self._notes = notes
        return Standpoint(view, ask, notes.on(facts), self._traits)
