"""What a saved map does to the suspicions of one record (metrics: Recalibration, "applied in a replay")."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from analytics.accumulator import Result
from analytics.columns import columns_of
from analytics.grid import grid, note, number, shortened
from analytics.scores.measures import calibration
from analytics.scores.predictions import predictions
from analytics.scores.tied import Tied, tied
from wolfbus.printable import printable

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


def recalibrated_lines(result: Result, name: str) -> list[str]:
    """Return `recalibrated` as lines for the terminal, as `analytics.text` writes them.

    Args:
        result: what `recalibrated` returned, or what JSON made of it.
        name: the map's file.
    """
    fitted, file = result["map"], shortened(printable(name, 400), 60)
    title = (
        f"Suspicion recalibrated by {file}: a {fitted['kind'].capitalize()} map fitted on {fitted['n']} judgements of "
        f"{fitted['games']} games; beside this record, what such maps did to games that they were not fitted on"
    )
    rows = [
        [what, *(number(row[score], 3) for score in _SHOWN), shown]
        for what, row, shown in (
            ("this record, before", result["before"], str(result["before"]["n"])),
            ("this record, after", result["after"], str(result["after"]["n"])),
            ("held-out games, before", fitted["held_out"]["before"], str(fitted["n"])),
            ("held-out games, after", fitted["held_out"]["after"], str(fitted["n"])),
        )
    ]
    why = next(iter(result["before"]["undefined"].values()), "")
    told = "If this game is one of those that the map was fitted on, its numbers after flatter the map."
    lines = grid(title, ["", "Brier", "ECE", "AUC", "n"], rows, f"{why}." if why else "")
    return [*lines[:-1], *note(told), ""]
