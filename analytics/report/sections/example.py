"""What a game looked like: one of usual length, told in a few lines."""

from __future__ import annotations

from collections.abc import Sequence

from analytics.report.context import Context
from analytics.report.entries import IndexedGame, StatementEntry
from wolfbus.document.blocks import Bullets, LinkText, Part, Section, plain
from wolfbus.document.formats import of, words

_PER_ROUND = 2
_ROUNDS = 2
_TEXT = 140
_NAME = 32


def chosen_example(games: Sequence[IndexedGame]) -> IndexedGame | None:
    """Return the finished game whose number of statements is the median, the first of equals; None if there is none."""
    finished = sorted((each for each in games if each.rows.finished), key=lambda each: len(each.entries))
    return finished[len(finished) // 2] if finished else None


def section(game: IndexedGame, context: Context) -> Section:
    """Return the seats, the most suspected statements of the first rounds, and how it ended."""
    rows = game.rows
    seats = ", ".join(
        f"{words(seat.name, _NAME)} {seat.role} ({context.name(seat.agent)})" for seat in rows.seats.values()
    )
    winner = {"villagers": "The villagers won", "werewolves": "The Werewolves won", None: "Nobody won"}[rows.winner]
    lines: list[tuple[Part, ...]] = []
    for round_ in range(1, min(rows.rounds, _ROUNDS) + 1):
        said = [entry for entry in game.entries if entry.row.round == round_ and entry.row.text]
        heard = sorted(said, key=_suspicion, reverse=True)[:_PER_ROUND]
        lines += [_line(entry) for entry in sorted(heard, key=lambda each: each.row.number)]
    told = f"{winner} after {of(rows.rounds, 'round')} and {of(len(game.entries), 'statement')}. The most suspected:"
    return Section(
        "example",
        "What a game looked like",
        (
            plain(f"One game of usual length, {words(rows.game, 60)}: {seats}."),
            plain(told),
            Bullets(tuple(lines)),
            plain(LinkText("The whole game", f"game-{game.place}")),
        ),
    )


def _suspicion(entry: StatementEntry) -> float:
    given = [each.row.s for each in entry.judgements if each.row.s is not None]
    return sum(given) / len(given) if given else 0.0


def _line(entry: StatementEntry) -> tuple[Part, ...]:
    row = entry.row
    judged = [each for each in entry.judgements if each.row.d is not None]
    flags = sum(bool(each.row.d) for each in judged)
    label = entry.said or "not labelled"
    lie = "; a lie by its claims" if entry.truth == "lie" else ""
    return (
        f"Round {row.round}, {words(row.speaker, _NAME)} ({row.role}): ",
        LinkText(f"“{words(row.text or '', _TEXT)}”", entry.anchor),
        f" Its own label: {label}{lie}; {flags} of {len(judged)} flag it.",
    )
