"""A person answers for a seat: `HumanBrain` at the terminal, `PageBrain` at a page."""

from __future__ import annotations

import copy
import logging
import threading
import time
import weakref
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, Final

from players.human.terminal import Keyboard, NoLine, Screen
from players.human.typed import Typo, answer_typed, room_for_words
from players.human.words import (
    COUNTS_AS,
    UnreadNews,
    content_in_words,
    default_of,
    empty_is_legal,
    help_in_words,
    prompt_for,
    question_in_words,
    table_in_words,
)
from wolfbus.agent import NO_ANSWER, Agent, Answer
from wolfbus.agent.answer import answer_of, labelled, pack_reply
from wolfbus.agent.outbox import Replies
from wolfbus.errors import PlayerError
from wolfbus.files.printable import counted, error_in_words, name_of, printable, storable
from wolfbus.game.config import GameConfig, rules_text
from wolfbus.knowledge.view import Memory, SeatView
from wolfbus.messages.content import Ballot, Bid, Choice, Consent, Proposal, published_words
from wolfbus.messages.requests import Ask, Private, Public, PublicFact

if TYPE_CHECKING:
    from wolfbus.stage.people import People, PersonSeat

logger = logging.getLogger(__name__)

_AS_TYPED: Final = frozenset({"bid", "speak"})
"""Kinds whose content is what was typed: the line need not be kept beside it."""


_LAST_NEWS_S: Final = 2.0
"""Seconds in which the last news should be on the screen."""


@dataclass(frozen=True, slots=True)
class _OpenQuestion:
    ask: Ask
    view: SeatView
    received_at: float
    """When it came, on the clock of `time.monotonic`."""
    replies: Replies

    @property
    def away(self) -> bool:
        """Whether the game has stopped waiting for this seat, so that even a late answer is worth having."""
        return self.ask.deadline_s < self.view.config.deadlines.of(self.ask.kind)

    @property
    def due(self) -> float:
        """When the moderator stops waiting."""
        return self.received_at + self.ask.deadline_s


