"""`SeatView`: everything one seat may know, as a fold over the facts it was told.

Brains, prompts and `replay --as` look at nothing else.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Final, TypeAlias, assert_never
from weakref import WeakValueDictionary

from wolfbus.errors import RulesError
from wolfbus.game.config import GameConfig
from wolfbus.game.vocabulary import Deception, Kind, Outcome, Role, Team
from wolfbus.knowledge.departure import Departure, departure
from wolfbus.knowledge.suspicion import Suspicion
from wolfbus.messages.base import FrozenDict, SeatName, slim
from wolfbus.messages.content import Ballot, Choice, Content, Judgement, Proposal, Speech
from wolfbus.messages.events import (
    AnyAnswered,
    Departing,
    Ended,
    PrivateEvent,
    Statement,
)
from wolfbus.messages.requests import (
    Ask,
    Private,
    PrivateFact,
    Public,
    PublicFact,
    Seated,
    Whispered,
)


@dataclass(frozen=True, slots=True)
class OwnAnswer:
    """Something this seat said, labelled, voted or did at night: what counts of the recorded answer."""

    round: int
    kind: Kind
    about: int | None
    outcome: Outcome
    content: Content | None
    thought: str | None


@dataclass(frozen=True, slots=True)
class OwnJudgement:
    """A usable judgement this seat made: the fields of `Judgement` and its thought; small, for a game has hundreds."""

    statement: int
    deceptive: bool
    suspicion: float
    confidence: float
    kind: Deception
    reasoning: str
    thought: str | None


@dataclass(slots=True, weakref_slot=True)
class PublicKnowledge:
    """What follows from one game's public facts. Once made it does not change, its dicts included: all seats of a
    process that heard the same share it.

    Attributes:
        facts: all public facts in order.
        statements: public statements by number.
        tallies: votes by round, voter to target.
        departures: who left, in order, by name.
        dead: how they left: name to "night", "exile" or another `wolfbus.knowledge.departure.WAYS`.
        revealed: teams and roles that became public, with a death or at the end.
        exiles: numbers of the facts that ended a round.
        round: rounds begun.
        ended: set when the game is over.
    """

    facts: Sequence[PublicFact] = ()
    statements: Mapping[int, Statement] = field(default_factory=dict)
    tallies: Mapping[int, dict[SeatName, SeatName | None]] = field(default_factory=dict)
    departures: Mapping[SeatName, Departure] = field(default_factory=dict)
    dead: Mapping[SeatName, str] = field(default_factory=dict)
    revealed: Mapping[SeatName, Role | Team] = field(default_factory=dict)
    exiles: tuple[int, ...] = ()
    round: int = 1
    ended: Ended | None = None

    def after(self, facts: Sequence[PublicFact]) -> PublicKnowledge:
        """Return what follows when these facts, one at least, have come after those."""
        all_facts = (*self.facts, *facts)
        key = (id(facts[-1]), len(all_facts))
        knowledge = _shared_knowledge.get(key)
        if knowledge is None or knowledge.facts != all_facts:
            knowledge = _shared_knowledge[key] = self._with_facts(all_facts)
        return knowledge

    def _with_facts(self, all_facts: Sequence[PublicFact]) -> PublicKnowledge:
        statements, tallies = dict(self.statements), self.tallies
        departures, revealed, exiles = self.departures, self.revealed, self.exiles
        round_, ended = self.round, self.ended
        for number, fact in enumerate(all_facts[len(self.facts) :], len(self.facts) + 1):
            slim(fact)
            if (departed := departure(fact)) is not None and departed.seat not in departures:
                departures = {**departures, departed.seat: departed}
                if departed.revealed is not None:
                    revealed = {**revealed, departed.seat: departed.revealed}
            if fact.type == "statement":
                statements[fact.statement] = fact
            elif fact.type == "tally":
                tallies = {**tallies, fact.round: fact.votes}
            elif fact.type == "exile":
                exiles, round_ = (*exiles, number), fact.round + 1
            elif fact.type == "ended":
                ended, round_ = fact, fact.rounds
            elif fact.type == "revealed":
                revealed = {**revealed, **fact.roles}
        dead = {name: departed.how for name, departed in departures.items()}
        return PublicKnowledge(
            all_facts,
            FrozenDict(statements),
            FrozenDict(tallies),
            FrozenDict(departures),
            FrozenDict(dead),
            FrozenDict(revealed),
            exiles,
            round_,
            ended,
        )


_shared_knowledge: Final[WeakValueDictionary[tuple[int, int], PublicKnowledge]] = WeakValueDictionary()
"""What somebody holds, by the identity of the last fact, which it holds too, and how many facts it follows from."""


Memory: TypeAlias = PrivateEvent | Whispered | OwnAnswer | OwnJudgement
"""Something that this seat alone learned or did; bids are not remembered."""


@dataclass(slots=True)
class SeatView:
    """One seat's knowledge. Read it; only `hear_public` and `hear_private` change it.

    Attributes:
        me: the seat's name.
        role: its role.
        partners: the other Werewolves, for a Werewolf; dead ones included.
        names: all players in seating order.
        config: the rules.
        brain_seed: seed for this seat's brain, "" for outsiders.
        knowledge: what everybody was told, and what follows from it.
        inspections: what this seer learned, name to role.
        protections: (round, name) this doctor protected.
        whispers: proposals heard from partners.
        answers: what it said, labelled, voted and did at night, as recorded, defaults included.
        judgements: its usable judgements by statement number.
        suspicion: its own row of smoothed suspicion, from joined judgements.
        private: all that it alone learned or did after it sat down, in order; the same objects as in the fields above.
        private_after: for each of `private`, how many public facts came before it.
    """

    me: SeatName
    role: Role = "Villager"
    partners: tuple[SeatName, ...] = ()
    names: tuple[SeatName, ...] = ()
    config: GameConfig = field(default_factory=GameConfig)
    brain_seed: str = ""
    knowledge: PublicKnowledge = field(default_factory=PublicKnowledge)
    inspections: dict[SeatName, Role] = field(default_factory=dict)
    protections: list[tuple[int, SeatName]] = field(default_factory=list)
    whispers: list[Whispered] = field(default_factory=list)
    answers: list[OwnAnswer] = field(default_factory=list)
    judgements: dict[int, OwnJudgement] = field(default_factory=dict)
    # it follows from the judgements
    suspicion: Suspicion = field(default_factory=Suspicion, compare=False)
    private: list[Memory] = field(default_factory=list)
    private_after: list[int] = field(default_factory=list)
    _last_private: int = 0
    _proposed: tuple[int, Proposal] | None = None

    @property
    def public(self) -> Sequence[PublicFact]:
        """All public facts in order."""
        return self.knowledge.facts

    @property
    def statements(self) -> Mapping[int, Statement]:
        """Public statements by number."""
        return self.knowledge.statements

    @property
    def tallies(self) -> Mapping[int, dict[SeatName, SeatName | None]]:
        """Votes by round, voter to target."""
        return self.knowledge.tallies

    @property
    def dead(self) -> Mapping[SeatName, str]:
        """Who left and how, in order: name to "night", "exile" or another `wolfbus.knowledge.departure.WAYS`."""
        return self.knowledge.dead

    @property
    def revealed(self) -> Mapping[SeatName, Role | Team]:
        """Teams and roles that became public, with a death or at the end."""
        return self.knowledge.revealed

    @property
    def round(self) -> int:
        """Rounds begun as far as this seat can tell."""
        return self.knowledge.round

    @property
    def ended(self) -> Ended | None:
        """The end of the game, once it is over."""
        return self.knowledge.ended

    @property
    def living(self) -> tuple[SeatName, ...]:
        """Players still in the game, in seating order."""
        dead = self.knowledge.dead
        return tuple(name for name in self.names if name not in dead)

    @property
    def others(self) -> tuple[SeatName, ...]:
        """Living players but this one, in seating order."""
        dead, me = self.knowledge.dead, self.me
        return tuple(name for name in self.names if name not in dead and name != me)

    @property
    def death(self) -> Departing | None:
        """The public fact by which this seat left the game; None while it lives."""
        if self.me not in self.dead:
            return None
        departing = (fact for fact in self.public if isinstance(fact, Departing))
        return next(fact for fact in departing if (left := departure(fact)) is not None and left.seat == self.me)

    @property
    def departures(self) -> Mapping[SeatName, Departure]:
        """Who left, in order, by name."""
        return self.knowledge.departures

    @property
    def private_known(self) -> int:
        """How many private facts it was told."""
        return self._last_private

    def hear_public(self, *news: Public) -> bool:
        """Take in public facts, passing over those already known; returns whether there was a new one.

        Raises:
            RulesError: a fact before one of these is missing. What came before the gap is taken in.
        """
        count = len(self.knowledge.facts)
        fresh = []
        gap = None
        for item in news:
            if item.n == count + 1:
                count += 1
                fresh.append(item.fact)
            elif item.n > count:
                gap = item.n
                break
        if fresh:
            self.knowledge = self.knowledge.after(fresh)
        if gap is not None:
            raise RulesError(f"{self.me}: public fact {gap} came after {count}; some are missing")
        return bool(fresh)

    def hear_private(self, news: Private) -> bool:
        """Take in a private fact; returns False for one already known.

        Raises:
            RulesError: a fact before it is missing.
        """
        if news.n <= self._last_private:
            return False
        if news.n != self._last_private + 1:
            raise RulesError(f"{self.me}: private fact {news.n} came after {self._last_private}; some are missing")
        if news.after > len(self.public):
            raise RulesError(f"{self.me}: private fact {news.n} came before public fact {news.after}; some are missing")
        self._last_private = news.n
        # a catch-up tells all public facts first: only their number says in which round this one fell
        round_ = 1 + bisect_right(self.knowledge.exiles, news.after)
        # what a seat does as it leaves belongs to the round that it leaves in
        left = self.departures.get(self.me)
        self._learn(news.fact, round_ if left is None else min(round_, left.round))
        if len(self.private) > len(self.private_after):
            self.private_after.append(news.after)
        return True

    def _learn(self, fact: PrivateFact, round_: int) -> None:
        if fact.type == "answered":
            self._add_answer(fact, round_)
        elif fact.type == "whispered":
            slim(fact)
            self.remember(fact)
        elif fact.type == "seated":
            self._set_seat(fact)
        elif isinstance(fact, PrivateEvent):
            # one of which nothing more is made is remembered as it is
            self.remember(fact)
        else:
            assert_never(fact)

    def _set_seat(self, fact: Seated) -> None:
        self.role = fact.role
        self.partners = fact.partners
        self.names = fact.names
        self.config = _shared(fact.config)
        self.brain_seed = fact.brain_seed or ""
        self.suspicion = Suspicion(fact.config.alpha, fact.config.prior)

    def _add_answer(self, fact: AnyAnswered, round_: int) -> None:
        if fact.kind == "assess_other":
            # one of a statement that was never told says nothing
            spoken = self.statements.get(fact.about or 0)
            if self.config.feedback and fact.content is not None and spoken is not None:
                self._add_judgement(spoken, fact.content, fact.thought)
            return
        if fact.kind == "bid":
            return
        if fact.content is not None:
            slim(fact.content)
        content = fact.content
        if not self.config.feedback:
            if fact.kind == "assess_own":
                return
            if isinstance(content, Speech | Ballot) and content.label is not None:
                content = content.model_copy(update={"label": None})
        self.remember(OwnAnswer(round_, fact.kind, fact.about, fact.outcome, content, fact.thought))

    def remember(self, memory: Memory) -> None:
        """Add what this seat alone learned or did to all that follows from it, its judgements apart."""
        self.private.append(memory)
        if isinstance(memory, Whispered):
            self.whispers.append(memory)
        elif isinstance(memory, OwnAnswer):
            self.answers.append(memory)
            if isinstance(memory.content, Choice) and memory.kind == "protect" and memory.content.target is not None:
                self.protections.append((memory.round, memory.content.target))
            elif isinstance(memory.content, Proposal):
                self._proposed = (memory.round, memory.content)
        elif not isinstance(memory, OwnJudgement) and memory.type == "inspection":
            self.inspections[memory.target] = memory.role

    def _add_judgement(self, spoken: Statement, judgement: Judgement, thought: str | None) -> None:
        self.suspicion.judge(self.me, spoken.speaker, judgement.suspicion)
        own_judgement = self.judgements[spoken.statement] = OwnJudgement(
            spoken.statement,
            judgement.deceptive,
            judgement.suspicion,
            judgement.confidence,
            judgement.kind,
            judgement.reasoning,
            thought,
        )
        self.private.append(own_judgement)

    def at(self, statement: int) -> SeatView:
        """Return what this seat knew when it could first assess a statement, so that it can be asked about it later.

        What it has said of statements is no part of that: it is for games whose labels and judgements come at the end.
        """
        place = next((n for n, fact in enumerate(self.public) if _is_statement(fact, statement)), None)
        if place is None:
            return self
        end = place + 1
        # reasons of one vote are told together
        while self.statements[statement].phase == "vote" and isinstance(self._fact(end), Statement):
            end += 1
        return self._made_anew(self.public[:end], place)

    def imagined(self, ask: Ask, text: str) -> tuple[Ask, SeatView]:
        """Return the request to label words that this seat is about to say, and what it knows as if they were said.

        Args:
            ask: the request that the words answer.
            text: the words.
        """
        number = 1 + max(self.statements, default=0)
        statement = Statement(
            statement=number, round=ask.round, phase=ask.phase, turn=ask.turn, speaker=self.me, text=text.strip()
        )
        label = ask.model_copy(update={"kind": "assess_own", "about": number, "legal": None})
        return label, replace(self, knowledge=self.knowledge.after([statement]))

    def _fact(self, index: int) -> PublicFact | None:
        return self.public[index] if index < len(self.public) else None

    def _made_anew(self, facts: Sequence[PublicFact], before: int) -> SeatView:
        """Return a view that has heard these public facts, and what it alone learned before it heard so many."""
        then = replace(
            self,
            knowledge=PublicKnowledge().after(facts),
            inspections={},
            protections=[],
            whispers=[],
            answers=[],
            judgements={},
            suspicion=Suspicion(self.config.alpha, self.config.prior),
            private=[],
            private_after=[],
            _proposed=None,
        )
        for memory, after in zip(self.private, self.private_after, strict=True):
            if after <= before:
                then.remember(memory)
                then.private_after.append(after)
        return then

    def proposals(self) -> dict[SeatName, Proposal]:
        """Return this night's latest proposals of this wolf and its living partners, by name."""
        latest: dict[SeatName, Proposal] = {}
        for whisper in self.whispers:
            if whisper.round == self.round:
                latest[whisper.seat] = Proposal(target=whisper.target, word=whisper.word)
        if self._proposed is not None and self._proposed[0] == self.round:
            latest[self.me] = self._proposed[1]
        return latest


def _is_statement(fact: PublicFact, number: int) -> bool:
    return isinstance(fact, Statement) and fact.statement == number


@lru_cache(maxsize=64)
def _shared(config: GameConfig) -> GameConfig:
    """Return one object for all equal configs: every seat of every game is told the rules anew."""
    return config
