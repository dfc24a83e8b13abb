"""What a person is asked, how to type it, how it was understood, and what is new at the table, in words."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from wolfbus.agent import Answer
from wolfbus.files.package_data import Lines, PackageData, Prose, read_data
from wolfbus.files.printable import (
    STATEMENT_SHOWN,
    columns_of,
    counted,
    in_columns,
    in_plain_words,
    name_of,
    printable,
    spoken,
    with_article,
)
from wolfbus.game.roles import ACTS, FACTS, team_of
from wolfbus.game.vocabulary import DECEPTIONS, ROLES, Ending, Fault, Kind
from wolfbus.knowledge.departure import departure, departure_in_words
from wolfbus.knowledge.view import Memory, OwnAnswer, OwnJudgement, SeatView
from wolfbus.messages.base import Part, SeatName
from wolfbus.messages.codec import plain
from wolfbus.messages.content import CONTENT, Ballot, Bid, Choice, Content, Judgement, Label, Proposal, Speech
from wolfbus.messages.events import Dawn, Departing, Ended, Exile, Inspection, Silence, Statement, Tally
from wolfbus.messages.requests import Ask, PublicFact, Revealed, Whispered

WHOLE: Final = 4_000
"""Characters of a statement that are shown to somebody who has to judge it."""


class _KindWords(PackageData):
    noun: str
    counts_as: str
    question: Lines
    help: Lines


class _QuestionWords(PackageData):
    commands: str
    names: Prose
    out: Prose
    winners: dict[str, str]
    endings: dict[Ending, str]
    kinds: dict[Kind, _KindWords]


_WORDS: Final = read_data("players.human", "words", _QuestionWords)
_KINDS: Final[dict[Kind, _KindWords]] = _WORDS.kinds | {
    kind: _KindWords(noun=act.noun, counts_as=act.default, question=(act.prompt,), help=(act.help,))
    for kind, act in ACTS.items()
}
COUNTS_AS: Final = {kind: words.counts_as for kind, words in _KINDS.items()}
"""The conservative default per kind of request."""

_NOTHING: Final[dict[Kind, Content]] = {
    "bid": Bid(bid=0),
    "speak": Speech(text=""),
    "vote": Ballot(),
    **{kind: Choice() for kind in ACTS if CONTENT[kind] is Choice},
}
"""What a person who gives no answer says by that; other kinds are left without content."""


def default_of(ask: Ask, fault: Fault = "refused") -> Answer:
    """Return the answer of a person who gives none: of its own will, unless another fault is named."""
    content = _NOTHING.get(ask.kind)
    if isinstance(content, Choice) and None not in (ask.legal or ()):
        content = None
    return Answer(content) if content is not None else Answer(fault=fault, note="the person gave no answer")


def names_of(names: Iterable[SeatName | None]) -> str:
    """Return names as a list; "nobody" for none."""
    return ", ".join(name_of(name) for name in names) or "nobody"


def name_or_you(view: SeatView, name: SeatName) -> str:
    """Return "you" for the person's own seat, else the name."""
    return "you" if name == view.me else name_of(name)


def seconds_in_words(seconds: float) -> str:
    """Return a time as "45 s" or "2 min 05 s"; never less than 1 s."""
    whole = max(1, round(seconds))
    return f"{whole} s" if whole < 100 else f"{whole // 60} min {whole % 60:02} s"


def assessed(deceptive: bool, kind: str) -> str:
    """Return "honest", "deceptive", or "deceptive (omission)"."""
    if not deceptive:
        return "honest"
    return "deceptive" if kind in {"none", "unspecified"} else f"deceptive ({kind})"


def content_in_words(content: Content, view: SeatView, about: int | None = None) -> str:
    """Return an answer as it was understood, after "You": "You vote for Hugo, saying “…”"."""
    if isinstance(content, Bid):
        return f"You bid {content.bid}."
    if isinstance(content, Speech):
        return f"You say: “{spoken(content.text)}”" if content.text.strip() else "You say nothing."
    if isinstance(content, Label):
        sure = f"{content.confidence:.0%} sure"
        return f"You label #{about} {assessed(content.deceptive, content.kind)}, {sure}{_because(content.reasoning)}."
    if isinstance(content, Judgement):
        return judgement_in_words(content, view, about)
    if isinstance(content, Ballot):
        words = f", saying “{spoken(content.reason)}”" if content.reason else ""
        return f"You vote for {name_or_you(view, content.target)}{words}." if content.target else f"You abstain{words}."
    if isinstance(content, Proposal):
        word = f", with the words “{spoken(content.word)}”" if content.word else ""
        return f"You propose {name_of(content.target)}{word}."
    return f"You choose {'yourself' if content.target == view.me else name_of(content.target)}."


