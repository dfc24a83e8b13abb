"""What a seat has learned since its person was last told, and the table as it sees it, in words."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from players.human.question import (
    COUNTS_AS,
    NOUNS,
    WHOLE,
    content_in_words,
    judgement_in_words,
    names_of,
    who,
)
from wolfbus.messages.base import SeatName
from wolfbus.messages.events import Dawn, Ended, Exile, Inspection, Silence, Statement, Tally
from wolfbus.messages.requests import PublicFact, Whispered
from wolfbus.printable import counted, name_of, printable, spoken
from wolfbus.view import Memory, OwnAnswer, OwnJudgement, SeatView
from wolfbus.vocabulary import ROLES, Ending, Winner, team_of

_WINNERS: dict[Winner, str] = {
    "villagers": "the villagers win",
    "werewolves": "the Werewolves win",
    None: "nobody wins",
}
_ENDINGS: dict[Ending, str] = {
    "no_wolves_left": "no Werewolf is left",
    "wolves_reach_parity": "they are as many as the others",
    "max_rounds": "the last round is over",
}


_OUT: Final = (
    "You are out of the game and asked nothing more. From here on you see what everybody may know, and at the end who "
    "was who."
)


class UnreadNews:
    """Tells a seat's view piece by piece.

    Attributes:
        told: every line so far.
    """

    def __init__(self) -> None:
        self.told: list[str] = []
        self._public = 0
        self._private = 0

    def since(self, view: SeatView) -> list[str]:
        """Return what is new in a view since the last call."""
        lines = [] if self.told else list(_seat_in_words(view))
        lines += [line for fact in view.public[self._public :] for line in _fact_in_words(view, fact)]
        lines += [line for memory in view.private[self._private :] for line in _memory_in_words(view, memory)]
        self._public, self._private = len(view.public), len(view.private)
        self.told += lines
        return lines


def _seat_in_words(view: SeatView) -> Iterator[str]:
    yield f"You are {name_of(view.me)}. Your role: {view.role}."
    if view.partners:
        yield f"Your partners: {names_of(view.partners)}."
    yield f"At the table: {names_of(view.names)}."
    config = view.config
    yield "Roles in the game: " + ", ".join(f"{role} × {config.count(role)}" for role in ROLES if config.count(role))


def _fact_in_words(view: SeatView, fact: PublicFact) -> Iterator[str]:
    if isinstance(fact, Statement):
        yield f"  #{fact.statement} {who(view, fact.speaker)}{_vote(view, fact)}: “{spoken(fact.text, WHOLE)}”"
    elif isinstance(fact, Silence):
        verb = "have" if fact.seat == view.me else "has"
        yield f"  {who(view, fact.seat)} {verb} the floor and say{'' if fact.seat == view.me else 's'} nothing."
    elif isinstance(fact, Dawn):
        yield f"Night {fact.round} is over: {_subject(view, fact.died, 'died')}{_shown(fact)}."
        if fact.died == view.me:
            yield f"The Werewolves killed you in night {fact.round}. {_OUT}"
    elif isinstance(fact, Tally):
        yield from _tally_in_words(view, fact)
    elif isinstance(fact, Exile):
        yield f"{_capital(_subject(view, fact.seat, 'exiled', passive=True))}{_shown(fact)}."
        if fact.seat == view.me:
            against = [name for name, target in view.tallies.get(fact.round, {}).items() if target == view.me]
            votes = f"{counted(len(against), 'vote')}: {names_of(against)}"
            yield f"You were exiled on day {fact.round} by {votes}. {_OUT}"
    elif isinstance(fact, Ended):
        how = f"{_WINNERS[fact.winner]}, {_ENDINGS[fact.reason]}"
        yield f"The game is over after {counted(fact.rounds, 'round')}: {how}."
        if fact.winner is not None:
            yield f"You were a {view.role}: you {'win' if fact.winner == team_of(view.role) else 'lose'}."
    else:
        yield "Who was who: " + ", ".join(f"{name_of(name)} {role}" for name, role in fact.roles.items()) + "."


def _subject(view: SeatView, name: SeatName | None, verb: str, *, passive: bool = False) -> str:
    be = ("are " if name == view.me else "is ") if passive else ""
    return f"{'nobody' if name is None else who(view, name)} {be}{verb}"


def _capital(sentence: str) -> str:
    return sentence[:1].upper() + sentence[1:]


def _shown(fact: Dawn | Exile) -> str:
    known = fact.role or fact.team
    return f" ({known})" if known is not None else ""


def _vote(view: SeatView, said: Statement) -> str:
    votes = view.tallies.get(said.round, {})
    if said.phase != "vote" or said.speaker not in votes:
        return ""
    target = votes[said.speaker]
    return " (abstaining)" if target is None else f" (voting for {who(view, target)})"


def _tally_in_words(view: SeatView, tally: Tally) -> Iterator[str]:
    voters: dict[SeatName | None, list[SeatName]] = {}
    for voter, target in tally.votes.items():
        voters.setdefault(target, []).append(voter)
    yield f"The votes of day {tally.round} ({counted(tally.needed, 'vote')} needed):"
    for target, names in sorted(voters.items(), key=lambda each: (each[0] is None, -len(each[1]))):
        whom = "abstaining" if target is None else f"for {who(view, target)}"
        yield f"  {len(names)} {whom}: {', '.join(who(view, name) for name in names)}"


def _memory_in_words(view: SeatView, memory: Memory) -> Iterator[str]:
    if isinstance(memory, Inspection):
        yield f"You inspected {name_of(memory.target)}: a {memory.role}."
    elif isinstance(memory, Whispered):
        word = printable(memory.word)
        yield f"{name_of(memory.seat)} whispers: {name_of(memory.target)}" + (f", “{word}”" if word else "")
    elif isinstance(memory, OwnJudgement):
        yield f"Counted: {judgement_in_words(memory, view, memory.statement)}"
    else:
        yield from _own_answer(view, memory)


def _own_answer(view: SeatView, own: OwnAnswer) -> Iterator[str]:
    about = f" of #{own.about}" if own.about is not None else ""
    if own.content is None:
        how = "came too late" if own.outcome == "timed_out" else "was not given"
        yield f"Your {NOUNS[own.kind]}{about} {how}: it counts as {COUNTS_AS[own.kind]}."
    elif own.kind not in {"speak", "vote"}:
        # what was said and how everybody voted stands among the public facts
        yield f"Counted: {content_in_words(own.content, view, own.about)}"


_GONE = {"night": "killed at night", "exile": "exiled"}


def table_in_words(view: SeatView) -> Iterator[str]:
    """Return the lines of the table, from nothing but the seat's view."""
    width = max((len(name_of(name)) for name in view.names), default=0)
    yield f"Round {view.round}, as {name_of(view.me)} ({view.role}) sees it"
    for name in view.names:
        how = _GONE[view.dead[name]] if name in view.dead else "alive"
        yield f"  {name_of(name):<{width}}  {how:<15}  {_known(view, name):<23}  {_suspected(view, name)}".rstrip()
    for round_, votes in view.tallies.items():
        cast = "; ".join(
            f"{who(view, voter)} → {who(view, target) if target is not None else 'nobody'}"
            for voter, target in votes.items()
        )
        yield f"  Votes of day {round_}: {cast}"
    for round_, name in view.protections:
        yield f"  You protected {'yourself' if name == view.me else name_of(name)} in night {round_}."
    for seat, proposal in view.proposals().items():
        yield f"  {who(view, seat)} proposed {name_of(proposal.target)} this night."


def _known(view: SeatView, name: SeatName) -> str:
    if name == view.me:
        return f"{view.role}, you"
    if name in view.partners:
        return "Werewolf, your partner"
    if name in view.inspections:
        return f"{view.inspections[name]}, inspected"
    return str(view.revealed.get(name, ""))


def _suspected(view: SeatView, name: SeatName) -> str:
    if name == view.me:
        return ""
    if not view.suspicion.judged(view.me, name):
        return "not judged yet"
    return f"suspicion {view.suspicion.of(view.me, name):.2f}"
