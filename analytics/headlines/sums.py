"""The sums of every game that all headline figures are formulas of."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

from analytics.columns import LIE, MISTAKE, TRUE
from analytics.headlines.ballots import WOLF, VoteColumns, vote_columns
from analytics.headlines.cells import Scores, cells_of, merged, scores_of
from analytics.headlines.ties import Sorted, sorted_scores
from analytics.scores.reliability import BINS, bins_of
from wolfbus.vocabulary import ROLES

if TYPE_CHECKING:
    from analytics.columns import Array, Columns

Score: TypeAlias = Literal["suspicion", "before"]
"""The two scores held against self-labels: s, and D before the judgement."""

SCORES: Final[tuple[Score, ...]] = ("suspicion", "before")
LAYOUT: Final[Mapping[str, tuple[int, ...]]] = {
    "villager_wins": (2,),
    "werewolf_wins": (2,),
    "no_winner": (2,),
    "deceptive": (len(ROLES), 2),
    "flags": (len(ROLES), 2, 2),
    "judged_suspicion": (len(ROLES),),
    "judged_before": (len(ROLES),),
    "error_suspicion": (3,),
    "error_before": (3,),
    "bins_suspicion": (BINS, 3),
    "bins_before": (BINS, 3),
    "towards": (2, 2),
    "hits": (3,),
    "follows": (3,),
    "truth": (5,),
    "truth_flags": (2, 2),
}
"""Sums of a game.

The first three and ``hits``, ``follows``: those that did, and all; in the last two also the sum of chances.
``deceptive``: by speaker role, admitted deceptions and labelled statements. ``flags``: by observer role, [label][flag].
``judged_*``: judgements with the score, by observer role. ``error_*``: squared error, judgements, deceptive ones.
``bins_*``: by calibration bin, sum of scores, deceptive ones, judgements. ``towards``: final D towards others and
towards Werewolves, sum and pairs. ``truth``: statements, checkable ones, lies, labelled lies, admitted lies.
``truth_flags``: [false][flag].
"""


@dataclass(frozen=True, slots=True)
class Scope:
    """What part of the games counts; all of it by default.

    Attributes:
        actor: only what this agent (index into ``columns.agents``) does: its judgements, statements, votes, seats.
        target: only judgements and suspicion of this agent.
    """

    actor: int | None = None
    target: int | None = None


class Games:
    """Columns with what is computed once for all scopes."""

    def __init__(self, columns: Columns) -> None:
        self.columns = columns
        self._cells: dict[Score, Array] | None = None
        self._widths: dict[Score, int] = {}

    @cached_property
    def votes(self) -> VoteColumns:
        """What is known about every vote."""
        return vote_columns(self.columns)

    @cached_property
    def scores(self) -> dict[Score, Scores]:
        """Judgements with a score and a label that count, by score."""
        import numpy as np

        judgements = self.columns.judgements
        label = np.where(judgements["d"] >= 0, self.columns.label(), -1)
        return {"suspicion": scores_of(judgements["s"], label), "before": scores_of(judgements["before"], label)}

    @cached_property
    def sorted(self) -> dict[Score, Sorted]:
        """By score, the judgements sorted by game and score."""
        game, games = self.columns.judgements["game"], len(self.columns.ids)
        return {name: sorted_scores(scores, game[scores.rows], games) for name, scores in self.scores.items()}

    @property
    def cells(self) -> dict[Score, Array]:
        """By score, the cell of each distinct value."""
        if self._cells is None:
            self._cells = {name: cells_of(merged(scores)) for name, scores in self.scores.items()}
        return self._cells

    def share_cells(self, other: Games) -> tuple[dict[Score, Array], dict[Score, Array]]:
        """Take common cells with another study, so that histograms may be added; return common calibration bins."""
        bins: tuple[dict[Score, Array], dict[Score, Array]] = ({}, {})
        cells: tuple[dict[Score, Array], dict[Score, Array]] = ({}, {})
        for name in SCORES:
            both = merged(self.scores[name], other.scores[name])
            cell, bin_ = cells_of(both), bins_of(both.counts)
            for place, own in enumerate(both.places):
                cells[place][name], bins[place][name] = cell[own], bin_[own]
            self._widths[name] = other._widths[name] = int(cell.max(initial=0)) + 1
        self._cells, other._cells = cells
        return bins

    def chosen(self, score: Score, scope: Scope, role: int | None = None) -> Array:
        """Return which of the score's judgements are in scope, by observers of one role if given."""
        import numpy as np

        rows, judgements = self.scores[score].rows, self.columns.judgements
        found = np.ones(len(rows), bool)
        for name, code in (("observer_agent", scope.actor), ("target_agent", scope.target), ("observer_role", role)):
            if code is not None:
                found &= judgements[name][rows] == code
        return found

    def histogram(self, score: Score, role: int, scope: Scope, units: Array, count: int) -> Array:
        """Return counts by unit, class and cell, of judgements by observers of a role; float32, flat behind the units.

        Args:
            score: which score.
            role: index of the observers' role.
            scope: what counts.
            units: unit of each game, -1 for a game left out.
            count: number of units.
        """
        import numpy as np

        scores, cells = self.scores[score], self.cells[score]
        unit = units[self.columns.judgements["game"][scores.rows]]
        chosen = self.chosen(score, scope, role) & (unit >= 0)
        width = self._widths.get(score, int(cells.max(initial=0)) + 1)
        code = (unit[chosen].astype(np.int64) * 2 + scores.label[chosen]) * width + cells[scores.rank[chosen]]
        found = np.bincount(code, minlength=count * 2 * width)
        return found.reshape(count, 2 * width).astype(np.float32)


