"""wolfbus: the WOLF benchmark of deception among language models, as independent actors on a message bus.

This package is the shared language: messages, bus, actors, rules in words, records. The services that speak it are
the packages ``moderator`` (decides), ``players`` (answer as a seat) and ``analytics`` (watches).

From Python, `play` plays a game, `run_study` a study, and `fork` a game on from one of its statements::

    import wolfbus

    game = wolfbus.play("scripted", seed=7)
    study = wolfbus.run_study(games=20, seed=1, out="runs/first")
"""

from __future__ import annotations

from importlib import import_module
from typing import Any, Final

__version__ = "0.1.0"

_PUBLIC: Final = {
    "GameConfig": "wolfbus.game.config",
    "PlayedFork": "wolfbus.running.forking",
    "PlayedGame": "wolfbus.running.play",
    "PlayedStudy": "wolfbus.running.study",
    "fork": "wolfbus.running.forking",
    "forks_of": "wolfbus.running.lies",
    "play": "wolfbus.running.play",
    "run_study": "wolfbus.running.study",
}
"""What is imported when it is first asked for, and typed in ``__init__.pyi``: whoever wants a message alone loads no
engine, and no wall between packages leads through here."""


def __getattr__(name: str) -> Any:
    if name in _PUBLIC:
        return getattr(import_module(_PUBLIC[name]), name)
    raise AttributeError(f"module 'wolfbus' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *_PUBLIC})
