"""`Story`: all that one seat knows, as text in the order in which it learned it.

It begins with the system message, which is the same for every seat: what this is, how to read it, how to reply, the
rules, the players. The role card says who one is and what serves one's side (paper, section 4.3); incentives, never an
order to deceive. The text only grows, so a server that keeps the beginnings of prompts computes each line once. With
``memory = "brief"`` it is told anew once a day: at dawn, all since the last dawn gives way to its public lines, what
happened at night, and one line of judgements. What stands before that stays as it was.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Final, TypeAlias

from players.llm.prompts.quoting import quoted, quoted_statement
from players.llm.prompts.style import STANDARD, Style
from wolfbus.files.printable import in_plain_words, with_article
from wolfbus.game.config import GameConfig, rules_text
from wolfbus.game.roles import ACTS, FACTS
from wolfbus.game.vocabulary import Ending
from wolfbus.knowledge.departure import Departure, departure, departure_in_words
from wolfbus.knowledge.view import Memory, OwnAnswer, OwnJudgement, SeatView
from wolfbus.messages.base import Part, SeatName
from wolfbus.messages.calls import PromptText, segment_hash
from wolfbus.messages.codec import plain
from wolfbus.messages.content import CONTENT, Ballot, Choice, Label, Proposal, Speech
from wolfbus.messages.events import Dawn, Departing, Ended, Exile, Inspection, PrivateEvent, Silence, Statement, Tally
from wolfbus.messages.requests import PublicFact, Revealed, Whispered


@lru_cache(maxsize=64)
def system_text(config: GameConfig, names: tuple[SeatName, ...], style: Style = STANDARD) -> str:
    """Return the system message of a game.

    Args:
        config: its rules, as seats know them.
        names: all players in seating order.
        style: how it is said.
    """
    words = style.words
    frame = (
        words.frame.replace("{again}", words.again[config.memory])
        .replace("{remembered}", words.remembered if config.feeds_back else "")
        .replace("{assessing}", words.assessing if config.assess == "live" else "")
    )
    rules = rules_text(config, technical=False)
    line = "" if style.instructions is None else f"\n{style.instructions}\n"
    players = f"\nLiving players as it begins, in seating order: {', '.join(names)}.\n"
    return f"{style.skin(names).to_theme(f'{frame}{rules}')}{line}{players}"


def role_card(view: SeatView) -> str:
    """Return the text of a seat's role; it never changes during a game."""
    article = "the" if view.config.count(view.role) == 1 else "a"
    partners = ""
    if view.role == "Werewolf" and view.partners:
        partners = f" Your partner{'s' if len(view.partners) > 1 else ''}: {', '.join(view.partners)}."
    return f"You are {view.me}, {article} {view.role}.{partners}\n{FACTS[view.role].goal}"


_ENDINGS: Final[dict[Ending, str]] = {
    "no_wolves_left": "No Werewolf lives: the villagers' side wins.",
    "wolves_reach_parity": "The Werewolves are as many as the others: they win.",
    "max_rounds": "The last day is over: nobody wins.",
}
_LINE: Final = 80
"""Characters of a reasoning that are shown of a day past."""


def public_piece(fact: PublicFact | Part, living: Sequence[SeatName], config: GameConfig) -> str:
    """Return what a public fact adds to a prompt: one line, behind a blank one at dawn, and who lives after a night and
    whenever somebody has left.

    Args:
        fact: what happened.
        living: who lives after it.
        config: the rules.
    """
    if isinstance(fact, Statement):
        vote = "" if fact.phase == "debate" else " (vote)"
        return f"[{fact.statement}] {fact.speaker}{vote}: {quoted_statement(fact.text)}\n"
    if isinstance(fact, Silence):
        return f"{fact.seat} had the floor and said nothing.\n"
    if isinstance(fact, Tally):
        return f"Vote of day {fact.round}, {fact.needed} votes exile: {_votes(fact.votes)}.\n"
    if isinstance(fact, Departing):
        return _departure_in_words(fact, living, config)
    if isinstance(fact, Ended):
        return f"The game is over. {_ENDINGS[fact.reason]}\n"
    if isinstance(fact, Revealed):
        # the seed, which this fact holds as well, would tell of things that nobody at the table knows
        return "The roles were: " + ", ".join(f"{name} {role}" for name, role in sorted(fact.roles.items())) + ".\n"
    return f"{in_plain_words(plain(fact))}.\n"


