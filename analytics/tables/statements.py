"""Tables 1 and 5: how statements are received, by who spoke and by what the speaker admits."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

from analytics.accumulator import Result
from analytics.rows import GameRows, StatementRow
from analytics.sums import Mean, mean_of
from wolfbus.vocabulary import DECEPTIONS, ROLES


class Reception:
    """Statements of one row of a table, their labels and what observers thought of them.

    Averages are over statements of the mean over observers, so that a statement heard by many weighs no
    more than one heard by few.
    """

    def __init__(self) -> None:
        self.statements = 0
        self.labelled = 0
        self.deceptive = 0
        self.suspicion = Mean()
        self.flagged = Mean()

    def add(self, statement: StatementRow, suspicions: Iterable[float], flags: Iterable[bool]) -> None:
        """Count one statement with the judgements of it that count."""
        self.statements += 1
        if statement.d is not None:
            self.labelled += 1
            self.deceptive += statement.d
        if (suspicion := mean_of(suspicions)) is not None:
            self.suspicion.add(suspicion)
        if (flagged := mean_of(flags)) is not None:
            self.flagged.add(flagged)

    def merge(self, other: Reception) -> None:
        """Add all that `other` holds."""
        self.statements += other.statements
        self.labelled += other.labelled
        self.deceptive += other.deceptive
        self.suspicion.merge(other.suspicion)
        self.flagged.merge(other.flagged)

    def averages(self) -> Result:
        """Return average suspicion and average share of flags, each with the number of statements it is over."""
        return {
            "suspicion": self.suspicion.mean(),
            "suspicion_n": self.suspicion.n,
            "flagged": self.flagged.mean(),
            "flagged_n": self.flagged.n,
        }


class Table1:
    """By speaker role: statements, admitted deceptions, average suspicion, average share of observers that flag."""

    def __init__(self) -> None:
        self._rows: defaultdict[str, Reception] = defaultdict(Reception)

    def add(self, game: GameRows) -> None:
        """Take in one game."""
        for statement, suspicions, flags in received(game):
            self._rows[statement.role].add(statement, suspicions, flags)
            self._rows["overall"].add(statement, suspicions, flags)

    def merge(self, other: Table1) -> None:
        """Add all that `other` holds."""
        _merge(self._rows, other._rows)

    def result(self) -> Result:
        """Return a row per role and one overall (paper 5.3, Table 1; metrics: Table 1).

        ``statements`` are all, ``labelled`` those with a self-label that counts, ``deceptive`` the sum of d over these;
        ``suspicion_n`` and ``flagged_n`` are statements with at least one judgement that counts.
        """
        return {key: _table1_row(self._rows.get(key, Reception())) for key in (*ROLES, "overall")}


class Table5:
    """By self-labelled kind: statements, average suspicion, average share of observers that flag."""

    def __init__(self) -> None:
        self._rows: defaultdict[str, Reception] = defaultdict(Reception)

    def add(self, game: GameRows) -> None:
        """Take in one game."""
        for statement, suspicions, flags in received(game):
            if statement.kind is not None:
                self._rows[statement.kind].add(statement, suspicions, flags)
                self._rows["overall"].add(statement, suspicions, flags)

    def merge(self, other: Table5) -> None:
        """Add all that `other` holds."""
        _merge(self._rows, other._rows)

    def result(self) -> Result:
        """Return a row per kind and one overall (paper 5.8, Table 5; metrics: Table 5).

        Only statements with a self-label that counts; "unspecified" are those called deceptive without a kind.
        """
        return {
            key: {"count": row.statements, **row.averages()}
            for key in (*DECEPTIONS, "overall")
            for row in (self._rows.get(key, Reception()),)
        }


def received(game: GameRows) -> Iterable[tuple[StatementRow, list[float], list[bool]]]:
    """Yield every statement with the suspicions and the flags of the judgements of it that count."""
    suspicions: defaultdict[int, list[float]] = defaultdict(list)
    flags: defaultdict[int, list[bool]] = defaultdict(list)
    for judgement in game.judgements:
        if judgement.d is not None:
            flags[judgement.statement].append(judgement.d)
            if judgement.s is not None:
                suspicions[judgement.statement].append(judgement.s)
    for statement in game.statements:
        yield statement, suspicions[statement.number], flags[statement.number]


def _table1_row(row: Reception) -> Result:
    return {
        "statements": row.statements,
        "labelled": row.labelled,
        "deceptive": row.deceptive,
        **row.averages(),
    }


def _merge(rows: defaultdict[str, Reception], others: dict[str, Reception]) -> None:
    for key, other in others.items():
        rows[key].merge(other)
