"""`wolfbus compare`: two studies, or two agents of one, metric by metric."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from wolfbus import __version__
from wolfbus.cli import FAILED
from wolfbus.cli.measuring import (
    cache_option,
    criteria_of,
    criteria_options,
    print_problem_count,
    read_games,
    workers_option,
)
from wolfbus.cli.options import FILE, json_option
from wolfbus.errors import ConfigError
from wolfbus.files.printable import printable
from wolfbus.files.whole_file import check_writable, is_stdout, write_named

if TYPE_CHECKING:
    from analytics.gather import Criteria, Gathered
    from analytics.tables import Tables


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
    "--margin",
    "margins",
    multiple=True,
    metavar="NAME=SIZE",
    help="Tell whether A and B differ in this metric by less than that (two one-sided tests); repeatable. Else the "
    "margins that the studies declared ([report] margins).",
)
@click.option(
    "--different-times",
    is_flag=True,
    help="Compare studies even though their labels were asked for at different times.",
)
@click.option("-o", "--output", type=FILE, metavar="FILE.html", help="Write a page with a forest plot, too.")
@criteria_options
@workers_option
@cache_option
@json_option
@click.option("--csv", "as_table", is_flag=True, help="Print CSV on stdout and nothing else.")
def compare(
    sources: tuple[str, ...],
    agents: tuple[str, str] | None,
    metrics: tuple[str, ...],
    permutations: int,
    workers: int | None,
    output: Path | None,
    margins: tuple[str, ...],
    *,
    different_times: bool,
    as_json: bool,
    as_table: bool,
    cached: bool,
    **options: Any,
) -> int:
    """Compare two studies, folders or files A and B in every headline metric: the two values, their difference with a
    bootstrap interval, and a permutation p-value. Those of the primary metrics, at most six that the study declared
    before it was played ([report] primary in its file), are adjusted together; all else is exploratory.

    Games of the same seed are paired. Studies that asked for labels at different times are refused without
    --different-times: their labels are not of one measurement. With --agents, compare two agents (brains) within the
    games of all that is given.

    It exits 1 if something is wrong with a file. What holds of a damaged one is counted all the same, one that is not
    what its study noted is not.
    """
    from analytics import compare as comparing
    from analytics.gather import once

    if as_json and as_table:
        raise ConfigError("--json or --csv: give one of them")
    if output is not None:
        check_writable(output)
    chosen, criteria = _metrics(metrics), criteria_of(**options)
    if agents is None and len(sources) != 2:
        raise ConfigError("give two studies, folders or files to compare, or --agents X Y")
    groups = [sources] if agents is not None else [[source] for source in sources]
    gathered = [_read(group, criteria, workers, cached=cached) for group in groups]
    tables, primary = [group.tables for group in gathered], _primary(gathered)
    if agents is not None:
        x, y = names = _agent(tables[0], agents[0]), _agent(tables[0], agents[1])
        if x == y:
            raise ConfigError(f"--agents: {agents[0]} and {agents[1]} are the same agent, {x}")
    else:
        names = sources[0], sources[1]
        times = map(comparing.asked_in, tables)
        if not different_times and (fault := comparing.asked_differently("label", *times)):
            raise ConfigError(f"{fault}; --different-times compares them all the same, and says so")
    declared = {} if agents is not None else _margins(margins, gathered)

    def compared() -> dict[str, Any]:
        if agents is not None:
            return comparing.compare_agents(tables[0], *names, chosen, permutations, primary)
        return comparing.compare(tables[0], tables[1], names, chosen, permutations, primary, declared)

    key = (*(names if agents is not None else [names]), chosen, permutations, primary, declared)
    result = once("comparison", [group.basis for group in gathered], compared, *key)
    if output is not None:
        write_named(output, [comparing.compared_page(result, __version__)])
        click.echo(f"Page: {output}", err=as_json or as_table or is_stdout(output))
    if as_json:
        click.echo(json.dumps(result, allow_nan=False))
    else:
        click.echo(comparing.as_csv(result) if as_table else comparing.render(result), nl=False)
    damaged = [problem for group in gathered for problem in group.problems]
    print_problem_count(damaged)
    return FAILED if damaged else 0


def _metrics(names: Sequence[str]) -> list[str] | None:
    from analytics.metrics.headlines import check_metric

    return list(dict.fromkeys(map(check_metric, names))) or None


def _margins(options: Sequence[str], read: Sequence[Gathered]) -> dict[str, float]:
    """Return the margins that options name, or else those that the studies declared, if they agree."""
    from analytics.metrics.primary import check_margins

    if not options:
        declared = [study.manifest.get("margins") or {} for gathered in read for study in gathered.studies]
        return dict(declared[0]) if declared and all(margins == declared[0] for margins in declared) else {}
    margins: dict[str, float] = {}
    for margin in options:
        name, _, size = margin.partition("=")
        try:
            margins[name] = float(size)
        except ValueError:
            raise ConfigError(f"--margin {margin}: give NAME=SIZE, as in werewolf_wins=0.1") from None
    return check_margins(margins, "--margin")


def _primary(read: Sequence[Gathered]) -> tuple[str, ...]:
    """Return the primary metrics that the studies declared, the usual ones unless they agree."""
    from analytics.metrics.primary import primary_of

    return primary_of(study.manifest for gathered in read for study in gathered.studies)[0]


def _read(sources: Sequence[str], criteria: Criteria, workers: int | None, *, cached: bool) -> Gathered:
    """Return the games, and say what of their studies was checked."""
    from analytics.report.caveats import all_defaults, spoilt_games

    gathered = read_games(sources, criteria, workers, cached=cached)
    defaults = all_defaults({"repair": gathered.ledger.repair()})
    for line in filter(None, [defaults, spoilt_games(gathered.files), *gathered.checked]):
        click.echo(f"wolfbus: {line}", err=True)
    return gathered


def _agent(tables: Tables, name: str) -> str:
    """Return the agent of that name, or the only one whose name holds it."""
    if name in tables.agents:
        return name
    matches = [agent for agent in tables.agents if name in agent]
    if len(matches) == 1:
        return matches[0]
    names = ", ".join(printable(agent, 80) for agent in matches or tables.agents)
    fault = "several agents have that in their names" if matches else "there is no such agent"
    raise ConfigError(f"--agents {name}: {fault}; there are {names}")
