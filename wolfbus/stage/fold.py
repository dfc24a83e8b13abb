"""`BeatFold`: makes beats of the facts that one viewer may know.

A beat is given out when it is complete, and never changes: the beats of a prefix of a record are a prefix of its beats.
So a game that is live, one that is replayed and one in a file are shown alike.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Iterable
from typing import Any, ClassVar

from wolfbus.config import GameConfig
from wolfbus.messages.base import SeatName
from wolfbus.messages.calls import ModelCall
from wolfbus.messages.claims import AccusationClaim, ProtectionClaim, ScoredClaim
from wolfbus.messages.events import (
    Absent,
    Answered,
    AnsweredAssessOther,
    AnsweredAssessOwn,
    AnsweredBid,
    AnsweredInspect,
    AnsweredKill,
    AnsweredProtect,
    AnsweredSpeak,
    AnsweredVote,
    AnsweredWhisper,
    AnyAnswered,
    Asked,
    ClaimTruth,
    Dawn,
    Ended,
    Exile,
    Inspection,
    NightOutcome,
    Opened,
    Returned,
    Silence,
    Statement,
    Stopped,
    Tally,
)
from wolfbus.messages.requests import Revealed, Seated, Whispered
from wolfbus.record.prompts import RequestNames
from wolfbus.stage.beats import (
    Bar,
    Beat,
    BeatKind,
    Exiled,
    Mark,
    NightMove,
    NightShown,
    Over,
    ShownBallot,
    ShownClaim,
    Spoken,
    Tallied,
    Unsaid,
)
from wolfbus.stage.draft import Draft
from wolfbus.stage.eyes import PUBLIC, Fact, TableOpened, Viewer, seat_of
from wolfbus.stage.seating import Seating
from wolfbus.suspicion import Suspicion
from wolfbus.vocabulary import Phase
from wolfbus.waiting import Waiting


class BeatFold:
    """Folds facts into beats, fed in record order.

    Args:
        viewer: whose facts they are; see `Eyes`.

    Attributes:
        beats: the beats given out, in order.
        waiting: what is asked and not answered yet, as far as the viewer knows.
        models: the model that each seat called last.
        over: whether the game ended or was broken off.
    """

    def __init__(self, viewer: Viewer) -> None:
        self.viewer = viewer
        self.beats: list[Beat] = []
        self.seating = Seating()
        self.waiting = Waiting()
        self.models: dict[SeatName, str] = {}
        self.over = False
        self._me = seat_of(viewer)
        self._config = GameConfig()
        self._suspicion = Suspicion()
        self._round = 0
        self._phase: Phase | None = None
        self._turn: int | None = None
        self._line, self._time = 0, 0.0
        self._drafts: deque[Draft] = deque()
        self._bids: dict[SeatName, int] = {}
        self._speech: dict[SeatName, AnsweredSpeak] = {}
        self._ballots: dict[SeatName, AnsweredVote] = {}
        self._moves: list[NightMove] = []
        self._night: NightOutcome | None = None
        self._tally: Tally | None = None
        self._names = RequestNames()
        self._calls: dict[str, int] = {}
        self._took: dict[int, float] = {}
        self._labelling: set[int] = set()
        self._call_of: dict[tuple[str, SeatName, int], int] = {}

    def feed(self, line: int, time: float, facts: Iterable[Fact]) -> list[Beat]:
        """Take in the facts of one line of the record and return the beats that are complete with it."""
        before = len(self.beats)
        self._line, self._time = line, time
        for fact in facts:
            if isinstance(fact, Answered):
                self._answer(fact)
                continue
            handler = self._HANDLERS.get(type(fact))
            if handler is not None:
                handler(self, fact)
        return self.beats[before:]

    def pending(self) -> list[Beat]:
        """Return the statements that are still being judged, as incomplete beats, in order."""
        return [self._statement(draft, len(self.beats) + place, None) for place, draft in enumerate(self._drafts)]

    def phase(self) -> dict[str, Any]:
        """Return where in the game the facts end: ``round``, ``phase`` and ``turn``."""
        return {"round": self._round, "phase": self._phase, "turn": self._turn}

    # opening

    def _open(self, event: Opened) -> None:
        self.seating.sit([seat.name for seat in event.seats])
        for seat in event.seats:
            self.seating.learn(seat.name, seat.role)
        self._begin(event.config)

    def _open_table(self, fact: TableOpened) -> None:
        self.seating.sit(fact.names)
        self._begin(fact.config)

    def _begin(self, config: GameConfig) -> None:
        self._config = config
        self._suspicion = Suspicion(config.alpha, config.prior)
        if self._me is None:
            self._emit("opened", self._line, self._time)

    def _sit_down(self, fact: Seated) -> None:
        self.seating.learn(fact.seat, fact.role)
        for partner in fact.partners:
            self.seating.learn(partner, "Werewolf")
        self._emit("opened", self._line, self._time)

    # questions and answers

    def _ask(self, event: Asked) -> None:
        self._names.ask(event)
        self._enter(event.round, event.phase, event.turn if event.phase == "debate" else None)
        self.waiting.ask(event)
        if event.about is not None and (draft := self._draft(event.about)) is not None:
            draft.awaited = {(ask.kind, seat) for ask in event.asks for seat in ask.seats}

    def _answer(self, event: AnyAnswered) -> None:
        self.waiting.close(event)
        name = self._names.of(event)
        call = self._calls.get(name) if name is not None else None
        if isinstance(event, AnsweredBid):
            self._bids[event.seat] = event.content.bid if event.content is not None else 0
        elif isinstance(event, AnsweredAssessOwn | AnsweredAssessOther):
            draft = self._draft(event.about)
            if draft is not None:
                if call is None and event.kind == "assess_own" and draft.call in self._labelling:
                    call = draft.call
                draft.take(event, call)
                if draft.settled(self._me):
                    self._release(gate=False)
        elif isinstance(event, AnsweredSpeak):
            self._speech[event.seat] = event
            self._keep_call("speak", event.seat, call)
        elif isinstance(event, AnsweredVote):
            self._ballots[event.seat] = event
            self._keep_call("vote", event.seat, call)
        else:
            self._move(event, call)

    def _move(self, event: AnyAnswered, call: int | None) -> None:
        if not isinstance(event, AnsweredKill | AnsweredProtect | AnsweredInspect | AnsweredWhisper):
            return
        content = event.content
        self._moves.append(
            NightMove(
                event.seat,
                event.kind,
                content.target if content is not None else None,
                word=event.content.word if isinstance(event, AnsweredWhisper) and event.content is not None else None,
                thought=event.thought,
                outcome=None if event.outcome == "accepted" else event.outcome,
                call=call,
            )
        )

    def _keep_call(self, kind: str, seat: SeatName, call: int | None) -> None:
        if call is not None:
            self._call_of[kind, seat, self._round] = call
        else:
            self._call_of.pop((kind, seat, self._round), None)

    def _overhear(self, fact: Whispered) -> None:
        self._moves.append(NightMove(fact.seat, "whisper", fact.target, word=fact.word))

    def _call(self, event: ModelCall) -> None:
        self.models[event.seat] = event.model
        self._took[self._line] = event.latency_s
        if event.labels:
            self._labelling.add(self._line)
        self._calls |= dict.fromkeys(event.requests, self._line)

    # what is said

    def _state(self, event: Statement) -> None:
        if event.phase == "debate":
            self._release(gate=True)
        self._enter(event.round, event.phase, event.turn if event.phase == "debate" else None)
        bids, self._bids = self._bids, {}
        self._drafts.append(
            Draft(
                event,
                self._line,
                self._time,
                speech=self._speech.get(event.speaker) if event.phase == "debate" else None,
                ballot=self._ballots.get(event.speaker) if event.phase == "vote" else None,
                call=self._call_of.get(("speak" if event.phase == "debate" else "vote", event.speaker, event.round)),
                bids=bids,
            )
        )
        if self.viewer == PUBLIC:
            self._release(gate=True)

    def _claim(self, event: ClaimTruth) -> None:
        draft = self._draft(event.statement)
        if draft is not None:
            draft.claims += [_shown(scored) for scored in event.claims]

    def _fall_silent(self, event: Silence) -> None:
        self._release(gate=True)
        self._enter(event.round, "debate", event.turn)
        bids, self._bids = self._bids, {}
        speech = self._speech.get(event.seat)
        unsaid = Unsaid(
            event.seat,
            thought=speech.thought if speech is not None else None,
            outcome=speech.outcome if speech is not None else None,
            fault=speech.fault if speech is not None else None,
            call=self._call_of.get(("speak", event.seat, event.round)),
        )
        self._emit("silence", self._line, self._time, bids=bids, unsaid=unsaid)

    def _draft(self, number: int | None) -> Draft | None:
        return next((draft for draft in self._drafts if draft.said.statement == number), None)

    def _release(self, *, gate: bool) -> None:
        """Give out statements in order: all of them at a `gate`, behind which nothing more is said of them; else up to
        the first that is still being judged.
        """
        while self._drafts and (gate or self._drafts[0].settled(self._me)):
            draft = self._drafts.popleft()
            self.beats.append(self._statement(draft, len(self.beats), self._suspicion))

    def _statement(self, draft: Draft, n: int, suspicion: Suspicion | None) -> Beat:
        """Return a draft as a beat; given `suspicion`, it is complete, and its judgements are folded in."""
        said = draft.said
        judgements = draft.judgements(self.seating.names, suspicion)
        usable = [each for each in judgements if each.suspicion is not None]
        values = [each.suspicion for each in usable if each.suspicion is not None]
        took = self._took.get(draft.call) if draft.call is not None else None
        spoken = Spoken(
            said.statement,
            said.speaker,
            said.text,
            vote=self._tally.votes.get(said.speaker) if said.phase == "vote" and self._tally is not None else None,
            thought=draft.thought,
            claims=tuple(draft.claims),
            label=draft.label,
            judgements=judgements,
            judged=len(usable),
            flagged=sum(each.deceptive is True for each in usable),
            mean=sum(values) / len(values) if values else None,
            moved=draft.moved(judgements),
            reading=draft.reading,
            call=draft.call,
            took_s=took,
        )
        verdicts = {claim.verdict for claim in draft.claims if claim.claim != "accusation"}
        marks: tuple[Mark, ...] = ("lie",) if "lie" in verdicts else ("claim",) if verdicts else ()
        return Beat(
            n,
            "statement",
            draft.line,
            self._line,
            draft.time,
            said.round,
            said.phase,
            said.turn if said.phase == "debate" else None,
            self.seating.statuses(draft.bids, self._suspicion),
            self.seating.matrix(self._suspicion, known=self.viewer != PUBLIC),
            marks,
            spoken=spoken,
            complete=suspicion is not None,
        )

    # outcomes

    def _note_night(self, event: NightOutcome) -> None:
        self._release(gate=True)
        self._enter(event.round, "night", None)
        self._night = event

    def _inspect(self, event: Inspection) -> None:
        self.seating.learn(event.target, event.role)
        for place, move in enumerate(self._moves):
            if (move.seat, move.kind, move.target) == (event.seat, "inspect", event.target):
                self._moves[place] = NightMove(
                    move.seat, move.kind, move.target, role=event.role, thought=move.thought, call=move.call
                )

    def _dawn(self, event: Dawn) -> None:
        self._release(gate=True)
        self._enter(event.round, "night", None)
        outcome, self._night = self._night, None
        moves, self._moves = tuple(self._moves), []
        if event.died is not None:
            self.seating.leave(event.died, "night", event.round, event.role, event.team)
        target = outcome.target if outcome is not None else None
        blocked = target in outcome.protected if outcome is not None and target is not None else None
        night = NightShown(event.died, event.role, event.team, target, blocked, moves)
        marks: tuple[Mark, ...] = ("death",) if event.died is not None else ("blocked",) if blocked else ()
        self._emit("night", self._line, self._time, marks=marks, night=night)
        self._phase = "debate"

    def _count(self, event: Tally) -> None:
        self._release(gate=True)
        self._enter(event.round, "vote", None)
        self._tally, self._bids = event, {}
        voters: dict[SeatName | None, list[SeatName]] = {}
        seated = [name for name in self.seating.names if name in event.votes]
        for voter in seated:
            voters.setdefault(event.votes[voter], []).append(voter)
        bars = sorted(voters.items(), key=lambda bar: (bar[0] is None, -len(bar[1])))
        ballots = tuple(self._ballot(voter, event.votes[voter]) for voter in seated)
        tally = Tallied(event.needed, tuple(Bar(target, tuple(names)) for target, names in bars), ballots)
        self._emit("tally", self._line, self._time, tally=tally)

    def _ballot(self, voter: SeatName, target: SeatName | None) -> ShownBallot:
        answer = self._ballots.get(voter)
        if answer is None:
            return ShownBallot(voter, target)
        outcome = None if answer.outcome == "accepted" else answer.outcome
        return ShownBallot(voter, target, answer.thought, outcome, self._call_of.get(("vote", voter, self._round)))

    def _exile(self, event: Exile) -> None:
        self._release(gate=True)
        self._enter(event.round, "vote", None)
        tally, self._tally = self._tally, None
        self._ballots.clear()
        count = Counter(target for target in (tally.votes if tally is not None else {}).values() if target is not None)
        if event.seat is not None:
            self.seating.leave(event.seat, "exile", event.round, event.role, event.team)
        votes = count[event.seat] if event.seat is not None else max(count.values(), default=0)
        exile = Exiled(event.seat, votes, tally.needed if tally is not None else 0, event.role, event.team)
        self._emit("exile", self._line, self._time, marks=("exile",) if event.seat is not None else (), exile=exile)
        self._phase = "night"

    def _reveal(self, fact: Revealed) -> None:
        for name, role in fact.roles.items():
            self.seating.learn(name, role)

    def _end(self, event: Ended) -> None:
        self._finish("ended", Over(event.winner, event.reason, event.rounds))

    def _stop(self, event: Stopped) -> None:
        self._finish("stopped", Over(stopped=event.reason))

    def _finish(self, kind: BeatKind, over: Over) -> None:
        self._release(gate=True)
        self.over = True
        self.waiting.clear()
        self._emit(kind, self._line, self._time, over=over)

    def _miss(self, event: Absent) -> None:
        self.seating.absent.add(event.seat)

    def _return(self, event: Returned) -> None:
        self.seating.absent.discard(event.seat)

    def _enter(self, round_: int, phase: Phase, turn: int | None) -> None:
        self._round, self._phase, self._turn = round_, phase, turn

    def _emit(
        self,
        kind: BeatKind,
        at: int,
        time: float,
        *,
        bids: dict[SeatName, int] | None = None,
        marks: tuple[Mark, ...] = (),
        **part: Any,
    ) -> None:
        self.beats.append(
            Beat(
                len(self.beats),
                kind,
                at,
                self._line,
                time,
                self._round,
                None if kind in {"opened", "ended", "stopped"} else self._phase,
                self._turn if kind == "silence" else None,
                self.seating.statuses(bids or {}, self._suspicion),
                self.seating.matrix(self._suspicion, known=self.viewer != PUBLIC),
                marks,
                **part,
            )
        )

    _HANDLERS: ClassVar[dict[type[Any], Callable[[BeatFold, Any], None]]] = {
        Opened: _open,
        TableOpened: _open_table,
        Seated: _sit_down,
        Asked: _ask,
        Whispered: _overhear,
        ModelCall: _call,
        Statement: _state,
        ClaimTruth: _claim,
        Silence: _fall_silent,
        NightOutcome: _note_night,
        Inspection: _inspect,
        Dawn: _dawn,
        Tally: _count,
        Exile: _exile,
        Absent: _miss,
        Returned: _return,
        Revealed: _reveal,
        Ended: _end,
        Stopped: _stop,
    }


def _shown(scored: ScoredClaim) -> ShownClaim:
    claim = scored.claim
    if isinstance(claim, AccusationClaim):
        return ShownClaim(claim.claim, claim.target, "Werewolf", None, scored.verdict, scored.extracted)
    if isinstance(claim, ProtectionClaim):
        return ShownClaim(claim.claim, claim.target, None, claim.round, scored.verdict, scored.extracted)
    night = claim.round if claim.claim == "inspection" else None
    return ShownClaim(claim.claim, claim.target, claim.role, night, scored.verdict, scored.extracted)
