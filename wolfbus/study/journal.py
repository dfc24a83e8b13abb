"""Reading a study's journal: what came of each game, a line each, written at once."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from wolfbus.errors import ConfigError
from wolfbus.study.result import GameResult, Spent, read_line

JOURNAL: Final = "journal.jsonl"
"""Results as they came, one a line; not ``.ndjson``, since that is what records are called."""


def read_journal(path: Path) -> Iterator[GameResult | Spent | dict[str, Any]]:
    """Yield what the lines of a journal say, in their order; nothing if there is no such file.

    Raises:
        ConfigError: it is no file, or a line about what is spent cannot be understood; the message
        names the line.
    """
    for number, line in _lines(path):
        try:
            said = read_line(line)
        except ConfigError as error:
            raise ConfigError(f"{path}: line {number}: {error}") from None
        if said is not None:
            yield said


def read_results(path: Path) -> dict[str, GameResult]:
    """Return the latest result of every game in a journal, by game id.

    Lines about anything else are passed over, those that cannot be understood included: nothing is
    spent by reading.

    Raises:
        ConfigError: it is no file.
    """
    results: dict[str, GameResult] = {}
    for _, line in _lines(path):
        try:
            said = read_line(line)
        except ConfigError:
            # about money; whoever goes on with the study is told
            continue
        if isinstance(said, GameResult):
            results[said.game] = said
    return results


def _lines(path: Path) -> Iterator[tuple[int, bytes]]:
    if path.exists() and not path.is_file():
        raise ConfigError(f"{path}: not a file")
    try:
        with path.open("rb") as file:
            yield from enumerate(file, 1)
    except FileNotFoundError:
        return
