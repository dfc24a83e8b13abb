"""Checks of how an agent is there: the roll call, heartbeats, the ids of its messages, and how it leaves."""

from __future__ import annotations

import itertools
import time
from typing import Final

from moderator.check.finding import FindingSheet
from moderator.check.stage import Stage
from wolfbus.messages.house import Goodbye, RollCall


def roll_call(stage: Stage, sheet: FindingSheet) -> None:
    """Call the roll: it says join at once."""
    before = len(stage.house.joins)
    asked = time.monotonic()
    stage.house.tell(RollCall())
    until = asked + stage.terms.again_s * 3
    while len(stage.house.joins) == before and time.monotonic() < until:
        stage.house.hear(min(until, time.monotonic() + 0.02))
    if len(stage.house.joins) == before:
        said = f"no join within {3 * stage.terms.again_s:g} s"
        stage.ledger.fault("roll call not answered", "fail", said)
    else:
        took = stage.house.joins[before] - asked
        sheet.seen = f"said join after {took * 1000:.0f} ms"


def heartbeats(stage: Stage, sheet: FindingSheet) -> None:
    """Look back on its joins, and wait for as many as tell."""
    patience = 3 * stage.terms.again_s
    while time.monotonic() < stage.house.joins[-1] + patience and len(stage.house.joins) < 3:
        stage.settle(min(0.05, stage.terms.again_s))
    now = time.monotonic()
    times = [*stage.house.joins, now]
    longest = max(after - before for before, after in itertools.pairwise(times))
    sheet.seen = f"{len(stage.house.joins)} joins, never more than {longest:.1f} s apart"
    if longest > patience:
        said = f"{longest:.1f} s without a join, where one every {stage.terms.again_s:g} s was asked for"
        stage.ledger.fault("heartbeat missing", "fail", f"{said}: it counts as gone and is seated in no new game")
    elif stage.house.member.seen in {None, "0-0"}:
        said = "its joins never say what it has read, so its mailbox is cut only when it is full"
        stage.ledger.fault("seen missing", "warn", said)


def entries(stage: Stage, sheet: FindingSheet) -> None:
    """Look at the ids of all that it wrote."""
    sheet.seen = "ids that begin with the time of its start"
    if (wrong := stage.house.faulty_ids()) is not None:
        sheet.seen = ""
        stage.ledger.fault("ids", "warn", wrong)


def goodbye(stage: Stage, sheet: FindingSheet) -> None:
    """Close the house: it leaves, or falls silent."""
    joins = len(stage.house.joins)
    stage.finish()
    if not stage.house.gone:
        stage.house.tell(Goodbye(reason="the trial is over"))
        stage.settle(2 * stage.terms.again_s + stage.terms.settle_s)
    # one join may have been under way
    if not stage.house.gone and len(stage.house.joins) > joins + 1:
        stage.ledger.fault("stays", "warn", "it went on saying join after goodbye")
    sheet.seen = "it said leave" if stage.house.gone else "it fell silent"


AT_ALL_TIMES: Final = (heartbeats, entries, goodbye)
"""Checks that can be made of an agent that answers no more."""
