"""`Trial`: all checks of an agent, in order."""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable, Iterator
from typing import TypeAlias

from moderator.check import checks
from moderator.check.finding import Finding, FindingLedger, FindingSheet
from moderator.check.house import CheckHouse
from moderator.check.rivals import ODD, Cast
from moderator.check.stage import SilentError, Stage, TrialTerms
from wolfbus.bus.protocol import Bus
from wolfbus.messages.house import Join
from wolfbus.printable import counted
from wolfbus.vocabulary import ROLES

Check: TypeAlias = Callable[[Stage, FindingSheet], None]


class Trial:
    """Puts one agent through everything.

    Args:
        bus: the bus that it joins on.
        house: a house without a moderator.
        name: the agent's name; None for the first that knocks.
        terms: how long to wait.
        watch: sees every finding as soon as it stands.
        gone: returns why the agent cannot come any more, None while it may.
    """

    def __init__(
        self,
        bus: Bus,
        house: str,
        name: str | None = None,
        terms: TrialTerms | None = None,
        watch: Callable[[Finding], None] = lambda _finding: None,
        gone: Callable[[], str | None] = lambda: None,
    ) -> None:
        self._terms = terms or TrialTerms()
        self._watch = watch
        self._gone = gone
        self._shown = 0
        self._ledger = FindingLedger()
        self._house = CheckHouse(bus, house, name, self._terms.again_s, self._ledger)
        self._stage = Stage(self._house, self._terms, self._ledger, f"check-{secrets.token_hex(3)}")

    @property
    def join(self) -> Join | None:
        """What the agent said of itself last; None if it never came."""
        return self._house.join

    def run(self) -> list[Finding]:
        """Make every check and return what was found, in order.

        Raises:
            HouseHeld: another moderator has the house.
            BusError: the bus fails.
        """
        try:
            self._house.open()
            if self._come_in():
                self._go_through()
        finally:
            self._house.close()
        return self._ledger.findings

    def _come_in(self) -> bool:
        began = time.monotonic()
        with self._ledger.check("joins") as sheet:
            if not self._house.wait_for_join(self._terms.join_s, self._gone):
                why = self._gone() or f"no join within {self._terms.join_s:g} s"
                self._ledger.fault("not joined", "fail", why)
            else:
                join = self._house.member
                seats, took = counted(join.seats, "seat"), time.monotonic() - began
                sheet.seen = f"{join.agent} ({join.version}) takes {seats}, after {took:.1f} s"
                if join.seats == 0:
                    self._ledger.fault("no seats", "fail", "its join says seats = 0: it could be seated nowhere")
        self._show()
        return self._house.join is not None

    def _go_through(self) -> None:
        silent = False
        for name, check in _checks():
            with self._ledger.check(name) as sheet:
                if silent and check not in checks.AT_ALL_TIMES:
                    sheet.skip("it had stopped answering")
                    continue
                try:
                    check(self._stage, sheet)
                except SilentError as error:
                    silent = True
                    self._ledger.fault("stopped answering", "fail", str(error))
            self._show()
        self._ledger.findings += self._ledger.by_kind(self._house.member.declines)
        self._show()

    def _show(self) -> None:
        for finding in self._ledger.findings[self._shown :]:
            self._watch(finding)
        self._shown = len(self._ledger.findings)


def _checks() -> Iterator[tuple[str, Check]]:
    yield "roll call", checks.roll_call
    for role in ROLES:
        yield f"every kind alone, as {role}", checks.alone(role)
    yield "game 1, as Villager", checks.whole(0, "Villager")
    yield "game over", checks.game_over
    yield "game 2, as Werewolf with a partner", checks.whole(3, "Werewolf", Cast(pack=True))
    yield "game 3, as the only Werewolf", checks.whole(5, "Werewolf")
    yield "game 4, as Seer, two rounds", checks.whole(2, "Seer", Cast(rounds=2))
    yield "game 5, as Doctor among odd names", checks.whole(4, "Doctor", Cast(names=ODD))
    yield "two seats in one game", checks.two_seats
    yield "two games at once", checks.two_games
    yield "hostile words", checks.hostile
    yield "one legal answer", checks.one_answer
    yield "the last one standing", checks.last
    yield "the same request twice", checks.twice
    yield "a tight deadline", checks.tight
    yield "unknown messages", checks.unknown
    yield "unknown members", checks.grows
    yield "catch-up in mid-game", checks.caught_up
    yield "catch-up on an unknown game", checks.restarted
    yield "catch-up after a loss of data", checks.otherwise
    yield "missing facts", checks.gap
    yield "heartbeats", checks.heartbeats
    yield "ids on its stream", checks.entries
    yield "goodbye", checks.goodbye
