"""The table of games."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from analytics.export.column import Column, ExportTable, Row, text
from analytics.export.game import ExportedGame
from analytics.export.ids import LINE
from wolfbus.canonical import canonical
from wolfbus.printable import NOTE_SHOWN, printable

_FOREIGN: Final = LINE.null


def _rows(game: ExportedGame) -> Iterator[Row]:
    rows, opened, planned = game.rows, game.details.opened, game.planned
    problem = game.note.problem
    yield (
        game.id,
        None if planned is None else planned.study,
        None if planned is None else planned.number,
        game.block,
        game.note.path.replace("\\", "/").rsplit("/", 1)[-1],
        None if problem is None else printable(problem, 2 * NOTE_SHOWN),
        None if opened is None else opened.version,
        None if opened is None else opened.started,
        text(rows.seed),
        rows.protocol,
        rows.alpha,
        rows.prior,
        rows.include_defaulted,
        rows.finished,
        rows.winner,
        rows.reason,
        rows.rounds,
        rows.night_count,
        rows.debate_turns,
        rows.voting_rounds,
        len(rows.seats),
        len(rows.statements),
        len(rows.judgements),
        len(game.details.calls),
        rows.critical_path,
        rows.seconds,
        game.lines,
        game.digest,
        None if opened is None else canonical(opened.config.model_dump(mode="json")).decode(),
    )


GAMES: Final = ExportTable(
    name="games",
    row="a game, finished or not, as far as its file holds",
    key=("game_id",),
    rows=_rows,
    columns=(
        Column("game_id", "text", "the game"),
        Column("study", "category", "the study that it was played in", null="no study.json tells of it"),
        Column("number", "integer", "its number in the study", null="no study.json tells of it"),
        Column(
            "block",
            "text",
            "games of one block belong together: resample blocks, not games; a game of no study is its own",
        ),
        Column("file", "text", "name of the file it was read from"),
        Column(
            "problem", "text", "why the file does not hold to its end; what stands before is exported", null="it does"
        ),
        Column("wolfbus", "category", "version of the wolfbus that moderated", null=_FOREIGN),
        Column("started", "real", "when it was opened", null=_FOREIGN, unit="seconds since 1970-01-01 UTC"),
        Column("seed", "text", "what every draw of the game follows from", null=_FOREIGN),
        Column("protocol", "category", "how model players were asked", values=("paper", "compact")),
        Column("alpha", "real", "weight of a new judgement in smoothed suspicion, as exported", unit="share"),
        Column("prior", "real", "smoothed suspicion before any judgement, as exported", unit="share"),
        Column(
            "include_defaulted",
            "boolean",
            'whether missing labels and judgements were filled in as the paper\'s code did: "truthful", suspicion 0.5',
        ),
        Column("finished", "boolean", "whether it came to its end"),
        Column("winner", "category", "who won", null="nobody, or it is unfinished", values=("villagers", "werewolves")),
        Column(
            "reason",
            "category",
            "why it is over",
            null="it is unfinished, or a log that does not say",
            values=("no_wolves_left", "wolves_reach_parity", "max_rounds"),
        ),
        Column("rounds", "integer", "rounds begun"),
        Column("nights", "integer", "nights played"),
        Column("debate_turns", "integer", "turns of debate, silent ones included"),
        Column("voting_rounds", "integer", "votes held"),
        Column("seats", "integer", "players"),
        Column("statements", "integer", "statements made: its rows in that table"),
        Column("judgements", "integer", "judgements asked for and joined: its rows in that table"),
        Column("calls", "integer", "model calls: its rows in that table"),
        Column("critical_path", "integer", "model calls of the longest chain that had to wait for one another"),
        Column("seconds", "real", "from the opening to the latest event", null=_FOREIGN, unit="seconds"),
        Column("lines", "integer", "lines of the record that hold; 0 for a published log"),
        Column(
            "digest",
            "text",
            "SHA-256 of rules, seats, accepted answers and what followed: equal digests, equal games",
            null="the file does not hold to the game's end, or a published log",
        ),
        Column("config", "text", "all rules, as JSON", null=_FOREIGN),
    ),
)
