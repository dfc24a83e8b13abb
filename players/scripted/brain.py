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
from players.scripted.player import GameNotes, Player, PublicNotes
from players.scripted.talk import (
    accusing,
    found_wolves,
    innocents,
    inspecting,
    lost_partner,
    plan_honest,
    plan_wolf,
    poses_as_seer,
    reporter_of,
    wants_to_reveal,
)
from wolfbus.agent import Agent
from wolfbus.agent.answer import Answer, labelled
from wolfbus.game.vocabulary import Kind
from wolfbus.knowledge.view import SeatView
from wolfbus.messages.base import SeatName, unchecked
from wolfbus.messages.content import (
    Ballot,
    Bid,
    Choice,
    Claim,
    Proposal,
    Speech,
    published_words,
)
from wolfbus.messages.requests import Ask

Vote = tuple[SeatName | None, VoteReason]
"""Whom, and on what ground."""


def speak(player: Player) -> Answer:
    """Return what the role and the talk so far suggest to say."""
    plan = plan_wolf(player) if player.wolf else plan_honest(player)
    text = sentence(player, plan)
    return Answer(Speech(text=text, claims=plan.claims if text else ()), plan.thought[:80] or None)


def bid(player: Player) -> Answer:
    """Return the bid, and the thought behind it where it has a reason."""
    urgency, thought = _urgency(player)
    most = player.view.config.bid_max
    return Answer(unchecked(Bid, {"bid": min(max(round(urgency * most / 10), 0), most)}), thought)


def _urgency(player: Player) -> tuple[int, str | None]:
    """Return urgency from 0 to 10."""
    urgent = _news(player)
    if urgent is not None:
        return urgent
    spoken = player.notes.spoken.get(player.me, 0)
    temper = 1 + int(2.0 * player.trait("temper") + 3.0 * player.chance("bid"))
    floor = player.floor
    if floor is not None:
        cues = player.notes.cues[floor.statement]
        if player.me in cues.accused:
            return 7 if spoken < 2 else 6, f"{floor.speaker} accuses me; answer."
        if player.me in cues.named:
            return min(temper + 3, 7) - spoken, f"{floor.speaker} spoke of me."
    pressed = player.notes.pressure.get(player.me)
    if pressed and any(number > player.notes.latest.get(player.me, 0) for number in pressed.values()):
        return 6, "There is an accusation to answer."
    return max(temper - 2 * spoken, 0), None


def _news(player: Player) -> tuple[int, str] | None:
    role = player.view.role
    if role == "Seer" and player.view.inspections:
        untold = [name for name in found_wolves(player) if (player.me, name) not in player.notes.results]
        hidden = player.me not in player.notes.seers
        if (untold and not hidden) or (hidden and wants_to_reveal(player)):
            return 9, "What I saw has to be said today."
    elif role == "Werewolf":
        exposed = player.me not in player.notes.spoken and reporter_of(player, player.me) is not None
        if exposed or (player.ask.round >= 2 and poses_as_seer(player)):
            return 8, "Get my story out before theirs settles."
    return None


def vote(player: Player) -> Answer:
    """Return a legal ballot, and the thought behind it where no reason says as much."""
    target, ground = _wolf_vote(player) if player.wolf else _honest_vote(player)
    legal = player.ask.legal or ()
    if target not in legal:
        target = None
    if target is None:
        # abstaining is the moderator's default too, so it is sound even where nothing is legal
        ground = "abstain"
    thought = ground[:1].upper() + ground[1:] + "."
    if player.chance("reason") >= tuning.GIVES_REASON:
        return Answer(Ballot(target=target), thought)
    other = next(iter(player.reporters(target)), None) if target else None
    if ground == "believe seer" and other is None:
        ground = "evidence"
    evidence = choose_evidence(player, target) if target else None
    reason = phrase(player, words().vote_reasons[ground], target, other, evidence)
    if not reason:
        return Answer(Ballot(target=target), thought)
    return Answer(Ballot(target=target, reason=reason, claims=_claims(player, target, ground)))


def _claims(player: Player, target: SeatName | None, ground: VoteReason) -> tuple[Claim, ...]:
    if target is None:
        return ()
    if ground == "own result":
        return inspecting(player, target, "Werewolf", first=True)
    return accusing(target)


def _honest_vote(player: Player) -> Vote:
    suspects = player.suspects()
    if not suspects:
        return None, "abstain"
    target, belief = suspects[0]
    if player.view.role == "Seer" and player.view.inspections.get(target) == "Werewolf":
        return target, "own result" if player.me in player.notes.seers else "wolf"
    if belief >= tuning.HARD_AT and player.reporters(target):
        return target, "believe seer"
    if belief < tuning.VOTE_AT and player.chance("abstain") < tuning.ABSTAINS:
        return None, "abstain"
    joined = _joined(player, suspects)
    if joined is not None and joined != target:
        return joined, "join"
    return target, "evidence" if belief >= tuning.SOFT_AT else "feeling"


def _joined(player: Player, suspects: list[tuple[SeatName, float]]) -> SeatName | None:
    """Return the most accused player of the day, if this seat suspects it almost as much as anybody: a split vote
    exiles nobody.
    """
    best, voices = None, max(player.voices(suspects[0][0]), 1)
    top = suspects[0][1]
    for name, belief in suspects:
        count = player.voices(name)
        if count > voices and belief >= top - tuning.JOINS and belief > tuning.TRUST_AT:
            best, voices = name, count
    return best