def judgement_in_words(judgement: Judgement | OwnJudgement, view: SeatView, about: int | None) -> str:
    """Return "You judge #3 of Ada honest, suspicion 0.20, 80% sure."."""
    statement = view.statements.get(about or 0)
    speaker = f" of {name_of(statement.speaker)}" if statement is not None else ""
    return (
        f"You judge #{about}{speaker} {assessed(judgement.deceptive, judgement.kind)}, "
        f"suspicion {judgement.suspicion:.2f}, {judgement.confidence:.0%} sure{_because(judgement.reasoning)}."
    )


def _because(reasoning: str) -> str:
    words = printable(reasoning, STATEMENT_SHOWN)
    return f", because {words.rstrip('.')}" if words else ""


KINDS_TYPED: Final = tuple(kind for kind in DECEPTIONS if kind not in {"none", "unspecified"})
"""Kinds of deception that a person may type."""


def question_in_words(ask: Ask, view: SeatView) -> Iterator[str]:
    """Return what is asked, in a few lines."""
    place = f"debate, turn {ask.turn} of {view.config.debate_turns}" if ask.phase == "debate" else ask.phase
    yield f"── Round {ask.round}, {place}: your {_KINDS[ask.kind].noun}"
    if ask.kind == "whisper":
        yield from _proposed(view)
    statement = view.statements.get(ask.about or 0)
    for line in _KINDS[ask.kind].question:
        yield line.format(
            bid_max=view.config.bid_max,
            published=" A reason is published." if view.config.vote_reasons else "",
            about=ask.about,
            speaker=name_of(statement.speaker) if statement else "?",
            said=spoken(statement.text, WHOLE) if statement else "?",
        )
    if ask.legal is not None:
        yield f"One of: {names_of(ask.legal)}"


def _proposed(view: SeatView) -> Iterator[str]:
    for seat, proposal in view.proposals().items():
        word = printable(proposal.word)
        verb = "propose" if seat == view.me else "proposes"
        yield f"So far {name_or_you(view, seat)} {verb} {name_of(proposal.target)}" + (f": “{word}”" if word else "")


def prompt_for(ask: Ask, seconds: float) -> str:
    """Return what stands before the person's words: what is asked, and the time left in seconds."""
    return f"{_KINDS[ask.kind].noun} ({seconds_in_words(seconds)} left, ? for help) >"


def help_in_words(ask: Ask, view: SeatView) -> Iterator[str]:
    """Return how to answer this question."""
    for line in _KINDS[ask.kind].help:
        yield line.format(bid_max=view.config.bid_max, kinds=", ".join(KINDS_TYPED))
    if ask.legal is not None:
        yield _WORDS.names
    if empty_is_legal(ask):
        yield f"An empty line or Ctrl-D counts as {COUNTS_AS[ask.kind]}."
    else:
        yield f"You have to choose; Ctrl-D gives up, and counts as {COUNTS_AS[ask.kind]}."
    yield _WORDS.commands


def empty_is_legal(ask: Ask) -> bool:
    """Return whether an empty line may stand for the default: at night only where nobody is a choice."""
    return ask.kind not in ACTS or None in (ask.legal or ())


class UnreadNews:
    """Tells a seat's view piece by piece.

    Attributes:
        lines: every line so far.
    """

    def __init__(self) -> None:
        self.lines: list[str] = []
        self._public = 0
        self._private = 0

    def since(self, view: SeatView) -> list[str]:
        """Return what is new in a view since the last call."""
        lines = [] if self.lines else list(_seat_in_words(view))
        lines += [line for fact in view.public[self._public :] for line in _fact_in_words(view, fact)]
        lines += [line for memory in view.private[self._private :] for line in _memory_in_words(view, memory)]
        # one that is asked about an earlier moment knows less
        self._public, self._private = (
            max(self._public, len(view.public)),
            max(self._private, len(view.private)),
        )
        self.lines += lines
        return lines


def _seat_in_words(view: SeatView) -> Iterator[str]:
    yield f"You are {name_of(view.me)}. Your role: {view.role}."
    if view.partners:
        yield f"Your partners: {names_of(view.partners)}."
    yield f"At the table: {names_of(view.names)}."
    config = view.config
    yield "Roles in the game: " + ", ".join(f"{role} × {config.count(role)}" for role in ROLES if config.count(role))


def _fact_in_words(view: SeatView, fact: PublicFact | Part) -> Iterator[str]:
    if isinstance(fact, Statement):
        yield f"  #{fact.statement} {name_or_you(view, fact.speaker)}{_vote(view, fact)}: “{spoken(fact.text, WHOLE)}”"
    elif isinstance(fact, Silence):
        verb = "have" if fact.seat == view.me else "has"
        yield f"  {name_or_you(view, fact.seat)} {verb} the floor and say{'' if fact.seat == view.me else 's'} nothing."
    elif isinstance(fact, Tally):
        yield from _tally_in_words(view, fact)
    elif isinstance(fact, Departing):
        yield from _departure_in_words(view, fact)
    elif isinstance(fact, Ended):
        how = f"{_WORDS.winners[fact.winner or 'nobody']}, {_WORDS.endings[fact.reason]}"
        yield f"The game is over after {counted(fact.rounds, 'round')}: {how}."
        if fact.winner is not None:
            yield f"You were {with_article(view.role)}: you {'win' if fact.winner == team_of(view.role) else 'lose'}."
    elif isinstance(fact, Revealed):
        yield "Who was who: " + ", ".join(f"{name_of(name)} {role}" for name, role in fact.roles.items()) + "."
    else:
        yield f"{in_plain_words(plain(fact))}."


