"""A game at one point as a page of plain text: all of it for researchers, or what one seat knows and nothing else."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator
from typing import Final

from wolfbus.audience import AudienceFilter
from wolfbus.cli.terminal import wording
from wolfbus.cli.terminal.wording import names_of
from wolfbus.errors import ConfigError
from wolfbus.messages.base import SeatName
from wolfbus.messages.content import Ballot, Choice, Label, Proposal, Speech
from wolfbus.messages.events import Dawn, Exile, Opened, Silence, Statement, Tally
from wolfbus.messages.requests import PublicFact
from wolfbus.printable import NOTE_SHOWN, counted, name_of, printable, spoken, told_apart
from wolfbus.record.line import Recorded
from wolfbus.roles import ACTS
from wolfbus.state import GameState, Moment, Night, Utterance
from wolfbus.view import OwnAnswer, OwnJudgement, SeatView

WIDTH: Final = 100
"""Columns of a page; only the suspicion table of a very large game is wider."""

TEXT_SHOWN: Final = 4000
"""Characters of one statement, reason or thought that a page shows; the record has all of them."""

_FATES: Final = {"night": "killed at night", "exile": "exiled"}


def state_page(state: GameState) -> str:
    """Return everything about a game at the point that `state` has reached; researchers only."""
    opening = wording.opening_lines(state.opened)[:1] if state.opened is not None else ()
    rule = f"alpha {state.config.alpha:g}, prior {state.config.prior:g}"
    over = wording.ending_in_words(state.ended) if state.ended is not None else ""
    stopped = f"stopped  {wording.stop_in_words(state.stopped)}" if state.stopped is not None else ""
    awaited = (f"{wording.ASKED_FOR[kind]} of {names_of(seats)}" for kind, seats in state.waiting_for().items())
    waiting = "; ".join(awaited)
    lines = [
        *(*opening, _standing(state), ""),
        *("Players", *_state_players(state), ""),
        *(f"Smoothed suspicion of the row for the column ({rule})", *_suspicion_table(state), ""),
        *("Transcript", *(line for moment in state.transcript for line in _moment(state, moment))),
        *_wrapped(over, 2),
        *_wrapped(stopped, 2),
        *("", "Answers", *_wrapped(wording.answers_in_words(state), 2)),
        *_wrapped(wording.usage_in_words(state.usage), 2),
        *_wrapped(f"waiting for {waiting}" if waiting else "", 2),
        *_wrapped(f"not answering: {names_of(state.absent)}" if state.absent else "", 2),
    ]
    return "\n".join(lines) + "\n"


def _standing(state: GameState) -> str:
    if state.ended is not None:
        where = "over"
    elif state.stopped is not None:
        where = f"broken off in round {state.round}"
    elif state.phase == "debate":
        where = f"round {state.round}, debate, turn {state.turn} of {state.config.debate_turns}"
    else:
        where = f"round {state.round}, {state.phase}" if state.phase else "before the first night"
    return f"{where} · {len(state.living)} of {len(state.seats)} alive · {counted(state.events, 'event')}"


def _state_players(state: GameState) -> Iterator[str]:
    brains = told_apart((seat.brain for seat in state.seats.values()), 40)
    for name, seat in state.seats.items():
        left = state.left.get(name)
        if left is not None:
            fate = f"killed in night {left.round}" if left.how == "night" else f"exiled by vote {left.round}"
        else:
            fate = "alive" + (f", last bid {state.bids[name]}" if name in state.bids else "")
        suspicion = state.suspicion_of(name)
        suspected = "not judged yet" if suspicion is None else f"suspected {suspicion:.2f}"
        brain = brains[seat.brain]
        yield f"  {_column(name_of(name), state.seats)} {seat.role:<8}  {fate:<22}  {suspected:<14}  {brain}"


def _column(word: str, names: Iterable[SeatName]) -> str:
    return f"{word:<{max((len(name_of(name)) for name in names), default=0)}}"


def _suspicion_table(state: GameState) -> Iterator[str]:
    heads = [name_of(name)[:4] for name in state.seats]
    yield "  " + _column("", state.seats) + "".join(f"  {head:>4}" for head in heads)
    for observer in state.seats:
        cells = (
            "" if observer == target
            else f"{state.suspicion.of(observer, target):.2f}" if state.suspicion.judged(observer, target)
            else "··"
            for target in state.seats
        )  # fmt: skip
        row = "  " + _column(name_of(observer), state.seats) + "".join(f"  {cell:>4}" for cell in cells)
        yield row.rstrip()


def _moment(state: GameState, moment: Moment) -> Iterator[str]:
    if isinstance(moment, Utterance):
        statement = moment.spoken
        turn = f"debate {statement.turn}, " if statement.phase == "debate" else ""
        yield f"    {turn}{wording.with_role(state, statement.speaker)}{wording.vote_of(state, statement)}:"
        more = len(statement.text) - TEXT_SHOWN
        cut = f" … and {more} characters more" if more > 0 else ""
        yield from _wrapped(f"“{spoken(statement.text[:TEXT_SHOWN], TEXT_SHOWN)}{cut}”", 6)
        yield from _wrapped(wording.assessment_in_words(moment) if moment.assessed else "being judged", 6)
        return
    if moment.type == "silence":
        yield f"    debate {moment.turn}, {wording.event_in_words(state, moment)}"
        return
    if moment.type == "night_outcome":
        yield f"  Night {moment.round}"
        yield from _state_night(state, state.nights.get(moment.round))
    elif moment.type == "tally":
        yield f"  Vote {moment.round}"
    yield from _wrapped(wording.event_in_words(state, moment), 4)


def _state_night(state: GameState, night: Night | None) -> Iterator[str]:
    if night is None:
        return
    for wolf, (target, word) in night.proposals.items():
        yield from _wrapped(f"{wording.with_role(state, wolf)} proposes {name_of(target)}{_quoted(word, ': ')}", 4)
    for seer, (target, role) in night.inspections.items():
        yield from _wrapped(f"{wording.with_role(state, seer)} inspects {name_of(target)}: a {role}", 4)


def _quoted(word: str | None, before: str) -> str:
    """Return a word in quotes after `before`; "" for no word."""
    text = printable(word or "")
    return f"{before}“{text}”" if text else ""


def view_at(records: Iterable[Recorded], seat: SeatName, until: int | None = None) -> SeatView:
    """Return what `seat` knows after the event numbered `until`, built as every delivery is.

    Args:
        records: a record's events in order, from the first.
        seat: a player's name.
        until: number of the last event to take in; None for all.

    Raises:
        ConfigError: no such seat, or the game has not been opened by then.
    """
    audiences, view = AudienceFilter(), SeatView(seat)
    opened = False
    for recorded in records:
        if until is not None and recorded.n > until:
            break
        event = recorded.event
        if isinstance(event, Opened):
            opened = True
            names = [sitting.name for sitting in event.seats]
            if seat not in names:
                raise ConfigError(
                    f"no seat {printable(seat, NOTE_SHOWN)!r} in this game; its seats are {names_of(names)}"
                )
        facts = audiences.feed(event)
        for public in facts.public:
            view.hear_public(public)
        for name, private in facts.private:
            if name == seat:
                view.hear_private(private)
    if not opened:
        raise ConfigError("nobody knows anything yet: up to there the game has not been opened")
    return view


def seat_page(view: SeatView) -> str:
    """Return what one seat knows; the page is made from its view alone."""
    over = "the game is over" if view.ended is not None else f"round {view.round}"
    fate = f", {_FATES[view.dead[view.me]]}" if view.me in view.dead else ""
    nights = [*_own_nights(view), *_whispers(view)]
    lines = [
        *(f"What {name_of(view.me)} knows · {view.role}{fate} · {over}", ""),
        *_wrapped(f"Partners: {names_of(view.partners)}" if view.role == "Werewolf" else "", 0),
        *("Players, and this seat's own suspicion of them", *_view_players(view), ""),
        *(("Its nights", *nights, "") if nights else ()),
        *("Transcript, with its own labels, judgements and thoughts", *_view_transcript(view)),
    ]
    return "\n".join(lines) + "\n"


def _view_players(view: SeatView) -> Iterator[str]:
    for name in view.names:
        fate = _FATES[view.dead[name]] if name in view.dead else "alive"
        role = _known_role(view, name)
        if name == view.me:
            suspicion = ""
        elif view.suspicion.judged(view.me, name):
            suspicion = f"{view.suspicion.of(view.me, name):.2f}"
        else:
            suspicion = f"{view.suspicion.prior:.2f} (not judged yet)"
        yield f"  {_column(name_of(name), view.names)}  {fate:<15}  {role:<24}  {suspicion}".rstrip()


def _known_role(view: SeatView, name: SeatName) -> str:
    """Return what the seat knows for certain of a player's role, "" for nothing."""
    if name == view.me:
        return f"{view.role}, itself"
    if name in view.partners:
        return "Werewolf, partner"
    if name in view.inspections:
        return f"{view.inspections[name]}, inspected"
    revealed = view.revealed.get(name)
    return f"{revealed}, revealed" if revealed is not None else ""