def _wolf_vote(player: Player) -> Vote:
    partner = lost_partner(player)
    if partner is not None:
        return partner, "evidence"
    ranked = innocents(player)
    if not ranked or player.chance("abstain") < tuning.WOLF_ABSTAINS:
        return None, "abstain"
    target = ranked[0][0]
    if player.voices(target) >= 2 and player.me not in player.notes.voices[target]:
        return target, "join"
    return target, "wolf" if player.ask.round > 1 and player.chance("hard") < 0.4 else "evidence"


def kill(player: Player) -> Answer:
    """Return the lone Werewolf's victim."""
    target, why = _threat(player)
    return Answer(Choice(target=target), f"Kill {target}: {why}."[:80])


def whisper(player: Player) -> Answer:
    """Return a proposal: the greatest threat first, then whatever the first of the pack in seating order proposed."""
    if player.ask.turn > 1:
        proposals = player.view.proposals()
        pack = [name for name in player.view.names if name == player.me or name in player.living_partners()]
        for wolf in pack:
            proposal = proposals.get(wolf)
            if proposal is None or not _legal(player, proposal.target):
                continue
            word = _word(player, "firm" if wolf == player.me else "agreed")
            return Answer(Proposal(target=proposal.target, word=word))
    target, why = _threat(player)
    thought = f"Propose {target}: {why}."[:80] if player.ask.turn == 1 else None
    return Answer(Proposal(target=target, word=_word(player, why)), thought)


def protect(player: Player) -> Answer:
    """Return whom the Doctor protects: a believed Seer most likely, else anybody the wolves may fear, drawn."""
    names = _names(player)
    if not names:
        return Answer(Choice(target=None), "Nobody to protect.")
    last = player.view.protections[-1] if player.view.protections else None
    options = []
    for name in names:
        weight = 2
        if name in player.notes.seers and not player.caught(name):
            weight = tuning.PROTECTS_SEER if not player.contested() else tuning.PROTECTS_SEER // 2
        elif name == player.me:
            weight = tuning.PROTECTS_SELF
        elif player.belief_of(name) >= tuning.HARD_AT:
            weight = 1
        if last is not None and last == (player.ask.round - 1, name):
            weight = max(weight // 2, 1)
        options.append((name, weight))
    target = player.weigh("protect", options)
    return Answer(Choice(target=target), f"Watch over {target} tonight.")


def inspect(player: Player) -> Answer:
    """Return whom the Seer inspects: the most suspicious player it does not know yet."""
    names = _names(player)
    unknown = [name for name in names if player.is_wolf(name) is None] or names
    if not unknown:
        return Answer(Choice(target=None))
    # without a lead in the first night, anybody
    target = player.pick("inspect", unknown) if player.ask.round == 1 else max(unknown, key=player.belief)
    return Answer(Choice(target=target))


def _threat(player: Player) -> tuple[SeatName | None, str]:
    """Return whom of the others the pack has to fear most, and the sort of threat."""
    pack = [player.me, *player.living_partners()]
    best: SeatName | None = None
    why, most = "any", -1.0
    for name in player.view.names:
        if not _legal(player, name) or name in pack:
            continue
        sort, value = _sort_of_threat(player, name, pack)
        value += 0.8 * player.leaning(name)
        if value > most:
            best, why, most = name, sort, value
    if best is None:
        names = _names(player)
        return (names[0] if names else None), "any"
    return best, why


def _sort_of_threat(player: Player, name: SeatName, pack: list[SeatName]) -> tuple[str, float]:
    notes = player.notes
    if name in notes.seers:
        return "seer", 2.0
    if name in notes.doctors:
        return "doctor", 1.4
    pressing = sum(1 for wolf in pack if name in notes.pressure.get(wolf, ()))
    if pressing:
        return "hunter", 0.8 + 0.3 * pressing
    if player.ask.round > 1 and not notes.pressure.get(name):
        return "trusted", 0.4
    return "any", 0.0


def _word(player: Player, why: str) -> str:
    return player.pick("word", words().whispers[why])


def _names(player: Player) -> list[SeatName]:
    return [name for name in player.ask.legal or () if name is not None]


def _legal(player: Player, name: SeatName | None) -> bool:
    return name is not None and name in (player.ask.legal or ())


def anybody(player: Player) -> Answer:
    """Return a player drawn, for a role that no rule here is about."""
    names = _names(player)
    return Answer(Choice(target=player.pick(player.ask.kind, names) if names else None))


_BY_KIND: Final[dict[Kind, Callable[[Player], Answer]]] = {
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
        answer = _BY_KIND.get(ask.kind, anybody)(self._player(ask, view))
        words = published_words(answer.content) if view.config.labels_words else ""
        if not words:
            return answer
        # from a player of its own: the notes of this one are on what was really said
        label_ask, view_after = view.imagined(ask, words)
        notes = PublicNotes(view.names).after(view_after.public)
        return labelled(answer, label(Player(view_after, label_ask, notes, {})))

    def _player(self, ask: Ask, view: SeatView) -> Player:
        if view is not self._view or view.names != self._names:
            self._view, self._names = view, view.names
            self._notes = None
            self._traits = {}
        facts = view.public
        notes = self._notes or GameNotes.of(facts, view.names)
        if facts:
            self._notes = notes
        return Player(view, ask, notes.on(facts), self._traits)
