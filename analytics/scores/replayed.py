"""What a saved map does to the suspicions of one record (metrics: Recalibration, "applied in a replay")."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from analytics.accumulator import Result
from analytics.columns import columns_of
from analytics.scores.measures import calibration
from analytics.scores.predictions import predictions
from analytics.scores.tied import Tied, tied
from wolfbus.document.blocks import Cell, Row, Table, columns
from wolfbus.document.formats import count, number, of
from wolfbus.printable import shortened

if TYPE_CHECKING:
    from analytics.rows import GameRows
    from analytics.scores.saved_map import SavedMap

_SHOWN: Final = ("brier", "ece", "auc")


def recalibrated(game: GameRows, saved: SavedMap) -> Result:
    """Return the scores of a game's suspicions before and after a saved map (metrics: Recalibration; paper 5.7).

    - ``before`` and ``after``: ``brier ece auc n``, and ``undefined`` with the reason for each that is None.
    - ``map``: its ``kind``, the ``n`` judgements and ``games`` that it was fitted on, and its ``held_out`` scores.

    Whether the game was among those nobody can tell from the file; the map does better there than it should.
    """
    held = predictions(columns_of([game]), "suspicion")
    return {
        "before": _row(held.tied()),
        "after": _row(tied(saved.map.apply(held.scores), held.deceptive)),
        "map": {
            "kind": saved.map.kind,
            "n": saved.n,
            "games": saved.games,
            "held_out": saved.held_out.model_dump(mode="json"),
        },
    }


def _row(own: Tied) -> Result:
    values = calibration(own)
    return {**values, "undefined": {name: own.one_sided() for name in _SHOWN if values[name] is None}}


def recalibration_table(result: Result, name: str) -> Table:
    """Return `recalibrated` as a table.

    Args:
        result: what `recalibrated` returned, or what JSON made of it.
        name: the map's file.
    """
    fitted, before = result["map"], result["before"]
    held = fitted["held_out"]
    games = of(fitted["games"], "game")
    caption = (
        f"Suspicion recalibrated by {shortened(name, 60)} ({fitted['kind']}, fitted on {of(fitted['n'], 'judgement')} "
        f"of {games}); beside this record, what such maps did to games that they were not fitted on"
    )
    told = "If this game is one of those that the map was fitted on, its numbers after flatter the map."
    lines = (
        ("This record, before", before, before["n"]),
        ("This record, after", result["after"], before["n"]),
        ("Held-out games, before", held["before"], fitted["n"]),
        ("Held-out games, after", held["after"], fitted["n"]),
    )
    rows = tuple(
        Row(
            Cell(head),
            (*(_cell(row[score], before["undefined"].get(score)) for score in _SHOWN), Cell(count(n))),
        )
        for head, row, n in lines
    )
    return Table("recalibrated", caption, columns("", "Brier", "ECE", "AUC", "Judgements"), rows, (told,))


def _cell(value: float | None, reason: str | None) -> Cell:
    return Cell(number(value), reason=None if value is not None else reason)
