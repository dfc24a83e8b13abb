"""Actors that own no thread each, and the timers that wake them.

`PooledActor` keeps pykka's semantics (tell, ask, stopping, failing, the registry) and runs on the few threads
of an `ActorPool`: a waiting actor costs memory only, so a process can hold the seats of a thousand games. `Timers`
turns a duration into a callback, usually one ``tell``.

Actors of the game never ``ask`` each other: they ``tell``, carry ids, and set timers.
"""

from wolfbus.actors.actor import PooledActor, tell_here, tell_if_alive
from wolfbus.actors.pool import ActorPool
from wolfbus.actors.timers import Timer, Timers

__all__ = ["ActorPool", "PooledActor", "Timer", "Timers", "tell_here", "tell_if_alive"]
