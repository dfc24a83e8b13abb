"""`wolfbus compare`: two studies, or two agents of one, metric by metric."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from wolfbus import __version__
from wolfbus.cli import FAILED
from wolfbus.cli.measuring import (
    cache_option,
    criteria_of,
    criteria_options,
    print_forks,
    print_problem_count,
    read_games,
    workers_option,
)
from wolfbus.cli.options import FILE, json_option, refuse
from wolfbus.errors import ConfigError
from wolfbus.files.printable import printable
from wolfbus.files.whole_file import check_writable, is_stdout, write_named
from wolfbus.study.factors import NotedCells, noted_cells

if TYPE_CHECKING:
    from analytics.gather import Criteria, Gathered
    from analytics.tables import Tables


@click.command()
@click.argument("sources", nargs=-1, required=True, metavar="A B | A...")
@click.option("--agents", nargs=2, metavar="X Y", help="Compare two agents within what is given.")
@click.option("--factor", metavar="NAME", help="Compare two levels of a factor within one study that has [factors].")
@click.option("--levels", nargs=2, metavar="X Y", help="Which two of --factor, where it has more.")
@click.option(
    "--over",
    metavar="NAME",
    help="Tell the difference between the levels of --factor over those of another factor, too, as over a sample of "
    "more that there could be: of wordings, say.",
)
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
    factor: str | None,
    levels: tuple[str, str] | None,
    over: str | None,
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

    Games of the same seed are paired. Of a study with factors (wolfbus run, [factors]), --factor compares all games of
    one level with all of another. Studies that asked for labels at different times are refused without
    --different-times: their labels are not of one measurement. With --agents, compare two agents (brains) within the
    games of all that is given.

    It exits 1 if something is wrong with a file. What holds of a damaged one is counted all the same, one that is not
    what its study noted is not.
    """
    from analytics import compare as comparing
    from analytics.gather import once
    from analytics.metrics.primary import declared_by, primary_of

    refuse(
        (as_json and as_table, "--json or --csv: give one of them"),
        (
            agents is not None and (margins or different_times),
            "--margin and --different-times compare studies: not with --agents",
        ),
    )
    if output is not None:
        check_writable(output)
    chosen, criteria = _metrics(metrics), criteria_of(**options)
    varied = _varied(sources, agents, factor, levels, over)
    groups = _groups(sources, varied, of_agents=agents is not None)
    gathered = [_read(group, criteria, workers, cached=cached) for group in groups]
    tables = [group.tables for group in gathered]
    manifests = [study.manifest for group in gathered for study in group.studies]
    primary, _ = primary_of(manifests)
    if len(declared_by(manifests)) > 1:
        click.echo(
            "wolfbus: the studies declare different primary metrics: the usual ones are adjusted together", err=True
        )
    if agents is not None:
        x, y = names = _agent(tables[0], agents[0]), _agent(tables[0], agents[1])
        if x == y:
            raise ConfigError(f"--agents: {agents[0]} and {agents[1]} are the same agent, {x}")
    else:
        names = varied.names if varied is not None else (sources[0], sources[1])
        times = [comparing.asked_in(part) for part in tables]
        # where that is another factor, both sides have its every level, over the same deals
        is_balanced = varied is not None and times[0] == times[1]
        if not (different_times or is_balanced) and (fault := comparing.asked_differently("label", *times)):
            raise ConfigError(f"{fault}; --different-times compares them all the same, and says so")
    declared = {} if agents is not None else _margins(margins, gathered)

    def compared() -> dict[str, Any]:
        if agents is not None:
            return comparing.compare_agents(tables[0], *names, chosen, permutations, primary)
        result = comparing.compare(tables[0], tables[1], names, chosen, permutations, primary, declared)
        if varied is not None and varied.over:
            result["over"] = varied.across(
                chosen, primary, lambda group: read_games(group, criteria, workers, cached=cached)
            )
        return result

    key = (*(names if agents is not None else [names]), chosen, permutations, primary, declared, over)
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