class HumanBrain(Agent):
    """Asks a person at the terminal, one question after the other.

    The person sees what the seat may know and nothing else: what is new since the last question, then the question,
    what may be answered and the time left. A line that cannot be read is told and asked for again. When the time is up
    a half-typed line is dropped. Once the seat is out of the game, its person is told how, and sees all that everybody
    may know as it happens, to the end. A person who is away is asked the newest question with its full time, since an
    answer that comes too late still makes the game wait again. At the end of the input every further question gets the
    conservative default at once.

    Raises:
        PlayerError: somebody plays at this terminal already, or there is no keyboard.
    """

    _seated: ClassVar[weakref.WeakValueDictionary[tuple[int, int], HumanBrain]] = weakref.WeakValueDictionary()
    """Who sits at which terminal. A brain that is gone has left its seat, closed or not."""
    _seating: ClassVar[threading.Lock] = threading.Lock()

    def __init__(self) -> None:
        self._keyboard = Keyboard()
        with self._seating:
            if self._keyboard.place in self._seated:
                raise PlayerError("only one person can play at one terminal")
            self._seated[self._keyboard.place] = self
        self._screen = Screen()
        self._news = UnreadNews()
        self._view: SeatView | None = None
        self._ended = False
        self._missed = 0
        self._changed = threading.Condition()
        self._questions: deque[_OpenQuestion] = deque()
        self._unshown: SeatView | None = None
        """What a person who is asked nothing any more may see, and was not shown yet."""
        self._closed = False
        self._thread: threading.Thread | None = None

    def start(self, asks: tuple[Ask, ...], view: SeatView, replies: Replies, /) -> None:
        """Put the questions of one delivery before the person, after those that wait already."""
        now, view_now = time.monotonic(), snapshot(view)
        with self._changed:
            if self._closed:
                return
            self._view = view
            self._questions += [_OpenQuestion(ask, view_now, now, replies) for ask in asks]
            self._wake(view)

    def heard(self, _news: Sequence[PublicFact | Memory], view: SeatView, /) -> None:
        """Show what happens to a person whose seat is out of the game; others see it with their next question."""
        with self._changed:
            if self._closed:
                return
            self._view = view
            if view.death is not None:
                self._unshown = snapshot(view)
                self._wake(view)

    def close(self) -> None:
        """Take the person from the table, with the last news; the terminal is free for somebody else."""
        with self._changed:
            if self._closed:
                return
            self._closed = True
            self._questions.clear()
            self._changed.notify()
        self._keyboard.close()
        if self._thread is None:
            self._show_last_news()
        elif self._thread is not threading.current_thread():
            # a terminal that was stopped holds up whoever writes to it, and should not hold up more
            self._thread.join(_LAST_NEWS_S)
        with self._seating:
            if self._seated.get(self._keyboard.place) is self:
                del self._seated[self._keyboard.place]

    def _wake(self, view: SeatView) -> None:
        self._changed.notify()
        if self._thread is None:
            # a daemon: nobody waits for a person when the process ends
            self._thread = threading.Thread(target=self._run, name=f"human-{view.me}", daemon=True)
            self._thread.start()

    def _run(self) -> None:
        while (question := self._next()) is not None:
            if isinstance(question, SeatView):
                self._screen.say(self._news.since(question))
                continue
            try:
                answer = self._ask(question)
            except Exception as error:
                logger.exception("%s: the person could not be asked", question.view.me)
                note = f"the person could not be asked: {error_in_words(error)}"
                answer = Answer(None, fault="failed", note=note[:300])
            question.replies.answer(question.ask, answer)
        self._show_last_news()

    def _show_last_news(self) -> None:
        """Tell the last news: the end of the game is nothing that anybody is asked about."""
        if self._view is not None:
            self._screen.say(["", *self._news.since(self._view)])

    def _next(self) -> _OpenQuestion | SeatView | None:
        """Return the next question that is still worth an answer, or what is to be seen where none waits; None at the
        end.
        """
        with self._changed:
            while True:
                while not self._questions and self._unshown is None and not self._closed:
                    self._changed.wait()
                if self._closed:
                    return None
                if not self._questions:
                    view, self._unshown = self._unshown, None
                    return view
                question = self._questions.popleft()
                newest = not self._questions
                if time.monotonic() < question.due or (newest and question.away) or self._ended:
                    return question
                self._missed += 1

    def _ask(self, question: _OpenQuestion) -> Answer:
        ask, view = question.ask, question.view
        if self._ended:
            return default_of(ask, "failed")
        due = time.monotonic() + view.config.deadlines.of(ask.kind) if question.away else question.due
        self._screen.say(["", *self._news.since(view)])
        if self._missed:
            self._screen.say([f"{counted(self._missed, 'question')} went by without you."], "yellow")
            self._missed = 0
        if question.away:
            away = "The game goes on without you; any answer, however late, makes it wait for you again."
            self._screen.say([away], "yellow")
        self._keyboard.flush()
        heading, *lines = question_in_words(ask, view)
        self._screen.say([heading], "bold")
        self._screen.say(lines)
        answer = self._await_answer(ask, view, due)
        words = published_words(answer.content) if view.config.labels_words else ""
        return answer if not words else self._with_label(answer, words, ask, view, due)

    def _with_label(self, answer: Answer, words: str, ask: Ask, view: SeatView, due: float) -> Answer:
        """Have words labelled before anybody hears them; they go without a label where none comes."""
        label_ask, view_after = view.imagined(ask, words)
        self._screen.say(question_in_words(label_ask, view_after))
        return labelled(answer, self._await_answer(label_ask, view_after, due, (ask, answer)))

    def _await_answer(self, ask: Ask, view: SeatView, due: float, carrier: tuple[Ask, Answer] | None = None) -> Answer:
        """Return what the person answers; a label stands in the reply of the words that are its `carrier`."""
        while True:
            self._screen.prompt(prompt_for(ask, due - time.monotonic()))
            typed = self._keyboard.read_line(due)
            if isinstance(typed, str):
                self._screen.say([""])
                if typed != "long":
                    return self._without_line(typed, ask)
                self._screen.say(["That line is too long."], "yellow")
                continue
            if not self._keyboard.is_terminal:
                # nobody else ends the line of the prompt
                self._screen.say([""])
            # what nobody can see is as good as blank
            line = typed.text.strip() if printable(typed.text) else ""
            if line in (ask.legal or ()) or not self._run_command(line, ask, view):
                answer = self._read(line, ask, view, carrier)
                if answer is not None:
                    return answer

    def _read(self, line: str, ask: Ask, view: SeatView, carrier: tuple[Ask, Answer] | None) -> Answer | None:
        """Return the answer that a line is; None after telling what is wrong with it."""
        if not line:
            if empty_is_legal(ask):
                self._screen.say([f"That counts as {COUNTS_AS[ask.kind]}."])
                return default_of(ask)
            self._screen.say(["You have to choose somebody (Ctrl-D gives up)."], "yellow")
            return None
        content = answer_typed(line, ask, view)
        if isinstance(content, Typo):
            self._screen.say([content.why], "yellow")
            return None
        answer = Answer(content, raw=None if ask.kind in _AS_TYPED else line)
        request, whole = (ask, answer) if carrier is None else (carrier[0], labelled(carrier[1], answer))
        try:
            pack_reply(self.game, self.seat, request, whole, view.config.max_reply_bytes)
        except ValueError as error:
            self._screen.say([f"That is too long: {error}."], "yellow")
            return None
        self._screen.say([content_in_words(content, view, ask.about)], "dim")
        return answer

    def _run_command(self, line: str, ask: Ask, view: SeatView) -> bool:
        """Do what a command says; return whether the line was one."""
        if line == "?":
            self._screen.say(help_in_words(ask, view))
        elif line == "view":
            self._screen.say(table_in_words(view))
        elif line == "log":
            self._screen.say(self._news.lines)
        elif line == "rules":
            self._screen.say(rules_text(view.config).splitlines())
        else:
            return False
        return True

    def _without_line(self, reason: NoLine, ask: Ask) -> Answer:
        if reason == "closed":
            return NO_ANSWER
        if reason == "late":
            self._screen.say([f"Time is up: this counts as {COUNTS_AS[ask.kind]}."], "yellow")
            return NO_ANSWER
        if reason == "ended":
            self._ended = True
            self._screen.say(["Your input has ended: every question from here on gets the default."], "yellow")
            return default_of(ask, "failed")
        self._screen.say([f"That counts as {COUNTS_AS[ask.kind]}."])
        return default_of(ask)


