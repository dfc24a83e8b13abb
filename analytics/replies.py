"""`Ledger`: what is only ever counted over all games: how replies were read, what model calls took,
and how games were folded (metrics: repair report, cost).
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable
from statistics import fmean, stdev
from typing import Any, Final, get_args

from analytics import Result
from analytics.rows import GameRows, ReplyKey
from wolfbus.game.vocabulary import KINDS, Fault, Outcome, Reading
from wolfbus.record.served import served_in_words
from wolfbus.record.usage import TOKENS, Usage

READINGS: Final[tuple[Reading, ...]] = get_args(Reading)
OUTCOMES: Final[tuple[Outcome, ...]] = get_args(Outcome)
FAULTS: Final[tuple[Fault, ...]] = get_args(Fault)
BY: Final = ("model", "kind", "role", "brain")
"""What calls are split by, beside the seats of a single game."""


class Ledger:
    """Counts games one by one, in any order and any partition; keeps a few numbers a game."""

    def __init__(self) -> None:
        self._settings: dict[str, set[float]] = {"alpha": set(), "prior": set(), "include_defaulted": set()}
        self._replies: Counter[ReplyKey] = Counter()
        self._statements = 0
        self._total = Usage()
        self._by: dict[str, defaultdict[str, Usage]] = {name: defaultdict(Usage) for name in BY}
        self._seats: defaultdict[str, Usage] = defaultdict(Usage)
        self._served: defaultdict[str, set[str]] = defaultdict(set)
        self._dropped: Counter[str] = Counter()
        self._seconds: list[float] = []
        self._paths: list[float] = []

    def add(self, game: GameRows) -> None:
        """Count one game."""
        for name, values in self._settings.items():
            values.add(getattr(game, name))
        self._replies.update(game.replies)
        if not game.calls:
            return
        self._statements += len(game.statements)
        self._paths.append(float(game.critical_path))
        for model, names in game.served.items():
            self._served[model].update(names)
        self._dropped.update(game.dropped)
        if game.seconds is not None:
            self._seconds.append(game.seconds)
        for (name, model, kind), sums in game.calls.items():
            seat = game.seats[name]
            self._total.merge(sums)
            for split, key in zip(BY, (model, kind, seat.role, seat.agent), strict=True):
                self._by[split][key].merge(sums)
            self._seats[name].merge(sums)
        self._forget_seats()

    def merge(self, other: Ledger) -> None:
        """Add all that `other` holds."""
        for name, values in other._settings.items():
            self._settings[name] |= values
        self._replies.update(other._replies)
        self._statements += other._statements
        self._paths += list(other._paths)
        for model, names in other._served.items():
            self._served[model].update(names)
        self._dropped.update(other._dropped)
        self._seconds += list(other._seconds)
        self._total.merge(other._total)
        for merged, parts in ((self._by[split], other._by[split]) for split in BY):
            for key, sums in parts.items():
                merged[key].merge(sums)
        for name, sums in list(other._seats.items()):
            self._seats[name].merge(sums)
        self._forget_seats()

    def state(self) -> dict[str, Any]:
        """Return all that it holds as plain values; see `restore`."""
        return {
            "settings": {name: list(values) for name, values in self._settings.items()},
            "replies": [[list(key), count] for key, count in self._replies.items()],
            "statements": self._statements,
            "total": self._total.state(),
            "by": {name: {key: sums.state() for key, sums in parts.items()} for name, parts in self._by.items()},
            "seats": {name: sums.state() for name, sums in self._seats.items()},
            "served": {model: sorted(names) for model, names in self._served.items()},
            "dropped": dict(self._dropped),
            "seconds": self._seconds,
            "paths": self._paths,
        }

    def restore(self, state: dict[str, Any]) -> None:
        """Hold what `state` returned, and nothing else."""
        self._settings = {name: set(values) for name, values in state["settings"].items()}
        self._replies = Counter({tuple(key): count for key, count in state["replies"]})
        self._statements = state["statements"]
        self._total.restore(state["total"])
        self._by = {name: _usages(state["by"][name]) for name in BY}
        self._seats = _usages(state["seats"])
        self._served = defaultdict(set, {model: set(names) for model, names in state["served"].items()})
        self._dropped = Counter(state["dropped"])
        self._seconds, self._paths = list(state["seconds"]), list(state["paths"])

    def _forget_seats(self) -> None:
        # names mean nothing across games
        if len(self._paths) > 1:
            self._seats.clear()

    def settings(self) -> Result:
        """Return the values of alpha, prior and include_defaulted that the games were folded with:
        one each, unless games were mixed.
        """
        return {name: sorted(values) for name, values in self._settings.items()}

    def repair(self) -> Result:
        """Return how replies of all kinds were read and what became of them: ``overall``,
        ``by_kind`` of reply and ``by_brain``, there with the kinds once more (metrics: repair
        report).

        ``replies`` = ``accepted`` + ``defaulted`` + ``timed_out`` + ``declined``; ``accepted`` =
        ``clean`` + ``extracted`` + ``repaired`` + ``coerced`` + ``reasked`` + ``copied``. ``faults`` counts by
        what was wrong. ``lost_share`` is the share of defaulted and timed-out ones among those that
        were not declined, ``refused_share`` that of those which the model or the person refused or a content filter
        kept back; None without any.
        """
        counts = list(self._replies.items())
        brains = sorted({key[0] for key, _ in counts})
        return {
            **_repair(counts),
            "by_brain": {brain: _repair([entry for entry in counts if entry[0][0] == brain]) for brain in brains},
        }

    def cost(self) -> Result:
        """Return what model calls took in the games that have any, finished or not (metrics: cost).

        Sums ``total`` and by model, kind (several joined by +), role, brain and seat (None over
        several games); ``wall_s``, the seconds that games took by their records' clock;
        ``critical_path``, the longest chain of calls that had to wait for one another, see
        `CallBook`; and all of it per game and per statement. ``served`` has, by the model that was asked, and where,
        what servers say of those that answered, and ``dropped``, by agent, how many prompts at least lost their
        beginnings; each is missing where there is nothing to say.

        Undefined is None: tokens that no server told, money without prices, anything without a
        game.
        """
        games = len(self._paths)
        served = {model: sorted(names) for model, names in sorted(self._served.items())}
        beside = {
            "served": {model: names for model, names in served.items() if any(served_in_words({model: names}))},
            "dropped": dict(sorted(self._dropped.items())),
        }
        by_seat = {name: sums.result() for name, sums in self._seats.items()} if games <= 1 else None
        return {
            "games": games,
            "statements": self._statements,
            "total": self._total.result(),
            **{f"by_{name}": {key: parts[key].result() for key in sorted(parts)} for name, parts in self._by.items()},
            "by_seat": by_seat,
            **{name: values for name, values in beside.items() if values},
            "wall_s": _spread(self._seconds),
            "critical_path": _spread(self._paths),
            "per_game": self._per(games),
            "per_statement": self._per(self._statements),
        }

    def _per(self, n: int) -> Result:
        sums: dict[str, float | None] = {
            "calls": self._total.calls,
            **{name: self._total.tokens(name) for name in TOKENS},
            "cost_usd": self._total.cost_usd,
            "wall_s": math.fsum(self._seconds) if len(self._seconds) == len(self._paths) else None,
            "critical_path": sum(self._paths),
        }
        return {name: None if total is None or not n else total / n for name, total in sums.items()}


def _usages(states: dict[str, list[Any]]) -> defaultdict[str, Usage]:
    usages: defaultdict[str, Usage] = defaultdict(Usage)
    for name, state in states.items():
        usages[name].restore(state)
    return usages


def _repair(counts: list[tuple[ReplyKey, int]]) -> Result:
    present = {key[1] for key, _ in counts}
    by_kind = {kind: [entry for entry in counts if entry[0][1] == kind] for kind in KINDS if kind in present}
    return {"overall": _replies(counts), "by_kind": {kind: _replies(entries) for kind, entries in by_kind.items()}}


def _replies(counts: Iterable[tuple[ReplyKey, int]]) -> Result:
    outcomes: Counter[Outcome] = Counter()
    readings: Counter[Reading | None] = Counter()
    faults: Counter[Fault | None] = Counter()
    for (_, _, outcome, reading, fault), count in counts:
        outcomes[outcome] += count
        readings[reading] += count
        faults[fault] += count
    undeclined, lost = outcomes.total() - outcomes["declined"], outcomes["defaulted"] + outcomes["timed_out"]
    return {
        "replies": outcomes.total(),
        **{outcome: outcomes[outcome] for outcome in OUTCOMES},
        **{reading: readings[reading] for reading in READINGS},
        "lost_share": lost / undeclined if undeclined else None,
        "refused_share": (faults["refused"] + faults["filtered"]) / undeclined if undeclined else None,
        "faults": {fault: faults[fault] for fault in FAULTS},
    }


def _spread(values: list[float]) -> Result:
    n = len(values)
    return {
        "n": n,
        "total": math.fsum(values) if n else 0,
        "mean": fmean(values) if n else None,
        "sd": stdev(values) if n > 1 else None,
        "max": max(values) if n else None,
    }