def _own_nights(view: SeatView) -> Iterator[str]:
    for answer in view.answers:
        if answer.kind in ACTS:
            content = answer.content
            action = answer.outcome.replace("_", " ")
            if isinstance(content, Choice | Proposal):
                action = f"{name_of(content.target)}{_quoted(getattr(content, 'word', None), ', ')}"
            yield from _wrapped(f"{answer.kind}: {action}", 2)
            yield from _thought(answer.thought, 4)


def _whispers(view: SeatView) -> Iterator[str]:
    for whisper in view.whispers:
        proposal = f"{name_of(whisper.seat)} proposed {name_of(whisper.target)}{_quoted(whisper.word, ', ')}"
        yield from _wrapped(f"heard in night {whisper.round}: {proposal}", 2)


def _view_transcript(view: SeatView) -> Iterator[str]:
    # a seat's statements and silences, and its ballots, come in the order of its own answers
    speeches = iter([answer for answer in view.answers if answer.kind == "speak"])
    ballots = iter([answer for answer in view.answers if answer.kind == "vote"])
    labels = {answer.about: answer for answer in view.answers if answer.kind == "assess_own"}
    for fact in view.public:
        yield from _fact(fact)
        own_answer: OwnAnswer | None = None
        if (isinstance(fact, Statement) and fact.phase == "debate" and fact.speaker == view.me) or (
            isinstance(fact, Silence) and fact.seat == view.me
        ):
            own_answer = next(speeches, None)
        elif isinstance(fact, Tally) and view.me in fact.votes:
            own_answer = next(ballots, None)
        if own_answer is not None:
            yield from _thought(own_answer.thought, 6)
        if isinstance(fact, Statement):
            yield from _own_assessment(view, fact.statement, labels.get(fact.statement))
    for answer in speeches:
        words = f"“{spoken(answer.content.text, TEXT_SHOWN)}”" if isinstance(answer.content, Speech) else "nothing"
        yield from _wrapped(f"not heard yet: it says {words}", 4)
        yield from _thought(answer.thought, 6)
    for ballot in ballots:
        target = ballot.content.target if isinstance(ballot.content, Ballot) else None
        yield f"    not opened yet: its vote for {name_of(target)}"
        yield from _thought(ballot.thought, 6)


