"""`read_rows`: a record, read, checked and folded into rows in one pass. Whoever measures a record comes by here."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from analytics.fold import GameFold
from analytics.rows import GameRows
from wolfbus.record.checked import Checked, Prover, read_checked
from wolfbus.record.line import Recorded


def read_rows(
    lines: Iterable[bytes],
    fold: GameFold,
    *,
    prover: Prover | None = None,
    watch: Callable[[Recorded], None] | None = None,
    lenient: bool = False,
) -> tuple[Checked, GameRows | None]:
    r"""Read a record to its end or to the first line that does not hold, and return what was found and its rows.

    Args:
        lines: the lines with their ``\n``.
        fold: takes in what holds; new.
        prover: re-executes the record; None not to.
        watch: called with every event that holds; may raise RecordError or RulesError to end the record before it.
        lenient: pass over members that nobody knows here, which is quicker: for measuring, not for proving.

    Returns:
        What was found of the record; and the rows of what holds, None where not even the opening does.
    """

    def take(recorded: Recorded) -> None:
        fold.take(recorded)
        if watch is not None:
            watch(recorded)

    checked = read_checked(lines, take, prover, lenient=lenient)
    return checked, None if checked.opened is None else fold.rows()
