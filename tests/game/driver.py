"""Plays the pure game without bus, clock or thread: answers come from a function, or legal ones from the seed."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from moderator.engine.reexecution import Verifier
from moderator.rules.game import Steps, deal
from wolfbus.agent import Answer
from wolfbus.game.config import GameConfig
from wolfbus.game.draws import draw
from wolfbus.game.vocabulary import Fault, Kind, Outcome, Phase
from wolfbus.messages.content import Ballot, Bid, Choice, Content, Judgement, Label, Proposal, Speech
from wolfbus.messages.events import ANSWERED, AnyAnswered, AnyEvent, Asked, Asking, Ended, NightOutcome, Opened, Seat
from wolfbus.messages.requests import Ask
from wolfbus.record.reader import RecordReader


@dataclass(frozen=True)
class Question:
    """One request as a test sees it."""

    kind: Kind
    seat: str
    round: int
    turn: int
    about: int | None
    legal: tuple[str | None, ...] | None
    phase: Phase = "debate"


@dataclass(frozen=True)
class Missing:
    """A request that got no usable answer."""

    outcome: Outcome = "timed_out"
    fault: Fault | None = None


def ask_of(question: Question, game: str = "game-id") -> Ask:
    """What an agent would be asked."""
    about = "" if question.about is None else f"/{question.about}"
    return Ask(
        id=f"{game}/{question.round}/{question.phase}/{question.turn}/{question.kind}/{question.seat}{about}",
        kind=question.kind,
        round=question.round,
        phase=question.phase,
        turn=question.turn,
        about=question.about,
        legal=question.legal,
        deadline_s=60.0,
    )


Given = Content | Missing | Answer
Answerer = Callable[[Question], Given | None]
"""Returns an answer, or None to leave it to the seed."""


@dataclass
class Played:
    """A whole game and what tests ask of it."""

    events: list[AnyEvent]
    questions: list[Question] = field(default_factory=list)

    def of(self, *types: str) -> list[AnyEvent]:
        return [event for event in self.events if event.type in types]

    @property
    def opened(self) -> Opened:
        first = self.events[0]
        assert isinstance(first, Opened)
        return first

    @property
    def ended(self) -> Ended:
        last = self.events[-1]
        assert isinstance(last, Ended)
        return last

    @property
    def roles(self) -> dict[str, str]:
        return {seat.name: seat.role for seat in self.opened.seats}

    @property
    def nights(self) -> dict[int, NightOutcome]:
        return {event.round: event for event in self.events if isinstance(event, NightOutcome)}

    def asked(self, kind: Kind, round_: int | None = None) -> list[Question]:
        return [q for q in self.questions if q.kind == kind and (round_ is None or q.round == round_)]


NAMES = ("Wim", "Wes", "Sia", "Doc", "Vic", "Val", "Vox", "Von")
TABLE = GameConfig(
    names=NAMES, roles=dict(zip(NAMES, ("Werewolf", "Werewolf", "Seer", "Doctor", *["Villager"] * 4), strict=True))
)


def hunting(
    prey: dict[int, str], protect: dict[int, str] | None = None, votes: dict[int, str] | None = None
) -> Answerer:
    """Wolves go for `prey` by round, the doctor protects by round, everybody votes by round; otherwise nobody is
    exiled."""

    def answer(question: Question) -> Given | None:
        if question.kind in {"whisper", "kill"} and prey.get(question.round) in question.legal:
            target = prey[question.round]
            return Proposal(target=target) if question.kind == "whisper" else Choice(target=target)
        if question.kind == "protect" and (protect or {}).get(question.round) in question.legal:
            return Choice(target=protect[question.round])
        if question.kind == "vote":
            target = (votes or {}).get(question.round)
            return Ballot(target=target if target in question.legal else None)
        return None

    return answer


def opening(config: GameConfig, seed: str, *, in_house: bool = True) -> Opened:
    seats = tuple(
        Seat(name=name, role=role, agent="a", brain="test", in_house=in_house) for name, role in deal(config, seed)
    )
    return Opened(game="test", version="0", started=0.0, seed=seed, config=config, seats=seats)


def play(
    config: GameConfig | None = None,
    seed: str = "1",
    answer: Answerer = lambda _: None,
    *,
    tell: Callable[[AnyEvent], None] = lambda _: None,
    in_house: bool = True,
) -> Played:
    """Play a whole game; `tell` hears every event, before anybody answers what was asked with it."""
    opened = opening(config or GameConfig(), seed, in_house=in_house)
    steps = Steps(opened)
    played = Played([])
    step = steps.advance()
    answers: dict[int, dict[str, AnyAnswered]] = {}
    while True:
        played.events.extend(step.events)
        for event in step.events:
            tell(event)
        if step.ended is not None:
            return played
        for event in step.events:
            if isinstance(event, Asked):
                asked = [question for question, _ in questions(event)]
                played.questions.extend(asked)
                answers[event.batch] = {q.seat: answered(event, q, answer(q), seed) for q in asked}
        step = steps.advance({number: answers.pop(number) for number in step.waits_for})


def questions(asked: Asked) -> Iterator[tuple[Question, Asking]]:
    for asking in asked.asks:
        for seat in asking.seats:
            yield Question(asking.kind, seat, asked.round, asked.turn, asked.about, asking.legal, asked.phase), asking


def answered(asked: Asked, question: Question, given: Given | None, seed: str) -> AnyAnswered:
    content = given if given is not None else legal_answer(question, seed)
    fields = {"batch": asked.batch, "seat": question.seat, "about": question.about}
    if isinstance(content, Answer):
        content, fields["thought"] = content.content, content.thought
    if isinstance(content, Missing):
        return ANSWERED[question.kind](**fields, outcome=content.outcome, fault=content.fault)
    return ANSWERED[question.kind](**fields, outcome="accepted", reading="clean", content=content)


def legal_answer(question: Question, seed: str) -> Content:
    """Return some legal answer; a pure function of the question and the seed."""

    def number(below: int, n: int) -> int:
        purpose = f"{question.seat}|{question.kind}|{question.about}"
        return draw(seed, purpose, question.round, question.turn, n) % below

    kind = question.kind
    if kind == "bid":
        return Bid(bid=number(11, 0))
    if kind == "speak":
        return Speech(text=f"I am {question.seat}.")
    deceptive = number(2, 0) == 1
    deception = "omission" if deceptive else "none"
    if kind == "assess_own":
        return Label(deceptive=deceptive, confidence=0.5, kind=deception)
    if kind == "assess_other":
        return Judgement(deceptive=deceptive, suspicion=number(101, 1) / 100, confidence=0.5, kind=deception)
    assert question.legal
    target = question.legal[number(len(question.legal), 0)]
    if kind == "vote":
        return Ballot(target=target, reason="A feeling." if number(2, 1) else None)
    if kind == "whisper":
        return Proposal(target=target, word="this one")
    return Choice(target=target)


def verify(lines: Sequence[bytes]) -> Verifier:
    """Check the lines of a record and re-execute them; raises RecordError at the first that differs."""
    verifier = Verifier()
    for recorded in RecordReader(lines):
        verifier.feed(recorded)
    return verifier
