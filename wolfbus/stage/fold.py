"""`BeatFold`: makes beats of the facts that one viewer may know.

A beat is given out when it is complete, and never changes: the beats of a prefix of a record are a prefix of its beats.
So a game that is live, one that is replayed and one in a file are shown alike.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import permutations
from statistics import fmean
from types import MappingProxyType
from typing import Any, ClassVar, TypeAlias

from wolfbus.files.printable import in_plain_words
from wolfbus.game.config import GameConfig
from wolfbus.game.roles import ACTS, TABLE_ROLES
from wolfbus.game.vocabulary import Phase
from wolfbus.knowledge.audience import PrivateThoughts
from wolfbus.knowledge.departure import departure, departure_in_words
from wolfbus.knowledge.suspicion import Suspicion
from wolfbus.knowledge.truth import GameFacts
from wolfbus.messages.base import SeatName
from wolfbus.messages.calls import ModelCall
from wolfbus.messages.codec import plain
from wolfbus.messages.content import ScoredClaim
from wolfbus.messages.defaults import is_silenced
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
    Departing,
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
from wolfbus.stage.beats import Beat, BeatKind, Mark, NightMove, NightShown, Over, SeatStatus, Unsaid
from wolfbus.stage.draft import NightDraft, Seating, StatementDraft, VoteDraft, Waiting, chosen, label_along
from wolfbus.stage.inspector import CallLines
from wolfbus.stage.viewers import EVERYTHING, PUBLIC, Fact, TableOpened, Viewer, seat_of

ClaimFinder: TypeAlias = Callable[[AnyEvent], Sequence[ScoredClaim] | None]
"""Fed every event of one game in order; returns all claims of the statement that an event is about, or None."""


def given_claims(event: AnyEvent) -> Sequence[ScoredClaim] | None:
    """Return the claims that a speaker gave with its words."""
    return event.claims if event.type == "claim_truth" else None


_make_finder: Callable[[], ClaimFinder] = lambda: given_claims  # noqa: E731 - replaced as a whole


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
        find_claims: finds the claims of statements for who sees everything; unless given, what `claim_finder` returns.

    Attributes:
        beats: the beats given out, in order.
        seating: how every seat stands.
        waiting: what is asked and not answered yet, as far as the viewer knows.
        calls: model calls, as far as the viewer knows.
        over: whether the game ended or was broken off.
    """

    def __init__(self, viewer: Viewer, find_claims: ClaimFinder | None = None) -> None:
        self.viewer = viewer
        self.beats: list[Beat] = []
        self.seating = Seating()
        self.waiting = Waiting()
        self.calls = CallLines()
        self.over = False
        self._seat = seat_of(viewer)
        self._private = PrivateThoughts()
        self._suspicion = Suspicion()
        # known to who sees everything
        self._facts: GameFacts | None = None
        self._round = 0
        self._phase: Phase | None = None
        self._turn: int | None = None
        self._line, self._time = 0, 0.0
        # an exile ends the day, though who is asked nothing at night hears of no next round before dawn
        self._dusk = self._labelled_twice = False
        self._is_judged = True
        self._bids: dict[SeatName, int] = {}
        self._shown_bids: dict[SeatName, int] = {}
        self._day_moves: list[NightMove] = []
        self._speech: tuple[AnsweredSpeak, int | None] | None = None
        self._drafts: deque[StatementDraft] = deque()
        self._night = NightDraft()
        self._vote = VoteDraft()
        self._ended: Over | None = None
        self._find_claims = (find_claims or claim_finder()) if viewer == EVERYTHING else None

    def feed(self, line: int, time: float, facts: Iterable[Fact]) -> list[Beat]:
        """Fold the facts of one line of the record, and return the beats that are complete with it."""
        before = len(self.beats)
        self._line, self._time = line, time
        for fact in map(self._private.without, facts):
            if isinstance(fact, Answered):
                self._answer(fact)
            elif (handler := self._HANDLERS.get(type(fact))) is not None:
                handler(self, fact)
            elif isinstance(fact, PublicEvent | Departing):
                # logs of other tables have ways to leave that no record has
                self._show_news(fact)
            self._claim(fact)
        return self.beats[before:]

    @property
    def private(self) -> bool:
        """Whether somebody plays whose thoughts are left out."""
        return bool(self._private.seats)

    def pending(self) -> list[Beat]:
        """Return the statements that are still being judged, as incomplete beats, in order."""
        return [self._statement(draft, len(self.beats) + place, None) for place, draft in enumerate(self._drafts)]

    def place(self) -> dict[str, Any]:
        """Return where in the game the facts end: ``round``, ``phase`` and ``turn``."""
        if self._dusk:
            return {"round": self._round + 1, "phase": "night", "turn": None}
        return {"round": self._round, "phase": self._phase, "turn": self._turn}

    def present(self) -> tuple[SeatStatus, ...]:
        """Return how every seat stands right now: with its latest bid, and judgements of `pending` statements."""
        return self.seating.statuses(self._bids or self._shown_bids, self.suspicion())

    def suspicion(self) -> Suspicion:
        """Return smoothed suspicion right now, with the judgements of `pending` statements."""
        suspicion = self._suspicion.copy()
        for draft in self._drafts:
            draft.judge(suspicion)
        return suspicion

    def night(self) -> NightShown | None:
        """Return the night that goes on, as far as the viewer knows; None where nothing is known of one."""
        return self._night.so_far() if self._night.moves or self._night.outcome is not None else None

    def _open(self, event: Opened) -> None:
        self.seating.sit([seat.name for seat in event.seats])
        for seat in event.seats:
            self.seating.learn(seat.name, seat.role)
        self._facts = GameFacts({seat.name: seat.role for seat in event.seats}, event.config.reveal_on_death)
        self._begin(event.config)

    def _open_table(self, fact: TableOpened) -> None:
        self.seating.sit(fact.names)
        self._begin(fact.config)

    def _begin(self, config: GameConfig | None) -> None:
        if config is not None:
            self._suspicion = Suspicion(config.alpha, config.prior)
            self._labelled_twice = config.label == "both"
            # what is made of statements when the game is over moves nothing that is shown of it
            self._is_judged = config.assess == "live"
        if self._seat is None:
            self._emit("opened")

    def _sit_down(self, fact: Seated) -> None:
        self.seating.learn(fact.seat, fact.role)
        for partner in fact.partners:
            self.seating.learn(partner, "Werewolf")
        self._emit("opened")

    def _ask(self, event: Asked) -> None:
        self.calls.ask(event)
        if event.about is None or self._draft(event.about) is not None:
            # what is asked of earlier statements when the game is over leads nowhere
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
            moves = self._night.moves if ACTS[event.kind].span == "night" else self._day_moves
            moves.append(chosen(event, call))

    def _assess(self, event: AnsweredAssessOwn | AnsweredAssessOther, call: int | None) -> None:
        draft = self._draft(event.about)
        if draft is None:
            return
        if call is None and event.kind == "assess_own" and self.calls.labels(draft.call):
            call = draft.call
        draft.take(event, call)
        # an edited record may have an answer of somebody who is not at the table
        if self._facts is not None and isinstance(event, AnsweredAssessOther) and event.seat in self._facts.roles:
            draft.informed[event.seat] = self._facts.informed(event.seat, draft.event.speaker)
        self._release(gate=False)

    def _call(self, event: ModelCall) -> None:
        self.calls.call(self._line, event)

    def _state(self, event: Statement) -> None:
        self._enter(event.round, event.phase, event.turn, gate=event.phase == "debate")
        self.seating.meet(event.speaker)
        answer, call = self._words_of(event)
        draft = StatementDraft(event, self._line, self._time, answer, call, self._bids_for_turn())
        along = label_along(answer, call)
        draft.intended, draft.label = (along, None) if self._labelled_twice else (None, along)
        self._drafts.append(draft)
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
        answer, call = self._speech or (None, None)
        unsaid = Unsaid(event.seat)
        if answer is not None and answer.seat == event.seat and not is_silenced(answer):
            unsaid = Unsaid(event.seat, answer.thought, answer.outcome, answer.fault, call)
        self._emit("silence", bids=self._bids_for_turn(), unsaid=unsaid)

    def _bids_for_turn(self) -> dict[SeatName, int]:
        """Return the bids for the turn that is over now; the next ones are another turn's."""
        bids, self._bids = self._bids, {}
        self._shown_bids = bids or self._shown_bids
        return bids

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
        if event.role in TABLE_ROLES:
            self.seating.learn(event.target, event.role)
        if self._facts is not None:
            self._facts.inspect(event.round, event.seat, event.target, event.role)
        self._night.inspect(event)

    def _dawn(self, event: Dawn) -> None:
        self._enter(event.round, "night", gate=True)
        night, self._night = self._night.so_far(event), NightDraft()
        marks: tuple[Mark, ...] = ("death",) if self._leave(event) else ("blocked",) if night.blocked else ()
        self._emit("night", marks=marks, night=night)
        self._phase = "debate"

    def _leave(self, event: Departing) -> bool:
        """Note who leaves by an event; returns whether anybody does."""
        departed = departure(event)
        if departed is not None:
            self.seating.leave(departed)
            if self._facts is not None:
                self._facts.leave(departed.seat, departed.how)
        return departed is not None

    def _count(self, event: Tally) -> None:
        self._enter(event.round, "vote", gate=True)
        self._bids = {}
        self.seating.meet(*event.votes)
        self._emit("tally", tally=self._vote.tallied(event, self.seating.names))

    def _exile(self, event: Exile) -> None:
        self._enter(event.round, "vote", gate=True)
        exile, self._vote = self._vote.exiled(event), VoteDraft()
        self._emit("exile", marks=("exile",) if self._leave(event) else (), exile=exile)
        self._dusk = True

    def _show_news(self, event: PublicEvent | Departing) -> None:
        """Show what everybody is told and no handler makes more of; not what one seat is told: places of beats are
        the same for all viewers.
        """
        self._release(gate=True)
        # whoever is asked nothing at night learns from this that a round has begun
        if (round_ := getattr(event, "round", 0)) > self._round:
            self._enter(round_, "night")
        if not isinstance(event, Departing):
            self._emit("news", news=in_plain_words(plain(event)))
            return
        departed = departure(event)
        news = departure_in_words(event, "nobody" if departed is None else departed.seat)
        if departed is not None and departed.revealed is not None:
            news += f" ({departed.revealed})"
        self._emit("news", marks=("death",) if self._leave(event) else (), news=news)

    def _reveal(self, fact: Revealed) -> None:
        # what was said before is shown as it was known then
        self._release(gate=True)
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
        self._phase, self._dusk = None, False
        self._emit(kind, over=over)

    def _enter(self, round_: int, phase: Phase, turn: int | None = None, *, gate: bool = False) -> None:
        if gate:
            self._release(gate=True)
        turn = turn if phase == "debate" else None
        if turn is not None and (round_, phase) == (self._round, self._phase):
            # the next turn's bids are asked for before the judgements of the last one's statement
            turn = max(turn, self._turn or 0)
        self._round, self._phase, self._turn, self._dusk = round_, phase, turn, False

    def _emit(self, kind: BeatKind, *, bids: Mapping[SeatName, int] = MappingProxyType({}), **part: Any) -> None:
        place = self._round, self._phase, self._turn if kind == "silence" else None
        if self._day_moves:
            part["moves"], self._day_moves = tuple(self._day_moves), []
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
        return Beat(n, kind, event_line, self._line, time, *place, seats, matrix, self._gap(), **part)

    def _gap(self) -> float | None:
        """Return by how much more the living who could not know suspect the Werewolves than the others, now."""
        facts = self._facts
        if facts is None or self.over or not self._is_judged:
            return None
        values: dict[bool, list[float]] = {False: [], True: []}
        for observer, target in permutations(facts.living, 2):
            if not facts.informed(observer, target):
                values[facts.roles[target] == "Werewolf"].append(self._suspicion.of(observer, target))
        if not values[True] or not values[False]:
            return None
        return fmean(values[True]) - fmean(values[False])

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
