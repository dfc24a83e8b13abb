"""A service on a bus that sends some of its messages twice: ``python -m tests.chaos.child SEED COMMAND…``.

The fault is put between the service and its bus before the command line imports anything; else it is the product.
"""

from __future__ import annotations

import sys

import wolfbus.bus
from tests.faulty_bus import FaultyBus
from wolfbus.bus import Bus, open_bus


def main() -> None:
    seed, *arguments = sys.argv[1:]

    def open_faulty(url: str) -> Bus:
        return FaultyBus(open_bus(url), seed, {"doubled": 0.05})

    wolfbus.bus.open_bus = open_faulty
    from wolfbus.cli import main as command_line

    command_line(arguments)


if __name__ == "__main__":
    main()