def snapshot(view: SeatView) -> SeatView:
    """Return a view that knows what this one knows now, and learns nothing more; facts are shared."""
    copied = copy.copy(view)
    for field in fields(view):
        value = getattr(view, field.name)
        if isinstance(value, list | dict):
            setattr(copied, field.name, value.copy())
    copied.suspicion = copy.deepcopy(view.suspicion)
    return copied


class PageBrain(Agent):
    """Puts a seat's requests on a page, all at a time, and sends what the person there answers, in any order.

    The page shows what the seat may know and nothing else. A request that nobody answers times out; the newest stays
    on the page even then, since an answer that comes too late still makes the game wait for this seat again.

    Args:
        people: who plays at the pages of this process.
    """

    def __init__(self, people: People) -> None:
        self._people = people
        self._person_seat: PersonSeat | None = None

    @property
    def _person(self) -> PersonSeat:
        if self._person_seat is None:
            self._person_seat = self._people.sit(self.game, self.seat)
        return self._person_seat

    def received(self, facts: Sequence[Public], private: Sequence[Private], /) -> None:
        """Show facts."""
        self._person.add_facts(facts, private)

    def start(self, asks: tuple[Ask, ...], view: SeatView, replies: Replies, /) -> None:
        """Put the questions of one delivery on the page."""
        from wolfbus.stage.people import PersonRequest  # of pages a terminal needs nothing

        take = partial(_answer_from_page, self.game, self.seat, replies, view.config)
        self._person.add_questions(
            [
                PersonRequest(ask, tuple(question_in_words(ask, view))[1:], COUNTS_AS[ask.kind], partial(take, ask))
                for ask in asks
            ]
        )

    def ended(self, _view: SeatView, /) -> None:
        """Ask nothing more."""
        self._person.leave()


def _answer_from_page(
    game: str,
    seat: str,
    replies: Replies,
    config: GameConfig,
    ask: Ask,
    members: dict[str, Any] | None,
    thought: str | None,
    consent: Consent | None,
) -> str | None:
    """Send an answer; returns what is wrong with it, None if nothing is."""
    if members is None:
        return _sent(game, seat, replies, config, ask, replace(default_of(ask), consent=consent))
    try:
        content = answer_of(ask.kind, members).content
    except (TypeError, ValueError) as error:
        return str(error)
    if isinstance(content, Bid) and not 0 <= content.bid <= config.bid_max:
        return f"a bid is a whole number from 0 to {config.bid_max}"
    if not config.may_be_said(published_words(content)):
        return f"a statement has at most {config.max_statement} characters"
    if isinstance(content, Ballot | Choice | Proposal) and ask.legal is not None and content.target not in ask.legal:
        return f"{name_of(content.target)} cannot be chosen here"
    thought, room = storable(thought or ""), room_for_words(config)
    # names and kinds with them, and claims, which no page sends
    values = (thought, *(vars(content).values() if content is not None else ()))
    words = "".join(str(value) for value in values if isinstance(value, str | tuple) and value)
    if len(words.encode()) > room:
        return f"that is too long; {room} bytes are read at most"
    return _sent(game, seat, replies, config, ask, Answer(content, thought=thought or None, consent=consent))


def _sent(game: str, seat: str, replies: Replies, config: GameConfig, ask: Ask, answer: Answer) -> str | None:
    """Send an answer; returns that it is too long where no reply can hold it, None if it is sent."""
    try:
        pack_reply(game, seat, ask, answer, config.max_reply_bytes)
    except ValueError as error:
        return f"that is too long: {error}"
    replies.answer(ask, answer)
    return None
