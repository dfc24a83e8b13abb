"""`FactorialRun`: the cells of a study with factors, each a study in a folder of its own, played by turns.

Some games of each cell are played before more of any: were a model to change under way, it would change for all cells
alike, and not for the last ones alone.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import click

from wolfbus.errors import ConfigError
from wolfbus.files.canonical import sha256_hex
from wolfbus.files.whole_file import write_whole
from wolfbus.game.config import read_toml_file
from wolfbus.game.fresh import fresh_seed
from wolfbus.running.loading import RunOptions, load_study
from wolfbus.running.study import prepare_run
from wolfbus.running.study_run import Ending, StudyRun
from wolfbus.study.factors import FILE, TABLE, Cell, NotedCells, cells_of, factors_of, noted_cells
from wolfbus.study.manifest import FILE as MANIFEST

_TURN: Final = 8
"""Games of a cell at least that are played before those of the next."""

Confirm = Callable[[Path, Sequence[str]], bool]


class FactorialRun:
    """A run of a study with factors.

    Args:
        folder: its folder, in which every cell has one.
        cells: what was noted of them.
        options: fields of `wolfbus.study.settings.StudySettings` that come before those of each cell.
        run_options: how they are played.
        confirm: as for `wolfbus.running.study.prepare_run`.

    Attributes:
        runs: the last run of each cell, by its name.
    """

    def __init__(
        self, folder: Path, cells: NotedCells, options: Mapping[str, Any], run_options: RunOptions, confirm: Confirm
    ) -> None:
        self.folder = folder
        self.cells = cells
        self.runs: dict[str, StudyRun] = {}
        self._options = options
        self.run_options = run_options
        self._confirm = confirm

    def play(self) -> Ending:
        """Play what is missing of all cells.

        Raises:
            ConfigError, WolfError, OSError: as `StudyRun.play`.
        """
        names, until = list(self.cells.cells), 0
        while True:
            until, games = self._next(until), 0
            for name in names:
                earlier = self.runs.get(name)
                run = self.runs[name] = self._run(name, probe=earlier is None)
                games = max(games, run.study.settings.games)
                if not self.run_options.quiet:
                    click.echo(f"wolfbus: {name}: games up to {min(until, games)} of {games}", err=True)
                ending = run.play(until, again=earlier is not None)
                if earlier is not None:
                    run.unheard += earlier.unheard
                if ending != "through":
                    return ending
            if until >= games:
                return "through"
            # no cell is always the first, when a server is fresh, or the last
            names = [*names[1:], names[0]]

    def _next(self, until: int) -> int:
        rotation = next((run.plan.design.rotation for run in self.runs.values()), 1)
        return until + rotation * -(-_TURN // rotation)

    def _run(self, name: str, *, probe: bool) -> StudyRun:
        folder = self.folder / name
        if not (folder / MANIFEST).exists():
            raise ConfigError(f"{folder}: missing, though {self.folder / FILE} names it")
        options = replace(self.run_options, resume=True, probe=self.run_options.probe and probe)
        return prepare_run(None, None, self._options, options, folder, self._confirm)


def prepare_factorial(
    study: Path | None,
    config_file: Path | None,
    options: Mapping[str, Any],
    run_options: RunOptions,
    out: Path | None,
    confirm: Confirm,
) -> FactorialRun | None:
    """Return a run of a study with factors, its cells begun and still to be played; None if it is a study without.

    Args:
        study: the study's file; None for none.
        config_file: as for `wolfbus.running.study.prepare_run`, and so are all others.
        options: what comes before the study's.
        run_options: how it is played.
        out: the folder; unless given, one under runs/ that is named by what is played.
        confirm: whether to run what somebody else's folder names.

    Raises:
        ConfigError: one line that names the file, the factor or cell, and the reason.
        OSError: the folder cannot be written.
    """
    settings = {name: value for name, value in options.items() if value is not None}
    if run_options.resume:
        noted = None if out is None else noted_cells(out)
        if out is None or noted is None:
            return None
        if study is not None:
            raise ConfigError(f"{out}: its cells say what is played: go on with --resume and --out alone")
        return FactorialRun(out, noted, settings, run_options, confirm)
    table = {} if study is None or study.is_dir() else read_toml_file(study)
    if study is None or TABLE not in table:
        return None
    if run_options.house is not None or run_options.share is not None:
        raise ConfigError(f"{study}: [{TABLE}] is played on this machine: no --house and no --share, but --workers")
    factors = factors_of(table, str(study))
    if config_file is not None and any(factor.place[0] != "players" for factor in factors):
        raise ConfigError(f"{study}: [{TABLE}] varies what stands in the study's file: no --config beside it")
    if "players" in settings and any(factor.place[0] == "players" for factor in factors):
        raise ConfigError(f"{study}: [{TABLE}] varies the players: no --players")
    if "name" in settings:
        # what each cell adds to it tells them apart
        table["name"] = settings.pop("name")
    if "seed" not in settings and "seed" not in table:
        # one for all cells
        settings["seed"] = fresh_seed()
    cells = cells_of(table, str(study))
    _check(cells, str(study), config_file, settings)
    folder = out or Path("runs") / f"factors-{sha256_hex(repr((settings.get('seed'), table)).encode())[:8]}"
    if (folder / FILE).exists():
        raise ConfigError(f"{folder}: there is a study already; add --resume to go on with it")
    for cell in cells:
        home = folder / cell.name
        begun = replace(run_options, resume=(home / MANIFEST).exists())
        prepare_run(cell.table, config_file, settings, begun, home, confirm).play(0, again=True)
    noted = NotedCells(
        factors={factor.name: tuple(map(factor.name_of, factor.levels)) for factor in factors},
        cells={cell.name: dict(cell.levels) for cell in cells},
    )
    write_whole(folder / FILE, [noted.model_dump_json(indent=1), "\n"])
    return FactorialRun(folder, noted, {}, run_options, confirm)


def _check(cells: Sequence[Cell], source: str, config_file: Path | None, options: Mapping[str, Any]) -> None:
    """Refuse a cell that cannot be played, before any is begun."""
    for cell in cells:
        try:
            load_study(cell.table, config_file, options).plan()
        except ConfigError as error:
            raise ConfigError(f"{source}: cell {cell.name}: {str(error).removeprefix('the study: ')}") from None
