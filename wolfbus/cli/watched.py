"""A house's rolling picture in words: plain lines for files and pipes, coloured ones for a terminal."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from rich.text import Text

from wolfbus.cli.panels import FAINT, STRONG, Lines, fit, heat, hundredths, line, section
from wolfbus.printable import counted, name_of, printable

_WINNERS: Final = {"villagers": "villagers", "werewolves": "Werewolves", "nobody": "nobody"}
_NAME: Final = 14
"""Cells of a player and its suspicion."""


def lines(picture: Mapping[str, Any], *, closed: bool) -> list[str]:
    """Return a picture as plain lines."""
    told = [_head(picture, closed=closed), *_figures(picture)]
    for game in picture.get("games", ()):
        met = ", ".join(f"{name_of(name)} {_number(value)}" for name, value in _by_suspicion(game))
        told.append(f"  {_where(game)}: {met or 'nobody judged yet'}")
    return told


def panel(picture: Mapping[str, Any], *, closed: bool, width: int, height: int) -> Lines:
    """Return a picture as coloured lines that fit a terminal; games that do not fit are counted."""
    rows: Lines = [line((_head(picture, closed=closed), STRONG)), *(line(text) for text in _figures(picture)), Text()]
    games = list(picture.get("games", ()))
    if games:
        rows.append(section("Suspicion towards the living, smoothed, mean over observers", width, "00 to 99"))
    room = max(1, (height - len(rows) - 1) // 2)
    for game in games[:room]:
        rows.append(fit(line((_where(game), FAINT)), width))
        parts: list[Any] = ["  "]
        for name, value in _by_suspicion(game)[: max(1, (width - 2) // _NAME)]:
            parts += [
                (f"{name_of(name)[: _NAME - 5]} ", ""),
                (hundredths(value), heat(value)) if value is not None else ("--", FAINT),
                "  ",
            ]
        rows.append(fit(line(*parts), width))
    if len(games) > room:
        rows.append(line((f"and {counted(len(games) - room, 'more game')}", FAINT)))
    return rows


def _head(picture: Mapping[str, Any], *, closed: bool) -> str:
    state = "has closed" if closed else f"{counted(int(picture.get('running', 0)), 'game')} running"
    return f"Session {printable(str(picture.get('session', '')), 64)}: {picture.get('over', 0)} over, {state}"


def _figures(picture: Mapping[str, Any]) -> list[str]:
    winners, scores = picture.get("winners", {}), picture.get("headline", {})
    won = ", ".join(f"{_WINNERS.get(name, name)} {count}" for name, count in winners.items())
    if not scores.get("n"):
        return [f"  won: {won}"]
    over = counted(int(scores["n"]), "judgement")
    accuracy, constant = _number(scores.get("accuracy")), _number(scores.get("constant_accuracy"))
    balanced, area = _number(scores.get("balanced_accuracy")), _number(scores.get("auc"))
    return [
        f"  won: {won}",
        f"  detection over {over}: accuracy {accuracy}, a constant guess has {constant}",
        f"  balanced accuracy {balanced}, AUC of suspicion {area}",
    ]


def _where(game: Mapping[str, Any]) -> str:
    at = f"round {game['round']}, {game['phase']}" if game.get("round") else "begins"
    said = f"{counted(int(game['statements']), 'statement')}, {counted(int(game['judgements']), 'judgement')}"
    out = f", out: {', '.join(name_of(name) for name in game['left'])}" if game["left"] else ""
    return f"{printable(str(game['game']), 64)} {at}, {said}{out}"


def _by_suspicion(game: Mapping[str, Any]) -> list[tuple[str, float | None]]:
    met = game.get("suspicion", {}).items()
    return sorted(met, key=lambda pair: -1.0 if pair[1] is None else pair[1], reverse=True)


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.2f}"
