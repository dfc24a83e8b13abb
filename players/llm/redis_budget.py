"""`RedisBudget`: what the workers of a study on many machines may spend together, kept on their Redis.

It is kept there atomically, and so whoever dies: what a worker had reserved that is silent for too long counts as
spent, since its calls may have been charged. Money is rounded up to whole units of 1e-10 US dollars.
"""

from __future__ import annotations

import logging
import secrets
import threading
import time
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal
from typing import Final

from players.llm.budget import Amount, refusal_of
from wolfbus.bus.redis.connection import Script
from wolfbus.bus.redis.pool import Links
from wolfbus.bus.streams import house_key
from wolfbus.bus.url import read_address
from wolfbus.errors import BudgetSpent, BusError

logger = logging.getLogger(__name__)

UNIT: Final = Decimal("1e-10")
"""US dollars that sums are whole numbers of."""

_HEARTBEATS: Final = 3
"""Heartbeats of a worker in the time after which it counts as dead."""


class RedisBudget:
    """The budget of an agenda, and one process's share in it; a `BudgetLedger`. All that it does is safe to repeat.

    `open`, `look` and `remove`, by which a study is run, may raise BusError. `reserve` and `settle` log it, once until
    the bus answers again: nothing goes out then, and what could not be settled stays reserved, and counts as spent
    once this process is gone.

    Args:
        url: the bus's address.
        agenda: the agenda's name.
        usd: limit in US dollars, for what is said of it; None for none.
        tokens: limit on tokens, likewise.
        lease_s: seconds after which what a silent holder had reserved counts as spent, > 0.

    Raises:
        ConfigError: the address cannot be understood.
    """

    def __init__(self, url: str, agenda: str, usd: float | None, tokens: int | None, lease_s: float = 15.0) -> None:
        self._links = Links(read_address(url))
        self._keys = [house_key(agenda, f"agenda:{part}") for part in ("budget", "holding", "holders")]
        self._doing = f"budget of agenda {agenda}"
        self._script = Script("budget")
        self._usd = None if usd is None else Decimal(repr(usd))
        self._tokens = tokens
        self._lease_s = lease_s
        self._holder = secrets.token_hex(8)
        self._gone_at: float | None = None
        self._unreachable = False
        self._closed = threading.Event()
        self._heartbeat: threading.Thread | None = None

    def open(self, before: Amount) -> Amount:
        """Begin with the limits as they are now, going on where an earlier run of the study stopped.

        Args:
            before: what was spent before, where nothing is known of it here.

        Returns:
            What is spent.
        """
        usd = "" if self._usd is None else str(int((self._usd / UNIT).to_integral_value(ROUND_FLOOR)))
        tokens = "" if self._tokens is None else str(self._tokens)
        return self._run("open", usd, tokens, *_whole(before))[1]

    def look(self) -> tuple[Amount, str | None] | None:
        """Return what is spent, as far as holders have settled, and why no more calls may go out, if so.

        None where the bus has no such budget, or has it no more.
        """
        verdict, spent, ended = self._run("look")
        if verdict == "gone":
            return None
        return spent, self._refusal(ended) if ended else None

    def remove(self) -> None:
        """Delete it from the bus."""
        self._links.run(self._keys[0], lambda link: link.ask("DEL", *self._keys, doing=self._doing))

    def close(self) -> None:
        """Disconnect; what waits for the bus waits no more."""
        self._closed.set()
        self._unreachable = True
        self._links.close()
        if self._heartbeat is not None:
            self._heartbeat.join()

    def reserve(self, key: int, worst: Amount, call: str) -> bool:
        """Reserve the most that a call could take, if it fits; see `BudgetLedger`."""
        if self._heartbeat is None:
            self._heartbeat = threading.Thread(target=self._send_heartbeats, name="budget", daemon=True)
            self._heartbeat.start()
        state = self._run_as_holder("reserve", str(key), *_whole(worst), call)
        if state is None:
            return False
        verdict, _, ended = state
        if verdict == "refused":
            raise BudgetSpent(self._refusal(ended))
        if verdict != "gone":
            self._gone_at = None
        elif self._gone_at is None:
            self._gone_at = time.monotonic()
        elif time.monotonic() - self._gone_at >= self._lease_s:
            # until then, who runs the study may be about to open it
            raise BudgetSpent("the budget is gone, and the agenda with it")
        return verdict == "done"

    def settle(self, key: int, used: Amount) -> None:
        """Count what a call took and release the rest; see `BudgetLedger`."""
        # a bus that is away was waited for already; with a hundred calls in flight, it would be a hundred times
        self._run_as_holder("settle", str(key), *_whole(used), patience_s=0.0 if self._unreachable else None)

    def _send_heartbeats(self) -> None:
        """Say that this holder lives, as long as it does."""
        while not self._closed.wait(self._lease_s / _HEARTBEATS):
            self._run_as_holder("live")

    def _refusal(self, ended: str) -> str:
        """Return why a budget ended, from the sums and the call that the script kept of it."""
        *sums, call = ended.split(" ", 4)
        return refusal_of(_amount(*sums[:2]), self._usd, self._tokens, _amount(*sums[2:]), call)

    def _run_as_holder(self, act: str, *words: str, patience_s: float | None = None) -> tuple[str, Amount, str] | None:
        """Run a command as this holder, who lives; None, and a line in the log, where the bus is in the way."""
        lease_ms = str(max(int(self._lease_s * 1000), 1))
        try:
            state = self._run(act, self._holder, lease_ms, *words, patience_s=patience_s)
        except BusError as error:
            logger.log(logging.DEBUG if self._unreachable else logging.WARNING, "%s", error)
            self._unreachable = True
            return None
        self._unreachable = False
        return state

    def _run(self, *words: str, patience_s: float | None = None) -> tuple[str, Amount, str]:
        """Return the verdict, what is spent, and the call that ended it."""
        reply = self._links.call(self._script, self._keys, words, self._doing, patience_s)
        verdict, usd, tokens, ended = [value.decode(errors="replace") for value in reply]
        return verdict, _amount(usd, tokens), ended


def _whole(amount: Amount) -> tuple[str, str]:
    return str(int((amount.usd / UNIT).to_integral_value(ROUND_CEILING))), str(amount.tokens)


def _amount(usd: str, tokens: str) -> Amount:
    return Amount(int(usd) * UNIT, int(tokens))
