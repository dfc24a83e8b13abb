"""Canary questions: the same small questions before the games of a study and after them. Where a model answers them
otherwise than it did, something about it changed under way, whatever its server says.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import comb
from typing import Annotated, Any, Final

from pydantic import BaseModel, ConfigDict, Field

from wolfbus.files.printable import printable

_LEVEL: Final = 0.01
"""Of a change that is not there, so seldom one is told, a round and model."""
_NAME: Final = 80


class CanaryRound(BaseModel):
    """What a model answered once to all questions.

    Attributes:
        at: when, in UTC.
        model: the model, and where it was asked.
        version: of the questions.
        served: which model answered, by its server's word; None where it does not say.
        answers: to each question, in lower case without punctuation; None where there was none.
    """

    model_config = ConfigDict(frozen=True, extra="ignore")

    at: Annotated[str, Field(max_length=40)]
    model: Annotated[str, Field(max_length=1_200)]
    version: int
    served: Annotated[str, Field(max_length=1_200)] | None = None
    answers: Annotated[tuple[Annotated[str, Field(max_length=200)] | None, ...], Field(max_length=1_000)]


def canaries_in_words(noted: Sequence[Mapping[str, Any]]) -> Iterator[tuple[str, bool]]:
    """Yield of each model in a line how it answered as the study began and how later, and whether that is a change.

    The first two rounds tell how often it repeats itself. A later one has changed where it repeats either of them less
    often than that, by Fisher's exact test at .01.

    Args:
        noted: rounds as a manifest has them, in their order.
    """
    rounds = [CanaryRound.model_validate(one) for one in noted]
    for model in dict.fromkeys(one.model for one in rounds):
        first, *others = (one for one in rounds if one.model == model)
        comparable = [one for one in others if (one.version, len(one.answers)) == (first.version, len(first.answers))]
        if len(comparable) < 2:
            continue
        second, *later = comparable
        compared = [(_Repeats.of(one, first, second), one.at) for one in later]
        repeats, when = min(compared, key=lambda pair: (pair[0].likelihood, pair[1]))
        changed = repeats.likelihood < _LEVEL
        name = printable(model, _NAME)
        if repeats.count == 0:
            yield f"{name}: no canary question had an answer each time, so none can be compared", False
            continue
        lacking = repeats.count < len(first.answers)
        line = f"{name}: of {repeats.count} canary questions{' that had an answer each time' if lacking else ''}"
        line += f" {repeats.alike} were answered alike twice as the study began"
        rounds_in_words = "later" if len(later) == 1 else f"at the worst of {len(later)} later times"
        line += f" ({first.at[:10]}), and {repeats.later} {rounds_in_words} ({when[:10]})"
        yield line + (": something about the model changed under way" if changed else ""), changed


@dataclass(frozen=True, slots=True)
class _Repeats:
    """How often a model repeated itself, over the questions that had an answer each time: a server that was out of
    reach tells nothing of its model.

    Attributes:
        count: such questions.
        alike: of them, how many it answered alike in the first two rounds.
        later: how many it answered in a later one as in either of them.
    """

    count: int
    alike: int
    later: int

    @classmethod
    def of(cls, later: CanaryRound, first: CanaryRound, second: CanaryRound) -> _Repeats:
        answers = zip(later.answers, first.answers, second.answers, strict=True)
        whole = [triple for triple in answers if None not in triple]
        return cls(len(whole), sum(a == b for _, a, b in whole), sum(answer in before for answer, *before in whole))

    @property
    def likelihood(self) -> float:
        """Of so few repeated later, were that as likely as before."""
        return _tail(self.alike, self.later, self.count)


def _tail(alike: int, repeated: int, count: int) -> float:
    """Return how likely so few of ``count`` repeat later, were it as likely as before: the hypergeometric tail."""
    total = alike + repeated
    ways = sum(comb(count, later) * comb(count, total - later) for later in range(max(0, total - count), repeated + 1))
    return ways / comb(2 * count, total)
