"""Whole games on the rules alone, and the prompts that language models in every seat would be sent in them."""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from players.llm.prompts.writer import Prompt, PromptWriter
from tests.game import driver
from tests.game.driver import Given, Missing, Question, ask_of, legal_answer, questions
from tests.players.table import CONFIGS as RULES
from tests.players.table import Hearers
from wolfbus.game.config import GameConfig
from wolfbus.game.draws import draw
from wolfbus.knowledge.audience import AudienceFilter
from wolfbus.knowledge.view import SeatView
from wolfbus.messages.content import Judgement, Label, Proposal, Speech
from wolfbus.messages.events import Answered, AnyEvent, Asked
from wolfbus.messages.requests import Ask

Watch = Callable[[str, tuple[Ask, ...], SeatView], None]
"""Is shown a seat, what one delivery asks of it, and what it knows; the view changes afterwards."""
Private = Callable[[str, str, str], str]
"""Makes the words of a private field: of a seat, in answer to a kind of question, for a field."""
Assessed = Label | Judgement

CONFIGS = {
    **RULES,
    "many": GameConfig(villagers=6, werewolves=4, seers=2, doctors=2, whispers=3),
    "compact": GameConfig(protocol="compact", max_rounds=3),
    "no debate": GameConfig(debate_turns=0),
}
CANARY = re.compile(r"CANARY\|([^|]+)\|(\w+)\|(\w+)\|")


def canary(seat: str, kind: str, field: str) -> str:
    return f"CANARY|{seat}|{kind}|{field}|"


def play(
    watch: Watch,
    config: GameConfig | None = None,
    seed: str = "1",
    private: Private = canary,
    say: Callable[[Question], str] = lambda question: f"I am {question.seat}; this is turn {question.turn}.",
    assess: Callable[[Question, Assessed], Assessed] = lambda _, content: content,
    missing: float = 0.05,
    events: list[AnyEvent] | None = None,
) -> list[AnyEvent]:
    """Play a game.

    Args:
        watch: is shown every delivery of requests.
        config: the rules.
        seed: of the draws, and of the answers.
        private: makes the words of private fields.
        say: makes statements.
        assess: may change what is thought of a statement.
        missing: share of requests that get no usable answer.
        events: takes in all that happened before what is watched.
    """

    def answer(question: Question) -> Given:
        purpose = f"missing|{question.seat}|{question.kind}|{question.about}"
        if draw(seed, purpose, question.round, question.turn) % 1000 < 1000 * missing:
            return Missing("defaulted", "unparseable")
        content = legal_answer(question, seed)
        if isinstance(content, Speech):
            return Speech(text=say(question))
        if isinstance(content, Assessed):
            reasoning = private(question.seat, question.kind, "reasoning")
            return assess(question, content.model_copy(update={"reasoning": reasoning}))
        if isinstance(content, Proposal):
            return content.model_copy(update={"word": private(question.seat, question.kind, "word")})
        return content

    events = [] if events is None else events
    pending: dict[str, list[Ask]] = {}
    table = Hearers()
    for event in driver.play(config, seed, answer).events:
        if isinstance(event, Answered):
            for seat, asks in pending.items():
                watch(seat, tuple(asks), table.views[seat])
            pending.clear()
            words = {name: private(event.seat, event.kind, name) for name in ("thought", "raw", "note")}
            event = event.model_copy(update=words)  # noqa: PLW2901 - with the words that no rule looks at
        events.append(event)
        table.tell(event)
        if isinstance(event, Asked):
            for question, _ in questions(event):
                pending.setdefault(question.seat, []).append(ask_of(question))
    return events


def view_of(seat: str, events: Iterable[AnyEvent]) -> SeatView:
    """What a seat knows after these events, told as a catch-up does: first all that is public."""
    audiences, view = AudienceFilter(), SeatView(me=seat)
    parts = [audiences.feed(event) for event in events]
    for news in (news for part in parts for news in part.public):
        view.hear_public(news)
    for private in (private for part in parts for name, private in part.private if name == seat):
        view.hear_private(private)
    return view


@dataclass
class Calls:
    """Writes a prompt for every call; one question a call, or as the compact protocol has it."""

    written: list[tuple[str, tuple[Ask, ...], Prompt]] = field(default_factory=list)
    writers: dict[str, PromptWriter] = field(default_factory=dict)

    def __call__(self, seat: str, asks: tuple[Ask, ...], view: SeatView) -> None:
        writer = self.writers.setdefault(seat, PromptWriter())
        for group, labels in groups(asks, view):
            self.written.append((seat, group, writer.write(group, view, with_label=labels)))

    @property
    def prompts(self) -> list[Prompt]:
        return [prompt for _, _, prompt in self.written]


def groups(asks: Iterable[Ask], view: SeatView) -> list[tuple[tuple[Ask, ...], bool]]:
    if view.config.protocol == "paper":
        return [((ask,), False) for ask in asks]
    together = tuple(ask for ask in asks if ask.kind in {"bid", "assess_other", "assess_own"})
    alone = [ask for ask in asks if ask not in together]
    spoken = [((ask,), ask.kind == "speak" or (ask.kind == "vote" and view.config.vote_reasons)) for ask in alone]
    return [*([(together, False)] if together else []), *spoken]


def contents(prompt: Prompt) -> list[tuple[str, str]]:
    return [(message.role, message.content) for message in prompt.messages]


def whole(prompt: Prompt) -> str:
    return "".join(message.content for message in prompt.messages)