def game_sums(study: Games, scope: Scope | None = None, bins: Mapping[Score, Array] | None = None) -> Array:
    """Return the sums of every game in the order of `LAYOUT`, games by columns, in float64.

    For one agent, wins are those of its seats: of its seats that are no Werewolves the share that won, of its
    Werewolves likewise, and of all its seats the share in games that nobody won.

    Args:
        study: the games.
        scope: what counts.
        bins: by score, the calibration bin of each distinct value; those of `calibration_bins` unless given.
    """
    import numpy as np

    scope = scope or Scope()
    games = len(study.columns.ids)
    bins = calibration_bins(study) if bins is None else bins
    found = {
        **_wins(study, scope),
        **_statements(study, scope),
        **_judgements(study, scope),
        **_votes(study, scope),
        "towards": _towards(study, scope),
    }
    for score in SCORES:
        found |= _errors(study, scope, score, bins[score])
    parts = [found[name].reshape(games, math.prod(shape)) for name, shape in LAYOUT.items()]
    return np.concatenate(parts, axis=1).astype(np.float64)


def unpack(sums: Array) -> dict[str, Array]:
    """Return the sums by name, shaped as in `LAYOUT` behind whatever stands before the last axis."""
    found, start = {}, 0
    for name, shape in LAYOUT.items():
        width = math.prod(shape)
        found[name] = sums[..., start : start + width].reshape(*sums.shape[:-1], *shape)
        start += width
    return found


def calibration_bins(study: Games) -> dict[Score, Array]:
    """Return by score the calibration bin of each distinct value (metrics: Table 4), over all games together; draws
    and parts keep to these bins.
    """
    return {name: bins_of(merged(scores).counts) for name, scores in study.scores.items()}


def _count(games: int, shape: Sequence[int], codes: Sequence[Array], weights: Array | None = None) -> Array:
    """Return an array of games by `shape` with how often each combination of codes comes (or the sum of weights)."""
    import numpy as np

    width = math.prod(shape)
    code = codes[0].astype(np.int64)
    for size, part in zip(shape, codes[1:], strict=True):
        code = code * size + part
    return np.bincount(code, weights=weights, minlength=games * width).reshape(games, *shape)


def _wins(study: Games, scope: Scope) -> dict[str, Array]:
    import numpy as np

    columns = study.columns
    games = len(columns.ids)
    finished, winner = columns.games["finished"], columns.games["winner"]
    if scope.actor is None:
        own = {"villager_wins": winner == 1, "werewolf_wins": winner == 2, "no_winner": winner == 0}
        return {name: np.stack([won & finished, finished], axis=1) for name, won in own.items()}
    seats = columns.seats
    mine = (seats["agent"] == scope.actor) & finished[seats["game"]]
    wolf, of = seats["role"] == WOLF, winner[seats["game"]]
    found = {}
    for name, part, won in (("villager_wins", ~wolf, 1), ("werewolf_wins", wolf, 2), ("no_winner", wolf | ~wolf, 0)):
        rows = mine & part
        counts = [_count(games, (), [seats["game"][which]]) for which in (rows & (of == won), rows)]
        found[name] = np.stack(counts, axis=1)
    return found


