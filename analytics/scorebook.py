"""`Scorebook`: one game recorded as rows, smoothed suspicion included."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from itertools import compress
from typing import Final
from zlib import crc32

from analytics.books import NightBook, RoundSuspicion, VoteBook
from analytics.ladder import Ladder
from analytics.rows import GameRows, ReplyKey
from analytics.rows.course import DeathRow, SeatRow, VotingRow
from analytics.rows.fields import DECIMALS
from analytics.rows.knowledge import FactRow
from analytics.rows.talk import JudgementRow, StatementRow, VoteRow
from wolfbus.claims import implies, scored
from wolfbus.claims.facts import Moment, facts_in
from wolfbus.claims.hearing import StatedClaims, claims_in
from wolfbus.errors import RulesError
from wolfbus.game.vocabulary import (
    Deception,
    Fault,
    Kind,
    Outcome,
    Reading,
)
from wolfbus.knowledge.departure import Departure
from wolfbus.knowledge.thoughts import lexical_score, without_role_names
from wolfbus.messages.base import SeatName
from wolfbus.messages.content import Label
from wolfbus.messages.events import (
    AnsweredAssessOther,
    AnsweredVote,
    ClaimTruth,
    Ended,
    Opened,
    Silence,
    Statement,
    Tally,
)

_FILLER_SUSPICION: Final = 0.5
"""s of a filler, as in the paper's code."""
_FILLER_CONFIDENCE: Final = 0.0
"""c of a filler, as in the paper's code."""


