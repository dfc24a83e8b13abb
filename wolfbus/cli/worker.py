"""`wolfbus worker`: plays games of a study that `wolfbus run --share` has put on an agenda."""

from __future__ import annotations

import contextlib
import logging
import tempfile
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from wolfbus.cli import FAILED, HALTED
from wolfbus.cli.options import (
    bus_address,
    bus_option,
    config_option,
    model_options,
    seconds_option,
    stream_name,
)
from wolfbus.errors import BusError, ConfigError
from wolfbus.files.printable import counted
from wolfbus.running.brains import open_brain_context, open_shared_budget, quiet_brains
from wolfbus.service.outage import AWAY, OutageNotice

if TYPE_CHECKING:
    from collections.abc import Callable

    from wolfbus.running.loading import LoadedStudy
    from wolfbus.service.lifecycle import Stopping
    from wolfbus.study.plan import Plan, PlannedGame
    from wolfbus.study.redis_agenda import RedisAgenda
    from wolfbus.study.settings import StudySettings

logger = logging.getLogger(__name__)

_POLL_S: Final = 0.1
_PATIENCE_S: Final = 3.0
"""Seconds for which the agenda's bus is asked again before that is told, and asked anew."""


@click.command()
@bus_option
@click.option(
    "--agenda",
    "name",
    envvar="WOLFBUS_AGENDA",
    callback=stream_name,
    help="The agenda's name, as told to `wolfbus run --share`.  [required]",
)
@config_option("Models that this worker may ask, by name, and where; also of a STUDY.toml. An agenda names no address.")
@click.option(
    "--allow",
    multiple=True,
    metavar="BRAIN",
    help="Also play this, where a study has it word for word: exec:COMMAND, module:Class or llm:MODEL@URL. Scripts of "
    "wolfbus and models of the --config need no leave. May be given more than once.",
)
@click.option(
    "--play-on",
    "house_url",
    metavar="URL",
    callback=bus_address,
    help="Play on another bus than the agenda's: a Redis nearby, or memory:// for this process alone. A record is "
    "brought to the agenda's bus when its game is over.",
)
@click.option("--child", is_flag=True, hidden=True, help="Play for the run that started this process.")
@click.option("--at-once", type=click.IntRange(1), default=4, show_default=True, help="Games under way at a time.")
@seconds_option(
    "--lease",
    minimum=0.1,
    help="How long a worker may be silent before another plays its games anew. What the agenda's first worker says "
    "holds for all, 15 unless given.",
)
@model_options
def worker(
    url: str,
    name: str | None,
    config_file: Path | None,
    allow: tuple[str, ...],
    house_url: str | None,
    at_once: int,
    lease: float | None,
    *,
    child: bool,
    **calls: Any,
) -> int:
    """Play games of a shared study until all are played; start as many as you like, on any machine.

    It waits for the agenda if that is not there yet, and for a Redis that is away or takes no writes. Games of a worker
    that dies are played by another; on SIGTERM it gives back what it has not finished. All workers keep the study's
    budget together; where it has none, a budget is each worker's own, as cassettes are.

    It exits 0 when all is played, 1 when the agenda is gone before that, 3 when games halted here for want of a model.

    Whoever can write the agenda says which games are played, and no more: programs, modules, addresses and keys are
    those of this command line and of its --config.

    \b
    wolfbus run study.toml --bus redis://HOST --share mine
    wolfbus worker --bus redis://HOST --agenda mine
    wolfbus worker --bus redis://HOST --agenda mine --config study.toml
    wolfbus worker --bus redis://HOST --agenda mine --allow mypackage:MyAgent
    """  # noqa: D301 - click takes the backspace for "keep these lines"
    if child:
        from wolfbus.running.child_worker import play_for_parent

        return play_for_parent()
    if name is None:
        raise click.UsageError("missing option '--agenda'.")
    from wolfbus.bus import open_bus
    from wolfbus.bus.pump import BusWriter
    from wolfbus.bus.url import with_patience
    from wolfbus.running.agenda_bus import AgendaBus
    from wolfbus.running.agenda_worker import AgendaWorker, WorkerSettings
    from wolfbus.running.loading import study_of_text
    from wolfbus.running.trust import allowed_study, own_models
    from wolfbus.service.lifecycle import Stopping, await_bus
    from wolfbus.study.redis_agenda import RedisAgenda
    from wolfbus.study.scheduler import KEPT_S

    models = own_models(config_file)
    with (
        Stopping() as stopping,
        contextlib.closing(RedisAgenda(url, name, lease)) as agenda,
        quiet_brains(),
        tempfile.TemporaryDirectory() as folder,
    ):
        # a wrong address is told now; later on a server that is away is waited for
        if (first := await_bus(url, stopping)) is not None:
            first.close()
        notice = OutageNotice(logger.warning)
        text = _wait_for_study(agenda, name, stopping, notice)
        if text is None:
            return _report_end(name, stopping)
        agrees = notice.wait_for(agenda.agree_lease, stopping)
        if agrees is None:
            return _report_end(name, stopping)
        if not agrees and lease is not None:
            valid = f"agenda {name} has a lease of {agenda.lease_s:g} s, as its first worker said"
            click.echo(f"wolfbus: --lease {lease:g} does not hold: {valid}", err=True)
        try:
            study = allowed_study(study_of_text(text, f"agenda {name}"), models, allow, f"agenda {name}")
        except ConfigError as error:
            agenda.say(str(error))
            raise
        plan = study.plan()
        agenda.planned = _planned_of(agenda, name, study, plan)
        limits = _take_limits(study.settings, name, calls)
        with (
            open_shared_budget(url, name, *limits, agenda.lease_s) as ledger,
            open_brain_context(plan.agents, study.models, logs=Path(folder), ledger=ledger, **calls) as brain_context,
            contextlib.closing(open_bus(with_patience(url, _PATIENCE_S))) as bus,
            contextlib.closing(open_bus(house_url)) if house_url is not None else contextlib.nullcontext() as near,
            BusWriter(bus, _warn) if house_url is not None else contextlib.nullcontext() as copies,
        ):
            (Path(folder) / "records").mkdir()
            # on the agenda's own bus a record stays until whoever runs the study has it
            keep_s = None if near is None else KEPT_S
            settings = WorkerSettings(
                house_url or url,
                plan.config,
                Path(folder),
                at_once=at_once,
                keep_s=keep_s,
                new_house=agenda.new_house,
            )
            make = partial(AgendaWorker, agenda, settings, brain_context, AgendaBus(bus, near, copies), agenda.lease_s)
            player = notice.wait_for(make, stopping)
            if player is None:
                return _report_end(name, stopping)
            halt = player.play(stopping)
    for why, games in player.halts.items():
        click.echo(f"wolfbus: {counted(games, 'game')} halted here, for others or for later: {why}", err=True)
    if halt is not None:
        click.echo(f"wolfbus: {halt.why}", err=True)
        return FAILED
    code = _report_end(name, stopping)
    return HALTED if player.halts else code


