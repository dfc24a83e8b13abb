"""`wolfbus compare`: two studies, or two agents of one, metric by metric."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from wolfbus.cli import FAILED
from wolfbus.cli.options import (
    cache_option,
    criteria_of,
    criteria_options,
    tell_how_many,
    tell_problems,
    workers_option,
)

if TYPE_CHECKING:
    from analytics.columns import Columns
    from analytics.gather import Criteria, Gathered


@click.command()
@click.argument("sources", nargs=-1, required=True, metavar="A B | A...")
@click.option("--agents", nargs=2, metavar="X Y", help="Compare two agents within what is given.")
@click.option("--metric", "metrics", multiple=True, metavar="NAME", help="Compare in this metric only; repeatable.")
@click.option(
    "--permutations",
    type=click.IntRange(100, 1_000_000),
    default=10_000,
    show_default=True,
    help="Rearrangements to draw; where there are no more than that, each is taken once.",
)
@click.option(
    "-o",
    "--output",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE.html",
    help="Write a page with a forest plot, too.",
)
@criteria_options
@workers_option
@cache_option
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object on stdout and nothing else.")
@click.option("--csv", "as_table", is_flag=True, help="Print CSV on stdout and nothing else.")
def compare(
    sources: tuple[str, ...],
    agents: tuple[str, str] | None,
    metrics: tuple[str, ...],
    permutations: int,
    workers: int | None,
    output: Path | None,
    *,
    as_json: bool,
    as_table: bool,
    no_cache: bool,
    **criteria: Any,
) -> int:
    """Compare two studies, folders or files A and B in every headline metric: the two values, their difference with a
    bootstrap interval, and a permutation p-value. Those of the primary metrics, at most six that the study declared
    before it was played ([report] primary in its file), are adjusted together; all else is exploratory.

    Games of the same seed are paired. With --agents, compare two agents (brains) within the games of all that is given.

    It exits 1 if something is wrong with a file. What holds of a damaged one is counted all the same, one that is not
    what its study noted is not.
    """
    from analytics import compare as comparing
    from analytics.gather import once
    from wolfbus import __version__
    from wolfbus.errors import ConfigError
    from wolfbus.whole_file import write_whole

    if as_json and as_table:
        raise ConfigError("--json or --csv: give one of them")
    if output is not None and not output.absolute().parent.is_dir():
        raise ConfigError(f"--output {output}: no such folder {output.parent}")
    wanted = _metrics(metrics)
    how = criteria_of(**criteria)
    if agents is not None:
        read = _read(sources, how, workers, cached=not no_cache)
        columns, damaged = read.columns, read.problems
        x, y = (_agent(columns, name) for name in agents)
        if x == y:
            raise ConfigError(f"--agents: {agents[0]} and {agents[1]} are the same agent, {x}")
        primary = _primary([read])
        result = once(
            "comparison",
            [read.basis],
            lambda: comparing.compare_agents(columns, x, y, wanted, permutations, primary),
            *(x, y, wanted, permutations, primary),
        )
    elif len(sources) == 2:
        a, b = (_read([source], how, workers, cached=not no_cache) for source in sources)
        damaged = a.problems + b.problems
        names = sources[0], sources[1]
        primary = _primary([a, b])
        result = once(
            "comparison",
            [a.basis, b.basis],
            lambda: comparing.compare(a.columns, b.columns, names, wanted, permutations, primary),
            *(names, wanted, permutations, primary),
        )
    else:
        raise ConfigError("give two studies, folders or files to compare, or --agents X Y")
    if output is not None:
        write_whole(output, [comparing.compared_page(result, __version__)])
        click.echo(f"Page: {output}", err=as_json or as_table)
    click.echo(_shown(result, as_json=as_json, as_table=as_table), nl=False)
    tell_how_many(damaged)
    return FAILED if damaged else 0


def _shown(result: dict[str, Any], *, as_json: bool, as_table: bool) -> str:
    from analytics import compare as comparing

    if as_json:
        return json.dumps(result, allow_nan=False) + "\n"
    return comparing.as_csv(result) if as_table else comparing.render(result)


def _metrics(names: Sequence[str]) -> list[str] | None:
    from analytics.measures.headlines import MEASURES
    from wolfbus.errors import ConfigError

    for name in names:
        if name not in MEASURES:
            whole = [known for known in MEASURES if "/" not in known]
            roles = "and some by role, such as accuracy/Seer"
            raise ConfigError(f"--metric {name}: there is no such metric; there are {', '.join(whole)}, {roles}")
    return list(dict.fromkeys(names)) or None


def _primary(read: Sequence[Gathered]) -> tuple[str, ...]:
    """Return the primary metrics that the studies declared, the usual ones unless they agree."""
    from analytics.measures.primary import primary_of

    return primary_of(study.manifest for gathered in read for study in gathered.studies)[0]


def _read(sources: Sequence[str], criteria: Criteria, workers: int | None, *, cached: bool) -> Gathered:
    """Return the games, and say with which files something is wrong."""
    from analytics.gather import gather
    from wolfbus.errors import RecordError

    gathered = gather(sources, criteria, workers=workers, cached=cached)
    tell_problems(gathered.problems)
    for line in gathered.checked:
        click.echo(f"wolfbus: {line}", err=True)
    if not gathered.columns.ids:
        raise RecordError(f"{', '.join(sources)}: no game could be read")
    return gathered


def _agent(columns: Columns, name: str) -> str:
    """Return the agent of that name, or the only one whose name holds it."""
    from wolfbus.errors import ConfigError
    from wolfbus.printable import printable

    if name in columns.agents:
        return name
    found = [agent for agent in columns.agents if name in agent]
    if len(found) == 1:
        return found[0]
    known = ", ".join(printable(agent, 80) for agent in found or columns.agents)
    told = "several agents have that in their names" if found else "there is no such agent"
    raise ConfigError(f"--agents {name}: {told}; there are {known}")
