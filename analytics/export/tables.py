"""`TABLES`: the exported tables. What a column is called and means stands at the row's field (`analytics.schema`)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import chain
from typing import Annotated, Any, Final, Literal, TypeAlias

from analytics.columns import Columns
from analytics.export.game import ExportedGame
from analytics.rows import (
    BidRow,
    CallRow,
    ClaimRow,
    InspectionRow,
    JudgementRow,
    NightRow,
    ProtectionRow,
    SeatRow,
    StatementRow,
    SuspicionRow,
    VoteRow,
    WhisperRow,
)
from analytics.schema import Cell, Column, exported, reader

_UNDEFINED = "it is undefined"
_NO_INTERVAL = "there is none, as below five blocks of games"


@dataclass(frozen=True, slots=True, kw_only=True)
class ResultRow:
    """One figure over all games of an export."""

    metric: Annotated[str, Column("the metric, by the name that docs/metrics.md gives it", category=True)]
    group: Annotated[
        str,
        Column(
            "whose: `all`; `role:Seer`, of observers of a role, for `deception_rate` of speakers; `agent:NAME`, of "
            "what one agent did or how it was seen",
            category=True,
        ),
    ]
    observers: Annotated[
        Literal["uninformed", "all", "none"],
        Column(
            "over pairs whose observer does not know whether the target is a Werewolf; over all, as in the paper; or "
            "`none` where it is not over pairs"
        ),
    ]
    value: Annotated[float | None, Column("the pooled estimate, in the metric's unit", _UNDEFINED)]
    low: Annotated[float | None, Column("lower end of its 95 % interval", _NO_INTERVAL)]
    high: Annotated[float | None, Column("upper end of its 95 % interval", _NO_INTERVAL)]
    n: Annotated[int, Column("what it is over: statements, judgements, pairs, votes, games")]
    unit: Annotated[
        str,
        Column("`share` and `probability` from 0 to 1, `points` a difference of shares, `score`", category=True),
    ]
    baseline: Annotated[float | None, Column("what needs no skill", "there is no such thing")]


def results_of(columns: Columns) -> Iterator[ResultRow]:
    """Yield the figures of the sections ``variability`` and ``agents`` of findings."""
    from analytics.measures.agents import agents
    from analytics.measures.study import Study
    from analytics.measures.variability import variability

    study = Study(columns)
    for name, found in variability(study)["metrics"].items():
        metric, _, role = name.partition("/")
        group = f"role:{role}" if role else "all"
        everybody = found.get("all_observers")
        yield _row(metric, group, "uninformed" if everybody else "none", found)
        if everybody:
            yield _row(metric, group, "all", everybody)
    for agent, row in agents(study).items():
        flat = {**row, **{f"{side}_won": estimate for side, estimate in row["wins"].items()}}
        for metric, found in flat.items():
            if isinstance(found, dict) and "value" in found:
                own = metric in _OF_SEATS
                yield _row(metric, f"agent:{agent}", "none" if own else "uninformed", found)


_OF_SEATS = frozenset({"deception_rate", "villagers_won", "werewolves_won"})


def _row(metric: str, group: str, observers: Any, found: Mapping[str, Any]) -> ResultRow:
    return ResultRow(
        metric=metric,
        group=group,
        observers=observers,
        value=found["value"],
        low=found.get("low"),
        high=found.get("high"),
        n=found["n"],
        unit=found.get("unit") or "share",
        baseline=found.get("baseline"),
    )


Row: TypeAlias = tuple[Cell, ...]
"""One row, in the order of the table's columns."""


@dataclass(frozen=True, slots=True)
class ExportTable:
    """One table.

    Attributes:
        name: its name, and that of its file.
        row: what a row is, in words.
        key: the columns that tell rows apart.
        of: the class of its rows.
        given: the rows of a game.
        note: what else there is to know, "" for nothing.
        whole: whether its rows are of all games together, which `given` then does not give.
    """

    name: str
    row: str
    key: tuple[str, ...]
    of: type
    given: Callable[[ExportedGame], Iterable[Any]]
    note: str = ""
    whole: bool = False

    @property
    def columns(self) -> tuple[Column, ...]:
        """The columns, in order."""
        return exported(self.of)

    def rows(self, game: ExportedGame) -> Iterable[Row]:
        """Return the rows of one game; each holds a value for every column."""
        return self.cells(self.given(game))

    def cells(self, rows: Iterable[Any]) -> Iterable[Row]:
        """Return what is exported of rows of its class."""
        return map(reader(self.of), rows)