def _warn(error: BusError) -> None:
    # that it is away is told by whoever takes games from it
    if not isinstance(error, AWAY):
        logger.warning("what is played is not brought to the agenda's bus as it is played: %s", error)


def _report_end(name: str, stopping: Stopping) -> int:
    click.echo(f"wolfbus: this worker leaves agenda {name}: {stopping.why or 'it has no more games'}", err=True)
    return 0


def _take_limits(study: StudySettings, name: str, calls: dict[str, Any]) -> tuple[float | None, int | None]:
    """Return the limits of the study's budget, and have this worker's calls keep to them where there are any."""
    if study.has_budget:
        if calls["budget"] is not None or calls["budget_tokens"] is not None:
            raise click.UsageError(f"the study on agenda {name} has a budget, which all workers keep together")
        calls |= {"budget": study.budget, "budget_tokens": study.budget_tokens}
    return study.budget, study.budget_tokens


def _planned_of(agenda: RedisAgenda, name: str, study: LoadedStudy, plan: Plan) -> Callable[[int], PlannedGame | None]:
    """Return what tells a game of the study by its number; None for a number that it has not, now or meanwhile."""
    from wolfbus.running.loading import study_of_text

    last = study.settings.games

    def planned(number: int) -> PlannedGame | None:
        nonlocal last
        if number > last:
            # it may have grown; and what stands there may be no study any more
            with contextlib.suppress(ConfigError):
                text = agenda.study()
                last = study_of_text(text, f"agenda {name}").settings.games if text is not None else last
        return plan.game(number) if number <= last else None

    return planned


def _wait_for_study(agenda: RedisAgenda, name: str, stopping: Stopping, notice: OutageNotice) -> str | None:
    """Return the study on an agenda, once there is one; None if this worker is stopped before."""
    text = notice.wait_for(agenda.study, stopping)
    if text is None and not stopping.requested:
        click.echo(f"wolfbus: waiting for agenda {name} (wolfbus run --share {name})", err=True)
    while text is None and not stopping.wait(_POLL_S):
        text = notice.wait_for(agenda.study, stopping)
    return text
