"""Brains without a thought: `RandomBrain` gives any legal answer, uniformly; `SilentBrain` none, so all times out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, TypeVar

from wolfbus.agent import NO_ANSWER, Agent, Answer
from wolfbus.claims import CHECKABLE
from wolfbus.game.draws import draw
from wolfbus.game.vocabulary import DECEPTIONS, ROLES
from wolfbus.knowledge.view import SeatView
from wolfbus.messages.base import SeatName
from wolfbus.messages.content import Ballot, Bid, Choice, Claim, Judgement, Label, Proposal, Speech
from wolfbus.messages.requests import Ask

T = TypeVar("T")

WORDS: Final = (
    "I", "we", "you", "nobody", "trust", "doubt", "saw", "heard", "think", "know", "night", "vote", "village",
    "Werewolf", "Seer", "Doctor", "Villager", "quiet", "loud", "strange", "never", "always", "perhaps", "is", "was",
    "the", "a", "and", "not", "because", "yesterday", "today",
)  # fmt: skip
"""Words that random statements are made of."""

STRANGE_WORDS: Final = ("naïve", "волк", "狼人", "🐺", "ذئب", "e\u0301te\u0301", "\u201cso\u201d", "—")
"""Now and then one of these: text is text in any script."""


class RandomBrain(Agent):
    """Answers at random, as a pure function of the brain's seed and the question."""

    quick = True

    def bid(self, ask: Ask, view: SeatView, /) -> Bid:
        """Bid anything from 0 to the highest bid."""
        return Bid(bid=_Dice(ask, view).below(view.config.bid_max + 1))

    def speak(self, ask: Ask, view: SeatView, /) -> Speech:
        """Say some words, and sometimes claim something beside them."""
        dice = _Dice(ask, view)
        text, claims = _words(dice, view), _claims(dice, view)
        return Speech(text=text, claims=claims, label=self._label_along(ask, view))

    def _label_along(self, ask: Ask, view: SeatView) -> Label | None:
        return self.assess_own(view.imagined(ask, "")[0], view) if view.config.labels_words else None

    def assess_own(self, ask: Ask, view: SeatView, /) -> Label:
        """Label the statement as anything."""
        dice = _Dice(ask, view)
        return Label(
            deceptive=bool(dice.below(2)),
            confidence=dice.below(101) / 100,
            kind=dice.one_of(DECEPTIONS),
            reasoning=dice.one_of(("", "as the dice fell")),
        )

    def assess_other(self, ask: Ask, view: SeatView, /) -> Judgement:
        """Judge the statement as anything."""
        dice = _Dice(ask, view)
        return Judgement(
            deceptive=bool(dice.below(2)),
            suspicion=dice.below(1001) / 1000,
            confidence=dice.below(101) / 100,
            kind=dice.one_of(DECEPTIONS),
            reasoning=dice.one_of(("", "as the dice fell")),
        )

    def vote(self, ask: Ask, view: SeatView, /) -> Ballot:
        """Vote for anybody legal or abstain, with a reason or without."""
        dice = _Dice(ask, view)
        target = dice.legal(ask)
        if dice.below(2):
            return Ballot(target=target)
        reason, claims = _words(dice, view), _claims(dice, view)
        return Ballot(target=target, reason=reason, claims=claims, label=self._label_along(ask, view))

    def choose(self, ask: Ask, view: SeatView, /) -> Choice:
        """Choose anybody legal."""
        return Choice(target=_Dice(ask, view).legal(ask))

    def whisper(self, ask: Ask, view: SeatView, /) -> Proposal:
        """Propose anybody legal."""
        dice = _Dice(ask, view)
        return Proposal(target=dice.legal(ask), word=dice.one_of(("", *WORDS)))


class _Dice:
    """One draw of 256 bits, spent throw by throw; another for every request, by what is asked and never by the
    game's id.
    """

    def __init__(self, ask: Ask, view: SeatView, /) -> None:
        about = ask.about or 0
        self._left = draw(view.brain_seed or view.me, f"{ask.phase} {ask.kind}", ask.round, ask.turn, about)

    def below(self, sides: int) -> int:
        """Return a whole number from 0 to `sides` - 1."""
        self._left, thrown = divmod(self._left, sides)
        return thrown

    def one_of(self, options: Sequence[T]) -> T:
        """Return one of `options`, which must not be empty."""
        return options[self.below(len(options))]

    def legal(self, ask: Ask) -> SeatName | None:
        """Return one of the legal names, None where there are none."""
        return self.one_of(ask.legal) if ask.legal else None


def _words(dice: _Dice, view: SeatView) -> str:
    words = [dice.one_of(WORDS) for _ in range(2 + dice.below(10))]
    if not dice.below(2):
        words.append(dice.one_of(view.names or (view.me,)))
    if not dice.below(5):
        words.append(dice.one_of(STRANGE_WORDS))
    while not view.config.may_be_said(" ".join(words)):
        words.pop()
    return " ".join(words)


def _claims(dice: _Dice, view: SeatView) -> tuple[Claim, ...]:
    if dice.below(3):
        return ()
    target = dice.one_of(view.names or (view.me,))
    role = dice.one_of(ROLES)
    round_ = dice.one_of((None, view.round))
    kind = dice.one_of(CHECKABLE)
    return (kind.make(target, role=role, round=round_),)


class SilentBrain(Agent):
    """Lets every request time out."""

    quick = True

    def answer(self, _ask: Ask, _view: SeatView, /) -> Answer:
        """Answer nothing."""
        return NO_ANSWER