def _fact(fact: PublicFact) -> Iterator[str]:
    if fact.type == "statement":
        where = f"debate {fact.turn}" if fact.phase == "debate" else "on its vote"
        yield f"    {where}, {name_of(fact.speaker)}:"
        yield from _wrapped(f"“{spoken(fact.text, TEXT_SHOWN)}”", 6)
    elif fact.type == "silence":
        yield f"    debate {fact.turn}, {name_of(fact.seat)} says nothing"
    elif fact.type == "dawn":
        yield f"  Dawn {fact.round}: {name_of(fact.died)} died{_role_shown(fact)}"
    elif fact.type == "tally":
        yield f"  Vote {fact.round}"
        yield from _wrapped(wording.tally_in_words(fact), 4)
    elif fact.type == "exile":
        yield f"    {name_of(fact.seat)} is exiled{_role_shown(fact)}"
    elif fact.type == "ended":
        yield f"  The end: {wording.ending_in_words(fact)}"
    elif fact.type == "revealed":
        roles = ", ".join(f"{name_of(name)} {role}" for name, role in fact.roles.items())
        yield from _wrapped(f"Revealed: {roles}; seed {printable(fact.seed, NOTE_SHOWN)}", 2)


def _role_shown(fact: Dawn | Exile) -> str:
    role_or_team = fact.role or fact.team
    return f" ({role_or_team})" if role_or_team is not None else ""


def _own_assessment(view: SeatView, statement: int, label_answer: OwnAnswer | None) -> Iterator[str]:
    if label_answer is not None:
        content = label_answer.content
        text = label_answer.outcome.replace("_", " ")
        if isinstance(content, Label):
            text = f"{_label(content)}, {content.confidence:.0%} sure{_reasons(content)}"
        yield from _wrapped(f"own label: {text}", 6)
        yield from _thought(label_answer.thought, 6)
    judgement = view.judgements.get(statement)
    if judgement is not None:
        sure = f"suspicion {judgement.suspicion:.2f}, {judgement.confidence:.0%} sure"
        yield from _wrapped(f"own judgement: {_label(judgement)}, {sure}{_reasons(judgement)}", 6)
        yield from _thought(judgement.thought, 6)


def _label(verdict: Label | OwnJudgement) -> str:
    if not verdict.deceptive:
        return "honest"
    return "deceptive" if verdict.kind in {"none", "unspecified"} else f"deceptive ({verdict.kind})"


def _reasons(verdict: Label | OwnJudgement) -> str:
    reasons = printable(verdict.reasoning, TEXT_SHOWN)
    return f": {reasons}" if reasons else ""


def _thought(thought: str | None, indent: int) -> list[str]:
    text = printable(thought or "", TEXT_SHOWN)
    return _wrapped(f"thought: {text}" if text else "", indent)


def _wrapped(text: str, indent: int) -> list[str]:
    """Return a paragraph as lines; none for no text."""
    margin = " " * indent
    return textwrap.wrap(text, WIDTH, initial_indent=margin, subsequent_indent=margin)
