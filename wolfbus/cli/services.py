"""`wolfbus moderator` and `wolfbus analytics`: services that moderate a house, and keep and measure its records."""

from __future__ import annotations

import json
import logging
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from wolfbus.cli import FAILED, SPOILT
from wolfbus.cli.options import FOLDER, config_option, seconds_option, seed_option, service_options, stream_name
from wolfbus.errors import ConfigError, reason_of
from wolfbus.files.lock import alone
from wolfbus.running.brains import load_config

if TYPE_CHECKING:
    from analytics.archive import SessionResults
    from moderator.house.settings import GameReport
    from wolfbus.service.lifecycle import Place
    from wolfbus.service.logs import LogStyle

logger = logging.getLogger(__name__)


@click.command()
@service_options
@click.option("--games", type=click.IntRange(0), help="Games of the session. [default: 1]")
@click.option("--forever", is_flag=True, help="Play game after game until the service is stopped.")
@seed_option(
    "Seed of the session, from which every game's is drawn; a single game has it itself, like that of "
    "`wolfbus play --seed`. Without it every game has a fresh one."
)
@config_option("The rules; players and models in it are for other commands.")
@seconds_option(
    "--wait", "wait_s", help="Close the house if there are too few agents for so long. [default: wait for ever]"
)
@click.option(
    "--at-once",
    type=click.IntRange(1),
    default=1,
    show_default=True,
    help="Games under way at a time, if agents offer seats for so many.",
)
@click.option("--archive", is_flag=True, help="Wait for analytics to come, and to archive every game before closing.")
@click.option("--tickets", is_flag=True, help="Let in holders of a ticket only (see `wolfbus tickets`).")
@seconds_option(
    "--keep", "keep_s", default=3600.0, help="How long a record stays on the bus after analytics has archived it."
)
@seconds_option(
    "--lease",
    "lease_s",
    minimum=0.1,
    default=5.0,
    help="How long this moderator may be silent before another takes over.",
)
@click.option(
    "--mailbox",
    type=click.IntRange(10, 1_000_000_000),
    default=10_000,
    show_default=True,
    metavar="N",
    help="Messages that an agent's mailbox holds at most; the oldest unread ones go first.",
)
@seconds_option(
    "--heartbeat",
    "heartbeat_s",
    minimum=0.1,
    default=5.0,
    help="How often agents say that they are here; three times as long without a word is away.",
)
@seconds_option("--pause", "pause_s", default=0.0, help="Rest between games.")
@click.option("--json", "as_json", is_flag=True, help="Print a JSON object for every game, one a line.")
def moderator(
    health: Place | None,
    log: LogStyle,
    games: int | None,
    config_file: Path | None,
    *,
    forever: bool,
    as_json: bool,
    **options: Any,
) -> int:
    """Moderate a house: seat the agents that join it, play a session of games, and close it.

    A second moderator of the same house stands by, and takes over should the first one die; so does one that is
    started again, and every game goes on from its record. On SIGTERM games are left to the next moderator. It exits 0,
    1 if a game failed or too few agents came, or else 4 if a game is spoilt: too many of a seat's answers are defaults,
    since no reply came.
    """
    from moderator.house.settings import ModeratorSettings
    from moderator.service import moderate
    from wolfbus.service.lifecycle import Health, Stopping
    from wolfbus.service.logs import configure_logs

    if forever and games is not None:
        raise click.UsageError("--games and --forever: how many, or until it is stopped?")
    games = None if forever else 1 if games is None else games
    settings = ModeratorSettings(config=load_config(config_file).config, games=games, **options)
    configure_logs(log, service="moderator", house=settings.house)

    output_errors: list[OSError] = []
    spoilt = False

    def tell(result: GameReport) -> None:
        nonlocal spoilt
        spoilt = spoilt or bool(result.spoilt)
        # without --json the log says it
        if not as_json or output_errors:
            return
        try:
            click.echo(json.dumps(result.as_json(), allow_nan=False))
        except OSError as error:
            # those who play are not to pay for it
            output_errors.append(error)
            logger.warning("no more results are told: the output: %s", reason_of(error))

    with Stopping() as stopping, Health(health) as health_server:
        ended = moderate(settings, stopping, health_server, tell)
    return FAILED if ended.failed or output_errors else SPOILT if spoilt else 0


@click.command()
@service_options
@click.option(
    "--name",
    envvar="WOLFBUS_NAME",
    default="analytics",
    show_default=True,
    callback=stream_name,
    help="Its name in the house.",
)
@click.option(
    "--out",
    "folder",
    type=FOLDER,
    default=Path("runs"),
    show_default=True,
    help="Folder for records, metrics.json and report.txt.",
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object on stdout and no report.")
def analytics(
    url: str, house: str, health: Place | None, log: LogStyle, name: str, folder: Path, *, as_json: bool
) -> int:
    """Keep the records of a house's session in files, measure them while they grow, and report when it has closed.

    Started again after a crash, it goes on where its files end. It exits 0, 1 if a game failed, a record is
    not whole, no game was played, or it was stopped before the session closed, or else 4 if a game is spoilt: too many
    of a seat's answers are defaults, since no reply came.
    """
    from analytics.archive import AnalyticsSettings, serve
    from wolfbus.record.writer import prepare_folder
    from wolfbus.service.lifecycle import Health, Stopping
    from wolfbus.service.logs import configure_logs

    prepare_folder(folder)
    configure_logs(log, service="analytics", house=house, agent=name)

    spoilt = False

    def tell(results: SessionResults) -> None:
        nonlocal spoilt
        spoilt = results.spoilt > 0
        if as_json:
            click.echo(json.dumps(results.as_json(), allow_nan=False))
        elif results.session:
            click.echo(results.report, nl=False)
        else:
            click.echo(results.summary())

    refusal = ConfigError(f"{folder}: another analytics service keeps its records there; give --out another folder")
    # one that was killed is gone soon
    with alone(folder, refusal, wait_s=3.0), Stopping() as stopping, Health(health) as health_server:
        code = serve(AnalyticsSettings(url, house, folder, name), stopping, health_server, tell)
    return code or (SPOILT if spoilt else 0)
