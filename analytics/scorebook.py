"""`Scorebook`: one game written down as rows, smoothed suspicion included; records and foreign logs share it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import replace

from analytics.claims import same_claim
from analytics.rows import (
    FILLER_CONFIDENCE,
    FILLER_SUSPICION,
    DeathRow,
    Departure,
    GameRows,
    JudgementRow,
    NightRow,
    Pair,
    ReplyKey,
    SeatRow,
    StatementRow,
    VoteRow,
)
from wolfbus.errors import RulesError
from wolfbus.messages.base import SeatName
from wolfbus.messages.claims import ScoredClaim
from wolfbus.suspicion import Suspicion
from wolfbus.vocabulary import Deception, Ending, Fault, Kind, Outcome, Phase, Protocol, Reading, Winner


class Scorebook:
    """Takes down a game in order: statements, their labels and judgements, deaths, votes; `rows` gives what
    stands there.

    Smoothed suspicion (paper, section 4.1) moves with every usable judgement and freezes when observer or
    target has left. A filler never moves it.

    Args:
        game: the game's id.
        seats: the players, in seating order.
        alpha: weight of a new judgement in D, in [0, 1].
        prior: D before any judgement, in [0, 1].
        include_defaulted: count a missing label or judgement as "truthful, suspicion 0.5, confidence 0", as
            the paper's code did.
        keep_text: keep the statements' words.
        protocol: how model players are asked.

    Attributes:
        round: the highest round seen so far.
    """

    def __init__(
        self,
        game: str,
        seats: Iterable[SeatRow],
        *,
        alpha: float = 0.7,
        prior: float = 0.5,
        include_defaulted: bool = False,
        keep_text: bool = False,
        protocol: Protocol = "paper",
    ) -> None:
        self.game = game
        self.seats = {seat.name: seat for seat in seats}
        self.include_defaulted = include_defaulted
        self.keep_text = keep_text
        self.protocol: Protocol = protocol
        self.round = 0
        self._suspicion = Suspicion(alpha, prior)
        self._gone: set[SeatName] = set()
        self._statements: dict[int, StatementRow] = {}
        self._judgements: list[JudgementRow] = []
        self._votes: list[VoteRow] = []
        self._replies: Counter[ReplyKey] = Counter()
        self._nights: list[NightRow] = []
        self._deaths: list[DeathRow] = []
        self._by_round: dict[int, dict[Pair, float]] = {}
        self._open_round: int | None = None
        self._night_count = self._silences = self._voting_rounds = 0
        self._finished = False
        self._winner: Winner = None
        self._reason: Ending | None = None

    def state(
        self,
        number: int,
        round_: int,
        phase: Phase,
        turn: int,
        speaker: SeatName,
        text: str,
        found: tuple[ScoredClaim, ...] = (),
    ) -> None:
        """Write down a statement, and the claims that were found in its words.

        Raises:
            RulesError: nobody of that name plays.
        """
        seat = self._seat(speaker)
        self.begin(round_)
        self._statements[number] = StatementRow(
            self.game,
            number,
            round_,
            phase,
            turn,
            speaker,
            seat.role,
            seat.agent,
            seat.brain,
            text=text if self.keep_text else None,
            claims=found,
        )

    def label(
        self,
        number: int,
        outcome: Outcome,
        reading: Reading | None,
        d: bool | None,
        c: float | None = None,
        kind: Deception | None = None,
    ) -> None:
        """Write down the speaker's own label; `d` is None where none came.

        Raises:
            RulesError: there is no such statement.
        """
        statement = self._statement(number)
        if d is None and self.include_defaulted:
            d, c, kind = False, FILLER_CONFIDENCE, "none"
        self._statements[number] = replace(statement, d=d, c=c, kind=kind, outcome=outcome, reading=reading)

    def judge(
        self,
        number: int,
        observer: SeatName,
        outcome: Outcome,
        reading: Reading | None,
        d: bool | None,
        s: float | None = None,
        c: float | None = None,
        kind: Deception | None = None,
    ) -> None:
        """Write down one judgement; `d` is None where none came, `s` also where the log has only flags.

        Raises:
            RulesError: there is no such statement, or nobody of the observer's name plays.
        """
        statement = self._statement(number)
        target = statement.speaker
        role = self._seat(observer).role
        before = after = self._suspicion.of(observer, target)
        if d is not None:
            if s is not None and observer not in self._gone and target not in self._gone:
                if self._open_round != statement.round:
                    self._close_round()
                    self._open_round = statement.round
                after = self._suspicion.judge(observer, target, s)
        elif self.include_defaulted:
            d, s, c, kind = False, FILLER_SUSPICION, FILLER_CONFIDENCE, "none"
        self._judgements.append(
            JudgementRow(
                self.game,
                number,
                statement.round,
                statement.phase,
                observer,
                role,
                target,
                statement.role,
                d,
                s,
                c,
                kind,
                outcome,
                reading,
                before,
                after,
            )
        )

    def claim(self, number: int, claims: tuple[ScoredClaim, ...]) -> None:
        """Write down the verdicts on what a speaker attached to its statement. What was found in the words stays unless
        it is the same.

        Raises:
            RulesError: there is no such statement.
        """
        statement = self._statement(number)
        found = (
            scored for scored in statement.claims if not any(same_claim(scored.claim, given.claim) for given in claims)
        )
        self._statements[number] = replace(statement, claims=(*claims, *found))

    def reply(
        self, seat: SeatName, kind: Kind, outcome: Outcome, reading: Reading | None, fault: Fault | None = None
    ) -> None:
        """Count a reply of any kind; how it was read counts only if it was accepted.

        Raises:
            RulesError: nobody of that name plays.
        """
        self._replies[self._seat(seat).brain, kind, outcome, reading if outcome == "accepted" else None, fault] += 1

    def silence(self, round_: int) -> None:
        """Write down a turn of debate in which nothing was said."""
        self.begin(round_)
        self._silences += 1

    def night(self, row: NightRow) -> None:
        """Write down what a night really did; it changes nothing until dawn."""
        self._nights.append(row)

    def dawn(self, round_: int) -> None:
        """Count a night."""
        self.begin(round_)
        self._night_count += 1

    def vote(self, round_: int, ballots: Iterable[tuple[SeatName, SeatName | None, Outcome | None]]) -> None:
        """Write down a vote: voter, target (None abstained), outcome of the request.

        Raises:
            RulesError: nobody of a voter's or target's name plays.
        """
        self.begin(round_)
        self._voting_rounds += 1
        for voter, target, outcome in ballots:
            target_role = None if target is None else self._seat(target).role
            self._votes.append(VoteRow(self.game, round_, voter, self._seat(voter).role, target, target_role, outcome))

    def leave(self, round_: int, seat: SeatName, how: Departure) -> None:
        """Write down that a player leaves: all D to and from it freeze.

        Raises:
            RulesError: nobody of that name plays.
        """
        role = self._seat(seat).role
        self._close_round()
        self._gone.add(seat)
        self._deaths.append(DeathRow(round_, seat, role, how))

    def begin(self, round_: int) -> None:
        """Take note that `round_` has begun."""
        self.round = max(self.round, round_)

    def end(self, winner: Winner, reason: Ending | None) -> None:
        """Write down that the game is over."""
        self._finished = True
        self._winner = winner
        self._reason = reason

    def rows(self) -> GameRows:
        """Return everything written so far; later entries do not change it."""
        by_round = dict(self._by_round)
        if self._open_round is not None:
            by_round[self._open_round] = self._living_pairs()
        statements = tuple(self._statements[number] for number in sorted(self._statements))
        return GameRows(
            game=self.game,
            seats=self.seats,
            alpha=self._suspicion.alpha,
            prior=self._suspicion.prior,
            include_defaulted=self.include_defaulted,
            statements=statements,
            judgements=tuple(self._judgements),
            votes=tuple(self._votes),
            nights=tuple(self._nights),
            deaths=tuple(self._deaths),
            suspicion=self._suspicion.pairs(),
            by_round=by_round,
            rounds=self.round,
            night_count=self._night_count,
            debate_turns=self._silences + sum(statement.phase == "debate" for statement in statements),
            voting_rounds=self._voting_rounds,
            finished=self._finished,
            winner=self._winner,
            reason=self._reason,
            protocol=self.protocol,
            replies=dict(self._replies),
        )

    def _close_round(self) -> None:
        # taken before whatever comes next, so it shows who was alive at the round's last judgement
        if self._open_round is not None:
            self._by_round[self._open_round] = self._living_pairs()
            self._open_round = None

    def _living_pairs(self) -> dict[Pair, float]:
        gone = self._gone
        return {
            pair: value
            for pair, value in self._suspicion.pairs().items()
            if pair[0] not in gone and pair[1] not in gone
        }

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