def _votes(votes: Mapping[SeatName, SeatName | None]) -> str:
    """Return who voted for whom, by whom was voted for."""
    voters: dict[SeatName | None, list[SeatName]] = {}
    for voter, target in sorted(votes.items()):
        voters.setdefault(target, []).append(voter)
    return "; ".join(f"for {_name(target)} {', '.join(voters[target])}" for target in voters)


def _living(names: Sequence[SeatName]) -> str:
    return f"Living players: {', '.join(names)}.\n"


def _name(name: SeatName | None) -> str:
    return "nobody" if name is None else name


def _departure_in_words(fact: Departing, living: Sequence[SeatName], config: GameConfig) -> str:
    departed = departure(fact)
    revealed = _revealed(departed, config)
    if isinstance(fact, Dawn):
        died = f"{_name(fact.died)} died in the night.{revealed}"
        return f"\nDawn of day {fact.round}: {died}\n{_living(living)}"
    day = f"End of day {fact.round}: " if isinstance(fact, Exile) else ""
    if departed is None:
        return f"{day}{departure_in_words(fact, 'nobody')}.\n"
    return f"{day}{departure_in_words(fact, departed.seat)}.{revealed}\n{_living(living)}"


def _revealed(departed: Departure | None, config: GameConfig) -> str:
    if departed is None or departed.revealed is None:
        return ""
    if departed.role is not None:
        return f" {departed.seat} was {with_article(departed.role)}."
    if config.accomplices:
        return f" {departed.seat} was on the {'Werewolves' if departed.team == 'werewolves' else 'villagers'}' side."
    return f" {departed.seat} was {'a' if departed.team == 'werewolves' else 'no'} Werewolf."


def private_piece(memory: Memory | Part) -> str:
    """Return what a memory adds to a prompt while it is new: one line, or "" where there is nothing to remember.

    Args:
        memory: one of `SeatView.private`.
    """
    if isinstance(memory, OwnJudgement):
        return f"- {_judged(memory)}{_quoted_reason(memory.reasoning)}{_thought(memory.thought)}\n"
    if isinstance(memory, Inspection):
        return f"- Night {memory.round}: your inspection shows that {memory.target} is {with_article(memory.role)}.\n"
    if isinstance(memory, Whispered):
        proposed = _proposed(memory.target, memory.word)
        return f"- Night {memory.round}, proposal {memory.turn}: {memory.seat} proposed {proposed}\n"
    line = _answered(memory) if isinstance(memory, OwnAnswer) else f"Only you know: {in_plain_words(plain(memory))}."
    return f"- {line}\n" if line else ""


def is_past(memory: Memory) -> bool:
    """Return whether a brief memory drops the line of a memory after its day: all but events that it alone learned of
    and what acts at night did.
    """
    return not isinstance(memory, PrivateEvent) and not (
        isinstance(memory, OwnAnswer) and CONTENT[memory.kind] is Choice
    )