class Scorebook:
    """Records a game in order: statements, their labels and judgements, deaths, votes; `rows` gives what
    was recorded.

    Smoothed suspicion (paper, section 4.1) moves with every usable judgement and freezes when observer or
    target has left. A filler never moves it.

    Claims found in the words are scored with what is true, and what the speaker knows, as it speaks.

    Args:
        opened: the opening.
        suspicion: the smoothed suspicion of every pair, before any judgement.
        include_defaulted: count a missing label or judgement as "truthful, suspicion 0.5, confidence 0", as
            the paper's code did.
        keep_text: keep words, reasons and thoughts.
        with_knowable: work out what could be known at each vote.

    Attributes:
        ladder: what could be known, and what it follows from.
        round: the highest round seen so far.
        config: the rules.
        departed: players who have left.
        nights: records what is done at night.
    """

    def __init__(
        self,
        opened: Opened,
        suspicion: RoundSuspicion,
        *,
        include_defaulted: bool,
        keep_text: bool,
        with_knowable: bool,
    ) -> None:
        self.game = opened.game
        self.seats = {
            seat.name: SeatRow(
                game=opened.game,
                place=place,
                name=seat.name,
                role=seat.role,
                agent=seat.brain,
                process=seat.agent,
                in_house=seat.in_house,
            )
            for place, seat in enumerate(opened.seats, 1)
        }
        self._opened = opened
        self.config = opened.config
        self._include_defaulted = include_defaulted
        self._keep_text = keep_text
        self.round = 0
        self._suspicion = suspicion
        self.departed: set[SeatName] = set()
        self.nights = NightBook(opened.game, self.seats, opened.config.reveal_on_death)
        # what is shown of another table's log bears no version, and nobody knows its rules
        self.ladder = Ladder(self.seats, opened.config if opened.version and with_knowable else None)
        self._statements: dict[int, StatementRow] = {}
        self._voted_on: set[int] = set()
        """Statements that a vote came after."""
        self._given_out: set[int] = set()
        """Statements whose rows somebody has, and which so must not change."""
        self._thoughts: dict[int, str] = {}
        """What was thought before statements; it is searched for claims only where the statement makes one."""
        self._statement_claims: dict[int, StatedClaims] = {}
        self._judgements: list[JudgementRow] = []
        self._ballots = VoteBook(self.seats, suspicion)
        self._votes: list[VoteRow] = []
        self._votings: list[VotingRow] = []
        self._replies: Counter[ReplyKey] = Counter()
        self._deaths: list[DeathRow] = []
        self._facts: list[FactRow] = []
        self._night_count = self._silences = self._voting_rounds = 0
        self._ended: Ended | None = None

    def state(self, event: Statement, line: int | None, thought: str | None, *, copied: bool) -> None:
        """Record a statement, and the claims that are found in its words and in the `thought` before them.

        Raises:
            RulesError: nobody of that name plays.
        """
        number, text, seat = event.statement, event.text, self._seat(event.speaker)
        self.begin(event.round)
        statement_claims = self._statement_claims[number] = StatedClaims(text, seat.name, self.nights.facts.roles)
        self._statements[number] = StatementRow(
            game=self.game,
            line=line,
            number=number,
            round=event.round,
            phase=event.phase,
            turn=event.turn,
            speaker=seat.name,
            role=seat.role,
            agent=seat.agent,
            process=seat.process,
            text=self._text(text),
            thought=self._text(thought),
            thought_score=lexical_score(thought) if thought else None,
            thought_score_masked=lexical_score(without_role_names(thought)) if thought else None,
            claims=scored(self.nights.facts, seat.name, statement_claims.claims, extracted=True),
            length=len(text.split()),
            checksum=crc32(text.encode(errors="surrogatepass")),
            copied=copied,
        )
        if thought:
            self._thoughts[number] = thought
        self.tell(seat.name, "speak" if event.phase == "debate" else "vote", text, line, private=False)

    def tell(self, seat: SeatName, kind: Kind, text: str, line: int | None, *, private: bool) -> None:
        """Record the facts of the game that a statement tells, or the private thought behind an answer of some kind.

        Raises:
            RulesError: nobody of that name plays.
        """
        who = self._seat(seat)
        for fact in facts_in(text, Moment(self.nights.facts, seat, self.round, kind), private=private):
            self._facts.append(
                FactRow(
                    game=self.game,
                    place=len(self._facts) + 1,
                    line=line,
                    round=self.round,
                    seat=seat,
                    role=who.role,
                    agent=who.agent,
                    where="thought" if private else "statement",
                    fact=fact.kind,
                    about=fact.about,
                    right=fact.right,
                )
            )

    def label(
        self,
        number: int,
        outcome: Outcome,
        reading: Reading | None,
        label: Label | None,
        fault: Fault | None = None,
        thought: str | None = None,
    ) -> None:
        """Record the speaker's own label, and what came with it; it counts only if it was accepted.

        Raises:
            RulesError: there is no such statement.
        """
        content = label if outcome == "accepted" else None
        statement = self._open_statement(number)
        if content is not None and self.config.label_asked == "with":
            statement.intended = content.deceptive
        elif content is not None:
            statement.admitted = content.deceptive
        if content is not None:
            statement.d, statement.c, statement.kind = content.deceptive, content.confidence, content.kind
        elif self._include_defaulted:
            statement.d, statement.c, statement.kind = False, _FILLER_CONFIDENCE, "none"
        else:
            statement.d = statement.c = statement.kind = None
        statement.outcome, statement.fault = outcome, fault
        statement.reading = None if content is None else reading
        statement.stated_kind = None if label is None else label.stated_kind
        statement.reasoning = None if label is None else self._text(label.reasoning)
        statement.label_thought = self._text(thought)

    def intend(self, number: int, deceptive: bool | None) -> None:
        """Record what the label says that came with the words, beside one that is asked for afterwards."""
        self._open_statement(number).intended = deceptive

    def judge(self, number: int, event: AnsweredAssessOther, line: int | None) -> None:
        """Record one judgement. A log may have one with a flag and no suspicion.

        Raises:
            RulesError: there is no such statement, or nobody of the observer's name plays.
        """
        statement, seat = self._statement(number), self._seat(event.seat)
        observer, target = seat.name, statement.speaker
        content = event.content if event.outcome == "accepted" else None
        before = after = self._suspicion.now.of(observer, target)
        d: bool | None = None
        s: float | None = None
        c: float | None = None
        kind: Deception | None = None
        if content is not None:
            d, s, c, kind = content.deceptive, content.suspicion, content.confidence, content.kind
            if s is not None:
                after = self._suspicion.judge(statement.round, observer, target, s)
        elif self._include_defaulted:
            d, s, c, kind = False, _FILLER_SUSPICION, _FILLER_CONFIDENCE, "none"
        informed = self.nights.facts.informed(observer, target)
        self._ballots.judge(observer, target, scored=s is not None, informed=informed)
        self._judgements.append(
            JudgementRow(
                game=self.game,
                statement=number,
                line=line,
                round=statement.round,
                phase=statement.phase,
                observer=observer,
                observer_role=seat.role,
                observer_agent=seat.agent,
                target=target,
                target_role=statement.role,
                target_agent=statement.agent,
                informed=informed,
                d=d,
                s=s,
                c=c,
                kind=kind,
                stated_kind=None if event.content is None else event.content.stated_kind,
                reasoning=None if event.content is None else self._text(event.content.reasoning),
                outcome=event.outcome,
                reading=None if content is None else event.reading,
                fault=event.fault,
                thought=self._text(event.thought),
                before=round(before, DECIMALS),
                after=round(after, DECIMALS),
            )
        )

    def claim(self, event: ClaimTruth) -> None:
        """Record the verdicts on what a speaker attached to its statement; what its words do not bear out stays
        apart. What was found in the words stays unless it is the same.

        Raises:
            RulesError: there is no such statement.
        """
        claims, statement = event.claims, self._open_statement(event.statement)
        borne_out = self._statement_claims[event.statement].bears_out
        audible = [borne_out(claim.claim) for claim in claims]
        attached = tuple(compress(claims, audible))
        extracted = (
            claim for claim in statement.claims if not any(implies(other.claim, claim.claim) for other in attached)
        )
        unheard = tuple(claim for claim, is_audible in zip(claims, audible, strict=True) if not is_audible)
        statement.claims, statement.unheard = (*attached, *extracted), unheard

    def reply(
        self, seat: SeatName, kind: Kind, outcome: Outcome, reading: Reading | None, fault: Fault | None = None
    ) -> None:
        """Count a reply of any kind; how it was read counts only if it was accepted.

        Raises:
            RulesError: nobody of that name plays.
        """
        self._replies[self._seat(seat).agent, kind, outcome, reading if outcome == "accepted" else None, fault] += 1

    def silence(self, event: Silence) -> None:
        """Record a turn of debate in which nothing was said."""
        self.begin(event.round)
        self._silences += 1

    def dawn(self, round_: int) -> None:
        """Count a night."""
        self.begin(round_)
        self._night_count += 1

    def vote(self, event: Tally, answers: Mapping[SeatName, tuple[AnsweredVote, int | None]]) -> None:
        """Record a vote.

        Args:
            event: what became of it.
            answers: the voters' answers, each with its line.

        Raises:
            RulesError: nobody of a voter's or target's name plays.
        """
        self.begin(event.round)
        self._voting_rounds += 1
        living = [name for name in self.seats if name not in self.departed]
        wolves = sum(self.seats[name].role == "Werewolf" for name in living)
        before = len(self._votes)
        for name, named in event.votes.items():
            answer, line = answers.get(name, (None, None))
            voter, target = self._seat(name), None if named is None else self._seat(named)
            unknown = self.nights.unknown(name)
            self._votes.append(
                VoteRow(
                    game=self.game,
                    line=line,
                    round=event.round,
                    voter=name,
                    voter_role=voter.role,
                    voter_agent=voter.agent,
                    target=named,
                    target_role=None if target is None else target.role,
                    target_agent=None if target is None else target.agent,
                    informed=not unknown if named is None else self.nights.facts.informed(name, named),
                    unknown=len(unknown),
                    unknown_wolves=sum(1 for other in unknown if other.role == "Werewolf"),
                    others=len(living) - (name in living),
                    other_wolves=wolves - (name in living and voter.role == "Werewolf"),
                    credit=self._ballots.credit(name, named, living),
                    outcome=None if answer is None else answer.outcome,
                    reading=answer.reading if answer is not None and answer.outcome == "accepted" else None,
                    fault=None if answer is None else answer.fault,
                    thought=None if answer is None else self._text(answer.thought),
                )
            )
        if len(self._votes) > before:
            exile = self._ballots.exile(living, of_all=False)
            exile_of_all = self._ballots.exile(living, of_all=True)
            for number in sorted(self._statements.keys() - self._voted_on):
                self.ladder.claim(self._statements[number])
            self._voted_on.update(self._statements)
            self._votings.append(
                VotingRow(
                    game=self.game,
                    round=event.round,
                    living=len(living),
                    wolves=wolves,
                    exile=exile,
                    exile_of_all=exile_of_all,
                    news=self.ladder.vote(self._votes[before:], self.nights, self._ballots.suspected),
                )
            )

    def leave(self, departed: Departure) -> None:
        """Record that a player leaves: all D to and from it freeze.

        Raises:
            RulesError: nobody of that name plays.
        """
        seat, how = departed.seat, departed.how
        role = self._seat(seat).role
        self._suspicion.leave(seat)
        self.departed.add(seat)
        self.nights.facts.leave(seat, how)
        self._deaths.append(DeathRow(departed.round, seat, role, how))
        if how == "exile" and self._votings and self._votings[-1].round == departed.round:
            self._votings[-1] = replace(self._votings[-1], exiled=role)

    def begin(self, round_: int) -> None:
        """Begin a round, unless it has begun."""
        self.round = max(self.round, round_)

    def end(self, event: Ended) -> None:
        """Record that the game is over."""
        self.begin(event.rounds)
        self._ended = event

    def rows(self) -> GameRows:
        """Return everything written so far; later entries do not change it."""
        for number in [number for number in self._thoughts if self._statements[number].claims]:
            statement = self._open_statement(number)
            names = self.nights.facts.roles
            statement.thought_claims = claims_in(self._thoughts.pop(number), statement.speaker, names)
        ended = self._ended
        self._given_out.update(self._statements)
        statements = tuple(self._statements[number] for number in sorted(self._statements))
        reasons = {(row.round, row.speaker): row.number for row in statements if row.phase == "vote"}
        return GameRows(
            game=self.game,
            seats={name: self._so_far(seat) for name, seat in self.seats.items()},
            alpha=self._suspicion.now.alpha,
            prior=self._suspicion.now.prior,
            include_defaulted=self._include_defaulted,
            statements=statements,
            judgements=tuple(self._judgements),
            votes=tuple(
                row if reason is None else replace(row, statement=reason)
                for row in self._votes
                for reason in (reasons.get((row.round, row.voter)),)
            ),
            votings=tuple(self._votings),
            knowable=tuple(self.ladder.rows),
            facts=tuple(self._facts),
            nights=tuple(self.nights.nights),
            inspections=tuple(self.nights.inspections),
            protections=self.nights.protections(),
            deaths=tuple(self._deaths),
            suspicion=self._suspicion.now.pairs(),
            by_round=self._suspicion.by_round(),
            rounds=self.round,
            night_count=self._night_count,
            debate_turns=self._silences + sum(statement.phase == "debate" for statement in statements),
            voting_rounds=self._voting_rounds,
            finished=ended is not None,
            winner=None if ended is None else ended.winner,
            reason=None if ended is None else ended.reason,
            spoilt=ended is not None and bool(ended.spoilt),
            seed=self._opened.seed,
            protocol=self.config.protocol,
            label=self.config.label_asked,
            assess=self.config.assess,
            feedback=self.config.feedback,
            opened=self._opened,
            replies=dict(self._replies),
        )

    def _so_far(self, seat: SeatRow) -> SeatRow:
        left = next((death for death in self._deaths if death.seat == seat.name), None)
        return replace(
            seat,
            won=None if self._ended is None else self._ended.winner == seat.team,
            left_round=None if left is None else left.round,
            left_by=None if left is None else left.how,
        )

    def _text(self, words: str | None) -> str | None:
        """Return words where they are to stay."""
        return words if self._keep_text else None

    def _seat(self, name: SeatName) -> SeatRow:
        seat = self.seats.get(name)
        if seat is None:
            raise RulesError(f"game {self.game}: nobody called {name!r} plays")
        return seat

    def _statement(self, number: int) -> StatementRow:
        statement = self._statements.get(number)
        if statement is None:
            raise RulesError(f"game {self.game}: an assessment of statement {number}, which nobody made")
        return statement

    def _open_statement(self, number: int) -> StatementRow:
        """Return the row of a statement for changing it."""
        statement = self._statement(number)
        if number in self._given_out:
            self._given_out.discard(number)
            statement = self._statements[number] = replace(statement)
        return statement
