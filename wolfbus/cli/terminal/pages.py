"""A game at one point as a page of plain text: all of it for researchers, or what one seat knows and nothing else."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator
from typing import Final

from wolfbus.cli.terminal import wording
from wolfbus.cli.terminal.standing import Standing
from wolfbus.cli.terminal.wording import names_of
from wolfbus.errors import ConfigError
from wolfbus.files.printable import (
    NOTE_SHOWN,
    columns_of,
    counted,
    in_columns,
    in_plain_words,
    name_of,
    printable,
    spoken,
    told_apart,
    with_article,
)
from wolfbus.game.roles import ACTS, ASKED_FOR
from wolfbus.knowledge.audience import AudienceFilter
from wolfbus.knowledge.departure import WAYS, departure, departure_in_words
from wolfbus.knowledge.view import OwnAnswer, OwnJudgement, SeatView
from wolfbus.messages.base import Part, SeatName
from wolfbus.messages.codec import plain
from wolfbus.messages.content import Ballot, Choice, Label, Proposal, Speech
from wolfbus.messages.events import Dawn, Departing, Ended, Opened, Silence, Statement, Tally
from wolfbus.messages.requests import PublicFact, Revealed
from wolfbus.record.line import Recorded
from wolfbus.stage.beats import Beat, NightShown, Spoken

WIDTH: Final = 100
"""Columns of a page; only the suspicion table of a very large game is wider."""

TEXT_SHOWN: Final = 4000
"""Characters of one statement, reason or thought that a page shows; the record has all of them."""
_FILLER: Final = "\0"
"""In no text that can be printed."""


def state_page(standing: Standing) -> str:
    """Return everything about a game at one point; researchers only."""
    opening = wording.opening_lines(standing.opened)[:1] if standing.opened is not None else ()
    rule = f"alpha {standing.config.alpha:g}, prior {standing.config.prior:g}"
    awaited = (f"{ASKED_FOR[kind]} of {names_of(seats)}" for kind, seats in standing.waiting.items())
    waiting = "; ".join(awaited)
    transcript = [line for beat in standing.beats for line in _beat(standing, beat)]
    if standing.night is not None:
        transcript += [f"  Night {standing.round}", *_state_night(standing, standing.night)]
    lines = [
        *(*opening, _standing_in_words(standing), ""),
        *("Players", *_state_players(standing), ""),
        *(f"Smoothed suspicion of the row for the column ({rule})", *_suspicion_table(standing), ""),
        *("Transcript", *transcript),
        *("", "Answers", *_wrapped(wording.answers_in_words(standing.sums), 2)),
        *_wrapped(wording.usage_in_words(standing.sums.usage), 2),
        *_wrapped(f"waiting for {waiting}" if waiting else "", 2),
        *_wrapped(f"not answering: {names_of(standing.absent)}" if standing.absent else "", 2),
    ]
    return "\n".join(lines) + "\n"


def _standing_in_words(standing: Standing) -> str:
    if standing.over is not None:
        where = f"broken off in round {standing.round}" if standing.over.reason is None else "over"
    elif standing.phase == "debate" and standing.turn:
        where = f"round {standing.round}, debate, turn {standing.turn} of {standing.config.debate_turns}"
    else:
        where = f"round {standing.round}, {standing.phase}" if standing.phase else "before the first night"
    alive = f"{len(standing.living)} of {len(standing.seats)} alive"
    return f"{where} · {alive} · {counted(standing.sums.events, 'event')}"


def _state_players(standing: Standing) -> Iterator[str]:
    brains = told_apart(standing.brains.values(), 40)
    for name, seat in standing.seats.items():
        if seat.left is not None and seat.left_round is not None:
            fate = WAYS[seat.left].fate_in(seat.left_round)
        else:
            fate = "alive" + (f", last bid {seat.bid}" if seat.bid is not None else "")
        suspected = "not judged yet" if seat.suspected is None else f"suspected {seat.suspected:.2f}"
        brain = brains[standing.brains[name]] if name in standing.brains else ""
        yield f"  {_column(name_of(name), standing.seats)} {seat.role or '':<8}  {fate:<22}  {suspected:<14}  {brain}"


def _column(word: str, names: Iterable[SeatName]) -> str:
    return in_columns(word, max((columns_of(name_of(name)) for name in names), default=0))


def _suspicion_table(standing: Standing) -> Iterator[str]:
    names, suspicion = list(standing.seats), standing.suspicion
    yield "  " + _column("", names) + "".join(f"  {in_columns(name_of(name), 4, right=True)}" for name in names)
    for observer in names:
        row = "  " + _column(name_of(observer), names)
        for target in names:
            cell = f"{suspicion.of(observer, target):.2f}" if suspicion.judged(observer, target) else "··"
            row += f"  {'' if observer == target else cell:>4}"
        yield row.rstrip()


def _beat(standing: Standing, beat: Beat) -> Iterator[str]:
    if beat.spoken is not None:
        yield from _statement(standing, beat, beat.spoken)
    elif beat.unsaid is not None:
        yield f"    debate {beat.turn}, {wording.with_role(standing.seats, beat.unsaid.seat)} says nothing"
    elif beat.night is not None:
        yield f"  Night {beat.round}"
        yield from _state_night(standing, beat.night)
        yield from _wrapped(wording.night_in_words(beat.night, beat.round, standing.config), 4)
    elif beat.tally is not None:
        yield f"  Vote {beat.round}"
        yield from _wrapped(wording.tally_in_words(wording.ballots_of(beat.tally), beat.tally.needed), 4)
    elif beat.exile is not None:
        yield from _wrapped(wording.exile_in_words(beat.exile, standing.seats), 4)
    elif beat.news is not None:
        yield from _wrapped(printable(beat.news, NOTE_SHOWN), 4)
    elif beat.over is not None:
        words = wording.over_in_words(beat.over)
        yield from _wrapped(f"stopped  {words}" if beat.over.reason is None else words, 2)


def _statement(standing: Standing, beat: Beat, statement: Spoken) -> Iterator[str]:
    turn = f"debate {beat.turn}, " if beat.turn is not None else ""
    yield f"    {turn}{wording.with_role(standing.seats, statement.speaker)}{wording.vote_of(beat)}:"
    more = len(statement.text) - TEXT_SHOWN
    cut = f" … and {more} characters more" if more > 0 else ""
    yield from _wrapped(f"“{spoken(statement.text[:TEXT_SHOWN], TEXT_SHOWN)}{cut}”", 6)
    yield from _wrapped(wording.assessment_in_words(statement) if beat.complete else "being judged", 6)


def _state_night(standing: Standing, night: NightShown) -> Iterator[str]:
    for wolf, move in wording.proposals_of(night).items():
        who = wording.with_role(standing.seats, wolf)
        yield from _wrapped(f"{who} proposes {name_of(move.target)}{_quoted(move.word, ': ')}", 4)
    for move in wording.inspections_of(night):
        who = wording.with_role(standing.seats, move.seat)
        yield from _wrapped(f"{who} inspects {name_of(move.target)}: {with_article(str(move.role))}", 4)


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
    left = view.departures.get(view.me)
    fate = f", {left.way.fate}" if left is not None else ""
    nights, days = [*_own_acts(view, "night"), *_whispers(view)], [*_own_acts(view, "day")]
    lines = [
        *(f"What {name_of(view.me)} knows · {view.role}{fate} · {over}", ""),
        *_wrapped(f"Partners: {names_of(view.partners)}" if view.role == "Werewolf" else "", 0),
        *("Players, and this seat's own suspicion of them", *_view_players(view), ""),
        *(("Its nights", *nights, "") if nights else ()),
        *(("What it chose by day", *days, "") if days else ()),
        *("Transcript, with its own labels, judgements and thoughts", *_view_transcript(view)),
    ]
    return "\n".join(lines) + "\n"


def _view_players(view: SeatView) -> Iterator[str]:
    for name in view.names:
        fate = view.departures[name].way.fate if name in view.dead else "alive"
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


def _own_acts(view: SeatView, span: str) -> Iterator[str]:
    for answer in view.answers:
        if answer.kind in ACTS and ACTS[answer.kind].span == span:
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


def _fact(fact: PublicFact | Part) -> Iterator[str]:
    if isinstance(fact, Statement):
        where = f"debate {fact.turn}" if fact.phase == "debate" else "on its vote"
        yield f"    {where}, {name_of(fact.speaker)}:"
        yield from _wrapped(f"“{spoken(fact.text, TEXT_SHOWN)}”", 6)
    elif isinstance(fact, Silence):
        yield f"    debate {fact.turn}, {name_of(fact.seat)} says nothing"
    elif isinstance(fact, Dawn):
        yield f"  Dawn {fact.round}: {name_of(fact.died)} died{_role_shown(fact)}"
    elif isinstance(fact, Tally):
        yield f"  Vote {fact.round}"
        yield from _wrapped(wording.tally_in_words(fact.votes, fact.needed), 4)
    elif isinstance(fact, Departing):
        departed = departure(fact)
        who = "nobody" if departed is None else name_of(departed.seat)
        yield f"    {departure_in_words(fact, who)}{_role_shown(fact)}"
    elif isinstance(fact, Ended):
        yield f"  The end: {wording.ending_in_words(fact.winner, fact.reason, fact.rounds)}"
    elif isinstance(fact, Revealed):
        roles = ", ".join(f"{name_of(name)} {role}" for name, role in fact.roles.items())
        yield from _wrapped(f"Revealed: {roles}; seed {printable(fact.seed, NOTE_SHOWN)}", 2)
    else:
        yield from _wrapped(in_plain_words(plain(fact)), 4)


def _role_shown(fact: Departing) -> str:
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
    # a letter of double width stands for two, which may be parted at the end of a line
    filled = "".join(letter + _FILLER * (columns_of(letter) - 1) for letter in text)
    lines = textwrap.wrap(filled, WIDTH - (_FILLER in filled), initial_indent=margin, subsequent_indent=margin)
    return [line.replace(_FILLER, "") for line in lines]