def _statements(study: Games, scope: Scope) -> dict[str, Array]:
    import numpy as np

    statements, games = study.columns.statements, len(study.columns.ids)
    mine = np.ones(len(statements["game"]), bool) if scope.actor is None else statements["agent"] == scope.actor
    label, truth, game = statements["d"], statements["truth"], statements["game"]
    labelled = mine & (label >= 0)
    counts = [
        _count(games, (len(ROLES),), [game[rows], statements["role"][rows]])
        for rows in (labelled & (label == 1), labelled)
    ]
    lie = mine & (truth == LIE)
    kinds = (mine, mine & (truth >= TRUE), lie, lie & (label >= 0), lie & (label == 1))
    return {
        "deceptive": np.stack(counts, axis=-1),
        "truth": np.stack([_count(games, (), [game[rows]]) for rows in kinds], axis=-1),
    }


def _judgements(study: Games, scope: Scope) -> dict[str, Array]:
    import numpy as np

    columns = study.columns
    judgements, games = columns.judgements, len(columns.ids)
    flag, label = judgements["d"], columns.label()
    mine = flag >= 0
    for name, code in (("observer_agent", scope.actor), ("target_agent", scope.target)):
        if code is not None:
            mine = mine & (judgements[name] == code)
    rows = np.flatnonzero(mine & (label >= 0))
    codes = [judgements["game"][rows], judgements["observer_role"][rows], label[rows], flag[rows]]
    truth = columns.statements["truth"][judgements["statement"]]
    checked = np.flatnonzero(mine & (truth >= TRUE))
    false = (truth[checked] == LIE) | (truth[checked] == MISTAKE)
    return {
        "flags": _count(games, (len(ROLES), 2, 2), codes),
        "truth_flags": _count(games, (2, 2), [judgements["game"][checked], false, flag[checked]]),
    }


def _errors(study: Games, scope: Scope, score: Score, bins: Array) -> dict[str, Array]:
    import numpy as np

    scores, games = study.scores[score], len(study.columns.ids)
    chosen = study.chosen(score, scope)
    rows = scores.rows[chosen]
    game, role = study.columns.judgements["game"][rows], study.columns.judgements["observer_role"][rows]
    rank, label = scores.rank[chosen], scores.label[chosen]
    value = scores.values[rank] if len(scores.values) else np.zeros(0)
    binned = [game, bins[rank] if len(bins) else np.zeros(0, np.int64)]
    errors = [_count(games, (), [game], weights) for weights in ((value - label) ** 2, None, label)]
    parts = [_count(games, (BINS,), binned, weights) for weights in (value, label, None)]
    return {
        f"judged_{score}": _count(games, (len(ROLES),), [game, role]),
        f"error_{score}": np.stack(errors, axis=-1),
        f"bins_{score}": np.stack(parts, axis=-1),
    }


def _towards(study: Games, scope: Scope) -> Array:
    import numpy as np

    pairs, games = study.columns.pairs, len(study.columns.ids)
    mine = np.ones(len(pairs["game"]), bool)
    for name, code in (("observer_agent", scope.actor), ("target_agent", scope.target)):
        if code is not None:
            mine &= pairs[name] == code
    codes = [pairs["game"][mine], pairs["target_role"][mine] == WOLF]
    return np.stack([_count(games, (2,), codes, weights) for weights in (pairs["d"][mine], None)], axis=-1)


def _votes(study: Games, scope: Scope) -> dict[str, Array]:
    import numpy as np

    votes, games, known = study.columns.votes, len(study.columns.ids), study.votes
    mine = np.ones(len(votes["game"]), bool) if scope.actor is None else votes["agent"] == scope.actor
    hits = mine & (votes["role"] != WOLF) & (votes["target"] >= 0)
    follows = mine & ~np.isnan(known.credit)
    others = np.maximum(known.living - 1, 1)
    found = {}
    for name, rows, done, chance in (
        ("hits", hits, votes["target_role"] == WOLF, known.wolves / others),
        ("follows", follows, known.credit, 1 / others),
    ):
        game = votes["game"][rows]
        sums = [_count(games, (), [game], weights) for weights in (done[rows], None, chance[rows])]
        found[name] = np.stack(sums, axis=-1)
    return found
