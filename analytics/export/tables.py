"""`TABLES`: the exported tables, and how a file becomes a game of theirs.

What a column is called and means stands at the row's field (`analytics.rows.fields`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import chain
from typing import Annotated, Any, ClassVar, Final, Literal, TypeAlias

from analytics.gather import Collection, Criteria, FileNote, Planned
from analytics.gather.reading import read_game
from analytics.measures.columns import Columns
from analytics.rows import (
    BidRow,
    CallRow,
    ClaimRow,
    GameRows,
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
from analytics.rows.fields import FOREIGN, Cell, Column, Derived, Nested, exported, reader
from wolfbus.canonical import canonical
from wolfbus.printable import NOTE_SHOWN, printable
from wolfbus.record.line import Recorded

_NO_STUDY = "no study.json tells of it"


@dataclass(frozen=True, slots=True)
class ExportedGame:
    """One game, as far as its file holds.

    Attributes:
        note: what became of the file.
        planned: its place in a study; None for a game of none.
        rows: the game itself, with the statements' words.
    """

    note: FileNote
    planned: Planned | None
    id: ClassVar[Derived[Annotated[str, Column("the game", name="game_id")]]] = Derived(lambda game: game.rows.game)
    study: ClassVar[
        Derived[Annotated[str | None, Column("the study that it was played in", _NO_STUDY, category=True)]]
    ] = Derived(lambda game: None if game.planned is None else game.planned.study)
    number: ClassVar[Derived[Annotated[int | None, Column("its number in the study", _NO_STUDY)]]] = Derived(
        lambda game: None if game.planned is None else game.planned.number
    )
    block: ClassVar[
        Derived[
            Annotated[
                str,
                Column("games of one block belong together: resample blocks, not games; a game of no study is its own"),
            ]
        ]
    ] = Derived(lambda game: game.id if game.planned is None else game.planned.block)
    file: ClassVar[Derived[Annotated[str, Column("name of the file it was read from")]]] = Derived(
        lambda game: game.note.path.replace("\\", "/").rsplit("/", 1)[-1]
    )
    problem: ClassVar[
        Derived[
            Annotated[
                str | None,
                Column("why the file does not hold to its end; what stands before is exported", "it does"),
            ]
        ]
    ] = Derived(lambda game: None if game.note.problem is None else printable(game.note.problem, 2 * NOTE_SHOWN))
    rows: Annotated[GameRows, Nested]
    lines: Annotated[int, Column("lines of the record that hold; 0 for a published log")] = 0
    digest: Annotated[
        str | None,
        Column(
            "SHA-256 of rules, seats, accepted answers and what followed: equal digests, equal games",
            "the file does not hold to the game's end, or a published log",
        ),
    ] = None
    config: ClassVar[Derived[Annotated[str | None, Column("all rules, as JSON", FOREIGN)]]] = Derived(
        lambda game: _rules(game.rows)
    )


def _rules(rows: GameRows) -> str | None:
    return None if rows.opened is None else canonical(rows.opened.config.model_dump(mode="json")).decode()


def read_games(
    collection: Collection,
    criteria: Criteria | None = None,
    tell: Callable[[int, int], None] = lambda _read, _all: None,
    watch: Callable[[Recorded], None] | None = None,
) -> Iterator[tuple[FileNote, ExportedGame | None]]:
    """Yield what became of each file, with its game where at least the opening holds.

    What is checked, and what counts, is as `read_game` has it.

    Args:
        collection: what to read.
        criteria: how to compute; as the games were played unless given.
        tell: called after each file with the number of files read, and of all.
        watch: called with every line of a record that holds, before its game is yielded.
    """
    for note in collection.refused:
        yield note, None
    for number, source in enumerate(collection.files, 1):
        note, rows = read_game(source, criteria or Criteria(), keep_text=True, watch=watch or (lambda _recorded: None))
        game = None
        if rows is not None:
            lines = 0 if note.published else note.events
            game = ExportedGame(note, collection.planned.get(rows.game), rows, lines, note.digest)
        yield note, game
        # a game is large; it goes before the next one comes
        del game, rows
        tell(number, len(collection.files))


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
    from analytics.measures.study import Study, variability

    study = Study(columns)
    for name, figure in variability(study)["metrics"].items():
        metric, _, role = name.partition("/")
        group = f"role:{role}" if role else "all"
        everybody = figure.get("all_observers")
        yield _row(metric, group, "uninformed" if everybody else "none", figure)
        if everybody:
            yield _row(metric, group, "all", everybody)
    for agent, row in agents(study).items():
        flat = {**row, **{f"{side}_won": estimate for side, estimate in row["wins"].items()}}
        for metric, figure in flat.items():
            if isinstance(figure, dict) and "value" in figure:
                yield _row(metric, f"agent:{agent}", "none" if metric in _OF_SEATS else "uninformed", figure)


_OF_SEATS = frozenset({"deception_rate", "villagers_won", "werewolves_won"})


def _row(metric: str, group: str, observers: Any, figure: Mapping[str, Any]) -> ResultRow:
    return ResultRow(
        metric=metric,
        group=group,
        observers=observers,
        value=figure["value"],
        low=figure.get("low"),
        high=figure.get("high"),
        n=figure["n"],
        unit=figure.get("unit") or "share",
        baseline=figure.get("baseline"),
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
        rows_of: the rows of a game.
        note: what else there is to know, "" for nothing.
        whole: whether its rows are of all games together, which `rows_of` then does not give.
    """

    name: str
    row: str
    key: tuple[str, ...]
    of: type
    rows_of: Callable[[ExportedGame], Iterable[Any]]
    note: str = ""
    whole: bool = False

    @property
    def columns(self) -> tuple[Column, ...]:
        """The columns, in order."""
        return exported(self.of)

    def rows(self, game: ExportedGame) -> Iterable[Row]:
        """Return the rows of one game; each holds a value for every column."""
        return self.cells(self.rows_of(game))

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
