"""`wolfbus gateway`: lets agents that speak another project's protocol play in a house."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from wolfbus.cli.options import seconds_option, service_options

if TYPE_CHECKING:
    from wolfbus.service.lifecycle import Place
    from wolfbus.service.logs import LogStyle


@click.command()
@service_options
@click.option("--port", type=click.IntRange(0, 65535), default=8080, show_default=True, help="Port; 0 for any.")
@click.option("--host", default="127.0.0.1", show_default=True, help="Address on which clients are taken.")
@seconds_option("--grace", "grace_s", default=8.0, help="How long to play games under way on after SIGTERM.")
@click.argument("protocol", type=click.Choice(["aiwolf"]))
def gateway(
    url: str, house: str, health: Place | None, log: LogStyle, port: int, host: str, grace_s: float, protocol: str
) -> int:
    """Let unmodified clients of another project play in a house, each as an agent of its own, for one game.

    aiwolf: clients of AIWolf's natural language division (aiwolf-nlp-agent), over WebSockets; see
    docs/aiwolf.md. This needs websockets: pip install "wolfbus[aiwolf]".

    \b
    wolfbus gateway aiwolf --bus redis://localhost --port 8080
    """  # noqa: D301 - click takes the backspace for "keep these lines"
    from players.aiwolf import Gateway
    from wolfbus.service.lifecycle import Health, Stopping, await_bus
    from wolfbus.service.logs import configure_logs

    configure_logs(log, service="gateway", house=house, agent=protocol)
    with Stopping() as stopping, Health(health) as health_server:
        clients = Gateway(url, house, host, port, grace_s)
        # clients come later; a bus that is not there is told now
        bus = await_bus(url, stopping, health_server)
        if bus is None:
            return 0
        bus.close()

        def listens(port: int) -> None:
            click.echo(f"wolfbus: clients are taken on ws://{clients.host}:{port}/ws", err=True)
            health_server.set("listening", ok=True)

        clients.run(stopping, listens)
    return 0
