"""The table of smoothed suspicion."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Final

from analytics.export.column import Column, ExportTable, Row
from analytics.export.game import ExportedGame
from analytics.export.ids import GAME_ID, agent, role, seat_id
from analytics.rows import GameRows, Pair


def _rows(game: ExportedGame) -> Iterator[Row]:
    rows = game.rows
    counts = _judgements(rows)
    so_far: Counter[Pair] = Counter()
    for round_ in sorted({*counts, *rows.by_round}):
        so_far.update(counts.get(round_, {}))
        yield from _at(game, "round", round_, rows.by_round.get(round_, {}), so_far)
    yield from _at(game, "final", None, rows.suspicion, so_far)


def _at(
    game: ExportedGame, moment: str, round_: int | None, pairs: Mapping[Pair, float], judged: Mapping[Pair, int]
) -> Iterator[Row]:
    seats = game.rows.seats
    for (observer, target), value in pairs.items():
        yield (
            game.id,
            seat_id(game.id, observer),
            seat_id(game.id, target),
            moment,
            round_,
            observer,
            seats[observer].role,
            seats[observer].brain,
            target,
            seats[target].role,
            seats[target].brain,
            value,
            judged.get((observer, target), 0),
        )


def _judgements(rows: GameRows) -> dict[int, Counter[Pair]]:
    """Return how many judgements with a suspicion there are, by round and pair.

    Fillers have an outcome other than accepted, and move nothing.
    """
    counts: dict[int, Counter[Pair]] = {}
    for row in rows.judgements:
        if row.s is not None and row.outcome == "accepted":
            counts.setdefault(row.round, Counter())[row.observer, row.target] += 1
    return counts


SUSPICION: Final = ExportTable(
    name="suspicion",
    row="smoothed suspicion D of one player towards another, at the end of a round or of the game",
    key=("observer_id", "target_id", "moment", "round"),
    rows=_rows,
    note=(
        "D starts from `games.prior`; a judgement moves it to α·s + (1−α)·D with α = `games.alpha`. It freezes when "
        "either player leaves. `round` rows are of pairs that were both alive when the round's last judgement was "
        "joined (Figure 1), `final` rows of all pairs (Table 2); pairs without a judgement so far have no row."
    ),
    columns=(
        GAME_ID,
        Column("observer_id", "text", "who suspects", refers="seats"),
        Column("target_id", "text", "who is suspected", refers="seats"),
        Column("moment", "category", "`round` for the end of a round, `final` for the end", values=("round", "final")),
        Column("round", "integer", "the round, from 1", null="the row is `final`"),
        Column("observer", "category", "the observer's name"),
        role("observer_role", "the observer's"),
        agent("observer_agent", "the observer"),
        Column("target", "category", "the target's name"),
        role("target_role", "the target's"),
        agent("target_agent", "the target"),
        Column("suspicion", "real", "D: from full trust, 0, to certainty of deception, 1", unit="share"),
        Column("judgements", "integer", "judgements of the pair so far that count and have a suspicion"),
    ),
)