def _groups(sources: Sequence[str], varied: _Varied | None, *, of_agents: bool) -> list[Sequence[str]]:
    """Return the sources of each side; one group where two agents are compared within."""
    if varied is not None:
        return [varied.sources(0), varied.sources(1)]
    if of_agents:
        return [sources]
    if len(sources) == 1 and (cells := noted_cells(Path(sources[0]))) is not None:
        raise ConfigError(f"{sources[0]}: it varies {', '.join(cells.factors)}: name one with --factor")
    if len(sources) != 2:
        raise ConfigError("give two studies, folders or files to compare, or --agents X Y")
    return [[source] for source in sources]


@dataclass(frozen=True, slots=True)
class _Varied:
    """Two levels of a factor of a study.

    Attributes:
        folder: the study's.
        cells: its cells.
        factor: the factor.
        levels: the two.
        over: another factor; "" for none.
    """

    folder: Path
    cells: NotedCells
    factor: str
    levels: tuple[str, str]
    over: str

    @property
    def names(self) -> tuple[str, str]:
        """What the two sides are called."""
        one, other = self.levels
        return f"{self.factor}={one}", f"{self.factor}={other}"

    def sources(self, side: int, **more: str) -> list[str]:
        """Return the folders of one of the two, of those with further levels."""
        return [str(self.folder / name) for name in self.cells.with_levels({self.factor: self.levels[side]} | more)]

    def across(
        self, metrics: Sequence[str] | None, primary: Sequence[str], read: Callable[[Sequence[str]], Gathered]
    ) -> dict[str, Any]:
        """Return the differences at each level of the other factor, and over all as a sample of more."""
        from analytics import compare as comparing

        results = {}
        for level in self.cells.factors[self.over]:
            sides = [read(self.sources(side, **{self.over: level})).tables for side in (0, 1)]
            results[level] = comparing.compare(sides[0], sides[1], self.names, metrics, 100, primary)
        return {"factor": self.over, "metrics": comparing.across(results)}


def _varied(
    sources: Sequence[str],
    agents: Sequence[str] | None,
    factor: str | None,
    levels: tuple[str, str] | None,
    over: str | None,
) -> _Varied | None:
    """Return which levels of a factor are compared; None if two studies or agents are."""
    if factor is None:
        if levels is not None or over is not None:
            raise ConfigError("--levels and --over go with a --factor")
        return None
    cells = noted_cells(Path(sources[0])) if len(sources) == 1 else None
    if cells is None or agents is not None:
        raise ConfigError("--factor: give the one folder of a study with [factors], and no --agents")
    for name in (factor, over):
        if name is not None and name not in cells.factors:
            raise ConfigError(f"{sources[0]}: it has no factor {name}; there are {', '.join(cells.factors)}")
    known_levels = cells.factors[factor]
    chosen = levels or known_levels
    if len(chosen) != 2:
        raise ConfigError(f"--factor {factor}: it has the levels {', '.join(known_levels)}; name two with --levels")
    if (missing := next((level for level in chosen if level not in known_levels), None)) is not None:
        raise ConfigError(f"--levels {missing}: {factor} has the levels {', '.join(known_levels)}")
    if over == factor:
        raise ConfigError(f"--over {over}: that is the factor which is compared")
    return _Varied(Path(sources[0]), cells, factor, (chosen[0], chosen[1]), over or "")


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


def _read(sources: Sequence[str], criteria: Criteria, workers: int | None, *, cached: bool) -> Gathered:
    """Return the games, and say what of their studies was checked."""
    from analytics.report.caveats import all_defaults, spoilt_games

    gathered = read_games(sources, criteria, workers, cached=cached)
    defaults = all_defaults({"repair": gathered.ledger.repair()})
    for line in filter(None, [defaults, spoilt_games(gathered.files), *gathered.checked]):
        click.echo(f"wolfbus: {line}", err=True)
    print_forks(gathered)
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