def day_in_brief(memories: Sequence[Memory], view: SeatView) -> str:
    """Return what is left of a past day and the night behind it, beside the lines that stay: a line each.

    The night: whom each Werewolf proposed last. The day: every judgement in numbers, and of each player the last
    reasoning that found it deceptive. A statement's text, and who voted for whom, is public and stands above.

    Args:
        memories: those since dawn, in order.
        view: what the seat knows; only what cannot change any more is taken from it.
    """
    judged: dict[SeatName, list[OwnJudgement]] = {}
    labels: list[str] = []
    proposed: dict[str, str] = {}
    for memory in memories:
        if isinstance(memory, OwnJudgement):
            judged.setdefault(view.statements[memory.statement].speaker, []).append(memory)
        elif isinstance(memory, Whispered):
            proposed[memory.seat] = memory.target or "nobody"
        elif isinstance(memory, OwnAnswer) and isinstance(memory.content, Label):
            labels.append(f"[{memory.about}] {_kind(memory.content)}")
        elif isinstance(memory, OwnAnswer) and isinstance(memory.content, Proposal):
            proposed["you"] = memory.content.target or "nobody"
    parts = [
        f"{speaker} {', '.join(map(_numbers, judgements))}{_last_reason(judgements)}"
        for speaker, judgements in judged.items()
    ]
    if labels:
        parts.append(f"you {', '.join(labels)}")
    lines = [
        ("You judged: ", parts),
        ("Proposed at night: ", [f"{wolf} {target}" for wolf, target in proposed.items()]),
    ]
    return "".join(f"- {heading}{'; '.join(words)}.\n" for heading, words in lines if words)


def _last_reason(judgements: Sequence[OwnJudgement]) -> str:
    reasons = [judgement.reasoning for judgement in judgements if judgement.deceptive and judgement.reasoning.strip()]
    return f" {quoted(reasons[-1], _LINE)}" if reasons else ""


def _judged(memory: OwnJudgement) -> str:
    return f"[{memory.statement}] {_kind(memory)} {memory.suspicion:.2f}/{memory.confidence:.2f}"


def _numbers(memory: OwnJudgement) -> str:
    return _judged(memory).replace(" none ", " ")


def _kind(assessed: OwnJudgement | Label) -> str:
    """Return an assessment in a word."""
    if not assessed.deceptive:
        return "none"
    return "deceptive" if assessed.kind in {"none", "unspecified"} else assessed.kind


def _answered(memory: OwnAnswer) -> str:
    content, thought = memory.content, _thought(memory.thought)
    if isinstance(content, Speech | Ballot):
        # what was said, and who voted for whom, follows as a public line
        when = "before you spoke" if isinstance(content, Speech) else "at the vote"
        thought_line = f"Your thought {when}: {quoted(memory.thought)}" if thought and memory.thought else ""
        return " ".join(filter(None, (thought_line, _label_along(content.label))))
    if isinstance(content, Label):
        why = _quoted_reason(content.reasoning)
        return f"[{memory.about}] your own: {_kind(content)} {content.confidence:.2f}{why}{thought}"
    if isinstance(content, Proposal):
        return f"Night {memory.round}: you proposed {_proposed(content.target, content.word)}{thought}"
    if isinstance(content, Choice):
        act = ACTS[memory.kind]
        return f"{act.span.title()} {memory.round}: you chose {act.chosen} {content.target or 'nobody'}.{thought}"
    return _without_answer(memory, thought)


def _label_along(label: Label | None) -> str:
    """Return the label that a seat gave with its words."""
    if label is None:
        return ""
    return f"Your label of it: {_kind(label)} {label.confidence:.2f}{_quoted_reason(label.reasoning)}"


def _without_answer(memory: OwnAnswer, thought: str) -> str:
    """Return what there is to remember of a request that the conservative default was taken for."""
    if memory.kind == "speak":
        lapse = "you had the floor and said nothing"
    elif memory.kind == "vote":
        lapse = "you gave no valid vote, which counts as abstaining"
    elif memory.kind == "assess_own":
        return f"[{memory.about}] your own: no label.{thought}" if thought else ""
    elif memory.kind == "whisper":
        lapse = "you gave no valid proposal"
    else:
        lapse = f"you gave no valid answer whom {ACTS[memory.kind].chosen}"
    span = "day" if memory.kind in {"speak", "vote"} else ACTS[memory.kind].span
    return f"{span.title()} {memory.round}: {lapse}.{thought}"


def _proposed(target: SeatName | None, word: str) -> str:
    whom = f"to kill {'nobody' if target is None else target}"
    return f"{whom}, saying {quoted_statement(word)}" if word.strip() else f"{whom}."