_TABLES: Final = (
    ExportTable(
        "games",
        "a game, finished or not, as far as its file holds",
        ("game_id",),
        ExportedGame,
        lambda game: (game,),
    ),
    ExportTable("seats", "a player of a game", ("seat_id",), SeatRow, lambda game: game.rows.seats.values()),
    ExportTable(
        "statements",
        "a public statement, a turn of the debate or the published reason of a vote, with its speaker's own label",
        ("statement_id",),
        StatementRow,
        lambda game: game.rows.statements,
    ),
    ExportTable(
        "judgements",
        "what one living player made of another's statement",
        ("judgement_id",),
        JudgementRow,
        lambda game: game.rows.judgements,
        "A judgement that did not come, or could not be read, is a row with nulls for its answer.",
    ),
    ExportTable(
        "votes",
        "a ballot of a vote that was counted",
        ("vote_id",),
        VoteRow,
        lambda game: game.rows.votes,
        "A vote that did not come, or could not be used, abstains; `outcome` tells it from one that was meant to.",
    ),
    ExportTable(
        "bids",
        "what a living player bids for a turn of the debate",
        ("bid_id",),
        BidRow,
        lambda game: game.rows.bids,
        "Published logs of the paper's code have none.",
    ),
    ExportTable(
        "suspicion",
        "smoothed suspicion D of one player towards another, at the end of a round or of the game",
        ("observer_id", "target_id", "moment", "round"),
        SuspicionRow,
        lambda game: chain(game.rows.suspicion_by_round(), game.rows.final_suspicion()),
        "D starts from `games.prior`; a judgement moves it to α·s + (1−α)·D with α = `games.alpha`. It freezes when "
        "either player leaves. `round` rows are of pairs that were both alive when the round's last judgement was "
        "joined (Figure 1), `final` rows of all pairs (Table 2); pairs without a judgement so far have no row.",
    ),
    ExportTable(
        "calls",
        "a question put to a language model, its retries included",
        ("call_id",),
        CallRow,
        lambda game: game.rows.call_rows,
        "Prompts and replies are left out; `wolfbus replay RECORD --prompt LINE` shows those of a call. Tokens played "
        "from a cassette are those of the recorded call: for what was paid, sum `cost_usd` where `cassette` is false.",
    ),
    ExportTable(
        "claims",
        "something that a statement asserts and that the hidden state can confirm or refute",
        ("statement_id", "place"),
        ClaimRow,
        lambda game: game.rows.claims(),
    ),
    ExportTable("nights", "what a night really did", ("game_id", "round"), NightRow, lambda game: game.rows.nights),
    ExportTable(
        "inspections",
        "what a Seer learned in a night",
        ("seer_id", "round"),
        InspectionRow,
        lambda game: game.rows.inspections,
    ),
    ExportTable(
        "protections",
        "whom a Doctor protected in a night",
        ("doctor_id", "round"),
        ProtectionRow,
        lambda game: game.rows.protections,
    ),
    ExportTable(
        "whispers",
        "what a Werewolf proposed to its partners at night",
        ("whisper_id",),
        WhisperRow,
        lambda game: game.rows.whispers,
        "Only games whose rules let Werewolves whisper have any; published logs of the paper's code have none.",
    ),
    ExportTable(
        "results",
        "a headline metric over all games of the export, with its 95 % interval",
        ("metric", "group", "observers"),
        ResultRow,
        lambda _game: (),
        "The same numbers as `wolfbus report --json` gives of these games, in one long table.",
        whole=True,
    ),
)

TABLES: Final[dict[str, ExportTable]] = {table.name: table for table in _TABLES}
"""All tables by name; every one refers only to others among them."""
