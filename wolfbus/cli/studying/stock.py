"""`take_stock`: which games of a resumed study are played, by their records and its notes."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import click

from wolfbus.cli.studying.folder import StudyFolder
from wolfbus.cli.studying.reading import cost_of_record, is_whole, result_of
from wolfbus.printable import printable
from wolfbus.study.manifest import FILE, Manifest
from wolfbus.study.noted import NotedGame, notes_of
from wolfbus.study.plan import Plan, PlannedGame
from wolfbus.study.result import GameResult, Spent

_WHY_SHOWN: Final = 500


def take_stock(
    folder: StudyFolder,
    there: Mapping[str, Any],
    plan: Plan,
    games: list[PlannedGame],
    manifest: Manifest,
) -> tuple[list[PlannedGame], Spent]:
    """See which games are played, and move what is not whole or not as noted out of the way.

    Args:
        folder: the study's.
        there: the manifest that is in it.
        plan: the study.
        games: its games.
        manifest: takes in the results of those that are played.

    Returns:
        The games to play, and what is spent so far.

    Raises:
        ConfigError: the journal cannot be read.
        OSError: the folder cannot be written.
    """
    results, spent = folder.read_journal()
    notes = notes_of(folder.path, there, plan.study)
    if notes.fault is not None:
        click.echo(f"wolfbus: {folder.path / FILE}: {notes.fault}", err=True)
    records = {entry.name for entry in os.scandir(folder.records)}
    pending: list[PlannedGame] = []
    lost = 0.0
    for game in games:
        path = folder.path / game.record
        noted = notes.games.get(game.game)
        has_ended = noted is not None and noted.state == "ended"
        if path.name not in records:
            if has_ended:
                _void(folder, game, "missing, though its game was played to its end")
            pending.append(game)
            continue
        result = results.get(game.number)
        if result is None or not _is_noted(result, noted) or not is_whole(path, result.head):
            found = _look_into(path, game, plan, noted if has_ended else None)
            if isinstance(found, str):
                lost += cost_of_record(path)
                aside = folder.set_aside(path)
                if has_ended:
                    # once it is moved: a kill in between must not leave it to be taken over
                    _void(folder, game, f"{found}; it is now {aside}")
                pending.append(game)
                continue
            if result is None or result.head != found.head or result.state != found.state:
                folder.note(found)
            result = found
        manifest.put(result)
    known = max(spent.spent_usd, manifest.cost_usd or 0.0)
    return pending, Spent(spent_usd=known + lost, spent_tokens=spent.spent_tokens)


def _is_noted(result: GameResult, noted: NotedGame | None) -> bool:
    """Return whether journal and manifest note the same record, so that its seals are enough."""
    return result.state == "ended" and noted is not None and noted.agrees


def _look_into(path: Path, game: PlannedGame, plan: Plan, noted: NotedGame | None) -> GameResult | str:
    """Return the result of a record that is as noted; of any other, why it is set aside.

    A run that was killed leaves records of whose end nobody has noted anything. They count as
    played, and are not paid twice, if the rules give every derived event in them.
    """
    from moderator.engine.reexecution import Verifier

    if noted is not None:
        return result_of(path, game, plan.config, noted=noted)
    return result_of(path, game, plan.config, Verifier())


def _void(folder: StudyFolder, game: PlannedGame, why: str) -> None:
    """Say that the record of a game that had ended is not to be had, and note it.

    What was noted of the game's end is of another play: the record to come is not to be measured by
    it, should a kill keep its own result from being noted.
    """
    click.echo(f"wolfbus: {game.record}: {printable(why, _WHY_SHOWN)}; the game is played anew", err=True)
    folder.note(GameResult(number=game.number, game=game.game, state="stopped", error=why[:_WHY_SHOWN]))
