"""`wolfbus plan`: how many games a study needs to find a difference, judged by a pilot."""

from __future__ import annotations

import json
from typing import Any

import click

from wolfbus.cli import FAILED
from wolfbus.cli.measuring import criteria_of, print_forks, print_problem_count, print_spoilt, read_games
from wolfbus.cli.options import PATH, Share, json_option
from wolfbus.errors import ConfigError
from wolfbus.files.formats import in_unit
from wolfbus.files.printable import counted

_LARGEST = 1_000_000
"""Of differences; no metric's unit has larger ones."""


@click.command()
@click.option("--from", "pilot", type=PATH, required=True, metavar="DIR", help="The pilot: a study, or any records.")
@click.option("--metric", required=True, metavar="NAME", help="The metric whose difference is to be found.")
@click.option("--difference", type=float, metavar="D", help="From its baseline, in the metric's own unit.")
@click.option("--games", type=click.IntRange(1), metavar="N", help="Say what so many games could find instead.")
@click.option("--power", type=Share(), default=0.8, show_default=True, help="How often it is to be found.")
@json_option
def plan(pilot: str, metric: str, difference: float | None, games: int | None, power: float, *, as_json: bool) -> int:
    """Say how many games a study needs so that its report states a difference from a metric's baseline, or how small a
    difference so many games would state.

    Studies are drawn from the pilot's blocks of games, their variance taken at its upper 80 % bound, and judged as
    `wolfbus report` does: with all primary metrics together, adjusted p below .02, interval without 0. A study from
    scripts says nothing of how much games of models vary: let the pilot be of what is to be studied. It
    exits 1 if something is wrong with a file.
    """
    if (difference is None) == (games is None):
        raise ConfigError("give --difference D or --games N")
    if difference is not None and not 0 < abs(difference) <= _LARGEST:
        raise ConfigError(f"--difference {difference}: give a number other than 0, at most {_LARGEST:,}")
    if not 0 < power < 1:
        raise ConfigError(f"--power {power}: give a share between 0 and 1")
    from analytics.metrics.planning import MOST, pilot_of
    from analytics.metrics.primary import primary_of
    from analytics.metrics.study import Study

    gathered = read_games([str(pilot)], criteria_of(prove=False), None, cached=True)
    print_spoilt(gathered)
    print_forks(gathered)
    primary, _ = primary_of(study.manifest for study in gathered.studies)
    planned = pilot_of(Study(gathered.tables), metric, primary)
    if games is not None and games > planned.games(MOST):
        raise ConfigError(f"--games {games}: give {planned.games(MOST):,} at most")
    result: dict[str, Any] = {"metric": metric, "unit": planned.unit, "power": power}
    lines = []
    if difference is not None:
        curve = sorted(planned.curve(difference, power))
        games = next((planned.games(blocks) for blocks, reached in curve if reached >= power), None)
        result["curve"] = [{"games": planned.games(blocks), "power": reached} for blocks, reached in curve]
        lines = [
            f"{planned.games(blocks):7,} games  {reached:4.0%}  {'█' * round(30 * reached)}"
            for blocks, reached in curve
        ]
        if games is None:
            lines.append(f"More than {counted(planned.games(MOST), 'game')} are needed")
    else:
        difference = planned.smallest(round((games or 0) / planned.games_per_block), power)
        if difference is None:
            lines.append(f"{counted(games or 0, 'game')} can state no difference, being too few")
    if None not in (games, difference):
        apart = in_unit(difference, planned.unit)
        lines.append(f"{counted(games or 0, 'game')} state a difference of {apart} in {100 * power:.4g}% of studies")
    click.echo(json.dumps({**result, "games": games, "difference": difference}) if as_json else "\n".join(lines))
    print_problem_count(gathered.problems)
    return FAILED if gathered.problems else 0
