"""`BeatFold`: makes beats of the facts that one viewer may know.

A beat is given out when it is complete, and never changes: the beats of a prefix of a record are a prefix of its beats.
So a game that is live, one that is replayed and one in a file are shown alike.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, ClassVar, TypeAlias

from wolfbus.config import GameConfig
from wolfbus.messages.base import SeatName
from wolfbus.messages.calls import ModelCall
from wolfbus.messages.codec import plain
from wolfbus.messages.content import ScoredClaim
from wolfbus.messages.events import (
    Absent,
    Answered,
    AnsweredAssessOther,
    AnsweredAssessOwn,
    AnsweredBid,
    AnsweredSpeak,
    AnsweredVote,
    AnyAnswered,
    AnyEvent,
    Asked,
    ClaimTruth,
    Dawn,
    Ended,
    Exile,
    Inspection,
    NightOutcome,
    Opened,
    PublicEvent,
    Returned,
    Silence,
    Statement,
    Stopped,
    Tally,
)
from wolfbus.messages.requests import Revealed, Seated, Whispered
from wolfbus.printable import in_plain_words
from wolfbus.stage.beats import Beat, BeatKind, Mark, Over, Unsaid
from wolfbus.stage.draft import NightDraft, Seating, StatementDraft, VoteDraft
from wolfbus.stage.inspector import CallLines
from wolfbus.stage.viewers import EVERYTHING, PUBLIC, Fact, TableOpened, Viewer, seat_of
from wolfbus.state import Waiting
from wolfbus.suspicion import Suspicion
from wolfbus.vocabulary import Phase

ClaimFinder: TypeAlias = Callable[[AnyEvent], Sequence[ScoredClaim] | None]
"""Fed every event of one game in order; returns all claims of the statement that an event is about, or None."""


def _given_claims(event: AnyEvent) -> Sequence[ScoredClaim] | None:
    """Return the claims that a speaker gave with its words."""
    return event.claims if event.type == "claim_truth" else None


_make_finder: Callable[[], ClaimFinder] = lambda: _given_claims  # noqa: E731 - replaced as a whole


def find_claims_with(make: Callable[[], ClaimFinder]) -> None:
    """Have claims found by what `make` returns, one for each game, from now on in this process."""
    global _make_finder  # noqa: PLW0603 - it is the process's
    _make_finder = make


def claim_finder() -> ClaimFinder:
    """Return what finds the claims of one game: those given with the words and, where that is known how, in them."""
    return _make_finder()


class BeatFold:
    """Folds facts into beats, fed in record order.

    Args:
        viewer: whose facts they are; see `ViewerFilter`.

    Attributes:
        beats: the beats given out, in order.
        seating: how every seat stands.
        waiting: what is asked and not answered yet, as far as the viewer knows.
        calls: model calls, as far as the viewer knows.
        over: whether the game ended or was broken off.
    """

    def __init__(self, viewer: Viewer) -> None:
        self.viewer = viewer
        self.beats: list[Beat] = []
        self.seating = Seating()
        self.waiting = Waiting()
        self.calls = CallLines()
        self.over = False
        self._seat = seat_of(viewer)
        self._suspicion = Suspicion()
        self._round = 0
        self._phase: Phase | None = None
        self._turn: int | None = None
        self._line, self._time = 0, 0.0
        self._bids: dict[SeatName, int] = {}
        self._speech: tuple[AnsweredSpeak, int | None] | None = None
        self._drafts: deque[StatementDraft] = deque()
        self._night = NightDraft()
        self._vote = VoteDraft()
        self._ended: Over | None = None
        self._find_claims = claim_finder() if viewer == EVERYTHING else None

    def feed(self, line: int, time: float, facts: Iterable[Fact]) -> list[Beat]:
        """Take in the facts of one line of the record and return the beats that are complete with it."""
        before = len(self.beats)
        self._line, self._time = line, time
        for fact in facts:
            if isinstance(fact, Answered):
                self._answer(fact)
            elif (handler := self._HANDLERS.get(type(fact))) is not None:
                handler(self, fact)
            elif isinstance(fact, PublicEvent):
                self._show_news(fact)
            self._claim(fact)
        return self.beats[before:]

    def pending(self) -> list[Beat]:
        """Return the statements that are still being judged, as incomplete beats, in order."""
        return [self._statement(draft, len(self.beats) + place, None) for place, draft in enumerate(self._drafts)]

    def place(self) -> dict[str, Any]:
        """Return where in the game the facts end: ``round``, ``phase`` and ``turn``."""
        last = self.beats[-1] if self.beats else None
        # who is asked nothing at night has not heard that a round has begun
        unheard = self._phase == "night" and last is not None and last.kind == "exile" and last.round == self._round
        return {"round": self._round + unheard, "phase": self._phase, "turn": self._turn}

    def _open(self, event: Opened) -> None:
        self.seating.sit([seat.name for seat in event.seats])
        for seat in event.seats:
            self.seating.learn(seat.name, seat.role)
        self._begin(event.config)

    def _open_table(self, fact: TableOpened) -> None:
        self.seating.sit(fact.names)
        self._begin(fact.config)

    def _begin(self, config: GameConfig | None) -> None:
        if config is not None:
            self._suspicion = Suspicion(config.alpha, config.prior)
        if self._seat is None:
            self._emit("opened")

    def _sit_down(self, fact: Seated) -> None:
        self.seating.learn(fact.seat, fact.role)
        for partner in fact.partners:
            self.seating.learn(partner, "Werewolf")
        self._emit("opened")

    def _ask(self, event: Asked) -> None:
        self.calls.ask(event)
        self._enter(event.round, event.phase, event.turn)
        self.waiting.ask(event)
        draft = self._draft(event.about)
        if draft is not None:
            draft.awaited = {(ask.kind, seat) for ask in event.asks for seat in ask.seats}

    def _answer(self, event: AnyAnswered) -> None:
        self.waiting.close(event)
        call = self.calls.line(event)
        if isinstance(event, AnsweredBid):
            self._bids[event.seat] = event.content.bid if event.content is not None else 0
        elif isinstance(event, AnsweredSpeak):
            self._speech = event, call
        elif isinstance(event, AnsweredVote):
            self._vote.answers[event.seat] = event, call
        elif isinstance(event, AnsweredAssessOwn | AnsweredAssessOther):
            self._assess(event, call)
        else:
            self._night.take(event, call)

    def _assess(self, event: AnsweredAssessOwn | AnsweredAssessOther, call: int | None) -> None:
        draft = self._draft(event.about)
        if draft is None:
            return
        if call is None and event.kind == "assess_own" and self.calls.labels(draft.call):
            call = draft.call
        draft.take(event, call)
        self._release(gate=False)

    def _call(self, event: ModelCall) -> None:
        self.calls.call(self._line, event)

    def _state(self, event: Statement) -> None:
        self._enter(event.round, event.phase, event.turn, gate=event.phase == "debate")
        self.seating.meet(event.speaker)
        bids, self._bids = self._bids, {}
        answer, call = self._words_of(event)
        self._drafts.append(StatementDraft(event, self._line, self._time, answer, call, bids))
        if self.viewer == PUBLIC:
            self._release(gate=True)

    def _words_of(self, event: Statement) -> tuple[AnsweredSpeak | AnsweredVote | None, int | None]:
        """Return the answer that a statement was made of, and its call; a seat knows its own only."""
        if event.phase == "vote":
            return self._vote.answers.get(event.speaker, (None, None))
        if self._speech is None or self._speech[0].seat != event.speaker:
            return None, None
        return self._speech

    def _claim(self, fact: Fact) -> None:
        """Show the claims of the statement that an event is about; only who sees everything knows what is true."""
        if self._find_claims is None or isinstance(fact, TableOpened | Seated | Whispered | Revealed):
            return
        claims = self._find_claims(fact)
        if claims is not None and isinstance(fact, Statement | ClaimTruth):
            draft = self._draft(fact.statement)
            if draft is not None:
                draft.claim(claims)

    def _silence(self, event: Silence) -> None:
        self._enter(event.round, "debate", event.turn, gate=True)
        self.seating.meet(event.seat)
        bids, self._bids = self._bids, {}
        answer, call = self._speech or (None, None)
        unsaid = Unsaid(event.seat)
        if answer is not None and answer.seat == event.seat:
            unsaid = Unsaid(event.seat, answer.thought, answer.outcome, answer.fault, call)
        self._emit("silence", bids=bids, unsaid=unsaid)

    def _draft(self, number: int | None) -> StatementDraft | None:
        return next((draft for draft in self._drafts if draft.event.statement == number), None)

    def _release(self, *, gate: bool) -> None:
        """Give out statements in order: all of them at a `gate`, behind which nothing more is said of them; else up to
        the first that is still being judged.
        """
        while self._drafts and (gate or self._drafts[0].settled(self._seat)):
            draft = self._drafts.popleft()
            self.beats.append(self._statement(draft, len(self.beats), self._suspicion))

    def _statement(self, draft: StatementDraft, n: int, suspicion: Suspicion | None) -> Beat:
        """Return a draft as a beat; given `suspicion`, it is complete, and its judgements are folded in."""
        statement = draft.event
        vote = self._vote.target(statement.speaker) if statement.phase == "vote" else None
        spoken = draft.spoken(self.seating.names, suspicion, vote, self.calls.latency_s(draft.call))
        place = statement.round, statement.phase, statement.turn if statement.phase == "debate" else None
        parts: dict[str, Any] = {"marks": draft.marks, "spoken": spoken, "complete": suspicion is not None}
        return self._beat(n, "statement", draft.line, draft.time, place, draft.bids, **parts)

    def _note_night(self, event: NightOutcome) -> None:
        self._enter(event.round, "night", gate=True)
        self._night.outcome = event

    def _inspect(self, event: Inspection) -> None:
        self.seating.learn(event.target, event.role)
        self._night.inspect(event)

    def _dawn(self, event: Dawn) -> None:
        self._enter(event.round, "night", gate=True)
        night, self._night = self._night.at_dawn(event), NightDraft()
        if event.died is not None:
            self.seating.meet(event.died)
            self.seating.leave(event.died, "night", event.round, event.role, event.team)
        marks: tuple[Mark, ...] = ("death",) if event.died is not None else ("blocked",) if night.blocked else ()
        self._emit("night", marks=marks, night=night)
        self._phase = "debate"

    def _count(self, event: Tally) -> None:
        self._enter(event.round, "vote", gate=True)
        self._bids = {}
        self.seating.meet(*event.votes)
        self._emit("tally", tally=self._vote.tallied(event, self.seating.names))

    def _exile(self, event: Exile) -> None:
        self._enter(event.round, "vote", gate=True)
        exile, self._vote = self._vote.exiled(event), VoteDraft()
        if event.seat is not None:
            self.seating.leave(event.seat, "exile", event.round, event.role, event.team)
        self._emit("exile", marks=("exile",) if event.seat is not None else (), exile=exile)
        self._phase = "night"

    def _show_news(self, event: PublicEvent) -> None:
        """Show what everybody is told and no handler makes more of; not what one seat is told: places of beats are
        the same for all viewers.
        """
        self._release(gate=True)
        self._emit("news", news=in_plain_words(plain(event)))

    def _reveal(self, fact: Revealed) -> None:
        for name, role in fact.roles.items():
            self.seating.learn(name, role)
        if self._ended is not None:
            self._finish("ended", self._ended)

    def _end(self, event: Ended) -> None:
        over = Over(event.winner, event.reason, event.rounds)
        if self.viewer == EVERYTHING:
            self._finish("ended", over)
        else:
            # it is shown with the roles, which are revealed right after it
            self._ended = over

    def _stop(self, event: Stopped) -> None:
        self._finish("stopped", Over(stopped=event.reason))

    def _finish(self, kind: BeatKind, over: Over) -> None:
        self._release(gate=True)
        self.over = True
        self.waiting.clear()
        self._phase = None
        self._emit(kind, over=over)

    def _enter(self, round_: int, phase: Phase, turn: int | None = None, *, gate: bool = False) -> None:
        if gate:
            self._release(gate=True)
        self._round, self._phase, self._turn = round_, phase, turn if phase == "debate" else None

    def _emit(self, kind: BeatKind, *, bids: Mapping[SeatName, int] = MappingProxyType({}), **part: Any) -> None:
        place = self._round, self._phase, self._turn if kind == "silence" else None
        self.beats.append(self._beat(len(self.beats), kind, self._line, self._time, place, bids, **part))

    def _beat(
        self,
        n: int,
        kind: BeatKind,
        event_line: int,
        time: float,
        place: tuple[int, Phase | None, int | None],
        bids: Mapping[SeatName, int],
        **part: Any,
    ) -> Beat:
        seats = self.seating.statuses(bids, self._suspicion)
        matrix = self.seating.matrix(self._suspicion, visible=self.viewer != PUBLIC)
        return Beat(n, kind, event_line, self._line, time, *place, seats, matrix, **part)

    _HANDLERS: ClassVar[dict[type[Any], Callable[[BeatFold, Any], None]]] = {
        Opened: _open,
        TableOpened: _open_table,
        Seated: _sit_down,
        Asked: _ask,
        Whispered: lambda self, fact: self._night.add_whisper(fact),
        ModelCall: _call,
        Statement: _state,
        Silence: _silence,
        NightOutcome: _note_night,
        Inspection: _inspect,
        Dawn: _dawn,
        Tally: _count,
        Exile: _exile,
        Absent: lambda self, event: self.seating.absent.add(event.seat),
        Returned: lambda self, event: self.seating.absent.discard(event.seat),
        Revealed: _reveal,
        Ended: _end,
        Stopped: _stop,
    }
