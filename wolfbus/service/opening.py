"""Opening the bus when a service starts: it waits for its Redis as long as it is told to."""

from __future__ import annotations

import logging
import time
from typing import Final

from wolfbus.bus import Bus, open_bus
from wolfbus.bus.redis.trouble import is_lasting, unreachable
from wolfbus.bus.url import read_address
from wolfbus.errors import BusDown
from wolfbus.service.health import Health
from wolfbus.service.stop import Stopping

logger = logging.getLogger(__name__)

_PAUSE_S: Final = 0.5


def open_when_there(
    url: str, stopping: Stopping, health: Health | None = None, patience_s: float | None = None
) -> Bus | None:
    """Open the bus at an address, and wait for its server if that is not up yet; one line says so.

    How long, the address says (``?patience=120``): for services that start together with their
    Redis. Where it says nothing, most likely nobody is starting a server, and the error comes
    after a few seconds.

    Args:
        url: see `open_bus`.
        stopping: may end the wait.
        health: told that the bus is waited for.
        patience_s: seconds to wait, > 0; `Address.opening_s` unless given.

    Returns:
        The bus; None if somebody asked to stop before it was there.

    Raises:
        ConfigError: the address cannot be understood.
        BusDown: the server cannot be reached within the patience.
        BusError: the server is too old, or does not accept the user: at once, for waiting would not help.
    """
    if url.startswith("memory:"):
        return open_bus(url)
    address = read_address(url)
    patience_s = address.opening_s if patience_s is None else patience_s
    began = time.monotonic()
    told = False
    while not stopping.asked:
        try:
            return open_bus(url)
        except BusDown as error:
            cause = error.__cause__
            left = began + patience_s - time.monotonic()
            if left <= 0 or (cause is not None and is_lasting(cause)):
                if not told or not isinstance(cause, Exception):
                    raise
                raise unreachable(address, patience_s, cause) from cause
            if not told:
                told = True
                logger.warning("%s; waiting for it up to %g s", error, patience_s)
                if health is not None:
                    health.set("waiting for the bus", ok=False)
            stopping.wait(min(_PAUSE_S, left))
    return None