def _quoted_reason(reasoning: str) -> str:
    return f" {quoted(reasoning)}" if reasoning.strip() else ""


def _thought(thought: str | None) -> str:
    return f" Thought: {quoted(thought)}" if thought and thought.strip() else ""


_Learned: TypeAlias = tuple[PublicFact | None, Memory | None, str]
"""A public fact or a memory, and its text."""


class Story:
    """One seat's story.

    Attributes:
        system: the system message.
        text: what follows it, so far.
        head: name of the last segment.
        chain: name of the segment that tells the seat its role; all its prompts hold that.
        reported: names of the segments that were given out.

    Args:
        style: how it is told.
        reported: those that an earlier story of the seat gave out, to be added to.
    """

    def __init__(self, style: Style = STANDARD, reported: set[str] | None = None) -> None:
        self._style = style
        self._to_theme: Callable[[str], str] = str
        self.system = self.text = self.head = self.chain = ""
        self._facts = self._memories = 0
        self.reported: set[str] = set() if reported is None else reported
        self._dead: set[SeatName] = set()
        self._since_dawn: list[_Learned] = []
        self._before_dawn = ("", "")

    def update(self, view: SeatView) -> list[PromptText]:
        """Add what is new in a view; returns segments that are new, each behind the one that it follows."""
        segments = [] if self.system else self._begin(view)
        dawn = len(segments)
        for fact, memory in self._news(view):
            if isinstance(fact, Dawn):
                if view.config.memory == "brief":
                    del segments[dawn:]
                    segments += self._shorten(view)
                self._since_dawn, self._before_dawn, dawn = [], (self.text, self.head), len(segments)
            piece = private_piece(memory) if memory is not None else "" if fact is None else self._public(fact, view)
            if piece:
                self._since_dawn.append((fact, memory, piece))
                segments.append(self._add(piece))
        fresh = [segment for name, segment in segments if name not in self.reported]
        self.reported.update(name for name, _ in segments)
        return fresh

    def _begin(self, view: SeatView) -> list[tuple[str, PromptText]]:
        self._to_theme = self._style.skin(view.names).to_theme
        self.system = system_text(view.config, view.names, self._style)
        self.head = system = segment_hash(None, "system", self.system)
        opening = self._add(f"{role_card(view)}\n")
        self.chain = self.head
        self._before_dawn = (self.text, self.head)
        return [(system, PromptText(role="system", text=self.system)), opening]

    def _news(self, view: SeatView) -> Iterator[tuple[PublicFact | None, Memory | None]]:
        """Yield public facts and memories that are new, in the order in which the seat learned them."""
        while self._facts < len(view.public) or self._memories < len(view.private):
            index = self._memories
            if index < len(view.private) and (
                view.private_after[index] <= self._facts or self._facts == len(view.public)
            ):
                self._memories += 1
                yield None, view.private[index]
            else:
                self._facts += 1
                yield view.public[self._facts - 1], None

    def _public(self, fact: PublicFact, view: SeatView) -> str:
        if (departed := departure(fact)) is not None:
            self._dead.add(departed.seat)
        return public_piece(fact, [name for name in view.names if name not in self._dead], view.config)

    def _shorten(self, view: SeatView) -> list[tuple[str, PromptText]]:
        """Tell all since the last dawn again, in brief."""
        section = self._since_dawn
        lasting = [piece for _, memory, piece in section if memory is None or not is_past(memory)]
        brief = day_in_brief([memory for _, memory, _ in section if memory is not None], view)
        self.text, self.head = self._before_dawn
        return [self._add(piece) for piece in (*lasting, brief) if piece]

    def _add(self, text: str) -> tuple[str, PromptText]:
        """Add a segment, in the theme's words; returns its name and itself."""
        after, text = self.head, self._to_theme(text)
        self.head = segment_hash(after, "user", text)
        self.text += text
        return self.head, PromptText(after=after, role="user", text=text)
