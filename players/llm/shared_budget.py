"""`SharedBudget`: what several holders may spend together, and the amounts that they set aside and settle."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from typing import Final, Protocol, TypeAlias

from players.llm.accounts import dollars


@dataclass(frozen=True, slots=True)
class Amount:
    """Money and tokens.

    Attributes:
        usd: US dollars; 0 for models without a price.
        tokens: of prompts and replies together.
    """

    usd: Decimal
    tokens: int

    def __add__(self, other: Amount) -> Amount:
        return Amount(self.usd + other.usd, self.tokens + other.tokens)

    def __sub__(self, other: Amount) -> Amount:
        return Amount(self.usd - other.usd, self.tokens - other.tokens)

    def __mul__(self, times: int) -> Amount:
        return Amount(self.usd * times, self.tokens * times)


NOTHING: Final = Amount(Decimal(0), 0)

Tell: TypeAlias = Callable[[int, int, str | None], None]
"""Tells a holder whether its call may go out: the holder, the call's key, why not (None for yes)."""


class BudgetLedger(Protocol):
    """Decides which calls may go out; the answer comes by another way, see `SharedBudget` and `Budget.hear`."""

    def reserve(self, holder: int, key: int, worst: Callable[[], Amount], what: str) -> None:
        """Set aside the most that a call could take as soon as it fits."""

    def settle(self, holder: int, key: int, taken: Amount) -> None:
        """Count what a call took and give back the rest; a call that still waits is withdrawn."""


class SharedBudget:
    """What several holders may spend together: the workers of a study, or one process alone.

    What is spent and set aside never exceeds a limit. Calls wait in the order in which they came, and none overtakes
    another. To be used from one thread.

    Args:
        usd: limit in US dollars; None for no limit.
        tokens: limit on tokens of prompts and replies; None for no limit.
        tell: tells holders what became of their calls.
        before: what was spent before.

    Attributes:
        spent: what is spent, as far as holders have told.
        held: what is set aside.
    """

    def __init__(self, usd: float | None, tokens: int | None, tell: Tell, before: Amount = NOTHING) -> None:
        self._limit_usd = None if usd is None else Decimal(repr(usd))
        self._limit_tokens = tokens
        self._tell = tell
        self.spent = before
        self.held = NOTHING
        self._holding: dict[tuple[int, int], Amount] = {}
        self._waiting: dict[tuple[int, int], tuple[Callable[[], Amount], str]] = {}
        self._refusal: str | None = None

    def reserve(self, holder: int, key: int, worst: Callable[[], Amount], what: str) -> None:
        """Set aside the most that a call could take as soon as it fits beside those in flight; the holder is told.

        A call that would not fit even if nothing were in flight ends the budget, for all that wait and all later ones.

        Args:
            holder: who asks.
            key: names the call among the holder's.
            worst: returns the most that it could take, from what is known by then.
            what: the call, for what is said of it.
        """
        self._waiting[holder, key] = worst, what
        self._end_if_hopeless(worst(), what)
        self._move()

    def settle(self, holder: int, key: int, taken: Amount) -> None:
        """Count what a call took and give back the rest; a call that still waits is withdrawn."""
        if self._waiting.pop((holder, key), None) is None:
            self._take((holder, key), taken)
        self._move()

    def lose(self, holder: int) -> None:
        """Count all that a holder had set aside as spent: it is gone, and its calls may have been charged."""
        for place in [place for place in self._holding if place[0] == holder]:
            self._take(place, self._holding[place])
        for place in [place for place in self._waiting if place[0] == holder]:
            del self._waiting[place]
        self._move()

    def _take(self, place: tuple[int, int], taken: Amount) -> None:
        held = self._holding.pop(place, None)
        if held is not None:
            self.held -= held
            self.spent += taken

    def _move(self) -> None:
        """Let those go out that wait and fit, the first one first."""
        while self._waiting:
            place, (worst, what) = next(iter(self._waiting.items()))
            amount = worst()
            self._end_if_hopeless(amount, what)
            if self._refusal is None:
                if not self._fits(self.spent + self.held + amount):
                    return
                self._holding[place] = amount
                self.held += amount
            del self._waiting[place]
            self._tell(*place, self._refusal)

    def _fits(self, amount: Amount) -> bool:
        return (self._limit_usd is None or amount.usd <= self._limit_usd) and (
            self._limit_tokens is None or amount.tokens <= self._limit_tokens
        )

    def _end_if_hopeless(self, worst: Amount, what: str) -> None:
        after = self.spent + worst
        if self._refusal is not None or self._fits(after):
            return
        self._refusal = refusal_of(self.spent, self._limit_usd, self._limit_tokens, worst, what)


def refusal_of(spent: Amount, usd: Decimal | None, tokens: int | None, worst: Amount, what: str) -> str:
    """Return why a budget ends with a call, in one line.

    Args:
        spent: what is spent before it.
        usd: limit in US dollars; None for none.
        tokens: limit on tokens; None for none.
        worst: the most that the call could take.
        what: the call.
    """
    if usd is not None and spent.usd + worst.usd > usd:
        told, limit, more = (dollars(each, 4) for each in (spent.usd, usd, worst.usd))
    else:
        told, limit, more = f"{spent.tokens:,}", f"{tokens:,} tokens", f"{worst.tokens:,}"
    return f"the budget ends here: {told} of {limit} spent, and the next call could take up to {more} ({what})"
