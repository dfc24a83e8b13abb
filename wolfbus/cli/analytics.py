"""`wolfbus analytics`: the service that keeps a house's records, measures them and reports."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import click

from wolfbus.cli.options import service_options, stream_name
from wolfbus.record.writer import prepare_folder

if TYPE_CHECKING:
    from analytics.archive import Results
    from wolfbus.service.lifecycle import Place
    from wolfbus.service.logs import LogStyle


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
    type=click.Path(path_type=Path, file_okay=False),
    default=Path("runs"),
    show_default=True,
    help="Folder for records, metrics.json and report.txt.",
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object on stdout and no report.")
def analytics(
    url: str, house: str, health: Place | None, log: LogStyle, name: str, folder: Path, *, as_json: bool
) -> int:
    """Keep the records of a house's session in files, measure them while they grow, and report when it has closed.

    Started again after a crash, it goes on where its files end. It exits 0, or 1 if a game failed, a record is
    not whole, no game was played, or it was stopped before the session closed.
    """
    from analytics.archive import AnalyticsSettings, serve
    from wolfbus.service.lifecycle import Health, Stopping
    from wolfbus.service.logs import configure_logs

    prepare_folder(folder)
    configure_logs(log, service="analytics", house=house, agent=name)

    def tell(results: Results) -> None:
        if as_json:
            click.echo(json.dumps(results.as_json(), allow_nan=False))
        elif results.session:
            click.echo(results.report(), nl=False)
        else:
            click.echo(results.summary())

    with Stopping() as stopping, Health(health) as told:
        return serve(AnalyticsSettings(url, house, folder, name), stopping, told, tell)