def _departure_in_words(view: SeatView, fact: Departing) -> Iterator[str]:
    """Yield who leaves the game by a fact; and to who it is, what comes of that."""
    departed = departure(fact)
    who = "nobody" if departed is None else name_or_you(view, departed.seat)
    role_or_team = f" ({departed.revealed})" if departed is not None and departed.revealed is not None else ""
    if isinstance(fact, Dawn):
        yield f"Night {fact.round} is over: {who} died{role_or_team}."
        by = f"The Werewolves killed you in night {fact.round}"
    else:
        words = departure_in_words(fact, who)
        yield f"{words[:1].upper()}{words[1:]}{role_or_team}."
        by = "" if departed is None else f"You were {departed.way.fate_in(departed.round)}"
    if departed is None or departed.seat != view.me:
        return
    if isinstance(fact, Exile):
        against = [name for name, target in view.tallies.get(fact.round, {}).items() if target == view.me]
        by += f" by {counted(len(against), 'vote')}: {names_of(against)}"
    acts_by_day = any(act.span == "day" for act in FACTS[view.role].acts.values())
    yield f"{by}. {_WORDS.out.format(asked='' if acts_by_day else ' and asked nothing more')}"


def _vote(view: SeatView, statement: Statement) -> str:
    votes = view.tallies.get(statement.round, {})
    if statement.phase != "vote" or statement.speaker not in votes:
        return ""
    target = votes[statement.speaker]
    return " (abstaining)" if target is None else f" (voting for {name_or_you(view, target)})"


def _tally_in_words(view: SeatView, tally: Tally) -> Iterator[str]:
    voters: dict[SeatName | None, list[SeatName]] = {}
    for voter, target in tally.votes.items():
        voters.setdefault(target, []).append(voter)
    yield f"The votes of day {tally.round} ({counted(tally.needed, 'vote')} needed):"
    for target, names in sorted(voters.items(), key=lambda item: (item[0] is None, -len(item[1]))):
        whom = "abstaining" if target is None else f"for {name_or_you(view, target)}"
        yield f"  {len(names)} {whom}: {', '.join(name_or_you(view, name) for name in names)}"


def _memory_in_words(view: SeatView, memory: Memory | Part) -> Iterator[str]:
    if isinstance(memory, Inspection):
        yield f"You inspected {name_of(memory.target)}: {with_article(memory.role)}."
    elif isinstance(memory, Whispered):
        word = printable(memory.word)
        yield f"{name_of(memory.seat)} whispers: {name_of(memory.target)}" + (f", “{word}”" if word else "")
    elif isinstance(memory, OwnJudgement):
        yield f"Counted: {judgement_in_words(memory, view, memory.statement)}"
    elif isinstance(memory, OwnAnswer):
        yield from _own_answer(view, memory)
    else:
        yield f"Only you learn: {in_plain_words(plain(memory))}."


def _own_answer(view: SeatView, answer: OwnAnswer) -> Iterator[str]:
    about = f" of #{answer.about}" if answer.about is not None else ""
    if answer.content is None:
        how = "came too late" if answer.outcome == "timed_out" else "was not given"
        yield f"Your {_KINDS[answer.kind].noun}{about} {how}: it counts as {COUNTS_AS[answer.kind]}."
    elif answer.kind not in {"speak", "vote"}:
        # what was said and how everybody voted stands among the public facts
        yield f"Counted: {content_in_words(answer.content, view, answer.about)}"


def table_in_words(view: SeatView) -> Iterator[str]:
    """Return the lines of the table, from nothing but the seat's view."""
    width = max((columns_of(name_of(name)) for name in view.names), default=0)
    yield f"Round {view.round}, as {name_of(view.me)} ({view.role}) sees it"
    for name in view.names:
        how = view.departures[name].way.fate if name in view.dead else "alive"
        column = in_columns(name_of(name), width)
        yield f"  {column}  {how:<15}  {_role_known(view, name):<23}  {_suspected(view, name)}".rstrip()
    for round_, votes in view.tallies.items():
        cast = "; ".join(
            f"{name_or_you(view, voter)} → {name_or_you(view, target) if target is not None else 'nobody'}"
            for voter, target in votes.items()
        )
        yield f"  Votes of day {round_}: {cast}"
    for round_, name in view.protections:
        yield f"  You protected {'yourself' if name == view.me else name_of(name)} in night {round_}."
    for seat, proposal in view.proposals().items():
        yield f"  {name_or_you(view, seat)} proposed {name_of(proposal.target)} this night."


def _role_known(view: SeatView, name: SeatName) -> str:
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
